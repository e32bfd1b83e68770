//! What columns hold, beside the records: one file of distinct values, and how the phrases of a question are looked up in it.
//!
//! Values are evidence and no records: the same records can be searched without them. A question's phrases are compared
//! with whole values, whatever their case and accents.

mod file;
mod fold;
mod matches;
mod phrases;
mod store;

pub(crate) use file::ValuesFile;
pub(crate) use matches::Matches;
pub(crate) use store::{Values, encode};

//! An index of column values: one file of distinct values, and the lookup of phrases of a question in it.
//!
//! Values are evidence, not records: records can be searched without them. Phrases are compared with whole values,
//! ignoring case and accents.

mod file;
mod fold;
mod matches;
mod phrases;
mod store;

pub(crate) use file::ValuesFile;
pub(crate) use matches::Matches;
pub(crate) use store::{Values, encode};

//! Queries over several sources, and over files: each source sends the columns and rows that are needed, and DataFusion does
//! the rest, in a worker process or in this one. Large files are scanned in place.
//!
//! The table providers are implemented here: those of datafusion-table-providers read whole tables in a query over several
//! sources, and pass some operators on unchanged.

mod cells;
mod checked;
mod compute;
mod error;
mod field;
mod filter;
mod keys;
pub(crate) mod measure;
mod names;
mod place;
mod provider;
mod rename;
mod wording;

use crate::guard::CheckedQuery;
use crate::source::ResolvedTable;
use crate::view::View;
pub(crate) use compute::{Action, Allowance, TakeBlock, compute};
pub(crate) use error::ComputeError;
pub(crate) use names::spell;
pub(crate) use provider::{MAX_ROWS, RowsError};
pub(crate) use wording::write_types;

/// A validated statement, and the tables that its names refer to.
#[derive(Clone, Copy)]
pub(crate) struct Statement<'a> {
    /// The validated text; validating it again gives the same result.
    pub(crate) sql: &'a str,
    pub(crate) view: &'a View,
    pub(crate) checked: &'a CheckedQuery,
    /// The table of each name of [`CheckedQuery::reads`].
    pub(crate) found: &'a [ResolvedTable],
}

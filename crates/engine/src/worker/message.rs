//! The messages between this process and its workers. None contains a password, a key or the address of a server.

use std::ffi::OsString;

use prospector_connect::filter::FilterCondition;
use prospector_connect::source::{DataFiles, SourceKind};
use prospector_connect::table::{Column, ColumnType, Table};
use serde::{Deserialize, Serialize};

use crate::advice::Reason;
use crate::joined::{Action, Allowance, ComputeError};
use crate::limits::Limits;

/// The limits of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Setup {
    /// The protocol version.
    pub(super) version: String,
    /// The address space in addition to that of the program itself, in bytes.
    pub(super) memory: u64,
    /// The maximum size of a file, in bytes.
    pub(super) scratch_bytes: u64,
}

/// A statement and what it may read and use. The rows of its subsets follow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Query {
    pub(super) sql: String,
    pub(super) act: Action,
    /// All sources by their names, with the tables that are read.
    pub(super) sources: Vec<Source>,
    /// The table of each name of the statement, in the order of the statement.
    pub(super) reads: Vec<Read>,
    /// The subsets that are read: the tables of the last source, in its order.
    pub(super) subsets: Vec<Subset>,
    pub(super) scratch: Option<OsString>,
    limits: Limits,
}

impl Query {
    pub(super) fn new(sql: &str, act: Action, means: &Allowance) -> Self {
        Query {
            sql: sql.to_owned(),
            act,
            sources: Vec::new(),
            reads: Vec::new(),
            subsets: Vec::new(),
            scratch: means.scratch.as_ref().map(|folder| folder.clone().into_os_string()),
            limits: means.limits.clone(),
        }
    }

    /// Returns the resources of the computation.
    pub(super) fn means(&self) -> Allowance {
        Allowance { scratch: self.scratch.clone().map(Into::into), limits: self.limits.clone() }
    }
}

/// A source.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) kind: SourceKind,
    pub(super) tables: Vec<Columns>,
    /// The files of the source, if a worker reads them itself.
    pub(super) files: Option<DataFiles>,
}

/// A table: what a plan needs of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Columns {
    name: String,
    row_count: Option<u64>,
    columns: Vec<(String, ColumnType)>,
}

impl Columns {
    pub(super) fn of(table: &Table) -> Self {
        let columns = table.columns.iter().map(|column| (column.name.clone(), column.column_type));
        Columns { name: table.name.clone(), row_count: table.row_count, columns: columns.collect() }
    }

    pub(super) fn into_table(self) -> Table {
        let columns = self.columns.into_iter();
        Table {
            name: self.name,
            row_count: self.row_count,
            columns: columns.map(|(name, column_type)| Column { name, column_type, ..Column::default() }).collect(),
            ..Table::default()
        }
    }
}

/// The table that a name in the statement refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Read {
    pub(super) source: usize,
    /// The index among the sent tables.
    pub(super) table: usize,
    pub(super) is_prefixed: bool,
}

/// A subset, see [`crate::scope::Subset`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Subset {
    pub(super) database: String,
    pub(super) origin: String,
}

/// A request for rows of a source.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ask {
    /// The id that marks the answer.
    pub(super) id: u64,
    pub(super) source: usize,
    pub(super) table: String,
    pub(super) columns: Vec<String>,
    pub(super) conditions: Vec<FilterCondition>,
    pub(super) limit: usize,
}

/// The end of the requested rows, or a failure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RowsDone {
    pub(super) id: u64,
    /// Whether there are more rows; or the error of the source.
    pub(super) outcome: Result<bool, Reason>,
}

/// The end of the answer, or a failure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) outcome: Result<Whole, ComputeError>,
    /// Whether the worker uses so much memory that it should be replaced.
    pub(super) is_worn: bool,
}

/// The properties of an answer besides its rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Whole {
    pub(super) columns: Vec<String>,
    pub(super) has_more: bool,
}

//! The messages between this process and its workers. None contains a password, a key or the address of a server.

use prospector_connect::filter::FilterCondition;
use prospector_connect::rows::Rows;
use prospector_connect::source::{DataFiles, SourceKind};
use prospector_connect::table::{Column, ColumnType, Table};
use serde::{Deserialize, Serialize};

use crate::advice::Reason;
use crate::joined::{Action, Allowance, ComputeError};

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
    /// Whether the rows are passed on as they are computed.
    pub(super) is_streamed: bool,
    /// All sources by their names, with the tables that are read.
    pub(super) sources: Vec<Source>,
    /// The table of each name of the statement, in the order of the statement: the index of its source, and its index among the
    /// sent tables of the source.
    pub(super) reads: Vec<(usize, usize)>,
    /// The number of subsets that are read: the tables of the last source, in its order.
    pub(super) subsets: usize,
    pub(super) means: Allowance,
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
    /// The answer without its rows, which were sent before.
    pub(super) outcome: Result<Rows, ComputeError>,
    /// Whether the worker uses so much memory that it should be replaced.
    pub(super) is_worn: bool,
}

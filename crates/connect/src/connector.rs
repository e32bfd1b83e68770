//! The seam: what a data source must be able to do.

use async_trait::async_trait;
use datafusion::logical_expr::LogicalPlan;
use prospector_core::Problem;

use crate::ConnectError;
use crate::data_files::DataFiles;
use crate::filter::FilterCondition;
use crate::rows::{Rows, SampleRequest, Samples, SqlQuery, Statistics};
use crate::source_kind::SourceKind;
use crate::table::Table;

/// One data source. To add a kind, write a file beside the others with a type that implements the four required methods
/// and a function that opens it, and add a variant to [`SourceKind`] with its entry in the table of sources beside it.
/// [`Connector::describe`] chooses a [`crate::table::ColumnType`] for each column; whatever else the engine needs to know of a
/// kind is in its entry.
///
/// Every method may be called from several tasks at once. No method may write to the source.
#[async_trait]
pub trait Connector: Send + Sync {
    /// The kind of source.
    fn kind(&self) -> SourceKind;

    /// All tables with their columns, keys and row counts. What could not be read becomes a [`Problem`]; the rest is
    /// described.
    ///
    /// # Errors
    /// Only when nothing of the source can be read.
    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError>;

    /// Distinct values of a column, the most frequent first (ties by value), with texts cut to 200 characters.
    ///
    /// # Errors
    /// When the source cannot be read, or holds no data ([`ConnectError::NoData`]).
    async fn sample(&self, table: &str, column: &str, request: &SampleRequest) -> Result<Samples, ConnectError>;

    /// Statistics of these columns, or of all where `columns` is empty.
    ///
    /// # Errors
    /// As for [`Connector::sample`].
    async fn statistics(&self, table: &str, columns: &[String]) -> Result<Vec<Statistics>, ConnectError>;

    /// What changes whenever [`Connector::describe`] may answer differently, asked of the source itself and much cheaper
    /// than a description. `None` where the files of the source say it already.
    ///
    /// # Errors
    /// When the source cannot be reached.
    async fn fingerprint(&self) -> Result<Option<String>, ConnectError> {
        Ok(None)
    }

    /// Rows of a table that meet all conditions, at most `limit`, in no particular order; of these columns, or of all
    /// where `columns` is empty. Names match whatever their case; values are bound, never part of a statement.
    ///
    /// # Errors
    /// [`ConnectError::Condition`] where a condition does not fit, [`ConnectError::TooLarge`] where a value has more than
    /// [`crate::budget::MAX_CELL_BYTES`] or all have more than [`crate::budget::MAX_ROWS_BYTES`], else as for [`Connector::sample`].
    async fn rows(
        &self,
        table: &str,
        columns: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        let _ = (table, columns, conditions, limit);
        Err(ConnectError::Unsupported { place: self.kind().to_string(), act: "read rows by conditions" })
    }

    /// A plan of DataFusion that reads the table where it lies, with no limit on its rows: its columns have the names of
    /// [`Connector::describe`], and each is of a type that can be compared; what is nested is a JSON text. `None` where
    /// rows must be asked for, with [`Connector::rows`].
    ///
    /// # Errors
    /// As for [`Connector::sample`].
    async fn scan(&self, table: &str) -> Result<Option<LogicalPlan>, ConnectError> {
        let _ = table;
        Ok(None)
    }

    /// The local data files behind the tables, where there are such: what another process needs to [`DataFiles::open`] the
    /// same tables and read them itself. `None` where rows come from anything else.
    fn data_files(&self) -> Option<DataFiles> {
        None
    }

    /// The answer to one query in the source's own SQL, at most `cap` rows. The session can read and nothing else, and
    /// has a time limit; how it reads texts and finds names is set by the connector, whatever the server's own settings,
    /// and nothing that the query leaves in it outlives it. That is the last line of defence, not the only one: a
    /// privileged user may still read files of the server or call what has effects, so that the caller refuses whatever
    /// is not plainly a query.
    ///
    /// # Errors
    /// [`ConnectError::Unsupported`] where the source has no SQL, [`ConnectError::TooLarge`] where a value has more than
    /// [`crate::budget::MAX_CELL_BYTES`] or all have more than [`crate::budget::MAX_ANSWER_BYTES`], else what the source says.
    async fn query(&self, query: &SqlQuery<'_>, cap: usize) -> Result<Rows, ConnectError> {
        let _ = (query, cap);
        Err(ConnectError::Unsupported { place: self.kind().to_string(), act: "run SQL" })
    }

    /// Whether the source would run the query: it is parsed and planned there, and not executed. The same holds for it as
    /// for [`Connector::query`].
    ///
    /// # Errors
    /// As for [`Connector::query`].
    async fn explain(&self, query: &SqlQuery<'_>) -> Result<(), ConnectError> {
        let _ = query;
        Err(ConnectError::Unsupported { place: self.kind().to_string(), act: "run SQL" })
    }

    /// Whether the source holds rows at all; a DDL file does not.
    fn has_data(&self) -> bool {
        true
    }
}

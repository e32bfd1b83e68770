//! The interface that every data source implements.

use async_trait::async_trait;
use datafusion::logical_expr::LogicalPlan;
use prospector_core::Problem;

use crate::ConnectError;
use crate::data_files::DataFiles;
use crate::filter::FilterCondition;
use crate::rows::{BlockSender, Rows, SampleRequest, Samples, SqlQuery, Statistics, TextRequest, Texts};
use crate::source_kind::SourceKind;
use crate::table::Table;

/// A data source that can be described, sampled, counted and read.
///
/// To add a kind of source, write a type that implements `kind` and `describe`, and `sample` and `statistics` if it contains
/// rows, and a function that opens it. Then add a variant to [`SourceKind`], its address next to it, and an arm to
/// [`crate::open`]. [`Connector::describe`] chooses a [`crate::table::ColumnType`] for each column; everything else a caller
/// needs to know about a kind is in [`SourceKind`].
///
/// All methods may be called concurrently. None of them may write to the source.
#[async_trait]
pub trait Connector: Send + Sync {
    /// The kind of this source.
    fn kind(&self) -> SourceKind;

    /// Describes all tables with their columns, keys and row counts. What cannot be read is reported as a [`Problem`],
    /// and the rest is described.
    ///
    /// # Errors
    /// Only if nothing of the source can be read.
    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError>;

    /// Returns distinct values of a column, by descending frequency and then in the order of the values. Texts are
    /// truncated to 200 characters.
    ///
    /// # Errors
    /// If the table or the column is unknown, the source cannot be read, or it contains no data
    /// ([`ConnectError::NoData`]).
    async fn sample(&self, table: &str, column: &str, request: &SampleRequest) -> Result<Samples, ConnectError> {
        let _ = (table, column, request);
        Err(ConnectError::NoData { place: self.kind().to_string() })
    }

    /// Measures these columns, or all columns if `columns` is empty: the number of distinct values and of nulls, and the
    /// range.
    ///
    /// # Errors
    /// The same as for [`Connector::sample`].
    async fn statistics(&self, table: &str, columns: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        let _ = (table, columns);
        Err(ConnectError::NoData { place: self.kind().to_string() })
    }

    /// Returns distinct texts of a column, by descending frequency, for the index of column values. Values that are not
    /// texts are skipped. Unlike [`Connector::sample`], it may read only a part of a large table.
    ///
    /// # Errors
    /// The same as for [`Connector::sample`].
    async fn texts(&self, table: &str, column: &str, request: &TextRequest) -> Result<Texts, ConnectError> {
        let sample = SampleRequest { contains: None, limit: request.limit };
        Ok(Texts::of(self.sample(table, column, &sample).await?, request))
    }

    /// Returns a text that changes whenever [`Connector::describe`] may return something else. It queries the source, at
    /// a fraction of the cost of a description. `None` if the files of the source already show whether it changed.
    ///
    /// # Errors
    /// If the source cannot be reached.
    async fn fingerprint(&self) -> Result<Option<String>, ConnectError> {
        Ok(None)
    }

    /// Returns at most `limit` rows of a table that meet all conditions, in no particular order. The rows have these
    /// columns, or all columns if `columns` is empty. Names are matched case-insensitively. Values are bound as
    /// parameters and never become part of a statement.
    ///
    /// # Errors
    /// [`ConnectError::Condition`] if a condition does not fit the table; [`ConnectError::TooLarge`] if one value exceeds
    /// [`crate::rows::MAX_CELL_BYTES`] or all together exceed [`crate::rows::MAX_ROWS_BYTES`];
    /// [`ConnectError::Unsupported`] if the kind of source does not support it; otherwise the same as for
    /// [`Connector::sample`].
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

    /// Returns a DataFusion plan that scans the table in place, without a limit on its rows. The columns have the names
    /// of [`Connector::describe`] and comparable types; nested values are JSON texts. `None` if rows have to be requested
    /// with [`Connector::rows`].
    ///
    /// # Errors
    /// The same as for [`Connector::sample`].
    async fn scan(&self, table: &str) -> Result<Option<LogicalPlan>, ConnectError> {
        let _ = table;
        Ok(None)
    }

    /// The local data files behind the tables, if the source consists of such files. Another process can read the same
    /// tables with [`DataFiles::open`].
    fn data_files(&self) -> Option<DataFiles> {
        None
    }

    /// Runs one query in the source's own SQL and returns at most `cap` rows.
    ///
    /// The session is read-only and has a time limit. The connector fixes how the session parses literals and resolves
    /// names, regardless of server settings, and nothing that the query changes in the session outlives it. This is only
    /// the last line of defence: a privileged account may still read files of the server or call functions with side
    /// effects. The caller has to reject everything that is not plainly a query.
    ///
    /// # Errors
    /// [`ConnectError::Unsupported`] if the source has no SQL; [`ConnectError::TooLarge`] if one value exceeds
    /// [`crate::rows::MAX_CELL_BYTES`] or the whole result exceeds [`crate::rows::MAX_ANSWER_BYTES`]; otherwise the error
    /// of the source.
    async fn query(&self, query: &SqlQuery<'_>, cap: usize) -> Result<Rows, ConnectError> {
        let _ = (query, cap);
        Err(ConnectError::Unsupported { place: self.kind().to_string(), act: "run SQL" })
    }

    /// Runs one query like [`Connector::query`] and sends its rows in blocks while they are read, at most `limit` rows
    /// and without a limit on their total size. The first block is sent even if it has no rows, and the last one says
    /// whether there are more. Returns without an error if the receiver is dropped.
    ///
    /// # Errors
    /// The same as for [`Connector::query`]. The default implementation reads the whole result first, so its size is
    /// limited.
    async fn stream(&self, query: &SqlQuery<'_>, limit: usize, blocks: &BlockSender) -> Result<(), ConnectError> {
        let rows = self.query(query, limit).await?;
        // The receiver may be gone.
        let _ = blocks.send(rows).await;
        Ok(())
    }

    /// Checks whether the source would run the query. The source parses and plans it without executing it, under the
    /// same guarantees as [`Connector::query`].
    ///
    /// # Errors
    /// The same as for [`Connector::query`].
    async fn explain(&self, query: &SqlQuery<'_>) -> Result<(), ConnectError> {
        let _ = query;
        Err(ConnectError::Unsupported { place: self.kind().to_string(), act: "run SQL" })
    }

    /// Returns what the role that reads the source may do besides reading, as short names such as `INSERT`. Empty if it
    /// may only read, `None` if the source cannot tell.
    ///
    /// # Errors
    /// If the source cannot be reached.
    async fn other_rights(&self) -> Result<Option<Vec<String>>, ConnectError> {
        Ok(None)
    }

    /// Whether the source contains rows. SQL scripts and dbt projects only describe tables.
    fn has_data(&self) -> bool {
        true
    }
}

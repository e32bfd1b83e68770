//! The seam: what a data source must be able to do.

use async_trait::async_trait;
use prospector_core::Problem;

use crate::{ConnectError, SampleRequest, Samples, Statistics, Table};

/// One data source. To add one, write a file beside the others that implements the four required methods, add a variant
/// to [`crate::SourceKind`] and a line to [`crate::open`].
///
/// Every method may be called from several tasks at once. No method may write to the source.
#[async_trait]
pub trait Connector: Send + Sync {
    /// The word for the kind of source: `sqlite`, `csv`.
    fn kind(&self) -> &'static str;

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

    /// Whether the source holds rows at all; a DDL file does not.
    fn has_data(&self) -> bool {
        true
    }
}

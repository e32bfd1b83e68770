//! A connector that records its requests.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use prospector_connect::filter::FilterCondition;
use prospector_connect::rows::{Rows, SampleRequest, Samples, SqlQuery, Statistics};
use prospector_connect::source::SourceKind;
use prospector_connect::table::Table;
use prospector_connect::{ConnectError, Connector};
use prospector_core::Problem;

/// A request to a source.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Request {
    /// A query in its own SQL.
    Query(String),
    /// Rows of a table.
    Rows {
        table: String,
        columns: Vec<String>,
        /// The conditions as JSON, in order.
        conditions: Vec<String>,
    },
}

/// Forwards and records queries and requests for rows. Scans in place are not forwarded, so that all requests are recorded.
pub(crate) struct Recorder {
    inner: Arc<dyn Connector>,
    requests: Mutex<Vec<Request>>,
}

impl Recorder {
    pub(crate) fn new(inner: Arc<dyn Connector>) -> Arc<Self> {
        Arc::new(Recorder { inner, requests: Mutex::default() })
    }

    /// Takes the requests since the last call.
    pub(crate) fn taken(&self) -> Vec<Request> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }

    fn keep(&self, request: Request) {
        self.requests.lock().unwrap().push(request);
    }
}

#[async_trait]
impl Connector for Recorder {
    fn kind(&self) -> SourceKind {
        self.inner.kind()
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        self.inner.describe().await
    }

    async fn sample(&self, table: &str, column: &str, request: &SampleRequest) -> Result<Samples, ConnectError> {
        self.inner.sample(table, column, request).await
    }

    async fn statistics(&self, table: &str, columns: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        self.inner.statistics(table, columns).await
    }

    async fn rows(
        &self,
        table: &str,
        columns: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        let mut written: Vec<String> = conditions.iter().map(|c| serde_json::to_string(c).unwrap()).collect();
        written.sort();
        self.keep(Request::Rows { table: table.to_owned(), columns: columns.to_vec(), conditions: written });
        self.inner.rows(table, columns, conditions, limit).await
    }

    async fn query(&self, query: &SqlQuery<'_>, cap: usize) -> Result<Rows, ConnectError> {
        self.keep(Request::Query(query.sql.to_owned()));
        self.inner.query(query, cap).await
    }

    async fn explain(&self, query: &SqlQuery<'_>) -> Result<(), ConnectError> {
        self.keep(Request::Query(query.sql.to_owned()));
        Ok(())
    }
}

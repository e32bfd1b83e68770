//! Connectors that write down what they are asked, or fail as they are told.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use prospector_connect::{
    ConnectError, Connector, FilterCondition, Rows, SampleRequest, Samples, SqlQuery, Statistics, Table,
};
use prospector_core::Problem;

/// One request for rows: the table, the columns, the conditions as JSON.
pub(crate) type Asked = (String, Vec<String>, Vec<String>);

/// Passes everything on, and keeps what rows were asked for.
pub(crate) struct Recording {
    inner: Arc<dyn Connector>,
    pub(crate) asked: Mutex<Vec<Asked>>,
}

impl Recording {
    pub(crate) fn new(inner: Arc<dyn Connector>) -> Arc<Self> {
        Arc::new(Recording { inner, asked: Mutex::default() })
    }

    pub(crate) fn taken(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

#[async_trait]
impl Connector for Recording {
    fn kind(&self) -> &'static str {
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
        self.asked.lock().unwrap().push((table.to_owned(), columns.to_vec(), written));
        self.inner.rows(table, columns, conditions, limit).await
    }

    async fn query(&self, query: &SqlQuery<'_>, cap: usize) -> Result<Rows, ConnectError> {
        self.inner.query(query, cap).await
    }
}

/// A server that answers every query with this reason.
pub(crate) struct Failing(pub(crate) &'static str);

#[async_trait]
impl Connector for Failing {
    fn kind(&self) -> &'static str {
        "postgres"
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        Ok((vec![Table { name: "people".into(), ..Table::default() }], Vec::new()))
    }

    async fn sample(&self, _: &str, _: &str, _: &SampleRequest) -> Result<Samples, ConnectError> {
        Ok(Samples::default())
    }

    async fn statistics(&self, _: &str, _: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        Ok(Vec::new())
    }

    async fn query(&self, _: &SqlQuery<'_>, _: usize) -> Result<Rows, ConnectError> {
        Err(ConnectError::read("x", "the answer", self.0))
    }
}

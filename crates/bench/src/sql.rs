//! Queries whose answers are known: each is run as `execute_sql` runs it, but for the caps on what is shown.

pub mod answers;

use std::collections::BTreeMap;
use std::path::Path;

use futures::StreamExt;
use prospector_engine::Engine;
use prospector_engine::query::Way;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error::{BenchError, LineError},
    jsonl,
};

/// How many rows of an answer are written; more would not be compared.
const MAX_ROWS: usize = 200_000;

/// How many queries run at once.
const CONCURRENT_QUERIES: usize = 4;

/// A query over a database. Other keys are passed over.
#[derive(Debug, Clone, Deserialize)]
pub struct Query {
    id: String,
    #[serde(alias = "db")]
    database: String,
    #[serde(default)]
    sql: Option<String>,
}

/// What came of a query: one line of the file that is written.
#[derive(Debug, Serialize)]
struct AnswerLine<'a> {
    id: &'a str,
    database: &'a str,
    sql: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    executed: Option<Way>,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<Vec<Value>>>,
    /// Whether there were more rows than fit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    has_more: bool,
    #[serde(flatten)]
    failure: Option<prospector_engine::Failure>,
}

/// How many queries were answered.
#[derive(Debug, Serialize)]
pub struct Report {
    queries: usize,
    answered: usize,
    /// Those over databases that the catalog does not have, or without SQL.
    left_out: usize,
    /// How many failed, by the word for why.
    failed: BTreeMap<&'static str, usize>,
}

impl Report {
    /// The report as a sentence.
    pub fn table(&self) -> String {
        let failed: Vec<String> = self.failed.iter().map(|(code, count)| format!("{count} {code}")).collect();
        let failed = if failed.is_empty() { "none".to_owned() } else { failed.join(", ") };
        format!(
            "{} queries: {} answered; failed: {failed}; {} left out, as the catalog has not their database",
            self.queries, self.answered, self.left_out
        )
    }
}

/// The queries of a file.
///
/// # Errors
/// When the file cannot be read or holds no queries, and for its first line that is none.
pub fn read(path: &Path) -> Result<Vec<Query>, BenchError> {
    jsonl::read(path, "queries", |line| {
        serde_json::from_str(line).map_err(|source| LineError::Shape { what: "query", source })
    })
}

/// Runs the queries. Each answer is a line of the text beside the report.
///
/// # Errors
/// When an answer cannot be written as JSON.
pub async fn measure(engine: &Engine, queries: &[Query]) -> Result<(Report, String), BenchError> {
    let known = engine.databases();
    let mut report = Report { queries: queries.len(), answered: 0, left_out: 0, failed: BTreeMap::new() };
    let asked: Vec<_> = queries
        .iter()
        .filter_map(|query| {
            let has = known.iter().any(|name| name.eq_ignore_ascii_case(&query.database));
            let sql = query.sql.as_deref().filter(|_| has)?;
            Some(async move { (query, sql, engine.run(sql, Some(&query.database), MAX_ROWS).await) })
        })
        .collect();
    report.left_out = queries.len() - asked.len();
    let mut running = futures::stream::iter(asked).buffered(CONCURRENT_QUERIES);
    let mut text = String::new();
    while let Some((query, sql, done)) = running.next().await {
        let mut answered = AnswerLine {
            id: &query.id,
            database: &query.database,
            sql,
            executed: None,
            columns: None,
            rows: None,
            has_more: false,
            failure: None,
        };
        match done {
            Ok(outcome) => {
                report.answered += 1;
                answered.executed = Some(outcome.way);
                answered.columns = Some(outcome.rows.columns);
                answered.rows = Some(outcome.rows.rows);
                answered.has_more = outcome.rows.has_more;
            }
            Err(failure) => {
                *report.failed.entry(failure.code.as_str()).or_default() += 1;
                answered.failure = Some(failure);
            }
        }
        text += &serde_json::to_string(&answered)?;
        text.push('\n');
    }
    Ok((report, text))
}

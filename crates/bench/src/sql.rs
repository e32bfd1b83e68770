//! Queries with known results: each is run as by `execute_sql`, but without its limits on output.

pub mod answers;

use std::collections::BTreeMap;
use std::path::Path;

use futures::StreamExt;
use prospector_engine::Engine;
use prospector_engine::query::Way;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{error::BenchError, jsonl};

/// Maximum number of rows written per result; more are not compared.
const MAX_ROWS: usize = 200_000;

/// Number of queries run in parallel.
const CONCURRENT_QUERIES: usize = 4;

/// A query over a database. Unknown keys are ignored.
#[derive(Debug, Clone, Deserialize)]
pub struct Query {
    id: String,
    #[serde(alias = "db")]
    database: String,
    #[serde(default)]
    sql: Option<String>,
}

/// The result of a query: one line of the output file.
#[derive(Debug, Default, Serialize)]
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
    /// Whether the result was truncated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    has_more: bool,
    #[serde(flatten)]
    failure: Option<prospector_engine::Failure>,
}

/// The number of answered queries.
#[derive(Debug, Serialize)]
pub struct Report {
    queries: usize,
    answered: usize,
    /// Queries over databases that the catalog does not contain, or without SQL.
    left_out: usize,
    /// Number of failures by code.
    failed: BTreeMap<&'static str, usize>,
}

impl Report {
    /// Renders the report as a sentence.
    pub fn table(&self) -> String {
        let failed: Vec<String> = self.failed.iter().map(|(code, count)| format!("{count} {code}")).collect();
        let failed = if failed.is_empty() { "none".to_owned() } else { failed.join(", ") };
        format!(
            "{} queries: {} answered; failed: {failed}; {} skipped, because the catalog does not contain their database",
            self.queries, self.answered, self.left_out
        )
    }
}

/// Reads the queries of a file.
///
/// # Errors
/// If the file cannot be read, contains no queries, or contains an invalid line.
pub fn read(path: &Path) -> Result<Vec<Query>, BenchError> {
    jsonl::read(path, "queries", |line| jsonl::parse(line, "query"))
}

/// Runs the queries. The returned text contains one line per result.
///
/// # Errors
/// If a result cannot be serialized.
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
        let mut answered = AnswerLine { id: &query.id, database: &query.database, sql, ..AnswerLine::default() };
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

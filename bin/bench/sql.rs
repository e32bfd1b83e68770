//! Queries whose answers are known: each is run as `execute_sql` runs it, but for the caps on what is shown.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use futures::StreamExt;
use prospector_engine::{Engine, Way};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::queries;

/// At most so many rows of an answer; more would not be compared.
const MOST_ROWS: usize = 200_000;

/// So many queries run at once.
const AT_ONCE: usize = 4;

/// A query over a database. Other keys are passed over.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Query {
    id: String,
    #[serde(alias = "db")]
    database: String,
    #[serde(default)]
    sql: Option<String>,
}

/// What came of a query: one line of the file that is written.
#[derive(Debug, Serialize)]
struct Answered<'a> {
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
pub(crate) struct Report {
    queries: usize,
    answered: usize,
    /// Those over databases that the catalog does not have, or without SQL.
    left_out: usize,
    /// How many failed, by the word for why.
    failed: BTreeMap<&'static str, usize>,
}

impl Report {
    /// The same for a person.
    pub(crate) fn table(&self) -> String {
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
/// The first line that is none.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Query>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the queries {}", path.display()))?;
    queries::lines(&text)
        .map(|(line, text)| {
            serde_json::from_str(text)
                .map_err(|error| anyhow::anyhow!("{}:{line}: not a query: {}", path.display(), queries::reason(&error)))
        })
        .collect()
}

/// Runs the queries. Each answer is a line of the text beside the report.
///
/// # Errors
/// When an answer cannot be written as JSON.
pub(crate) async fn measure(engine: &Engine, queries: &[Query]) -> anyhow::Result<(Report, String)> {
    let known = engine.databases();
    let mut report = Report { queries: queries.len(), answered: 0, left_out: 0, failed: BTreeMap::new() };
    let asked: Vec<_> = queries
        .iter()
        .filter_map(|query| {
            let has = known.iter().any(|name| name.eq_ignore_ascii_case(&query.database));
            let sql = query.sql.as_deref().filter(|_| has)?;
            Some(async move { (query, sql, engine.run(sql, Some(&query.database), MOST_ROWS).await) })
        })
        .collect();
    report.left_out = queries.len() - asked.len();
    let mut running = futures::stream::iter(asked).buffered(AT_ONCE);
    let mut text = String::new();
    while let Some((query, sql, done)) = running.next().await {
        let mut answered = Answered {
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

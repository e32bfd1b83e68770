//! The rows of a tool that runs one query: all of them, including those that models do not see.

use std::sync::Arc;

use prospector_agent::ask::DataQuestion;
use prospector_engine::{
    Engine, Failure,
    query::{Outcome, Rows},
};
use serde_json::Value;
use tokio::sync::mpsc;

use super::plural;
use crate::{
    cli::ReportFormat,
    output,
    report::{Report, usual_format},
    table::Table,
};

/// Number of blocks that are read ahead.
const BLOCKS_AHEAD: usize = 4;

/// An executed query with its rows.
pub(super) struct QueryRows {
    sql: String,
    /// The database whose SQL dialect the query uses.
    database: Option<String>,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    has_more: bool,
}

impl QueryRows {
    /// Returns the query of a tool's answer, if it has one with rows.
    pub(super) fn of_answer(answer: &Value) -> Option<QueryRows> {
        let texts = |key: &str| -> Option<Vec<String>> {
            answer[key].as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let databases = texts("databases")?;
        let rows = answer["rows"].as_array()?.iter().map(|row| row.as_array().cloned()).collect::<Option<_>>()?;
        Some(QueryRows {
            sql: answer["sql"].as_str()?.to_owned(),
            database: single(&databases, answer["executed"] != "joined"),
            columns: texts("columns")?,
            rows,
            has_more: answer["has_more"] == true,
        })
    }

    /// Returns a query of an answer to a question.
    pub(super) fn of_question(question: &DataQuestion) -> QueryRows {
        QueryRows {
            sql: question.sql.clone(),
            database: question.database.clone().or_else(|| single(&question.databases, true)),
            columns: question.columns.clone(),
            rows: question.rows.clone(),
            has_more: question.has_more,
        }
    }

    /// Returns all rows. If the answer was truncated, the query is run again.
    ///
    /// # Errors
    /// If running the query again fails.
    pub(super) async fn complete(mut self, engine: &Arc<Engine>) -> anyhow::Result<Table> {
        if self.has_more {
            let (mut columns, mut rows) = (Vec::new(), Vec::new());
            let collect = |block: Rows| {
                columns = block.columns;
                rows.extend(block.rows);
                Ok(true)
            };
            stream(engine, &self.sql, self.database.as_deref(), None, collect).await??;
            // The columns may have been renamed.
            if columns.len() != self.columns.len() {
                self.columns = columns;
            }
            self.rows = rows;
        }
        Ok(Table { columns: self.columns, rows: self.rows })
    }
}

/// Runs a query and passes its rows on in blocks while they are read, until `take` returns false.
///
/// # Errors
/// The errors of `take`.
pub(super) async fn stream(
    engine: &Engine,
    sql: &str,
    database: Option<&str>,
    limit: Option<usize>,
    mut take: impl FnMut(Rows) -> anyhow::Result<bool>,
) -> anyhow::Result<Result<Outcome, Failure>> {
    let (sender, mut blocks) = mpsc::channel::<Rows>(BLOCKS_AHEAD);
    let read = async move {
        let read = engine.stream(sql, database, limit, &sender).await;
        drop(sender);
        read
    };
    let pass = async {
        while let Some(block) = blocks.recv().await {
            if !take(block)? {
                break;
            }
        }
        drop(blocks);
        anyhow::Ok(())
    };
    let (outcome, passed) = tokio::join!(read, pass);
    passed?;
    Ok(outcome)
}

fn single(databases: &[String], is_native: bool) -> Option<String> {
    match databases {
        [database] if is_native => Some(database.clone()),
        _ => None,
    }
}

/// Prints the answer of a tool with all rows of its query, and its warnings on standard error unless the answer contains them; returns
/// false if it has no query.
///
/// # Errors
/// If the query fails, or the rows cannot be written.
pub(super) async fn print(answer: &Value, engine: &Arc<Engine>, format: Option<ReportFormat>) -> anyhow::Result<bool> {
    let Some(query) = QueryRows::of_answer(answer) else { return Ok(false) };
    let table = query.complete(engine).await?;
    let mut whole = answer.clone();
    let count = table.rows.len();
    whole["rows"] = table.rows.iter().map(|row| Value::from(row.clone())).collect();
    (whole["row_count"], whole["has_more"]) = (count.into(), false.into());
    if let Some(fields) = whole.as_object_mut() {
        fields.remove("next");
    }
    let format = format.unwrap_or_else(usual_format);
    Report::new(&whole, table)?.in_rows().with_note(plural(count, "row")).print(Some(format))?;
    // JSON contains them.
    if format != ReportFormat::Json {
        let warnings = whole["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
        warnings.for_each(|warning| output::say(&format!("warning: {warning}")));
    }
    Ok(true)
}

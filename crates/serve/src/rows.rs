//! Rows that are returned in full, and limits on the rows that a client sends to be written to a file or drawn.

use prospector_agent::ask::Answered;
use prospector_core::{
    Owner,
    tool::{ToolError, ToolErrorCode, client::timeout},
};
use prospector_engine::query::Rows;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    error::{Refusal, RefusalCode},
    query_sessions::QuerySession,
    server::Server,
};

/// Limit on the rows of a query that are returned in full.
pub(crate) const MAX_ROWS: usize = 10_000;

/// Limit on columns: each needs its own buffers.
pub(crate) const MAX_COLUMNS: usize = 1_000;

/// Limit on rows times columns: a row may omit its last cells.
const MAX_CELLS: usize = 1_000_000;

/// Returns the ids of the queries of an answer that has only a part of their rows.
pub(crate) fn list_truncated(answer: &Value) -> impl Iterator<Item = &str> {
    let queries = answer.as_array().or_else(|| answer["items"].as_array()).into_iter().flatten();
    queries.filter(|query| query["has_more"] == true).filter_map(|query| query["id"].as_str())
}

impl Server {
    /// Returns all rows of a query of a session, by the id of its answer.
    ///
    /// # Errors
    /// - `not_found` if the session has no such answer.
    /// - If the query fails, or takes longer than a call may.
    pub(crate) async fn session_rows(&self, session: &QuerySession, id: &str) -> Result<Value, Refusal> {
        let unknown = || {
            Refusal::not_found(format!("unknown answer `{id}`")).advise("pass the id of a recent answer of the session")
        };
        let rows = self.in_time(session.run_again(id, MAX_ROWS)).await?;
        Ok(write(&rows.ok_or_else(unknown)?))
    }

    /// Returns all rows of a query of an answer, by the handle of the run and the id of the query.
    ///
    /// # Errors
    /// - If the owner has no such run, or its answer no such query.
    /// - `refused` if the catalog does not allow queries of clients.
    /// - If the query fails, or takes longer than a call may.
    pub(crate) async fn run_rows(&self, owner: &Owner, handle: &str, id: &str) -> Result<Value, Refusal> {
        let run = self.runs.get(handle, owner)?;
        let end = run.require_end()?;
        let view = self.catalog.view(owner);
        if !view.queries.is_open {
            let refusal = Refusal::new(RefusalCode::Tool(ToolErrorCode::Refused), "running queries is disabled");
            return Err(refusal.advise("have the catalog maintainer set `queries: true`"));
        }
        let unknown = || {
            Refusal::not_found(format!("the answer has no query `{id}`"))
                .advise("pass the id of one of its `questions`")
        };
        let answered = Answered::deserialize(&*end.result).map_err(|_| unknown())?;
        let mut asked = answered.questions.iter().filter(|query| query.error.is_none());
        let query = asked.find(|query| query.id.eq_ignore_ascii_case(id)).ok_or_else(unknown)?;
        let outcome = self.in_time(view.queries.engine.run(&query.sql, query.database.as_deref(), MAX_ROWS)).await?;
        Ok(write(&outcome.rows))
    }

    /// Waits for work as long as a call of a tool may take.
    pub(crate) async fn in_time<T, E: Into<ToolError>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, ToolError> {
        let limit = self.options.limits.call_time;
        match timeout(limit, work).await {
            Ok(done) => done.map_err(Into::into),
            Err(_) => Err(ToolError::Respond {
                code: ToolErrorCode::Timeout,
                message: format!("no answer within {} s", limit.as_secs()),
                suggestion: None,
            }),
        }
    }
}

/// Writes rows that are returned in full.
fn write(rows: &Rows) -> Value {
    json!({"columns": rows.columns, "row_count": rows.rows.len(), "has_more": rows.has_more, "rows": rows.rows})
}

/// Returns the number of cells of a table.
///
/// # Errors
/// - If there are too many columns or cells.
/// - If a row has more cells than there are columns.
pub(crate) fn count_cells(columns: &[String], rows: &[Vec<Value>]) -> Result<usize, Refusal> {
    let width = columns.len();
    if width > MAX_COLUMNS {
        let reason = format!("there are {width} columns; the limit is {MAX_COLUMNS}");
        return Err(Refusal::invalid(reason).advise("send fewer columns"));
    }
    let cells = width.saturating_mul(rows.len());
    if cells > MAX_CELLS {
        let reason = format!("{} rows of {width} columns are {cells} cells; the limit is {MAX_CELLS}", rows.len());
        return Err(Refusal::invalid(reason).advise("send fewer rows or columns, or aggregate them first"));
    }
    if let Some((at, row)) = rows.iter().enumerate().find(|(_, row)| row.len() > width) {
        let reason = format!("row {} has {} cells, but there are {width} columns", at + 1, row.len());
        return Err(Refusal::invalid(reason).advise("send one value per column, in column order"));
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_missing_cells_and_rejects_what_is_too_much() {
        let check = |columns: usize, rows: usize, cells: usize| {
            let columns = vec![String::new(); columns];
            count_cells(&columns, &vec![vec![json!(1); cells]; rows]).map_err(|refusal| refusal.message)
        };
        assert_eq!(check(3, 4, 0), Ok(12));
        assert_eq!(check(0, 4, 0), Ok(0));
        assert_eq!(check(MAX_COLUMNS, MAX_CELLS / MAX_COLUMNS, 0), Ok(MAX_CELLS));
        let message = |columns, rows, cells| check(columns, rows, cells).unwrap_err();
        assert!(message(MAX_COLUMNS + 1, 1, 1).starts_with("there are 1001 columns"));
        assert!(message(MAX_COLUMNS, MAX_CELLS / MAX_COLUMNS + 1, 0).contains("1001 rows of 1000 columns"));
        assert!(message(2, 3, 3).starts_with("row 1 has 3 cells, but there are 2 columns"));
    }
}

//! The tool `execute_sql`.

use std::sync::Arc;

use futures::future::join_all;
use prospector_connect::rows::Rows;
use prospector_core::tool::{Effect, Page, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Engine;
use crate::answer::{MAX_CHARACTERS, MAX_VALUES, QueryAnswer, QueryResult, cut_to_show};

/// The maximum number of queries in a call.
const MAX_QUERIES: usize = 10;

/// The maximum number of characters of a question, which is stored with its answer.
const MAX_QUESTION_CHARS: usize = 1_000;

pub(super) struct ExecuteSql(pub(super) Arc<Engine>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The queries to run; they run in parallel.
    queries: Vec<Query>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Query {
    /// The question that the query answers.
    #[serde(default)]
    #[schemars(!default)]
    question: String,
    /// One SELECT. Qualify tables as `database.table`. Over one database, use its own SQL. Over several databases, or over
    /// loaded subsets (`scoped.ALIAS`), use DataFusion SQL.
    sql: String,
    /// The database of unqualified tables.
    #[serde(default)]
    database: Option<String>,
}

impl Engine {
    /// The name of the tool that runs queries; its argument `queries` is a list of entries with `question` and `sql`.
    pub const QUERY_TOOL: &'static str = ExecuteSql::NAME;

    /// Returns the answer to a query as shown to a model, and stores it in the history. `shape` may change the rows before.
    pub async fn answer(
        &self,
        question: &str,
        sql: &str,
        database: Option<&str>,
        shape: impl FnOnce(&mut Rows) + Send,
    ) -> QueryAnswer {
        let result = self.run_to_show(sql, database, MAX_CHARACTERS, shape).await;
        let (question, sql) = (question.to_owned(), Some(sql.to_owned()));
        let database = database.map(str::to_owned);
        self.record(QueryAnswer { id: String::new(), sql, database, question, result })
    }

    async fn run_to_show(
        &self,
        sql: &str,
        database: Option<&str>,
        characters: usize,
        shape: impl FnOnce(&mut Rows) + Send,
    ) -> QueryResult {
        match self.run(sql, database, MAX_VALUES).await {
            Ok(mut outcome) => {
                let mut warnings = self.rows_warnings(sql, database, &outcome.rows).await;
                let columns = outcome.rows.columns.clone();
                shape(&mut outcome.rows);
                if outcome.rows.columns != columns {
                    warnings.iter_mut().for_each(|warning| warning.columns.clear());
                    outcome.units.clear();
                }
                QueryResult::Rows {
                    warnings,
                    units: outcome.units,
                    databases: outcome.databases,
                    tables: outcome.tables,
                    executed: outcome.way,
                    shown: cut_to_show(outcome.rows, characters),
                }
            }
            Err(failure) => QueryResult::Failed(failure),
        }
    }
}

impl Tool for ExecuteSql {
    const NAME: &'static str = "execute_sql";
    const DESCRIPTION: &'static str = "Runs read-only SQL queries over one or several databases, and returns up to 50 rows \
        per query, or 200 values of a single column.";
    const MORE: &'static str = "select fewer columns or rows, or call again with a larger max_tokens";
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = Page<QueryAnswer>;

    async fn call(&self, args: Args) -> Result<Page<QueryAnswer>, ToolError> {
        let queries = args.queries;
        if queries.is_empty() || queries.len() > MAX_QUERIES {
            let message = format!("got {} queries; pass 1 to {MAX_QUERIES} per call", queries.len());
            return Err(ToolError::invalid(message, Some("pass them as `queries`".to_owned())));
        }
        let lengths = queries.iter().map(|query| query.question.chars().count());
        if let Some(length) = lengths.max().filter(|length| *length > MAX_QUESTION_CHARS) {
            let message = format!("a question has {length} characters; the maximum is {MAX_QUESTION_CHARS}");
            return Err(ToolError::invalid(message, Some("shorten `question`".to_owned())));
        }
        let each = MAX_CHARACTERS / queries.len();
        let answered = join_all(queries.into_iter().map(|query| async move {
            let result = self.0.run_to_show(&query.sql, query.database.as_deref(), each, |_| ()).await;
            let Query { question, sql, database } = query;
            QueryAnswer { id: String::new(), sql: Some(sql), database, question, result }
        }))
        .await;
        // The caller knows its own SQL.
        let kept = answered.into_iter().map(|answer| QueryAnswer { sql: None, ..self.0.record(answer) });
        Ok(Page::whole(kept.collect()))
    }
}

//! `execute_sql`

use std::sync::Arc;

use futures::future::join_all;
use prospector_connect::rows::Rows;
use prospector_core::tool::{Effect, Page, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Engine;
use crate::answer::{MAX_CHARACTERS, MAX_VALUES, QueryAnswer, QueryResult, cut_to_show};

/// So many queries are run at once.
const MAX_QUERIES: usize = 10;

pub(super) struct ExecuteSql(pub(super) Arc<Engine>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The queries; they run in parallel.
    queries: Vec<Query>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Query {
    /// What the query answers.
    #[serde(default)]
    #[schemars(!default)]
    question: String,
    /// One SELECT. Name tables `database.table`. Over one database: in its own SQL. Over several, and over subsets that were
    /// loaded (`scoped.ALIAS`): DataFusion's.
    sql: String,
    /// The database, where tables are named without it.
    #[serde(default)]
    database: Option<String>,
}

impl Engine {
    /// The name of the tool that runs queries, each of them an entry of its argument `queries` with `question` and `sql`.
    pub const QUERY_TOOL: &'static str = ExecuteSql::NAME;

    /// The answer to a query as a model is shown it, kept among the last ones. `shape` may change the rows before.
    pub async fn answer(
        &self,
        question: &str,
        sql: &str,
        database: Option<&str>,
        shape: impl FnOnce(&mut Rows) + Send,
    ) -> QueryAnswer {
        let result = self.run_to_show(sql, database, MAX_CHARACTERS, shape).await;
        let (question, sql) = (question.to_owned(), Some(sql.to_owned()));
        self.history.keep(QueryAnswer { id: String::new(), sql, question, result })
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
                let warnings = self.warning_texts(sql, database, Some(&outcome.rows)).await;
                shape(&mut outcome.rows);
                QueryResult::Rows {
                    warnings,
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
    const DESCRIPTION: &'static str = "Runs read-only SQL queries, over one database or several, and shows up to 50 rows \
        of each, or 200 values of a single column.";
    const MORE: &'static str = "select fewer columns or rows, or call again with a larger max_tokens";
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = Page<QueryAnswer>;

    async fn call(&self, args: Args) -> Result<Page<QueryAnswer>, ToolError> {
        let queries = args.queries;
        if queries.is_empty() || queries.len() > MAX_QUERIES {
            let message = format!("{} queries were given; 1 to {MAX_QUERIES} are run at once", queries.len());
            return Err(ToolError::invalid(message, Some("pass them as `queries`".to_owned())));
        }
        let each = MAX_CHARACTERS / queries.len();
        let answered = join_all(queries.into_iter().map(|query| async move {
            let result = self.0.run_to_show(&query.sql, query.database.as_deref(), each, |_| ()).await;
            QueryAnswer { id: String::new(), sql: Some(query.sql), question: query.question, result }
        }))
        .await;
        // The caller knows its own SQL.
        let kept = answered.into_iter().map(|answer| QueryAnswer { sql: None, ..self.0.history.keep(answer) });
        Ok(Page::whole(kept.collect()))
    }
}

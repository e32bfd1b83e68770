//! `execute_sql`

use std::sync::Arc;

use futures::future::join_all;
use prospector_core::{Resource, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::answer::{MAX_CHARACTERS, MAX_ROWS, Shown, shown};
use crate::{Engine, Failure, Way};

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
    question: String,
    /// One SELECT. Name tables `database.table`. Over one database: in its own SQL. Over several, and over what load_scoped
    /// loaded (`scoped.ALIAS`): DataFusion's.
    sql: String,
    /// The database, where tables are named without it.
    #[serde(default)]
    database: Option<String>,
}

/// The answer to one query.
#[derive(Serialize)]
#[serde(untagged)]
enum Answered {
    Rows {
        question: String,
        databases: Vec<String>,
        tables: Vec<String>,
        executed: Way,
        #[serde(flatten)]
        shown: Shown,
    },
    Failed {
        question: String,
        #[serde(flatten)]
        failure: Failure,
    },
}

impl Tool for ExecuteSql {
    const NAME: &'static str = "execute_sql";
    const DESCRIPTION: &'static str = "Runs read-only SQL queries, over one database or several, and shows up to 50 rows \
        of each.";
    const MORE: &'static str = "select fewer columns or rows, or call again with a larger max_tokens";
    type Args = Args;
    type Output = Value;

    async fn call(&self, args: Args) -> Result<Value, ToolError> {
        let queries = args.queries;
        if queries.is_empty() || queries.len() > MAX_QUERIES {
            let message = format!("{} queries were given; 1 to {MAX_QUERIES} are run at once", queries.len());
            return Err(ToolError::invalid(message, Some("pass them as `queries`".to_owned())));
        }
        let each = MAX_CHARACTERS / queries.len();
        let answered = join_all(queries.into_iter().map(|query| async move {
            let done = self.0.run(&query.sql, query.database.as_deref(), MAX_ROWS).await;
            let answered = match done {
                Ok(outcome) => Answered::Rows {
                    question: query.question,
                    databases: outcome.databases,
                    tables: outcome.tables,
                    executed: outcome.way,
                    shown: shown(outcome.rows, each),
                },
                Err(failure) => Answered::Failed { question: query.question, failure },
            };
            (query.sql, serde_json::to_value(answered).unwrap_or_default())
        }))
        .await;
        let kept = answered.into_iter().map(|(sql, answer)| {
            self.0.history.keep(|name| {
                let mut whole = json!({"id": name, "sql": sql});
                if let (Some(whole), Value::Object(answer)) = (whole.as_object_mut(), answer) {
                    whole.extend(answer);
                }
                whole
            })
        });
        let without_sql = |mut answer: Value| {
            if let Some(answer) = answer.as_object_mut() {
                answer.shift_remove("sql");
            }
            answer
        };
        Ok(kept.map(without_sql).collect())
    }

    fn reveals(_: &Value, answer: &Value) -> Vec<Resource> {
        answer.as_array().into_iter().flatten().flat_map(super::tables).collect()
    }
}

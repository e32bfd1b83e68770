//! `validate_query`

use std::sync::Arc;

use prospector_core::tool::{Effect, Part, Tool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::build::{AskedStatement, build};
use crate::outcome::Way;
use crate::{Engine, Failure};

pub(super) struct ValidateQuery(pub(super) Arc<Engine>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// One SELECT, as for `execute_sql`.
    #[serde(alias = "query")]
    #[schemars(with = "String")]
    sql: AskedStatement,
    /// The database, where tables are named without it.
    #[serde(default)]
    database: Option<String>,
}

#[derive(Clone, Serialize)]
pub(super) struct Validation {
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    executes: Option<Way>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    databases: Vec<String>,
    /// What in the query matches nothing or counts rows twice, as far as a few small queries can tell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(flatten)]
    failure: Option<Failure>,
}

impl Tool for ValidateQuery {
    const NAME: &'static str = "validate_query";
    const DESCRIPTION: &'static str =
        "Says whether a query would run, what is wrong with it, and what in it matches nothing.";
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = Validation;

    async fn call(&self, args: Args) -> Result<Validation, ToolError> {
        let (sql, database) = match args.sql {
            AskedStatement::Sql(sql) => (sql, args.database),
            AskedStatement::Request(request) => match build(&self.0, &request) {
                Ok(built) => (built.sql, Some(built.query.database)),
                Err(failure) => return Ok(Validation::of_failure(failure)),
            },
        };
        Ok(match self.0.validate(&sql, database.as_deref()).await {
            Ok((way, databases)) => {
                let warnings = self.0.warning_texts(&sql, database.as_deref(), None).await;
                Validation { valid: true, executes: Some(way), databases, warnings, failure: None }
            }
            Err(failure) => Validation::of_failure(failure),
        })
    }
}

impl Validation {
    fn of_failure(failure: Failure) -> Self {
        Validation { valid: false, executes: None, databases: Vec::new(), warnings: Vec::new(), failure: Some(failure) }
    }
}

impl ToolOutput for Validation {
    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        let mut parts = vec![("warnings", Part::entries(&mut self.warnings))];
        let Some(failure) = &mut self.failure else { return parts };
        parts.push(("message", Part::Text(&mut failure.message)));
        parts.extend(failure.suggestion.as_mut().map(|text| ("suggestion", Part::Text(text))));
        parts
    }
}

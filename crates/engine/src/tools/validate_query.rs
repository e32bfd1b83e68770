//! The tool `validate_query`.

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
    /// The database of unqualified tables.
    #[serde(default)]
    database: Option<String>,
}

/// The verdict on a query.
#[derive(Clone, Serialize)]
pub(super) struct Validation {
    /// Whether it would run.
    is_valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    executes: Option<Way>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    databases: Vec<String>,
    /// Why it would not run; empty if it is valid.
    errors: Vec<Failure>,
    /// Evidence from the data that it does not compute what it seems to, such as a literal that no row contains.
    warnings: Vec<String>,
}

impl Tool for ValidateQuery {
    const NAME: &'static str = "validate_query";
    const DESCRIPTION: &'static str = "Validates a query without running it; reports errors, and values or joins that match \
        nothing or repeat rows.";
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
                Validation { is_valid: true, executes: Some(way), databases, errors: Vec::new(), warnings }
            }
            Err(failure) => Validation::of_failure(failure),
        })
    }
}

impl Validation {
    fn of_failure(failure: Failure) -> Self {
        Validation {
            is_valid: false,
            executes: None,
            databases: Vec::new(),
            errors: vec![failure],
            warnings: Vec::new(),
        }
    }
}

impl ToolOutput for Validation {
    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("errors", Part::entries(&mut self.errors)), ("warnings", Part::entries(&mut self.warnings))]
    }
}

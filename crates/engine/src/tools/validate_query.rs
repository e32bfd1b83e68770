//! `validate_query`

use std::sync::Arc;

use prospector_core::tool::{Effect, Part, Tool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::FailureFields;
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

#[derive(Clone, Serialize, JsonSchema)]
pub(super) struct Validation {
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    executes: Option<Way>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    databases: Vec<String>,
    #[serde(flatten)]
    #[schemars(with = "Option<FailureFields>")]
    failure: Option<Failure>,
}

impl Tool for ValidateQuery {
    const NAME: &'static str = "validate_query";
    const DESCRIPTION: &'static str = "Says whether a query would run, and what is wrong with it; nothing is executed.";
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = Validation;

    async fn call(&self, args: Args) -> Result<Validation, ToolError> {
        let validated = match args.sql {
            AskedStatement::Sql(sql) => self.0.validate(&sql, args.database.as_deref()).await,
            AskedStatement::Request(request) => match build(&self.0, &request) {
                Ok(built) => self.0.validate(&built.sql, Some(&built.query.database)).await,
                Err(failure) => Err(failure),
            },
        };
        Ok(match validated {
            Ok((way, databases)) => Validation { valid: true, executes: Some(way), databases, failure: None },
            Err(failure) => Validation { valid: false, executes: None, databases: Vec::new(), failure: Some(failure) },
        })
    }
}

impl ToolOutput for Validation {
    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        let Some(failure) = &mut self.failure else { return Vec::new() };
        let mut parts = vec![("message", Part::Text(&mut failure.message))];
        parts.extend(failure.suggestion.as_mut().map(|text| ("suggestion", Part::Text(text))));
        parts
    }
}

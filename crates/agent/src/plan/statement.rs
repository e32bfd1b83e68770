//! The statement of a step. `run` executes exactly the statement that was verified.

use prospector_discovery::Catalog;
use prospector_engine::{Engine, Failure, FailureCode};

use super::step::{Action, SqlQuery, Step};

/// Why a step has no executable statement.
pub enum Unresolved {
    /// The step is not a query.
    NoQuery,
    /// The query over metrics cannot be computed.
    Metrics(Failure),
    /// The verified query is unknown, or a parameter is invalid.
    Parameter(String),
}

/// Returns the statement that a step runs: its own SQL, that of its metrics, or that of its verified query.
///
/// # Errors
/// [`Unresolved`] if the step is not a query, or the query cannot be computed.
pub async fn find_statement(step: &Step, catalog: &Catalog, engine: &Engine) -> Result<SqlQuery, Unresolved> {
    match &step.action {
        Action::Sql(query) => Ok(query.clone()),
        Action::Metrics(query) => match catalog.metrics.compile(engine, query) {
            Ok((compiled, _)) => Ok(SqlQuery { sql: compiled.sql, database: compiled.database }),
            Err(failure) => Err(Unresolved::Metrics(failure)),
        },
        Action::VerifiedQuery(call) => {
            let verified = &catalog.verified;
            let Some(query) = verified.resolve(&call.name) else {
                return Err(Unresolved::Parameter(format!("unknown verified query `{}`", call.name)));
            };
            let bound = verified.bind(query, &call.parameters, engine).await;
            let (sql, _) = bound.map_err(|error| Unresolved::Parameter(error.to_string()))?;
            Ok(SqlQuery { sql, database: query.database.clone() })
        }
        Action::Call(_) | Action::Read(_) | Action::Named | Action::Unreadable(_) => Err(Unresolved::NoQuery),
    }
}

impl From<Unresolved> for Failure {
    fn from(reason: Unresolved) -> Self {
        match reason {
            Unresolved::Metrics(failure) => failure,
            Unresolved::Parameter(message) => Failure::new(FailureCode::InvalidArguments, message),
            Unresolved::NoQuery => Failure::new(FailureCode::InvalidArguments, "the step has no query"),
        }
    }
}

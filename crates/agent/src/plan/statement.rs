//! The statement of a step: what `run` sends to the engine is what was verified.

use prospector_discovery::Catalog;
use prospector_engine::{Engine, Failure, FailureCode};

use super::step::{Action, SqlQuery, Step};

/// Why a step has no statement that could be run.
pub enum Unresolved {
    /// The step is not one of a query.
    NoQuery,
    /// The query over metrics cannot be computed.
    Metrics(Failure),
    /// The verified query, or a value of its parameters, does not fit.
    Parameter(String),
}

/// Returns the statement that a step runs: its own SQL, that of its metrics, or that of its verified query.
///
/// # Errors
/// [`Unresolved`]: a step of another kind, or a query that cannot be computed as asked.
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

//! Errors of verified queries.

use std::{io, path::PathBuf};

use prospector_core::tool::ToolError;
use prospector_engine::Failure;

/// Why a verified query cannot be run, stored or approved.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The query has no such parameter.
    #[error("the query `{query}` has no parameter `{parameter}`")]
    UnknownParameter {
        /// The query.
        query: String,
        /// The parameter.
        parameter: String,
        /// The parameters of the query.
        known: Vec<String>,
    },
    /// A required parameter has no value.
    #[error("the query `{query}` needs a value for its parameter `{parameter}`")]
    Missing {
        /// The query.
        query: String,
        /// The parameter.
        parameter: String,
    },
    /// A value does not have the type of its parameter.
    #[error("the parameter `{parameter}` of the query `{query}` has the type {kind}; `{given}` does not")]
    Type {
        /// The query.
        query: String,
        /// The parameter.
        parameter: String,
        /// Its type.
        kind: &'static str,
        /// What was given.
        given: String,
    },
    /// A value is not in the domain of its parameter.
    #[error("the parameter `{parameter}` of the query `{query}` does not accept `{given}`")]
    Value {
        /// The query.
        query: String,
        /// The parameter.
        parameter: String,
        /// What was given.
        given: String,
        /// The accepted values.
        takes: String,
    },
    /// The query is stale: it no longer matches the catalog.
    #[error("the query `{query}` is stale: {reason}")]
    Stale {
        /// The query.
        query: String,
        /// What is wrong.
        reason: String,
    },
    /// The engine rejected it, or its source failed.
    #[error(transparent)]
    Engine(#[from] Failure),
    /// The name is not valid.
    #[error("`{0}` is not a valid query name")]
    Name(String),
    /// There is no pending query with this name.
    #[error("no query `{name}` is pending approval")]
    Unknown {
        /// The name.
        name: String,
        /// The pending queries.
        waiting: Vec<String>,
    },
    /// The maximum number of pending entries is reached.
    #[error("{most} {what} are already pending review")]
    TooMany {
        /// The kind of entries: `of your queries`.
        what: &'static str,
        /// The maximum number.
        most: usize,
    },
    /// The file already exists.
    #[error("a query already exists at {}", .0.display())]
    Exists(PathBuf),
    /// A file could not be read or written.
    #[error("{} could not be {act}: {source}", path.display())]
    File {
        /// `read`, `written` or `removed`.
        act: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file of a proposal is invalid.
    #[error("{0}")]
    Broken(prospector_core::Problem),
}

/// Why a verified query cannot be used as a table.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("it is stale: {0}")]
    Stale(String),
    #[error("its parameter `{0}` has no default; run it with a value instead")]
    NoDefault(String),
    #[error(transparent)]
    Engine(Failure),
}

impl QueryError {
    /// Returns how to fix it, if that is not obvious.
    pub fn advice(&self) -> Option<String> {
        match self {
            QueryError::UnknownParameter { known, .. } if known.is_empty() => Some("it has no parameters".into()),
            QueryError::UnknownParameter { known, .. } => Some(format!("its parameters are {}", known.join(", "))),
            QueryError::Missing { .. } => Some("pass it, or ask the user for it".into()),
            QueryError::Type { kind: "date", .. } => Some("write the date as 2025-12-31".into()),
            QueryError::Value { takes, .. } => Some(format!("it accepts {takes}")),
            QueryError::Stale { .. } => Some("the catalog maintainer has to fix and re-verify it".into()),
            QueryError::Name(_) => Some("use lower-case letters, digits and hyphens".into()),
            QueryError::Unknown { waiting, .. } if waiting.is_empty() => Some("no queries are pending".into()),
            QueryError::Unknown { waiting, .. } => Some(format!("pending queries: {}", waiting.join(", "))),
            QueryError::TooMany { .. } => {
                Some("the catalog maintainer reviews them with `planner queries list --waiting`".into())
            }
            QueryError::Exists(_) => Some("use another name, or remove the file first".into()),
            QueryError::Type { .. } | QueryError::Engine(_) | QueryError::File { .. } | QueryError::Broken(_) => None,
        }
    }
}

impl From<QueryError> for ToolError {
    fn from(error: QueryError) -> Self {
        let advice = error.advice();
        match error {
            QueryError::Engine(failure) => failure.into(),
            QueryError::Stale { .. } => ToolError::unavailable(error.to_string(), advice),
            error => ToolError::invalid(error.to_string(), advice),
        }
    }
}

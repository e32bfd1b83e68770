//! What goes wrong with verified queries.

use std::{io, path::PathBuf};

use prospector_core::tool::ToolError;
use prospector_engine::Failure;

/// Why a verified query cannot be run, kept or approved.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// A parameter was given that the query does not have.
    #[error("the query `{query}` has no parameter `{parameter}`")]
    UnknownParameter {
        /// The query.
        query: String,
        /// The parameter.
        parameter: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// A parameter needs a value.
    #[error("the query `{query}` needs a value for its parameter `{parameter}`")]
    Missing {
        /// The query.
        query: String,
        /// The parameter.
        parameter: String,
    },
    /// A value is not of the type of its parameter.
    #[error("the parameter `{parameter}` of the query `{query}` is of the type {kind}, and `{given}` is not")]
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
    /// A value is none that the parameter takes.
    #[error("the parameter `{parameter}` of the query `{query}` does not take `{given}`")]
    Value {
        /// The query.
        query: String,
        /// The parameter.
        parameter: String,
        /// What was given.
        given: String,
        /// What it takes instead.
        takes: String,
    },
    /// It no longer fits the catalog.
    #[error("the query `{query}` is stale: {reason}")]
    Stale {
        /// The query.
        query: String,
        /// What is wrong.
        reason: String,
    },
    /// The engine refused it, or its source failed.
    #[error(transparent)]
    Engine(#[from] Failure),
    /// A name that no file can have.
    #[error("`{0}` is no name of a query")]
    Name(String),
    /// There is no such proposal.
    #[error("no query of the name `{name}` waits for approval")]
    Unknown {
        /// The name.
        name: String,
        /// Those that wait.
        waiting: Vec<String>,
    },
    /// As many wait for review as may.
    #[error("{most} {what} already wait for review")]
    TooMany {
        /// What waits: `queries of yours`.
        what: &'static str,
        /// How many may wait.
        most: usize,
    },
    /// The file is there already.
    #[error("there is a query at {} already", .0.display())]
    Exists(PathBuf),
    /// A file could not be read or written.
    #[error("{} could not be {act}: {source}", path.display())]
    File {
        /// `read`, `written` or `removed`.
        act: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file of a proposal is not right.
    #[error("{0}")]
    Broken(prospector_core::Problem),
}

/// Why a verified query cannot be read as a table.
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
    /// What to do about it, where that is not plain.
    pub fn advice(&self) -> Option<String> {
        match self {
            QueryError::UnknownParameter { known, .. } if known.is_empty() => Some("it has no parameters".into()),
            QueryError::UnknownParameter { known, .. } => Some(format!("its parameters are {}", known.join(", "))),
            QueryError::Missing { .. } => Some("pass it, or ask the user for it".into()),
            QueryError::Type { kind: "date", .. } => Some("write a day as 2025-12-31".into()),
            QueryError::Value { takes, .. } => Some(format!("it takes {takes}")),
            QueryError::Stale { .. } => Some("who keeps the catalog has to mend and verify it anew".into()),
            QueryError::Name(_) => Some("a name is of small letters, digits and hyphens".into()),
            QueryError::Unknown { waiting, .. } if waiting.is_empty() => Some("none waits".into()),
            QueryError::Unknown { waiting, .. } => Some(format!("these wait: {}", waiting.join(", "))),
            QueryError::TooMany { .. } => {
                Some("the catalog maintainer reviews them with `planner queries list --waiting`".into())
            }
            QueryError::Exists(_) => Some("take another name, or remove that file first".into()),
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

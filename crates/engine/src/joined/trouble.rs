//! What goes wrong while a statement is planned and computed, in whatever process.

use std::any::Any;

use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use prospector_connect::ConnectError;
use prospector_connect::error::Cause;
use prospector_connect::table::Table;
use serde::{Deserialize, Serialize};
use sqlparser::ast::Query;

use super::cells::TooLarge;
use super::provider::RowsError;
use super::wording::{Wording, reword};
use crate::advice::{self, Reason};
use crate::{Failure, FailureCode};

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ComputeError {
    /// The statement is wrong, or a source or DataFusion failed.
    Failed(Reason),
    /// The answer is larger than its budget.
    TooLarge(TooLarge),
    /// A part of the program failed that should not.
    Panicked(String),
    /// The worker was refused more memory.
    Memory {
        /// What it may use, in bytes.
        most: u64,
    },
    /// The worker wrote a larger file to the scratch folder than it may.
    Scratch {
        /// The largest file, in bytes.
        most: u64,
    },
    /// The worker's stack was used up.
    Nested,
    /// The worker ended for another reason.
    Ended(String),
    /// No worker was free in time.
    Busy {
        /// How long it was waited for.
        seconds: u64,
    },
    /// There is no worker to be had.
    Unstarted(String),
}

/// What to do where there is not enough memory.
const LESS_MEMORY: &str = "read fewer or narrower columns, add a WHERE or a LIMIT, or aggregate before the join";

/// Whether a panic, or an error that keeps nothing but its text, is about memory: in words of Rust's own library, which are
/// the same in every language.
fn is_of_memory(reason: &str) -> bool {
    let words =
        ["memory allocator returned an error", "capacity overflow", "failed to spawn thread", "Cannot allocate memory"];
    words.iter().any(|part| reason.contains(part))
}

impl ComputeError {
    /// The time of the query is over.
    pub(crate) fn timeout() -> Self {
        ComputeError::Failed(Reason::timeout())
    }

    /// A fault that is not of the statement.
    pub(crate) fn other(message: impl Into<String>) -> Self {
        ComputeError::Failed(Reason::new(Cause::Other, message))
    }

    /// There is more than may be handed from one process to the other.
    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        ComputeError::Failed(Reason::new(Cause::TooLarge, format!("too large: {}", message.into())))
    }

    /// What DataFusion says of a query, without the wrapping.
    pub(crate) fn of_datafusion(error: &DataFusionError, query: &Query) -> Self {
        let root = error.find_root();
        if let DataFusionError::External(source) = root {
            if let Some(large) = source.downcast_ref::<TooLarge>() {
                return ComputeError::TooLarge(large.clone());
            }
            if let Some(error) = source.downcast_ref::<ConnectError>() {
                return ComputeError::Failed(Reason::from_connect(error));
            }
            if let Some(error) = source.downcast_ref::<RowsError>() {
                return ComputeError::Failed(Reason::new(error.cause(), error.to_string()));
            }
        }
        let Wording { message, suggestion } = reword(root, query);
        let column = match root {
            DataFusionError::SchemaError(error, _) => match error.as_ref() {
                SchemaError::FieldNotFound { field, .. } => Some(field.name.clone()),
                SchemaError::AmbiguousReference { .. }
                | SchemaError::DuplicateQualifiedField { .. }
                | SchemaError::DuplicateUnqualifiedField { .. } => None,
            },
            _ => None,
        };
        ComputeError::Failed(Reason { cause: Cause::of_datafusion(error), message, column, suggestion })
    }

    /// What was said in a panic.
    pub(crate) fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        ComputeError::Panicked(text.unwrap_or("no reason was given").to_owned())
    }

    /// The failure as the one who wrote the query is told; `tables` are those that it reads.
    pub(crate) fn into_failure(self, tables: &[&Table]) -> Failure {
        let megabytes = |bytes: u64| bytes >> 20;
        match self {
            ComputeError::Failed(Reason { cause: Cause::Other, message, .. }) | ComputeError::Panicked(message)
                if is_of_memory(&message) =>
            {
                let message: String = message.lines().next().unwrap_or_default().chars().take(400).collect();
                Failure::new(FailureCode::Memory, message).advise(LESS_MEMORY)
            }
            ComputeError::Failed(reason) => {
                let failure = advice::explain(&reason, tables);
                if reason.cause == Cause::Memory { failure.advise(LESS_MEMORY) } else { failure }
            }
            ComputeError::TooLarge(large) => large.into_failure(),
            ComputeError::Panicked(reason) => {
                let reason: String = reason.lines().next().unwrap_or_default().chars().take(200).collect();
                Failure::new(FailureCode::Failed, format!("the query could not be computed: {reason}"))
                    .advise("write it in another way")
            }
            ComputeError::Memory { most } => {
                Failure::new(FailureCode::Memory, format!("the query needs more than {} MB of memory", megabytes(most)))
                    .advise(LESS_MEMORY)
            }
            ComputeError::Scratch { most } => {
                let message = format!("the query needs more than {} MB of scratch space", megabytes(most));
                Failure::new(FailureCode::Memory, message).advise(LESS_MEMORY)
            }
            ComputeError::Nested => Failure::new(FailureCode::Failed, "the query is nested too deeply to be planned")
                .advise("write it with fewer levels of brackets and subqueries"),
            ComputeError::Ended(how) => {
                Failure::new(FailureCode::Failed, format!("the process that computed the query ended: {how}"))
                    .advise("run the query again; if it fails again, ask for less at once")
            }
            ComputeError::Busy { seconds } => {
                let message = format!("other queries are being computed, and none was done within {seconds} s");
                Failure::new(FailureCode::Unavailable, message).advise("run the query again later")
            }
            ComputeError::Unstarted(reason) => Failure::new(
                FailureCode::Unavailable,
                format!("the process that computes queries does not start: {reason}"),
            )
            .advise("query one database at a time, or repair the installation"),
        }
    }
}

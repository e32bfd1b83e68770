//! Errors of planning and computing a statement, in any process.

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

/// Why a statement could not be computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ComputeError {
    /// The statement is invalid, or a source or DataFusion failed.
    Failed(Reason),
    /// The answer exceeds its size limit.
    TooLarge(TooLarge),
    /// An internal part of the program panicked.
    Panicked(String),
    /// The worker exceeded its memory limit.
    Memory {
        /// The limit in bytes.
        most: u64,
    },
    /// The worker exceeded the size limit of a scratch file.
    Scratch {
        /// The limit in bytes.
        most: u64,
    },
    /// The worker overflowed its stack.
    Nested,
    /// The worker ended for another reason.
    Ended(String),
    /// No worker was free in time.
    Busy {
        /// The waiting time.
        seconds: u64,
    },
    /// No worker could be started.
    Unstarted(String),
}

/// The suggestion when memory is exhausted.
const LESS_MEMORY: &str = "read fewer or narrower columns, add a WHERE or a LIMIT, or aggregate before the join";

/// Returns whether a panic, or an error of which only the text remains, is about memory. The texts are those of Rust's standard
/// library and are not localised.
fn is_of_memory(reason: &str) -> bool {
    let words =
        ["memory allocator returned an error", "capacity overflow", "failed to spawn thread", "Cannot allocate memory"];
    words.iter().any(|part| reason.contains(part))
}

impl ComputeError {
    /// Creates the error of a query that exceeded its time limit.
    pub(crate) fn timeout() -> Self {
        ComputeError::Failed(Reason::timeout())
    }

    /// Creates an error that the statement did not cause.
    pub(crate) fn other(message: impl Into<String>) -> Self {
        ComputeError::Failed(Reason::new(Cause::Other, message))
    }

    /// Creates the error of a message that exceeds the limit between processes.
    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        ComputeError::Failed(Reason::new(Cause::TooLarge, format!("too large: {}", message.into())))
    }

    /// Converts an error of DataFusion, without its wrappers.
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

    /// Converts the payload of a panic.
    pub(crate) fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        ComputeError::Panicked(text.unwrap_or("no reason was given").to_owned())
    }

    /// Converts the error into the failure reported to the author of the query; `tables` are those that it reads.
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
                    .advise("rephrase the query")
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
                .advise("use fewer levels of parentheses and subqueries"),
            ComputeError::Ended(how) => {
                Failure::new(FailureCode::Failed, format!("the process that computed the query ended: {how}"))
                    .advise("run the query again; if it fails again, split it into smaller ones")
            }
            ComputeError::Busy { seconds } => {
                let message = format!("all workers are busy with other queries, and none was free within {seconds} s");
                Failure::new(FailureCode::Unavailable, message).advise("run the query again later")
            }
            ComputeError::Unstarted(reason) => Failure::new(
                FailureCode::Unavailable,
                format!("the process that computes queries cannot be started: {reason}"),
            )
            .advise("query one database at a time, or repair the installation"),
        }
    }
}

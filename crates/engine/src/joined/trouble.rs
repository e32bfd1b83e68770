//! What goes wrong while a statement is planned and computed, in whatever process.

use std::any::Any;

use datafusion::error::DataFusionError;
use prospector_connect::Table;
use serde::{Deserialize, Serialize};

use super::shown::TooLarge;
use crate::{Failure, hint};

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Trouble {
    /// In the words of DataFusion or of the source.
    Said(String),
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

/// Whether DataFusion, or a part of the program that gave up, says in words of its own that there is not enough memory, or
/// not enough room in the scratch folder.
fn is_of_memory(reason: &str) -> bool {
    let words = [
        "memory allocator returned an error",
        "disk space during the spilling process",
        "capacity overflow",
        "failed to spawn thread",
        "Cannot allocate memory",
    ];
    words.iter().any(|part| reason.contains(part))
}

impl Trouble {
    /// The time of the query is over.
    pub(crate) fn timeout() -> Self {
        Trouble::Said("it took too long and was stopped".to_owned())
    }

    /// What DataFusion says, without the wrapping.
    pub(crate) fn of_datafusion(error: &DataFusionError) -> Self {
        match error.find_root() {
            DataFusionError::External(error) => match error.downcast_ref::<TooLarge>() {
                Some(large) => Trouble::TooLarge(large.clone()),
                None => Trouble::Said(error.to_string()),
            },
            DataFusionError::ArrowError(error, _) => Trouble::Said(error.to_string()),
            root => Trouble::Said(root.strip_backtrace()),
        }
    }

    /// What was said in a panic.
    pub(crate) fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Trouble::Panicked(text.unwrap_or("no reason was given").to_owned())
    }

    /// The failure as the one who wrote the query is told; `tables` are those that it reads.
    pub(crate) fn into_failure(self, tables: &[&Table]) -> Failure {
        let megabytes = |bytes: u64| bytes >> 20;
        match self {
            Trouble::Said(reason) | Trouble::Panicked(reason) if is_of_memory(&reason) => {
                let reason: String = reason.lines().next().unwrap_or_default().chars().take(400).collect();
                Failure::new("memory", reason).advise(LESS_MEMORY)
            }
            Trouble::Said(reason) => hint::explained(&reason, tables),
            Trouble::TooLarge(large) => large.into_failure(),
            Trouble::Panicked(reason) => {
                let reason: String = reason.lines().next().unwrap_or_default().chars().take(200).collect();
                Failure::new("failed", format!("the query could not be computed: {reason}"))
                    .advise("write it in another way")
            }
            Trouble::Memory { most } => {
                Failure::new("memory", format!("the query needs more than {} MB of memory", megabytes(most)))
                    .advise(LESS_MEMORY)
            }
            Trouble::Scratch { most } => {
                let message = format!("the query needs more than {} MB of scratch space", megabytes(most));
                Failure::new("memory", message).advise(LESS_MEMORY)
            }
            Trouble::Nested => Failure::new("failed", "the query is nested too deeply to be planned")
                .advise("write it with fewer levels of brackets and subqueries"),
            Trouble::Ended(how) => Failure::new("failed", format!("the process that computed the query ended: {how}"))
                .advise("run the query again; if it fails again, ask for less at once"),
            Trouble::Busy { seconds } => {
                let message = format!("other queries are being computed, and none was done within {seconds} s");
                Failure::new("unavailable", message).advise("run the query again later")
            }
            Trouble::Unstarted(reason) => {
                Failure::new("unavailable", format!("the process that computes queries does not start: {reason}"))
                    .advise("query one database at a time, or repair the installation")
            }
        }
    }
}

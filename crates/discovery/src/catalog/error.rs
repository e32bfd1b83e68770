//! Errors that prevent a catalog from being opened.

use std::path::PathBuf;

use prospector_core::Problem;
use prospector_core::problem::{Severity, conceal};
use prospector_search::SearchError;

use crate::locate::LocateError;

/// Why a catalog could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The file could not be read.
    #[error("cannot read the catalog {}: {source}", path.display())]
    Read {
        /// The catalog file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not YAML, or not a mapping.
    #[error("{}:{line}: {}", path.display(), conceal(reason))]
    Syntax {
        /// The catalog file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong there.
        reason: String,
    },
    /// The state folder could not be written.
    #[error("cannot use the state folder {}: {source}", path.display())]
    State {
        /// The folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Opening was cancelled: see [`CatalogOptions::cancel`](crate::CatalogOptions::cancel).
    #[error("opening the catalog was cancelled")]
    Cancelled,
    /// A given source matches nothing.
    #[error(transparent)]
    Locate(#[from] LocateError),
    /// None of the given sources can be opened.
    #[error("none of the sources can be opened: {}", list(problems))]
    Nothing {
        /// The problems of the sources.
        problems: Vec<Problem>,
    },
    /// The index could neither be opened nor rebuilt.
    #[error(transparent)]
    Search(#[from] SearchError),
}

/// Lists the errors among the problems, each with its location.
fn list(problems: &[Problem]) -> String {
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    let said = errors.map(|problem| match problem.reason.starts_with("cannot connect to ") {
        // The reason names the server.
        true => problem.reason.clone(),
        false => format!("{}: {}", problem.place, problem.reason),
    });
    said.collect::<Vec<_>>().join("; ")
}

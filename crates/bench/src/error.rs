//! What can go wrong with a bench.

use std::path::PathBuf;

use prospector_discovery::CatalogError;
use prospector_llm::LlmError;
use prospector_search::SearchError;

use crate::jsonl;

/// A failed act of a bench.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A file could not be read.
    #[error("cannot read the {what} {}", path.display())]
    Read {
        /// What it holds: `queries`, `records`, `runs`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it could not be read.
        source: std::io::Error,
    },
    /// A line of a file is not what it should be.
    #[error("{}:{line}: {fault}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        fault: LineError,
    },
    /// A file of cases is no YAML, or has no list of them.
    #[error("{}:{line}: {reason}", path.display())]
    Cases {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// A file holds nothing.
    #[error("{} holds no {what}", path.display())]
    Empty {
        /// What it should hold: `queries`, `records`, `runs`.
        what: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A file could not be written.
    #[error("cannot write {what}{}", path.display())]
    Write {
        /// What it should hold, followed by a space; empty where the path says enough.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it could not be written.
        source: std::io::Error,
    },
    /// A script of SQL could not be made a database.
    #[error("cannot make a SQLite database of {}", path.display())]
    Script {
        /// The script.
        path: PathBuf,
        /// Why it failed.
        source: sqlx::Error,
    },
    /// The temporary folder for a catalog could not be made.
    #[error("cannot make a temporary folder for the catalog")]
    Folder(#[source] std::io::Error),
    /// Neither a file of questions nor a folder with one was named.
    #[error("there are no questions: name a file with --queries FILE")]
    NoQuestions,
    /// The options of a catalog could not be made.
    #[error(transparent)]
    Options(Box<dyn std::error::Error + Send + Sync>),
    /// A catalog could not be opened.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// A search failed.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A question could not be planned.
    #[error("{question}: {failure}")]
    Plan {
        /// The id of the question.
        question: String,
        /// Why the provider of the model failed.
        failure: LlmError,
    },
    /// The provider of a model could not count.
    #[error(transparent)]
    Count(#[from] LlmError),
    /// The provider of a model has no way to count.
    #[error("the provider of {model} counts no tokens: name a model of Anthropic's with --count")]
    CountsNothing {
        /// The model.
        model: String,
    },
    /// A result could not be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// What is wrong with a line of a file.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is not JSON.
    #[error("{}", jsonl::explain(.0))]
    Json(serde_json::Error),
    /// It is JSON of another shape.
    #[error("not a {what}: {}", jsonl::explain(source))]
    Shape {
        /// What it should be.
        what: &'static str,
        /// How it differs.
        source: serde_json::Error,
    },
    /// A question without words.
    #[error("`query` is empty")]
    EmptyQuery,
    /// A question that needs nothing, where it has to be judged.
    #[error("`gold` is empty: there is nothing to find")]
    EmptyGold,
    /// A grade below zero, or none that is a number.
    #[error("a grade is negative")]
    NegativeGrade,
    /// A run that was recorded in another format.
    #[error("this run has format {found}, and only {readable} can be read: record it again")]
    Format {
        /// The format of the run.
        found: u64,
        /// The format that is read.
        readable: u32,
    },
    /// An object that is no run.
    #[error("not a run: it has no `format`")]
    NoFormat,
    /// A record that cannot be made a part of a catalog.
    #[error(
        "neither a table with `db`, `table` and `columns` nor an operation with `api`, `method` and `path`: plans need a \
         catalog for everything else"
    )]
    NotInCatalogs,
}

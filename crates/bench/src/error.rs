//! Errors of benches.

use std::path::PathBuf;

use prospector_core::tool::ToolError;
use prospector_discovery::CatalogError;
use prospector_llm::LlmError;
use prospector_search::SearchError;

/// A failed operation of a bench.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A file could not be read.
    #[error("cannot read the {what} {}", path.display())]
    Read {
        /// Its expected content: `queries` or `records`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A line of a file is invalid.
    #[error("{}:{line}: {fault}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The problem.
        fault: LineError,
    },
    /// A file of cases is not valid YAML, or contains no list of them.
    #[error("{}:{line}: {reason}", path.display())]
    Cases {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// The reason.
        reason: String,
    },
    /// A file is empty.
    #[error("{} contains no {what}", path.display())]
    Empty {
        /// Its expected content: `queries` or `records`.
        what: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A file could not be written.
    #[error("cannot write {what}{}", path.display())]
    Write {
        /// Its content, followed by a space; empty if the path suffices.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// An SQL script could not be converted to a database.
    #[error("cannot create a SQLite database from {}", path.display())]
    Script {
        /// The script.
        path: PathBuf,
        /// The cause.
        source: sqlx::Error,
    },
    /// The temporary folder for a database could not be created.
    #[error("cannot create a temporary folder for the catalog")]
    Folder(#[source] std::io::Error),
    /// Neither a file of questions nor a folder with one was given.
    #[error("no questions: pass a file with --queries FILE")]
    NoQuestions,
    /// The options of a catalog could not be created.
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
        /// The error of the model provider.
        failure: LlmError,
    },
    /// A discovery tool failed.
    #[error("`{tool}` failed for the question `{question}`")]
    Tool {
        /// The tool.
        tool: &'static str,
        /// The question.
        question: String,
        /// The error of the tool.
        source: ToolError,
    },
    /// The folders contain fewer tools than were requested.
    #[error(
        "{requested} tools were requested, but the folders contain {found}: add a folder with --tools, or pass smaller \
         --sizes"
    )]
    TooFewTools {
        /// The requested number.
        requested: usize,
        /// The number of different tools.
        found: usize,
    },
    /// Every question needs an unknown tool, or more tools than the smallest list has.
    #[error(
        "every question of {} needs more than {size} tools, or a tool that the catalog.jsonl next to it lacks: pass larger \
         --sizes, or add the tools",
        path.display()
    )]
    NoFittingQuestion {
        /// The file of questions.
        path: PathBuf,
        /// The smallest requested number of tools.
        size: usize,
    },
    /// A result could not be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// The problem with a line.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is not JSON.
    #[error("{}", explain(.0))]
    Json(serde_json::Error),
    /// It is JSON with an unexpected structure.
    #[error("not a {what}: {}", explain(source))]
    Shape {
        /// The expected content.
        what: &'static str,
        /// The mismatch.
        source: serde_json::Error,
    },
    /// A question without text.
    #[error("`query` is empty")]
    EmptyQuery,
    /// A question without needed entries, although it is to be judged.
    #[error("`gold` is empty: list the entries to find")]
    EmptyGold,
    /// A negative or non-numeric grade.
    #[error("a grade is negative")]
    NegativeGrade,
    /// A record that is neither a tool nor an operation.
    #[error(
        "neither a tool with `id`, `server`, `tool` and `inputSchema` nor an operation with `api`, `method` and `path`"
    )]
    NotATool,
}

/// Formats a JSON error without its line number, as each line is a separate document.
fn explain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).map_or(text.clone(), |reason| format!("{reason} (column {})", error.column()))
}

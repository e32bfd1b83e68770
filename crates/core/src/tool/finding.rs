//! Findings of results: definitions and query rows, for tracing the sources of claims.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// The definition of a term, from a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The term; empty if the question names none.
    pub term: String,
    /// The definition; empty if unknown.
    pub text: String,
    /// The source; empty if unknown.
    pub source: String,
    /// The confidence, 0 to 1, with two digits.
    pub confidence: f64,
    /// Whether the user has to confirm it before use.
    pub needs_clarification: bool,
}

/// A query and its result, in an answer that may be edited: see [`Answer::edit_queries`](crate::Answer::edit_queries).
#[derive(Debug)]
pub struct QueryFinding<'a> {
    /// Its id in the answer, such as `Q1`.
    pub id: &'a mut String,
    /// The question that it answers.
    pub question: &'a str,
    /// A human-readable title of its rows including filters, if known.
    pub title: Option<&'a str>,
    /// Its SQL, if shown.
    pub sql: Option<&'a str>,
    /// The database that it was sent to, if shown.
    pub database: Option<&'a str>,
    /// The name and approval of the verified query, if it is one.
    pub verified: Option<(&'a str, &'a Verification)>,
    /// Its rows, or the failure.
    pub rows: Result<QueryRows<'a>, QueryFailure>,
}

/// Who approved a query, and when.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// The person.
    pub by: String,
    /// The date, `YYYY-MM-DD`.
    pub on: String,
}

/// Why a query failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct QueryFailure {
    /// A stable code for programs.
    pub code: String,
    /// The message.
    pub message: String,
}

/// The rows of a query in a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryRows<'a> {
    /// The databases that were read.
    pub databases: &'a [String],
    /// The column names.
    pub columns: &'a [String],
    /// The rows, with one value per column.
    pub rows: &'a [Vec<Value>],
    /// The units of columns by name, if known.
    pub units: &'a [(String, String)],
    /// Whether there are more rows.
    pub has_more: bool,
    /// Evidence in the data that the query may be incorrect.
    pub warnings: &'a [RowsWarning],
}

/// Evidence in the data that the rows of a query may be incorrect.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "WarningText")]
pub struct RowsWarning {
    /// What was found, where, and what to write instead.
    pub message: String,
    /// The columns whose values may be incorrect; empty if all rows may be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The number of last rows that it is about; 0 if it may be about all rows.
    #[serde(skip_serializing_if = "is_zero")]
    pub last_rows: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A warning with its columns, or only its message, as sessions of earlier versions contain it.
#[derive(Deserialize)]
#[serde(untagged)]
enum WarningText {
    Message(String),
    Warning {
        message: String,
        #[serde(default)]
        columns: Vec<String>,
        #[serde(default)]
        last_rows: usize,
    },
}

impl From<WarningText> for RowsWarning {
    fn from(text: WarningText) -> Self {
        match text {
            WarningText::Message(message) => RowsWarning { message, ..RowsWarning::default() },
            WarningText::Warning { message, columns, last_rows } => RowsWarning { message, columns, last_rows },
        }
    }
}

impl RowsWarning {
    /// Serializes the messages of warnings, for tool answers.
    ///
    /// # Errors
    /// If the serializer fails.
    pub fn serialize_messages<S: Serializer>(warnings: &[RowsWarning], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(warnings.iter().map(|warning| &warning.message))
    }
}

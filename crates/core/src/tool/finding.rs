//! What an answer finds out beyond names: definitions, and the rows of queries, for whoever has to say what a claim rests on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a term means, by an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The term; empty where the question named none.
    pub term: String,
    /// What it means; empty where that is not known.
    pub text: String,
    /// The name of the source that says so; empty where there is none.
    pub source: String,
    /// How sure that is, 0 to 1, with two digits.
    pub confidence: f64,
    /// Whether the user has to be asked before it may be used.
    pub needs_clarification: bool,
}

/// A query, and what it gave, in an answer that may be edited: see [`Answer::edit_queries`](crate::Answer::edit_queries).
#[derive(Debug)]
pub struct QueryFinding<'a> {
    /// Its id in the answer, such as `Q1`.
    pub id: &'a mut String,
    /// What it answers.
    pub question: &'a str,
    /// What its rows are, in words and with their filters, where that is known.
    pub title: Option<&'a str>,
    /// Its text, where the answer shows it.
    pub sql: Option<&'a str>,
    /// The database that it was sent to, where the answer shows it.
    pub database: Option<&'a str>,
    /// The name of the verified query that it is, and who has checked it, where it is one.
    pub verified: Option<(&'a str, &'a Verification)>,
    /// What it gave, or the code and the message of its failure, as `code: message`.
    pub rows: Result<QueryRows<'a>, QueryFailure>,
}

/// Who has checked a query, and when.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// Who.
    pub by: String,
    /// The day, `YYYY-MM-DD`.
    pub on: String,
}

/// Why a query gave no rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct QueryFailure {
    /// A stable word for programs.
    pub code: String,
    /// What is wrong, in a sentence.
    pub message: String,
}

/// The rows of a query, as an answer shows them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryRows<'a> {
    /// The databases that were read.
    pub databases: &'a [String],
    /// The names of the columns.
    pub columns: &'a [String],
    /// The rows, a value a column.
    pub rows: &'a [Vec<Value>],
    /// The units of columns, by name, where they are known.
    pub units: &'a [(String, String)],
    /// Whether there are rows that are not shown.
    pub has_more: bool,
    /// Evidence from the data that the query may not compute what it seems to.
    pub warnings: &'a [String],
}

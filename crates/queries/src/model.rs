//! What a verified query is: plain data.

use std::path::PathBuf;

use prospector_core::Owner;
use prospector_core::tool::finding::Verification;
use prospector_engine::query::Literal;
use serde::{Deserialize, Serialize};

/// A query that somebody has checked, and the question that it answers.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiedQuery {
    /// Its name, the stem of its file: `vip-customers`.
    pub name: String,
    /// The question; `{country}` stands for the value of a parameter.
    pub question: String,
    /// The same question in other words.
    pub synonyms: Vec<String>,
    /// What is to be known about its answer.
    pub description: String,
    /// The database in whose SQL it is written; none where it reads several and is written in DataFusion's.
    pub database: Option<String>,
    /// What it is run with, in the order of the file.
    pub parameters: Vec<Parameter>,
    /// The query, with `:name` for each parameter.
    pub sql: String,
    /// Who has checked it, and when; none of a proposal.
    pub verified: Option<Verification>,
    /// The client of a server that proposed it; none where the local user did, and of a query of the catalog.
    pub proposed_by: Option<Owner>,
    /// Its file.
    pub path: PathBuf,
    /// Whether it fits what the catalog describes.
    pub state: QueryState,
}

/// Whether a query fits what the catalog describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryState {
    /// Nothing has been compared yet.
    Unchecked,
    /// Its tables and columns are there.
    Current {
        /// The databases that it reads.
        databases: Vec<String>,
        /// The tables that it reads, as `database.table`.
        tables: Vec<String>,
    },
    /// A table or a column is not there, or it is no query that may run: it is not run until somebody has mended it.
    Stale {
        /// What is wrong.
        reason: String,
    },
}

/// What a query is run with.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name, as in `:name`.
    pub name: String,
    /// What its values are.
    pub kind: ParameterType,
    /// What it means.
    pub description: String,
    /// Its value where none is given; without it, one must be given.
    pub default: Option<Literal>,
    /// The only values that it takes; any where there are none and no column is named.
    pub allowed: Vec<AllowedValue>,
    /// The column, `database.table.column`, that holds its values. A text must be one of them; a number or a date must lie
    /// between the least and the greatest.
    pub column: Option<String>,
}

/// A value that a parameter takes.
#[derive(Debug, Clone, PartialEq)]
pub struct AllowedValue {
    /// The value.
    pub value: Literal,
    /// Other words for it in questions: `euro` for `EUR`.
    pub words: Vec<String>,
}

/// What the values of a parameter are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParameterType {
    /// Any text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A day, `YYYY-MM-DD`.
    Date,
    /// True or false.
    Boolean,
}

impl ParameterType {
    /// All of them.
    pub const ALL: [ParameterType; 5] = [
        ParameterType::Text,
        ParameterType::Integer,
        ParameterType::Number,
        ParameterType::Date,
        ParameterType::Boolean,
    ];

    /// The word for it in files and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            ParameterType::Text => "text",
            ParameterType::Integer => "integer",
            ParameterType::Number => "number",
            ParameterType::Date => "date",
            ParameterType::Boolean => "boolean",
        }
    }
}

impl Parameter {
    /// Its value where none is given, as a text.
    pub fn default_text(&self) -> Option<String> {
        Some(match self.default.as_ref()? {
            Literal::Text(text) => text.clone(),
            Literal::Integer(number) => number.to_string(),
            Literal::Number(number) => number.to_string(),
            Literal::Boolean(value) => value.to_string(),
        })
    }
}

impl VerifiedQuery {
    /// The parameter of that name.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// The tables that it reads, where it is current.
    pub fn tables(&self) -> &[String] {
        match &self.state {
            QueryState::Current { tables, .. } => tables,
            QueryState::Unchecked | QueryState::Stale { .. } => &[],
        }
    }

    /// Why it is stale, where it is.
    pub fn stale(&self) -> Option<&str> {
        match &self.state {
            QueryState::Stale { reason } => Some(reason),
            QueryState::Unchecked | QueryState::Current { .. } => None,
        }
    }

    /// Whether statements may read it as a table: it is not stale, and all of its parameters have defaults.
    pub fn is_readable(&self) -> bool {
        self.stale().is_none() && self.parameters.iter().all(|parameter| parameter.default.is_some())
    }

    /// The question and the synonyms.
    pub fn phrasings(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.question.as_str()).chain(self.synonyms.iter().map(String::as_str))
    }
}

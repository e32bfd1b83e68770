//! The data model of verified queries.

use std::path::PathBuf;

use prospector_core::tool::finding::Verification;
use prospector_core::{Owner, named_enum};
use prospector_engine::query::Literal;
use serde::{Deserialize, Serialize};

/// A query approved by a person, and the question that it answers.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiedQuery {
    /// Its name, the stem of its file: `vip-customers`.
    pub name: String,
    /// The question; `{country}` is replaced by the value of a parameter.
    pub question: String,
    /// Other wordings of the question.
    pub synonyms: Vec<String>,
    /// Notes for readers of its answer.
    pub description: String,
    /// The database whose SQL dialect it uses; `None` if it reads several and uses that of DataFusion.
    pub database: Option<String>,
    /// The parameters, in the order of the file.
    pub parameters: Vec<Parameter>,
    /// The units of columns of the result, by name, where they are not those of the columns that it reads.
    pub units: Vec<(String, String)>,
    /// The query, with `:name` for each parameter.
    pub sql: String,
    /// Who approved it, and when; `None` for a proposal.
    pub verified: Option<Verification>,
    /// The client of a server that proposed it; `None` for the local user and for queries of the catalog.
    pub proposed_by: Option<Owner>,
    /// Its file.
    pub path: PathBuf,
    /// Whether it is valid for the catalog.
    pub state: QueryState,
}

/// Whether a query is valid for the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryState {
    /// Not validated yet.
    Unchecked,
    /// Its tables and columns exist.
    Current {
        /// The databases that it reads.
        databases: Vec<String>,
        /// The tables that it reads, as `database.table`.
        tables: Vec<String>,
    },
    /// A table or a column does not exist, or the statement may not be run. It is not run until it is fixed.
    Stale {
        /// The reason.
        reason: String,
    },
}

/// A parameter of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name, as in `:name`.
    pub name: String,
    /// The type of its values.
    pub kind: ParameterType,
    /// What it means.
    pub description: String,
    /// The default value; without one, a value is required.
    pub default: Option<Literal>,
    /// The accepted values. If it is empty and there is no `column`, any value is accepted.
    pub allowed: Vec<AllowedValue>,
    /// The column, `database.table.column`, that contains its values. A text must be one of them; a number or a date must be between the
    /// minimum and the maximum.
    pub column: Option<String>,
}

/// An accepted value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct AllowedValue {
    /// The value.
    pub value: Literal,
    /// Synonyms in questions: `euro` for `EUR`.
    pub words: Vec<String>,
}

named_enum! {
    /// The type of a parameter.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum ParameterType {
        /// Any text.
        Text = "text",
        /// A whole number.
        Integer = "integer",
        /// A number.
        Number = "number",
        /// A day, `YYYY-MM-DD`.
        Date = "date",
        /// True or false.
        Boolean = "boolean",
    }
}

impl VerifiedQuery {
    /// Returns the parameter with that name.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Returns the tables that it reads, if it is current.
    pub fn tables(&self) -> &[String] {
        match &self.state {
            QueryState::Current { tables, .. } => tables,
            QueryState::Unchecked | QueryState::Stale { .. } => &[],
        }
    }

    /// Returns why it is stale.
    pub fn stale(&self) -> Option<&str> {
        match &self.state {
            QueryState::Stale { reason } => Some(reason),
            QueryState::Unchecked | QueryState::Current { .. } => None,
        }
    }

    /// Returns whether statements can use it as a table: it is not stale, and all of its parameters have defaults.
    pub fn is_readable(&self) -> bool {
        self.stale().is_none() && self.parameters.iter().all(|parameter| parameter.default.is_some())
    }

    /// Returns the question and the synonyms.
    pub fn phrasings(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.question.as_str()).chain(self.synonyms.iter().map(String::as_str))
    }
}

//! What the things of a catalog mean, as far as a plan can be judged by it: plain data that the catalog fills, and whoever
//! knows it from the answers of tools.

use prospector_connect::table::ColumnType;
use prospector_semantics::{MetricQuery, SemanticModel};

/// What is known of the things that a plan names.
pub trait Meanings {
    /// A table by its id, `database.table`.
    fn table(&self, id: &str) -> Option<TableMeaning>;

    /// An operation by its id, `api.operation`.
    fn operation(&self, id: &str) -> Option<OperationMeaning>;

    /// What a document or a skill is about: its name, description, tags and headings.
    fn subject(&self, name: &str) -> Option<String>;

    /// Whether the text of a document or a skill has a word of that stem.
    fn mentions(&self, name: &str, stem: &str) -> bool;

    /// What the catalog defines of what a question names.
    fn definitions(&self, question: &str) -> Vec<DefinedTerm>;

    /// Ids of tables whose name or columns hold a word of that stem, those whose name it is first; at most three.
    fn homes(&self, stem: &str) -> Vec<String>;

    /// The same of these databases alone, so that tables of others do not crowd them out.
    fn homes_in(&self, databases: &[&str], stem: &str) -> Vec<String> {
        let is_in =
            |id: &String| databases.iter().any(|name| id.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')));
        self.homes(stem).into_iter().filter(is_in).collect()
    }

    /// Whether it knows all of a catalog: what it holds nowhere is not there.
    fn is_whole(&self) -> bool {
        false
    }

    /// The metrics that are declared.
    fn metrics(&self) -> Option<&SemanticModel> {
        None
    }

    /// Why metrics cannot be computed as it is asked for; none where they can, or where nothing is known of metrics.
    fn refuse_metrics(&self, query: &MetricQuery) -> Option<String> {
        self.metrics()?.plan(query).err().map(|failure| failure.to_string())
    }

    /// A verified query by its name.
    fn query(&self, _name: &str) -> Option<QueryMeaning> {
        None
    }

    /// The tables between two of one database that a join over declared keys needs; `None` where no keys lead there.
    fn bridges(&self, database: &str, from: &str, to: &str) -> Option<Vec<String>>;
}

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableMeaning {
    /// `database.table`
    pub id: String,
    /// The database.
    pub database: String,
    /// The table without its database.
    pub name: String,
    /// What is said of it; of a database with one table also what is said of that.
    pub description: String,
    /// The columns, in order.
    pub columns: Vec<ColumnMeaning>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColumnMeaning {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub column_type: ColumnType,
    /// What is said of it: `natural name: description (values: A = meaning; B = meaning)`.
    pub description: String,
    /// The table (without its database) and the column that it refers to.
    pub refers: Option<(String, String)>,
    /// Whether it is the primary key, or a part of it.
    pub primary_key: bool,
    /// Some of its values, where they were read.
    pub values: Vec<String>,
    /// Whether these are all.
    pub complete: bool,
    /// The first and the last of its dates, where they were read.
    pub span: Option<(String, String)>,
}

/// An operation of an API.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OperationMeaning {
    /// Whether a call changes something; `None` where that is not said.
    pub writes: Option<bool>,
    /// The name of its API.
    pub api: String,
    /// The name and the path.
    pub name: String,
    /// What is said of it, its parameters included.
    pub description: String,
    /// The parameters that a call has to pass, where they are known.
    pub required: Vec<String>,
}

/// A query that somebody has checked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueryMeaning {
    /// The tables that it reads, as `database.table`.
    pub tables: Vec<String>,
    /// The questions that it answers, and what is said of its answer.
    pub description: String,
    /// Its SQL, with `:name` for each parameter.
    pub sql: String,
    /// The values that parameters have where none are given, by their names.
    pub defaults: Vec<(String, String)>,
}

/// A term and its definition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DefinedTerm {
    /// The term.
    pub term: String,
    /// What it means.
    pub definition: String,
    /// The document, and its section after `#`.
    pub source: String,
}

impl TableMeaning {
    /// The column of that name, whatever its case.
    pub fn column(&self, name: &str) -> Option<&ColumnMeaning> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }
}

impl ColumnMeaning {
    /// Values and what they mean: from `(values: A = meaning; B = meaning)`, or the list in its place.
    pub fn codes(&self) -> Vec<(&str, &str)> {
        let Some(list) = self.description.split_once("(values: ").map(|(_, list)| list.trim_end_matches(')')) else {
            return Vec::new();
        };
        if list.contains('=') {
            let pairs = list.split([';', ',']).filter_map(|pair| pair.split_once('='));
            return pairs.map(|(code, meaning)| (code.trim(), meaning.trim())).collect();
        }
        list.split(',').map(str::trim).filter(|value| !value.is_empty() && value.len() <= 40).map(|v| (v, v)).collect()
    }

    /// The natural name in front of the description, where there is one.
    pub fn natural_name(&self) -> &str {
        let said = self.description.split("(values: ").next().unwrap_or_default();
        let name = said.split_once(": ").map_or(said, |(name, _)| name).trim();
        if name.split_whitespace().count() <= 4 { name } else { "" }
    }

    /// Whether its values are days or points in time, or texts that begin like one.
    pub fn is_date(&self) -> bool {
        matches!(self.column_type, ColumnType::Date | ColumnType::Timestamp | ColumnType::DateText)
            || self.span.is_some()
    }
}

//! What the tools of tables answer, as plain data; which names an answer reveals stands beside its tool.

use prospector_connect::sql::Dialect;
use prospector_connect::table::ColumnIssue;
use prospector_core::record::{Relevance, ValueMatch};
use prospector_core::tool::Page;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{
    families::TableFamily,
    joins::{JoinEnd, KeyJoin},
    profile::ColumnValues,
};

// The answer of `get_table_schema`. Comments of these types are in schemas that clients are shown.
#[derive(Clone, Default, Serialize)]
pub(super) struct TableSchema {
    pub(super) database: String,
    pub(super) table: String,
    /// The dialect of SQL that its rows are queried in.
    #[serde(serialize_with = "dialect", skip_serializing_if = "Option::is_none")]
    pub(super) sql: Option<Dialect>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) row_count: Option<u64>,
    /// The source's own estimate.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) row_count_estimated: bool,
    pub(super) columns: Vec<ColumnSchema>,
    /// Names of columns that are not shown in full.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) other_columns: Vec<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) sample_values: Map<String, Value>,
    /// Cells of files that are not of the type of their column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) issues: Vec<ColumnIssue>,
    /// Of all columns, where only some are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) columns_total: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
}

#[derive(Clone, Default, Serialize)]
pub(super) struct ColumnSchema {
    pub(super) name: String,
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub(super) data_type: String,
    /// Only `false`, and not of a primary key: as in SQL, a column may be null unless it says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nullable: Option<bool>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) primary_key: bool,
    /// `table.column`
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) foreign_key: String,
    #[serde(skip)]
    pub(super) refers_to: Vec<JoinEnd>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) statistics: Option<ColumnValues>,
}

/// A table that was found, or one that connects others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableHit {
    /// Its database.
    pub database: String,
    /// Its name.
    pub table: String,
    /// How likely it is to be needed.
    pub relevance: Relevance,
    /// The dialect of SQL that its rows are queried in.
    #[serde(serialize_with = "dialect", skip_serializing_if = "Option::is_none")]
    pub sql: Option<Dialect>,
    /// Where it is shown for all tables that differ from it in a date alone: which those are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<TableFamily>,
    /// What it holds; empty of a hit that is unlikely.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The number of rows, of a likely hit whose rows can be queried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_count: Option<u64>,
    /// What is needed to write SQL, of a likely hit whose rows can be queried: its columns, those of a wide table that fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<HitColumn>,
    /// How many columns it has beyond `columns`, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_columns: Option<usize>,
    /// The columns that the description names.
    #[serde(skip)]
    pub(super) named: Vec<String>,
    /// The keys that join it to other hits of its database.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joins: Vec<KeyJoin>,
    /// The values of its columns that the query names: `countries.name = 'Brazil'`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matched_values: Vec<ValueMatch>,
    /// Whether it only joins other hits.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub via: bool,
}

/// A column as a hit shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct HitColumn {
    /// Its name.
    pub name: String,
    /// The source's word for its type.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub data_type: String,
    /// Whether it is part of the primary key.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub primary_key: bool,
    /// Some of its values, where it holds few or the question speaks of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// How many more it holds, of few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_values: Option<usize>,
    /// Whether its texts are numbers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub holds_numbers: bool,
}

/// The answer of `search_tables`: the hits, best first, then the tables that connect them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct TableHits(pub Page<TableHit>);

#[allow(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn dialect<S: Serializer>(dialect: &Option<Dialect>, serializer: S) -> Result<S::Ok, S::Error> {
    dialect.map(Dialect::id).serialize(serializer)
}

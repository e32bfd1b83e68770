//! Results of the table tools as plain data; the names that a result reveals are next to its tool.

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

// The result of `get_table_schema`. Comments on these types appear in schemas shown to clients.
#[derive(Clone, Default, Serialize)]
pub(super) struct TableSchema {
    pub(super) database: String,
    pub(super) table: String,
    /// The SQL dialect in which its rows are queried.
    #[serde(serialize_with = "dialect", skip_serializing_if = "Option::is_none")]
    pub(super) sql: Option<Dialect>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) row_count: Option<u64>,
    /// Estimated by the source.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) row_count_estimated: bool,
    pub(super) columns: Vec<ColumnSchema>,
    /// Names of columns that are not shown in full.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) other_columns: Vec<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) sample_values: Map<String, Value>,
    /// Cells of files that do not have the type of their column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) issues: Vec<ColumnIssue>,
    /// The number of all columns, if only some are shown.
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
    /// Only set to `false`, and not for primary keys: as in SQL, columns are nullable by default.
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

/// A table that was found, or a bridge table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableHit {
    /// The database.
    pub database: String,
    /// The table.
    pub table: String,
    /// The estimated relevance.
    pub relevance: Relevance,
    /// The SQL dialect in which its rows are queried.
    #[serde(serialize_with = "dialect", skip_serializing_if = "Option::is_none")]
    pub sql: Option<Dialect>,
    /// The family, if it represents tables that differ only in a date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<TableFamily>,
    /// Its description; empty for unlikely hits.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The number of rows, for likely hits whose rows can be queried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_count: Option<u64>,
    /// What is needed to write SQL, for likely hits whose rows can be queried: its columns, for a wide table the matching
    /// ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<HitColumn>,
    /// The number of omitted columns, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_columns: Option<usize>,
    /// The columns named in the description.
    #[serde(skip)]
    pub(super) named: Vec<String>,
    /// The keys that join it to other hits of its database.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joins: Vec<KeyJoin>,
    /// The values of its columns that occur in the query: `countries.name = 'Brazil'`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matched_values: Vec<ValueMatch>,
    /// Whether it only joins other hits.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub via: bool,
    /// Whether it is a view, which derives its rows from other tables.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub view: bool,
}

/// A column of a hit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct HitColumn {
    /// Its name.
    pub name: String,
    /// The type as named by the source.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub data_type: String,
    /// Whether it is part of the primary key.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub primary_key: bool,
    /// Some of its values, if it has few or the question mentions it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// The number of further values, if it has few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_values: Option<usize>,
    /// Whether its texts are numbers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub holds_numbers: bool,
}

/// The result of `search_tables`: the hits, best first, then the tables that connect them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct TableHits(pub Page<TableHit>);

#[allow(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn dialect<S: Serializer>(dialect: &Option<Dialect>, serializer: S) -> Result<S::Ok, S::Error> {
    dialect.map(Dialect::id).serialize(serializer)
}

//! The semantic layer: entries of `entities`, `joins`, `dimensions`, `metrics` and `segments`.

use std::collections::BTreeMap;

use prospector_engine::query::aggregate::Grain;
use prospector_semantics::model::MetricKind;
use schemars::JsonSchema;
use serde::Deserialize;

/// One text or several.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::catalog) enum Texts {
    One(String),
    Several(Vec<String>),
}

/// Returns one or several texts as a list; empty if the key is missing.
pub(in crate::catalog) fn list_texts(texts: Option<Texts>) -> Vec<String> {
    match texts {
        Some(Texts::One(text)) => vec![text],
        Some(Texts::Several(texts)) => texts,
        None => Vec::new(),
    }
}

/// A time zone such as UTC or Europe/Berlin, or one for each of several columns.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::catalog) enum StoredIn {
    OfTime(String),
    OfColumns(BTreeMap<String, String>),
}

/// What a row of a table represents.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(in crate::catalog) struct EntityEntry {
    /// Name used in expressions.
    pub(in crate::catalog) name: String,
    /// Table with one row per entity: database.table.
    pub(in crate::catalog) table: String,
    /// Columns that identify a row; defaults to the primary key.
    pub(in crate::catalog) key: Option<Texts>,
    /// Time column; entity.column if it belongs to another entity.
    pub(in crate::catalog) time: Option<String>,
    /// Granularity of the time column.
    #[schemars(extend("enum" = Grain::ALL.map(Grain::as_str)))]
    pub(in crate::catalog) grain: Option<String>,
    /// Time zone in which times are stored, if their type does not include it: UTC, or {column: UTC} for other columns.
    pub(in crate::catalog) stored_in: Option<StoredIn>,
    /// Description of the entity.
    pub(in crate::catalog) description: Option<String>,
}

/// A join not declared in any schema.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(in crate::catalog) struct JoinEntry {
    /// Columns of one entity: entity.column.
    pub(in crate::catalog) from: Texts,
    /// Key of another entity.
    pub(in crate::catalog) to: Texts,
}

/// What metrics can be grouped by.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(in crate::catalog) struct DimensionEntry {
    /// Name used in questions.
    pub(in crate::catalog) name: String,
    /// The column: entity.column.
    pub(in crate::catalog) column: Option<String>,
    /// Or the columns of several entities.
    pub(in crate::catalog) columns: Option<Vec<String>>,
    /// With `expression`: its entity.
    pub(in crate::catalog) entity: Option<String>,
    /// Or an SQL expression over the columns of an entity.
    pub(in crate::catalog) expression: Option<String>,
    /// Entities on the join path, if several paths exist.
    pub(in crate::catalog) via: Option<Texts>,
    /// Description of the dimension.
    pub(in crate::catalog) description: Option<String>,
    /// Other names.
    pub(in crate::catalog) synonyms: Option<Vec<String>>,
}

/// A metric and how it is computed, or a file of dbt, Cube or the Open Semantic Interchange (`path`, `database`).
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{"required": ["name"]}, {"required": ["path"]}]))]
pub(in crate::catalog) struct MetricEntry {
    /// Name used in questions.
    pub(in crate::catalog) name: Option<String>,
    /// Optional if the other keys determine it.
    #[schemars(extend("enum" = MetricKind::WORDS))]
    pub(in crate::catalog) kind: Option<String>,
    /// Simple: the entity of its rows.
    pub(in crate::catalog) entity: Option<String>,
    /// Simple: sum, avg, min, max, count or count_distinct.
    pub(in crate::catalog) aggregate: Option<String>,
    /// Simple: SQL over the columns of a row. Derived: arithmetic over metrics.
    pub(in crate::catalog) expression: Option<String>,
    /// Which rows are included: SQL conditions.
    pub(in crate::catalog) filter: Option<Texts>,
    /// Time column, if it is not that of the entity.
    pub(in crate::catalog) time: Option<String>,
    /// Granularity of the time column.
    #[schemars(extend("enum" = Grain::ALL.map(Grain::as_str)))]
    pub(in crate::catalog) grain: Option<String>,
    /// Whether the value of a period is that at its last or its first time.
    #[schemars(extend("enum" = ["first", "last"]))]
    pub(in crate::catalog) semi_additive: Option<String>,
    /// Columns for each of whose values the time is chosen separately.
    pub(in crate::catalog) per: Option<Texts>,
    /// Ratio: metric of the numerator.
    pub(in crate::catalog) numerator: Option<String>,
    /// Ratio: metric of the denominator.
    pub(in crate::catalog) denominator: Option<String>,
    /// Cumulative: metric that is accumulated.
    pub(in crate::catalog) metric: Option<String>,
    /// Cumulative: length of the window, such as 3 months.
    pub(in crate::catalog) window: Option<String>,
    /// Cumulative: period since whose start values are accumulated.
    #[schemars(extend("enum" = Grain::ALL.map(Grain::as_str)))]
    pub(in crate::catalog) to_date: Option<String>,
    /// Unit, such as USD.
    pub(in crate::catalog) unit: Option<String>,
    /// Number format, such as 0.00 or 0.0%.
    pub(in crate::catalog) format: Option<String>,
    /// Person or team responsible.
    pub(in crate::catalog) owner: Option<String>,
    /// Definition of the metric.
    pub(in crate::catalog) description: Option<String>,
    /// Other names.
    pub(in crate::catalog) synonyms: Option<Vec<String>>,
    /// Source of the definition.
    pub(in crate::catalog) source: Option<String>,
    /// A semantic_manifest.json of dbt, or a YAML file of Cube or of the Open Semantic Interchange.
    pub(in crate::catalog) path: Option<String>,
    /// With `path`: the database that contains the tables.
    pub(in crate::catalog) database: Option<String>,
}

/// A named set of rows of an entity: by conditions, or by a verified query that returns their keys.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{"required": ["filter"]}, {"required": ["where"]}, {"required": ["query"]}]))]
pub(in crate::catalog) struct SegmentEntry {
    /// Name used in questions.
    pub(in crate::catalog) name: String,
    /// Entity whose rows the segment contains.
    pub(in crate::catalog) entity: String,
    /// Which rows it contains: SQL over the columns of a row.
    pub(in crate::catalog) filter: Option<Texts>,
    /// Alias of `filter`.
    pub(in crate::catalog) r#where: Option<Texts>,
    /// Or the verified query that returns the keys of these rows.
    pub(in crate::catalog) query: Option<String>,
    /// Columns of the query that contain the key, if their names differ.
    pub(in crate::catalog) key: Option<Texts>,
    /// Definition of the segment.
    pub(in crate::catalog) description: Option<String>,
    /// Other names.
    pub(in crate::catalog) synonyms: Option<Vec<String>>,
    /// Source of the definition.
    pub(in crate::catalog) source: Option<String>,
}

//! The semantic layer: entries of `entities`, `joins`, `dimensions`, `metrics`, `segments` and `verified_queries`.

use std::collections::BTreeMap;

use prospector_engine::query::aggregate::Grain;
use prospector_semantics::model::MetricKind;
use schemars::JsonSchema;

/// One text or several.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Texts {
    One(String),
    Several(Vec<String>),
}

/// A time zone such as UTC or Europe/Berlin, or one for each of several columns.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum StoredIn {
    OfTime(String),
    OfColumns(BTreeMap<String, String>),
}

/// What a row of a table represents.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(in crate::catalog) struct EntityEntry {
    /// Name used in expressions.
    name: String,
    /// Table with one row per entity: database.table.
    table: String,
    /// Columns that identify a row; defaults to the primary key.
    key: Option<Texts>,
    /// Time column; entity.column if it belongs to another entity.
    time: Option<String>,
    /// Granularity of the time column.
    grain: Option<Grain>,
    /// Time zone in which times are stored, if their type does not include it: UTC, or {column: UTC} for other columns.
    stored_in: Option<StoredIn>,
    /// Description of the entity.
    description: Option<String>,
}

/// A join not declared in any schema.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(in crate::catalog) struct JoinEntry {
    /// Columns of one entity: entity.column.
    from: Texts,
    /// Key of another entity.
    to: Texts,
}

/// What metrics can be grouped by.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(in crate::catalog) struct DimensionEntry {
    /// Name used in questions.
    name: String,
    /// The column: entity.column.
    column: Option<String>,
    /// Or the columns of several entities.
    columns: Option<Vec<String>>,
    /// With `expression`: its entity.
    entity: Option<String>,
    /// Or an SQL expression over the columns of an entity.
    expression: Option<String>,
    /// Entities on the join path, if several paths exist.
    via: Option<Texts>,
    /// Description of the dimension.
    description: Option<String>,
    /// Other names.
    synonyms: Option<Vec<String>>,
}

/// A metric and how it is computed, or a file of dbt, Cube or the Open Semantic Interchange (`path`, `database`).
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{"required": ["name"]}, {"required": ["path"]}]))]
pub(in crate::catalog) struct MetricEntry {
    /// Name used in questions.
    name: Option<String>,
    /// Optional if the other keys determine it.
    #[schemars(extend("enum" = MetricKind::WORDS))]
    kind: Option<String>,
    /// Simple: the entity of its rows.
    entity: Option<String>,
    /// Simple: sum, avg, min, max, count or count_distinct.
    aggregate: Option<String>,
    /// Simple: SQL over the columns of a row. Derived: arithmetic over metrics.
    expression: Option<String>,
    /// Which rows are included: SQL conditions.
    filter: Option<Texts>,
    /// Time column, if it is not that of the entity.
    time: Option<String>,
    /// Granularity of the time column.
    grain: Option<Grain>,
    /// Whether the value of a period is that at its last or its first time.
    #[schemars(extend("enum" = ["first", "last"]))]
    semi_additive: Option<String>,
    /// Columns for each of whose values the time is chosen separately.
    per: Option<Texts>,
    /// Ratio: metric of the numerator.
    numerator: Option<String>,
    /// Ratio: metric of the denominator.
    denominator: Option<String>,
    /// Cumulative: metric that is accumulated.
    metric: Option<String>,
    /// Cumulative: length of the window, such as 3 months.
    window: Option<String>,
    /// Cumulative: period since whose start values are accumulated.
    to_date: Option<Grain>,
    /// Unit, such as USD.
    unit: Option<String>,
    /// Number format, such as 0.00 or 0.0%.
    format: Option<String>,
    /// Person or team responsible.
    owner: Option<String>,
    /// Definition of the metric.
    description: Option<String>,
    /// Other names.
    synonyms: Option<Vec<String>>,
    /// Source of the definition.
    source: Option<String>,
    /// A semantic_manifest.json of dbt, or a YAML file of Cube or of the Open Semantic Interchange.
    path: Option<String>,
    /// With `path`: the database that contains the tables.
    database: Option<String>,
}

/// A named set of rows of an entity: by conditions, or by a verified query that returns their keys.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{"required": ["filter"]}, {"required": ["where"]}, {"required": ["query"]}]))]
pub(in crate::catalog) struct SegmentEntry {
    /// Name used in questions.
    name: String,
    /// Entity whose rows the segment contains.
    entity: String,
    /// Which rows it contains: SQL over the columns of a row.
    filter: Option<Texts>,
    /// Alias of `filter`.
    r#where: Option<Texts>,
    /// Or the verified query that returns the keys of these rows.
    query: Option<String>,
    /// Columns of the query that contain the key, if their names differ.
    key: Option<Texts>,
    /// Definition of the segment.
    description: Option<String>,
    /// Other names.
    synonyms: Option<Vec<String>>,
    /// Source of the definition.
    source: Option<String>,
}

/// Verified queries.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(in crate::catalog) struct VerifiedEntry {
    /// A folder of SQL files, or one file.
    path: String,
}

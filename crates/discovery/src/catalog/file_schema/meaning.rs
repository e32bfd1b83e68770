//! The semantic layer: entries of `entities`, `joins`, `dimensions`, `metrics`, `segments` and `verified_queries`.

use std::collections::BTreeMap;

use prospector_engine::query::aggregate::Grain;
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
pub(super) struct EntityEntry {
    /// Name used in expressions.
    name: String,
    /// Table with one row per entity: database.table.
    table: String,
    /// Columns that identify a row; defaults to the primary key.
    #[schemars(default)]
    key: Option<Texts>,
    /// Time column; entity.column if it belongs to another entity.
    #[schemars(default)]
    time: Option<String>,
    /// Granularity of the time column.
    #[schemars(default)]
    grain: Option<Grain>,
    /// Time zone in which times are stored, if their type does not include it: UTC, or {column: UTC} for other columns.
    #[schemars(default)]
    stored_in: Option<StoredIn>,
    /// Description of the entity.
    #[schemars(default)]
    description: Option<String>,
}

/// A join not declared in any schema.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct JoinEntry {
    /// Columns of one entity: entity.column.
    from: Texts,
    /// Key of another entity.
    to: Texts,
}

/// What metrics can be grouped by.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct DimensionEntry {
    /// Name used in questions.
    name: String,
    /// The column: entity.column.
    #[schemars(default)]
    column: Option<String>,
    /// Or the columns of several entities.
    #[schemars(default)]
    columns: Option<Vec<String>>,
    /// With `expression`: its entity.
    #[schemars(default)]
    entity: Option<String>,
    /// Or an SQL expression over the columns of an entity.
    #[schemars(default)]
    expression: Option<String>,
    /// Entities on the join path, if several paths exist.
    #[schemars(default)]
    via: Option<Texts>,
    /// Description of the dimension.
    #[schemars(default)]
    description: Option<String>,
    /// Other names.
    #[schemars(default)]
    synonyms: Option<Vec<String>>,
}

/// The kinds of metrics.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum KindWord {
    Simple,
    Ratio,
    Derived,
    Cumulative,
}

/// Which value of a period is used if values cannot be added over time.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum AtWord {
    First,
    Last,
}

/// A metric and how it is computed, or a file of dbt, Cube or the Open Semantic Interchange (`path`, `database`).
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{"required": ["name"]}, {"required": ["path"]}]))]
pub(super) struct MetricEntry {
    /// Name used in questions.
    #[schemars(default)]
    name: Option<String>,
    /// Optional if the other keys determine it.
    #[schemars(default)]
    kind: Option<KindWord>,
    /// Simple: the entity of its rows.
    #[schemars(default)]
    entity: Option<String>,
    /// Simple: sum, avg, min, max, count or count_distinct.
    #[schemars(default)]
    aggregate: Option<String>,
    /// Simple: SQL over the columns of a row. Derived: arithmetic over metrics.
    #[schemars(default)]
    expression: Option<String>,
    /// Which rows are included: SQL conditions.
    #[schemars(default)]
    filter: Option<Texts>,
    /// Time column, if it is not that of the entity.
    #[schemars(default)]
    time: Option<String>,
    /// Granularity of the time column.
    #[schemars(default)]
    grain: Option<Grain>,
    /// Whether the value of a period is that at its last or its first time.
    #[schemars(default)]
    semi_additive: Option<AtWord>,
    /// Columns for each of whose values the time is chosen separately.
    #[schemars(default)]
    per: Option<Texts>,
    /// Ratio: metric of the numerator.
    #[schemars(default)]
    numerator: Option<String>,
    /// Ratio: metric of the denominator.
    #[schemars(default)]
    denominator: Option<String>,
    /// Cumulative: metric that is accumulated.
    #[schemars(default)]
    metric: Option<String>,
    /// Cumulative: length of the window, such as 3 months.
    #[schemars(default)]
    window: Option<String>,
    /// Cumulative: period since whose start values are accumulated.
    #[schemars(default)]
    to_date: Option<Grain>,
    /// Unit, such as USD.
    #[schemars(default)]
    unit: Option<String>,
    /// Number format, such as 0.00 or 0.0%.
    #[schemars(default)]
    format: Option<String>,
    /// Person or team responsible.
    #[schemars(default)]
    owner: Option<String>,
    /// Definition of the metric.
    #[schemars(default)]
    description: Option<String>,
    /// Other names.
    #[schemars(default)]
    synonyms: Option<Vec<String>>,
    /// Source of the definition.
    #[schemars(default)]
    source: Option<String>,
    /// A semantic_manifest.json of dbt, or a YAML file of Cube or of the Open Semantic Interchange.
    #[schemars(default)]
    path: Option<String>,
    /// With `path`: the database that contains the tables.
    #[schemars(default)]
    database: Option<String>,
}

/// A named set of rows of an entity: by conditions, or by a verified query that returns their keys.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{"required": ["filter"]}, {"required": ["where"]}, {"required": ["query"]}]))]
pub(super) struct SegmentEntry {
    /// Name used in questions.
    name: String,
    /// Entity whose rows the segment contains.
    entity: String,
    /// Which rows it contains: SQL over the columns of a row.
    #[schemars(default)]
    filter: Option<Texts>,
    /// Alias of `filter`.
    #[schemars(default)]
    r#where: Option<Texts>,
    /// Or the verified query that returns the keys of these rows.
    #[schemars(default)]
    query: Option<String>,
    /// Columns of the query that contain the key, if their names differ.
    #[schemars(default)]
    key: Option<Texts>,
    /// Definition of the segment.
    #[schemars(default)]
    description: Option<String>,
    /// Other names.
    #[schemars(default)]
    synonyms: Option<Vec<String>>,
    /// Source of the definition.
    #[schemars(default)]
    source: Option<String>,
}

/// Verified queries.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct VerifiedEntry {
    /// A folder of SQL files, or one file.
    path: String,
}

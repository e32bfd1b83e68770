//! What figures mean: the entries of `entities`, `joins`, `dimensions`, `metrics`, `segments` and
//! `verified_queries`.

use std::collections::BTreeMap;

use prospector_engine::query::aggregate::Grain;
use schemars::JsonSchema;

/// One text, or several.
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

/// What a row of a table is.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct EntityEntry {
    /// What expressions call it.
    name: String,
    /// The table that has a row for each: database.table.
    table: String,
    /// The columns that differ in each row; the primary key where left out.
    #[schemars(default)]
    key: Option<Texts>,
    /// The column that says when; entity.column where it stands elsewhere.
    #[schemars(default)]
    time: Option<String>,
    /// How fine that time is.
    #[schemars(default)]
    grain: Option<Grain>,
    /// The zone whose clocks its time is of, where the type does not say so: UTC, or {column: UTC} for other columns.
    #[schemars(default)]
    stored_in: Option<StoredIn>,
    /// What it is.
    #[schemars(default)]
    description: Option<String>,
}

/// A join that no schema declares.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct JoinEntry {
    /// Columns of one entity: entity.column.
    from: Texts,
    /// The key of another.
    to: Texts,
}

/// What metrics are told by.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct DimensionEntry {
    /// What questions call it.
    name: String,
    /// The column: entity.column.
    #[schemars(default)]
    column: Option<String>,
    /// Or the columns of several entities.
    #[schemars(default)]
    columns: Option<Vec<String>>,
    /// Of `expression`: the entity.
    #[schemars(default)]
    entity: Option<String>,
    /// Or SQL over the columns of an entity.
    #[schemars(default)]
    expression: Option<String>,
    /// The entities that a join goes through, where there are several ways.
    #[schemars(default)]
    via: Option<Texts>,
    /// What it is.
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

/// Which value of a period counts, where values of several times do not add up.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum AtWord {
    First,
    Last,
}

/// A figure and how it is computed, or a file of dbt, Cube or the Open Semantic Interchange (`path`, `database`).
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{"required": ["name"]}, {"required": ["path"]}]))]
pub(super) struct MetricEntry {
    /// What questions call it.
    #[schemars(default)]
    name: Option<String>,
    /// May be left out where the other keys tell.
    #[schemars(default)]
    kind: Option<KindWord>,
    /// Of a simple one: what its rows are.
    #[schemars(default)]
    entity: Option<String>,
    /// Of a simple one: sum, avg, min, max, count or count_distinct.
    #[schemars(default)]
    aggregate: Option<String>,
    /// Of a simple one: SQL over the columns of a row. Of a derived one: arithmetic over metrics.
    #[schemars(default)]
    expression: Option<String>,
    /// Which rows count: SQL.
    #[schemars(default)]
    filter: Option<Texts>,
    /// The column that says when, where it is not that of the entity.
    #[schemars(default)]
    time: Option<String>,
    /// How fine that time is.
    #[schemars(default)]
    grain: Option<Grain>,
    /// The value of a period is that at its last time, or at its first.
    #[schemars(default)]
    semi_additive: Option<AtWord>,
    /// Of each of these.
    #[schemars(default)]
    per: Option<Texts>,
    /// Of a ratio: the metric that is divided.
    #[schemars(default)]
    numerator: Option<String>,
    /// Of a ratio: the metric that it is divided by.
    #[schemars(default)]
    denominator: Option<String>,
    /// Of a cumulative one: the metric that comes together.
    #[schemars(default)]
    metric: Option<String>,
    /// Of a cumulative one: over how long, such as 3 months.
    #[schemars(default)]
    window: Option<String>,
    /// Of a cumulative one: since the beginning of which period.
    #[schemars(default)]
    to_date: Option<Grain>,
    /// Such as USD.
    #[schemars(default)]
    unit: Option<String>,
    /// Such as 0.00 or 0.0%.
    #[schemars(default)]
    format: Option<String>,
    /// Who answers for it.
    #[schemars(default)]
    owner: Option<String>,
    /// What it means.
    #[schemars(default)]
    description: Option<String>,
    /// Other names.
    #[schemars(default)]
    synonyms: Option<Vec<String>>,
    /// Where its definition stands.
    #[schemars(default)]
    source: Option<String>,
    /// A semantic_manifest.json of dbt, or a YAML file of Cube or of the Open Semantic Interchange.
    #[schemars(default)]
    path: Option<String>,
    /// Of a file: the database that its tables are in.
    #[schemars(default)]
    database: Option<String>,
}

/// A named set of the rows of an entity: by conditions, or by a verified query that returns their keys.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{"required": ["filter"]}, {"required": ["where"]}, {"required": ["query"]}]))]
pub(super) struct SegmentEntry {
    /// What questions call it.
    name: String,
    /// The entity whose rows belong to it.
    entity: String,
    /// Which rows belong to it: SQL over the columns of a row.
    #[schemars(default)]
    filter: Option<Texts>,
    /// Another word for `filter`.
    #[schemars(default)]
    r#where: Option<Texts>,
    /// Or the verified query that returns the keys of these rows.
    #[schemars(default)]
    query: Option<String>,
    /// The columns of the query that hold the key, where they are not called like it.
    #[schemars(default)]
    key: Option<Texts>,
    /// What it means.
    #[schemars(default)]
    description: Option<String>,
    /// Other names.
    #[schemars(default)]
    synonyms: Option<Vec<String>>,
    /// Where its definition stands.
    #[schemars(default)]
    source: Option<String>,
}

/// Queries that somebody has checked.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct VerifiedEntry {
    /// A folder of SQL files, or one file.
    path: String,
}

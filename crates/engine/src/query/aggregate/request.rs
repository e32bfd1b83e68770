//! Structured aggregate queries: aggregates, their dimensions, and values computed from them.

use prospector_connect::filter::FilterCondition;
use prospector_connect::query::{Aggregation, Order};

use super::fiscal::FiscalYear;
use super::period::Grain;
use super::zone::TimeZone;

/// Aggregates over several tables, grouped by shared dimensions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AggregateQuery {
    /// The tables that aggregates and dimensions name. Other tables are only joined through.
    pub tables: Vec<NamedTable>,
    /// Joins that no schema declares.
    pub joins: Vec<NamedJoin>,
    /// The aggregates, with names that differ from each other and from those of the dimensions.
    pub aggregates: Vec<Aggregate>,
    /// The dimensions to group all aggregates by.
    pub dimensions: Vec<GroupedDimension>,
    /// The periods to group all aggregates by, each by its own time; the column has the name of the grain.
    pub grain: Option<Grain>,
    /// Conditions on dimensions.
    pub filters: Vec<DimensionFilter>,
    /// The segments that all rows must belong to.
    pub segments: Vec<Segment>,
    /// Conditions on the time of each aggregate, as values with days or periods: `2025-03-09`, `2025-12`, `2025-Q4`, `2025`, `FY2026`.
    pub period: Vec<FilterCondition>,
    /// The columns of the answer after the dimensions and the period.
    pub columns: Vec<OutputColumn>,
    /// Conditions on columns of the answer.
    pub having: Vec<FilterCondition>,
    /// The columns of the answer to order by. Default: the period, or else the first column in descending order.
    pub order: Vec<Order>,
    /// The maximum number of rows.
    pub limit: Option<usize>,
    /// Whether rows that are tied with the last one by the first order column are included.
    pub ties: bool,
    /// The fiscal year of fiscal grains and periods.
    pub fiscal_year: FiscalYear,
    /// The zone of the periods. Times with a known zone are converted to it; without a zone, all are used as stored.
    pub time_zone: Option<TimeZone>,
}

impl AggregateQuery {
    /// Returns the names of the group keys: the dimensions, and the grain.
    pub(super) fn groups(&self) -> impl Iterator<Item = &str> {
        self.dimensions.iter().map(|dimension| dimension.name.as_str()).chain(self.grain.map(Grain::as_str))
    }
}

/// A table with a name for expressions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NamedTable {
    /// The name in expressions.
    pub name: String,
    /// The database.
    pub database: String,
    /// The name of the table in the database.
    pub table: String,
    /// The columns that together identify a row; if empty, those of the primary key.
    pub key: Vec<String>,
    /// The zones of stored times whose types have no zone.
    pub stored_in: Vec<StoredIn>,
}

/// The zone in which the times of a column are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredIn {
    /// The column.
    pub column: String,
    /// The zone.
    pub zone: TimeZone,
}

/// Columns of one table that reference a row of another.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NamedJoin {
    /// The name of the referencing table.
    pub from: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// The name of the referenced table.
    pub to: String,
    /// The referenced columns, one for each, which together identify a row.
    pub references: Vec<String>,
}

/// A value aggregated over the rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// The name of the aggregate.
    pub name: String,
    /// The name of the table.
    pub table: String,
    /// The aggregate function.
    pub aggregation: Aggregation,
    /// The aggregated value, in SQL over `column` of the table and `name.column` of others; without it, rows are counted.
    pub expression: Option<String>,
    /// Conditions on the rows, in the same SQL.
    pub filters: Vec<String>,
    /// The time column: `column` or `name.column`.
    pub time: Option<String>,
    /// How it adds up over time.
    pub over_time: OverTime,
}

/// How an aggregate adds up over time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum OverTime {
    /// All rows of a period count.
    #[default]
    Additive,
    /// Semi-additive: only the rows of one time of each period count, as for a balance or a stock.
    At {
        /// Whether to use the first time of the period instead of the last.
        is_first: bool,
        /// Expressions that each have their own first or last time, such as the account of a balance.
        per: Vec<String>,
    },
    /// The rows of earlier periods count too.
    Cumulative(Span),
}

/// The range of a cumulative aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Span {
    /// All earlier periods.
    Whole,
    /// The last N periods, including the current one.
    Trailing(u32, Grain),
    /// From the start of the current period of that grain.
    ToDate(Grain),
}

/// A dimension to group by.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupedDimension {
    /// The name of the dimension.
    pub name: String,
    /// The candidate places. An aggregate uses the one with the fewest joins.
    pub places: Vec<Place>,
    /// The grain of a date.
    pub grain: Option<Grain>,
    /// Columns of the joins to use where there are several, as `name.column`.
    pub via: Vec<String>,
    /// Whether it only separates groups with equal names, and is not a column of the answer.
    pub is_hidden: bool,
}

impl GroupedDimension {
    /// Returns whether its value is the membership in a segment.
    pub fn is_member(&self) -> bool {
        self.places.iter().any(|place| matches!(place, Place::Member(_)))
    }
}

/// A place of a dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In the rows of a table.
    Value {
        /// The name of the table.
        table: String,
        /// A column of it, or SQL over its columns.
        expression: String,
    },
    /// Whether a row belongs to a segment: `true` or `false`.
    Member(Segment),
}

/// A segment of the rows of one table: the named query `segments.NAME` of the engine returns their keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Segment {
    /// The name of the segment.
    pub name: String,
    /// The name of the table.
    pub table: String,
    /// The columns of its key, which are also the column names of `segments.NAME`.
    pub key: Vec<String>,
}

/// The query for the members of a segment, for [`Engine::compile_segment`](crate::Engine::compile_segment).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SegmentQuery {
    /// The tables that conditions name, see [`AggregateQuery::tables`].
    pub tables: Vec<NamedTable>,
    /// Joins that no schema declares.
    pub joins: Vec<NamedJoin>,
    /// The table of the segment, and its key.
    pub segment: Segment,
    /// Which rows are members.
    pub members: Members,
}

/// Which rows are members of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Members {
    /// The rows that match all of these conditions, in SQL over `column` of the table and `name.column` of others.
    Conditions(Vec<String>),
    /// The rows whose key a named query returns.
    Query {
        /// The name of the query: statements read it as `queries.NAME`.
        name: String,
        /// The database in whose SQL it is written, if any.
        database: Option<String>,
        /// The columns that contain the key, in the order of the key.
        columns: Vec<String>,
    },
}

impl Default for Members {
    fn default() -> Self {
        Members::Conditions(Vec::new())
    }
}

/// A condition on a dimension, whether it is grouped by or not.
#[derive(Debug, Clone, PartialEq)]
pub struct DimensionFilter {
    /// The dimension.
    pub dimension: GroupedDimension,
    /// The condition; its column is ignored.
    pub condition: FilterCondition,
}

/// A column of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputColumn {
    /// The name of the column.
    pub name: String,
    /// How it is computed.
    pub formula: Formula,
}

/// How a column of the answer is computed.
#[derive(Debug, Clone, PartialEq)]
pub enum Formula {
    /// The aggregate at that index.
    Aggregate(usize),
    /// Arithmetic over names, and the formula of each name.
    Computed {
        /// `a / b`
        text: String,
        /// `a` and `b`
        of: Vec<(String, Formula)>,
    },
}

//! What is asked: aggregates, what they are grouped by, and what is computed of them.

use prospector_connect::filter::FilterCondition;
use prospector_connect::query::{Aggregation, Order};

use super::fiscal::FiscalYear;
use super::period::Grain;
use super::zone::TimeZone;

/// Aggregates over several tables, by the same dimensions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AggregateQuery {
    /// The tables that aggregates and dimensions name. Others are only passed through.
    pub tables: Vec<NamedTable>,
    /// Joins that no schema declares.
    pub joins: Vec<NamedJoin>,
    /// What is aggregated, by names that differ from each other and from those of the dimensions.
    pub aggregates: Vec<Aggregate>,
    /// What all of it is grouped by.
    pub dimensions: Vec<GroupedDimension>,
    /// The periods that all of it is grouped by, each aggregate by its own time; the column is called as the grain.
    pub grain: Option<Grain>,
    /// Conditions on dimensions.
    pub filters: Vec<DimensionFilter>,
    /// The sets that all rows belong to.
    pub segments: Vec<Segment>,
    /// Conditions on the time of each aggregate, as values with days or periods: `2025-03-09`, `2025-12`, `2025-Q4`, `2025`, `FY2026`.
    pub period: Vec<FilterCondition>,
    /// The columns of the answer beside the dimensions and the period.
    pub columns: Vec<OutputColumn>,
    /// Conditions on columns of the answer.
    pub having: Vec<FilterCondition>,
    /// The columns of the answer that it is ordered by. Without any: by the period, or from the largest of the first column
    /// on.
    pub order: Vec<Order>,
    /// At most so many rows.
    pub limit: Option<usize>,
    /// Whether more rows come where they are equal to the last of them by what is ordered by first.
    pub ties: bool,
    /// What the fiscal grains and periods count from.
    pub fiscal_year: FiscalYear,
    /// The zone that periods are of. Times whose zone is known are shown by its clocks; without one, all as they are stored.
    pub time_zone: Option<TimeZone>,
}

/// A table under a name of its own.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NamedTable {
    /// What expressions call it.
    pub name: String,
    /// The database.
    pub database: String,
    /// The table in it.
    pub table: String,
    /// The columns that are together different in each row; those of the primary key where there are none.
    pub key: Vec<String>,
    /// Whose clocks its times are of, where their types do not say so.
    pub stored_in: Vec<StoredIn>,
}

/// Whose clocks the times of a column are of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredIn {
    /// The column.
    pub column: String,
    /// The zone.
    pub zone: TimeZone,
}

/// Columns of one table that name a row of another.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NamedJoin {
    /// The name of the table that refers.
    pub from: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// The name of the table that is referred to.
    pub to: String,
    /// The columns there, one for each, which are together different in each row.
    pub references: Vec<String>,
}

/// Something computed over the rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// What it is called.
    pub name: String,
    /// The name of the table.
    pub table: String,
    /// How rows are aggregated.
    pub aggregation: Aggregation,
    /// What is aggregated, in SQL over `column` of the table and `name.column` of others; without it, rows are counted.
    pub expression: Option<String>,
    /// Conditions on the rows, in such SQL.
    pub filters: Vec<String>,
    /// The column that says when: `column` or `name.column`.
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
    /// Of each period only the rows of one time count: a balance, a stock.
    At {
        /// The first time of the period in the place of its last.
        is_first: bool,
        /// Expressions that each have a time of their own, such as the account of a balance.
        per: Vec<String>,
    },
    /// The rows of earlier periods count too.
    Cumulative(Span),
}

/// How far back a cumulative aggregate reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Span {
    /// To the beginning.
    Whole,
    /// Over so many periods, the current one among them.
    Trailing(u32, Grain),
    /// To the beginning of the current period of that grain.
    ToDate(Grain),
}

/// What is grouped by.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupedDimension {
    /// What it is called.
    pub name: String,
    /// Where it stands. An aggregate takes the one that the fewest joins lead to.
    pub places: Vec<Place>,
    /// The period of a date.
    pub grain: Option<Grain>,
    /// Columns of the joins to take where there are several, as `name.column`.
    pub via: Vec<String>,
    /// Whether it only keeps groups apart that are called alike, and is no column of the answer.
    pub is_hidden: bool,
}

impl GroupedDimension {
    /// Whether it says of each row that it belongs to a set or does not.
    pub fn is_member(&self) -> bool {
        self.places.iter().any(|place| matches!(place, Place::Member(_)))
    }
}

/// Where a dimension stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In the rows of a table.
    Value {
        /// The name of the table.
        table: String,
        /// A column of it, or SQL over its columns.
        expression: String,
    },
    /// Whether a row belongs to a set: `true` or `false`.
    Member(Segment),
}

/// A set of rows of one table: the named query `segments.NAME` of the engine returns their keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Segment {
    /// What it is called.
    pub name: String,
    /// The name of the table.
    pub table: String,
    /// The columns of its key, which the columns of `segments.NAME` are called by.
    pub key: Vec<String>,
}

/// The members of a set, for [`Engine::compile_segment`](crate::Engine::compile_segment).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SegmentQuery {
    /// The tables that conditions name, see [`AggregateQuery::tables`].
    pub tables: Vec<NamedTable>,
    /// Joins that no schema declares.
    pub joins: Vec<NamedJoin>,
    /// The table of the set, and its key.
    pub segment: Segment,
    /// Who belongs to it.
    pub members: Members,
}

/// Who belongs to a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Members {
    /// The rows that meet all of these conditions, in SQL over `column` of the table and `name.column` of others.
    Conditions(Vec<String>),
    /// The rows whose key a named query returns.
    Query {
        /// Its name: statements read it as `queries.NAME`.
        name: String,
        /// Its database, where it is written in the SQL of one.
        database: Option<String>,
        /// Its columns that hold the key, in the order of the key.
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
    /// The condition; its column is not read.
    pub condition: FilterCondition,
}

/// A column of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputColumn {
    /// What it is called.
    pub name: String,
    /// How it is computed.
    pub formula: Formula,
}

/// What a column of the answer is computed of.
#[derive(Debug, Clone, PartialEq)]
pub enum Formula {
    /// The aggregate at that place.
    Aggregate(usize),
    /// Arithmetic over names, and what each of them is.
    Computed {
        /// `a / b`
        text: String,
        /// `a` and `b`
        of: Vec<(String, Formula)>,
    },
}

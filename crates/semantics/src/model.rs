//! Declarations of the semantic layer: entities, the joins between them, dimensions, metrics and segments.

use prospector_connect::query::Aggregation;
use prospector_engine::options::NamedQuery;
pub use prospector_engine::query::aggregate::{FiscalYear, StoredIn, TimeZone};
use prospector_engine::query::aggregate::{Grain, Span};

/// A business object, and the table with one row for each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Entity {
    /// Its name in expressions: `invoice`.
    pub name: String,
    /// The database of its table.
    pub database: String,
    /// Its table.
    pub table: String,
    /// The columns that identify a row; the primary key if empty.
    pub key: Vec<String>,
    /// The column with the time of a row; the default time of metrics over this entity.
    pub time: Option<String>,
    /// The granularity of that time; a day by default.
    pub grain: Option<Grain>,
    /// The time zones in which columns of its table are stored, if their types do not include one.
    pub stored_in: Vec<StoredIn>,
    /// What it represents.
    pub description: String,
    /// Where it is declared: `catalog.yaml:12`.
    pub place: String,
}

/// Returns a location without folders, so that no answer reveals the path of the catalog.
pub fn short_place(place: &str) -> &str {
    let file = place.split(": ").next().unwrap_or(place);
    file.rfind(['/', '\\']).map_or(place, |at| &place[at + 1..])
}

/// A join between entities that no schema declares.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Join {
    /// The referencing entity.
    pub from: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// The referenced entity.
    pub to: String,
    /// The columns of its key.
    pub references: Vec<String>,
    /// Where it is declared.
    pub place: String,
}

/// Something that metrics can be grouped by.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dimension {
    /// Its name.
    pub name: String,
    /// The columns that define it; a metric uses the column that the fewest joins lead to.
    pub columns: Vec<DimensionColumn>,
    /// Columns of the joins to use if there are several paths, as `entity.column`.
    pub via: Vec<String>,
    /// SQL over the columns of its row that distinguishes equal names, such as the key of a customer in addition to the name. Not shown.
    pub keys: Vec<String>,
    /// What it means.
    pub description: String,
    /// Other names.
    pub synonyms: Vec<String>,
    /// Where it is declared.
    pub place: String,
}

/// A column that defines a dimension.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DimensionColumn {
    /// The entity.
    pub entity: String,
    /// A column, or SQL over the columns of a row.
    pub expression: String,
}

/// A metric, and how it is computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Its name: `net_revenue`.
    pub name: String,
    /// How it is computed.
    pub kind: MetricKind,
    /// Its unit: `USD`.
    pub unit: String,
    /// Its number format, as in spreadsheets: `0.00`, `0.0%`.
    pub format: String,
    /// The responsible person or team.
    pub owner: String,
    /// What it means.
    pub description: String,
    /// Other names.
    pub synonyms: Vec<String>,
    /// The source of its definition, such as the section of a document.
    pub source: String,
    /// Where it is declared.
    pub place: String,
}

/// How a metric is computed.
#[derive(Debug, Clone, PartialEq)]
pub enum MetricKind {
    /// An aggregate over the rows of an entity.
    Simple(Measure),
    /// One metric divided by another.
    Ratio {
        /// The numerator.
        numerator: String,
        /// The denominator; where it is 0, the result is NULL.
        denominator: String,
    },
    /// An arithmetic expression over metrics.
    Derived {
        /// `revenue - refunds`
        expression: String,
    },
    /// A simple metric that includes the rows of earlier periods.
    Cumulative {
        /// The metric.
        metric: String,
        /// The window.
        span: Span,
    },
}

impl MetricKind {
    /// Returns its name.
    pub fn as_str(&self) -> &'static str {
        match self {
            MetricKind::Simple(_) => "simple",
            MetricKind::Ratio { .. } => "ratio",
            MetricKind::Derived { .. } => "derived",
            MetricKind::Cumulative { .. } => "cumulative",
        }
    }

    /// The names of all kinds.
    pub const WORDS: [&'static str; 4] = ["simple", "ratio", "derived", "cumulative"];
}

/// An aggregate over the rows of an entity.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// The entity.
    pub entity: String,
    /// How rows are aggregated.
    pub aggregation: Aggregation,
    /// The aggregated SQL expression over the columns of a row; without it, rows are counted.
    pub expression: Option<String>,
    /// SQL conditions on the rows.
    pub filters: Vec<String>,
    /// The time column; by default the time of the entity.
    pub time: Option<String>,
    /// The granularity of that time.
    pub grain: Option<Grain>,
    /// How a semi-additive measure selects rows: only those of one time in each period count.
    pub semi_additive: Option<SemiAdditive>,
}

/// A semi-additive measure, such as a balance, which does not add up over time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SemiAdditive {
    /// Whether the first time of a period is used instead of the last.
    pub is_first: bool,
    /// Columns for each of whose values the time is chosen separately.
    pub per: Vec<String>,
}

/// A set of rows of an entity, such as the VIP customers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Segment {
    /// Its name: `vip_customer`.
    pub name: String,
    /// The entity whose rows belong to it.
    pub entity: String,
    /// The key columns of that entity, filled in by validation.
    pub key: Vec<String>,
    /// Which rows belong to it.
    pub members: SegmentMembers,
    /// What it means.
    pub description: String,
    /// Other names.
    pub synonyms: Vec<String>,
    /// The source of its definition, such as the section of a document.
    pub source: String,
    /// Where it is declared.
    pub place: String,
}

/// Which rows of an entity belong to a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SegmentMembers {
    /// Rows that meet all of these SQL conditions over the columns of a row.
    Filter(Vec<String>),
    /// Rows whose key a verified query returns.
    Query {
        /// The query.
        name: String,
        /// The columns of the query that contain the key, in the order of the key; if empty, the columns with the same names.
        columns: Vec<String>,
    },
}

impl Default for SegmentMembers {
    fn default() -> Self {
        SegmentMembers::Filter(Vec::new())
    }
}

/// All declarations.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Declarations {
    /// The entities.
    pub entities: Vec<Entity>,
    /// The joins between them.
    pub joins: Vec<Join>,
    /// The dimensions.
    pub dimensions: Vec<Dimension>,
    /// The metrics.
    pub metrics: Vec<Metric>,
    /// The segments.
    pub segments: Vec<Segment>,
    /// The verified queries that segments may name.
    pub queries: Vec<NamedQuery>,
    /// When fiscal years start, if declared.
    pub fiscal_year: Option<FiscalYear>,
    /// The time zone of days and longer periods; without one, times are used as stored.
    pub time_zone: Option<TimeZone>,
}

impl Declarations {
    /// Whether nothing is declared.
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty()
            && self.joins.is_empty()
            && self.dimensions.is_empty()
            && self.metrics.is_empty()
            && self.segments.is_empty()
    }

    /// Adds other declarations.
    pub fn extend(&mut self, other: Declarations) {
        self.entities.extend(other.entities);
        self.joins.extend(other.joins);
        self.dimensions.extend(other.dimensions);
        self.metrics.extend(other.metrics);
        self.segments.extend(other.segments);
        self.queries.extend(other.queries);
        self.fiscal_year = self.fiscal_year.or(other.fiscal_year);
        self.time_zone = self.time_zone.or(other.time_zone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortens_locations() {
        for (place, expected) in [
            ("/home/ada/shop/catalog.yaml:12", "catalog.yaml:12"),
            ("C:\\shop\\catalog.yaml:12", "catalog.yaml:12"),
            ("catalog.yaml:12", "catalog.yaml:12"),
            ("/shop/models/orders.yml: metrics.a/b", "orders.yml: metrics.a/b"),
        ] {
            assert_eq!(short_place(place), expected);
        }
    }
}

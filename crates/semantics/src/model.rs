//! What a company means: entities, the joins between them, dimensions and metrics, as they are declared.

use prospector_connect::query::Aggregation;
use prospector_engine::options::NamedQuery;
pub use prospector_engine::query::aggregate::{FiscalYear, StoredIn, TimeZone};
use prospector_engine::query::aggregate::{Grain, Span};

/// A thing that rows are about, and the table that has a row for each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Entity {
    /// What expressions call it: `invoice`.
    pub name: String,
    /// The database of its table.
    pub database: String,
    /// Its table.
    pub table: String,
    /// The columns that are together different in each row; those of the primary key where there are none.
    pub key: Vec<String>,
    /// The column that says when a row happened; metrics over it take this time unless they name another.
    pub time: Option<String>,
    /// How fine that time is; a day where it is not said.
    pub grain: Option<Grain>,
    /// Whose clocks columns of its table are of, where their types do not say so.
    pub stored_in: Vec<StoredIn>,
    /// What it is.
    pub description: String,
    /// Where it is declared: `catalog.yaml:12`.
    pub place: String,
}

/// Where something is declared, without the folders of the file: no answer tells where on a disk a catalog is.
pub fn short_place(place: &str) -> &str {
    let file = place.split(": ").next().unwrap_or(place);
    file.rfind(['/', '\\']).map_or(place, |at| &place[at + 1..])
}

/// Columns of an entity that name a row of another, where no schema says so.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Join {
    /// The entity that refers.
    pub from: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// The entity that is referred to.
    pub to: String,
    /// The columns of its key.
    pub references: Vec<String>,
    /// Where it is declared.
    pub place: String,
}

/// Something that metrics are told by.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dimension {
    /// What it is called.
    pub name: String,
    /// Where it stands; a metric takes the place that the fewest joins lead to.
    pub columns: Vec<DimensionColumn>,
    /// Columns of the joins to take where there are several, as `entity.column`.
    pub via: Vec<String>,
    /// What keeps apart what is called alike, such as the key of a customer beside the name, in SQL over the columns of its row. It
    /// is not shown.
    pub keys: Vec<String>,
    /// What it means.
    pub description: String,
    /// What else it is called.
    pub synonyms: Vec<String>,
    /// Where it is declared.
    pub place: String,
}

/// Where a dimension stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DimensionColumn {
    /// The entity.
    pub entity: String,
    /// A column, or SQL over the columns of a row.
    pub expression: String,
}

/// A figure, and how it is computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// What it is called: `net_revenue`.
    pub name: String,
    /// How it is computed.
    pub kind: MetricKind,
    /// What it is counted in: `USD`.
    pub unit: String,
    /// How it is shown, as spreadsheets have it: `0.00`, `0.0%`.
    pub format: String,
    /// Who answers for it.
    pub owner: String,
    /// What it means.
    pub description: String,
    /// What else it is called.
    pub synonyms: Vec<String>,
    /// Where its definition stands, such as the section of a document.
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
        /// What is divided.
        numerator: String,
        /// By what; where that is 0, there is no value.
        denominator: String,
    },
    /// Arithmetic over metrics.
    Derived {
        /// `revenue - refunds`
        expression: String,
    },
    /// A simple metric, with the rows of earlier periods.
    Cumulative {
        /// The metric.
        metric: String,
        /// How far back.
        span: Span,
    },
}

impl MetricKind {
    /// The word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            MetricKind::Simple(_) => "simple",
            MetricKind::Ratio { .. } => "ratio",
            MetricKind::Derived { .. } => "derived",
            MetricKind::Cumulative { .. } => "cumulative",
        }
    }

    /// The words for all kinds.
    pub const WORDS: [&'static str; 4] = ["simple", "ratio", "derived", "cumulative"];
}

/// An aggregate over the rows of an entity.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// The entity.
    pub entity: String,
    /// How rows are aggregated.
    pub aggregation: Aggregation,
    /// What is aggregated, in SQL over the columns of a row; rows are counted without it.
    pub expression: Option<String>,
    /// Conditions on the rows, in such SQL.
    pub filters: Vec<String>,
    /// The column that says when; the time of the entity where there is none.
    pub time: Option<String>,
    /// How fine that time is.
    pub grain: Option<Grain>,
    /// Of each period only the rows of one time count.
    pub semi_additive: Option<SemiAdditive>,
}

/// A measure that does not add up over time, such as a balance.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SemiAdditive {
    /// The first time of a period in the place of its last.
    pub is_first: bool,
    /// Columns whose values have a time of their own each.
    pub per: Vec<String>,
}

/// A set of rows of an entity, such as the VIP customers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Segment {
    /// What it is called: `vip_customer`.
    pub name: String,
    /// The entity whose rows belong to it.
    pub entity: String,
    /// The columns of the key of that entity, which are filled in when it is checked.
    pub key: Vec<String>,
    /// Which of them do.
    pub members: SegmentMembers,
    /// What it means.
    pub description: String,
    /// What else it is called.
    pub synonyms: Vec<String>,
    /// Where its definition stands, such as the section of a document.
    pub source: String,
    /// Where it is declared.
    pub place: String,
}

/// Which rows of an entity belong to a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SegmentMembers {
    /// Those that meet all of these conditions, in SQL over the columns of a row.
    Filter(Vec<String>),
    /// Those whose key a verified query returns.
    Query {
        /// The query.
        name: String,
        /// Its columns that hold the key, in the order of the key; those that are called like it where there are none.
        columns: Vec<String>,
    },
}

impl Default for SegmentMembers {
    fn default() -> Self {
        SegmentMembers::Filter(Vec::new())
    }
}

/// Everything that is declared.
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
    /// When fiscal years begin, where that is said.
    pub fiscal_year: Option<FiscalYear>,
    /// The zone that days and all longer periods are of; without one, times are taken as they are stored.
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

    /// Adds what others declare.
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
    fn places_are_written_without_folders() {
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

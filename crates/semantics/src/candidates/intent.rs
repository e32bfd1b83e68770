//! What a question may ask for: a measure of the rows of a table or declared metrics, with what they are grouped and filtered by.

use prospector_connect::filter::FilterOp;
use prospector_connect::query::Aggregation;
use prospector_engine::query::aggregate::Grain;
use serde_json::Value;

use super::scope::{Place, Scope, Time};

/// What is computed or listed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Measure {
    /// Declared metrics.
    Metrics(Vec<String>),
    /// Aggregates over the rows of the subject; rows are counted without a column.
    Aggregate(Aggregation, Option<Place>),
    /// The share of the rows of the subject that meet the filters.
    Share,
    /// The rows themselves, with these columns.
    Rows(Vec<Place>),
}

/// A column that results are grouped by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) place: Place,
    /// Columns of the same table that keep equal names apart, and are not shown.
    pub(super) keys: Vec<usize>,
}

impl Group {
    pub(super) fn of(place: Place) -> Group {
        Group { place, keys: Vec::new() }
    }

    /// The columns that name the rows of a table; what only keeps rows apart goes with the first.
    pub(super) fn of_rows(scope: &Scope<'_>, table: usize) -> Vec<Group> {
        let (shown, keys) = scope.name_rows(table).split();
        let mut groups: Vec<Group> = shown.into_iter().map(|column| Group::of((table, column))).collect();
        if let Some(first) = groups.first_mut() {
            first.keys = keys;
        }
        groups
    }
}

/// Rows of another table that refer to a row, or that there are none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Existence {
    pub(super) table: usize,
    pub(super) is_negated: bool,
    /// The value that the row, or one that it leads to, has.
    pub(super) filter: Option<(Place, Value)>,
}

/// The order of groups or rows, and how many are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rank {
    pub(super) descending: bool,
    pub(super) limit: usize,
    /// Whether the question says no number, so that a later one may set it. Groups with equal values are always shown together.
    pub(super) ties: bool,
    /// The column that rows are ordered by; groups are ordered by the measure.
    pub(super) by: Option<Place>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Intent {
    /// The table whose rows count.
    pub(super) subject: usize,
    pub(super) measure: Measure,
    pub(super) groups: Vec<Group>,
    pub(super) filters: Vec<(Place, FilterOp, Value)>,
    pub(super) segments: Vec<String>,
    pub(super) existences: Vec<Existence>,
    pub(super) period: Option<(String, String)>,
    pub(super) time: Option<Time>,
    pub(super) grain: Option<Grain>,
    pub(super) rank: Option<Rank>,
}

impl Intent {
    pub(super) fn new(subject: usize, measure: Measure) -> Intent {
        Intent {
            subject,
            measure,
            groups: Vec::new(),
            filters: Vec::new(),
            segments: Vec::new(),
            existences: Vec::new(),
            period: None,
            time: None,
            grain: None,
            rank: None,
        }
    }

    pub(super) fn metrics(&self) -> &[String] {
        match &self.measure {
            Measure::Metrics(names) => names,
            Measure::Aggregate(..) | Measure::Share | Measure::Rows(_) => &[],
        }
    }
}

//! The structure of an interpretation: a measure of the rows of a table or of declared metrics, its groups and its filters.

use prospector_connect::filter::FilterOp;
use prospector_connect::query::Aggregation;
use prospector_engine::query::aggregate::Grain;
use serde_json::{Value, json};

use super::scope::{Key, Place, Scope, Time};

/// A condition on a column.
pub(super) type Condition = (Place, FilterOp, Value);

/// What is computed or listed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Measure {
    /// Declared metrics.
    Metrics(Vec<String>),
    /// An aggregate over the rows of the subject; without a column, rows are counted.
    Aggregate(Aggregation, Option<Place>),
    /// The average number of rows of the subject per distinct value of a key.
    AverageCount(Place),
    /// The share of the rows of the subject that meet conditions, and those on the existence of related rows.
    Share(Vec<Condition>),
    /// The rows themselves, with these columns.
    Rows(Vec<Place>),
}

/// A column that results are grouped by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) place: Place,
    /// Columns of the same table that distinguish equal names; not shown.
    pub(super) keys: Vec<usize>,
}

impl Group {
    pub(super) fn of(place: Place) -> Group {
        Group { place, keys: Vec::new() }
    }

    /// Returns the columns that name the rows of a table; keys that only distinguish equal names are attached to the first.
    pub(super) fn of_rows(scope: &Scope<'_>, table: usize) -> Vec<Group> {
        let (shown, keys) = scope.name_rows(table).split();
        let mut groups: Vec<Group> = shown.into_iter().map(|column| Group::of((table, column))).collect();
        if let Some(first) = groups.first_mut() {
            first.keys = keys;
        }
        groups
    }
}

/// A condition that related rows of another table exist, or do not exist.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Existence {
    pub(super) table: usize,
    pub(super) is_negated: bool,
    /// A condition on the related row or on a row that it refers to.
    pub(super) filter: Option<(Place, Value)>,
    /// Bounds on the number of related rows; any number if empty.
    pub(super) count: Vec<(FilterOp, f64)>,
}

/// The order of groups or rows, and the number that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rank {
    pub(super) descending: bool,
    pub(super) limit: usize,
    /// Whether the question names no number, so that a later part may set it. Groups with equal values are always shown together.
    pub(super) ties: bool,
    /// The column that rows are ordered by; groups are ordered by the measure.
    pub(super) by: Option<Place>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Intent {
    /// The table whose rows are counted.
    pub(super) subject: usize,
    pub(super) measure: Measure,
    /// Additional aggregates over the rows of the subject or of another table, if `measure` is an aggregate.
    pub(super) more: Vec<(usize, Aggregation, Option<Place>)>,
    pub(super) groups: Vec<Group>,
    pub(super) filters: Vec<Condition>,
    /// Conditions on the first measure of each group.
    pub(super) having: Vec<(FilterOp, f64)>,
    pub(super) segments: Vec<String>,
    pub(super) existences: Vec<Existence>,
    /// The key that tables are joined by, if several lead to a table.
    pub(super) via: Option<Key>,
    pub(super) period: Option<(String, String)>,
    /// Further periods that are compared with it.
    pub(super) others: Vec<(String, String)>,
    pub(super) time: Option<Time>,
    pub(super) grain: Option<Grain>,
    pub(super) rank: Option<Rank>,
}

impl Intent {
    pub(super) fn new(subject: usize, measure: Measure) -> Intent {
        Intent {
            subject,
            measure,
            more: Vec::new(),
            groups: Vec::new(),
            filters: Vec::new(),
            having: Vec::new(),
            segments: Vec::new(),
            existences: Vec::new(),
            via: None,
            period: None,
            others: Vec::new(),
            time: None,
            grain: None,
            rank: None,
        }
    }

    /// Returns the row of a table with the highest or lowest value of a column.
    pub(super) fn rank_rows(table: usize, descending: bool, by: Place) -> Intent {
        let rank = Some(Rank { descending, limit: 1, ties: true, by: Some(by) });
        Intent { rank, ..Intent::new(table, Measure::Rows(Vec::new())) }
    }

    /// Returns the aggregates to compute, each with the table whose rows are counted.
    pub(super) fn aggregates(&self) -> Vec<(usize, Aggregation, Option<Place>)> {
        match self.measure {
            Measure::Aggregate(aggregation, place) => {
                std::iter::once((self.subject, aggregation, place)).chain(self.more.iter().copied()).collect()
            }
            Measure::AverageCount(_) | Measure::Metrics(_) | Measure::Share(_) | Measure::Rows(_) => Vec::new(),
        }
    }

    /// Returns the grouped columns that may be empty and must not be in a ranking: `the town with the fewest owners` is a town.
    pub(super) fn ranked_columns(&self, scope: &Scope<'_>) -> Vec<Place> {
        let may_lack = |place: &Place| place.0 != self.subject || scope.column(*place).nullable;
        let is_filtered = |place: &Place| self.filters.iter().any(|(filtered, ..)| filtered == place);
        let places = self.groups.iter().filter(|_| self.rank.is_some()).map(|group| group.place);
        places.filter(|place| may_lack(place) && !is_filtered(place)).collect()
    }

    pub(super) fn metrics(&self) -> &[String] {
        match &self.measure {
            Measure::Metrics(names) => names,
            Measure::Aggregate(..) | Measure::AverageCount(_) | Measure::Share(_) | Measure::Rows(_) => &[],
        }
    }
}

/// A number as JSON, an integer if it is whole.
pub(super) fn to_number(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9e15 { json!(number as i64) } else { json!(number) }
}

//! The input of the rules: columns by role, and the measure of the question.

use std::collections::BTreeSet;

use prospector_text::identifiers;

use crate::{
    column::{Column, Role},
    data::Data,
};

/// Maximum ratio of two measures on one axis.
const MAX_TIMES: f64 = 25.0;

/// Words of a question about the relation of two measures.
#[rustfmt::skip]
const OF_RELATIONS: &[&str] = &[
    "relationship", "relation", "relate", "related", "correlate", "correlated", "correlation", "against", "versus",
    "vs", "depend", "depends", "scatter", "go", "influence", "affect", "affects",
];

/// The columns of a result, by role.
pub(crate) struct Profile<'a> {
    pub(crate) data: &'a Data<'a>,
    pub(crate) times: Vec<Column<'a>>,
    /// Categories, including ordered ones, with at least two values.
    pub(crate) categories: Vec<Column<'a>>,
    /// The measures, the main one first.
    pub(crate) measures: Vec<Column<'a>>,
    /// Whether there are sentences, or lists in cells.
    pub(crate) has_prose: bool,
    pub(crate) has_places: bool,
    /// Values shared by all rows, such as `country: PT`.
    pub(crate) constants: Vec<String>,
}

impl<'a> Profile<'a> {
    pub(crate) fn new(data: &'a Data<'a>) -> Self {
        let mut profile = Profile {
            data,
            times: Vec::new(),
            categories: Vec::new(),
            measures: Vec::new(),
            has_prose: false,
            has_places: false,
            constants: Vec::new(),
        };
        let mut identifiers = Vec::new();
        for place in 0..data.columns.len() {
            let column = Column::read(data, place);
            let is_constant = column.distinct == 1 && data.rows.len() > 2 && !column.texts.iter().any(String::is_empty);
            match column.role {
                Role::Time { .. } | Role::Ordinal | Role::Category | Role::Identifier if is_constant => {
                    profile.constants.push(format!("{}: {}", column.axis().title, column.texts[0]));
                }
                Role::Time { .. } => profile.times.push(column),
                Role::Ordinal | Role::Category => profile.categories.push(column),
                Role::Measure(_) => profile.measures.push(column),
                Role::Identifier => identifiers.push(column),
                Role::Place => profile.has_places = true,
                Role::Prose => profile.has_prose = true,
                Role::Empty => {}
            }
        }
        profile.join_names();
        profile.name_rows(identifiers);
        profile.settle_ordinals();
        profile.order_measures();
        profile
    }

    /// Joins first and last names.
    fn join_names(&mut self) {
        let find = |of: &str, all: &[Column<'a>]| all.iter().position(|column| column.words == [of, "name"]);
        if let (Some(first), Some(last)) = (find("first", &self.categories), find("last", &self.categories)) {
            let lasts = self.categories[last].texts.clone();
            let column = &mut self.categories[first];
            column.texts = column.texts.iter().zip(lasts).map(|(one, other)| format!("{one} {other}")).collect();
            column.distinct = column.texts.iter().collect::<BTreeSet<_>>().len();
            column.name = "name";
            self.categories.remove(last);
        }
    }

    /// Uses an identifier as category if no category, period or second measure distinguishes the rows.
    fn name_rows(&mut self, identifiers: Vec<Column<'a>>) {
        let is_named = !self.categories.is_empty() || !self.times.is_empty() || self.measures.len() > 1;
        if !is_named && let Some(mut key) = identifiers.into_iter().next() {
            key.role = Role::Category;
            self.categories.push(key);
        }
    }

    /// Treats whole numbers such as ratings as categories if there is another measure, otherwise as a measure.
    fn settle_ordinals(&mut self) {
        if !self.measures.is_empty() || self.data.rows.len() < 2 {
            return;
        }
        let is_number =
            |column: &Column<'_>| column.texts.iter().all(|text| text.is_empty() || text.parse::<f64>().is_ok());
        if let Some(at) = self.categories.iter().rposition(|column| column.role == Role::Ordinal && is_number(column)) {
            let mut column = self.categories.remove(at);
            column.role = Role::Measure(column.texts.iter().map(|text| text.parse().ok()).collect());
            self.measures.push(column);
        }
    }

    /// Moves the main measure to the front: the one named in the question, otherwise the sort key. Of several named
    /// ones, the sort key comes first unless it is constant; the others follow.
    fn order_measures(&mut self) {
        let (question, is_timed) = (self.data.question, !self.times.is_empty());
        let is_named: Vec<bool> = self.measures.iter().map(|column| column.is_named_in(question)).collect();
        let is_any_named = is_named.contains(&true);
        let rank = |at: usize| {
            let column = &self.measures[at];
            let is_sorted = is_sorted_down(column.numbers());
            // Over time, numbers may be sorted by coincidence.
            if is_any_named {
                (is_named[at], column.distinct > 1, is_sorted && !is_timed)
            } else {
                (is_sorted, false, false)
            }
        };
        // The first one wins ties.
        if let Some(main) = (0..self.measures.len()).rev().max_by_key(|at| rank(*at)) {
            self.measures[..=main].rotate_right(1);
        }
        if let Some(others) = self.measures.get_mut(1..) {
            others.sort_by_key(|column| !column.is_named_in(question));
        }
    }

    /// Returns the main measure with those that can share its axis.
    pub(crate) fn comparable(&self) -> Vec<&Column<'a>> {
        let Some(main) = self.measures.first() else { return Vec::new() };
        self.measures.iter().filter(|other| std::ptr::eq(main, *other) || can_share_axis(main, other)).collect()
    }

    /// Returns whether the question names another measure of the same quantity whose scale is incompatible.
    pub(crate) fn hides_named(&self) -> bool {
        let Some((main, others)) = self.measures.split_first() else { return false };
        let is_named = |column: &Column<'_>| column.is_named_in(self.data.question);
        is_named(main)
            && others.iter().any(|other| is_named(other) && is_same_kind(main, other) && !is_same_size(main, other))
    }

    /// Returns whether two measures have different quantities.
    pub(crate) fn has_two_units(&self) -> bool {
        matches!(&self.measures[..], [one, other, ..] if !can_share_axis(one, other))
    }

    /// Returns whether the question asks for the relation of two measures.
    pub(crate) fn asks_relation(&self) -> bool {
        identifiers::words(self.data.question).iter().any(|word| OF_RELATIONS.contains(&word.as_str()))
    }

    /// Returns whether the rows are in descending order of the main measure.
    pub(crate) fn is_ranking(&self) -> bool {
        self.measures.first().is_some_and(|main| is_sorted_down(main.numbers()))
    }
}

/// Returns whether the numbers never rise, and fall at least once.
fn is_sorted_down(numbers: &[Option<f64>]) -> bool {
    let known: Vec<f64> = numbers.iter().flatten().copied().collect();
    known.len() > 2 && known.windows(2).all(|two| two[0] >= two[1]) && known.first() > known.last()
}

/// Returns whether two measures have the same quantity and compatible scales.
fn can_share_axis(one: &Column<'_>, other: &Column<'_>) -> bool {
    is_same_kind(one, other) && is_same_size(one, other)
}

/// Returns whether two measures have the same quantity.
fn is_same_kind(one: &Column<'_>, other: &Column<'_>) -> bool {
    if one.unit != other.unit || one.is_additive() != other.is_additive() || one.quantity() != other.quantity() {
        return false;
    }
    let is_whole = |column: &Column<'_>| column.numbers().iter().flatten().all(|number| number.fract() == 0.0);
    let share_a_word = one.words.iter().any(|word| word.len() > 2 && other.words.contains(word));
    one.unit.is_some() || share_a_word || is_whole(one) == is_whole(other)
}

/// Returns whether two measures have compatible scales.
fn is_same_size(one: &Column<'_>, other: &Column<'_>) -> bool {
    let most =
        |column: &Column<'_>| column.numbers().iter().flatten().fold(0.0f64, |most, number| most.max(number.abs()));
    let (low, high) = (most(one).min(most(other)), most(one).max(most(other)));
    high <= low * MAX_TIMES
}

//! What the rules look at: the columns by what they are for, and the measure that the question is about.

use std::collections::BTreeSet;

use prospector_text::identifiers;

use crate::{
    column::{Column, Role},
    data::Data,
};

/// Measures of which one is so many times as large as the other are not drawn on one axis.
const MAX_TIMES: f64 = 25.0;

/// A question with one of these asks how two measures go together.
const OF_RELATIONS: &[&str] = &[
    "relationship",
    "relation",
    "relate",
    "related",
    "correlate",
    "correlated",
    "correlation",
    "against",
    "versus",
    "vs",
    "depend",
    "depends",
    "scatter",
    "go",
    "influence",
    "affect",
    "affects",
];

/// The columns of a result, by what they are for.
pub(crate) struct Profile<'a> {
    pub(crate) data: &'a Data<'a>,
    pub(crate) times: Vec<Column<'a>>,
    /// Categories, those with an order too; never a column of one value.
    pub(crate) categories: Vec<Column<'a>>,
    /// The one that is asked about first.
    pub(crate) measures: Vec<Column<'a>>,
    /// Whether there are sentences, or lists in cells.
    pub(crate) has_prose: bool,
    pub(crate) has_places: bool,
    /// What holds for every row, as `country: PT`.
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

    /// A first and a last name are one name.
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

    /// Keys are dropped where something else tells the rows apart, or nothing has to.
    fn name_rows(&mut self, identifiers: Vec<Column<'a>>) {
        let is_named = !self.categories.is_empty() || !self.times.is_empty() || self.measures.len() > 1;
        if !is_named && let Some(mut key) = identifiers.into_iter().next() {
            key.role = Role::Category;
            self.categories.push(key);
        }
    }

    /// Whole numbers such as ratings are categories beside a measure, and a measure where there is no other.
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

    /// First the measure that the question names, else the one that the rows are sorted by. Of several that it names, one that
    /// is not the same in every row, and by which the rows are sorted, is first; the others follow it.
    fn order_measures(&mut self) {
        let (question, is_timed) = (self.data.question, !self.times.is_empty());
        let is_named: Vec<bool> = self.measures.iter().map(|column| column.is_named_in(question)).collect();
        let is_any_named = is_named.contains(&true);
        let rank = |at: usize| {
            let column = &self.measures[at];
            let is_sorted = is_sorted_down(column.numbers());
            // Over time numbers fall by themselves.
            if is_any_named {
                (is_named[at], column.distinct > 1, is_sorted && !is_timed)
            } else {
                (is_sorted, false, false)
            }
        };
        // Of equals the first.
        if let Some(main) = (0..self.measures.len()).rev().max_by_key(|at| rank(*at)) {
            self.measures[..=main].rotate_right(1);
        }
        if let Some(others) = self.measures.get_mut(1..) {
            others.sort_by_key(|column| !column.is_named_in(question));
        }
    }

    /// The main measure with those beside it that can be read on one axis.
    pub(crate) fn comparable(&self) -> Vec<&Column<'a>> {
        let Some(main) = self.measures.first() else { return Vec::new() };
        self.measures.iter().filter(|other| std::ptr::eq(main, *other) || is_alike(main, other)).collect()
    }

    /// Whether the question names a measure beside the main one that is of its kind, and could not be seen beside it.
    pub(crate) fn hides_named(&self) -> bool {
        let Some((main, others)) = self.measures.split_first() else { return false };
        let is_named = |column: &Column<'_>| column.is_named_in(self.data.question);
        is_named(main)
            && others.iter().any(|other| is_named(other) && is_same_kind(main, other) && !is_same_size(main, other))
    }

    /// Whether two measures are of different things.
    pub(crate) fn has_two_units(&self) -> bool {
        matches!(&self.measures[..], [one, other, ..] if !is_alike(one, other))
    }

    /// Whether the question asks how two measures go together.
    pub(crate) fn asks_relation(&self) -> bool {
        identifiers::words(self.data.question).iter().any(|word| OF_RELATIONS.contains(&word.as_str()))
    }

    /// Whether the rows go from the most to the least of the main measure.
    pub(crate) fn is_ranking(&self) -> bool {
        self.measures.first().is_some_and(|main| is_sorted_down(main.numbers()))
    }
}

/// Whether the numbers never rise, and fall somewhere.
fn is_sorted_down(numbers: &[Option<f64>]) -> bool {
    let known: Vec<f64> = numbers.iter().flatten().copied().collect();
    known.len() > 2 && known.windows(2).all(|two| two[0] >= two[1]) && known.first() > known.last()
}

/// Whether two measures count the same kind of thing, and neither would be invisible beside the other.
fn is_alike(one: &Column<'_>, other: &Column<'_>) -> bool {
    is_same_kind(one, other) && is_same_size(one, other)
}

/// Whether two measures count the same kind of thing.
fn is_same_kind(one: &Column<'_>, other: &Column<'_>) -> bool {
    if one.unit != other.unit || one.is_additive() != other.is_additive() || one.quantity() != other.quantity() {
        return false;
    }
    let is_whole = |column: &Column<'_>| column.numbers().iter().flatten().all(|number| number.fract() == 0.0);
    let share_a_word = one.words.iter().any(|word| word.len() > 2 && other.words.contains(word));
    one.unit.is_some() || share_a_word || is_whole(one) == is_whole(other)
}

/// Whether each of two measures can be seen beside the other.
fn is_same_size(one: &Column<'_>, other: &Column<'_>) -> bool {
    let most =
        |column: &Column<'_>| column.numbers().iter().flatten().fold(0.0f64, |most, number| most.max(number.abs()));
    let (low, high) = (most(one).min(most(other)), most(one).max(most(other)));
    high <= low * MAX_TIMES
}

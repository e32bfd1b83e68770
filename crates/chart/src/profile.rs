//! The input of the rules: columns by role, the main measure first.

use crate::{
    column::{Column, Role},
    data::{Data, Use},
};

/// Maximum ratio of two measures on one axis.
const MAX_TIMES: f64 = 25.0;

/// The columns of a result, by role.
pub(crate) struct Profile<'a> {
    pub(crate) data: &'a Data<'a>,
    pub(crate) times: Vec<Column>,
    /// Categories, including ordered ones, with at least two values.
    pub(crate) categories: Vec<Column>,
    /// The measures, the main one first.
    pub(crate) measures: Vec<Column>,
    /// Whether there are sentences, or lists in cells.
    pub(crate) has_prose: bool,
    /// Values shared by all rows, such as `Country: PT`.
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
            constants: Vec::new(),
        };
        for column in read_columns(data) {
            let is_constant = column.distinct == 1 && data.rows.len() > 2 && !column.texts.iter().any(String::is_empty);
            match column.role {
                Role::Time { .. } | Role::Ordinal | Role::Category if is_constant => {
                    profile.constants.push(format!("{}: {}", column.axis().title, column.texts[0]));
                }
                Role::Time { .. } => profile.times.push(column),
                Role::Ordinal | Role::Category => profile.categories.push(column),
                Role::Measure(_) => profile.measures.push(column),
                Role::Prose => profile.has_prose = true,
                Role::Empty => {}
            }
        }
        profile.remove_keys();
        // Over time, numbers may be sorted by coincidence.
        if profile.times.is_empty()
            && let Some(main) = profile.measures.iter().position(Column::is_descending)
        {
            profile.measures[..=main].rotate_right(1);
        }
        profile
    }

    /// Removes the numbers that distinguish all rows, if texts or periods do so too.
    fn remove_keys(&mut self) {
        let has_names = !self.times.is_empty() || self.categories.iter().any(|column| column.role == Role::Category);
        let rows = self.data.rows.len();
        self.categories.retain(|column| !has_names || column.role != Role::Ordinal || column.distinct < rows);
    }

    /// Returns the main measure with those that can share its axis.
    pub(crate) fn comparable(&self) -> Vec<&Column> {
        let Some(main) = self.measures.first() else { return Vec::new() };
        self.measures.iter().filter(|other| std::ptr::eq(main, *other) || can_share_axis(main, other)).collect()
    }

    /// Returns whether the rows are in descending order of the main measure.
    pub(crate) fn is_ranking(&self) -> bool {
        self.measures.first().is_some_and(Column::is_descending)
    }
}

/// Classifies the columns. Whole numbers that differ in all rows distinguish them in two cases: if they ascend in the
/// first column, before other numbers, or if they are stored and unsorted, next to texts.
fn read_columns(data: &Data<'_>) -> Vec<Column> {
    let mut columns: Vec<Column> = (0..data.columns.len()).map(|place| Column::read(data, place)).collect();
    let has_texts = columns.iter().any(|column| column.role == Role::Category);
    let is_number = |column: &Column| matches!(column.role, Role::Measure(_));
    let has_numbers = columns.iter().skip(1).any(is_number);
    for column in &mut columns {
        let is_key = match column.usage {
            Some(Use::Stored) if has_texts => !column.is_descending(),
            None | Some(Use::Stored) => column.place == 0 && has_numbers && column.is_ascending(),
            Some(Use::Dimension | Use::Sum | Use::Measure) => false,
        };
        let is_distinct = data.rows.len() > 1 && column.distinct == data.rows.len();
        if is_key && is_distinct && is_number(column) && column.is_whole() {
            column.make_dimension();
        }
    }
    columns
}

/// Returns whether two measures have the same unit, are of the same kind, and have compatible scales.
fn can_share_axis(one: &Column, other: &Column) -> bool {
    let is_same_kind = one.unit == other.unit && one.is_sum() == other.is_sum();
    let most = |column: &Column| column.numbers().iter().flatten().fold(0.0f64, |most, number| most.max(number.abs()));
    let (low, high) = (most(one).min(most(other)), most(one).max(most(other)));
    is_same_kind && (one.unit.is_some() || one.is_whole() == other.is_whole()) && high <= low * MAX_TIMES
}

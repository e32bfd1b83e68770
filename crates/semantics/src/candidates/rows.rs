//! The columns that name the rows of a table, and the keys that distinguish equal names.

use prospector_connect::table::{ColumnType, Table};
use prospector_text::identifiers::LABEL_WORDS;

const FIRST_NAMES: [&str; 5] = ["first_name", "firstname", "forename", "given_name", "fname"];
const LAST_NAMES: [&str; 5] = ["last_name", "lastname", "surname", "family_name", "lname"];

/// The naming columns of a table, by index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct RowName {
    /// The displayed columns: a name or a title, the first and last name of a person, or the key if there is nothing else.
    pub(super) shown: Vec<usize>,
    /// Whether the displayed columns are the name of a thing, which is nearly unique. Names of persons often are not.
    pub(super) is_distinctive: bool,
    /// The columns of the primary key that are not shown.
    pub(super) keys: Vec<usize>,
}

impl RowName {
    /// Returns the displayed columns of rows that values are grouped by, and the hidden ones that distinguish equal names.
    pub(super) fn split(self) -> (Vec<usize>, Vec<usize>) {
        match self.is_distinctive {
            true => (self.shown, self.keys),
            false => (self.keys.into_iter().chain(self.shown).collect(), Vec::new()),
        }
    }
}

/// Returns whether the column is part of a foreign key.
pub(super) fn refers(table: &Table, column: usize) -> bool {
    let name = &table.columns[column].name;
    table.foreign_keys.iter().any(|key| key.columns.iter().any(|own| own.eq_ignore_ascii_case(name)))
}

/// Returns the naming columns of a table.
pub(super) fn name_rows(table: &Table) -> RowName {
    let columns = &table.columns;
    let lower: Vec<String> = columns.iter().map(|column| column.name.to_lowercase()).collect();
    let is_text = |at: &usize| columns[*at].column_type == ColumnType::Text;
    let called = |word: &str| lower.iter().position(|name| name == word);
    let any = |words: &[&str]| lower.iter().position(|name| words.contains(&name.as_str()));
    let ends = |word: &str| (0..columns.len()).find(|at| lower[*at].ends_with(word) && is_text(at));
    let keys: Vec<usize> = (0..columns.len()).filter(|at| columns[*at].primary_key).collect();
    let own = called("name").map(|at| vec![at]);
    let person = || Some(vec![any(&FIRST_NAMES)?, any(&LAST_NAMES)?]);
    let is_person = own.is_none() && person().is_some();
    // The title of a person is not a name.
    let shown = own
        .or_else(person)
        .or_else(|| called("title").map(|at| vec![at]))
        .or_else(|| LABEL_WORDS.into_iter().find_map(ends).map(|at| vec![at]));
    // Another text, such as a state, describes rows and does not identify them.
    let is_distinctive = shown.is_some() && !is_person;
    let first_text = || (0..columns.len()).find(|at| is_text(at) && !refers(table, *at)).map(|at| vec![at]);
    let shown = shown.or_else(first_text).unwrap_or_else(|| keys.first().copied().into_iter().collect());
    let shown = if shown.is_empty() && !columns.is_empty() { vec![0] } else { shown };
    let keys = keys.into_iter().filter(|at| !shown.contains(at)).collect();
    RowName { shown, is_distinctive, keys }
}

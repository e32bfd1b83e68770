//! The words by which a source is known, as stems: its names, what is said of it, its values.

use std::collections::BTreeSet;

use prospector_text::{identifiers, periods, stem};

use crate::meaning::{ColumnMeaning, OperationMeaning, TableMeaning};

/// How a source covers a word, from not at all to by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cover {
    None,
    /// It is said of the source, or of a column.
    Told,
    /// A value of a column is called so.
    Value,
    /// The source, or a column, is called so.
    Name,
}

/// A value of more words is a text: its words are no values.
const MAX_VALUE_WORDS: usize = 6;

/// The words of one source.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    /// Of the name of the source alone.
    own: Vec<String>,
    names: BTreeSet<String>,
    told: BTreeSet<String>,
    /// For each column that has some: its place, and the stems of its values and what they mean.
    values: Vec<(usize, BTreeSet<String>)>,
}

/// The stems of a text, in order; identifiers fall into their words.
pub fn stems(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in periods::words(text) {
        // `e-mail` is `email`.
        let joined = match word.split_once('-') {
            Some((first, rest)) if first.chars().count() == 1 && !rest.contains('-') => format!("{first}{rest}"),
            _ => word.to_owned(),
        };
        found.extend(identifiers::words(&joined).iter().map(|word| stem::snowball_related(word)));
    }
    found
}

/// Whether two stems are of one word, as `deliv` and `deliveri`, `treat` and `treatment`.
pub fn alike(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let is_ending = |end: &str| end.len() <= 3 || end == "ment";
    short == long || (short.len() >= 5 && long.strip_prefix(short).is_some_and(is_ending))
}

fn holds(set: &BTreeSet<String>, wanted: &str) -> bool {
    set.contains(wanted) || set.iter().any(|known| alike(known, wanted))
}

impl Vocabulary {
    pub(super) fn of_table(table: &TableMeaning) -> Vocabulary {
        let own = stems(&table.name);
        let mut vocabulary = Vocabulary { names: own.iter().cloned().collect(), own, ..Vocabulary::default() };
        vocabulary.told.extend(stems(&table.description));
        for (at, column) in table.columns.iter().enumerate() {
            vocabulary.names.extend(stems(&column.name));
            vocabulary.names.extend(stems(column.natural_name()));
            let said = column.description.split("(values: ").next().unwrap_or_default();
            vocabulary.told.extend(stems(said));
            vocabulary.told.extend(column.values.iter().filter(|value| is_text(value)).flat_map(|value| stems(value)));
            let values = value_stems(column);
            if !values.is_empty() {
                vocabulary.values.push((at, values));
            }
        }
        vocabulary
    }

    pub(super) fn of_operation(operation: &OperationMeaning) -> Vocabulary {
        let own = stems(&operation.name);
        let told = stems(&operation.description).into_iter().collect();
        Vocabulary { names: own.iter().cloned().collect(), own, told, values: Vec::new() }
    }

    /// Of a document or a skill, by its name and what it is about.
    pub(super) fn of_subject(name: &str, subject: &str) -> Vocabulary {
        let own = stems(name);
        let told = stems(subject).into_iter().collect();
        Vocabulary { names: own.iter().cloned().collect(), own, told, values: Vec::new() }
    }

    /// With the name of what it is part of.
    pub(super) fn told_by(mut self, parent: &str) -> Vocabulary {
        self.told.extend(stems(parent));
        self
    }

    /// How it covers a word.
    pub(super) fn cover(&self, stem: &str) -> Cover {
        if holds(&self.names, stem) {
            Cover::Name
        } else if self.values.iter().any(|(_, values)| holds(values, stem)) {
            Cover::Value
        } else if holds(&self.told, stem) {
            Cover::Told
        } else {
            Cover::None
        }
    }

    /// The places of the columns that have a value of that stem.
    pub(super) fn columns_with(&self, stem: &str) -> Vec<usize> {
        self.values.iter().filter(|(_, values)| values.contains(stem)).map(|(at, _)| *at).collect()
    }

    /// Whether the source is called so: by one of the words of its name.
    pub(super) fn is_called(&self, stem: &str) -> bool {
        self.own.iter().any(|own| alike(own, stem))
    }
}

/// The stems of the values of a column, and of what they mean.
pub(super) fn value_stems(column: &ColumnMeaning) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if column.is_date() {
        return found;
    }
    for (code, meaning) in column.codes() {
        found.extend(stems(code));
        // What follows a comma explains: `V = void, cancelled before payment`.
        found.extend(stems(meaning.split([',', '(']).next().unwrap_or_default()));
    }
    for value in column.values.iter().filter(|value| value.chars().any(char::is_alphabetic) && !is_text(value)) {
        found.extend(stems(value));
    }
    found
}

fn is_text(value: &str) -> bool {
    value.split_whitespace().nth(MAX_VALUE_WORDS).is_some()
}

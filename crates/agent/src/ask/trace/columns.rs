//! The columns and rows of results whose values a sentence states.
//!
//! A number that several columns or rows contain counts for all of them. Where the columns are not certain, because a number is
//! calculated or the sentence states no value of a result that it cites, every column counts; every row counts for a calculated number.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    TABLE,
    figures::{Figure, Judge, Value, Verdict},
    lookup::find_in_cell,
    source::{Key, Source},
    wording::is_column,
};

/// The name that stands for every column of a result.
pub(crate) const ALL: &str = "*";

/// The columns that a sentence states, as indexes of source and column.
#[derive(Debug, Clone, Default)]
pub(super) struct Stated {
    columns: BTreeSet<(usize, usize)>,
    /// The rows that it states, as indexes of source and row.
    rows: BTreeSet<(usize, usize)>,
    /// The results with uncertain columns.
    uncertain: BTreeSet<usize>,
    /// The results of which the sentence states a value.
    stated: BTreeSet<usize>,
}

impl Stated {
    /// Adds the columns of the tables that a sentence inserts.
    pub(super) fn add_tables(&mut self, sentence: &str, sources: &[Source<'_>]) {
        for found in TABLE.captures_iter(sentence) {
            let Some(at) = sources.iter().position(|source| source.query.id == found[1]) else { continue };
            let listed: Option<Vec<&str>> = found.get(2).map(|columns| columns.as_str().split(',').collect());
            let is_listed =
                |name: &str| listed.as_ref().is_none_or(|all| all.iter().any(|one| is_column(name, one.trim())));
            let columns = sources[at].query.columns.iter().enumerate().filter(|(_, name)| is_listed(name));
            self.columns.extend(columns.map(|(column, _)| (at, column)));
            self.add_rows(at, &sources[at]);
            self.stated.insert(at);
        }
    }

    /// Adds all rows of a result.
    fn add_rows(&mut self, at: usize, source: &Source<'_>) {
        self.rows.extend((0..source.rows.len()).map(|row| (at, row)));
    }

    /// Adds the columns and rows of the values that a sentence names. A value of all rows distinguishes none.
    pub(super) fn add_mentions(&mut self, judge: &Judge<'_>, cited: &BTreeSet<usize>) {
        for mention in judge.mentions.iter().filter(|mention| !mention.is_condition && !mention.rows.is_empty()) {
            self.add_keys(&mention.keys, cited, judge.sources);
            for at in cited {
                let rows: Vec<(usize, usize)> = mention.rows.iter().filter(|(of, _)| of == at).copied().collect();
                if rows.len() < judge.sources[*at].rows.len().max(2) {
                    self.rows.extend(rows);
                }
            }
        }
    }

    /// Adds the columns and rows of a figure.
    pub(super) fn add_figure(&mut self, figure: &Figure, verdict: &Verdict, judge: &Judge<'_>) {
        let written = match &figure.value {
            Value::Named { keys, .. } => return self.add_keys(keys, &figure.sources, judge.sources),
            Value::Filled(filled) => {
                self.columns.extend(&filled.columns);
                self.rows.extend(&filled.rows);
                self.stated.extend(&figure.sources);
                return;
            }
            Value::Number(written) => written,
        };
        let headed = judge.table.as_ref().and_then(|table| table.find_columns(&figure.span));
        let mut is_fraction = false;
        let mut rows: BTreeSet<(usize, usize)> = BTreeSet::new();
        for at in &figure.sources {
            let source = &judge.sources[*at];
            let has_head = headed.is_some_and(|columns| columns.iter().any(|(of, _)| of == at));
            for column in 0..source.columns.len() {
                if has_head && !headed.is_some_and(|columns| columns.contains(&(*at, column))) {
                    continue;
                }
                for row in 0..source.rows.len() {
                    if let Some(support) = find_in_cell(written, judge.sources, *at, (row, column)) {
                        is_fraction |= support.how.is_some();
                        self.columns.insert((*at, column));
                        rows.insert((*at, row));
                    }
                }
            }
        }
        let is_certain = match verdict {
            Verdict::Traced => true,
            Verdict::Derived(_) => is_fraction,
            Verdict::Said | Verdict::Wrong(_) => return,
        };
        let results = if is_certain { &mut self.stated } else { &mut self.uncertain };
        results.extend(&figure.sources);
        if is_certain && !rows.is_empty() {
            self.rows.extend(rows);
        } else {
            figure.sources.iter().for_each(|at| self.add_rows(*at, &judge.sources[*at]));
        }
    }

    fn add_keys(&mut self, keys: &BTreeSet<Key>, cited: &BTreeSet<usize>, sources: &[Source<'_>]) {
        for at in cited {
            let columns = sources[*at].columns.iter().enumerate().filter(|(_, column)| !column.keys.is_disjoint(keys));
            self.columns.extend(columns.map(|(column, _)| (*at, column)));
        }
    }

    /// Marks the results as uncertain that a sentence cites, and of which it states no value. Of the results that its list inherits, one is
    /// enough.
    pub(super) fn close(&mut self, cited: &BTreeSet<usize>, inherited: &BTreeSet<usize>) {
        self.uncertain.extend(cited.difference(&self.stated));
        if cited.is_empty() && inherited.is_disjoint(&self.stated) {
            self.uncertain.extend(inherited);
        }
    }

    /// Drops the uncertain results of a sentence that introduces the list or the table after it.
    pub(super) fn introduce(&mut self) {
        self.uncertain.clear();
    }

    /// Adds the columns and rows of another sentence.
    pub(super) fn extend(&mut self, other: &Stated) {
        self.columns.extend(&other.columns);
        self.rows.extend(&other.rows);
        self.uncertain.extend(&other.uncertain);
    }

    /// Returns the rows by result.
    pub(super) fn list_rows(&self, sources: &[Source<'_>]) -> BTreeMap<String, BTreeSet<usize>> {
        let mut rows: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for (at, row) in &self.rows {
            rows.entry(sources[*at].query.id.clone()).or_default().insert(*row);
        }
        rows
    }

    /// Returns the names of the columns by result.
    pub(super) fn names(&self, sources: &[Source<'_>]) -> BTreeMap<String, Vec<String>> {
        let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for at in &self.uncertain {
            names.insert(sources[*at].query.id.clone(), vec![ALL.to_owned()]);
        }
        for (at, column) in self.columns.iter().filter(|(at, _)| !self.uncertain.contains(at)) {
            let query = sources[*at].query;
            names.entry(query.id.clone()).or_default().extend(query.columns.get(*column).cloned());
        }
        names
    }
}

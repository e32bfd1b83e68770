//! The survey of a file: counts the possible readings of the cells of each column over all rows, in bounded memory.

use super::cell::{self, Cell, Traits};
use super::content::{Content, TextFormat};
use super::number::Unit;
use crate::files::failure::FileError;
use crate::files::naming::column_names;
use crate::files::narrow::MAX_COLUMNS;
use crate::table::IssueExample;

/// Maximum number of examples kept per group of cells.
const MAX_EXAMPLES: usize = 5;

/// Maximum length of an example in characters.
const MAX_EXAMPLE_CHARS: usize = 60;

/// Maximum number of groups of a column; further ones are counted as texts.
const MAX_GROUPS: usize = 48;

/// Statistics of the rows of a file.
pub(super) struct Survey {
    /// The line of the header.
    pub(super) header_line: u64,
    pub(super) names: Vec<String>,
    /// The number of header fields; `names` are limited to the columns a table may have.
    pub(super) width: usize,
    /// The number of rows, without `last`.
    pub(super) rows: u64,
    pub(super) columns: Vec<ColumnSurvey>,
    /// Rows with fewer fields than the header, and with more.
    pub(super) short: Lines,
    pub(super) long: Lines,
    /// The last row, which may be a total: it is not counted in the other fields.
    pub(super) last: Option<LastRow>,
}

/// The last row of a file.
pub(super) struct LastRow {
    cells: csv::StringRecord,
    pub(super) line: u64,
}

impl LastRow {
    /// Returns the trimmed cell of a column; an empty text if the row is shorter.
    pub(super) fn cell(&self, at: usize) -> &str {
        cell::trim(self.cells.get(at).unwrap_or_default())
    }
}

impl Survey {
    /// Counts the last row like the others.
    pub(super) fn add_last(&mut self) {
        if let Some(last) = self.last.take() {
            self.add(&last.cells, last.line, &mut String::new());
        }
    }

    fn add(&mut self, row: &csv::StringRecord, line: u64, scratch: &mut String) {
        self.rows += 1;
        match row.len().cmp(&self.width) {
            std::cmp::Ordering::Less => self.short.add(line),
            std::cmp::Ordering::Greater => self.long.add(line),
            std::cmp::Ordering::Equal => {}
        }
        for (column, field) in self.columns.iter_mut().zip(row) {
            column.add(field, line, scratch);
        }
    }
}

/// A count of lines and the first of them.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) count: u64,
    pub(super) first: u64,
}

impl Lines {
    fn add(&mut self, line: u64) {
        if self.count == 0 {
            self.first = line;
        }
        self.count += 1;
    }
}

/// Why a survey was stopped.
pub(super) enum Stop {
    /// The file is not valid UTF-8.
    NotUtf8,
    Failed(FileError),
}

impl From<csv::Error> for Stop {
    fn from(error: csv::Error) -> Self {
        match error.kind() {
            csv::ErrorKind::Utf8 { .. } => Stop::NotUtf8,
            _ => Stop::Failed(error.into()),
        }
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Stop::Failed(error.into())
    }
}

/// Statistics of the cells of a column.
#[derive(Default)]
pub(super) struct ColumnSurvey {
    groups: Vec<Group>,
    /// The group of the last cell, which the next cell usually shares.
    last: usize,
    /// The number of cells with a representation of null.
    pub(super) null_words: u64,
    /// The maximum number of fractional digits of seconds.
    pub(super) fraction: u8,
    /// The blank-separated digit groups, if equal in all cells.
    pub(super) spaced: Option<(u8, u8)>,
    pub(super) is_spaced_variously: bool,
}

/// Cells with the same traits.
pub(super) struct Group {
    pub(super) traits: Traits,
    pub(super) unit: Unit,
    pub(super) count: u64,
    pub(super) examples: Vec<IssueExample>,
}

impl ColumnSurvey {
    fn add(&mut self, written: &str, line: u64, scratch: &mut String) {
        let trimmed = cell::trim(written);
        if cell::is_null(trimmed) {
            self.null_words += u64::from(!trimmed.is_empty());
            return;
        }
        let Cell { mut traits, unit, fraction, groups } = cell::classify(trimmed, scratch);
        if trimmed.len() < written.len() {
            traits = traits.difference(Traits::PLAIN);
        }
        self.fraction = self.fraction.max(fraction);
        if traits.intersects(Traits::SPACED) {
            let known = *self.spaced.get_or_insert(groups);
            self.is_spaced_variously |= known != groups;
        }
        let is_same = |group: &Group| group.traits == traits && group.unit == unit;
        if !self.groups.get(self.last).is_some_and(is_same) {
            self.last = self.groups.iter().position(is_same).unwrap_or_else(|| self.new_group(traits, unit));
        }
        let group = &mut self.groups[self.last];
        group.count += 1;
        if group.examples.len() < MAX_EXAMPLES {
            let value = trimmed.chars().take(MAX_EXAMPLE_CHARS).collect();
            group.examples.push(IssueExample { line, value });
        }
    }

    fn new_group(&mut self, traits: Traits, unit: Unit) -> usize {
        let (traits, unit) = match self.groups.len() < MAX_GROUPS {
            true => (traits, unit),
            false => (Traits::default(), Unit::None),
        };
        if let Some(at) = self.groups.iter().position(|group| (group.traits, group.unit) == (traits, unit)) {
            return at;
        }
        self.groups.push(Group { traits, unit, count: 0, examples: Vec::new() });
        self.groups.len() - 1
    }

    /// Returns the number of cells in matching groups.
    pub(super) fn count(&self, is_wanted: impl Fn(&Group) -> bool) -> u64 {
        self.groups.iter().filter(|group| is_wanted(group)).map(|group| group.count).sum()
    }

    /// Returns the number of cells with at least one of these traits.
    pub(super) fn with(&self, any: Traits) -> u64 {
        self.count(|group| group.traits.intersects(any))
    }

    pub(super) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Returns the first cells of matching groups.
    pub(super) fn examples(&self, is_wanted: impl Fn(&Group) -> bool) -> Vec<IssueExample> {
        let wanted = self.groups.iter().filter(|group| is_wanted(group));
        let mut examples: Vec<IssueExample> = wanted.flat_map(|group| group.examples.iter().cloned()).collect();
        examples.sort_by_key(|example| example.line);
        examples.truncate(MAX_EXAMPLES);
        examples
    }
}

/// Surveys all rows, the last one separately.
pub(super) fn survey(content: &Content, format: &TextFormat) -> Result<Survey, Stop> {
    let mut reader = content.rows(format)?;
    let mut row = csv::StringRecord::new();
    if !reader.next(&mut row)? {
        return Err(Stop::Failed(FileError::NoColumns));
    }
    let (width, header_line) = (row.len(), reader.line(&row));
    let mut names = column_names(row.iter());
    names.truncate(MAX_COLUMNS);
    let columns = names.iter().map(|_| ColumnSurvey::default()).collect();
    let (short, long) = (Lines::default(), Lines::default());
    let mut survey = Survey { header_line, names, width, rows: 0, columns, short, long, last: None };
    let (mut next, mut line, mut scratch) = (csv::StringRecord::new(), None, String::new());
    while reader.next(&mut next)? {
        if let Some(line) = line {
            survey.add(&row, line, &mut scratch);
        }
        std::mem::swap(&mut row, &mut next);
        line = Some(match content {
            Content::File(_) => reader.line(&row),
            Content::Sheet { rows, .. } => rows.get(survey.rows as usize + 1).map_or(0, |row| u64::from(*row)),
        });
    }
    survey.last = line.map(|line| LastRow { cells: row, line });
    Ok(survey)
}

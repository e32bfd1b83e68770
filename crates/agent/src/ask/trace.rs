//! Tracing an answer back to what it is based on: its citations to queries and entries, its numbers to cells of results.
//! A number is traced if it is in a row that its sentence names. If a sentence names a value of a result (a country, a quarter), its
//! numbers must be in the rows of that value; if it names several, word order assigns the numbers. A derived number needs a reference that
//! is filled in (`{{Q1: sum(n)}}`) or a calculation in the sentence. Numbers of the question, of a cited query or of a document make no
//! claim about data. A traced number does not prove that its sentence is true.

mod calculation;
mod citations;
mod claim;
mod columns;
mod decimals;
mod figures;
mod labels;
mod layout;
mod lookup;
mod mentions;
mod numbers;
mod reference;
mod sentences;
mod source;
mod wording;

use std::sync::LazyLock;

use regex::Regex;

use super::entries::Entries;
use crate::answer::{DataQuestion, Tracing};
use claim::{Place, Tracer};
pub(super) use columns::ALL;
use columns::Stated;
use sentences::{is_delimiter, split_cells, split_sentences, starts_with_number};
pub(super) use source::write_cell;

/// The mark of an untraced sentence.
pub(crate) const MARK: &str = "[unverified]";

/// A reference to the table of a result, with optional columns.
pub(super) static TABLE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"\{\{\s*((?:t\d+\.)?Q\d+)\s*(?::\s*columns\s+([^{}\n]{1,400}))?\}\}";
    Regex::new(pattern).unwrap_or_else(|error| unreachable!("{error}"))
});

/// The evidence for an answer.
#[derive(Clone, Copy)]
pub(crate) struct Basis<'a> {
    /// The question.
    pub(crate) question: &'a str,
    /// The queries of this run.
    pub(crate) queries: &'a [DataQuestion],
    /// Those of earlier turns, with ids such as `t1.Q1`.
    pub(crate) earlier: &'a [DataQuestion],
    /// Other text that the model was shown.
    pub(crate) texts: &'a str,
    pub(crate) entries: &'a Entries,
}

/// Traces an answer. Also returns it with references filled in and untraced sentences marked.
pub(crate) fn trace(answer: &str, basis: &Basis<'_>) -> (Tracing, String) {
    let tracer = Tracer::new(basis, answer);
    let mut tracing = Tracing { ok: true, ..Tracing::default() };
    let mut marked = String::with_capacity(answer.len());
    let mut inherited: Vec<String> = Vec::new();
    let mut stated: Vec<Stated> = Vec::new();
    // The columns of inserted tables, which make no claim of their own.
    let mut inserted = Stated::default();
    // The claim that may introduce a list or a table.
    let mut introduction: Option<usize> = None;
    let mut table = Table::default();
    let lines: Vec<&str> = answer.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim();
        // A list, a table or a quotation.
        let is_item = trimmed.starts_with(['-', '*', '•', '|', '>']) || starts_with_number(trimmed);
        table.read(line, lines.get(at + 1).copied().unwrap_or_default());
        if trimmed.is_empty() {
            marked.push('\n');
            continue;
        }
        // A heading between the citing line and its list is ignored.
        let is_heading = trimmed.starts_with('#') || (trimmed.starts_with("**") && trimmed.ends_with("**"));
        if (is_item && !inherited.is_empty() || TABLE.is_match(line))
            && let Some(introducing) = introduction.and_then(|at| stated.get_mut(at))
        {
            introducing.introduce();
        }
        if !is_item && !is_heading {
            inherited.clear();
            introduction = None;
        }
        // The cells of a row are one sentence.
        let parts = if trimmed.starts_with('|') { vec![*line] } else { split_sentences(line) };
        for sentence in parts {
            let inherited_here: &[String] = if is_item { &inherited } else { &[] };
            let place = Place { inherited: inherited_here, head: table.head.as_deref(), row: table.row };
            let mut checked = tracer.check(sentence, &place);
            tracing.checked += checked.checked;
            let has_problem = !checked.claim.problems.is_empty();
            let end = checked.filled.trim_end().len();
            marked.push_str(&checked.filled[..end]);
            if has_problem && !sentence.contains(MARK) {
                marked.push_str(if is_item && sentence.trim_end().ends_with('|') { "" } else { " " });
                marked.push_str(MARK);
            }
            marked.push_str(&checked.filled[end..]);
            tracing.ok &= !has_problem;
            if !is_item {
                // The line before a list or a quotation cites for all of it.
                inherited.append(&mut checked.claim.references.clone());
            }
            if checked.factual || has_problem || !checked.claim.references.is_empty() {
                checked.claim.text = checked.filled.trim().to_owned();
                tracing.claims.push(checked.claim);
                stated.push(checked.stated);
                if !is_item {
                    introduction = Some(stated.len() - 1);
                }
            } else {
                inserted.extend(&checked.stated);
            }
        }
        marked.push('\n');
    }
    marked.truncate(marked.trim_end().len());
    if let Some(last) = stated.last_mut() {
        last.extend(&inserted);
    }
    for (claim, stated) in tracing.claims.iter_mut().zip(&stated) {
        claim.columns = stated.names(&tracer.sources);
        claim.rows = stated.list_rows(&tracer.sources);
    }
    (tracing, marked)
}

/// The table that contains the current line.
#[derive(Default)]
struct Table {
    /// The cells of its header.
    head: Option<Vec<String>>,
    /// The row number of the line, from 1; 0 for the header and outside of tables.
    row: usize,
}

impl Table {
    fn read(&mut self, line: &str, next: &str) {
        let cells = split_cells(line);
        if cells.is_empty() {
            *self = Table::default();
        } else if is_delimiter(next) {
            self.head = None;
            self.row = 0;
        } else if is_delimiter(line) {
            self.row = 0;
        } else {
            self.row += 1;
        }
        if is_delimiter(next) {
            self.head = Some(cells.into_iter().map(|cell| line[cell].to_owned()).collect());
        }
    }
}

#[cfg(test)]
mod tests;

//! `{{Q1: sum(customers)}}` in an answer: a value that is computed from a result and inserted into the sentence.
//!
//! ```text
//! reference  = "{{" query ":" sum [ "as %" ] "}}"
//! sum        = product { ( "+" | "-" ) product }
//! product    = factor { ( "*" | "/" ) factor }
//! factor     = number | "(" sum ")" | function "(" cells ")" | cells
//! function   = "sum" | "avg" | "min" | "max" | "count" | "count_distinct"
//! cells      = [ query "." ] column [ "[" value { "," value } "]" | "where" column "=" value { "and" column "=" value } ]
//! ```

use std::{collections::BTreeSet, ops::Range, sync::LazyLock};

use regex::Regex;

use prospector_connect::query::Aggregation;
use prospector_text::periods::{CitedPeriod, find_cited};

use super::{
    calculation::{Part, evaluate, find_operator},
    mentions::Rows,
    source::{Key, Source, country_of, write_cell},
};

/// Maximum number of columns that an error lists.
const MAX_LISTED: usize = 12;

/// Why a reference cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ReferenceError {
    #[error("unknown result {0}")]
    UnknownQuery(String),
    #[error("{0}")]
    Failed(String),
    #[error("unknown column `{column}` in {query}; its columns are {columns}")]
    UnknownColumn { column: String, query: String, columns: String },
    #[error("no row of {query} has {wanted}")]
    NoRow { query: String, wanted: String },
    #[error("{rows} rows of {query} have a `{column}`: select one, as `{column}[value]`, or use sum, avg, min or max")]
    SeveralRows { query: String, column: String, rows: usize },
    #[error("{query} has more rows than were returned, so a value over all rows cannot be computed")]
    MoreRows { query: String },
    #[error("`{column}` of {query} is not numeric in these rows")]
    NotANumber { query: String, column: String },
    #[error("cannot parse `{0}`; write a column, `column[value]`, sum(column) or a calculation of these")]
    Syntax(String),
    #[error("the calculation has no result")]
    Undefined,
}

/// A reference in a sentence.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) span: Range<usize>,
    pub(super) query: String,
    pub(super) body: String,
}

/// The value of a reference.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filled {
    pub(super) text: String,
    /// The rows that it is computed from.
    pub(super) rows: Rows,
    /// The columns that it is computed from or that select its rows, as indexes of source and column.
    pub(super) columns: BTreeSet<(usize, usize)>,
    /// Whether it is an aggregate over all rows, such as a sum.
    pub(super) is_whole: bool,
    /// Whether it is computed from several values.
    pub(super) is_calculated: bool,
}

/// Returns the references of a text in order, without those to a table or its columns.
pub(super) fn find_references(text: &str) -> Vec<Reference> {
    static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r"\{\{\s*((?:t\d+\.)?Q\d+)\s*:\s*([^{}\n]{1,400})\}\}";
        Regex::new(pattern).unwrap_or_else(|error| unreachable!("{error}"))
    });
    let reference = |found: regex::Captures<'_>| {
        let span = found.get(0)?.range();
        let body = found[2].trim().to_owned();
        let is_table = body.strip_prefix("columns").is_some_and(|rest| rest.starts_with(' '));
        (!is_table).then(|| Reference { span, query: found[1].to_owned(), body })
    };
    REFERENCE.captures_iter(text).filter_map(reference).collect()
}

/// Computes a reference, with a decimal separator.
///
/// # Errors
/// [`ReferenceError`] if a name is unknown, or the cells are not a single value.
pub(super) fn fill(reference: &Reference, sources: &[Source<'_>], decimal: char) -> Result<Filled, ReferenceError> {
    let body = reference.body.trim_end();
    let (body, is_percent) = match body.strip_suffix('%') {
        Some(rest) => (rest.trim_end().strip_suffix("as").map_or(rest, str::trim_end), true),
        None => (body, false),
    };
    let mut reader = Reader { rest: body, query: &reference.query, sources, found: Vec::new() };
    let parts = reader.read_parts()?;
    let found = reader.found;
    // A number alone does not refer to a result.
    if found.is_empty() {
        return Err(ReferenceError::Syntax(body.to_owned()));
    }
    let rows: Rows = found.iter().flat_map(|term| term.rows.iter().copied()).collect();
    let columns = found.iter().flat_map(|term| term.columns.iter().copied()).collect();
    let is_single = parts.len() == 1 && found.len() == 1;
    let is_whole = is_single && found[0].is_whole;
    let is_calculated = !is_single || found[0].rows.len() > 1;
    let value = evaluate(&parts);
    let mut text = match found.as_slice() {
        [Term { text: Some(text), .. }] if is_single && !is_percent => text.clone(),
        _ => {
            let value = value.ok_or(ReferenceError::Undefined)?;
            if is_percent { format!("{}%", round(value * 100.0, 1)) } else { round(value, 2) }
        }
    };
    // A text has no value.
    if value.is_some() {
        text = text.replace('.', decimal.encode_utf8(&mut [0; 4]));
    }
    Ok(Filled { text, rows, columns, is_whole, is_calculated })
}

/// Renders a number with at most `decimals` decimals.
fn round(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.to_owned() }
}

/// The cells of a factor.
struct Term {
    rows: Rows,
    columns: BTreeSet<(usize, usize)>,
    is_whole: bool,
    /// Its text, if it is one cell.
    text: Option<String>,
}

struct Reader<'a> {
    rest: &'a str,
    query: &'a str,
    sources: &'a [Source<'a>],
    found: Vec<Term>,
}

impl<'a> Reader<'a> {
    fn syntax(&self) -> ReferenceError {
        ReferenceError::Syntax(self.rest.trim().to_owned())
    }

    fn take(&mut self, sign: char) -> bool {
        let rest = self.rest.trim_start();
        let is_next = rest.starts_with(sign);
        self.rest = if is_next { &rest[sign.len_utf8()..] } else { rest };
        is_next
    }

    /// Parses the reference into an expression of numbers.
    fn read_parts(&mut self) -> Result<Vec<Part>, ReferenceError> {
        let mut parts = Vec::new();
        loop {
            while self.take('(') {
                parts.push(Part::Sign('('));
            }
            parts.push(Part::Number(self.read_factor()?));
            while self.take(')') {
                parts.push(Part::Sign(')'));
            }
            let rest = self.rest.trim_start();
            let Some(sign) = rest.chars().next() else { return Ok(parts) };
            let operator = find_operator(sign).ok_or_else(|| self.syntax())?;
            self.rest = &rest[sign.len_utf8()..];
            parts.push(Part::Sign(operator));
        }
    }

    fn read_factor(&mut self) -> Result<f64, ReferenceError> {
        let rest = self.rest.trim_start();
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        if let Ok(number) = rest[..digits].parse::<f64>() {
            self.rest = &rest[digits..];
            return Ok(number);
        }
        let name = self.read_name()?;
        if let Some(function) = Aggregation::find(&name)
            && self.take('(')
        {
            let value = self.read_cells(None, Some(function))?;
            return if self.take(')') { Ok(value) } else { Err(self.syntax()) };
        }
        self.read_cells(Some(name), None)
    }

    /// Parses a text in quotes, or up to the end of a word.
    fn read_text(&mut self, is_end: fn(char) -> bool) -> Result<&'a str, ReferenceError> {
        let rest = self.rest.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '`' | '\''));
        let (text, rest) = match quote {
            Some(quote) => rest[1..].split_once(quote).ok_or_else(|| self.syntax())?,
            None => rest.split_at(rest.find(is_end).unwrap_or(rest.len())),
        };
        self.rest = rest;
        Ok(text)
    }

    fn read_name(&mut self) -> Result<String, ReferenceError> {
        let name = self.read_text(|c| !c.is_alphanumeric() && c != '_')?;
        if name.is_empty() { Err(self.syntax()) } else { Ok(name.to_owned()) }
    }

    /// Computes the cells of a column as one number.
    fn read_cells(&mut self, name: Option<String>, function: Option<Aggregation>) -> Result<f64, ReferenceError> {
        let mut name = name.map_or_else(|| self.read_name(), Ok)?;
        let mut query = self.query.to_owned();
        let is_turn = name.starts_with('t') && name[1..].bytes().all(|byte| byte.is_ascii_digit());
        if is_turn && self.take('.') {
            name = format!("{name}.{}", self.read_name()?);
        }
        if self.sources.iter().any(|source| source.query.id == name) && self.take('.') {
            query = name;
            name = self.read_name()?;
        }
        let found = self.sources.iter().position(|source| source.query.id == query && source.query.error.is_none());
        let at = found.ok_or(ReferenceError::UnknownQuery(query))?;
        let source = &self.sources[at];
        let column = find_column(source, &name)?;
        let (rows, mut columns, wanted) = self.read_condition(source, column)?;
        columns.insert(column);
        let has_value = |row: &usize| source.query.rows[*row].get(column).is_some_and(|cell| !cell.is_null());
        let rows: Vec<usize> = rows.into_iter().filter(has_value).collect();
        let query = source.query.id.clone();
        if rows.is_empty() && function != Some(Aggregation::Count) {
            return Err(ReferenceError::NoRow { query, wanted });
        }
        if function.is_some() && source.query.has_more {
            return Err(ReferenceError::MoreRows { query });
        }
        let is_whole = function.is_some() && rows.len() == source.rows.len() && rows.len() > 1;
        let numbers: Option<Vec<f64>> = rows.iter().map(|row| source.rows[*row][column].number).collect();
        let cell = match (function, rows.as_slice()) {
            (None, [row]) => Some(write_cell(&source.query.rows[*row][column])),
            (None, several) => return Err(ReferenceError::SeveralRows { query, column: name, rows: several.len() }),
            _ => None,
        };
        let value = match (function, numbers) {
            (Some(Aggregation::Count), _) => rows.len() as f64,
            // A text can be inserted, but not used in a calculation.
            (None, None) => f64::NAN,
            (Some(_), None) => return Err(ReferenceError::NotANumber { query, column: name }),
            (function, Some(numbers)) => aggregate(function.unwrap_or(Aggregation::Sum), &numbers),
        };
        let (rows, columns) =
            (rows.iter().map(|row| (at, *row)).collect(), columns.iter().map(|of| (at, *of)).collect());
        self.found.push(Term { rows, columns, is_whole, text: cell });
        Ok(value)
    }

    /// Parses a condition. Returns the rows that it selects, the columns that it compares and its text; all rows without one.
    fn read_condition(
        &mut self,
        source: &Source<'_>,
        column: usize,
    ) -> Result<(BTreeSet<usize>, BTreeSet<usize>, String), ReferenceError> {
        let mut rows = source.all_rows();
        let mut columns = BTreeSet::new();
        let mut wanted = Vec::new();
        if self.take('[') {
            let Some(end) = self.rest.find(']') else { return Err(self.syntax()) };
            for value in self.rest[..end].split(',').map(|value| value.trim().trim_matches(['\'', '"', '`'])) {
                let value = Wanted::read(value, source);
                rows.retain(|row| (0..source.columns.len()).any(|at| at != column && value.is_cell(source, *row, at)));
                let is_compared = |at: &usize| *at != column && rows.iter().any(|row| value.is_cell(source, *row, *at));
                columns.extend((0..source.columns.len()).filter(is_compared));
                wanted.push(format!("`{}`", value.text));
            }
            self.rest = &self.rest[end + 1..];
        } else if let Some(rest) = strip_word(self.rest, "where") {
            self.rest = rest;
            loop {
                let name = self.read_name()?;
                let at = find_column(source, &name)?;
                if !self.take('=') {
                    return Err(self.syntax());
                }
                let value = Wanted::read(self.read_text(|c| matches!(c, ' ' | ')'))?, source);
                rows.retain(|row| value.is_cell(source, *row, at));
                columns.insert(at);
                wanted.push(format!("`{name}` = `{}`", value.text));
                let Some(rest) = strip_word(self.rest, "and") else { break };
                self.rest = rest;
            }
        }
        Ok((rows, columns, wanted.join(" and ")))
    }
}

/// Returns the text after a leading word.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let text = text.trim_start();
    let is_next = text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
    text.get(word.len()..).filter(|rest| is_next && rest.starts_with(' '))
}

/// A value that selects rows.
struct Wanted<'a> {
    text: &'a str,
    number: Option<f64>,
    periods: Vec<CitedPeriod>,
}

impl<'a> Wanted<'a> {
    fn read(text: &'a str, source: &Source<'_>) -> Self {
        let cells = source.rows.iter().flatten().filter_map(|cell| cell.days.as_ref());
        let years: BTreeSet<i32> = cells.filter_map(prospector_text::periods::Days::year).collect();
        let mut periods = find_cited(text, &years);
        periods.retain(|period| period.span == (0..text.len()));
        Wanted { text, number: text.parse().ok(), periods }
    }

    fn is_cell(&self, source: &Source<'_>, row: usize, column: usize) -> bool {
        let Some(cell) = source.rows[row].get(column) else { return false };
        if let Some(cell) = &cell.days {
            return self.periods.iter().flat_map(|period| &period.days).any(|days| days.matches(cell));
        }
        if let (Some(cell), Some(wanted)) = (cell.number, self.number) {
            return cell == wanted;
        }
        let Some(cell) = &cell.text else { return false };
        let code = |text: &str| country_of(text).map(|(code, _)| code);
        let is_country = source.columns[column].keys.contains(&Key::Country);
        cell.to_lowercase() == self.text.to_lowercase()
            || (is_country && code(cell).is_some() && code(cell) == code(self.text))
    }
}

fn find_column(source: &Source<'_>, name: &str) -> Result<usize, ReferenceError> {
    let columns = &source.query.columns;
    let same = columns.iter().position(|column| column == name);
    same.or_else(|| columns.iter().position(|column| column.to_lowercase() == name.to_lowercase())).ok_or_else(|| {
        let listed: Vec<String> = columns.iter().take(MAX_LISTED).map(|column| format!("`{column}`")).collect();
        let more = if columns.len() > MAX_LISTED { ", ..." } else { "" };
        let columns = format!("{}{more}", listed.join(", "));
        ReferenceError::UnknownColumn { column: name.to_owned(), query: source.query.id.clone(), columns }
    })
}

fn aggregate(function: Aggregation, numbers: &[f64]) -> f64 {
    let sum: f64 = numbers.iter().sum();
    match function {
        Aggregation::Sum => sum,
        Aggregation::Avg => sum / numbers.len() as f64,
        Aggregation::Min => numbers.iter().copied().fold(f64::INFINITY, f64::min),
        Aggregation::Max => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Aggregation::Count => numbers.len() as f64,
        Aggregation::CountDistinct => {
            numbers.iter().map(|number| number.to_bits()).collect::<BTreeSet<u64>>().len() as f64
        }
    }
}

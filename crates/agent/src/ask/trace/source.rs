//! The result of a query, prepared for lookup: typed cells and the roles of its columns.

use std::collections::{BTreeMap, BTreeSet};

use prospector_engine::query::{ComparedValue, Outline};
use prospector_text::codes::find_country;
use serde_json::Value;

use prospector_text::{
    numbers::write_number,
    periods::{Days, read_cell, read_year_part},
};

use super::numbers::{Values, Written};
use crate::answer::DataQuestion;

/// Maximum length of a text that identifies rows, in characters; longer ones are descriptions.
const MAX_KEY_CHARS: usize = 80;

/// The dimension of a column or a condition. Columns with a common key distinguish rows by the same dimension.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// A column's name, in lower case.
    Column(String),
    Country,
    Time,
}

#[derive(Debug, Default)]
pub(super) struct Cell {
    pub(super) number: Option<f64>,
    pub(super) text: Option<String>,
    pub(super) days: Option<Days>,
}

/// A column of a result.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) keys: BTreeSet<Key>,
    /// Whether its values are counts.
    pub(super) is_count: bool,
    /// Whether its values can be added up.
    pub(super) is_additive: bool,
    /// Whether its values are whole numbers that name rows: the query groups or joins by it.
    pub(super) is_key: bool,
}

/// A result, prepared for lookup.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) query: &'a DataQuestion,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
    pub(super) text: Outline,
    /// Whether the answer inserts its table, which ends with the number of rows if there are more.
    pub(super) is_shown: bool,
    /// The periods in its conditions.
    pub(super) scope: Vec<Days>,
    /// Whether the conditions select one period, or limit time on both sides.
    is_bounded: bool,
    /// The numbers in its SQL and its question.
    values: Values,
}

/// A value that identifies rows: of a cell, or of a condition, which applies to all rows.
#[derive(Debug)]
pub(super) struct Name<'a> {
    pub(super) text: &'a str,
    pub(super) rows: BTreeSet<usize>,
    pub(super) keys: BTreeSet<Key>,
    /// Whether only a condition contains it, and no cell.
    pub(super) is_condition: bool,
}

impl<'a> Source<'a> {
    pub(super) fn read(query: &'a DataQuestion) -> Self {
        let text = Outline::of(&query.sql);
        let mut rows: Vec<Vec<Cell>> =
            query.rows.iter().map(|row| row.iter().map(Cell::read).collect::<Vec<Cell>>()).collect();
        let is_aggregate = |column: &str| text.function_of(column).is_some_and(|name| matches!(name, "count" | "sum"));
        for (at, name) in query.columns.iter().enumerate() {
            let is_year =
                |cell: &Cell| cell.number.is_some_and(|year| year.fract() == 0.0 && (1900.0..=2100.0).contains(&year));
            let has_years = rows.iter().any(|row| row.get(at).is_some_and(is_year));
            let is_other = |cell: &Cell| !is_year(cell) && (cell.number.is_some() || cell.text.is_some());
            if !is_aggregate(name) && has_years && !rows.iter().any(|row| row.get(at).is_some_and(is_other)) {
                read_years(&mut rows, at, &query.columns);
            }
        }
        let columns = query.columns.iter().enumerate().map(|(at, name)| Column::read(name, at, &rows, &text)).collect();
        let mut values = Values::read(&format!("{}\n{}", query.sql, query.question));
        values.add(&text.numbers);
        let mut scope: Vec<Days> = text.compared.iter().filter_map(|literal| read_cell(&literal.text)).collect();
        scope.sort();
        scope.dedup();
        let equals_one = text.compared.iter().any(|literal| literal.is_equal && read_cell(&literal.text).is_some());
        let is_bounded = scope.len() > 1 || equals_one;
        Source { query, columns, rows, text, is_shown: false, scope, is_bounded, values }
    }

    /// Returns whether a column or a condition has one of these keys.
    pub(super) fn has_key(&self, keys: &BTreeSet<Key>) -> bool {
        self.columns.iter().any(|column| !column.keys.is_disjoint(keys))
            || self.text.compared.iter().any(|literal| {
                keys.contains(&Key::Column(literal.column.clone()))
                    || keys.contains(&Key::Country) && literal_country(literal).is_some()
            })
            || keys.contains(&Key::Time) && self.is_bounded
    }

    /// Returns the texts that identify its rows.
    pub(super) fn list_names(&self) -> Vec<Name<'_>> {
        let mut names: BTreeMap<(&str, usize), BTreeSet<usize>> = BTreeMap::new();
        for (row, cells) in self.rows.iter().enumerate() {
            for (at, cell) in cells.iter().enumerate() {
                let text = cell.text.as_deref().filter(|text| cell.days.is_none() && is_name(text));
                if let Some(text) = text {
                    names.entry((text, at)).or_default().insert(row);
                }
            }
        }
        let of_cells = names.into_iter().map(|((text, at), rows)| {
            let keys = self.columns.get(at).map(|column| column.keys.clone()).unwrap_or_default();
            Name { text, rows, keys, is_condition: false }
        });
        let of_conditions =
            self.text.compared.iter().filter(|literal| is_name(&literal.text) && read_cell(&literal.text).is_none());
        let all: BTreeSet<usize> = (0..self.rows.len()).collect();
        let of_conditions = of_conditions.map(|literal| {
            let country = literal_country(literal).map(|_| Key::Country);
            let keys = [Key::Column(literal.column.clone())].into_iter().chain(country).collect();
            Name { text: &literal.text, rows: all.clone(), keys, is_condition: true }
        });
        let mut found: Vec<Name<'_>> = of_cells.collect();
        let conditions: Vec<Name<'_>> = of_conditions
            .filter(|name| !found.iter().any(|known| known.text.eq_ignore_ascii_case(name.text)))
            .collect();
        found.extend(conditions);
        found
    }

    /// Returns the rows of a period; all rows if the conditions select it. `None` where neither has periods.
    pub(super) fn find_period(&self, days: &Days) -> Option<BTreeSet<usize>> {
        if !self.columns.iter().any(|column| column.keys.contains(&Key::Time)) {
            return self
                .is_bounded
                .then(|| if self.selects(days) { (0..self.rows.len()).collect() } else { BTreeSet::new() });
        }
        let matches = |cell: &Cell| cell.days.as_ref().is_some_and(|cell| days.matches(cell));
        let rows = self.rows.iter().enumerate().filter(|(_, row)| row.iter().any(matches));
        Some(rows.map(|(row, _)| row).collect())
    }

    /// Returns whether the conditions name this period, one that starts in it, or its year and its number in the year.
    pub(super) fn selects(&self, days: &Days) -> bool {
        let has_part = || days.part().is_some_and(|part| self.text.numbers.contains(&part));
        let is_year = |scope: &Days| scope.matches(days) && scope.part().is_none() && has_part();
        self.scope.iter().any(|scope| days.contains_start(scope) || is_year(scope))
    }

    /// Returns whether its SQL or its question contains the number.
    pub(super) fn says(&self, number: &Written) -> bool {
        self.values.has(number)
    }

    /// Returns the sum of an additive column over rows.
    pub(super) fn sum(&self, column: usize, rows: &BTreeSet<usize>) -> Option<f64> {
        let values: Vec<f64> = rows.iter().filter_map(|row| self.rows.get(*row)?.get(column)?.number).collect();
        (self.columns[column].is_additive && values.len() > 1).then(|| values.iter().sum())
    }

    /// Returns all rows of the time range that these rows span.
    pub(super) fn fill_range(&self, rows: &BTreeSet<usize>) -> BTreeSet<usize> {
        let days_of = |row: &usize| self.rows[*row].iter().filter_map(|cell| cell.days.as_ref());
        let from = rows.iter().flat_map(days_of).map(|days| &days.from).min();
        let to = rows.iter().flat_map(days_of).map(|days| &days.to).max();
        let (Some(from), Some(to)) = (from, to) else { return rows.clone() };
        let is_within = |row: &usize| days_of(row).any(|days| days.from >= *from && days.to <= *to);
        self.all_rows().into_iter().filter(is_within).collect()
    }

    pub(super) fn all_rows(&self) -> BTreeSet<usize> {
        (0..self.rows.len()).collect()
    }

    /// Returns whether a row has a number that is not a period.
    pub(super) fn has_number(&self, row: usize) -> bool {
        self.rows[row].iter().any(|cell| cell.number.is_some() && cell.days.is_none())
    }
}

impl Cell {
    fn read(value: &Value) -> Self {
        match value {
            Value::Number(number) => Cell { number: number.as_f64(), ..Cell::default() },
            Value::String(text) => {
                let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
                let days = if number.is_none() { read_cell(text) } else { None };
                Cell { number, days, text: number.is_none().then(|| text.trim().to_owned()) }
            }
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => Cell::default(),
        }
    }
}

impl Column {
    fn read(name: &str, at: usize, rows: &[Vec<Cell>], text: &Outline) -> Self {
        let cells: Vec<&Cell> = rows.iter().filter_map(|row| row.get(at)).collect();
        let mut keys = BTreeSet::from([Key::Column(name.to_lowercase())]);
        if cells.iter().any(|cell| cell.days.is_some()) {
            keys.insert(Key::Time);
        }
        let texts: Vec<&str> = cells.iter().filter_map(|cell| cell.text.as_deref()).collect();
        let countries = texts.iter().filter_map(|text| country_of(text));
        let (mut known, mut by_name) = (0, 0);
        for (_, is_name) in countries {
            known += 1;
            by_name += usize::from(is_name);
        }
        let is_code = known == texts.len() && name.to_lowercase().contains("country");
        if known > 0 && (is_code || by_name * 2 > texts.len()) {
            keys.insert(Key::Country);
        }
        let function = text.function_of(name);
        let is_whole = |cell: &Cell| cell.days.is_none() && cell.number.is_some_and(|number| number.fract() == 0.0);
        let filled: Vec<&&Cell> = cells.iter().filter(|cell| cell.number.is_some() || cell.text.is_some()).collect();
        let is_key = text.is_key(name) && !filled.is_empty() && filled.iter().all(|cell| is_whole(cell));
        let is_ratio = cells.iter().filter_map(|cell| cell.number).all(|number| number.abs() < 1.0);
        Column {
            is_count: function == Some("count"),
            is_additive: !matches!(function, Some("avg" | "min" | "max" | "median"))
                && !keys.contains(&Key::Time)
                && !is_ratio,
            is_key,
            keys,
        }
    }
}

/// Renders a cell as text; empty for NULL.
pub(in crate::ask) fn write_cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => number.as_f64().map(write_number).unwrap_or_default(),
        other => other.to_string(),
    }
}

/// Converts a column of years to periods; to quarters or months, where another column contains their number.
fn read_years(rows: &mut [Vec<Cell>], at: usize, columns: &[String]) {
    let part = columns.iter().enumerate().find_map(|(part, name)| {
        let name = name.to_lowercase();
        let parts = [("quarter", 4), ("month", 12)].into_iter().find(|(word, _)| name.contains(word))?.1;
        let fits = |cell: &Cell| {
            cell.number.is_some_and(|number| number.fract() == 0.0 && (1.0..=f64::from(parts)).contains(&number))
        };
        (part != at && rows.iter().all(|row| row.get(part).is_some_and(fits))).then_some((part, parts))
    });
    for row in rows {
        let Some(year) = row.get(at).and_then(|cell| cell.number) else { continue };
        // Years are between 1900 and 2100.
        let year = year as i32;
        let days = part.and_then(|(part, parts)| {
            let number = row[part].number?;
            (1..=parts).find(|n| f64::from(*n) == number).and_then(|number| read_year_part(year, number, parts))
        });
        row[at].days = days.or_else(|| read_cell(&year.to_string()));
    }
}

/// Returns the code of a country, and whether the text is its name.
pub(super) fn country_of(text: &str) -> Option<(String, bool)> {
    if let Some(code) = find_country(&text.to_lowercase()) {
        return Some((code.to_owned(), true));
    }
    let is_code = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase());
    is_code.then(|| (text.to_owned(), false))
}

/// Returns the code of the country that a condition selects, by name, or by code in a country column.
fn literal_country(literal: &ComparedValue) -> Option<String> {
    let (code, is_name) = country_of(&literal.text)?;
    (is_name || literal.column.contains("country")).then_some(code)
}

/// Returns whether a cell text can identify rows in a sentence.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= MAX_KEY_CHARS && text.contains(char::is_alphabetic)
}

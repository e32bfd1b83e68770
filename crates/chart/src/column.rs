//! Classifies the columns of a result by their use and their values.

use std::collections::BTreeSet;

use prospector_text::identifiers::{self, KEY_WORDS};
use serde_json::Value;

use crate::{
    chart::Axis,
    data::{Data, Use},
    number,
    time::{self, Grain, Span},
};

/// The role of a column in a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Role {
    /// Periods of one granularity.
    Time { grain: Grain, spans: Vec<Option<Span>> },
    /// Numbers that distinguish rows: keys, ratings, hours.
    Ordinal,
    /// Categories.
    Category,
    /// Comparable numbers.
    Measure(Vec<Option<f64>>),
    /// Sentences, or nested values.
    Prose,
    /// No values.
    Empty,
}

/// A column of a result.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// The index of the column in the result.
    pub(crate) place: usize,
    pub(crate) name: String,
    pub(crate) unit: Option<String>,
    /// Its use, if the caller knows it.
    pub(crate) usage: Option<Use>,
    pub(crate) role: Role,
    /// Number of distinct values.
    pub(crate) distinct: usize,
    /// The values as texts.
    pub(crate) texts: Vec<String>,
}

/// The years that numbers can denote.
const YEARS: std::ops::RangeInclusive<f64> = 1900.0..=2100.0;

/// Maximum average length of labels; longer texts are sentences.
const MAX_LABEL_CHARS: usize = 48;

/// Maximum length of the title of an axis.
const MAX_TITLE_CHARS: usize = 60;

impl Column {
    /// Classifies the column at an index.
    pub(crate) fn read(data: &Data<'_>, place: usize) -> Column {
        let name = data.columns[place].clone();
        let cells: Vec<&Value> = data.rows.iter().map(|row| row.get(place).unwrap_or(&Value::Null)).collect();
        let texts: Vec<String> = cells.iter().map(|cell| text_of(cell)).collect();
        let distinct = texts.iter().filter(|text| !text.is_empty()).collect::<BTreeSet<_>>().len();
        let unit = data.units.iter().find(|(of, _)| of.eq_ignore_ascii_case(&name)).map(|(_, unit)| unit.clone());
        let usage = data.uses.get(place).copied().flatten();
        let role = role_of(&name, usage, &cells, &texts);
        Column { place, name, unit, usage, role, distinct, texts }
    }

    /// Returns the values of a measure.
    pub(crate) fn numbers(&self) -> &[Option<f64>] {
        match &self.role {
            Role::Measure(numbers) => numbers,
            _ => &[],
        }
    }

    /// Returns whether its values can be added up; unknown ones cannot.
    pub(crate) fn is_sum(&self) -> bool {
        self.usage == Some(Use::Sum)
    }

    /// Returns whether its values are parts of a whole.
    pub(crate) fn are_parts(&self) -> bool {
        self.is_sum() && self.numbers().iter().flatten().all(|number| *number >= 0.0)
    }

    /// Returns whether all numbers are whole.
    pub(crate) fn is_whole(&self) -> bool {
        self.numbers().iter().flatten().all(|number| number.fract() == 0.0)
    }

    /// Returns whether the numbers never rise, and fall at least once.
    pub(crate) fn is_descending(&self) -> bool {
        let known: Vec<f64> = self.numbers().iter().flatten().copied().collect();
        known.len() > 2 && known.windows(2).all(|two| two[0] >= two[1]) && known.first() > known.last()
    }

    /// Returns whether the numbers always rise.
    pub(crate) fn is_ascending(&self) -> bool {
        self.numbers().windows(2).all(|two| matches!(two, [Some(one), Some(other)] if one < other))
    }

    /// Uses numbers as categories: as years, if they can be.
    pub(crate) fn make_dimension(&mut self) {
        let are_years = self.numbers().iter().flatten().all(|number| YEARS.contains(number));
        self.role = are_years.then(|| time_of(&self.texts)).flatten().unwrap_or(Role::Ordinal);
    }

    /// Returns its title and unit.
    pub(crate) fn axis(&self) -> Axis {
        let words: Vec<&str> = self.name.split(['_', ' ']).filter(|word| !word.is_empty()).collect();
        let title = if words.is_empty() { self.name.clone() } else { words.join(" ") };
        Axis { title: capital(&title.chars().take(MAX_TITLE_CHARS).collect::<String>()), unit: self.unit.clone() }
    }
}

/// Capitalises the first letter.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn text_of(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        other => other.to_string(),
    }
}

fn role_of(name: &str, usage: Option<Use>, cells: &[&Value], texts: &[String]) -> Role {
    let filled = texts.iter().filter(|text| !text.is_empty()).count();
    if filled == 0 {
        return Role::Empty;
    }
    if cells.iter().any(|cell| cell.is_array() || cell.is_object()) {
        return Role::Prose;
    }
    let numbers: Vec<Option<f64>> = cells.iter().map(|cell| number::read(cell)).collect();
    if numbers.iter().flatten().count() == filled {
        let is_measure = matches!(usage, Some(Use::Sum | Use::Measure));
        let are_whole = numbers.iter().flatten().all(|number| number.fract() == 0.0);
        let is_dimension = usage == Some(Use::Dimension) || !is_measure && is_key_name(name);
        // Sources return decimals as texts, but not with four digits and without a decimal point.
        let are_texts = !is_measure && cells.iter().all(|cell| cell.is_string() || cell.is_null());
        let are_years = numbers.iter().flatten().all(|number| YEARS.contains(number));
        if are_years
            && (is_dimension || are_texts)
            && let Some(time) = time_of(texts)
        {
            return time;
        }
        return if is_dimension && are_whole { Role::Ordinal } else { Role::Measure(numbers) };
    }
    let chars: usize = texts.iter().map(|text| text.chars().count()).sum();
    match time_of(texts) {
        Some(time) => time,
        None if chars / filled > MAX_LABEL_CHARS => Role::Prose,
        None => Role::Category,
    }
}

/// Returns whether a name is that of a key, for rows whose query is unknown.
fn is_key_name(name: &str) -> bool {
    let words = identifiers::words(name);
    let is_key = words.last().is_some_and(|last| KEY_WORDS.contains(&last.as_str()));
    is_key && (words.len() > 1 || words == KEY_WORDS[..1])
}

/// Returns the periods if all texts have one granularity.
fn time_of(texts: &[String]) -> Option<Role> {
    let mut spans = Vec::with_capacity(texts.len());
    for text in texts {
        spans.push(if text.is_empty() { None } else { Some(time::read(text)?) });
    }
    let mut known: Vec<Span> = spans.iter().flatten().copied().collect();
    let grain = time::settle(&mut known)?;
    let mut known = known.into_iter();
    for span in spans.iter_mut().filter(|span| span.is_some()) {
        *span = known.next();
    }
    Some(Role::Time { grain, spans })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(name: &str, usage: Option<Use>, values: Value, expected: &str) {
        let columns = [name.to_owned()];
        let rows: Vec<Vec<Value>> =
            values.as_array().unwrap_or(&Vec::new()).iter().map(|value| vec![value.clone()]).collect();
        let data = Data { columns: &columns, rows: &rows, uses: vec![usage], ..Data::default() };
        let role = format!("{:?}", Column::read(&data, 0).role);
        assert!(role.starts_with(expected), "{name}: {role}");
    }

    #[test]
    fn classifies_columns_by_values() {
        check("total", None, json!(["12.50", "3.10", null]), "Measure");
        check("postcode", None, json!(["01067", "80331"]), "Category");
        check("year", None, json!(["2023", "2024"]), "Time { grain: Year");
        check("orders", None, json!([2023, 2024]), "Measure");
        check("month", None, json!(["2025-01-01", "2025-02-01", "2025-03-01"]), "Time { grain: Month");
        check("at", None, json!(["2025-01-01T00:00:00Z", "2025-01-02T00:00:00Z"]), "Time { grain: Day");
        check("name", None, json!(["Mona", "Marcus", "Maya"]), "Category");
        let body = json!(["It is a text that goes on and on, and says more than a label of a bar could."]);
        check("body", None, body, "Prose");
        check("tags", None, json!([["a"], ["b"]]), "Prose");
        check("nothing", None, json!([null, null]), "Empty");
        check("customer_id", None, json!([1, 2, 3]), "Ordinal");
    }

    #[test]
    fn classifies_columns_by_use() {
        check("stars", Some(Use::Dimension), json!([1, 2, 3]), "Ordinal");
        check("founded", Some(Use::Dimension), json!([2023, 2024]), "Time { grain: Year");
        check("discount", Some(Use::Dimension), json!([0.1, 0.25]), "Measure");
        check("number", Some(Use::Sum), json!([1, 2, 3]), "Measure");
        check("refund_number", Some(Use::Measure), json!(["2023", "2024"]), "Measure");
    }
}

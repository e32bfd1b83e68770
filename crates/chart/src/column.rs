//! Classifies the columns of a result by name and values.

use std::collections::BTreeSet;

use prospector_text::{identifiers, periods::MONTHS, stem};
use serde_json::Value;

use crate::{
    chart::Axis,
    data::Data,
    number,
    time::{self, Grain, Span},
};

/// The role of a column in a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Role {
    /// Periods of one granularity.
    Time { grain: Grain, spans: Vec<Option<Span>> },
    /// Categories with a natural order: ratings, weekdays, ranges.
    Ordinal,
    /// Categories.
    Category,
    /// Comparable numbers.
    Measure(Vec<Option<f64>>),
    /// Row identifiers: keys, codes, telephone numbers.
    Identifier,
    /// A latitude or longitude.
    Place,
    /// Sentences.
    Prose,
    /// No values.
    Empty,
}

/// A column of a result.
#[derive(Debug, Clone)]
pub(crate) struct Column<'a> {
    /// The index of the column in the result.
    pub(crate) place: usize,
    pub(crate) name: &'a str,
    pub(crate) words: Vec<String>,
    pub(crate) unit: Option<String>,
    pub(crate) role: Role,
    /// Number of distinct values.
    pub(crate) distinct: usize,
    /// The values as texts.
    pub(crate) texts: Vec<String>,
}

/// Last words of names that are not measures, regardless of the values.
const IDENTIFIERS: &[&str] = &[
    "id", "ids", "key", "code", "cd", "no", "nr", "number", "zip", "postcode", "phone", "mobile", "fax", "iban", "sku",
    "isbn", "ean", "uuid", "guid", "ip", "version",
];
const PLACES: &[&str] = &["latitude", "lat", "longitude", "lon", "lng"];

/// Words in names of columns whose whole numbers are ordered categories.
const ORDINALS: &[&str] = &[
    "rating", "stars", "hour", "month", "day", "week", "weekday", "quarter", "age", "level", "grade", "size", "decade",
    "rank", "position", "priority", "step", "stage", "bucket", "bin", "cohort", "tenure", "dow",
];

/// Words in names of measures that are not additive.
#[rustfmt::skip]
const NO_SUM: &[&str] = &[
    "average", "avg", "mean", "median", "min", "max", "minimum", "maximum", "lowest", "highest", "rate", "ratio",
    "share", "percent", "pct", "percentage", "price", "per", "score", "rating", "index", "temperature", "margin",
    "level", "height", "weight", "length", "age", "salary", "latency", "growth", "p50", "p90", "p95", "p99",
    "stddev", "variance", "balance", "close", "density", "fee", "youngest", "oldest", "newest", "earliest",
    "longest", "shortest", "largest", "smallest", "biggest", "tallest", "heaviest", "cheapest", "fastest",
    "slowest", "best", "worst",
];

/// Words for quantities that share an axis only with the same quantity.
const QUANTITIES: &[(&str, &[&str])] = &[
    ("age", &["age", "ages", "youngest", "oldest", "tenure", "seniority"]),
    ("length", &["length", "height", "width", "depth", "distance", "altitude", "elevation", "tallest"]),
    ("weight", &["weight", "mass", "heaviest"]),
    ("temperature", &["temperature", "temp"]),
    ("mark", &["rating", "ratings", "score", "grade", "stars"]),
    ("duration", &["duration", "latency", "delay", "runtime"]),
    ("share", &["share", "rate", "ratio", "percentage"]),
];

/// Units, by the last word of a name.
const UNITS: &[(&str, &str)] = &[
    ("usd", "USD"),
    ("eur", "EUR"),
    ("gbp", "GBP"),
    ("chf", "CHF"),
    ("jpy", "JPY"),
    ("brl", "BRL"),
    ("pct", "%"),
    ("percent", "%"),
    ("percentage", "%"),
    ("ms", "ms"),
    ("seconds", "s"),
    ("minutes", "min"),
    ("hours", "h"),
    ("days", "days"),
    ("kwh", "kWh"),
    ("mwh", "MWh"),
    ("kg", "kg"),
    ("km", "km"),
    ("cm", "cm"),
    ("mm", "mm"),
    ("mb", "MB"),
    ("gb", "GB"),
    ("mt", "Mt"),
    ("celsius", "°C"),
];

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Number of days in a year.
const MAX_ORDINAL: f64 = 366.0;

/// Maximum average length of labels; longer texts are sentences.
const MAX_LABEL_CHARS: usize = 48;

impl<'a> Column<'a> {
    /// Classifies the column at an index.
    pub(crate) fn read(data: &Data<'a>, place: usize) -> Column<'a> {
        let name = data.columns[place].as_str();
        let words = identifiers::words(name);
        let cells: Vec<&Value> = data.rows.iter().map(|row| row.get(place).unwrap_or(&Value::Null)).collect();
        let texts: Vec<String> = cells.iter().map(|cell| text_of(cell)).collect();
        let distinct = texts.iter().filter(|text| !text.is_empty()).collect::<BTreeSet<_>>().len();
        let given = data.units.iter().find(|(of, _)| of.eq_ignore_ascii_case(name)).map(|(_, unit)| unit.clone());
        let unit = given.or_else(|| unit_of(&words));
        let role = role_of(&words, &cells, &texts, distinct);
        Column { place, name, words, unit, role, distinct, texts }
    }

    /// Returns the values of a measure.
    pub(crate) fn numbers(&self) -> &[Option<f64>] {
        match &self.role {
            Role::Measure(numbers) => numbers,
            _ => &[],
        }
    }

    /// Returns whether its values are additive: amounts and counts are, averages and rates are not.
    pub(crate) fn is_additive(&self) -> bool {
        self.unit.as_deref() != Some("%") && !self.words.iter().any(|word| NO_SUM.contains(&word.as_str()))
    }

    /// Returns its quantity, if its name indicates one other than counts and amounts.
    pub(crate) fn quantity(&self) -> Option<&'static str> {
        let is_named = |words: &[&str]| self.words.iter().any(|word| words.contains(&word.as_str()));
        QUANTITIES.iter().find(|(_, words)| is_named(words)).map(|(quantity, _)| *quantity)
    }

    /// Returns its title and unit.
    pub(crate) fn axis(&self) -> Axis {
        let mut words: Vec<&str> = self.name.split(['_', ' ']).filter(|word| !word.is_empty()).collect();
        let is_unit = |word: &&str| UNITS.iter().any(|(known, _)| word.eq_ignore_ascii_case(known));
        if words.len() > 1 && self.unit.is_some() && words.last().is_some_and(is_unit) {
            words.pop();
        }
        if words.is_empty() {
            words.push(self.name);
        }
        // `countries_name` is a country, identified by name.
        if words.len() > 1 && words.last() == Some(&"name") && !["first", "last", "full"].contains(&words[0]) {
            words.pop();
        }
        let title: String = words.join(" ").chars().take(60).collect();
        Axis { title: capital(&title), unit: self.unit.clone() }
    }

    /// Returns whether its name does not say what is measured.
    pub(crate) fn is_nameless(&self) -> bool {
        const NOTHING: &[&str] =
            &["result", "value", "count", "cnt", "n", "num", "sum", "total", "avg", "average", "expr", "column"];
        self.words.iter().all(|word| NOTHING.contains(&word.as_str()) || word.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// Returns whether a text mentions it, by a distinctive word of its name, or else by its unit.
    pub(crate) fn is_named_in(&self, text: &str) -> bool {
        let stems: BTreeSet<String> = identifiers::words(text).iter().map(|word| stem::snowball(word)).collect();
        let words = || self.words.iter().filter(|word| word.len() > 2);
        let is_unit = |word: &&String| UNITS.iter().any(|(unit, _)| unit == word);
        let is_unit_alone = words().all(|word| is_unit(&word));
        words().filter(|word| is_unit_alone || !is_unit(word)).any(|word| stems.contains(&stem::snowball(word)))
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

fn unit_of(words: &[String]) -> Option<String> {
    let last = words.last()?;
    UNITS.iter().find(|(word, _)| word == last).map(|(_, unit)| (*unit).to_owned())
}

fn role_of(words: &[String], cells: &[&Value], texts: &[String], distinct: usize) -> Role {
    if distinct == 0 {
        return Role::Empty;
    }
    let ends_with = |list: &[&str]| words.last().is_some_and(|word| list.contains(&word.as_str()));
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let has_nested = cells.iter().any(|cell| cell.is_array() || cell.is_object());
    if has_nested {
        return Role::Prose;
    }
    let numbers: Vec<Option<f64>> = cells.iter().map(|cell| number::read(cell)).collect();
    let filled = texts.iter().filter(|text| !text.is_empty()).count();
    let is_numeric = numbers.iter().flatten().count() == filled;
    if is_numeric && has(PLACES) {
        return Role::Place;
    }
    if let Some(time) = time_of(words, texts, is_numeric) {
        return time;
    }
    if is_numeric {
        let all_whole = numbers.iter().flatten().all(|number| number.fract() == 0.0);
        if all_whole && ends_with(IDENTIFIERS) || has(&["phone", "zip", "postcode", "iban"]) {
            return Role::Identifier;
        }
        // Hours, weeks and ratings are small; monthly revenue is not.
        let are_small = numbers.iter().flatten().all(|number| (0.0..=MAX_ORDINAL).contains(number));
        let is_computed = has(&["avg", "average", "mean", "total", "sum", "count"]);
        if all_whole && are_small && has(ORDINALS) && !is_computed && distinct <= 60 {
            return Role::Ordinal;
        }
        return Role::Measure(numbers);
    }
    let chars: usize = texts.iter().map(|text| text.chars().count()).sum();
    if chars / filled > MAX_LABEL_CHARS {
        return Role::Prose;
    }
    if is_ordered(texts) { Role::Ordinal } else { Role::Category }
}

/// Returns whether the texts are weekdays, months, quarters or numeric ranges.
fn is_ordered(texts: &[String]) -> bool {
    let filled = || texts.iter().filter(|text| !text.is_empty());
    filled().all(|text| order_of(text).is_some())
}

/// Returns the position of a text in its natural order.
pub(crate) fn order_of(text: &str) -> Option<f64> {
    let lower = text.to_lowercase();
    let begin = lower.get(..3).unwrap_or_default();
    if lower.bytes().all(|byte| byte.is_ascii_alphabetic()) && lower.len() <= 9 {
        let of = |names: &[&str]| {
            let at = names.iter().position(|name| name.starts_with(begin) && begin.len() == 3)?;
            (lower.len() == 3 || names[at].starts_with(&lower)).then_some(at as f64)
        };
        return of(&WEEKDAYS).or_else(|| of(&MONTHS));
    }
    if let Some(quarter) =
        lower.strip_prefix('q').filter(|rest| rest.len() == 1).and_then(|rest| rest.parse::<u8>().ok())
    {
        return (1..=4).contains(&quarter).then_some(f64::from(quarter));
    }
    // 18-24, 65+, < 10, 10 to 20
    let has_range = ["-", "–", "+", "<", ">", " to "].iter().any(|mark| lower.contains(mark));
    let digits: String =
        lower.chars().skip_while(|letter| !letter.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    let rest = lower.trim_matches(|letter: char| letter.is_ascii_digit() || " -–+<>=to".contains(letter));
    if has_range && rest.is_empty() {
        let below = if lower.starts_with('<') { -0.5 } else { 0.0 };
        return digits.parse::<f64>().ok().filter(|number| *number < 1e6).map(|number| number + below);
    }
    None
}

/// Returns the periods if all texts have one granularity.
fn time_of(words: &[String], texts: &[String], is_numeric: bool) -> Option<Role> {
    let is_year = words.iter().any(|word| ["year", "yr", "years"].contains(&word.as_str()));
    if is_numeric && !is_year {
        return None;
    }
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

    fn check(name: &str, values: Value, expected: &str) {
        let columns = [name.to_owned()];
        let rows: Vec<Vec<Value>> =
            values.as_array().unwrap_or(&Vec::new()).iter().map(|value| vec![value.clone()]).collect();
        let data = Data { columns: &columns, rows: &rows, ..Data::default() };
        let role = format!("{:?}", Column::read(&data, 0).role);
        assert!(role.starts_with(expected), "{name}: {role}");
    }

    #[test]
    fn classifies_columns_by_name_and_values() {
        check("total", json!(["12.50", "3.10", null]), "Measure");
        check("customer_id", json!([1, 2, 3]), "Identifier");
        check("phone", json!([351912345678i64, 351932345678i64]), "Identifier");
        check("rating", json!([1, 2, 3]), "Ordinal");
        check("revenue_this_month", json!([117_200]), "Measure");
        check("avg_rating", json!([1.5, 2.25]), "Measure");
        check("year", json!([2023, 2024]), "Time { grain: Year");
        check("orders", json!([2023, 2024]), "Measure");
        check("month", json!(["2025-01-01", "2025-02-01", "2025-03-01"]), "Time { grain: Month");
        check("at", json!(["2025-01-01T00:00:00Z", "2025-01-02T00:00:00Z"]), "Time { grain: Day");
        check("weekday", json!(["Monday", "Tue"]), "Ordinal");
        check("age_group", json!(["<18", "18-24", "65+"]), "Ordinal");
        check("name", json!(["Mona", "Marcus", "Maya"]), "Category");
        check("body", json!(["It is a text that goes on and on, and says more than a label of a bar could."]), "Prose");
        check("tags", json!([["a"], ["b"]]), "Prose");
        check("nothing", json!([null, null]), "Empty");
        check("lat", json!([52.5, 48.1]), "Place");
    }
}

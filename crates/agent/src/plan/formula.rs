//! The names and the functions in an expression, for those who check whether they exist: `sum(db.t.a - db.t.b) / 2` names two
//! columns. The engine reads expressions in earnest, when a step is run.

use std::{iter::Peekable, str::CharIndices};

use prospector_connect::query::{Aggregation, DatePart, Measure};
use prospector_core::name::nearest;

use super::{Failure, Step};

/// The functions over values that the engine computes in an expression, beside those over rows.
const OVER_VALUES: [&str; 3] = ["abs", "round", "coalesce"];

/// What a condition may make of a column, beside a part of its date.
const OF_COLUMNS: [&str; 2] = ["lower", "upper"];

/// Periods of metrics that are no parts of dates.
const PERIODS: [&str; 3] = ["week", "fiscal_quarter", "fiscal_year"];

/// What stands in an expression.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Formula {
    /// The names, in order, without their quotes.
    pub(super) names: Vec<String>,
    /// The functions, in small letters.
    pub(super) functions: Vec<String>,
}

impl Formula {
    pub(super) fn read(text: &str) -> Formula {
        let mut formula = Formula::default();
        let mut rest = text.char_indices().peekable();
        while let Some((_, c)) = rest.peek().copied() {
            if c == '\'' {
                rest.next();
                while rest.next().is_some_and(|(_, c)| c != '\'') {}
            } else if c.is_ascii_digit() {
                while rest.next_if(|(_, c)| c.is_alphanumeric() || *c == '.').is_some() {}
            } else if is_first(c) {
                let name = read_name(&mut rest);
                while rest.next_if(|(_, c)| c.is_whitespace()).is_some() {}
                let is_call = rest.peek().is_some_and(|(_, c)| *c == '(');
                match is_call {
                    true => formula.functions.push(name.to_lowercase()),
                    false if name.eq_ignore_ascii_case("distinct") => {}
                    false => formula.names.push(name),
                }
            } else {
                rest.next();
            }
        }
        formula
    }

    /// Whether a mean is taken: as such, or as what is divided.
    pub(super) fn is_mean(text: &str) -> bool {
        let is_avg = |name: &String| Aggregation::find(name) == Some(Aggregation::Avg);
        text.contains('/') || Formula::read(text).functions.iter().any(is_avg)
    }
}

fn is_first(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '"' | '`')
}

/// A name of one part or several, each perhaps in quotes.
fn read_name(rest: &mut Peekable<CharIndices<'_>>) -> String {
    let mut name = String::new();
    loop {
        match rest.next_if(|(_, c)| matches!(*c, '"' | '`')) {
            Some((_, quote)) => {
                while let Some((_, c)) = rest.next().filter(|(_, c)| *c != quote) {
                    name.push(c);
                }
            }
            None => {
                while let Some((_, c)) = rest.next_if(|(_, c)| c.is_alphanumeric() || matches!(*c, '_' | '$')) {
                    name.push(c);
                }
            }
        }
        match rest.next_if(|(_, c)| *c == '.') {
            Some((_, dot)) => name.push(dot),
            None => return name,
        }
    }
}

/// The names in the expressions of a step that say which table or output they are of.
pub(super) fn list_named(step: &Step) -> Vec<String> {
    let expressions = step.compute.iter().filter_map(|measure| measure.expression.as_deref());
    let names = expressions.flat_map(|text| Formula::read(text).names);
    names.filter(|name| name.contains('.')).collect()
}

/// The names in what conditions compare that is computed of groups.
pub(super) fn list_compared(step: &Step) -> Vec<String> {
    let computed = step.conditions().filter(|filter| Measure::read_aggregate(&filter.column).is_some());
    computed.flat_map(|filter| Formula::read(&filter.column).names).collect()
}

/// The functions of a step that nothing computes, each at its place.
pub(super) fn list_failures(place: &str, step: &Step) -> Vec<Failure> {
    let of_rows = Aggregation::ALL.map(Aggregation::as_str);
    let of_dates = DatePart::ALL.map(DatePart::as_str);
    let over_values =
        |text: &str| Formula::read(text).functions.into_iter().filter(|name| Aggregation::find(name).is_none());
    let expressions = step.compute.iter().filter_map(|measure| measure.expression.as_deref());
    let computed: Vec<String> = expressions.flat_map(over_values).collect();
    let mut failures = list_unknown(&format!("{place}.compute"), &computed, &[&of_rows, &OVER_VALUES]);
    // What an operation is called with is its own matter.
    if step.operations.is_empty() {
        let call = |name: &str| {
            let function = name.split_once('(')?.0;
            let is_word = !function.is_empty() && function.chars().all(|c| c.is_alphanumeric() || c == '_');
            is_word.then(|| function.to_lowercase())
        };
        let (of_groups, of_rows_alone): (Vec<&str>, Vec<&str>) = (step.conditions())
            .map(|filter| filter.column.as_str())
            .partition(|name| Measure::read_aggregate(name).is_some());
        let compared: Vec<String> = of_groups.into_iter().flat_map(over_values).collect();
        failures.extend(list_unknown(&format!("{place}.filter"), &compared, &[&of_rows, &OVER_VALUES]));
        let filters: Vec<String> = of_rows_alone.into_iter().filter_map(call).collect();
        let groups: Vec<String> = step.group_by.iter().filter_map(|group| call(&group.column)).collect();
        let periods: &[&str] = if step.metrics.is_empty() { &[] } else { &PERIODS };
        let of_filters: [&[&str]; 4] = [&of_dates, &of_rows, &OF_COLUMNS, periods];
        failures.extend(list_unknown(&format!("{place}.filter"), &filters, &of_filters));
        failures.extend(list_unknown(&format!("{place}.group_by"), &groups, &[&of_dates, periods]));
    }
    failures
}

/// Whether an expression may call a function of this name.
pub(super) fn is_function(name: &str) -> bool {
    Aggregation::find(name).is_some() || OVER_VALUES.contains(&name)
}

fn list_unknown(place: &str, functions: &[String], known: &[&[&str]]) -> Vec<Failure> {
    let known: Vec<&str> = known.iter().flat_map(|names| names.iter().copied()).collect();
    let unknown = functions.iter().filter(|name| !known.contains(&name.as_str()));
    let failures = unknown.map(|name| {
        let is_part = DatePart::ALL.iter().any(|part| part.as_str() == name);
        let reason = match is_part {
            true => format!(
                "a part of a date is what a step groups by: group by `{name}(..)` in a step of its own, and compute of its rows"
            ),
            false => format!("there is no such function here: there are {}", known.join(", ")),
        };
        let nearest = if is_part { Vec::new() } else { nearest(name, known.iter().copied(), 2) };
        Failure { place: place.to_owned(), name: name.clone(), reason, nearest }
    });
    failures.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(text: &str, names: &[&str], functions: &[&str]) {
        let read = Formula::read(text);
        assert_eq!((read.names, read.functions), (owned(names), owned(functions)), "{text}");
    }

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn names_and_functions_are_told_apart() {
        check("avg(a.b.c * 1.05)", &["a.b.c"], &["avg"]);
        check(
            "100 * SUM(a.b.c - a.b.\"d e\") / count (distinct `a`.b)",
            &["a.b.c", "a.b.d e", "a.b"],
            &["sum", "count"],
        );
        check("revenue / orders", &["revenue", "orders"], &[]);
        check("1e3 * julianday('a.b')", &[], &["julianday"]);
        check("", &[], &[]);
        check("\"open", &["open"], &[]);
    }

    #[test]
    fn a_function_that_nothing_computes_is_told() {
        let step = |compute: &str, group: &str| {
            let step = json!({"goal": "g", "compute": [compute], "group_by": [{"column": group}]});
            let failures = list_failures("s", &serde_json::from_value(step).unwrap());
            failures.iter().map(|failure| format!("{} {}", failure.place, failure.name)).collect::<Vec<_>>()
        };
        assert_eq!(step("round(mean(a.b.c) / count(*), 2)", "month(a.b.d)"), Vec::<String>::new());
        assert_eq!(step("avg(julianday(a.b.c) - 1)", "era(a.b.d)"), ["s.compute julianday", "s.group_by era"]);
        assert_eq!(step("count(distinct quarter(a.b.c))", "month(a.b.d)"), ["s.compute quarter"]);
    }
}

//! Days and times that are compared as texts, or by the day alone.

use prospector_connect::table::ColumnType;
use serde_json::Value;
use sqlparser::ast::Expr;

use super::select::{Comparison, Operator, Part};
use super::similarity::{number, quote};
use super::{Case, QueryWarning, WarningCode};

/// Functions that parse a text as a date, and return null if it is not one.
const READERS: [&str; 6] = ["date", "datetime", "julianday", "strftime", "time", "unixepoch"];

/// The format of a text that is a day or a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `2024-01-31`
    Day,
    /// `2024-01-31 10:00`, with the separator of both.
    Time(char),
    /// `31.01.2024`, `1/31/2024`, `31 Jan 2024`, `Jan 31, 2024`
    Other,
    /// A number of seconds, or `20240131`.
    Number,
}

pub(super) fn form(text: &str) -> Option<Form> {
    let text = text.trim();
    let shape: String = text.chars().take(10).map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    if shape == "0000-00-00" {
        return Some(match text.chars().nth(10) {
            None => Form::Day,
            Some(sign) => Form::Time(sign),
        });
    }
    if text.len() >= 8 && number(text).is_some() {
        return Some(Form::Number);
    }
    let parts: Vec<&str> = text.split(['/', '.', '-', ' ', ',', ':']).filter(|part| !part.is_empty()).collect();
    let is_number = |part: &&str| part.len() <= 4 && part.chars().all(|c| c.is_ascii_digit());
    let has_digits = parts.iter().filter(|part| is_number(part)).count() >= 2;
    (parts.len() >= 3 && has_digits && text.len() <= 40).then_some(Form::Other)
}

pub(super) async fn examine(case: &mut Case<'_>) {
    let parts = case.parts;
    for part in parts {
        for comparison in &part.comparisons {
            let warning = compare(case, part, comparison).await;
            case.report_about(warning, &comparison.whole);
        }
        for call in part.calls.iter().filter(|call| READERS.contains(&call.name.as_str())) {
            let warning = read(case, part, &call.name, &call.argument).await;
            case.report_about(warning, &call.written);
        }
        for sort in &part.sorts {
            let warning = order(case, part, sort, "ORDER BY").await;
            case.report(warning);
        }
        for call in &part.aggregates {
            if let Some(argument) = call.argument.as_ref().filter(|_| matches!(call.name.as_str(), "max" | "min")) {
                let warning = order(case, part, argument, &call.written).await;
                case.report_about(warning, &call.written);
            }
        }
    }
}

/// Tests a comparison of a day with values in another format, or with a time.
async fn compare(case: &Case<'_>, part: &Part<'_>, comparison: &Comparison) -> Option<QueryWarning> {
    if case.constant.contains(&comparison.whole) {
        return None;
    }
    let last = comparison.literals.last()?;
    let wanted = form(&last.value).filter(|form| last.is_text && *form != Form::Number)?;
    let (table, column) = part.column(&comparison.subject)?;
    let is_tested = match comparison.operator {
        Operator::Order | Operator::UpTo => true,
        Operator::Equal => case.is_empty,
        Operator::Unequal | Operator::Like | Operator::Unlike => false,
    };
    if !is_tested {
        return None;
    }
    let (written, label) = (&part.tables[table].written, part.label(&comparison.subject));
    let subject = comparison.subject.to_string();
    let sample = case.probe.sample(&part.tables[table], &comparison.subject, "1").await?;
    if column.column_type.is_numeric() {
        let (value, _) = sample.first()?;
        let message =
            format!("{label} contains numbers such as {value}, which are not dates like {}", quote(&last.value));
        return Some(QueryWarning::new(WarningCode::TextComparison, message));
    }
    let first = sample.iter().map(|(value, _)| value).find(|value| {
        let is_similar = |there: Form| match (wanted, there) {
            (Form::Day | Form::Time(_), Form::Day | Form::Time(_)) => true,
            (a, b) => a == b,
        };
        form(value).is_some_and(|form| !is_similar(form))
    });
    if let Some(other) = first {
        let message = format!(
            "{label} contains days as {}, which `{}` compares with {} character by character",
            quote(other),
            comparison.whole,
            quote(&last.value)
        );
        return Some(QueryWarning::new(WarningCode::TextComparison, message));
    }
    if wanted != Form::Day || comparison.operator != Operator::UpTo {
        return None;
    }
    let sign = sample.iter().find_map(|(value, _)| match form(value) {
        Some(Form::Time(sign)) if !is_midnight(value) => Some(sign),
        _ => None,
    })?;
    let end = format!("{}{sign}23:59:59.999", last.value);
    let condition = format!("{subject} > {} AND {subject} <= '{end}'", last.written);
    let lost = case.probe.count(written, Some(&condition)).await?;
    let message = format!(
        "{label} contains times too: `{}` ends at the first moment of {} and drops {lost} of its rows",
        comparison.whole,
        quote(&last.value)
    );
    (lost > 0).then(|| QueryWarning::new(WarningCode::PartialDay, message).suggest("compare with < the next day"))
}

/// Tests the first or last of days that are sorted as texts.
async fn order(case: &Case<'_>, part: &Part<'_>, expr: &Expr, act: &str) -> Option<QueryWarning> {
    let (table, column) = part.column(expr)?;
    if !matches!(column.column_type, ColumnType::Text | ColumnType::DateText | ColumnType::Other) {
        return None;
    }
    let sample = case.probe.sample(&part.tables[table], expr, "1").await?;
    let others = sample.iter().filter(|(value, _)| form(value) == Some(Form::Other)).count();
    let (value, _) = sample.first().filter(|_| others == sample.len() && others > 1)?;
    let label = part.label(expr);
    let message = format!("{label} contains days as {}, and `{act}` sorts them character by character", quote(value));
    Some(QueryWarning::new(WarningCode::TextOrder, message))
}

fn is_midnight(value: &str) -> bool {
    value.chars().skip(11).all(|c| !c.is_ascii_digit() || c == '0')
}

/// Tests a function that parses days over texts that it cannot parse.
async fn read(case: &Case<'_>, part: &Part<'_>, name: &str, argument: &Expr) -> Option<QueryWarning> {
    let (table, column) = part.column(argument)?;
    if column.column_type.is_numeric() {
        return None;
    }
    let call = match name {
        "strftime" => format!("strftime('%Y', {argument})"),
        _ => format!("{name}({argument})"),
    };
    let sample = case.probe.sample(&part.tables[table], argument, &call).await?;
    let (value, _) = sample.iter().find(|(value, read)| *read == Value::Null && !value.trim().is_empty())?;
    let count = sample.iter().filter(|(_, read)| *read == Value::Null).count();
    let message = format!(
        "{name} cannot parse {} of {} as a date and returns null: {count} of {} rows",
        quote(value),
        part.label(argument),
        sample.len()
    );
    Some(QueryWarning::new(WarningCode::UnreadDate, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<Form>) {
        assert_eq!(form(text), expected, "{text}");
    }

    #[test]
    fn recognises_date_formats() {
        check("2024-01-31", Some(Form::Day));
        check("2024-01-31 10:00:00", Some(Form::Time(' ')));
        check("2024-01-31T10:00", Some(Form::Time('T')));
        check("01/31/2024", Some(Form::Other));
        check("31.1.2024", Some(Form::Other));
        check("31 Jan 2024", Some(Form::Other));
        check("Jan 31, 2024", Some(Form::Other));
        check("20240131", Some(Form::Number));
        check("1705276800", Some(Form::Number));
        check("Oslo", None);
        check("12.5", None);
        check("2024", None);
    }
}

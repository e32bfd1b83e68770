//! Periods before or after all values of a column.

use sqlparser::ast::Expr;

use super::dates::{Form, form};
use super::select::{Bound, Comparison, Literal, Part};
use super::similarity::number;
use super::{Case, QueryWarning, WarningCode};

/// Functions that return a part of a date, or its period.
const PARTS: [&str; 10] =
    ["date_format", "date_part", "date_trunc", "day", "format_date", "month", "quarter", "strftime", "to_char", "year"];

/// Both ends of a period, as ISO dates.
struct Period<'a> {
    /// The comparison whose values must be in the period.
    subject: &'a Comparison,
    from: &'a str,
    to: &'a str,
    /// Whether the last moment is part of it.
    is_closed: bool,
}

pub(super) async fn examine(case: &mut Case<'_>) {
    let parts = case.parts;
    for part in parts {
        for period in find_periods(part) {
            if case.is_empty || !period.subject.is_required {
                let warning = compare(case, part, &period).await;
                case.report_about(warning, &period.subject.whole);
            }
        }
    }
}

/// Returns the periods of a SELECT: of `BETWEEN`, of two consecutive comparisons, and of those that every row must match.
fn find_periods<'a>(part: &'a Part<'_>) -> Vec<Period<'a>> {
    let all = &part.comparisons;
    let mut found: Vec<Period<'a>> = Vec::new();
    for (at, comparison) in all.iter().enumerate() {
        match (comparison.bound, comparison.literals.as_slice()) {
            (Bound::Both, [from, to]) if is_date(from) && is_date(to) => {
                found.push(Period { subject: comparison, from: &from.value, to: &to.value, is_closed: true });
            }
            (Bound::Lower, [from]) if is_date(from) => {
                let is_end = |other: &&Comparison| {
                    matches!(other.bound, Bound::Upper { .. })
                        && other.subject == comparison.subject
                        && other.literals.first().is_some_and(is_date)
                };
                let next = all.get(at + 1).filter(is_end);
                let previous = at.checked_sub(1).and_then(|before| all.get(before)).filter(is_end);
                let required = || all.iter().filter(|other| other.is_required).find(is_end);
                let end = next.or(previous).or_else(|| required().filter(|_| comparison.is_required));
                let Some((end, to)) = end.and_then(|end| Some((end, end.literals.first()?))) else { continue };
                let is_closed = end.bound == Bound::Upper { is_included: true };
                found.push(Period { subject: comparison, from: &from.value, to: &to.value, is_closed });
            }
            _ => {}
        }
    }
    found
}

/// Returns whether a literal is an ISO day or time.
fn is_date(literal: &Literal) -> bool {
    literal.is_text && matches!(form(&literal.value), Some(Form::Day | Form::Time(_)))
}

async fn compare(case: &Case<'_>, part: &Part<'_>, period: &Period<'_>) -> Option<QueryWarning> {
    let subject = &period.subject.subject;
    let (first, last) = case.probe.range(&part.tables[period.subject.table], subject).await?;
    let (first, last) = (first.as_str()?, last.as_str()?);
    let is_iso = |text: &str| matches!(form(text), Some(Form::Day | Form::Time(_)));
    if !is_iso(first) || !is_iso(last) {
        return None;
    }
    let plain = |text: &str| text.trim().replace('T', " ");
    let (from, to) = (plain(period.from), plain(period.to));
    let is_before = match period.is_closed {
        true => to < plain(first),
        false => to <= plain(first),
    };
    let day = |text: &str| text.trim().chars().take(10).collect::<String>();
    let message = format!(
        "no {} from {} to {}: the column contains {} to {}",
        part.label(subject),
        day(&from),
        day(&to),
        day(first),
        day(last)
    );
    (is_before || from > plain(last)).then(|| QueryWarning::new(WarningCode::OutsidePeriod, message))
}

/// Returns the first and last value of a part of a date, if the compared literal is outside of them.
pub(super) fn find_outside(comparison: &Comparison, literal: &Literal, values: &[String]) -> Option<(String, String)> {
    if !is_part_of_date(&comparison.subject) {
        return None;
    }
    let wanted = number(&literal.value)?;
    let numbers: Vec<(f64, &String)> =
        values.iter().map(|value| Some((number(value)?, value))).collect::<Option<_>>()?;
    let first = numbers.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let last = numbers.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    (wanted < first.0 || wanted > last.0).then(|| (first.1.clone(), last.1.clone()))
}

fn is_part_of_date(expr: &Expr) -> bool {
    match expr {
        Expr::Extract { .. } => true,
        Expr::Function(function) => PARTS.contains(&function.name.to_string().to_lowercase().as_str()),
        Expr::Cast { expr, .. } | Expr::Nested(expr) => is_part_of_date(expr),
        _ => false,
    }
}

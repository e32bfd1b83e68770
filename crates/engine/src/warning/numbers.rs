//! Numbers that are stored as texts and sorted, compared or summed as such, and quotients of integers.

use prospector_connect::table::ColumnType;
use serde_json::Value;
use sqlparser::ast::Expr;

use super::select::{Comparison, Operator, Part};
use super::similarity::{number, quote};
use super::{Case, QueryWarning, WarningCode};
use crate::Dialect;

/// The minimum percentage of numbers among the values of a column of numbers.
const MIN_NUMBERS: usize = 80;

pub(super) async fn examine(case: &mut Case<'_>) {
    let parts = case.parts;
    for part in parts {
        for comparison in &part.comparisons {
            let warning = compare(case, part, comparison).await;
            case.report_about(warning, &comparison.whole);
        }
        for sort in &part.sorts {
            let warning = order(case, part, sort, "ORDER BY").await;
            case.report(warning);
        }
        for call in &part.aggregates {
            let Some(argument) = &call.argument else { continue };
            let warning = match call.name.as_str() {
                "max" | "min" => order(case, part, argument, &call.written).await,
                "avg" | "sum" => add(case, part, argument, &[], &call.written).await,
                _ => None,
            };
            case.report_about(warning, &call.written);
        }
        for call in &part.calls {
            if call.name.strip_prefix("cast ").is_some_and(|to| ColumnType::from_sql(to).is_numeric()) {
                let warning = add(case, part, &call.argument, &call.guards, "CAST").await;
                case.report_about(warning, &call.written);
            }
        }
    }
}

/// Returns the table of a text column.
fn text_column(part: &Part<'_>, expr: &Expr) -> Option<usize> {
    let (table, column) = part.column(expr)?;
    matches!(column.column_type, ColumnType::Text | ColumnType::DateText | ColumnType::Other).then_some(table)
}

/// Returns whether most of the values are numbers.
fn are_numbers(values: &[&str]) -> bool {
    let numbers = values.iter().filter(|value| number(value).is_some()).count();
    values.len() >= 2 && numbers * 100 >= values.len() * MIN_NUMBERS
}

/// Tests for a comparison with another result than that of numbers.
async fn compare(case: &Case<'_>, part: &Part<'_>, comparison: &Comparison) -> Option<QueryWarning> {
    let is_order = matches!(comparison.operator, Operator::Order | Operator::UpTo);
    if !is_order || case.constant.contains(&comparison.whole) {
        return None;
    }
    let table = text_column(part, &comparison.subject)?;
    let bounds: Vec<f64> = comparison.literals.iter().map(|literal| number(&literal.value)).collect::<Option<_>>()?;
    let met = format!("CASE WHEN {} THEN 1 ELSE 0 END", comparison.whole);
    let sample = case.probe.sample(&part.tables[table], &comparison.subject, &met).await?;
    let values: Vec<&str> = sample.iter().map(|(value, _)| value.as_str()).collect();
    if !are_numbers(&values) {
        return None;
    }
    let by_number = |value: f64| match bounds.as_slice() {
        [low, high] => value >= *low && value <= *high,
        [bound] => {
            // The direction of the comparison shows for a much lower number.
            let is_from = comparison.whole.contains('>') != starts_with_literal(comparison);
            let is_equal = comparison.whole.contains('=') && value == *bound;
            is_equal || (if is_from { value > *bound } else { value < *bound })
        }
        _ => false,
    };
    let (wrong, met) = sample.iter().find_map(|(value, met)| {
        let is_met = met == &Value::from(1);
        number(value).filter(|number| by_number(*number) != is_met).map(|_| (value, is_met))
    })?;
    let verb = if met { "keeps" } else { "drops" };
    let message = format!(
        "{} stores numbers as text: `{}` {verb} {}",
        part.label(&comparison.subject),
        comparison.whole,
        quote(wrong)
    );
    let suggestion = format!("compare CAST({} AS ...) with a number", comparison.subject);
    Some(QueryWarning::new(WarningCode::TextComparison, message).suggest(suggestion))
}

fn starts_with_literal(comparison: &Comparison) -> bool {
    comparison.literals.first().is_some_and(|literal| comparison.whole.starts_with(&literal.written))
}

/// Tests for a first or last row that differs from that of numbers.
async fn order(case: &Case<'_>, part: &Part<'_>, expr: &Expr, act: &str) -> Option<QueryWarning> {
    let table = text_column(part, expr)?;
    let sample = case.probe.sample(&part.tables[table], expr, "1").await?;
    let values: Vec<&str> = sample.iter().map(|(value, _)| value.as_str()).collect();
    if !are_numbers(&values) {
        return None;
    }
    let numbers = values.iter().filter_map(|value| Some((number(value)?, *value)));
    let mut by_number: Vec<(f64, &str)> = numbers.collect();
    by_number.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut by_text = by_number.clone();
    by_text.sort_by_key(|(_, text)| *text);
    let ends = |sorted: &[(f64, &str)]| Some((sorted.first()?.0, sorted.last()?.0));
    if ends(&by_number) == ends(&by_text) {
        return None;
    }
    let (_, largest) = by_text.last()?;
    let message =
        format!("{} stores numbers as text, and `{act}` treats {} as the largest", part.label(expr), quote(largest));
    Some(QueryWarning::new(WarningCode::TextOrder, message).suggest(format!("use CAST({expr} AS ...)")))
}

/// Tests for texts among summed numbers, in the rows that match the guards.
async fn add(
    case: &Case<'_>,
    part: &Part<'_>,
    expr: &Expr,
    guards: &[(usize, String)],
    act: &str,
) -> Option<QueryWarning> {
    let table = text_column(part, expr)?;
    let own = guards.iter().filter(|(at, _)| *at == table).map(|(_, guard)| guard.as_str());
    let sample = case.probe.sample_if(&part.tables[table], expr, "1", own).await?;
    let is_other = |value: &&str| number(value).is_none();
    let values: Vec<&str> = sample.iter().map(|(value, _)| value.as_str()).collect();
    let other = values.iter().find(|value| is_other(value))?;
    let count = values.iter().filter(|value| is_other(value)).count();
    let effect = match case.dialect {
        Dialect::Joined => "returns NULL for them, or fails",
        Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Bigquery => "parses them as 0 or in part",
    };
    let message = format!(
        "{} contains texts that are not plain numbers, such as {} ({count} of {} rows): `{act}` {effect}",
        part.label(expr),
        quote(other),
        values.len()
    );
    Some(QueryWarning::new(WarningCode::TextArithmetic, message))
}

/// Returns whether an expression over these columns is an integer.
pub(super) fn is_whole(part: &Part<'_>, expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_whole(part, inner),
        Expr::Function(function) => {
            let name = function.name.to_string().to_lowercase();
            let argument = part.aggregates.iter().find(|call| call.written == function.to_string());
            name == "count"
                || name == "sum"
                    && argument.and_then(|call| call.argument.as_ref()).is_some_and(|of| is_whole(part, of))
        }
        Expr::BinaryOp { left, right, .. } => is_whole(part, left) && is_whole(part, right),
        Expr::Case { conditions, else_result, .. } => {
            conditions.iter().all(|branch| is_whole(part, &branch.result))
                && else_result.as_ref().is_none_or(|other| is_whole(part, other))
        }
        _ => match super::select::literal(expr) {
            Some(literal) => !literal.is_text && !literal.value.contains('.'),
            None => part.column(expr).is_some_and(|(_, column)| column.column_type == ColumnType::Integer),
        },
    }
}

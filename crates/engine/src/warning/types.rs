//! Comparisons of texts with numbers in SQLite, which orders every number before every text instead of converting one of them
//! (<https://www.sqlite.org/datatype3.html#comparison_expressions>).

use prospector_connect::{sql::Dialect, table::Column};
use sqlparser::ast::Expr;

use super::select::{Comparison, Literal, Operator, Part};
use super::similarity::{number, quote};
use super::{Case, QueryWarning, WarningCode};

/// The conversion that a comparison applies to the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Affinity {
    Text,
    Number,
    None,
}

pub(super) async fn examine(case: &mut Case<'_>) {
    if case.dialect != Dialect::Sqlite {
        return;
    }
    let parts = case.parts;
    for part in parts {
        for comparison in &part.comparisons {
            if let Some(warning) = compare(case, part, comparison).await {
                case.constant.push(comparison.whole.clone());
                case.report_about(Some(warning), &comparison.whole);
            }
        }
    }
}

/// Tests for a comparison with the same result for every value.
async fn compare(case: &Case<'_>, part: &Part<'_>, comparison: &Comparison) -> Option<QueryWarning> {
    if matches!(comparison.operator, Operator::Like | Operator::Unlike) {
        return None;
    }
    let affinity = match (&comparison.subject, part.column(&comparison.subject)) {
        (_, Some((_, column))) => affinity(column),
        (Expr::Cast { .. }, None) => return None,
        (_, None) => Affinity::None,
    };
    let literal = comparison.literals.first()?;
    let is_text = is_compared_as_text(literal, affinity);
    let (table, subject) = (&part.tables[comparison.table], &comparison.subject);
    let sample = case.probe.sample(table, subject, &format!("typeof({subject})")).await?;
    let (value, _) = sample.first()?;
    if !sample.iter().all(|(_, kind)| (kind == "text") != is_text && kind != "blob") {
        return None;
    }
    let label = part.label(&comparison.subject);
    let (kind, other) = if is_text { ("numbers", "a text") } else { ("texts", "a number") };
    let message = format!(
        "{label} returns {kind} such as {}, and `{}` compares them with {other}: SQLite orders every number before every text",
        quote(value),
        comparison.whole
    );
    let suggestion = match (is_text, literal.is_text) {
        (false, true) => format!("compare with a whole date such as {}", quote(value)),
        (false, false) => format!("write {} as text, or use CAST({subject} AS INTEGER)", quote(&literal.value)),
        (true, _) => format!("compare with a number such as {value}"),
    };
    Some(QueryWarning::new(WarningCode::TextComparison, message).suggest(suggestion))
}

/// Returns whether a literal is a text after the conversion by the other side.
fn is_compared_as_text(literal: &Literal, affinity: Affinity) -> bool {
    match affinity {
        Affinity::Text => true,
        Affinity::Number => literal.is_text && number(&literal.value).is_none(),
        Affinity::None => literal.is_text,
    }
}

/// Returns the affinity of a column by its declared type
/// (<https://www.sqlite.org/datatype3.html#determination_of_column_affinity>).
fn affinity(column: &Column) -> Affinity {
    let declared = column.data_type.to_uppercase();
    let has = |words: &[&str]| words.iter().any(|word| declared.contains(word));
    if has(&["INT"]) {
        Affinity::Number
    } else if has(&["CHAR", "CLOB", "TEXT"]) {
        Affinity::Text
    } else if declared.is_empty() || has(&["BLOB"]) {
        Affinity::None
    } else {
        Affinity::Number
    }
}

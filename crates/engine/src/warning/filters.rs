//! Filters on missing values, and on null.

use std::collections::BTreeSet;

use prospector_connect::table::Column;
use sqlparser::ast::{Query, SelectItem, SetExpr};

use super::periods;
use super::select::{Comparison, Literal, Operator, Part};
use super::similarity::{self, Difference, examples, find_near, find_similar, number, quote};
use super::{Case, PERSONAL, QueryWarning, WarningCode};
use crate::syntax::column_name;

/// The maximum number of values of a list that are looked up.
const MAX_LOOKED_UP: usize = 12;

/// The maximum number of other columns of a table in which a value is looked up.
const MAX_OTHER_COLUMNS: usize = 6;

/// The maximum number of values that are listed completely.
const MAX_NAMED: usize = 6;

pub(super) async fn examine(case: &mut Case<'_>) {
    let parts = case.parts;
    for part in parts {
        for written in &part.null_comparisons {
            let warning = QueryWarning::new(WarningCode::NullComparison, format!("`{written}` is never true"));
            case.report_about(Some(warning.suggest("write IS NULL or IS NOT NULL")), written);
        }
        for written in &part.null_lists {
            let message = format!("`{written}` is never true, because the list contains NULL");
            let warning = QueryWarning::new(WarningCode::NullInExclusion, message);
            case.report_about(Some(warning.suggest("remove NULL from the list, and add IS NOT NULL")), written);
        }
        for comparison in &part.comparisons {
            let warning = compare(case, part, comparison).await;
            case.report_about(warning, &comparison.whole);
            let warning = drop_nulls(case, part, comparison).await;
            case.report(warning);
        }
        if case.is_empty {
            for query in &part.exclusions {
                let warning = exclude(case, query).await;
                case.report(warning);
            }
        }
    }
}

/// Tests whether the value of a filter exists.
async fn compare(case: &Case<'_>, part: &Part<'_>, comparison: &Comparison) -> Option<QueryWarning> {
    if case.constant.contains(&comparison.whole) {
        return None;
    }
    let table = &part.tables[comparison.table];
    let is_hidden = !comparison.is_required || comparison.literals.len() > 1;
    match comparison.operator {
        Operator::Equal | Operator::Unequal => {
            for literal in comparison.literals.iter().take(MAX_LOOKED_UP) {
                // A missing number is not a misspelling.
                let is_wanted = case.is_empty
                    || (is_hidden || comparison.operator == Operator::Unequal) && is_word(part, comparison, literal);
                if !is_wanted || literal.value.trim().is_empty() {
                    continue;
                }
                let condition = format!("{} = {}", comparison.subject, literal.written);
                if case.probe.any(&table.written, &condition).await == Some(false) {
                    return explain(case, part, comparison, literal).await;
                }
            }
            None
        }
        Operator::Like | Operator::Unlike => {
            let [literal] = comparison.literals.as_slice() else { return None };
            let word = literal.value.trim_matches(['%', '_', ' ']);
            let is_wanted = comparison.operator == Operator::Unlike || comparison.is_required && case.is_empty;
            if !is_wanted || word.is_empty() {
                return None;
            }
            let condition = format!("{} LIKE {}", comparison.subject, literal.written);
            if case.probe.any(&table.written, &condition).await? {
                return None;
            }
            let label = part.label(&comparison.subject);
            let message = format!("no {label} matches {}", quote(&literal.value));
            let warning = |message| QueryWarning::new(WarningCode::UnknownValue, message);
            if table.is_personal(&comparison.subject) {
                return Some(warning(message).suggest(PERSONAL));
            }
            let (values, _) = case.probe.values(table, &comparison.subject).await?;
            let lower = word.to_lowercase();
            let near = values.iter().find(|value| value.to_lowercase().contains(&lower));
            Some(match near.cloned().or_else(|| find_near(word, &values)) {
                Some(near) => warning(message).suggest(format!("nearest: {}", quote(&near))),
                None if values.is_empty() => warning(format!("{label} contains no values")),
                None => warning(format!("{message}; it contains {}", examples(&values))),
            })
        }
        Operator::Order | Operator::UpTo => None,
    }
}

/// Returns whether a literal is a word that is compared with a text column.
fn is_word(part: &Part<'_>, comparison: &Comparison, literal: &Literal) -> bool {
    let is_of_numbers = part.column(&comparison.subject).is_some_and(|(_, column)| column.column_type.is_numeric());
    literal.is_text && !is_of_numbers
}

/// Explains why a value is missing.
async fn explain(case: &Case<'_>, part: &Part<'_>, comparison: &Comparison, literal: &Literal) -> Option<QueryWarning> {
    let table = &part.tables[comparison.table];
    let label = part.label(&comparison.subject);
    let subject = comparison.subject.to_string();
    let warning = |message: String| QueryWarning::new(WarningCode::UnknownValue, message);
    let wanted = quote(&literal.value);
    if table.is_personal(&comparison.subject) {
        return Some(warning(format!("no value {wanted} in {label}")).suggest(PERSONAL));
    }
    let (mut values, mut is_complete) = case.probe.values(table, &comparison.subject).await?;
    if values.is_empty() {
        return Some(warning(format!("{label} contains no values")));
    }
    if !is_complete && literal.is_text && !literal.value.contains('\\') {
        let wanted = literal.value.trim().to_lowercase().replace('\'', "''");
        let condition = format!("LOWER(TRIM({subject})) = '{wanted}'");
        let sql = format!("SELECT DISTINCT {subject} FROM {} WHERE {condition} LIMIT 5", table.written);
        let similar = case.probe.rows(&sql, 5).await.unwrap_or_default();
        values.extend(similar.iter().filter_map(|row| row.first()).map(super::probe::text));
    }
    is_complete &= values.len() <= MAX_NAMED;
    if let Some((there, difference)) = find_similar(&literal.value, &values) {
        let found =
            warning(format!("no value {wanted} in {label}: it contains {}, {}", quote(there), difference.describe()));
        let is_variant = |value: &&String| similarity::difference(&literal.value, value) == Some(Difference::Case);
        let variants: BTreeSet<&String> = values.iter().filter(is_variant).collect();
        // Names in the subject may be aliases that the statement does not contain.
        let name = part.column(&comparison.subject).map_or(subject.as_str(), |(_, column)| column.name.as_str());
        return Some(match difference.remedy() {
            Some(_) if difference == Difference::Case && variants.len() == 1 => {
                found.suggest(format!("use {}", quote(there)))
            }
            Some(function) => found.suggest(format!("compare {function}({name})")),
            None => found,
        });
    }
    let is_of_numbers = values.iter().all(|value| number(value).is_some());
    if let Some((low, high)) = periods::find_outside(comparison, literal, &values) {
        let message = format!("no value {wanted} in {label}; it contains {} to {}", quote(&low), quote(&high));
        return Some(QueryWarning::new(WarningCode::OutsidePeriod, message));
    }
    if literal.is_text
        && let Some(other) = find_elsewhere(case, part, comparison, literal).await
    {
        let message = format!("no value {wanted} in {label}, but in another column of the table");
        return Some(warning(message).suggest(format!("compare `{}.{other}`", table.table.name)));
    }
    Some(match find_near(&literal.value, &values).filter(|_| literal.is_text && !is_of_numbers) {
        Some(near) => warning(format!("no value {wanted} in {label}")).suggest(format!("nearest: {}", quote(&near))),
        None if is_complete => warning(format!("no value {wanted} in {label}; it contains only {}", examples(&values))),
        None => warning(format!("no value {wanted} in {label}; it contains values such as {}", examples(&values))),
    })
}

/// Returns another column of the same table that contains the value.
async fn find_elsewhere(
    case: &Case<'_>,
    part: &Part<'_>,
    comparison: &Comparison,
    literal: &Literal,
) -> Option<String> {
    let table = &part.tables[comparison.table];
    let own = part.column(&comparison.subject).map(|(_, column)| column.name.as_str());
    let is_other = |column: &&Column| {
        Some(column.name.as_str()) != own
            && !column.is_personal
            && !column.column_type.is_numeric()
            && !column.column_type.is_opaque()
    };
    let others: Vec<&Column> = table.table.columns.iter().filter(is_other).take(MAX_OTHER_COLUMNS).collect();
    for column in others {
        let condition = format!("{} = {}", crate::native::quote(case.dialect, &column.name), literal.written);
        if case.probe.any(&table.written, &condition).await == Some(true) {
            return Some(column.name.clone());
        }
    }
    None
}

/// Tests whether `<>` drops rows without a value.
async fn drop_nulls(case: &Case<'_>, part: &Part<'_>, comparison: &Comparison) -> Option<QueryWarning> {
    if !matches!(comparison.operator, Operator::Unequal | Operator::Unlike) || !comparison.is_required {
        return None;
    }
    let (table, column) = part.column(&comparison.subject)?;
    if !column.nullable || column.primary_key || part.tables[table].is_optional {
        return None;
    }
    let condition = format!("{} IS NULL", comparison.subject);
    let missing = case.probe.count(&part.tables[table].written, Some(&condition)).await?;
    let label = part.label(&comparison.subject);
    let rows = if missing == 1 { "1 row has".to_owned() } else { format!("{missing} rows have") };
    let message = format!("{rows} no value in {label}, and `{}` drops them", comparison.whole);
    let warning = QueryWarning::new(WarningCode::NullExcluded, message).suggest("add OR ... IS NULL to keep them");
    (missing > 0).then_some(warning)
}

/// Tests `NOT IN (SELECT ...)` for nulls, with which it matches no row.
async fn exclude(case: &Case<'_>, query: &Query) -> Option<QueryWarning> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let [SelectItem::UnnamedExpr(column)] = select.projection.as_slice() else { return None };
    let name = column_name(column)?;
    let has_null = case.probe.any(&format!("({query}) AS excluded"), &format!("excluded.{name} IS NULL")).await?;
    has_null.then(|| {
        let message = format!("NOT IN matches no row, because `{name}` of its SELECT has nulls");
        QueryWarning::new(WarningCode::NullInExclusion, message).suggest(format!("add WHERE {name} IS NOT NULL there"))
    })
}

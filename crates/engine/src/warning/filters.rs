//! Filters on values that are not there, and on null.

use prospector_connect::table::Column;
use sqlparser::ast::{Expr, Query, SelectItem, SetExpr};

use super::alike::{examples, find_alike, find_near, number, quote};
use super::periods;
use super::select::{Comparison, Literal, Operator, Part};
use super::{Case, QueryWarning, WarningCode};

/// So many values of one list are looked up.
const MAX_LOOKED_UP: usize = 12;

/// So many other columns of a table are tried for a value.
const MAX_OTHER_COLUMNS: usize = 6;

/// So many values are named where they are all.
const MAX_NAMED: usize = 6;

pub(super) async fn examine(case: &mut Case<'_>) {
    let parts = case.parts;
    for part in parts {
        for written in &part.null_comparisons {
            let warning = QueryWarning::new(WarningCode::NullComparison, format!("`{written}` is never true"));
            case.report(Some(warning.suggest("write IS NULL or IS NOT NULL")));
        }
        for written in &part.null_lists {
            let message = format!("`{written}` is never true, since the list has NULL");
            let warning = QueryWarning::new(WarningCode::NullInExclusion, message);
            case.report(Some(warning.suggest("take NULL out of the list, and add IS NOT NULL")));
        }
        for comparison in &part.comparisons {
            let warning = compare(case, part, comparison).await;
            case.report(warning);
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

/// Whether what the filter names is there.
async fn compare(case: &Case<'_>, part: &Part<'_>, comparison: &Comparison) -> Option<QueryWarning> {
    if case.constant.contains(&comparison.whole) {
        return None;
    }
    let table = &part.tables[comparison.table];
    let is_hidden = !comparison.is_required || comparison.literals.len() > 1;
    match comparison.operator {
        Operator::Equal | Operator::Unequal => {
            for literal in comparison.literals.iter().take(MAX_LOOKED_UP) {
                // A number that is there or not is no slip.
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
            let (values, _) = case.probe.values(&table.written, &comparison.subject.to_string()).await?;
            let label = part.label(&comparison.subject);
            let lower = word.to_lowercase();
            let near = values.iter().find(|value| value.to_lowercase().contains(&lower));
            let message = format!("no {label} is like {}", quote(&literal.value));
            let warning = |message| QueryWarning::new(WarningCode::UnknownValue, message);
            Some(match near.cloned().or_else(|| find_near(word, &values)) {
                Some(near) => warning(message).suggest(format!("nearest: {}", quote(&near))),
                None if values.is_empty() => warning(format!("{label} contains no value at all")),
                None => warning(format!("{message}; it contains {}", examples(&values))),
            })
        }
        Operator::Order | Operator::UpTo => None,
    }
}

/// Whether a literal is a word that is looked for in a column of texts.
fn is_word(part: &Part<'_>, comparison: &Comparison, literal: &Literal) -> bool {
    let is_of_numbers = part.column(&comparison.subject).is_some_and(|(_, column)| column.column_type.is_numeric());
    literal.is_text && !is_of_numbers
}

/// Why a value is not there.
async fn explain(case: &Case<'_>, part: &Part<'_>, comparison: &Comparison, literal: &Literal) -> Option<QueryWarning> {
    let table = &part.tables[comparison.table];
    let label = part.label(&comparison.subject);
    let subject = comparison.subject.to_string();
    let warning = |message: String| QueryWarning::new(WarningCode::UnknownValue, message);
    let (mut values, mut is_complete) = case.probe.values(&table.written, &subject).await?;
    if values.is_empty() {
        return Some(warning(format!("{label} contains no value at all")));
    }
    if !is_complete && literal.is_text && !literal.value.contains('\\') {
        let wanted = literal.value.trim().to_lowercase().replace('\'', "''");
        let condition = format!("LOWER(TRIM({subject})) = '{wanted}'");
        let sql = format!("SELECT DISTINCT {subject} FROM {} WHERE {condition} LIMIT 5", table.written);
        let alike = case.probe.rows(&sql, 5).await.unwrap_or_default();
        values.extend(alike.iter().filter_map(|row| row.first()).map(super::probe::text));
    }
    is_complete &= values.len() <= MAX_NAMED;
    let wanted = quote(&literal.value);
    if let Some((there, difference)) = find_alike(&literal.value, &values) {
        let found =
            warning(format!("no value {wanted} in {label}: it holds {}, {}", quote(there), difference.describe()));
        return Some(match difference.remedy() {
            Some(function) => found.suggest(format!("compare {function}({subject})")),
            None => found,
        });
    }
    let is_of_numbers = values.iter().all(|value| number(value).is_some());
    if let Some((low, high)) = periods::find_outside(comparison, literal, &values) {
        let message = format!("no value {wanted} in {label}; it holds {} to {}", quote(&low), quote(&high));
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
        None if is_complete => warning(format!("no value {wanted} in {label}; it holds only {}", examples(&values))),
        None => warning(format!("no value {wanted} in {label}; it holds such as {}", examples(&values))),
    })
}

/// Another column of the same table that holds the value.
async fn find_elsewhere(
    case: &Case<'_>,
    part: &Part<'_>,
    comparison: &Comparison,
    literal: &Literal,
) -> Option<String> {
    let table = &part.tables[comparison.table];
    let own = part.column(&comparison.subject).map(|(_, column)| column.name.as_str());
    let is_other = |column: &&Column| {
        Some(column.name.as_str()) != own && !column.column_type.is_numeric() && !column.column_type.is_opaque()
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

/// Rows without a value that `<>` drops.
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

/// A null in what `NOT IN (SELECT ...)` names: then no row is outside of it.
async fn exclude(case: &Case<'_>, query: &Query) -> Option<QueryWarning> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let [SelectItem::UnnamedExpr(column)] = select.projection.as_slice() else { return None };
    let name = match column {
        Expr::Identifier(name) => name,
        Expr::CompoundIdentifier(parts) => parts.last()?,
        _ => return None,
    };
    let has_null = case.probe.any(&format!("({query}) AS excluded"), &format!("excluded.{name} IS NULL")).await?;
    has_null.then(|| {
        let message = format!("NOT IN matches no row, since `{name}` of its SELECT has nulls");
        QueryWarning::new(WarningCode::NullInExclusion, message).suggest(format!("add WHERE {name} IS NOT NULL there"))
    })
}

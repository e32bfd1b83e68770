//! Joins that match nothing, lose rows, have no condition, or use other columns than the declared keys.

use std::collections::BTreeSet;

use prospector_connect::table::ForeignKey;
use sqlparser::ast::Expr;

use super::repeats::is_unique;
use super::select::{Aggregate, Key, Part};
use super::similarity::{Difference, examples, find_similar, number, quote};
use super::{Case, PERSONAL, QueryWarning, WarningCode};
use crate::syntax::last_name;

pub(super) async fn examine(case: &mut Case<'_>) {
    let parts = case.parts;
    for part in parts {
        let count = part.tables.len();
        let pairs: Vec<(usize, usize)> = (0..count).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        for (a, b) in pairs {
            let keys: Vec<&Key> = part.keys_between(a, b).collect();
            if keys.is_empty() {
                let warning = cross(case, part, a, b);
                case.report(warning);
                continue;
            }
            case.report(other_columns(part, a, b, &keys));
            if case.is_empty {
                let warning = match_nothing(case, part, a, b, &keys).await;
                case.report(warning);
            }
            if part.tables[b].is_optional {
                let warning = lose(case, part, a, b, &keys).await;
                case.report(warning);
            }
        }
    }
}

/// Tests for two tables that nothing connects, not even through others.
fn cross(case: &Case<'_>, part: &Part<'_>, a: usize, b: usize) -> Option<QueryWarning> {
    if part.is_crossed || !part.is_plain {
        return None;
    }
    let mut reached = BTreeSet::from([a]);
    loop {
        let before = reached.len();
        let touched = part.links.iter().filter(|link| link.iter().any(|table| reached.contains(table)));
        let more: Vec<usize> = touched.flatten().copied().collect();
        reached.extend(more);
        if reached.len() == before {
            break;
        }
    }
    let has_one = |at: usize| part.tables[at].table.row_count.is_some_and(|rows| rows <= 1);
    let is_reported = case.found.iter().any(|warning| warning.code == WarningCode::CrossJoin);
    if reached.contains(&b) || has_one(a) || has_one(b) || is_reported {
        return None;
    }
    let (a, b) = (part.tables[a].table, part.tables[b].table);
    let size = match (a.row_count, b.row_count) {
        (Some(left), Some(right)) => format!(" of {left} and {right} rows"),
        _ => String::new(),
    };
    let message = format!("no condition joins `{}` and `{}`: this is a cross join{size}", a.name, b.name);
    Some(QueryWarning::new(WarningCode::CrossJoin, message).suggest("join them on their keys"))
}

/// Tests for a join that does not use the columns of the declared key.
fn other_columns(part: &Part<'_>, a: usize, b: usize, keys: &[&Key]) -> Option<QueryWarning> {
    let (left, right) = (part.tables[a].table, part.tables[b].table);
    if std::ptr::eq(left, right) {
        let is_key = |expr: &Expr| part.column(expr).is_some_and(|(_, column)| column.primary_key);
        let is_itself =
            |key: &&Key| last_name(&key.left.1).eq_ignore_ascii_case(last_name(&key.right.1)) && is_key(&key.left.1);
        let keyed = left.columns.iter().filter(|column| column.primary_key).count();
        let key = keys.iter().copied().find(is_itself).filter(|_| keyed == 1)?;
        let message = format!("the join on `{}` joins each row of `{}` with itself", key.condition(), left.name);
        return Some(QueryWarning::new(WarningCode::UndeclaredJoin, message));
    }
    let declared = |from: usize, to: usize| {
        let to = part.tables[to].table.name.as_str();
        part.tables[from].table.foreign_keys.iter().filter(move |key| key.table.eq_ignore_ascii_case(to))
    };
    let is_used = |from: usize, key: &ForeignKey| {
        keys.iter().any(|used| {
            let Some((own, (_, other))) = used.sides(from) else { return false };
            let named = |expr: &Expr, names: &[String]| match part.column(expr) {
                Some((_, column)) => names.iter().any(|name| name.eq_ignore_ascii_case(&column.name)),
                // The value of an expression may still be the key.
                None => true,
            };
            named(own, &key.columns) && named(other, &key.references)
        })
    };
    let all: Vec<(usize, &ForeignKey)> =
        declared(a, b).map(|key| (a, key)).chain(declared(b, a).map(|key| (b, key))).collect();
    // A third table may connect them.
    if all.is_empty() || all.iter().any(|(from, key)| is_used(*from, key)) || part.keys.len() > keys.len() {
        return None;
    }
    let (from, key) = all.first()?;
    let owner = &part.tables[*from].table.name;
    let pairs = key.columns.iter().zip(&key.references);
    let declared: Vec<String> = pairs.map(|(own, other)| format!("{owner}.{own} = {}.{other}", key.table)).collect();
    let used: Vec<String> = keys.iter().map(|key| key.condition()).collect();
    let message = format!("the join on `{}` is not a declared key", used.join(" AND "));
    let declared = format!("the declared key is `{}`", declared.join(" AND "));
    Some(QueryWarning::new(WarningCode::UndeclaredJoin, message).suggest(declared))
}

fn pair(part: &Part<'_>, a: usize, b: usize, keys: &[&Key]) -> String {
    let condition: Vec<String> = keys.iter().map(|key| key.condition()).collect();
    format!("{} JOIN {} ON {}", part.tables[a].written, part.tables[b].written, condition.join(" AND "))
}

/// Tests for a join without a match, and explains it.
async fn match_nothing(case: &Case<'_>, part: &Part<'_>, a: usize, b: usize, keys: &[&Key]) -> Option<QueryWarning> {
    if case.probe.any(&pair(part, a, b, keys), "1 = 1").await? {
        return None;
    }
    let key = keys.first()?;
    let (left, right) = (&key.left, &key.right);
    let warning = |message| QueryWarning::new(WarningCode::EmptyJoin, message);
    let start = format!("the join on `{}` matches no row", key.condition());
    let (ours_table, theirs_table) = (&part.tables[left.0], &part.tables[right.0]);
    if ours_table.is_personal(&left.1) || theirs_table.is_personal(&right.1) {
        return Some(warning(start).suggest(PERSONAL));
    }
    let (ours, _) = case.probe.values(ours_table, &left.1).await?;
    let (theirs, _) = case.probe.values(theirs_table, &right.1).await?;
    let (ours_label, theirs_label) = (part.label(&left.1), part.label(&right.1));
    for (values, label) in [(&ours, &ours_label), (&theirs, &theirs_label)] {
        if values.is_empty() {
            return Some(warning(format!("{start}: {label} contains no values")));
        }
    }
    let similar = ours.iter().take(500).find_map(|value| {
        let (other, difference) = find_similar(value, &theirs)?;
        Some((value, other, difference))
    });
    if let Some((ours, theirs, difference)) = similar {
        let (blank, label) = match theirs.trim() == theirs {
            true => (ours.as_str(), &ours_label),
            false => (theirs, &theirs_label),
        };
        return Some(match difference {
            Difference::Leading | Difference::Trailing => {
                warning(format!("{start}: {label} contains {}, {}", quote(blank), difference.describe()))
                    .suggest("join on TRIM()")
            }
            _ => warning(format!("{start}: {} on one side is {} on the other", quote(ours), quote(theirs))),
        });
    }
    let are_numbers = |values: &[String]| values.iter().all(|value| number(value).is_some());
    let why = if are_numbers(&ours) == are_numbers(&theirs) {
        "have no value in common"
    } else {
        "have different kinds of values"
    };
    let examples = format!("{ours_label} has {}, {theirs_label} {}", examples(&ours), examples(&theirs));
    Some(warning(format!("{start}: both {why}; {examples}")))
}

/// Returns whether each row of a table is its own group, so that a count refers to the rows of another table.
async fn has_group_per_row(case: &Case<'_>, part: &Part<'_>, table: usize) -> bool {
    let columns: Option<Vec<&str>> = (part.groups.iter())
        .map(|group| part.column(group).filter(|(at, _)| *at == table).map(|(_, column)| column.name.as_str()))
        .collect();
    match columns {
        Some(columns) if !columns.is_empty() => is_unique(case, part, table, &columns).await == Some(true),
        _ => false,
    }
}

/// Tests for unmatched rows that LEFT JOIN keeps and WHERE drops, or that COUNT(*) counts.
async fn lose(case: &Case<'_>, part: &Part<'_>, a: usize, b: usize, keys: &[&Key]) -> Option<QueryWarning> {
    let (kept, optional) = (&part.tables[a], &part.tables[b]);
    let dropping = part.required.iter().find(|(at, condition, is_where)| {
        let text = condition.to_string().to_uppercase();
        *at == b && *is_where && !["NULL", "COALESCE", "NOT "].iter().any(|word| text.contains(word))
    });
    let counts_rows = |call: &&Aggregate| call.name == "count" && call.argument.is_none();
    let counts = part.aggregates.iter().any(|call| counts_rows(&call));
    let is_counted = counts && part.tables.len() == 2 && dropping.is_none() && has_group_per_row(case, part, a).await;
    if dropping.is_none() && !is_counted {
        return None;
    }
    let conditions: Vec<String> = keys.iter().map(|key| key.condition()).collect();
    let on = conditions.join(" AND ");
    let (_, (_, other)) = keys.first()?.sides(a)?;
    let filter = part.filter(a).map(|filter| format!(" AND {filter}")).unwrap_or_default();
    let unmatched = format!("{} LEFT JOIN {} ON {on}", kept.written, optional.written);
    let lost = case.probe.count(&unmatched, Some(&format!("{other} IS NULL{filter}"))).await?;
    let (kept, other) = (&kept.table.name, &optional.table.name);
    let rows = if lost == 1 { "row".to_owned() } else { "rows".to_owned() };
    let (message, suggestion) = match dropping {
        Some((_, condition, _)) => (
            format!(
                "LEFT JOIN keeps {lost} {rows} of `{kept}` without `{other}`, and `{condition}` in WHERE drops them"
            ),
            "move it into ON to keep them".to_owned(),
        ),
        None => (
            format!("COUNT(*) is 1, not 0, for {lost} {rows} of `{kept}` without `{other}`"),
            format!("count a column of `{other}`"),
        ),
    };
    let columns = match dropping {
        Some(_) => Vec::new(),
        None => case.columns_with(part.aggregates.iter().filter(counts_rows).map(|call| call.written.clone())),
    };
    (lost > 0).then(|| QueryWarning::new(WarningCode::UnmatchedRows, message).suggest(suggestion).about(columns))
}

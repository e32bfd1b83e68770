//! Joins that repeat rows (fan-out), where it matters: in sums, averages and counts, and in results with more rows than either
//! side.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use prospector_connect::table::Table;
use sqlparser::ast::{Expr, Value, Visit, Visitor};

use super::select::{Aggregate, Key, Part, is_examined, literal};
use super::{Case, QueryWarning, WarningCode};

pub(super) async fn examine(case: &mut Case<'_>) {
    let parts = case.parts;
    for part in parts {
        if !part.is_plain || part.keys.is_empty() || part.tables.len() > 8 {
            continue;
        }
        let is_listed = part.aggregates.is_empty() && part.groups.is_empty() && !part.is_distinct && case.is_long;
        if part.aggregates.iter().any(is_affected) || is_listed {
            let warning = examine_part(case, part, is_listed).await;
            case.report(warning);
        }
    }
}

/// Returns whether repeated rows affect an aggregate.
fn is_affected(call: &Aggregate) -> bool {
    matches!(call.name.as_str(), "avg" | "count" | "sum")
}

async fn examine_part(case: &Case<'_>, part: &Part<'_>, is_listed: bool) -> Option<QueryWarning> {
    let mut repeated = Vec::new();
    for table in 0..part.tables.len() {
        repeated.push(find_repeat(case, part, table).await);
    }
    let has_grain = repeated.iter().any(Option::is_none);
    let mut affected: Vec<(&Step, &Aggregate)> = Vec::new();
    let mut in_groups: HashMap<&[usize], Option<bool>> = HashMap::new();
    for call in &part.aggregates {
        if !is_affected(call) {
            continue;
        }
        let all: Option<Vec<&Step>> = call.tables.iter().map(|table| repeated[*table].as_ref()).collect();
        let Some(step) = all.and_then(|all| all.first().copied()) else { continue };
        if has_grain && (counts_unmatched(part, call) || !have_owner(case, part, &call.tables).await) {
            continue;
        }
        let is_sum = matches!(call.name.as_str(), "avg" | "sum");
        if is_sum || !has_grain || counts_entities(case, part, call).await {
            let tables = call.tables.as_slice();
            let is_repeated = match in_groups.get(tables) {
                Some(known) => *known,
                None => repeats_in_groups(case, part, tables).await,
            };
            in_groups.insert(tables, is_repeated);
            if is_repeated != Some(false) {
                affected.push((step, call));
            }
        }
    }
    if let Some((step, call)) = affected.first() {
        let counts_pairs = |call: &&Aggregate| !has_grain && call.name == "count" && call.tables.is_empty();
        let own = affected.iter().map(|(_, call)| *call).chain(part.aggregates.iter().filter(counts_pairs));
        let others = part.others.iter().filter(|other| aggregates_columns(part, other)).map(ToString::to_string);
        let columns = case.columns_with(own.map(|call| call.written.clone()).chain(others));
        return describe(case, part, step, Some(call)).await.map(|warning| warning.about(columns));
    }
    let counts_pairs = part.aggregates.iter().any(|call| call.name == "count" && call.tables.is_empty());
    if has_grain || !(is_listed || counts_pairs) {
        return None;
    }
    let step = repeated.iter().flatten().next()?;
    describe(case, part, step, None).await
}

/// Returns whether an unexamined function may aggregate repeated rows: it has OVER, or names a column that is neither grouped nor
/// in an examined aggregate.
fn aggregates_columns(part: &Part<'_>, function: &Expr) -> bool {
    struct Columns<'a> {
        groups: &'a [Expr],
        /// The number of enclosing expressions whose value is known to be the same for all rows of a group.
        known: usize,
    }
    impl Columns<'_> {
        fn is_known(&self, expr: &Expr) -> bool {
            self.groups.contains(expr) || matches!(expr, Expr::Function(function) if is_examined(function))
        }
    }
    impl Visitor for Columns<'_> {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            self.known += usize::from(self.is_known(expr));
            let is_column = matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
            if self.known == 0 && is_column { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }

        fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            self.known -= usize::from(self.is_known(expr));
            ControlFlow::Continue(())
        }
    }
    let has_window = matches!(function, Expr::Function(function) if function.over.is_some());
    has_window || function.visit(&mut Columns { groups: &part.groups, known: 0 }).is_break()
}

/// Returns whether an aggregate counts the rows without a match in an optional table, each of which exists once:
/// `SUM(CASE WHEN o.id IS NULL THEN 1 ELSE 0 END)`.
fn counts_unmatched(part: &Part<'_>, call: &Aggregate) -> bool {
    let Some(Expr::Case { operand: None, conditions, else_result, .. }) = &call.argument else { return false };
    let [branch] = conditions.as_slice() else { return false };
    let is_constant = |expr: &Expr| literal(expr).is_some();
    let is_zero = |expr: &Expr| match expr {
        Expr::Value(value) if matches!(value.value, Value::Null) => true,
        other => literal(other).is_some_and(|literal| literal.value.parse() == Ok(0.0)),
    };
    let is_unmatched = |expr: &Expr| {
        // Such a column is null only in rows without a match.
        let is_key = |expr: &Expr| part.keys.iter().any(|key| key.left.1 == *expr || key.right.1 == *expr);
        part.column(expr).is_some_and(|(table, column)| {
            part.tables[table].is_optional && (column.primary_key || !column.nullable || is_key(expr))
        })
    };
    matches!(&branch.condition, Expr::IsNull(expr) if is_unmatched(expr))
        && is_constant(&branch.result)
        && else_result.as_ref().is_none_or(|other| is_zero(other))
}

/// Returns whether the rows of one of the tables determine those of the others. Otherwise, a value of all of them belongs to the rows
/// that combine them.
async fn have_owner(case: &Case<'_>, part: &Part<'_>, tables: &[usize]) -> bool {
    if tables.len() < 2 {
        return true;
    }
    for start in tables {
        let (mut reached, mut next) = (BTreeSet::from([*start]), vec![*start]);
        while let Some(from) = next.pop() {
            for to in (0..part.tables.len()).filter(|to| *to != from) {
                let Some(columns) = key_columns(part, from, to).filter(|_| !reached.contains(&to)) else { continue };
                if is_unique(case, part, to, &columns).await != Some(false) && reached.insert(to) {
                    next.push(to);
                }
            }
        }
        if tables.iter().all(|table| reached.contains(table)) {
            return true;
        }
    }
    false
}

/// Returns the columns of a table that its keys to another table consist of; `None` without keys, or where one is an expression.
fn key_columns<'a>(part: &'a Part<'_>, from: usize, to: usize) -> Option<Vec<&'a str>> {
    let column = |key: &Key| {
        let (_, (_, other)) = key.sides(from)?;
        part.column(other).map(|(_, column)| column.name.as_str())
    };
    let columns: Vec<&str> = part.keys_between(from, to).map(column).collect::<Option<_>>()?;
    (!columns.is_empty()).then_some(columns)
}

/// Returns whether a count of the key of a table is meant to count its entities, and not the rows of a join: it is grouped by
/// nothing, or by non-unique columns of the table.
async fn counts_entities(case: &Case<'_>, part: &Part<'_>, call: &Aggregate) -> bool {
    let Some((table, column)) = call.argument.as_ref().and_then(|argument| part.column(argument)) else { return false };
    if is_unique(case, part, table, &[column.name.as_str()]).await != Some(true) {
        return false;
    }
    let mut columns = Vec::new();
    for group in &part.groups {
        match part.column(group) {
            Some((at, column)) if at == table => columns.push(column.name.as_str()),
            Some(_) | None => return false,
        }
    }
    part.groups.is_empty() || is_unique(case, part, table, &columns).await == Some(false)
}

/// Returns whether a group of the joined rows contains an aggregated row more than once; `None` if the tables have no primary
/// key, or the rows depend on an outer query.
async fn repeats_in_groups(case: &Case<'_>, part: &Part<'_>, tables: &[usize]) -> Option<bool> {
    let mut keys = Vec::new();
    for table in tables {
        let used = &part.tables[*table];
        let own = used.table.columns.iter().filter(|column| column.primary_key);
        let quote = |name: &str| crate::native::quote(case.dialect, name);
        let before = keys.len();
        keys.extend(own.map(|column| format!("{}.{}", used.reference(case.dialect), quote(&column.name))));
        if keys.len() == before {
            return None;
        }
    }
    let present = keys.iter().map(|key| format!("{key} IS NOT NULL"));
    let filter: Vec<String> = part.selection.iter().map(|all| format!("({all})")).chain(present).collect();
    let groups: Vec<String> = part.groups.iter().map(ToString::to_string).chain(keys.iter().cloned()).collect();
    let (from, filter, groups) = (&part.from, filter.join(" AND "), groups.join(", "));
    let sql = format!("SELECT COUNT(*) FROM {from} WHERE {filter} GROUP BY {groups} HAVING COUNT(*) > 1 LIMIT 1");
    Some(!case.probe.rows(&sql, 1).await?.is_empty())
}

/// A step of a join that repeats rows.
struct Step {
    from: usize,
    to: usize,
}

/// Returns the step that repeats the rows of a table: on the path to another table, where several rows match one.
async fn find_repeat(case: &Case<'_>, part: &Part<'_>, start: usize) -> Option<Step> {
    let (mut reached, mut next) = (BTreeSet::from([start]), vec![start]);
    while let Some(from) = next.pop() {
        for to in 0..part.tables.len() {
            if part.keys_between(from, to).next().is_none() || !reached.insert(to) {
                continue;
            }
            next.push(to);
            if is_unique(case, part, to, &key_columns(part, from, to)?).await == Some(false) {
                return Some(Step { from, to });
            }
        }
    }
    None
}

/// Returns whether these columns are unique in the rows of a table that the query reads.
pub(super) async fn is_unique(case: &Case<'_>, part: &Part<'_>, table: usize, columns: &[&str]) -> Option<bool> {
    let used = &part.tables[table];
    if has_key(used.table, columns) {
        return Some(true);
    }
    let quoted: Vec<String> = columns.iter().map(|column| crate::native::quote(case.dialect, column)).collect();
    let list = quoted.join(", ");
    let mut conditions: Vec<String> = quoted.iter().map(|column| format!("{column} IS NOT NULL")).collect();
    conditions.extend(part.filter(table));
    let (from, filter) = (&used.written, conditions.join(" AND "));
    let sql = format!("SELECT {list} FROM {from} WHERE {filter} GROUP BY {list} HAVING COUNT(*) > 1 LIMIT 1");
    Some(case.probe.rows(&sql, 1).await?.is_empty())
}

/// Returns whether the primary key is among the columns.
fn has_key(table: &Table, columns: &[&str]) -> bool {
    let is_named = |name: &str| columns.iter().any(|column| column.eq_ignore_ascii_case(name));
    let mut own = table.columns.iter().filter(|column| column.primary_key).peekable();
    own.peek().is_some() && own.all(|column| is_named(&column.name))
}

/// Creates the warning with the number of rows before and after the join.
async fn describe(case: &Case<'_>, part: &Part<'_>, step: &Step, call: Option<&Aggregate>) -> Option<QueryWarning> {
    let (from, to) = (&part.tables[step.from], &part.tables[step.to]);
    let keys: Vec<String> = part.keys_between(step.from, step.to).map(Key::condition).collect();
    let on = keys.join(" AND ");
    let filters: Vec<String> = [step.from, step.to].into_iter().filter_map(|table| part.filter(table)).collect();
    let filter = (!filters.is_empty()).then(|| filters.join(" AND "));
    let joined = case.probe.count(&format!("{} JOIN {} ON {on}", from.written, to.written), filter.as_deref()).await;
    // Unmatched rows are not part of the join.
    let is_qualified = part
        .keys_between(step.from, step.to)
        .all(|key| [&key.left.1, &key.right.1].iter().all(|side| matches!(side, Expr::CompoundIdentifier(_))));
    let single = match is_qualified {
        true => {
            let inner: Vec<String> = std::iter::once(on.clone()).chain(part.filter(step.to)).collect();
            let matched = format!("EXISTS (SELECT 1 FROM {} WHERE {})", to.written, inner.join(" AND "));
            let all: Vec<String> = std::iter::once(matched).chain(part.filter(step.from)).collect();
            case.probe.count(&from.written, Some(&all.join(" AND "))).await
        }
        false => case.probe.count(&from.written, part.filter(step.from).as_deref()).await,
    };
    let other = case.probe.count(&to.written, part.filter(step.to).as_deref()).await;
    let numbers = match (single, joined) {
        (Some(single), Some(joined)) if joined <= single || call.is_none() && Some(joined) <= other => return None,
        (Some(single), Some(joined)) => format!("{single} rows to {joined}"),
        _ => "rows".to_owned(),
    };
    let (name, other) = (&from.table.name, &to.table.name);
    let effect = match call {
        Some(call) => format!("`{}` counts rows more than once", call.written),
        None => format!("rows of `{name}` match several of `{other}`, and vice versa"),
    };
    let message = format!("the join of `{name}` with `{other}` on `{on}` multiplies {numbers}: {effect}");
    let warning = QueryWarning::new(WarningCode::RepeatedRows, message);
    Some(match call {
        Some(_) => warning.suggest("aggregate before the join, or use EXISTS or DISTINCT"),
        None => warning,
    })
}

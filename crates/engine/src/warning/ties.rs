//! Ties that a LIMIT cuts: rows that ORDER BY does not place after the last one that is kept, or only by a label such as a name.

use std::ops::ControlFlow;

use prospector_connect::rows::Rows;
use serde_json::Value as Json;
use sqlparser::ast::{
    Distinct, Expr, LimitClause, Offset, OffsetRows, OrderByKind, Query, Select, SelectItem, SetExpr, Value,
    ValueWithSpan, Visit, Visitor,
};
use sqlparser::tokenizer::Span;

use super::dates::form;
use super::select::resolve_item;
use super::similarity::{self, quote};
use super::{Case, QueryWarning, WarningCode};
use crate::syntax::{column_name, count_of, output_name, value_of};

/// The maximum LIMIT whose last row is read.
const MAX_LIMIT: usize = 1_000;

/// The maximum number of tied rows that are counted.
const MAX_TIED: usize = 50;

/// The maximum number of examined subqueries.
const MAX_NESTED: usize = 4;

/// Examines a query with its rows, and its subqueries, whose rows are not known.
pub(super) async fn examine(case: &mut Case<'_>, query: &Query, rows: Option<&Rows>) {
    examine_one(case, query, rows).await;
    let mut nested = Nested::default();
    let _ = query.visit(&mut nested);
    // The first is the query itself.
    for query in nested.limited.iter().skip(1).take(MAX_NESTED) {
        examine_one(case, query, None).await;
    }
}

/// The statement, and its subqueries with a limit.
#[derive(Default)]
struct Nested {
    limited: Vec<Query>,
}

impl Visitor for Nested {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.limited.is_empty() || read_limit(query).is_some() {
            self.limited.push(query.clone());
        }
        ControlFlow::Continue(())
    }
}

async fn examine_one(case: &mut Case<'_>, query: &Query, rows: Option<&Rows>) {
    let Some((limit, offset)) = read_limit(query).filter(|(limit, _)| (1..=MAX_LIMIT).contains(limit)) else { return };
    let is_cut = rows.is_none_or(|rows| rows.has_more || rows.rows.len() >= limit);
    if is_cut {
        let rows = rows.filter(|rows| !rows.has_more && rows.rows.len() == limit);
        let warning = compare(case, query, (limit, offset), rows).await;
        case.report(warning);
    }
}

/// Returns the number of rows that are kept, and the number that is skipped before them.
fn read_limit(query: &Query) -> Option<(usize, usize)> {
    match (&query.limit_clause, &query.fetch) {
        (Some(LimitClause::LimitOffset { limit: Some(limit), offset, limit_by }), None) if limit_by.is_empty() => {
            let skipped = offset.as_ref().map_or(Some(0), |offset| count_of(&offset.value))?;
            Some((count_of(limit)?, skipped))
        }
        (Some(LimitClause::OffsetCommaLimit { offset, limit }), None) => Some((count_of(limit)?, count_of(offset)?)),
        (None, Some(fetch)) if !fetch.with_ties && !fetch.percent => {
            Some((fetch.quantity.as_ref().map_or(Some(1), count_of)?, 0))
        }
        _ => None,
    }
}

/// Compares the last row with the rows that the limit cuts. `known` are the rows of the answer, if the last of them is that row.
async fn compare(
    case: &Case<'_>,
    query: &Query,
    (limit, offset): (usize, usize),
    known: Option<&Rows>,
) -> Option<QueryWarning> {
    let order = query.order_by.as_ref()?;
    let OrderByKind::Expressions(sorts) = &order.kind else { return None };
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    if matches!(select.distinct, Some(Distinct::On(_))) || sorts.is_empty() {
        return None;
    }
    let keys: Vec<Expr> = sorts.iter().map(|sort| resolve_item(&sort.expr, select)).collect();
    // The number of a column of `*`, or a constant.
    if keys.iter().any(|key| matches!(key, Expr::Value(_))) {
        return None;
    }
    let names: Vec<Option<String>> = keys.iter().map(|key| find_output(key, select)).collect();
    let mut longer = query.clone();
    let SetExpr::Select(select) = longer.body.as_mut() else { return None };
    select.projection.extend(keys.iter().cloned().map(SelectItem::UnnamedExpr));
    longer.fetch = None;
    longer.limit_clause = Some(LimitClause::LimitOffset {
        limit: Some(number(MAX_TIED + 1)),
        offset: Some(Offset { value: number(offset + limit - 1), rows: OffsetRows::None }),
        limit_by: Vec::new(),
    });
    let rows = case.probe.rows(&longer.to_string(), MAX_TIED + 1).await?;
    let (last, next) = rows.split_first()?;
    let start = last.len().checked_sub(keys.len())?;
    let keys = &keys[..count_ranking(&last[start..])];
    let last_rows = known.map_or(0, |rows| count_last(rows, &names[..keys.len()]));
    let range = start..start + keys.len();
    let tied: Vec<&Vec<Json>> =
        next.iter().take_while(|row| row.get(range.clone()) == last.get(range.clone())).collect();
    // Identical rows are interchangeable.
    if tied.iter().all(|row| *row == last) {
        return None;
    }
    let shown = |(key, value): (&Expr, &Json)| match value {
        Json::String(text) => format!("`{key}` = {}", quote(text)),
        other => format!("`{key}` = {other}"),
    };
    let values = match case.is_personal {
        true => format!("the same {}", keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" and ")),
        false => keys.iter().zip(&last[start..]).map(shown).collect::<Vec<_>>().join(" and "),
    };
    let more = match tied.len() {
        1 => "1 more row has".to_owned(),
        MAX_TIED => format!("at least {MAX_TIED} more rows have"),
        count => format!("{count} more rows have"),
    };
    let message = format!("LIMIT {limit} cuts a tie: {more} {values}");
    let suggestion = match offset {
        0 => format!("keep them with RANK() <= {limit}, or mention the tie in the answer"),
        _ => "keep them with RANK(), or mention the tie in the answer".to_owned(),
    };
    Some(QueryWarning { last_rows, ..QueryWarning::new(WarningCode::Ties, message).suggest(suggestion) })
}

/// Returns the name of the column of the result that is a sort key.
fn find_output(key: &Expr, select: &Select) -> Option<String> {
    let name = match select.projection.as_slice() {
        [SelectItem::Wildcard(_)] => column_name(key),
        items => items.iter().find(|item| value_of(item) == Some(key)).and_then(output_name),
    };
    Some(name?.value.clone())
}

/// Returns the number of last rows with the same values in these columns; 0 if one of the columns is not known.
fn count_last(rows: &Rows, names: &[Option<String>]) -> usize {
    let find_place = |name: &Option<String>| {
        let name = name.as_ref()?;
        let mut places = (0..rows.columns.len()).filter(|at| rows.columns[*at].eq_ignore_ascii_case(name));
        let place = places.next()?;
        places.next().is_none().then_some(place)
    };
    let places: Option<Vec<usize>> = names.iter().map(find_place).collect();
    let (Some(places), Some(last)) = (places, rows.rows.last()) else { return 0 };
    let is_tied = |row: &&Vec<Json>| places.iter().all(|at| row.get(*at) == last.get(*at));
    rows.rows.iter().rev().take_while(is_tied).count()
}

/// Returns the number of sort keys that rank rows. After a number, the last keys are labels if they are texts: a name gives tied rows an
/// order, but no rank.
fn count_ranking(values: &[Json]) -> usize {
    let is_label = |value: &Json| matches!(value, Json::String(text) if is_label(text));
    match values.first() {
        Some(Json::Number(_)) => values.iter().rposition(|value| !is_label(value)).map_or(values.len(), |at| at + 1),
        _ => values.len(),
    }
}

/// Returns whether a text is neither a date nor a number.
fn is_label(text: &str) -> bool {
    form(text).is_none() && similarity::number(text).is_none()
}

fn number(number: usize) -> Expr {
    Expr::Value(ValueWithSpan { value: Value::Number(number.to_string(), false), span: Span::empty() })
}

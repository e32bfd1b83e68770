//! The names of the columns of an answer: as written in the statement, and for `*` as in the source.

use prospector_connect::table::Table;
use sqlparser::ast::{Ident, Query, SelectItem, SetExpr};

use crate::position::Positions;
use crate::syntax::output_name;

/// Restores the case of the column names of an answer, which DataFusion has in lower case, from the statement and its tables.
pub(crate) fn spell((sql, query): (&str, &Query), tables: &[&Table], columns: Vec<String>) -> Vec<String> {
    let items = list_items(query);
    let is_wildcard = |item: &&SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
    let head = items.iter().position(|item| is_wildcard(&item)).unwrap_or(items.len());
    let tail = items.iter().rev().position(|item| is_wildcard(&item)).unwrap_or(0);
    let count = columns.len();
    let named = columns.into_iter().enumerate().map(|(at, column)| {
        let item = match at {
            at if at < head => items.get(at),
            at if at + tail >= count => (items.len() + at).checked_sub(count).and_then(|at| items.get(at)),
            _ => return spell_as_source(tables, column),
        };
        let written = item.and_then(output_name).map(|name| write(sql, name));
        match (written, item) {
            (Some(written), _) if written.eq_ignore_ascii_case(&column) => written,
            // DataFusion's name of an expression contains the types of its constants.
            (None, Some(SelectItem::UnnamedExpr(expr))) if has_type(&column) => expr.to_string(),
            _ => column,
        }
    });
    named.collect()
}

/// Returns whether the name of an expression contains constants with their types, such as `Float64(3)`.
fn has_type(name: &str) -> bool {
    ["Utf8(", "Int64(", "Float64(", "Boolean(", "Decimal128(", "IntervalMonthDayNano("]
        .iter()
        .any(|part| name.contains(part))
}

/// Returns the items of the SELECT that names the columns.
fn list_items(query: &Query) -> &[SelectItem] {
    let mut body = query.body.as_ref();
    loop {
        body = match body {
            SetExpr::Select(select) => return &select.projection,
            SetExpr::SetOperation { left, .. } => left,
            SetExpr::Query(query) => &query.body,
            _ => return &[],
        };
    }
}

/// Returns a name with its case in the text.
fn write(sql: &str, name: &Ident) -> String {
    let (start, end) = Positions::new(sql).range(name.span);
    let written = sql.get(start..end).unwrap_or(&name.value);
    match name.quote_style {
        Some(quote) => written.trim_matches(quote).replace(&format!("{quote}{quote}"), &quote.to_string()),
        None => written.to_owned(),
    }
}

fn spell_as_source(tables: &[&Table], name: String) -> String {
    let mut columns = tables.iter().flat_map(|table| &table.columns);
    columns.find(|column| column.name.to_lowercase() == name).map_or(name, |column| column.name.clone())
}

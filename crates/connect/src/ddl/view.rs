//! Columns of a query, as far as they are evident.

use sqlparser::ast::{
    Expr, Query, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableFactor, WildcardAdditionalOptions,
};

use super::name::{last_part, table_name};
use crate::table::{Column, Table};

/// Returns the columns of a view with their names, and types if they are columns of a known table; an expression may have
/// no name. `None` if the query selects all columns of an unknown table, or of one that may still become known.
pub(super) fn columns<'t>(
    query: &Query,
    table: impl Fn(&str) -> Option<&'t Table>,
    all_are_known: bool,
) -> Option<Vec<Column>> {
    let mut body = query.body.as_ref();
    let select = loop {
        match body {
            SetExpr::Select(select) => break select,
            // The first part of a union names the columns.
            SetExpr::SetOperation { left, .. } => body = left,
            SetExpr::Query(query) => body = &query.body,
            _ => return None,
        }
    };
    // Keyed by the aliases in the query.
    let mut sources: Vec<(String, Option<&Table>)> = Vec::new();
    for from in &select.from {
        for factor in std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation)) {
            sources.push(match factor {
                TableFactor::Table { name, alias, .. } => {
                    let called = alias.as_ref().map_or_else(|| last_part(name), |alias| alias.name.value.clone());
                    let table = table(&table_name(name));
                    if table.is_none() && !all_are_known {
                        return None;
                    }
                    (called, table)
                }
                TableFactor::Derived { alias: Some(alias), .. } => (alias.name.value.clone(), None),
                _ => (String::new(), None),
            });
        }
    }
    let mut found = Vec::new();
    for item in &select.projection {
        match item {
            SelectItem::UnnamedExpr(expr) => found.push(column(expr, &sources, None)),
            SelectItem::ExprWithAlias { expr, alias } => found.push(column(expr, &sources, Some(&alias.value))),
            SelectItem::Wildcard(options) if is_bare(options) => {
                for (_, table) in &sources {
                    found.extend((*table)?.columns.iter().map(to_view_column));
                }
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options)
                if is_bare(options) =>
            {
                let name = last_part(name);
                let (_, table) = sources.iter().find(|(called, _)| called.eq_ignore_ascii_case(&name))?;
                found.extend((*table)?.columns.iter().map(to_view_column));
            }
            _ => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}

fn is_bare(options: &WildcardAdditionalOptions) -> bool {
    options.opt_except.is_none()
        && options.opt_exclude.is_none()
        && options.opt_rename.is_none()
        && options.opt_ilike.is_none()
}

fn column(expr: &Expr, sources: &[(String, Option<&Table>)], alias: Option<&str>) -> Column {
    let (name, source) = match expr {
        Expr::Identifier(name) => (Some(name.value.as_str()), None),
        Expr::CompoundIdentifier(parts) => {
            let mut parts = parts.iter().rev().map(|part| part.value.as_str());
            (parts.next(), parts.next())
        }
        _ => (None, None),
    };
    let of_table = name.and_then(|name| {
        sources
            .iter()
            .filter(|(called, _)| source.is_none_or(|source| called.eq_ignore_ascii_case(source)))
            .filter_map(|(_, table)| *table)
            .find_map(|table| table.column(name))
    });
    let name = alias.or(name).unwrap_or_default().to_owned();
    match of_table {
        Some(column) => Column { name, ..to_view_column(column) },
        None => Column { name, nullable: true, ..Column::default() },
    }
}

/// Returns a column as part of a view: without keys.
fn to_view_column(column: &Column) -> Column {
    Column { primary_key: false, ..column.clone() }
}

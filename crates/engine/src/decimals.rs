//! Decimals of SQLite, which stores and sums them as binary floating point: results computed from columns declared as
//! `NUMERIC(10, 2)` are rounded to the scale of their columns.

use prospector_connect::rows::Rows;
use prospector_connect::table::{ColumnType, Table};
use serde_json::Value;
use sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Query, SelectItem, SetExpr, TableFactor,
    UnaryOperator, Value as Literal,
};

/// Numbers with more digits than this are not exact in binary floating point.
const MAX_EXACT: f64 = 9e15;

/// The scale (fractional digits) of each column of an answer; `None` if unknown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Scales(Vec<Option<u8>>);

impl Scales {
    /// Determines the scales of the columns of a query over these tables.
    pub(crate) fn of(query: &Query, tables: &[&Table]) -> Scales {
        Scales(scales(query, tables).unwrap_or_default())
    }

    /// Returns whether no scale is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// Rounds decimals that became floating-point numbers.
    pub(crate) fn round(&self, rows: &mut Rows) {
        if self.is_empty() || rows.columns.len() != self.0.len() {
            return;
        }
        for row in &mut rows.rows {
            for (value, scale) in row.iter_mut().zip(&self.0) {
                let Some(scale) = scale else { continue };
                let factor = 10_f64.powi(i32::from(*scale));
                let rounded = value.as_f64().filter(|number| value.is_f64() && number.abs() * factor < MAX_EXACT);
                if let Some(number) = rounded {
                    *value = Value::from((number * factor).round() / factor);
                }
            }
        }
    }
}

/// Returns the scale of each column, or `None` if the columns cannot be determined individually.
fn scales(query: &Query, tables: &[&Table]) -> Option<Vec<Option<u8>>> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    match (select.projection.as_slice(), select.from.as_slice()) {
        // `SELECT *` over a single query in FROM.
        ([SelectItem::Wildcard(_)], [from]) if from.joins.is_empty() => match &from.relation {
            TableFactor::Derived { subquery, .. } => scales(subquery, tables),
            _ => None,
        },
        (items, _) => items
            .iter()
            .map(|item| match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(scale(expr, tables)),
                _ => None,
            })
            .collect(),
    }
}

fn scale(expr: &Expr, tables: &[&Table]) -> Option<u8> {
    let both = |left: &Expr, right: &Expr| Some((scale(left, tables)?, scale(right, tables)?));
    match expr {
        Expr::Nested(inner) => scale(inner, tables),
        Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr } => scale(expr, tables),
        Expr::Identifier(name) => scale_of_column(&name.value, tables),
        Expr::CompoundIdentifier(parts) => scale_of_column(&parts.last()?.value, tables),
        Expr::Value(value) => match &value.value {
            Literal::Number(text, _) => {
                let is_plain = !text.contains(['e', 'E']);
                let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
                is_plain.then(|| u8::try_from(digits).ok()).flatten()
            }
            _ => None,
        },
        Expr::BinaryOp { left, op: BinaryOperator::Plus | BinaryOperator::Minus, right } => {
            both(left, right).map(|(left, right)| left.max(right))
        }
        Expr::BinaryOp { left, op: BinaryOperator::Multiply, right } => {
            both(left, right).and_then(|(left, right)| left.checked_add(right))
        }
        Expr::Function(call) => {
            let name = call.name.to_string().trim_matches('"').to_lowercase();
            let FunctionArguments::List(list) = &call.args else { return None };
            let arguments = list.args.iter().map(|argument| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => scale(expr, tables),
                _ => None,
            });
            match name.as_str() {
                "count" => Some(0),
                "sum" | "total" | "min" | "max" | "abs" | "coalesce" | "ifnull" => {
                    arguments.collect::<Option<Vec<u8>>>()?.into_iter().max()
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the declared scale of a column, if all tables of the query agree on it.
fn scale_of_column(name: &str, tables: &[&Table]) -> Option<u8> {
    let mut found = tables.iter().filter_map(|table| table.column(name)).map(|column| match column.column_type {
        ColumnType::Integer => Some(0),
        _ => declared_scale(&column.data_type),
    });
    let first = found.next()??;
    found.all(|other| other == Some(first)).then_some(first)
}

/// Parses the scale of `NUMERIC(10, 2)` or `DECIMAL(10,2)`.
fn declared_scale(declared: &str) -> Option<u8> {
    let lower = declared.to_lowercase();
    let is_decimal = ["numeric", "decimal"].iter().any(|word| lower.trim_start().starts_with(word));
    let inside = lower.split_once('(')?.1.split_once(')')?.0;
    let scale = inside.split_once(',').map_or("0", |(_, scale)| scale).trim().parse::<u8>().ok()?;
    (is_decimal && scale <= 12).then_some(scale)
}

#[cfg(test)]
mod tests {
    use prospector_connect::table::Column;
    use serde_json::json;

    use super::*;
    use crate::Dialect;
    use crate::guard::examine;

    fn check(items: &str, value: f64, expected: f64) {
        let column = |name: &str, data_type: &str, column_type| Column {
            name: name.into(),
            data_type: data_type.into(),
            column_type,
            ..Column::default()
        };
        let columns = vec![
            column("total", "NUMERIC(10, 2)", ColumnType::Float),
            column("rate", "REAL", ColumnType::Float),
            column("n", "INTEGER", ColumnType::Integer),
        ];
        let table = Table { name: "t".into(), columns, ..Table::default() };
        let query = examine(Dialect::Sqlite, &[], &format!("SELECT {items} FROM t")).unwrap().query;
        let mut rows = Rows { columns: vec!["x".into()], rows: vec![vec![json!(value)]], has_more: false };
        Scales::of(&query, &[&table]).round(&mut rows);
        assert_eq!(rows.rows[0][0], json!(expected), "{items}");
    }

    #[test]
    fn sums_of_decimals_keep_the_scale_of_their_columns() {
        check("SUM(total)", 9045.199999999999, 9045.2);
        check("SUM(t.total * n)", 44473.00000000001, 44473.0);
        check("SUM(total) - 1.5", 0.30000000000000004, 0.3);
        check("COALESCE(SUM(\"total\"), 0) AS x", 0.30000000000000004, 0.3);
        // Neither an average nor a value that is stored as a float has a fixed scale.
        check("AVG(total)", 2525.7076923076925, 2525.7076923076925);
        check("SUM(rate)", 0.30000000000000004, 0.30000000000000004);
        check("total / n", 0.3333333333333333, 0.3333333333333333);
        let inner = "* FROM (SELECT SUM(total) AS x FROM t) AS q --";
        check(inner, 9045.199999999999, 9045.2);
    }
}

//! Properties of a query that follow from its text: which columns are function calls, which values it compares, whether it
//! filters rows.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use prospector_connect::sql::{Dialect, parse_text};
use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, Query, Select, SelectItem, Statement, UnaryOperator, Value, Visit, Visitor,
    visit_expressions,
};

use crate::syntax::{column_name, name_of, plain_call};

/// The maximum length of a parsed text in characters.
const MAX_CHARS: usize = 20_000;

/// Properties of a query that are certain without its rows and tables.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Outline {
    /// The values that columns are compared with, in the order of the text.
    pub compared: Vec<ComparedValue>,
    /// The numbers in the text.
    pub numbers: Vec<f64>,
    /// Whether it may exclude rows: it has a condition or a limit, or cannot be parsed.
    pub is_filtered: bool,
    /// Whether it has GROUP BY.
    pub is_grouped: bool,
    /// The function that computes a column, by the column's name in lower case, without rounding and defaults; `None` if
    /// the name has other expressions too.
    functions: BTreeMap<String, Option<String>>,
    /// The functions of unnamed columns.
    unnamed: Vec<String>,
    /// The column that an alias renames, both in lower case.
    renamed: BTreeMap<String, String>,
    /// The columns and aliases in GROUP BY, and the columns that are equal to other columns, in lower case.
    keys: BTreeSet<String>,
    /// The aliases of functions in GROUP BY, in lower case.
    groups: BTreeSet<String>,
}

/// A text or a number that a column is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedValue {
    /// The column in lower case, or empty.
    pub column: String,
    /// The value; a pattern without the `%` at its ends.
    pub text: String,
    /// Whether the comparison is an equality or a list.
    pub is_equal: bool,
}

impl Outline {
    /// Parses a query in the first dialect that knows it, in bounded time.
    ///
    /// ```
    /// # use prospector_engine::query::Outline;
    /// let outline = Outline::of("SELECT country, COUNT(*) AS n FROM t WHERE stat_cd = 'P' GROUP BY 1");
    /// assert_eq!(outline.function_of("n"), Some("count"));
    /// assert_eq!((outline.compared[0].column.as_str(), outline.compared[0].text.as_str()), ("stat_cd", "P"));
    /// assert!(outline.is_filtered && outline.is_grouped);
    /// ```
    pub fn of(sql: &str) -> Outline {
        let parse = |dialect: &Dialect| parse_text(dialect.grammar(), sql).ok();
        let parsed = (sql.len() <= MAX_CHARS).then(|| Dialect::ALL.iter().find_map(parse)).flatten();
        let Some([Statement::Query(query)]) = parsed.as_deref() else {
            return Outline { is_filtered: true, ..Outline::default() };
        };
        let mut outline = Outline::default();
        let _ = query.visit(&mut outline);
        outline
    }

    /// Returns the function that computes a column, such as `count`; `None` if that is not certain. Rounding, casts and
    /// defaults for NULL are skipped.
    pub fn function_of(&self, column: &str) -> Option<&str> {
        let column = column.to_lowercase();
        if let Some(function) = self.functions.get(&column) {
            return function.as_deref();
        }
        let name = column.split('(').next().unwrap_or_default().trim_end_matches("_star");
        self.unnamed.iter().map(String::as_str).find(|function| *function == name)
    }

    /// Returns whether a column of the result is one by which the query groups or joins, so that its values name rows.
    ///
    /// ```
    /// # use prospector_engine::query::Outline;
    /// let outline = Outline::of("SELECT o.shop_id AS shop, COUNT(*) AS n FROM orders o GROUP BY o.shop_id");
    /// assert!(outline.is_key("shop") && !outline.is_key("n"));
    /// ```
    pub fn is_key(&self, column: &str) -> bool {
        let column = column.to_lowercase();
        let origin = self.renamed.get(&column).unwrap_or(&column);
        let is_named = self.keys.contains(&column) || self.keys.contains(origin);
        self.groups.contains(&column) || self.function_of(&column).is_none() && is_named
    }

    /// Adds the columns of GROUP BY. A number is the position of a column, another expression the column or its alias.
    fn add_groups(&mut self, groups: &[Expr], select: &Select) {
        for group in groups {
            let name = column_of(group);
            let position = literal(group).and_then(|text| text.parse::<usize>().ok()?.checked_sub(1));
            let is_same = |item: &&SelectItem| match item {
                SelectItem::ExprWithAlias { expr, alias } => {
                    expr == group || name.as_ref().is_some_and(|name| *name == alias.value.to_lowercase())
                }
                _ => false,
            };
            let item = match position {
                Some(position) => select.projection.get(position),
                None => select.projection.iter().find(is_same),
            };
            match item {
                Some(SelectItem::ExprWithAlias { expr: Expr::Function(_), alias }) => {
                    self.groups.insert(alias.value.to_lowercase());
                }
                Some(SelectItem::ExprWithAlias { alias, .. }) => self.keys.extend([alias.value.to_lowercase()]),
                Some(SelectItem::UnnamedExpr(expr)) => self.keys.extend(column_of(expr)),
                _ => {}
            }
            self.keys.extend(name);
        }
    }

    fn add_item(&mut self, item: &SelectItem) {
        match item {
            SelectItem::UnnamedExpr(Expr::Function(function)) => self.unnamed.push(name_of(function)),
            SelectItem::ExprWithAlias { expr, alias } => {
                let function = match without_rounding(expr) {
                    Expr::Function(function) => Some(name_of(function)),
                    // A column of a subquery keeps the function of the subquery.
                    Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
                        self.renamed.extend(column_of(expr).map(|column| (alias.value.to_lowercase(), column)));
                        return;
                    }
                    _ => None,
                };
                let known = self.functions.entry(alias.value.to_lowercase()).or_insert_with(|| function.clone());
                if *known != function {
                    *known = None;
                }
            }
            _ => {}
        }
    }

    fn compare(&mut self, subject: &Expr, value: &Expr, is_equal: bool) {
        if let Some(text) = literal(value) {
            let text = text.trim_matches('%').to_owned();
            self.compared.push(ComparedValue { column: find_column(subject), text, is_equal });
        }
    }
}

impl Visitor for Outline {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.is_filtered |= query.limit_clause.is_some() || query.fetch.is_some();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.is_filtered |=
            select.selection.is_some() || select.having.is_some() || select.qualify.is_some() || select.top.is_some();
        self.is_grouped |= !matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty());
        if let GroupByExpr::Expressions(groups, _) = &select.group_by {
            self.add_groups(groups, select);
        }
        select.projection.iter().for_each(|item| self.add_item(item));
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(function) => self.is_filtered |= function.filter.is_some(),
            Expr::Value(value) => {
                if let Value::Number(number, _) = &value.value {
                    self.numbers.extend(number.to_string().parse::<f64>().ok());
                }
            }
            Expr::BinaryOp { left, op, right } if is_comparison(op) => {
                let is_equal = *op == BinaryOperator::Eq;
                self.compare(left, right, is_equal);
                self.compare(right, left, is_equal);
                if let (true, Some(left), Some(right)) = (is_equal, column_of(left), column_of(right)) {
                    self.keys.extend([left, right]);
                }
            }
            Expr::InList { expr, list, .. } => list.iter().for_each(|value| self.compare(expr, value, true)),
            Expr::Between { expr, low, high, .. } => {
                self.compare(expr, low, false);
                self.compare(expr, high, false);
            }
            Expr::Like { expr, pattern, .. } | Expr::ILike { expr, pattern, .. } => self.compare(expr, pattern, true),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Returns the expression that rounding, casts and defaults for NULL are applied to.
fn without_rounding(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => without_rounding(inner),
        Expr::Function(_) => match plain_call(expr) {
            Some(call) if matches!(call.name.as_str(), "round" | "coalesce" | "ifnull") => {
                call.arguments.first().map_or(expr, |inner| without_rounding(inner))
            }
            _ => expr,
        },
        _ => expr,
    }
}

fn is_comparison(op: &BinaryOperator) -> bool {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}

/// Returns the text of a literal, also of a typed one.
fn literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => number.to_string().parse::<f64>().ok().map(|number| number.to_string()),
            other => other.clone().into_string(),
        },
        Expr::TypedString(typed) => typed.value.value.clone().into_string(),
        Expr::Cast { expr, .. } | Expr::Nested(expr) => literal(expr),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => literal(expr).map(|number| format!("-{number}")),
        _ => None,
    }
}

/// Returns the name of a column in lower case; `None` for another expression.
fn column_of(expr: &Expr) -> Option<String> {
    column_name(expr).map(|name| name.value.to_lowercase())
}

/// Returns the last column in an expression, in lower case.
fn find_column(expr: &Expr) -> String {
    let mut last = None;
    let _ = visit_expressions(expr, |expr| {
        last = column_of(expr).or(last.take());
        ControlFlow::<()>::Continue(())
    });
    last.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_columns_that_count() {
        for (sql, column, expected) in [
            ("SELECT country, COUNT(*) AS n FROM t GROUP BY 1", "n", Some("count")),
            ("SELECT q.n FROM (SELECT count(DISTINCT id) \"N\" FROM t) q", "N", Some("count")),
            ("SELECT COUNT(*) OVER (PARTITION BY a) n FROM t", "n", Some("count")),
            ("SELECT COUNT(*) FILTER (WHERE x = 'a') AS n FROM t", "n", Some("count")),
            ("SELECT COUNT(*) FROM t", "COUNT(*)", Some("count")),
            ("SELECT count(*) FROM t", "count_star()", Some("count")),
            ("SELECT 100.0 * COUNT(*) / 7 AS share FROM t", "share", None),
            ("SELECT COUNT(*) * 1.0 / 7 AS share FROM t", "share", None),
            ("SELECT COUNT(*) AS n FROM a UNION SELECT SUM(x) AS n FROM b", "n", None),
            ("SELECT n / 7 AS n FROM (SELECT COUNT(*) AS n FROM t) q", "n", None),
            ("SELECT a -- COUNT(*) AS a\n FROM t", "a", None),
            ("SELECT ROUND(COALESCE(CAST(SUM(x) AS DOUBLE), 0), 2) AS total FROM t", "total", Some("sum")),
            ("SELECT ROUND(SUM(x) / 7, 2) AS total FROM t", "total", None),
            ("", "n", None),
        ] {
            assert_eq!(Outline::of(sql).function_of(column), expected, "{sql}");
        }
    }

    #[test]
    fn finds_values_that_columns_are_compared_with() {
        let check = |sql: &str, expected: &[(&str, &str, bool)]| {
            let outline = Outline::of(sql);
            let compared = outline.compared.iter();
            let found: Vec<(&str, &str, bool)> =
                compared.map(|one| (one.column.as_str(), one.text.as_str(), one.is_equal)).collect();
            assert_eq!(found, expected, "{sql}");
        };
        check("SELECT 1 FROM t WHERE t.country = 'DE'", &[("country", "DE", true)]);
        check("SELECT 1 FROM t WHERE 'DE' = t.country", &[("country", "DE", true)]);
        check("SELECT 1 FROM t WHERE c NOT IN ('a', 'it''s')", &[("c", "a", true), ("c", "it's", true)]);
        check("SELECT strftime('%Y', d) FROM t WHERE \"D\" >= '2025-01-01'", &[("d", "2025-01-01", false)]);
        check("SELECT 1 FROM t WHERE strftime('%Y', d) = '2025'", &[("d", "2025", true)]);
        check("SELECT 1 FROM t WHERE date >= DATE '2025-01-01'", &[("date", "2025-01-01", false)]);
        check(
            "SELECT 1 FROM t WHERE d BETWEEN '2025-01-01' AND '2025-12-31' AND n LIKE 'A%'",
            &[("d", "2025-01-01", false), ("d", "2025-12-31", false), ("n", "A", true)],
        );
        check("SELECT COALESCE(a, 'none') FROM t WHERE y = 2025 LIMIT 9", &[("y", "2025", true)]);
        check("SELECT 'unclosed", &[]);
    }

    #[test]
    fn finds_columns_that_name_rows() {
        for (sql, column, expected) in [
            ("SELECT h.EmployeeID, COUNT(*) AS n FROM h GROUP BY h.EmployeeID", "EmployeeID", true),
            ("SELECT e.id AS employee, SUM(x) FROM e GROUP BY 1", "employee", true),
            ("SELECT e.id, o.total FROM e JOIN o ON o.employee_id = e.id", "id", true),
            ("SELECT e.id, o.total FROM e JOIN o ON o.employee_id = e.id", "total", false),
            ("SELECT x / 2 AS half, COUNT(*) AS n FROM t GROUP BY half", "half", true),
            ("SELECT x / 2 AS half, COUNT(*) AS n FROM t GROUP BY half", "n", false),
            ("SELECT id, pages FROM books WHERE pages = 5", "pages", false),
            ("SELECT hour(d) AS h, COUNT(*) AS n FROM t GROUP BY 1", "h", true),
            ("SELECT hour(d) AS h, COUNT(*) AS n FROM t GROUP BY hour(d)", "h", true),
            ("SELECT hour(d) AS h, COUNT(*) AS n FROM t GROUP BY h", "h", true),
            ("SELECT hour(d) AS h, COUNT(*) AS n FROM t GROUP BY h", "n", false),
        ] {
            assert_eq!(Outline::of(sql).is_key(column), expected, "{sql}: {column}");
        }
    }

    #[test]
    fn finds_filters_and_groups() {
        for (sql, is_filtered, is_grouped) in [
            ("SELECT SUM(x) FROM t", false, false),
            ("SELECT y, SUM(x) FROM t GROUP BY y", false, true),
            ("SELECT x FROM t WHERE y = 1", true, false),
            ("SELECT x AS \"where\" FROM t", false, false),
            ("SELECT x FROM t LIMIT 5", true, false),
            ("SELECT y FROM t GROUP BY y HAVING COUNT(*) > 1", true, true),
            ("not a query", true, false),
        ] {
            let outline = Outline::of(sql);
            assert_eq!((outline.is_filtered, outline.is_grouped), (is_filtered, is_grouped), "{sql}");
        }
    }
}

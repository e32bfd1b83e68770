//! Inspection of a statement from its text and the described tables; no source is asked.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{Expr, UnaryOperator, Value, Visit, Visitor};

use crate::engine::column;
use crate::plan::Plan;
use crate::resolution::resolve_names;
use crate::{Dialect, Engine, Failure};

/// The maximum number of listed literals.
const MAX_LITERALS: usize = 200;

/// What a statement reads and returns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// The dialect that the statement is parsed in.
    pub dialect: Dialect,
    /// The database in whose SQL it is written and in which it runs; `None` if it is DataFusion's SQL and runs here.
    pub database: Option<String>,
    /// The databases of the tables, in alphabetical order.
    pub databases: Vec<String>,
    /// The tables of the catalog, as `database.table` in alphabetical order.
    pub tables: Vec<String>,
    /// The columns of these tables that it reads, as `database.table.column` in alphabetical order, if their table is certain.
    /// `*` and `t.*` read all columns of the tables; `COUNT(*)` and `EXISTS (SELECT * ...)` read none.
    pub columns: Vec<String>,
    /// The aliases of the session's tables that it reads, such as `step_1`, in lower case and in alphabetical order.
    pub inputs: Vec<String>,
    /// The names of columns that do not exist, as written, in lower case. A name is listed only if all its possible meanings
    /// are described; this never holds for BigQuery, whose records and pseudo columns are not described.
    pub unknown_columns: Vec<String>,
    /// The names of the columns of the answer, in order; empty if one of them is uncertain.
    pub output: Vec<String>,
    /// The distinct literals of the statement, in its order: texts as they are, numbers in plain decimals with their sign, at
    /// most 200.
    pub literals: Vec<String>,
}

impl Engine {
    /// Validates a statement as [`Engine::run`] does, and returns what it would read; nothing is run, and no source is asked.
    ///
    /// ```
    /// # use prospector_connect::source::{Source as Place, SourceKind};
    /// # use prospector_engine::{Engine, Source};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("orders.csv");
    /// std::fs::write(&path, "id,total\n1,9.50\n")?;
    /// # let connector = prospector_connect::open(&Place::files(SourceKind::Csv, vec![path]))?;
    /// # let (tables, _) = connector.describe().await?;
    /// # let engine = Engine::new(vec![Source { name: "shop".into(), tables, functions: Vec::new(), connector }]);
    /// let found = engine.inspect("SELECT SUM(o.total) AS revenue, o.tax FROM shop.orders o WHERE o.id > -5", None).await?;
    /// assert_eq!(found.tables, ["shop.orders"]);
    /// assert_eq!(found.columns, ["shop.orders.id", "shop.orders.total"]);
    /// assert_eq!(found.unknown_columns, ["o.tax"]);
    /// assert_eq!(found.output, ["revenue", "tax"]);
    /// assert_eq!(found.literals, ["-5"]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] for a text that is not one query that only reads, and for unknown tables.
    pub async fn inspect(&self, sql: &str, database: Option<&str>) -> Result<Inspection, Failure> {
        Ok(inspect(&self.plan(sql, database).await?))
    }

    /// Returns whether there is a column of that name, `database.table.column`.
    pub fn has_column(&self, name: &str) -> bool {
        let parts = name.rsplit_once('.').and_then(|(table, column)| Some((table.split_once('.')?, column)));
        parts.is_some_and(|((database, table), name)| {
            self.table(database, table).is_ok_and(|(_, table)| column(table, name).is_ok())
        })
    }
}

fn inspect(plan: &Plan) -> Inspection {
    let (mut databases, mut tables, mut inputs) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for found in &plan.found {
        match (plan.view.subset(found), plan.named_read(found)) {
            (_, Some(read)) => {
                databases.extend(read.databases.iter().cloned());
                tables.extend(read.origins.iter().cloned());
            }
            (Some(held), None) => drop(inputs.insert(held.table.name.clone())),
            (None, None) => {
                databases.insert(plan.view.database(found));
                tables.insert(plan.view.origin(found));
            }
        }
    }
    let names = resolve_names(plan);
    let output = names.output.iter().flatten().map(|column| column.name.clone()).collect::<Option<_>>();
    let mut literals = Literals::default();
    let _ = plan.query().visit(&mut literals);
    names.texts.iter().for_each(|text| literals.add(text.clone()));
    Inspection {
        dialect: plan.dialect(),
        database: plan.native.as_ref().map(|(source, _)| plan.view[*source].name.clone()),
        databases: databases.into_iter().collect(),
        tables: tables.into_iter().collect(),
        columns: names.columns.into_iter().collect(),
        inputs: inputs.into_iter().collect(),
        unknown_columns: names.unknown.into_iter().collect(),
        output: output.unwrap_or_default(),
        literals: literals.found,
    }
}

/// Collects the distinct literals of a statement.
#[derive(Default)]
struct Literals {
    found: Vec<String>,
    /// Whether the next number is preceded by a minus.
    is_negative: bool,
}

impl Literals {
    fn add(&mut self, literal: String) {
        if self.found.len() < MAX_LITERALS && !self.found.contains(&literal) {
            self.found.push(literal);
        }
    }

    fn add_value(&mut self, value: &Value) {
        match value {
            Value::Number(number, _) => {
                let number = plain_number(&number.to_string());
                let sign = if self.is_negative && number != "0" { "-" } else { "" };
                self.add(format!("{sign}{number}"));
            }
            other => {
                if let Some(text) = other.clone().into_string() {
                    self.add(text);
                }
            }
        }
    }
}

impl Visitor for Literals {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Value(value) => self.add_value(&value.value),
            Expr::TypedString(typed) => self.add_value(&typed.value.value),
            _ => {}
        }
        self.is_negative = match expr {
            Expr::UnaryOp { op: UnaryOperator::Minus, .. } => !self.is_negative,
            Expr::UnaryOp { op: UnaryOperator::Plus, .. } | Expr::Nested(_) => self.is_negative,
            _ => false,
        };
        ControlFlow::Continue(())
    }
}

/// Returns a number in plain decimal notation, without redundant zeros.
fn plain_number(written: &str) -> String {
    let digits = written.replace('_', "").to_ascii_lowercase();
    let plain = match digits.contains('e').then(|| digits.parse::<f64>()) {
        Some(Ok(number)) if number.is_finite() => number.to_string(),
        _ => digits,
    };
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalizes_numbers() {
        let check = |written: &str, expected: &str| assert_eq!(plain_number(written), expected, "{written}");
        check("007", "7");
        check("1.50", "1.5");
        check("0.0", "0");
        check(".5", "0.5");
        check("1_000", "1000");
        check("1e3", "1000");
        check("2.5E-1", "0.25");
        check("99999999999999999999", "99999999999999999999");
    }
}

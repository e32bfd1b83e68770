//! What a query reads, told from its text and from what was described of the sources: none of them is asked.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Ident, Query, SelectItem, SetExpr, TableAlias, TableFactor, Visit, Visitor, WindowType};

use crate::engine::{Plan, column};
use crate::{Dialect, Engine, Failure};

/// What a query reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The databases, in alphabetical order.
    pub databases: Vec<String>,
    /// The tables, as `database.table` in alphabetical order.
    pub tables: Vec<String>,
    /// The columns that none of these tables has, as they are written.
    pub unknown_columns: Vec<String>,
}

impl Engine {
    /// Judges a query as [`Engine::run`] does, and tells what it would read; nothing is run, and no source is asked. Of
    /// BigQuery, whose parts of dates look like columns, columns are not checked.
    ///
    /// # Errors
    /// A [`Failure`] for a text that is no query which only reads, and for tables that there are not.
    pub async fn inspect(&self, sql: &str, database: Option<&str>) -> Result<Inspection, Failure> {
        let plan = self.plan(sql, database).await?;
        let unknown_columns = match plan.dialect() {
            Dialect::Bigquery => Vec::new(),
            Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Joined => unknown_columns(&plan),
        };
        Ok(Inspection { databases: plan.databases(), tables: plan.origins(), unknown_columns })
    }

    /// Whether there is a column of that name, `database.table.column`.
    pub fn has_column(&self, name: &str) -> bool {
        let parts = name.rsplit_once('.').and_then(|(table, column)| Some((table.split_once('.')?, column)));
        parts.is_some_and(|((database, table), name)| {
            self.table(database, table).is_ok_and(|(_, table)| column(table, name).is_ok())
        })
    }
}

/// The names that a query uses as columns, and those that it may.
#[derive(Default)]
struct Names {
    known: HashSet<String>,
    used: Vec<Vec<String>>,
}

fn unknown_columns(plan: &Plan) -> Vec<String> {
    let mut names = Names::default();
    for (_, table) in plan.reads() {
        names.known.extend(table.columns.iter().map(|column| column.name.to_lowercase()));
    }
    // What SQLite calls the number of a row, whatever the table.
    names.known.insert("rowid".into());
    let _ = plan.query().visit(&mut names);
    let Names { known, used } = names;
    let unknown = |parts: &&Vec<String>| !parts.iter().any(|part| known.contains(part));
    let found: BTreeSet<String> = used.iter().filter(unknown).map(|parts| parts.join(".")).collect();
    found.into_iter().collect()
}

fn lower(name: &Ident) -> String {
    name.value.to_lowercase()
}

impl Names {
    fn note_alias(&mut self, alias: &TableAlias) {
        self.known.extend(alias.columns.iter().map(|column| lower(&column.name)));
    }
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.note_alias(&cte.alias);
        }
        let mut bodies = vec![query.body.as_ref()];
        while let Some(body) = bodies.pop() {
            match body {
                SetExpr::Select(select) => {
                    for item in &select.projection {
                        if let SelectItem::ExprWithAlias { alias, .. } = item {
                            self.known.insert(lower(alias));
                        }
                    }
                    for window in &select.named_window {
                        self.known.insert(lower(&window.0));
                    }
                }
                SetExpr::SetOperation { left, right, .. } => bodies.extend([left.as_ref(), right.as_ref()]),
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Derived { alias: Some(alias), .. } | TableFactor::Table { alias: Some(alias), .. } = factor
        {
            self.note_alias(alias);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(name) => self.used.push(vec![lower(name)]),
            Expr::CompoundIdentifier(parts) => self.used.push(parts.iter().map(lower).collect()),
            Expr::Function(function) => {
                if let Some(WindowType::NamedWindow(name)) = &function.over {
                    self.known.insert(lower(name));
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

//! Query planning: a statement is validated, its tables are resolved, and named queries are inlined or read first.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use prospector_connect::table::{Column, ColumnType, Table};
use sqlparser::ast::ObjectName;

use crate::guard::{CheckedQuery, examine};
use crate::information_schema;
use crate::named::{self, NamedQuery};
use crate::options::EngineOptions;
use crate::plan::{NamedRead, Plan};
use crate::resolution::resolve_names;
use crate::scope::StoredSubset;
use crate::syntax::last_part;
use crate::view::View;
use crate::{Dialect, Failure, FailureCode, native};

/// The dialect of statements that no single database can run.
const JOINED_RULE: &str = "a statement that reads step_N or several databases is DataFusion SQL: use date_trunc / to_char \
    for parts of dates (not strftime or DATE_FORMAT), string_agg (not GROUP_CONCAT), INTERVAL '1 month'";

/// The maximum nesting depth of named queries that read named queries.
const MAX_NAMED_DEPTH: usize = 8;

/// Plans a query over one database (`only`), or over any.
pub(crate) fn plan(view: &View, sql: &str, only: Option<usize>, options: &EngineOptions) -> Result<Plan, Failure> {
    let expanded = information_schema::expand(view, sql, only)?;
    let sql = expanded.as_deref().unwrap_or(sql);
    Planner { options, sources: view.without_subsets(), prepared: RefCell::default() }.plan(view, sql, only)
}

/// Inlines named queries into the text of a query over one database, in its SQL, or over several without `only`. Queries
/// that cannot be inlined keep their names.
///
/// # Errors
/// If a named query cannot be read.
pub(crate) fn inline(view: &View, sql: &str, only: Option<usize>, options: &EngineOptions) -> Result<String, Failure> {
    let planner = Planner { options, sources: view.without_subsets(), prepared: RefCell::default() };
    let dialect = only.map_or(Dialect::Joined, |only| view[only].dialect());
    let checked = examine(dialect, &functions_of(view, dialect, only), sql)?;
    Ok(planner.expand(view, sql, &checked, dialect, only)?.map_or_else(|| sql.to_owned(), |expanded| expanded.sql))
}

/// The plan of a named query, or its failure.
type PreparedPlan = Result<Rc<Plan>, Failure>;

/// Plans one statement, and the named queries that it reads.
struct Planner<'a> {
    options: &'a EngineOptions,
    /// The sources without loaded subsets, which named queries never read.
    sources: View,
    /// The planned named queries by their index; `None` while one is being planned.
    prepared: RefCell<BTreeMap<usize, Option<PreparedPlan>>>,
}

/// A statement with its named queries expanded.
struct Expanded {
    sql: String,
    reads_first: Vec<NamedRead>,
    /// The tables that represent the rows of named queries that are read first.
    tables: Vec<Arc<StoredSubset>>,
}

impl Planner<'_> {
    fn plan(&self, view: &View, sql: &str, only: Option<usize>) -> Result<Plan, Failure> {
        if let Some(only) = only {
            return match self.plan_in(view, sql, view[only].dialect(), Some(only)) {
                // Loaded subsets, and the rows of named queries, can be joined with any database.
                Err(failure) if matches!(failure.code, FailureCode::UnknownTable | FailureCode::Elsewhere) => {
                    match self.plan_in(view, sql, Dialect::Joined, None) {
                        Ok(plan) if plan.is_scoped() => Ok(plan),
                        Err(second) if failure.code == FailureCode::Elsewhere => {
                            Err(explain_elsewhere(advise_joined(second), &failure))
                        }
                        Err(second) if reads_subset(view, sql, only) => Err(advise_joined(second)),
                        Ok(_) | Err(_) => Err(failure),
                    }
                }
                done => done,
            };
        }
        // The dialect is determined by the tables that the statement names.
        let mut failures = Vec::new();
        for dialect in Dialect::ALL {
            let is_available = dialect == Dialect::Joined || view.iter().any(|source| source.dialect() == dialect);
            if !is_available {
                continue;
            }
            match self.plan_in(view, sql, dialect, None) {
                Ok(plan) => return Ok(plan),
                Err(failure) => failures.push((dialect, failure)),
            }
        }
        // All tables were found, but not in one database.
        if failures.iter().any(|(_, failure)| failure.code == FailureCode::Elsewhere)
            && let Some((_, joined)) = failures.pop_if(|(_, failure)| failure.code != FailureCode::Elsewhere)
        {
            return Err(advise_joined(joined));
        }
        // The failure of the dialect that got furthest has the most useful suggestion.
        let rank = |failure: &Failure| match failure.code {
            FailureCode::Refused | FailureCode::Unavailable | FailureCode::TooLarge | FailureCode::InvalidArguments => {
                0
            }
            FailureCode::UnknownTable => 1,
            FailureCode::Elsewhere => 3,
            _ => 2,
        };
        // Prefers the dialect of a source that the statement names.
        let lower = sql.to_lowercase();
        let is_named = |dialect: Dialect| {
            let mut own = view.iter().filter(|source| source.dialect() == dialect);
            own.any(|source| lower.contains(&source.name.to_lowercase()))
        };
        failures.sort_by_key(|(dialect, failure)| (rank(failure), !is_named(*dialect)));
        Err(failures
            .into_iter()
            .map(|(_, failure)| failure)
            .next()
            .unwrap_or_else(|| Failure::new(FailureCode::Failed, "there is no database")))
    }

    fn plan_in(&self, view: &View, sql: &str, dialect: Dialect, only: Option<usize>) -> Result<Plan, Failure> {
        let functions = functions_of(view, dialect, only);
        let checked = examine(dialect, &functions, sql)?;
        let has_named = self.expand(view, sql, &checked, dialect, only)?;
        let (view, sql, checked, reads_first, has_named) = match has_named {
            None => (view.clone(), sql.to_owned(), checked, Vec::new(), false),
            Some(Expanded { sql, reads_first, tables }) => {
                let checked = examine(dialect, &functions, &sql)?;
                (view.with(tables), sql, checked, reads_first, true)
            }
        };
        let reads = &checked.rewritten.reads;
        let found =
            view.resolve(only, dialect, reads).map_err(|failure| match failure.code == FailureCode::UnknownTable {
                true => self.options.only_described(reads).unwrap_or(failure),
                false => failure,
            })?;
        let native = match dialect {
            Dialect::Joined => None,
            Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Bigquery => {
                let first = only.or(found.first().map(|found| found.source));
                let is_own = |at: usize| view[at].dialect() == dialect && found.iter().all(|found| found.source == at);
                let Some(source) = first.filter(|at| is_own(*at)) else {
                    return Err(Failure::new(FailureCode::Elsewhere, "the tables are not all in this database"));
                };
                Some((source, native::write(&checked, &found, &view[source])?))
            }
        };
        Ok(Plan { view, checked, found, native, sql, reads_first, has_named })
    }

    /// Expands the named queries that a statement reads; `None` if it reads none. One in the same SQL becomes a derived table;
    /// the rows of the others are read first.
    fn expand(
        &self,
        view: &View,
        sql: &str,
        checked: &CheckedQuery,
        dialect: Dialect,
        only: Option<usize>,
    ) -> Result<Option<Expanded>, Failure> {
        let mut derived: Vec<(&ObjectName, String)> = Vec::new();
        let mut expanded = Expanded { sql: String::new(), reads_first: Vec::new(), tables: Vec::new() };
        for written in &checked.rewritten.reads {
            // Tables of a database take precedence over named queries.
            if view.has_table(only, dialect, written) {
                continue;
            }
            if let Some(rows) = information_schema::find(view, written)? {
                if dialect != Dialect::Joined || only.is_some() {
                    return Err(Failure::new(FailureCode::Elsewhere, "the information schema is not in the database"));
                }
                if !expanded.has_table(&rows.table.name) {
                    expanded.tables.push(Arc::new(rows));
                }
                continue;
            }
            let Some(at) = named::find(&self.options.named, written)? else { continue };
            let plan = self.prepare(at)?;
            let is_part = plan.reads_first.is_empty()
                && plan.dialect() == dialect
                && only.is_none_or(|only| plan.found.iter().all(|found| found.source == only));
            if is_part {
                derived.push((written, plan.derive_table()));
            } else if dialect == Dialect::Joined && only.is_none() {
                expanded.read_first(written, at, &plan);
            } else {
                let id = self.options.named[at].id();
                return Err(Failure::new(FailureCode::Elsewhere, format!("`{id}` reads another database")));
            }
        }
        if derived.is_empty() && expanded.tables.is_empty() {
            return Ok(None);
        }
        let text = |name: &ObjectName| {
            let derived = derived.iter().find(|(written, _)| *written == name).map(|(_, text)| text.clone());
            derived.or_else(|| {
                named::write_read_first(name).filter(|table| expanded.has_table(table)).map(|_| name.to_string())
            })
        };
        expanded.sql = named::insert(sql, &checked.query, &text);
        Ok(Some(expanded))
    }

    /// Plans a named query, once.
    fn prepare(&self, at: usize) -> Result<Rc<Plan>, Failure> {
        let named = &self.options.named[at];
        let known = self.prepared.borrow().get(&at).cloned();
        match known {
            Some(Some(done)) => return done,
            Some(None) => {
                let message = format!("`{}` reads itself through other named queries", named.id());
                return Err(Failure::new(FailureCode::InvalidArguments, message)
                    .advise("make one of these queries read tables directly"));
            }
            None => {}
        }
        let depth = self.prepared.borrow().values().filter(|plan| plan.is_none()).count();
        self.prepared.borrow_mut().insert(at, None);
        let done = match depth < MAX_NAMED_DEPTH {
            true => self.plan_named(named).map(Rc::new).map_err(|failure| explain(named, failure)),
            false => {
                let message = format!("named queries are nested more than {MAX_NAMED_DEPTH} levels deep");
                Err(Failure::new(FailureCode::TooLarge, message).advise("make some of them read tables directly"))
            }
        };
        self.prepared.borrow_mut().insert(at, Some(done.clone()));
        done
    }

    fn plan_named(&self, named: &NamedQuery) -> Result<Plan, Failure> {
        if let Some(reason) = &named.refusal {
            return Err(Failure::new(FailureCode::InvalidArguments, reason));
        }
        let database = named.database.as_ref();
        let only = database.map(|name| self.options.find_source(&self.sources, name)).transpose()?;
        self.plan(&self.sources, &named.sql, only)
    }
}

impl Expanded {
    /// Registers a named query whose rows are read first, with a table that represents them.
    fn read_first(&mut self, written: &ObjectName, at: usize, plan: &Plan) {
        let Some(table) = named::write_read_first(written) else { return };
        if self.has_table(&table) {
            return;
        }
        let columns = resolve_names(plan).output.unwrap_or_default().into_iter().filter_map(|column| {
            let (name, column_type) = (column.name?.to_lowercase(), column.column_type.unwrap_or(ColumnType::Float));
            Some(Column { name, column_type, nullable: true, ..Column::default() })
        });
        let table_of_rows = Table { name: table.clone(), columns: columns.collect(), ..Table::default() };
        self.tables.push(Arc::new(StoredSubset::empty(table_of_rows)));
        self.reads_first.push(NamedRead { at, table, databases: plan.databases(), origins: plan.origins() });
    }

    fn has_table(&self, name: &str) -> bool {
        self.tables.iter().any(|held| held.table.name == name)
    }
}

/// Returns the functions that the catalog allows in addition to the allow-list.
fn functions_of(view: &View, dialect: Dialect, only: Option<usize>) -> Vec<String> {
    let sources = view.iter().enumerate();
    let matching = sources.filter(|(at, source)| source.dialect() == dialect && only.is_none_or(|only| only == *at));
    matching.flat_map(|(_, source)| source.functions.iter().cloned()).collect()
}

/// Adds the named query to a failure.
pub(crate) fn explain(named: &NamedQuery, failure: Failure) -> Failure {
    failure.context(format_args!("`{}` cannot be read", named.id()))
}

/// Returns whether a statement, in the SQL of one database, reads loaded or kept rows of the session.
fn reads_subset(view: &View, sql: &str, only: usize) -> bool {
    let dialect = view[only].dialect();
    let Ok(checked) = examine(dialect, &functions_of(view, dialect, Some(only)), sql) else { return false };
    checked
        .rewritten
        .reads
        .iter()
        .any(|name| last_part(name).is_some_and(|last| view.find_subset(&last.value.to_lowercase()).is_some()))
}

/// Adds the rule about the dialect if the failure may be caused by the wrong one.
fn advise_joined(failure: Failure) -> Failure {
    let is_of_dialect = matches!(
        failure.code,
        FailureCode::Refused | FailureCode::Syntax | FailureCode::UnknownFunction | FailureCode::TypeMismatch
    );
    match failure.suggestion.clone().filter(|_| is_of_dialect) {
        Some(own) => failure.advise(format!("{JOINED_RULE}; {own}")),
        None if is_of_dialect => failure.advise(JOINED_RULE),
        None => failure,
    }
}

/// Explains why a statement was parsed as DataFusion SQL when that fails too.
fn explain_elsewhere(second: Failure, first: &Failure) -> Failure {
    let message = format!("{}; {}, so the statement is parsed as DataFusion SQL", second.message, first.message);
    Failure { message, ..second }
}

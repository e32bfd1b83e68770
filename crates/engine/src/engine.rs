//! The engine: a query is validated, sent to the source or worker of its tables, and answered.

use std::sync::Arc;

use futures::FutureExt;
use prospector_connect::ConnectError;
use prospector_connect::filter::FilterCondition;
use prospector_connect::rows::{BlockSender, Rows, SqlQuery};
use prospector_connect::table::{Column, Table};
use tokio::sync::mpsc;

use crate::answer::QueryAnswer;
use crate::history::History;
use crate::joined::Action;
use crate::limits::{Limits, SubsetShare};
use crate::named::NamedQuery;
use crate::options::EngineOptions;
use crate::outcome::{Outcome, Way};
pub(crate) use crate::plan::Plan;
use crate::planning::{inline, plan};
use crate::resolution::find_units;
use crate::scope::{self, LoadedSubset, MAX_LOADED, Scope, StoredSubset, Subset};
use crate::source::{LIST_TABLES, Source};
use crate::view::View;
use crate::{Failure, FailureCode, advice, execution, joined};

/// More rows than any source has, yet within the signed limits of every source.
const MAX_STREAMED: usize = usize::MAX >> 2;

/// The number of loaded rows that are shown.
const FIRST: usize = 10;

/// Runs read-only queries over a set of sources, in one session. Loaded subsets and answers are visible in this session only.
pub struct Engine {
    pub(crate) sources: Arc<[Arc<Source>]>,
    options: Arc<EngineOptions>,
    pub(crate) scope: Arc<Scope>,
    pub(crate) history: Arc<History>,
}

impl Engine {
    /// Creates an engine that uses only this process and its memory. See [`EngineOptions`] for the limits that this leaves out.
    pub fn new(sources: Vec<Source>) -> Arc<Self> {
        Self::with(sources, EngineOptions::default())
    }

    /// Creates an engine with options: worker processes, a scratch folder, limits.
    pub fn with(sources: Vec<Source>, options: EngineOptions) -> Arc<Self> {
        let sources = sources.into_iter().map(Arc::new).collect();
        let (options, scope, history) = (Arc::new(options), Arc::default(), Arc::default());
        Arc::new(Engine { sources, options, scope, history })
    }

    /// Returns another session over the same sources and options, with no loaded subsets and no answers. Sessions are cheap; a
    /// server creates one per client.
    pub fn session(&self) -> Arc<Self> {
        let (sources, options) = (self.sources.clone(), self.options.clone());
        Arc::new(Engine { sources, options, scope: Arc::default(), history: Arc::default() })
    }

    /// Returns a session that shares the state of `session` over the sources and options of this engine: its answers, and its
    /// loaded subsets of tables that exist here too. The other engine keeps using the same state.
    pub fn adopt(&self, session: &Engine) -> Arc<Self> {
        session.scope.retain(|database, table| {
            let named = |source: &&Arc<Source>| source.name == database;
            self.sources.iter().find(named).is_some_and(|source| source.tables.iter().any(|known| known.name == table))
        });
        let (sources, options) = (self.sources.clone(), self.options.clone());
        Arc::new(Engine { sources, options, scope: session.scope.clone(), history: session.history.clone() })
    }

    /// Returns the names of the databases, in the order of the sources.
    pub fn databases(&self) -> Vec<&str> {
        self.sources.iter().map(|source| source.name.as_str()).collect()
    }

    /// Returns the sources, with the tables that queries may read.
    pub fn sources(&self) -> &[Arc<Source>] {
        &self.sources
    }

    /// Returns whether there are no sources.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Loads rows of one table under an alias. From then on, [`Engine::run`] of this session sees them as `scoped.ALIAS`, or as
    /// plain `ALIAS`, which takes precedence over a table of that name. The source evaluates the conditions and sends at most
    /// `limit` rows of the selected columns.
    ///
    /// # Errors
    /// - If a name is unknown.
    /// - If a condition does not fit its column.
    /// - If the limit is above 200,000 rows.
    /// - If the subsets would take too much memory.
    /// - If the source fails.
    pub async fn load(&self, subset: &Subset) -> Result<LoadedSubset, Failure> {
        let alias = scope::alias(&subset.alias)?;
        if subset.limit > MAX_LOADED {
            let message = format!("the limit {} exceeds the maximum of {MAX_LOADED}", subset.limit);
            return Err(Failure::new(FailureCode::TooLarge, message).advise("add conditions, or load it in parts"));
        }
        let (source, table) = self.table(&subset.database, &subset.table)?;
        conditions_fit(table, &subset.conditions)?;
        let columns: Vec<Column> = match subset.columns.as_slice() {
            [] => table.columns.clone(),
            some => some.iter().map(|name| column(table, name).cloned()).collect::<Result<_, _>>()?,
        };
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let rows = source.connector.rows(&table.name, &names, &subset.conditions, subset.limit).await;
        let mut rows = rows.map_err(|error| self.explain_source(&error, &[]))?;
        let most = self.limits().source_bytes;
        if joined::measure::rows(&rows) > most {
            let message = format!("the rows would take more than {} MB", most >> 20);
            return Err(Failure::new(FailureCode::TooLarge, message)
                .advise("load fewer columns, add conditions, or lower the limit"));
        }
        let batch = scope::batch(&columns, &rows.rows);
        let batch = batch.map_err(|error| Failure::new(FailureCode::Failed, error.to_string()))?;
        let row_count = rows.rows.len();
        let held = StoredSubset {
            table: Table { name: alias.clone(), columns: columns.clone(), ..Table::default() },
            database: source.name.clone(),
            origin: format!("{}.{}", source.name, table.name),
            batch,
            share: None,
        };
        self.hold(held)?;
        let truncated = std::mem::take(&mut rows.has_more);
        rows.rows.truncate(FIRST);
        rows.has_more = row_count > FIRST;
        let (database, table) = (source.name.clone(), table.name.clone());
        Ok(LoadedSubset { alias, database, table, row_count, truncated, columns, first: rows })
    }

    /// Converts the error of a source into the failure that the caller gets.
    pub(crate) fn explain_source(&self, error: &ConnectError, tables: &[&Table]) -> Failure {
        self.options.redact(advice::explain_source(error, tables))
    }

    /// Stores rows for this session.
    pub(crate) fn hold(&self, subset: StoredSubset) -> Result<(), Failure> {
        self.scope.keep(subset, &self.options.subsets)
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// Returns the queries that statements can read as tables.
    pub fn named_queries(&self) -> &[NamedQuery] {
        &self.options.named
    }

    /// Returns another session over the same sources, in which statements can read these queries as tables.
    pub fn with_named(&self, named: Vec<NamedQuery>) -> Arc<Self> {
        let options = Arc::new(EngineOptions { named, ..(*self.options).clone() });
        Arc::new(Engine { sources: self.sources.clone(), options, scope: Arc::default(), history: Arc::default() })
    }

    /// Stores an answer in the history of this session, and returns it with its id.
    pub(crate) fn record(&self, answer: QueryAnswer) -> QueryAnswer {
        self.history.keep(answer, &self.options.subsets)
    }

    /// Reserves memory for a loaded subset out of the budget of all sessions; `None` if too little is left.
    pub(crate) fn take_memory(&self, bytes: usize) -> Option<SubsetShare> {
        self.options.subsets.take(bytes)
    }

    /// Inlines named queries into a statement where possible, see [`crate::planning::inline`].
    pub(crate) fn inline_named(&self, sql: &str, only: Option<usize>) -> Result<String, Failure> {
        inline(&View::new(&self.sources, &Scope::default()), sql, only, &self.options)
    }

    /// Removes the subset with that alias, and returns whether it existed.
    pub fn unload(&self, alias: &str) -> bool {
        self.scope.forget(alias)
    }

    /// Runs one query and returns at most `cap` rows. Tables are named `database.table`, or without the database if that is
    /// unambiguous or if `database` names it.
    ///
    /// A query over one SQL database is written in its own SQL and runs there. A query over several databases, or over files,
    /// is written in DataFusion's SQL and runs here or in a worker. A [`NamedQuery`] is read as a table: it is
    /// inlined if both use the same SQL, otherwise its rows are read first. Dropping the future cancels the work of the
    /// sources.
    ///
    /// # Errors
    /// A [`Failure`] with the reason why the query was rejected or failed, and a suggestion.
    pub async fn run(&self, sql: &str, database: Option<&str>, cap: usize) -> Result<Outcome, Failure> {
        let plan = self.plan(sql, database).await?;
        let plan = self.read_named(plan).await?;
        let (rows, way) = match &plan.native {
            Some((source, native)) => {
                let tables = plan.table_names();
                let query = SqlQuery {
                    sql: &native.sql,
                    tables: &tables,
                    fields: native.fields.as_ref(),
                    functions: &native.functions,
                };
                let answer = plan.view[*source].connector.query(&query, cap).await;
                let mut rows = answer.map_err(|error| self.explain_source(&error, &plan.tables()))?;
                plan.scales().round(&mut rows);
                (rows, Way::Native)
            }
            None => {
                let rows = execution::execute(plan.statement(), Action::Run { cap }, None, &self.options).await?;
                (
                    Rows {
                        columns: joined::spell((plan.sql.as_str(), plan.query()), &plan.tables(), rows.columns),
                        ..rows
                    },
                    Way::Joined,
                )
            }
        };
        let units = find_units(&plan, &rows.columns);
        Ok(Outcome { rows, way, databases: plan.databases(), tables: plan.origins(), units })
    }

    /// Runs one query as [`Engine::run`] does and streams its rows in blocks: at most `limit` rows, without a limit on their
    /// total size. The last block says whether there are more. Returns what [`Engine::run`] returns, without rows.
    ///
    /// # Errors
    /// The same as for [`Engine::run`]; blocks may have been sent before.
    pub async fn stream(
        &self,
        sql: &str,
        database: Option<&str>,
        limit: Option<usize>,
        blocks: &BlockSender,
    ) -> Result<Outcome, Failure> {
        let limit = limit.unwrap_or(usize::MAX).min(MAX_STREAMED);
        let plan = self.plan(sql, database).await?;
        let plan = self.read_named(plan).await?;
        let way = match &plan.native {
            Some((source, native)) => {
                let tables = plan.table_names();
                let query = SqlQuery {
                    sql: &native.sql,
                    tables: &tables,
                    fields: native.fields.as_ref(),
                    functions: &native.functions,
                };
                let (sender, mut read) = mpsc::channel(1);
                let connector = &plan.view[*source].connector;
                let reading = async move { connector.stream(&query, limit, &sender).await };
                let scales = plan.scales();
                let passing = async {
                    while let Some(mut rows) = read.recv().await {
                        scales.round(&mut rows);
                        if blocks.send(rows).await.is_err() {
                            break;
                        }
                    }
                    drop(read);
                };
                let (sent, ()) = tokio::join!(reading, passing);
                sent.map_err(|error| self.explain_source(&error, &plan.tables()))?;
                Way::Native
            }
            None => {
                let (tables, text) = (plan.tables(), (plan.sql.as_str(), plan.query()));
                let send = |rows: Rows| {
                    let rows = Rows { columns: joined::spell(text, &tables, rows.columns), ..rows };
                    blocks.send(rows).map(|sent| sent.is_ok()).boxed()
                };
                let act = Action::Run { cap: limit };
                let last = execution::execute(plan.statement(), act, Some(&send), &self.options).await?;
                send(last).await;
                Way::Joined
            }
        };
        let (databases, tables) = (plan.databases(), plan.origins());
        Ok(Outcome { rows: Rows::default(), way, databases, tables, units: Vec::new() })
    }

    /// Checks whether the query would run, without running it: it is parsed, names and types are checked, and the source
    /// explains it if it can. Returns where the query would run, and which databases it would read.
    ///
    /// # Errors
    /// The same as for [`Engine::run`].
    pub async fn validate(&self, sql: &str, database: Option<&str>) -> Result<(Way, Vec<String>), Failure> {
        let plan = self.plan(sql, database).await?;
        let plan = self.read_named(plan).await?;
        let way = match &plan.native {
            Some((source, native)) => {
                let tables = plan.table_names();
                let query = SqlQuery {
                    sql: &native.sql,
                    tables: &tables,
                    fields: native.fields.as_ref(),
                    functions: &native.functions,
                };
                let answer = plan.view[*source].connector.explain(&query).await;
                answer.map_err(|error| self.explain_source(&error, &plan.tables()))?;
                Way::Native
            }
            None => {
                execution::execute(plan.statement(), Action::Validate, None, &self.options).await?;
                Way::Joined
            }
        };
        Ok((way, plan.databases()))
    }

    /// Returns the source of that name, ignoring case.
    ///
    /// # Errors
    /// If the name is unknown, with the nearest names.
    pub(crate) fn source(&self, name: &str) -> Result<usize, Failure> {
        self.options.find_source(&self.sources, name)
    }

    /// Returns the table of that name: an exact match, or one that ignores case.
    ///
    /// # Errors
    /// If the name is unknown, with the nearest names.
    pub(crate) fn table(&self, database: &str, name: &str) -> Result<(&Source, &Table), Failure> {
        let source = &self.sources[self.source(database)?];
        let bare = name.strip_prefix(&format!("{}.", source.name)).unwrap_or(name);
        let exact = source.tables.iter().find(|table| table.name == name || table.name == bare);
        let found = exact.or_else(|| source.tables.iter().find(|table| table.name.eq_ignore_ascii_case(bare)));
        if let Some(table) = found {
            return Ok((source, table));
        }
        let failure = Failure::new(FailureCode::UnknownTable, format!("unknown table `{name}` in `{}`", source.name));
        Err(failure.suggest_nearest(bare, source.tables.iter().map(|table| table.name.as_str()), LIST_TABLES))
    }

    /// Plans a query. Parsing runs on a blocking thread: an adversarial text can take up to a second.
    pub(crate) async fn plan(&self, sql: &str, database: Option<&str>) -> Result<Plan, Failure> {
        let only = match database.filter(|name| !name.eq_ignore_ascii_case(scope::SCOPED)) {
            Some(name) => Some(self.source(name)?),
            None => None,
        };
        let (view, options, sql) = (View::new(&self.sources, &self.scope), self.options.clone(), sql.to_owned());
        let planned = tokio::task::spawn_blocking(move || plan(&view, &sql, only, &options)).await;
        planned.unwrap_or_else(|_| Err(Failure::new(FailureCode::Failed, "the statement could not be parsed")))
    }
}

/// Returns the column of that name.
///
/// # Errors
/// If the name is unknown, with the nearest names.
pub(crate) fn column<'a>(table: &'a Table, name: &str) -> Result<&'a Column, Failure> {
    let exact = table.columns.iter().find(|column| column.name == name);
    exact.or_else(|| table.column(name)).ok_or_else(|| {
        let failure = Failure::new(FailureCode::UnknownColumn, format!("unknown column `{name}` in `{}`", table.name));
        let names = table.columns.iter().map(|column| column.name.as_str());
        let otherwise = match table.columns.is_empty() {
            true => "the table has no columns",
            false => "`DESCRIBE table` lists the columns of a table",
        };
        failure.suggest_nearest(name, names, otherwise)
    })
}

/// Checks that the table has the columns of all conditions.
///
/// # Errors
/// If a name is unknown, with the nearest names.
pub(crate) fn conditions_fit(table: &Table, conditions: &[FilterCondition]) -> Result<(), Failure> {
    conditions.iter().try_for_each(|condition| column(table, &condition.column).map(drop))
}

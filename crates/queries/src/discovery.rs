//! The verified queries of a catalog: loading, validation and execution.

use std::path::{Path, PathBuf};

use prospector_core::Problem;
use prospector_core::name::normalize;
use prospector_core::record::Record;
use prospector_core::tool::finding::RowsWarning;
use prospector_engine::Engine;
use prospector_engine::options::{NamedQuery, NamedSchema};
use prospector_engine::query::{Literal, Outcome};
use serde_json::{Map, Value};
use tokio::sync::OnceCell;

use crate::{
    QueryError, VerifiedQuery,
    domains::find_domains,
    error::Refusal,
    load::load,
    model::{Parameter, QueryState},
    render::{place, record},
    value::{Domain, admit, example, read, show},
};

/// The verified queries of a catalog.
#[derive(Default)]
pub struct VerifiedQueries {
    queries: Vec<VerifiedQuery>,
    /// The domains of the parameters of each query, computed on first use.
    domains: Vec<OnceCell<Vec<Domain>>>,
}

/// The result of a query run.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiedRun {
    /// The values of all parameters, including defaults, in the order of the parameters.
    pub parameters: Vec<(String, Literal)>,
    /// The SQL that was run.
    pub sql: String,
    /// The answer of the engine, with the units that the query declares.
    pub outcome: Outcome,
    /// Cells of files that the query reads, but that are not in the result as written.
    pub warnings: Vec<RowsWarning>,
}

impl VerifiedQueries {
    /// Reads the queries of these files, and validates each against the sources of an engine. Invalid queries are kept and marked as
    /// stale.
    pub async fn load(files: &[PathBuf], engine: &Engine) -> (Self, Vec<Problem>) {
        let (mut queries, mut problems) = VerifiedQueries::read(files);
        let named = queries.name_queries(engine).await;
        problems.extend(queries.check(&engine.with_named(named)).await);
        (queries, problems)
    }

    /// Reads the queries of these files without validation.
    pub fn read(files: &[PathBuf]) -> (Self, Vec<Problem>) {
        let (queries, problems) = load(files);
        let domains = queries.iter().map(|_| OnceCell::new()).collect();
        (VerifiedQueries { queries, domains }, problems)
    }

    /// Validates each query against the sources of an engine, whose named queries they may read. Invalid ones become stale.
    pub async fn check(&mut self, engine: &Engine) -> Vec<Problem> {
        let mut problems = Vec::new();
        for query in &mut self.queries {
            let (state, problem) = check(query, engine).await;
            query.state = state;
            problems.extend(problem);
        }
        problems
    }

    /// Returns the queries that an engine exposes as tables, `queries.NAME`, each with the defaults of its parameters.
    pub async fn name_queries(&self, engine: &Engine) -> Vec<NamedQuery> {
        let mut named = Vec::new();
        for query in &self.queries {
            let (sql, refusal) = match bind_defaults(query, engine) {
                Ok(sql) => (sql, None),
                Err(refusal) => (String::new(), Some(refusal.to_string())),
            };
            let defaults = query.parameters.iter().filter_map(|one| Some((&one.name, one.default.as_ref()?)));
            let parameters = defaults.map(|(name, value)| format!("{name} = {}", show(value))).collect();
            let columns = match &refusal {
                None => {
                    engine.inspect(&sql, query.database.as_deref()).await.map(|found| found.output).unwrap_or_default()
                }
                Some(_) => Vec::new(),
            };
            named.push(NamedQuery {
                schema: NamedSchema::Queries,
                name: query.name.clone(),
                database: query.database.clone(),
                sql,
                parameters,
                columns,
                refusal,
            });
        }
        named
    }

    /// Returns all queries, by name.
    pub fn queries(&self) -> &[VerifiedQuery] {
        &self.queries
    }

    /// Returns the query with that name, ignoring case and separators.
    pub fn resolve(&self, name: &str) -> Option<&VerifiedQuery> {
        self.position(name).map(|at| &self.queries[at])
    }

    fn position(&self, name: &str) -> Option<usize> {
        let wanted = normalize(name);
        let exact = self.queries.iter().position(|query| query.name == name);
        exact.or_else(|| self.queries.iter().position(|query| normalize(&query.name) == wanted))
    }

    /// Returns the records to index.
    pub fn records(&self) -> Vec<Record> {
        self.queries.iter().map(record).collect()
    }

    async fn domains(&self, at: usize, engine: &Engine) -> &[Domain] {
        self.domains[at].get_or_init(|| find_domains(&self.queries[at], engine)).await
    }

    /// Returns the SQL of a query with these values, and the values of all parameters. Values are parsed by the type of their parameter
    /// and must be in its domain; missing parameters have their defaults.
    ///
    /// # Errors
    /// If a name or a value is invalid, or the query is stale.
    pub async fn bind(
        &self,
        query: &VerifiedQuery,
        values: &Map<String, Value>,
        engine: &Engine,
    ) -> Result<(String, Vec<(String, Literal)>), QueryError> {
        refuse_stale(query)?;
        let domains: Vec<Domain> = match self.position(&query.name) {
            Some(at) => self.domains(at, engine).await.to_vec(),
            None => find_domains(query, engine).await,
        };
        let parameters = read_values(query, values, &domains)?;
        let sql = engine.bind(&query.sql, query.database.as_deref(), &parameters)?;
        Ok((sql, parameters))
    }

    /// Runs a query with these values and returns at most `cap` rows: see [`VerifiedQueries::bind`].
    ///
    /// # Errors
    /// [`QueryError`] if a name or a value is invalid, the query is stale, or the engine fails.
    pub async fn run(
        &self,
        query: &VerifiedQuery,
        values: &Map<String, Value>,
        engine: &Engine,
        cap: usize,
    ) -> Result<VerifiedRun, QueryError> {
        let (sql, parameters) = self.bind(query, values, engine).await?;
        let mut outcome = engine.run(&sql, query.database.as_deref(), cap).await?;
        outcome.units.retain(|(column, _)| !query.units.iter().any(|(declared, _)| declared == column));
        outcome.units.extend(query.units.iter().cloned());
        let warnings = engine.cell_warnings(&sql, query.database.as_deref(), &outcome.rows).await;
        Ok(VerifiedRun { parameters, sql, outcome, warnings })
    }

    /// Checks with its source whether a query would run, with its defaults or other values of the right types.
    ///
    /// # Errors
    /// If it would not run.
    pub async fn validate(&self, query: &VerifiedQuery, engine: &Engine) -> Result<(), QueryError> {
        refuse_stale(query)?;
        let bound = engine.bind(&query.sql, query.database.as_deref(), &examples(query))?;
        engine.validate(&bound, query.database.as_deref()).await?;
        Ok(())
    }
}

fn refuse_stale(query: &VerifiedQuery) -> Result<(), QueryError> {
    match query.stale() {
        Some(reason) => Err(QueryError::Stale { query: query.name.clone(), reason: reason.to_owned() }),
        None => Ok(()),
    }
}

/// Parses the values of all parameters.
fn read_values(
    query: &VerifiedQuery,
    values: &Map<String, Value>,
    domains: &[Domain],
) -> Result<Vec<(String, Literal)>, QueryError> {
    if let Some(unknown) = values.keys().find(|name| query.parameter(name).is_none()) {
        return Err(QueryError::UnknownParameter {
            query: query.name.clone(),
            parameter: unknown.clone(),
            known: query.parameters.iter().map(|parameter| parameter.name.clone()).collect(),
        });
    }
    let read_one = |(parameter, domain): (&Parameter, &Domain)| {
        let name = parameter.name.clone();
        let value = match (values.get(&name).filter(|value| !value.is_null()), &parameter.default) {
            (Some(given), _) => {
                let value = read(parameter.kind, given).ok_or_else(|| QueryError::Type {
                    query: query.name.clone(),
                    parameter: name.clone(),
                    kind: parameter.kind.as_str(),
                    given: prospector_text::cut::line(&given.to_string(), 60),
                })?;
                admit(&query.name, parameter, domain, value)?
            }
            (None, Some(default)) => default.clone(),
            (None, None) => return Err(QueryError::Missing { query: query.name.clone(), parameter: name }),
        };
        Ok((name, value))
    };
    query.parameters.iter().zip(domains).map(read_one).collect()
}

/// Returns the SQL of a query with the defaults of its parameters, or why it cannot be used as a table.
fn bind_defaults(query: &VerifiedQuery, engine: &Engine) -> Result<String, Refusal> {
    if let Some(reason) = query.stale() {
        return Err(Refusal::Stale(reason.to_owned()));
    }
    let value = |parameter: &Parameter| {
        let value = parameter.default.clone().ok_or_else(|| Refusal::NoDefault(parameter.name.clone()))?;
        Ok((parameter.name.clone(), value))
    };
    let defaults: Vec<(String, Literal)> = query.parameters.iter().map(value).collect::<Result<_, Refusal>>()?;
    engine.bind(&query.sql, query.database.as_deref(), &defaults).map_err(Refusal::Engine)
}

/// Returns an example value for each parameter.
fn examples(query: &VerifiedQuery) -> Vec<(String, Literal)> {
    query.parameters.iter().map(|parameter| (parameter.name.clone(), example(parameter))).collect()
}

/// Validates a query against the sources of an engine: see [`VerifiedQueries::load`].
pub(crate) async fn check(query: &VerifiedQuery, engine: &Engine) -> (QueryState, Option<Problem>) {
    match try_check(query, engine).await {
        Ok(state) => (state, None),
        Err((line, reason)) => {
            let problem = Problem::warning(place(&query.path, line), format!("the query is stale: {reason}"));
            (QueryState::Stale { reason }, Some(problem.advise("fix and re-verify it; until then it is not run")))
        }
    }
}

async fn try_check(query: &VerifiedQuery, engine: &Engine) -> Result<QueryState, (usize, String)> {
    let line = sql_line(&query.path);
    let failed = |error: prospector_engine::Failure| (line, error.to_string());
    let database = query.database.as_deref();
    let used = engine.list_parameters(&query.sql, database).map_err(failed)?;
    if let Some(unknown) = used.iter().find(|name| query.parameter(name).is_none()) {
        return Err((line, format!("`:{unknown}` is not a parameter of the query")));
    }
    if let Some(unused) = query.parameters.iter().find(|parameter| !used.contains(&parameter.name)) {
        return Err((line, format!("its parameter `{}` is not used in the SQL: write `:{0}`", unused.name)));
    }
    let bound = engine.bind(&query.sql, database, &examples(query)).map_err(failed)?;
    let found = engine.inspect(&bound, database).await.map_err(failed)?;
    if let Some(unknown) = found.unknown_columns.first() {
        return Err((line, format!("none of {} has a column `{unknown}`", found.tables.join(", "))));
    }
    for parameter in &query.parameters {
        if let Some(column) = &parameter.column
            && !engine.has_column(column)
        {
            return Err((
                line,
                format!("there is no column `{column}`, which its parameter `{}` names", parameter.name),
            ));
        }
    }
    Ok(QueryState::Current { databases: found.databases, tables: found.tables })
}

/// Returns the line in which the SQL begins, or 1 if it cannot be determined.
fn sql_line(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let fences = text.lines().enumerate().filter(|(_, line)| line.trim_end() == "---").map(|(at, _)| at);
    fences.take(2).last().map_or(1, |at| at + 2)
}

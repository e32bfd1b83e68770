//! The verified queries of a catalog: loaded, compared with what the catalog describes, matched, run.

use std::path::{Path, PathBuf};

use prospector_connect::rows::Rows;
use prospector_core::Problem;
use prospector_core::name::normalize;
use prospector_core::record::Record;
use prospector_engine::options::{NamedQuery, NamedSchema};
use prospector_engine::{Engine, query::Literal};
use serde_json::{Map, Value};
use tokio::sync::OnceCell;

use crate::{
    QueryError, VerifiedQuery,
    domains::find_domains,
    error::Refusal,
    load::load,
    matching::{Candidate, rank},
    model::{Parameter, QueryState},
    render::{place, record},
    value::{Domain, admit, example, read},
};

/// The verified queries of a catalog.
#[derive(Default)]
pub struct VerifiedQueries {
    queries: Vec<VerifiedQuery>,
    /// What the parameters of each take; looked up when it is first asked for.
    domains: Vec<OnceCell<Vec<Domain>>>,
}

/// A query that was run.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiedRun {
    /// The values that it ran with, in the order of the parameters; those that nobody gave are the defaults.
    pub parameters: Vec<(String, Literal)>,
    /// The text that ran.
    pub sql: String,
    /// The databases that it read.
    pub databases: Vec<String>,
    /// The tables that it read.
    pub tables: Vec<String>,
    /// What it gave.
    pub rows: Rows,
}

impl VerifiedQueries {
    /// Reads the queries of these files, and compares each with the sources of an engine. One that does not fit them is stale:
    /// it is kept, and said to be so.
    pub async fn load(files: &[PathBuf], engine: &Engine) -> (Self, Vec<Problem>) {
        let (mut queries, mut problems) = VerifiedQueries::read(files);
        let named = queries.name_queries(engine).await;
        problems.extend(queries.check(&engine.with_named(named)).await);
        (queries, problems)
    }

    /// Reads the queries of these files, without comparing them with anything.
    pub fn read(files: &[PathBuf]) -> (Self, Vec<Problem>) {
        let (queries, problems) = load(files);
        let domains = queries.iter().map(|_| OnceCell::new()).collect();
        (VerifiedQueries { queries, domains }, problems)
    }

    /// Compares each query with the sources of an engine, whose named queries they may read. One that does not fit them is stale.
    pub async fn check(&mut self, engine: &Engine) -> Vec<Problem> {
        let mut problems = Vec::new();
        for query in &mut self.queries {
            let (state, problem) = check(query, engine).await;
            query.state = state;
            problems.extend(problem);
        }
        problems
    }

    /// The queries as an engine reads them as tables, `queries.NAME`, each with the defaults of its parameters.
    pub async fn name_queries(&self, engine: &Engine) -> Vec<NamedQuery> {
        let mut named = Vec::new();
        for query in &self.queries {
            let (sql, refusal) = match bind_defaults(query, engine) {
                Ok(sql) => (sql, None),
                Err(refusal) => (String::new(), Some(refusal.to_string())),
            };
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
                columns,
                refusal,
            });
        }
        named
    }

    /// All of them, by name.
    pub fn queries(&self) -> &[VerifiedQuery] {
        &self.queries
    }

    /// The one of that name, whatever its case and the signs between its words.
    pub fn resolve(&self, name: &str) -> Option<&VerifiedQuery> {
        self.position(name).map(|at| &self.queries[at])
    }

    fn position(&self, name: &str) -> Option<usize> {
        let wanted = normalize(name);
        let exact = self.queries.iter().position(|query| query.name == name);
        exact.or_else(|| self.queries.iter().position(|query| normalize(&query.name) == wanted))
    }

    /// What is indexed.
    pub fn records(&self) -> Vec<Record> {
        self.queries.iter().map(record).collect()
    }

    /// The queries that have something in common with a question, by the words alone: no source is asked what its columns
    /// hold. For showing them as examples; [`VerifiedQueries::find`] tells which is meant.
    pub fn near(&self, question: &str) -> Vec<Candidate<'_>> {
        let all: Vec<(&VerifiedQuery, Vec<Domain>)> = self
            .queries
            .iter()
            .filter(|query| query.stale().is_none())
            .map(|query| (query, query.parameters.iter().map(of_file).collect()))
            .collect();
        rank(question, &all)
    }

    /// The queries that have something in common with a question, the nearest first, with the values that it gives. At most
    /// the first has no doubts: it answers the question.
    pub async fn find(&self, question: &str, engine: &Engine) -> Vec<Candidate<'_>> {
        let mut all = Vec::new();
        for (at, query) in self.queries.iter().enumerate().filter(|(_, query)| query.stale().is_none()) {
            all.push((query, self.domains(at, engine).await.to_vec()));
        }
        rank(question, &all)
    }

    async fn domains(&self, at: usize, engine: &Engine) -> &[Domain] {
        self.domains[at].get_or_init(|| find_domains(&self.queries[at], engine)).await
    }

    /// Returns the SQL of a query with these values, and the values of all parameters. Values are read by the type of their
    /// parameter and must be among those that it takes; a parameter without one has its default.
    ///
    /// # Errors
    /// A name or a value that does not fit, or a stale query.
    pub async fn bind(
        &self,
        query: &VerifiedQuery,
        values: &Map<String, Value>,
        engine: &Engine,
    ) -> Result<(String, Vec<(String, Literal)>), QueryError> {
        if let Some(reason) = query.stale() {
            return Err(QueryError::Stale { query: query.name.clone(), reason: reason.to_owned() });
        }
        let domains: Vec<Domain> = match self.position(&query.name) {
            Some(at) => self.domains(at, engine).await.to_vec(),
            None => find_domains(query, engine).await,
        };
        let parameters = read_values(query, values, &domains)?;
        let sql = engine.bind(&query.sql, query.database.as_deref(), &parameters)?;
        Ok((sql, parameters))
    }

    /// Runs a query with these values, at most `cap` rows of it: see [`VerifiedQueries::bind`].
    ///
    /// # Errors
    /// [`QueryError`]: a name or a value that does not fit, a query that is stale, and what the engine says.
    pub async fn run(
        &self,
        query: &VerifiedQuery,
        values: &Map<String, Value>,
        engine: &Engine,
        cap: usize,
    ) -> Result<VerifiedRun, QueryError> {
        let (sql, parameters) = self.bind(query, values, engine).await?;
        let outcome = engine.run(&sql, query.database.as_deref(), cap).await?;
        Ok(VerifiedRun { parameters, sql, databases: outcome.databases, tables: outcome.tables, rows: outcome.rows })
    }

    /// Whether a query would run, as its source says, with its defaults or some other values of the right types.
    ///
    /// # Errors
    /// Why it would not.
    pub async fn validate(&self, query: &VerifiedQuery, engine: &Engine) -> Result<(), QueryError> {
        if let Some(reason) = query.stale() {
            return Err(QueryError::Stale { query: query.name.clone(), reason: reason.to_owned() });
        }
        let bound = engine.bind(&query.sql, query.database.as_deref(), &examples(query))?;
        engine.validate(&bound, query.database.as_deref()).await?;
        Ok(())
    }
}

/// What a parameter takes by its file alone.
fn of_file(parameter: &Parameter) -> Domain {
    if parameter.allowed.is_empty() {
        return Domain::Any;
    }
    Domain::OneOf(parameter.allowed.iter().map(|one| (one.value.clone(), one.words.clone())).collect())
}

/// The values of all parameters.
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

/// The text of a query with the defaults of its parameters, or why it cannot be read as a table.
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

/// Some value for each parameter.
fn examples(query: &VerifiedQuery) -> Vec<(String, Literal)> {
    query.parameters.iter().map(|parameter| (parameter.name.clone(), example(parameter))).collect()
}

/// Whether a query fits the sources of an engine, as [`VerifiedQueries::load`] says.
pub(crate) async fn check(query: &VerifiedQuery, engine: &Engine) -> (QueryState, Option<Problem>) {
    match try_check(query, engine).await {
        Ok(state) => (state, None),
        Err((line, reason)) => {
            let problem = Problem::warning(place(&query.path, line), format!("the query is stale: {reason}"));
            (QueryState::Stale { reason }, Some(problem.advise("mend it and verify it anew; until then it is not run")))
        }
    }
}

async fn try_check(query: &VerifiedQuery, engine: &Engine) -> Result<QueryState, (usize, String)> {
    let line = sql_line(&query.path);
    let failed = |error: prospector_engine::Failure| (line, error.to_string());
    let database = query.database.as_deref();
    let used = engine.list_parameters(&query.sql, database).map_err(failed)?;
    if let Some(unknown) = used.iter().find(|name| query.parameter(name).is_none()) {
        return Err((line, format!("`:{unknown}` is no parameter of it")));
    }
    if let Some(unused) = query.parameters.iter().find(|parameter| !used.contains(&parameter.name)) {
        return Err((line, format!("its parameter `{}` is not in the SQL: write `:{0}` there", unused.name)));
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

/// The line in which the SQL begins, as far as it can be told.
fn sql_line(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let fences = text.lines().enumerate().filter(|(_, line)| line.trim_end() == "---").map(|(at, _)| at);
    fences.take(2).last().map_or(1, |at| at + 2)
}

//! One query: judged, sent to where its tables are, answered.

use std::sync::Arc;

use prospector_connect::Rows;
use prospector_core::nearest;

use crate::guard::{Checked, examine};
use crate::history::History;
use crate::source::{Found, Source, resolve};
use crate::{Dialect, Failure, hint, joined, native};

/// Runs queries over these sources.
pub struct Engine {
    pub(crate) sources: Vec<Source>,
    pub(crate) history: History,
}

/// Where a query was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// In the source itself, in its own SQL.
    Native,
    /// Here, over what the sources sent.
    Joined,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The rows, whole.
    pub rows: Rows,
    /// Where they were made.
    pub way: Way,
    /// The databases that were read.
    pub databases: Vec<String>,
}

/// What is to be done for a query.
pub(crate) struct Plan {
    checked: Checked,
    pub(crate) found: Vec<Found>,
    /// The source and what it is sent; none where the query is run here.
    pub(crate) native: Option<(usize, String)>,
}

impl Engine {
    /// An engine over these sources.
    pub fn new(sources: Vec<Source>) -> Arc<Self> {
        Arc::new(Engine { sources, history: History::default() })
    }

    /// The answer to one query, at most `cap` rows. Tables are named `database.table`, or without the database where that
    /// is plain or `database` says it. A query over one database is written in its own SQL; one over several, or over
    /// files, in DataFusion's. Dropped, it stops whatever the sources do for it.
    ///
    /// # Errors
    /// [`Failure`]: why it was refused or failed, and what to do instead.
    pub async fn run(&self, sql: &str, database: Option<&str>, cap: usize) -> Result<Outcome, Failure> {
        let plan = self.plan(sql, database)?;
        let (rows, way) = match &plan.native {
            Some((source, text)) => {
                let answer = self.sources[*source].connector.query(text, cap).await;
                (answer.map_err(|error| hint::of_source(&error, &self.sources, &plan.found))?, Way::Native)
            }
            None => {
                let answer = joined::run(&self.sources, &plan.checked, &plan.found, cap).await;
                (answer.map_err(|reason| hint::explained(&reason, &self.sources, &plan.found))?, Way::Joined)
            }
        };
        Ok(Outcome { rows, way, databases: self.databases(&plan) })
    }

    /// Whether the query would run: it is parsed, its names and types are checked, and the source explains it where it
    /// can. Nothing is executed.
    ///
    /// # Errors
    /// As for [`Engine::run`].
    pub async fn validate(&self, sql: &str, database: Option<&str>) -> Result<(Way, Vec<String>), Failure> {
        let plan = self.plan(sql, database)?;
        let way = match &plan.native {
            Some((source, text)) => {
                let answer = self.sources[*source].connector.explain(text).await;
                answer.map_err(|error| hint::of_source(&error, &self.sources, &plan.found))?;
                Way::Native
            }
            None => {
                let answer = joined::validate(&self.sources, &plan.checked, &plan.found).await;
                answer.map_err(|reason| hint::explained(&reason, &self.sources, &plan.found))?;
                Way::Joined
            }
        };
        Ok((way, self.databases(&plan)))
    }

    /// The source of that name, whatever its case.
    ///
    /// # Errors
    /// The nearest names.
    pub(crate) fn source(&self, name: &str) -> Result<usize, Failure> {
        self.sources.iter().position(|source| source.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let near = nearest(name, self.sources.iter().map(|source| source.name.as_str()), 3);
            let failure = Failure::new("unknown_database", format!("there is no database `{name}`"));
            failure.advise(format!("did you mean {}?", near.join(", ")))
        })
    }

    fn databases(&self, plan: &Plan) -> Vec<String> {
        let mut names: Vec<String> = plan.found.iter().map(|found| self.sources[found.source].name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    pub(crate) fn plan(&self, sql: &str, database: Option<&str>) -> Result<Plan, Failure> {
        if let Some(name) = database {
            let only = self.source(name)?;
            let dialect = self.sources[only].dialect();
            return self.planned(sql, dialect, Some(only));
        }
        // Which SQL it is shows in whose tables it names.
        let mut failures = Vec::new();
        for dialect in Dialect::ALL {
            let is_spoken = dialect == Dialect::Joined || self.sources.iter().any(|source| source.dialect() == dialect);
            if !is_spoken {
                continue;
            }
            match self.planned(sql, dialect, None) {
                Ok(plan) => return Ok(plan),
                Err(failure) => failures.push(failure),
            }
        }
        // The more it was understood, the better the advice.
        let rank = |failure: &Failure| match failure.code {
            "refused" => 0,
            "unknown_table" => 1,
            "other" => 3,
            _ => 2,
        };
        failures.sort_by_key(rank);
        Err(failures.into_iter().next().unwrap_or_else(|| Failure::new("failed", "there is no database")))
    }

    fn planned(&self, sql: &str, dialect: Dialect, only: Option<usize>) -> Result<Plan, Failure> {
        let checked = examine(dialect, sql)?;
        let found = resolve(&self.sources, only, dialect, &checked.reads)?;
        let native = match dialect {
            Dialect::Joined => None,
            _ => {
                let first = only.or(found.first().map(|found| found.source));
                let is_own =
                    |at: usize| self.sources[at].dialect() == dialect && found.iter().all(|found| found.source == at);
                let Some(source) = first.filter(|at| is_own(*at)) else {
                    return Err(Failure::new("other", "the tables are elsewhere"));
                };
                Some((source, native::text(sql, &checked, &found, &self.sources[source])?))
            }
        };
        Ok(Plan { checked, found, native })
    }
}

//! Statements: parsed, resolved and planned by the engine that runs them, and compared with the data.
//!
//! A statement whose rows a later statement reads is run, within a time limit, so that the later one is verified over the rows
//! that it will see.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use prospector_connect::rows::Rows;
use prospector_core::name::nearest;
use prospector_discovery::Catalog;
use prospector_engine::{
    Engine, Failure, FailureCode,
    query::{Inspection, Outcome},
};
use prospector_semantics::MetricQuery;

use super::{Action, Code, Finding, Step};
use crate::plan::{
    labels::CatalogLabels,
    statement::{Unresolved, find_statement},
    step::SqlQuery,
};

/// Time limit of a statement whose rows a later one reads.
const MAX_RUN_TIME: Duration = Duration::from_secs(20);

/// Time limit of comparing a statement with the data.
const MAX_WARNING_TIME: Duration = Duration::from_secs(10);

/// Maximum number of rows of a step over which later steps are verified; the same as in a run.
const MAX_ROWS: usize = 50_000;

/// Maximum number of sample rows for the model.
const MAX_SAMPLE: usize = 5;

/// Verifies the statements of one plan, in a session of the engine.
pub(super) struct Queries<'a> {
    catalog: &'a Catalog,
    engine: Arc<Engine>,
    /// The columns of the outputs so far.
    outputs: BTreeMap<String, Vec<String>>,
    /// Outputs whose rows are not known: statements over them are verified by names alone.
    unknown: BTreeSet<String>,
    /// The first rows of each statement, if requested.
    samples: Option<Vec<(u32, Rows)>>,
}

/// The outcome for one statement.
#[derive(Default)]
pub(super) struct Verified {
    pub(super) checked: usize,
    pub(super) executable: bool,
    pub(super) failed: Vec<Finding>,
    pub(super) warnings: Vec<Finding>,
    pub(super) literals: Vec<String>,
}

/// Returns whether the text of a step mentions an output.
pub(super) fn mentions(step: &Step, output: &str) -> bool {
    let texts: Vec<String> = match &step.action {
        Action::Sql(query) => vec![query.sql.to_lowercase()],
        Action::Call(call) => call.references().map(|(_, output, _)| output.to_lowercase()).collect(),
        _ => Vec::new(),
    };
    texts.iter().any(|text| contains_word(text, output))
}

/// Returns whether a text contains a name as a whole word.
fn contains_word(text: &str, name: &str) -> bool {
    let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    text.match_indices(name).any(|(at, _)| is_end(text[at + name.len()..].chars().next()))
}

impl<'a> Queries<'a> {
    /// Starts a verification over this catalog; `sample` requests the first rows of each statement.
    pub(super) fn new(catalog: &'a Catalog, sample: bool) -> Self {
        let engine = catalog.engine().session();
        let samples = sample.then(Vec::new);
        Queries { catalog, engine, outputs: BTreeMap::new(), unknown: BTreeSet::new(), samples }
    }

    /// The first rows of each statement.
    pub(super) fn into_samples(self) -> Vec<(u32, Rows)> {
        self.samples.unwrap_or_default()
    }

    /// The columns of an output, if known.
    pub(super) fn columns(&self, output: &str) -> Option<&[String]> {
        self.outputs.get(output).filter(|_| !self.unknown.contains(output)).map(Vec::as_slice)
    }

    /// Verifies the statement of a step, and sets its derived fields. `is_read` is whether a later step may read its rows.
    pub(super) async fn verify(&mut self, path: &str, step: &mut Step, is_read: bool) -> Verified {
        let mut found = Verified { executable: true, ..Verified::default() };
        let (field, query) = match self.find_query(path, step).await {
            Ok(query) => query,
            Err(finding) => {
                found.failed.extend(finding);
                return found;
            }
        };
        let path = format!("{path}.{field}");
        if let Some(output) = self.find_unknown_output(&query) {
            let message =
                format!("the statement is not verified: the columns of `{output}` are only known after its call");
            found.warnings.push(Finding::new(path, Code::NotVerified, message));
            step.inputs = vec![output];
            self.assume(&step.output(), &[]);
            return found;
        }
        let inspection = match self.inspect(&query).await {
            Ok(inspection) => inspection,
            Err(failure) => {
                found.failed.push(Finding::of_failure(path, self.explain_step(failure, &query)));
                return found;
            }
        };
        found.checked += 1 + inspection.tables.len() + inspection.columns.len();
        for column in &inspection.unknown_columns {
            found.failed.push(self.reject_column(&path, column, &inspection));
        }
        self.derive(step, &query, &inspection).await;
        found.literals.clone_from(&inspection.literals);
        if found.failed.is_empty() {
            self.plan(&path, step, &query, is_read, &mut found).await;
        }
        if !self.outputs.contains_key(&step.output()) {
            self.assume(&step.output(), &inspection.output);
        }
        found
    }

    /// Returns the field and the statement of a step.
    async fn find_query(&self, path: &str, step: &mut Step) -> Result<(&'static str, SqlQuery), Option<Finding>> {
        let field = match &step.action {
            Action::Metrics(_) => "metrics",
            Action::VerifiedQuery(_) => "verified_query",
            _ => "sql",
        };
        let query = find_statement(step, self.catalog, &self.engine).await.map_err(|reason| match reason {
            Unresolved::Metrics(failure) => {
                let mut finding = Finding::of_failure(format!("{path}.{field}"), failure);
                if finding.code == Code::InvalidSql {
                    finding.code = Code::InvalidMetrics;
                }
                Some(finding)
            }
            // Unknown names are reported by the check of names.
            Unresolved::Parameter(_) if !self.is_known(step) => None,
            Unresolved::Parameter(message) => {
                Some(Finding::new(format!("{path}.{field}"), Code::InvalidParameter, message))
            }
            Unresolved::NoQuery => None,
        })?;
        if field != "sql" {
            step.compiled = Some(query.clone());
        }
        Ok((field, query))
    }

    fn is_known(&self, step: &Step) -> bool {
        match &step.action {
            Action::VerifiedQuery(call) => self.catalog.verified.resolve(&call.name).is_some(),
            _ => true,
        }
    }

    /// Resolves the names of a statement; for a database without rows, by its description.
    async fn inspect(&self, query: &SqlQuery) -> Result<Inspection, Failure> {
        let database = query.database.as_deref();
        match self.engine.inspect(&query.sql, database).await {
            Err(failure) if failure.code == FailureCode::Unavailable => {
                self.catalog.described_engine().inspect(&query.sql, database).await
            }
            inspected => inspected,
        }
    }

    /// Returns an output that a statement reads and whose columns are unknown.
    fn find_unknown_output(&self, query: &SqlQuery) -> Option<String> {
        let text = query.sql.to_lowercase();
        let unknown = self.outputs.iter().filter(|(_, columns)| columns.is_empty());
        unknown.map(|(output, _)| output).find(|output| contains_word(&text, output)).cloned()
    }

    /// Adds the existing outputs to a failure about an unknown one.
    fn explain_step(&self, failure: Failure, query: &SqlQuery) -> Failure {
        let lower = query.sql.to_lowercase();
        if failure.code != FailureCode::UnknownTable || !lower.contains("step_") {
            return failure;
        }
        let known: Vec<&str> = self.outputs.keys().map(String::as_str).collect();
        let suggestion = match known.as_slice() {
            [] => "no earlier step has rows".to_owned(),
            known => format!("the outputs of earlier steps are {}", known.join(", ")),
        };
        Failure { suggestion: Some(suggestion), ..failure }
    }

    /// Returns the failure for an unknown column.
    fn reject_column(&self, path: &str, column: &str, inspection: &Inspection) -> Finding {
        let read: Vec<String> =
            inspection.tables.iter().chain(&inspection.inputs).map(|it| format!("`{it}`")).collect();
        let place = if read.is_empty() { String::new() } else { format!(" in {}", read.join(", ")) };
        let message = format!("unknown column `{column}`{place}");
        let inputs = inspection.inputs.iter().filter_map(|input| self.outputs.get(input)).flatten();
        let tables = inspection.tables.iter().filter_map(|table| self.catalog.schema.find_table(table));
        let columns = tables.flat_map(|(_, table)| &table.columns).map(|column| column.name.as_str());
        let known: BTreeSet<&str> = inputs.map(String::as_str).chain(columns).collect();
        let (owner, name) = column.rsplit_once('.').unwrap_or_default();
        let has_owner = |table: &String| self.engine.has_column(&format!("{table}.{owner}"));
        if !owner.is_empty() && inspection.tables.iter().any(has_owner) {
            let suggestion = format!("a field of `{owner}` is written {owner}['{name}']");
            return Finding::new(path, Code::UnknownColumn, message).suggest(suggestion);
        }
        let name = if name.is_empty() { column } else { name };
        let near = nearest(name, known, 3);
        Finding::new(path, Code::UnknownColumn, message).suggest_names(&near)
    }

    /// Sets the fields that are derived from the statement.
    async fn derive(&self, step: &mut Step, query: &SqlQuery, inspection: &Inspection) {
        step.resources.databases.clone_from(&inspection.databases);
        step.resources.tables.clone_from(&inspection.tables);
        step.resources.columns.clone_from(&inspection.columns);
        step.inputs.clone_from(&inspection.inputs);
        step.explanation = match &step.action {
            // The metrics are shorter than the SQL compiled from them.
            Action::Metrics(metrics) => self.explain_metrics(metrics),
            _ => {
                let labels = CatalogLabels(self.catalog);
                let explained = self.engine.explain(&query.sql, query.database.as_deref(), &labels).await;
                explained.unwrap_or_default()
            }
        };
    }

    /// Explains a metric query in a sentence, with the formula of each metric and the conditions.
    fn explain_metrics(&self, query: &MetricQuery) -> String {
        let model = &self.catalog.metrics;
        let mut text = query.describe();
        let conditions: Vec<String> = query.filters.iter().map(ToString::to_string).collect();
        if !conditions.is_empty() {
            text += &format!(" where {}", conditions.join(" and "));
        }
        for metric in query.metrics.iter().filter_map(|name| model.metric(name)) {
            text += &format!("; {} is {}", metric.name, model.formula(metric));
        }
        text
    }

    /// Plans the statement at its source, compares it with the data, and runs it if a later step reads its rows.
    async fn plan(&mut self, path: &str, step: &Step, query: &SqlQuery, is_read: bool, found: &mut Verified) {
        let database = query.database.as_deref();
        if step.inputs.iter().any(|input| self.unknown.contains(input)) {
            let message = "the statement was verified by names alone: the rows of an earlier step are not known yet";
            found.warnings.push(Finding::new(path, Code::NotVerified, message));
            self.unknown.insert(step.output());
            return;
        }
        if let Err(failure) = self.engine.validate(&query.sql, database).await {
            found.executable = false;
            let finding = Finding::of_failure(path, failure);
            match finding.code {
                // Errors of the statement fail the plan; errors of a source do not.
                Code::NotExecutable | Code::NotVerified => found.warnings.push(finding),
                _ => found.failed.push(finding),
            }
            return;
        }
        let rows = if is_read { self.run(path, step, query, found).await } else { None };
        self.sample(step, query, rows.as_ref()).await;
        let warnings = self.engine.warnings(&query.sql, database, rows.as_ref());
        let warnings = tokio::time::timeout(MAX_WARNING_TIME, warnings).await.unwrap_or_default();
        found.warnings.extend(warnings.into_iter().map(|warning| Finding::of_warning(path, warning)));
    }

    /// Stores the first rows of a statement, if requested.
    async fn sample(&mut self, step: &Step, query: &SqlQuery, rows: Option<&Rows>) {
        let Some(samples) = &mut self.samples else { return };
        let sample = match rows {
            Some(rows) => Rows { rows: rows.rows.iter().take(MAX_SAMPLE).cloned().collect(), ..rows.clone() },
            None => {
                let running = self.engine.run(&query.sql, query.database.as_deref(), MAX_SAMPLE);
                match tokio::time::timeout(MAX_RUN_TIME, running).await {
                    Ok(Ok(outcome)) => outcome.rows,
                    _ => return,
                }
            }
        };
        samples.push((step.number, sample));
    }

    /// Runs a statement, and stores its rows for later steps.
    async fn run(&mut self, path: &str, step: &Step, query: &SqlQuery, found: &mut Verified) -> Option<Rows> {
        let running = self.engine.run(&query.sql, query.database.as_deref(), MAX_ROWS);
        let failure = match tokio::time::timeout(MAX_RUN_TIME, running).await {
            Ok(Ok(Outcome { rows, .. })) => match self.engine.keep(&step.output(), &rows, &step.output()) {
                Ok(()) => {
                    self.outputs.insert(step.output(), rows.columns.clone());
                    return Some(rows);
                }
                Err(failure) => failure,
            },
            Ok(Err(failure)) => failure,
            Err(_) => {
                let seconds = MAX_RUN_TIME.as_secs();
                let message = format!(
                    "the statement runs longer than {seconds} seconds: later steps are verified by names alone"
                );
                found.warnings.push(Finding::new(path, Code::NotVerified, message));
                return None;
            }
        };
        let finding = Finding::of_failure(path, failure);
        match finding.code {
            Code::NotExecutable | Code::NotVerified => found.warnings.push(finding),
            _ => found.failed.push(finding),
        }
        None
    }

    /// Adds an output without rows, of which at most the columns are known.
    pub(super) fn assume(&mut self, output: &str, columns: &[String]) {
        let rows = Rows { columns: columns.to_vec(), ..Rows::default() };
        let is_kept = !columns.is_empty() && self.engine.keep(output, &rows, output).is_ok();
        self.outputs.insert(output.to_owned(), if is_kept { columns.to_vec() } else { Vec::new() });
        self.unknown.insert(output.to_owned());
    }
}

//! `run_verified_query`

use std::sync::Arc;

use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tool::finding::{QueryFinding, QueryRows, RowsWarning, Verification};
use prospector_core::tool::{Effect, Part, Tool, ToolError, ToolOutput};
use prospector_engine::Engine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    VerifiedQueries,
    file::fill_in,
    value::{show, to_json},
};

/// The maximum number of rows in an answer.
const MAX_ROWS: usize = 50;

pub(super) struct RunVerifiedQuery(pub(super) Arc<VerifiedQueries>, pub(super) Arc<Engine>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunArgs {
    /// Name of the query.
    name: String,
    /// Parameter values, by name.
    #[serde(default)]
    parameters: Map<String, Value>,
}

/// The result of a verified query.
#[derive(Clone, Serialize)]
pub(super) struct VerifiedAnswer {
    id: String,
    name: String,
    /// The question with the parameter values.
    question: String,
    /// Who approved it, and when.
    verified: Verification,
    /// The values of all parameters, defaults included.
    #[serde(skip_serializing_if = "Map::is_empty")]
    parameters: Map<String, Value>,
    /// Notes on the answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    databases: Vec<String>,
    tables: Vec<String>,
    sql: String,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    row_count: usize,
    has_more: bool,
    /// Cells of files that are not in the result as written.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "RowsWarning::serialize_messages")]
    warnings: Vec<RowsWarning>,
    /// The units of columns, by name.
    #[serde(skip)]
    units: Vec<(String, String)>,
}

impl Tool for RunVerifiedQuery {
    const NAME: &'static str = "run_verified_query";
    const DESCRIPTION: &'static str = "Runs a verified query with parameter values and returns up to 50 rows. Prefer it to \
        writing SQL: its query was approved by a person.";
    const EFFECT: Effect = Effect::Reads;
    type Args = RunArgs;
    type Output = VerifiedAnswer;

    async fn call(&self, args: RunArgs) -> Result<VerifiedAnswer, ToolError> {
        let query = self.0.find_named(&args.name)?;
        let run = self.0.run(query, &args.parameters, &self.1, MAX_ROWS).await?;
        let value_of = |slot: &str| run.parameters.iter().find(|(name, _)| name == slot).map(|(_, value)| show(value));
        Ok(VerifiedAnswer {
            id: String::new(),
            name: query.name.clone(),
            question: fill_in(&query.question, value_of).unwrap_or_else(|| query.question.clone()),
            verified: query.verified.clone().unwrap_or_default(),
            parameters: run.parameters.iter().map(|(name, value)| (name.clone(), to_json(value))).collect(),
            description: query.description.clone(),
            databases: run.outcome.databases,
            tables: run.outcome.tables,
            sql: run.sql,
            columns: run.outcome.rows.columns,
            row_count: run.outcome.rows.rows.len(),
            rows: run.outcome.rows.rows,
            has_more: run.outcome.rows.has_more,
            warnings: run.warnings,
            units: run.outcome.units,
        })
    }
}

impl ToolOutput for VerifiedAnswer {
    fn reveals(&self) -> Vec<Resource> {
        let databases = self.databases.iter().map(|name| Resource::new(ResourceKind::Database, name));
        let tables = self.tables.iter().map(|name| Resource::new(ResourceKind::Table, name));
        std::iter::once(Resource::new(ResourceKind::Query, &self.name)).chain(databases).chain(tables).collect()
    }

    fn queries(&mut self) -> Vec<QueryFinding<'_>> {
        vec![QueryFinding {
            id: &mut self.id,
            question: &self.question,
            title: Some(self.question.trim_end_matches('?')),
            sql: Some(&self.sql),
            database: None,
            verified: Some((&self.name, &self.verified)),
            rows: Ok(QueryRows {
                databases: &self.databases,
                columns: &self.columns,
                rows: &self.rows,
                has_more: self.has_more || self.rows.len() < self.row_count,
                units: &self.units,
                warnings: &self.warnings,
            }),
        }]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![
            ("sql", Part::Text(&mut self.sql)),
            ("description", Part::Text(&mut self.description)),
            ("columns", Part::entries(&mut self.columns)),
            ("rows", Part::entries(&mut self.rows)),
            ("warnings", Part::entries(&mut self.warnings)),
        ]
    }
}

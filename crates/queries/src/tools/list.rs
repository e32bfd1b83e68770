//! `list_verified_queries` and `get_verified_query`

use std::sync::Arc;

use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tool::finding::Verification;
use prospector_core::tool::{Effect, ListArgs, Page, Part, Tool, ToolError, ToolOutput};
use prospector_engine::options::NamedSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{VerifiedQueries, VerifiedQuery, model::Parameter, value::to_json};

pub(super) struct ListVerifiedQueries(pub(super) Arc<VerifiedQueries>);

/// A query in a list.
#[derive(Clone, Serialize)]
pub(super) struct Listed {
    name: String,
    question: String,
    verified: Option<Verification>,
    /// Why it is not run, if it is stale.
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<String>,
}

impl Tool for ListVerifiedQueries {
    const NAME: &'static str = "list_verified_queries";
    const DESCRIPTION: &'static str =
        "Lists verified queries (SQL approved by a person) with the questions that they answer.";
    const MORE: &'static str = "call again with offset = the number of items seen so far";
    const EFFECT: Effect = Effect::Reads;
    type Args = ListArgs;
    type Output = Page<Listed>;

    async fn call(&self, args: ListArgs) -> Result<Page<Listed>, ToolError> {
        let listed = self.0.queries().iter().map(|query| Listed {
            name: query.name.clone(),
            question: query.question.clone(),
            verified: query.verified.clone(),
            stale: query.stale().map(str::to_owned),
        });
        Ok(Page::of_list(listed.collect(), args))
    }
}

impl ToolOutput for Listed {
    fn reveals(&self) -> Vec<Resource> {
        vec![Resource::new(ResourceKind::Query, &self.name)]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("question", Part::Text(&mut self.question))]
    }
}

pub(super) struct GetVerifiedQuery(pub(super) Arc<VerifiedQueries>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetArgs {
    /// Name of the query.
    name: String,
}

/// The details of a query.
#[derive(Clone, Serialize)]
pub(super) struct Whole {
    name: String,
    question: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    synonyms: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    database: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<ShownParameter>,
    verified: Option<Verification>,
    /// Why it is not run, if it is stale.
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tables: Vec<String>,
    /// The table in FROM with its rows, if no parameter requires a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    reads_as: Option<String>,
    sql: String,
}

/// A parameter of a query.
#[derive(Clone, Serialize)]
struct ShownParameter {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    #[serde(skip_serializing_if = "Value::is_null")]
    default: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allowed: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<String>,
}

impl ShownParameter {
    fn of(parameter: &Parameter) -> Self {
        const MAX_SHOWN: usize = 50;
        ShownParameter {
            name: parameter.name.clone(),
            kind: parameter.kind.as_str(),
            description: parameter.description.clone(),
            default: parameter.default.as_ref().map(to_json).unwrap_or_default(),
            allowed: parameter.allowed.iter().take(MAX_SHOWN).map(|one| to_json(&one.value)).collect(),
            column: parameter.column.clone(),
        }
    }
}

impl Whole {
    fn of(query: &VerifiedQuery) -> Self {
        Whole {
            name: query.name.clone(),
            question: query.question.clone(),
            synonyms: query.synonyms.clone(),
            description: query.description.clone(),
            database: query.database.clone(),
            parameters: query.parameters.iter().map(ShownParameter::of).collect(),
            verified: query.verified.clone(),
            stale: query.stale().map(str::to_owned),
            tables: query.tables().to_vec(),
            reads_as: query.is_readable().then(|| NamedSchema::Queries.write(&query.name)),
            sql: query.sql.clone(),
        }
    }
}

impl Tool for GetVerifiedQuery {
    const NAME: &'static str = "get_verified_query";
    const DESCRIPTION: &'static str = "Returns a verified query: question, parameters, SQL, and who approved it.";
    const EFFECT: Effect = Effect::Reads;
    type Args = GetArgs;
    type Output = Whole;

    async fn call(&self, args: GetArgs) -> Result<Whole, ToolError> {
        Ok(Whole::of(self.0.find_named(&args.name)?))
    }
}

impl ToolOutput for Whole {
    fn reveals(&self) -> Vec<Resource> {
        let tables = self.tables.iter().flat_map(|table| {
            let database = table.split('.').next().unwrap_or(table);
            [Resource::new(ResourceKind::Database, database), Resource::new(ResourceKind::Table, table)]
        });
        std::iter::once(Resource::new(ResourceKind::Query, &self.name)).chain(tables).collect()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![
            ("sql", Part::Text(&mut self.sql)),
            ("synonyms", Part::entries(&mut self.synonyms)),
            ("description", Part::Text(&mut self.description)),
            ("parameters", Part::entries(&mut self.parameters)),
        ]
    }
}

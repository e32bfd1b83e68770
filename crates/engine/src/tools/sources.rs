//! `list_sources` and `get_source_preview`

use std::sync::Arc;

use prospector_connect::FilterCondition;
use prospector_core::{Resource, ResourceKind, Tool, ToolError, nearest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{MOST_CHARACTERS, Shown, shown};
use crate::{Engine, hint};

/// So many rows are a preview.
const PREVIEW: usize = 10;

pub(super) struct ListSources(pub(super) Arc<Engine>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoArgs {}

#[derive(Serialize)]
pub(super) struct Listed {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    sql: &'static str,
    tables: usize,
}

impl Tool for ListSources {
    const NAME: &'static str = "list_sources";
    const DESCRIPTION: &'static str = "Lists the databases that execute_sql can read, and the SQL that each speaks.";
    type Args = NoArgs;
    type Output = Vec<Listed>;

    async fn call(&self, _: NoArgs) -> Result<Vec<Listed>, ToolError> {
        let listed = self.0.sources.iter().map(|source| Listed {
            name: source.name.clone(),
            kind: source.connector.kind(),
            sql: source.dialect().as_str(),
            tables: source.tables.len(),
        });
        Ok(listed.collect())
    }

    fn reveals(_: &Value, answer: &Value) -> Vec<Resource> {
        let names = answer.as_array().into_iter().flatten().filter_map(|source| source.get("name")?.as_str());
        names.map(|name| Resource::new(ResourceKind::Database, name)).collect()
    }
}

pub(super) struct GetSourcePreview(pub(super) Arc<Engine>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The database.
    database: String,
    /// The table.
    table: String,
    /// Conditions that the rows meet.
    #[serde(default)]
    conditions: Vec<FilterCondition>,
}

#[derive(Serialize)]
pub(super) struct Preview {
    database: String,
    table: String,
    #[serde(flatten)]
    shown: Shown,
}

impl Tool for GetSourcePreview {
    const NAME: &'static str = "get_source_preview";
    const DESCRIPTION: &'static str = "Shows some rows of a table, as they are.";
    type Args = Args;
    type Output = Preview;

    async fn call(&self, args: Args) -> Result<Preview, ToolError> {
        let sources = &self.0.sources;
        let source = &sources[self.0.source(&args.database)?];
        let found = source.tables.iter().find(|table| table.name == args.table);
        let found = found.or_else(|| source.tables.iter().find(|table| table.name.eq_ignore_ascii_case(&args.table)));
        let Some(table) = found else {
            return Err(ToolError::not_found(
                "table",
                &args.table,
                source.tables.iter().map(|table| table.name.as_str()),
            ));
        };
        for condition in &args.conditions {
            if table.column(&condition.column).is_none() {
                let near = nearest(&condition.column, table.columns.iter().map(|column| column.name.as_str()), 3);
                let message = format!("{} has no column `{}`", table.name, condition.column);
                return Err(ToolError::invalid(message, Some(format!("did you mean {}?", near.join(", ")))));
            }
        }
        let rows = source.connector.rows(&table.name, &[], &args.conditions, PREVIEW).await;
        let rows = rows.map_err(|error| hint::of_source(&error, sources, &[]))?;
        Ok(Preview { database: source.name.clone(), table: table.name.clone(), shown: shown(rows, MOST_CHARACTERS) })
    }

    fn reveals(_: &Value, answer: &Value) -> Vec<Resource> {
        let text = |key: &str| answer.get(key).and_then(Value::as_str);
        match (text("database"), text("table")) {
            (Some(database), Some(table)) => vec![Resource::new(ResourceKind::Table, format!("{database}.{table}"))],
            _ => Vec::new(),
        }
    }
}

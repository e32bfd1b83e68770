//! `list_tables`: which tables a database has.

use std::sync::Arc;

use prospector_core::{Page, Resource, Tool, ToolError};
use prospector_text::cut;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{LISTED, database, find_database, items, table};
use crate::{SchemaDiscovery, render::SHOWN};

pub(super) struct ListTables(pub(super) Arc<SchemaDiscovery>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Its name.
    database: String,
    /// At most this many; 50.
    limit: Option<usize>,
    /// How many to skip.
    offset: Option<usize>,
}

#[derive(Serialize)]
pub(super) struct Item {
    /// Only where the call spelled it otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    database: Option<String>,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    row_count: Option<u64>,
    /// The source's own estimate.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    row_count_estimated: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
}

impl Tool for ListTables {
    const NAME: &'static str = "list_tables";
    const DESCRIPTION: &'static str = "Lists the tables of a database with their row counts.";
    const MORE: &'static str = "call again with limit and offset";
    type Args = Args;
    type Output = Page<Item>;

    async fn call(&self, args: Args) -> Result<Page<Item>, ToolError> {
        let known = &find_database(&self.0, &args.database)?.database;
        let items = known.tables.iter().map(|table| Item {
            database: (known.name != args.database).then(|| known.name.clone()),
            name: table.name.clone(),
            row_count: table.row_count,
            row_count_estimated: table.row_count_estimated,
            description: cut::line(&table.description, SHOWN),
        });
        let mut page = Page::cut(items.collect(), args.offset.unwrap_or(0), args.limit.unwrap_or(LISTED));
        if !known.withheld.is_empty() {
            page.note = Some(format!("{} more are not allowed by the catalog", known.withheld.len()));
        }
        Ok(page)
    }

    fn reveals(args: &Value, answer: &Value) -> Vec<Resource> {
        let asked = args["database"].as_str().unwrap_or_default();
        let mut resources = Vec::new();
        for item in items(answer) {
            let name = item["database"].as_str().unwrap_or(asked);
            if resources.is_empty() {
                resources.push(database(name));
            }
            resources.extend(item["name"].as_str().map(|item| table(name, item)));
        }
        resources
    }
}

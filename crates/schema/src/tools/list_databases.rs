//! `list_databases`: which databases there are.

use std::sync::Arc;

use prospector_connect::SourceKind;
use prospector_core::{Page, Resource, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{LISTED, database, items};
use crate::{SchemaDiscovery, naming::cut, render::SHOWN};

pub(super) struct ListDatabases(pub(super) Arc<SchemaDiscovery>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// At most this many; 50.
    limit: Option<usize>,
    /// How many to skip.
    offset: Option<usize>,
}

#[derive(Serialize)]
pub(super) struct Item {
    name: String,
    #[serde(rename = "type")]
    kind: SourceKind,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    /// How many.
    tables: usize,
}

impl Tool for ListDatabases {
    const NAME: &'static str = "list_databases";
    const DESCRIPTION: &'static str = "Lists the databases with what they are about and how many tables they have. To find tables, prefer search_tables.";
    const MORE: &'static str = "call again with limit and offset";
    type Args = Args;
    type Output = Page<Item>;

    async fn call(&self, args: Args) -> Result<Page<Item>, ToolError> {
        let items = self.0.databases().map(|database| Item {
            name: database.name.clone(),
            kind: database.kind,
            description: cut(&database.description, SHOWN),
            tables: database.tables.len(),
        });
        Ok(Page::cut(items.collect(), args.offset.unwrap_or(0), args.limit.unwrap_or(LISTED)))
    }

    fn reveals(_: &Value, answer: &Value) -> Vec<Resource> {
        items(answer).filter_map(|item| Some(database(item["name"].as_str()?))).collect()
    }
}

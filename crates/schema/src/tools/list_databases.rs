//! The tool `list_databases`.

use std::sync::Arc;

use prospector_connect::source::SourceKind;
use prospector_connect::sql::Dialect;
use prospector_core::record::Resource;
use prospector_core::tool::{Effect, ListArgs, Page, Part, Tool, ToolError, ToolOutput};
use prospector_text::cut;
use serde::Serialize;

use super::database;
use crate::{Database, SchemaDiscovery, render::SHOWN};

pub(super) struct ListDatabases(pub(super) Arc<SchemaDiscovery>);

#[derive(Clone, Serialize)]
pub(super) struct Item {
    name: String,
    #[serde(rename = "type")]
    kind: SourceKind,
    /// The SQL dialect in which its rows are queried, if its type does not imply it.
    #[serde(skip_serializing_if = "Option::is_none")]
    sql: Option<&'static str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    /// The number of tables.
    tables: usize,
}

impl Tool for ListDatabases {
    const NAME: &'static str = "list_databases";
    const DESCRIPTION: &'static str =
        "Lists databases with their descriptions and table counts. To find tables, prefer search_tables.";
    const MORE: &'static str = "call again with limit and offset";
    const EFFECT: Effect = Effect::Reads;
    type Args = ListArgs;
    type Output = Page<Item>;

    async fn call(&self, args: ListArgs) -> Result<Page<Item>, ToolError> {
        let sql = |database: &Database| {
            let dialect = self.0.dialect(&database.name).map(Dialect::id);
            dialect.filter(|dialect| !dialect.starts_with(database.kind.as_str()))
        };
        let items = self.0.databases().map(|database| Item {
            name: database.name.clone(),
            kind: database.kind,
            sql: sql(database),
            description: cut::line(&database.description, SHOWN),
            tables: database.tables.len(),
        });
        Ok(Page::of_list(items.collect(), args))
    }
}

impl ToolOutput for Item {
    fn reveals(&self) -> Vec<Resource> {
        vec![database(&self.name)]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("description", Part::Text(&mut self.description))]
    }
}

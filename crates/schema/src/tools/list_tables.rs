//! The tool `list_tables`.

use std::sync::Arc;

use prospector_core::record::Resource;
use prospector_core::tool::{Effect, Page, Part, Tool, ToolError, ToolOutput};
use prospector_text::cut;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{database, find_database, members, table};
use crate::{SchemaDiscovery, families::TableFamily, render::SHOWN};

/// Default number of tables in a list.
const LISTED: usize = 50;

pub(super) struct ListTables(pub(super) Arc<SchemaDiscovery>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The database.
    database: String,
    /// Maximum number; default 50.
    limit: Option<usize>,
    /// Number to skip.
    offset: Option<usize>,
}

#[derive(Clone, Serialize)]
pub(super) struct Item {
    #[serde(skip)]
    owner: Arc<str>,
    /// Only set if the call used another spelling.
    #[serde(skip_serializing_if = "Option::is_none")]
    database: Option<String>,
    name: String,
    /// The quoted name, if a query has to quote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    sql: Option<String>,
    /// The tables that differ from it only in a date, which are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<TableFamily>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row_count: Option<u64>,
    /// Estimated by the source.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    row_count_estimated: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
}

impl Tool for ListTables {
    const NAME: &'static str = "list_tables";
    const DESCRIPTION: &'static str = "Lists the tables of a database with their row counts.";
    const MORE: &'static str = "call again with limit and offset";
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = Page<Item>;

    async fn call(&self, args: Args) -> Result<Page<Item>, ToolError> {
        let prepared = find_database(&self.0, &args.database)?;
        let known = &prepared.database;
        let owner: Arc<str> = known.name.as_str().into();
        let dialect = prepared.dialect();
        let items = prepared.representatives().map(|at| {
            let table = &known.tables[at];
            Item {
                owner: owner.clone(),
                database: (known.name != args.database).then(|| known.name.clone()),
                name: table.name.clone(),
                sql: dialect.map(|dialect| dialect.spell(&table.name)).filter(|spelled| *spelled != table.name),
                family: prepared.families.family(at).cloned(),
                row_count: table.row_count,
                row_count_estimated: table.row_count_estimated,
                description: cut::line(&table.description, SHOWN),
            }
        });
        let mut page = Page::cut(items.collect(), args.offset.unwrap_or(0), args.limit.unwrap_or(LISTED));
        if !known.withheld.is_empty() {
            page.note = Some(format!("{} more are not allowed by the catalog", known.withheld.len()));
        }
        Ok(page)
    }
}

impl ToolOutput for Item {
    fn reveals(&self) -> Vec<Resource> {
        Self::reveal_all(std::slice::from_ref(self))
    }

    fn reveal_all(items: &[Self]) -> Vec<Resource> {
        let owner = items.first().map(|item| database(&item.owner));
        let tables = items.iter().flat_map(|item| match &item.family {
            Some(family) => members(&item.owner, family, &[]),
            None => vec![table(&item.owner, &item.name)],
        });
        owner.into_iter().chain(tables).collect()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("description", Part::Text(&mut self.description))]
    }
}

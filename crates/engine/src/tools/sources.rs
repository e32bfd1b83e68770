//! The tools `list_sources` and `get_source_preview`.

use std::sync::Arc;

use prospector_connect::filter::FilterCondition;
use prospector_connect::source::SourceKind;
use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tool::{Effect, Page, Part, Tool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{MAX_CHARACTERS, ShownRows, cut_to_show, table};
use crate::engine::conditions_fit;
use crate::{Engine, advice};

/// The number of rows of a preview.
const PREVIEW: usize = 10;

pub(super) struct ListSources(pub(super) Arc<Engine>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoArgs {}

#[derive(Clone, Serialize)]
pub(super) struct SourceEntry {
    name: String,
    #[serde(rename = "type")]
    kind: SourceKind,
    sql: &'static str,
    tables: usize,
}

impl Tool for ListSources {
    const NAME: &'static str = "list_sources";
    const DESCRIPTION: &'static str = "Lists the databases that execute_sql can read, with the SQL dialect of each.";
    const EFFECT: Effect = Effect::Reads;
    type Args = NoArgs;
    type Output = Page<SourceEntry>;

    async fn call(&self, _: NoArgs) -> Result<Page<SourceEntry>, ToolError> {
        let listed = self.0.sources.iter().map(|source| SourceEntry {
            name: source.name.clone(),
            kind: source.connector.kind(),
            sql: source.dialect().as_str(),
            tables: source.tables.len(),
        });
        Ok(Page::whole(listed.collect()))
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
    /// Conditions that the rows must match.
    #[serde(default)]
    conditions: Vec<FilterCondition>,
}

#[derive(Clone, Serialize)]
pub(super) struct Preview {
    database: String,
    table: String,
    #[serde(flatten)]
    shown: ShownRows,
}

impl Tool for GetSourcePreview {
    const NAME: &'static str = "get_source_preview";
    const DESCRIPTION: &'static str = "Returns sample rows of a table, unchanged.";
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = Preview;

    async fn call(&self, args: Args) -> Result<Preview, ToolError> {
        let (source, table) = self.0.table(&args.database, &args.table)?;
        conditions_fit(table, &args.conditions)?;
        let rows = source.connector.rows(&table.name, &[], &args.conditions, PREVIEW).await;
        let rows = rows.map_err(|error| advice::explain_source(&error, &[table]))?;
        Ok(Preview {
            database: source.name.clone(),
            table: table.name.clone(),
            shown: cut_to_show(rows, MAX_CHARACTERS),
        })
    }
}

impl ToolOutput for SourceEntry {
    fn reveals(&self) -> Vec<Resource> {
        vec![Resource::new(ResourceKind::Database, &self.name)]
    }
}

impl ToolOutput for Preview {
    fn reveals(&self) -> Vec<Resource> {
        table(&self.database, &self.table)
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        self.shown.parts()
    }
}

//! The tool `load_scoped`.

use std::sync::Arc;

use prospector_connect::table::{Column, Table};
use prospector_core::record::Resource;
use prospector_core::tool::{Effect, Part, Tool, ToolError, ToolOutput};
use serde::Serialize;

use crate::answer::{MAX_CHARACTERS, ShownRows, cut_to_show, table};
use crate::scope::{MAX_LOADED, Subset};
use crate::source::Source;
use crate::{Engine, Failure};

pub(super) struct LoadScoped(pub(super) Arc<Engine>);

/// The answer: the loaded subset and its first rows.
#[derive(Clone, Serialize)]
pub(super) struct Preview {
    alias: String,
    database: String,
    table: String,
    rows_loaded: usize,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
    types: Vec<String>,
    preview: ShownRows,
}

impl Tool for LoadScoped {
    const NAME: &'static str = "load_scoped";
    const DESCRIPTION: &'static str = "Loads the rows of a table that match conditions under an alias, and returns the first rows. \
        Query them with execute_sql as scoped.ALIAS, in DataFusion SQL, and join them with other tables.";
    const EFFECT: Effect = Effect::Writes { repeatable: true };
    type Args = Subset;
    type Output = Preview;

    async fn call(&self, subset: Subset) -> Result<Preview, ToolError> {
        let loaded = self.0.load(&complete(&self.0, subset)?).await?;
        let advice = loaded.truncated.then(|| {
            let more = "more rows match the conditions and are missing from everything computed from";
            format!("{more} scoped.{}; add conditions, or raise the limit up to {MAX_LOADED}", loaded.alias)
        });
        let typed = |column: &Column| format!("{} {}", column.name, column.data_type);
        let mut preview = cut_to_show(loaded.first, MAX_CHARACTERS);
        preview.next = preview.has_more.then(|| format!("SELECT ... FROM scoped.{}", loaded.alias));
        Ok(Preview {
            alias: loaded.alias,
            database: loaded.database,
            table: loaded.table,
            rows_loaded: loaded.row_count,
            truncated: loaded.truncated,
            advice,
            types: loaded.columns.iter().map(typed).collect(),
            preview,
        })
    }
}

/// Fills in the database and table if only the alias is given: it is then parsed as `database.table`, or as the only table of
/// that name or of a database of that name.
fn complete(engine: &Engine, mut subset: Subset) -> Result<Subset, Failure> {
    let alias = subset.alias.clone();
    let is_called = |source: &Source, table: &Table| {
        !subset.table.is_empty()
            || alias.eq_ignore_ascii_case(&format!("{}.{}", source.name, table.name))
            || alias.eq_ignore_ascii_case(&table.name)
            || (source.tables.len() == 1 && alias.eq_ignore_ascii_case(&source.name))
    };
    let (database, table) = engine.only_table(&subset.database, &subset.table, &is_called)?;
    if subset.table.is_empty() && alias.contains('.') {
        subset.alias.clone_from(&table);
    }
    (subset.database, subset.table) = (database, table);
    Ok(subset)
}

impl ToolOutput for Preview {
    fn reveals(&self) -> Vec<Resource> {
        table(&self.database, &self.table)
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        let mut parts = vec![("types", Part::entries(&mut self.types))];
        parts.extend(self.advice.as_mut().map(|advice| ("advice", Part::Text(advice))));
        parts.extend(self.preview.parts());
        parts
    }
}

//! The tool `get_table_schema`.

use std::sync::Arc;

use prospector_core::record::Resource;
use prospector_core::tool::{Cut, Effect, Part, Text, Tool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answers::{ColumnSchema, TableSchema},
    column, database, find_table, table, wide,
};
use crate::{
    discovery::{SchemaDiscovery, read_profile},
    joins::{JoinEnd, references},
    profile::{Profile, ProfileError},
};

pub(super) struct GetTableSchema(pub(super) Arc<SchemaDiscovery>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The database.
    database: String,
    /// The table.
    table: String,
    /// Include all statistics.
    values: Option<bool>,
    /// The question; selects the columns shown of a wide table.
    query: Option<String>,
    /// Only matching columns: totals.*, date
    columns: Option<String>,
}

impl Tool for GetTableSchema {
    const NAME: &'static str = "get_table_schema";
    const DESCRIPTION: &'static str = "Returns the columns of a table: types, keys, descriptions, sample values. Call it before \
         planning with a table.";
    const MORE: &'static str = wide::MORE;
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = TableSchema;

    async fn call(&self, args: Args) -> Result<TableSchema, ToolError> {
        let (known, at) = find_table(&self.0, &args.database, &args.table)?;
        let table = &known.database.tables[at];
        let all = args.values.unwrap_or(false);
        let (profile, note) = match read_profile(known, at).await {
            Ok(profile) if all => (profile.clone(), None),
            Ok(profile) => (profile.brief(), None),
            // A schema without data is not an error unless statistics were requested.
            Err(ProfileError::NoData) if !all => (Profile::default(), None),
            Err(error) => (Profile::default(), Some(self.0.redact(format!("statistics are unavailable: {error}")))),
        };
        let Profile { mut statistics, mut samples } = profile;
        let pattern = args.columns.as_deref().map(str::trim).filter(|pattern| !pattern.is_empty());
        let chosen = match pattern {
            Some(pattern) => wide::like(table, &format!("{}.{}", known.database.name, table.name), pattern)?,
            None => wide::fitting(table, args.query.as_deref().unwrap_or_default()),
        };
        samples.retain(|name, _| chosen.whole.iter().any(|at| table.columns[*at].name == *name));
        let columns = (chosen.whole.iter().map(|at| &table.columns[*at]))
            .map(|column| (column, list_references(table, &column.name)))
            .map(|(column, refers_to)| ColumnSchema {
                name: column.name.clone(),
                data_type: table.type_of(column),
                nullable: (!column.nullable && !column.primary_key).then_some(false),
                primary_key: column.primary_key,
                foreign_key: refers_to.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
                refers_to,
                description: column.description.clone(),
                statistics: statistics.remove(&column.name),
            })
            .collect();
        Ok(TableSchema {
            database: known.database.name.clone(),
            table: table.name.clone(),
            sql: known.dialect(),
            description: table.description.clone(),
            row_count: table.row_count,
            row_count_estimated: table.row_count_estimated,
            columns,
            columns_total: chosen.is_partial.then_some(table.columns.len()),
            truncated: chosen.is_partial,
            next: chosen.is_partial.then_some(wide::MORE),
            other_columns: chosen.named.into_iter().map(|at| table.columns[at].name.clone()).collect(),
            sample_values: samples,
            issues: table.issues.clone(),
            note,
        })
    }
}

impl ToolOutput for TableSchema {
    fn reveals(&self) -> Vec<Resource> {
        let columns = self.columns.iter().map(|column| &column.name).chain(&self.other_columns);
        let referred = self.columns.iter().flat_map(|column| &column.refers_to);
        [database(&self.database), table(&self.database, &self.table)]
            .into_iter()
            .chain(columns.map(|name| column(&self.database, &format!("{}.{name}", self.table))))
            .chain(
                referred.flat_map(|end| [table(&self.database, &end.table), column(&self.database, &end.to_string())]),
            )
            .collect()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        let mut parts = vec![
            ("description", Part::Text(&mut self.description)),
            ("columns", Part::entries(&mut self.columns)),
            ("other_columns", Part::entries(&mut self.other_columns)),
            ("sample_values", Part::entries(&mut self.sample_values)),
            ("issues", Part::entries(&mut self.issues)),
        ];
        parts.extend(self.note.as_mut().map(|note| ("note", Part::Text(note))));
        parts
    }

    fn render(&self, cut: &Cut) -> Text {
        super::render::table(self, cut).into()
    }
}

/// Returns the columns that a column references.
fn list_references(table: &prospector_connect::table::Table, column: &str) -> Vec<JoinEnd> {
    references(table).filter(|(own, ..)| *own == column).map(|(_, table, other)| JoinEnd::new(table, other)).collect()
}

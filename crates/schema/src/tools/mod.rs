//! The table tools, one file each, and the lookup of names in their arguments.

mod answers;
mod detail;
mod get_sample_values;
mod get_table_relationships;
mod get_table_schema;
mod list_databases;
mod list_tables;
mod render;
mod search_tables;
mod wide;

use std::sync::Arc;

use prospector_connect::table::Table;
use prospector_core::name::suggest;
use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tool::{ToolError, ToolErrorCode, Toolset};
use prospector_search::Index;

pub use answers::{TableHit, TableHits};

use crate::{
    discovery::{PreparedDatabase, SchemaDiscovery, without_quotes},
    families::TableFamily,
    naming::position_of,
};

impl SchemaDiscovery {
    /// Returns the tools; searches use an index of [`SchemaDiscovery::records`].
    pub fn tools(self: &Arc<Self>, index: &Index) -> Toolset {
        Toolset::new()
            .with(list_databases::ListDatabases(self.clone()))
            .with(list_tables::ListTables(self.clone()))
            .with(get_table_schema::GetTableSchema(self.clone()))
            .with(search_tables::SearchTables { discovery: self.clone(), index: index.clone() })
            .with(get_table_relationships::GetTableRelationships(self.clone()))
            .with(get_sample_values::GetSampleValues(self.clone()))
    }
}

/// Finds a database by name; the error lists the nearest names.
fn find_database<'a>(discovery: &'a SchemaDiscovery, name: &str) -> Result<&'a PreparedDatabase, ToolError> {
    let names = discovery.databases().map(|database| database.name.as_str());
    discovery.find(name).ok_or_else(|| ToolError::not_found("database", name, names))
}

/// Finds a table by name, also if given as `database.table`; the error lists the nearest names, and other databases with
/// such a table.
fn find_table<'a>(
    discovery: &'a SchemaDiscovery,
    database: &str,
    table: &str,
) -> Result<(&'a PreparedDatabase, usize), ToolError> {
    let known = find_database(discovery, database)?;
    let bare = table.strip_prefix(known.database.name.as_str()).and_then(|rest| rest.strip_prefix('.'));
    if let Some(at) = known.table(table).or_else(|| known.table(bare?)) {
        return Ok((known, at));
    }
    if let Some(plain) = without_quotes(table) {
        return find_table(discovery, database, &plain);
    }
    let database = &known.database;
    let tables: Vec<&str> = database.tables.iter().map(|table| table.name.as_str()).collect();
    let mut error = missing("table", table, &format!("in database `{}`", database.name), &tables);
    if let ToolError::Respond { message, .. } = &mut error
        && !database.withheld.is_empty()
    {
        // The same for a table that is not allowed and one that does not exist.
        message.push_str(", or the catalog does not allow it");
    }
    let elsewhere: Vec<&str> = (discovery.databases.iter())
        .filter(|other| other.table(table).is_some())
        .map(|other| other.database.name.as_str())
        .collect();
    if let (ToolError::Respond { suggestion, .. }, Some(first)) = (&mut error, elsewhere.first()) {
        let more = if elsewhere.len() > 1 { format!(" and {} more", elsewhere.len() - 1) } else { String::new() };
        let near = suggestion.take().map(|near| format!("; here: {near}")).unwrap_or_default();
        *suggestion = Some(format!("database `{first}`{more} has a table of that name{near}"));
    }
    Err(error)
}

/// Returns the exact name of a column; the error lists the nearest names.
fn find_column<'a>(table: &'a Table, id: &str, column: &str) -> Result<&'a str, ToolError> {
    if let Some(at) = position_of(&table.columns, column, |column| &column.name) {
        return Ok(&table.columns[at].name);
    }
    if let Some(plain) = without_quotes(column) {
        return find_column(table, id, &plain);
    }
    let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    Err(missing("column", column, &format!("in table `{id}`"), &columns))
}

fn missing(what: &str, name: &str, place: &str, candidates: &[&str]) -> ToolError {
    let suggestion = match candidates.is_empty() {
        true => Some(format!("there is no {what} at all")),
        false => suggest(name, candidates.iter().copied()),
    };
    ToolError::Respond {
        code: ToolErrorCode::NotFound,
        message: format!("there is no {what} `{name}` {place}"),
        suggestion,
    }
}

fn database(name: &str) -> Resource {
    Resource::new(ResourceKind::Database, name)
}

fn table(database: &str, table: &str) -> Resource {
    Resource::new(ResourceKind::Table, format!("{database}.{table}"))
}

/// Returns the tables of a family, each with these columns.
fn members(database: &str, family: &TableFamily, columns: &[&str]) -> Vec<Resource> {
    let of_member = |member: &String| {
        let own = columns.iter().map(|name| column(database, &format!("{member}.{name}")));
        std::iter::once(table(database, member)).chain(own).collect::<Vec<_>>()
    };
    family.members.iter().flat_map(of_member).collect()
}

/// Returns a column, from `table.column`.
fn column(database: &str, column: &str) -> Resource {
    Resource::new(ResourceKind::Column, format!("{database}.{column}"))
}

#[cfg(test)]
mod tests;

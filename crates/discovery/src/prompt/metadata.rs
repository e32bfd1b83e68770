//! The metadata of all catalog entries as compact text, one piece per entry.

use prospector_api::{Api, Operation};
use prospector_connect::table::{Column, ColumnType, Table};
use prospector_core::Kind;
use prospector_core::mark::{as_data, clean};
use prospector_core::record::{ColumnValues, Resource, ResourceKind};
use prospector_schema::Database;

use crate::Catalog;
use crate::piece::Piece;

/// Maximum number of stored values for all of them to be shown, and of the characters of a value.
const MAX_VALUES: usize = 6;
const MAX_VALUE_CHARS: usize = 24;

/// Joins pieces to one text, in the given order, marked as data.
pub(super) fn text(pieces: &[Piece], left_out: usize) -> String {
    let mut lines = String::from("\n");
    let mut group = "";
    for piece in pieces {
        if piece.group != group {
            lines.push_str(&piece.group);
            lines.push('\n');
            group = &piece.group;
        }
        lines.push_str(&piece.text);
        lines.push('\n');
    }
    let mut text = as_data(&lines);
    text.push('\n');
    if left_out > 0 {
        text.push_str(&format!("{left_out} catalog entries did not fit and are omitted.\n"));
    }
    text
}

/// Returns all entries of the catalog, in its order.
pub(super) fn pieces(catalog: &Catalog) -> Vec<Piece> {
    let databases = catalog.schema.databases();
    let tables = databases.flat_map(|database| database.tables.iter().map(move |table| (database, table)));
    let mut pieces = describe_tables(catalog, &tables.collect::<Vec<_>>());
    for api in catalog.apis.apis() {
        let group = with_description(&format!("API {} ({})", api.name, api.kind.as_str()), &api.description);
        if api.server.is_some() {
            pieces.push(server(api, &group));
            continue;
        }
        for operation in &api.operations {
            let id = api.id_of(operation);
            let mut one = piece(Kind::Operation, &id, &group, operation_head(operation));
            one.reveals.push(Resource::new(ResourceKind::Api, api.name.clone()));
            pieces.push(one);
        }
    }
    for document in catalog.documents.documents().iter().filter(|document| !document.is_resource()) {
        let sections: Vec<&str> = document.sections.iter().map(|section| section.heading()).collect();
        let head = with_description(&format!("  {}", document.name), &document.description);
        let text = format!("{head} [{}]", sections.join("; "));
        pieces.push(piece(Kind::Document, &document.name, "Documents and their sections:", text));
    }
    for fact in catalog.facts.records() {
        let text = format!("  {}: {}", fact.name, fact.description);
        pieces.push(piece(Kind::Fact, &fact.id, "Facts:", text));
    }
    for metric in catalog.metrics.metrics() {
        let text = format!("  {}: {}", metric.name, catalog.metrics.define(metric));
        pieces.push(piece(Kind::Metric, &metric.name, "Metrics:", text));
    }
    for segment in catalog.metrics.segments() {
        let group = "Segments (sets that metrics are restricted to; FROM segments.NAME has the keys):";
        let text = format!("  {}: {}", segment.name, catalog.metrics.define_segment(segment));
        pieces.push(piece(Kind::Metric, &segment.name, group, text));
    }
    for skill in catalog.skills.skills().iter().filter(|skill| skill.server.is_none()) {
        let text = format!("  {}: {}", skill.name, skill.description);
        pieces.push(piece(Kind::Skill, &skill.name, "Skills:", text));
    }
    pieces
}

/// Returns the piece of an entry that reveals itself.
fn piece(kind: Kind, id: &str, group: &str, text: String) -> Piece {
    Piece { kind, id: id.to_owned(), group: group.to_owned(), text, reveals: vec![Resource::new(kind.into(), id)] }
}

/// Describes an MCP server by its number of tools: its own texts are never part of a system prompt.
fn server(api: &Api, group: &str) -> Piece {
    let text = format!("  {} tools of an MCP server, found by search", api.operations.len());
    let reveals = vec![Resource::new(ResourceKind::Api, api.name.clone())];
    Piece { reveals, ..piece(Kind::Operation, &api.name, group, text) }
}

/// `  getOrder(id, page?) GET /orders/{id}: description`
pub(super) fn operation_head(operation: &Operation) -> String {
    let parameters: Vec<String> =
        operation.parameters.iter().map(|p| format!("{}{}", p.name, if p.required { "" } else { "?" })).collect();
    let Operation { name, method, path, description, .. } = operation;
    with_description(&format!("  {name}({}) {method} {path}", parameters.join(", ")), description)
}

/// Returns the tables whose id or name matches a pattern with `*`, ignoring case.
pub(super) fn tables(catalog: &Catalog, pattern: &str) -> Vec<Piece> {
    describe_tables(catalog, &catalog.tables_like(pattern))
}

/// Describes tables with the indexed values of their columns.
fn describe_tables(catalog: &Catalog, tables: &[(&Database, &Table)]) -> Vec<Piece> {
    let ids: Vec<(String, String)> =
        tables.iter().map(|(database, table)| (database.name.clone(), table.name.clone())).collect();
    let values = catalog.index.list_examples(&ids, MAX_VALUES + 1);
    tables.iter().zip(values).map(|((database, one), values)| table(database, one, &values)).collect()
}

/// Returns the values of a column that categorizes rows, quoted as in SQL; empty if there are many, if they are personal, or if its
/// description lists them.
fn render_values(database: &Database, table: &Table, column: &Column, known: &[ColumnValues]) -> String {
    if column.description.contains("(values: ") || database.is_personal(&table.name, &column.name) {
        return String::new();
    }
    if column.column_type == ColumnType::Integer && column.data_type.to_lowercase().starts_with("bool") {
        return " 0 or 1".to_owned();
    }
    let values = known.iter().find(|known| known.column == column.name).map(|known| known.values.as_slice());
    let values = values.unwrap_or_default();
    let repeat = table.row_count.is_none_or(|rows| values.len() as u64 <= rows / 2);
    let is_short = |value: &String| value.chars().count() <= MAX_VALUE_CHARS;
    if values.len() > MAX_VALUES || !repeat || !values.iter().all(is_short) {
        return String::new();
    }
    values.iter().map(|value| format!(" '{}'", clean(value, MAX_VALUE_CHARS).replace('\'', "''"))).collect()
}

/// Describes a table with one line per column.
fn table(database: &Database, table: &Table, values: &[ColumnValues]) -> Piece {
    let id = format!("{}.{}", database.name, table.name);
    let mut head = format!("  {id}");
    if let Some(rows) = table.row_count {
        let about = if table.row_count_estimated { "about " } else { "" };
        head.push_str(&format!(" [{about}{rows} rows]"));
    }
    let mut text = with_description(&head, &table.description);
    for column in &table.columns {
        text.push_str(&format!("\n    {} {}", column.name, table.type_of(column)));
        if column.primary_key {
            text.push_str(" key");
        }
        let reference = table.foreign_keys.iter().find_map(|key| {
            let at = key.columns.iter().position(|name| *name == column.name)?;
            Some(format!(" -> {}.{}", key.table, key.references.get(at)?))
        });
        text.push_str(&reference.unwrap_or_default());
        text.push_str(&render_values(database, table, column, values));
        if !column.description.is_empty() {
            text.push_str(&format!(": {}", column.description));
        }
    }
    let mut reveals = vec![
        Resource::new(ResourceKind::Database, database.name.clone()),
        Resource::new(ResourceKind::Table, id.clone()),
    ];
    reveals.extend(
        table.columns.iter().map(|column| Resource::new(ResourceKind::Column, format!("{id}.{}", column.name))),
    );
    // Referenced tables and columns are shown too.
    for key in &table.foreign_keys {
        let target = format!("{}.{}", database.name, key.table);
        reveals
            .extend(key.references.iter().map(|name| Resource::new(ResourceKind::Column, format!("{target}.{name}"))));
        reveals.push(Resource::new(ResourceKind::Table, target));
    }
    let group = with_description(&format!("Database {} ({})", database.name, database.kind), &database.description);
    Piece { kind: Kind::Table, id, group, text, reveals }
}

fn with_description(head: &str, description: &str) -> String {
    if description.is_empty() { head.to_owned() } else { format!("{head}: {description}") }
}

//! Names of tables and columns as spelled in statements.

use sqlparser::ast::{Ident, ObjectName};

/// Default schemas, which are omitted from table names.
const DEFAULT_SCHEMAS: [&str; 3] = ["public", "dbo", "main"];

/// Returns the catalog name of a table: without a default schema and without the database.
pub(super) fn table_name(name: &ObjectName) -> String {
    let mut parts = parts(name);
    let table = parts.pop().unwrap_or_default();
    match parts.pop() {
        Some(schema) if !schema.is_empty() && !DEFAULT_SCHEMAS.iter().any(|s| schema.eq_ignore_ascii_case(s)) => {
            format!("{schema}.{table}")
        }
        _ => table,
    }
}

/// Returns the last part of a qualified name.
pub(super) fn last_part(name: &ObjectName) -> String {
    parts(name).pop().unwrap_or_default()
}

fn parts(name: &ObjectName) -> Vec<String> {
    name.0
        .iter()
        .filter_map(|part| part.as_ident())
        .flat_map(|Ident { value, quote_style, .. }| match quote_style {
            // BigQuery quotes the whole path at once.
            Some('`') => value.split('.').map(str::to_owned).collect(),
            _ => vec![value.clone()],
        })
        .collect()
}

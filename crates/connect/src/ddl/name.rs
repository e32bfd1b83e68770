//! Names of tables and columns, as statements spell them.

use sqlparser::ast::{Ident, ObjectName};

/// Schemas that every table is in unless it is said otherwise.
const DEFAULT_SCHEMAS: [&str; 3] = ["public", "dbo", "main"];

/// The name of a table as a catalog has it: without a default schema, without a database.
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

/// The name without what it is in.
pub(super) fn last_part(name: &ObjectName) -> String {
    parts(name).pop().unwrap_or_default()
}

fn parts(name: &ObjectName) -> Vec<String> {
    name.0
        .iter()
        .filter_map(|part| part.as_ident())
        .flat_map(|Ident { value, quote_style, .. }| match quote_style {
            // BigQuery quotes the whole path.
            Some('`') => value.split('.').map(str::to_owned).collect(),
            _ => vec![value.clone()],
        })
        .collect()
}

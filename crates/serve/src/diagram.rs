//! The tables of a database with the keys between them, as a diagram shows them.

use prospector_schema::Database;
use serde::Serialize;

/// A larger database is shown in part.
const MAX_TABLES: usize = 300;
const MAX_COLUMNS: usize = 60;

/// The tables of a database.
#[derive(Debug, Serialize)]
pub(crate) struct Diagram {
    database: String,
    tables: Vec<Node>,
    keys: Vec<Key>,
    /// How many tables there are.
    total: usize,
}

/// A table.
#[derive(Debug, Serialize)]
struct Node {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    row_count: Option<u64>,
    columns: Vec<Attribute>,
}

/// A column.
#[derive(Debug, Serialize)]
struct Attribute {
    name: String,
    #[serde(rename = "type")]
    data_type: String,
    primary_key: bool,
    foreign_key: bool,
}

/// A foreign key.
#[derive(Debug, Serialize)]
struct Key {
    from: String,
    columns: Vec<String>,
    to: String,
    references: Vec<String>,
}

impl Diagram {
    pub(crate) fn of(database: &Database) -> Diagram {
        let tables = || database.tables.iter().take(MAX_TABLES);
        let nodes = tables().map(|table| Node {
            name: table.name.clone(),
            row_count: table.row_count,
            columns: (table.columns.iter().take(MAX_COLUMNS))
                .map(|column| Attribute {
                    name: column.name.clone(),
                    data_type: column.data_type.clone(),
                    primary_key: column.primary_key,
                    foreign_key: table.foreign_keys.iter().any(|key| key.columns.contains(&column.name)),
                })
                .collect(),
        });
        let keys = tables().flat_map(|table| {
            table.foreign_keys.iter().map(|key| Key {
                from: table.name.clone(),
                columns: key.columns.clone(),
                to: key.table.clone(),
                references: key.references.clone(),
            })
        });
        Diagram {
            database: database.name.clone(),
            tables: nodes.collect(),
            keys: keys.collect(),
            total: database.tables.len(),
        }
    }
}

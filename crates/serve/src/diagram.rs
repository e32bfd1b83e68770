//! The tables of a database and the keys between them, for a diagram.

use std::collections::BTreeSet;

use prospector_core::tool::ToolError;
use prospector_discovery::Catalog;
use prospector_schema::Database;
use serde::Serialize;

use crate::error::Refusal;

/// Limit on the number of tables shown.
const MAX_TABLES: usize = 300;
const MAX_COLUMNS: usize = 60;

#[derive(Debug, Serialize)]
pub(crate) struct Diagram {
    database: String,
    tables: Vec<Node>,
    keys: Vec<Key>,
    /// Number of tables in the database.
    total: usize,
}

#[derive(Debug, Serialize)]
struct Node {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    row_count: Option<u64>,
    columns: Vec<Attribute>,
}

#[derive(Debug, Serialize)]
struct Attribute {
    name: String,
    #[serde(rename = "type")]
    data_type: String,
    primary_key: bool,
    foreign_key: bool,
}

#[derive(Debug, Serialize)]
struct Key {
    from: String,
    columns: Vec<String>,
    to: String,
    references: Vec<String>,
}

impl Diagram {
    /// Returns the diagram of the database called `name`.
    pub(crate) fn find(catalog: &Catalog, name: &str) -> Result<Diagram, Refusal> {
        let missing =
            || Refusal::not_found(format!("there is no database `{name}`")).advise("see /v1/catalog?kind=database");
        Ok(Diagram::of(catalog.schema.database(name).ok_or_else(missing)?))
    }

    /// Checks that a table is among those shown.
    pub(crate) fn check_table(&self, name: &str) -> Result<(), Refusal> {
        match self.tables.iter().any(|table| table.name == name) {
            true => Ok(()),
            false => Err(ToolError::not_found("table", name, self.tables.iter().map(|table| &*table.name)).into()),
        }
    }

    /// Lists at most `most` tables by name, with row counts and the tables they refer to.
    pub(crate) fn summarize(&self, most: usize) -> String {
        let mut text = format!("{}: {} tables, {} keys", self.database, self.total, self.keys.len());
        for table in self.tables.iter().take(most) {
            let rows = table.row_count.map(|rows| format!(" ({rows} rows)")).unwrap_or_default();
            let keys = self.keys.iter().filter(|key| key.from == table.name).map(|key| key.to.as_str());
            let to = keys.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ");
            let arrow = if to.is_empty() { "" } else { " -> " };
            text.push_str(&format!("\n{}{rows}{arrow}{to}", table.name));
        }
        if self.total > most {
            text.push_str(&format!("\n{} more", self.total - most));
        }
        text
    }

    fn of(database: &Database) -> Diagram {
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

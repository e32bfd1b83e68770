//! The description of a database for discovery.

use prospector_connect::source::SourceKind;
use prospector_connect::table::{ForeignKey, Table};
use serde::{Deserialize, Serialize};

use crate::naming::{is_named, position_of};

/// A database with its tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Database {
    /// Its name in the catalog.
    pub name: String,
    /// The kind of source.
    #[serde(rename = "type")]
    pub kind: SourceKind,
    /// The description.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The usable tables, in the order of the source.
    pub tables: Vec<Table>,
    /// The names of the tables excluded by its allow-list. Nothing else of them is stored, and results do not distinguish
    /// them from tables that do not exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    /// Functions that queries may call in addition to pure ones, as `name` or `schema.name`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
    /// The columns with personal data (PII): `table.column`, `*.column` of every table, or `table.*`. Discovery never
    /// shows their values; queries may read them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub personal: Vec<String>,
}

impl Database {
    /// Returns a database of that name and kind, without description and tables.
    pub fn new(name: impl Into<String>, kind: SourceKind) -> Self {
        Database {
            name: name.into(),
            kind,
            description: String::new(),
            tables: Vec::new(),
            withheld: Vec::new(),
            functions: Vec::new(),
            personal: Vec::new(),
        }
    }

    /// Whether discovery hides the values of a column.
    pub fn is_personal(&self, table: &str, column: &str) -> bool {
        is_named(&self.personal, table, column)
    }

    /// Returns those column names, written as in [`Database::personal`], that match no column.
    pub fn unknown_columns<'n>(&self, names: &'n [String]) -> Vec<&'n str> {
        let is_known = |name: &String| {
            let is_column = |table: &Table| {
                table.columns.iter().any(|column| is_named(std::slice::from_ref(name), &table.name, &column.name))
            };
            self.tables.iter().any(is_column)
        };
        names.iter().filter(|name| !is_known(name)).map(String::as_str).collect()
    }

    /// Rewrites foreign keys with the exact names of their targets, and removes those with unknown targets. Returns the
    /// removed ones as `table.column -> table`.
    pub(crate) fn settle_keys(&mut self) -> Vec<String> {
        let mut dropped = Vec::new();
        let mut keys: Vec<Vec<ForeignKey>> =
            self.tables.iter_mut().map(|table| std::mem::take(&mut table.foreign_keys)).collect();
        for (table, keys) in self.tables.iter().zip(&mut keys) {
            keys.retain_mut(|key| {
                let settled = settle_key(table, key, &self.tables);
                match settled {
                    Some(settled) => *key = settled,
                    None if position_of(&self.withheld, &key.table, String::as_str).is_some() => return false,
                    None => {
                        dropped.push(format!("{}.{} -> {}", table.name, key.columns.join("+"), key.table));
                        return false;
                    }
                }
                true
            });
        }
        for (table, keys) in self.tables.iter_mut().zip(keys) {
            table.foreign_keys = keys;
        }
        dropped
    }
}

fn settle_key(table: &Table, key: &ForeignKey, tables: &[Table]) -> Option<ForeignKey> {
    let target = &tables[position_of(tables, &key.table, |table| &table.name)?];
    let spelled = |table: &Table, names: &[String]| -> Option<Vec<String>> {
        names.iter().map(|name| Some(table.column(name)?.name.clone())).collect()
    };
    let columns = spelled(table, &key.columns)?;
    let references = if key.references.is_empty() {
        // SQL allows a key to omit the columns if it means the primary key.
        target.columns.iter().filter(|column| column.primary_key).map(|column| column.name.clone()).collect()
    } else {
        spelled(target, &key.references)?
    };
    (!columns.is_empty() && columns.len() == references.len()).then(|| ForeignKey {
        columns,
        table: target.name.clone(),
        references,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{key, table};

    fn check(key: ForeignKey, kept: Option<(&str, &str)>) {
        let mut database = Database {
            tables: vec![table("Orders", &["Id*", "Customer"]), table("Customers", &["ID*", "name"])],
            withheld: vec!["Salaries".into()],
            ..Database::new("shop", SourceKind::Sqlite)
        };
        database.tables[0].foreign_keys = vec![key];
        let dropped = database.settle_keys();
        let keys = &database.tables[0].foreign_keys;
        assert_eq!(keys.first().map(|key| (key.table.as_str(), key.references[0].as_str())), kept, "{dropped:?}");
    }

    #[test]
    fn keys_use_exact_names_and_existing_targets() {
        check(key("customer", "customers", "id"), Some(("Customers", "ID")));
        check(ForeignKey { references: vec![], ..key("Customer", "customers", "") }, Some(("Customers", "ID")));
        check(key("customer", "clients", "id"), None);
        check(key("customer", "customers", "number"), None);
        check(key("customer", "salaries", "id"), None);
    }
}

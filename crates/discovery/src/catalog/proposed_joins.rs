//! The joins of a new catalog: undeclared keys between tables of files, and their entries in `entities` and `joins`.

use prospector_schema::joins::{JoinEnd, KeyJoin};
use serde::Serialize;

use super::{
    CatalogOptions, CatalogSource, Contents,
    databases::Databases,
    edit::{EditError, add_entry},
    error::CatalogError,
    load, read,
};
use crate::locate::quote;

/// A key between two tables of a database that declares none, verified by their values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProposedJoin {
    /// The database.
    pub database: String,
    /// The columns, with the percentage of values found.
    pub join: KeyJoin,
}

/// The joins that were found in the files of a catalog.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProposedJoins {
    /// The joins.
    pub joins: Vec<ProposedJoin>,
    /// The databases with several tables and no declared key, which were examined.
    pub examined: Vec<String>,
    /// Those of them that were examined partially, because of a limit.
    pub partial: Vec<String>,
}

/// Finds undeclared keys between the tables of each database that consists of local files. No server is contacted.
///
/// # Errors
/// If the catalog cannot be read, or opening is cancelled. Databases that cannot be read are skipped.
pub async fn propose_joins(
    source: impl Into<CatalogSource>,
    options: CatalogOptions<'_>,
) -> Result<ProposedJoins, CatalogError> {
    let Contents { text, file, state, .. } = read(&source.into(), &options)?;
    let folders = text.folders(&state, None, &options.cancel);
    let mut opening = options.begin(&text.path, folders, &file.fetch, Vec::new());
    let local = file.databases.into_iter().filter(|entry| entry.server.is_none() && entry.service.is_none()).collect();
    let (schema, _) = load(Databases, local, &mut opening).await?;
    let mut proposed = ProposedJoins::default();
    // The first dot in the `table` of an entity ends the name of the database.
    for database in schema.databases().filter(|database| !database.name.contains('.')) {
        let Some(found) = schema.infer_joins(&database.name).await else { continue };
        proposed.examined.push(database.name.clone());
        if !found.is_complete {
            proposed.partial.push(database.name.clone());
        }
        let joins = found.joins.into_iter().map(|join| ProposedJoin { database: database.name.clone(), join });
        proposed.joins.extend(joins);
    }
    Ok(proposed)
}

/// Adds joins, and the entities that they connect, to the text of a catalog that has neither. Entities are named after their tables.
///
/// # Errors
/// If the text is not a valid catalog, or has other entries in these sections.
pub fn declare_joins(text: &str, proposed: &[ProposedJoin]) -> Result<String, EditError> {
    let mut entities: Vec<Entity<'_>> = Vec::new();
    let mut joins = Vec::new();
    for ProposedJoin { database, join } in proposed {
        let [(from, to)] = join.pairs.as_slice() else { continue };
        let from = name_column(&mut entities, database, from, false);
        let to = name_column(&mut entities, database, to, true);
        joins.push(format!("{{from: {}, to: {}}}", quote(&from), quote(&to)));
    }
    let mut text = text.to_owned();
    for entity in &entities {
        (text, _) = add_entry(&text, "entities", &entity.entry())?;
    }
    for join in &joins {
        (text, _) = add_entry(&text, "joins", join)?;
    }
    Ok(text)
}

/// An entity over a table.
struct Entity<'a> {
    name: String,
    database: &'a str,
    table: &'a str,
    /// The column that joins refer to.
    key: Option<&'a str>,
}

impl Entity<'_> {
    fn entry(&self) -> String {
        let table = quote(&format!("{}.{}", self.database, self.table));
        let key = self.key.map(|key| format!(", key: {}", quote(key))).unwrap_or_default();
        format!("{{name: {}, table: {table}{key}}}", quote(&self.name))
    }
}

/// Returns `entity.column` for the end of a join, and adds the entity if it is new.
fn name_column<'a>(
    entities: &mut Vec<Entity<'a>>,
    database: &'a str,
    JoinEnd { table, column }: &'a JoinEnd,
    is_key: bool,
) -> String {
    let is_of_table = |entity: &Entity<'_>| entity.database == database && entity.table == table;
    let at = entities.iter().position(is_of_table).unwrap_or_else(|| {
        // The first dot in `entity.column` ends the name.
        let plain = table.replace('.', "_");
        let is_taken = entities.iter().any(|entity| entity.name.eq_ignore_ascii_case(&plain));
        let name = if is_taken { format!("{database}_{plain}") } else { plain };
        entities.push(Entity { name, database, table, key: None });
        entities.len() - 1
    });
    if is_key {
        entities[at].key = Some(column);
    }
    format!("{}.{column}", entities[at].name)
}

#[cfg(test)]
mod tests {
    use prospector_schema::joins::KeyNature;

    use super::*;

    fn join(database: &str, from: &str, to: &str) -> ProposedJoin {
        let end = |text: &str| {
            let (table, column) = text.rsplit_once('.').unwrap();
            JoinEnd { table: table.into(), column: column.into() }
        };
        let nature = KeyNature::Inferred { matching: Some(100) };
        ProposedJoin { database: database.into(), join: KeyJoin { pairs: vec![(end(from), end(to))], nature } }
    }

    #[test]
    fn adds_joins_with_their_entities() {
        let joins = [
            join("shop", "orders.customer", "customers.customer no"),
            join("shop", "orders.branch", "branches.2024.code"),
            join("crm", "calls.customer", "Customers.id"),
        ];
        let expected = "databases: []

entities:
  - {name: orders, table: shop.orders}
  - {name: customers, table: shop.customers, key: \"customer no\"}
  - {name: branches_2024, table: shop.branches.2024, key: code}
  - {name: calls, table: crm.calls}
  - {name: crm_Customers, table: crm.Customers, key: id}

joins:
  - {from: orders.customer, to: \"customers.customer no\"}
  - {from: orders.branch, to: branches_2024.code}
  - {from: calls.customer, to: crm_Customers.id}
";
        assert_eq!(declare_joins("databases: []\n", &joins).unwrap(), expected);
        assert_eq!(declare_joins("databases: []\n", &[]).unwrap(), "databases: []\n");
    }
}

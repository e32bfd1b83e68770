//! `get_table_relationships`: what a table is joined to.

use std::{collections::BTreeSet, sync::Arc};

use prospector_connect::table::Table;
use prospector_core::record::Resource;
use prospector_core::tool::{Effect, Part, Tool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{column, database, find_table, table};
use crate::{SchemaDiscovery, joins::Join};

pub(super) struct GetTableRelationships(pub(super) Arc<SchemaDiscovery>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Its database.
    database: String,
    /// Its name.
    table: String,
    /// Another table of the database: shows how to join to it.
    to: Option<String>,
}

#[derive(Clone, Serialize, JsonSchema)]
pub(super) struct Relationships {
    database: String,
    table: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    references: Vec<Join>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    referenced_by: Vec<Join>,
    #[serde(skip_serializing_if = "Option::is_none")]
    join_path: Option<Vec<Join>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Tool for GetTableRelationships {
    const NAME: &'static str = "get_table_relationships";
    const DESCRIPTION: &'static str =
        "Shows the keys that join a table to others and, with `to`, the join path to that table.";
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = Relationships;

    async fn call(&self, args: Args) -> Result<Relationships, ToolError> {
        let (known, at) = find_table(&self.0, &args.database, &args.table)?;
        let database = &known.database;
        let table = &database.tables[at];
        let references: Vec<Join> = keys(table).map(|(_, join)| join).collect();
        let referenced_by: Vec<Join> = (database.tables.iter())
            .flat_map(keys)
            .filter(|(target, _)| *target == table.name)
            .map(|(_, join)| join)
            .collect();
        let (mut join_path, mut note) = (None, None);
        if references.is_empty() && referenced_by.is_empty() {
            note = Some("no declared key joins this table".to_owned());
        }
        if let Some(to) = args.to.as_deref().filter(|name| !name.is_empty()) {
            let (_, to) = find_table(&self.0, &database.name, to)?;
            match known.joins.path(&[at], &[to]) {
                Some(path) if path.len() > 1 => join_path = Some(known.joins.joins(&path, &database.tables)),
                Some(_) => {}
                None => {
                    note = Some(format!("declared keys do not join it to `{}`", database.tables[to].name));
                }
            }
        }
        let (database, table) = (database.name.clone(), table.name.clone());
        Ok(Relationships { database, table, references, referenced_by, join_path, note })
    }
}

impl ToolOutput for Relationships {
    fn reveals(&self) -> Vec<Resource> {
        let joins = self.references.iter().chain(&self.referenced_by).chain(self.join_path.iter().flatten());
        let ends: BTreeSet<&str> = joins.flat_map(|join| [join.from.as_str(), join.to.as_str()]).collect();
        // A column that is part of a key has no dot in its name, while a table may have.
        let tables: BTreeSet<&str> = (ends.iter().filter_map(|end| end.rsplit_once('.')))
            .map(|(table, _)| table)
            .chain([self.table.as_str()])
            .collect();
        std::iter::once(database(&self.database))
            .chain(tables.into_iter().map(|name| table(&self.database, name)))
            .chain(ends.into_iter().map(|end| column(&self.database, end)))
            .collect()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        let mut parts = vec![
            ("references", Part::entries(&mut self.references)),
            ("referenced_by", Part::entries(&mut self.referenced_by)),
        ];
        parts.extend(self.join_path.as_mut().map(|path| ("join_path", Part::entries(path))));
        parts.extend(self.note.as_mut().map(|note| ("note", Part::Text(note))));
        parts
    }
}

/// The columns that a table refers with, and the table that each refers to.
fn keys(table: &Table) -> impl Iterator<Item = (&str, Join)> {
    table.foreign_keys.iter().flat_map(move |key| {
        key.columns.iter().zip(&key.references).map(move |(own, other)| {
            let join = Join { from: format!("{}.{own}", table.name), to: format!("{}.{other}", key.table) };
            (key.table.as_str(), join)
        })
    })
}

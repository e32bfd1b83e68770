//! The tool `get_table_relationships`.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use prospector_connect::table::Table;
use prospector_core::record::Resource;
use prospector_core::tool::{Effect, Part, Tool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{column, database, find_table, table};
use crate::{
    SchemaDiscovery,
    discovery::PreparedDatabase,
    joins::{Join, references},
    likely_keys::LikelyKey,
    shared_keys::{self, SharedKey},
};

/// Time limit for scanning rows for shared references.
const MAX_WAIT: Duration = Duration::from_secs(2);

pub(super) struct GetTableRelationships(pub(super) Arc<SchemaDiscovery>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The database.
    database: String,
    /// The table.
    table: String,
    /// Another table of the database to join to.
    to: Option<String>,
}

#[derive(Clone, Serialize)]
pub(super) struct Relationships {
    database: String,
    table: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    references: Vec<Join>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    referenced_by: Vec<Join>,
    #[serde(skip_serializing_if = "Option::is_none")]
    join_path: Option<Vec<Join>>,
    /// Keys that column names suggest, without a declared one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inferred: Vec<Join>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Tool for GetTableRelationships {
    const NAME: &'static str = "get_table_relationships";
    const DESCRIPTION: &'static str =
        "Returns the keys that join a table to others and, with `to`, the join path to that table.";
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
        let (mut join_path, mut inferred, mut note) = (None, Vec::new(), None);
        if references.is_empty() && referenced_by.is_empty() {
            note = Some("no declared key joins this table".to_owned());
        }
        if let Some(to) = args.to.as_deref().filter(|name| !name.is_empty()) {
            let (_, to) = find_table(&self.0, &database.name, to)?;
            let found = find_path(known, at, to).await;
            (join_path, inferred, note) = (found.joins, found.inferred, found.note.or(note));
        }
        let (database, table) = (database.name.clone(), table.name.clone());
        Ok(Relationships { database, table, references, referenced_by, join_path, inferred, note })
    }
}

/// A join path between two tables, with notes.
#[derive(Default)]
struct FoundPath {
    joins: Option<Vec<Join>>,
    inferred: Vec<Join>,
    note: Option<String>,
}

/// Returns the declared keys from one table to another. A path with a fan-out in both directions is replaced by shared
/// references, if they identify matching rows.
async fn find_path(known: &PreparedDatabase, from: usize, to: usize) -> FoundPath {
    let tables = &known.database.tables;
    if from == to {
        return FoundPath::default();
    }
    let path = known.joins.path(&[from], &[to]);
    let parents = path.as_deref().map(|path| known.joins.find_shared_parents(path)).unwrap_or_default();
    if !known.joins.are_joined(from, to) && (path.is_none() || !parents.is_empty()) {
        let ends = [&tables[from], &tables[to]];
        if let Some(key) = shared_keys::find(known.free_rows(), ends, MAX_WAIT).await {
            return describe_shared(&key, ends);
        }
    }
    let name = |at: usize| tables[at].name.as_str();
    let Some(path) = path else {
        let likely = known.joins.likely_keys((from, &tables[from]), (to, &tables[to]));
        let join = |key: LikelyKey| {
            let (from, to) = if key.is_reversed { (to, from) } else { (from, to) };
            Join { from: format!("{}.{}", name(from), key.from), to: format!("{}.{}", name(to), key.to) }
        };
        let note = Some(format!("no declared key joins it to `{}`", name(to)));
        return FoundPath { joins: None, inferred: likely.into_iter().map(join).collect(), note };
    };
    let repeats = parents.iter().map(|at| {
        format!(
            "fan-out over `{0}`: every row of one side matches every row of the other with the same `{0}`; aggregate one \
             side first",
            name(*at)
        )
    });
    let others: Vec<String> = known.joins.list_other_keys(&path, tables).iter().map(ToString::to_string).collect();
    let others = (!others.is_empty()).then(|| format!("other keys: {}", others.join("; ")));
    let notes: Vec<String> = repeats.chain(others).collect();
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    FoundPath { joins: Some(known.joins.joins(&path, tables)), inferred: Vec::new(), note }
}

/// Describes a join on shared references.
fn describe_shared(key: &SharedKey, ends: [&Table; 2]) -> FoundPath {
    let join = |at: usize| {
        let [from, to] = &key.references[at].columns;
        Join { from: format!("{}.{from}", ends[0].name), to: format!("{}.{to}", ends[1].name) }
    };
    let parents: Vec<String> = key.references.iter().map(|reference| format!("`{}`", reference.parent)).collect();
    let unique = &ends[key.unique_in].name;
    let read = key.rows.map(|rows| format!(", of {rows} rows read")).unwrap_or_default();
    let note = format!(
        "no key joins them directly: both reference {}, whose combination is unique in `{unique}`{read}; join on all of them",
        parents.join(" and ")
    );
    FoundPath { joins: Some((0..key.references.len()).map(join).collect()), inferred: Vec::new(), note: Some(note) }
}

impl ToolOutput for Relationships {
    fn reveals(&self) -> Vec<Resource> {
        let keys = self.references.iter().chain(&self.referenced_by).chain(&self.inferred);
        let joins = keys.chain(self.join_path.iter().flatten());
        let ends: BTreeSet<&str> = joins.flat_map(|join| [join.from.as_str(), join.to.as_str()]).collect();
        // Columns of keys have no dot in their names, but tables may.
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
            ("inferred", Part::entries(&mut self.inferred)),
        ];
        parts.extend(self.join_path.as_mut().map(|path| ("join_path", Part::entries(path))));
        parts.extend(self.note.as_mut().map(|note| ("note", Part::Text(note))));
        parts
    }
}

/// Returns the referencing columns of a table, each with its join.
fn keys(table: &Table) -> impl Iterator<Item = (&str, Join)> {
    references(table).map(move |(own, target, other)| {
        (target, Join { from: format!("{}.{own}", table.name), to: format!("{target}.{other}") })
    })
}

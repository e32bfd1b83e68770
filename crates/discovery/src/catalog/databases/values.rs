//! The values of databases: which are to be indexed, how they are read, and how the index comes to hold them.

use std::sync::Arc;

use futures::{StreamExt, stream};
use prospector_connect::{Connector, source::SourceKind};
use prospector_core::Problem;
use prospector_core::record::ParentValues;
use prospector_schema::values::{DEFAULT_VALUES, MAX_VALUES, ReadValues, ValueOptions, read_values};
use prospector_schema::{Database, SchemaDiscovery};
use prospector_search::Index;

use super::OpenedDatabases;
use crate::catalog::{
    cache::Cache,
    entry::EntryReader,
    node::{Fields, Node, Placed},
    section::Opening,
};

/// How many databases are read at once.
const AT_ONCE: usize = 8;

/// How a column is written.
pub(super) const COLUMN_ADVICE: &str =
    "write `[table.column]`; `*.column` is that column of every table, and `table.*` every column";

/// The `values` of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::catalog) struct ValuesEntry {
    /// What was said; where nothing was, the kind of source decides.
    is_on: Option<bool>,
    max_per_column: usize,
    skip: Vec<String>,
}

impl Default for ValuesEntry {
    fn default() -> Self {
        ValuesEntry { is_on: None, max_per_column: DEFAULT_VALUES, skip: Vec::new() }
    }
}

impl ValuesEntry {
    /// Takes `values: true`, `values: false` or `values: {max_per_column, skip}` out of an entry; `None` where it is wrong, which
    /// is noted.
    pub(super) fn take(reader: &mut EntryReader<'_>, what: &str, entry: &mut Placed) -> Option<ValuesEntry> {
        let Node::Map(map) = &mut entry.node else { return Some(ValuesEntry::default()) };
        let Some(placed) = map.shift_remove("values") else { return Some(ValuesEntry::default()) };
        if let Node::Bool(is_on) = placed.node {
            return Some(ValuesEntry { is_on: Some(is_on), ..ValuesEntry::default() });
        }
        let keys = ["max_per_column", "skip"];
        let mut fields = Fields::of(reader.file, format!("`values` of {what}"), placed, &keys, reader.problems)?;
        let line = fields.line();
        let max_per_column = fields.count("max_per_column", MAX_VALUES).unwrap_or(DEFAULT_VALUES);
        let skip = fields.texts("skip");
        if let Some(wrong) = skip.iter().find(|name| !name.contains('.')) {
            let reason = format!("`skip` in `values` of {what} names `{wrong}`, which is no column of a table");
            fields.fail(line, reason, COLUMN_ADVICE);
        }
        (!fields.has_failed()).then_some(ValuesEntry { is_on: Some(true), max_per_column, skip })
    }

    /// Whether values of that kind of source are read.
    fn reads(&self, kind: SourceKind) -> bool {
        self.is_on.unwrap_or(!kind.is_metered())
    }
}

/// What is to be known of a described database to read its values.
#[derive(Debug, Clone)]
pub(in crate::catalog) struct ValueSource {
    pub(super) entry: ValuesEntry,
    /// The place of its entry, for problems.
    pub(super) place: String,
    /// What tells one state of the source from the next; `None` where it cannot be reached now, so that what was read before
    /// is used.
    pub(super) stamp: Option<String>,
}

/// A database whose values are read, or not.
struct Reading<'a> {
    source: &'a ValueSource,
    database: &'a Database,
    connector: Option<&'a dyn Connector>,
}

impl Reading<'_> {
    /// What reads it, where its values are to be read.
    fn connector(&self) -> Option<&dyn Connector> {
        let reads = self.source.entry.reads(self.database.kind);
        self.connector.filter(|connector| reads && connector.has_data())
    }

    /// What the fingerprint of its values begins with: that of the settings.
    fn settings(&self) -> String {
        let settings = format!("{:?}\0{:?}", self.source.entry, self.database.personal);
        format!("{} ", &blake3::hash(settings.as_bytes()).to_hex()[..16])
    }

    /// What tells the values that are to be read from others; `None` where the source cannot be reached.
    fn fingerprint(&self) -> Option<String> {
        Some(format!("{}{}", self.settings(), self.source.stamp.as_ref()?))
    }

    /// The values: those that were read before, if nothing has changed since.
    async fn values(&self, cache: &Cache) -> (ParentValues, Option<Problem>) {
        let key = format!("values {}", self.database.name);
        let nothing = ParentValues { parent: self.database.name.clone(), ..ParentValues::default() };
        let Some(connector) = self.connector() else {
            cache.remove(&key);
            return (nothing, None);
        };
        let Some(fingerprint) = self.fingerprint() else {
            let before = cache.latest::<ParentValues>(&key, &self.settings());
            // What it holds now nobody knows.
            let before = before.map(|(values, _)| ParentValues { is_whole: false, ..values });
            return (before.unwrap_or(nothing), None);
        };
        if let Some(values) = cache.get::<ParentValues>(&key, &fingerprint) {
            return (values, None);
        }
        let entry = &self.source.entry;
        let options = ValueOptions { max_per_column: entry.max_per_column, skip: entry.skip.clone() };
        let read = read_values(self.database, connector, &options).await;
        cache.put(&key, &fingerprint, &read.values);
        let problem = self.problem(&read);
        (read.values, problem)
    }

    /// What to know of values that could not all be read: a warning, since everything works without them.
    fn problem(&self, read: &ReadValues) -> Option<Problem> {
        let name = &self.database.name;
        let what = match (&read.reason, read.is_late) {
            (_, true) => format!("not all values of `{name}` could be read in time; those that were are used"),
            (Some(reason), false) => {
                format!("the values of {} columns of `{name}` could not be read: {reason}", read.failed)
            }
            (None, false) => return None,
        };
        let advice = "leave columns out with `values: {skip: [table.column]}`, or all of them with `values: false`";
        Some(Problem::warning(&self.source.place, what).advise(advice))
    }
}

/// Has the index hold the values of these databases, which `sources` and `connectors` are of, in the order of the discovery.
/// Nothing is read where it holds them already, unless all of it is to be `fresh`. Whatever goes wrong costs the values alone.
pub(in crate::catalog) async fn refresh_values(
    schema: &Arc<SchemaDiscovery>,
    opened: &OpenedDatabases,
    index: &Index,
    fresh: bool,
    opening: &mut Opening<'_>,
) {
    let is_on = |at: &usize| reading(schema, opened, *at).is_some_and(|reading| reading.connector().is_some());
    let fingerprint = fingerprint_all(schema, opened);
    let known = index.values_fingerprint().unwrap_or_else(|error| {
        let problem = Problem::warning(opening.folders.state.join("index").display().to_string(), error.to_string());
        opening.problems.push(problem.advise("the values of columns are made anew"));
        None
    });
    let has_any = (0..opened.values.len()).any(|at| is_on(&at));
    if known.is_none() && !has_any && index.values_stamp().is_none() || !fresh && known.as_deref() == Some(&fingerprint)
    {
        return;
    }
    let total = opened.values.len();
    let (cache, opened) = (opening.cache.clone(), Arc::new(opened.clone()));
    // Each on a thread of its own, as they are described.
    let spawn = |at: usize| {
        let (schema, opened, cache) = (schema.clone(), opened.clone(), cache.clone());
        tokio::spawn(async move {
            match reading(&schema, &opened, at) {
                Some(reading) => reading.values(&cache).await,
                None => (ParentValues::default(), None),
            }
        })
    };
    let mut tasks = stream::iter(0..total).map(spawn).buffered(AT_ONCE);
    let mut sets = Vec::with_capacity(total);
    while let Some(read) = tasks.next().await {
        let (set, problem) = read.unwrap_or_else(|error| {
            tracing::warn!(%error, "the values of a database could not be read");
            (ParentValues::default(), None)
        });
        sets.push(set);
        (opening.progress)("values", sets.len(), total);
        opening.problems.extend(problem);
    }
    if let Err(error) = index.write_values(&fingerprint, &sets) {
        tracing::warn!(%error, "the values of columns could not be kept");
    }
}

/// The database at that place of a discovery.
fn reading<'a>(schema: &'a SchemaDiscovery, opened: &'a OpenedDatabases, at: usize) -> Option<Reading<'a>> {
    let (source, database) = (opened.values.get(at)?, schema.databases().nth(at)?);
    Some(Reading { source, database, connector: opened.connectors.get(at)?.as_deref() })
}

fn fingerprint_all(schema: &SchemaDiscovery, opened: &OpenedDatabases) -> String {
    let mut hasher = blake3::Hasher::new();
    let all = (0..opened.values.len()).filter_map(|at| reading(schema, opened, at));
    for reading in all.filter(|reading| reading.connector().is_some()) {
        let fingerprint = reading.fingerprint().unwrap_or_else(|| format!("{}as before", reading.settings()));
        hasher.update(reading.database.name.as_bytes()).update(b"\0").update(fingerprint.as_bytes()).update(b"\0");
    }
    hasher.finalize().to_hex().to_string()
}

/// The problems of an entry whose `personal` or `values` name columns that are not there.
pub(super) fn check_columns(place: &str, database: &Database, values: &ValuesEntry) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (key, names) in [("personal", database.personal.as_slice()), ("skip", &values.skip)] {
        for unknown in database.unknown_columns(names) {
            let reason = format!("`{key}` names `{unknown}`, which is no column of `{}`", database.name);
            problems.push(Problem::warning(place, reason).advise(COLUMN_ADVICE));
        }
    }
    problems
}

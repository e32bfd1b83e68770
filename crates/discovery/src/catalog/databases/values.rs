//! Values of databases: which are indexed, how they are read and how the index is updated.

use std::sync::Arc;

use futures::{StreamExt, stream};
use prospector_connect::{Connector, source::SourceKind};
use prospector_core::Problem;
use prospector_core::record::ParentValues;
use prospector_schema::values::{DEFAULT_VALUES, ReadValues, ValueOptions, read_values};
use prospector_schema::{Database, SchemaDiscovery};
use prospector_search::Index;

use super::OpenedDatabases;
use crate::catalog::{cache::Cache, entry::Fields, file_schema, section::Opening};

/// Number of databases read concurrently.
const AT_ONCE: usize = 8;

/// How to write a column.
pub(super) const COLUMN_ADVICE: &str =
    "write `[table.column]`; `*.column` matches the column in every table, `table.*` every column of a table";

/// The `values` of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::catalog) struct ValuesEntry {
    /// The setting, if any; by default the kind of source decides.
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
    /// Checks `values: true`, `values: false` or `values: {max_per_column, skip}` of an entry.
    pub(super) fn read(fields: &mut Fields<'_>, written: Option<file_schema::ValuesEntry>) -> ValuesEntry {
        let settings = match written {
            None => return ValuesEntry::default(),
            Some(file_schema::ValuesEntry::All(is_on)) => {
                return ValuesEntry { is_on: Some(is_on), ..ValuesEntry::default() };
            }
            Some(file_schema::ValuesEntry::Some(settings)) => settings,
        };
        let skip = settings.skip.unwrap_or_default();
        if let Some(wrong) = skip.iter().find(|name| !name.contains('.')) {
            let reason =
                format!("`skip` in `values` of {} names `{wrong}`, which is not a column of a table", fields.what);
            fields.fail(fields.line_of("values"), reason, COLUMN_ADVICE);
        }
        ValuesEntry { is_on: Some(true), max_per_column: settings.max_per_column.unwrap_or(DEFAULT_VALUES), skip }
    }

    /// Returns whether values of this kind of source are read.
    fn reads(&self, kind: SourceKind) -> bool {
        self.is_on.unwrap_or(!kind.is_metered())
    }
}

/// The settings for reading the values of a described database.
#[derive(Debug, Clone)]
pub(in crate::catalog) struct ValueSource {
    pub(super) entry: ValuesEntry,
    /// The location of its entry, for problems.
    pub(super) place: String,
    /// The version of the source; `None` if it cannot be reached, so that cached values are used.
    pub(super) stamp: Option<String>,
}

/// A database whose values may be read.
struct Reading<'a> {
    source: &'a ValueSource,
    database: &'a Database,
    connector: Option<&'a dyn Connector>,
}

impl Reading<'_> {
    /// Returns the connector, if the values are to be read.
    fn connector(&self) -> Option<&dyn Connector> {
        let reads = self.source.entry.reads(self.database.kind);
        self.connector.filter(|connector| reads && connector.has_data())
    }

    /// Returns the prefix of the fingerprint: the hash of the settings.
    fn settings(&self) -> String {
        let settings = format!("{:?}\0{:?}", self.source.entry, self.database.personal);
        format!("{} ", &blake3::hash(settings.as_bytes()).to_hex()[..16])
    }

    /// Returns the fingerprint of the values; `None` if the source cannot be reached.
    fn fingerprint(&self) -> Option<String> {
        Some(format!("{}{}", self.settings(), self.source.stamp.as_ref()?))
    }

    /// Returns the values, from the cache if nothing has changed.
    async fn values(&self, cache: &Cache) -> (ParentValues, Option<Problem>) {
        let key = format!("values {}", self.database.name);
        let nothing = ParentValues { parent: self.database.name.clone(), ..ParentValues::default() };
        let Some(connector) = self.connector() else {
            cache.remove(&key);
            return (nothing, None);
        };
        let Some(fingerprint) = self.fingerprint() else {
            let before = cache.latest::<ParentValues>(&key, &self.settings());
            // The current values are unknown.
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

    /// Returns a warning if not all values could be read; everything works without them.
    fn problem(&self, read: &ReadValues) -> Option<Problem> {
        let name = &self.database.name;
        let what = match (&read.reason, read.is_late) {
            (_, true) => format!("not all values of `{name}` could be read in time; the values read so far are used"),
            (Some(reason), false) => {
                format!("the values of {} columns of `{name}` could not be read: {reason}", read.failed)
            }
            (None, false) => return None,
        };
        let advice = "exclude columns with `values: {skip: [table.column]}`, or all with `values: false`";
        Some(Problem::warning(&self.source.place, what).advise(advice))
    }
}

/// Updates the values in the index, in the order of the databases of the discovery. Reads nothing if they are current, unless `fresh`.
/// Failures affect only the values.
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
        opening.problems.push(problem.advise("column values are indexed again"));
        None
    });
    let has_any = (0..opened.values.len()).any(|at| is_on(&at));
    if known.is_none() && !has_any && index.values_stamp().is_none() || !fresh && known.as_deref() == Some(&fingerprint)
    {
        return;
    }
    let total = opened.values.len();
    let (cache, opened) = (opening.cache.clone(), Arc::new(opened.clone()));
    // Each on its own task, as for descriptions.
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
            tracing::warn!(%error, "cannot read the values of a database");
            (ParentValues::default(), None)
        });
        sets.push(set);
        (opening.progress)("values", sets.len(), total);
        opening.problems.extend(problem);
    }
    if let Err(error) = index.write_values(&fingerprint, &sets) {
        tracing::warn!(%error, "cannot store the values of columns");
    }
}

/// Returns the database at a position of a discovery.
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

/// Reports columns of `personal` or `values` that do not exist.
pub(super) fn check_columns(place: &str, database: &Database, values: &ValuesEntry) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (key, names) in [("personal", database.personal.as_slice()), ("skip", &values.skip)] {
        for unknown in database.unknown_columns(names) {
            let reason = format!("`{key}` names `{unknown}`, which is not a column of `{}`", database.name);
            problems.push(Problem::warning(place, reason).advise(COLUMN_ADVICE));
        }
    }
    problems
}

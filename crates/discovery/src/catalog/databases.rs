//! The databases of a catalog: finds, opens and describes them concurrently.

mod entry;
mod find;
mod services;
mod values;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use futures::{StreamExt, stream};
use prospector_connect::{ConnectError, Connector, error::Cause, open, source::Source};
use prospector_core::Problem;
use prospector_schema::{Database, Entry, SchemaDiscovery, SchemaError, describe};
use tokio_util::task::AbortOnDropHandle;

pub(super) use self::{
    entry::{DatabaseEntry, HARMLESS, check},
    values::refresh_values,
};
use self::{
    find::{Found, find},
    values::{ValueSource, check_columns},
};
use super::{
    cache::{Cache, fingerprint},
    section::{Folders, Opening, Section},
    web::ago,
};

/// Number of sources described concurrently.
const MAX_DESCRIBED: usize = 8;

/// The databases: files, servers and services.
pub(super) struct Databases;

/// The connectors and value settings of the databases of a discovery, in its order.
#[derive(Clone, Default)]
pub(super) struct OpenedDatabases {
    /// The connector of each database.
    pub(super) connectors: Vec<Option<Arc<dyn Connector>>>,
    /// How the values of each database are read.
    values: Vec<ValueSource>,
}

impl Section for Databases {
    type Entry = DatabaseEntry;
    type Loaded = (Arc<SchemaDiscovery>, OpenedDatabases);

    fn files(entries: &[DatabaseEntry], folders: &Folders<'_>) -> Option<Vec<PathBuf>> {
        if entries.iter().any(|entry| entry.server.is_some() || entry.service.is_some()) {
            return None;
        }
        let (mut files, mut problems) = (Vec::new(), Vec::new());
        for found in entries.iter().flat_map(|entry| find(folders, "", entry, &mut problems)) {
            files.extend(found.source.paths().iter().cloned());
            files.extend(found.descriptions);
        }
        problems.is_empty().then_some(files)
    }

    async fn load(self, entries: Vec<DatabaseEntry>, opening: &mut Opening<'_>) -> Self::Loaded {
        let found = find_all(&entries, opening);
        let mut opened = OpenedDatabases::default();
        let mut entries = Vec::new();
        for (entry, source) in describe_all(found, opening).await {
            opened.connectors.push(entry.connector.clone());
            opened.values.push(source);
            entries.push(entry);
        }
        (Arc::new(SchemaDiscovery::new(entries)), opened)
    }
}

/// Returns the databases of all entries; of those that share a name, the first.
fn find_all(entries: &[DatabaseEntry], opening: &mut Opening<'_>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for entry in entries {
        let place = opening.place(entry.line);
        let mut taken: Vec<String> = Vec::new();
        for database in find(&opening.folders, &place, entry, &mut opening.problems) {
            if found.iter().any(|known| known.name.eq_ignore_ascii_case(&database.name)) {
                taken.push(database.name);
            } else {
                found.push(database);
            }
        }
        if let Some(first) = taken.first() {
            let reason = match taken.len() - 1 {
                0 => format!("`{first}` is already defined; the earlier definition is used"),
                more => format!("`{first}` and {more} more are already defined; the earlier definitions are used"),
            };
            opening.problems.push(Problem::warning(place, reason).advise("give each database its own `name`"));
        }
    }
    found
}

/// Opens and describes the databases.
async fn describe_all(found: Vec<Found>, opening: &mut Opening<'_>) -> Vec<(Entry, ValueSource)> {
    let total = found.len();
    let mut done = 0;
    let mut described = Vec::with_capacity(total);
    let cache = opening.cache.clone();
    // Each on its own task: reading cached descriptions takes time too, and is most of the work.
    let spawn = |found: Found| {
        let (place, own) = (found.place.clone(), found.entry.clone());
        let files = if let [file] = found.source.paths() { Some(file.display().to_string()) } else { None };
        // Aborted with the opening.
        let task = AbortOnDropHandle::new(tokio::spawn(describe_one(found, cache.clone())));
        async move {
            let failed = |error| {
                let problem = Problem::error(&place, format!("the database cannot be described: {error}"));
                Described { entry: None, problems: vec![problem], stamp: None }
            };
            let mut described = task.await.unwrap_or_else(failed);
            let source = ValueSource { entry: own.values, place, stamp: described.stamp };
            if let Some(entry) = &mut described.entry {
                entry.database.functions = own.functions;
                entry.database.personal = own.personal;
                described.problems.extend(list_issues(&source.place, files.as_deref(), &mut entry.database));
                described.problems.extend(check_columns(&source.place, &entry.database, &source.entry));
            }
            (described.entry.map(|entry| (entry, source)), described.problems)
        }
    };
    let mut tasks = stream::iter(found).map(spawn).buffered(MAX_DESCRIBED);
    while let Some((entry, problems)) = tasks.next().await {
        done += 1;
        (opening.progress)("sources", done, total);
        described.extend(entry);
        opening.problems.extend(problems);
        if opening.folders.cancel.is_cancelled() {
            break;
        }
    }
    described
}

/// Returns the issues of the columns of a database as problems, and removes values of columns with personal data. The place is the file of
/// the database, or its catalog entry if it has several files.
fn list_issues(entry: &str, file: Option<&str>, database: &mut Database) -> Vec<Problem> {
    let mut tables = std::mem::take(&mut database.tables);
    let mut problems = Vec::new();
    for table in &mut tables {
        for issue in &mut table.issues {
            if database.is_personal(&table.name, &issue.column) {
                issue.examples.clear();
            }
            let reason = format!("`{}.{}`: {issue}", table.name, issue.column);
            problems.push(Problem::warning(file.unwrap_or(entry), reason).advise(issue.advice()));
        }
    }
    database.tables = tables;
    problems
}

/// The result of describing a database.
struct Described {
    entry: Option<Entry>,
    problems: Vec<Problem>,
    /// The version of the source; `None` if it could not be reached.
    stamp: Option<String>,
}

/// Describes one database, from the cache if its files are unchanged.
async fn describe_one(found: Found, cache: Cache) -> Described {
    let failed = |problem| Described { entry: None, problems: vec![problem], stamp: None };
    let connector: Arc<dyn Connector> = match open(&found.source) {
        Ok(connector) => connector,
        Err(error) => return failed(Problem::error(found.place, error.to_string())),
    };
    let mut files: Vec<&Path> = found.source.paths().iter().map(PathBuf::as_path).collect();
    files.extend(found.descriptions.as_deref());
    // The settings contain a server without its password.
    let settings = format!(
        "{}\0{}\0{}\0{:?}\0{}",
        found.name,
        found.entry.description,
        found.entry.tables.join("\0"),
        (!matches!(found.source, Source::Files { .. })).then_some(&found.source),
        matches!(found.source, Source::Files { is_strict: true, .. })
    );
    let files_stamp = fingerprint(&files, &settings);
    let key = format!("database {}", found.name);
    let stamp = match connector.fingerprint().await {
        Ok(state) => format!("{files_stamp} {}", state.unwrap_or_default()),
        Err(error) => {
            let (entry, problems) = recall(&found.place, &key, &files_stamp, &cache, connector, &error);
            return Described { entry, problems, stamp: None };
        }
    };
    if let Some((database, problems)) = cache.get::<(Database, Vec<Problem>)>(&key, &stamp) {
        let entry = Some(Entry { database, connector: Some(connector) });
        return Described { entry, problems, stamp: Some(stamp) };
    }
    let (description, tables) = (&found.entry.description, &found.entry.tables);
    let described = describe(&found.name, description, connector.as_ref(), found.descriptions.as_deref(), tables).await;
    match described {
        Ok((database, problems)) => {
            let described = (database, problems);
            cache.put(&key, &stamp, &described);
            let entry = Some(Entry { database: described.0, connector: Some(connector) });
            Described { entry, problems: described.1, stamp: Some(stamp) }
        }
        Err(error) => {
            let problem = Problem::error(found.place, error.to_string());
            let SchemaError::Describe { source, .. } = error;
            failed(problem.advise(match source.cause() {
                Cause::Locked => "the rest of the catalog is used",
                _ => "repair or remove it; the rest of the catalog is used",
            }))
        }
    }
}

/// Returns the last description of a database whose server cannot be reached; only the problem if it was never described.
fn recall(
    place: &str,
    key: &str,
    files_stamp: &str,
    cache: &Cache,
    connector: Arc<dyn Connector>,
    error: &ConnectError,
) -> (Option<Entry>, Vec<Problem>) {
    match cache.latest::<(Database, Vec<Problem>)>(key, files_stamp) {
        Some(((database, mut problems), age)) => {
            let reason = format!("{error}; its description from {} ago is used, without its values", ago(age));
            problems.insert(0, Problem::warning(place, reason).advise("check that the server runs and can be reached"));
            (Some(Entry { database, connector: Some(connector) }), problems)
        }
        None => {
            let problem = Problem::error(place, error.to_string());
            let advice = "check the server, the user and the password; the rest of the catalog is used";
            (None, vec![problem.advise(advice)])
        }
    }
}

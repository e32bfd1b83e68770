//! The databases of a catalog: which there are, opened and described, several at once.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use futures::{StreamExt, stream};
use prospector_connect::source::SourceKind;
use prospector_connect::{ConnectError, Connector, Source, open};
use prospector_core::Problem;
use prospector_core::name::nearest;
use prospector_schema::{Database, Entry, describe};

use super::{
    cache::{Cache, fingerprint},
    expand,
    file::DatabaseEntry,
};

/// How many sources are described at once.
const AT_ONCE: usize = 8;

/// One database, found but not yet opened.
pub(super) struct Found {
    name: String,
    place: String,
    pub(super) source: Source,
    description: String,
    pub(super) descriptions: Option<PathBuf>,
    allow: Vec<String>,
    functions: Vec<String>,
}

/// Opens and describes every database of the catalog.
pub(super) async fn load(
    catalog: &Path,
    base: &Path,
    entries: Vec<DatabaseEntry>,
    cache: &Cache,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> (Vec<Entry>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut found: Vec<Found> = Vec::new();
    for entry in entries {
        let place = format!("{}:{}", catalog.display(), entry.line);
        let mut taken: Vec<String> = Vec::new();
        for database in find(base, &place, &entry, &mut problems) {
            if found.iter().any(|known| known.name.eq_ignore_ascii_case(&database.name)) {
                taken.push(database.name);
            } else {
                found.push(database);
            }
        }
        if let Some(first) = taken.first() {
            let more = if taken.len() > 1 { format!(" and {} others", taken.len() - 1) } else { String::new() };
            let reason = format!("`{first}`{more} of this entry are named before; the earlier ones are used");
            problems.push(Problem::warning(place, reason).advise("give each database its own `name`"));
        }
    }
    let total = found.len();
    let mut done = 0;
    let mut described = Vec::with_capacity(total);
    // Each on a thread of its own: reading what was described before is work too, and all there is to do most times.
    let spawn = |found: Found| {
        let (place, functions) = (found.place.clone(), found.functions.clone());
        let task = tokio::spawn(one(found, cache.clone()));
        async move {
            let failed =
                |error| (None, vec![Problem::error(place, format!("the database cannot be described: {error}"))]);
            let (mut entry, problems) = task.await.unwrap_or_else(failed);
            if let Some(entry) = &mut entry {
                entry.database.functions = functions;
            }
            (entry, problems)
        }
    };
    let mut tasks = stream::iter(found).map(spawn).buffered(AT_ONCE);
    while let Some((entry, more)) = tasks.next().await {
        done += 1;
        progress(done, total);
        described.extend(entry);
        problems.extend(more);
    }
    (described, problems)
}

/// Describes one database, from the cache where its files have not changed.
async fn one(found: Found, cache: Cache) -> (Option<Entry>, Vec<Problem>) {
    let connector: Arc<dyn Connector> = match open(&found.source) {
        Ok(connector) => connector,
        Err(error) => return (None, vec![Problem::error(found.place, error.to_string())]),
    };
    let mut files: Vec<&Path> = found.source.paths().iter().map(PathBuf::as_path).collect();
    files.extend(found.descriptions.as_deref());
    // A server is shown in the settings without its password.
    let settings = format!(
        "{}\0{}\0{}\0{:?}",
        found.name,
        found.description,
        found.allow.join("\0"),
        (!matches!(found.source, Source::Files { .. })).then_some(&found.source)
    );
    let settled = fingerprint(&files, &settings);
    let key = format!("database {}", found.name);
    let stamp = match connector.fingerprint().await {
        Ok(state) => format!("{settled} {}", state.unwrap_or_default()),
        Err(error) => return unreached(&found.place, &key, &settled, &cache, connector, &error),
    };
    if let Some((database, problems)) = cache.get::<(Database, Vec<Problem>)>(&key, &stamp) {
        return (Some(Entry { database, connector: Some(connector) }), problems);
    }
    let described =
        describe(&found.name, &found.description, connector.as_ref(), found.descriptions.as_deref(), &found.allow)
            .await;
    match described {
        Ok((database, problems)) => {
            let described = (database, problems);
            cache.put(&key, &stamp, &described);
            (Some(Entry { database: described.0, connector: Some(connector) }), described.1)
        }
        Err(error) => {
            let problem = Problem::error(found.place, error.to_string());
            (None, vec![problem.advise("repair it or take it out; the rest of the catalog is used")])
        }
    }
}

/// What is known of a database whose server cannot be reached: what it described before, if it did.
fn unreached(
    place: &str,
    key: &str,
    settled: &str,
    cache: &Cache,
    connector: Arc<dyn Connector>,
    error: &ConnectError,
) -> (Option<Entry>, Vec<Problem>) {
    match cache.latest::<(Database, Vec<Problem>)>(key, settled) {
        Some(((database, mut problems), age)) => {
            let age = match age {
                0..120 => format!("{age} seconds"),
                120..7200 => format!("{} minutes", age / 60),
                7200..172_800 => format!("{} hours", age / 3600),
                _ => format!("{} days", age / 86_400),
            };
            let reason = format!("{error}; what it described {age} ago is used, and its values cannot be read");
            problems.insert(0, Problem::warning(place, reason).advise("see that the server runs and can be reached"));
            (Some(Entry { database, connector: Some(connector) }), problems)
        }
        None => {
            let problem = Problem::error(place, error.to_string());
            let advice = "see that the server runs, and the user and the password; the rest of the catalog is used";
            (None, vec![problem.advise(advice)])
        }
    }
}

/// The databases of one entry: one for a file or for a name, one for each file of a glob without a name.
pub(super) fn find(base: &Path, place: &str, entry: &DatabaseEntry, problems: &mut Vec<Problem>) -> Vec<Found> {
    let mut fail = |reason: String, advice: String| {
        problems.push(Problem::error(place, reason).advise(advice));
        Vec::new()
    };
    let kind = match entry.kind.as_deref().map(|name| (name, SourceKind::from_name(name))) {
        Some((name, None)) => {
            let names: Vec<&str> = SourceKind::ALL.iter().map(|kind| kind.as_str()).collect();
            let near = nearest(name, names.iter().copied(), 1).pop().unwrap_or_default();
            return fail(
                format!("there is no database type `{name}`"),
                format!("did you mean `{near}`? the types are {}", names.join(", ")),
            );
        }
        Some((_, kind)) => kind,
        None => None,
    };
    let server = entry.server.clone().map(Source::Server);
    if let Some(source) = server.or_else(|| entry.service.clone()) {
        let own = source.kind();
        if let Some(kind) = kind.filter(|kind| *kind != own) {
            return fail(format!("the `url` is one of {own}, and the `type` is {kind}"), "leave `type` out".into());
        }
        let Some(name) = entry.name.clone().or_else(|| source.default_name().map(str::to_owned)) else {
            return fail("the `url` names no database, and the entry has no `name`".into(), "write `name: ...`".into());
        };
        let written = entry.descriptions.as_ref().map(|written| base.join(written.replace("{name}", &name)));
        let found = Found {
            name,
            place: place.to_owned(),
            source,
            description: entry.description.clone(),
            descriptions: written.clone().filter(|path| path.is_file()),
            allow: entry.tables.clone(),
            functions: entry.functions.clone(),
        };
        if let Some(path) = written.filter(|path| !path.is_file()) {
            let problem = Problem::error(place, format!("there is no file of descriptions {}", path.display()));
            problems.push(problem.advise("correct `descriptions`, or leave it out"));
        }
        return vec![found];
    }
    if kind == Some(SourceKind::Dbt) {
        return project(base, place, entry).map_or_else(|(reason, advice)| fail(reason, advice), |found| vec![found]);
    }
    let folder = base.join(&entry.path);
    let pattern = if folder.is_dir() { format!("{}/*", entry.path.trim_end_matches('/')) } else { entry.path.clone() };
    let many = expand::is_glob(&pattern);
    let files = if many {
        match expand::glob(base, &pattern) {
            Ok(files) => files,
            Err(reason) => return fail(format!("`path: {}`: {reason}", entry.path), "correct the path".into()),
        }
    } else if folder.is_file() {
        vec![folder]
    } else {
        let near = nearest_file(&folder).map_or("correct the path".into(), |name| format!("did you mean `{name}`?"));
        return fail(format!("there is no file {}", folder.display()), near);
    };
    let of_kind =
        |path: &PathBuf| many.then(|| kind.or_else(|| SourceKind::from_path(path))).is_none_or(|k| k.is_some());
    let files: Vec<PathBuf> = files.into_iter().filter(of_kind).collect();
    let Some(first) = files.first() else {
        return fail(format!("no file matches `{}`", entry.path), "correct the pattern".into());
    };
    let Some(kind) = kind.or_else(|| SourceKind::from_path(first)) else {
        let names: Vec<&str> = SourceKind::ALL.iter().map(|kind| kind.as_str()).collect();
        return fail(
            format!("the type of {} cannot be told from its extension", first.display()),
            format!("write `type: ...`, one of {}", names.join(", ")),
        );
    };
    let make = |name: String, paths: Vec<PathBuf>| {
        let descriptions = descriptions(base, &name, &paths[0], entry.descriptions.as_deref());
        Found {
            name,
            place: place.to_owned(),
            source: Source::files(kind, paths),
            description: entry.description.clone(),
            descriptions,
            allow: entry.tables.clone(),
            functions: entry.functions.clone(),
        }
    };
    let found: Vec<Found> = match (&entry.name, many) {
        (Some(name), _) => vec![make(name.clone(), files)],
        (None, false) => vec![make(expand::names(&files).remove(0), files)],
        (None, true) => {
            let names = expand::names(&files);
            names.into_iter().zip(files).map(|(name, file)| make(name, vec![file])).collect()
        }
    };
    // Each has its own file of descriptions or none; one that is named outright must be there.
    if let (Some(written), Some(path)) =
        (&entry.descriptions, found.first().and_then(|found| found.descriptions.as_ref()))
        && !written.contains('{')
        && !path.is_file()
    {
        let problem = Problem::error(place, format!("there is no file of descriptions {}", path.display()));
        problems.push(problem.advise("correct `descriptions`, or leave it out"));
    }
    found
        .into_iter()
        .map(|found| Found { descriptions: found.descriptions.filter(|path| path.is_file()), ..found })
        .collect()
}

/// The dbt project of an entry: its manifest, or the folder that holds it, and the catalog beside it where there is one.
/// Without a name it is called as the folder of the project.
fn project(base: &Path, place: &str, entry: &DatabaseEntry) -> Result<Found, (String, String)> {
    let mut manifest = base.join(&entry.path);
    for inside in ["manifest.json", "target/manifest.json"] {
        if manifest.is_dir() && manifest.join(inside).is_file() {
            manifest.push(inside);
        }
    }
    if !manifest.is_file() {
        let advice = "write `path: target/manifest.json`, and make the file with `dbt docs generate`";
        return Err((format!("there is no manifest of dbt at {}", manifest.display()), advice.into()));
    }
    let whole = std::path::absolute(&manifest).unwrap_or_else(|_| manifest.clone());
    let folders = whole.ancestors().skip(1).filter_map(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name = entry.name.clone().or_else(|| folders.into_iter().find(|name| name != "target"));
    let name = name.unwrap_or_else(|| "dbt".to_owned());
    let descriptions = descriptions(base, &name, &manifest, entry.descriptions.as_deref());
    let catalog = Some(manifest.with_file_name("catalog.json")).filter(|path| path.is_file());
    Ok(Found {
        name,
        place: place.to_owned(),
        source: Source::files(SourceKind::Dbt, [manifest].into_iter().chain(catalog).collect()),
        description: entry.description.clone(),
        descriptions: descriptions.filter(|path| path.is_file()),
        allow: entry.tables.clone(),
        functions: entry.functions.clone(),
    })
}

/// The file of descriptions: as written, with `{dir}` for the folder of the database and `{name}` for its name; else
/// `<stem>.descriptions.json` beside it.
fn descriptions(base: &Path, name: &str, file: &Path, written: Option<&str>) -> Option<PathBuf> {
    match written {
        Some(written) => {
            let folder = file.parent().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
            Some(base.join(written.replace("{dir}", &folder).replace("{name}", name)))
        }
        None => Some(file.with_extension("descriptions.json")).filter(|path| path.is_file()),
    }
}

/// The file of the same folder whose name is nearest to one that does not exist.
pub(super) fn nearest_file(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_string_lossy();
    let names: Vec<String> = std::fs::read_dir(path.parent()?)
        .ok()?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    nearest(&wanted, names.iter().map(String::as_str), 1).pop()
}

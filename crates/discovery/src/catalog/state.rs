//! The state folder: permissions, integrity, and the fallback if it cannot be written.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use prospector_core::Problem;
use prospector_core::record::Record;
use prospector_facts::FactDiscovery;
use prospector_fetch::cache::HttpCache;
use prospector_search::embed::Embedder;
use prospector_search::{Index, RefreshReport, SearchError};
use prospector_state::{
    checksum::unseal,
    folder::{is_cache_name, refuse_links},
};
use serde::Serialize;

use super::{error::CatalogError, facts, section::Opening};

/// The name of the default state folder.
const DEFAULT: &str = ".prospector";

/// The entries of a state folder, except stores: those of all commands, whichever crate writes them.
const ENTRIES: [&str; 17] = [
    "catalog.schema.json",
    "chat_history.txt",
    "current.json",
    "index",
    "links",
    "mcp",
    "models",
    "objections",
    "queries",
    "reconcile",
    "reports",
    "runs",
    "scratch",
    "sources",
    "sql_history.txt",
    "web",
    "workflows",
];
/// The stores, each with the additional files of SQLite.
const STORES: [&str; 2] = ["facts.sqlite", "sessions.sqlite"];
const BESIDE: [&str; 4] = ["", "-journal", "-shm", "-wal"];

/// Iterates over the names of all entries that a state folder may have.
fn entries() -> impl Iterator<Item = String> {
    let stores = STORES.iter().flat_map(|store| BESIDE.iter().map(move |end| format!("{store}{end}")));
    ENTRIES.iter().map(|name| (*name).to_owned()).chain(stores)
}

fn is_ours(name: &str) -> bool {
    entries().any(|entry| entry == name)
}

/// Returns the path of the state folder: the given one, which may be a symbolic link, or `.prospector` in the folder of the catalog, which
/// may not. It need not exist.
///
/// # Errors
/// [`CatalogError::State`] if one of its entries is a symbolic link, or contains one that leads out of it.
pub fn folder(given: Option<&Path>, base: &Path) -> Result<PathBuf, CatalogError> {
    let path = given.map_or_else(|| base.join(DEFAULT), Path::to_owned);
    let checked = match given {
        Some(_) => Ok(()),
        None => refuse_links(base, [DEFAULT]),
    };
    match checked.and_then(|()| refuse_links(&path, entries())) {
        Ok(()) => Ok(path),
        Err(source) => Err(CatalogError::State { path, source }),
    }
}

/// Removes permissions of other users from files in the state folder.
pub(super) fn tighten(state: &Path) {
    if let Err(error) = prospector_state::folder::tighten(state, &is_ours) {
        // On a read-only disk they remain.
        tracing::debug!(%error, state = %state.display(), "cannot restrict the permissions of the state folder");
    }
}

/// Opens the index of a state folder; an empty one in memory, with the reason, if its files may not be read.
pub(super) fn open_index(
    state: &Path,
    embedder: Option<Arc<dyn Embedder>>,
) -> Result<(Index, Option<SearchError>), SearchError> {
    match Index::open(&state.join("index"), embedder.clone()) {
        Err(error) if error.obstacle().is_some() => Ok((Index::in_memory(Vec::new(), embedder)?, Some(error))),
        opened => opened.map(|index| (index, None)),
    }
}

/// Updates the index to these records: writes changes only, or with `fresh` everything. If the index cannot be written, the previous one is
/// used or, if that is unusable, one in memory; a problem reports this and the reason. `unreadable` is the error returned by
/// [`open_index`].
pub(super) fn bring_up_to_date(
    index: &Index,
    records: impl Fn() -> Vec<Record>,
    unreadable: Option<SearchError>,
    fresh: bool,
    state: &Path,
    opening: &mut Opening<'_>,
) -> Result<RefreshReport, SearchError> {
    let report_progress = opening.progress;
    let progress = |done, total| report_progress("records", done, total);
    let updated = match (unreadable, fresh) {
        (Some(error), _) => Err(error),
        (None, true) => index.rebuild(records(), &progress),
        (None, false) => index.refresh(records(), &progress),
    };
    let error = match updated {
        Ok(report) => return Ok(report),
        Err(error) => error,
    };
    let Some(obstacle) = error.obstacle() else { return Err(error) };
    let keeps_answering = index.check().is_ok() && !index.is_empty();
    let (report, instead) = match keeps_answering {
        true => (RefreshReport::default(), "the previous version is searched"),
        false => (index.hold(records())?, "an in-memory index is searched"),
    };
    let reason = format!("cannot update the index; {instead}: {} ({error})", obstacle.describe(state));
    let place = state.join("index").display().to_string();
    opening.problems.push(Problem::error(place, reason).advise(obstacle.advice()));
    Ok(report)
}

/// The result of verifying the checksums of a state folder.
#[derive(Debug, Clone, Default, Serialize)]
pub struct StateReport {
    /// Number of files verified.
    pub files: usize,
    /// Their total size in bytes.
    pub bytes: u64,
    /// The damaged files, and what to do about them.
    pub damage: Vec<Problem>,
}

impl StateReport {
    /// Counts a file, and records its damage, if any.
    pub fn add(&mut self, path: &Path, fault: Option<String>, advice: &str) {
        self.files += 1;
        self.bytes += fs::metadata(path).map_or(0, |meta| meta.len());
        if let Some(fault) = fault {
            self.damage.push(Problem::error(path.display().to_string(), fault).advise(advice));
        }
    }
}

/// Verifies everything in a state folder that has checksums, and the store of facts: the index, cached descriptions and fetched copies.
/// Changes nothing. Pages of wikis and models are not verified.
///
/// # Errors
/// [`CatalogError::Search`] if files of the index exist but may not be read.
pub async fn check(state: &Path) -> Result<StateReport, CatalogError> {
    let examined = Index::examine(&state.join("index"))?;
    let mut report = StateReport { files: examined.files, bytes: examined.bytes, damage: Vec::new() };
    for damage in examined.damage {
        let problem = Problem::error(damage.file.display().to_string(), damage.what.clone());
        report.damage.push(problem.advise(damage.advice()));
    }
    for (path, fault) in caches(state) {
        report.add(&path, fault, "run `planner refresh` to rebuild it");
    }
    let facts = state.join(facts::STORE);
    if facts.exists() {
        let fault = FactDiscovery::check_store(&facts).await.err();
        let advice = fault.as_ref().and_then(|error| error.advice()).unwrap_or_default();
        report.add(&facts, fault.as_ref().map(|error| error.reason()), advice);
    }
    Ok(report)
}

/// Removes damaged files that can be rebuilt from the sources or fetched again, even if the catalog no longer uses them. Returns a problem
/// for each.
pub fn discard_damaged(state: &Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, fault) in caches(state) {
        let Some(fault) = fault else { continue };
        let problem = Problem::warning(path.display().to_string(), format!("the file is damaged: {fault}"));
        problems.push(match fs::remove_file(&path) {
            Ok(()) => problem.advise("the file was removed and is rebuilt when needed"),
            Err(error) => problem.advise(format!("remove it: {error}")),
        });
    }
    problems
}

/// Lists the files that can be rebuilt, each with its damage, if any.
fn caches(state: &Path) -> Vec<(PathBuf, Option<String>)> {
    let sources = fs::read_dir(state.join("sources")).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found = Vec::new();
    let is_cached = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".json"));
        name.is_some_and(is_cache_name) && path.is_file()
    };
    for path in sources.filter(is_cached) {
        let fault = match fs::read(&path) {
            Ok(bytes) => unseal(&bytes).err().map(|broken| broken.to_string()),
            Err(error) => Some(error.to_string()),
        };
        found.push((path, fault));
    }
    let copies = HttpCache::examine(&state.join("web")).into_iter();
    found.extend(copies.map(|(path, fault)| (path, fault.map(|fault| fault.to_string()))));
    found
}

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
use prospector_state::checksum::unseal;
use serde::Serialize;

use super::{error::CatalogError, facts, section::Opening};

/// The entries of a state folder, except stores.
const ENTRIES: [&str; 11] = [
    "catalog.schema.json",
    "chat_history.txt",
    "current.json",
    "index",
    "mcp",
    "models",
    "reconcile",
    "scratch",
    "sources",
    "web",
    "workflows",
];
/// The stores, each with the additional files of SQLite.
const STORES: [&str; 2] = ["facts.sqlite", "sessions.sqlite"];
const BESIDE: [&str; 4] = ["", "-journal", "-shm", "-wal"];

fn is_ours(name: &str) -> bool {
    ENTRIES.contains(&name)
        || STORES.iter().any(|store| name.strip_prefix(store).is_some_and(|rest| BESIDE.contains(&rest)))
}

/// Removes permissions of other users from files in the state folder.
pub(super) fn tighten(state: &Path) {
    if let Err(error) = prospector_state::tighten(state, &is_ours) {
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
    for path in sources.filter(|path| path.extension().is_some_and(|end| end == "json") && path.is_file()) {
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

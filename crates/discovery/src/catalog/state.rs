//! The state folder: who may read it, whether it is whole, and what is searched where it cannot be written.

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

use super::{current, error::CatalogError, facts, section::Opening};

/// What is in a state folder, stores apart.
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
/// The stores, each with the files that SQLite keeps beside it.
const STORES: [&str; 2] = ["facts.sqlite", "sessions.sqlite"];
const BESIDE: [&str; 4] = ["", "-journal", "-shm", "-wal"];

fn is_ours(name: &str) -> bool {
    ENTRIES.contains(&name)
        || STORES.iter().any(|store| name.strip_prefix(store).is_some_and(|rest| BESIDE.contains(&rest)))
        || (name.starts_with("current.") && name.ends_with(".new"))
}

/// Takes the rights of others off what is in the state folder.
pub(super) fn tighten(state: &Path) {
    if let Err(error) = prospector_state::tighten(state, &is_ours) {
        // On a disk that is read-only they stay as they are.
        tracing::debug!(%error, state = %state.display(), "others may be able to read the state folder");
    }
}

/// The index of a state folder; an empty one in memory, with the reason, where its files may not be read.
pub(super) fn open_index(
    state: &Path,
    embedder: Option<Arc<dyn Embedder>>,
) -> Result<(Index, Option<SearchError>), SearchError> {
    match Index::open(&state.join("index"), embedder.clone()) {
        Err(error) if error.obstacle().is_some() => Ok((Index::in_memory(Vec::new(), embedder)?, Some(error))),
        opened => opened.map(|index| (index, None)),
    }
}

/// Makes the index hold these records: only what changed is written, or with `fresh` everything. Where the index cannot be
/// written, it stays as it was before, or, where there was none that can be used, lives in memory; a problem says which,
/// and why. `unreadable` is why [`open_index`] gave one in memory.
pub(super) fn bring_up_to_date(
    index: &Index,
    records: impl Fn() -> Vec<Record>,
    unreadable: Option<SearchError>,
    fresh: bool,
    state: &Path,
    opening: &mut Opening<'_>,
) -> Result<RefreshReport, SearchError> {
    let tell = opening.progress;
    let progress = |done, total| tell("records", done, total);
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
        true => (RefreshReport::default(), "searches answer from it as it was before"),
        false => (index.hold(records())?, "one that lives in memory is searched"),
    };
    let reason =
        format!("the index cannot be brought up to date, and {instead}: {} ({error})", obstacle.describe(state));
    let place = state.join("index").display().to_string();
    opening.problems.push(Problem::error(place, reason).advise(obstacle.advice()));
    Ok(report)
}

/// What reading every byte of a state folder showed.
#[derive(Debug, Clone, Default, Serialize)]
pub struct StateReport {
    /// How many files were compared with their checksums.
    pub files: usize,
    /// How many bytes they have.
    pub bytes: u64,
    /// What is damaged, and what to do about it.
    pub damage: Vec<Problem>,
}

impl StateReport {
    /// Counts a file, and notes what is wrong with it.
    pub fn add(&mut self, path: &Path, fault: Option<String>, advice: &str) {
        self.files += 1;
        self.bytes += fs::metadata(path).map_or(0, |meta| meta.len());
        if let Some(fault) = fault {
            self.damage.push(Problem::error(path.display().to_string(), fault).advise(advice));
        }
    }
}

/// Reads everything in a state folder that has checksums, and the store of facts, and changes nothing: the index, what was
/// made of the sources, the copies of what was fetched. Pages of wikis and models are not among them.
///
/// # Errors
/// [`CatalogError::Search`] when files of the index are there and may not be read.
pub async fn check(state: &Path) -> Result<StateReport, CatalogError> {
    let examined = Index::examine(&state.join("index"))?;
    let mut report = StateReport { files: examined.files, bytes: examined.bytes, damage: Vec::new() };
    for damage in examined.damage {
        let problem = Problem::error(damage.file.display().to_string(), damage.what.clone());
        report.damage.push(problem.advise(damage.advice()));
    }
    for (path, fault) in caches(state) {
        report.add(&path, fault, "run `planner refresh`, which makes it anew");
    }
    let facts = state.join(facts::STORE);
    if facts.exists() {
        let fault = FactDiscovery::check_store(&facts).await.err();
        let advice = fault.as_ref().and_then(|error| error.advice()).unwrap_or_default();
        report.add(&facts, fault.as_ref().map(ToString::to_string), advice);
    }
    Ok(report)
}

/// Removes those files that are damaged and can be made anew from the sources or fetched anew, whether the catalog still
/// needs them or not. The problems say which.
pub fn discard_damaged(state: &Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, fault) in caches(state) {
        let Some(fault) = fault else { continue };
        let problem = Problem::warning(path.display().to_string(), format!("the file is damaged: {fault}"));
        problems.push(match fs::remove_file(&path) {
            Ok(()) => problem.advise("it was removed, and is made anew when it is needed"),
            Err(error) => problem.advise(format!("remove it: {error}")),
        });
    }
    problems
}

/// The files that can be made anew, with what is wrong with those that are damaged.
fn caches(state: &Path) -> Vec<(PathBuf, Option<String>)> {
    let mut sealed: Vec<PathBuf> = vec![current::place(state)];
    let sources = fs::read_dir(state.join("sources")).into_iter().flatten().flatten();
    sealed.extend(sources.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "json")));
    let mut found = Vec::new();
    for path in sealed.into_iter().filter(|path| path.is_file()) {
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

//! The index: records in, hits out.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use prospector_core::{Hit, Kind, Record, compute, nearest};
use rayon::prelude::*;
use serde::Serialize;

use crate::{
    Embedder, ModelId, Ranker, SearchError,
    dense::{Dense, Fits},
    disk::{FORMAT, Folder, Meta, Stamp},
    length::check_length,
    lexical::{Entry, Lexical, key},
    rank,
    shelf::Shelf,
    vectors::{Vectors, append},
};

/// How often an index is opened again that was replaced meanwhile.
const MOST_TRIES: usize = 100;

/// The most hits of one query.
const MOST_HITS: usize = 1_000;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// The question or the name, of at most [`crate::MAX_QUERY_CHARS`] characters. A longer text is refused rather than searched
    /// for in part, so that nobody takes the hits for those of the whole; see [`crate::query_text`].
    pub text: String,
    /// Only these kinds; all where empty.
    pub kinds: Vec<Kind>,
    /// Only what belongs to this database, API or document.
    pub parent: Option<String>,
    /// At most this many hits.
    pub limit: usize,
    /// How records are put in order; anything but [`Ranker::Full`] is for measuring.
    pub ranker: Ranker,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// The hits at or above the floor, best first; empty means that nothing matches well.
    pub hits: Vec<Hit>,
    /// Where there are no hits: the ids that come nearest.
    pub nearest: Vec<String>,
}

/// What a refresh changed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RefreshReport {
    /// Records that are new.
    pub added: usize,
    /// Records whose content changed.
    pub updated: usize,
    /// Records that are gone.
    pub removed: usize,
    /// Records that were neither read again nor embedded again.
    pub unchanged: usize,
    /// Why everything was built anew, where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuilt: Option<&'static str>,
}

/// One hybrid index. Cloning it is cheap and shares it; it may be searched from many threads, and from other processes
/// while one of them refreshes it.
#[derive(Clone)]
pub struct Index {
    inner: Arc<Inner>,
}

struct Inner {
    folder: Option<Folder>,
    embedder: Option<Arc<dyn Embedder>>,
    state: Mutex<(Stamp, Arc<Snapshot>)>,
}

/// One consistent state of an index, as searches see it.
pub(crate) struct Snapshot {
    pub(crate) lexical: Lexical,
    pub(crate) searcher: tantivy::Searcher,
    pub(crate) dense: Option<Dense>,
    pub(crate) vectors: Vectors,
    /// How many records the embedder learned from.
    learned_from: usize,
    shelves: [Shelf; Kind::ALL.len()],
}

impl Snapshot {
    /// The last commit of the full-text index, with its vectors.
    pub(crate) fn new(
        lexical: Lexical,
        searcher: tantivy::Searcher,
        dense: Option<Dense>,
        vectors: Vectors,
        learned_from: usize,
    ) -> Result<Self, SearchError> {
        let stored = lexical.stored(&searcher)?;
        let segments = searcher.segment_readers().len();
        let shelves = Kind::ALL.map(|kind| Shelf::new(kind, &stored, segments));
        Ok(Snapshot { lexical, searcher, dense, vectors, learned_from, shelves })
    }

    /// The records of a kind.
    pub(crate) fn shelf(&self, kind: Kind) -> &Shelf {
        &self.shelves[kind as usize]
    }

    fn len(&self) -> usize {
        self.shelves.iter().map(|shelf| shelf.docs.len()).sum()
    }

    /// How many records were written since the embedder learned, by the rows that they left.
    fn written_since(&self) -> usize {
        self.vectors.len().saturating_sub(self.learned_from)
    }
}

impl Index {
    /// An index that lives in memory only; without an embedder it is lexical alone.
    ///
    /// # Errors
    /// [`SearchError`] when the embedder or the full-text engine fails.
    pub fn in_memory(records: Vec<Record>, embedder: Option<Arc<dyn Embedder>>) -> Result<Index, SearchError> {
        let records = unique(records);
        let references: Vec<&Record> = records.iter().collect();
        let (dense, vectors) = match &embedder {
            Some(embedder) => {
                let (dense, pairs) = Dense::learn(embedder, &references, &|_| ())?;
                let vectors = Vectors::in_memory(dense.dimensions(), &pairs);
                (Some(dense), vectors)
            }
            None => (None, Vectors::none()),
        };
        let lexical = Lexical::in_memory();
        let entries: Vec<Entry<'_>> = records
            .iter()
            .enumerate()
            .map(|(slot, record)| Entry { record, hash: hash(record), slot: slot as u32 })
            .collect();
        lexical.write(&[], &entries, &|_| ())?;
        let searcher = lexical.searcher()?;
        let snapshot = Snapshot::new(lexical, searcher, dense, vectors, records.len())?;
        Ok(Index::with(None, embedder, Stamp::default(), snapshot))
    }

    /// The index in a folder; an empty one where there is none yet, or where it was made by another version or
    /// embedder. [`Index::refresh`] fills it. Nothing is written here.
    ///
    /// # Errors
    /// [`SearchError`] when the folder cannot be read.
    pub fn open(folder: &Path, embedder: Option<Arc<dyn Embedder>>) -> Result<Index, SearchError> {
        let folder = Folder { path: folder.to_owned() };
        let (stamp, snapshot) = load(&folder, embedder.as_ref())?;
        let snapshot = snapshot.map_or_else(empty, Ok)?;
        Ok(Index::with(Some(folder), embedder, stamp, snapshot))
    }

    fn with(folder: Option<Folder>, embedder: Option<Arc<dyn Embedder>>, stamp: Stamp, snapshot: Snapshot) -> Index {
        Index { inner: Arc::new(Inner { folder, embedder, state: Mutex::new((stamp, Arc::new(snapshot))) }) }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.snapshot().map_or(0, |snapshot| snapshot.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What tells the state on disk that was opened or written last from every other; `None` where there is none.
    pub fn stamp(&self) -> Option<String> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// What makes its vectors; `None` where words must match.
    pub fn model(&self) -> Option<&ModelId> {
        self.inner.embedder.as_ref().map(|embedder| embedder.model())
    }

    /// Whether there is no embedder, so that words must match.
    pub fn is_lexical_only(&self) -> bool {
        self.inner.embedder.is_none()
    }

    /// [`Index::search`] for asynchronous callers, whose threads it leaves to others; see [`prospector_core::compute`].
    ///
    /// # Errors
    /// As [`Index::search`].
    pub async fn find(&self, query: Query) -> Result<Found, SearchError> {
        check_length(&query.text)?;
        let index = self.clone();
        compute(move || index.search(&query)).await
    }

    /// The best records for a query that match well: the hits of every kind that has an answer to it.
    ///
    /// # Errors
    /// [`SearchError`] when the query is too long, or when the embedder or the full-text engine fails.
    pub fn search(&self, query: &Query) -> Result<Found, SearchError> {
        let limit = query.limit.clamp(1, MOST_HITS);
        let (mut good, mut poor) = (Vec::new(), Vec::new());
        for ranking in self.rankings(query, limit.max(3))? {
            let list = if ranking.answerable >= rank::calibrate::FLOOR { &mut good } else { &mut poor };
            list.extend(ranking.records);
        }
        if good.is_empty() {
            poor.sort_by(by_relevance);
            let mut ids: Vec<String> = poor.into_iter().map(|ranked| ranked.record.id).collect();
            // For a single word, a likeness of letters says more than one of meaning.
            if query.text.split_whitespace().count() == 1 {
                ids = nearest(&query.text, ids.iter().map(String::as_str), 3);
            }
            ids.truncate(3);
            return Ok(Found { hits: Vec::new(), nearest: ids });
        }
        good.sort_by(by_relevance);
        Ok(Found { hits: good.into_iter().take(limit).map(hit).collect(), nearest: Vec::new() })
    }

    /// The best records for a query whether they match well or not: [`Index::search`] without the floor, for measuring.
    ///
    /// # Errors
    /// As [`Index::search`].
    pub fn rank(&self, query: &Query) -> Result<Vec<Hit>, SearchError> {
        let limit = query.limit.clamp(1, MOST_HITS);
        let mut all: Vec<rank::Ranked> =
            self.rankings(query, limit)?.into_iter().flat_map(|ranking| ranking.records).collect();
        all.sort_by(by_relevance);
        Ok(all.into_iter().take(limit).map(hit).collect())
    }

    /// What each kind has, in the order of the kinds.
    fn rankings(&self, query: &Query, limit: usize) -> Result<Vec<rank::Ranking>, SearchError> {
        check_length(&query.text)?;
        let snapshot = self.snapshot()?;
        if let Some(dense) = &snapshot.dense {
            dense.forget();
        }
        let kinds: &[Kind] = if query.kinds.is_empty() { &Kind::ALL } else { &query.kinds };
        let parent = query.parent.as_deref();
        kinds.iter().map(|kind| rank::rank(&snapshot, *kind, &query.text, parent, limit, query.ranker)).collect()
    }

    /// Makes the index hold exactly these records. Unchanged ones are neither written nor embedded again. Others may
    /// search meanwhile; another process that refreshes is waited for. `progress` is told how many records are done, of
    /// how many.
    ///
    /// # Errors
    /// [`SearchError`] when the index cannot be written or the embedder fails; the old state stays.
    pub fn refresh(
        &self,
        records: Vec<Record>,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<RefreshReport, SearchError> {
        let Some(folder) = &self.inner.folder else {
            let fresh = Index::in_memory(records, self.inner.embedder.clone())?;
            let snapshot = fresh.snapshot()?;
            let report = RefreshReport { added: snapshot.len(), ..RefreshReport::default() };
            self.set((Stamp::default(), snapshot));
            return Ok(report);
        };
        let _lock = folder.lock()?;
        let embedder = self.inner.embedder.as_ref();
        folder.sweep();
        let records = unique(records);
        let (stamp, old) = load(folder, embedder)?;
        let reason = match (&old, &stamp) {
            (Some(_), _) => None,
            (None, None) => Some("there was no index yet"),
            (None, Some(_)) => Some("the index was of another version or embedder, or damaged"),
        };
        let hashes: Vec<u64> = records.par_iter().map(hash).collect();
        let known: HashMap<String, u64> = match &old {
            Some(old) => old.lexical.hashes(&old.searcher)?.into_iter().collect(),
            None => HashMap::new(),
        };
        let mut report = RefreshReport { rebuilt: reason, ..RefreshReport::default() };
        let mut changed: Vec<&Record> = Vec::new();
        let mut gone: HashSet<&str> = known.keys().map(String::as_str).collect();
        let mut stale: Vec<String> = Vec::new();
        for (record, hash) in records.iter().zip(&hashes) {
            let key = key(record);
            gone.remove(key.as_str());
            match known.get(&key) {
                Some(before) if before == hash => report.unchanged += 1,
                Some(_) => {
                    report.updated += 1;
                    changed.push(record);
                    stale.push(key);
                }
                None => {
                    report.added += 1;
                    changed.push(record);
                }
            }
        }
        report.removed = gone.len();
        stale.extend(gone.into_iter().map(str::to_owned));
        let Some(old) = old else {
            build(folder, embedder, &records, progress)?;
            self.reload(folder)?;
            return Ok(report);
        };
        if changed.is_empty() && stale.is_empty() {
            self.set((stamp, Arc::new(old)));
            return Ok(report);
        }
        // What the embedder learned was learned from other records: learn again when they are many. That also drops the
        // rows that no record refers to any more.
        if (old.written_since() + changed.len() + stale.len()) * 5 > old.learned_from {
            build(folder, embedder, &records, progress)?;
        } else {
            update(folder, &old, &changed, &stale, progress)?;
        }
        self.reload(folder)?;
        Ok(report)
    }

    /// The state to search: the newest one on disk.
    fn snapshot(&self) -> Result<Arc<Snapshot>, SearchError> {
        let state = self.inner.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(folder) = &self.inner.folder else { return Ok(state.1) };
        if folder.stamp() == state.0 {
            return Ok(state.1);
        }
        self.reload(folder)
    }

    fn reload(&self, folder: &Folder) -> Result<Arc<Snapshot>, SearchError> {
        let (stamp, snapshot) = load(folder, self.inner.embedder.as_ref())?;
        let snapshot = Arc::new(snapshot.map_or_else(empty, Ok)?);
        self.set((stamp, snapshot.clone()));
        Ok(snapshot)
    }

    fn set(&self, state: (Stamp, Arc<Snapshot>)) {
        *self.inner.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

/// Most relevant first; a stable sort keeps the order of the ranking where the relevance is the same.
fn by_relevance(a: &rank::Ranked, b: &rank::Ranked) -> std::cmp::Ordering {
    b.relevance.get().total_cmp(&a.relevance.get())
}

fn hit(ranked: rank::Ranked) -> Hit {
    let Record { id, kind, parent, name, description, body, .. } = ranked.record;
    Hit { id, kind, parent, name, description, body, relevance: ranked.relevance }
}

/// Opens the current generation. A writer may replace it between two of our reads: then the next try finds the new
/// one. What cannot be read although nobody changed it is damaged, and counts as no index.
fn load(folder: &Folder, embedder: Option<&Arc<dyn Embedder>>) -> Result<(Stamp, Option<Snapshot>), SearchError> {
    let mut tries = 0;
    loop {
        let stamp = folder.stamp();
        match folder.open(embedder) {
            Ok(snapshot) => return Ok((stamp, snapshot)),
            Err(error) if stamp == folder.stamp() => {
                tracing::warn!(%error, "the index is damaged");
                return Ok((stamp, None));
            }
            Err(error) if tries == MOST_TRIES => return Err(error),
            Err(error) => tracing::debug!(%error, "the index changed while it was opened"),
        }
        tries += 1;
    }
}

fn empty() -> Result<Snapshot, SearchError> {
    let lexical = Lexical::in_memory();
    let searcher = lexical.searcher()?;
    Snapshot::new(lexical, searcher, None, Vectors::none(), 0)
}

/// Writes a new generation with all records and makes it the current one. One that fails halfway takes no room.
fn build(
    folder: &Folder,
    embedder: Option<&Arc<dyn Embedder>>,
    records: &[Record],
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<(), SearchError> {
    let generation = folder.next()?;
    fill(folder, &generation, embedder, records, progress).inspect_err(|_| folder.discard(&generation))
}

fn fill(
    folder: &Folder,
    generation: &Path,
    embedder: Option<&Arc<dyn Embedder>>,
    records: &[Record],
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<(), SearchError> {
    let references: Vec<&Record> = records.iter().collect();
    // Each record is embedded, where there is an embedder, and written.
    let advance = counter(records.len(), 1 + usize::from(embedder.is_some()), progress);
    let (fits, dimensions) = match embedder {
        Some(embedder) => {
            let (dense, pairs) = Dense::learn(embedder, &references, &advance)?;
            let dimensions = dense.dimensions();
            append(generation, dimensions, &pairs).map_err(folder.fail("write"))?;
            (dense.fits, dimensions)
        }
        None => (Fits::default(), 0),
    };
    let lexical = Lexical::create(&generation.join("lexical"))?;
    let entries: Vec<Entry<'_>> = records
        .par_iter()
        .enumerate()
        .map(|(slot, record)| Entry { record, hash: hash(record), slot: slot as u32 })
        .collect();
    lexical.write(&[], &entries, &advance)?;
    let embedder = embedder.map(|embedder| embedder.model().clone());
    folder.publish(generation, &Meta { format: FORMAT, embedder, dimensions, learned_from: records.len() }, &fits)
}

/// Writes what changed into the current generation.
fn update(
    folder: &Folder,
    old: &Snapshot,
    changed: &[&Record],
    stale: &[String],
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<(), SearchError> {
    let Some(generation) = folder.current() else { return Ok(()) };
    let advance = counter(changed.len(), 1 + usize::from(old.dense.is_some()), progress);
    let first = match &old.dense {
        Some(dense) => {
            let pairs = dense.embed(changed, &advance)?;
            append(&generation, dense.dimensions(), &pairs).map_err(folder.fail("write"))?
        }
        None => 0,
    };
    let entries: Vec<Entry<'_>> = changed
        .iter()
        .enumerate()
        .map(|(at, record)| Entry { record, hash: hash(record), slot: first + at as u32 })
        .collect();
    old.lexical.write(stale, &entries, &advance)
}

/// Counts what several threads report of each of the steps that every record takes.
fn counter(total: usize, steps: usize, progress: &(dyn Fn(usize, usize) + Sync)) -> impl Fn(usize) + Sync {
    let done = std::sync::atomic::AtomicUsize::new(0);
    move |more| progress((done.fetch_add(more, std::sync::atomic::Ordering::Relaxed) + more) / steps, total)
}

/// The first record of each key.
fn unique(mut records: Vec<Record>) -> Vec<Record> {
    let mut keys = HashSet::with_capacity(records.len());
    records.retain(|record| keys.insert(key(record)));
    records
}

/// What a record holds, in 64 bits.
fn hash(record: &Record) -> u64 {
    let json = serde_json::to_vec(record).unwrap_or_default();
    let digest = blake3::hash(&json);
    digest.as_bytes().first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

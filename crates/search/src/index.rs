//! The index: stores records and returns hits.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use prospector_core::Kind;
use prospector_core::record::{Hit, MissingLiteral, Record};
use serde::de::DeserializeOwned;

use crate::damage::Examined;
use crate::embed::{Embedder, ModelId};
use crate::ranking::Ranker;
use crate::{
    SearchError,
    damage::{Damage, Faults, damage_of},
    dense::Dense,
    disk::{Folder, Stamp},
    examine::{Witnessed, examine},
    kind_index::KindIndex,
    length::{MAX_QUERY_CHARS, query_text},
    lexical::Lexical,
    rank,
    recalibration::{Recalibration, RecalibrationFile},
    refresh::{entries, unique},
    values::ValuesFile,
    vectors::Vectors,
};

/// Maximum number of retries if the index is replaced while it is opened.
pub(crate) const MAX_TRIES: usize = 100;

/// A search query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// The question or name, of at most [`Query::MAX_CHARS`] characters. Longer texts are rejected, not truncated; see
    /// [`Query::fitting`].
    pub text: String,
    /// The kinds to search; all if empty.
    pub kinds: Vec<Kind>,
    /// Restricts the search to this database, API or document.
    pub parent: Option<String>,
    /// Maximum number of hits.
    pub limit: usize,
    /// Whether weak hits fill the list up to `limit`, behind the others.
    pub fill: bool,
    /// The ranking; values other than [`Ranker::Full`] are for evaluation.
    pub ranker: Ranker,
}

impl Query {
    /// Maximum length of a query, in characters.
    pub const MAX_CHARS: usize = MAX_QUERY_CHARS;

    /// Returns the first [`Query::MAX_CHARS`] characters of a question, for implicit searches such as choosing the
    /// content of a prompt.
    pub fn fitting(question: &str) -> &str {
        query_text(question)
    }
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// The hits, best first: those of every kind that has an answer, otherwise the closest ones.
    pub hits: Vec<Hit>,
    /// Whether all hits are below the relevance threshold.
    pub is_weak: bool,
    /// If all hits are below the threshold: the next three ids; for a question of one word, by similar spelling.
    pub nearest: Vec<String>,
    /// Literals of the question that occur in no column of the databases of the hits. Databases whose values are not
    /// completely indexed are ignored.
    pub missing: Vec<MissingLiteral>,
}

/// A hybrid index. Clones are cheap and share state; it can be searched concurrently from several threads, and from
/// other processes during a refresh.
#[derive(Clone)]
pub struct Index {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) folder: Option<Folder>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    pub(crate) values: ValuesFile,
    pub(crate) recalibration: RecalibrationFile,
    state: Mutex<State>,
}

/// The last opened state of the index, or its damage.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) stamp: Stamp,
    pub(crate) snapshot: Result<Arc<Snapshot>, Damage>,
}

/// A consistent state of an index, as used by searches.
pub(crate) struct Snapshot {
    pub(crate) lexical: Lexical,
    pub(crate) searcher: tantivy::Searcher,
    pub(crate) dense: Option<Dense>,
    pub(crate) vectors: Vectors,
    /// Number of records that the embedder was fitted to.
    pub(crate) learned_from: usize,
    kinds: [KindIndex; Kind::ALL.len()],
    /// Damage found while reading it.
    pub(crate) faults: Faults,
    /// The files it is read from.
    files: Witnessed,
}

impl Snapshot {
    /// Opens the last commit of the full-text index with its vectors.
    pub(crate) fn new(
        lexical: Lexical,
        searcher: tantivy::Searcher,
        dense: Option<Dense>,
        vectors: Vectors,
        learned_from: usize,
    ) -> Result<Self, SearchError> {
        let stored = lexical.read_stored(&searcher)?;
        let segments = searcher.segment_readers().len();
        let kinds = Kind::ALL.map(|kind| KindIndex::new(kind, &stored, segments));
        let (faults, files) = Default::default();
        Ok(Snapshot { lexical, searcher, dense, vectors, learned_from, kinds, faults, files })
    }

    /// Returns this snapshot with the files that it was read from.
    pub(crate) fn on_disk(self, faults: Faults, files: Witnessed) -> Self {
        Snapshot { faults, files, ..self }
    }

    /// Returns the records of a kind.
    pub(crate) fn kind_index(&self, kind: Kind) -> &KindIndex {
        &self.kinds[kind as usize]
    }

    /// Reads the record at a position of a kind, or its outline.
    pub(crate) fn read<T: DeserializeOwned>(&self, kind: Kind, place: usize) -> Result<T, SearchError> {
        self.lexical.read(&self.searcher, self.kind_index(kind).docs[place].address)
    }

    pub(crate) fn len(&self) -> usize {
        self.kinds.iter().map(|kind_index| kind_index.docs.len()).sum()
    }

    /// Returns the number of records written since the embedder was fitted, by vector rows.
    pub(crate) fn written_since(&self) -> usize {
        self.vectors.len().saturating_sub(self.learned_from)
    }
}

impl Index {
    /// Creates an in-memory index; without an embedder, search is lexical only.
    ///
    /// # Errors
    /// [`SearchError`] if the embedder or the full-text engine fails.
    pub fn in_memory(records: Vec<Record>, embedder: Option<Arc<dyn Embedder>>) -> Result<Index, SearchError> {
        rank::model::check()?;
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
        lexical.write(&[], &entries(&references, 0), &|_| ())?;
        let searcher = lexical.searcher()?;
        let snapshot = Snapshot::new(lexical, searcher, dense, vectors, records.len())?;
        Ok(Index::with(None, embedder, State { stamp: None, snapshot: Ok(Arc::new(snapshot)) }))
    }

    /// Opens the index in a folder, without writing. It is empty if none exists or if it was built by another version
    /// or embedder. If it is damaged, searches return an error. [`Index::refresh`] fills it.
    ///
    /// Small files are verified by checksum, large ones by length; the blocks of large files are verified on access.
    ///
    /// # Errors
    /// [`SearchError`] if the folder cannot be read.
    pub fn open(folder: &Path, embedder: Option<Arc<dyn Embedder>>) -> Result<Index, SearchError> {
        rank::model::check()?;
        let folder = Folder { path: folder.to_owned() };
        let (stamp, loaded) = load(&folder, embedder.as_ref())?;
        let state = State { stamp, snapshot: loaded.into_snapshot()? };
        Ok(Index::with(Some(folder), embedder, state))
    }

    /// Verifies every byte of the index in a folder, independently of its embedder, without changing it.
    ///
    /// # Errors
    /// [`SearchError`] if existing files cannot be read.
    pub fn examine(folder: &Path) -> Result<Examined, SearchError> {
        let mut examined = examine(&Folder { path: folder.to_owned() })?;
        if let Some((path, damage)) = ValuesFile::of_index(Some(folder)).examine()? {
            examined.add(&path, damage.map_or(Ok(()), |damage| Err(SearchError::Damaged(damage))))?;
        }
        Ok(examined)
    }

    fn with(folder: Option<Folder>, embedder: Option<Arc<dyn Embedder>>, state: State) -> Index {
        let path = folder.as_ref().map(|folder: &Folder| folder.path.as_path());
        let values = ValuesFile::of_index(path);
        let recalibration = RecalibrationFile::of_index(path, rank::calibrate::fingerprint());
        let state = Mutex::new(state);
        Index { inner: Arc::new(Inner { folder, embedder, values, recalibration, state }) }
    }

    /// Checks that the index is searchable: the metadata of its files is unchanged since opening, and no damage was
    /// found so far. Does not read the files; see [`Index::examine`].
    ///
    /// # Errors
    /// [`SearchError::Damaged`], or an error if the folder cannot be read.
    pub fn check(&self) -> Result<(), SearchError> {
        self.snapshot()?;
        self.inner.values.check()
    }

    /// Sets the relevance correction of a kind, for all processes that search the same folder; `None` resets it.
    ///
    /// # Errors
    /// [`SearchError::Io`] if it cannot be stored.
    pub fn recalibrate(&self, kind: Kind, correction: Option<Recalibration>) -> Result<(), SearchError> {
        self.inner.recalibration.set(kind, correction)
    }

    /// Returns the number of records; 0 if the index is damaged.
    pub fn len(&self) -> usize {
        self.snapshot().map_or(0, |snapshot| snapshot.len())
    }

    /// Returns whether it contains no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Identifies the state on disk that was last opened or written; `None` if it does not exist.
    pub fn stamp(&self) -> Option<String> {
        self.state().stamp
    }

    /// Returns the embedding model; `None` for a lexical index.
    pub fn model(&self) -> Option<&ModelId> {
        self.inner.embedder.as_ref().map(|embedder| embedder.model())
    }

    /// Handles a panic: records damage, if any, and reopens the files, as locks of the full-text engine may be
    /// poisoned.
    pub(crate) fn recover(&self, folder: &Folder, snapshot: &Snapshot, reason: &str) {
        tracing::error!(reason, "a search panicked");
        match examine(folder) {
            Ok(examined) => examined.damage.into_iter().for_each(|damage| snapshot.faults.note(damage)),
            Err(error) => tracing::warn!(%error, "the index cannot be examined"),
        }
        if snapshot.faults.first().is_none() {
            let reopened = self.reload(folder);
            reopened.inspect_err(|error| tracing::warn!(%error, "the index cannot be opened again")).ok();
        }
    }

    /// Returns the latest state on disk.
    pub(crate) fn snapshot(&self) -> Result<Arc<Snapshot>, SearchError> {
        let state = self.state();
        let Some(folder) = &self.inner.folder else { return state.snapshot.map_err(SearchError::Damaged) };
        if folder.stamp() == state.stamp {
            // Damage persists until the index is rebuilt.
            let snapshot = state.snapshot.map_err(SearchError::Damaged)?;
            snapshot.faults.check()?;
            if snapshot.files.look_the_same() {
                return Ok(snapshot);
            }
        }
        self.reload(folder)
    }

    /// Opens the current state on disk.
    pub(crate) fn reload(&self, folder: &Folder) -> Result<Arc<Snapshot>, SearchError> {
        let (stamp, loaded) = load(folder, self.inner.embedder.as_ref())?;
        let snapshot = loaded.into_snapshot()?;
        self.set(State { stamp, snapshot: snapshot.clone() });
        snapshot.map_err(SearchError::Damaged)
    }

    fn state(&self) -> State {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, state: State) {
        *self.inner.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

/// The content of a folder when it was opened.
pub(crate) enum Loaded {
    Nothing,
    /// An index of another version or embedder.
    Foreign,
    Damaged(Damage),
    Index(Box<Snapshot>),
}

impl Loaded {
    /// Returns the snapshot to search: an empty one if there is no usable index.
    pub(crate) fn into_snapshot(self) -> Result<Result<Arc<Snapshot>, Damage>, SearchError> {
        match self {
            Loaded::Nothing | Loaded::Foreign => empty().map(|snapshot| Ok(Arc::new(snapshot))),
            Loaded::Damaged(damage) => Ok(Err(damage)),
            Loaded::Index(snapshot) => Ok(Ok(Arc::from(snapshot))),
        }
    }
}

/// Opens the current generation. If a writer replaces it meanwhile, the new one is opened. A file that cannot be read
/// although it did not change is damaged.
///
/// # Errors
/// If the files exist but cannot be read.
pub(crate) fn load(folder: &Folder, embedder: Option<&Arc<dyn Embedder>>) -> Result<(Stamp, Loaded), SearchError> {
    let mut tries = 0;
    loop {
        let stamp = folder.stamp();
        let error = match folder.open(embedder) {
            Ok(loaded) => return Ok((stamp, loaded)),
            Err(error) => error,
        };
        if stamp == folder.stamp() || tries == MAX_TRIES {
            let damage = match &error {
                SearchError::Panicked { .. } => Some(Damage::new(&folder.path, error.to_string())),
                _ => damage_of(&error, &folder.path),
            };
            let damage = damage.ok_or(error)?;
            tracing::warn!(%damage, "the index is damaged");
            return Ok((stamp, Loaded::Damaged(damage)));
        }
        tracing::debug!(%error, "the index changed while it was opened");
        tries += 1;
    }
}

fn empty() -> Result<Snapshot, SearchError> {
    let lexical = Lexical::in_memory();
    let searcher = lexical.searcher()?;
    Snapshot::new(lexical, searcher, None, Vectors::none(), 0)
}

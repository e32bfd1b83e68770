//! The index: records in, hits out.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use prospector_core::Kind;
use prospector_core::record::{Hit, MissingLiteral, Record};

use crate::damage::Examined;
use crate::embed::{Embedder, ModelId};
use crate::ranking::Ranker;
use crate::{
    SearchError,
    damage::{Damage, Faults, damage_of},
    dense::Dense,
    disk::{Folder, Found as OnDisk, Stamp},
    examine::{Witnessed, examine},
    kind_index::KindIndex,
    length::{MAX_QUERY_CHARS, query_text},
    lexical::{Entry, Lexical},
    meaning::{self, Meanings},
    rank,
    recalibration::{Recalibration, RecalibrationFile},
    refresh::{hash, unique},
    static_table::StaticTable,
    values::ValuesFile,
    vectors::Vectors,
};

/// How often an index is opened again that was replaced meanwhile.
pub(crate) const MAX_TRIES: usize = 100;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// The question or the name, of at most [`Query::MAX_CHARS`] characters. A longer text is refused rather than searched
    /// for in part, so that nobody takes the hits for those of the whole; see [`Query::fitting`].
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

impl Query {
    /// The most characters of a text that is searched for.
    pub const MAX_CHARS: usize = MAX_QUERY_CHARS;

    /// As much of a question as can be searched for: its first [`Query::MAX_CHARS`] characters. For those who search on behalf
    /// of somebody who did not ask for a search, such as to choose what goes into a prompt.
    pub fn fitting(question: &str) -> &str {
        query_text(question)
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// The hits, best first: those of every kind that has an answer, or else what comes nearest.
    pub hits: Vec<Hit>,
    /// Whether nothing matches well, so that the hits are only what comes nearest.
    pub is_weak: bool,
    /// Where nothing matches well: three more ids that come nearest, for a question of one word by their letters.
    pub nearest: Vec<String>,
    /// Literals of the question that no column of the databases of the hits holds, as far as all that they hold is known.
    pub missing: Vec<MissingLiteral>,
}

/// One hybrid index. Cloning it is cheap and shares it; it may be searched from many threads, and from other processes
/// while one of them refreshes it.
#[derive(Clone)]
pub struct Index {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) folder: Option<Folder>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    /// What the shipped transformer makes of the records; `None` with another embedder than the shipped table.
    pub(crate) meanings: Option<Meanings>,
    pub(crate) values: ValuesFile,
    pub(crate) recalibration: RecalibrationFile,
    state: Mutex<State>,
}

/// What was read last: a state of the index, or what is damaged of it.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) stamp: Stamp,
    pub(crate) snapshot: Result<Arc<Snapshot>, Damage>,
}

/// One consistent state of an index, as searches see it.
pub(crate) struct Snapshot {
    pub(crate) lexical: Lexical,
    pub(crate) searcher: tantivy::Searcher,
    pub(crate) dense: Option<Dense>,
    pub(crate) vectors: Vectors,
    /// How many records the embedder learned from.
    pub(crate) learned_from: usize,
    kinds: [KindIndex; Kind::ALL.len()],
    /// What damage was met while it was read.
    pub(crate) faults: Faults,
    /// The files that it reads.
    files: Witnessed,
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
        let kinds = Kind::ALL.map(|kind| KindIndex::new(kind, &stored, segments));
        let (faults, files) = Default::default();
        Ok(Snapshot { lexical, searcher, dense, vectors, learned_from, kinds, faults, files })
    }

    /// This snapshot, with the files that it was read from.
    pub(crate) fn on_disk(self, faults: Faults, files: Witnessed) -> Self {
        Snapshot { faults, files, ..self }
    }

    /// The records of a kind.
    pub(crate) fn kind_index(&self, kind: Kind) -> &KindIndex {
        &self.kinds[kind as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.kinds.iter().map(|kind_index| kind_index.docs.len()).sum()
    }

    /// How many records were written since the embedder learned, by the rows that they left.
    pub(crate) fn written_since(&self) -> usize {
        self.vectors.len().saturating_sub(self.learned_from)
    }
}

impl Index {
    /// An index that lives in memory only; without an embedder it is lexical alone.
    ///
    /// # Errors
    /// [`SearchError`] when the embedder or the full-text engine fails.
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
        let entries: Vec<Entry<'_>> = records
            .iter()
            .enumerate()
            .map(|(slot, record)| Entry { record, hash: hash(record), slot: slot as u32 })
            .collect();
        lexical.write(&[], &entries, &|_| ())?;
        let searcher = lexical.searcher()?;
        let snapshot = Snapshot::new(lexical, searcher, dense, vectors, records.len())?;
        Ok(Index::with(None, embedder, State { stamp: None, snapshot: Ok(Arc::new(snapshot)) }))
    }

    /// The index in a folder; an empty one where there is none yet, or where it was made by another version or
    /// embedder. One that is damaged has no records, and a search in it is an error. [`Index::refresh`] fills it. Nothing
    /// is written here.
    ///
    /// The small files are compared with their checksums here, and of the large ones the length; what is in those is
    /// compared block by block when a search needs it.
    ///
    /// # Errors
    /// [`SearchError`] when the folder cannot be read.
    pub fn open(folder: &Path, embedder: Option<Arc<dyn Embedder>>) -> Result<Index, SearchError> {
        rank::model::check()?;
        let folder = Folder { path: folder.to_owned() };
        let (stamp, loaded) = load(&folder, embedder.as_ref())?;
        let state = State { stamp, snapshot: loaded.into_snapshot()? };
        Ok(Index::with(Some(folder), embedder, state))
    }

    /// Reads every byte of the index in a folder, whatever its embedder is, and changes nothing.
    ///
    /// # Errors
    /// [`SearchError`] when files are there and may not be read.
    pub fn examine(folder: &Path) -> Result<Examined, SearchError> {
        let mut examined = examine(&Folder { path: folder.to_owned() })?;
        meaning::examine(folder, &mut examined)?;
        if let Some((path, damage)) = ValuesFile::of_index(Some(folder)).examine()? {
            examined.add(&path, damage.map_or(Ok(()), |damage| Err(SearchError::Damaged(damage))))?;
        }
        Ok(examined)
    }

    fn with(folder: Option<Folder>, embedder: Option<Arc<dyn Embedder>>, state: State) -> Index {
        let is_shipped = |embedder: &Arc<dyn Embedder>| StaticTable::is_shipped(embedder.model());
        let path = folder.as_ref().map(|folder: &Folder| folder.path.as_path());
        let meanings = embedder.as_ref().filter(|embedder| is_shipped(embedder)).map(|_| Meanings::beside(path));
        let values = ValuesFile::of_index(path);
        let recalibration = RecalibrationFile::of_index(path, rank::calibrate::fingerprint());
        let state = Mutex::new(state);
        Index { inner: Arc::new(Inner { folder, embedder, meanings, values, recalibration, state }) }
    }

    /// Whether it can be searched: each of its files looks as it did when it was opened, and none that was read is
    /// damaged. What no search has read yet is not read for this; [`Index::examine`] does that.
    ///
    /// # Errors
    /// [`SearchError::Damaged`], or why the folder cannot be read.
    pub fn check(&self) -> Result<(), SearchError> {
        self.snapshot()?;
        self.inner.values.check()
    }

    /// Corrects the relevance of all hits of a kind from now on, in every process that searches the same folder; `None` leaves it
    /// as it ships.
    ///
    /// # Errors
    /// [`SearchError::Io`] where that cannot be kept.
    pub fn recalibrate(&self, kind: Kind, correction: Option<Recalibration>) -> Result<(), SearchError> {
        self.inner.recalibration.set(kind, correction)
    }

    /// How many records there are; none where it is damaged.
    pub fn len(&self) -> usize {
        self.snapshot().map_or(0, |snapshot| snapshot.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What tells the state on disk that was opened or written last from every other; `None` where there is none.
    pub fn stamp(&self) -> Option<String> {
        self.state().stamp
    }

    /// What makes its vectors; `None` where words must match.
    pub fn model(&self) -> Option<&ModelId> {
        self.inner.embedder.as_ref().map(|embedder| embedder.model())
    }

    /// Whether there is no embedder, so that words must match.
    pub fn is_lexical_only(&self) -> bool {
        self.inner.embedder.is_none()
    }

    /// After a panic: notes what is damaged, if anything is, and has the next search open the files again, since a panic
    /// may have left locks of the full-text engine that nobody can take any more.
    pub(crate) fn recover(&self, folder: &Folder, snapshot: &Snapshot, reason: &str) {
        tracing::error!(reason, "a search gave up");
        match examine(folder) {
            Ok(examined) => examined.damage.into_iter().for_each(|damage| snapshot.faults.note(damage)),
            Err(error) => tracing::warn!(%error, "the index cannot be examined"),
        }
        if snapshot.faults.first().is_none() {
            let reopened = self.reload(folder);
            reopened.inspect_err(|error| tracing::warn!(%error, "the index cannot be opened again")).ok();
        }
    }

    /// The state to search: the newest one on disk.
    pub(crate) fn snapshot(&self) -> Result<Arc<Snapshot>, SearchError> {
        let state = self.state();
        let Some(folder) = &self.inner.folder else { return state.snapshot.map_err(SearchError::Damaged) };
        if folder.stamp() == state.stamp {
            // Until it is written anew, what is damaged stays so.
            let snapshot = state.snapshot.map_err(SearchError::Damaged)?;
            snapshot.faults.check()?;
            if snapshot.files.look_the_same() {
                return Ok(snapshot);
            }
        }
        self.reload(folder)
    }

    /// Opens what is on disk now.
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

/// What a folder held when it was opened.
pub(crate) enum Loaded {
    Nothing,
    /// An index of another version or embedder.
    Foreign,
    Damaged(Damage),
    Index(Box<Snapshot>),
}

impl Loaded {
    /// What to search: nothing, where there is nothing that can be used.
    pub(crate) fn into_snapshot(self) -> Result<Result<Arc<Snapshot>, Damage>, SearchError> {
        match self {
            Loaded::Nothing | Loaded::Foreign => empty().map(|snapshot| Ok(Arc::new(snapshot))),
            Loaded::Damaged(damage) => Ok(Err(damage)),
            Loaded::Index(snapshot) => Ok(Ok(Arc::from(snapshot))),
        }
    }
}

/// Opens the current generation. A writer may replace it between two of our reads: then the next try finds the new
/// one. What cannot be read although nobody changed it is damaged.
///
/// # Errors
/// When it is there and may not be read.
pub(crate) fn load(folder: &Folder, embedder: Option<&Arc<dyn Embedder>>) -> Result<(Stamp, Loaded), SearchError> {
    let mut tries = 0;
    loop {
        let stamp = folder.stamp();
        let error = match folder.open(embedder) {
            Ok(OnDisk::Nothing) => return Ok((stamp, Loaded::Nothing)),
            Ok(OnDisk::Foreign) => return Ok((stamp, Loaded::Foreign)),
            Ok(OnDisk::Index(snapshot)) => return Ok((stamp, Loaded::Index(snapshot))),
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

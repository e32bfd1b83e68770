//! The index: records in, hits out.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use prospector_core::Kind;
use prospector_core::name::nearest;
use prospector_core::record::{Hit, MissingLiteral, Record, Relevance};
use prospector_core::work::compute;

use crate::damage::Examined;
use crate::embed::{Embedder, ModelId};
use crate::ranking::Ranker;
use crate::{
    SearchError,
    damage::{Damage, Faults, caught, damage_of},
    dense::Dense,
    disk::{Folder, Found as OnDisk, Stamp},
    examine::{Witnessed, examine},
    kind_index::KindIndex,
    length::{MAX_QUERY_CHARS, check_length, query_text},
    lexical::{Entry, Lexical},
    meaning::{self, Meanings, Question},
    rank,
    refresh::{hash, unique},
    static_table::StaticTable,
    values::{Matches, Values, ValuesFile},
    vectors::Vectors,
};

/// How often an index is opened again that was replaced meanwhile.
pub(crate) const MAX_TRIES: usize = 100;

/// Of what only comes nearest, a hit of less relevance is not shown: nothing speaks for it.
const MIN_RELEVANCE: f32 = 0.05;

/// Nor is one that is less likely than the best by this factor.
const MIN_SHARE_OF_BEST: f32 = 0.1;

/// Literals are looked for in the databases of the best hit and of those that are at least so likely, over the best.
const SHARE_OF_SEARCHED: f32 = 0.5;

/// The most hits of one query.
const MAX_HITS: usize = 1_000;

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
        Index { inner: Arc::new(Inner { folder, embedder, meanings, values, state: Mutex::new(state) }) }
    }

    /// Whether it can be searched: each of its files looks as it did when it was opened, and none that was read is
    /// damaged. What no search has read yet is not read for this; [`Index::examine`] does that.
    ///
    /// # Errors
    /// [`SearchError::Damaged`], or why the folder cannot be read.
    pub fn check(&self) -> Result<(), SearchError> {
        self.snapshot()?;
        self.inner.values.values().map(drop)
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

    /// [`Index::search`] for asynchronous callers, whose threads it leaves to others; see [`prospector_core::work::compute`].
    ///
    /// # Errors
    /// As [`Index::search`].
    pub async fn find(&self, query: Query) -> Result<Found, SearchError> {
        check_length(&query.text)?;
        let index = self.clone();
        compute(move || index.search(&query)).await
    }

    /// The best records for a query: the hits of every kind that has an answer to it, or, where none has, what comes nearest.
    ///
    /// # Errors
    /// [`SearchError`] when the query is too long, or when the embedder or the full-text engine fails.
    pub fn search(&self, query: &Query) -> Result<Found, SearchError> {
        let limit = query.limit.clamp(1, MAX_HITS);
        let named = self.find_values(query)?;
        let (mut good, mut poor) = (Vec::new(), Vec::new());
        for ranking in self.rankings(query, limit.max(3), &named)? {
            let list = if ranking.answerable >= rank::calibrate::FLOOR { &mut good } else { &mut poor };
            list.extend(ranking.records);
        }
        if !good.is_empty() {
            good.sort_by(by_relevance);
            let hits: Vec<Hit> = good.into_iter().take(limit).map(|ranked| hit(ranked, &named)).collect();
            let missing = named.missing(&hits);
            return Ok(Found { hits, is_weak: false, nearest: Vec::new(), missing });
        }
        poor.sort_by(by_relevance);
        let mut ids: Vec<String> = poor.iter().map(|ranked| ranked.record.id.clone()).collect();
        // For a single word, a likeness of letters says more than one of meaning.
        if query.text.split_whitespace().count() == 1 {
            ids = nearest(&query.text, ids.iter().map(String::as_str), 3);
        }
        ids.truncate(3);
        let worst = poor.first().map_or(0.0, |best| best.relevance.get() * MIN_SHARE_OF_BEST).max(MIN_RELEVANCE);
        let shown = poor.into_iter().take_while(|ranked| ranked.relevance.get() >= worst).take(limit);
        let hits: Vec<Hit> = shown.map(|ranked| hit(ranked, &named)).collect();
        ids.retain(|id| hits.iter().all(|hit| hit.id != *id));
        let missing = named.missing(&hits);
        Ok(Found { hits, is_weak: true, nearest: ids, missing })
    }

    /// The best records for a query whether they match well or not: [`Index::search`] without the floor, for measuring.
    ///
    /// # Errors
    /// As [`Index::search`].
    pub fn rank(&self, query: &Query) -> Result<Vec<Hit>, SearchError> {
        let limit = query.limit.clamp(1, MAX_HITS);
        let named = self.find_values(query)?;
        let mut all: Vec<rank::Ranked> =
            self.rankings(query, limit, &named)?.into_iter().flat_map(|ranking| ranking.records).collect();
        all.sort_by(by_relevance);
        Ok(all.into_iter().take(limit).map(|ranked| hit(ranked, &named)).collect())
    }

    /// The candidates of a kind for a question, with what the ranker knows of each, in the order of
    /// [`crate::ranking::NAMES`]: what its weights are learned from.
    ///
    /// # Errors
    /// As [`Index::search`].
    pub fn candidates(&self, text: &str, kind: Kind) -> Result<Vec<(Hit, Vec<f32>)>, SearchError> {
        check_length(text)?;
        let snapshot = self.snapshot()?;
        let named = self.find_values(&Query { text: text.to_owned(), kinds: vec![kind], ..Query::default() })?;
        let question = Question::new(text, self.inner.meanings.as_ref());
        let asked = rank::RankQuery { question: &question, values: &named.matches };
        let candidates = caught(|| rank::candidates(&snapshot, kind, asked))?;
        snapshot.faults.check()?;
        let pair = |(record, features): (Record, rank::features::Features)| {
            (hit(rank::Ranked { record, relevance: Relevance::default() }, &named), features.values().to_vec())
        };
        Ok(candidates.into_iter().map(pair).collect())
    }

    /// The values that a question about tables names.
    fn find_values(&self, query: &Query) -> Result<QueryValues, SearchError> {
        let asks_for_tables = query.kinds.is_empty() || query.kinds.contains(&Kind::Table);
        if query.ranker != Ranker::Full || !asks_for_tables {
            return Ok(QueryValues::default());
        }
        check_length(&query.text)?;
        let Some(values) = self.inner.values.values()? else { return Ok(QueryValues::default()) };
        let snapshot = self.snapshot()?;
        let matches = caught(|| Ok(Matches::of(&values, &query.text, &|word| rank::is_term(&snapshot, word))))?;
        Ok(QueryValues { matches, values: Some(values), parent: query.parent.clone() })
    }

    /// What each kind has, in the order of the kinds.
    fn rankings(&self, query: &Query, limit: usize, named: &QueryValues) -> Result<Vec<rank::Ranking>, SearchError> {
        check_length(&query.text)?;
        let snapshot = self.snapshot()?;
        if let Some(dense) = &snapshot.dense {
            dense.forget();
        }
        let kinds: &[Kind] = if query.kinds.is_empty() { &Kind::ALL } else { &query.kinds };
        let parent = query.parent.as_deref();
        let question = Question::new(&query.text, self.inner.meanings.as_ref());
        let asked = rank::RankQuery { question: &question, values: &named.matches };
        let rank = |kind: &Kind| rank::rank(&snapshot, *kind, asked, parent, limit, query.ranker);
        let ranked = caught(|| kinds.iter().map(rank).collect());
        if let (Err(SearchError::Panicked { reason }), Some(folder)) = (&ranked, &self.inner.folder) {
            self.recover(folder, &snapshot, reason);
        }
        // What was read before the damage was met, or beside it, is no answer.
        snapshot.faults.check()?;
        ranked
    }

    /// After a panic: notes what is damaged, if anything is, and has the next search open the files again, since a panic
    /// may have left locks of the full-text engine that nobody can take any more.
    fn recover(&self, folder: &Folder, snapshot: &Snapshot, reason: &str) {
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

/// Most relevant first; a stable sort keeps the order of the ranking where the relevance is the same.
fn by_relevance(a: &rank::Ranked, b: &rank::Ranked) -> std::cmp::Ordering {
    b.relevance.get().total_cmp(&a.relevance.get())
}

fn hit(ranked: rank::Ranked, named: &QueryValues) -> Hit {
    let Record { id, kind, parent, name, description, body, .. } = ranked.record;
    let values = if kind == Kind::Table { named.matches.show(&id) } else { Vec::new() };
    Hit { id, kind, parent, name, description, body, relevance: ranked.relevance, values }
}

/// The values that a question names, and where they were looked for.
#[derive(Default)]
struct QueryValues {
    matches: Matches,
    values: Option<Arc<Values>>,
    /// The database that the question is about.
    parent: Option<String>,
}

impl QueryValues {
    /// What the databases of the tables that were found lack. Where something else answers, nothing is missing.
    fn missing(&self, hits: &[Hit]) -> Vec<MissingLiteral> {
        let best = hits.first().map_or(0.0, |hit| hit.relevance.get());
        if hits.first().is_some_and(|hit| hit.kind != Kind::Table) {
            return Vec::new();
        }
        let tables =
            hits.iter().filter(|hit| hit.kind == Kind::Table && hit.relevance.get() >= best * SHARE_OF_SEARCHED);
        let parents: Vec<&str> =
            self.parent.as_deref().into_iter().chain(tables.map(|hit| hit.parent.as_str())).collect();
        self.values.as_ref().map_or_else(Vec::new, |values| self.matches.missing(values, &parents))
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

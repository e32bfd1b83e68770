//! Updates an index, incrementally or by a rebuild, atomically.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    path::Path,
    sync::{Arc, atomic::AtomicUsize, atomic::Ordering},
};

use prospector_core::record::{ParentValues, Record};
use rayon::prelude::*;
use serde::Serialize;

use crate::embed::Embedder;
use crate::{
    Index, SearchError,
    damage::{Damage, caught},
    dense::{Dense, Fits},
    directory::CheckedDirectory,
    disk::{FORMAT, Folder, Meta, Stamp},
    examine::examine,
    index::{Loaded, Snapshot, State, load},
    lexical::{Entry, Lexical, key},
    values::encode,
    vectors::{append, sums},
};

/// The changes of a refresh.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RefreshReport {
    /// New records.
    pub added: usize,
    /// Records with changed content.
    pub updated: usize,
    /// Deleted records.
    pub removed: usize,
    /// Records that were neither rewritten nor embedded again.
    pub unchanged: usize,
    /// The reason for a rebuild, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuilt: Option<Cow<'static, str>>,
}

/// Called with the number of finished records and the total, from several threads.
type Progress<'p> = &'p (dyn Fn(usize, usize) + Sync);

impl Index {
    /// Updates the index to contain exactly these records. Unchanged ones are neither rewritten nor embedded again.
    /// Concurrent searches are possible; a concurrent refresh of another process is awaited. `progress` is called with
    /// the number of finished records and the total.
    ///
    /// All existing files are verified first. If any is damaged, the index is rebuilt, and the report contains the
    /// reason.
    ///
    /// # Errors
    /// [`SearchError`] if the index cannot be written or the embedder fails; the old state is kept.
    pub fn refresh(&self, records: Vec<Record>, progress: Progress<'_>) -> Result<RefreshReport, SearchError> {
        let Some(folder) = &self.inner.folder else { return self.hold(records) };
        let records = unique(records);
        let _lock = match folder.lock() {
            Err(error) if error.obstacle().is_some() => return self.compare_only(folder, &records, error),
            lock => lock?,
        };
        folder.sweep();
        let (stamp, previous) = self.verify(folder)?;
        let reason: Cow<'static, str> = match previous {
            Loaded::Nothing => "there was no index yet".into(),
            Loaded::Foreign => "the index was built by another version or embedder".into(),
            Loaded::Damaged(damage) => self.give_up(stamp, damage),
            Loaded::Index(old) => match self.bring_up_to_date(folder, &stamp, old, &records, progress) {
                Err(SearchError::Damaged(damage)) => self.give_up(stamp, damage),
                Err(error @ (SearchError::Lexical { .. } | SearchError::Panicked { .. })) => {
                    format!("the index could not be updated: {error}").into()
                }
                done => return done,
            },
        };
        self.build_all(folder, &records, progress, reason)
    }

    /// Like [`Index::refresh`], but always rebuilds.
    ///
    /// # Errors
    /// See [`Index::refresh`].
    pub fn rebuild(&self, records: Vec<Record>, progress: Progress<'_>) -> Result<RefreshReport, SearchError> {
        let Some(folder) = &self.inner.folder else { return self.hold(records) };
        let _lock = folder.lock()?;
        folder.sweep();
        self.build_all(folder, &unique(records), progress, "a rebuild was requested".into())
    }

    /// Searches these records in memory until the folder contains a new state; for use if the folder cannot be written.
    ///
    /// # Errors
    /// [`SearchError`] if the embedder or the full-text engine fails.
    pub fn hold(&self, records: Vec<Record>) -> Result<RefreshReport, SearchError> {
        let held = Index::in_memory(records, self.inner.embedder.clone())?.snapshot()?;
        let report = RefreshReport { added: held.len(), ..RefreshReport::default() };
        let stamp = self.inner.folder.as_ref().and_then(Folder::stamp);
        self.set(State { stamp, snapshot: Ok(held) });
        Ok(report)
    }

    /// Returns the fingerprint passed to [`Index::write_values`]; `None` if there are no values. The file is verified.
    ///
    /// # Errors
    /// [`SearchError::Damaged`], or an error if the file cannot be read.
    pub fn values_fingerprint(&self) -> Result<Option<String>, SearchError> {
        Ok(self.inner.values.values()?.map(|values| values.fingerprint().to_owned()))
    }

    /// Replaces the values of all columns. `fingerprint` identifies the state of their sources.
    ///
    /// # Errors
    /// [`SearchError::Io`] if they cannot be written; they are used in memory until this index is dropped.
    pub fn write_values(&self, fingerprint: &str, sets: &[ParentValues]) -> Result<(), SearchError> {
        let content = encode(fingerprint, sets);
        let written = self.inner.values.write(&content);
        if written.is_err() {
            self.inner.values.hold(content);
        }
        written
    }

    /// Identifies the values on disk; `None` without values.
    pub fn values_stamp(&self) -> Option<String> {
        self.inner.values.stamp()
    }

    /// Stops searches of a damaged index, even if the rebuild fails; returns the reason for the rebuild.
    fn give_up(&self, stamp: Stamp, damage: Damage) -> Cow<'static, str> {
        let reason = format!("the index was damaged: {damage}");
        self.set(State { stamp, snapshot: Err(damage) });
        reason.into()
    }

    /// Opens and fully verifies the current state.
    fn verify(&self, folder: &Folder) -> Result<(Stamp, Loaded), SearchError> {
        let damage = examine(folder)?.damage;
        let (stamp, loaded) = load(folder, self.inner.embedder.as_ref())?;
        match (loaded, damage.split_first()) {
            (Loaded::Index(_) | Loaded::Damaged(_), Some((first, others))) => {
                let mut damage = first.clone();
                if !others.is_empty() {
                    damage.what.push_str(&format!(" (and {} more files are damaged)", others.len()));
                }
                Ok((stamp, Loaded::Damaged(damage)))
            }
            (loaded, _) => Ok((stamp, loaded)),
        }
    }

    /// Handles a read-only index: succeeds if nothing has to be written; otherwise returns `obstacle`, and the existing
    /// state is searched.
    fn compare_only(
        &self,
        folder: &Folder,
        records: &[Record],
        obstacle: SearchError,
    ) -> Result<RefreshReport, SearchError> {
        let (stamp, loaded) = self.verify(folder)?;
        let difference = match &loaded {
            Loaded::Index(old) => Some(caught(|| Difference::between(old, records))?),
            Loaded::Nothing | Loaded::Foreign | Loaded::Damaged(_) => None,
        };
        let report = difference.filter(Difference::is_none).map(|difference| difference.report);
        self.set(State { stamp, snapshot: loaded.into_snapshot()? });
        report.ok_or(obstacle)
    }

    fn bring_up_to_date(
        &self,
        folder: &Folder,
        stamp: &Stamp,
        old: Box<Snapshot>,
        records: &[Record],
        progress: Progress<'_>,
    ) -> Result<RefreshReport, SearchError> {
        let difference = caught(|| Difference::between(&old, records))?;
        old.faults.check()?;
        if difference.is_none() {
            self.set(State { stamp: stamp.clone(), snapshot: Ok(Arc::from(old)) });
            return Ok(difference.report);
        }
        let (changed, stale) = (&difference.changed, &difference.stale);
        // The embedder is fitted again after many changes. A rebuild also drops unreferenced vector rows.
        if (old.written_since() + changed.len() + stale.len()) * 5 > old.learned_from {
            drop(old);
            caught(|| build(folder, self.inner.embedder.as_ref(), records, progress))?;
        } else {
            caught(|| update(folder, &old, changed, stale, progress))?;
        }
        self.reload(folder)?;
        Ok(difference.report)
    }

    fn build_all(
        &self,
        folder: &Folder,
        records: &[Record],
        progress: Progress<'_>,
        reason: Cow<'static, str>,
    ) -> Result<RefreshReport, SearchError> {
        caught(|| build(folder, self.inner.embedder.as_ref(), records, progress))?;
        self.reload(folder)?;
        Ok(RefreshReport { added: records.len(), rebuilt: Some(reason), ..RefreshReport::default() })
    }
}

/// The difference between the records of an index and the requested ones.
struct Difference<'r> {
    report: RefreshReport,
    changed: Vec<&'r Record>,
    /// The keys of records to delete.
    stale: Vec<String>,
}

impl<'r> Difference<'r> {
    fn between(old: &Snapshot, records: &'r [Record]) -> Result<Self, SearchError> {
        let known: HashMap<String, u64> = old.lexical.hashes(&old.searcher)?.into_iter().collect();
        let hashes: Vec<u64> = records.par_iter().map(hash).collect();
        let mut gone: HashSet<&str> = known.keys().map(String::as_str).collect();
        let mut found = Difference { report: RefreshReport::default(), changed: Vec::new(), stale: Vec::new() };
        for (record, hash) in records.iter().zip(&hashes) {
            let key = key(record);
            gone.remove(key.as_str());
            match known.get(&key) {
                Some(before) if before == hash => found.report.unchanged += 1,
                Some(_) => {
                    found.report.updated += 1;
                    found.changed.push(record);
                    found.stale.push(key);
                }
                None => {
                    found.report.added += 1;
                    found.changed.push(record);
                }
            }
        }
        found.report.removed = gone.len();
        found.stale.extend(gone.into_iter().map(str::to_owned));
        Ok(found)
    }

    fn is_none(&self) -> bool {
        self.changed.is_empty() && self.stale.is_empty()
    }
}

/// Writes a new generation with all records and makes it current. An incomplete one is removed.
fn build(
    folder: &Folder,
    embedder: Option<&Arc<dyn Embedder>>,
    records: &[Record],
    progress: Progress<'_>,
) -> Result<(), SearchError> {
    let generation = folder.next()?;
    fill(folder, &generation, embedder, records, progress).inspect_err(|_| folder.discard(&generation))
}

fn fill(
    folder: &Folder,
    generation: &Path,
    embedder: Option<&Arc<dyn Embedder>>,
    records: &[Record],
    progress: Progress<'_>,
) -> Result<(), SearchError> {
    let references: Vec<&Record> = records.iter().collect();
    // Each record is embedded, if there is an embedder, and written.
    let advance = counter(records.len(), 1 + usize::from(embedder.is_some()), progress);
    let directory = CheckedDirectory::create(&generation.join("lexical"))?;
    let (fits, dimensions) = match embedder {
        Some(embedder) => {
            let (dense, pairs) = Dense::learn(embedder, &references, &advance)?;
            let dimensions = dense.dimensions();
            append(generation, dimensions, &pairs).map_err(folder.fail("write"))?;
            directory.set_vectors(sums(generation, &[]).map_err(folder.fail("read"))?);
            (dense.fits, dimensions)
        }
        None => (Fits::default(), 0),
    };
    let lexical = Lexical::create(directory)?;
    lexical.write(&[], &entries(&references, 0), &advance)?;
    let embedder = embedder.map(|embedder| embedder.model().clone());
    folder.publish(generation, &Meta { format: FORMAT, embedder, dimensions, learned_from: records.len() }, &fits)
}

/// Writes the changes to the current generation.
fn update(
    folder: &Folder,
    old: &Snapshot,
    changed: &[&Record],
    stale: &[String],
    progress: Progress<'_>,
) -> Result<(), SearchError> {
    let (Some(generation), Some(directory)) = (folder.current()?, old.lexical.directory()) else { return Ok(()) };
    let advance = counter(changed.len(), 1 + usize::from(old.dense.is_some()), progress);
    let first = match &old.dense {
        Some(dense) => {
            let pairs = dense.embed(changed, &advance)?;
            let first = append(&generation, dense.dimensions(), &pairs).map_err(folder.fail("write"))?;
            let known = directory.manifest().vectors;
            directory.set_vectors(sums(&generation, &known).map_err(folder.fail("read"))?);
            first
        }
        None => 0,
    };
    old.lexical.write(stale, &entries(changed, first), &advance)
}

/// Returns the entries of records whose vectors are in consecutive slots.
pub(crate) fn entries<'r>(records: &[&'r Record], first: u32) -> Vec<Entry<'r>> {
    let slots = first..first + records.len() as u32;
    records.par_iter().zip(slots).map(|(&record, slot)| Entry { record, hash: hash(record), slot }).collect()
}

/// Aggregates the progress of the steps of each record, from several threads.
fn counter(total: usize, steps: usize, progress: Progress<'_>) -> impl Fn(usize) + Sync {
    let done = AtomicUsize::new(0);
    move |more| progress((done.fetch_add(more, Ordering::Relaxed) + more) / steps, total)
}

/// Keeps the first record of each key.
pub(crate) fn unique(mut records: Vec<Record>) -> Vec<Record> {
    let mut keys = HashSet::with_capacity(records.len());
    records.retain(|record| keys.insert(key(record)));
    records
}

/// Returns a 64-bit hash of the content of a record.
fn hash(record: &Record) -> u64 {
    let json = serde_json::to_vec(record).unwrap_or_default();
    let digest = blake3::hash(&json);
    digest.as_bytes().first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

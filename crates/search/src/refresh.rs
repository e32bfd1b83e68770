//! How an index is brought up to date: only what changed, or all of it anew, and never halfway.

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
    pub rebuilt: Option<Cow<'static, str>>,
}

/// Told how many records are done, of how many; from several threads.
type Progress<'p> = &'p (dyn Fn(usize, usize) + Sync);

impl Index {
    /// Makes the index hold exactly these records. Unchanged ones are neither written nor embedded again. Others may
    /// search meanwhile; another process that refreshes is waited for. `progress` is told how many records are done, of
    /// how many.
    ///
    /// Every byte of what is there is compared with its checksum first. Where anything is damaged, all of it is built
    /// anew, and the report says what it was.
    ///
    /// # Errors
    /// [`SearchError`] when the index cannot be written or the embedder fails; the old state stays.
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
            Loaded::Foreign => "the index was of another version or embedder".into(),
            Loaded::Damaged(damage) => self.give_up(stamp, damage),
            Loaded::Index(old) => match self.bring_up_to_date(folder, &stamp, old, &records, progress) {
                Err(SearchError::Damaged(damage)) => self.give_up(stamp, damage),
                Err(error @ (SearchError::Lexical { .. } | SearchError::Panicked { .. })) => {
                    format!("the index could not be brought up to date: {error}").into()
                }
                done => return done,
            },
        };
        self.build_all(folder, &records, progress, reason)
    }

    /// Like [`Index::refresh`], but builds everything anew, whatever is there.
    ///
    /// # Errors
    /// As for [`Index::refresh`].
    pub fn rebuild(&self, records: Vec<Record>, progress: Progress<'_>) -> Result<RefreshReport, SearchError> {
        let Some(folder) = &self.inner.folder else { return self.hold(records) };
        let _lock = folder.lock()?;
        folder.sweep();
        self.build_all(folder, &unique(records), progress, "all of it was to be built anew".into())
    }

    /// Searches these records, as they are in memory, until the folder holds another state: for when it cannot be written.
    ///
    /// # Errors
    /// [`SearchError`] when the embedder or the full-text engine fails.
    pub fn hold(&self, records: Vec<Record>) -> Result<RefreshReport, SearchError> {
        let held = Index::in_memory(records, self.inner.embedder.clone())?.snapshot()?;
        let report = RefreshReport { added: held.len(), ..RefreshReport::default() };
        let stamp = self.inner.folder.as_ref().and_then(Folder::stamp);
        self.set(State { stamp, snapshot: Ok(held) });
        Ok(report)
    }

    /// What the values beside the records are of, as [`Index::write_values`] was told; `None` where there are none. Every byte
    /// of them is compared with its checksum.
    ///
    /// # Errors
    /// [`SearchError::Damaged`], or why they cannot be read.
    pub fn values_fingerprint(&self) -> Result<Option<String>, SearchError> {
        Ok(self.inner.values.values()?.map(|values| values.fingerprint().to_owned()))
    }

    /// Replaces the values of all columns. `fingerprint` tells the state of the sources that they are of.
    ///
    /// # Errors
    /// [`SearchError::Io`] when they cannot be written; they are searched all the same, until this index is dropped.
    pub fn write_values(&self, fingerprint: &str, sets: &[ParentValues]) -> Result<(), SearchError> {
        let content = encode(fingerprint, sets);
        let written = self.inner.values.write(&content);
        if written.is_err() {
            self.inner.values.hold(content);
        }
        written
    }

    /// What tells the values on disk from every other; `None` where there are none.
    pub fn values_stamp(&self) -> Option<String> {
        self.inner.values.stamp()
    }

    /// Has nobody search what is damaged, even if it cannot be built anew; says why it is to be.
    fn give_up(&self, stamp: Stamp, damage: Damage) -> Cow<'static, str> {
        let reason = format!("the index was damaged: {damage}");
        self.set(State { stamp, snapshot: Err(damage) });
        reason.into()
    }

    /// What is there, after every byte of it was read.
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

    /// Where nothing can be written: good, if there is nothing to write; otherwise `obstacle`, and what is there is
    /// searched as it is.
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
        // What the embedder learned was learned from other records: learn again when they are many. That also drops the
        // rows that no record refers to any more.
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

/// What tells the records of an index from those that it is to hold.
struct Difference<'r> {
    report: RefreshReport,
    changed: Vec<&'r Record>,
    /// The keys of what has to go.
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

/// Writes a new generation with all records and makes it the current one. One that fails halfway takes no room.
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
    // Each record is embedded, where there is an embedder, and written.
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
    let entries: Vec<Entry<'_>> = changed
        .iter()
        .enumerate()
        .map(|(at, record)| Entry { record, hash: hash(record), slot: first + at as u32 })
        .collect();
    old.lexical.write(stale, &entries, &advance)
}

/// Counts what several threads report of each of the steps that every record takes.
fn counter(total: usize, steps: usize, progress: Progress<'_>) -> impl Fn(usize) + Sync {
    let done = AtomicUsize::new(0);
    move |more| progress((done.fetch_add(more, Ordering::Relaxed) + more) / steps, total)
}

/// The first record of each key.
pub(crate) fn unique(mut records: Vec<Record>) -> Vec<Record> {
    let mut keys = HashSet::with_capacity(records.len());
    records.retain(|record| keys.insert(key(record)));
    records
}

/// What a record holds, in 64 bits.
pub(crate) fn hash(record: &Record) -> u64 {
    let json = serde_json::to_vec(record).unwrap_or_default();
    let digest = blake3::hash(&json);
    digest.as_bytes().first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

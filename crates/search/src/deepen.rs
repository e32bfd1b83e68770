//! Has the shipped transformer read the records that it has not read yet.

use std::{collections::HashSet, sync::Arc};

use prospector_core::Kind;
use prospector_core::work::compute;
use rayon::prelude::*;
use tantivy::DocAddress;

use crate::{
    Index, SearchError,
    damage::caught,
    embed::Role,
    encoder,
    index::Snapshot,
    meaning::{FILE, Meanings},
    rank::model::weighs_meaning,
    recipe,
};

/// How many records are read at once, with all processors.
const BATCH: usize = 128;

/// How many are read beside other work: a fraction of a second on one processor.
const SMALL_BATCH: usize = 8;

impl Index {
    /// Has the shipped transformer read all records that it has not read yet, with all processors, and drops what is
    /// damaged and what it made of records that are gone. `progress` is told how many are done, of how many. Returns how many it read; with another embedder
    /// than the shipped table, none.
    ///
    /// A search is right before, during and after: it heeds the transformer as soon as that has read all candidates of the question.
    ///
    /// # Errors
    /// [`SearchError`] when the index is damaged, or its folder cannot be written.
    pub fn deepen(&self, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<usize, SearchError> {
        let Some(meanings) = &self.inner.meanings else { return Ok(0) };
        let snapshot = self.snapshot()?;
        let living: HashSet<u64> = list_heeded(&snapshot).map(|(hash, _)| hash).collect();
        meanings.keep(&living).map_err(|source| self.cannot_write(source))?;
        let unread = find_unread(&snapshot, meanings);
        for (at, batch) in unread.chunks(BATCH).enumerate() {
            progress(at * BATCH, unread.len());
            let read: Result<Vec<_>, SearchError> = batch.par_iter().map(|record| read(&snapshot, record)).collect();
            self.keep(&snapshot, meanings, &read?)?;
        }
        progress(unread.len(), unread.len());
        Ok(unread.len())
    }

    /// [`Index::deepen`] for the first few of them, on a thread that [`compute`] lends: for those who call it again and again,
    /// beside other work, until it returns 0.
    ///
    /// # Errors
    /// As [`Index::deepen`].
    pub async fn deepen_a_little(&self) -> Result<usize, SearchError> {
        let index = self.clone();
        compute(move || {
            let Some(meanings) = &index.inner.meanings else { return Ok(0) };
            let snapshot = index.snapshot()?;
            let mut unread = find_unread(&snapshot, meanings);
            unread.truncate(SMALL_BATCH);
            let read: Result<Vec<_>, SearchError> = unread.iter().map(|record| read(&snapshot, record)).collect();
            index.keep(&snapshot, meanings, &read?)?;
            Ok(unread.len())
        })
        .await
    }

    fn keep(&self, snapshot: &Snapshot, meanings: &Meanings, read: &[(u64, Vec<f32>)]) -> Result<(), SearchError> {
        // What was read of a damaged file may be anything.
        snapshot.faults.check()?;
        if read.is_empty() { Ok(()) } else { meanings.append(read).map_err(|source| self.cannot_write(source)) }
    }

    fn cannot_write(&self, source: std::io::Error) -> SearchError {
        let folder = self.inner.folder.as_ref().map(|folder| folder.path.join(FILE));
        SearchError::Io { act: "write", path: folder.unwrap_or_default(), source }
    }
}

/// The records of the kinds whose order heeds the transformer: their hashes, and where they are.
fn list_heeded(snapshot: &Snapshot) -> impl Iterator<Item = (u64, DocAddress)> {
    let kinds = Kind::ALL.into_iter().filter(|kind| weighs_meaning(*kind));
    kinds.flat_map(|kind| snapshot.kind_index(kind).docs.iter().map(|doc| (doc.hash, doc.address)))
}

fn find_unread(snapshot: &Arc<Snapshot>, meanings: &Meanings) -> Vec<(u64, DocAddress)> {
    meanings.missing(list_heeded(snapshot))
}

/// The vector of a record.
fn read(snapshot: &Snapshot, (hash, address): &(u64, DocAddress)) -> Result<(u64, Vec<f32>), SearchError> {
    let record = caught(|| snapshot.lexical.record(&snapshot.searcher, *address))?;
    let [text, _] = recipe::embedded(&record);
    Ok((*hash, encoder::embed(Role::Record, &text)?))
}

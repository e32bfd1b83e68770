//! Encodes records with the shipped transformer.

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

/// Number of records per batch, using all cores.
const BATCH: usize = 128;

/// Number of records per small batch: a fraction of a second on one core.
const SMALL_BATCH: usize = 8;

impl Index {
    /// Encodes all pending records with the shipped transformer, using all cores, and removes damaged and outdated
    /// vectors. Returns the number of encoded records; 0 if the embedder is not the shipped table. `progress` is called
    /// with the number of finished records and the total.
    ///
    /// Searches remain correct meanwhile: the ranking uses the transformer as soon as all candidates of a question are
    /// encoded.
    ///
    /// # Errors
    /// [`SearchError`] if the index is damaged, or its folder is not writable.
    pub fn deepen(&self, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<usize, SearchError> {
        let Some(meanings) = &self.inner.meanings else { return Ok(0) };
        let snapshot = self.snapshot()?;
        let living: HashSet<u64> = list_heeded(&snapshot).map(|(hash, _)| hash).collect();
        meanings.keep(&living).map_err(|source| self.cannot_write(source))?;
        let pending = find_pending(&snapshot, meanings);
        for (at, batch) in pending.chunks(BATCH).enumerate() {
            progress(at * BATCH, pending.len());
            let read: Result<Vec<_>, SearchError> = batch.par_iter().map(|record| read(&snapshot, record)).collect();
            self.keep(&snapshot, meanings, &read?)?;
        }
        progress(pending.len(), pending.len());
        Ok(pending.len())
    }

    /// Like [`Index::deepen`] for a small batch, on a thread of [`compute`]. To be called repeatedly in the background
    /// until it returns 0.
    ///
    /// # Errors
    /// As [`Index::deepen`].
    pub async fn deepen_a_little(&self) -> Result<usize, SearchError> {
        let index = self.clone();
        compute(move || {
            let Some(meanings) = &index.inner.meanings else { return Ok(0) };
            let snapshot = index.snapshot()?;
            let mut pending = find_pending(&snapshot, meanings);
            pending.truncate(SMALL_BATCH);
            let read: Result<Vec<_>, SearchError> = pending.iter().map(|record| read(&snapshot, record)).collect();
            index.keep(&snapshot, meanings, &read?)?;
            Ok(pending.len())
        })
        .await
    }

    fn keep(&self, snapshot: &Snapshot, meanings: &Meanings, read: &[(u64, Vec<f32>)]) -> Result<(), SearchError> {
        // Records from a damaged file are unreliable.
        snapshot.faults.check()?;
        if read.is_empty() { Ok(()) } else { meanings.append(read).map_err(|source| self.cannot_write(source)) }
    }

    fn cannot_write(&self, source: std::io::Error) -> SearchError {
        let folder = self.inner.folder.as_ref().map(|folder| folder.path.join(FILE));
        SearchError::Io { act: "write", path: folder.unwrap_or_default(), source }
    }
}

/// Iterates over the records of the kinds whose ranking uses the transformer: hash and address.
fn list_heeded(snapshot: &Snapshot) -> impl Iterator<Item = (u64, DocAddress)> {
    let kinds = Kind::ALL.into_iter().filter(|kind| weighs_meaning(*kind));
    kinds.flat_map(|kind| snapshot.kind_index(kind).docs.iter().map(|doc| (doc.hash, doc.address)))
}

fn find_pending(snapshot: &Arc<Snapshot>, meanings: &Meanings) -> Vec<(u64, DocAddress)> {
    meanings.missing(list_heeded(snapshot))
}

/// Encodes a record.
fn read(snapshot: &Snapshot, (hash, address): &(u64, DocAddress)) -> Result<(u64, Vec<f32>), SearchError> {
    let record = caught(|| snapshot.lexical.record(&snapshot.searcher, *address))?;
    let [text, _] = recipe::texts_to_embed(&record);
    Ok((*hash, encoder::embed(Role::Record, &text)?))
}

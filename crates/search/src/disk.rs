//! An index on disk: generations, of which `CURRENT` names one, so that a process killed at any moment leaves the old
//! state or the new one.
//!
//! ```text
//! index/CURRENT          the name of a generation
//! index/write.lock       held while writing; readers never wait
//! index/g-7/meta.json    format and embedder
//! index/g-7/fit.bin      what the embedder learned
//! index/g-7/vectors-*    rows, only ever appended to
//! index/g-7/lexical/     tantivy; its commit is what makes a change visible
//! ```

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{
    Embedder, ModelId, SearchError,
    dense::{Dense, Fit, Fits},
    index::Snapshot,
    lexical::Lexical,
    vectors::Vectors,
};

/// Changes whenever what is stored changes; an index of another format is rebuilt.
pub(crate) const FORMAT: u32 = 4;

/// What a generation says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Meta {
    pub(crate) format: u32,
    pub(crate) embedder: Option<ModelId>,
    pub(crate) dimensions: usize,
    /// How many records the embedder learned from.
    pub(crate) learned_from: usize,
}

/// The folder of an index.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
}

/// What tells one state of the folder from the next; `None` where there is no index.
pub(crate) type Stamp = Option<String>;

impl Folder {
    pub(crate) fn fail(&self, act: &'static str) -> impl Fn(io::Error) -> SearchError {
        let path = self.path.clone();
        move |source| SearchError::Io { act, path: path.clone(), source }
    }

    /// The current generation's folder.
    pub(crate) fn current(&self) -> Option<PathBuf> {
        let name = fs::read_to_string(self.path.join("CURRENT")).ok()?;
        let name = name.trim();
        (!name.is_empty() && !name.contains(['/', '\\'])).then(|| self.path.join(name))
    }

    /// Which state the folder is in now: the generation and its commit. Times of files are too coarse to tell two quick
    /// commits apart.
    pub(crate) fn stamp(&self) -> Stamp {
        let generation = self.current()?;
        let commit = fs::read(generation.join("lexical/meta.json")).unwrap_or_default();
        let name = generation.file_name()?.to_string_lossy().into_owned();
        Some(format!("{name} {}", blake3::hash(&commit).to_hex()))
    }

    /// Waits for the right to write; it is given up when the file is dropped, or the process ends in any way.
    pub(crate) fn lock(&self) -> Result<File, SearchError> {
        fs::create_dir_all(&self.path).map_err(self.fail("create"))?;
        let file = File::create(self.path.join("write.lock")).map_err(self.fail("lock"))?;
        file.lock().map_err(self.fail("lock"))?;
        Ok(file)
    }

    /// Removes every generation but the current one: what killed writers left, and what readers held open. What cannot
    /// be removed now is removed next time.
    pub(crate) fn sweep(&self) {
        let Some(current) = self.current() else { return };
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("g-") && entry.path() != current {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Removes a generation that could not be finished.
    pub(crate) fn discard(&self, generation: &Path) {
        if self.current().as_deref() != Some(generation) {
            let _ = fs::remove_dir_all(generation);
        }
    }

    /// An empty folder for the next generation.
    pub(crate) fn next(&self) -> Result<PathBuf, SearchError> {
        let number = |path: &Path| -> Option<u64> { path.file_name()?.to_str()?.strip_prefix("g-")?.parse().ok() };
        let current = self.current().as_deref().and_then(number).unwrap_or(0);
        let next = self.path.join(format!("g-{}", current + 1));
        if next.exists() {
            fs::remove_dir_all(&next).map_err(self.fail("clear"))?;
        }
        fs::create_dir_all(next.join("lexical")).map_err(self.fail("create"))?;
        Ok(next)
    }

    /// Makes a finished generation the current one, and removes the others.
    pub(crate) fn publish(&self, generation: &Path, meta: &Meta, fits: &Fits) -> Result<(), SearchError> {
        let fail = self.fail("write");
        write_durably(&generation.join("fit.bin"), &encode(fits)).map_err(&fail)?;
        let json = serde_json::to_vec(meta).map_err(io::Error::other).map_err(&fail)?;
        write_durably(&generation.join("meta.json"), &json).map_err(&fail)?;
        File::open(generation).and_then(|folder| folder.sync_all()).map_err(&fail)?;
        let name = generation.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let temporary = self.path.join("CURRENT.new");
        write_durably(&temporary, name.as_bytes()).map_err(&fail)?;
        fs::rename(&temporary, self.path.join("CURRENT")).map_err(&fail)?;
        File::open(&self.path).and_then(|folder| folder.sync_all()).map_err(&fail)?;
        self.sweep();
        Ok(())
    }

    fn meta(&self, generation: &Path) -> io::Result<Meta> {
        serde_json::from_slice(&fs::read(generation.join("meta.json"))?).map_err(io::Error::other)
    }

    /// The current state; `None` where there is none, or it is of another version or embedder.
    ///
    /// # Errors
    /// When it cannot be read: it is damaged, or another process replaced it meanwhile.
    pub(crate) fn open(&self, embedder: Option<&Arc<dyn Embedder>>) -> Result<Option<Snapshot>, SearchError> {
        let Some(generation) = self.current() else { return Ok(None) };
        let meta = self.meta(&generation).map_err(self.fail("read"))?;
        if meta.format != FORMAT || meta.embedder.as_ref() != embedder.map(|embedder| embedder.model()) {
            return Ok(None);
        }
        let lexical = Lexical::open(&generation.join("lexical"))?;
        // The full-text commit first: vectors it refers to are in the file by then.
        let searcher = lexical.searcher()?;
        let (dense, vectors) = match embedder {
            Some(embedder) => {
                let bytes = fs::read(generation.join("fit.bin")).map_err(self.fail("read"))?;
                let damaged = || io::Error::new(io::ErrorKind::InvalidData, "fit.bin is damaged");
                let fits = decode(&bytes).ok_or_else(damaged).map_err(self.fail("read"))?;
                let vectors = Vectors::open(&generation, meta.dimensions).map_err(self.fail("read"))?;
                (Some(Dense::restore(embedder, fits)), vectors)
            }
            None => (None, Vectors::none()),
        };
        Snapshot::new(lexical, searcher, dense, vectors, meta.learned_from).map(Some)
    }
}

fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// For each fit: the length of its state, the state, the length of its mean, the mean; all numbers little-endian.
fn encode(fits: &Fits) -> Vec<u8> {
    let mut bytes = Vec::new();
    for fit in fits.iter().flatten() {
        bytes.extend((fit.state.len() as u64).to_le_bytes());
        bytes.extend(&fit.state);
        bytes.extend((fit.mean.len() as u64).to_le_bytes());
        bytes.extend(fit.mean.iter().flat_map(|value| value.to_le_bytes()));
    }
    bytes
}

/// What [`encode`] wrote; `None` for anything else.
fn decode(mut bytes: &[u8]) -> Option<Fits> {
    let take = |bytes: &mut &[u8], width: usize| -> Option<Vec<u8>> {
        let (length, rest) = bytes.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?.checked_mul(width)?;
        let (taken, rest) = rest.split_at_checked(length)?;
        *bytes = rest;
        Some(taken.to_vec())
    };
    let mut fits = Fits::default();
    for fit in fits.iter_mut().flatten() {
        fit.state = take(&mut bytes, 1)?;
        let mean = take(&mut bytes, 4)?;
        *fit = Fit {
            state: std::mem::take(&mut fit.state),
            mean: mean.as_chunks::<4>().0.iter().map(|value| f32::from_le_bytes(*value)).collect(),
        };
    }
    bytes.is_empty().then_some(fits)
}

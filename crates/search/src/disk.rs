//! An index on disk: generations, of which `CURRENT` names one, so that a process killed at any time leaves either the
//! old or the new state.
//!
//! ```text
//! index/CURRENT               the name of a generation
//! index/write.lock            held while writing; readers never wait
//! index/g-7-58bd34f9/meta.json   sealed: format and embedder
//! index/g-7-58bd34f9/fit.bin     sealed: what the embedder learned
//! index/g-7-58bd34f9/vectors-*   rows, only ever appended to
//! index/g-7-58bd34f9/lexical/    tantivy; its commit makes a change visible, and contains the checksums of the files
//! ```

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use prospector_state::{
    Replacement,
    checksum::{BrokenSeal, SEAL_BYTES, seal, unseal},
    create_file, create_folder,
};
use serde::{Deserialize, Serialize};

use crate::embed::{Embedder, ModelId};
use crate::{
    SearchError,
    damage::{Damage, Faults, caught},
    dense::{Dense, Fits},
    directory::{CheckedDirectory, META},
    examine::Witnessed,
    index::{Loaded, Snapshot},
    lexical::Lexical,
    vectors::Vectors,
};

/// Incremented whenever the stored data changes; an index of another format is rebuilt.
pub(crate) const FORMAT: u32 = 6;

/// The file that names the current generation.
pub(crate) const CURRENT: &str = "CURRENT";

/// Metadata of a generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Meta {
    pub(crate) format: u32,
    pub(crate) embedder: Option<ModelId>,
    pub(crate) dimensions: usize,
    /// Number of records that the embedder was fitted to.
    pub(crate) learned_from: usize,
}

/// The folder of an index.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
}

/// Identifies a state of the folder; `None` if there is no index.
pub(crate) type Stamp = Option<String>;

impl Folder {
    pub(crate) fn fail(&self, act: &'static str) -> impl Fn(io::Error) -> SearchError {
        let path = self.path.clone();
        move |source| SearchError::Io { act, path: path.clone(), source }
    }

    /// Returns the folder of the current generation; `None` if there is no index yet.
    ///
    /// # Errors
    /// - [`SearchError::Damaged`] if `CURRENT` does not name a generation.
    /// - [`SearchError::Io`] if it cannot be read.
    pub(crate) fn current(&self) -> Result<Option<PathBuf>, SearchError> {
        let path = self.path.join(CURRENT);
        let damaged = |what: &str| Err(SearchError::Damaged(Damage::new(&path, what)));
        let name = match fs::read(&path) {
            // This file is written last, right before a generation becomes current.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mut generations = self.generations();
                return match generations.any(|generation| generation.join(META).exists()) {
                    true => damaged("it is missing"),
                    false => Ok(None),
                };
            }
            name => name.map_err(|source| SearchError::Io { act: "read", path: path.clone(), source })?,
        };
        match std::str::from_utf8(&name).map(str::trim) {
            Ok(name) if is_generation(name) && self.path.join(name).is_dir() => Ok(Some(self.path.join(name))),
            _ => damaged("it does not name a generation of the index"),
        }
    }

    /// Iterates over the folders of all generations.
    fn generations(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_name().to_str().is_some_and(is_generation)).map(|entry| entry.path())
    }

    /// Returns the current state of the folder: the generation and the seal of its commit. File times are too coarse to
    /// distinguish quick commits.
    pub(crate) fn stamp(&self) -> Stamp {
        let generation = self.current().ok()??;
        let mut head = Vec::with_capacity(SEAL_BYTES);
        if let Ok(commit) = File::open(generation.join("lexical").join(META)) {
            let read = io::Read::read_to_end(&mut io::Read::take(commit, SEAL_BYTES as u64), &mut head);
            read.inspect_err(|error| tracing::debug!(%error, "the commit cannot be read")).ok();
        }
        let name = generation.file_name()?.to_string_lossy().into_owned();
        Some(format!("{name} {}", blake3::hash(&head).to_hex()))
    }

    /// Waits for the write lock, which is released when the file is dropped or the process ends.
    pub(crate) fn lock(&self) -> Result<File, SearchError> {
        create_folder(&self.path).map_err(self.fail("create"))?;
        let file = create_file(&self.path.join("write.lock")).map_err(self.fail("lock"))?;
        file.lock().map_err(self.fail("lock"))?;
        Ok(file)
    }

    /// Removes all generations except the current one, and incomplete files. Files in use are removed next time.
    pub(crate) fn sweep(&self) {
        prospector_state::remove_leftovers(&self.path);
        let Ok(Some(current)) = self.current() else { return };
        self.generations().filter(|generation| *generation != current).for_each(|generation| {
            let _ = fs::remove_dir_all(generation);
        });
        CheckedDirectory::remove_leftovers(&current.join("lexical"));
    }

    /// Removes an incomplete generation.
    pub(crate) fn discard(&self, generation: &Path) {
        if !matches!(self.current(), Ok(Some(current)) if current == generation) {
            let _ = fs::remove_dir_all(generation);
        }
    }

    /// Creates a folder for the next generation. Its name ends in a checksum, so that a flipped bit does not yield
    /// another valid name.
    pub(crate) fn next(&self) -> Result<PathBuf, SearchError> {
        let number = |path: PathBuf| -> Option<u64> {
            let name = path.file_name()?.to_str()?.strip_prefix("g-")?.to_owned();
            name.split('-').next()?.parse().ok()
        };
        let last = self.generations().filter_map(number).max().unwrap_or(0);
        let name = format!("g-{}", last.saturating_add(1));
        let next = self.path.join(format!("{name}-{}", &blake3::hash(name.as_bytes()).to_hex()[..8]));
        create_folder(&next.join("lexical")).map_err(self.fail("create"))?;
        Ok(next)
    }

    /// Makes a completed generation current, and removes the others.
    pub(crate) fn publish(&self, generation: &Path, meta: &Meta, fits: &Fits) -> Result<(), SearchError> {
        let fail = self.fail("write");
        write_durably(&generation.join("fit.bin"), &encode(fits)).map_err(&fail)?;
        let json = serde_json::to_vec(meta).map_err(io::Error::other).map_err(&fail)?;
        write_durably(&generation.join(META), &json).map_err(&fail)?;
        Replacement::sync_folder(generation).map_err(&fail)?;
        let name = generation.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let rename = || -> io::Result<()> {
            let mut current = Replacement::begin(&self.path.join(CURRENT))?;
            current.file().write_all(name.as_bytes())?;
            current.finish_durably()
        };
        rename().map_err(&fail)?;
        self.sweep();
        Ok(())
    }

    /// Returns the metadata of a generation; `None` if it was written by another version.
    ///
    /// # Errors
    /// - [`SearchError::Damaged`] if it does not match its checksum.
    /// - [`SearchError::Io`] if it cannot be read.
    pub(crate) fn meta(&self, generation: &Path) -> Result<Option<Meta>, SearchError> {
        let path = generation.join(META);
        let bytes = read(&path)?;
        let damaged = |what: String| Err(SearchError::Damaged(Damage::new(&path, what)));
        match unseal(&bytes) {
            Ok(content) => match serde_json::from_slice::<serde_json::Value>(content) {
                Ok(value) if value["format"] == FORMAT => match serde_json::from_value(value) {
                    Ok(meta) => Ok(Some(meta)),
                    Err(error) => damaged(error.to_string()),
                },
                Ok(_) => Ok(None),
                Err(error) => damaged(error.to_string()),
            },
            // The first formats had no seal.
            Err(BrokenSeal::Missing) if serde_json::from_slice::<Meta>(&bytes).is_ok_and(|m| m.format < FORMAT) => {
                Ok(None)
            }
            Err(broken) => damaged(broken.to_string()),
        }
    }

    /// Opens the current state.
    ///
    /// # Errors
    /// If it is damaged, or another process replaced it meanwhile.
    pub(crate) fn open(&self, embedder: Option<&Arc<dyn Embedder>>) -> Result<Loaded, SearchError> {
        let Some(generation) = self.current()? else { return Ok(Loaded::Nothing) };
        let Some(meta) = self.meta(&generation)? else { return Ok(Loaded::Foreign) };
        if meta.embedder.as_ref() != embedder.map(|embedder| embedder.model()) {
            return Ok(Loaded::Foreign);
        }
        let faults = Faults::default();
        let opened = caught(|| self.open_generation(&generation, &meta, embedder, &faults));
        // Recorded damage is the cause of any error.
        faults.check()?;
        opened.map(|snapshot| Loaded::Index(Box::new(snapshot)))
    }

    fn open_generation(
        &self,
        generation: &Path,
        meta: &Meta,
        embedder: Option<&Arc<dyn Embedder>>,
        faults: &Faults,
    ) -> Result<Snapshot, SearchError> {
        // The full-text commit first: vectors that it refers to are written before it.
        let directory = CheckedDirectory::open(&generation.join("lexical"), faults.clone())?;
        let manifest = directory.manifest();
        let files = Witnessed::of(generation, &manifest)?;
        let lexical = Lexical::open(directory)?;
        let searcher = lexical.searcher()?;
        let (dense, vectors) = match embedder {
            Some(embedder) => {
                let fits = read_fits(generation)?;
                let vectors = Vectors::open(generation, meta.dimensions, manifest.vectors, faults.clone())?;
                (Some(Dense::restore(embedder, fits)), vectors)
            }
            None => (None, Vectors::none()),
        };
        Ok(Snapshot::new(lexical, searcher, dense, vectors, meta.learned_from)?.on_disk(faults.clone(), files))
    }
}

/// Returns whether a name is one that [`Folder::next`] gives: `g-NUMBER-CHECKSUM`, with 8 hexadecimal digits.
fn is_generation(name: &str) -> bool {
    let parts = name.strip_prefix("g-").and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(number, checksum)| {
        number.parse::<u64>().is_ok() && checksum.len() == 8 && checksum.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Reads the fitted state of the embedder.
///
/// # Errors
/// - [`SearchError::Damaged`] if the file is missing or malformed.
/// - [`SearchError::Io`] if it cannot be read.
pub(crate) fn read_fits(generation: &Path) -> Result<Fits, SearchError> {
    let path = generation.join("fit.bin");
    let bytes = read(&path)?;
    let damaged = |what: String| SearchError::Damaged(Damage::new(&path, what));
    let content = unseal(&bytes).map_err(|broken| damaged(broken.to_string()))?;
    decode(content).ok_or_else(|| damaged("it does not contain the state of the embedder".into()))
}

fn read(path: &Path) -> Result<Vec<u8>, SearchError> {
    fs::read(path).map_err(|source| SearchError::unreadable(path, source))
}

/// Writes a file with its checksum, durably.
fn write_durably(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = create_file(path)?;
    file.write_all(&seal(content))?;
    file.sync_all()
}

/// Encodes, for each fit: length of the state, state, length of the mean, mean; numbers are little-endian.
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

/// Decodes the output of [`encode`]; `None` if it is malformed.
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
        fit.mean = take(&mut bytes, 4)?.as_chunks::<4>().0.iter().map(|value| f32::from_le_bytes(*value)).collect();
    }
    bytes.is_empty().then_some(fits)
}

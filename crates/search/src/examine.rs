//! Verifies the files of an index: quickly by their metadata, or fully by their checksums.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    time::SystemTime,
};

use prospector_state::checksum::unseal;
use rayon::prelude::*;

use crate::{
    SearchError,
    damage::{Damage, Examined, damage_of},
    directory::{MANAGED, META, Manifest, describe_length},
    disk::{CURRENT, Folder, read_fits},
    index::MAX_TRIES,
    sums::{BLOCK, Sums, describe_block},
    vectors,
};

/// Number of blocks read at once.
const BLOCKS_AT_ONCE: usize = 32;

impl Examined {
    /// Counts a file and records its damage.
    pub(crate) fn add(&mut self, path: &Path, found: Result<(), SearchError>) -> Result<(), SearchError> {
        self.files += 1;
        self.bytes += fs::metadata(path).map_or(0, |meta| meta.len());
        match found {
            Ok(()) => Ok(()),
            Err(error) => {
                self.damage.push(damage_of(&error, path).ok_or(error)?);
                Ok(())
            }
        }
    }
}

/// Verifies all files of the current state of an index. Files replaced by a writer meanwhile are verified again.
///
/// # Errors
/// [`SearchError::Io`] if existing files cannot be read.
pub(crate) fn examine(folder: &Folder) -> Result<Examined, SearchError> {
    let mut tries = 0;
    loop {
        let stamp = folder.stamp();
        let examined = examine_once(folder);
        let is_whole = examined.as_ref().is_ok_and(|examined| examined.damage.is_empty());
        if is_whole || tries == MAX_TRIES || stamp == folder.stamp() {
            return examined;
        }
        tries += 1;
    }
}

fn examine_once(folder: &Folder) -> Result<Examined, SearchError> {
    let mut examined = Examined::default();
    let generation = match folder.current() {
        Ok(None) => return Ok(examined),
        Ok(Some(generation)) => generation,
        Err(error) => {
            examined.add(&folder.path.join(CURRENT), Err(error))?;
            return Ok(examined);
        }
    };
    examined.add(&folder.path.join(CURRENT), Ok(()))?;
    let meta = match folder.meta(&generation) {
        // Indexes of other versions are not verified.
        Ok(None) => return Ok(examined),
        Ok(Some(meta)) => {
            examined.add(&generation.join(META), Ok(()))?;
            Some(meta)
        }
        Err(error) => {
            examined.add(&generation.join(META), Err(error))?;
            None
        }
    };
    if meta.is_none_or(|meta| meta.embedder.is_some()) {
        examined.add(&generation.join("fit.bin"), read_fits(&generation).map(drop))?;
    }
    let lexical = generation.join("lexical");
    let sealed = |name: &str| read_sealed(&lexical.join(name));
    examined.add(&lexical.join(MANAGED), sealed(MANAGED).map(drop))?;
    let manifest = sealed(META).and_then(|bytes| {
        let parsed = Manifest::parse(&bytes).map(|(manifest, _)| manifest);
        parsed.map_err(|what| SearchError::Damaged(Damage::new(lexical.join(META), what)))
    });
    match manifest {
        Ok(manifest) => {
            examined.add(&lexical.join(META), Ok(()))?;
            let files = files_of(&generation, &manifest);
            let compared: Vec<_> = files.par_iter().map(|file| (&file.path, compare(file))).collect();
            compared.into_iter().try_for_each(|(path, found)| examined.add(path, found))?;
        }
        Err(error) => examined.add(&lexical.join(META), Err(error))?,
    }
    Ok(examined)
}

fn read_sealed(path: &Path) -> Result<Vec<u8>, SearchError> {
    let bytes = fs::read(path).map_err(|source| SearchError::unreadable(path, source))?;
    unseal(&bytes).map_err(|broken| SearchError::Damaged(Damage::new(path, broken.to_string())))?;
    Ok(bytes)
}

/// A file with its checksums.
struct FileSums<'m> {
    path: PathBuf,
    sums: &'m Sums,
    /// Whether more data may have been appended to it.
    grows: bool,
}

/// Returns the files of a generation that have checksums.
fn files_of<'m>(generation: &Path, manifest: &'m Manifest) -> Vec<FileSums<'m>> {
    let lexical = generation.join("lexical");
    let mut files: Vec<FileSums<'_>> =
        manifest.files.iter().map(|(name, sums)| FileSums { path: lexical.join(name), sums, grows: false }).collect();
    for (vector, sums) in manifest.vectors.iter().enumerate() {
        files.push(FileSums { path: vectors::file(generation, vector), sums, grows: true });
    }
    files
}

impl FileSums<'_> {
    /// Returns its length and modification time.
    ///
    /// # Errors
    /// If it is missing or too short.
    fn glance(&self) -> Result<(u64, Option<SystemTime>), SearchError> {
        let meta = fs::metadata(&self.path).map_err(|source| SearchError::unreadable(&self.path, source))?;
        let (found, expected) = (meta.len(), self.sums.bytes);
        if found < expected || (found > expected && !self.grows) {
            return Err(SearchError::Damaged(Damage::new(&self.path, describe_length(found, expected))));
        }
        Ok((found, meta.modified().ok()))
    }
}

/// Verifies all checksums of a file, several parts in parallel.
fn compare(file: &FileSums<'_>) -> Result<(), SearchError> {
    file.glance()?;
    (0..file.sums.blocks()).into_par_iter().step_by(BLOCKS_AT_ONCE).try_for_each(|first| {
        let last = (first + BLOCKS_AT_ONCE).min(file.sums.blocks()) - 1;
        let range = file.sums.range(first).start..file.sums.range(last).end;
        let mut bytes = vec![0; range.len()];
        read_at(&file.path, range.start as u64, &mut bytes)
            .map_err(|source| SearchError::unreadable(&file.path, source))?;
        for (block, bytes) in (first..).zip(bytes.chunks(BLOCK)) {
            if !file.sums.matches(block, bytes) {
                let what = describe_block(&file.sums.range(block));
                return Err(SearchError::Damaged(Damage::new(&file.path, what)));
            }
        }
        Ok(())
    })
}

fn read_at(path: &Path, start: u64, bytes: &mut [u8]) -> io::Result<()> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(bytes)
}

/// The metadata of the files of a state when it was opened. Files are immutable, so any difference is an external
/// change.
#[derive(Debug, Default)]
pub(crate) struct Witnessed(Vec<(PathBuf, u64, Option<SystemTime>)>);

impl Witnessed {
    /// Records the metadata of each file of a state.
    ///
    /// # Errors
    /// - [`SearchError::Damaged`] if one is missing or has another length.
    /// - [`SearchError::Io`] if one cannot be read.
    pub(crate) fn of(generation: &Path, manifest: &Manifest) -> Result<Self, SearchError> {
        let mut seen = Vec::new();
        for file in files_of(generation, manifest) {
            let (length, modified) = file.glance()?;
            seen.push((file.path, length, modified));
        }
        let mut whole = vec![generation.join(META), generation.join("lexical").join(META)];
        whole.extend((!manifest.vectors.is_empty()).then(|| generation.join("fit.bin")));
        for path in whole {
            let meta = fs::metadata(&path).map_err(|source| SearchError::unreadable(&path, source))?;
            seen.push((path, meta.len(), meta.modified().ok()));
        }
        Ok(Witnessed(seen))
    }

    /// Returns whether the metadata is unchanged. Files that have grown count as changed.
    pub(crate) fn look_the_same(&self) -> bool {
        self.0.iter().all(|(path, length, modified)| {
            fs::metadata(path).is_ok_and(|meta| meta.len() == *length && meta.modified().ok() == *modified)
        })
    }
}

//! Whether the files of an index are what was written: a glance at each, or every byte.

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

/// How many blocks are read in one go.
const BLOCKS_AT_ONCE: usize = 32;

impl Examined {
    /// Counts a file, and notes what is wrong with it.
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

/// Reads everything that the current state of an index needs. What a writer replaces meanwhile is looked at again.
///
/// # Errors
/// [`SearchError::Io`] where files are there and may not be read.
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
        // What another version wrote is not known here.
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
    let bytes = fs::read(path).map_err(|source| unreadable(path, source))?;
    unseal(&bytes).map_err(|broken| SearchError::Damaged(Damage::new(path, broken.to_string())))?;
    Ok(bytes)
}

fn unreadable(path: &Path, source: io::Error) -> SearchError {
    match source.kind() {
        io::ErrorKind::NotFound => SearchError::Damaged(Damage::new(path, "it is missing")),
        _ => SearchError::Io { act: "read", path: path.to_owned(), source },
    }
}

/// A file with what is known of it.
struct Known<'m> {
    path: PathBuf,
    sums: &'m Sums,
    /// Whether more may have been appended to it.
    grows: bool,
}

/// The files of a generation that have checksums.
fn files_of<'m>(generation: &Path, manifest: &'m Manifest) -> Vec<Known<'m>> {
    let lexical = generation.join("lexical");
    let mut files: Vec<Known<'_>> =
        manifest.files.iter().map(|(name, sums)| Known { path: lexical.join(name), sums, grows: false }).collect();
    for (vector, sums) in manifest.vectors.iter().enumerate() {
        files.push(Known { path: vectors::file(generation, vector), sums, grows: true });
    }
    files
}

impl Known<'_> {
    /// Its length and the time of its last change; an error where it cannot be whole.
    fn glance(&self) -> Result<(u64, Option<SystemTime>), SearchError> {
        let meta = fs::metadata(&self.path).map_err(|source| unreadable(&self.path, source))?;
        let (found, expected) = (meta.len(), self.sums.bytes);
        if found < expected || (found > expected && !self.grows) {
            return Err(SearchError::Damaged(Damage::new(&self.path, describe_length(found, expected))));
        }
        Ok((found, meta.modified().ok()))
    }
}

/// Compares a whole file with its checksums, several parts of it at once.
fn compare(file: &Known<'_>) -> Result<(), SearchError> {
    file.glance()?;
    (0..file.sums.blocks()).into_par_iter().step_by(BLOCKS_AT_ONCE).try_for_each(|first| {
        let last = (first + BLOCKS_AT_ONCE).min(file.sums.blocks()) - 1;
        let range = file.sums.range(first).start..file.sums.range(last).end;
        let mut bytes = vec![0; range.len()];
        read_at(&file.path, range.start as u64, &mut bytes).map_err(|source| unreadable(&file.path, source))?;
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

/// The files of an open state as they were when it was opened. They are never changed, so that one that looks different
/// was changed by something else.
#[derive(Debug, Default)]
pub(crate) struct Witnessed(Vec<(PathBuf, u64, Option<SystemTime>)>);

impl Witnessed {
    /// Looks at each file of a state.
    ///
    /// # Errors
    /// [`SearchError::Damaged`] where one is missing or has another length; [`SearchError::Io`].
    pub(crate) fn of(generation: &Path, manifest: &Manifest) -> Result<Self, SearchError> {
        let mut seen = Vec::new();
        for file in files_of(generation, manifest) {
            let (length, modified) = file.glance()?;
            seen.push((file.path, length, modified));
        }
        let mut whole = vec![generation.join(META), generation.join("lexical").join(META)];
        whole.extend((!manifest.vectors.is_empty()).then(|| generation.join("fit.bin")));
        for path in whole {
            let meta = fs::metadata(&path).map_err(|source| unreadable(&path, source))?;
            seen.push((path, meta.len(), meta.modified().ok()));
        }
        Ok(Witnessed(seen))
    }

    /// Whether they still look as they did. A file that has only grown since is looked at again too.
    pub(crate) fn look_the_same(&self) -> bool {
        self.0.iter().all(|(path, length, modified)| {
            fs::metadata(path).is_ok_and(|meta| meta.len() == *length && meta.modified().ok() == *modified)
        })
    }
}

//! Sealed files next to the index, read again when they change.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use prospector_state::{
    checksum::{seal, unseal},
    create_folder, replace,
};

use crate::{SearchError, damage::Damage};

/// Length and modification time of a file; `None` if it does not exist.
type Look = Option<(u64, Option<SystemTime>)>;

/// A file and what was last read of it.
pub(crate) struct CachedFile<T> {
    /// `None` for an in-memory index.
    path: Option<PathBuf>,
    last: Mutex<Option<(Look, T)>>,
}

impl<T: Clone> CachedFile<T> {
    /// Creates the file of this name for the index in a folder.
    pub(crate) fn new(folder: Option<&Path>, name: &str) -> Self {
        CachedFile { path: folder.map(|folder| folder.join(name)), last: Mutex::default() }
    }

    /// Returns its path; `None` for an in-memory index.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn last(&self) -> MutexGuard<'_, Option<(Look, T)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self) -> Look {
        let meta = fs::metadata(self.path()?).ok()?;
        Some((meta.len(), meta.modified().ok()))
    }

    /// Returns what was last read or set, if the file is unchanged since.
    pub(crate) fn peek(&self) -> Option<T> {
        let look = self.look();
        self.last().as_ref().filter(|(known, _)| *known == look).map(|(_, value)| value.clone())
    }

    /// Returns what `parse` makes of the current content: `None` if there is no file, otherwise its bytes or its damage.
    ///
    /// # Errors
    /// [`SearchError::Io`] if it cannot be read.
    pub(crate) fn get(&self, parse: impl FnOnce(Option<Result<&[u8], Damage>>) -> T) -> Result<T, SearchError> {
        let mut last = self.last();
        let look = self.look();
        if let Some((_, known)) = last.as_ref().filter(|(known, _)| *known == look) {
            return Ok(known.clone());
        }
        let value = self.read(parse)?;
        *last = Some((look, value.clone()));
        Ok(value)
    }

    /// Like [`CachedFile::get`], but always reads the file.
    pub(crate) fn read(&self, parse: impl FnOnce(Option<Result<&[u8], Damage>>) -> T) -> Result<T, SearchError> {
        let Some(path) = &self.path else { return Ok(parse(None)) };
        match fs::read(path) {
            Ok(bytes) => Ok(parse(Some(unseal(&bytes).map_err(|broken| Damage::new(path, broken.to_string()))))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(parse(None)),
            Err(source) => Err(SearchError::Io { act: "read", path: path.clone(), source }),
        }
    }

    /// Replaces the content atomically; does nothing for an in-memory index.
    ///
    /// # Errors
    /// [`SearchError::Io`] if it cannot be written; nothing is changed then.
    pub(crate) fn write(&self, content: &[u8]) -> Result<(), SearchError> {
        let Some(path) = &self.path else { return Ok(()) };
        let write = || {
            path.parent().map_or(Ok(()), create_folder)?;
            replace(path, &seal(content))
        };
        write().map_err(|source| SearchError::Io { act: "write", path: path.clone(), source })
    }

    /// Uses this value until the file is replaced.
    pub(crate) fn set(&self, value: T) {
        let look = self.look();
        *self.last() = Some((look, value));
    }
}

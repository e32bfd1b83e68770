//! The values file: loaded by the first search that needs it, and reloaded when replaced.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use prospector_state::{
    checksum::{SEAL_BYTES, seal, unseal},
    create_folder, replace,
};

use super::store::Values;
use crate::{SearchError, damage::Damage};

/// File name in the folder of the index.
const NAME: &str = "values.bin";

/// Length and modification time of a file; `None` if it does not exist.
type Look = Option<(u64, Option<SystemTime>)>;

/// The file and its last read content.
#[derive(Default)]
pub(crate) struct ValuesFile {
    /// `None` if the values are only in memory.
    path: Option<PathBuf>,
    last: Mutex<Option<LastRead>>,
}

/// The last read content, with the metadata of the file.
#[derive(Clone)]
struct LastRead {
    look: Look,
    values: Result<Option<Arc<Values>>, Damage>,
}

impl ValuesFile {
    /// Creates the file for the index in a folder; empty for an in-memory index.
    pub(crate) fn of_index(folder: Option<&Path>) -> Self {
        ValuesFile { path: folder.map(|folder| folder.join(NAME)), last: Mutex::default() }
    }

    /// Returns the values; `None` if the file does not exist or has another version.
    ///
    /// # Errors
    /// - [`SearchError::Damaged`] if the file does not match its checksum.
    /// - [`SearchError::Io`] if it cannot be read.
    pub(crate) fn values(&self) -> Result<Option<Arc<Values>>, SearchError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let look = self.path.as_deref().and_then(look_at);
        if let Some(known) = last.as_ref().filter(|known| known.look == look) {
            return known.values.clone().map_err(SearchError::Damaged);
        }
        let values = self.read()?.map(|values| values.map(Arc::new));
        *last = Some(LastRead { look, values: values.clone() });
        values.map_err(SearchError::Damaged)
    }

    /// Checks that the last read content was intact, if the file is unchanged since. Does not read the file.
    ///
    /// # Errors
    /// [`SearchError::Damaged`] if it was not.
    pub(crate) fn check(&self) -> Result<(), SearchError> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let look = self.path.as_deref().and_then(look_at);
        let known = last.as_ref().filter(|known| known.look == look);
        known.map_or(Ok(()), |known| {
            known.values.as_ref().map(drop).map_err(|damage| SearchError::Damaged(damage.clone()))
        })
    }

    /// Reads and verifies the file.
    ///
    /// # Errors
    /// [`SearchError::Io`] if it cannot be read.
    fn read(&self) -> Result<Result<Option<Values>, Damage>, SearchError> {
        let Some(path) = &self.path else { return Ok(Ok(None)) };
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ok(None)),
            Err(source) => return Err(SearchError::Io { act: "read", path: path.clone(), source }),
        };
        Ok(match unseal(&bytes) {
            Ok(content) => Ok(Values::decode(content.to_vec())),
            Err(broken) => Err(Damage::new(path, broken.to_string())),
        })
    }

    /// Verifies the file; returns its path and damage, or `None` if it does not exist.
    ///
    /// # Errors
    /// [`SearchError::Io`] if it cannot be read.
    pub(crate) fn examine(&self) -> Result<Option<(PathBuf, Option<Damage>)>, SearchError> {
        let there = self.path.clone().filter(|path| path.exists());
        there.map(|path| Ok((path, self.read()?.err()))).transpose()
    }

    /// Identifies the values on disk; `None` without values.
    pub(crate) fn stamp(&self) -> Option<String> {
        let mut head = Vec::with_capacity(SEAL_BYTES);
        File::open(self.path.as_deref()?).ok()?.take(SEAL_BYTES as u64).read_to_end(&mut head).ok()?;
        Some(blake3::hash(&head).to_hex().to_string())
    }

    /// Replaces the values atomically.
    ///
    /// # Errors
    /// [`SearchError::Io`] if they cannot be written; nothing is changed then.
    pub(crate) fn write(&self, content: &[u8]) -> Result<(), SearchError> {
        if let Some(path) = &self.path {
            let failed = |source| SearchError::Io { act: "write", path: path.clone(), source };
            path.parent().map_or(Ok(()), create_folder).map_err(failed)?;
            replace(path, &seal(content)).map_err(failed)?;
        }
        self.hold(content.to_vec());
        Ok(())
    }

    /// Uses these values in memory until the file is replaced.
    pub(crate) fn hold(&self, content: Vec<u8>) {
        let look = self.path.as_deref().and_then(look_at);
        let values = Ok(Values::decode(content).map(Arc::new));
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(LastRead { look, values });
    }
}

fn look_at(path: &Path) -> Look {
    let meta = fs::metadata(path).ok()?;
    Some((meta.len(), meta.modified().ok()))
}

#[cfg(test)]
mod tests {
    use super::super::store::{encode, tests::set};
    use super::*;

    fn content(fingerprint: &str) -> Vec<u8> {
        encode(fingerprint, &[set("world", true, &["country.name: Brazil"])])
    }

    fn fingerprint(file: &ValuesFile) -> Option<String> {
        file.values().unwrap().map(|values| values.fingerprint().to_owned())
    }

    #[test]
    fn sees_values_of_other_processes() {
        let folder = tempfile::tempdir().unwrap();
        let ours = ValuesFile::of_index(Some(folder.path()));
        assert_eq!((fingerprint(&ours), ours.stamp()), (None, None));
        let theirs = ValuesFile::of_index(Some(folder.path()));
        theirs.write(&content("first")).unwrap();
        assert_eq!(fingerprint(&ours).as_deref(), Some("first"));
        let stamp = ours.stamp();
        theirs.write(&content("second one")).unwrap();
        assert_eq!(fingerprint(&ours).as_deref(), Some("second one"));
        assert_ne!(ours.stamp(), stamp);
    }

    #[test]
    fn damage_is_an_error_until_rewritten() {
        let folder = tempfile::tempdir().unwrap();
        let file = ValuesFile::of_index(Some(folder.path()));
        file.write(&content("then")).unwrap();
        let path = folder.path().join(NAME);
        let good = fs::read(&path).unwrap();
        for bad in [&good[..good.len() - 1], b"", b"something else"] {
            fs::write(&path, bad).unwrap();
            let error = ValuesFile::of_index(Some(folder.path())).values().err().unwrap();
            assert!(error.to_string().contains("values.bin"), "{error}");
            assert!(file.examine().unwrap().unwrap().1.is_some());
        }
        file.write(&content("new")).unwrap();
        assert_eq!(fingerprint(&file).as_deref(), Some("new"));
        assert!(file.examine().unwrap().unwrap().1.is_none());
    }

    #[test]
    fn ignores_values_of_other_versions() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(NAME), seal(b"of another form")).unwrap();
        assert_eq!(fingerprint(&ValuesFile::of_index(Some(folder.path()))), None);
    }

    #[test]
    fn uses_values_in_memory_until_the_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = ValuesFile::of_index(Some(folder.path()));
        file.hold(content("held"));
        assert_eq!((fingerprint(&file).as_deref(), file.stamp()), (Some("held"), None));
        ValuesFile::of_index(Some(folder.path())).write(&content("written")).unwrap();
        assert_eq!(fingerprint(&file).as_deref(), Some("written"));
        let memory = ValuesFile::of_index(None);
        memory.write(&content("held")).unwrap();
        assert_eq!(fingerprint(&memory).as_deref(), Some("held"));
    }
}

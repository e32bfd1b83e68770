//! The values file: loaded by the first search that needs it, and reloaded when replaced.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use prospector_state::checksum::SEAL_BYTES;

use super::store::Values;
use crate::{SearchError, cached_file::CachedFile, damage::Damage};

/// File name in the folder of the index.
const NAME: &str = "values.bin";

/// The values of a file; `None` if it does not exist or has another version.
type Content = Result<Option<Arc<Values>>, Damage>;

/// The file and its last read content.
pub(crate) struct ValuesFile(CachedFile<Content>);

impl ValuesFile {
    /// Creates the file for the index in a folder; empty for an in-memory index.
    pub(crate) fn of_index(folder: Option<&Path>) -> Self {
        ValuesFile(CachedFile::new(folder, NAME))
    }

    /// Returns the values; `None` if the file does not exist or has another version.
    ///
    /// # Errors
    /// - [`SearchError::Damaged`] if the file does not match its checksum.
    /// - [`SearchError::Io`] if it cannot be read.
    pub(crate) fn values(&self) -> Result<Option<Arc<Values>>, SearchError> {
        self.0.get(decode)?.map_err(SearchError::Damaged)
    }

    /// Checks that the last read content was intact, if the file is unchanged since. Does not read the file.
    ///
    /// # Errors
    /// [`SearchError::Damaged`] if it was not.
    pub(crate) fn check(&self) -> Result<(), SearchError> {
        self.0.peek().map_or(Ok(()), |known| known.map(drop).map_err(SearchError::Damaged))
    }

    /// Verifies the file; returns its path and damage, or `None` if it does not exist.
    ///
    /// # Errors
    /// [`SearchError::Io`] if it cannot be read.
    pub(crate) fn examine(&self) -> Result<Option<(PathBuf, Option<Damage>)>, SearchError> {
        let there = self.0.path().filter(|path| path.exists());
        there.map(|path| Ok((path.to_owned(), self.0.read(decode)?.err()))).transpose()
    }

    /// Identifies the values on disk; `None` without values.
    pub(crate) fn stamp(&self) -> Option<String> {
        let mut head = Vec::with_capacity(SEAL_BYTES);
        File::open(self.0.path()?).ok()?.take(SEAL_BYTES as u64).read_to_end(&mut head).ok()?;
        Some(blake3::hash(&head).to_hex().to_string())
    }

    /// Replaces the values atomically.
    ///
    /// # Errors
    /// [`SearchError::Io`] if they cannot be written; nothing is changed then.
    pub(crate) fn write(&self, content: &[u8]) -> Result<(), SearchError> {
        self.0.write(content)?;
        self.hold(content.to_vec());
        Ok(())
    }

    /// Uses these values in memory until the file is replaced.
    pub(crate) fn hold(&self, content: Vec<u8>) {
        self.0.set(Ok(Values::decode(content).map(Arc::new)));
    }
}

fn decode(content: Option<Result<&[u8], Damage>>) -> Content {
    let content = content.transpose()?;
    Ok(content.and_then(|content| Values::decode(content.to_vec())).map(Arc::new))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use prospector_state::checksum::seal;

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

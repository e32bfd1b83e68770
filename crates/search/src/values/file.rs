//! The file of the values: read when a search needs it first, and again when it was replaced.

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

/// Its name in the folder of the index.
const NAME: &str = "values.bin";

/// What a file looked like: its length and when it was written. `None` where there is none.
type Look = Option<(u64, Option<SystemTime>)>;

/// The file, and what was read of it last.
#[derive(Default)]
pub(crate) struct ValuesFile {
    /// `None` where the values live in memory only.
    path: Option<PathBuf>,
    last: Mutex<Option<LastRead>>,
}

/// What is known of the file since it looked so.
#[derive(Clone)]
struct LastRead {
    look: Look,
    values: Result<Option<Arc<Values>>, Damage>,
}

impl ValuesFile {
    /// The file in the folder of an index; none yet of an index in memory.
    pub(crate) fn of_index(folder: Option<&Path>) -> Self {
        ValuesFile { path: folder.map(|folder| folder.join(NAME)), last: Mutex::default() }
    }

    /// The values; `None` where there are none, or where another version wrote them.
    ///
    /// # Errors
    /// [`SearchError::Damaged`]; [`SearchError::Io`] where the file may not be read.
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

    /// Whether what was read of the file last was whole, as long as it looks the same. Nothing is read for this.
    ///
    /// # Errors
    /// [`SearchError::Damaged`].
    pub(crate) fn check(&self) -> Result<(), SearchError> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let look = self.path.as_deref().and_then(look_at);
        let known = last.as_ref().filter(|known| known.look == look);
        known.map_or(Ok(()), |known| {
            known.values.as_ref().map(drop).map_err(|damage| SearchError::Damaged(damage.clone()))
        })
    }

    /// Reads every byte of the file.
    ///
    /// # Errors
    /// [`SearchError::Io`] where it may not be read.
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

    /// Compares every byte with the checksum: the file, where there is one, and what is wrong with it.
    ///
    /// # Errors
    /// [`SearchError::Io`] where it may not be read.
    pub(crate) fn examine(&self) -> Result<Option<(PathBuf, Option<Damage>)>, SearchError> {
        let there = self.path.clone().filter(|path| path.exists());
        there.map(|path| Ok((path, self.read()?.err()))).transpose()
    }

    /// What tells the values on disk from every other; `None` where there are none.
    pub(crate) fn stamp(&self) -> Option<String> {
        let mut head = Vec::with_capacity(SEAL_BYTES);
        File::open(self.path.as_deref()?).ok()?.take(SEAL_BYTES as u64).read_to_end(&mut head).ok()?;
        Some(blake3::hash(&head).to_hex().to_string())
    }

    /// Replaces the values, at once.
    ///
    /// # Errors
    /// [`SearchError::Io`]; the values are as they were then.
    pub(crate) fn write(&self, content: &[u8]) -> Result<(), SearchError> {
        if let Some(path) = &self.path {
            let failed = |source| SearchError::Io { act: "write", path: path.clone(), source };
            path.parent().map_or(Ok(()), create_folder).map_err(failed)?;
            replace(path, &seal(content)).map_err(failed)?;
        }
        self.hold(content.to_vec());
        Ok(())
    }

    /// Searches these values, as they are in memory, until the file is replaced.
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
    fn what_another_process_wrote_is_seen_by_the_next_search() {
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
    fn damage_is_an_error_until_it_is_written_anew() {
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
        file.write(&content("anew")).unwrap();
        assert_eq!(fingerprint(&file).as_deref(), Some("anew"));
        assert!(file.examine().unwrap().unwrap().1.is_none());
    }

    #[test]
    fn what_another_version_wrote_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(NAME), seal(b"of another form")).unwrap();
        assert_eq!(fingerprint(&ValuesFile::of_index(Some(folder.path()))), None);
    }

    #[test]
    fn values_in_memory_are_searched_until_the_file_is_replaced() {
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

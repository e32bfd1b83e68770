//! The folder of the full-text index, with checksums of all files that become visible atomically with their commit.
//!
//! Tantivy commits by replacing `meta.json`, which lists its segments. Here, the checksums of the segment files and of
//! the referenced vectors are stored in the same file before tantivy's part, so that one rename makes everything
//! visible; a process killed earlier leaves the old commit with its checksums. Merges commit the same way. Segment
//! files are immutable, so readers can keep using the commit that they opened.
//!
//! ```text
//! meta.json       sealed: a line of JSON with the checksums, then what tantivy wrote
//! .managed.json   sealed: which files tantivy may remove
//! *.idx, ...      as tantivy writes them; verified by blocks when they are read
//! ```

use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, File},
    io::{self, BufWriter, Write},
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use prospector_state::{
    Obstacle, Replacement,
    checksum::{seal, unseal},
    create_file, options,
};
use serde::{Deserialize, Serialize};
use tantivy::{
    Directory, HasLen,
    directory::{
        AntiCallToken, DirectoryLock, FileHandle, INDEX_WRITER_LOCK, Lock, MmapDirectory, OwnedBytes, TerminatingWrite,
        WatchCallback, WatchHandle, WritePtr,
        error::{DeleteError, LockError, OpenReadError, OpenWriteError},
    },
};

use crate::{
    SearchError,
    damage::{Damage, Faults},
    sums::{Summer, Sums, Verified, describe_block},
};

/// The file that represents a commit of tantivy.
pub(crate) const META: &str = "meta.json";
/// The list of files that tantivy may remove.
pub(crate) const MANAGED: &str = ".managed.json";

/// The checksums of a commit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// By name of segment file.
    pub(crate) files: BTreeMap<String, Sums>,
    /// For the committed part of each vector file; empty without an embedder.
    pub(crate) vectors: Vec<Sums>,
}

impl Manifest {
    /// Splits a sealed `meta.json` into the manifest and tantivy's part; the error describes what is wrong.
    pub(crate) fn parse(sealed: &[u8]) -> Result<(Manifest, &[u8]), String> {
        let content = unseal(sealed).map_err(|broken| broken.to_string())?;
        let end = content.iter().position(|byte| *byte == b'\n').ok_or("it has no checksums")?;
        let manifest = serde_json::from_slice(&content[..end]).map_err(|error| error.to_string())?;
        Ok((manifest, &content[end + 1..]))
    }
}

/// The parts of tantivy's `meta.json` that list its files.
#[derive(Deserialize)]
struct Commit {
    segments: Vec<Segment>,
}

#[derive(Deserialize)]
struct Segment {
    segment_id: String,
    deletes: Option<Deletes>,
}

#[derive(Deserialize)]
struct Deletes {
    opstamp: u64,
}

impl Commit {
    /// Returns whether a file belongs to one of its segments, by name.
    fn needs(&self, name: &str) -> bool {
        let Some((id, rest)) = name.split_once('.') else { return false };
        let of_file = |segment: &&Segment| segment.segment_id.bytes().filter(|byte| *byte != b'-').eq(id.bytes());
        self.segments.iter().find(of_file).is_some_and(|segment| match rest.strip_suffix(".del") {
            Some(opstamp) => segment.deletes.as_ref().is_some_and(|deletes| deletes.opstamp.to_string() == opstamp),
            None => rest != "store.temp",
        })
    }
}

/// The folder as tantivy's directory. Clones share their state.
#[derive(Clone)]
pub(crate) struct CheckedDirectory {
    folder: PathBuf,
    mapped: MmapDirectory,
    shared: Arc<Shared>,
}

struct Shared {
    /// Tantivy's part of the commit in use; `None` in a new folder.
    meta: Mutex<Option<Vec<u8>>>,
    manifest: Mutex<Manifest>,
    faults: Faults,
    /// The cause of the last failed write, which tantivy does not preserve.
    failure: Mutex<Option<io::Error>>,
}

impl Shared {
    fn manifest(&self) -> MutexGuard<'_, Manifest> {
        self.manifest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Duplicates an error, for tantivy and for the report.
    fn note(&self, error: io::Error) -> io::Error {
        let copy = error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error);
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        copy
    }
}

impl fmt::Debug for CheckedDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CheckedDirectory({})", self.folder.display())
    }
}

impl CheckedDirectory {
    /// Creates an empty folder.
    pub(crate) fn create(folder: &Path) -> Result<Self, SearchError> {
        Self::with(folder, None, Manifest::default(), Faults::default())
    }

    /// Opens the current commit of a folder. Existence and length of its files are checked; their content is verified
    /// on access.
    ///
    /// # Errors
    /// - [`SearchError::Damaged`] if a file is missing or has another length.
    /// - [`SearchError::Io`] if the folder cannot be read.
    pub(crate) fn open(folder: &Path, faults: Faults) -> Result<Self, SearchError> {
        let path = folder.join(META);
        let sealed = fs::read(&path).map_err(|source| SearchError::Io { act: "read", path: path.clone(), source })?;
        let (manifest, meta) =
            Manifest::parse(&sealed).map_err(|what| SearchError::Damaged(Damage::new(&path, what)))?;
        Self::with(folder, Some(meta.to_vec()), manifest, faults)
    }

    fn with(folder: &Path, meta: Option<Vec<u8>>, manifest: Manifest, faults: Faults) -> Result<Self, SearchError> {
        let fail = |error: tantivy::directory::error::OpenDirectoryError| SearchError::Lexical {
            act: "open",
            source: error.into(),
        };
        let shared =
            Shared { meta: Mutex::new(meta), manifest: Mutex::new(manifest), faults, failure: Mutex::default() };
        let mapped = MmapDirectory::open(folder).map_err(fail)?;
        Ok(CheckedDirectory { folder: folder.to_owned(), mapped, shared: Arc::new(shared) })
    }

    /// Returns the path.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the checksums of the commit.
    pub(crate) fn manifest(&self) -> Manifest {
        self.shared.manifest().clone()
    }

    /// Sets the checksums of the vectors for the next commit.
    pub(crate) fn set_vectors(&self, vectors: Vec<Sums>) {
        self.shared.manifest().vectors = vectors;
    }

    /// Takes the cause of the last failed write.
    pub(crate) fn take_failure(&self) -> Option<io::Error> {
        self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns the recorded damage.
    pub(crate) fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// Removes incomplete files of killed writers; no other process may write meanwhile.
    pub(crate) fn remove_leftovers(folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // `.tmp*` files are left by tantivy's own atomic writes.
            if name.ends_with(".new") || name.starts_with(".tmp") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Replaces a file durably. There is one writer at a time, so the temporary name can be fixed.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let target = self.folder.join(path);
        let mut unfinished = target.as_os_str().to_owned();
        unfinished.push(".new");
        let write = || -> io::Result<()> {
            let mut file = create_file(unfinished.as_ref())?;
            file.write_all(bytes)?;
            file.sync_data()?;
            fs::rename(&unfinished, &target)?;
            Replacement::sync_folder(&self.folder)
        };
        write().inspect_err(|_| drop(fs::remove_file(&unfinished))).map_err(|error| self.shared.note(error))
    }

    /// Prepends the checksums of the listed files to tantivy's `meta.json`.
    fn with_manifest(&self, meta: &[u8]) -> io::Result<Vec<u8>> {
        let commit: Commit = serde_json::from_slice(meta)?;
        let mut manifest = self.manifest();
        manifest.files.retain(|name, _| commit.needs(name));
        let mut content = serde_json::to_vec(&manifest)?;
        content.push(b'\n');
        content.extend(meta);
        Ok(seal(&content))
    }
}

impl Directory for CheckedDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let fail = |error: io::Error| OpenReadError::wrap_io_error(error, path.to_owned());
        let mapped = self.mapped.get_file_handle(path)?;
        let bytes = mapped.read_bytes(0..mapped.len()).map_err(fail)?;
        let damage = |what: &str| {
            self.shared.faults.note(Damage::new(self.folder.join(path), what));
            fail(io::Error::new(io::ErrorKind::InvalidData, what.to_owned()))
        };
        let sums = self.shared.manifest().files.get(&*path.to_string_lossy()).cloned();
        let sums = sums.ok_or_else(|| damage("it has no checksums"))?;
        if sums.bytes != bytes.len() as u64 {
            return Err(damage(&describe_length(bytes.len() as u64, sums.bytes)));
        }
        let (path, faults) = (self.folder.join(path), self.shared.faults.clone());
        Ok(Arc::new(CheckedFile { path, bytes, verified: Verified::new(sums), faults }))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.mapped.delete(path)?;
        self.shared.manifest().files.remove(&*path.to_string_lossy());
        Ok(())
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let name = path.to_string_lossy().into_owned();
        let target = self.folder.join(path);
        let create = || options().write(true).create_new(true).open(&target);
        let file = create().or_else(|error| match error.kind() {
            // Left by a writer of the same commit that was killed or ran out of space.
            io::ErrorKind::AlreadyExists if !self.shared.manifest().files.contains_key(&name) => {
                fs::remove_file(&target).and_then(|()| create())
            }
            _ => Err(error),
        });
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
            _ => OpenWriteError::wrap_io_error(self.shared.note(error), path.to_owned()),
        })?;
        let written = SummedFile { name, file, summer: Summer::default(), shared: self.shared.clone() };
        Ok(BufWriter::new(Box::new(written)))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let missing = || OpenReadError::FileDoesNotExist(path.to_owned());
        if path == Path::new(META) {
            return self.shared.meta.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(missing);
        }
        let fail = |error: io::Error| OpenReadError::wrap_io_error(error, path.to_owned());
        let sealed = match fs::read(self.folder.join(path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing()),
            read => read.map_err(fail)?,
        };
        unseal(&sealed).map(<[u8]>::to_vec).map_err(|broken| {
            self.shared.faults.note(Damage::new(self.folder.join(path), broken.to_string()));
            fail(io::Error::new(io::ErrorKind::InvalidData, broken))
        })
    }

    fn atomic_write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        if path != Path::new(META) {
            return self.replace(path, &seal(content));
        }
        self.replace(path, &self.with_manifest(content)?)?;
        *self.shared.meta.lock().unwrap_or_else(PoisonError::into_inner) = Some(content.to_vec());
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.mapped.sync_directory().map_err(|error| self.shared.note(error))
    }

    /// Readers lock only to keep files from being removed while they are opened. Without write permission they proceed
    /// without the lock: a missing file is detected, and the newer commit is opened.
    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let path = self.folder.join(&lock.filepath);
        let is_writer = lock.filepath == INDEX_WRITER_LOCK.filepath;
        let file: File = match options().write(true).create(true).truncate(false).open(&path) {
            Err(error) if !is_writer && Obstacle::of(&error).is_some() => {
                let Ok(file) = File::open(&path) else { return Ok(Box::new(()).into()) };
                file
            }
            Err(error) => return Err(LockError::wrap_io_error(self.shared.note(error))),
            Ok(file) => file,
        };
        if lock.is_blocking {
            file.lock().map_err(LockError::wrap_io_error)?;
        } else {
            file.try_lock().map_err(|_| LockError::LockBusy)?;
        }
        Ok(Box::new(file).into())
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.mapped.watch(callback)
    }
}

/// Describes a file with an unexpected length.
pub(crate) fn describe_length(found: u64, expected: u64) -> String {
    format!("it is {found} bytes long instead of {expected}")
}

/// A memory-mapped file whose blocks are verified on first access.
#[derive(Debug)]
struct CheckedFile {
    path: PathBuf,
    bytes: OwnedBytes,
    verified: Verified,
    faults: Faults,
}

impl HasLen for CheckedFile {
    fn len(&self) -> usize {
        self.bytes.len()
    }
}

impl FileHandle for CheckedFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.bytes.len() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "read beyond the end of the file"));
        }
        self.verified.check(&self.bytes, range.clone()).map_err(|block| {
            let damage = Damage::new(&self.path, describe_block(&block));
            let error = io::Error::new(io::ErrorKind::InvalidData, damage.to_string());
            self.faults.note(damage);
            error
        })?;
        Ok(self.bytes.slice(range))
    }
}

/// A file being written, whose checksums are computed on the way.
struct SummedFile {
    name: String,
    file: File,
    summer: Summer,
    shared: Arc<Shared>,
}

impl Write for SummedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => self.shared.note(error),
        })?;
        self.summer.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for SummedFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.file.sync_data().map_err(|error| self.shared.note(error))?;
        let sums = std::mem::take(&mut self.summer).finish();
        self.shared.manifest().files.insert(std::mem::take(&mut self.name), sums);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use prospector_core::Kind;
    use prospector_core::record::Record;

    use super::*;
    use crate::lexical::{Entry, Lexical};

    #[test]
    fn reports_the_system_error_of_a_failed_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lexical");
        fs::create_dir(&path).unwrap();
        let lexical = Lexical::create(CheckedDirectory::create(&path).unwrap()).unwrap();
        // The engine only reports that a thread failed.
        fs::remove_dir_all(&path).unwrap();
        let record = Record::new(Kind::Table, "a.b", "b");
        let error = lexical.write(&[], &[Entry { record: &record, hash: 1, slot: 0 }], &|_| ()).unwrap_err();
        let SearchError::Io { source, .. } = &error else { panic!("{error}") };
        assert_eq!(source.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn commit_includes_segment_and_deletion_files() {
        let json = r#"{"segments": [
            {"segment_id": "0a1b-2c", "deletes": {"opstamp": 7}}, {"segment_id": "ff", "deletes": null}]}"#;
        let commit: Commit = serde_json::from_str(json).unwrap();
        for (name, expected) in [
            ("0a1b2c.idx", true),
            ("0a1b2c.7.del", true),
            ("0a1b2c.6.del", false),
            ("0a1b2c.store.temp", false),
            ("ff.pos", true),
            ("ff.7.del", false),
            ("0a1b.idx", false),
            ("meta", false),
        ] {
            assert_eq!(commit.needs(name), expected, "{name}");
        }
    }
}

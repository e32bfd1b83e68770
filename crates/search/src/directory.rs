//! The folder of the full-text index: every file with its checksums, which become visible with the commit that needs
//! them.
//!
//! Tantivy commits by replacing `meta.json`, which names its segments. Here the checksums of their files, and of the
//! vectors that the records refer to, stand in front of it in the same file: one rename makes all of it visible, and a
//! process killed before leaves the old commit with the old checksums. Merges commit the same way. Segment files are
//! never changed, so that a reader that opened a commit keeps to it.
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
    Obstacle,
    checksum::{seal, unseal},
    create_file, options, sync_folder,
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

/// What tantivy commits by.
pub(crate) const META: &str = "meta.json";
/// The files that tantivy may remove.
pub(crate) const MANAGED: &str = ".managed.json";

/// The checksums that belong to a commit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// By the names of the files of its segments.
    pub(crate) files: BTreeMap<String, Sums>,
    /// Those of the files of vectors, of which only so much belongs to it; none without an embedder.
    pub(crate) vectors: Vec<Sums>,
}

impl Manifest {
    /// The manifest and tantivy's own part of a sealed `meta.json`; or what is wrong with it.
    pub(crate) fn parse(sealed: &[u8]) -> Result<(Manifest, &[u8]), String> {
        let content = unseal(sealed).map_err(|broken| broken.to_string())?;
        let end = content.iter().position(|byte| *byte == b'\n').ok_or("it has no checksums")?;
        let manifest = serde_json::from_slice(&content[..end]).map_err(|error| error.to_string())?;
        Ok((manifest, &content[end + 1..]))
    }
}

/// What of tantivy's `meta.json` tells which files it needs.
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
    /// Whether a file, by its name, belongs to one of its segments.
    fn needs(&self, name: &str) -> bool {
        let Some((id, rest)) = name.split_once('.') else { return false };
        let of_file = |segment: &&Segment| segment.segment_id.bytes().filter(|byte| *byte != b'-').eq(id.bytes());
        self.segments.iter().find(of_file).is_some_and(|segment| match rest.strip_suffix(".del") {
            Some(opstamp) => segment.deletes.as_ref().is_some_and(|deletes| deletes.opstamp.to_string() == opstamp),
            None => rest != "store.temp",
        })
    }
}

/// The folder as tantivy uses it. Clones share what they know.
#[derive(Clone)]
pub(crate) struct CheckedDirectory {
    folder: PathBuf,
    mapped: MmapDirectory,
    shared: Arc<Shared>,
}

struct Shared {
    /// Tantivy's part of the commit that is read and built on; none in a new folder.
    meta: Mutex<Option<Vec<u8>>>,
    manifest: Mutex<Manifest>,
    faults: Faults,
    /// Why the last write failed: what tantivy says of it does not tell.
    failure: Mutex<Option<io::Error>>,
}

impl Shared {
    fn manifest(&self) -> MutexGuard<'_, Manifest> {
        self.manifest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same error twice: for tantivy, and to be told.
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
    /// An empty folder.
    pub(crate) fn create(folder: &Path) -> Result<Self, SearchError> {
        Self::with(folder, None, Manifest::default(), Faults::default())
    }

    /// The commit that is in a folder now. Every file that it needs is there, and as long as it was; what is in them is
    /// compared when it is read.
    ///
    /// # Errors
    /// [`SearchError::Damaged`]; [`SearchError::Io`] where the folder cannot be read.
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

    /// Where it is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The checksums of the commit.
    pub(crate) fn manifest(&self) -> Manifest {
        self.shared.manifest().clone()
    }

    /// Says what the vectors are that the next commit refers to.
    pub(crate) fn set_vectors(&self, vectors: Vec<Sums>) {
        self.shared.manifest().vectors = vectors;
    }

    /// Why the last write failed, once.
    pub(crate) fn take_failure(&self) -> Option<io::Error> {
        self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// What damage was met.
    pub(crate) fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// Removes what killed writers left of files that are replaced at once; nobody else may write meanwhile.
    pub(crate) fn remove_leftovers(folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // `.tmp*` is what tantivy's own way of writing them left.
            if name.ends_with(".new") || name.starts_with(".tmp") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Replaces a file durably. One writer at a time, so that what is unfinished needs no name of its own.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let target = self.folder.join(path);
        let mut unfinished = target.as_os_str().to_owned();
        unfinished.push(".new");
        let write = || -> io::Result<()> {
            let mut file = create_file(unfinished.as_ref())?;
            file.write_all(bytes)?;
            file.sync_data()?;
            fs::rename(&unfinished, &target)?;
            sync_folder(&self.folder)
        };
        write().inspect_err(|_| drop(fs::remove_file(&unfinished))).map_err(|error| self.shared.note(error))
    }

    /// Tantivy's `meta.json` with the checksums of what it names.
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
            // A writer that was killed, or for which there was no room, began the same commit.
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

    /// Readers take the lock only so that files do not vanish while they are opened. Where they may not write, they go
    /// without: what has vanished is noticed, and the newer commit is opened.
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

/// What is said of a file of another length.
pub(crate) fn describe_length(found: u64, expected: u64) -> String {
    format!("it is {found} bytes long, and was {expected} when it was written")
}

/// A mapped file of which every block is compared with its checksum before it is read first.
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
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is read behind its end"));
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

/// A file that is being written, and whose checksums are known when it is whole.
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
    fn what_the_disk_said_is_told_and_not_what_the_engine_makes_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lexical");
        fs::create_dir(&path).unwrap();
        let lexical = Lexical::create(CheckedDirectory::create(&path).unwrap()).unwrap();
        // The engine's own word on it is that a thread failed.
        fs::remove_dir_all(&path).unwrap();
        let record = Record::new(Kind::Table, "a.b", "b");
        let error = lexical.write(&[], &[Entry { record: &record, hash: 1, slot: 0 }], &|_| ()).unwrap_err();
        let SearchError::Io { source, .. } = &error else { panic!("{error}") };
        assert_eq!(source.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_commit_needs_the_files_of_its_segments_with_their_last_deletions() {
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

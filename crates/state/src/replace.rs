//! Atomic replacement of files: readers see either the old or the new content, and a killed writer leaves the old one.
//!
//! An unfinished file is named `NAME.PROCESS-NUMBER.new` and locked by its writer, so that leftovers of killed
//! processes can be distinguished from files being written.

use std::{
    ffi::OsString,
    fs::{self, File, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::private::options;

/// The extension of an unfinished file.
const UNFINISHED: &str = ".new";

/// If files cannot be locked, a file modified within this time may still have a writer.
const RECENT: Duration = Duration::from_secs(60 * 60);

/// Maximum number of attempts if the file is removed by another process.
const MAX_TRIES: usize = 16;

/// A file being written that will replace another one. Removed if dropped before [`Replacement::finish`].
#[derive(Debug)]
pub struct Replacement {
    target: PathBuf,
    unfinished: PathBuf,
    file: File,
    is_finished: bool,
}

impl Replacement {
    /// Starts writing the replacement of `target`, whose folder must exist.
    ///
    /// # Errors
    /// If a system call fails.
    pub fn begin(target: &Path) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut tries = 0;
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let mut name: OsString = target.file_name().unwrap_or_default().to_owned();
            name.push(format!(".{}-{number}{UNFINISHED}", std::process::id()));
            let unfinished = target.with_file_name(name);
            tries += 1;
            let file = match options().read(true).write(true).create_new(true).open(&unfinished) {
                // Left by a process with the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < MAX_TRIES => continue,
                file => file?,
            };
            // It may have been removed as a leftover before it was locked. File systems without locks rely on its age.
            let _ = file.lock();
            if unfinished.exists() {
                return Ok(Replacement { target: target.to_owned(), unfinished, file, is_finished: false });
            }
            if tries == MAX_TRIES {
                return Err(io::Error::other("the temporary file was removed repeatedly"));
            }
        }
    }

    /// Returns the file to write to.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Replaces the target atomically.
    ///
    /// # Errors
    /// If a system call fails; the target is unchanged then.
    pub fn finish(mut self) -> io::Result<()> {
        fs::rename(&self.unfinished, &self.target)?;
        self.is_finished = true;
        Ok(())
    }

    /// Replaces the target atomically and durably, i.e. surviving a power failure.
    ///
    /// # Errors
    /// See [`Replacement::finish`].
    pub fn finish_durably(self) -> io::Result<()> {
        self.file.sync_all()?;
        let folder = self.target.parent().map(Path::to_owned);
        self.finish()?;
        folder.map_or(Ok(()), |folder| Replacement::sync_folder(&folder))
    }

    /// Flushes the directory entries of a folder to disk.
    ///
    /// # Errors
    /// If a system call fails.
    pub fn sync_folder(folder: &Path) -> io::Result<()> {
        // On other systems, folders cannot be opened like files, and entries are flushed with the files.
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = fs::remove_file(&self.unfinished);
        }
    }
}

/// Replaces a file atomically; only its owner can read it.
///
/// # Errors
/// If a system call fails; the file is unchanged then.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut replacement = Replacement::begin(path)?;
    replacement.file().write_all(bytes)?;
    replacement.finish()
}

/// Removes unfinished files of killed processes from a folder, not recursively. Files of running processes are kept.
pub fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if !is_unfinished(&entry.file_name().to_string_lossy()) || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        // Kept locked until removed, so that a concurrent writer notices.
        let Some(_abandoned) = lock_abandoned(&path) else { continue };
        match fs::remove_file(&path) {
            Ok(()) => tracing::debug!(path = %path.display(), "removed an unfinished file of a killed process"),
            Err(error) => tracing::debug!(%error, path = %path.display(), "an unfinished file could not be removed"),
        }
    }
}

/// Returns whether a name is one that [`Replacement::begin`] gives: `NAME.PROCESS-NUMBER.new`.
fn is_unfinished(name: &str) -> bool {
    let writer = name.strip_suffix(UNFINISHED).and_then(|name| name.rsplit_once('.')).map(|(_, writer)| writer);
    let numbers = writer.and_then(|writer| writer.split_once('-'));
    numbers.is_some_and(|(process, number)| process.parse::<u32>().is_ok() && number.parse::<u64>().is_ok())
}

/// Locks and returns the file if no running process is writing it.
fn lock_abandoned(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    let is_abandoned = match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => {
            let modified = file.metadata().and_then(|meta| meta.modified());
            modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > RECENT))
        }
    };
    is_abandoned.then_some(file)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn replaces_files_atomically() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("current.json");
        replace(&path, b"old").unwrap();
        let mut given_up = Replacement::begin(&path).unwrap();
        given_up.file().write_all(b"half").unwrap();
        drop(given_up);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let mut durable = Replacement::begin(&path).unwrap();
        durable.file().write_all(b"new").unwrap();
        durable.finish_durably().unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), names(folder.path()).len()), (b"new".as_slice(), 1));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn removes_leftovers_but_not_files_being_written() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["current.4711-0.new", "a.json.1-1.new", "kept.json", "kept.new", "kept.2.new"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir(folder.path().join("folder.1-1.new")).unwrap();
        let mut written = Replacement::begin(&folder.path().join("b.json")).unwrap();
        remove_leftovers(folder.path());
        written.file().write_all(b"b").unwrap();
        written.finish().unwrap();
        assert_eq!(names(folder.path()), ["b.json", "folder.1-1.new", "kept.2.new", "kept.json", "kept.new"]);
    }

    #[test]
    fn writers_and_cleanup_run_concurrently() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = folder.path().join(format!("{writer}.json"));
                scope.spawn(move || (0..100).for_each(|n| replace(&path, format!("{n}").as_bytes()).unwrap()));
            }
            scope.spawn(|| (0..200).for_each(|_| remove_leftovers(folder.path())));
        });
        assert_eq!(names(folder.path()), ["0.json", "1.json", "2.json", "3.json"]);
        assert!((0..4).all(|n| fs::read(folder.path().join(format!("{n}.json"))).unwrap() == b"99"));
    }
}

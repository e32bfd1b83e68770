//! Files that are replaced at once, so that a reader sees the old or the new one and a killed writer leaves the old.
//!
//! What is not finished yet is called `NAME.PROCESS-NUMBER.new` and is locked by its writer, so that what a killed process
//! left can be told from what a living one is writing.

use std::{
    ffi::OsString,
    fs::{self, File, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::private::options;

/// How the name of an unfinished file ends.
const UNFINISHED: &str = ".new";

/// Where files cannot be locked, one that was written to this recently may have a living writer.
const RECENT: Duration = Duration::from_secs(60 * 60);

/// How often a name is tried that somebody took away again.
const MAX_TRIES: usize = 16;

/// A file that is being written, and will replace another one. Dropped before [`Replacement::finish`], it is gone.
#[derive(Debug)]
pub struct Replacement {
    target: PathBuf,
    unfinished: PathBuf,
    file: File,
    is_finished: bool,
}

impl Replacement {
    /// Begins to write what will be `target`, whose folder must be there.
    ///
    /// # Errors
    /// Those of the system.
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
                // A process of the same number left it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < MAX_TRIES => continue,
                file => file?,
            };
            // Who removes leftovers may have seen it before it was locked. On a file system without locks there is only
            // its age to go by.
            let _ = file.lock();
            if unfinished.exists() {
                return Ok(Replacement { target: target.to_owned(), unfinished, file, is_finished: false });
            }
            if tries == MAX_TRIES {
                return Err(io::Error::other("what was being written was removed again and again"));
            }
        }
    }

    /// The file to write the new content to.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Puts the file in the place of the target, in one step.
    ///
    /// # Errors
    /// Those of the system; the target is as it was then.
    pub fn finish(mut self) -> io::Result<()> {
        fs::rename(&self.unfinished, &self.target)?;
        self.is_finished = true;
        Ok(())
    }

    /// Puts the file in the place of the target, in one step, and returns when that would outlive a loss of power.
    ///
    /// # Errors
    /// As for [`Replacement::finish`].
    pub fn finish_durably(self) -> io::Result<()> {
        self.file.sync_all()?;
        let folder = self.target.parent().map(Path::to_owned);
        self.finish()?;
        folder.map_or(Ok(()), |folder| sync_folder(&folder))
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = fs::remove_file(&self.unfinished);
        }
    }
}

/// Replaces a file, which only its owner may read, at once.
///
/// # Errors
/// Those of the system; the file is as it was then.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut replacement = Replacement::begin(path)?;
    replacement.file().write_all(bytes)?;
    replacement.finish()
}

/// Waits until the names of the files in a folder would outlive a loss of power.
///
/// # Errors
/// Those of the system.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened like a file, and names are written with the files.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Removes what killed processes left unfinished in a folder: not in those below it, and nothing that a living process
/// is writing.
pub fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_unfinished = entry.file_name().to_string_lossy().ends_with(UNFINISHED);
        if !is_unfinished || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        // It stays locked until it is gone: a writer that was about to lock it finds out.
        let Some(_abandoned) = lock_abandoned(&path) else { continue };
        match fs::remove_file(&path) {
            Ok(()) => tracing::debug!(path = %path.display(), "removed what a killed process left"),
            Err(error) => tracing::debug!(%error, path = %path.display(), "an unfinished file stays"),
        }
    }
}

/// The file, locked, if no living process writes it.
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
    fn a_file_is_replaced_and_one_that_was_given_up_leaves_the_old() {
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
    fn leftovers_are_removed_and_what_is_being_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["current.4711.new", "a.json.1-1.new", "kept.json"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir(folder.path().join("folder.new")).unwrap();
        let mut written = Replacement::begin(&folder.path().join("b.json")).unwrap();
        remove_leftovers(folder.path());
        written.file().write_all(b"b").unwrap();
        written.finish().unwrap();
        assert_eq!(names(folder.path()), ["b.json", "folder.new", "kept.json"]);
    }

    #[test]
    fn many_writers_and_one_who_cleans_up_do_not_disturb_each_other() {
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

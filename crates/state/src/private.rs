//! Files and folders that are private to their owner, independently of the umask. On other systems than Unix, the
//! default permissions apply.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    path::Path,
};

/// Mode of a folder.
#[cfg(unix)]
const FOLDER: u32 = 0o700;
/// Mode of a file.
#[cfg(unix)]
const FILE: u32 = 0o600;
/// Permissions of group and others.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// Returns options that create a file with mode 0600; the caller adds the access mode.
pub fn options() -> OpenOptions {
    #[allow(unused_mut, reason = "changed on Unix only")]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(FILE);
    }
    options
}

/// Creates or truncates a file, with mode 0600.
///
/// # Errors
/// If a system call fails.
pub fn create_file(path: &Path) -> io::Result<File> {
    options().write(true).create(true).truncate(true).open(path)
}

/// Creates a folder and its missing ancestors with mode 0700. Existing ones are unchanged.
///
/// # Errors
/// If a system call fails.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(FOLDER);
    }
    builder.create(path)
}

/// Removes permissions of group and others from those entries of a state folder that `is_ours` recognises by name,
/// recursively, and from the folder itself if it contains nothing else. Files of other users and link targets are
/// unchanged; entries that are already private are skipped.
///
/// # Errors
/// If the folder cannot be listed, or permissions cannot be changed. A missing folder is not an error.
#[cfg(unix)]
pub fn tighten(folder: &Path, is_ours: &dyn Fn(&str) -> bool) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut is_exclusive = true;
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(is_ours) {
            close(&entry.path())?;
        } else {
            is_exclusive = false;
        }
    }
    if is_exclusive { restrict(folder) } else { Ok(()) }
}

/// Does nothing, as there are no permissions to remove.
#[cfg(not(unix))]
pub fn tighten(_folder: &Path, _is_ours: &dyn Fn(&str) -> bool) -> io::Result<()> {
    Ok(())
}

/// Makes a file private, or a folder with its content.
#[cfg(unix)]
fn close(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let meta = match fs::symlink_metadata(path) {
        // Another process may have removed it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        meta => meta?,
    };
    if meta.is_dir() && meta.mode() & OTHERS != 0 {
        for entry in fs::read_dir(path)? {
            close(&entry?.path())?;
        }
    }
    restrict(path)
}

#[cfg(unix)]
fn restrict(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let meta = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        meta => meta?,
    };
    let kept = if meta.is_dir() { FOLDER } else { FILE };
    if meta.is_symlink() || meta.mode() & OTHERS == 0 || meta.uid() != user() {
        return Ok(());
    }
    match fs::set_permissions(path, fs::Permissions::from_mode(meta.mode() & kept)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Returns the effective user id of this process.
#[cfg(unix)]
fn user() -> u32 {
    // SAFETY: geteuid has no arguments, touches no memory and cannot fail.
    #[expect(unsafe_code, reason = "the standard library does not provide the user id of a process")]
    unsafe {
        libc::geteuid()
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn open_up(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn creates_private_files() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        create_folder(&inner).unwrap();
        create_file(&inner.join("file")).unwrap();
        assert_eq!(mode(&folder.path().join("a")), 0o700);
        assert_eq!((mode(&inner), mode(&inner.join("file"))), (0o700, 0o600));
    }

    #[test]
    fn tightens_permissions_without_following_links() {
        let outer = tempfile::tempdir().unwrap();
        let (state, outside) = (outer.path().join("state"), outer.path().join("outside"));
        fs::create_dir_all(state.join("index/g-1")).unwrap();
        for file in [state.join("index/g-1/meta.json"), state.join("facts.sqlite"), outside.clone()] {
            fs::write(&file, "").unwrap();
            open_up(&file, 0o644);
        }
        std::os::unix::fs::symlink(&outside, state.join("index/link")).unwrap();
        for folder in [state.join("index/g-1"), state.join("index"), state.clone()] {
            open_up(&folder, 0o755);
        }
        tighten(&state, &|name| ["index", "facts.sqlite"].contains(&name)).unwrap();
        assert_eq!([mode(&state), mode(&state.join("index")), mode(&state.join("index/g-1"))], [0o700; 3]);
        assert_eq!([mode(&state.join("index/g-1/meta.json")), mode(&state.join("facts.sqlite"))], [0o600; 2]);
        assert_eq!(mode(&outside), 0o644);
    }

    #[test]
    fn leaves_shared_folders_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["index", "letter.txt"] {
            fs::write(folder.path().join(name), "").unwrap();
            open_up(&folder.path().join(name), 0o644);
        }
        open_up(folder.path(), 0o755);
        tighten(folder.path(), &|name| name == "index").unwrap();
        assert_eq!(mode(folder.path()), 0o755);
        assert_eq!((mode(&folder.path().join("index")), mode(&folder.path().join("letter.txt"))), (0o600, 0o644));
        tighten(&folder.path().join("missing"), &|_| true).unwrap();
    }
}

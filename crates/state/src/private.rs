//! Folders and files that only their owner may use, whatever the umask of the process is. Elsewhere than on Unix the
//! system's own rules hold.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    path::Path,
};

/// The rights of a folder.
#[cfg(unix)]
const FOLDER: u32 = 0o700;
/// The rights of a file.
#[cfg(unix)]
const FILE: u32 = 0o600;
/// The rights of everybody but the owner.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// Options that make a file with mode 0600; the caller adds what it opens the file for.
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

/// Makes an empty file with mode 0600, or empties the one that is there.
///
/// # Errors
/// Those of the system.
pub fn create_file(path: &Path) -> io::Result<File> {
    options().write(true).create(true).truncate(true).open(path)
}

/// Makes a folder, and those above it that are missing, with mode 0700. One that is there is left as it is.
///
/// # Errors
/// Those of the system.
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

/// Takes the rights of others off those entries of a state folder that `is_ours` knows by name, with all that is in them,
/// and off the folder itself where nothing else is in it. What belongs to another user, and what links lead to, is left
/// as it is; an entry that is closed already is not looked into.
///
/// # Errors
/// When the folder cannot be listed, or rights cannot be changed. A folder that is not there is no error.
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

/// As on Unix, where there are rights to take.
#[cfg(not(unix))]
pub fn tighten(_folder: &Path, _is_ours: &dyn Fn(&str) -> bool) -> io::Result<()> {
    Ok(())
}

/// Closes a file, or a folder after all that is in it.
#[cfg(unix)]
fn close(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let meta = match fs::symlink_metadata(path) {
        // Others may write here at the same time.
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

/// As whom this process runs.
#[cfg(unix)]
fn user() -> u32 {
    // SAFETY: geteuid has no arguments, touches no memory and cannot fail.
    #[expect(unsafe_code, reason = "the standard library does not say as whom a process runs")]
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
    fn what_is_made_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        create_folder(&inner).unwrap();
        create_file(&inner.join("file")).unwrap();
        assert_eq!(mode(&folder.path().join("a")), 0o700);
        assert_eq!((mode(&inner), mode(&inner.join("file"))), (0o700, 0o600));
    }

    #[test]
    fn what_others_could_read_is_closed_and_what_links_lead_to_is_left() {
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
    fn a_folder_with_other_things_in_it_stays_open_and_so_do_they() {
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

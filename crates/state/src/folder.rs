//! The entries of a state folder: which of them belong to the program, their permissions, and the links among them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

#[cfg(unix)]
use crate::private::{FILE, FOLDER};

/// Permissions of group and others.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// Number of hexadecimal digits in the name of a cached file.
const KEY_DIGITS: usize = 24;

/// Returns the name of the cached file for a key, without its extension.
pub fn cache_name(key: &blake3::Hash) -> String {
    key.to_hex()[..KEY_DIGITS].to_owned()
}

/// Returns whether a name, without its extension, is one that [`cache_name`] returns.
pub fn is_cache_name(name: &str) -> bool {
    name.len() == KEY_DIGITS && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Checks that none of these entries of a folder is a symbolic link, and that links inside them, such as those of a
/// cache of models, stay within the entry. The folder itself may be a link.
///
/// # Errors
/// If there is another link.
pub fn refuse_links<Name: AsRef<Path>>(folder: &Path, names: impl IntoIterator<Item = Name>) -> io::Result<()> {
    for name in names {
        let entry = folder.join(name);
        let found = match fs::symlink_metadata(&entry) {
            Ok(meta) if meta.is_symlink() => Some(entry),
            Ok(meta) if meta.is_dir() => link_out_of(&entry),
            // Missing, or a file.
            _ => None,
        };
        if let Some(link) = found {
            return Err(io::Error::other(format!(
                "`{}` is a symbolic link, which is not followed; remove it",
                link.display()
            )));
        }
    }
    Ok(())
}

/// Returns a link inside a folder that leads out of it, or nowhere.
fn link_out_of(entry: &Path) -> Option<PathBuf> {
    let mut folders = vec![entry.to_owned()];
    while let Some(folder) = folders.pop() {
        // Another process may have removed it. If it cannot be listed, reading it fails later.
        for inner in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(kind) = inner.file_type() else { continue };
            if kind.is_dir() {
                folders.push(inner.path());
            } else if kind.is_symlink() && !stays_within(&inner.path(), entry) {
                return Some(inner.path());
            }
        }
    }
    None
}

fn stays_within(link: &Path, folder: &Path) -> bool {
    matches!((link.canonicalize(), folder.canonicalize()), (Ok(target), Ok(folder)) if target.starts_with(&folder))
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
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn open_up(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn refuses_links_out_of_an_entry() {
        let outer = tempfile::tempdir().unwrap();
        let (state, outside) = (outer.path().join("state"), outer.path().join("outside"));
        fs::create_dir_all(state.join("models/blobs")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(state.join("models/blobs/1"), "").unwrap();
        symlink("blobs/1", state.join("models/model.onnx")).unwrap();
        symlink(&outside, state.join("other")).unwrap();
        symlink(&state, outer.path().join("alias")).unwrap();
        let check = |folder: &str, names: &[&str]| refuse_links(&outer.path().join(folder), names);
        check("state", &["models", "index"]).unwrap();
        check("alias", &["models", "index"]).unwrap();
        check("missing", &["models", "index"]).unwrap();

        for (target, link) in [("../outside", "index"), ("models", "sources"), ("nowhere", "facts.sqlite")] {
            symlink(target, state.join(link)).unwrap();
            let refusal = check("state", &["models", link]).unwrap_err().to_string();
            assert!(refusal.contains(&format!("state/{link}` is a symbolic link")), "{refusal}");
        }
        for target in ["../../../outside", "../../../nowhere"] {
            symlink(target, state.join("models/blobs/2")).unwrap();
            let refusal = check("state", &["models"]).unwrap_err().to_string();
            assert!(refusal.contains("models/blobs/2"), "{refusal}");
            fs::remove_file(state.join("models/blobs/2")).unwrap();
        }
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
        symlink(&outside, state.join("index/link")).unwrap();
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

//! Files and folders that are private to their owner, independently of the umask. On other systems than Unix, the
//! default permissions apply.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io,
    path::Path,
};

/// Mode of a folder.
#[cfg(unix)]
pub(crate) const FOLDER: u32 = 0o700;
/// Mode of a file.
#[cfg(unix)]
pub(crate) const FILE: u32 = 0o600;

/// Returns options that create a file with mode 0600 and open no symbolic link; the caller adds the access mode.
pub fn options() -> OpenOptions {
    #[allow(unused_mut, reason = "changed on Unix only")]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(FILE).custom_flags(libc::O_NOFOLLOW);
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

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
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
    fn opens_no_links() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "kept").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(create_file(&link).is_err());
        assert_eq!(fs::read(&target).unwrap(), b"kept");
    }
}

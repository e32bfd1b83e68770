//! Detection of damaged files, and protection of the process from them.

use std::{
    any::Any,
    fmt, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

use crate::SearchError;

/// The result of verifying all bytes of an index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Examined {
    /// Number of files.
    pub files: usize,
    /// Number of bytes.
    pub bytes: u64,
    /// Damaged files.
    pub damage: Vec<Damage>,
}

/// A file of an index whose content differs from what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it: `it is missing`.
    pub what: String,
}

impl Damage {
    pub(crate) fn new(file: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        Damage { file: file.into(), what: what.into() }
    }

    /// Returns advice for the user.
    pub fn advice(&self) -> &'static str {
        "run `planner refresh`, which rebuilds the index"
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.what)
    }
}

/// The first damage met by any reader of a state of an index; shared by clones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults(Arc<OnceLock<Damage>>);

impl Faults {
    /// Records a damage; only the first one is kept.
    pub(crate) fn note(&self, damage: Damage) {
        if self.0.set(damage.clone()).is_ok() {
            tracing::warn!(%damage, "the index is damaged");
        }
    }

    pub(crate) fn first(&self) -> Option<&Damage> {
        self.0.get()
    }

    /// Returns an error if any damage was recorded.
    pub(crate) fn check(&self) -> Result<(), SearchError> {
        self.first().map_or(Ok(()), |damage| Err(SearchError::Damaged(damage.clone())))
    }
}

/// Returns the damage that explains an error, or `None` if the files in `folder` are not the cause, e.g. a full disk or
/// missing permission.
pub(crate) fn damage_of(error: &SearchError, folder: &Path) -> Option<Damage> {
    match error {
        SearchError::Damaged(damage) => Some(damage.clone()),
        SearchError::Io { path, source, .. } => is_damage(source).then(|| Damage::new(path, source.to_string())),
        SearchError::Lexical { source, .. } => {
            cause(source).is_none_or(is_damage).then(|| Damage::new(folder, source.to_string()))
        }
        SearchError::Embed(_)
        | SearchError::Panicked { .. }
        | SearchError::Ranker { .. }
        | SearchError::TooLong { .. } => None,
    }
}

/// Returns whether a system error is caused by the content of files. Errors that are not listed are not fixed by
/// rebuilding.
fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    /// EIO, which has no `ErrorKind`.
    const UNREADABLE: i32 = 5;
    let kinds = [
        Kind::NotFound,
        Kind::InvalidData,
        Kind::InvalidInput,
        Kind::UnexpectedEof,
        Kind::IsADirectory,
        Kind::NotADirectory,
    ];
    kinds.contains(&error.kind()) || error.raw_os_error() == Some(UNREADABLE)
}

/// Returns the system error behind an error of the full-text engine, if any.
fn cause(error: &tantivy::TantivyError) -> Option<&io::Error> {
    use tantivy::TantivyError as Error;
    match error {
        Error::IoError(source)
        | Error::OpenReadError(OpenReadError::IoError { io_error: source, .. })
        | Error::OpenWriteError(OpenWriteError::IoError { io_error: source, .. })
        | Error::OpenDirectoryError(OpenDirectoryError::IoError { io_error: source, .. })
        | Error::LockFailure(LockError::IoError(source), _) => Some(source),
        _ => None,
    }
}

/// Runs an operation on possibly damaged data, converting a panic to an error.
pub(crate) fn caught<T>(act: impl FnOnce() -> Result<T, SearchError>) -> Result<T, SearchError> {
    // Unwind safety: callers drop all state involved on any error.
    catch_unwind(AssertUnwindSafe(act))
        .unwrap_or_else(|panic| Err(SearchError::Panicked { reason: message(panic.as_ref()) }))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown reason".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_damage_from_a_full_disk() {
        for (kind, expected) in [
            (io::ErrorKind::NotFound, true),
            (io::ErrorKind::InvalidData, true),
            (io::ErrorKind::StorageFull, false),
            (io::ErrorKind::PermissionDenied, false),
            (io::ErrorKind::ReadOnlyFilesystem, false),
        ] {
            let folder = Path::new("index");
            let plain = SearchError::Io { act: "read", path: folder.into(), source: kind.into() };
            let wrapped = SearchError::Lexical {
                act: "open",
                source: OpenReadError::wrap_io_error(kind.into(), "x.idx".into()).into(),
            };
            for error in [plain, wrapped] {
                assert_eq!(damage_of(&error, folder).is_some(), expected, "{error}");
            }
        }
    }

    #[test]
    fn converts_panics_to_errors() {
        let error = caught::<()>(|| panic!("block {} is odd", 7)).unwrap_err();
        assert!(error.to_string().contains("block 7 is odd"), "{error}");
        let faults = Faults::default();
        assert!(faults.check().is_ok());
        faults.clone().note(Damage::new("a.idx", "it is missing"));
        faults.note(Damage::new("b.idx", "it is longer"));
        assert_eq!(faults.check().unwrap_err().to_string(), "the index is damaged: a.idx: it is missing");
    }
}

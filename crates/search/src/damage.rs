//! Damage: what a file is not any more, who is told of it, and how it is kept from taking the process down.

use std::{
    any::Any,
    fmt, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

use crate::SearchError;

/// What reading every byte of an index showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Examined {
    /// How many files were read.
    pub files: usize,
    /// How many bytes they have.
    pub bytes: u64,
    /// What is damaged: one entry a file.
    pub damage: Vec<Damage>,
}

/// A file of an index that is not what was written.
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

    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        "run `planner refresh`, which builds the index anew"
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.what)
    }
}

/// The first damage that anyone met who read a state of an index. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults(Arc<OnceLock<Damage>>);

impl Faults {
    /// Notes a damage; the first one stays.
    pub(crate) fn note(&self, damage: Damage) {
        if self.0.set(damage.clone()).is_ok() {
            tracing::warn!(%damage, "the index is damaged");
        }
    }

    pub(crate) fn first(&self) -> Option<&Damage> {
        self.0.get()
    }

    /// An error where damage was met, whatever came of it.
    pub(crate) fn check(&self) -> Result<(), SearchError> {
        self.first().map_or(Ok(()), |damage| Err(SearchError::Damaged(damage.clone())))
    }
}

/// What an error says of the files in `folder`: that one is damaged, or `None` where it says nothing of them, such as
/// that the disk is full or that this user may not read them.
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

/// Whether an error of the system comes of what the files are. Some that are not listed may too, but none of them is
/// mended by writing the files anew.
fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    /// EIO, for which there is no kind.
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

/// What the system said, where an error of the full-text engine comes from that.
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

/// Does something that reads what may be damaged; a panic is an error.
pub(crate) fn caught<T>(act: impl FnOnce() -> Result<T, SearchError>) -> Result<T, SearchError> {
    // What is left half done is never used again: who calls this drops it on any error.
    catch_unwind(AssertUnwindSafe(act))
        .unwrap_or_else(|panic| Err(SearchError::Panicked { reason: message(panic.as_ref()) }))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it does not say why".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_no_damage_and_a_missing_file_is() {
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
    fn a_panic_is_an_error_that_says_what_it_said() {
        let error = caught::<()>(|| panic!("block {} is odd", 7)).unwrap_err();
        assert!(error.to_string().contains("block 7 is odd"), "{error}");
        let faults = Faults::default();
        assert!(faults.check().is_ok());
        faults.clone().note(Damage::new("a.idx", "it is missing"));
        faults.note(Damage::new("b.idx", "it is longer"));
        assert_eq!(faults.check().unwrap_err().to_string(), "the index is damaged: a.idx: it is missing");
    }
}

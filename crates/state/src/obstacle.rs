//! External causes of failed writes.

use std::{io, path::Path};

/// An obstacle to writing to a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The disk or quota is full, or the file size limit is exceeded.
    Full,
    /// The file system is mounted read-only.
    ReadOnly,
    /// The user lacks permission.
    Denied,
}

impl Obstacle {
    /// Classifies a system error; `None` if it is not an obstacle to writing.
    pub fn of(error: &io::Error) -> Option<Obstacle> {
        use io::ErrorKind as Kind;
        match error.kind() {
            Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => Some(Obstacle::Full),
            Kind::ReadOnlyFilesystem => Some(Obstacle::ReadOnly),
            Kind::PermissionDenied => Some(Obstacle::Denied),
            _ => None,
        }
    }

    /// Describes the problem, e.g. `there is no space left on the disk of /var/state`.
    pub fn describe(self, folder: &Path) -> String {
        let folder = folder.display();
        match self {
            Obstacle::Full => format!("there is no space left on the disk of {folder}"),
            Obstacle::ReadOnly => format!("the state folder {folder} is read-only"),
            Obstacle::Denied => format!("the state folder {folder} is read-only for this user"),
        }
    }

    /// Returns advice as a clause.
    pub fn advice(self) -> &'static str {
        match self {
            Obstacle::Full => "free some space, or choose a folder on another disk with --state FOLDER",
            Obstacle::ReadOnly => "choose a writable folder with --state FOLDER",
            Obstacle::Denied => "grant this user write permission, or choose another folder with --state FOLDER",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifies_obstacles() {
        for (kind, expected) in [
            (io::ErrorKind::StorageFull, Some(Obstacle::Full)),
            (io::ErrorKind::ReadOnlyFilesystem, Some(Obstacle::ReadOnly)),
            (io::ErrorKind::PermissionDenied, Some(Obstacle::Denied)),
            (io::ErrorKind::NotFound, None),
            (io::ErrorKind::InvalidData, None),
        ] {
            assert_eq!(Obstacle::of(&io::Error::from(kind)), expected, "{kind:?}");
        }
        let words = [Obstacle::Full, Obstacle::ReadOnly, Obstacle::Denied].map(|one| one.describe(Path::new("/state")));
        assert!(words.iter().all(|text| text.contains("/state")), "{words:?}");
    }
}

//! Why files cannot be written, where that is no fault of the files.

use std::{io, path::Path};

/// What keeps a process from writing to a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The disk is full, or the user's share of it, or a file would be larger than it may be.
    Full,
    /// The disk is mounted for reading only.
    ReadOnly,
    /// This user may not.
    Denied,
}

impl Obstacle {
    /// What an error of the system means; `None` for anything but an obstacle to writing.
    pub fn of(error: &io::Error) -> Option<Obstacle> {
        use io::ErrorKind as Kind;
        match error.kind() {
            Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => Some(Obstacle::Full),
            Kind::ReadOnlyFilesystem => Some(Obstacle::ReadOnly),
            Kind::PermissionDenied => Some(Obstacle::Denied),
            _ => None,
        }
    }

    /// What is wrong with a folder, for people: `there is no space left on the disk of /var/state`.
    pub fn describe(self, folder: &Path) -> String {
        let folder = folder.display();
        match self {
            Obstacle::Full => format!("there is no space left on the disk of {folder}"),
            Obstacle::ReadOnly => format!("the state folder {folder} is read-only"),
            Obstacle::Denied => format!("the state folder {folder} is read-only for this user"),
        }
    }

    /// What to do about it, as a clause for people.
    pub fn advice(self) -> &'static str {
        match self {
            Obstacle::Full => "make room, or name a folder on another disk with --state FOLDER",
            Obstacle::ReadOnly => "name a folder that can be written with --state FOLDER",
            Obstacle::Denied => "give this user the right to write there, or name another folder with --state FOLDER",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_a_read_only_one_and_from_a_missing_file() {
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

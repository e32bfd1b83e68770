//! Descriptions of sources, cached in the state folder until their files change. Each file has a checksum; a damaged file counts as missing
//! and is rewritten.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Once},
    time::{Duration, UNIX_EPOCH},
};

use prospector_state::{
    checksum::{BrokenSeal, seal, unseal},
    create_folder,
    folder::cache_name,
    remove_leftovers, replace,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Incremented whenever the stored format changes.
const FORMAT: u32 = 5;

/// A folder of descriptions.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    folder: PathBuf,
    /// Whether stored values are read; they are always written.
    read: bool,
    /// Removes leftovers before the first write.
    cleaning: Arc<Once>,
}

#[derive(Serialize, Deserialize)]
struct Stored<T> {
    fingerprint: String,
    value: T,
}

impl Cache {
    /// Returns the cache of a state folder; with `fresh`, stored values are ignored.
    pub(super) fn of_state(state: &Path, fresh: bool) -> Self {
        Cache::new(state.join("sources"), fresh)
    }

    fn new(folder: PathBuf, fresh: bool) -> Self {
        Cache { folder, read: !fresh, cleaning: Arc::new(Once::new()) }
    }

    fn file(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{}.json", cache_name(&blake3::hash(key.as_bytes()))))
    }

    /// Returns the value of the key if its fingerprint is unchanged. Unreadable values count as missing.
    pub(super) fn get<T: DeserializeOwned>(&self, key: &str, fingerprint: &str) -> Option<T> {
        if !self.read {
            return None;
        }
        let stored: Stored<T> = self.read(&self.file(key))?;
        (stored.fingerprint == fingerprint).then_some(stored.value)
    }

    /// Returns the value of the key and its age, if its fingerprint starts with `prefix`. Used when the source cannot report its
    /// own fingerprint.
    pub(super) fn latest<T: DeserializeOwned>(&self, key: &str, prefix: &str) -> Option<(T, Duration)> {
        let file = self.file(key);
        let age = std::fs::metadata(&file).ok()?.modified().ok()?.elapsed().unwrap_or_default();
        let stored: Stored<T> = self.read(&file)?;
        stored.fingerprint.starts_with(prefix).then_some((stored.value, age))
    }

    /// Deletes the value of the key from the disk.
    pub(super) fn remove(&self, key: &str) {
        let file = self.file(key);
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(%error, file = %file.display(), "cannot remove an unused cache file");
            }
            _ => {}
        }
    }

    fn read<T: DeserializeOwned>(&self, file: &Path) -> Option<Stored<T>> {
        let bytes = std::fs::read(file).ok()?;
        match unseal(&bytes) {
            Ok(content) => serde_json::from_slice(content).ok(),
            // Earlier versions wrote no checksum.
            Err(BrokenSeal::Missing) if bytes.starts_with(b"{") => None,
            Err(broken) => {
                tracing::warn!(file = %file.display(), reason = %broken, "a cached description is damaged and is rebuilt");
                None
            }
        }
    }

    /// Stores a value atomically. A failure only costs time later.
    pub(super) fn put<T: Serialize>(&self, key: &str, fingerprint: &str, value: &T) {
        let write = || -> std::io::Result<()> {
            create_folder(&self.folder)?;
            self.cleaning.call_once(|| remove_leftovers(&self.folder));
            let stored = Stored { fingerprint: fingerprint.to_owned(), value };
            replace(&self.file(key), &seal(&serde_json::to_vec(&stored)?))
        };
        if let Err(error) = write() {
            tracing::warn!(%error, folder = %self.folder.display(), "cannot cache a description");
        }
    }
}

/// Returns a fingerprint of files, by size and modification time, and of settings.
pub(super) fn fingerprint(files: &[&Path], settings: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&FORMAT.to_le_bytes()).update(env!("CARGO_PKG_VERSION").as_bytes()).update(settings.as_bytes());
    let mut add = |path: &Path, empty_counts: bool| {
        hasher.update(path.as_os_str().as_encoded_bytes()).update(b"\0");
        if let Some(meta) = std::fs::metadata(path).ok().filter(|meta| empty_counts || meta.len() > 0) {
            let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            hasher.update(&meta.len().to_le_bytes());
            hasher.update(&modified.map_or(0, |time| time.as_nanos()).to_le_bytes());
        }
    };
    for file in files {
        add(file, true);
        // Pages that SQLite has not yet moved into the database. Reading a database leaves an empty file.
        let mut journal = file.as_os_str().to_owned();
        journal.push("-wal");
        add(Path::new(&journal), false);
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_kept_until_its_fingerprint_changes() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.csv");
        std::fs::write(&source, "a\n1\n").unwrap();
        let cache = Cache::new(folder.path().join("state"), false);
        let before = fingerprint(&[&source], "");
        cache.put("a", &before, &vec![1, 2]);
        assert_eq!(cache.get::<Vec<i32>>("a", &fingerprint(&[&source], "")), Some(vec![1, 2]));
        assert_eq!(cache.get::<Vec<i32>>("b", &before), None);
        assert_eq!(cache.get::<Vec<i32>>("a", &fingerprint(&[&source], "other settings")), None);
        std::fs::write(&source, "a\n1\n2\n").unwrap();
        assert_eq!(cache.get::<Vec<i32>>("a", &fingerprint(&[&source], "")), None);
        assert_eq!(Cache::new(folder.path().join("state"), true).get::<Vec<i32>>("a", &before), None);
    }

    #[test]
    fn ignores_damaged_values_and_removes_leftovers() {
        let folder = tempfile::tempdir().unwrap();
        let cache = || Cache::new(folder.path().to_owned(), false);
        cache().put("a", "then", &"Norway");
        assert_eq!(cache().get::<String>("a", "then").as_deref(), Some("Norway"));
        let file = cache().file("a");
        let text = std::fs::read_to_string(&file).unwrap();
        // Still valid JSON with the same fingerprint.
        std::fs::write(&file, text.replace("Norway", "Norwaz")).unwrap();
        assert_eq!(cache().get::<String>("a", "then"), None);
        assert_eq!(cache().latest::<String>("a", ""), None);
        std::fs::write(folder.path().join("b.4711-0.new"), "half").unwrap();
        cache().put("a", "then", &"Norway");
        assert_eq!(cache().get::<String>("a", "then").as_deref(), Some("Norway"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

//! Parts of prompts, and cached measurements of a catalog for its prompts. Keys are hashes of the content itself, so that values of a
//! changed schema are never reused.

use std::sync::{Arc, Mutex, PoisonError};

use prospector_core::Kind;
use prospector_core::record::Resource;

/// Maximum number of values, since a catalog has few texts that are counted.
const MAX_VALUES: usize = 16;

/// The text of one entry, and the names it shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Piece {
    pub(crate) kind: Kind,
    pub(crate) id: String,
    /// The heading of its group: a database, an API.
    pub(crate) group: String,
    pub(crate) text: String,
    pub(crate) reveals: Vec<Resource>,
}

impl Piece {
    /// Returns its id with its text.
    pub(crate) fn describe(&self) -> (String, String) {
        (self.id.clone(), self.text.clone())
    }

    /// Returns whether it shows a record by id; a document shows all of its sections.
    pub(crate) fn is(&self, kind: Kind, id: &str) -> bool {
        self.kind == kind
            && (self.id == id || (kind == Kind::Document && id.split('#').next() == Some(self.id.as_str())))
    }
}

/// Cached measurements of a catalog for its prompts.
#[derive(Default)]
pub(crate) struct PromptCache {
    /// Token counts of texts.
    pub(crate) counts: ContentCache<usize>,
    /// The pinned tables.
    pub(crate) pinned: ContentCache<Arc<Pinned>>,
}

/// Tables pinned in a prompt.
#[derive(Debug, Default)]
pub(crate) struct Pinned {
    /// The tables that fit.
    pub(crate) pieces: Vec<Piece>,
    /// The names of the others.
    pub(crate) left_out: Vec<String>,
}

/// A hash of the content.
pub(crate) type Key = blake3::Hash;

/// Hashes texts in order.
pub(crate) fn key<'a>(texts: impl IntoIterator<Item = &'a str>) -> Key {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    hasher.finalize()
}

/// Values by key; the oldest is evicted first.
pub(crate) struct ContentCache<T> {
    values: Mutex<Vec<(Key, T)>>,
}

impl<T> Default for ContentCache<T> {
    fn default() -> Self {
        ContentCache { values: Mutex::default() }
    }
}

impl<T: Clone> ContentCache<T> {
    /// Returns the value of the key; calls `make` if it is missing.
    pub(crate) fn get(&self, key: Key, make: impl FnOnce() -> T) -> T {
        let known =
            |values: &[(Key, T)]| values.iter().find(|(known, _)| *known == key).map(|(_, value)| value.clone());
        if let Some(value) = known(&self.values.lock().unwrap_or_else(PoisonError::into_inner)) {
            return value;
        }
        // Not under the lock: it may take a while, and computing it twice is harmless.
        let value = make();
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if values.len() >= MAX_VALUES {
            values.remove(0);
        }
        values.push((key, value.clone()));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_a_value_once_per_content() {
        let cache = ContentCache::default();
        let mut made = Vec::new();
        for content in [["ab", "c"], ["a", "bc"], ["ab", "c"]] {
            cache.get(key(content), || made.push(content.concat()));
        }
        assert_eq!(made, ["abc", "abc"]);
    }

    #[test]
    fn evicts_old_values() {
        let cache = ContentCache::default();
        for n in 0..100 {
            cache.get(key([n.to_string().as_str()]), || n);
        }
        assert_eq!(cache.values.lock().unwrap_or_else(PoisonError::into_inner).len(), MAX_VALUES);
        assert_eq!(cache.get(key(["99"]), || 0), 99);
    }
}

//! What a prompt shows of one thing, and what was measured of a catalog for its prompts. A value is kept as long as what it
//! was made of says the same: the key is a hash of the content itself, so that a changed schema never meets an old value.

use std::sync::{Arc, Mutex, PoisonError};

use prospector_core::Kind;
use prospector_core::record::Resource;

/// How many values are kept: a catalog has few texts that are counted.
const MAX_VALUES: usize = 16;

/// The text of one thing, and the names that it shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Piece {
    pub(crate) kind: Kind,
    pub(crate) id: String,
    /// What stands above the first of a group: a database, an API.
    pub(crate) group: String,
    pub(crate) text: String,
    pub(crate) reveals: Vec<Resource>,
}

impl Piece {
    /// Whether it shows the record of that id; a document shows all of its sections.
    pub(crate) fn is(&self, kind: Kind, id: &str) -> bool {
        self.kind == kind
            && (self.id == id || (kind == Kind::Document && id.split('#').next() == Some(self.id.as_str())))
    }
}

/// What is measured of a catalog for its prompts.
#[derive(Default)]
pub(crate) struct PromptCache {
    /// How many tokens a text has.
    pub(crate) counts: ContentCache<usize>,
    /// The pinned tables.
    pub(crate) pinned: ContentCache<Arc<Pinned>>,
}

/// Tables that are pinned in a prompt.
#[derive(Debug, Default)]
pub(crate) struct Pinned {
    /// Those that fit.
    pub(crate) pieces: Vec<Piece>,
    /// The names of the others.
    pub(crate) left_out: Vec<String>,
}

/// What tells one content from another.
pub(crate) type Key = blake3::Hash;

/// The key of these texts, in this order.
pub(crate) fn key<'a>(texts: impl IntoIterator<Item = &'a str>) -> Key {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    hasher.finalize()
}

/// Values by key; the one that was made first goes first.
pub(crate) struct ContentCache<T> {
    values: Mutex<Vec<(Key, T)>>,
}

impl<T> Default for ContentCache<T> {
    fn default() -> Self {
        ContentCache { values: Mutex::default() }
    }
}

impl<T: Clone> ContentCache<T> {
    /// The value of that key; `make` is called where there is none.
    pub(crate) fn get(&self, key: Key, make: impl FnOnce() -> T) -> T {
        let known =
            |values: &[(Key, T)]| values.iter().find(|(known, _)| *known == key).map(|(_, value)| value.clone());
        if let Some(value) = known(&self.values.lock().unwrap_or_else(PoisonError::into_inner)) {
            return value;
        }
        // Not under the lock: it may take a while, and to make it twice does no harm.
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
    fn a_value_is_made_once_for_each_content() {
        let cache = ContentCache::default();
        let mut made = Vec::new();
        for content in [["ab", "c"], ["a", "bc"], ["ab", "c"]] {
            cache.get(key(content), || made.push(content.concat()));
        }
        assert_eq!(made, ["abc", "abc"]);
    }

    #[test]
    fn few_are_kept() {
        let cache = ContentCache::default();
        for n in 0..100 {
            cache.get(key([n.to_string().as_str()]), || n);
        }
        assert_eq!(cache.values.lock().unwrap_or_else(PoisonError::into_inner).len(), MAX_VALUES);
        assert_eq!(cache.get(key(["99"]), || 0), 99);
    }
}

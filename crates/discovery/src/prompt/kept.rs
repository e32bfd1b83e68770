//! Values that are kept as long as what they were made of says the same: the key is a hash of the content itself, so that
//! a changed schema never meets an old value.

use std::sync::{Mutex, PoisonError};

/// How many values are kept: a process serves few catalogs.
const MOST: usize = 16;

/// What tells one content from another.
pub(super) type Key = blake3::Hash;

/// The key of these texts, in this order.
pub(super) fn key<'a>(texts: impl IntoIterator<Item = &'a str>) -> Key {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    hasher.finalize()
}

/// Values by key; the one that was made first goes first.
pub(super) struct Kept<T> {
    values: Mutex<Vec<(Key, T)>>,
}

impl<T: Clone> Kept<T> {
    pub(super) const fn new() -> Self {
        Kept { values: Mutex::new(Vec::new()) }
    }

    /// The value of that key; `make` is called where there is none.
    pub(super) fn get(&self, key: Key, make: impl FnOnce() -> T) -> T {
        let known =
            |values: &[(Key, T)]| values.iter().find(|(known, _)| *known == key).map(|(_, value)| value.clone());
        if let Some(value) = known(&self.values.lock().unwrap_or_else(PoisonError::into_inner)) {
            return value;
        }
        // Not under the lock: it may take a while, and to make it twice does no harm.
        let value = make();
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if values.len() >= MOST {
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
        let kept = Kept::new();
        let mut made = Vec::new();
        for content in [["ab", "c"], ["a", "bc"], ["ab", "c"]] {
            kept.get(key(content), || made.push(content.concat()));
        }
        assert_eq!(made, ["abc", "abc"]);
    }

    #[test]
    fn few_are_kept() {
        let kept = Kept::new();
        for n in 0..100 {
            kept.get(key([n.to_string().as_str()]), || n);
        }
        assert_eq!(kept.values.lock().unwrap_or_else(PoisonError::into_inner).len(), MOST);
        assert_eq!(kept.get(key(["99"]), || 0), 99);
    }
}

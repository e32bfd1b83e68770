//! The user's messages, for tools that must not rely on the model for consent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The user's messages since the phase started, oldest first. Shared: the conversation writes, tools read.
#[derive(Debug, Clone, Default)]
pub struct UserWords(Arc<Mutex<Vec<String>>>);

impl UserWords {
    fn words(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of messages since the phase started.
    pub fn count(&self) -> usize {
        self.words().len()
    }

    /// Returns the messages of this phase without the first `earlier` ones.
    pub fn after(&self, earlier: usize) -> Vec<String> {
        self.words().iter().skip(earlier).cloned().collect()
    }

    pub(crate) fn push(&self, said: &str) {
        self.words().push(said.to_owned());
    }

    pub(crate) fn clear(&self) {
        self.words().clear();
    }
}

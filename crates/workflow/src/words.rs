//! What the user said, for tools that may not take a model's word for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the user said since the phase began, the oldest first. Shared: the conversation writes, tools read.
#[derive(Debug, Clone, Default)]
pub struct UserWords(Arc<Mutex<Vec<String>>>);

impl UserWords {
    fn words(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often the user spoke since the phase began.
    pub fn count(&self) -> usize {
        self.words().len()
    }

    /// What the user said in this phase, but for the first `earlier` times.
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

//! The answers that were given last.

use std::collections::VecDeque;
use std::sync::Mutex;

use serde_json::Value;

/// So many are kept.
const KEPT: usize = 20;

/// The last answers, as they were shown.
#[derive(Default)]
pub(crate) struct History {
    kept: Mutex<(u64, VecDeque<(String, Value)>)>,
}

impl History {
    /// Keeps an answer under a name of its own.
    pub(crate) fn keep(&self, make: impl FnOnce(&str) -> Value) -> Value {
        let Ok(mut kept) = self.kept.lock() else { return make("") };
        kept.0 += 1;
        let name = format!("result_{}", kept.0);
        let value = make(&name);
        kept.1.push_back((name, value.clone()));
        while kept.1.len() > KEPT {
            kept.1.pop_front();
        }
        value
    }

    /// The answers, the latest last.
    pub(crate) fn all(&self) -> Vec<(String, Value)> {
        self.kept.lock().map(|kept| kept.1.iter().cloned().collect()).unwrap_or_default()
    }
}

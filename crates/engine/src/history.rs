//! The answers that were given last.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::answer::QueryAnswer;

/// So many are kept.
const KEPT: usize = 20;

/// The last answers, as they were shown.
#[derive(Default)]
pub(crate) struct History {
    kept: Mutex<(u64, VecDeque<QueryAnswer>)>,
}

impl History {
    /// Keeps an answer under a name of its own, and gives it that name as its id.
    pub(crate) fn keep(&self, mut answer: QueryAnswer) -> QueryAnswer {
        let Ok(mut kept) = self.kept.lock() else { return answer };
        kept.0 += 1;
        answer.id = format!("result_{}", kept.0);
        kept.1.push_back(answer.clone());
        while kept.1.len() > KEPT {
            kept.1.pop_front();
        }
        answer
    }

    /// The answers, the latest last.
    pub(crate) fn all(&self) -> Vec<QueryAnswer> {
        self.kept.lock().map(|kept| kept.1.iter().cloned().collect()).unwrap_or_default()
    }
}

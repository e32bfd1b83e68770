//! The history of recent answers.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::answer::QueryAnswer;

/// The number of answers kept.
const KEPT: usize = 20;

/// The last answers, as they were returned.
#[derive(Default)]
pub(crate) struct History {
    kept: Mutex<(u64, VecDeque<QueryAnswer>)>,
}

impl History {
    /// Stores an answer under a new name, which becomes its id.
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

    /// Returns the statement of an answer, with the database of its unqualified tables.
    pub(crate) fn statement(&self, id: &str) -> Option<(String, Option<String>)> {
        let kept = self.kept.lock().ok()?;
        let answer = kept.1.iter().find(|answer| answer.id == id)?;
        Some((answer.sql.clone()?, answer.database.clone()))
    }

    /// Returns the answers, the latest last.
    pub(crate) fn all(&self) -> Vec<QueryAnswer> {
        self.kept.lock().map(|kept| kept.1.iter().cloned().collect()).unwrap_or_default()
    }
}

//! The history of recent answers.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::answer::{QueryAnswer, QueryResult};
use crate::joined::measure;
use crate::limits::{SubsetMemory, SubsetShare};

/// The number of answers kept.
const KEPT: usize = 20;

/// The last answers as they were returned, with their share of the memory of all sessions. Statements that failed are not
/// stored, only their failures.
#[derive(Default)]
pub(crate) struct History {
    kept: Mutex<(u64, VecDeque<(QueryAnswer, SubsetShare)>)>,
}

impl History {
    /// Stores an answer under a new name, which becomes its id. If too little memory is left, the oldest answers are removed;
    /// an answer for which they do not make enough room is not stored.
    pub(crate) fn keep(&self, mut answer: QueryAnswer, memory: &SubsetMemory) -> QueryAnswer {
        let Ok(mut kept) = self.kept.lock() else { return answer };
        let (count, answers) = &mut *kept;
        *count += 1;
        answer.id = format!("result_{count}");
        let (sql, database) = match answer.result {
            QueryResult::Rows { .. } => (answer.sql.clone(), answer.database.clone()),
            QueryResult::Failed(_) => (None, None),
        };
        let (id, question, result) = (answer.id.clone(), answer.question.clone(), answer.result.clone());
        let stored = QueryAnswer { id, sql, database, question, result };
        while answers.len() >= KEPT {
            answers.pop_front();
        }
        let bytes = size_of_answer(&stored);
        let mut share = memory.take(bytes);
        while share.is_none() && answers.pop_front().is_some() {
            share = memory.take(bytes);
        }
        answers.extend(share.map(|share| (stored, share)));
        answer
    }

    /// Returns the statement of an answer, with the database of its unqualified tables.
    pub(crate) fn statement(&self, id: &str) -> Option<(String, Option<String>)> {
        let kept = self.kept.lock().ok()?;
        let (answer, _) = kept.1.iter().find(|(answer, _)| answer.id == id)?;
        Some((answer.sql.clone()?, answer.database.clone()))
    }

    /// Returns the answers, the latest last.
    pub(crate) fn all(&self) -> Vec<QueryAnswer> {
        let kept = self.kept.lock().map(|kept| kept.1.iter().map(|(answer, _)| answer.clone()).collect());
        kept.unwrap_or_default()
    }
}

/// Returns the approximate memory use of an answer in bytes.
fn size_of_answer(answer: &QueryAnswer) -> usize {
    // Serialized, it has all texts; values take more memory than their text.
    let texts = serde_json::to_string(answer).map_or(0, |text| text.len());
    let rows = match &answer.result {
        QueryResult::Rows { shown, .. } => shown.rows.iter().flatten().map(measure::value).sum(),
        QueryResult::Failed(_) => 0,
    };
    size_of::<QueryAnswer>() + texts + rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::cut_to_show;
    use crate::outcome::Way;
    use crate::{Failure, FailureCode};

    fn rows(sql: &str) -> QueryAnswer {
        let shown = cut_to_show(prospector_connect::rows::Rows::default(), 100);
        let (databases, tables, warnings, units) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let result = QueryResult::Rows { databases, tables, executed: Way::Native, shown, warnings, units };
        let (id, database, question) = (String::new(), None, String::new());
        QueryAnswer { id, sql: Some(sql.to_owned()), database, question, result }
    }

    #[test]
    fn statements_that_failed_are_not_stored() {
        let history = History::default();
        let result = QueryResult::Failed(Failure::new(FailureCode::Refused, "it is too long"));
        let failed = history.keep(QueryAnswer { result, ..rows(&"x".repeat(1_000_000)) }, &SubsetMemory::new(10_000));
        assert_eq!(failed.id, "result_1");
        assert_eq!(history.statement("result_1"), None);
        assert_eq!(history.all().len(), 1);
    }

    #[test]
    fn answers_share_the_memory_of_all_sessions() {
        let memory = SubsetMemory::new(10_000);
        let (one, other) = (History::default(), History::default());
        let long = "x".repeat(4_000);
        for _ in 0..4 {
            one.keep(rows(&long), &memory);
        }
        let ids: Vec<String> = one.all().into_iter().map(|answer| answer.id).collect();
        assert_eq!(ids, ["result_3", "result_4"]);
        other.keep(rows(&long), &memory);
        assert!(other.all().is_empty());
        drop(one);
        other.keep(rows(&long), &memory);
        assert_eq!(other.statement("result_2"), Some((long, None)));
    }
}

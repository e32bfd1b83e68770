//! How much of a question is read.

use prospector_search::Query;

/// Whether a question is longer than what can be searched for. An answer is not given to a part of it, which could turn
/// its meaning round; a plan is, and says so.
pub(crate) fn is_too_long(question: &str) -> bool {
    Query::fitting(question).len() < question.len()
}

/// What is said instead of an answer to a question that is too long.
pub(crate) fn decline_too_long(question: &str) -> String {
    format!(
        "The question has {} characters, and the offline planner reads at most {max}. Ask in fewer words, or \
         ask a language model.",
        question.chars().count(),
        max = Query::MAX_CHARS,
    )
}

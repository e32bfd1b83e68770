//! The length limit of queries.

use crate::SearchError;

/// Maximum length of a query: the work grows with the number of words.
pub(crate) const MAX_QUERY_CHARS: usize = 10_000;

/// Returns the first [`MAX_QUERY_CHARS`] characters of a question, for implicit searches such as choosing the content
/// of a prompt.
pub(crate) fn query_text(question: &str) -> &str {
    &question[..question.char_indices().nth(MAX_QUERY_CHARS).map_or(question.len(), |(at, _)| at)]
}

/// Rejects a query that is too long.
pub(crate) fn check_length(text: &str) -> Result<(), SearchError> {
    match query_text(text).len() == text.len() {
        true => Ok(()),
        false => Err(SearchError::TooLong { characters: text.chars().count() }),
    }
}

//! How much text is searched for.

use crate::SearchError;

/// A longer text is not searched for: the work grows with its words, and no question needs so many.
pub(crate) const MAX_QUERY_CHARS: usize = 10_000;

/// As much of a question as can be searched for: the first [`MAX_QUERY_CHARS`] characters. For those who search on behalf
/// of somebody who did not ask for a search, such as to choose what goes into a prompt.
pub(crate) fn query_text(question: &str) -> &str {
    &question[..question.char_indices().nth(MAX_QUERY_CHARS).map_or(question.len(), |(at, _)| at)]
}

/// Refuses what is too long.
pub(crate) fn check_length(text: &str) -> Result<(), SearchError> {
    match query_text(text).len() == text.len() {
        true => Ok(()),
        false => Err(SearchError::TooLong { characters: text.chars().count() }),
    }
}

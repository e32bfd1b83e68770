//! The length limit of queries.

/// Maximum length of a query: the work grows with the number of words.
pub(crate) const MAX_QUERY_CHARS: usize = 10_000;

/// Returns the first [`MAX_QUERY_CHARS`] characters of a question, for implicit searches such as choosing the content
/// of a prompt.
pub(crate) fn query_text(question: &str) -> &str {
    &question[..question.char_indices().nth(MAX_QUERY_CHARS).map_or(question.len(), |(at, _)| at)]
}

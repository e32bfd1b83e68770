//! Stop words. The lists differ because they serve different comparisons, and results depend on each: re-run the
//! evaluations of search or facts after adding a word.

/// Words of any question. For queries to an index.
pub const OF_QUERIES: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does", "for", "from",
    "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or",
    "our", "she", "should", "so", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "those", "to", "up", "us", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom",
    "whose", "why", "will", "with", "would", "you", "your", "please", "list", "show", "find", "give", "tell", "get",
    "return", "retrieve", "all", "any", "each", "every", "also", "both", "between", "more", "most", "many", "much",
    "what's", "who's", "where's", "when's", "how's", "that's", "there's", "let's",
];

/// Words for operations on rows, which do not distinguish tables. For queries for tables, in addition to
/// [`OF_QUERIES`].
#[rustfmt::skip]
pub const OF_TABLE_QUERIES: &[&str] = &[
    "average", "mean", "maximum", "minimum", "max", "min", "total", "sum", "count", "distinct", "different",
    "number", "numbers", "highest", "lowest", "largest", "smallest", "greatest", "least", "fewest", "top", "bottom",
    "sorted", "sort", "order", "ordered", "descending", "ascending", "alphabetical", "alphabetically", "percentage",
    "percent", "ratio", "calculate", "determine", "identify", "provide", "compute", "including", "include",
    "respectively", "based", "using", "use", "consider", "considering", "ensure", "only", "per", "together",
    "along", "among", "within", "other", "another", "same", "following", "first", "last", "one", "two", "three",
    "four", "five", "ten", "over", "under", "above", "below", "exactly", "details", "information", "result",
    "results", "value", "values", "rounded", "round", "nearest", "decimal", "corresponding", "shown", "display",
    "present", "given", "related", "trend", "trends", "quarter", "quarters", "quarterly",
];

/// Words that do not distinguish terms. For terms of definitions and questions about them: without words such as `show`
/// and `list`, which terms may contain, and with words of time such as `until`.
pub const OF_TERMS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by",
    "can", "could", "did", "do", "does", "during", "each", "ever", "every", "for", "from", "had", "has", "have",
    "having", "he", "her", "here", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "me", "my", "no",
    "not", "of", "on", "only", "or", "our", "ours", "she", "should", "since", "so", "some", "such", "than", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "those", "till", "to", "too", "until", "upon",
    "us", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom", "whose", "why", "will",
    "with", "would", "yet", "you", "your",
];

/// Words that do not indicate the subject of a question. For selecting the sentences of a text that answer it.
pub const OF_QUESTIONS: &[&str] = &[
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "could", "did", "do",
    "does", "for", "from", "give", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "list",
    "many", "me", "much", "must", "my", "of", "on", "or", "our", "should", "show", "so", "tell", "that", "the",
    "their", "there", "these", "this", "to", "was", "we", "what", "when", "where", "which", "who", "with", "you",
];

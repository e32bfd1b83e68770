//! Misspelled keywords.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The keywords of a query.
const WORDS: &[&str] = &[
    "SELECT",
    "DISTINCT",
    "FROM",
    "WHERE",
    "GROUP",
    "HAVING",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "JOIN",
    "INNER",
    "LEFT",
    "RIGHT",
    "OUTER",
    "CROSS",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "WITH",
    "BETWEEN",
    "EXISTS",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "LIKE",
    "VALUES",
    "OVER",
    "PARTITION",
    "DESC",
];

/// Returns the first word that is a misspelling of one of [`WORDS`]: the word, the keyword, and the line.
pub(crate) fn find_misspelled(tokens: &[TokenWithSpan]) -> Option<(String, &'static str, u64)> {
    tokens.iter().find_map(|token| {
        let Token::Word(word) = &token.token else { return None };
        if word.quote_style.is_some() || word.keyword != Keyword::NoKeyword {
            // `FORM` and `FOMR` are not keywords, `FOR` is; it is rarely the misspelled word.
            return None;
        }
        let upper = word.value.to_uppercase();
        let near = |right: &&&str| {
            let far = strsim::osa_distance(&upper, right);
            far == 1 && right.len() >= 4 || far == 2 && right.len() >= 7
        };
        WORDS.iter().find(near).map(|right| (word.value.clone(), *right, token.span.start.line))
    })
}

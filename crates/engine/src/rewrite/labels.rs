//! Names of unnamed columns in MySQL and SQLite, which name them by their text. Re-rendering would change the text, so the
//! original text is added as the name.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token};

use super::Source;
use crate::Dialect;
use crate::position::Positions;

/// The maximum length of a name in characters; a longer text is truncated.
fn max_chars(dialect: Dialect) -> usize {
    if dialect == Dialect::Mysql { 64 } else { 250 }
}

/// Returns the text of each of the `count` items after the SELECT at that position; empty if they cannot be separated.
pub(crate) fn labels(dialect: Dialect, source: &Source<'_>, select: Span, count: usize) -> Vec<String> {
    let Some(first) = source.tokens.iter().position(|token| token.span == select) else { return Vec::new() };
    let places = Positions::new(source.sql);
    let mut items: Vec<Option<(usize, usize)>> = vec![None];
    let (mut depth, mut is_start, mut after_distinct) = (0_usize, true, false);
    for token in &source.tokens[first + 1..] {
        match &token.token {
            Token::Whitespace(_) => continue,
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace if depth == 0 => break,
            Token::RParen | Token::RBracket | Token::RBrace => depth -= 1,
            Token::Comma if depth == 0 => {
                items.push(None);
                is_start = false;
                continue;
            }
            Token::SemiColon | Token::EOF => break,
            Token::Word(word) if depth == 0 && word.quote_style.is_none() => match word.keyword {
                Keyword::DISTINCT | Keyword::ALL if is_start => continue,
                // `IS DISTINCT FROM` is an operator.
                Keyword::FROM if !after_distinct => break,
                Keyword::WHERE
                | Keyword::GROUP
                | Keyword::HAVING
                | Keyword::WINDOW
                | Keyword::ORDER
                | Keyword::LIMIT
                | Keyword::UNION
                | Keyword::EXCEPT
                | Keyword::INTERSECT => break,
                _ => {}
            },
            _ => {}
        }
        after_distinct = matches!(&token.token, Token::Word(word) if word.keyword == Keyword::DISTINCT);
        is_start = false;
        let (start, end) = places.range(token.span);
        if let Some(item) = items.last_mut() {
            *item = Some(item.map_or((start, end), |(first, _)| (first, end)));
        }
    }
    let texts: Option<Vec<String>> =
        items.into_iter().map(|item| item.map(|at| label(dialect, source.sql, at))).collect();
    texts.filter(|texts| texts.len() == count).unwrap_or_default()
}

fn label(dialect: Dialect, sql: &str, (start, end): (usize, usize)) -> String {
    let text = sql.get(start..end).unwrap_or_default();
    // Names in MySQL contain no characters of four bytes; the server replaces them in the same way.
    let shown = |char: char| if dialect == Dialect::Mysql && char > '\u{ffff}' { '?' } else { char };
    let chars = text.chars().filter(|char| *char != '\0').map(shown);
    chars.take(max_chars(dialect)).collect::<String>().trim_end().to_owned()
}

//! What the text of a query says of its result: which columns count rows, which values it selects, whether it leaves rows out.
//!
//! The text is read by its tokens, whatever the dialect. What is not certain is not said: a column is a count only where its
//! whole expression is one.

use std::collections::BTreeMap;

/// What can be said of a query without its rows.
#[derive(Debug, Default)]
pub(super) struct QueryText {
    /// The function that computes a column, by the column's name; both in lower case.
    functions: BTreeMap<String, Option<String>>,
    /// The functions of columns without a name of their own.
    unnamed: Vec<String>,
    /// What columns are compared with.
    pub(super) literals: Vec<Literal>,
    /// The numbers in it.
    pub(super) numbers: Vec<f64>,
    /// Whether it may leave rows out, or nothing is known of it.
    pub(super) is_filtered: bool,
    /// Whether it has groups.
    pub(super) is_grouped: bool,
}

/// A text or a number that a column is compared with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Literal {
    /// The column, in lower case; empty if it is unknown.
    pub(super) column: String,
    pub(super) text: String,
    /// Whether the column equals it, or one of a list with it.
    pub(super) is_equal: bool,
}

#[derive(Debug, PartialEq)]
enum Token {
    /// A word in lower case.
    Word(String),
    Quoted(String),
    Text(String),
    Number(f64),
    Sign(char),
}

/// What opened a parenthesis.
#[derive(Clone, Copy, PartialEq)]
enum Opening {
    Function,
    List,
    Other,
}

/// Words before a parenthesis that call no function.
const KEYWORDS: [&str; 26] = [
    "select",
    "from",
    "where",
    "and",
    "or",
    "not",
    "on",
    "as",
    "values",
    "exists",
    "union",
    "all",
    "any",
    "having",
    "by",
    "then",
    "when",
    "else",
    "case",
    "between",
    "like",
    "ilike",
    "join",
    "with",
    "intersect",
    "except",
];

impl QueryText {
    pub(super) fn read(sql: &str) -> Self {
        let tokens = tokenize(sql);
        let has = |word: &str| tokens.iter().any(|token| matches!(token, Token::Word(found) if found == word));
        let mut text = QueryText {
            is_filtered: tokens.is_empty()
                || ["where", "having", "limit", "qualify", "fetch", "top"].into_iter().any(has),
            is_grouped: has("group"),
            ..QueryText::default()
        };
        text.read_functions(&tokens);
        text.read_literals(&tokens);
        text
    }

    /// The function whose result a column is, such as `count`.
    pub(super) fn function_of(&self, column: &str) -> Option<&str> {
        let column = column.to_lowercase();
        if let Some(function) = self.functions.get(&column) {
            return function.as_deref();
        }
        let name = column.split('(').next().unwrap_or_default().trim_end_matches("_star");
        self.unnamed.iter().map(String::as_str).find(|function| *function == name)
    }

    /// Finds the calls that are the whole of a column.
    fn read_functions(&mut self, tokens: &[Token]) {
        for (at, token) in tokens.iter().enumerate() {
            let Token::Word(function) = token else { continue };
            let begins = at.checked_sub(1).is_none_or(|before| match &tokens[before] {
                Token::Sign(sign) => *sign == ',',
                Token::Word(word) => matches!(word.as_str(), "select" | "distinct" | "all"),
                _ => false,
            });
            if !begins || tokens.get(at + 1) != Some(&Token::Sign('(')) || KEYWORDS.contains(&function.as_str()) {
                continue;
            }
            let Some(mut end) = skip_group(tokens, at + 1) else { continue };
            while let Some(Token::Word(word)) = tokens.get(end) {
                let is_clause = matches!(word.as_str(), "filter" | "over");
                match is_clause.then(|| skip_group(tokens, end + 1)).flatten() {
                    Some(after) => end = after,
                    None => break,
                }
            }
            let has_as = matches!(tokens.get(end), Some(Token::Word(word)) if word == "as");
            end += usize::from(has_as);
            let is_end = |token: Option<&Token>| match token {
                None | Some(Token::Sign(',' | ')' | ';')) => true,
                Some(Token::Word(word)) => word == "from",
                _ => false,
            };
            match tokens.get(end) {
                found if is_end(found) => self.unnamed.push(function.clone()),
                Some(Token::Word(name) | Token::Quoted(name)) if is_end(tokens.get(end + 1)) => {
                    let known = self.functions.entry(name.to_lowercase()).or_insert_with(|| Some(function.clone()));
                    if known.as_ref() != Some(function) {
                        *known = None;
                    }
                }
                _ => {}
            }
        }
    }

    /// Finds the texts and numbers that something is compared with.
    fn read_literals(&mut self, tokens: &[Token]) {
        let mut open: Vec<Opening> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| &tokens[before]);
            match token {
                Token::Sign('(') => open.push(match before {
                    Some(Token::Word(word)) if word == "in" => Opening::List,
                    Some(Token::Word(word)) if KEYWORDS.contains(&word.as_str()) => Opening::Other,
                    Some(Token::Word(_) | Token::Quoted(_)) => Opening::Function,
                    _ => Opening::Other,
                }),
                Token::Sign(')') => {
                    open.pop();
                }
                Token::Number(_) | Token::Text(_) => {
                    let text = match token {
                        Token::Number(number) => {
                            self.numbers.push(*number);
                            number.to_string()
                        }
                        Token::Text(text) => text.trim_matches('%').to_owned(),
                        _ => continue,
                    };
                    let is_in_list = open.last() == Some(&Opening::List);
                    let is_compared = match before {
                        Some(Token::Sign(sign)) => matches!(sign, '=' | '<' | '>'),
                        Some(Token::Word(word)) => matches!(word.as_str(), "like" | "ilike" | "between" | "and"),
                        _ => false,
                    };
                    if is_in_list || is_compared {
                        let is_equal = is_in_list
                            || match before {
                                Some(Token::Sign(sign)) => {
                                    *sign == '='
                                        && !matches!(tokens.get(at.wrapping_sub(2)), Some(Token::Sign('<' | '>' | '!')))
                                }
                                Some(Token::Word(word)) => matches!(word.as_str(), "like" | "ilike"),
                                _ => false,
                            };
                        let column = find_column(&tokens[..at]).unwrap_or_default();
                        self.literals.push(Literal { column, text, is_equal });
                    }
                }
                Token::Word(_) | Token::Quoted(_) | Token::Sign(_) => {}
            }
        }
    }
}

/// The column that stands before a comparison.
fn find_column(tokens: &[Token]) -> Option<String> {
    const BETWEEN: [&str; 7] = ["in", "not", "like", "ilike", "between", "and", "date"];
    tokens.iter().rev().find_map(|token| match token {
        Token::Word(word) if !BETWEEN.contains(&word.as_str()) => Some(word.clone()),
        Token::Quoted(name) => Some(name.to_lowercase()),
        _ => None,
    })
}

/// The place after the parenthesis that closes the one at `open`.
fn skip_group(tokens: &[Token], open: usize) -> Option<usize> {
    if tokens.get(open) != Some(&Token::Sign('(')) {
        return None;
    }
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

fn tokenize(sql: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let (token, taken) = match first {
            '\'' | '"' | '`' => {
                let (text, taken) = read_quoted(rest, first);
                (Some(if first == '\'' { Token::Text(text) } else { Token::Quoted(text) }), taken)
            }
            '-' if rest.starts_with("--") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (None, rest.find("*/").map_or(rest.len(), |end| end + 2)),
            c if c.is_ascii_digit() => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
                (rest[..end].parse().ok().map(Token::Number), end)
            }
            c if is_word(c) => {
                let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
                (Some(Token::Word(rest[..end].to_lowercase())), end)
            }
            c => ((!c.is_whitespace()).then_some(Token::Sign(c)), c.len_utf8()),
        };
        tokens.extend(token);
        rest = &rest[taken..];
    }
    tokens
}

/// The text between quotes, in which two of them stand for one, and how many bytes it takes.
fn read_quoted(rest: &str, quote: char) -> (String, usize) {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return (text, at + 1);
        }
        text.push(c);
    }
    (text, rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_columns_that_count() {
        let check = |sql: &str, column: &str, expected: Option<&str>| {
            assert_eq!(QueryText::read(sql).function_of(column), expected, "{sql}");
        };
        check("SELECT country, COUNT(*) AS n FROM t GROUP BY 1", "n", Some("count"));
        check("SELECT q.n FROM (SELECT count(DISTINCT id) \"N\" FROM t) q", "N", Some("count"));
        check("SELECT COUNT(*) OVER (PARTITION BY a) n FROM t", "n", Some("count"));
        check("SELECT COUNT(*) FILTER (WHERE x = 'a') AS n FROM t", "n", Some("count"));
        check("SELECT COUNT(*) FROM t", "COUNT(*)", Some("count"));
        check("SELECT count(*) FROM t", "count_star()", Some("count"));
        check("SELECT 100.0 * COUNT(*) / 7 AS share FROM t", "share", None);
        check("SELECT COUNT(*) * 1.0 / 7 AS share FROM t", "share", None);
        check("SELECT COUNT(*) AS n FROM a UNION SELECT SUM(x) AS n FROM b", "n", None);
        check("SELECT a -- COUNT(*) AS a\n FROM t", "a", None);
        check("", "n", None);
    }

    #[test]
    fn finds_values_that_columns_are_compared_with() {
        let check = |sql: &str, expected: &[(&str, &str, bool)]| {
            let text = QueryText::read(sql);
            let found: Vec<(&str, &str, bool)> =
                text.literals.iter().map(|one| (one.column.as_str(), one.text.as_str(), one.is_equal)).collect();
            assert_eq!(found, expected, "{sql}");
        };
        check("SELECT 1 FROM t WHERE t.country = 'DE'", &[("country", "DE", true)]);
        check("SELECT 1 FROM t WHERE c NOT IN ('a', 'it''s')", &[("c", "a", true), ("c", "it's", true)]);
        check("SELECT strftime('%Y', d) FROM t WHERE \"D\" >= '2025-01-01'", &[("d", "2025-01-01", false)]);
        check("SELECT 1 FROM t WHERE strftime('%Y', d) = '2025'", &[("d", "2025", true)]);
        check(
            "SELECT 1 FROM t WHERE d BETWEEN '2025-01-01' AND '2025-12-31' AND n LIKE 'A%'",
            &[("d", "2025-01-01", false), ("d", "2025-12-31", false), ("n", "A", true)],
        );
        check("SELECT COALESCE(a, 'none') FROM t WHERE y = 2025 LIMIT 9", &[("y", "2025", true)]);
        check("SELECT 'unclosed", &[]);
    }
}

//! Values for the parameters of a query: `:name` in its text becomes a literal of that value, and every other token of the text
//! remains unchanged.

use std::collections::BTreeSet;

use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer, Word};

use crate::build::Writer;
use crate::position::Positions;
use crate::{Dialect, Engine, Failure, FailureCode};

/// The maximum length of a value in characters.
const MAX_VALUE_CHARS: usize = 1_000;

/// A typed value.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A text, or a date such as `2025-12-31`.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A number, which must be finite.
    Number(f64),
    /// A truth value.
    Boolean(bool),
}

/// A parameter in the text of a query.
struct Placeholder {
    name: String,
    /// The indices of its colon and of its name among the tokens.
    colon: usize,
    word: usize,
}

impl Engine {
    /// Returns the parameter names of a query: each `:name` outside of texts and comments, in alphabetical order.
    ///
    /// # Errors
    /// A [`Failure`] for an unknown database, and for an unterminated text.
    pub fn list_parameters(&self, sql: &str, database: Option<&str>) -> Result<Vec<String>, Failure> {
        let dialect = self.dialects_of(database)?.first().copied().unwrap_or(Dialect::Joined);
        let names: BTreeSet<String> =
            placeholders(&tokenize(dialect, sql)?).into_iter().map(|placeholder| placeholder.name).collect();
        Ok(names.into_iter().collect())
    }

    /// Returns the text of a query with its parameters replaced by values, for [`Engine::run`]. No value can end its literal
    /// early: the result is tokenized again, and must consist of the original tokens and these values.
    ///
    /// # Errors
    /// A [`Failure`] for an unknown database, a parameter without a value, and a value that has no literal.
    pub fn bind(&self, sql: &str, database: Option<&str>, values: &[(String, Literal)]) -> Result<String, Failure> {
        let dialects = self.dialects_of(database)?;
        let bound = bind(dialects.first().copied().unwrap_or(Dialect::Joined), sql, values)?;
        // Without a database, the tables decide the dialect: the result must be the same in each.
        for dialect in dialects.iter().skip(1) {
            if bind(*dialect, sql, values)? != bound {
                return Err(unfit("the databases of this catalog write a value differently")
                    .advise("specify the database of the query"));
            }
        }
        Ok(bound)
    }

    /// Returns the dialects that a query may be written in.
    fn dialects_of(&self, database: Option<&str>) -> Result<Vec<Dialect>, Failure> {
        if let Some(name) = database {
            return Ok(vec![self.sources[self.source(name)?].dialect()]);
        }
        let is_available =
            |dialect: &Dialect| *dialect == Dialect::Joined || self.sources.iter().any(|one| one.dialect() == *dialect);
        Ok(Dialect::ALL.into_iter().filter(is_available).collect())
    }
}

fn unfit(message: impl Into<String>) -> Failure {
    Failure::new(FailureCode::InvalidArguments, message)
}

fn tokenize(dialect: Dialect, sql: &str) -> Result<Vec<TokenWithSpan>, Failure> {
    Tokenizer::new(dialect.grammar(), sql).tokenize_with_location().map_err(|error| {
        Failure::new(FailureCode::Syntax, format!("{}: {error}", dialect.as_str()))
            .advise("close the open quote or comment")
    })
}

/// Finds each colon that is directly followed by a plain word.
fn placeholders(tokens: &[TokenWithSpan]) -> Vec<Placeholder> {
    let pair = |(at, pair): (usize, &[TokenWithSpan])| match (&pair[0].token, &pair[1].token) {
        (Token::Colon, Token::Word(Word { value, quote_style: None, .. })) => {
            Some(Placeholder { name: value.clone(), colon: at, word: at + 1 })
        }
        _ => None,
    };
    tokens.windows(2).enumerate().filter_map(pair).collect()
}

fn bind(dialect: Dialect, sql: &str, values: &[(String, Literal)]) -> Result<String, Failure> {
    let tokens = tokenize(dialect, sql)?;
    let positions = Positions::new(sql);
    let (mut bound, mut expected, mut at, mut token) = (String::new(), Vec::new(), 0, 0);
    for placeholder in placeholders(&tokens) {
        let Some((_, value)) = values.iter().find(|(name, _)| *name == placeholder.name) else {
            return Err(unfit(format!("the parameter `{}` has no value", placeholder.name)));
        };
        let (text, read) = literal(dialect, value)?;
        bound.push_str(&sql[at..positions.range(tokens[placeholder.colon].span).0]);
        bound.push_str(&text);
        at = positions.range(tokens[placeholder.word].span).1;
        expected.extend(tokens[token..placeholder.colon].iter().map(|token| token.token.clone()));
        expected.extend(read);
        token = placeholder.word + 1;
    }
    bound.push_str(&sql[at..]);
    expected.extend(tokens[token..].iter().map(|token| token.token.clone()));
    let read: Vec<Token> = tokenize(dialect, &bound)?.into_iter().map(|token| token.token).collect();
    if read != expected {
        return Err(unfit("a value has no unambiguous literal in the SQL of the query"));
    }
    Ok(bound)
}

/// Returns a literal, and the tokens that it must be parsed as.
fn literal(dialect: Dialect, value: &Literal) -> Result<(String, Vec<Token>), Failure> {
    let number = |digits: String| match digits.strip_prefix('-') {
        Some(rest) => {
            let number = Token::Number(rest.to_owned(), false);
            (format!("(-{rest})"), vec![Token::LParen, Token::Minus, number, Token::RParen])
        }
        None => (digits.clone(), vec![Token::Number(digits, false)]),
    };
    match value {
        Literal::Text(text) if text.chars().count() > MAX_VALUE_CHARS => {
            Err(unfit(format!("a value has more than {MAX_VALUE_CHARS} characters")))
        }
        Literal::Text(text) => Ok((Writer { dialect }.text(text)?, vec![Token::SingleQuotedString(text.clone())])),
        Literal::Integer(whole) => Ok(number(whole.to_string())),
        Literal::Number(value) if value.is_finite() => Ok(number(value.to_string())),
        Literal::Number(_) => Err(unfit("a value is not a finite number")),
        Literal::Boolean(value) => {
            let word = if *value { "TRUE" } else { "FALSE" };
            Ok((word.to_owned(), vec![Token::make_keyword(word)]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dialect: Dialect, sql: &str, value: Literal, expected: Result<&str, &str>) {
        let values = [("v".to_owned(), value)];
        match (bind(dialect, sql, &values), expected) {
            (Ok(bound), Ok(expected)) => assert_eq!(bound, expected),
            (Err(failure), Err(part)) => assert!(failure.message.contains(part), "{failure}"),
            (got, expected) => panic!("{got:?} {expected:?}"),
        }
    }

    fn text(text: &str) -> Literal {
        Literal::Text(text.into())
    }

    #[test]
    fn binds_a_value_to_its_parameter_only() {
        let sql = "SELECT ':v', a::text -- :v\n/* :v */ FROM t WHERE a = :v AND \":v\" = :v";
        let expected = "SELECT ':v', a::text -- :v\n/* :v */ FROM t WHERE a = 'x' AND \":v\" = 'x'";
        check(Dialect::Postgres, sql, text("x"), Ok(expected));
        check(Dialect::Sqlite, "SELECT 1 - :v", Literal::Integer(-2), Ok("SELECT 1 - (-2)"));
        check(Dialect::Sqlite, "SELECT :v", Literal::Number(0.5), Ok("SELECT 0.5"));
        check(Dialect::Joined, "SELECT :v", Literal::Boolean(true), Ok("SELECT TRUE"));
        check(Dialect::Sqlite, "SELECT :v, :w", text("x"), Err("`w` has no value"));
        check(Dialect::Sqlite, "SELECT :v", Literal::Number(f64::NAN), Err("finite"));
    }

    #[test]
    fn no_value_leaves_its_literal() {
        let attacks = [
            "' OR 1=1 --",
            "'; DROP TABLE t; --",
            "\\' OR 1=1 --",
            "\\",
            "''",
            "x' UNION SELECT * FROM secrets --",
            "*/ OR 1=1 /*",
            "\u{2019} OR 1=1",
            "$$ OR 1=1 $$",
            ":v",
            "\n--\n",
            "\"",
            "`",
            "E'\\'' OR 1=1",
            "%_[a]",
            "ü😀",
        ];
        for dialect in Dialect::ALL {
            for attack in attacks {
                let sql = "SELECT a FROM t WHERE a = :v AND b = 1";
                let Ok(bound) = bind(dialect, sql, &[("v".to_owned(), text(attack))]) else { continue };
                let read: Vec<Token> = tokenize(dialect, &bound).unwrap().into_iter().map(|one| one.token).collect();
                let plain = tokenize(dialect, "SELECT a FROM t WHERE a = 'x' AND b = 1").unwrap();
                assert_eq!(read.len(), plain.len(), "{bound}");
                assert!(read.contains(&Token::SingleQuotedString(attack.to_owned())), "{bound}");
            }
        }
        check(Dialect::Sqlite, "SELECT :v", text("it's"), Ok("SELECT 'it''s'"));
        check(Dialect::Sqlite, "SELECT :v", text("a\0b"), Err("zero byte"));
        check(Dialect::Sqlite, "SELECT :v", text(&"x".repeat(2_000)), Err("more than 1000 characters"));
    }
}

//! Texts that this parser and the source parse differently, without a trace of it in the tree. They are rare and easy to
//! rephrase, so they are rejected.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan};

use crate::{Dialect, Failure};

/// Rejects ambiguous texts.
///
/// # Errors
/// A [`Failure`] with the code `refused`, its position and how to rephrase it.
pub(super) fn check(dialect: Dialect, tokens: &[TokenWithSpan]) -> Result<(), Failure> {
    // `1_000`, `0X1F` and `1a` are a number in some versions, and a number with an alias here.
    for pair in tokens.windows(2) {
        if matches!((&pair[0].token, &pair[1].token), (Token::Number(..), Token::Word(_))) {
            return Err(reject("a word directly after a number", pair[1].span, "put a space between them"));
        }
    }
    let words: Vec<&TokenWithSpan> =
        tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).collect();
    for (at, token) in words.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &words[before].token);
        let after = words.get(at + 1).map(|after| &after.token);
        if let Some((what, advice)) = fault(dialect, before, &token.token, after) {
            return Err(reject(what, token.span, advice));
        }
    }
    Ok(())
}

/// Returns what is ambiguous about a token between its neighbours, and how to rephrase it.
fn fault(
    dialect: Dialect,
    before: Option<&Token>,
    token: &Token,
    after: Option<&Token>,
) -> Option<(&'static str, &'static str)> {
    let is_behind_as = matches!(before, Some(Token::Word(word)) if word.keyword == Keyword::AS);
    match token {
        Token::Word(word)
            if word.quote_style.is_none()
                && ["ISNULL", "NOTNULL"].iter().any(|operator| word.value.eq_ignore_ascii_case(operator))
                && matches!(dialect, Dialect::Postgres | Dialect::Sqlite) =>
        {
            Some(("ISNULL and NOTNULL can be operators or names", "write IS NULL or IS NOT NULL"))
        }
        // After a value SQLite parses it as IS NOT NULL, with another precedence than this parser.
        Token::Word(word)
            if word.keyword == Keyword::NOT
                && dialect == Dialect::Sqlite
                && matches!(after, Some(Token::Word(null)) if null.keyword == Keyword::NULL)
                && !matches!(before, Some(Token::Word(is)) if is.keyword == Keyword::IS) =>
        {
            Some(("NOT NULL without IS", "write IS NOT NULL"))
        }
        // The tokenizer of MySQL reads `1.id` and `INTO@a` as one word.
        Token::Word(word) if word.quote_style.is_none() && !is_plain(&word.value) => {
            Some(("a name with characters other than letters, digits and `_`", "quote it, or put spaces around it"))
        }
        Token::Word(word)
            if word.quote_style.is_none()
                && word.value.eq_ignore_ascii_case("SQL_CACHE")
                && dialect == Dialect::Mysql =>
        {
            Some(("SQL_CACHE can be a hint or a name", "remove it"))
        }
        Token::Word(word) if word.quote_style.is_none() => match word.keyword {
            // It binds more tightly than in this parser.
            Keyword::BINARY
                if dialect == Dialect::Mysql
                    && !is_behind_as
                    && !(matches!(before, Some(Token::Comma))
                        && matches!(after, Some(Token::LParen | Token::RParen))) =>
            {
                Some(("BINARY before a value", "write CAST(... AS BINARY)"))
            }
            // PostgreSQL accepts a SELECT without columns, and this parser reads the word as one.
            Keyword::WHERE | Keyword::GROUP | Keyword::HAVING | Keyword::WINDOW | Keyword::ORDER | Keyword::LIMIT
                if dialect == Dialect::Postgres
                    && matches!(before, Some(Token::Word(select)) if select.keyword == Keyword::SELECT) =>
            {
                Some(("SELECT without columns", "name the columns"))
            }
            Keyword::INTERVAL if dialect == Dialect::Postgres && matches!(after, Some(Token::LParen)) => {
                Some(("INTERVAL with a precision or in parentheses", "write INTERVAL '1 day'"))
            }
            _ => None,
        },
        // This parser reads `\a` and `\f` as control characters, and MySQL as the letters.
        Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) | Token::NationalStringLiteral(text)
            if dialect == Dialect::Mysql && text.contains(['\u{7}', '\u{c}']) =>
        {
            Some((
                "`\\a` or `\\f` in a text, or the control characters they represent elsewhere",
                "write the letter, or CHAR(7) or CHAR(12)",
            ))
        }
        // The source reads adjacent texts as one text, or as a text and an alias.
        _ if is_text(token) && before.is_some_and(is_text) => {
            Some(("a text directly after a text", "write them as one text"))
        }
        _ => None,
    }
}

/// Returns whether every tokenizer reads this as one word. Words that start with `@`, `:`, `$` or `#` are not names and are
/// rejected elsewhere.
fn is_plain(word: &str) -> bool {
    let rest = word.trim_start_matches(['@', ':', '$', '#', '?']);
    rest.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$') || !c.is_ascii() && c != '\u{feff}')
}

fn is_text(token: &Token) -> bool {
    matches!(
        token,
        Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_)
            | Token::NationalStringLiteral(_)
            | Token::EscapedStringLiteral(_)
            | Token::UnicodeStringLiteral(_)
            | Token::DollarQuotedString(_)
            | Token::HexStringLiteral(_)
            | Token::SingleQuotedByteStringLiteral(_)
    )
}

fn reject(what: &str, span: Span, advice: &str) -> Failure {
    let Location { line, column } = span.start;
    Failure::refuse(format!("{what} in line {line}, column {column}")).advise(advice)
}

#[cfg(test)]
mod tests {
    use crate::{Dialect, FailureCode, check};

    #[test]
    fn rejects_ambiguous_texts() {
        for (dialect, sql) in [
            (Dialect::Sqlite, "SELECT 0X1f"),
            (Dialect::Sqlite, "SELECT 1_000"),
            (Dialect::Postgres, "SELECT 1 ISNULL"),
            (Dialect::Postgres, "SELECT WHERE true"),
            (Dialect::Postgres, "SELECT 1 UNION SELECT limit"),
            (Dialect::Sqlite, "SELECT 1 NOTNULL"),
            (Dialect::Sqlite, "SELECT name NOT NULL | id FROM people"),
            (Dialect::Sqlite, "SELECT --\n\u{feff}* FROM people"),
            (Dialect::Postgres, "SELECT 'a'\n'b'"),
            (Dialect::Postgres, "SELECT E'a' -- c\n'b'"),
            (Dialect::Mysql, "SELECT N'a' 'b'"),
            (Dialect::Mysql, r#"SELECT N'a' "b""#),
            (Dialect::Mysql, "SELECT BINARY 'a' = 'A'"),
            (Dialect::Mysql, "SELECT SQL_CACHE id FROM people"),
            (Dialect::Mysql, "SELECT 1 INTO@a"),
            (Dialect::Mysql, r"SELECT 'b\a'"),
            (Dialect::Mysql, r#"SELECT "\f""#),
            (Dialect::Mysql, "SELECT 1.id FROM people"),
            (Dialect::Postgres, "SELECT interval(0) '1.6 s'"),
        ] {
            assert_eq!(
                check(dialect, sql).map_err(|failure| failure.code),
                Err(FailureCode::Refused),
                "{dialect:?}: {sql}"
            );
        }
    }

    #[test]
    fn nothing_is_left_behind_the_end() {
        for dialect in Dialect::ALL {
            for sql in ["SELECT 1 END", "SELECT 1 END DELETE FROM people", "SELECT id end FROM people"] {
                assert!(check(dialect, sql).is_err(), "{dialect:?}: {sql}");
            }
        }
    }

    #[test]
    fn accepts_similar_unambiguous_texts() {
        for (dialect, sql) in [
            (Dialect::Mysql, "SELECT CAST('a' AS BINARY), CONVERT('a', BINARY(3))"),
            (Dialect::Postgres, "SELECT INTERVAL '1 day', 1 AS one, 1e5"),
            (Dialect::Sqlite, "SELECT 'a' || 'b', 1 IS NULL"),
        ] {
            assert_eq!(check(dialect, sql), Ok(()), "{dialect:?}: {sql}");
        }
    }
}

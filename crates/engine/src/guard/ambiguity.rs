//! Texts that our parser reads otherwise than the source does, without a trace of it in the tree. They are rare and can be
//! written in another way, so that they are refused.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan};

use crate::{Dialect, Failure};

/// Refuses what is read in two ways.
///
/// # Errors
/// [`Failure`] with the code `refused`: what, where, and how to write it.
pub(super) fn check(dialect: Dialect, tokens: &[TokenWithSpan]) -> Result<(), Failure> {
    // `1_000`, `0X1F` and `1a` are a number in some versions, and a number with an alias here.
    for pair in tokens.windows(2) {
        if matches!((&pair[0].token, &pair[1].token), (Token::Number(..), Token::Word(_))) {
            return Err(no("a word stands right behind a number", pair[1].span, "put a blank between them"));
        }
    }
    let words: Vec<&TokenWithSpan> =
        tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).collect();
    for (at, token) in words.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &words[before].token);
        let after = words.get(at + 1).map(|after| &after.token);
        if let Some((what, advice)) = fault(dialect, before, &token.token, after) {
            return Err(no(what, token.span, advice));
        }
    }
    Ok(())
}

/// What is wrong with a token between its neighbours, and how to write it.
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
            Some(("ISNULL and NOTNULL are operators, and names here", "write IS NULL or IS NOT NULL"))
        }
        // Behind a value SQLite takes it for IS NOT NULL, which binds otherwise than in the parser.
        Token::Word(word)
            if word.keyword == Keyword::NOT
                && dialect == Dialect::Sqlite
                && matches!(after, Some(Token::Word(null)) if null.keyword == Keyword::NULL)
                && !matches!(before, Some(Token::Word(is)) if is.keyword == Keyword::IS) =>
        {
            Some(("NOT NULL without IS", "write IS NOT NULL"))
        }
        // The tokenizer of MySQL takes `1.id` and `INTO@a` for one word.
        Token::Word(word) if word.quote_style.is_none() && !is_plain(&word.value) => {
            Some(("a name with other characters than letters, digits and `_`", "put it in quotes, or blanks around it"))
        }
        Token::Word(word)
            if word.quote_style.is_none()
                && word.value.eq_ignore_ascii_case("SQL_CACHE")
                && dialect == Dialect::Mysql =>
        {
            Some(("SQL_CACHE is a hint, and a name here", "leave it out"))
        }
        Token::Word(word) if word.quote_style.is_none() => match word.keyword {
            // It binds tighter than what the parser takes for its operand.
            Keyword::BINARY
                if dialect == Dialect::Mysql
                    && !is_behind_as
                    && !(matches!(before, Some(Token::Comma))
                        && matches!(after, Some(Token::LParen | Token::RParen))) =>
            {
                Some(("BINARY before a value", "write CAST(... AS BINARY)"))
            }
            // PostgreSQL takes a SELECT without columns, and the parser the word for one.
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
        // The parser takes `\a` and `\f` for control characters, and MySQL for the letters.
        Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) | Token::NationalStringLiteral(text)
            if dialect == Dialect::Mysql && text.contains(['\u{7}', '\u{c}']) =>
        {
            Some((
                "`\\a` or `\\f` in a text, or what they stand for elsewhere",
                "write the letter, or CHAR(7) or CHAR(12)",
            ))
        }
        // Texts one after the other are one text to the source, or a text and an alias.
        _ if is_text(token) && before.is_some_and(is_text) => {
            Some(("a text stands right behind a text", "write them as one"))
        }
        _ => None,
    }
}

/// Whether every tokenizer takes this for one word. What begins with `@`, `:`, `$` or `#` is no name and refused as such.
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

fn no(what: &str, span: Span, advice: &str) -> Failure {
    let Location { line, column } = span.start;
    Failure::refuse(format!("{what} in line {line}, column {column}")).advise(advice)
}

#[cfg(test)]
mod tests {
    use crate::{Dialect, FailureCode, check};

    #[test]
    fn what_is_read_in_two_ways_is_refused() {
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
    fn what_looks_alike_is_let_through() {
        for (dialect, sql) in [
            (Dialect::Mysql, "SELECT CAST('a' AS BINARY), CONVERT('a', BINARY(3))"),
            (Dialect::Postgres, "SELECT INTERVAL '1 day', 1 AS one, 1e5"),
            (Dialect::Sqlite, "SELECT 'a' || 'b', 1 IS NULL"),
        ] {
            assert_eq!(check(dialect, sql), Ok(()), "{dialect:?}: {sql}");
        }
    }
}

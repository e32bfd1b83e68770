//! Parsing of untrusted SQL in bounded time and stack.
//!
//! The dialects of sqlparser are wrapped: parsing steps are counted and the stack is measured, so that text that is
//! nested too deeply or is too ambiguous is an error.

mod bounded;
mod dialect;

use sqlparser::ast::{Expr, Statement};
use sqlparser::dialect::Dialect as Grammar;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use bounded::Bounded;
pub use dialect::Dialect;

/// The functions of SQLite that a query may call, in lower case and separated by white space. A line that starts with `#`
/// is a comment. Names with a `!` prefix are known to SQLite, but no query may call them.
pub const SQLITE_FUNCTIONS: &str = include_str!("sqlite/functions.txt");

/// The maximum nesting depth of brackets in a parsed text.
pub const MAX_NESTING: usize = 60;

/// The maximum number of consecutive opening parentheses. Each may start a query or a join, and the parser tries both.
pub const MAX_PARENTHESES_IN_A_ROW: usize = 12;

/// Maximum number of parser steps; a long script of one statement takes a few thousand.
const MAX_STEPS: u32 = 200_000;

/// Additional steps per byte of a text that is parsed in several dialects: one dialect takes about one per word.
const STEPS_PER_BYTE: u32 = 20;

/// Stack size of one parse in bytes. It is reserved, and only used as far as the text is nested.
const STACK: usize = 16 << 20;

/// Parses a text into its statements, in bounded time and without overflowing the stack.
///
/// # Errors
/// The error of sqlparser; [`ParserError::RecursionLimitExceeded`] if the text is nested too deeply or takes too many
/// attempts to parse.
pub fn parse_text(dialect: &'static dyn Grammar, text: &str) -> Result<Vec<Statement>, ParserError> {
    parse(dialect, Tokenizer::new(dialect, text).tokenize_with_location()?, false)
}

/// Parses tokens, all of which must belong to the statements.
///
/// # Errors
/// The same as for [`parse_text`], and if tokens are left after the last statement.
pub fn parse_tokens(dialect: &'static dyn Grammar, tokens: Vec<TokenWithSpan>) -> Result<Vec<Statement>, ParserError> {
    parse(dialect, tokens, true)
}

/// Parses a text that is one expression.
///
/// # Errors
/// The same as for [`parse_text`], and if tokens are left after the expression.
pub fn parse_expression(dialect: &'static dyn Grammar, text: &str) -> Result<Expr, ParserError> {
    let tokens = Tokenizer::new(dialect, text).tokenize_with_location()?;
    parse_within(dialect, tokens, MAX_STEPS, |parser| whole(parser, |parser| parser.parse_expr())).0
}

/// The remaining parser steps of related texts, such as the statements of a file.
#[derive(Debug)]
pub(crate) struct Budget(u32);

impl Budget {
    /// Returns a budget for a text of that length, parsed in several dialects, including a few texts that exhaust their
    /// share.
    pub(crate) fn of_bytes(bytes: usize) -> Self {
        Budget(in_proportion(10 * MAX_STEPS, bytes))
    }

    /// Whether the budget is exhausted.
    #[cfg(test)]
    pub(crate) fn is_spent(&self) -> bool {
        self.0 == 0
    }

    /// Parses a text in the first of these dialects that accepts it, within the budget and the share of one text. Every
    /// dialect that rejects it is passed to the callback. No further dialect is tried if the steps are exhausted or the
    /// text is nested too deeply.
    pub(crate) fn parse_in_any(
        &mut self,
        dialects: &[&'static dyn Grammar],
        text: &str,
        mut failed: impl FnMut(&ParserError),
    ) -> Option<Vec<Statement>> {
        let mut allowed = self.0.min(in_proportion(MAX_STEPS / 20, text.len()));
        for dialect in dialects {
            let tokens = Tokenizer::new(*dialect, text).tokenize_with_location().map_err(ParserError::from);
            let (parsed, left) = match tokens {
                Ok(tokens) => parse_within(*dialect, tokens, allowed, |parser| parser.parse_statements()),
                Err(error) => (Err(error), allowed),
            };
            self.0 -= allowed - left;
            allowed = left;
            match parsed {
                Ok(statements) => return Some(statements),
                Err(error) => {
                    failed(&error);
                    if error == ParserError::RecursionLimitExceeded {
                        break;
                    }
                }
            }
        }
        None
    }
}

/// Returns a number of steps that grows with the length of a text.
fn in_proportion(least: u32, bytes: usize) -> u32 {
    least.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX).saturating_mul(STEPS_PER_BYTE))
}

fn parse(
    dialect: &'static dyn Grammar,
    tokens: Vec<TokenWithSpan>,
    is_whole: bool,
) -> Result<Vec<Statement>, ParserError> {
    // The parser stops silently at tokens that it takes for the end of a block.
    let read = |parser: &mut Parser<'_>| match is_whole {
        true => whole(parser, |parser| parser.parse_statements()),
        false => parser.parse_statements(),
    };
    parse_within(dialect, tokens, MAX_STEPS, read).0
}

/// Returns the result if no tokens are left after it.
fn whole<T>(
    parser: &mut Parser<'_>,
    read: impl FnOnce(&mut Parser<'_>) -> Result<T, ParserError>,
) -> Result<T, ParserError> {
    let parsed = read(parser)?;
    let rest = parser.peek_token();
    if rest.token != Token::EOF {
        let message = format!("unexpected `{}` after the end{}", rest.token, rest.span.start);
        return Err(ParserError::ParserError(message));
    }
    Ok(parsed)
}

/// The only place that creates a parser of sqlparser. Also returns the number of steps left.
#[allow(clippy::disallowed_methods, reason = "the parser is bounded here")]
fn parse_within<T>(
    dialect: &'static dyn Grammar,
    tokens: Vec<TokenWithSpan>,
    steps: u32,
    read: impl FnOnce(&mut Parser<'_>) -> Result<T, ParserError>,
) -> (Result<T, ParserError>, u32) {
    if is_too_deep(&tokens) {
        return (Err(ParserError::RecursionLimitExceeded), steps);
    }
    stacker::grow(STACK, || {
        let bounded = Bounded::new(dialect, steps);
        let parsed = read(&mut Parser::new(&bounded).with_tokens_with_locations(tokens));
        (parsed, bounded.steps_left())
    })
}

/// Whether brackets are nested more deeply than the parser can handle at bounded cost.
fn is_too_deep(tokens: &[TokenWithSpan]) -> bool {
    let (mut depth, mut in_a_row, mut is_after_type) = (0_usize, 0_usize, false);
    for token in tokens.iter().map(|token| &token.token).filter(|token| !matches!(token, Token::Whitespace(_))) {
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::Lt if is_after_type => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace | Token::Gt => depth = depth.saturating_sub(1),
            Token::ShiftRight => depth = depth.saturating_sub(2),
            _ => {}
        }
        in_a_row = if matches!(token, Token::LParen) { in_a_row + 1 } else { 0 };
        is_after_type = matches!(token, Token::Word(word) if matches!(
            word.keyword,
            Keyword::ARRAY | Keyword::STRUCT | Keyword::MAP | Keyword::TUPLE | Keyword::NESTED
        ));
        if depth > MAX_NESTING || in_a_row > MAX_PARENTHESES_IN_A_ROW {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::{
        BigQueryDialect, ClickHouseDialect, DuckDbDialect, GenericDialect, HiveDialect, MsSqlDialect, MySqlDialect,
        PostgreSqlDialect, SQLiteDialect, SnowflakeDialect,
    };

    use super::*;

    const DIALECTS: [&dyn Grammar; 10] = [
        &GenericDialect {},
        &PostgreSqlDialect {},
        &MySqlDialect {},
        &SQLiteDialect {},
        &BigQueryDialect {},
        &MsSqlDialect {},
        &SnowflakeDialect {},
        &HiveDialect {},
        &ClickHouseDialect {},
        &DuckDbDialect {},
    ];

    /// Texts whose parse would not end, or would overflow the stack; each fails quickly.
    #[test]
    fn aborts_exponential_parses() {
        let nested = |open: &str, times: usize, core: &str, close: &str| {
            format!("SELECT {}{core}{}", open.repeat(times), close.repeat(times))
        };
        let texts = [
            nested("CAST(", 24, "1", ""),
            nested("CAST(", 45, "1 1", " AS INT)"),
            nested("EXTRACT(YEAR FROM ", 45, "1 1", ")"),
            nested("TRIM(", 45, "1 1", ")"),
            nested("CASE WHEN ", 45, "1 1", " THEN 1 END"),
            nested("INTERVAL ", 3_000, "1 1", ""),
            nested("NOT ", 3_000, "1 1", ""),
            nested("- ", 3_000, "1 1", ""),
            nested("EXISTS (SELECT ", 40, "1 1", ")"),
            nested("f(x => ", 55, "1 1", ")"),
            nested("{fn f(", 28, "1 1", ")}"),
            format!("CREATE TABLE t (a {}INT{})", "ARRAY<".repeat(4_200), ">".repeat(4_200)),
            format!("CREATE TABLE t (a {}INT{})", "STRUCT<b ".repeat(4_200), ">".repeat(4_200)),
            format!("CREATE TABLE t (a INT DEFAULT {}1 1{})", "CAST(".repeat(26), " AS INT)".repeat(26)),
            format!("SELECT * FROM {}t JOIN", "(".repeat(40)),
            format!("SELECT * FROM {}t JOIN", "( (SELECT * FROM ".repeat(25)),
        ];
        for text in &texts {
            for dialect in DIALECTS {
                assert!(parse_text(dialect, text).is_err(), "{dialect:?}: {}", &text[..60]);
            }
        }
    }

    /// A single expression is limited like one in a statement.
    #[test]
    fn aborts_exponential_expressions() {
        let mut refused = 0;
        for (open, close) in [
            ("ARRAY[", "]"),
            ("CAST(", " AS INT)"),
            ("CAST/**/(", ""),
            ("CEIL/**/(", ")"),
            ("FLOOR(", ""),
            ("POSITION(", ""),
            ("CONVERT(", ""),
            ("EXTRACT(YEAR FROM ", ")"),
            ("SUBSTRING -- a\n(", ""),
            ("TRIM(", ")"),
            ("CASE WHEN ", " THEN 1 END"),
            ("f(x => ", ")"),
        ] {
            for times in [30, 200] {
                let text = format!("sum({}1 1{})", open.repeat(times), close.repeat(times));
                for dialect in DIALECTS.into_iter().take(5) {
                    assert!(parse_expression(dialect, &text).is_err(), "{dialect:?}: {open} {times}");
                    refused += 1;
                }
            }
        }
        assert_eq!(refused, 120);
        assert!(parse_expression(&GenericDialect {}, "sum(a * 2) / count(*)").is_ok());
        assert!(parse_expression(&GenericDialect {}, "a b").is_err());
    }

    /// A limited parser accepts the same texts as the original.
    #[test]
    #[allow(clippy::disallowed_methods, reason = "the plain parser is what is compared with")]
    fn parses_ordinary_statements_like_the_original() {
        let texts = [
            include_str!("../../engine/tests/corpus/harmless.sql"),
            include_str!("../../engine/tests/corpus/common.sql"),
            include_str!("../../engine/tests/corpus/postgres.sql"),
            include_str!("../../engine/tests/corpus/mysql.sql"),
            include_str!("../../engine/tests/corpus/sqlite.sql"),
        ];
        let mut read = 0;
        for line in texts.iter().flat_map(|text| text.lines()).filter(|line| !line.starts_with("##")) {
            let line = line.split(" --> ").next().unwrap_or(line);
            for dialect in DIALECTS {
                let plain = Parser::parse_sql(dialect, line).ok();
                read += usize::from(plain.is_some());
                assert_eq!(parse_text(dialect, line).ok(), plain, "{dialect:?}: {line}");
            }
        }
        assert!(read > 2_000, "{read}");
    }

    #[test]
    fn accepts_typical_nesting() {
        let sum = |times: usize| format!("SELECT {}1{}", "(1 + ".repeat(times), ")".repeat(times));
        let calls = |times: usize| format!("SELECT {}1{}", "coalesce(".repeat(times), ", 0)".repeat(times));
        let cases = "CASE WHEN a = 1 THEN 'x' ".to_owned() + &"WHEN a = 2 THEN 'y' ".repeat(300) + "END";
        for text in
            [sum(20), calls(8), format!("SELECT {cases} FROM t"), format!("SELECT {}", "1 + ".repeat(400) + "1")]
        {
            for dialect in DIALECTS {
                assert!(parse_text(dialect, &text).is_ok(), "{dialect:?}: {}", &text[..40]);
            }
        }
    }
}

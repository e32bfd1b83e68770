//! The first of three locks: a statement must be plainly one query, of which every part is known to only read and compute.
//!
//! What cannot be parsed is refused, not passed on; what can is written anew, see [`crate::rewrite`]. Length, nesting and
//! the work of the parser are bounded.

mod ambiguity;
mod fields;

use prospector_connect::sql;
use sqlparser::ast::{Query, Statement};
use sqlparser::keywords::Keyword;
use sqlparser::parser::ParserError;
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, Whitespace};

pub(crate) use fields::GET_FIELD;

use crate::rewrite::{RewrittenQuery, Source, TOP, rewrite};
use crate::typo::find_misspelled;
use crate::{Dialect, Failure, FailureCode};

/// A longer text is no query that somebody wrote.
const MAX_STATEMENT_CHARS: usize = 20_000;

/// The same for its words, numbers and signs.
const MAX_TOKENS: usize = 4_000;

/// Each of them can nest what it connects in what is connected already.
const MAX_OPERATORS: usize = 500;

/// A statement that is one query.
#[derive(Debug, Clone)]
pub(crate) struct CheckedQuery {
    pub(crate) query: Box<Query>,
    /// The query as it is spelled for a source.
    pub(crate) rewritten: RewrittenQuery,
}

/// Refuses every text that is not plainly one query that only reads. Whether its tables and columns exist is not
/// checked.
///
/// # Errors
/// A [`Failure`] with the code `refused`, `syntax`, `unknown_function` or `too_large`: what is wrong, where, and what
/// to do instead.
pub fn check(dialect: Dialect, sql: &str) -> Result<(), Failure> {
    examine(dialect, &[], sql).map(drop)
}

/// The query, where the statement is one. `functions` are those that may be called beyond the usual ones.
///
/// # Errors
/// As for [`check`], and `unknown_function` or `too_large`.
pub(crate) fn examine(dialect: Dialect, functions: &[String], sql: &str) -> Result<CheckedQuery, Failure> {
    if sql.len() > MAX_STATEMENT_CHARS {
        let message = format!("the statement has {} characters, and {MAX_STATEMENT_CHARS} are allowed", sql.len());
        return Err(Failure::refuse(message).advise("ask for less at once"));
    }
    if sql.contains('\0') {
        return Err(Failure::refuse("there is a zero byte in the statement").advise("leave it out"));
    }
    let mut tokens = Tokenizer::new(dialect.grammar(), sql).tokenize_with_location().map_err(|error| {
        Failure::new(FailureCode::Syntax, format!("{}: {error}", dialect.as_str())).advise("close what is open")
    })?;
    if tokens.len() > MAX_TOKENS {
        let message = format!("the statement has {} words and signs, and {MAX_TOKENS} are allowed", tokens.len());
        return Err(Failure::refuse(message).advise("ask for less at once"));
    }
    if tokens.iter().filter(|token| is_operator(&token.token)).count() > MAX_OPERATORS {
        let message = format!("the statement has more than {MAX_OPERATORS} operators");
        return Err(Failure::refuse(message).advise("ask for less at once; write long lists with IN (...)"));
    }
    // MySQL would run it: who wrote it meant more than a comment.
    let is_hidden_code = |token: &TokenWithSpan| {
        matches!(&token.token, Token::Whitespace(Whitespace::MultiLineComment(text))
            if text.starts_with('!') || text.starts_with("M!"))
    };
    if tokens.iter().any(is_hidden_code) || dialect == Dialect::Mysql && sql.contains("/*!") {
        let message = "a comment of the form `/*! ... */` is run by MySQL";
        return Err(Failure::refuse(message).advise("leave the comment out"));
    }
    if dialect == Dialect::Joined {
        // Names of the engine's own dialect match whatever their case.
        for token in &mut tokens {
            if let Token::Word(word) = &mut token.token {
                word.value = word.value.to_lowercase();
            }
        }
    }
    let written = tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).count();
    if written == 0 {
        return Err(Failure::new(FailureCode::Syntax, "the statement is empty").advise("write one SELECT"));
    }
    let words = tokens.clone();
    check_balance(&words)?;
    ambiguity::check(dialect, &words)?;
    let statements = sql::parse_tokens(dialect.grammar(), tokens).map_err(|error| match error {
        ParserError::RecursionLimitExceeded => {
            let message = "the statement is nested too deep, or can be read in too many ways";
            Failure::refuse(message).advise("put parts of it into WITH, and use fewer brackets inside one another")
        }
        error => explain_syntax(dialect, &error.to_string(), &words),
    })?;
    let mut statements = statements.into_iter();
    let (Some(statement), rest) = (statements.next(), statements.count()) else {
        return Err(Failure::new(FailureCode::Syntax, "the statement is empty").advise("write one SELECT"));
    };
    if rest > 0 {
        let message = format!("there are {} statements, and one is allowed", rest + 1);
        return Err(Failure::refuse(message).advise("send each as a query of its own"));
    }
    let Statement::Query(mut query) = statement else {
        return Err(not_a_query(&start(&words)));
    };
    if dialect == Dialect::Joined {
        fields::call_fields(&mut query);
    }
    let rewritten = rewrite(dialect, functions, Source { sql, tokens: &words }, &query)?;
    Ok(CheckedQuery { query, rewritten })
}

/// Whether every parenthesis is closed: what is open at the end costs the parser more attempts the deeper it is.
fn check_balance(tokens: &[TokenWithSpan]) -> Result<(), Failure> {
    let mut open: Vec<Span> = Vec::new();
    for token in tokens {
        match token.token {
            Token::LParen => open.push(token.span),
            Token::RParen if open.pop().is_none() => {
                let Location { line, column } = token.span.start;
                let message = format!("a `)` in line {line}, column {column} closes nothing");
                return Err(Failure::new(FailureCode::Syntax, message).advise("leave it out, or open it"));
            }
            _ => {}
        }
    }
    match open.last() {
        None => Ok(()),
        Some(span) => {
            let Location { line, column } = span.start;
            let message = format!("the `(` in line {line}, column {column} is not closed");
            Err(Failure::new(FailureCode::Syntax, message).advise("close what is open"))
        }
    }
}

/// Whether a SELECT takes the first rows as SQL Server has it: `SELECT TOP 5`.
fn has_top(tokens: &[TokenWithSpan]) -> bool {
    let plain: Vec<&Token> =
        tokens.iter().map(|token| &token.token).filter(|token| !matches!(token, Token::Whitespace(_))).collect();
    let is = |token: &Token, keyword| matches!(token, Token::Word(word) if word.keyword == keyword);
    plain.windows(3).any(|three| {
        is(three[0], Keyword::SELECT) && is(three[1], Keyword::TOP) && matches!(three[2], Token::Number(..))
    })
}

fn not_a_query(start: &str) -> Failure {
    let failure = Failure::refuse(format!("`{start}` is not a query: only SELECT is run"));
    let first = start.split_whitespace().next().unwrap_or_default().to_lowercase();
    match first.as_str() {
        "show" | "describe" | "desc" | "explain" | "pragma" | "use" => {
            failure.advise("write one SELECT, or SHOW TABLES, SHOW DATABASES or DESCRIBE TABLE")
        }
        _ => failure.advise("write one SELECT; nothing can be changed here"),
    }
}

/// The first words of a statement.
fn start(tokens: &[TokenWithSpan]) -> String {
    let words = tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).take(2);
    let text = words.map(|token| token.token.to_string()).collect::<Vec<_>>().join(" ");
    text.chars().take(40).collect()
}

/// Whether it connects what stands before it with what stands after it.
fn is_operator(token: &Token) -> bool {
    match token {
        Token::Word(word) => matches!(
            word.keyword,
            Keyword::AND
                | Keyword::OR
                | Keyword::XOR
                | Keyword::DIV
                | Keyword::UNION
                | Keyword::EXCEPT
                | Keyword::INTERSECT
                | Keyword::MINUS
                | Keyword::IS
                | Keyword::IN
                | Keyword::LIKE
                | Keyword::ILIKE
                | Keyword::BETWEEN
                | Keyword::COLLATE
                | Keyword::AT
                | Keyword::NOT
        ),
        Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::DoubleQuotedString(_)
        | Token::Comma
        | Token::Period
        | Token::LParen
        | Token::RParen
        | Token::SemiColon
        | Token::Whitespace(_)
        | Token::EOF => false,
        _ => true,
    }
}

fn explain_syntax(dialect: Dialect, error: &str, tokens: &[TokenWithSpan]) -> Failure {
    let error = error.trim_start_matches("sql parser error: ");
    let failure = Failure::new(FailureCode::Syntax, format!("this is not a query in {}: {error}", dialect.as_str()));
    if has_top(tokens) {
        return failure.advise(TOP);
    }
    match find_misspelled(tokens) {
        Some((wrong, right, line)) => {
            failure.advise(format!("did you mean `{right}` instead of `{wrong}` in line {line}?"))
        }
        None => failure.advise("write one SELECT in the SQL of the source"),
    }
}

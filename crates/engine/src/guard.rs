//! The first of three safeguards: a statement must be exactly one query, every part of which is known to only read and compute.
//!
//! What cannot be parsed is rejected; what can be parsed is re-rendered, see [`crate::rewrite`]. Length, nesting and the work
//! of the parser are limited.

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

/// The maximum length of a statement in characters.
const MAX_STATEMENT_CHARS: usize = 20_000;

/// The maximum number of tokens of a statement.
const MAX_TOKENS: usize = 4_000;

/// The maximum number of operators: each can add a level of nesting.
const MAX_OPERATORS: usize = 500;

/// A statement that is one query.
#[derive(Debug, Clone)]
pub(crate) struct CheckedQuery {
    pub(crate) query: Box<Query>,
    /// The query as it is rendered for a source.
    pub(crate) rewritten: RewrittenQuery,
}

/// Rejects every text that is not exactly one read-only query. Whether its tables and columns exist is not checked.
///
/// # Errors
/// A [`Failure`] with the code `refused`, `syntax`, `unknown_function` or `too_large`, its position and a suggestion.
pub fn check(dialect: Dialect, sql: &str) -> Result<(), Failure> {
    examine(dialect, &[], sql).map(drop)
}

/// Returns the query of a statement. `functions` are allowed in addition to the allow-list.
///
/// # Errors
/// As for [`check`], and `unknown_function` or `too_large`.
pub(crate) fn examine(dialect: Dialect, functions: &[String], sql: &str) -> Result<CheckedQuery, Failure> {
    if sql.len() > MAX_STATEMENT_CHARS {
        let message = format!("the statement has {} characters; the maximum is {MAX_STATEMENT_CHARS}", sql.len());
        return Err(Failure::refuse(message).advise("split the query into smaller ones"));
    }
    if sql.contains('\0') {
        return Err(Failure::refuse("the statement contains a zero byte").advise("remove it"));
    }
    let mut tokens = Tokenizer::new(dialect.grammar(), sql).tokenize_with_location().map_err(|error| {
        Failure::new(FailureCode::Syntax, format!("{}: {error}", dialect.as_str()))
            .advise("close the open quote or comment")
    })?;
    if tokens.len() > MAX_TOKENS {
        let message = format!("the statement has {} tokens; the maximum is {MAX_TOKENS}", tokens.len());
        return Err(Failure::refuse(message).advise("split the query into smaller ones"));
    }
    if tokens.iter().filter(|token| is_operator(&token.token)).count() > MAX_OPERATORS {
        let message = format!("the statement has more than {MAX_OPERATORS} operators");
        return Err(
            Failure::refuse(message).advise("split the query into smaller ones; write long lists with IN (...)")
        );
    }
    // MySQL executes the content of such comments.
    let is_hidden_code = |token: &TokenWithSpan| {
        matches!(&token.token, Token::Whitespace(Whitespace::MultiLineComment(text))
            if text.starts_with('!') || text.starts_with("M!"))
    };
    if tokens.iter().any(is_hidden_code) || dialect == Dialect::Mysql && sql.contains("/*!") {
        let message = "a comment of the form `/*! ... */` is run by MySQL";
        return Err(Failure::refuse(message).advise("remove the comment"));
    }
    if dialect == Dialect::Joined {
        // Names in the dialect of joined queries are case-insensitive.
        for token in &mut tokens {
            if let Token::Word(word) = &mut token.token {
                word.value = word.value.to_lowercase();
            }
        }
    }
    let words = tokens.clone();
    check_balance(&words)?;
    ambiguity::check(dialect, &words)?;
    let statements = sql::parse_tokens(dialect.grammar(), tokens).map_err(|error| match error {
        ParserError::RecursionLimitExceeded => {
            let message = "the statement is nested too deeply, or too ambiguous to parse";
            Failure::refuse(message).advise("move parts of it into WITH, and nest fewer parentheses")
        }
        error => explain_syntax(dialect, &error.to_string(), &words),
    })?;
    let mut statements = statements.into_iter();
    let (Some(statement), rest) = (statements.next(), statements.count()) else {
        return Err(Failure::new(FailureCode::Syntax, "the statement is empty").advise("write one SELECT"));
    };
    if rest > 0 {
        let message = format!("found {} statements, but only one is allowed", rest + 1);
        return Err(Failure::refuse(message).advise("send each as a separate query"));
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

/// Checks that every parenthesis is closed: the parser's effort grows with the depth of unclosed ones.
fn check_balance(tokens: &[TokenWithSpan]) -> Result<(), Failure> {
    let mut open: Vec<Span> = Vec::new();
    for token in tokens {
        match token.token {
            Token::LParen => open.push(token.span),
            Token::RParen if open.pop().is_none() => {
                let Location { line, column } = token.span.start;
                let message = format!("unmatched `)` in line {line}, column {column}");
                return Err(
                    Failure::new(FailureCode::Syntax, message).advise("remove it, or add the opening parenthesis")
                );
            }
            _ => {}
        }
    }
    match open.last() {
        None => Ok(()),
        Some(span) => {
            let Location { line, column } = span.start;
            let message = format!("the `(` in line {line}, column {column} is not closed");
            Err(Failure::new(FailureCode::Syntax, message).advise("add the closing parenthesis"))
        }
    }
}

/// Returns whether a SELECT limits its rows in the syntax of SQL Server: `SELECT TOP 5`.
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
        _ => failure.advise("write one SELECT; access is read-only"),
    }
}

/// Returns the first words of a statement.
fn start(tokens: &[TokenWithSpan]) -> String {
    let words = tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).take(2);
    let text = words.map(|token| token.token.to_string()).collect::<Vec<_>>().join(" ");
    text.chars().take(40).collect()
}

/// Returns whether a token is a binary operator.
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
    let failure = Failure::new(FailureCode::Syntax, format!("not a valid query in {}: {error}", dialect.as_str()));
    if has_top(tokens) {
        return failure.advise(TOP);
    }
    match find_misspelled(tokens) {
        Some((wrong, right, line)) => {
            failure.advise(format!("did you mean `{right}` instead of `{wrong}` in line {line}?"))
        }
        None => failure.advise("write one SELECT in the SQL dialect of the source"),
    }
}

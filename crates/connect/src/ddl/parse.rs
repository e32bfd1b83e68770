//! Parsing of one statement in the first dialect that accepts it.

use sqlparser::ast::Statement;
use sqlparser::dialect::{
    BigQueryDialect, ClickHouseDialect, DatabricksDialect, Dialect, DuckDbDialect, GenericDialect, HiveDialect,
    MsSqlDialect, MySqlDialect, OracleDialect, PostgreSqlDialect, RedshiftSqlDialect, SQLiteDialect, SnowflakeDialect,
};
use sqlparser::parser::ParserError;

use super::split::words;
use crate::sql::Budget;

/// The dialects, in the order in which they are tried.
const DIALECTS: [&dyn Dialect; 13] = [
    &GenericDialect {},
    &PostgreSqlDialect {},
    &MySqlDialect {},
    &SQLiteDialect {},
    &MsSqlDialect {},
    &BigQueryDialect {},
    &SnowflakeDialect {},
    &OracleDialect {},
    &RedshiftSqlDialect {},
    &DatabricksDialect {},
    &HiveDialect {},
    &ClickHouseDialect {},
    &DuckDbDialect {},
];

/// The relevant kinds of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Table,
    View,
    Alter,
    Comment,
}

/// Returns the kind of a statement; `None` if it is irrelevant.
pub(super) fn meaning(text: &str) -> Option<Meaning> {
    let mut words = words(text).map(str::to_ascii_lowercase);
    match words.next()?.as_str() {
        // A MySQL view has the longest prefix: `ALGORITHM = UNDEFINED DEFINER = `a`@`b` SQL SECURITY ...`
        "create" => words.take(24).take_while(|word| word != "(").find_map(|word| match word.as_str() {
            "table" => Some(Some(Meaning::Table)),
            "view" => Some(Some(Meaning::View)),
            "index" | "function" | "procedure" | "proc" | "trigger" | "schema" | "database" | "type" | "sequence"
            | "domain" | "policy" | "rule" | "user" | "role" | "event" | "package" | "extension" | "as" => Some(None),
            _ => None,
        })?,
        "alter" if words.next()? == "table" => Some(Meaning::Alter),
        "comment" if words.next()? == "on" => match words.next()?.as_str() {
            "table" | "column" | "view" | "materialized" => Some(Meaning::Comment),
            _ => None,
        },
        _ => None,
    }
}

/// The result of parsing.
pub(super) struct ParsedStatement {
    pub(super) statements: Vec<Statement>,
    /// Why the result may be incomplete.
    pub(super) warning: Option<String>,
}

/// Why a statement cannot be parsed, and the line relative to its start.
#[derive(Debug, Default)]
pub(super) struct Failure {
    pub(super) reason: String,
    pub(super) lines: usize,
    column: usize,
}

/// Parses the statements in the first dialect that accepts all of them. If one dialect exceeds the step limit, no other
/// is tried.
///
/// # Errors
/// The failure of the dialect that parsed furthest.
pub(super) fn parse_in_any_dialect(text: &str, budget: &mut Budget) -> Result<Vec<Statement>, Failure> {
    let mut furthest = Failure::default();
    let read = budget.parse_in_any(&DIALECTS, text, |error| {
        let failure = match error {
            ParserError::RecursionLimitExceeded => Failure::new("parsing exceeds the step limit"),
            error => Failure::new(&error.to_string()),
        };
        // The dialect that parsed furthest has the most relevant message.
        if furthest.reason.is_empty() || (failure.lines, failure.column) > (furthest.lines, furthest.column) {
            furthest = failure;
        }
    });
    read.ok_or(furthest)
}

impl Failure {
    fn new(message: &str) -> Self {
        let reason = message.split_once("error: ").map_or(message, |(_, reason)| reason);
        let (reason, place) = reason.split_once(" at Line: ").unwrap_or((reason, ""));
        let mut numbers = place.split(", Column: ").map(|number| number.trim().parse::<usize>().unwrap_or(0));
        let lines = numbers.next().unwrap_or(0).saturating_sub(1);
        Failure { reason: reason.to_owned(), lines, column: numbers.next().unwrap_or(0) }
    }
}

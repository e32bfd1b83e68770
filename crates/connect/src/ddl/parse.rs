//! Parsing one statement in whatever dialect takes it.

use sqlparser::ast::Statement;
use sqlparser::dialect::{
    BigQueryDialect, ClickHouseDialect, DatabricksDialect, Dialect, DuckDbDialect, GenericDialect, HiveDialect,
    MsSqlDialect, MySqlDialect, OracleDialect, PostgreSqlDialect, RedshiftSqlDialect, SQLiteDialect, SnowflakeDialect,
};
use sqlparser::parser::ParserError;

use super::split::words;
use crate::sql::Budget;

/// In the order in which they are tried.
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

/// What of a script is of interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Table,
    View,
    Alter,
    Comment,
}

/// What a statement is about; `None` where it is of no interest.
pub(super) fn meaning(text: &str) -> Option<Meaning> {
    let mut words = words(text).map(str::to_ascii_lowercase);
    match words.next()?.as_str() {
        // Of the words before, a view of MySQL has the most: `ALGORITHM = UNDEFINED DEFINER = `a`@`b` SQL SECURITY ...`
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

/// What was parsed.
pub(super) struct ParsedStatement {
    pub(super) statements: Vec<Statement>,
    /// Why it may not be all.
    pub(super) doubt: Option<String>,
}

/// Why a statement cannot be parsed, and how many lines below its beginning.
#[derive(Debug, Default)]
pub(super) struct Failure {
    pub(super) reason: String,
    pub(super) lines: usize,
    column: usize,
}

/// The statements, as the first dialect that knows them all reads them. What one dialect does not come to an end with, no
/// other is asked about.
///
/// # Errors
/// What the dialect that came furthest says.
pub(super) fn parse_in_any_dialect(text: &str, budget: &mut Budget) -> Result<Vec<Statement>, Failure> {
    let mut furthest = Failure::default();
    let read = budget.parse_in_any(&DIALECTS, text, |error| {
        let failure = match error {
            ParserError::RecursionLimitExceeded => Failure::new("it takes too many attempts to read"),
            error => Failure::new(&error.to_string()),
        };
        // The dialect that came furthest knows best what is wrong.
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

//! What is wrong with a query, as advice to the one who wrote it: by the cause of an error, never by its words.

use prospector_connect::ConnectError;
use prospector_connect::error::Cause;
use prospector_connect::table::{Column, ColumnType, Table};
use prospector_core::name::nearest;
use serde::{Deserialize, Serialize};

use crate::{Failure, FailureCode};

/// The most characters of a message that are passed on.
const MAX_MESSAGE_CHARS: usize = 400;

/// What is said of everything that ran into a limit of time.
const TIMED_OUT: &str = "it took too long and was stopped";

/// Why something failed, as plain data that one process can tell another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reason {
    pub(crate) cause: Cause,
    pub(crate) message: String,
    /// The name of the column that is not known, without its table, where that is the cause and it is told.
    pub(crate) column: Option<String>,
    /// What to do about it, where more is known than the cause.
    pub(crate) suggestion: Option<String>,
}

impl Reason {
    pub(crate) fn new(cause: Cause, message: impl Into<String>) -> Self {
        Reason { cause, message: message.into(), column: None, suggestion: None }
    }

    /// What ran into a limit of time.
    pub(crate) fn timeout() -> Self {
        Reason::new(Cause::TimedOut, TIMED_OUT)
    }

    /// The error of a connector, with the source and the table in the message.
    pub(crate) fn from_connect(error: &ConnectError) -> Self {
        let column = error.column().map(str::to_owned);
        Reason { cause: error.cause(), message: error.to_string(), column, suggestion: None }
    }
}

/// The failure of a query that a source was asked; `tables` are those that it reads.
pub(crate) fn explain_source(error: &ConnectError, tables: &[&Table]) -> Failure {
    match error {
        ConnectError::Connect { .. } => Failure::new(FailureCode::Unavailable, error.to_string())
            .advise("try again later; the server cannot be reached"),
        ConnectError::Unsupported { .. } | ConnectError::NoData { .. } => {
            Failure::new(FailureCode::Unavailable, error.to_string()).advise("there are no rows to be had here")
        }
        ConnectError::TooLarge { column, .. } => {
            let advice = match column {
                Some(column) => {
                    format!("select a part of it, such as left({column}, 1000) or substr({column}, 1, 1000)")
                }
                None => "select fewer columns, add a WHERE, or ask for fewer rows with LIMIT".to_owned(),
            };
            Failure::new(FailureCode::TooLarge, error.to_string()).advise(advice)
        }
        ConnectError::Read { reason, .. } | ConnectError::Open { reason, .. } => {
            explain(&Reason { message: reason.to_string(), ..Reason::from_connect(error) }, tables)
        }
        ConnectError::Condition { .. } | ConnectError::Relayed { .. } => explain(&Reason::from_connect(error), tables),
    }
}

/// The failure of a query over these tables.
pub(crate) fn explain(reason: &Reason, tables: &[&Table]) -> Failure {
    let first = reason.message.lines().next().unwrap_or_default();
    let first = match first.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}… (truncated to {MAX_MESSAGE_CHARS} characters)", &first[..end]),
        None => first.to_owned(),
    };
    match reason.cause {
        Cause::TimedOut => {
            let said = if first.contains(TIMED_OUT) { String::new() } else { format!(": {first}") };
            Failure::new(FailureCode::Timeout, format!("the query took too long and was stopped{said}"))
                .advise("add a WHERE, read fewer tables, or aggregate less at once")
        }
        Cause::Gone => Failure::new(FailureCode::Unavailable, format!("the server went away: {first}"))
            .advise("run the query again; where that fails too, try later"),
        Cause::TooLarge => Failure::new(FailureCode::TooLarge, first)
            .advise("add a condition on that table (=, <, >, BETWEEN, IN with a value), or query its database alone"),
        Cause::Memory => Failure::new(FailureCode::Memory, first).advise("add a WHERE or aggregate before the join"),
        Cause::UnknownColumn => {
            let message = match (&reason.column, tables) {
                (Some(name), [table]) => format!("unknown column `{name}` in `{}`", table.name),
                (Some(name), _) => format!("unknown column `{name}`"),
                (None, _) => first,
            };
            let failure = Failure::new(FailureCode::UnknownColumn, message);
            match nearest_columns(reason.column.as_deref().unwrap_or_default(), tables).as_slice() {
                [] => failure.advise(list_columns(tables)),
                near => {
                    let has_capitals = near.iter().any(|name| name.contains(char::is_uppercase));
                    let near = near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                    let quotes = if has_capitals { " names with capitals may need quotes" } else { "" };
                    failure.advise(format!("did you mean {near}?{quotes}"))
                }
            }
        }
        Cause::UnknownFunction => Failure::new(FailureCode::UnknownFunction, first)
            .advise("use a function of the source's own SQL, with arguments of its types"),
        Cause::UnknownTable => Failure::new(FailureCode::UnknownTable, first)
            .advise("the source may have changed since it was described; refresh the catalog"),
        Cause::TypeMismatch => {
            let advice = reason.suggestion.as_deref();
            Failure::new(FailureCode::TypeMismatch, first)
                .advise(advice.unwrap_or("compare like with like: CAST(column AS type) on one side"))
        }
        Cause::OutOfRange => Failure::new(FailureCode::TypeMismatch, first).advise(
            "a number is larger than its type holds: compute with CAST(column AS DECIMAL(38, 0)), or with DOUBLE where \
             it may be rounded",
        ),
        Cause::Syntax => Failure::new(FailureCode::Syntax, first).advise("write it in the SQL of the source"),
        Cause::Refused => Failure::new(FailureCode::Refused, first).advise("only reading is allowed here"),
        Cause::Other => {
            let mut columns = tables.iter().flat_map(|table| &table.columns);
            let failure = Failure::new(FailureCode::Failed, first);
            if let Some(suggestion) = &reason.suggestion {
                return failure.advise(suggestion);
            }
            match columns.find(|column| column.column_type == ColumnType::Nested) {
                Some(Column { name, .. }) => failure.advise(format!("a field of `{name}` is written {name}['field']")),
                None => failure,
            }
        }
    }
}

/// The columns of a table, or how to list them.
fn list_columns(tables: &[&Table]) -> String {
    match tables {
        [table] if (1..=MAX_LISTED_COLUMNS).contains(&table.columns.len()) => {
            let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            format!("its columns are {}", names.join(", "))
        }
        _ => "`DESCRIBE table` lists the columns of a table".to_owned(),
    }
}

/// Names that are less alike than this are other names.
const MIN_SIMILARITY: f64 = 0.7;

/// At most this many columns are listed.
const MAX_LISTED_COLUMNS: usize = 20;

/// The columns of the tables with names like that, as `table.column`.
fn nearest_columns(name: &str, tables: &[&Table]) -> Vec<String> {
    let columns = || tables.iter().flat_map(|table| table.columns.iter().map(move |column| (table, &column.name)));
    let is_near = |column: &String| {
        let (column, name) = (column.to_lowercase(), name.to_lowercase());
        column.contains(&name) || strsim::jaro_winkler(&column, &name) >= MIN_SIMILARITY
    };
    let mut near = nearest(name, columns().map(|(_, column)| column.as_str()), 3);
    near.retain(is_near);
    let mut shown: Vec<String> = near
        .iter()
        .filter_map(|near| columns().find(|(_, column)| *column == near))
        .map(|(table, column)| format!("{}.{column}", table.name))
        .collect();
    shown.dedup();
    shown
}

//! Failures of queries and their suggestions, chosen by the cause of an error and not by its text.

use prospector_connect::ConnectError;
use prospector_connect::error::Cause;
use prospector_connect::table::{Column, ColumnType, Table};
use prospector_core::name::nearest;
use serde::{Deserialize, Serialize};

use crate::failure::quote_names;
use crate::{Failure, FailureCode};

/// The maximum length of a message in characters.
const MAX_MESSAGE_CHARS: usize = 400;

/// The message of every timeout.
const TIMED_OUT: &str = "it took too long and was stopped";

/// Why something failed, as serialisable data that is passed between processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reason {
    pub(crate) cause: Cause,
    pub(crate) message: String,
    /// The name of the unknown column, without its table, if the cause is an unknown column and its name is known.
    pub(crate) column: Option<String>,
    /// A suggestion that is more specific than the cause.
    pub(crate) suggestion: Option<String>,
}

impl Reason {
    pub(crate) fn new(cause: Cause, message: impl Into<String>) -> Self {
        Reason { cause, message: message.into(), column: None, suggestion: None }
    }

    /// Returns a reason with the cause [`Cause::TimedOut`].
    pub(crate) fn timeout() -> Self {
        Reason::new(Cause::TimedOut, TIMED_OUT)
    }

    /// Converts the error of a connector; the message names the source and the table.
    pub(crate) fn from_connect(error: &ConnectError) -> Self {
        let column = error.column().map(str::to_owned);
        Reason { cause: error.cause(), message: error.to_string(), column, suggestion: None }
    }
}

/// Converts the error of a source into a failure; `tables` are those that the query reads.
pub(crate) fn explain_source(error: &ConnectError, tables: &[&Table]) -> Failure {
    match error {
        ConnectError::Connect { .. } => Failure::new(FailureCode::Unavailable, error.to_string())
            .advise("try again later; the server cannot be reached"),
        // The message names the file, and what to do.
        ConnectError::Read { cause: Cause::Locked, .. } | ConnectError::Open { cause: Cause::Locked, .. } => {
            Failure::new(FailureCode::Unavailable, error.to_string())
        }
        ConnectError::Unsupported { .. } | ConnectError::NoData { .. } => {
            Failure::new(FailureCode::Unavailable, error.to_string()).advise("this source has no rows to query")
        }
        ConnectError::TooLarge { column, .. } => {
            let advice = match column {
                Some(column) => {
                    format!("select a part of the value, such as left({column}, 1000) or substr({column}, 1, 1000)")
                }
                None => "select fewer columns, add a WHERE, or use a smaller LIMIT".to_owned(),
            };
            Failure::new(FailureCode::TooLarge, error.to_string()).advise(advice)
        }
        ConnectError::Read { reason, .. } | ConnectError::Open { reason, .. } => {
            explain(&Reason { message: reason.to_string(), ..Reason::from_connect(error) }, tables)
        }
        ConnectError::Condition { .. } | ConnectError::Relayed { .. } => explain(&Reason::from_connect(error), tables),
    }
}

/// Converts a reason into the failure of a query over these tables.
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
        Cause::Gone => Failure::new(FailureCode::Unavailable, format!("the server closed the connection: {first}"))
            .advise("run the query again; if it fails again, try later"),
        Cause::Locked => Failure::new(FailureCode::Unavailable, first),
        Cause::TooLarge => Failure::new(FailureCode::TooLarge, first).advise(
            "add a condition on that table (=, <, >, BETWEEN, IN with a value), or query its database separately",
        ),
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
                    let quotes = if has_capitals { " names with capitals may need quotes" } else { "" };
                    failure.advise(format!("did you mean {}?{quotes}", quote_names(near)))
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
                .advise(advice.unwrap_or("compare values of the same type: CAST(column AS type) on one side"))
        }
        Cause::OutOfRange => Failure::new(FailureCode::TypeMismatch, first).advise(
            "a number exceeds the range of its type: compute with CAST(column AS DECIMAL(38, 0)), or with DOUBLE if \
             rounding is acceptable",
        ),
        Cause::Syntax => {
            Failure::new(FailureCode::Syntax, first).advise("write the query in the SQL dialect of the source")
        }
        Cause::Refused => Failure::new(FailureCode::Refused, first).advise("only read-only queries are allowed"),
        Cause::Other => {
            let mut columns = tables.iter().flat_map(|table| &table.columns);
            let failure = Failure::new(FailureCode::Failed, first);
            if let Some(suggestion) = &reason.suggestion {
                return failure.advise(suggestion);
            }
            match columns.find(|column| column.column_type == ColumnType::Nested) {
                Some(Column { name, .. }) => failure.advise(format!("access a field of `{name}` as {name}['field']")),
                None => failure,
            }
        }
    }
}

/// Lists the columns of the only table, or says how to list them.
fn list_columns(tables: &[&Table]) -> String {
    match tables {
        [table] if (1..=MAX_LISTED_COLUMNS).contains(&table.columns.len()) => {
            let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            format!("its columns are {}", names.join(", "))
        }
        _ => "`DESCRIBE table` lists the columns of a table".to_owned(),
    }
}

/// The maximum number of listed columns.
const MAX_LISTED_COLUMNS: usize = 20;

/// Returns the columns with similar names, as `table.column`.
fn nearest_columns(name: &str, tables: &[&Table]) -> Vec<String> {
    let columns = || tables.iter().flat_map(|table| table.columns.iter().map(move |column| (table, &column.name)));
    let near = nearest(name, columns().map(|(_, column)| column.as_str()), 3);
    let mut shown: Vec<String> = near
        .iter()
        .filter_map(|near| columns().find(|(_, column)| *column == near))
        .map(|(table, column)| format!("{}.{column}", table.name))
        .collect();
    shown.dedup();
    shown
}

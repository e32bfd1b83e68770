//! Causes of failed statements, by the error codes of the servers; their messages may be in any language.

use sqlx::mysql::MySqlDatabaseError;
use sqlx::postgres::{PgDatabaseError, PgErrorPosition};

use crate::cause::Cause;

/// The SQLSTATE for rejected PostgreSQL rows that are too large. Its class is not reserved by the standard.
pub(crate) const ROW_TOO_LARGE: &str = "PR001";

/// The cause of an error according to its codes.
pub(super) struct KnownCause {
    pub(super) cause: Cause,
    /// The code of the server: an SQLSTATE of PostgreSQL, an error number of MySQL.
    pub(super) code: Option<String>,
}

/// Returns the cause of a failed statement.
pub(super) fn find(error: &sqlx::Error) -> KnownCause {
    let (cause, code) = match error {
        sqlx::Error::Database(said) => match said.try_downcast_ref::<MySqlDatabaseError>() {
            Some(said) => (of_number(said.number()), Some(said.number().to_string())),
            None => {
                let state = said.code().map(|code| code.into_owned());
                let routine = said.try_downcast_ref::<PgDatabaseError>().and_then(PgDatabaseError::routine);
                (state.as_deref().map_or(Cause::Other, |state| of_state(state, routine)), state)
            }
        },
        sqlx::Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => (Cause::TimedOut, None),
        sqlx::Error::Io(_) | sqlx::Error::WorkerCrashed => (Cause::Gone, None),
        _ => (Cause::Other, None),
    };
    KnownCause { cause, code }
}

/// Returns the name of the unknown column in a statement, without its table. PostgreSQL reports its position in the text,
/// and MySQL quotes it first.
pub(super) fn unknown_column(error: &sqlx::Error, sql: Option<&str>) -> Option<String> {
    let said = error.as_database_error()?;
    if let Some(said) = said.try_downcast_ref::<PgDatabaseError>() {
        let PgErrorPosition::Original(position) = said.position()? else { return None };
        return last_name(sql?, position);
    }
    let named = said.message().split('\'').nth(1)?;
    named.rsplit('.').next().map(str::to_owned)
}

/// Returns the last part of the name that starts at the `position`th character, counted from 1: `total` of `o."total" >
/// 5`.
fn last_name(sql: &str, position: usize) -> Option<String> {
    let mut rest = sql.chars().skip(position.checked_sub(1)?).peekable();
    loop {
        let mut name = String::new();
        if rest.next_if_eq(&'"').is_some() {
            while let Some(letter) = rest.next() {
                if letter == '"' && rest.next_if_eq(&'"').is_none() {
                    break;
                }
                name.push(letter);
            }
        } else {
            while let Some(letter) = rest.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | '$')) {
                name.push(letter);
            }
        }
        if rest.next_if_eq(&'.').is_none() {
            return Some(name).filter(|name| !name.is_empty());
        }
    }
}

/// Returns the cause of an SQLSTATE of PostgreSQL: "PostgreSQL Error Codes" of its documentation. `routine` is the server
/// function that raised the error: one state covers both functions and operators.
fn of_state(state: &str, routine: Option<&str>) -> Cause {
    match state {
        "42883" if routine == Some("op_error") => Cause::TypeMismatch,
        // Cancelled statements, unavailable locks, transaction and idle timeouts.
        "57014" | "55P03" | "25P03" | "25P04" => Cause::TimedOut,
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" => Cause::Gone,
        "42P01" | "3F000" => Cause::UnknownTable,
        "42703" => Cause::UnknownColumn,
        "42883" => Cause::UnknownFunction,
        "42804" | "42846" | "42P08" | "42P18" | "42P38" | "22P02" | "22P03" | "22007" | "22008" => Cause::TypeMismatch,
        "22003" => Cause::OutOfRange,
        "42601" => Cause::Syntax,
        "42501" | "25006" => Cause::Refused,
        ROW_TOO_LARGE => Cause::TooLarge,
        // Connections, resources, complexity.
        _ if state.starts_with("08") => Cause::Gone,
        _ if state.starts_with("53") || state.starts_with("54") => Cause::Memory,
        _ => Cause::Other,
    }
}

/// Returns the cause of an error number of MySQL or MariaDB: "Server Error Message Reference" of their documentation.
fn of_number(number: u16) -> Cause {
    match number {
        // Time limits of MySQL and MariaDB; lock timeouts.
        3024 | 1969 | 1205 => Cause::TimedOut,
        1053 | 1077 | 1079 | 1152 | 1184 | 1927 | 2006 | 2013 => Cause::Gone,
        // Exhausted memory, stack, files and temporary tables; packets that are too large, too many tables.
        1021 | 1037 | 1038 | 1041 | 1114 | 1116 | 1119 | 1135 | 1153 | 1301 | 1436 | 1878 | 3170 | 4201 => {
            Cause::Memory
        }
        1049 | 1051 | 1109 | 1146 => Cause::UnknownTable,
        1054 => Cause::UnknownColumn,
        1128 | 1305 | 1582 | 1630 => Cause::UnknownFunction,
        1267 | 1270 | 1271 | 1292 | 1366 | 1525 | 4078 | 4079 => Cause::TypeMismatch,
        1264 | 1690 => Cause::OutOfRange,
        1064 | 1149 => Cause::Syntax,
        1044 | 1142 | 1143 | 1227 | 1290 | 1370 | 1792 => Cause::Refused,
        _ => Cause::Other,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_cause_has_a_code_in_both_databases() {
        let states =
            ["57014", "08006", "53400", "42P01", "42703", "42883", "22P02", "22003", "42601", "42501", "XX000"];
        let numbers = [1969, 2013, 1114, 1146, 1054, 1305, 1292, 1690, 1064, 1142, 1105];
        let causes = states.map(|state| of_state(state, None));
        assert_eq!(causes, numbers.map(of_number));
        // All causes but that of a result that is too large.
        assert_eq!(HashSet::from(causes).len(), 11);
    }

    #[test]
    fn an_unknown_operator_is_a_type_mismatch() {
        assert_eq!(of_state("42883", Some("op_error")), Cause::TypeMismatch);
        assert_eq!(of_state("42883", Some("ParseFuncOrColumn")), Cause::UnknownFunction);
    }

    #[test]
    fn finds_names_by_position() {
        let check = |sql: &str, position: usize, expected: Option<&str>| {
            assert_eq!(last_name(sql, position).as_deref(), expected, "{sql}");
        };
        check("SELECT nmae FROM t", 8, Some("nmae"));
        check("SELECT t.nmae, 1", 8, Some("nmae"));
        check("SELECT \"ä\", \"T\".\"na\"\"me\"", 13, Some("na\"me"));
        check("SELECT 1", 100, None);
        check("SELECT 1", 0, None);
    }
}

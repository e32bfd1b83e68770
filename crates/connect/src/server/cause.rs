//! Why a statement failed, by the codes of the servers: what they say in words may be in any language.

use sqlx::mysql::MySqlDatabaseError;

use crate::Cause;

/// The cause, and the code as the server gives it: an SQLSTATE of PostgreSQL, a number of MySQL.
pub(crate) fn cause(error: &sqlx::Error) -> (Cause, Option<String>) {
    match error {
        sqlx::Error::Database(said) => match said.try_downcast_ref::<MySqlDatabaseError>() {
            Some(said) => (of_number(said.number()), Some(said.number().to_string())),
            None => {
                let state = said.code().map(|code| code.into_owned());
                (state.as_deref().map_or(Cause::Other, of_state), state)
            }
        },
        sqlx::Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => (Cause::TimedOut, None),
        sqlx::Error::Io(_) | sqlx::Error::WorkerCrashed => (Cause::Gone, None),
        _ => (Cause::Other, None),
    }
}

/// The cause by an SQLSTATE of PostgreSQL: "PostgreSQL Error Codes" of its documentation.
fn of_state(state: &str) -> Cause {
    match state {
        // A statement canceled, a lock not available, a transaction or an idle session too long.
        "57014" | "55P03" | "25P03" | "25P04" => Cause::TimedOut,
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" => Cause::Gone,
        "42P01" | "3F000" => Cause::UnknownTable,
        "42703" => Cause::UnknownColumn,
        "42883" => Cause::UnknownFunction,
        "42804" | "42846" | "42P08" | "42P18" | "42P38" | "22P02" | "22P03" | "22007" | "22008" => Cause::TypeMismatch,
        "42601" => Cause::Syntax,
        "42501" | "25006" => Cause::Refused,
        // Connections, resources, complexity.
        _ if state.starts_with("08") => Cause::Gone,
        _ if state.starts_with("53") || state.starts_with("54") => Cause::Memory,
        _ => Cause::Other,
    }
}

/// The cause by a number of MySQL or MariaDB: "Server Error Message Reference" of their documentation.
fn of_number(number: u16) -> Cause {
    match number {
        // Out of time in MySQL and in MariaDB; a lock.
        3024 | 1969 | 1205 => Cause::TimedOut,
        1053 | 1077 | 1079 | 1152 | 1184 | 1927 | 2006 | 2013 => Cause::Gone,
        // Memory, stack, files and temporary tables that are full; too large a packet, or too many tables.
        1021 | 1037 | 1038 | 1041 | 1114 | 1116 | 1119 | 1135 | 1153 | 1301 | 1436 | 1878 | 3170 | 4201 => {
            Cause::Memory
        }
        1049 | 1051 | 1109 | 1146 => Cause::UnknownTable,
        1054 => Cause::UnknownColumn,
        1128 | 1305 | 1582 | 1630 => Cause::UnknownFunction,
        1267 | 1270 | 1271 | 1292 | 1366 | 1525 | 4078 | 4079 => Cause::TypeMismatch,
        1064 | 1149 => Cause::Syntax,
        1044 | 1142 | 1143 | 1227 | 1290 | 1370 | 1792 => Cause::Refused,
        _ => Cause::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_a_code_in_both() {
        let states = ["57014", "08006", "53400", "42P01", "42703", "42883", "22P02", "42601", "42501", "XX000"];
        let numbers = [1969, 2013, 1114, 1146, 1054, 1305, 1292, 1064, 1142, 1105];
        for cause in Cause::ALL {
            assert!(states.iter().any(|state| of_state(state) == cause), "{cause:?}");
            assert!(numbers.iter().any(|number| of_number(*number) == cause), "{cause:?}");
        }
    }
}

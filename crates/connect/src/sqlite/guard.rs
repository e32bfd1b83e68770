//! The authorizer that SQLite calls while it compiles a statement.
//!
//! Even on a read-only connection, `ATTACH` and `VACUUM INTO` write other files, and every table can be named. The
//! authorizer therefore checks each table and function of a user statement against an allow-list.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use crate::sql;

/// Table-valued functions that only read their arguments.
const TABLE_FUNCTIONS: [&str; 2] = ["json_each", "json_tree"];

/// Modules of virtual tables that an empty copy of a table may use.
const MODULES: [&str; 5] = ["fts3", "fts4", "fts5", "rtree", "rtree_i32"];

/// The origin of the statement being compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// A generated statement.
    Own,
    /// A generated statement that creates an empty table.
    Making,
    /// A generated statement over a view: whatever the view reads and calls is recorded.
    Viewing,
    /// A user statement.
    Judging,
    /// No compilation: a user statement runs, and virtual tables may access their storage.
    Running,
}

#[derive(Default)]
struct State {
    phase: Option<Phase>,
    /// The readable tables. All names are in lower case.
    tables: HashSet<String>,
    /// Tables and functions used by the views among them.
    viewed: HashSet<String>,
    called: HashSet<String>,
    /// All existing names, as opposed to those that a statement defines itself.
    known: HashSet<String>,
    /// The rejected table.
    refused: Option<String>,
}

/// The authorizer of a connection.
#[derive(Clone)]
pub(super) struct Guard(Arc<Mutex<State>>);

impl Guard {
    /// Installs the authorizer; statements count as generated until [`Guard::during`] is called.
    pub(super) fn set(connection: &Connection) -> Result<Guard, rusqlite::Error> {
        let guard = Guard(Arc::default());
        let asked = guard.clone();
        connection.authorizer(Some(move |context: AuthContext<'_>| asked.answer(&context)))?;
        Ok(guard)
    }

    /// Allows user statements to read these tables. `known` lists all other existing names.
    pub(super) fn allow(&self, tables: &[String], known: impl IntoIterator<Item = String>) {
        let mut state = self.state();
        state.tables = tables.iter().map(|name| name.to_ascii_lowercase()).collect();
        state.tables.extend(TABLE_FUNCTIONS.map(str::to_owned));
        state.known = known.into_iter().map(|name| name.to_ascii_lowercase()).collect();
    }

    /// Runs a function in that phase.
    pub(super) fn during<T>(&self, phase: Phase, act: impl FnOnce() -> T) -> T {
        self.state().phase = Some(phase);
        let done = act();
        self.state().phase = None;
        done
    }

    /// Returns the last rejected table, if any.
    pub(super) fn take_refused(&self) -> Option<String> {
        self.state().refused.take()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, context: &AuthContext<'_>) -> Authorization {
        let mut state = self.state();
        let is_allowed = match state.phase.unwrap_or(Phase::Own) {
            Phase::Own => true,
            Phase::Making => may_make(&context.action),
            Phase::Viewing => state.note(&context.action),
            Phase::Judging => state.may_read(&context.action),
            Phase::Running => match context.action {
                AuthAction::Select | AuthAction::Recursive | AuthAction::Read { .. } => true,
                AuthAction::Function { function_name } => is_listed(function_name),
                // Used by full-text search.
                AuthAction::Pragma { pragma_name, .. } => pragma_name.eq_ignore_ascii_case("data_version"),
                _ => false,
            },
        };
        if is_allowed { Authorization::Allow } else { Authorization::Deny }
    }
}

impl State {
    /// Records what a view reads and calls.
    fn note(&mut self, action: &AuthAction<'_>) -> bool {
        match action {
            AuthAction::Read { table_name, .. } => {
                self.viewed.insert(table_name.to_ascii_lowercase());
                true
            }
            AuthAction::Function { function_name } => {
                self.called.insert(function_name.to_ascii_lowercase());
                is_listed(function_name)
            }
            AuthAction::Select | AuthAction::Recursive => true,
            _ => false,
        }
    }

    fn may_read(&mut self, action: &AuthAction<'_>) -> bool {
        match action {
            AuthAction::Select | AuthAction::Recursive => true,
            AuthAction::Function { function_name } => {
                is_listed(function_name) || self.called.contains(&function_name.to_ascii_lowercase())
            }
            AuthAction::Read { table_name, column_name } => {
                let name = table_name.to_ascii_lowercase();
                let is_open = self.tables.contains(&name) || self.viewed.contains(&name);
                // SQLite reports a read of a name defined by `WITH` if none of its columns is read.
                let is_its_own = column_name.is_empty()
                    && !self.known.contains(&name)
                    && !name.starts_with("sqlite_")
                    && !name.starts_with("pragma_");
                if !is_open && !is_its_own {
                    self.refused = Some((*table_name).to_owned());
                }
                is_open || is_its_own
            }
            _ => false,
        }
    }
}

/// Whether a statement that creates an empty table may do that: it reads nothing else and touches no other database.
fn may_make(action: &AuthAction<'_>) -> bool {
    match action {
        AuthAction::CreateVtable { module_name, .. } => {
            MODULES.iter().any(|name| name.eq_ignore_ascii_case(module_name))
        }
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => false,
        AuthAction::Pragma { pragma_name, .. } => pragma_name.eq_ignore_ascii_case("data_version"),
        _ => true,
    }
}

fn is_listed(function: &str) -> bool {
    static LISTED: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let lines = sql::SQLITE_FUNCTIONS.lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(str::split_whitespace).map(|name| name.trim_start_matches('!')).collect()
    });
    LISTED.contains(function.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Existing functions that no query may call: they load code, reveal details of the program or its writes, read
    /// tables by name, or modify an index.
    const REFUSED: [&str; 19] = [
        "changes",
        "fts3_tokenizer",
        "fts5",
        "fts5_get_locale",
        "fts5_insttoken",
        "fts5_locale",
        "fts5_source_id",
        "last_insert_rowid",
        "load_extension",
        "optimize",
        "rtreecheck",
        "rtreedepth",
        "rtreenode",
        "sqlite_compileoption_get",
        "sqlite_compileoption_used",
        "sqlite_log",
        "sqlite_source_id",
        "subtype",
        "total_changes",
    ];

    #[test]
    fn every_function_of_sqlite_is_known() {
        let connection = Connection::open_in_memory().unwrap();
        let mut found = connection.prepare("SELECT DISTINCT name FROM pragma_function_list ORDER BY 1").unwrap();
        let names: Vec<String> = found.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert!(names.len() > 100, "{names:?}");
        let known = |name: &&String| is_listed(name) != REFUSED.contains(&name.as_str());
        let unknown: Vec<&String> = names.iter().filter(|name| !known(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}

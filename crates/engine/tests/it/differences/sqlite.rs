//! SQLite as its own witness: an authorizer that records what a statement reads and calls while it is compiled.

#![allow(unsafe_code, reason = "the authorizer of SQLite is set through its C interface")]

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use async_trait::async_trait;
use libsqlite3_sys as ffi;
use prospector_connect::source::SourceKind;
use prospector_connect::{open, source::Source as Place};
use sqlx::{ConnectOptions, Connection};
use tempfile::TempDir;

use super::subject::{Subject, Witness};

const DATA: &str = "
CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(40));
INSERT INTO people VALUES (1, 'Ada'), (2, 'Bob'), (3, 'Cyd');
CREATE TABLE notes (id INTEGER PRIMARY KEY AUTOINCREMENT, person INTEGER, body TEXT, written TEXT, more TEXT);
INSERT INTO notes VALUES (1, 1, 'hello world', '2024-05-06 07:08:09', '{\"a\": {\"b\": 1}}'),
    (2, 2, 'it''s -- a /* note */', '2024-06-07 08:09:10', '[1, 2]');
CREATE INDEX notes_by_person ON notes (person);
CREATE VIRTUAL TABLE notes_fts USING fts5(body);
INSERT INTO notes_fts SELECT body FROM notes;
CREATE TABLE secret (id INTEGER PRIMARY KEY, password VARCHAR(40) DEFAULT 's3cret');
INSERT INTO secret VALUES (1, 's3cret');
CREATE VIRTUAL TABLE secret_fts USING fts5(password);
INSERT INTO secret_fts VALUES ('s3cret');
CREATE TABLE keys (id INTEGER PRIMARY KEY, token VARCHAR(40));
INSERT INTO keys VALUES (1, 's3cret');
CREATE TABLE gehälter (id INTEGER PRIMARY KEY, betrag VARCHAR(40));
INSERT INTO gehälter VALUES (1, 's3cret');
CREATE VIEW peep AS SELECT password FROM secret;
ANALYZE;
";

/// Table-valued and other functions that compute and read nothing.
const TABLE_FUNCTIONS: &[&str] = &["json_each", "json_tree", "generate_series"];

/// Functions that do more than compute.
const EFFECTS: &[&str] = &[
    "load_extension",
    "fts3_tokenizer",
    "readfile",
    "writefile",
    "edit",
    "sqlite_version",
    "sqlite_source_id",
    "sqlite_compileoption_get",
    "sqlite_compileoption_used",
    "sqlite_log",
    "last_insert_rowid",
    "changes",
    "total_changes",
    "zeroblob",
    "randomblob",
];

/// The events that SQLite reported while it compiled a statement.
#[derive(Debug, Default)]
struct Heard {
    tables: BTreeSet<String>,
    functions: BTreeSet<String>,
    others: BTreeSet<String>,
}

struct Asking {
    database: *mut ffi::sqlite3,
    path: PathBuf,
    folder: TempDir,
    before: Vec<u8>,
}

// SAFETY: the connection is used by one task at a time, as `&mut self` says, and SQLite is built to allow that from any
// thread.
unsafe impl Send for Asking {}

/// Creates a file with the data; statements may name `@DIR@`, the folder that it is in.
pub(crate) async fn subject() -> (Subject, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(DATA).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let connector = open(&Place::files(SourceKind::Sqlite, vec![path.clone()])).unwrap();
    let dir = folder.path().to_str().unwrap().to_owned();
    let before = std::fs::read(&path).unwrap();
    let witness = Box::new(Asking { database: open_file(&path), path, folder, before });
    (Subject::new(connector.clone(), connector.as_ref(), connector.clone(), witness).await, dir)
}

fn open_file(path: &Path) -> *mut ffi::sqlite3 {
    let name = CString::new(path.to_str().unwrap()).unwrap();
    let mut database = null_mut();
    // SAFETY: the name ends in zero and the place for the handle outlives the call.
    let code =
        unsafe { ffi::sqlite3_open_v2(name.as_ptr(), &raw mut database, ffi::SQLITE_OPEN_READONLY, std::ptr::null()) };
    assert_eq!(code, ffi::SQLITE_OK);
    database
}

impl Drop for Asking {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and every statement on it was finalized.
        unsafe { ffi::sqlite3_close(self.database) };
    }
}

extern "C" fn write_down(
    heard: *mut c_void,
    action: c_int,
    first: *const c_char,
    second: *const c_char,
    _: *const c_char,
    _: *const c_char,
) -> c_int {
    // SAFETY: the pointer is the one that was set together with this function, and lives until that is unset.
    let heard = unsafe { &mut *heard.cast::<Heard>() };
    let text = |text: *const c_char| match text.is_null() {
        true => String::new(),
        // SAFETY: SQLite gives a text that ends in zero and lives as long as the call.
        false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
    };
    match action {
        ffi::SQLITE_SELECT | ffi::SQLITE_RECURSIVE => {}
        ffi::SQLITE_READ => drop(heard.tables.insert(text(first))),
        ffi::SQLITE_FUNCTION => drop(heard.functions.insert(text(second).to_lowercase())),
        // Requested by full-text search.
        ffi::SQLITE_PRAGMA if text(first) == "data_version" => {}
        other => drop(heard.others.insert(format!("action {other} {} {}", text(first), text(second)))),
    }
    ffi::SQLITE_OK
}

impl Asking {
    /// Compiles the first statement of a text: returns the events, its number of parameters, and the remaining text. `None` if
    /// it is not a statement.
    fn compile(&mut self, sql: &str) -> Option<(Heard, c_int, String)> {
        let mut heard = Heard::default();
        let text = CString::new(sql).ok()?;
        let mut statement = null_mut();
        let mut rest = std::ptr::null();
        // SAFETY: `heard` and the text outlive the calls, the authorizer is unset before `heard` is read, and the
        // statement is finalized once.
        unsafe {
            ffi::sqlite3_set_authorizer(self.database, Some(write_down), (&raw mut heard).cast());
            let code = ffi::sqlite3_prepare_v2(self.database, text.as_ptr(), -1, &raw mut statement, &raw mut rest);
            ffi::sqlite3_set_authorizer(self.database, None, null_mut());
            if code != ffi::SQLITE_OK {
                return None;
            }
            let parameters = ffi::sqlite3_bind_parameter_count(statement);
            let is_reading = statement.is_null() || ffi::sqlite3_stmt_readonly(statement) != 0;
            ffi::sqlite3_finalize(statement);
            if !is_reading {
                heard.others.insert("it writes".to_owned());
            }
            Some((heard, parameters, CStr::from_ptr(rest).to_string_lossy().into_owned()))
        }
    }
}

#[async_trait]
impl Witness for Asking {
    async fn object(&mut self, sent: &str, claimed: &BTreeSet<String>) -> Vec<String> {
        let Some((heard, parameters, rest)) = self.compile(sent) else { return Vec::new() };
        let mut objections = Vec::new();
        for table in &heard.tables {
            // The shadow tables of a full-text search table.
            let is_shadow = claimed.iter().any(|name| {
                let suffix = table.strip_prefix(name.as_str()).unwrap_or_default();
                ["_data", "_idx", "_content", "_docsize", "_config"].contains(&suffix)
            });
            let is_claimed = claimed.iter().any(|name| name.eq_ignore_ascii_case(table));
            let is_own = table.is_empty() || TABLE_FUNCTIONS.contains(&table.as_str());
            if !is_shadow && !is_claimed && !is_own && !is_made_here(sent, table) {
                objections.push(format!("SQLite reads {table:?}, not in {claimed:?}"));
            }
        }
        objections.extend(heard.others.iter().map(|other| format!("SQLite does {other}")));
        let is_effect = |name: &&String| EFFECTS.contains(&name.as_str());
        objections.extend(heard.functions.iter().filter(is_effect).map(|name| format!("SQLite calls {name}")));
        if parameters > 0 {
            objections.push(format!("SQLite sees {parameters} parameters"));
        }
        if !rest.trim().trim_end_matches(';').is_empty() {
            objections.push(format!("SQLite sees a second statement: {rest:?}"));
        }
        objections
    }

    async fn state(&mut self) -> String {
        let mut names = super::postgres::names(self.folder.path());
        names.retain(|name| name != "people.db");
        format!("{names:?} {}", std::fs::read(&self.path).unwrap() == self.before)
    }
}

/// Returns whether the statement itself defines a table of that name: SQLite reports the names of subqueries and of `WITH` too,
/// but never a table that contains the marker without reading it.
fn is_made_here(sent: &str, table: &str) -> bool {
    !super::subject::HIDDEN.contains(&table) && !table.starts_with("sqlite_") && sent.contains(table)
}

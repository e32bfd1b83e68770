//! One connection and thread per read: with resource limits, and a deadline that applies whatever the statement does.
//!
//! Values are measured inside SQLite, and copied only if they are within the limits.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::{Semaphore, oneshot};

use super::functions;
use super::guard::Guard;
use super::memory::{self, MAX_GROWTH};
use crate::ConnectError;
use crate::budget::Excess;
use crate::cause::Cause;
use crate::error::TIMED_OUT;

/// Number of SQLite virtual machine instructions between two checks of the limits.
const INSTRUCTIONS: i32 = 1_000;

/// How much longer than its time limit a statement's thread is awaited: a single instruction cannot be interrupted.
const GRACE: Duration = Duration::from_secs(2);

/// The stack size of the thread in bytes: SQLite resolves expressions recursively, up to a depth of a thousand.
const STACK: usize = 8 << 20;

/// Resource limits of a statement. The length applies to every intermediate value: it exceeds
/// [`crate::rows::MAX_CELL_BYTES`], so that a part of a longer value can be selected. Multiplied by the length of a
/// pattern, it also bounds the work of one instruction, which cannot be interrupted.
const LIMITS: [(Limit, i32); 11] = [
    (Limit::SQLITE_LIMIT_LENGTH, 8 << 20),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
    (Limit::SQLITE_LIMIT_COLUMN, 2_000),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 1_000),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 500),
    (Limit::SQLITE_LIMIT_VDBE_OP, 1_000_000),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];

/// Why a read failed.
#[derive(Debug)]
pub(super) enum SessionFailure {
    /// An error of SQLite.
    Source(rusqlite::Error),
    /// The result exceeds a size limit; with the names of the columns.
    TooLarge(Excess, Vec<String>),
    /// A rejection by this crate.
    Refused(Cause, String),
}

impl From<rusqlite::Error> for SessionFailure {
    fn from(error: rusqlite::Error) -> Self {
        SessionFailure::Source(error)
    }
}

impl SessionFailure {
    /// Converts it to the error of an operation on a table.
    pub(super) fn error(self, place: String, table: &str) -> ConnectError {
        match self {
            SessionFailure::TooLarge(excess, columns) => excess.error(place, table, &columns),
            SessionFailure::Refused(cause, reason) => ConnectError::read(place, table, cause, reason),
            SessionFailure::Source(error) => {
                let code = error.sqlite_error().map(|error| error.extended_code);
                let message = match &error {
                    rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
                    other => other.to_string(),
                };
                let (cause, reason) = explain_code(code.unwrap_or(0) & 0xff, message);
                ConnectError::Read {
                    place,
                    table: table.to_owned(),
                    column: unknown_column(cause, &reason).map(String::into_boxed_str),
                    reason: reason.into(),
                    cause,
                    code: code.map(|code| code.to_string().into_boxed_str()),
                    source: None,
                }
                .with_source(error)
            }
        }
    }
}

/// Returns the cause of a primary result code, or of the message of SQLite, which is not localised.
fn explain_code(code: i32, message: String) -> (Cause, String) {
    let starts = |word: &str| message.starts_with(word);
    match code {
        rusqlite::ffi::SQLITE_INTERRUPT => (Cause::TimedOut, TIMED_OUT.to_owned()),
        rusqlite::ffi::SQLITE_NOMEM | rusqlite::ffi::SQLITE_FULL => (Cause::Memory, "out of memory".to_owned()),
        rusqlite::ffi::SQLITE_TOOBIG => (
            Cause::TooLarge,
            format!("too large: {message}; intermediate values are limited to {} MB", LIMITS[0].1 >> 20),
        ),
        rusqlite::ffi::SQLITE_AUTH | rusqlite::ffi::SQLITE_READONLY | rusqlite::ffi::SQLITE_PERM => {
            (Cause::Refused, message)
        }
        rusqlite::ffi::SQLITE_NOTADB => (Cause::Other, "it is not a SQLite database, or it is encrypted".to_owned()),
        rusqlite::ffi::SQLITE_ERROR if starts("no such table: ") => (Cause::UnknownTable, message),
        rusqlite::ffi::SQLITE_ERROR if starts("no such column: ") => (Cause::UnknownColumn, message),
        rusqlite::ffi::SQLITE_ERROR if starts("no such function: ") => (Cause::UnknownFunction, message),
        rusqlite::ffi::SQLITE_ERROR if message.ends_with("syntax error") => (Cause::Syntax, message),
        _ => (Cause::Other, message),
    }
}

/// Returns the name of the unknown column in a statement, without its table, from SQLite's message, which is not
/// localised.
fn unknown_column(cause: Cause, reason: &str) -> Option<String> {
    if cause != Cause::UnknownColumn {
        return None;
    }
    let name = reason.strip_prefix("no such column: ")?.split_whitespace().next()?;
    let last = name.rsplit('.').next().unwrap_or(name).trim_matches('"');
    (!last.is_empty()).then(|| last.to_owned())
}

/// A read-only connection.
pub(super) struct Session {
    pub(super) connection: Connection,
    pub(super) guard: Guard,
    stopped: Arc<AtomicBool>,
}

impl Session {
    /// Opens the file; `is_immutable` if it has no writer.
    fn open(path: &Path, is_immutable: bool) -> Result<Connection, rusqlite::Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        match is_immutable {
            true => Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI),
            false => Connection::open_with_flags(path, flags),
        }
    }

    /// Opens a limited connection, which stops at `end`, if `gone` is set, or if it uses too much memory.
    fn begin(path: &Path, is_immutable: bool, end: Instant, gone: Arc<AtomicBool>) -> Result<Session, rusqlite::Error> {
        let connection = Session::open(path, is_immutable)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        harden(&connection)?;
        set_limits(&connection)?;
        functions::replace_slow_ones(&connection)?;
        memory::cap(&connection)?;
        // Sorting uses memory, where it is counted, instead of temporary files.
        connection.execute_batch("PRAGMA temp_store = MEMORY; PRAGMA query_only = ON; PRAGMA mmap_size = 0; BEGIN")?;
        let stopped = Arc::new(AtomicBool::new(false));
        let (mark, before) = (stopped.clone(), memory::bytes_used());
        let is_over = move || {
            let is_full = memory::bytes_used().saturating_sub(before) > MAX_GROWTH;
            if is_full {
                mark.store(true, Ordering::Relaxed);
            }
            is_full || Instant::now() >= end || gone.load(Ordering::Relaxed)
        };
        connection.progress_handler(INSTRUCTIONS, Some(is_over))?;
        let guard = Guard::set(&connection)?;
        Ok(Session { connection, guard, stopped })
    }

    /// Distinguishes failures by memory from those by time.
    fn explain(&self, failed: SessionFailure) -> SessionFailure {
        match failed {
            SessionFailure::Source(_) if self.stopped.load(Ordering::Relaxed) => SessionFailure::Refused(
                Cause::Memory,
                format!("out of memory: the statement needs more than {} MB", MAX_GROWTH >> 20),
            ),
            other => other,
        }
    }
}

/// Disables features of SQLite that are only safe for trusted statements.
pub(super) fn harden(connection: &Connection) -> Result<(), rusqlite::Error> {
    for (setting, wanted) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
    ] {
        connection.set_db_config(setting, wanted)?;
    }
    Ok(())
}

/// Sets the limits of [`LIMITS`] on another connection.
pub(super) fn set_limits(connection: &Connection) -> Result<(), rusqlite::Error> {
    LIMITS.iter().try_for_each(|(limit, most)| connection.set_limit(*limit, *most).map(drop))
}

/// Returns the file as a URI with the immutable flag.
fn immutable(path: &Path) -> OsString {
    let written = path.as_os_str().as_encoded_bytes();
    let slashes: Vec<u8> = match cfg!(windows) {
        true => written.iter().map(|byte| if *byte == b'\\' { b'/' } else { *byte }).collect(),
        false => written.to_vec(),
    };
    let mut uri = String::from(if slashes.starts_with(b"/") { "file://" } else { "file:///" });
    for part in slashes.split_inclusive(|byte| *byte == b'/') {
        let name = part.strip_suffix(b"/").unwrap_or(part);
        uri.extend(percent_encoding::percent_encode(name, percent_encoding::NON_ALPHANUMERIC));
        if name.len() < part.len() {
            uri.push('/');
        }
    }
    (uri + "?immutable=1&mode=ro").into()
}

/// Runs a function with a session of its own, no longer than `time_limit`. Dropping the future stops it.
pub(super) async fn within<T: Send + 'static>(
    path: &Path,
    is_immutable: bool,
    permits: &Arc<Semaphore>,
    time_limit: Duration,
    act: impl FnOnce(&Session) -> Result<T, SessionFailure> + Send + 'static,
) -> Result<T, SessionFailure> {
    let late = || SessionFailure::Refused(Cause::TimedOut, TIMED_OUT.to_owned());
    // Waiting for a free session is limited too.
    let permit = tokio::time::timeout(time_limit, permits.clone().acquire_owned()).await;
    let permit =
        permit.map_err(|_| late())?.map_err(|error| SessionFailure::Refused(Cause::Other, error.to_string()))?;
    let gone = Gone(Arc::default());
    let (path, flag, end) = (path.to_owned(), gone.0.clone(), Instant::now() + time_limit);
    let (sender, answer) = oneshot::channel();
    let run = move || {
        let done = Session::begin(&path, is_immutable, end, flag).map_err(SessionFailure::Source).and_then(|session| {
            let done = act(&session);
            done.map_err(|failed| session.explain(failed))
        });
        // The receiver may be gone.
        let _ = sender.send(done);
        drop(permit);
    };
    let thread = std::thread::Builder::new().name("sqlite-session".to_owned()).stack_size(STACK).spawn(run);
    thread.map_err(|error| SessionFailure::Refused(Cause::Memory, format!("cannot start a thread: {error}")))?;
    match tokio::time::timeout(time_limit + GRACE, answer).await {
        Ok(Ok(done)) => done,
        Ok(Err(_)) => {
            Err(SessionFailure::Refused(Cause::Other, "the reading thread stopped without a result".to_owned()))
        }
        Err(_) => Err(late()),
    }
}

/// Stops SQLite when the future is dropped.
struct Gone(Arc<AtomicBool>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

//! One connection and thread per read: with resource limits, and a deadline that applies whatever the statement does.
//!
//! Values are measured inside SQLite, and copied only if they are within the limits.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, Params, Row};
use tokio::sync::{Semaphore, oneshot};

use super::failure::SessionFailure;
use super::functions;
use super::guard::Guard;
use super::memory::{self, MAX_GROWTH, MAX_VALUE_BYTES};
use super::open::open;
use crate::cause::Cause;
use crate::error::TIMED_OUT;

/// Number of SQLite virtual machine instructions between two checks of the limits.
const INSTRUCTIONS: i32 = 1_000;

/// How much longer than its time limit a statement's thread is awaited: a single instruction cannot be interrupted.
const GRACE: Duration = Duration::from_secs(2);

/// How long a free session is awaited.
const MAX_WAIT: Duration = Duration::from_secs(120);

/// The stack size of the thread in bytes: SQLite resolves expressions recursively, up to a depth of a thousand.
const STACK: usize = 8 << 20;

/// Resource limits of a statement. The length applies to every intermediate value: it exceeds
/// [`crate::rows::MAX_CELL_BYTES`], so that a part of a longer value can be selected. Multiplied by the length of a
/// pattern, it also bounds the work of one instruction, which cannot be interrupted.
const LIMITS: [(Limit, i32); 11] = [
    (Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES),
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

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Generated statements that measure whole tables: values of any size, sorted on disk.
    Measuring,
    /// User statements, and generated ones that return whole rows.
    Reading,
}

/// A read-only connection.
pub(super) struct Session {
    pub(super) connection: Connection,
    pub(super) guard: Guard,
    /// The name of the file in messages.
    pub(super) place: String,
    /// A warning about how the file was opened.
    pub(super) warning: Option<&'static str>,
    purpose: Purpose,
    /// Whether the caller is gone.
    gone: Arc<AtomicBool>,
    /// Whether a statement was stopped because of its memory.
    stopped: Arc<AtomicBool>,
}

impl Session {
    /// Opens a connection, whose statements stop at `end`, or if `gone` is set.
    fn begin(path: &Path, purpose: Purpose, end: Instant, gone: Arc<AtomicBool>) -> Result<Session, SessionFailure> {
        let (connection, warning) = open(path)?;
        memory::cap(&connection)?;
        if purpose == Purpose::Reading {
            harden(&connection)?;
            set_limits(&connection)?;
            functions::replace_slow_ones(&connection)?;
            // Sorting uses memory, where it is counted, instead of temporary files.
            let settings = "PRAGMA temp_store = MEMORY; PRAGMA query_only = ON; PRAGMA mmap_size = 0; BEGIN";
            connection.execute_batch(settings)?;
        }
        let guard = Guard::set(&connection)?;
        let (place, stopped) = (path.display().to_string(), Arc::default());
        let session = Session { connection, guard, place, warning, purpose, gone, stopped };
        session.stop_at(end)?;
        Ok(session)
    }

    /// Stops the next statements at `end`, if the caller is gone, or if reading uses too much memory.
    pub(super) fn stop_at(&self, end: Instant) -> Result<(), rusqlite::Error> {
        let (gone, stopped, before) = (self.gone.clone(), self.stopped.clone(), memory::bytes_used());
        let is_limited = self.purpose == Purpose::Reading;
        let is_over = move || {
            let is_full = is_limited && memory::bytes_used().saturating_sub(before) > MAX_GROWTH;
            if is_full {
                stopped.store(true, Ordering::Relaxed);
            }
            is_full || Instant::now() >= end || gone.load(Ordering::Relaxed)
        };
        self.connection.progress_handler(INSTRUCTIONS, Some(is_over))
    }

    /// Returns the result of a statement, with each row converted.
    pub(super) fn ask<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        mut convert: impl FnMut(&Row<'_>) -> T,
    ) -> Result<Vec<T>, rusqlite::Error> {
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map(parameters, |row| Ok(convert(row)))?;
        rows.collect()
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

/// Runs a function with a session of its own, no longer than `time_limit`. Dropping the future stops it.
pub(super) async fn within<T: Send + 'static>(
    path: PathBuf,
    permits: &Arc<Semaphore>,
    purpose: Purpose,
    time_limit: Duration,
    act: impl FnOnce(&Session) -> Result<T, SessionFailure> + Send + 'static,
) -> Result<T, SessionFailure> {
    let late = || SessionFailure::Refused(Cause::TimedOut, TIMED_OUT.to_owned());
    let permit = tokio::time::timeout(MAX_WAIT, permits.clone().acquire_owned()).await;
    let permit =
        permit.map_err(|_| late())?.map_err(|error| SessionFailure::Refused(Cause::Other, error.to_string()))?;
    let gone = Gone(Arc::default());
    let (flag, end) = (gone.0.clone(), Instant::now() + time_limit);
    let (sender, answer) = oneshot::channel();
    let run = move || {
        let done = Session::begin(&path, purpose, end, flag).and_then(|session| {
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

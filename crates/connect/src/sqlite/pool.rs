//! Opens a database file without writing anything, not even next to it.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sqlx::{ConnectOptions, Sqlite, SqliteConnection};
use tokio::sync::{Mutex, Semaphore};

use super::memory::MAX_HEAP;
use crate::ConnectError;
use crate::cause::Cause;
use crate::error::TIMED_OUT;
use crate::source_kind::SourceKind;

/// Number of SQLite virtual machine instructions between two checks of the clock.
const INSTRUCTIONS: i32 = 10_000;

/// Maximum number of concurrent sessions that read rows.
const SESSIONS: usize = 4;

/// A database file and its connections, opened on first use.
pub(super) struct Database {
    path: PathBuf,
    opened: Mutex<Option<OpenDatabase>>,
    permits: Arc<Semaphore>,
}

#[derive(Clone)]
struct OpenDatabase {
    pool: SqlitePool,
    /// The state of the file when it was opened as immutable; `None` if SQLite detects changes itself.
    immutable: Option<Stamp>,
    warning: Option<&'static str>,
}

/// Changes whenever a file is written.
#[derive(Debug, Clone, PartialEq)]
struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    log: bool,
}

/// Why a path is not a database, as a clause.
#[derive(Debug, thiserror::Error)]
enum NotADatabase {
    #[error("there is no such file")]
    Missing,
    #[error("it is a folder")]
    Folder,
    #[error("the file is empty")]
    Empty,
    #[error("it is not a SQLite database, or it is encrypted")]
    Header,
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Database {
    pub(super) fn new(path: &Path) -> Self {
        // SQLite gives `:memory:` and `file:x` a special meaning.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Database { path, opened: Mutex::new(None), permits: Arc::new(Semaphore::new(SESSIONS)) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a connection on which every statement is interrupted after `time_limit`.
    pub(super) async fn connection(&self, time_limit: Duration) -> Result<PoolConnection<Sqlite>, ConnectError> {
        let opened = self.ensure_open().await?;
        let failed = |error: sqlx::Error| self.to_connect_error(error);
        let mut connection = opened.pool.acquire().await.map_err(failed)?;
        limit(&mut connection, time_limit).await.map_err(failed)?;
        Ok(connection)
    }

    /// Whether the file must be opened as immutable, because nothing else works.
    pub(super) async fn is_immutable(&self) -> Result<bool, ConnectError> {
        Ok(self.ensure_open().await?.immutable.is_some())
    }

    /// Returns the semaphore of the sessions that read rows.
    pub(super) fn permits(&self) -> &Arc<Semaphore> {
        &self.permits
    }

    /// Returns a warning about how the database was opened.
    pub(super) async fn warning(&self) -> Option<&'static str> {
        self.opened.lock().await.as_ref().and_then(|opened| opened.warning)
    }

    pub(super) fn to_connect_error(&self, error: sqlx::Error) -> ConnectError {
        ConnectError::Open {
            kind: SourceKind::Sqlite,
            path: self.path.clone(),
            reason: reason(&error).into(),
            cause: cause(&error),
            source: None,
        }
        .with_source(error)
    }

    async fn ensure_open(&self) -> Result<OpenDatabase, ConnectError> {
        let mut slot = self.opened.lock().await;
        if let Some(opened) = slot.as_ref()
            && opened.immutable.as_ref().is_none_or(|stamp| *stamp == self.stamp())
        {
            return Ok(opened.clone());
        }
        let opened = self.open().await?;
        *slot = Some(opened.clone());
        Ok(opened)
    }

    async fn open(&self) -> Result<OpenDatabase, ConnectError> {
        let uses_log = self.examine().map_err(|error| {
            ConnectError::open(SourceKind::Sqlite, &self.path, error.to_string()).with_source(error)
        })?;
        // With a write-ahead log, even a reader creates files next to the database, unless it is opened as immutable.
        // Without a log file there is no writer.
        let stamp = self.stamp();
        if uses_log && !stamp.log {
            let pool = self.connect(true).await.map_err(|error| self.to_connect_error(error))?;
            return Ok(OpenDatabase { pool, immutable: Some(stamp), warning: None });
        }
        match self.connect(false).await {
            Ok(pool) => Ok(OpenDatabase { pool, immutable: None, warning: None }),
            // The folder is not writable, so the log cannot be used.
            Err(error) if uses_log && matches!(code(&error), Some(8 | 10 | 14)) => {
                let pool = self.connect(true).await.map_err(|error| self.to_connect_error(error))?;
                let warning = Some("the write-ahead log cannot be read, so the latest changes are missing");
                Ok(OpenDatabase { pool, immutable: Some(stamp), warning })
            }
            Err(error) => Err(self.to_connect_error(error)),
        }
    }

    /// Opens a pool and verifies it with one statement.
    async fn connect(&self, immutable: bool) -> Result<SqlitePool, sqlx::Error> {
        let options = SqliteConnectOptions::new()
            .filename(&self.path)
            .read_only(true)
            .immutable(immutable)
            .busy_timeout(Duration::from_secs(5))
            .pragma("hard_heap_limit", MAX_HEAP.to_string())
            .disable_statement_logging();
        let pool = SqlitePoolOptions::new()
            .max_connections(4)
            .idle_timeout(Duration::from_secs(5))
            .acquire_timeout(Duration::from_secs(120))
            .connect_lazy_with(options);
        sqlx::query("SELECT count(*) FROM sqlite_schema").fetch_one(&pool).await?;
        Ok(pool)
    }

    /// Whether the database uses a write-ahead log; fails if the file is not a database.
    fn examine(&self) -> Result<bool, NotADatabase> {
        let metadata = std::fs::metadata(&self.path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => NotADatabase::Missing,
            _ => NotADatabase::Io(error),
        })?;
        if metadata.is_dir() {
            return Err(NotADatabase::Folder);
        }
        if metadata.len() == 0 {
            return Err(NotADatabase::Empty);
        }
        let mut header = [0; 20];
        let read = File::open(&self.path).and_then(|mut file| file.read_exact(&mut header));
        match read {
            Err(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => Err(error.into()),
            Ok(()) if header.starts_with(b"SQLite format 3\0") => Ok(header[18] == 2 || header[19] == 2),
            _ => Err(NotADatabase::Header),
        }
    }

    fn stamp(&self) -> Stamp {
        let metadata = std::fs::metadata(&self.path).ok();
        let mut log: OsString = self.path.clone().into_os_string();
        log.push("-wal");
        Stamp {
            modified: metadata.as_ref().and_then(|m| m.modified().ok()),
            bytes: metadata.map_or(0, |m| m.len()),
            log: Path::new(&log).exists(),
        }
    }
}

/// Interrupts statements on `connection` after `time_limit`.
pub(super) async fn limit(connection: &mut SqliteConnection, time_limit: Duration) -> Result<(), sqlx::Error> {
    let end = Instant::now() + time_limit;
    let mut handle = connection.lock_handle().await?;
    handle.set_progress_handler(INSTRUCTIONS, move || Instant::now() < end);
    Ok(())
}

/// Returns the primary result code of SQLite.
fn code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

/// Returns the message of an error, without wrapping.
pub(super) fn reason(error: &sqlx::Error) -> String {
    match code(error) {
        Some(9) => TIMED_OUT.to_owned(),
        Some(26) => "it is not a SQLite database, or it is encrypted".to_owned(),
        _ => error.as_database_error().map_or_else(|| error.to_string(), |e| e.message().to_owned()),
    }
}

/// Returns the cause of a failed generated statement.
pub(super) fn cause(error: &sqlx::Error) -> Cause {
    match code(error) {
        Some(7 | 13) => Cause::Memory,
        Some(9) => Cause::TimedOut,
        _ => Cause::Other,
    }
}

/// Whether a statement was interrupted at its time limit.
pub(super) fn is_interrupted(error: &sqlx::Error) -> bool {
    code(error) == Some(9)
}

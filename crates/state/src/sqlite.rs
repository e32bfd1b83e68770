//! SQLite databases that several processes may use concurrently.
//!
//! A file is created when a database is opened for writing, never by a read. A file that is damaged or of another program is not changed.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use sqlx::{
    ConnectOptions, SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::sync::OnceCell;

use crate::{create_folder, options as private_options};

/// Time to wait for the write lock of another process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of retries within this time, for the operation that does not wait.
const MAX_TRIES: u32 = 200;

/// A kind of database.
#[derive(Debug)]
pub struct Layout {
    /// Its name in messages: `fact store`.
    pub name: &'static str,
    /// The SQLite application id, so that no other database is ever written to.
    pub application: i64,
    /// The version of its tables, from 1.
    pub version: i64,
    /// Returns the statements that create the tables, for version 0, or migrate them from an earlier version; each ends
    /// with a semicolon.
    pub upgrade: fn(i64) -> String,
}

/// The class of a failed operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseErrorKind {
    /// The file is not readable as a database.
    Damaged,
    /// The file is another kind of database, or of a later version.
    Foreign,
    /// The file or its folder cannot be created or written.
    Unwritable,
    /// Another operation failed.
    Other,
}

/// A failed operation on a database.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct DatabaseError {
    /// The file; `:memory:` for a database in memory.
    pub path: PathBuf,
    /// The class.
    pub kind: DatabaseErrorKind,
    /// The message without the path.
    pub reason: String,
}

impl DatabaseError {
    /// Returns advice for the user, which is not part of the message.
    pub fn advice(&self) -> &'static str {
        match self.kind {
            DatabaseErrorKind::Damaged => {
                "restore the file from a backup, or move it away to start with an empty one; nothing was deleted"
            }
            DatabaseErrorKind::Foreign => "upgrade the program, or move the file away; it was not changed",
            DatabaseErrorKind::Unwritable | DatabaseErrorKind::Other => {
                "check that the file and its folder can be written, and that no other process keeps it locked"
            }
        }
    }
}

/// A database, opened on demand.
#[derive(Debug)]
pub struct Database {
    layout: &'static Layout,
    /// `None`: in memory, for the lifetime of this value.
    path: Option<PathBuf>,
    pool: OnceCell<SqlitePool>,
}

impl Database {
    /// Creates the database of a file; without one, it is in memory.
    pub fn new(layout: &'static Layout, path: Option<PathBuf>) -> Self {
        Database { layout, path, pool: OnceCell::new() }
    }

    fn place(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(":memory:"))
    }

    fn error_of(&self, kind: DatabaseErrorKind, reason: String) -> DatabaseError {
        DatabaseError { path: self.place().to_owned(), kind, reason }
    }

    /// Returns a conversion of errors of an operation, which is a verb such as `write to`.
    pub fn error(&self, act: &'static str) -> impl Fn(sqlx::Error) -> DatabaseError + Copy {
        move |source| {
            let name = self.layout.name;
            // Without the driver's own words around the message of SQLite.
            let message =
                source.as_database_error().map_or_else(|| source.to_string(), |error| error.message().to_owned());
            let failed = format!("cannot {act} the {name}: {message}");
            let (kind, reason) = match code(&source) {
                // SQLITE_CORRUPT and SQLITE_NOTADB.
                Some(11 | 26) => (DatabaseErrorKind::Damaged, format!("the {name} is damaged: {message}")),
                // SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL and SQLITE_CANTOPEN.
                Some(8 | 10 | 13 | 14) => (DatabaseErrorKind::Unwritable, failed),
                _ => (DatabaseErrorKind::Other, failed),
            };
            self.error_of(kind, reason)
        }
    }

    /// Opens the database for reading; `None` if it does not exist yet.
    ///
    /// # Errors
    /// [`DatabaseError`] if the file cannot be used.
    pub async fn existing(&self) -> Result<Option<&SqlitePool>, DatabaseError> {
        let is_there = self.pool.initialized() || self.path.as_ref().is_some_and(|path| path.exists());
        if is_there { self.pool().await.map(Some) } else { Ok(None) }
    }

    /// Opens the database; its file and tables are created if they do not exist.
    ///
    /// # Errors
    /// [`DatabaseError`] if the file cannot be used.
    pub async fn pool(&self) -> Result<&SqlitePool, DatabaseError> {
        self.pool.get_or_try_init(|| self.open()).await
    }

    async fn open(&self) -> Result<SqlitePool, DatabaseError> {
        match self.open_for_writing().await {
            // On a full or read-only disk, SQLite cannot create its auxiliary files.
            Err(error) if error.kind == DatabaseErrorKind::Unwritable && self.is_whole() => {
                let pool = one_connection(self.read_options());
                // An empty file has no tables to read.
                if self.version(&pool).await? == 0 { Err(error) } else { Ok(pool) }
            }
            opened => opened,
        }
    }

    /// Returns whether all data is in the main file, i.e. the write-ahead log is empty.
    fn is_whole(&self) -> bool {
        let mut log = self.place().as_os_str().to_owned();
        log.push("-wal");
        self.place().exists() && std::fs::metadata(log).map_or(true, |meta| meta.len() == 0)
    }

    /// Returns options that create no auxiliary files, not even locks, unless there is a write-ahead log.
    fn read_options(&self) -> SqliteConnectOptions {
        let options = SqliteConnectOptions::new().filename(self.place()).read_only(true);
        options.immutable(self.is_whole()).disable_statement_logging()
    }

    async fn open_for_writing(&self) -> Result<SqlitePool, DatabaseError> {
        let mut options = SqliteConnectOptions::new().busy_timeout(LOCK_TIMEOUT).disable_statement_logging();
        match &self.path {
            None => options = options.in_memory(true),
            Some(path) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                folder.map_or(Ok(()), create_folder).map_err(|source| {
                    let reason = format!("cannot create the folder of the {}: {source}", self.layout.name);
                    self.error_of(DatabaseErrorKind::Other, reason)
                })?;
                // SQLite creates its auxiliary files with the same mode. Errors are reported by SQLite itself.
                let _ = private_options().write(true).create(true).truncate(false).open(path);
                // Writes are rare: checkpointing after each one lets the file be copied without its log.
                options = options
                    .filename(path)
                    .create_if_missing(true)
                    .synchronous(SqliteSynchronous::Normal)
                    .pragma("wal_autocheckpoint", "1");
            }
        }
        let pool = one_connection(options);
        let version = self.version(&pool).await?;
        if version != self.layout.version {
            self.upgrade(&pool, version).await.map_err(self.error("open"))?;
        }
        Ok(pool)
    }

    /// Creates or migrates the tables.
    async fn upgrade(&self, pool: &SqlitePool, from: i64) -> Result<(), sqlx::Error> {
        let Layout { application, version, upgrade, .. } = self.layout;
        let mut tries = 0;
        // The switch to a write-ahead log does not wait for a lock of another process that creates the file at the same
        // time.
        while from == 0
            && self.path.is_some()
            && let Err(error) = sqlx::query("PRAGMA journal_mode = WAL").execute(pool).await
        {
            // SQLITE_BUSY and SQLITE_LOCKED.
            if tries == MAX_TRIES || !matches!(code(&error), Some(5 | 6)) {
                return Err(error);
            }
            tries += 1;
            tokio::time::sleep(LOCK_TIMEOUT / MAX_TRIES).await;
        }
        let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
        // Another process may have been faster.
        let found: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *transaction).await?;
        if found != *version {
            let tables = upgrade(found);
            let statements = format!("{tables}PRAGMA application_id = {application}; PRAGMA user_version = {version};");
            sqlx::raw_sql(sqlx::AssertSqlSafe(statements)).execute(&mut *transaction).await?;
        }
        transaction.commit().await
    }

    /// Returns the version of the tables, 0 for an empty file.
    ///
    /// # Errors
    /// If the file is not a database, of another kind, or of a later version.
    async fn version(&self, pool: &SqlitePool) -> Result<i64, DatabaseError> {
        // Read in one transaction: the creation of the tables by another process is atomic.
        let read = async || {
            let mut transaction = pool.begin().await?;
            let mut numbers = [0_i64; 3];
            let questions = ["SELECT count(*) FROM sqlite_schema", "PRAGMA application_id", "PRAGMA user_version"];
            for (number, question) in numbers.iter_mut().zip(questions) {
                *number = sqlx::query_scalar(question).fetch_one(&mut *transaction).await?;
            }
            Ok(numbers)
        };
        let [tables, application, version] = read().await.map_err(self.error("read"))?;
        let what = match application == self.layout.application {
            true if version <= self.layout.version => return Ok(version),
            true => format!("it has version {version}"),
            false if tables == 0 => return Ok(0),
            false => "it contains other tables".to_owned(),
        };
        let reason = format!("it is not a {} of this version: {what}", self.layout.name);
        Err(self.error_of(DatabaseErrorKind::Foreign, reason))
    }

    /// Checks the integrity of all pages without writing.
    ///
    /// # Errors
    /// [`DatabaseError`] if the file is damaged, of another kind, or unreadable.
    pub async fn check(&self) -> Result<(), DatabaseError> {
        let pool = one_connection(self.read_options());
        self.version(&pool).await?;
        let found: Result<String, _> = sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_one(&pool).await;
        pool.close().await;
        match found.map_err(self.error("read"))?.as_str() {
            "ok" => Ok(()),
            found => {
                let reason = format!("the {} is damaged: {found}", self.layout.name);
                Err(self.error_of(DatabaseErrorKind::Damaged, reason))
            }
        }
    }
}

/// Opens a single connection: SQLite has one writer, and an in-memory database lives as long as its connection.
fn one_connection(options: SqliteConnectOptions) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(LOCK_TIMEOUT * 2)
        .acquire_slow_threshold(LOCK_TIMEOUT)
        .connect_lazy_with(options)
}

/// Returns the primary SQLite error code; the upper bits are the extended code.
fn code(error: &sqlx::Error) -> Option<u32> {
    error.as_database_error().and_then(|e| e.code()).and_then(|c| c.parse::<u32>().ok()).map(|c| c & 0xff)
}

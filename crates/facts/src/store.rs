//! Stores facts and unresolved questions in one SQLite file, which several processes may use concurrently.
//!
//! The file is created by the first write, never by a read. A file that is damaged or not a fact store is not changed.

mod tables;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use prospector_core::Owner;
use prospector_state::{create_folder, options as private_options};
use sqlx::{
    ConnectOptions, Row, SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteRow, SqliteSynchronous},
};
use tokio::sync::OnceCell;

use crate::{
    error::FactError,
    model::{Fact, Keeping, Origin, Unresolved, Viewer},
    words::stems,
};
use tables::{APPLICATION, VERSION};

/// Time to wait for the write lock of another process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of pending facts per owner.
const MAX_APART: i64 = 1_000;
const TOO_MANY_APART: &str = "the limit of 1,000 pending facts is reached";
/// Maximum number of unresolved questions per owner; the oldest are deleted first.
const MAX_UNRESOLVED: i64 = 1_000;

/// The store; opened on demand.
pub(crate) struct FactStore {
    /// `None`: in memory, for the lifetime of the process.
    path: Option<PathBuf>,
    pool: OnceCell<SqlitePool>,
}

impl FactStore {
    pub(crate) fn new(path: Option<PathBuf>) -> Self {
        FactStore { path, pool: OnceCell::new() }
    }

    fn place(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(":memory:"))
    }

    fn store_error(&self, act: &'static str) -> impl FnOnce(sqlx::Error) -> FactError + '_ {
        move |source| FactError::store(act, self.place(), source)
    }

    /// Opens the store for reading; `None` if it does not exist yet.
    async fn existing(&self) -> Result<Option<&SqlitePool>, FactError> {
        let there = self.pool.initialized() || self.path.as_ref().is_some_and(|path| path.exists());
        if there { self.pool().await.map(Some) } else { Ok(None) }
    }

    async fn pool(&self) -> Result<&SqlitePool, FactError> {
        self.pool.get_or_try_init(|| self.open()).await
    }

    async fn open(&self) -> Result<SqlitePool, FactError> {
        match self.open_for_writing().await {
            // On a full or read-only disk, SQLite cannot create its auxiliary files.
            Err(FactError::Store { source, .. }) if is_obstacle(&source) && self.is_whole() => {
                let pool = one_connection(to_read(self.place()));
                self.version(&pool).await?;
                Ok(pool)
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

    async fn open_for_writing(&self) -> Result<SqlitePool, FactError> {
        let store_error = |source| FactError::store("open", self.place(), source);
        let mut options = SqliteConnectOptions::new().busy_timeout(LOCK_TIMEOUT).disable_statement_logging();
        match &self.path {
            None => options = options.in_memory(true),
            Some(path) => {
                if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                    create_folder(folder).map_err(|source| FactError::Folder { path: path.clone(), source })?;
                }
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
        if version == VERSION {
            return Ok(pool);
        }
        if version == 0 && self.path.is_some() {
            // The switch to WAL does not wait for a lock of another process that creates the file at the same time.
            let mut tries = 0;
            while let Err(error) = sqlx::query("PRAGMA journal_mode = WAL").execute(&pool).await {
                if tries == 200 || !is_busy(&error) {
                    return Err(store_error(error));
                }
                tries += 1;
                tokio::time::sleep(LOCK_TIMEOUT / 200).await;
            }
        }
        let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await.map_err(store_error)?;
        // Another process may have been faster.
        let now: i64 =
            sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *transaction).await.map_err(store_error)?;
        sqlx::raw_sql(sqlx::AssertSqlSafe(tables::upgrade(now)))
            .execute(&mut *transaction)
            .await
            .map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        Ok(pool)
    }

    /// Returns the schema version, 0 for an empty file.
    ///
    /// # Errors
    /// If the file is not a database, not a fact store, or of a newer version.
    async fn version(&self, pool: &SqlitePool) -> Result<i64, FactError> {
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
        let [tables, application, version] = read().await.map_err(self.store_error("read"))?;
        let foreign = |reason: String| FactError::Foreign { path: self.place().to_owned(), reason };
        match application {
            APPLICATION if version > VERSION => Err(foreign(format!("it has version {version}"))),
            APPLICATION => Ok(version),
            _ if tables > 0 => Err(foreign("it contains other tables".into())),
            _ => Ok(0),
        }
    }

    /// Checks the integrity of all pages without writing.
    pub(crate) async fn check(&self) -> Result<(), FactError> {
        let options = match self.is_whole() {
            true => to_read(self.place()),
            false => SqliteConnectOptions::new().filename(self.place()).read_only(true).disable_statement_logging(),
        };
        let pool = one_connection(options);
        self.version(&pool).await?;
        let found: Result<String, _> = sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_one(&pool).await;
        pool.close().await;
        match found.map_err(self.store_error("read"))?.as_str() {
            "ok" => Ok(()),
            reason => {
                let source = sqlx::Error::Protocol(reason.to_owned());
                Err(FactError::Damaged { path: self.place().to_owned(), source })
            }
        }
    }

    /// Returns all facts by term, including private ones.
    pub(crate) async fn facts(&self) -> Result<Vec<StoredFact>, FactError> {
        let Some(pool) = self.existing().await? else { return Ok(Vec::new()) };
        let rows = sqlx::query("SELECT * FROM facts ORDER BY key, scope, origin, apart").fetch_all(pool).await;
        rows.and_then(|rows| rows.iter().map(read_row).collect()).map_err(self.store_error("read"))
    }

    /// Stores a fact of this viewer. Returns the fact that it replaces: same term, scope, origin and visibility.
    pub(crate) async fn add(&self, new: &Fact, viewer: &Viewer) -> Result<Option<Fact>, FactError> {
        let store_error = |source| FactError::store("write to", self.place(), source);
        let pool = self.pool().await?;
        let mut key = stems(&new.term).join(" ");
        // Extracted facts on one term from different texts are kept separately.
        if new.origin == Origin::Extracted {
            key = format!("{key} @ {}", new.source);
        }
        let new = StoredFact {
            key,
            apart: viewer.apart().to_owned(),
            owner: viewer.owner.clone(),
            fact: Fact { said_by: String::new(), pending: false, ..new.clone() },
        };
        let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await.map_err(store_error)?;
        let old = same_place(&mut transaction, &new).await.map_err(store_error)?;
        if old.is_none() && !new.apart.is_empty() {
            let kept: i64 = sqlx::query_scalar("SELECT count(*) FROM facts WHERE apart = ?")
                .bind(&new.apart)
                .fetch_one(&mut *transaction)
                .await
                .map_err(store_error)?;
            if kept >= MAX_APART {
                return Err(FactError::Invalid { term: new.fact.term, reason: TOO_MANY_APART });
            }
        }
        write(&mut transaction, &new).await.map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        Ok(old.map(|old| old.fact))
    }

    /// Makes a private fact visible to all owners and returns the fact that it replaces. Returns `Ok(None)` if the fact
    /// is no longer as shown.
    pub(crate) async fn approve(&self, shown: &StoredFact) -> Result<Option<Option<Fact>>, FactError> {
        let store_error = |source| FactError::store("write to", self.place(), source);
        let pool = self.pool().await?;
        let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await.map_err(store_error)?;
        if same_place(&mut transaction, shown).await.map_err(store_error)?.as_ref() != Some(shown) {
            return Ok(None);
        }
        delete(&mut transaction, shown).await.map_err(store_error)?;
        let shared = StoredFact { apart: String::new(), ..shown.clone() };
        let old = same_place(&mut transaction, &shared).await.map_err(store_error)?;
        write(&mut transaction, &shared).await.map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        Ok(Some(old.map(|old| old.fact)))
    }

    /// Deletes a fact; returns whether it was still as shown.
    pub(crate) async fn remove(&self, shown: &StoredFact) -> Result<bool, FactError> {
        let store_error = |source| FactError::store("write to", self.place(), source);
        let pool = self.pool().await?;
        let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await.map_err(store_error)?;
        if same_place(&mut transaction, shown).await.map_err(store_error)?.as_ref() != Some(shown) {
            return Ok(false);
        }
        delete(&mut transaction, shown).await.map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        Ok(true)
    }

    /// Records an unresolved question of this owner.
    pub(crate) async fn note_unresolved(&self, question: &str, now: &str, owner: &Owner) -> Result<(), FactError> {
        let store_error = |source| FactError::store("write to", self.place(), source);
        let pool = self.pool().await?;
        let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await.map_err(store_error)?;
        sqlx::query(
            "INSERT INTO unresolved (key, owner, question, times, last_asked, first_asked) VALUES (?, ?, ?, 1, ?, ?)
             ON CONFLICT (key, owner) DO UPDATE SET
                 question = excluded.question, times = times + 1, last_asked = excluded.last_asked",
        )
        .bind(prospector_core::name::normalize(question))
        .bind(owner.id())
        .bind(question)
        .bind(now)
        .bind(now)
        .execute(&mut *transaction)
        .await
        .map_err(store_error)?;
        sqlx::query(
            "DELETE FROM unresolved WHERE owner = ?1 AND key NOT IN
                 (SELECT key FROM unresolved WHERE owner = ?1 ORDER BY last_asked DESC, key LIMIT ?2)",
        )
        .bind(owner.id())
        .bind(MAX_UNRESOLVED)
        .execute(&mut *transaction)
        .await
        .map_err(store_error)?;
        transaction.commit().await.map_err(store_error)
    }

    /// Returns the unresolved questions of this viewer, most recent first. With shared facts, those of the command line
    /// are included.
    pub(crate) async fn list_unresolved(&self, viewer: &Viewer) -> Result<Vec<Unresolved>, FactError> {
        let Some(pool) = self.existing().await? else { return Ok(Vec::new()) };
        let rows =
            sqlx::query("SELECT * FROM unresolved WHERE owner = ? OR (owner = '' AND ?) ORDER BY last_asked DESC, key")
                .bind(viewer.owner.id())
                .bind(viewer.keeping == Keeping::ForAll)
                .fetch_all(pool)
                .await;
        let read = |row: &SqliteRow| {
            Ok(Unresolved {
                question: row.try_get("question")?,
                times: row.try_get("times")?,
                first_asked: first_asked(row)?,
                last_asked: row.try_get("last_asked")?,
            })
        };
        rows.and_then(|rows| rows.iter().map(read).collect()).map_err(self.store_error("read"))
    }

    /// Deletes a question that has been answered; writes nothing if it was not open for this viewer.
    pub(crate) async fn close(&self, question: &str, viewer: &Viewer) -> Result<(), FactError> {
        let Some(pool) = self.existing().await? else { return Ok(()) };
        let key = prospector_core::name::normalize(question);
        let shares = viewer.keeping == Keeping::ForAll;
        let open: i64 =
            sqlx::query_scalar("SELECT count(*) FROM unresolved WHERE key = ? AND (owner = ? OR (owner = '' AND ?))")
                .bind(&key)
                .bind(viewer.owner.id())
                .bind(shares)
                .fetch_one(pool)
                .await
                .map_err(self.store_error("read"))?;
        if open > 0 {
            let delete = sqlx::query("DELETE FROM unresolved WHERE key = ? AND (owner = ? OR (owner = '' AND ?))")
                .bind(&key)
                .bind(viewer.owner.id())
                .bind(shares)
                .execute(pool);
            delete.await.map_err(self.store_error("write to"))?;
        }
        Ok(())
    }
}

/// Opens a single connection: SQLite has one writer, and an in-memory database lives as long as its connection.
fn one_connection(options: SqliteConnectOptions) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(LOCK_TIMEOUT * 2)
        .connect_lazy_with(options)
}

/// Opens a file without creating auxiliary files, not even locks.
fn to_read(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(path).read_only(true).immutable(true).disable_statement_logging()
}

/// A stored fact with author and visibility.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredFact {
    /// The stems of its term, followed by its source if it was extracted.
    pub(crate) key: String,
    /// The id of the owner to whom it is private; empty if shared.
    pub(crate) apart: String,
    /// The author.
    pub(crate) owner: Owner,
    pub(crate) fact: Fact,
}

/// Returns the fact with the same term, scope, origin and visibility.
async fn same_place(connection: &mut SqliteConnection, fact: &StoredFact) -> Result<Option<StoredFact>, sqlx::Error> {
    let row = sqlx::query("SELECT * FROM facts WHERE key = ? AND scope = ? AND origin = ? AND apart = ?")
        .bind(&fact.key)
        .bind(&fact.fact.scope)
        .bind(fact.fact.origin.as_str())
        .bind(&fact.apart)
        .fetch_optional(connection)
        .await?;
    row.as_ref().map(read_row).transpose()
}

async fn delete(connection: &mut SqliteConnection, fact: &StoredFact) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM facts WHERE key = ? AND scope = ? AND origin = ? AND apart = ?")
        .bind(&fact.key)
        .bind(&fact.fact.scope)
        .bind(fact.fact.origin.as_str())
        .bind(&fact.apart)
        .execute(connection)
        .await?;
    Ok(())
}

async fn write(connection: &mut SqliteConnection, stored: &StoredFact) -> Result<(), sqlx::Error> {
    let StoredFact { key, apart, owner, fact } = stored;
    sqlx::query(
        "INSERT OR REPLACE INTO facts (key, scope, origin, apart, term, definition, source, confidence, reasoning,
             recorded_at, source_hash, owner, said_by)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(key)
    .bind(&fact.scope)
    .bind(fact.origin.as_str())
    .bind(apart)
    .bind(&fact.term)
    .bind(&fact.definition)
    .bind(&fact.source)
    .bind(fact.confidence)
    .bind(&fact.reasoning)
    .bind(&fact.recorded_at)
    .bind(&fact.source_hash)
    .bind(owner.id())
    .bind(if owner.is_local() { "" } else { owner.label() })
    .execute(connection)
    .await?;
    Ok(())
}

/// Stores of version 1 contain only the last time.
fn first_asked(row: &SqliteRow) -> Result<String, sqlx::Error> {
    let first: String = row.try_get("first_asked")?;
    if first.is_empty() { row.try_get("last_asked") } else { Ok(first) }
}

/// Returns the primary SQLite error code; the upper bits are the extended code.
fn code(error: &sqlx::Error) -> Option<u32> {
    error.as_database_error().and_then(|e| e.code()).and_then(|c| c.parse::<u32>().ok()).map(|c| c & 0xff)
}

fn is_busy(error: &sqlx::Error) -> bool {
    // SQLITE_BUSY and SQLITE_LOCKED.
    matches!(code(error), Some(5 | 6))
}

fn is_obstacle(error: &sqlx::Error) -> bool {
    // SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL and SQLITE_CANTOPEN.
    matches!(code(error), Some(8 | 10 | 13 | 14))
}

fn read_row(row: &SqliteRow) -> Result<StoredFact, sqlx::Error> {
    let owner: String = row.try_get("owner")?;
    let owner = match owner.is_empty() {
        true => Owner::local(),
        false => Owner::new(owner, row.try_get("said_by")?),
    };
    Ok(StoredFact {
        key: row.try_get("key")?,
        apart: row.try_get("apart")?,
        owner,
        fact: Fact {
            term: row.try_get("term")?,
            definition: row.try_get("definition")?,
            source: row.try_get("source")?,
            confidence: row.try_get("confidence")?,
            reasoning: row.try_get("reasoning")?,
            scope: row.try_get("scope")?,
            recorded_at: row.try_get("recorded_at")?,
            origin: Origin::from_name(row.try_get("origin")?),
            source_hash: row.try_get("source_hash")?,
            stale: false,
            said_by: String::new(),
            pending: false,
        },
    })
}

#[cfg(test)]
mod tests;

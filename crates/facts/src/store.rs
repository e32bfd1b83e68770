//! Facts and open questions on disk: one SQLite file that several processes may use at once.
//!
//! The file is made by the first write, never by a read. A file that is damaged, or that belongs to something else, is
//! left as it is.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use prospector_state::{create_folder, options as private_options};
use sqlx::{
    ConnectOptions, Row, SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteRow, SqliteSynchronous},
};
use tokio::sync::OnceCell;

use crate::{
    error::FactError,
    model::{Fact, Origin, Unresolved},
    words::stems,
};

/// Marks a file as a fact store (`PFct`), so that no other database is ever written to.
const APPLICATION: i64 = 0x5046_6374;
/// The version of the tables.
const VERSION: i64 = 2;
/// How long a process waits for another one's write.
const PATIENCE: Duration = Duration::from_secs(10);
/// No more open questions than this are kept; the ones asked longest ago go first.
const MOST_UNRESOLVED: i64 = 1_000;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS facts (
    key TEXT NOT NULL, scope TEXT NOT NULL, origin TEXT NOT NULL,
    term TEXT NOT NULL, definition TEXT NOT NULL, source TEXT NOT NULL, confidence REAL NOT NULL,
    reasoning TEXT NOT NULL, recorded_at TEXT NOT NULL, source_hash TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (key, scope, origin)
);
CREATE TABLE IF NOT EXISTS unresolved (
    key TEXT PRIMARY KEY, question TEXT NOT NULL, times INTEGER NOT NULL, last_asked TEXT NOT NULL,
    first_asked TEXT NOT NULL DEFAULT ''
);
PRAGMA application_id = 1346790260;
PRAGMA user_version = 2;
";

/// What version 1 lacks.
const FROM_VERSION_1: &str = "
ALTER TABLE facts ADD COLUMN source_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE unresolved ADD COLUMN first_asked TEXT NOT NULL DEFAULT '';
PRAGMA user_version = 2;
";

/// The store; nothing is opened before it is needed.
pub(crate) struct FactStore {
    /// None: in memory, for as long as the process lives.
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

    fn failed(&self, act: &'static str) -> impl FnOnce(sqlx::Error) -> FactError + '_ {
        move |source| FactError::store(act, self.place(), source)
    }

    /// The store for reading: none while nothing was ever written.
    async fn existing(&self) -> Result<Option<&SqlitePool>, FactError> {
        let there = self.pool.initialized() || self.path.as_ref().is_some_and(|path| path.exists());
        if there { self.pool().await.map(Some) } else { Ok(None) }
    }

    async fn pool(&self) -> Result<&SqlitePool, FactError> {
        self.pool.get_or_try_init(|| self.open()).await
    }

    async fn open(&self) -> Result<SqlitePool, FactError> {
        match self.open_for_writing().await {
            // On a full or read-only disk, SQLite cannot make the files that it wants beside a store.
            Err(FactError::Store { source, .. }) if is_obstacle(&source) && self.is_whole() => {
                let pool = one_connection(to_read(self.place()));
                self.version(&pool).await?;
                Ok(pool)
            }
            opened => opened,
        }
    }

    /// Whether all that was written is in the file itself, and not beside it.
    fn is_whole(&self) -> bool {
        let mut beside = self.place().as_os_str().to_owned();
        beside.push("-wal");
        self.place().exists() && std::fs::metadata(beside).map_or(true, |meta| meta.len() == 0)
    }

    async fn open_for_writing(&self) -> Result<SqlitePool, FactError> {
        let failed = |source| FactError::store("open", self.place(), source);
        let mut options = SqliteConnectOptions::new().busy_timeout(PATIENCE).disable_statement_logging();
        match &self.path {
            None => options = options.in_memory(true),
            Some(path) => {
                if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                    create_folder(folder).map_err(|source| FactError::Folder { path: path.clone(), source })?;
                }
                // SQLite gives the files that it keeps beside it the same mode. Why a file cannot be made, it says.
                let _ = private_options().write(true).create(true).truncate(false).open(path);
                // Writes are rare: after each, the file is whole again and can be copied without its log.
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
            // The switch to WAL does not wait for the lock of another process that makes the file at this moment.
            let mut tries = 0;
            while let Err(error) = sqlx::query("PRAGMA journal_mode = WAL").execute(&pool).await {
                if tries == 200 || !is_busy(&error) {
                    return Err(failed(error));
                }
                tries += 1;
                tokio::time::sleep(PATIENCE / 200).await;
            }
        }
        let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        // Another process may have been quicker.
        let now: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *transaction).await.map_err(failed)?;
        let tables = if now == 1 { FROM_VERSION_1 } else { TABLES };
        sqlx::raw_sql(tables).execute(&mut *transaction).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        Ok(pool)
    }

    /// The version of the tables, 0 where there are none; an error where the file is not a store that this version
    /// knows, or not a database.
    async fn version(&self, pool: &SqlitePool) -> Result<i64, FactError> {
        // In one transaction, so that a file which another process makes meanwhile is seen before or after, not between.
        let read = async || {
            let mut transaction = pool.begin().await?;
            let mut numbers = [0_i64; 3];
            let questions = ["SELECT count(*) FROM sqlite_schema", "PRAGMA application_id", "PRAGMA user_version"];
            for (number, question) in numbers.iter_mut().zip(questions) {
                *number = sqlx::query_scalar(question).fetch_one(&mut *transaction).await?;
            }
            Ok(numbers)
        };
        let [tables, application, version] = read().await.map_err(self.failed("read"))?;
        let foreign = |reason: String| FactError::Foreign { path: self.place().to_owned(), reason };
        match application {
            APPLICATION if version > VERSION => Err(foreign(format!("it has version {version}"))),
            APPLICATION => Ok(version),
            _ if tables > 0 => Err(foreign("it holds other tables".into())),
            _ => Ok(0),
        }
    }

    /// Whether every page of the file can be read and fits the others; nothing is written.
    pub(crate) async fn check(&self) -> Result<(), FactError> {
        let options = match self.is_whole() {
            true => to_read(self.place()),
            false => SqliteConnectOptions::new().filename(self.place()).read_only(true).disable_statement_logging(),
        };
        let pool = one_connection(options);
        self.version(&pool).await?;
        let found: Result<String, _> = sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_one(&pool).await;
        pool.close().await;
        match found.map_err(self.failed("read"))?.as_str() {
            "ok" => Ok(()),
            reason => {
                let source = sqlx::Error::Protocol(reason.to_owned());
                Err(FactError::Damaged { path: self.place().to_owned(), source })
            }
        }
    }

    /// All facts, by term.
    pub(crate) async fn facts(&self) -> Result<Vec<Fact>, FactError> {
        let Some(pool) = self.existing().await? else { return Ok(Vec::new()) };
        let rows = sqlx::query("SELECT * FROM facts ORDER BY key, scope, origin").fetch_all(pool).await;
        rows.and_then(|rows| rows.iter().map(fact).collect()).map_err(self.failed("read"))
    }

    /// Keeps a fact. One of the same term, scope and origin is replaced and given back.
    pub(crate) async fn add(&self, new: &Fact) -> Result<Option<Fact>, FactError> {
        let failed = |source| FactError::store("write to", self.place(), source);
        let pool = self.pool().await?;
        let mut key = stems(&new.term).join(" ");
        // What two texts say of one term are two facts.
        if new.origin == Origin::Extracted {
            key = format!("{key} @ {}", new.source);
        }
        let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        let old = sqlx::query("SELECT * FROM facts WHERE key = ? AND scope = ? AND origin = ?")
            .bind(&key)
            .bind(&new.scope)
            .bind(new.origin.as_str())
            .fetch_optional(&mut *transaction)
            .await
            .and_then(|row| row.as_ref().map(fact).transpose())
            .map_err(failed)?;
        sqlx::query(
            "INSERT OR REPLACE INTO facts (key, scope, origin, term, definition, source, confidence, reasoning, recorded_at,
                 source_hash)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(&key)
        .bind(&new.scope)
        .bind(new.origin.as_str())
        .bind(&new.term)
        .bind(&new.definition)
        .bind(&new.source)
        .bind(new.confidence)
        .bind(&new.reasoning)
        .bind(&new.recorded_at)
        .bind(&new.source_hash)
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        Ok(old)
    }

    /// Notes that a question found no answer.
    pub(crate) async fn note_unresolved(&self, question: &str, now: &str) -> Result<(), FactError> {
        let failed = |source| FactError::store("write to", self.place(), source);
        let pool = self.pool().await?;
        let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        sqlx::query(
            "INSERT INTO unresolved (key, question, times, last_asked, first_asked) VALUES (?, ?, 1, ?, ?)
             ON CONFLICT (key) DO UPDATE SET
                 question = excluded.question, times = times + 1, last_asked = excluded.last_asked",
        )
        .bind(prospector_core::normalized(question))
        .bind(question)
        .bind(now)
        .bind(now)
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
        sqlx::query(
            "DELETE FROM unresolved WHERE key NOT IN
                 (SELECT key FROM unresolved ORDER BY last_asked DESC, key LIMIT ?)",
        )
        .bind(MOST_UNRESOLVED)
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
        transaction.commit().await.map_err(failed)
    }

    /// The open questions, the one asked last first.
    pub(crate) async fn unresolved(&self) -> Result<Vec<Unresolved>, FactError> {
        let Some(pool) = self.existing().await? else { return Ok(Vec::new()) };
        let rows = sqlx::query("SELECT * FROM unresolved ORDER BY last_asked DESC, key").fetch_all(pool).await;
        let read = |row: &SqliteRow| {
            Ok(Unresolved {
                question: row.try_get("question")?,
                times: row.try_get("times")?,
                first_asked: first_asked(row)?,
                last_asked: row.try_get("last_asked")?,
            })
        };
        rows.and_then(|rows| rows.iter().map(read).collect()).map_err(self.failed("read"))
    }

    /// Forgets a question that has an answer by now; writes nothing where it was not open.
    pub(crate) async fn close(&self, question: &str) -> Result<(), FactError> {
        let Some(pool) = self.existing().await? else { return Ok(()) };
        let key = prospector_core::normalized(question);
        let open: i64 = sqlx::query_scalar("SELECT count(*) FROM unresolved WHERE key = ?")
            .bind(&key)
            .fetch_one(pool)
            .await
            .map_err(self.failed("read"))?;
        if open > 0 {
            let delete = sqlx::query("DELETE FROM unresolved WHERE key = ?").bind(&key).execute(pool);
            delete.await.map_err(self.failed("write to"))?;
        }
        Ok(())
    }
}

/// One connection: SQLite has one writer anyhow, and a database in memory lives as long as its connection.
fn one_connection(options: SqliteConnectOptions) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(PATIENCE * 2)
        .connect_lazy_with(options)
}

/// Reads a file and makes none beside it, not even for locks.
fn to_read(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(path).read_only(true).immutable(true).disable_statement_logging()
}

/// A store of version 1 knew only the last time.
fn first_asked(row: &SqliteRow) -> Result<String, sqlx::Error> {
    let first: String = row.try_get("first_asked")?;
    if first.is_empty() { row.try_get("last_asked") } else { Ok(first) }
}

/// What SQLite says is wrong, without the upper bits, which say more.
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

fn fact(row: &SqliteRow) -> Result<Fact, sqlx::Error> {
    Ok(Fact {
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(term: &str, definition: &str) -> Fact {
        Fact::new(term, definition, Origin::User)
    }

    async fn check_definitions(store: &FactStore, expected: &[&str]) {
        let facts = store.facts().await.unwrap();
        assert_eq!(facts.iter().map(|f| f.definition.as_str()).collect::<Vec<_>>(), expected);
    }

    #[tokio::test]
    async fn reading_makes_no_file_and_the_first_write_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state").join("facts.db");
        let store = FactStore::new(Some(path.clone()));
        check_definitions(&store, &[]).await;
        assert!(store.unresolved().await.unwrap().is_empty());
        store.close("anything?").await.unwrap();
        assert!(!path.exists() && !folder.path().join("state").exists());
        store.add(&fact("churn", "loss")).await.unwrap();
        assert!(path.exists());
    }

    #[tokio::test]
    async fn facts_outlive_the_process_and_a_correction_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("facts.db");
        let first = FactStore::new(Some(path.clone()));
        assert_eq!(first.add(&fact("VIP customer", "45")).await.unwrap(), None);
        let old = first.add(&fact("vip customers", "50")).await.unwrap();
        assert_eq!(old.map(|f| f.definition).as_deref(), Some("45"));
        first.add(&Fact { scope: "shop".into(), ..fact("VIP customer", "60") }).await.unwrap();
        check_definitions(&FactStore::new(Some(path)), &["50", "60"]).await;
    }

    #[tokio::test]
    async fn a_store_of_the_version_before_is_brought_up_to_date() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("facts.db");
        let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
        let mut old = options.connect().await.unwrap();
        sqlx::raw_sql(
            "CREATE TABLE facts (key TEXT NOT NULL, scope TEXT NOT NULL, origin TEXT NOT NULL, term TEXT NOT NULL,
                 definition TEXT NOT NULL, source TEXT NOT NULL, confidence REAL NOT NULL, reasoning TEXT NOT NULL,
                 recorded_at TEXT NOT NULL, PRIMARY KEY (key, scope, origin));
             CREATE TABLE unresolved (key TEXT PRIMARY KEY, question TEXT NOT NULL, times INTEGER NOT NULL,
                 last_asked TEXT NOT NULL);
             INSERT INTO facts VALUES ('churn', '', 'user', 'churn', 'loss', '', 1.0, '', '');
             INSERT INTO unresolved VALUES ('a', 'a?', 1, '2026-01-01T00:00:00Z');
             PRAGMA application_id = 1346790260; PRAGMA user_version = 1;",
        )
        .execute(&mut old)
        .await
        .unwrap();
        sqlx::Connection::close(old).await.unwrap();
        let store = FactStore::new(Some(path));
        check_definitions(&store, &["loss"]).await;
        assert_eq!(store.unresolved().await.unwrap()[0].first_asked, "2026-01-01T00:00:00Z");
    }

    #[tokio::test]
    async fn memory_is_enough_when_no_file_is_given() {
        let store = FactStore::new(None);
        check_definitions(&store, &[]).await;
        store.add(&fact("churn", "loss")).await.unwrap();
        check_definitions(&store, &["loss"]).await;
    }

    #[tokio::test]
    async fn open_questions_are_counted_and_closed() {
        let store = FactStore::new(None);
        store.note_unresolved("What is a flurb?", "2026-01-01T00:00:00Z").await.unwrap();
        store.note_unresolved("what is a FLURB", "2026-01-02T00:00:00Z").await.unwrap();
        let open = store.unresolved().await.unwrap();
        assert_eq!((open.len(), open[0].times, open[0].question.as_str()), (1, 2, "what is a FLURB"));
        assert_eq!((&*open[0].first_asked, &*open[0].last_asked), ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"));
        store.close("What is a flurb?").await.unwrap();
        assert!(store.unresolved().await.unwrap().is_empty());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn many_writers_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("facts.db");
        // Each store has a connection of its own, as each process would.
        let writers = (0..8).map(|writer| {
            let store = FactStore::new(Some(path.clone()));
            tokio::spawn(async move {
                for n in 0..10 {
                    store.add(&fact(&format!("term {writer} {n}"), "x")).await.unwrap();
                    store.note_unresolved("the same?", "2026-01-01T00:00:00Z").await.unwrap();
                }
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        let store = FactStore::new(Some(path));
        assert_eq!(store.facts().await.unwrap().len(), 80);
        assert_eq!(store.unresolved().await.unwrap()[0].times, 80);
    }

    #[tokio::test]
    async fn a_damaged_file_is_named_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("facts.db");
        std::fs::write(&path, "this is not a database, whatever its name says".repeat(100)).unwrap();
        let before = std::fs::read(&path).unwrap();
        let store = FactStore::new(Some(path.clone()));
        for error in [store.facts().await.unwrap_err(), store.add(&fact("a", "b")).await.unwrap_err()] {
            assert!(matches!(error, FactError::Damaged { .. }), "{error:?}");
            assert!(error.to_string().contains("facts.db") && error.advice().is_some());
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[tokio::test]
    async fn a_store_is_read_whole_and_a_page_that_changed_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("facts.db");
        let store = FactStore::new(Some(path.clone()));
        for n in 0..50 {
            store.add(&fact(&format!("term {n}"), &"long ".repeat(100))).await.unwrap();
        }
        store.pool().await.unwrap().close().await;
        let check = || async { FactStore::new(Some(path.clone())).check().await };
        check().await.unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        // The header of the second page: what kind of page it is, and how much is on it.
        bytes[4096..4104].fill(0xff);
        std::fs::write(&path, &bytes).unwrap();
        let error = check().await.unwrap_err();
        assert!(matches!(error, FactError::Damaged { .. }), "{error:?}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is made beside it");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn only_its_owner_may_read_a_store_and_what_is_beside_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let store = FactStore::new(Some(folder.path().join("state/facts.db")));
        store.add(&fact("churn", "loss")).await.unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.path().join("state")), 0o700);
        let files: Vec<_> =
            std::fs::read_dir(folder.path().join("state")).unwrap().map(|e| e.unwrap().path()).collect();
        assert!(files.len() > 1, "the log is there while the store is open: {files:?}");
        for file in files {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
    }

    #[tokio::test]
    async fn the_database_of_something_else_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.db");
        let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
        let mut other = options.connect().await.unwrap();
        sqlx::raw_sql("CREATE TABLE invoices (id INTEGER)").execute(&mut other).await.unwrap();
        sqlx::Connection::close(other).await.unwrap();
        let before = std::fs::read(&path).unwrap();
        let error = FactStore::new(Some(path.clone())).add(&fact("a", "b")).await.unwrap_err();
        assert!(matches!(error, FactError::Foreign { .. }), "{error:?}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

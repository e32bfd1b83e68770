//! Session store: one SQLite file in the state folder, which several processes may use concurrently.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use prospector_core::Owner;
use sqlx::{
    ConnectOptions, Row, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions},
};

use super::{KeptSession, Turn};

/// The file in the state folder that contains the sessions.
const FILE: &str = "sessions.sqlite";
/// SQLite application id (`PSes`), so that no other database is written to.
const APPLICATION: i64 = 0x5053_6573;
/// How long a process waits for the lock of another one.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The version of the tables.
const VERSION: i64 = 2;

/// `owner` is the id of the owner of a session; empty for the local user.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS turns (
    owner TEXT NOT NULL DEFAULT '', session TEXT NOT NULL, number INTEGER NOT NULL,
    recorded_at TEXT NOT NULL DEFAULT (datetime('now')),
    question TEXT NOT NULL, answered TEXT NOT NULL, messages TEXT NOT NULL,
    PRIMARY KEY (owner, session, number)
);
PRAGMA application_id = 1347642739;
PRAGMA user_version = 2;
";

/// Version 1 had no owners: its sessions belong to the local user.
const PUT_ASIDE: &str = "ALTER TABLE turns RENAME TO turns_before;";
const READ_BACK: &str = "
INSERT INTO turns (session, number, recorded_at, question, answered, messages)
    SELECT session, number, recorded_at, question, answered, messages FROM turns_before;
DROP TABLE turns_before;
";

/// A session could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The file could not be used.
    #[error("cannot {act} the sessions in {}: {source}", path.display())]
    Store {
        /// What was attempted.
        act: &'static str,
        /// The file of the store.
        path: PathBuf,
        /// What SQLite said.
        source: sqlx::Error,
    },
    /// The file is not a readable database.
    #[error("the sessions in {} are damaged: {source}; restore the file from a copy, or move it away", path.display())]
    Damaged {
        /// The file of the store.
        path: PathBuf,
        /// What the database engine says.
        source: sqlx::Error,
    },
    /// The file belongs to something else.
    #[error("{} is not a session store; move it away", path.display())]
    Foreign {
        /// The file of the store.
        path: PathBuf,
    },
    /// The file was written by a later version.
    #[error("{} has a later version ({version}) than this program supports; upgrade the program", path.display())]
    Newer {
        /// The file of the store.
        path: PathBuf,
        /// Its version.
        version: i64,
    },
    /// Another process added a turn to the session concurrently.
    #[error("the session `{session}` was continued by another process; turn {number} is not stored")]
    Continued {
        /// The session.
        session: String,
        /// The turn.
        number: u32,
    },
}

/// The session store for one owner.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    pool: SqlitePool,
    owner: String,
}

impl Store {
    pub(super) fn exists(state: &Path) -> bool {
        state.join(FILE).exists()
    }

    pub(super) async fn open(state: &Path, owner: &Owner) -> Result<Self, SessionError> {
        let path = state.join(FILE);
        // If the folder or the file cannot be created, opening the file reports it. SQLite creates its other files with the same mode.
        let _ = prospector_state::create_folder(state);
        let _ = prospector_state::options().write(true).create(true).truncate(false).open(&path);
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .busy_timeout(LOCK_TIMEOUT)
            .disable_statement_logging();
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .acquire_timeout(LOCK_TIMEOUT)
            .acquire_slow_threshold(LOCK_TIMEOUT)
            .connect_lazy_with(options);
        let store = Store { path, pool, owner: owner.id().to_owned() };
        let id = store.number("PRAGMA application_id", "open").await?;
        let tables = store.number("SELECT COUNT(*) FROM sqlite_master", "open").await?;
        if id != APPLICATION && (id != 0 || tables > 0) {
            return Err(SessionError::Foreign { path: store.path });
        }
        store.prepare().await?;
        Ok(store)
    }

    async fn number(&self, query: &'static str, act: &'static str) -> Result<i64, SessionError> {
        sqlx::query_scalar(query).fetch_one(&self.pool).await.map_err(self.store_error(act))
    }

    /// Creates or migrates the tables.
    async fn prepare(&self) -> Result<(), SessionError> {
        let failed = || self.store_error("prepare");
        let version = self.number("PRAGMA user_version", "prepare").await?;
        if version == VERSION {
            return Ok(());
        }
        if version > VERSION {
            return Err(SessionError::Newer { path: self.path.clone(), version });
        }
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.map_err(failed())?;
        // Another process may have migrated them.
        let version: i64 =
            sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *transaction).await.map_err(failed())?;
        let steps: &[&'static str] = match version {
            0 => &[TABLES],
            1 => &[PUT_ASIDE, TABLES, READ_BACK],
            _ => &[],
        };
        for step in steps {
            sqlx::raw_sql(*step).execute(&mut *transaction).await.map_err(failed())?;
        }
        transaction.commit().await.map_err(failed())
    }

    fn store_error(&self, act: &'static str) -> impl FnOnce(sqlx::Error) -> SessionError + use<> {
        let path = self.path.clone();
        move |source| {
            let code = source.as_database_error().and_then(|error| error.code()?.parse::<u32>().ok());
            // SQLITE_CORRUPT and SQLITE_NOTADB; the upper bits are extended codes.
            match code.map(|code| code & 0xff) {
                Some(11 | 26) => SessionError::Damaged { path, source },
                _ => SessionError::Store { act, path, source },
            }
        }
    }

    /// Checks the integrity of the store in a state folder, without writing.
    pub(super) async fn check(state: &Path) -> Result<(), SessionError> {
        let path = state.join(FILE);
        let wal = state.join(format!("{FILE}-wal"));
        // Without a write-ahead log, the file can be opened as immutable in a read-only folder.
        let is_whole = std::fs::metadata(wal).map_or(true, |meta| meta.len() == 0);
        let options = SqliteConnectOptions::new().filename(&path).read_only(true).immutable(is_whole);
        let pool = SqlitePoolOptions::new().max_connections(1).connect_lazy_with(options.disable_statement_logging());
        let store = Store { path, pool, owner: String::new() };
        let found: Result<String, _> = sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_one(&store.pool).await;
        store.pool.close().await;
        match found.map_err(store.store_error("read"))?.as_str() {
            "ok" => Ok(()),
            reason => Err(SessionError::Damaged { path: store.path, source: sqlx::Error::Protocol(reason.to_owned()) }),
        }
    }

    /// Returns the turns of a session. The first unreadable turn, such as one of a later version, and those after it are skipped.
    pub(super) async fn turns(&self, session: &str) -> Result<Vec<Turn>, SessionError> {
        let rows =
            sqlx::query("SELECT number, answered, messages FROM turns WHERE owner = ? AND session = ? ORDER BY number")
                .bind(&self.owner)
                .bind(session)
                .fetch_all(&self.pool)
                .await
                .map_err(self.store_error("read"))?;
        let turn = |row: &sqlx::sqlite::SqliteRow| -> Option<Turn> {
            Some(Turn {
                number: u32::try_from(row.get::<i64, _>(0)).ok()?,
                answered: serde_json::from_str(&row.get::<String, _>(1)).ok()?,
                messages: serde_json::from_str(&row.get::<String, _>(2)).ok()?,
            })
        };
        Ok(rows.iter().map_while(turn).collect())
    }

    pub(super) async fn names(&self) -> Result<Vec<KeptSession>, SessionError> {
        let rows = sqlx::query(
            "SELECT session, COUNT(*), (SELECT question FROM turns AS first WHERE first.owner = turns.owner
                AND first.session = turns.session ORDER BY number LIMIT 1), MAX(recorded_at) AS latest
             FROM turns WHERE owner = ? GROUP BY session ORDER BY latest DESC, session",
        )
        .bind(&self.owner)
        .fetch_all(&self.pool)
        .await
        .map_err(self.store_error("read"))?;
        let kept = |row: &sqlx::sqlite::SqliteRow| KeptSession {
            name: row.get(0),
            turns: u32::try_from(row.get::<i64, _>(1)).unwrap_or(0),
            question: row.get(2),
            latest: row.get(3),
        };
        Ok(rows.iter().map(kept).collect())
    }

    /// Deletes a session. Returns whether it existed.
    pub(super) async fn remove(&self, session: &str) -> Result<bool, SessionError> {
        let done = sqlx::query("DELETE FROM turns WHERE owner = ? AND session = ?")
            .bind(&self.owner)
            .bind(session)
            .execute(&self.pool)
            .await
            .map_err(self.store_error("write"))?;
        Ok(done.rows_affected() > 0)
    }

    /// Renames a session. Returns `false` if it does not exist or the new name is taken.
    pub(super) async fn rename(&self, session: &str, name: &str) -> Result<bool, SessionError> {
        let done = sqlx::query(
            "UPDATE turns SET session = ?3 WHERE owner = ?1 AND session = ?2
             AND NOT EXISTS (SELECT 1 FROM turns WHERE owner = ?1 AND session = ?3)",
        )
        .bind(&self.owner)
        .bind(session)
        .bind(name)
        .execute(&self.pool)
        .await
        .map_err(self.store_error("write"))?;
        Ok(done.rows_affected() > 0)
    }

    pub(super) async fn keep(&self, session: &str, turn: &Turn) -> Result<(), SessionError> {
        let done = sqlx::query(
            "INSERT OR IGNORE INTO turns (owner, session, number, question, answered, messages)
             VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(&self.owner)
        .bind(session)
        .bind(i64::from(turn.number))
        .bind(&turn.answered.question)
        .bind(serde_json::to_string(&turn.answered).unwrap_or_default())
        .bind(serde_json::to_string(&turn.messages).unwrap_or_default())
        .execute(&self.pool)
        .await
        .map_err(self.store_error("write"))?;
        match done.rows_affected() {
            0 => Err(SessionError::Continued { session: session.to_owned(), number: turn.number }),
            _ => Ok(()),
        }
    }
}

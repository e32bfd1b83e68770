//! Session store: one SQLite file in the state folder, which several processes may use concurrently.

use std::path::{Path, PathBuf};

use prospector_core::Owner;
use prospector_state::sqlite::{Database, DatabaseError, Layout};
use sqlx::{Row, SqlitePool, sqlite::SqliteRow};

use super::{KeptSession, Turn};

/// The application id is `PSes`.
const LAYOUT: Layout = Layout { name: "session store", application: 0x5053_6573, version: 2, upgrade };

/// `owner` is the id of the owner of a session; empty for the local user.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS turns (
    owner TEXT NOT NULL DEFAULT '', session TEXT NOT NULL, number INTEGER NOT NULL,
    recorded_at TEXT NOT NULL DEFAULT (datetime('now')),
    question TEXT NOT NULL, answered TEXT NOT NULL, messages TEXT NOT NULL,
    PRIMARY KEY (owner, session, number)
);
";

/// Version 1 had no owners: its sessions belong to the local user.
const PUT_ASIDE: &str = "ALTER TABLE turns RENAME TO turns_before;";
const READ_BACK: &str = "
INSERT INTO turns (session, number, recorded_at, question, answered, messages)
    SELECT session, number, recorded_at, question, answered, messages FROM turns_before;
DROP TABLE turns_before;
";

/// Returns the statements that migrate from a version; 0 is an empty file.
fn upgrade(version: i64) -> String {
    match version {
        1 => [PUT_ASIDE, TABLES, READ_BACK].concat(),
        _ => TABLES.to_owned(),
    }
}

/// A session could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The store could not be used.
    #[error("{}; {}", .0, .0.advice())]
    Store(#[from] DatabaseError),
    /// Another process added a turn to the session concurrently.
    #[error("the session `{session}` was continued by another process; turn {number} is not stored")]
    Continued {
        /// The session.
        session: String,
        /// The turn.
        number: u32,
    },
}

impl SessionError {
    /// Returns the message without the path and advice, for contexts that show them.
    pub fn reason(&self) -> String {
        match self {
            SessionError::Store(error) => error.reason.clone(),
            SessionError::Continued { .. } => self.to_string(),
        }
    }
}

/// The session store for one owner.
#[derive(Debug)]
pub(super) struct Store {
    database: Database,
    owner: String,
}

/// The file in a state folder that contains the sessions.
fn path(state: &Path) -> PathBuf {
    state.join("sessions.sqlite")
}

impl Store {
    pub(super) fn exists(state: &Path) -> bool {
        path(state).exists()
    }

    pub(super) async fn open(state: &Path, owner: &Owner) -> Result<Self, SessionError> {
        let store = Store { database: Database::new(&LAYOUT, Some(path(state))), owner: owner.id().to_owned() };
        store.pool().await?;
        Ok(store)
    }

    async fn pool(&self) -> Result<&SqlitePool, SessionError> {
        Ok(self.database.pool().await?)
    }

    fn store_error(&self, act: &'static str) -> impl Fn(sqlx::Error) -> SessionError + Copy {
        let convert = self.database.error(act);
        move |source| convert(source).into()
    }

    /// Checks the integrity of the store in a state folder, without writing.
    pub(super) async fn check(state: &Path) -> Result<(), SessionError> {
        Ok(Database::new(&LAYOUT, Some(path(state))).check().await?)
    }

    /// Returns the turns of a session. The first unreadable turn, such as one of a later version, and those after it are skipped.
    pub(super) async fn turns(&self, session: &str) -> Result<Vec<Turn>, SessionError> {
        let rows =
            sqlx::query("SELECT number, answered, messages FROM turns WHERE owner = ? AND session = ? ORDER BY number")
                .bind(&self.owner)
                .bind(session)
                .fetch_all(self.pool().await?)
                .await
                .map_err(self.store_error("read"))?;
        let turn = |row: &SqliteRow| -> Option<Turn> {
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
        .fetch_all(self.pool().await?)
        .await
        .map_err(self.store_error("read"))?;
        let kept = |row: &SqliteRow| KeptSession {
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
            .execute(self.pool().await?)
            .await
            .map_err(self.store_error("write to"))?;
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
        .execute(self.pool().await?)
        .await
        .map_err(self.store_error("write to"))?;
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
        .execute(self.pool().await?)
        .await
        .map_err(self.store_error("write to"))?;
        match done.rows_affected() {
            0 => Err(SessionError::Continued { session: session.to_owned(), number: turn.number }),
            _ => Ok(()),
        }
    }
}

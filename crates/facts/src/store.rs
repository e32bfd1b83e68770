//! Stores facts and unresolved questions in one SQLite file, which several processes may use concurrently.
//!
//! The file is created by the first write, never by a read. A file that is damaged or not a fact store is not changed.

mod tables;

use std::path::PathBuf;

use prospector_core::Owner;
use prospector_state::sqlite::Database;
use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

use crate::{
    error::FactError,
    model::{Fact, Keeping, Origin, Unresolved, Viewer},
    words::stems,
};
use tables::LAYOUT;

/// Maximum number of pending facts per owner.
const MAX_APART: i64 = 1_000;
const TOO_MANY_APART: &str = "the limit of 1,000 pending facts is reached";
/// Maximum number of unresolved questions per owner; the oldest are deleted first.
const MAX_UNRESOLVED: i64 = 1_000;

/// The store; opened on demand.
pub(crate) struct FactStore {
    database: Database,
}

impl FactStore {
    /// Creates the store of a file; without one, it is in memory.
    pub(crate) fn new(path: Option<PathBuf>) -> Self {
        FactStore { database: Database::new(&LAYOUT, path) }
    }

    /// Returns a conversion of errors of an operation, which is a verb.
    fn store_error(&self, act: &'static str) -> impl Fn(sqlx::Error) -> FactError + Copy {
        let convert = self.database.error(act);
        move |source| convert(source).into()
    }

    /// Checks the integrity of all pages without writing.
    pub(crate) async fn check(&self) -> Result<(), FactError> {
        Ok(self.database.check().await?)
    }

    /// Returns all facts by term, including private ones.
    pub(crate) async fn facts(&self) -> Result<Vec<StoredFact>, FactError> {
        let Some(pool) = self.database.existing().await? else { return Ok(Vec::new()) };
        let rows = sqlx::query("SELECT * FROM facts ORDER BY key, scope, origin, apart").fetch_all(pool).await;
        rows.and_then(|rows| rows.iter().map(read_row).collect()).map_err(self.store_error("read"))
    }

    /// Stores a fact of this viewer. Returns the fact that it replaces: same term, scope, origin and visibility.
    pub(crate) async fn add(&self, new: &Fact, viewer: &Viewer) -> Result<Option<Fact>, FactError> {
        let store_error = self.store_error("write to");
        let pool = self.database.pool().await?;
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
        let store_error = self.store_error("write to");
        let pool = self.database.pool().await?;
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
        let store_error = self.store_error("write to");
        let pool = self.database.pool().await?;
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
        let store_error = self.store_error("write to");
        let pool = self.database.pool().await?;
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
        let Some(pool) = self.database.existing().await? else { return Ok(Vec::new()) };
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
        let Some(pool) = self.database.existing().await? else { return Ok(()) };
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

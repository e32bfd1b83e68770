//! Persistence, limits and damaged files of the store.

use std::path::Path;

use prospector_state::sqlite::DatabaseErrorKind::{self, Damaged, Foreign};
use sqlx::{ConnectOptions, sqlite::SqliteConnectOptions};

use super::*;

#[track_caller]
fn check_kind(error: &FactError, expected: DatabaseErrorKind) {
    assert!(matches!(error, FactError::Store(error) if error.kind == expected), "{error:?}");
}

fn fact(term: &str, definition: &str) -> Fact {
    Fact::new(term, definition, Origin::User)
}

async fn check_definitions(store: &FactStore, expected: &[&str]) {
    let facts = store.facts().await.unwrap();
    assert_eq!(facts.iter().map(|f| f.fact.definition.as_str()).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn first_write_creates_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state").join("facts.db");
    let store = FactStore::new(Some(path.clone()));
    check_definitions(&store, &[]).await;
    assert!(store.list_unresolved(&Viewer::local()).await.unwrap().is_empty());
    store.close("anything?", &Viewer::local()).await.unwrap();
    assert!(!path.exists() && !folder.path().join("state").exists());
    store.add(&fact("churn", "loss"), &Viewer::local()).await.unwrap();
    assert!(path.exists());
}

#[tokio::test]
async fn persists_facts_and_replaces_corrected_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.db");
    let first = FactStore::new(Some(path.clone()));
    assert_eq!(first.add(&fact("VIP customer", "45"), &Viewer::local()).await.unwrap(), None);
    let old = first.add(&fact("vip customers", "50"), &Viewer::local()).await.unwrap();
    assert_eq!(old.map(|f| f.definition).as_deref(), Some("45"));
    first.add(&Fact { scope: "shop".into(), ..fact("VIP customer", "60") }, &Viewer::local()).await.unwrap();
    check_definitions(&FactStore::new(Some(path)), &["50", "60"]).await;
}

#[tokio::test]
async fn migrates_version_1() {
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
    assert_eq!(store.list_unresolved(&Viewer::local()).await.unwrap()[0].first_asked, "2026-01-01T00:00:00Z");
}

#[tokio::test]
async fn migrates_version_2_to_shared_facts_of_the_local_user() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut old = options.connect().await.unwrap();
    sqlx::raw_sql(
        "CREATE TABLE facts (key TEXT NOT NULL, scope TEXT NOT NULL, origin TEXT NOT NULL, term TEXT NOT NULL,
             definition TEXT NOT NULL, source TEXT NOT NULL, confidence REAL NOT NULL, reasoning TEXT NOT NULL,
             recorded_at TEXT NOT NULL, source_hash TEXT NOT NULL DEFAULT '', PRIMARY KEY (key, scope, origin));
         CREATE TABLE unresolved (key TEXT PRIMARY KEY, question TEXT NOT NULL, times INTEGER NOT NULL,
             last_asked TEXT NOT NULL, first_asked TEXT NOT NULL DEFAULT '');
         INSERT INTO facts VALUES ('churn', '', 'user', 'churn', 'loss', 'me', 0.5, 'why', '2026-01-01T00:00:00Z', 'h');
         INSERT INTO unresolved VALUES ('a', 'a?', 3, '2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z');
         PRAGMA application_id = 1346790260; PRAGMA user_version = 2;",
    )
    .execute(&mut old)
    .await
    .unwrap();
    sqlx::Connection::close(old).await.unwrap();
    for _ in 0..2 {
        let store = FactStore::new(Some(path.clone()));
        let facts = store.facts().await.unwrap();
        let expected = Fact {
            source: "me".into(),
            confidence: 0.5,
            reasoning: "why".into(),
            recorded_at: "2026-01-01T00:00:00Z".into(),
            source_hash: "h".into(),
            ..fact("churn", "loss")
        };
        let stored = StoredFact { key: "churn".into(), apart: String::new(), owner: Owner::local(), fact: expected };
        assert_eq!(facts, [stored]);
        assert_eq!(store.list_unresolved(&Viewer::local()).await.unwrap()[0].times, 3);
    }
}

#[tokio::test]
async fn limits_pending_facts_per_owner() {
    let store = FactStore::new(None);
    let viewer = |name: &str| Viewer { owner: Owner::new(name, name), keeping: Keeping::Apart };
    for n in 0..MAX_APART {
        store.add(&fact(&format!("term {n}"), "x"), &viewer("ann")).await.unwrap();
    }
    let error = store.add(&fact("one more", "x"), &viewer("ann")).await.unwrap_err();
    assert!(error.to_string().contains("limit of 1,000 pending facts"), "{error}");
    assert!(store.add(&fact("term 7", "y"), &viewer("ann")).await.unwrap().is_some(), "a correction is not counted");
    assert!(store.add(&fact("one more", "x"), &viewer("ben")).await.unwrap().is_none());
}

#[tokio::test]
async fn works_in_memory_without_a_file() {
    let store = FactStore::new(None);
    check_definitions(&store, &[]).await;
    store.add(&fact("churn", "loss"), &Viewer::local()).await.unwrap();
    check_definitions(&store, &["loss"]).await;
}

#[tokio::test]
async fn counts_and_closes_open_questions() {
    let store = FactStore::new(None);
    store.note_unresolved("What is a flurb?", "2026-01-01T00:00:00Z", &Owner::local()).await.unwrap();
    store.note_unresolved("what is a FLURB", "2026-01-02T00:00:00Z", &Owner::local()).await.unwrap();
    let open = store.list_unresolved(&Viewer::local()).await.unwrap();
    assert_eq!((open.len(), open[0].times, open[0].question.as_str()), (1, 2, "what is a FLURB"));
    assert_eq!((&*open[0].first_asked, &*open[0].last_asked), ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"));
    store.close("What is a flurb?", &Viewer::local()).await.unwrap();
    assert!(store.list_unresolved(&Viewer::local()).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_writers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.db");
    // Each store has its own connection, like separate processes.
    let writers = (0..8).map(|writer| {
        let store = FactStore::new(Some(path.clone()));
        tokio::spawn(async move {
            for n in 0..10 {
                store.add(&fact(&format!("term {writer} {n}"), "x"), &Viewer::local()).await.unwrap();
                store.note_unresolved("the same?", "2026-01-01T00:00:00Z", &Owner::local()).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let store = FactStore::new(Some(path));
    assert_eq!(store.facts().await.unwrap().len(), 80);
    assert_eq!(store.list_unresolved(&Viewer::local()).await.unwrap()[0].times, 80);
}

#[tokio::test]
async fn reports_and_keeps_damaged_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.db");
    std::fs::write(&path, "this is not a database, whatever its name says".repeat(100)).unwrap();
    let before = std::fs::read(&path).unwrap();
    let store = FactStore::new(Some(path.clone()));
    for error in [store.facts().await.unwrap_err(), store.add(&fact("a", "b"), &Viewer::local()).await.unwrap_err()] {
        check_kind(&error, Damaged);
        assert!(error.to_string().contains("facts.db") && error.advice().is_some());
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn does_not_write_to_foreign_databases() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut other = options.connect().await.unwrap();
    sqlx::raw_sql("CREATE TABLE invoices (id INTEGER)").execute(&mut other).await.unwrap();
    sqlx::Connection::close(other).await.unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = FactStore::new(Some(path.clone())).add(&fact("a", "b"), &Viewer::local()).await.unwrap_err();
    check_kind(&error, Foreign);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn check_detects_changed_pages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.db");
    let store = FactStore::new(Some(path.clone()));
    for n in 0..50 {
        store.add(&fact(&format!("term {n}"), &"long ".repeat(100)), &Viewer::local()).await.unwrap();
    }
    store.database.pool().await.unwrap().close().await;
    let check = || async { FactStore::new(Some(path.clone())).check().await };
    check().await.unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    // The header of the second page: its type and the number of cells.
    bytes[4096..4104].fill(0xff);
    std::fs::write(&path, &bytes).unwrap();
    let error = check().await.unwrap_err();
    check_kind(&error, Damaged);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no auxiliary files are created");
}

#[cfg(unix)]
#[tokio::test]
async fn store_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = FactStore::new(Some(folder.path().join("state/facts.db")));
    store.add(&fact("churn", "loss"), &Viewer::local()).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("state")), 0o700);
    let files: Vec<_> = std::fs::read_dir(folder.path().join("state")).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(files.len() > 1, "the log is there while the store is open: {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

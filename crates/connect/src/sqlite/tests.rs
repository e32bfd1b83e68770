//! SQLite databases, valid and damaged.

use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection};

use super::*;
use crate::table::ColumnType;

/// Creates a database with these statements, in a folder of its own.
async fn made(statements: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a b?#%.db");
    made_at(&path, statements, SqliteJournalMode::Delete).await.close().await.unwrap();
    (folder, path)
}

async fn made_at(path: &Path, statements: &str, mode: SqliteJournalMode) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true).foreign_keys(false);
    let mut connection = options.journal_mode(mode).connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut connection).await.unwrap();
    connection
}

async fn sampled(path: &Path, table: &str, column: &str, contains: Option<&str>, limit: usize) -> Samples {
    let request = SampleRequest { contains: contains.map(str::to_owned), limit };
    Sqlite::new(path).sample(table, column, &request).await.unwrap()
}

async fn check_sample(path: &Path, table: &str, column: &str, contains: Option<&str>, values: Value, distinct: u64) {
    let samples = sampled(path, table, column, contains, 10).await;
    assert_eq!(Value::from(samples.values), values, "{contains:?}");
    assert_eq!(samples.distinct, distinct);
    assert!(samples.complete);
}

async fn check_broken(path: &Path, part: &str) {
    let sqlite = Sqlite::new(path);
    let message = sqlite.describe().await.unwrap_err().to_string();
    assert!(message.starts_with("cannot open sqlite") && message.contains(part), "{message}");
    let request = SampleRequest { contains: None, limit: 1 };
    assert_eq!(sqlite.sample("t", "c", &request).await.unwrap_err().to_string(), message);
    assert_eq!(sqlite.statistics("t", &[]).await.unwrap_err().to_string(), message);
}

/// SQLite compiles them without checking its time limit.
#[tokio::test]
async fn views_that_read_too_many_tables_are_refused() {
    let view = |n: usize| format!("CREATE VIEW w{n} AS SELECT a.name FROM w{0} a, w{0} b;", n - 1);
    let views: String = (1..40).map(view).collect();
    let (_folder, path) = made(&format!("CREATE TABLE t (name); CREATE VIEW w0 AS SELECT name FROM t; {views}")).await;
    let described = tokio::time::timeout(Duration::from_secs(20), Sqlite::new(&path).describe()).await.unwrap();
    let refused = described.unwrap_err().to_string();
    assert!(refused.contains("the view `w9` reads more than 1000 tables"), "{refused}");
}

#[tokio::test]
async fn tables_are_described_with_columns_keys_and_counts() {
    let (_folder, path) = made(
        "CREATE TABLE artist (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(40) NOT NULL, note);
         CREATE TABLE album (a INT, b TEXT, artist INT REFERENCES Artist, PRIMARY KEY (b, a)) WITHOUT ROWID;
         CREATE TABLE track (id INTEGER PRIMARY KEY, a INT, b TEXT, twice AS (id * 2),
           FOREIGN KEY (b, a) REFERENCES album (b, a), FOREIGN KEY (a) REFERENCES gone (id));
         CREATE VIEW loud AS SELECT id, name AS shout FROM artist;
         CREATE VIRTUAL TABLE words USING fts5(title, body);
         INSERT INTO artist (name) VALUES ('x'), ('y');",
    )
    .await;
    let (tables, problems) = Sqlite::new(&path).describe().await.unwrap();
    let names: Vec<_> = tables.iter().map(|t| (t.name.as_str(), t.row_count)).collect();
    let counts = [("artist", Some(2)), ("album", Some(0)), ("track", Some(0)), ("loud", Some(2)), ("words", Some(0))];
    assert_eq!(names, counts);
    assert_eq!(
        serde_json::to_value(&tables[0].columns).unwrap(),
        json!([
            {"name": "id", "type": "INTEGER", "column_type": "integer", "nullable": false, "primary_key": true},
            {"name": "name", "type": "VARCHAR(40)", "column_type": "text", "nullable": false, "primary_key": false},
            {"name": "note", "type": "", "column_type": "other", "nullable": true, "primary_key": false},
        ])
    );
    let keys: Vec<_> = tables.iter().flat_map(|t| &t.foreign_keys).map(|k| serde_json::to_value(k).unwrap()).collect();
    assert_eq!(
        keys,
        [
            json!({"columns": ["artist"], "table": "artist", "references": ["id"]}),
            json!({"columns": ["b", "a"], "table": "album", "references": ["b", "a"]}),
        ]
    );
    assert_eq!(tables[2].columns.last().unwrap().name, "twice");
    assert_eq!(tables[4].columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["title", "body"]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].reason.contains("gone"));
}

#[tokio::test]
async fn texts_that_are_dates_are_found_in_the_values() {
    let (_folder, path) = made(
        "CREATE TABLE t (day TEXT, at VARCHAR(30), iso, mixed TEXT, zoned TEXT, number, empty TEXT, \"o\"\"dd\" TEXT,
           own TEXT COLLATE NOCASE, declared DATE);
         INSERT INTO t VALUES
           ('2025-01-03', '2025-01-03 11:00:00', '2025-01-03T11:00', '2025-01-03', '2025-01-03T11:00:00+02:00',
             20250103, NULL, '2025-12-31', '2025-01-03', 'soon'),
           (NULL, '2025-01-04', '2025-01-03T11:00:00.5Z', 'soon', '2025-01-03T11:00:00-02:00', '2025-01-03', '', '', '', ''),
           ('', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
         CREATE TABLE late (day TEXT);
         INSERT INTO late WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001)
           SELECT iif(i <= 1000, '2025-01-03', 'soon') FROM n;
         CREATE VIEW v AS SELECT day FROM t;",
    )
    .await;
    let (tables, problems) = Sqlite::new(&path).describe().await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let found = |table: usize, name: &str| {
        let column = tables[table].column(name).unwrap();
        (column.column_type, column.holds_days())
    };
    for name in ["day", "o\"dd", "own", "declared"] {
        assert_eq!(found(0, name), (ColumnType::DateText, true), "{name}");
    }
    for name in ["at", "iso"] {
        assert_eq!(found(0, name), (ColumnType::DateText, false), "{name}");
    }
    for name in ["mixed", "zoned", "empty"] {
        assert_eq!(found(0, name), (ColumnType::Text, false), "{name}");
    }
    assert_eq!(found(0, "number").0, ColumnType::Other);
    assert_eq!(tables[0].columns[0].data_type, "TEXT");
    // Only the first rows are read, and no views.
    assert_eq!(found(1, "day").0, ColumnType::DateText);
    assert_eq!(found(2, "day").0, ColumnType::Text);
}

#[tokio::test]
async fn a_broken_view_does_not_affect_others() {
    let (_folder, path) = made(
        "CREATE TABLE t (c); CREATE TABLE u (c); CREATE VIEW v AS SELECT c FROM u; CREATE VIEW w AS SELECT c FROM t;
         DROP TABLE u;",
    )
    .await;
    let (tables, problems) = Sqlite::new(&path).describe().await.unwrap();
    assert_eq!(tables.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["t", "w"]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].place.ends_with(": v") && problems[0].reason.contains("no such table"), "{problems:?}");
}

#[tokio::test]
async fn does_not_count_endless_views() {
    let (_folder, path) = made(
        "CREATE VIEW v AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;
         CREATE TABLE t (c);",
    )
    .await;
    let (tables, problems) = Sqlite::new(&path).describe().await.unwrap();
    assert_eq!(tables.iter().map(|t| t.row_count).collect::<Vec<_>>(), [None, Some(0)]);
    assert!(problems[0].reason.contains("the time limit was reached"), "{problems:?}");
}

#[tokio::test]
async fn values_are_shown_by_their_storage_class() {
    let (_folder, path) = made(
        "CREATE TABLE t (c INTEGER, d TEXT COLLATE NOCASE);
         INSERT INTO t (c) VALUES (9223372036854775807), (1.5), ('text'), (x'00ff'), (NULL), (9e999);
         INSERT INTO t (d) VALUES ('a'), ('A'), (CAST(x'61e962' AS TEXT)), ('2024-01-31');",
    )
    .await;
    let values = json!([1.5, 9_223_372_036_854_775_807_i64, "inf", "text", "<blob 2 bytes>"]);
    check_sample(&path, "t", "c", None, values, 5).await;
    check_sample(&path, "t", "d", None, json!(["2024-01-31", "A", "a", "a\u{fffd}b"]), 4).await;

    let statistics = Sqlite::new(&path).statistics("T", &["C".into(), "d".into()]).await.unwrap();
    assert_eq!(
        serde_json::to_value(statistics).unwrap(),
        json!([
            {"column": "c", "cardinality": 5, "min": 1.5, "max": "<blob 2 bytes>", "nulls": 5},
            {"column": "d", "cardinality": 4, "min": "2024-01-31", "max": "a\u{fffd}b", "nulls": 6},
        ])
    );
}

#[tokio::test]
async fn an_empty_table_has_empty_statistics_and_samples() {
    let (_folder, path) = made("CREATE TABLE t (c INT)").await;
    check_sample(&path, "t", "c", None, json!([]), 0).await;
    let statistics = Sqlite::new(&path).statistics("t", &[]).await.unwrap();
    assert_eq!(statistics, [Statistics { column: "c".into(), ..Statistics::default() }]);
}

#[tokio::test]
async fn samples_are_ordered_by_frequency_and_report_completeness() {
    let (_folder, path) = made("CREATE TABLE t (c); INSERT INTO t VALUES ('b'), ('a'), ('c'), ('c')").await;
    let samples = sampled(&path, "t", "c", None, 2).await;
    assert_eq!(samples, Samples { values: vec![json!("c"), json!("a")], distinct: 3, complete: false });
    let none = sampled(&path, "t", "c", None, 0).await;
    assert_eq!(none, Samples { values: Vec::new(), distinct: 3, complete: false });
}

#[tokio::test]
async fn searches_case_insensitively_and_escapes_wildcards() {
    let (_folder, path) =
        made("CREATE TABLE t (c); INSERT INTO t VALUES ('50%'), ('500'), ('A_b'), ('a\\b'), ('Éa'), (x'3530')").await;
    check_sample(&path, "t", "c", Some("50%"), json!(["50%"]), 1).await;
    check_sample(&path, "t", "c", Some("50"), json!(["50%", "500"]), 2).await;
    check_sample(&path, "t", "c", Some("a_B"), json!(["A_b"]), 1).await;
    check_sample(&path, "t", "c", Some("\\"), json!(["a\\b"]), 1).await;
    check_sample(&path, "t", "c", Some("éA"), json!(["Éa"]), 1).await;
    check_sample(&path, "t", "c", Some("' OR 1 --"), json!([]), 0).await;
}

#[tokio::test]
async fn truncates_long_texts() {
    let (_folder, path) =
        made("CREATE TABLE t (c); INSERT INTO t VALUES (replace(hex(zeroblob(500)), '0', 'ä'))").await;
    let samples = sampled(&path, "t", "c", None, 1).await;
    assert_eq!(samples.values[0].as_str().unwrap().chars().count(), 200);
}

#[tokio::test]
async fn supports_any_name() {
    let (_folder, path) = made(
        "CREATE TABLE \"sel\"\"ect 'ü'\" (\"from\"\"; --\" TEXT, [b c.d] INT);
         INSERT INTO \"sel\"\"ect 'ü'\" VALUES ('x', 1)",
    )
    .await;
    let (tables, problems) = Sqlite::new(&path).describe().await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    for column in &tables[0].columns {
        assert_eq!(sampled(&path, &tables[0].name, &column.name, Some(""), 5).await.distinct, 1);
    }
    assert_eq!(Sqlite::new(&path).statistics(&tables[0].name, &[]).await.unwrap().len(), 2);
}

#[tokio::test]
async fn unknown_names_are_not_treated_as_strings() {
    let (_folder, path) = made("CREATE TABLE t (c)").await;
    let sqlite = Sqlite::new(&path);
    let request = SampleRequest { contains: None, limit: 1 };
    for (table, column, part) in [("t", "d", "no column d"), ("u", "c", "no such table")] {
        let message = sqlite.sample(table, column, &request).await.unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
        assert!(sqlite.statistics(table, &[column.to_owned()]).await.unwrap_err().to_string().contains(part));
    }
}

#[tokio::test]
async fn reports_why_a_file_is_not_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    check_broken(&path, "no such file").await;
    assert!(!path.exists());
    check_broken(folder.path(), "folder").await;
    std::fs::write(&path, "").unwrap();
    check_broken(&path, "empty").await;
    std::fs::write(&path, "text").unwrap();
    check_broken(&path, "not a SQLite database").await;
    std::fs::write(&path, [b"SQLite format 3\0".as_slice(), &[0x5a; 4096]].concat()).unwrap();
    check_broken(&path, "not a").await;
}

#[tokio::test]
async fn reports_a_file_that_another_process_has_locked() {
    let (_folder, path) = made("CREATE TABLE t (c); INSERT INTO t VALUES (1);").await;
    let lock = made_at(&path, "BEGIN EXCLUSIVE", SqliteJournalMode::Delete).await;
    let error = Sqlite::new(&path).describe().await.unwrap_err();
    assert_eq!(error.cause(), crate::cause::Cause::Locked);
    let message = error.to_string();
    assert!(message.contains("locked by another process: wait") && message.contains("copy of the file"), "{message}");
    lock.close().await.unwrap();
    assert!(Sqlite::new(&path).describe().await.is_ok());
}

#[tokio::test]
async fn a_damaged_page_affects_only_its_table() {
    let (_folder, path) = made(
        "PRAGMA page_size = 512; CREATE TABLE a (c); CREATE TABLE b (c); INSERT INTO a VALUES (1); INSERT INTO b VALUES (1);",
    )
    .await;
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[512..1024].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let (tables, problems) = Sqlite::new(&path).describe().await.unwrap();
    assert_eq!(tables.iter().map(|t| t.row_count).collect::<Vec<_>>(), [None, Some(1)]);
    assert!(problems[0].reason.contains("malformed"), "{problems:?}");
}

#[tokio::test]
async fn a_database_with_a_write_ahead_log_is_read_without_making_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let writer = made_at(&path, "CREATE TABLE t (c); INSERT INTO t VALUES (1)", SqliteJournalMode::Wal).await;
    writer.close().await.unwrap();
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files(), 1);
    let sqlite = Sqlite::new(&path);
    assert_eq!(sqlite.describe().await.unwrap().0[0].row_count, Some(1));
    assert_eq!(files(), 1);

    // Then a writer opens it again, and the log contains changes that the file does not.
    let writer = made_at(&path, "INSERT INTO t VALUES (2)", SqliteJournalMode::Wal).await;
    assert_eq!(sqlite.describe().await.unwrap().0[0].row_count, Some(2));
    writer.close().await.unwrap();
    assert_eq!(sqlite.describe().await.unwrap().0[0].row_count, Some(2));
}

#[tokio::test]
async fn nothing_can_be_written() {
    let (_folder, path) = made("CREATE TABLE t (c)").await;
    let sqlite = Sqlite::new(&path);
    for purpose in [Purpose::Measuring, Purpose::Reading] {
        let insert = |session: &Session| {
            session.connection.execute("INSERT INTO t VALUES (1)", ()).map_err(SessionFailure::from)
        };
        let error = sqlite.read("t", purpose, STATEMENT_TIMEOUT, insert).await.unwrap_err();
        assert!(error.to_string().contains("readonly"), "{error}");
    }
}

#[tokio::test]
async fn one_connector_answers_many_at_once() {
    let (_folder, path) = made("CREATE TABLE t (c); INSERT INTO t VALUES (1)").await;
    let sqlite = Sqlite::new(&path);
    let request = SampleRequest { contains: None, limit: 1 };
    let asked = (0..20).map(|_| async {
        let (described, sample) = futures::join!(sqlite.describe(), sqlite.sample("t", "c", &request));
        described.unwrap().0[0].row_count == Some(1) && sample.unwrap().distinct == 1
    });
    assert!(futures::future::join_all(asked).await.into_iter().all(|right| right));
}

#[tokio::test]
async fn texts_are_distinct_and_complete_only_without_other_values() {
    let (_folder, path) = made(
        "CREATE TABLE t (c TEXT, n, long TEXT, none TEXT);
         INSERT INTO t (c, n, long) VALUES ('b', 'x', 'short'), ('a', 1, 'longer than ten'), ('b', x'00', ''), (NULL, 'é', 'short');",
    )
    .await;
    let texts = async |column: &str, limit: usize| {
        let request = TextRequest { limit, max_chars: 10 };
        let found = Sqlite::new(&path).texts("t", column, &request).await.unwrap();
        (found.texts, found.is_complete)
    };
    assert_eq!(texts("c", 9).await, (vec!["b".into(), "a".into()], true));
    assert_eq!(texts("c", 2).await, (vec!["b".into(), "a".into()], true));
    assert_eq!(texts("c", 1).await, (vec!["b".into()], false));
    assert_eq!(texts("n", 9).await, (vec!["x".into(), "é".into()], true));
    assert_eq!(texts("long", 9).await, (vec!["short".into(), "".into()], false));
    assert_eq!(texts("none", 9).await, (vec![], true));
    assert!(Sqlite::new(&path).texts("t", "gone", &TextRequest { limit: 1, max_chars: 1 }).await.is_err());
}

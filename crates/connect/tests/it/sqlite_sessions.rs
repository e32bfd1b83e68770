//! What user queries can access and consume in a SQLite database: enforced by SQLite itself, not by inspecting the text
//! of the query.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use prospector_connect::error::Cause;
use prospector_connect::rows::{MAX_ANSWER_BYTES, MAX_CELL_BYTES, Rows, SqlQuery};
use prospector_connect::source::SourceKind;
use prospector_connect::{ConnectError, Connector, open, source::Source};
use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

/// The tables that queries of these tests may read.
const LISTED: [&str; 6] = ["people", "notes_fts", "adults", "nested", "box", "keyed"];

const DATA: &str = "
    CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INT, twice AS (age * 2), doc TEXT);
    INSERT INTO people (id, name, age, doc) VALUES (1, 'Ada', 36, '{\"a\": [1, 2]}'), (2, 'Bob', 7, '[]'), (3, 'Cyd', 40, NULL);
    CREATE TABLE keyed (a TEXT, b INT, PRIMARY KEY (b, a)) WITHOUT ROWID;
    INSERT INTO keyed VALUES ('x', 1);
    CREATE TABLE secret (id INTEGER PRIMARY KEY, password TEXT);
    INSERT INTO secret VALUES (1, 's3cret'), (2, 's3cret too');
    CREATE VIEW adults AS SELECT p.id, upper(p.name) AS shout FROM people p JOIN secret s ON s.id = 1 WHERE p.age > 17;
    CREATE VIEW inner_view AS SELECT id AS number, length(password) AS long FROM secret WHERE id = 1;
    CREATE VIEW nested AS SELECT number, long FROM inner_view;
    CREATE VIEW hidden_view AS SELECT password FROM secret;
    CREATE VIRTUAL TABLE notes_fts USING fts5(title, body);
    INSERT INTO notes_fts VALUES ('hello', 'hello world'), ('other', 'nothing');
    CREATE VIRTUAL TABLE secret_fts USING fts5(word);
    INSERT INTO secret_fts VALUES ('s3cret');
    CREATE VIRTUAL TABLE box USING rtree(id, x0, x1);
    INSERT INTO box VALUES (1, 0, 5);
    ANALYZE";

async fn made(statements: &str) -> (tempfile::TempDir, Arc<dyn Connector>) {
    let folder = tempfile::tempdir().unwrap();
    let source = source(&folder.path().join("a b?#%.db"), statements).await;
    (folder, source)
}

async fn source(path: &Path, statements: &str) -> Arc<dyn Connector> {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true).foreign_keys(false);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    open(&Source::files(SourceKind::Sqlite, vec![PathBuf::from(path)])).unwrap()
}

async fn asked(source: &Arc<dyn Connector>, sql: &str) -> Result<Rows, ConnectError> {
    source.query(&SqlQuery { sql, tables: &LISTED, fields: None, functions: &[] }, 50).await
}

#[tokio::test]
async fn reads_allowed_tables_with_any_syntax() {
    let (_folder, source) = made(DATA).await;
    for (sql, expected) in [
        ("SELECT name FROM people WHERE rowid = 2", json!([["Bob"]])),
        ("SELECT count(*) FROM main.People", json!([[3]])),
        ("SELECT twice, p.* FROM people p WHERE id = 2", json!([[14, 2, "Bob", 7, 14, "[]"]])),
        ("SELECT b FROM keyed", json!([[1]])),
        ("SELECT shout FROM adults ORDER BY id", json!([["ADA"], ["CYD"]])),
        ("SELECT count(*) FROM adults", json!([[2]])),
        ("SELECT long FROM nested", json!([[6]])),
        ("SELECT n.number FROM nested n JOIN people p ON p.id = n.number", json!([[1]])),
        ("SELECT title FROM notes_fts WHERE notes_fts MATCH 'hello'", json!([["hello"]])),
        ("SELECT title FROM notes_fts('hello') ORDER BY rank", json!([["hello"]])),
        (
            "SELECT highlight(notes_fts, 1, '<', '>') FROM notes_fts WHERE body MATCH 'world' ORDER BY bm25(notes_fts)",
            json!([["hello <world>"]]),
        ),
        ("SELECT id FROM box WHERE x0 >= 0 AND x1 <= 5", json!([[1]])),
        ("SELECT j.value FROM people p, json_each(p.doc, '$.a') j WHERE p.id = 1", json!([[1], [2]])),
        ("SELECT count(*) FROM json_tree('[1, [2]]')", json!([[4]])),
        ("WITH w AS (SELECT 1 AS x) SELECT count(*) FROM w", json!([[1]])),
        ("WITH people AS (SELECT 'mine' AS name) SELECT name FROM people", json!([["mine"]])),
        (
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT sum(i) FROM n",
            json!([[10]]),
        ),
        ("SELECT name, rank() OVER (ORDER BY age) FROM people ORDER BY age LIMIT 1;", json!([["Bob", 1]])),
        (
            "SELECT p.name FROM people p WHERE EXISTS (SELECT 1 FROM people q WHERE q.age > p.age) ORDER BY 1",
            json!([["Ada"], ["Bob"]]),
        ),
        // SQLite treats an unknown name in double quotes as a string.
        ("SELECT \"no column\" FROM people LIMIT 1", json!([["no column"]])),
        (
            "SELECT strftime('%Y', '2024-05-06'), json_extract('{\"a\": 1}', '$.a'), '{\"a\": 2}' ->> 'a'",
            json!([["2024", 1, 2]]),
        ),
        ("VALUES (1), (2)", json!([[1], [2]])),
    ] {
        let rows = asked(&source, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!(json!(rows.rows), expected, "{sql}");
        source.explain(&SqlQuery { sql, tables: &LISTED, fields: None, functions: &[] }).await.unwrap();
    }
}

#[tokio::test]
async fn reports_hidden_and_missing_tables_alike() {
    let (_folder, source) = made(DATA).await;
    for (sql, name) in [
        ("SELECT * FROM NAME", "secret"),
        ("SELECT count(*) FROM main.NAME", "secret"),
        ("SELECT 1 FROM people, NAME", "secret"),
        ("SELECT (SELECT password FROM NAME)", "secret"),
        ("SELECT * FROM NAME('hello')", "secret_fts"),
        ("SELECT word FROM NAME WHERE word MATCH 's3cret'", "secret_fts"),
        ("SELECT * FROM NAME", "hidden_view"),
        ("SELECT * FROM NAME", "inner_view"),
        // A name after WITH equal to that of a view that reads a hidden table.
        ("WITH adults AS MATERIALIZED (SELECT password FROM NAME) SELECT * FROM adults", "secret"),
        ("WITH nested AS (SELECT * FROM NAME), people AS (SELECT * FROM nested) SELECT * FROM people", "secret"),
        ("WITH w AS (SELECT 1) SELECT * FROM NAME", "secret"),
        ("SELECT id FROM people WHERE id IN NAME", "secret"),
        ("SELECT 1 UNION SELECT password FROM NAME", "secret"),
        ("SELECT * FROM NAME", "notes_fts_content"),
        ("SELECT * FROM NAME", "sqlite_master"),
        ("SELECT count(*) FROM NAME", "sqlite_schema"),
        ("SELECT * FROM NAME", "sqlite_stat1"),
        ("SELECT count(*) FROM NAME", "sqlite_stat4"),
        ("SELECT * FROM NAME('secret')", "pragma_table_info"),
        ("SELECT count(*) FROM NAME", "pragma_table_list"),
        ("SELECT count(*) FROM NAME", "dbstat"),
        ("SELECT * FROM NAME", "fts3tokenize"),
    ] {
        let said = async |name: &str| match asked(&source, &sql.replace("NAME", name)).await {
            Err(ConnectError::Read { cause, reason, .. }) => (cause, reason.replace(name, "NAME").replace("main.", "")),
            other => panic!("{sql} {name}: {other:?}"),
        };
        let (cause, reason) = said(name).await;
        assert_eq!(cause, Cause::UnknownTable, "{sql} {name}: {reason}");
        assert_eq!((cause, reason), said("nosuch").await, "{sql} {name}");
    }
}

#[tokio::test]
async fn runs_only_one_query_without_parameters() {
    let (folder, source) = made(DATA).await;
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    let before = files();
    let other = folder.path().join("other").display().to_string();
    for sql in [
        "SELECT $1::y(') , (SELECT password FROM secret) -- ')",
        "SELECT ?1",
        "SELECT name FROM people WHERE id = :id",
        "SELECT @a",
        "SELECT 1; SELECT 2",
        "EXPLAIN SELECT 1",
        "EXPLAIN QUERY PLAN SELECT 1",
        "PRAGMA table_info(secret)",
        "BEGIN",
        "INSERT INTO people (id) VALUES (9)",
        "CREATE TEMP TABLE u (a)",
        &format!("ATTACH '{other}' AS o"),
        &format!("VACUUM INTO '{other}'"),
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT last_insert_rowid()",
        "SELECT sqlite_compileoption_used('X')",
        "",
        "-- nothing",
    ] {
        let error = asked(&source, sql).await.unwrap_err();
        assert!(!error.to_string().contains("s3cret"), "{sql}: {error}");
        assert!(
            source.explain(&SqlQuery { sql, tables: &LISTED, fields: None, functions: &[] }).await.is_err(),
            "{sql}"
        );
    }
    assert_eq!(files(), before);
}

/// Checks that the query fails quickly and that the next one succeeds.
async fn check_bounded(source: &Arc<dyn Connector>, sql: &str, causes: &[Cause]) {
    let start = Instant::now();
    match asked(source, sql).await {
        Err(ConnectError::Read { cause, reason, .. }) => assert!(causes.contains(&cause), "{sql}: {cause:?} {reason}"),
        Err(ConnectError::TooLarge { .. }) => {}
        // Some functions return early with a small result.
        Ok(rows) => assert!(json!(rows.rows).to_string().len() < 100, "{sql}"),
        Err(other) => panic!("{sql}: {other}"),
    }
    assert!(start.elapsed() < Duration::from_secs(70), "{sql}: {:?}", start.elapsed());
    assert_eq!(json!(asked(source, "SELECT 1").await.unwrap().rows), json!([[1]]));
}

#[tokio::test]
async fn a_query_takes_neither_all_memory_nor_all_time() {
    let (_folder, source) = made(DATA).await;
    let large = "printf('%.*c', 4000000, 'y')";
    let long = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    for sql in [
        "SELECT zeroblob(1000000000)".to_owned(),
        "SELECT randomblob(1000000000)".to_owned(),
        "SELECT printf('%.*c', 1000000000, 'x')".to_owned(),
        "SELECT printf('%1000000000d', 1)".to_owned(),
        format!("SELECT replace({large}, 'y', {large})"),
        format!("SELECT hex({large})"),
        // Each of these would compare four million positions with two million.
        format!("SELECT instr({large}, substr({large}, 1, 2000000) || 'z')"),
        format!("SELECT length(replace({large}, substr({large}, 1, 2000000) || 'z', ''))"),
        format!("SELECT length(trim({large}, replace({large}, 'y', 'a') || 'y'))"),
        format!("SELECT unhex(substr({large}, 1, 2000000), replace({large}, 'y', 'z') || 'y')"),
        format!("SELECT {large} LIKE '%' || {large}"),
        format!("SELECT {large} GLOB '*a*b*c*' || {large}"),
        format!("SELECT group_concat({large}) FROM json_each('[1, 2, 3]')"),
        format!("{long} SELECT i, randomblob(1000000) AS x FROM n ORDER BY x"),
        format!("{long} SELECT DISTINCT randomblob(1000000) FROM n"),
        format!("SELECT json_group_array({large}) FROM json_each('[1, 2, 3]')"),
        format!("SELECT abs({}1{})", "abs(".repeat(1_200), ")".repeat(1_200)),
    ] {
        let causes = [Cause::Memory, Cause::TooLarge, Cause::Other, Cause::TimedOut, Cause::Syntax];
        check_bounded(&source, &sql, &causes).await;
    }
    // Patterns that backtrack repeatedly.
    let pattern = "%a".repeat(200);
    asked(&source, &format!("SELECT printf('%.*c', 100000, 'a') LIKE '{pattern}b'")).await.unwrap();
}

#[tokio::test]
async fn cancels_abandoned_queries() {
    let (_folder, source) = made(DATA).await;
    let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    for _ in 0..3 {
        // The maximum number of concurrent queries: if they were not stopped, others could not run.
        let asked = (0..4).map(|_| asked(&source, endless));
        assert!(tokio::time::timeout(Duration::from_millis(200), futures::future::join_all(asked)).await.is_err());
    }
    let next = tokio::time::timeout(Duration::from_secs(20), asked(&source, "SELECT 1")).await;
    assert_eq!(json!(next.unwrap().unwrap().rows), json!([[1]]));
}

#[tokio::test]
async fn values_and_answers_have_limits_in_bytes() {
    let sql = "CREATE TABLE people (id INTEGER PRIMARY KEY, c TEXT, b BLOB);
         INSERT INTO people VALUES (1, 'x', x'00'), (2, replace(hex(zeroblob(1000000)), '0', 'y'), zeroblob(600000)),
           (3, NULL, zeroblob(100000000))";
    let (_folder, source) = made(sql).await;
    let check = |done: Result<Rows, ConnectError>, wanted: Option<&str>, most: usize| match done {
        Err(ConnectError::TooLarge { column, limit, .. }) => assert_eq!((column.as_deref(), limit), (wanted, most)),
        other => panic!("{wanted:?}: {:?}", other.map(|rows| rows.rows.len())),
    };
    check(asked(&source, "SELECT id, c FROM people").await, Some("c"), MAX_CELL_BYTES);
    check(asked(&source, "SELECT b AS \"a b\" FROM people WHERE id = 2").await, Some("a b"), MAX_CELL_BYTES);
    check(source.rows("people", &["c".into()], &[], 5).await, Some("c"), MAX_CELL_BYTES);
    let numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    let done = source.query(&SqlQuery { sql: numbers, tables: &[], fields: None, functions: &[] }, 10_000_000).await;
    check(done, None, MAX_ANSWER_BYTES);
    // Values too long to read can be measured, and parts of them can be read.
    let rows = asked(&source, "SELECT length(b), substr(c, 1, 2) FROM people ORDER BY id").await.unwrap();
    assert_eq!(json!(rows.rows), json!([[1, "x"], [600_000, "yy"], [100_000_000, null]]));
    let error = asked(&source, "SELECT substr(b, 1, 2) FROM people").await.unwrap_err();
    assert!(error.to_string().contains("too large"), "{error}");
    assert_eq!(source.rows("people", &["id".into()], &[], 5).await.unwrap().rows.len(), 3);
}

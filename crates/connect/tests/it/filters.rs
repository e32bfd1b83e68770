//! Conditions and queries on files and SQLite databases; servers have tests of their own.

use std::path::Path;
use std::sync::Arc;

use crate::support::{PEOPLE, check_filters, query};
use prospector_connect::rows::MAX_CELL_BYTES;
use prospector_connect::source::SourceKind;
use prospector_connect::{ConnectError, Connector, open, source::Source};
use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

async fn sqlite(folder: &Path, sql: &str) -> Arc<dyn Connector> {
    let path = folder.join("people.db");
    let mut connection = SqliteConnectOptions::new().filename(&path).create_if_missing(true).connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    open(&Source::files(SourceKind::Sqlite, vec![path])).unwrap()
}

#[tokio::test]
async fn conditions_mean_the_same_in_sqlite_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let table = "CREATE TABLE people (id INTEGER, name TEXT, age INTEGER, score REAL, born DATE, vip BOOLEAN);";
    check_filters(sqlite(folder.path(), &format!("{table} {PEOPLE}")).await.as_ref(), false).await;

    let csv = folder.path().join("people.csv");
    let lines = "id,name,age,score,born,vip\n1,Ada,36,1.5,1815-12-10,true\n2,O'Brien; --,,2.25,1990-01-01,false\n\
         3,ada,17,,2001-05-05,true\n4,50%_x,36,-3,,\n";
    std::fs::write(&csv, lines).unwrap();
    check_filters(open(&Source::files(SourceKind::Csv, vec![csv])).unwrap().as_ref(), true).await;

    let jsonl = folder.path().join("people.jsonl");
    let record = |id, name, age, score, born, vip| {
        json!({"id": id, "name": name, "age": age, "score": score, "born": born, "vip": vip}).to_string() + "\n"
    };
    let text = [
        record(1, "Ada", json!(36), json!(1.5), json!("1815-12-10"), json!(true)),
        record(2, "O'Brien; --", json!(null), json!(2.25), json!("1990-01-01"), json!(false)),
        record(3, "ada", json!(17), json!(null), json!("2001-05-05"), json!(true)),
        record(4, "50%_x", json!(36), json!(-3), json!(null), json!(null)),
    ];
    std::fs::write(&jsonl, text.concat()).unwrap();
    check_filters(open(&Source::files(SourceKind::Jsonl, vec![jsonl])).unwrap().as_ref(), true).await;
}

#[tokio::test]
async fn a_query_of_sqlite_reads_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let source =
        sqlite(folder.path(), "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, x'00ff'), (2, 'x'), (3, NULL)").await;
    let rows = query(source.as_ref(), "SELECT a, b, a FROM t ORDER BY a;", 2).await.unwrap();
    assert_eq!(rows.columns, ["a", "b", "a"]);
    assert_eq!(rows.rows, [[json!(1), json!("\\x00ff"), json!(1)], [json!(2), json!("x"), json!(2)]]);
    assert!(rows.has_more);
    let none = query(source.as_ref(), "SELECT a AS only FROM t WHERE a > 5", 2).await.unwrap();
    assert_eq!((none.columns, none.rows.len(), none.has_more), (vec!["only".to_owned()], 0, false));

    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    let before = (files(), std::fs::read(folder.path().join("people.db")).unwrap());
    let other = folder.path().join("other.db").display().to_string();
    for sql in [
        "INSERT INTO t VALUES (4, 4)".to_owned(),
        "DROP TABLE t".to_owned(),
        format!("ATTACH '{other}' AS o"),
        format!("VACUUM INTO '{other}'"),
        "SELECT 1; DELETE FROM t".to_owned(),
        "PRAGMA writable_schema = 1".to_owned(),
        "SELECT load_extension('x')".to_owned(),
        "CREATE TEMP TABLE u (a)".to_owned(),
    ] {
        assert!(query(source.as_ref(), &sql, 5).await.is_err(), "{sql}");
    }
    assert_eq!((files(), std::fs::read(folder.path().join("people.db")).unwrap()), before);
    // A rejected query does not affect other operations.
    assert_eq!(source.describe().await.unwrap().0[0].row_count, Some(3));
}

#[tokio::test]
async fn values_of_files_have_a_limit_in_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("t.csv");
    std::fs::write(&csv, format!("id,body\n1,short\n2,{}\n", "x".repeat(MAX_CELL_BYTES + 1))).unwrap();
    let source = open(&Source::files(SourceKind::Csv, vec![csv])).unwrap();
    let error = source.rows("t", &[], &[], 5).await.unwrap_err();
    assert!(matches!(&error, ConnectError::TooLarge { column: Some(column), .. } if column == "body"), "{error}");
    assert_eq!(source.rows("t", &["id".into()], &[], 5).await.unwrap().rows.len(), 2);
}

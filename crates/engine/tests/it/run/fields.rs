//! Qualified names in queries to PostgreSQL: columns are answered, and neither user-defined nor built-in functions are called,
//! even if a description is older than the table.

use prospector_engine::FailureCode;
use prospector_test_support::server;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use crate::support::{engine, postgres};

const DATA: &str = "
    CREATE TABLE customers (id int, name text, gone text); INSERT INTO customers VALUES (1, 'Ada', 'x'), (2, 'Bob', 'y');
    CREATE FUNCTION g(int) RETURNS text LANGUAGE sql AS $$ SELECT 's3cret' $$;
    CREATE FUNCTION nap(anyelement) RETURNS text LANGUAGE sql AS $$ SELECT 's3cret' $$;
    CREATE FUNCTION computed(customers) RETURNS text LANGUAGE sql AS $$ SELECT 's3cret' $$;";

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn postgres_calls_no_function_after_a_dot() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    let (own, connector) = postgres(&url, "engine_fields", DATA).await;
    let engine = engine("shop", connector).await;
    for (sql, expected) in [
        ("SELECT s.count FROM (SELECT count(*) AS count FROM customers) s", json!([[2]])),
        ("SELECT s.count FROM (SELECT count(*) FROM customers) s", json!([[2]])),
        ("SELECT s.date, s.text FROM (SELECT 1 AS date, 2 AS text) s", json!([[1, 2]])),
        ("SELECT s.nap, s.computed FROM (SELECT 1 AS nap) AS s (nap), (SELECT 1) t", Value::Null),
        ("SELECT s.nap FROM (SELECT 1 AS nap) s", json!([[1]])),
        ("SELECT x.g FROM generate_series(3, 3) AS x (g)", json!([[3]])),
        ("SELECT x.x FROM generate_series(3, 3) x", json!([[3]])),
        ("SELECT s.name FROM (SELECT name::text FROM customers WHERE id = 1) s", json!([["Ada"]])),
        ("SELECT c.gone FROM customers c WHERE c.id = 1", json!([["x"]])),
        ("SELECT c.tableoid IS NOT NULL FROM customers c WHERE c.id = 1", json!([[true]])),
        ("SELECT a.nap AS nap FROM generate_series(1, 2) a", Value::Null),
        ("SELECT (c).computed FROM customers c, (SELECT 1 AS computed) b", Value::Null),
        ("SELECT c.computed FROM customers c (x), (SELECT 1) b (computed)", Value::Null),
        ("SELECT a.regclass AS regclass FROM generate_series(1, 2) a", Value::Null),
        ("SELECT t.pg_read_file AS pg_read_file FROM unnest(ARRAY['/etc/passwd']) t", Value::Null),
        // A column by the known return type of the function, and a user-defined function.
        ("SELECT g.g FROM generate_series(1, 2) g", Value::Null),
    ] {
        match (engine.run(sql, Some("shop"), 9).await, expected) {
            (Err(failure), Value::Null) => assert_eq!(failure.code, FailureCode::UnknownColumn, "{sql}: {failure}"),
            (done, expected) => assert_eq!(done.ok().map(|done| json!(done.rows.rows)), Some(expected), "{sql}"),
        }
    }
    // A column when the table was described.
    let mut connection = PgConnection::connect(own.as_str()).await.unwrap();
    let change = "ALTER TABLE customers DROP COLUMN gone;
         CREATE FUNCTION gone(customers) RETURNS text LANGUAGE sql AS $$ SELECT 's3cret' $$";
    sqlx::raw_sql(change).execute(&mut connection).await.unwrap();
    for sql in ["SELECT c.gone FROM customers c", "SELECT s.gone FROM (SELECT * FROM customers) s"] {
        let failure = engine.run(sql, Some("shop"), 9).await.unwrap_err();
        assert_eq!(failure.code, FailureCode::UnknownColumn, "{sql}: {failure}");
    }
}

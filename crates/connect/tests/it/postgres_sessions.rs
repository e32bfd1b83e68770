//! PostgreSQL sessions under any server settings and user-defined functions: parsing of texts, name resolution, traces
//! left by queries, and size limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{connector, query};
use prospector_connect::error::Cause;
use prospector_connect::rows::{MAX_ANSWER_BYTES, MAX_CELL_BYTES, Rows, SqlQuery};
use prospector_connect::{ConnectError, Connector};
use prospector_test_support::server;
use serde_json::{Value, json};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Row};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn run(url: &url::Url, sql: &str) {
    let mut connection = PgConnection::connect(url.as_str()).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Creates a database with these statements.
pub(crate) async fn made(name: &str, sql: &str) -> Option<url::Url> {
    let mut url = server("PROSPECTOR_TEST_POSTGRES")?;
    run(&url, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
    run(&url, &format!("CREATE DATABASE {name}")).await;
    url.set_path(name);
    run(&url, sql).await;
    Some(url)
}

async fn one(source: &Arc<dyn Connector>, sql: &str) -> Vec<Value> {
    query(source.as_ref(), sql, 5).await.unwrap().rows.swap_remove(0)
}

#[tokio::test]
async fn parses_texts_independently_of_server_settings() {
    let Some(url) = made(
        "session_settings",
        "ALTER DATABASE session_settings SET standard_conforming_strings = off;
         ALTER DATABASE session_settings SET backslash_quote = on;
         ALTER DATABASE session_settings SET transform_null_equals = on;
         ALTER DATABASE session_settings SET array_nulls = off;
         ALTER DATABASE session_settings SET client_encoding = LATIN1;
         ALTER DATABASE session_settings SET bytea_output = escape;
         ALTER DATABASE session_settings SET work_mem = '1GB';
         ALTER DATABASE session_settings SET temp_file_limit = -1;
         ALTER DATABASE session_settings SET statement_timeout = '3s';
         ALTER DATABASE session_settings SET hash_mem_multiplier = 100;
         CREATE TABLE t (c text); INSERT INTO t VALUES (NULL), ('x')",
    )
    .await
    else {
        return;
    };
    let source = connector(&url, &[]);
    let sql = r"SELECT 'a\', '{NULL}'::text[] IS NULL, (SELECT count(*) FROM t WHERE c = NULL), '\x00ff'::bytea, 'ä'";
    let (slash, bytes) = (r"a\", r"\x00ff");
    assert_eq!(one(&source, sql).await, [json!(slash), json!(false), json!(0), json!(bytes), json!("ä")]);
    // Smaller settings are kept.
    let names = ["work_mem", "hash_mem_multiplier", "statement_timeout", "temp_file_limit", "transaction_read_only"];
    let shown: Vec<String> = names.iter().map(|name| format!("current_setting('{name}')")).collect();
    let expected = ["64MB", "2", "3s", "4GB", "on"];
    assert_eq!(json!(one(&source, &format!("SELECT {}", shown.join(", "))).await), json!(expected));
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn queries_leave_nothing_in_the_session() {
    let Some(url) = made("session_left", "CREATE TABLE t (c int); INSERT INTO t VALUES (0)").await else { return };
    let source = connector(&url, &[]);
    let mut watch = PgConnection::connect(url.as_str()).await.unwrap();
    let mut locks = async || -> i64 {
        let sql = "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database \
             WHERE locktype = 'advisory' AND datname = current_database()";
        sqlx::query(sql).fetch_one(&mut watch).await.unwrap().get(0)
    };
    let before =
        one(&source, "SELECT pg_backend_pid(), current_setting('work_mem'), current_setting('search_path')").await;
    one(
        &source,
        "SELECT pg_advisory_lock(42), set_config('work_mem', '7MB', false), set_config('search_path', 't', false)",
    )
    .await;
    assert_eq!(locks().await, 0);
    assert!(query(source.as_ref(), "SELECT pg_advisory_lock(43), 1 / c FROM t", 5).await.is_err());
    assert_eq!(locks().await, 0);
    source
        .explain(&SqlQuery { sql: "SELECT pg_advisory_lock(44)", tables: &[], fields: None, functions: &[] })
        .await
        .unwrap();
    assert_eq!(locks().await, 0);
    // The connection is reused in its original state.
    let after =
        one(&source, "SELECT pg_backend_pid(), current_setting('work_mem'), current_setting('search_path')").await;
    assert_eq!(after, before);
    assert_eq!(
        one(&source, "SELECT count(*) FROM pg_prepared_statements WHERE statement NOT LIKE '%pg_prepared%'").await,
        [json!(0)]
    );
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn a_query_is_explained_without_being_run() {
    let Some(url) = made("session_explained", "CREATE SEQUENCE s; CREATE TABLE t (c int)").await else { return };
    let source = connector(&url, &[]);
    let explain =
        async |sql: &str| source.explain(&SqlQuery { sql, tables: &["t"], fields: None, functions: &[] }).await;
    explain("SELECT pg_sleep(50), c FROM t").await.unwrap();
    explain("SELECT (SELECT pg_sleep(50)) FROM t;").await.unwrap();
    for sql in
        ["ANALYZE SELECT pg_sleep(50)", "(ANALYZE) SELECT 1", "DELETE FROM t", "SELECT 1; SELECT 2", "SELECT d FROM t"]
    {
        assert!(explain(sql).await.is_err(), "{sql}");
    }
}

#[tokio::test]
async fn user_functions_do_not_shadow_system_functions() {
    let Some(url) = made(
        "session_names",
        "CREATE TABLE t (c varchar(9), n int); INSERT INTO t VALUES ('Ada', 1);
         CREATE FUNCTION lower(varchar) RETURNS text LANGUAGE sql AS 'SELECT ''stolen''';
         CREATE FUNCTION pick(varchar, int) RETURNS text LANGUAGE sql AS 'SELECT ''stolen''';
         CREATE OPERATOR || (LEFTARG = varchar, RIGHTARG = int, FUNCTION = pick);
         CREATE SCHEMA own; CREATE TYPE own.mood AS ENUM ('sad', 'ok');
         CREATE FUNCTION own.twice(int) RETURNS int LANGUAGE sql AS 'SELECT $1 * 2';
         ALTER DATABASE session_names SET search_path = own, public",
    )
    .await
    else {
        return;
    };
    let source = connector(&url, &[]);
    let sql = "SELECT lower(c), c || n, 'ok'::mood, twice(n) FROM public.t";
    assert_eq!(one(&source, sql).await, [json!("ada"), json!("Ada1"), json!("ok"), json!(2)]);
    let (_, problems) = source.describe().await.unwrap();
    let said: Vec<&str> = problems.iter().map(|problem| problem.reason.as_str()).collect();
    assert!(said.len() == 1 && said[0].contains("schema public") && said[0].contains("lower"), "{said:?}");
    // Temporary tables do not precede system tables.
    assert_eq!(one(&source, "SELECT current_setting('search_path')").await, [json!("pg_catalog, own, pg_temp")]);
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn resolves_extension_objects() {
    let Some(url) = made("session_extended", "").await else { return };
    let mut connection = PgConnection::connect(url.as_str()).await.unwrap();
    let there = "SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'";
    if sqlx::query(there).fetch_one(&mut connection).await.unwrap().get::<i64, _>(0) == 0 {
        return;
    }
    run(&url, "CREATE EXTENSION citext; CREATE TABLE t (c citext); INSERT INTO t VALUES ('Ada')").await;
    let source = connector(&url, &[]);
    assert_eq!(
        one(&source, "SELECT c, replace(c, 'ADA', 'Bob') FROM t WHERE c = 'aDA'").await,
        [json!("Ada"), json!("Bob")]
    );
    let (_, problems) = source.describe().await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
}

/// Relays to the server and counts the bytes it sends.
async fn counted(url: &url::Url) -> (url::Url, Arc<AtomicUsize>) {
    let target = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut through = url.clone();
    through.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let far = TcpStream::connect(&target).await.unwrap();
            let ((mut near_in, mut near_out), (mut far_in, mut far_out)) = (near.into_split(), far.into_split());
            tokio::spawn(async move { tokio::io::copy(&mut near_in, &mut far_out).await });
            let counter = counter.clone();
            tokio::spawn(async move {
                let mut bytes = vec![0; 1 << 16];
                while let Ok(read) = far_in.read(&mut bytes).await {
                    counter.fetch_add(read, Ordering::Relaxed);
                    if read == 0 || near_out.write_all(&bytes[..read]).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    (through, count)
}

#[tokio::test]
async fn a_value_that_is_too_large_is_not_sent() {
    let Some(url) = made(
        "session_large",
        "CREATE TABLE t (id int, c text, b bytea, j jsonb, a text[]);
         INSERT INTO t VALUES (1, 'x', 'x', '1', '{x}'), (2, repeat('x', 100000000), NULL, NULL, NULL)",
    )
    .await
    else {
        return;
    };
    let (through, sent) = counted(&url).await;
    let source = connector(&through, &[]);
    let over = MAX_CELL_BYTES + 1;
    for (sql, named) in [
        ("SELECT id, c FROM t ORDER BY id".to_owned(), "c"),
        (format!("SELECT repeat('x', {over}) AS \"a b\""), "a b"),
        (format!("SELECT decode(repeat('00', {}), 'hex') AS b", MAX_CELL_BYTES / 2), "b"),
        (format!("SELECT 1, to_jsonb(repeat('x', {over})) AS j"), "j"),
        (format!("SELECT array_fill('x'::text, ARRAY[{over}]) AS a"), "a"),
        (format!("SELECT ROW(1, repeat('x', {over})) AS r"), "r"),
    ] {
        match query(source.as_ref(), &sql, 5).await {
            Err(ConnectError::TooLarge { column: Some(column), limit, .. }) => {
                assert_eq!((column.as_str(), limit), (named, MAX_CELL_BYTES), "{sql}");
            }
            other => panic!("{sql}: {other:?}"),
        }
    }
    let error = source.rows("t", &["c".into()], &[], 5).await.unwrap_err();
    assert!(matches!(&error, ConnectError::TooLarge { column: Some(column), .. } if column == "c"), "{error}");
    assert!(sent.load(Ordering::Relaxed) < 1_000_000, "{sent:?}");
    // A part of the value can be read, and so can the rows before it.
    assert_eq!(one(&source, "SELECT left(c, 2) FROM t WHERE id = 2").await, [json!("xx")]);
    assert_eq!(
        one(&source, &format!("SELECT repeat('x', {MAX_CELL_BYTES})")).await,
        [json!("x".repeat(MAX_CELL_BYTES))]
    );
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn all_values_together_have_a_limit() {
    let Some(url) = made("session_many", "CREATE TABLE t (c int)").await else { return };
    let (through, sent) = counted(&url).await;
    let source = connector(&through, &[]);
    let wide: Vec<String> = (0..30).map(|at| format!("repeat('x', 1000000) AS c{at}")).collect();
    let row = format!("SELECT {}", wide.join(", "));
    let check = async |sql: &str| match query(source.as_ref(), sql, 1_000_000).await {
        Err(ConnectError::TooLarge { column: None, limit, .. }) => assert_eq!(limit, MAX_ANSWER_BYTES, "{sql}"),
        other => panic!("{sql}: {:?}", other.map(|rows| rows.rows.len())),
    };
    check(&row).await;
    assert!(sent.load(Ordering::Relaxed) < 100_000, "{sent:?}");
    check("SELECT n, repeat('x', 100000) FROM generate_series(1, 100000) n").await;
    check("SELECT n FROM generate_series(1, 5000000) n").await;
    assert!(sent.load(Ordering::Relaxed) < 4 * MAX_ANSWER_BYTES, "{sent:?}");
    assert_eq!(one(&source, "SELECT 1").await, [json!(1)]);
}

#[tokio::test]
async fn measuring_does_not_change_results() {
    let Some(url) = made(
        "session_same",
        "CREATE DOMAIN word AS text; CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (a int, b text);
         CREATE TABLE t (id int, w word, m mood, p pair, x xml, v varbit, n name, k \"char\");
         INSERT INTO t SELECT n, 'w' || n, 'ok', ROW(n, 'b'::text)::pair, '<a/>', B'101', 'n', 'k' FROM generate_series(1, 2000) n",
    )
    .await
    else {
        return;
    };
    let source = connector(&url, &[]);
    let Rows { columns, rows, has_more } =
        query(source.as_ref(), "SELECT w, w, id AS \"a \"\"b\", t.* FROM t ORDER BY id DESC", 3).await.unwrap();
    assert_eq!(columns, ["w", "w", "a \"b", "id", "w", "m", "p", "x", "v", "n", "k"]);
    assert!(has_more);
    let row = |n: i64| {
        json!([
            format!("w{n}"),
            format!("w{n}"),
            n,
            n,
            format!("w{n}"),
            "ok",
            format!("({n},b)"),
            "<a/>",
            "101",
            "n",
            "k"
        ])
    };
    assert_eq!(json!(rows), json!([row(2000), row(1999), row(1998)]));
    for sql in [
        "WITH a AS (SELECT 'x' AS c) SELECT c FROM a UNION ALL SELECT 'x' -- the end",
        "VALUES ('x')",
        "(SELECT 'x' ORDER BY 1 LIMIT 1)",
        "SELECT string_agg('x', '') OVER ()",
        "SELECT unnest(ARRAY['x', 'y']) LIMIT 1",
    ] {
        assert_eq!(one(&source, sql).await, [json!("x")], "{sql}");
    }
    assert_eq!(query(source.as_ref(), "SELECT", 1).await.unwrap().rows.len(), 1);
}

#[tokio::test]
async fn failures_have_a_cause_and_reveal_nothing_hidden() {
    let Some(url) = made(
        "session_causes",
        "CREATE TABLE t (c int, d text); CREATE TABLE veiled (token text);
         DROP ROLE IF EXISTS session_owner; CREATE ROLE session_owner; GRANT CREATE ON SCHEMA public TO session_owner;
         SET ROLE session_owner; CREATE VIEW v AS SELECT 1 AS one; RESET ROLE;
         GRANT SELECT ON veiled TO session_owner;
         SET ROLE session_owner; CREATE OR REPLACE VIEW v AS SELECT 1 AS one FROM veiled; RESET ROLE;
         REVOKE ALL ON veiled FROM session_owner",
    )
    .await
    else {
        return;
    };
    let source = connector(&url, &[]);
    let check = async |sql: &str, expected: Cause, state: &str| match query(source.as_ref(), sql, 5).await {
        Err(ConnectError::Read { cause, code, reason, .. }) => {
            assert_eq!((cause, code.as_deref()), (expected, Some(state)), "{sql}: {reason}");
            assert!(!reason.contains("veiled") && !reason.contains("token"), "{sql}: {reason}");
        }
        other => panic!("{sql}: {other:?}"),
    };
    check("SELECT nosuch FROM t", Cause::UnknownColumn, "42703").await;
    // The hint would name a similar column.
    check("SELECT tokem FROM t, v", Cause::UnknownColumn, "42703").await;
    check("SELECT 1 FROM nosuch", Cause::UnknownTable, "42P01").await;
    check("SELECT nosuch(1)", Cause::UnknownFunction, "42883").await;
    check("SELECT 'x'::int", Cause::TypeMismatch, "22P02").await;
    check("SELEC 1", Cause::Syntax, "42601").await;
    check("SELECT one FROM v", Cause::Refused, "42501").await;
    run(&url, "ALTER DATABASE session_causes SET statement_timeout = '300ms'").await;
    match query(connector(&url, &[]).as_ref(), "SELECT pg_sleep(30)", 5).await {
        Err(ConnectError::Read { cause: Cause::TimedOut, code: Some(state), .. }) => assert_eq!(&*state, "57014"),
        other => panic!("{other:?}"),
    }
}

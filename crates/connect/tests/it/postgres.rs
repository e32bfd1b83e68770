//! Tests of the PostgreSQL connector against a server started by `.ci/services`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::{PEOPLE, Wire, check_filters, connector, query};
use prospector_connect::rows::{Rows, SampleRequest, Samples};
use prospector_connect::{ConnectError, Connector};
use prospector_test_support::server;
use serde_json::{Value, json};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Row};

async fn run(url: &url::Url, sql: &str) {
    let mut connection = PgConnection::connect(url.as_str()).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Creates a database with these statements.
async fn made(name: &str, sql: &str) -> Option<url::Url> {
    let mut url = server("PROSPECTOR_TEST_POSTGRES")?;
    run(&url, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
    run(&url, &format!("CREATE DATABASE {name}")).await;
    url.set_path(name);
    run(&url, sql).await;
    Some(url)
}

async fn sampled(source: &Arc<dyn Connector>, table: &str, column: &str, contains: Option<&str>) -> Value {
    let request = SampleRequest { contains: contains.map(str::to_owned), limit: 10 };
    let samples = source.sample(table, column, &request).await.unwrap();
    assert!(samples.complete, "{samples:?}");
    assert_eq!(samples.distinct, samples.values.len() as u64);
    Value::from(samples.values)
}

#[tokio::test]
async fn tables_are_described_with_columns_keys_comments_and_counts() {
    let Some(url) = made(
        "described",
        "CREATE TYPE mood AS ENUM ('sad', 'it''s ok'); CREATE DOMAIN price AS numeric(10,2);
         CREATE TABLE artist (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name varchar(40) NOT NULL, feels mood);
         COMMENT ON TABLE artist IS 'Who plays'; COMMENT ON COLUMN artist.name IS 'as on the sleeve';
         CREATE TABLE album (b text, a int, artist int REFERENCES artist, cost price, PRIMARY KEY (b, a));
         CREATE SCHEMA sales; CREATE SCHEMA \"Odd.One\";
         CREATE TABLE sales.track (id uuid PRIMARY KEY, b text, a int, tags text[], FOREIGN KEY (b, a) REFERENCES album);
         CREATE TABLE sales.event (at date NOT NULL, n int) PARTITION BY RANGE (at);
         CREATE TABLE sales.event_1 PARTITION OF sales.event FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
         CREATE TABLE sales.event_2 PARTITION OF sales.event FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
         CREATE TABLE \"Odd.One\".\"T\" (\"a \"\"b\" int);
         CREATE VIEW loud AS SELECT id, upper(name) AS shout FROM artist;
         INSERT INTO artist (name) VALUES ('x'), ('y');
         INSERT INTO sales.event SELECT '2024-06-01'::date + n % 500, n FROM generate_series(1, 100000) n;
         CREATE MATERIALIZED VIEW busy AS SELECT at FROM sales.event WHERE n < 4;
         ANALYZE",
    )
    .await
    else {
        return;
    };
    let source = connector(&url, &[]);
    let (tables, problems) = source.describe().await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let find = |name: &str| tables.iter().find(|table| table.name == name).unwrap();
    assert_eq!(
        tables.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(),
        ["artist", "album", "loud", "busy", "Odd.One.T", "sales.track", "sales.event"]
    );
    assert_eq!((find("artist").row_count, find("artist").row_count_estimated), (Some(2), false));
    assert_eq!((find("busy").row_count, find("busy").row_count_estimated), (Some(3), false));
    assert_eq!((find("album").row_count, find("album").row_count_estimated), (Some(0), false));
    assert_eq!((find("loud").row_count, find("loud").row_count_estimated), (None, false));
    let event = find("sales.event");
    assert!(event.row_count_estimated && (90_000..110_000).contains(&event.row_count.unwrap()), "{event:?}");
    assert_eq!(find("artist").description, "Who plays");
    assert_eq!(
        serde_json::to_value(&find("artist").columns).unwrap(),
        json!([
            {"name": "id", "type": "integer", "column_type": "integer", "nullable": false, "primary_key": true},
            {"name": "name", "type": "character varying(40)", "column_type": "text", "nullable": false,
             "primary_key": false, "description": "as on the sleeve"},
            {"name": "feels", "type": "mood enum('sad', 'it''s ok')", "column_type": "other", "nullable": true,
             "primary_key": false},
        ])
    );
    let keys = |name: &str| serde_json::to_value(&find(name).foreign_keys).unwrap();
    assert_eq!(keys("album"), json!([{"columns": ["artist"], "table": "artist", "references": ["id"]}]));
    assert_eq!(keys("sales.track"), json!([{"columns": ["b", "a"], "table": "album", "references": ["b", "a"]}]));
    assert_eq!(find("album").columns.iter().filter(|c| c.primary_key).count(), 2);

    // Unusual and inexact names are resolved.
    assert_eq!(sampled(&source, "Odd.One.T", "a \"b", None).await, json!([]));
    assert_eq!(sampled(&source, "SALES.Track", "TAGS", None).await, json!([]));
    assert_eq!(sampled(&source, "busy", "at", None).await.as_array().unwrap().len(), 3);

    // Only the requested schemas, without keys to others.
    let (tables, problems) = connector(&url, &["sales", "gone"]).describe().await.unwrap();
    assert_eq!(tables.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["sales.track", "sales.event"]);
    assert!(tables[0].foreign_keys.is_empty());
    assert!(problems.len() == 1 && problems[0].reason.contains("`gone`"), "{problems:?}");
    assert!(connector(&url, &["sales"]).rows("artist", &[], &[], 1).await.is_err());
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn reports_unreadable_tables() {
    let sql = "CREATE TABLE open (c int); CREATE TABLE half (a int, b int); CREATE TABLE closed (c int);
         DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD 'reading';
         GRANT SELECT ON open TO reader; GRANT SELECT (b) ON half TO reader";
    let Some(mut url) = made("granted", sql).await else { return };
    url.set_username("reader").unwrap();
    url.set_password(Some("reading")).unwrap();
    let (tables, problems) = connector(&url, &[]).describe().await.unwrap();
    assert_eq!(
        tables.iter().map(|t| (t.name.as_str(), t.columns.len())).collect::<Vec<_>>(),
        [("open", 1), ("half", 1)]
    );
    assert!(problems[0].reason.contains("may not read `closed`"), "{problems:?}");
}

#[tokio::test]
async fn converts_values_losslessly() {
    let Some(url) = made(
        "valued",
        r#"CREATE TYPE mood AS ENUM ('sad', 'ok');
           CREATE TABLE v (a numeric(30,10), b jsonb, c uuid, d mood, e int[], f bytea, g timestamptz, h interval,
             i inet, j int4range, k float8, l bigint, m boolean, n text, o numeric, p float4, q date);
           SET timezone = 'UTC';
           INSERT INTO v VALUES (12345678901234567890.0123456789, '{"x": [1, 1.5], "y": 12345678901234567890.5}',
             'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'ok', '{1,NULL}', '\x00ff', '2024-01-31 10:00:00.5+02', '1 day 2 h',
             '10.0.0.1/8', '[1,5)', 'Infinity', 9223372036854775807, true, repeat('ä', 300), 'NaN', 0.1, '2024-02-29'),
             (1.5, '{"x": 1}', NULL, 'sad', NULL, NULL, NULL, NULL, NULL, NULL, 0.1, NULL, false, '', 7, NULL, NULL)"#,
    )
    .await
    else {
        return;
    };
    let source = connector(&url, &[]);
    let Rows { rows, columns, .. } = query(source.as_ref(), "SELECT * FROM v ORDER BY a DESC", 9).await.unwrap();
    assert_eq!(columns.concat(), "abcdefghijklmnopq");
    assert_eq!(
        Value::from(rows[0].clone()),
        json!([
            "12345678901234567890.0123456789",
            "{\"x\": [1, 1.5], \"y\": 12345678901234567890.5}",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "ok",
            "{1,NULL}",
            "\\x00ff",
            rows[0][6],
            "1 day 02:00:00",
            "10.0.0.1/8",
            "[1,5)",
            "Infinity",
            i64::MAX,
            true,
            "ä".repeat(300),
            "NaN",
            0.1,
            "2024-02-29"
        ])
    );
    assert!(rows[0][6].as_str().unwrap().starts_with("2024-01-31 "), "{}", rows[0][6]);
    assert_eq!(rows[1][..4], [json!(1.5), json!({"x": 1}), json!(null), json!("sad")]);
    let whole = source.rows("v", &["n".into(), "A".into()], &[], 1).await.unwrap();
    assert_eq!(
        (whole.columns, whole.rows[0][0].as_str().unwrap().chars().count()),
        (vec!["n".into(), "a".into()], 300)
    );

    assert_eq!(sampled(&source, "v", "d", None).await, json!(["ok", "sad"]));
    assert_eq!(sampled(&source, "v", "f", None).await, json!(["<blob 2 bytes>"]));
    assert_eq!(sampled(&source, "v", "f", Some("x")).await, json!([]));
    assert_eq!(sampled(&source, "v", "c", Some("9C0B")).await.as_array().unwrap().len(), 1);
    assert_eq!(sampled(&source, "v", "n", Some("Ä")).await, json!(["ä".repeat(200)]));
    let statistics =
        source.statistics("v", &["K".into(), "d".into(), "m".into(), "b".into(), "e".into()]).await.unwrap();
    assert_eq!(
        serde_json::to_value(statistics).unwrap(),
        json!([
            {"column": "k", "cardinality": 2, "min": 0.1, "max": "Infinity", "nulls": 0},
            {"column": "d", "cardinality": 2, "min": "ok", "max": "sad", "nulls": 0},
            {"column": "m", "cardinality": 2, "min": "false", "max": "true", "nulls": 0},
            {"column": "b", "cardinality": 2, "min": null, "max": null, "nulls": 0},
            {"column": "e", "cardinality": 1, "min": null, "max": null, "nulls": 1},
        ])
    );
    assert_eq!(source.statistics("v", &[]).await.unwrap().len(), 17);
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn samples_are_ordered_by_frequency_and_escape_wildcards() {
    let sql = "CREATE TABLE t (c text); INSERT INTO t VALUES ('b'), ('a'), ('c'), ('c'), ('50%'), ('500'), (NULL)";
    let Some(url) = made("sampled", sql).await else { return };
    let source = connector(&url, &[]);
    let samples = source.sample("t", "c", &SampleRequest { contains: None, limit: 2 }).await.unwrap();
    assert_eq!(samples, Samples { values: vec![json!("c"), json!("50%")], distinct: 5, complete: false });
    assert_eq!(sampled(&source, "t", "c", Some("50%")).await, json!(["50%"]));
    assert_eq!(sampled(&source, "t", "c", Some("' OR 1=1 --")).await, json!([]));
    for (table, column, part) in [("t", "d", "no column d"), ("u", "c", "no such table")] {
        let request = SampleRequest { contains: None, limit: 1 };
        assert!(source.sample(table, column, &request).await.unwrap_err().to_string().contains(part));
    }
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn conditions_match_other_sources() {
    let table =
        "CREATE TABLE people (id int, name varchar(20), age smallint, score numeric(6,2), born date, vip boolean);";
    let Some(url) = made("filtered", &format!("{table} {PEOPLE}")).await else { return };
    check_filters(connector(&url, &[]).as_ref(), true).await;
}

#[tokio::test]
async fn accepts_only_one_read_only_statement() {
    let Some(url) =
        made("asked", "CREATE SEQUENCE s; CREATE TABLE t (c int); INSERT INTO t SELECT generate_series(1, 10)").await
    else {
        return;
    };
    let source = connector(&url, &[]);
    assert_eq!(query(source.as_ref(), "SELECT c FROM t -- all of them", 10).await.unwrap().rows.len(), 10);
    let rows = query(source.as_ref(), "SELECT c, c FROM t ORDER BY 1;", 3).await.unwrap();
    assert_eq!((rows.columns.len(), rows.rows.len(), rows.has_more), (2, 3, true));
    let none = query(source.as_ref(), "SELECT c AS only FROM t WHERE false", 3).await.unwrap();
    assert_eq!((none.columns, none.has_more), (vec!["only".to_owned()], false));
    for sql in [
        "INSERT INTO t VALUES (1)",
        "WITH gone AS (DELETE FROM t RETURNING c) SELECT * FROM gone",
        "SELECT 1; DROP TABLE t",
        "COMMIT",
        "SELECT c INTO u FROM t",
        "SELECT c FROM t FOR UPDATE",
        "SELECT nextval('s')",
        "SELEC c FROM t",
    ] {
        assert!(query(source.as_ref(), sql, 3).await.is_err(), "{sql}");
    }
    assert_eq!(query(source.as_ref(), "SELECT count(*) FROM t", 1).await.unwrap().rows, [[json!(10)]]);
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn detects_schema_changes() {
    let Some(url) = made("changing", "CREATE TABLE t (c int); CREATE TYPE mood AS ENUM ('a')").await else { return };
    let source = connector(&url, &[]);
    let mut last = source.fingerprint().await.unwrap();
    assert_eq!(source.fingerprint().await.unwrap(), last);
    for change in [
        "ALTER TABLE t ADD d int",
        "ALTER TABLE t ALTER d TYPE bigint",
        "ALTER TABLE t ADD PRIMARY KEY (c)",
        "COMMENT ON COLUMN t.d IS 'x'",
        "CREATE VIEW v AS SELECT c FROM t",
        "ALTER TYPE mood ADD VALUE 'b'",
        "DROP VIEW v",
    ] {
        run(&url, change).await;
        let now = source.fingerprint().await.unwrap();
        assert_ne!(now, last, "{change}");
        last = now;
    }
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn a_password_is_never_shown() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    let check = async |change: fn(&mut url::Url)| {
        let mut wrong = url.clone();
        change(&mut wrong);
        let error = connector(&wrong, &[]).describe().await.unwrap_err();
        assert!(matches!(error, ConnectError::Connect { .. }), "{error}");
        let shown = format!("{error} {error:?}");
        for secret in ["s3cr%20et", "s3cr et", "secret-of-postgres"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    };
    check(|url| url.set_password(Some("s3cr et")).unwrap()).await;
    check(|url| url.set_host(Some("nowhere.invalid")).unwrap()).await;
    check(|url| url.set_port(Some(1)).unwrap()).await;
    check(|url| url.set_path("nothing")).await;
    // The certificate of the server is self-signed and names another host.
    check(|url| url.set_query(Some("sslmode=verify-full"))).await;
    let mut safe = url.clone();
    safe.set_query(Some("sslmode=require"));
    let rows =
        query(connector(&safe, &[]).as_ref(), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()", 1).await;
    assert_eq!(rows.unwrap().rows, [[json!(true)]]);
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn reconnects_to_a_server_that_returns() {
    let Some(url) = made("away", "CREATE TABLE t (c int); INSERT INTO t VALUES (1)").await else { return };
    let (mut wire, through) = Wire::to(&url).await;
    let source = connector(&through, &[]);
    let count = async || query(source.as_ref(), "SELECT count(*) FROM t", 1).await.map(|rows| rows.rows[0][0].clone());
    assert_eq!(count().await.unwrap(), 1);
    let slow = tokio::spawn({
        let source = source.clone();
        async move { query(source.as_ref(), "SELECT pg_sleep(30)", 1).await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    wire.cut().await;
    assert!(slow.await.unwrap().is_err());
    assert!(matches!(count().await.unwrap_err(), ConnectError::Connect { .. }));
    wire.restore().await;
    assert_eq!(count().await.unwrap(), 1);
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn cancels_abandoned_queries() {
    let Some(url) = made("stopped", "").await else { return };
    let source = connector(&url, &[]);
    let mut watch = PgConnection::connect(url.as_str()).await.unwrap();
    let mut running = async || -> i64 {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
        sqlx::query(sql).fetch_one(&mut watch).await.unwrap().get(0)
    };
    let asked = tokio::spawn({
        let source = source.clone();
        async move { query(source.as_ref(), "SELECT pg_sleep(55)", 1).await }
    });
    let mut until = async |wanted: i64| {
        let end = Instant::now() + Duration::from_secs(15);
        while running().await != wanted {
            assert!(Instant::now() < end, "there are never {wanted} of it");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    until(1).await;
    asked.abort();
    until(0).await;
    assert_eq!(query(source.as_ref(), "SELECT 1", 1).await.unwrap().rows, [[json!(1)]]);
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn reports_write_privileges() {
    let sql = "CREATE TABLE a (id int); CREATE TABLE b (id int); REVOKE CREATE ON SCHEMA public FROM PUBLIC;
         DROP ROLE IF EXISTS rights_reader; DROP ROLE IF EXISTS rights_writer;
         CREATE ROLE rights_reader LOGIN PASSWORD 'x'; GRANT SELECT ON a, b TO rights_reader;
         CREATE ROLE rights_writer LOGIN PASSWORD 'x'; GRANT SELECT, INSERT ON a, b TO rights_writer;";
    let Some(url) = made("rights", sql).await else { return };
    let rights = async |role: Option<&str>| {
        let mut url = url.clone();
        if let Some(role) = role {
            url.set_username(role).unwrap();
            url.set_password(Some("x")).unwrap();
        }
        connector(&url, &[]).other_rights().await.unwrap().unwrap()
    };
    assert_eq!(rights(Some("rights_reader")).await, Vec::<String>::new());
    assert_eq!(rights(Some("rights_writer")).await, ["INSERT on 2 tables"]);
    let own = rights(None).await;
    assert!(own[0].contains("superuser"), "{own:?}");
    run(&url, "DROP OWNED BY rights_reader, rights_writer; DROP ROLE rights_reader, rights_writer").await;
}

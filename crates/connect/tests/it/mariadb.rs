//! Tests of the MariaDB connector against a server started by `.ci/services`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::{PEOPLE, Wire, check_filters, connector, query};
use prospector_connect::rows::{SampleRequest, Samples};
use prospector_connect::{ConnectError, Connector};
use prospector_test_support::server;
use serde_json::{Value, json};
use sqlx::mysql::MySqlConnection;
use sqlx::{AssertSqlSafe, Connection, Row};

async fn run(url: &url::Url, sql: &str) {
    let mut connection = MySqlConnection::connect(url.as_str()).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Creates a database with these statements.
async fn made(name: &str, sql: &str) -> Option<url::Url> {
    let mut url = server("PROSPECTOR_TEST_MARIADB")?;
    run(&url, &format!("DROP DATABASE IF EXISTS {name}_too; DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name}"))
        .await;
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
        "CREATE DATABASE described_too;
         CREATE TABLE artist (id int AUTO_INCREMENT PRIMARY KEY, name varchar(40) NOT NULL COMMENT 'as on the sleeve',
           feels enum('sad','ok')) COMMENT 'Who plays';
         CREATE TABLE album (b varchar(9), a int, artist int REFERENCES artist (id), PRIMARY KEY (b, a));
         CREATE TABLE described_too.track (id uuid PRIMARY KEY, b varchar(9), a int,
           FOREIGN KEY (b, a) REFERENCES described.album (b, a));
         CREATE TABLE `odd``one` (`a ``b` int);
         CREATE TABLE event (at date NOT NULL, n int) PARTITION BY RANGE (year(at))
           (PARTITION p1 VALUES LESS THAN (2025), PARTITION p2 VALUES LESS THAN MAXVALUE);
         CREATE VIEW loud AS SELECT id, upper(name) AS shout FROM artist;
         CREATE TABLE gone (c int); CREATE VIEW broken AS SELECT c FROM gone; DROP TABLE gone; CREATE SEQUENCE s;
         INSERT INTO artist (name) VALUES ('x'), ('y');
         INSERT INTO event SELECT '2024-06-01' + INTERVAL seq % 500 DAY, seq FROM seq_1_to_60000; ANALYZE TABLE event",
    )
    .await
    else {
        return;
    };
    let source = connector(&url, &[]);
    let (tables, problems) = source.describe().await.unwrap();
    let find = |name: &str| tables.iter().find(|table| table.name == name).unwrap();
    let names: Vec<_> = tables.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["album", "artist", "event", "loud", "odd`one"]);
    assert!(problems.len() == 1 && problems[0].place.ends_with("broken"), "{problems:?}");
    assert_eq!((find("artist").row_count, find("artist").row_count_estimated), (Some(2), false));
    assert_eq!((find("album").row_count, find("album").row_count_estimated), (Some(0), false));
    assert_eq!((find("loud").row_count, find("loud").row_count_estimated), (None, false));
    let event = find("event");
    assert!(event.row_count_estimated && (50_000..70_000).contains(&event.row_count.unwrap()), "{event:?}");
    assert_eq!(find("artist").description, "Who plays");
    assert_eq!(find("loud").description, "");
    assert_eq!(
        serde_json::to_value(&find("artist").columns).unwrap(),
        json!([
            {"name": "id", "type": "int(11)", "column_type": "integer", "nullable": false, "primary_key": true},
            {"name": "name", "type": "varchar(40)", "column_type": "text", "nullable": false, "primary_key": false,
             "description": "as on the sleeve"},
            {"name": "feels", "type": "enum('sad','ok')", "column_type": "other", "nullable": true,
             "primary_key": false},
        ])
    );
    let keys = |table: &prospector_connect::table::Table| serde_json::to_value(&table.foreign_keys).unwrap();
    assert_eq!(keys(find("album")), json!([{"columns": ["artist"], "table": "artist", "references": ["id"]}]));
    assert_eq!(find("album").columns.iter().filter(|c| c.primary_key).count(), 2);
    assert_eq!(sampled(&source, "odd`one", "a `b", None).await, json!([]));
    assert_eq!(sampled(&source, "Artist", "NAME", None).await, json!(["x", "y"]));

    // Tables of another database are prefixed by its name.
    let (tables, _) = connector(&url, &["described", "described_too"]).describe().await.unwrap();
    let track = tables.iter().find(|table| table.name == "described_too.track").unwrap();
    assert_eq!(keys(track), json!([{"columns": ["b", "a"], "table": "album", "references": ["b", "a"]}]));
    assert_eq!(sampled(&connector(&url, &["described_too"]), "described_too.track", "a", None).await, json!([]));
    assert!(source.rows("described_too.track", &[], &[], 1).await.is_err());
}

#[tokio::test]
async fn converts_values_losslessly() {
    let Some(url) = made(
        "valued",
        r#"CREATE TABLE v (a decimal(40,10), b json, c uuid, d enum('sad','ok'), e set('x','y'), f varbinary(9), g datetime(6),
             h time, i bit(9), j year, k double, l bigint unsigned, m boolean, n text COLLATE utf8mb4_general_ci, o float,
             p date);
           INSERT INTO v VALUES (12345678901234567890.0123456789, '{"x": 1}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'ok',
             'x,y', x'00ff', '2024-01-31 10:00:00.5', '-838:59:59', b'100000001', 2024, 0.1, 18446744073709551615, true,
             repeat('ä', 300), 0.1, '2024-02-29'),
             (1.5, NULL, NULL, 'sad', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, false, 'A', NULL, NULL),
             (7, NULL, NULL, 'sad', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, false, 'a', NULL, NULL)"#,
    )
    .await
    else {
        return;
    };
    let source = connector(&url, &[]);
    let rows = query(source.as_ref(), "SELECT * FROM v ORDER BY a DESC", 9).await.unwrap();
    assert_eq!(rows.columns.concat(), "abcdefghijklmnop");
    assert_eq!(
        Value::from(rows.rows[0].clone()),
        json!([
            "12345678901234567890.0123456789",
            "{\"x\": 1}",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "ok",
            "x,y",
            "\\x00ff",
            "2024-01-31 10:00:00.500000",
            "-838:59:59",
            257,
            2024,
            0.1,
            u64::MAX,
            1,
            "ä".repeat(300),
            0.1,
            "2024-02-29"
        ])
    );
    assert_eq!(sampled(&source, "v", "d", None).await, json!(["sad", "ok"]));
    assert_eq!(sampled(&source, "v", "f", None).await, json!(["<blob 2 bytes>"]));
    assert_eq!(sampled(&source, "v", "f", Some("x")).await, json!([]));
    assert_eq!(sampled(&source, "v", "i", None).await, json!([257]));
    assert_eq!(sampled(&source, "v", "c", Some("9C0B")).await, json!(["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]));
    // The collation considers them equal.
    assert_eq!(sampled(&source, "v", "n", Some("A")).await.as_array().unwrap()[..2], [json!("A"), json!("a")]);
    let wanted = ["A".into(), "d".into(), "f".into(), "i".into(), "p".into()];
    assert_eq!(
        serde_json::to_value(source.statistics("v", &wanted).await.unwrap()).unwrap(),
        json!([
            {"column": "a", "cardinality": 3, "min": 1.5, "max": "12345678901234567890.0123456789", "nulls": 0},
            {"column": "d", "cardinality": 2, "min": "ok", "max": "sad", "nulls": 0},
            {"column": "f", "cardinality": 1, "min": null, "max": null, "nulls": 2},
            {"column": "i", "cardinality": 1, "min": 257, "max": 257, "nulls": 2},
            {"column": "p", "cardinality": 1, "min": "2024-02-29", "max": "2024-02-29", "nulls": 2},
        ])
    );
    assert_eq!(source.statistics("v", &[]).await.unwrap().len(), 16);
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
    let table = "CREATE TABLE people (id int, name varchar(20) COLLATE utf8mb4_bin, age smallint, score decimal(6,2), \
         born date, vip boolean);";
    let Some(url) = made("filtered", &format!("{table} {PEOPLE}")).await else { return };
    check_filters(connector(&url, &[]).as_ref(), true).await;
}

#[tokio::test]
async fn accepts_only_one_read_only_statement() {
    let Some(url) = made("asked", "CREATE TABLE t (c int); INSERT INTO t SELECT seq FROM seq_1_to_100000").await else {
        return;
    };
    let source = connector(&url, &[]);
    let rows = query(source.as_ref(), "SELECT c, c FROM t ORDER BY 1;", 3).await.unwrap();
    assert_eq!((rows.columns.len(), rows.rows.len(), rows.has_more), (2, 3, true));
    let none = query(source.as_ref(), "SELECT c AS only FROM t WHERE false", 3).await.unwrap();
    assert_eq!((none.columns, none.has_more), (vec!["only".to_owned()], false));
    for sql in [
        "INSERT INTO t VALUES (1)",
        "DELETE FROM t",
        "DROP TABLE t",
        "CREATE TABLE u (c int)",
        "SELECT 1; DROP TABLE t",
        "SELEC c FROM t",
    ] {
        assert!(query(source.as_ref(), sql, 3).await.is_err(), "{sql}");
    }
    assert_eq!(query(source.as_ref(), "SELECT count(*) FROM t", 1).await.unwrap().rows, [[json!(100_000)]]);
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn detects_schema_changes() {
    let Some(url) = made("changing", "CREATE TABLE t (c int)").await else { return };
    let source = connector(&url, &[]);
    let mut last = source.fingerprint().await.unwrap();
    assert_eq!(source.fingerprint().await.unwrap(), last);
    for change in [
        "ALTER TABLE t ADD d int",
        "ALTER TABLE t MODIFY d bigint",
        "ALTER TABLE t ADD PRIMARY KEY (c)",
        "ALTER TABLE t MODIFY d bigint COMMENT 'x'",
        "CREATE VIEW v AS SELECT c FROM t",
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
    let Some(url) = server("PROSPECTOR_TEST_MARIADB") else { return };
    let check = async |change: fn(&mut url::Url)| {
        let mut wrong = url.clone();
        change(&mut wrong);
        let error = connector(&wrong, &[]).describe().await.unwrap_err();
        assert!(matches!(error, ConnectError::Connect { .. }), "{error}");
        let shown = format!("{error} {error:?}");
        for secret in ["s3cr%20et", "s3cr et", "secret-of-mariadb"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    };
    check(|url| url.set_password(Some("s3cr et")).unwrap()).await;
    check(|url| url.set_host(Some("nowhere.invalid")).unwrap()).await;
    check(|url| url.set_port(Some(1)).unwrap()).await;
    check(|url| url.set_path("nothing")).await;
    // The server has no certificate.
    check(|url| url.set_query(Some("ssl-mode=REQUIRED"))).await;
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
        async move { query(source.as_ref(), "SELECT SLEEP(30)", 1).await }
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
    let Some(url) = made("stopped", "CREATE TABLE t (c int)").await else { return };
    let source = connector(&url, &[]);
    let mut watch = MySqlConnection::connect(url.as_str()).await.unwrap();
    let mut running = async || -> i64 {
        let sql = "SELECT count(*) FROM information_schema.PROCESSLIST WHERE DB = 'stopped' AND STATE = 'User sleep'";
        sqlx::query(sql).fetch_one(&mut watch).await.unwrap().get(0)
    };
    let asked = tokio::spawn({
        let source = source.clone();
        async move { query(source.as_ref(), "SELECT SLEEP(55)", 1).await }
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

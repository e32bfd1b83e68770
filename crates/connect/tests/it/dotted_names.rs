//! Tables whose names contain dots and quotes: describing, sampling, counting and reading use the same table, whatever
//! other schemas contain. Uses the servers started by `.ci/services`.

use crate::support::connector;
use prospector_connect::Connector;
use prospector_connect::rows::SampleRequest;
use prospector_connect::table::TablePath;
use prospector_test_support::server;
use serde_json::{Value, json};
use sqlx::mysql::MySqlConnection;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection};

/// Queries a table by name: values of a column, their number, the columns, and the rows.
async fn ask(source: &dyn Connector, table: &str) -> Value {
    let request = SampleRequest { contains: None, limit: 9 };
    let samples = source.sample(table, "note", &request).await.unwrap();
    let statistics = source.statistics(table, &[]).await.unwrap();
    let columns: Vec<&str> = statistics.iter().map(|of| of.column.as_str()).collect();
    let counts: Vec<u64> = statistics.iter().map(|of| of.cardinality).collect();
    let rows = source.rows(table, &["note".into()], &[], 9).await.unwrap();
    json!({"sample": samples.values, "columns": columns, "counts": counts, "rows": rows.rows})
}

/// Checks that every operation uses the table with this text in its column `note` and this number of rows.
async fn check(source: &dyn Connector, table: &str, note: &str, count: usize) {
    let rows: Vec<Value> = (0..count).map(|_| json!([note])).collect();
    let expected = json!({"sample": [note], "columns": ["id", "note"], "counts": [count, 1], "rows": rows});
    assert_eq!(ask(source, table).await, expected, "{table}");
}

/// Returns the names of the described tables, with their schemas, own names and row counts.
async fn describe(source: &dyn Connector) -> (Vec<(String, TablePath, Option<u64>)>, Vec<String>) {
    let (tables, problems) = source.describe().await.unwrap();
    let tables = tables.into_iter().map(|table| (table.name, table.path.unwrap(), table.row_count));
    (tables.collect(), problems.into_iter().map(|problem| problem.reason.to_string()).collect())
}

fn path(schema: &str, name: &str) -> TablePath {
    TablePath { schema: schema.into(), name: name.into() }
}

async fn postgres(name: &str, sql: &str) -> Option<url::Url> {
    let mut url = server("PROSPECTOR_TEST_POSTGRES")?;
    for (database, sql) in [
        (None, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")),
        (None, format!("CREATE DATABASE {name}")),
        (Some(name), sql.to_owned()),
    ] {
        if let Some(database) = database {
            url.set_path(database);
        }
        let mut connection = PgConnection::connect(url.as_str()).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    }
    Some(url)
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn postgres_resolves_dotted_names() {
    let sql = r#"
        CREATE SCHEMA other; CREATE SCHEMA "a.b"; CREATE SCHEMA a;
        CREATE TABLE public."other.secret" (id int, note text); INSERT INTO public."other.secret" VALUES (1, 'open');
        CREATE TABLE other.secret (id int, note text); INSERT INTO other.secret VALUES (1, 's3cret'), (2, 's3cret');
        CREATE TABLE "a.b".c (id int, note text); INSERT INTO "a.b".c VALUES (1, 'inner'), (2, 'inner'), (3, 'inner');
        CREATE TABLE a."b.c" (id int, note text); INSERT INTO a."b.c" VALUES (1, 'outer');
        CREATE TABLE "quo""ted.t""" (id int, note text); INSERT INTO "quo""ted.t""" VALUES (1, 'quoted');
        CREATE TABLE other."x.y" (id int, note text); INSERT INTO other."x.y" VALUES (1, 'dotted'), (2, 'dotted');
        ANALYZE"#;
    let Some(url) = postgres("dotted_names", sql).await else { return };
    let source = connector(&url, &[]);
    let (tables, problems) = describe(source.as_ref()).await;
    assert_eq!(
        tables,
        [
            ("other.secret".into(), path("public", "other.secret"), Some(1)),
            ("quo\"ted.t\"".into(), path("public", "quo\"ted.t\""), Some(1)),
            ("a.b.c".into(), path("a", "b.c"), Some(1)),
            ("other.x.y".into(), path("other", "x.y"), Some(2)),
        ]
    );
    assert_eq!(problems.len(), 2, "{problems:?}");
    check(source.as_ref(), "other.secret", "open", 1).await;
    check(source.as_ref(), "a.b.c", "outer", 1).await;
    check(source.as_ref(), "quo\"ted.t\"", "quoted", 1).await;
    check(source.as_ref(), "other.x.y", "dotted", 2).await;
    // Only the requested schema is searched.
    let only = connector(&url, &["other"]);
    assert_eq!(describe(only.as_ref()).await.0[0].1, path("other", "secret"));
    check(only.as_ref(), "other.secret", "s3cret", 2).await;
    let only = connector(&url, &["public"]);
    check(only.as_ref(), "other.secret", "open", 1).await;
    assert!(only.rows("a.b.c", &[], &[], 1).await.is_err());
}

async fn mariadb(name: &str, other: &str, sql: &str) -> Option<url::Url> {
    let mut url = server("PROSPECTOR_TEST_MARIADB")?;
    let begin = format!(
        "DROP DATABASE IF EXISTS {name}; DROP DATABASE IF EXISTS {other}; DROP DATABASE IF EXISTS `{other}.more`; \
         CREATE DATABASE {name}; CREATE DATABASE {other}; CREATE DATABASE `{other}.more`; USE {name}; {sql}"
    );
    let mut connection = MySqlConnection::connect(&url.as_str().replacen("mariadb://", "mysql://", 1)).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(begin)).execute(&mut connection).await.unwrap();
    url.set_path(name);
    Some(url)
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn mariadb_resolves_dotted_names() {
    let sql = "
        CREATE TABLE `dotted_b.secret` (id int, note varchar(9)); INSERT INTO `dotted_b.secret` VALUES (1, 'open');
        CREATE TABLE dotted_b.secret (id int, note varchar(9)); INSERT INTO dotted_b.secret VALUES (1, 's3cret'), (2, 's3cret');
        CREATE TABLE `dotted_b.more`.t (id int, note varchar(9)); INSERT INTO `dotted_b.more`.t VALUES (1, 'inner');
        CREATE TABLE dotted_b.`more.t` (id int, note varchar(9)); INSERT INTO dotted_b.`more.t` VALUES (1, 'outer'), (2, 'outer');
        CREATE TABLE `quo``ted.t` (id int, note varchar(9)); INSERT INTO `quo``ted.t` VALUES (1, 'quoted')";
    let Some(url) = mariadb("dotted_a", "dotted_b", sql).await else { return };
    let own = connector(&url, &[]);
    let (tables, problems) = describe(own.as_ref()).await;
    assert_eq!(
        tables,
        [
            ("dotted_b.secret".into(), path("dotted_a", "dotted_b.secret"), Some(1)),
            ("quo`ted.t".into(), path("dotted_a", "quo`ted.t"), Some(1)),
        ]
    );
    assert!(problems.is_empty(), "{problems:?}");
    check(own.as_ref(), "dotted_b.secret", "open", 1).await;
    check(own.as_ref(), "quo`ted.t", "quoted", 1).await;
    // The table of the database listed first is described, the other is not.
    let all = connector(&url, &["dotted_a", "dotted_b", "dotted_b.more"]);
    let (tables, problems) = describe(all.as_ref()).await;
    let of =
        |name: &str| tables.iter().filter(|table| table.0 == name).map(|table| table.1.clone()).collect::<Vec<_>>();
    assert_eq!(of("dotted_b.secret"), [path("dotted_a", "dotted_b.secret")]);
    assert_eq!(of("dotted_b.more.t"), [path("dotted_b", "more.t")]);
    assert_eq!(problems.len(), 2, "{problems:?}");
    check(all.as_ref(), "dotted_b.secret", "open", 1).await;
    check(all.as_ref(), "dotted_b.more.t", "outer", 2).await;
    let turned = connector(&url, &["dotted_b.more", "dotted_b", "dotted_a"]);
    check(turned.as_ref(), "dotted_b.secret", "s3cret", 2).await;
    check(turned.as_ref(), "dotted_b.more.t", "inner", 1).await;
}

//! Tables whose names contain dots and quotes, on servers: a query reads the table that it names, and no other.

use std::sync::Arc;

use prospector_connect::Connector;
use prospector_connect::source::Server;
use prospector_connect::{open, source::Source as Place};
use prospector_engine::scope::Subset;
use prospector_engine::{Engine, FailureCode, Source};
use prospector_test_support::server;
use serde_json::{Value, json};

use crate::support::{mariadb, postgres};

/// Creates an engine over the tables of these schemas, except those with a hidden path.
async fn over(url: &url::Url, schemas: &[&str], hidden: Option<(&str, &str)>) -> Arc<Engine> {
    let schemas: Vec<String> = schemas.iter().map(ToString::to_string).collect();
    let connector: Arc<dyn Connector> = open(&Place::Server(Server::new(url.as_str(), &schemas).unwrap())).unwrap();
    let (mut tables, _) = connector.describe().await.unwrap();
    tables.retain(|table| {
        let path = table.path.as_ref().unwrap();
        hidden != Some((path.schema.as_str(), path.name.as_str()))
    });
    Engine::new(vec![Source { name: "shop".into(), tables, functions: Vec::new(), connector }])
}

/// Checks the rows of a query, on the server and joined here.
async fn check(engine: &Engine, table: &str, column: &str, expected: Value) {
    let sql = format!("SELECT {column} FROM {table} ORDER BY {column}");
    let rows = engine.run(&sql, Some("shop"), 9).await.unwrap_or_else(|failure| panic!("{sql}: {failure}")).rows;
    assert_eq!(json!(rows.rows), expected, "{sql}");
    let sql = format!("SELECT t.{column} FROM {table} AS t ORDER BY t.{column}");
    let rows = engine.run(&sql, None, 9).await.unwrap_or_else(|failure| panic!("{sql}: {failure}")).rows;
    assert_eq!(json!(rows.rows), expected, "{sql}");
}

async fn check_unknown(engine: &Engine, table: &str) {
    for database in [Some("shop"), None] {
        let failure = engine.run(&format!("SELECT * FROM {table}"), database, 9).await.unwrap_err();
        assert_eq!(failure.code, FailureCode::UnknownTable, "{table}: {failure}");
        assert!(!format!("{failure:?}").contains("s3cret"), "{failure:?}");
    }
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn postgres_reads_the_table_of_the_schema_that_is_named() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    let data = r#"
        CREATE SCHEMA other; CREATE SCHEMA "a.b";
        CREATE TABLE public."other.secret" (id int, note text); INSERT INTO public."other.secret" VALUES (1, 'open');
        CREATE TABLE other.secret (id int, note text); INSERT INTO other.secret VALUES (1, 's3cret');
        CREATE TABLE other.plain (id int, note text); INSERT INTO other.plain VALUES (1, 'plain');
        CREATE TABLE "a.b"."c""d.e" (id int, note text); INSERT INTO "a.b"."c""d.e" VALUES (1, 'quoted');"#;
    let (own, _) = postgres(&url, "engine_dotted", data).await;
    let engine = over(&own, &[], Some(("other", "secret"))).await;
    for table in
        [r#"public."other.secret""#, r#""other.secret""#, r#"shop.public."other.secret""#, r#"shop."other.secret""#]
    {
        check(&engine, table, "note", json!([["open"]])).await;
    }
    for table in ["other.plain", "OTHER.Plain", "shop.other.plain", r#""other.plain""#] {
        check(&engine, table, "note", json!([["plain"]])).await;
    }
    check(&engine, r#""a.b"."c""d.e""#, "note", json!([["quoted"]])).await;
    check_unknown(&engine, "other.secret").await;
    check_unknown(&engine, "public.secret").await;
    check_unknown(&engine, r#"a."b.c""d.e""#).await;
    let sql = r#"SELECT public."other.secret".note, other.plain.note FROM public."other.secret", other.plain"#;
    let rows = engine.run(sql, Some("shop"), 9).await.unwrap().rows;
    assert_eq!(json!(rows.rows), json!([["open", "plain"]]));
    let loaded = engine.load(&Subset::new("few", "shop", "other.secret")).await.unwrap();
    assert_eq!(json!(loaded.first.rows), json!([[1, "open"]]));
    // Without the schema that has the name of the table, and with that schema only.
    check(&*over(&own, &["public"], None).await, r#""other.secret""#, "note", json!([["open"]])).await;
    check_unknown(&*over(&own, &["public"], None).await, "other.secret").await;
    check(&*over(&own, &["other"], None).await, "other.secret", "note", json!([["s3cret"]])).await;
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn mariadb_reads_the_table_of_the_database_that_is_named() {
    let Some(url) = server("PROSPECTOR_TEST_MARIADB") else { return };
    let data = "
        DROP DATABASE IF EXISTS engine_dotted_b; CREATE DATABASE engine_dotted_b;
        CREATE TABLE `engine_dotted_b.secret` (id int, note varchar(9));
        INSERT INTO `engine_dotted_b.secret` VALUES (1, 'open');
        CREATE TABLE engine_dotted_b.secret (id int, note varchar(9)); INSERT INTO engine_dotted_b.secret VALUES (1, 's3cret');
        CREATE TABLE engine_dotted_b.plain (id int, note varchar(9)); INSERT INTO engine_dotted_b.plain VALUES (1, 'plain');
        CREATE TABLE engine_dotted_b.`c``d.e` (id int, note varchar(9)); INSERT INTO engine_dotted_b.`c``d.e` VALUES (1, 'quoted')";
    let (own, _) = mariadb(&url, "engine_dotted_a", data).await;
    let all = ["engine_dotted_a", "engine_dotted_b"];
    let engine = over(&own, &all, Some(("engine_dotted_b", "secret"))).await;
    for table in [
        "`engine_dotted_b.secret`",
        "engine_dotted_a.`engine_dotted_b.secret`",
        "shop.`engine_dotted_b.secret`",
        "shop.engine_dotted_a.`engine_dotted_b.secret`",
    ] {
        check(&engine, table, "note", json!([["open"]])).await;
    }
    for table in ["engine_dotted_b.plain", "shop.engine_dotted_b.plain", "`engine_dotted_b.plain`"] {
        check(&engine, table, "note", json!([["plain"]])).await;
    }
    check(&engine, "engine_dotted_b.`c``d.e`", "note", json!([["quoted"]])).await;
    check_unknown(&engine, "engine_dotted_b.secret").await;
    check_unknown(&engine, "`engine_dotted_b`.`secret`").await;
    let sql = "SELECT engine_dotted_b.plain.note, engine_dotted_a.`engine_dotted_b.secret`.note \
         FROM engine_dotted_b.plain, engine_dotted_a.`engine_dotted_b.secret`";
    let rows = engine.run(sql, Some("shop"), 9).await.unwrap().rows;
    assert_eq!(json!(rows.rows), json!([["plain", "open"]]));
    let failure = engine.run("SELECT engine_dotted_b.secret.note FROM engine_dotted_b.plain", Some("shop"), 9).await;
    assert_eq!(failure.unwrap_err().code, FailureCode::UnknownColumn);
    let loaded = engine.load(&Subset::new("few", "shop", "engine_dotted_b.secret")).await.unwrap();
    assert_eq!(json!(loaded.first.rows), json!([[1, "open"]]));
    let own_alone = over(&own, &[], None).await;
    check(&own_alone, "`engine_dotted_b.secret`", "note", json!([["open"]])).await;
    check_unknown(&own_alone, "engine_dotted_b.secret").await;
}

//! Named queries that statements read as tables: inlined, or with their rows read first.

use std::path::Path;
use std::sync::Arc;

use prospector_connect::Connector;
use prospector_engine::options::{EngineOptions, NamedQuery, NamedSchema};
use prospector_engine::scope::Subset;
use prospector_engine::{Engine, FailureCode, Source};
use prospector_test_support::server;
use serde_json::{Value, json};

use crate::support::{DATA, files, mariadb, postgres, source, sqlite};

const ORDERS: &str = "CREATE TABLE orders (id INTEGER PRIMARY KEY, person INTEGER, total INTEGER); \
     INSERT INTO orders VALUES (1, 1, 10), (2, 1, 5), (3, 2, 7), (4, 3, 1);";

/// Customers who spent at least 7: Ada 15, Bob 7.
const BIG_SPENDERS: &str = "SELECT p.id, p.name, SUM(o.total) AS spent FROM people p JOIN orders o ON o.person = p.id \
     GROUP BY p.id, p.name HAVING SUM(o.total) >= 7";

fn query(name: &str, database: Option<&str>, sql: &str) -> NamedQuery {
    NamedQuery {
        schema: NamedSchema::Queries,
        name: name.into(),
        database: database.map(str::to_owned),
        sql: sql.into(),
        parameters: Vec::new(),
        columns: Vec::new(),
        refusal: None,
    }
}

fn with(sources: Vec<Source>, named: Vec<NamedQuery>) -> Arc<Engine> {
    Engine::with(sources, EngineOptions { named, ..EngineOptions::default() })
}

/// Orders and people in a database, and people in files, with queries over one and over both.
async fn sources(folder: &Path, shop: Arc<dyn Connector>) -> Vec<Source> {
    vec![source("shop", shop).await, source("crm", files(folder)).await]
}

fn queries() -> Vec<NamedQuery> {
    let members = NamedQuery {
        schema: NamedSchema::Segments,
        ..query("big_spender", Some("shop"), "SELECT DISTINCT q.id FROM queries.big_spenders AS q")
    };
    vec![
        query("big-spenders", Some("shop"), &format!("{BIG_SPENDERS} ORDER BY spent DESC; -- the largest first")),
        members,
        query("everyone", None, "SELECT s.name FROM shop.people s JOIN crm.people c ON c.id = s.id"),
        query("late", Some("shop"), "WITH people AS (SELECT * FROM people WHERE id > 1) SELECT id FROM people"),
    ]
}

async fn over_sqlite(folder: &Path) -> Arc<Engine> {
    let shop = sqlite(folder, &format!("{DATA} {ORDERS}")).await;
    with(sources(folder, shop).await, queries())
}

async fn check(engine: &Engine, sql: &str, database: Option<&str>, rows: Value, tables: &[&str]) {
    let outcome = engine.run(sql, database, 50).await.unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    assert_eq!(json!(outcome.rows.rows), rows, "{sql}");
    assert_eq!(outcome.tables, tables, "{sql}");
}

const OF_SHOP: [&str; 2] = ["shop.orders", "shop.people"];

#[tokio::test]
async fn reads_named_queries_of_the_same_database_as_derived_tables() {
    let folder = tempfile::tempdir().unwrap();
    let engine = over_sqlite(folder.path()).await;
    for database in [None, Some("shop")] {
        let sql = "SELECT name, spent FROM queries.big_spenders ORDER BY spent DESC";
        check(&engine, sql, database, json!([["Ada", 15], ["Bob", 7]]), &OF_SHOP).await;
        let sql = "SELECT name FROM queries.\"big-spenders\" WHERE spent < 10";
        check(&engine, sql, database, json!([["Bob"]]), &OF_SHOP).await;
        let sql = "SELECT queries.big_spenders.name FROM Queries.Big_Spenders WHERE queries.big_spenders.id = 1";
        check(&engine, sql, database, json!([["Ada"]]), &OF_SHOP).await;
        let sql = "SELECT COUNT(*) FROM orders WHERE person IN (SELECT id FROM segments.big_spender)";
        check(&engine, sql, database, json!([[3]]), &OF_SHOP).await;
    }
    // Equal names in the statement and in the query do not interfere.
    let sql = "WITH people AS (SELECT 9 AS id) SELECT p.id, b.name FROM people p CROSS JOIN queries.big_spenders b ORDER BY 2";
    check(&engine, sql, Some("shop"), json!([[9, "Ada"], [9, "Bob"]]), &OF_SHOP).await;
    check(&engine, "SELECT id FROM queries.late ORDER BY id", Some("shop"), json!([[2], [3]]), &["shop.people"]).await;
}

#[tokio::test]
async fn joins_the_rows_of_named_queries_with_other_databases() {
    let folder = tempfile::tempdir().unwrap();
    let engine = over_sqlite(folder.path()).await;
    let of_both = ["crm.people", "shop.orders", "shop.people"];
    let sql = "SELECT c.name, b.spent FROM crm.people c JOIN queries.big_spenders b ON b.id = c.id ORDER BY b.spent";
    for database in [None, Some("crm")] {
        check(&engine, sql, database, json!([["Bob", 7], ["Ada", 15]]), &of_both).await;
    }
    let sql = "SELECT COUNT(*) FROM crm.people WHERE id IN (SELECT id FROM segments.big_spender)";
    check(&engine, sql, None, json!([[2]]), &of_both).await;
    let sql = "SELECT COUNT(*) FROM orders CROSS JOIN queries.everyone";
    check(&engine, sql, Some("shop"), json!([[12]]), &of_both).await;

    let sql = "SELECT b.name, b.spent FROM crm.people c JOIN queries.big_spenders b ON b.id = c.id";
    assert!(engine.validate(sql, None).await.is_ok());
    let found = engine.inspect(sql, None).await.unwrap();
    assert_eq!(found.tables, of_both);
    assert!(found.unknown_columns.is_empty(), "{:?}", found.unknown_columns);
}

#[tokio::test]
async fn ignores_subsets_inside_named_queries() {
    let folder = tempfile::tempdir().unwrap();
    let engine = over_sqlite(folder.path()).await;
    engine.load(&Subset { limit: 1, ..Subset::new("people", "crm", "people") }).await.unwrap();
    check(&engine, "SELECT COUNT(*) FROM people", None, json!([[1]]), &["crm.people"]).await;
    check(&engine, "SELECT COUNT(*) FROM queries.late", None, json!([[2]]), &["shop.people"]).await;
}

#[tokio::test]
async fn prefers_tables_of_a_database_to_named_queries() {
    let folder = tempfile::tempdir().unwrap();
    let engine =
        with(vec![source("queries", files(folder.path())).await], vec![query("people", None, "SELECT 1 AS id")]);
    check(&engine, "SELECT COUNT(*) FROM queries.people", None, json!([[3]]), &["queries.people"]).await;
}

#[tokio::test]
async fn lists_the_columns_that_a_query_returns() {
    let folder = tempfile::tempdir().unwrap();
    let engine = over_sqlite(folder.path()).await;
    for (sql, expected) in [
        ("SELECT * FROM queries.big_spenders", ["id", "name", "spent"].as_slice()),
        ("SELECT s.*, COUNT(*) FROM segments.big_spender s", &["id", "COUNT(*)"]),
        ("WITH c (k) AS (SELECT id FROM queries.everyone) SELECT * FROM c UNION SELECT 1", &["k"]),
        ("SELECT * FROM orders JOIN queries.everyone USING (id)", &[]),
    ] {
        assert_eq!(engine.inspect(sql, Some("shop")).await.unwrap().output, expected, "{sql}");
    }
}

#[tokio::test]
async fn rejects_unreadable_named_queries() {
    let folder = tempfile::tempdir().unwrap();
    let shop = sqlite(folder.path(), &format!("{DATA} {ORDERS}")).await;
    let missing = "its parameter `country` has no default";
    let mut named = queries();
    named.extend([
        NamedQuery { refusal: Some(missing.into()), ..query("by_country", Some("shop"), "") },
        query("a", Some("shop"), "SELECT * FROM queries.b"),
        query("b", Some("shop"), "SELECT * FROM queries.a"),
        query("secret", Some("shop"), "SELECT * FROM secret"),
        query("writes", Some("shop"), "DELETE FROM people"),
        query("leaves", Some("shop"), "SELECT 1 AS one) AS x, secret AS y --"),
        query("elsewhere", Some("nowhere"), "SELECT 1 AS one"),
    ]);
    named.push(query("level_0", Some("shop"), "SELECT id FROM people"));
    for level in 1..12 {
        let sql = format!("SELECT id FROM queries.level_{}", level - 1);
        named.push(query(&format!("level_{level}"), Some("shop"), &sql));
    }
    let engine = with(sources(folder.path(), shop).await, named);
    for (table, code, part) in [
        ("queries.by_country", FailureCode::InvalidArguments, missing),
        ("queries.a", FailureCode::InvalidArguments, "reads itself"),
        ("queries.secret", FailureCode::UnknownTable, "`queries.secret` cannot be read"),
        ("queries.writes", FailureCode::Refused, "`queries.writes` cannot be read"),
        ("queries.leaves", FailureCode::Syntax, "`queries.leaves` cannot be read"),
        ("queries.elsewhere", FailureCode::UnknownDatabase, "unknown database `nowhere`"),
        ("queries.level_11", FailureCode::TooLarge, "deep"),
        ("segments.big_spendr", FailureCode::UnknownTable, "`segments.big_spender`"),
    ] {
        for database in [None, Some("shop")] {
            let failure = engine.run(&format!("SELECT * FROM {table}"), database, 5).await.unwrap_err();
            assert!(failure.to_string().contains(part), "{table}: {failure}");
            assert_eq!(failure.code, code, "{table}: {failure}");
        }
    }
}

#[tokio::test]
async fn reports_more_rows_than_can_be_read_first() {
    let folder = tempfile::tempdir().unwrap();
    let shop = sqlite(folder.path(), DATA).await;
    let sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200001) SELECT i FROM n";
    let engine = with(sources(folder.path(), shop).await, vec![query("numbers", Some("shop"), sql)]);
    let sql = "SELECT COUNT(*) FROM crm.people c JOIN queries.numbers n ON n.i = c.id";
    let failure = engine.run(sql, None, 5).await.unwrap_err();
    assert_eq!(failure.code, FailureCode::TooLarge);
    assert!(failure.message.contains("`queries.numbers` returns more than 200000 rows"), "{failure}");
}

/// Checks that each statement returns the same as one in which the query is written out.
async fn compare(shop: Arc<dyn Connector>) {
    let folder = tempfile::tempdir().unwrap();
    let engine = with(sources(folder.path(), shop).await, queries());
    let written = format!("({BIG_SPENDERS}) b");
    for (sql, database) in [
        ("SELECT b.name, b.spent FROM {} ORDER BY b.spent DESC", Some("shop")),
        ("SELECT b.name, o.total FROM orders o JOIN {} ON b.id = o.person ORDER BY o.id", Some("shop")),
        ("SELECT count(*) FROM orders WHERE person IN (SELECT b.id FROM {})", Some("shop")),
        ("SELECT p.name FROM people p LEFT JOIN {} ON b.id = p.id WHERE b.id IS NULL", Some("shop")),
    ] {
        let by_hand = engine.run(&sql.replace("{}", &written), database, 50).await.unwrap().rows.rows;
        assert!(!by_hand.is_empty(), "{sql}");
        let named = engine.run(&sql.replace("{}", "queries.big_spenders b"), database, 50).await.unwrap();
        assert_eq!(named.rows.rows, by_hand, "{sql}");
        assert_eq!(named.tables, OF_SHOP, "{sql}");
    }
    let sql = "SELECT count(*) FROM orders WHERE person IN (SELECT id FROM segments.big_spender)";
    assert_eq!(json!(engine.run(sql, Some("shop"), 5).await.unwrap().rows.rows), json!([[3]]));
    let sql = "SELECT c.name FROM crm.people c JOIN queries.big_spenders b ON b.id = c.id ORDER BY c.id";
    assert_eq!(json!(engine.run(sql, None, 5).await.unwrap().rows.rows), json!([["Ada"], ["Bob"]]));
}

#[tokio::test]
async fn answers_as_the_written_query_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    compare(sqlite(folder.path(), &format!("{DATA} {ORDERS}")).await).await;
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn answers_as_the_written_query_in_postgres() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    compare(postgres(&url, "engine_named", &format!("{DATA} {ORDERS}")).await.1).await;
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn answers_as_the_written_query_in_mariadb() {
    let Some(url) = server("PROSPECTOR_TEST_MARIADB") else { return };
    compare(mariadb(&url, "prospector_named", &format!("{DATA} {ORDERS}")).await.1).await;
}

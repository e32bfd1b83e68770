//! Tables of servers by schema and name, as they are rendered and resolved.

use prospector_connect::source::Server;
use prospector_connect::table::{Column, Table, TablePath};
use prospector_connect::{open, source::Source as Place};

use crate::{Engine, FailureCode, Source};

/// Creates an engine over tables, each with its catalog name, schema and name; it never connects to the server.
fn over(url: &str, tables: &[(&str, &str, &str)]) -> std::sync::Arc<Engine> {
    let connector = open(&Place::Server(Server::new(url, &[]).unwrap())).unwrap();
    let table = |(name, schema, own): &(&str, &str, &str)| Table {
        name: (*name).to_owned(),
        path: Some(TablePath { schema: (*schema).to_owned(), name: (*own).to_owned() }),
        columns: Vec::from([Column { name: "id".into(), ..Column::default() }]),
        ..Table::default()
    };
    let tables = tables.iter().map(table).collect();
    Engine::new(vec![Source { name: "shop".into(), tables, functions: Vec::new(), connector }])
}

/// Returns what is sent for a query over a table; `None` if there is no such table.
async fn write(engine: &Engine, table: &str) -> Option<String> {
    let done = engine.plan(&format!("SELECT * FROM {table}"), Some("shop")).await;
    match done {
        Ok(plan) => plan.native.map(|(_, native)| native.sql.trim_start_matches("SELECT * FROM ").to_owned()),
        Err(failure) => {
            assert_eq!(failure.code, FailureCode::UnknownTable, "{table}: {failure}");
            None
        }
    }
}

async fn check(engine: &Engine, cases: &[(&str, Option<&str>)]) {
    for (table, expected) in cases {
        assert_eq!(write(engine, table).await.as_deref(), *expected, "{table}");
    }
}

#[tokio::test]
async fn resolves_postgres_tables_by_schema_and_name() {
    let tables = [
        ("customers", "public", "customers"),
        ("other.secret", "public", "other.secret"),
        ("sales.orders", "sales", "orders"),
        ("a.b.c", "a", "b.c"),
        ("quo\"ted.t", "quo\"ted", "t"),
    ];
    let engine = over("postgres://ada@localhost/shop", &tables);
    check(
        &engine,
        &[
            ("customers", Some(r#"public."customers""#)),
            ("public.customers", Some(r#"public."customers""#)),
            ("shop.public.customers", Some(r#"public."customers""#)),
            (r#""other.secret""#, Some(r#"public."other.secret""#)),
            (r#"public."other.secret""#, Some(r#"public."other.secret""#)),
            (r#"shop."other.secret""#, Some(r#"public."other.secret""#)),
            ("other.secret", None),
            ("shop.other.secret", None),
            ("sales.orders", Some(r#""sales"."orders""#)),
            ("SALES.Orders", Some(r#""sales"."orders""#)),
            (r#""sales.orders""#, Some(r#""sales"."orders""#)),
            (r#"public."sales.orders""#, None),
            (r#"a."b.c""#, Some(r#""a"."b.c""#)),
            (r#""a.b".c"#, None),
            ("a.b.c", None),
            (r#""quo""ted".t"#, Some(r#""quo""ted"."t""#)),
        ],
    )
    .await;
}

#[tokio::test]
async fn resolves_mysql_tables_by_database_and_name() {
    let tables = [
        ("orders", "crm", "orders"),
        ("other.secret", "crm", "other.secret"),
        ("other.plain", "other", "plain"),
        ("other.x.y", "other", "x.y"),
    ];
    let engine = over("mysql://ada@localhost/crm", &tables);
    check(
        &engine,
        &[
            ("orders", Some("`orders`")),
            ("crm.orders", Some("`orders`")),
            ("`other.secret`", Some("`other.secret`")),
            ("crm.`other.secret`", Some("`other.secret`")),
            ("shop.`other.secret`", Some("`other.secret`")),
            ("other.secret", None),
            ("other.plain", Some("`other`.`plain`")),
            ("`other.plain`", Some("`other`.`plain`")),
            ("other.`x.y`", Some("`other`.`x.y`")),
            ("`other.x`.y", None),
        ],
    )
    .await;
    let sql = "SELECT crm.orders.id, other.plain.id FROM orders, other.plain";
    let plan = engine.plan(sql, Some("shop")).await.unwrap();
    assert_eq!(plan.native.unwrap().1.sql, "SELECT `orders`.`id`, `plain`.`id` FROM `orders`, `other`.`plain`");
    let failure = engine.plan("SELECT other.secret.id FROM other.plain", Some("shop")).await.err().unwrap();
    assert_eq!(failure.code, FailureCode::UnknownColumn);
}

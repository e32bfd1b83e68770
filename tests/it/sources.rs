//! One catalog with every kind of source: all are queried alike, and one query joins them.

use crate::support::{Estate, items, sample_file};
use prospector_test_support::mongodb::{Client, bson::doc};
use prospector_test_support::server;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, Executor};

/// Customers in PostgreSQL, orders in MariaDB, products in SQLite, visits in MongoDB, regions in CSV, rates in Parquet, and a
/// dbt project about them.
async fn estate() -> Option<Estate> {
    let (mut postgres, mut mariadb, mut mongo) =
        (server("PROSPECTOR_TEST_POSTGRES")?, server("PROSPECTOR_TEST_MARIADB")?, server("PROSPECTOR_TEST_MONGODB")?);

    let mut connection = sqlx::PgConnection::connect(postgres.as_str()).await.unwrap();
    connection.execute("DROP DATABASE IF EXISTS sources_test").await.unwrap();
    connection.execute("CREATE DATABASE sources_test").await.unwrap();
    postgres.set_path("sources_test");
    let mut connection = sqlx::PgConnection::connect(postgres.as_str()).await.unwrap();
    let sql = "CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, currency text); \
               COMMENT ON TABLE customers IS 'People who buy'; \
               INSERT INTO customers VALUES (1, 'Ada', 'GBP'), (2, 'Bob', 'EUR'), (3, 'Cy', 'GBP')";
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();

    let mut connection = sqlx::MySqlConnection::connect(mariadb.as_str()).await.unwrap();
    let sql = "DROP DATABASE IF EXISTS sources_test; CREATE DATABASE sources_test; \
               CREATE TABLE sources_test.orders (id int PRIMARY KEY, customer_id int, total decimal(9,2)) \
                   COMMENT 'What was ordered'; \
               INSERT INTO sources_test.orders VALUES (1, 1, 10.50), (2, 1, 5), (3, 2, 7.25)";
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    mariadb.set_path("sources_test");

    let client = Client::with_uri_str(mongo.as_str()).await.unwrap();
    let visits = client.database("sources_test").collection("visits");
    visits.drop().await.unwrap();
    let visit =
        |customer: i32, os: &str| doc! { "customer": customer, "device": { "os": os }, "pages": ["home", "cart"] };
    visits
        .insert_many([visit(1, "Linux"), visit(3, "Linux"), visit(3, "macOS"), doc! { "customer": 2 }])
        .await
        .unwrap();
    mongo.set_path("sources_test");

    let manifest = json!({"nodes": {"model.shop.revenue": {"resource_type": "model", "name": "revenue", "schema": "mart",
        "description": "Revenue by customer and month", "columns": {"customer_id": {"name": "customer_id"}}}}});
    let estate = Estate::new(&format!(
        "databases:\n\
         - {{name: crm, url: '{postgres}'}}\n\
         - {{name: shop, url: '{mariadb}'}}\n\
         - {{name: stock, path: stock.sqlite}}\n\
         - {{name: web, url: '{mongo}'}}\n\
         - {{name: regions, path: regions.csv}}\n\
         - {{name: exchange_rates, path: exchange_rates.parquet}}\n\
         - {{name: mart, path: target/manifest.json, type: dbt}}\n"
    ))
    .with("regions.csv", "currency,region\nGBP,Britain\nEUR,Euro area\n")
    .with("target/manifest.json", manifest.to_string())
    .with("exchange_rates.parquet", sample_file("files/exchange_rates.parquet"));
    let path = estate.path("stock.sqlite");
    let mut connection =
        sqlx::SqliteConnection::connect(&format!("sqlite://{}?mode=rwc", path.display())).await.unwrap();
    let sql =
        "CREATE TABLE products (sku TEXT PRIMARY KEY, price REAL); INSERT INTO products VALUES ('A', 9.5), ('B', 3)";
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    Some(estate)
}

/// The table of each database: its kind, its number of rows, and a search that finds it.
const TABLES: [(&str, &str, &str, Option<u64>, &str); 7] = [
    ("crm", "postgres", "customers", Some(3), "people who buy"),
    ("shop", "mysql", "orders", Some(3), "what was ordered"),
    ("stock", "sqlite", "products", Some(2), "product price"),
    ("web", "mongodb", "visits", Some(4), "visits device os"),
    ("regions", "csv", "regions", Some(2), "regions"),
    ("exchange_rates", "parquet", "exchange_rates", None, "exchange rates"),
    ("mart", "dbt", "revenue", None, "revenue by customer and month"),
];

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn all_sources_are_queried_alike_and_joined() {
    let Some(estate) = estate().await else { return };
    let databases = estate.call("list_databases", &json!({})).json(0);
    for (database, kind, table, rows, query) in TABLES {
        let listed = items(&databases).iter().find(|listed| listed["name"] == database).unwrap();
        assert_eq!((&listed["type"], &listed["tables"]), (&json!(kind), &json!(1)), "{databases:#}");

        let schema = estate.call("get_table_schema", &json!({"database": database, "table": table})).json(0);
        assert_eq!((&schema["database"], &schema["table"]), (&json!(database), &json!(table)), "{schema:#}");
        if let Some(rows) = rows {
            assert_eq!(schema["row_count"], rows, "{schema:#}");
        }
        assert!(!items(&schema["columns"]).is_empty(), "{schema:#}");
        assert!(items(&schema["columns"]).iter().all(|column| column["name"].is_string()), "{schema:#}");

        let found = estate.call("search_tables", &json!({"query": query})).json(0);
        let first = &items(&found)[0];
        assert_eq!((&first["database"], &first["table"]), (&json!(database), &json!(table)), "{found:#}");
    }

    let column = json!({"database": "web", "table": "visits", "column": "device.os", "contains": "LIN", "limit": 5});
    assert_eq!(estate.call("get_sample_values", &column).json(0)["values"], json!(["Linux"]));

    let check = |sql: &str, rows: Value| {
        let answer = estate.run(["sql", sql]).json(0);
        assert_eq!((&answer[0]["executed"], &answer[0]["rows"]), (&json!("joined"), &rows), "{answer:#}");
    };
    check(
        "SELECT c.name, COUNT(DISTINCT r.quote_ccy) AS currencies FROM crm.customers c \
         JOIN exchange_rates.exchange_rates r ON r.quote_ccy = c.currency GROUP BY c.name ORDER BY c.name",
        json!([["Ada", 1], ["Bob", 1], ["Cy", 1]]),
    );
    check(
        "SELECT c.name, COUNT(*) AS visits FROM web.visits v JOIN crm.customers c ON c.id = v.customer \
         WHERE v.\"device.os\" = 'Linux' GROUP BY c.name ORDER BY c.name",
        json!([["Ada", 1], ["Cy", 1]]),
    );
    check(
        "SELECT g.region, SUM(o.total) AS total FROM shop.orders o JOIN crm.customers c ON c.id = o.customer_id \
         JOIN regions.regions g ON g.currency = c.currency GROUP BY g.region ORDER BY g.region",
        json!([["Britain", 15.5], ["Euro area", 7.25]]),
    );
    // A dbt project only describes tables, and cannot be queried.
    let refused = estate.run(["sql", "SELECT customer_id FROM mart.revenue"]).json(1);
    let message = refused[0]["message"].as_str().unwrap_or_default();
    assert_eq!((&refused[0]["error"], message.contains("is described")), (&json!("unavailable"), true), "{refused:#}");
}

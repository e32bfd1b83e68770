//! Queries from measures and dimensions, in the SQL of every source.

use std::path::Path;
use std::sync::Arc;

use prospector_connect::source::SourceKind;
use prospector_connect::{Connector, open, source::Source as Place};
use prospector_engine::{Engine, tools};
use prospector_test_support::server;
use serde_json::{Value, json};

use crate::support::{mariadb, postgres, source, sqlite};

/// Customers, orders and their items. One name contains a quote, and one order has no customer.
const DATA: &str = "CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(40), country VARCHAR(2)); \
     CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, total DECIMAL(10,2), cost DECIMAL(10,2), \
         ordered_at TIMESTAMP NULL, FOREIGN KEY (customer_id) REFERENCES customers (id)); \
     CREATE TABLE items (id INTEGER PRIMARY KEY, order_id INTEGER, pieces INTEGER, \
         FOREIGN KEY (order_id) REFERENCES orders (id)); \
     INSERT INTO customers VALUES (1, 'Ada', 'NO'), (2, 'Bob''s', 'SE'), (3, 'Cyd', 'NO'); \
     INSERT INTO orders VALUES (1, 1, 10.00, 4.00, '2025-01-05 10:00:00'), (2, 1, 20.00, 0.00, '2025-02-07 11:00:00'), \
         (3, 2, 30.00, 10.00, '2025-02-08 12:00:00'), (4, 3, 5.50, 5.00, '2025-05-09 13:00:00'), \
         (5, NULL, 7.00, 1.00, '2024-12-31 23:00:00'); \
     INSERT INTO items VALUES (1, 1, 2), (2, 1, 3), (3, 2, 1), (4, 3, 4);";

/// Returns requests with their rows; numbers are compared as numbers, regardless of their type in the source.
fn requests() -> Vec<(Value, Value)> {
    vec![
        (
            json!({"table": "orders", "measures": [{"aggregation": "count"}, {"column": "total", "aggregation": "sum"}]}),
            json!([[5, 72.5]]),
        ),
        (
            json!({"table": "orders", "dimensions": [{"column": "customers.country"}],
                   "measures": [{"column": "total", "aggregation": "sum", "name": "revenue"}],
                   "top": [{"measure": "revenue", "n": 2}]}),
            json!([["NO", 35.5], ["SE", 30]]),
        ),
        (
            json!({"table": "orders", "dimensions": [{"column": "ordered_at", "part": "year_quarter"}],
                   "measures": [{"aggregation": "count"}]}),
            json!([["2024-Q4", 1], ["2025-Q1", 3], ["2025-Q2", 1]]),
        ),
        (
            json!({"table": "orders", "dimensions": [{"column": "ordered_at", "part": "weekday"}],
                   "filters": [{"column": "ordered_at", "op": "gte", "value": "2025-02-08"}],
                   "measures": [{"column": "total", "aggregation": "max"}]}),
            json!([[5, 5.5], [6, 30]]),
        ),
        (
            json!({"table": "orders", "dimensions": [{"column": "total", "bin": 10, "name": "up_from"}],
                   "measures": [{"aggregation": "count"}], "filters": [{"column": "count", "op": "gte", "value": 1}]}),
            json!([[0, 2], [10, 1], [20, 1], [30, 1]]),
        ),
        (
            json!({"table": "orders", "dimensions": [{"column": "customers.name"}],
                   "filters": [{"column": "customers.name", "op": "in", "value": ["Bob's", "x'; --", "\\"]}],
                   "calculations": [{"name": "margin", "expression": "total - cost"},
                                    {"name": "ratio", "expression": "round(earned / count, 1)"}],
                   "measures": [{"column": "margin", "aggregation": "sum", "name": "earned"}, {"aggregation": "count"}]}),
            json!([["Bob's", 20, 1, 20]]),
        ),
        (
            json!({"table": "orders", "dimensions": [{"column": "customers.country"}, {"column": "customers.name"}],
                   "filters": [{"column": "customers.name", "op": "neq", "value": null}],
                   "measures": [{"column": "total", "aggregation": "sum", "name": "revenue"}],
                   "top": [{"measure": "revenue", "n": 1, "per": "country"}]}),
            json!([["NO", "Ada", 30], ["SE", "Bob's", 30]]),
        ),
        (
            json!({"table": "customers", "dimensions": [{"column": "country"}],
                   "measures": [{"column": "items.id", "aggregation": "count_distinct", "name": "items"}],
                   "filters": [{"column": "name", "op": "like", "value": "%a%"}]}),
            json!([["NO", 3]]),
        ),
        (
            json!({"table": "items", "dimensions": [{"column": "customers.name"}],
                   "measures": [{"column": "pieces", "aggregation": "sum"}], "limit": 1}),
            json!([["Ada", 6]]),
        ),
        (json!({"table": "customers", "dimensions": [{"column": "country"}]}), json!([["NO"], ["SE"]])),
        // In short form.
        (json!({"table": "orders", "measures": ["total", "AVG(cost)", "count(*)"]}), json!([[72.5, 4, 5]])),
        (
            json!({"table": "orders", "measures": ["total"], "dimensions": ["customers.country"], "topN": {"n": 1}}),
            json!([["NO", 35.5]]),
        ),
        (
            json!({"table": "orders", "measures": "count", "dimensions": ["year(ordered_at)"]}),
            json!([[2024, 1], [2025, 4]]),
        ),
        (
            json!({"table": "orders", "measures": ["count"], "bins": [{"field": "total", "size": 20}]}),
            json!([[0, 3], [20, 2]]),
        ),
    ]
}

/// Converts a number that a source returns as a text or with more digits.
fn plain(value: &Value) -> Value {
    let number = value.as_f64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
    number.map_or(value.clone(), |number| json!(number))
}

async fn check(connector: Arc<dyn Connector>, with_keys: bool) {
    let mut shop = source("shop", connector).await;
    if !with_keys {
        shop.tables.retain(|table| table.name == "orders");
    }
    let engine = Engine::new(vec![shop]);
    let tools = tools(&engine);
    for (mut request, expected) in requests() {
        if !with_keys && (request.to_string().contains("customers") || request["table"] != "orders") {
            continue;
        }
        request["database"] = json!("shop");
        let answer = match tools.call("query_datasource", request.clone()).await {
            Ok(answer) => answer,
            Err(error) => panic!("{request}: {error}"),
        };
        let rows = answer.json()["rows"].as_array().unwrap();
        let rows: Vec<Vec<Value>> =
            rows.iter().map(|row| row.as_array().unwrap().iter().map(plain).collect()).collect();
        let expected: Vec<Vec<Value>> = expected
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row.as_array().unwrap().iter().map(plain).collect())
            .collect();
        assert_eq!(rows, expected, "{}", answer.json()["sql"].as_str().unwrap());
        assert!(!answer.reveals().is_empty());
    }
}

#[tokio::test]
async fn sqlite_answers() {
    let folder = tempfile::tempdir().unwrap();
    check(sqlite(folder.path(), DATA).await, true).await;
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn postgres_answers() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    check(postgres(&url, "engine_built", DATA).await.1, true).await;
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn mariadb_answers() {
    let Some(url) = server("PROSPECTOR_TEST_MARIADB") else { return };
    check(mariadb(&url, "prospector_built", DATA).await.1, true).await;
}

fn csv(folder: &Path) -> Arc<dyn Connector> {
    let path = folder.join("orders.csv");
    let text = "id,customer_id,total,cost,ordered_at\n1,1,10.00,4.00,2025-01-05T10:00:00\n2,1,20.00,0.00,2025-02-07T11:00:00\n\
         3,2,30.00,10.00,2025-02-08T12:00:00\n4,3,5.50,5.00,2025-05-09T13:00:00\n5,,7.00,1.00,2024-12-31T23:00:00\n";
    std::fs::write(&path, text).unwrap();
    open(&Place::files(SourceKind::Csv, vec![path])).unwrap()
}

#[tokio::test]
async fn files_answer() {
    let folder = tempfile::tempdir().unwrap();
    check(csv(folder.path()), false).await;
}

#[tokio::test]
async fn rejects_invalid_requests_with_a_suggestion() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::new(vec![source("shop", sqlite(folder.path(), DATA).await).await]);
    let tools = tools(&engine);
    let sum = json!([{"column": "total", "aggregation": "sum"}]);
    for (request, error, advice) in [
        (json!({"table": "orders"}), "invalid_arguments", "dimension"),
        (
            json!({"table": "orders", "measures": [{"column": "totl", "aggregation": "sum"}]}),
            "unknown_column",
            "`total`",
        ),
        (
            json!({"table": "orders", "measures": sum, "dimensions": [{"column": "country"}]}),
            "unknown_column",
            "`customers.country`",
        ),
        // Each order would count once for each of its items.
        (
            json!({"table": "orders", "measures": sum, "dimensions": [{"column": "items.pieces"}]}),
            "repeated_rows",
            "items",
        ),
        (
            json!({"table": "items", "measures": [{"column": "orders.total", "aggregation": "sum"}]}),
            "repeated_rows",
            "items",
        ),
        (
            json!({"table": "orders", "measures": sum, "filters": [{"column": "total", "op": "gt", "value": "1 OR 1"}]}),
            "type_mismatch",
            "number",
        ),
        (
            json!({"table": "customers", "measures": [{"column": "name", "aggregation": "sum"}]}),
            "type_mismatch",
            "count",
        ),
        (
            json!({"table": "orders", "measures": sum, "calculations": [{"name": "x", "expression": "load_extension('a')"}]}),
            "invalid_arguments",
            "round",
        ),
        (
            json!({"table": "orders", "measures": sum, "calculations": [{"name": "x", "expression": "sum_totl * 2"}]}),
            "unknown_column",
            "`sum_total`",
        ),
        (
            json!({"table": "orders", "measures": sum, "top": [{"measure": "revenue", "n": 1}]}),
            "unknown_column",
            "`sum_total`",
        ),
    ] {
        let mut request = request;
        request["database"] = json!("shop");
        let answer = tools.call("build_query", request.clone()).await.unwrap_err().to_json();
        assert_eq!(answer["error"], error, "{request} {answer}");
        assert!(answer["suggestion"].as_str().unwrap().contains(advice), "{request} {answer}");
    }
    let built =
        tools.call("build_query", json!({"database": "shop", "table": "orders", "measures": sum})).await.unwrap();
    assert_eq!(built.json()["columns"], json!(["sum_total"]));
    assert_eq!(built.reveals(), []);
}

#[tokio::test]
async fn metadata_infers_roles_of_columns() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::new(vec![source("shop", sqlite(folder.path(), DATA).await).await]);
    let answer =
        tools(&engine).call("get_datasource_metadata", json!({"database": "shop", "table": "orders"})).await.unwrap();
    let roles: Vec<(&str, &str)> = answer.json()["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| (column["name"].as_str().unwrap(), column["role"].as_str().unwrap()))
        .collect();
    let expected = [
        ("id", "dimension"),
        ("customer_id", "dimension"),
        ("total", "measure"),
        ("cost", "measure"),
        ("ordered_at", "date"),
    ];
    assert_eq!(roles, expected);
    assert_eq!(answer.json()["columns"][2]["max"], 30);
    assert_eq!(answer.json()["columns"][1]["nulls"], 1);
    assert_eq!(answer.json()["foreign_keys"][0]["table"], "customers");
}

#[tokio::test]
async fn validates_and_runs_a_built_query() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::new(vec![source("shop", sqlite(folder.path(), DATA).await).await]);
    let tools = tools(&engine);
    // Only one table has both columns.
    let asked = json!({"measures": ["total"], "dimensions": ["customer_id"], "topN": {"n": 1, "by": "sum_total"}});
    let built = tools.call("build_query", asked).await.unwrap().into_json();
    assert_eq!(built["query"]["table"], "orders");
    for query in [built["query"].clone(), built.clone()] {
        let valid = tools.call("validate_query", json!({"query": query})).await.unwrap();
        assert_eq!(valid.json()["is_valid"], true, "{}", valid.json());
        let rows = tools.call("query_datasource", json!({"query": query})).await.unwrap();
        assert_eq!(plain(&rows.json()["rows"][0][1]), 30.0);
    }
    let text = tools.call("validate_query", json!({"query": "SELECT nothing FROM shop.orders"})).await.unwrap();
    assert_eq!(
        (&text.json()["is_valid"], &text.json()["errors"][0]["error"]),
        (&json!(false), &json!("unknown_column"))
    );
    let unclear = tools.call("build_query", json!({"measures": ["id"]})).await.unwrap_err().to_json();
    assert!(unclear["suggestion"].as_str().unwrap().contains("shop.orders, shop.items"), "{unclear}");
    let wrong = tools.call("validate_query", json!({"query": {"measure": ["id"], "x": 1}})).await.unwrap_err();
    assert!(wrong.to_string().contains("unknown field"), "{wrong}");
}

#[tokio::test]
async fn lists_metadata_of_all_tables() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::new(vec![source("shop", sqlite(folder.path(), DATA).await).await]);
    let tools = tools(&engine);
    let all = tools.call("get_datasource_metadata", json!({"include_statistics": true})).await.unwrap();
    let names: Vec<&str> = all.json().as_array().unwrap().iter().map(|one| one["table"].as_str().unwrap()).collect();
    assert_eq!(names, ["customers", "orders", "items"]);
    assert_eq!(all.json()[1]["measures"], json!(["total", "cost"]));
    assert_eq!(all.json()[1]["dates"], json!(["ordered_at"]));
    let one = tools.call("get_datasource_metadata", json!({"table": "orders", "include_statistics": false})).await;
    let one = one.unwrap();
    assert_eq!((&one.json()["database"], one.json()["columns"][2].get("max")), (&json!("shop"), None));
    assert!(tools.call("get_datasource_metadata", json!({"database": "shopp"})).await.is_err());
}

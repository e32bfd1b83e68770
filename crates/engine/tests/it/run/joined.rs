//! Queries over several sources: the rows are correct, and each source is asked only for what the query needs.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::parquet::arrow::ArrowWriter;
use prospector_connect::source::SourceKind;
use prospector_connect::{Connector, open, source::Source as Place};
use prospector_test_support::server;
use serde_json::json;

use crate::support::recorder::{Recorder, Request};
use crate::support::{postgres, source, sqlite};

/// Three thousand orders of three hundred customers.
const ORDERS: &str =
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, total NUMERIC(10,2), note TEXT); ";

/// Six customers, two of them in Norway.
fn parquet(folder: &Path) -> Arc<dyn Connector> {
    let path = folder.join("customers.parquet");
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(1..=6));
    let names: ArrayRef = Arc::new(StringArray::from(vec!["Ada", "Bob", "Cyd", "Dan", "Eve", "Fay"]));
    let countries: ArrayRef = Arc::new(StringArray::from(vec!["NO", "SE", "NO", "DK", "SE", "FI"]));
    let segments: ArrayRef = Arc::new(StringArray::from(vec!["a"; 6]));
    let columns = [("id", ids), ("name", names), ("country", countries), ("segment", segments)];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    open(&Place::files(SourceKind::Parquet, vec![path])).unwrap()
}

const QUERY: &str = "SELECT c.name, count(*) AS orders, sum(o.total) AS total \
     FROM shop.orders o JOIN crm.customers c ON c.id = o.customer_id \
     WHERE c.country = 'NO' AND o.total >= 10 GROUP BY c.name ORDER BY c.name";

fn asked(table: &str, columns: &[&str], conditions: &[&str]) -> Request {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Request::Rows { table: table.to_owned(), columns: texts(columns), conditions: texts(conditions) }
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn joins_postgres_to_parquet_with_pushdown() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    let sql = format!(
        "{ORDERS} INSERT INTO orders SELECT i, i % 300, i % 20, 'x' FROM generate_series(1, 3000) i; ANALYZE orders;"
    );
    let (_, connector) = postgres(&url, "engine_joined", &sql).await;
    let folder = tempfile::tempdir().unwrap();
    let (shop, crm) = (Recorder::new(connector), Recorder::new(parquet(folder.path())));
    let engine = super::over(vec![source("shop", shop.clone()).await, source("crm", crm.clone()).await]);
    let outcome = engine.run(QUERY, None, 50).await.unwrap();
    // The orders of customer 1 are all 1, and those of customer 3 are all 3, so none is 10. See below for others.
    assert_eq!(outcome.rows.rows, Vec::<Vec<serde_json::Value>>::new());
    assert_eq!(outcome.tables, ["crm.customers", "shop.orders"]);
    assert_eq!(
        shop.taken(),
        [asked(
            "orders",
            &["customer_id", "total"],
            &[
                r#"{"column":"customer_id","op":"in","value":[1,3]}"#,
                r#"{"column":"total","op":"gte","value":"10.00"}"#
            ]
        )]
    );
    assert_eq!(
        crm.taken(),
        [asked("customers", &["id", "name", "country"], &[r#"{"column":"country","op":"eq","value":"NO"}"#])]
    );
    let lower = QUERY.replace(">= 10", ">= 2");
    let outcome = engine.run(&lower, None, 50).await.unwrap();
    assert_eq!(outcome.rows.rows, [[json!("Cyd"), json!(10), json!(30.0)]]);
}

/// Checks the rows of a query over both, and whether the orders were requested by keys.
async fn check(sql: &str, rows: serde_json::Value, by_keys: bool) {
    let folder = tempfile::tempdir().unwrap();
    let data = format!(
        "{ORDERS} WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) \
         INSERT INTO orders SELECT i, i % 300, i % 20, 'x' FROM n;"
    );
    let shop = Recorder::new(sqlite(folder.path(), &data).await);
    let engine = super::over(vec![source("shop", shop.clone()).await, source("crm", parquet(folder.path())).await]);
    let outcome = engine.run(sql, None, 50).await.unwrap();
    assert_eq!(json!(outcome.rows.rows), rows, "{sql}");
    let conditions = |request| match request {
        Request::Rows { conditions, .. } => conditions,
        Request::Query(sql) => panic!("it is sent {sql}"),
    };
    let conditions: Vec<String> = shop.taken().into_iter().flat_map(conditions).collect();
    assert_eq!(conditions.iter().any(|condition| condition.contains("\"in\"")), by_keys, "{sql}: {conditions:?}");
}

#[tokio::test]
async fn pushes_keys_down_only_where_sound() {
    let join = |kind: &str| {
        format!("SELECT count(*), count(c.id) FROM shop.orders o {kind} JOIN crm.customers c ON c.id = o.customer_id")
    };
    check(&join("INNER"), json!([[60, 60]]), true).await;
    check(&join("LEFT"), json!([[3000, 60]]), false).await;
    check(&join("RIGHT"), json!([[60, 60]]), true).await;
    check(&join("FULL"), json!([[3000, 60]]), false).await;
    let among = |word: &str| {
        format!("SELECT count(*) FROM shop.orders WHERE customer_id {word} (SELECT id FROM crm.customers)")
    };
    check(&among("IN"), json!([[60]]), true).await;
    check(&among("NOT IN"), json!([[2940]]), false).await;
    let without = "SELECT count(*) FROM crm.customers c WHERE NOT EXISTS \
         (SELECT 1 FROM shop.orders o WHERE o.customer_id = c.id AND o.total > 4)";
    check(without, json!([[4]]), true).await;
    let grouped = "SELECT c.name, g.n FROM crm.customers c JOIN \
         (SELECT customer_id, count(*) AS n FROM shop.orders GROUP BY customer_id) g ON g.customer_id = c.id \
         WHERE c.country = 'DK'";
    check(grouped, json!([["Dan", 10]]), true).await;
    // The first hundred rows do not depend on the join.
    let first = "SELECT count(*) FROM (SELECT customer_id FROM shop.orders ORDER BY id LIMIT 100) o \
         JOIN crm.customers c ON c.id = o.customer_id";
    check(first, json!([[6]]), false).await;
}

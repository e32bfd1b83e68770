//! Tables with more rows than a source sends: a shop in Parquet, its log in CSV, and its customers in SQLite.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, Int32Array, ListArray, RecordBatch, StringArray};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use prospector_connect::source::SourceKind;
use prospector_connect::{Connector, open, source::Source as Place};
use prospector_engine::Source;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

/// The number of rows of `shop.orders`. Order `n` is of customer `n % 1000`, costs `n % 50`, and has the parts `[n, 7]`.
pub(crate) const ORDERS: i32 = 300_000;

/// The number of rows of `log.visits`, of the same customers. The last page is a text where the others are numbers.
pub(crate) const VISITS: i32 = 250_000;

/// Queries that need every row, at all positions of a plan: joins, groups, subqueries, windows, nested values.
pub(crate) const QUERIES: [&str; 8] = [
    "SELECT c.country, count(*) AS orders, sum(o.total) AS total FROM shop.orders o \
     JOIN crm.customers c ON c.id = o.customer_id GROUP BY c.country ORDER BY c.country",
    "SELECT count(*) FROM shop.orders",
    "SELECT page, count(*) AS visits FROM log.visits GROUP BY page ORDER BY visits DESC, page LIMIT 3",
    "SELECT o.id, v.page FROM shop.orders o JOIN log.visits v ON v.id = o.id WHERE o.total = 49 AND o.id > 249000 \
     ORDER BY o.id LIMIT 5",
    "SELECT count(DISTINCT o.customer_id) FROM shop.orders o WHERE o.total > (SELECT avg(total) FROM shop.orders) \
     AND o.customer_id IN (SELECT id FROM crm.customers WHERE country = 'NO')",
    "SELECT customer_id, total, rank() OVER (PARTITION BY customer_id ORDER BY id) AS n FROM shop.orders \
     WHERE customer_id < 2 ORDER BY customer_id, n LIMIT 4",
    "SELECT id, parts FROM shop.orders WHERE id IN (3, 299999) ORDER BY id",
    "SELECT o.note, count(v.id) FROM shop.orders o LEFT JOIN log.visits v ON v.id = o.id AND v.customer_id < 500 \
     GROUP BY o.note ORDER BY o.note",
];

/// Writes all three into the folder.
pub(crate) async fn all(folder: &Path) -> Vec<Source> {
    let mut sources = Vec::new();
    for (name, connector) in [("shop", shop(folder)), ("log", log(folder)), ("crm", crm(folder).await)] {
        let (tables, _) = connector.describe().await.unwrap();
        sources.push(Source { name: name.into(), tables, functions: Vec::new(), connector });
    }
    sources
}

fn shop(folder: &Path) -> Arc<dyn Connector> {
    let path = folder.join("orders.parquet");
    let column = |of: fn(i32) -> i32| -> ArrayRef { Arc::new(Int32Array::from_iter_values((0..ORDERS).map(of))) };
    let totals: ArrayRef = Arc::new(Float64Array::from_iter_values((0..ORDERS).map(|n| f64::from(n % 50))));
    let notes: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..ORDERS).map(|n| if n % 3 == 0 { "a" } else { "b" })));
    let parts = (0..ORDERS).map(|n| Some(vec![Some(i64::from(n)), Some(7)]));
    let parts: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(parts));
    let columns = [
        ("Id", column(|n| n)),
        ("customer_id", column(|n| n % 1000)),
        ("total", totals),
        ("note", notes),
        ("parts", parts),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    // Small row groups make it visible that a scan stops between two of them.
    let small = WriterProperties::builder().set_max_row_group_row_count(Some(2_000)).build();
    let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), Some(small)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    open(&Place::files(SourceKind::Parquet, vec![path])).unwrap()
}

fn log(folder: &Path) -> Arc<dyn Connector> {
    let path = folder.join("visits.csv");
    let mut text = String::from("id,customer_id,page\n");
    for n in 0..VISITS {
        let page = if n == VISITS - 1 { "start".to_owned() } else { (n % 10).to_string() };
        text += &format!("{n},{},{page}\n", n % 1000);
    }
    std::fs::write(&path, text).unwrap();
    open(&Place::files(SourceKind::Csv, vec![path]).strict()).unwrap()
}

async fn crm(folder: &Path) -> Arc<dyn Connector> {
    let path = folder.join("crm.db");
    if !path.exists() {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path).create_if_missing(true);
        let mut connection = options.connect().await.unwrap();
        let sql = "CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT); \
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999) \
             INSERT INTO customers SELECT i, CASE i % 4 WHEN 0 THEN 'NO' WHEN 1 THEN 'SE' ELSE 'DK' END FROM n;";
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }
    open(&Place::files(SourceKind::Sqlite, vec![path])).unwrap()
}

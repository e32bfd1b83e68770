//! What statements read, according to their text: columns by scope, and unknown columns.

use prospector_connect::rows::Rows;
use prospector_engine::FailureCode;
use prospector_engine::query::{Dialect, Inspection};
use serde_json::json;

use crate::support::described::engine;

async fn inspect(sql: &str, database: Option<&str>) -> Inspection {
    let engine = engine();
    let rows = Rows {
        columns: vec!["customer_id".into(), "spend".into()],
        rows: vec![vec![json!(1), json!(2)]],
        has_more: false,
    };
    engine.keep("step_1", &rows, "step 1").unwrap();
    engine.inspect(sql, database).await.unwrap_or_else(|failure| panic!("{sql}: {failure}"))
}

#[tokio::test]
async fn lists_what_a_statement_reads() {
    let found = inspect(
        "SELECT c.name, SUM(i.total) AS revenue FROM store.invoices i JOIN store.customers c USING (customer_id) \
         WHERE i.stat_cd = 'P' AND i.total > -1.50 GROUP BY 1",
        None,
    )
    .await;
    assert_eq!((found.dialect, found.database.as_deref()), (Dialect::Sqlite, Some("store")));
    assert_eq!(found.databases, ["store"]);
    assert_eq!(found.tables, ["store.customers", "store.invoices"]);
    let columns = [
        "store.customers.customer_id",
        "store.customers.name",
        "store.invoices.customer_id",
        "store.invoices.stat_cd",
        "store.invoices.total",
    ];
    assert_eq!(found.columns, columns);
    assert_eq!(found.output, ["name", "revenue"]);
    assert_eq!(found.literals, ["P", "-1.5", "1"]);
    assert!(found.inputs.is_empty() && found.unknown_columns.is_empty());
}

#[tokio::test]
async fn separates_session_tables_from_the_catalog() {
    for sql in [
        "SELECT c.name, STEP_1.spend FROM store.customers c JOIN step_1 ON step_1.customer_id = c.customer_id",
        "SELECT c.name, s.spend FROM store.customers c JOIN scoped.step_1 s ON s.customer_id = c.customer_id",
    ] {
        let found = inspect(sql, None).await;
        assert_eq!((found.dialect, found.database), (Dialect::Joined, None), "{sql}");
        assert_eq!(found.tables, ["store.customers"], "{sql}");
        assert_eq!(found.databases, ["store"], "{sql}");
        assert_eq!(found.inputs, ["step_1"], "{sql}");
        assert_eq!(found.columns, ["store.customers.customer_id", "store.customers.name"], "{sql}");
        assert_eq!(found.output, ["name", "spend"], "{sql}");
    }
}

#[tokio::test]
async fn expands_stars_and_skips_counts() {
    let columns = async |sql: &str| inspect(sql, None).await.columns;
    let all = ["store.countries.country_cd", "store.countries.name"];
    assert_eq!(columns("SELECT * FROM store.countries").await, all);
    assert_eq!(columns("SELECT k.* FROM store.countries k, store.customers c").await, all);
    assert!(columns("SELECT COUNT(*) FROM store.countries").await.is_empty());
    let exists = "SELECT COUNT(*) FROM store.countries WHERE EXISTS (SELECT * FROM store.customers)";
    assert!(columns(exists).await.is_empty());
}

#[tokio::test]
async fn reports_unknown_columns_by_scope() {
    for (sql, expected) in [
        ("SELECT i.name FROM store.invoices i JOIN store.customers c USING (customer_id)", "i.name"),
        ("SELECT totl FROM store.invoices", "totl"),
        ("SELECT x.total FROM store.invoices i", "x.total"),
        ("WITH a AS (SELECT customer_id FROM store.invoices) SELECT a.total FROM a", "a.total"),
        ("SELECT t.total FROM (SELECT customer_id FROM store.invoices) t", "t.total"),
        (
            "SELECT name FROM store.customers c WHERE EXISTS (SELECT 1 FROM store.invoices i WHERE i.name = c.name)",
            "i.name",
        ),
        ("SELECT step_1.name FROM step_1", "step_1.name"),
        ("SELECT nme FROM pg.customers", "nme"),
        ("SELECT nme FROM my.customers", "nme"),
    ] {
        let engine_found = inspect(sql, None).await;
        assert_eq!(engine_found.unknown_columns, [expected], "{sql}");
    }
}

#[tokio::test]
async fn accepts_every_resolvable_column() {
    for sql in [
        "WITH a AS (SELECT customer_id AS id, COUNT(*) AS n FROM store.invoices GROUP BY 1) SELECT a.id, n FROM a",
        "WITH a (x, y) AS (SELECT customer_id, total FROM store.invoices) SELECT a.x, y FROM a",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n",
        "SELECT t.n FROM (SELECT COUNT(*) AS n FROM store.invoices) t",
        "SELECT total AS t FROM store.invoices WHERE t > 5 ORDER BY t",
        "SELECT total * 2 AS double FROM store.invoices GROUP BY double HAVING double > 3 ORDER BY double",
        "SELECT customer_id FROM store.invoices JOIN store.customers USING (customer_id)",
        "SELECT name FROM store.customers c WHERE 5 < (SELECT SUM(total) FROM store.invoices i WHERE i.customer_id = c.customer_id AND mkt_optin)",
        "SELECT rowid, store.customers.name FROM store.customers",
        "SELECT name FROM store.customers WHERE name = \"Ada\"",
        "SELECT j.value, j.key FROM store.customers c, json_each(c.name) j",
        "SELECT g, g.n FROM pg.customers, generate_series(1, 3) AS g(n)",
        "SELECT l.n FROM pg.customers c, LATERAL (SELECT COUNT(*) AS n FROM pg.invoices i WHERE i.customer_id = c.customer_id) l",
        "SELECT c.ctid, row_to_json(c) FROM pg.customers c",
        "SELECT x.a FROM (VALUES (1, 'b')) AS x(a, b)",
        "SELECT TIMESTAMPDIFF(MONTH, signup_date, CURDATE()) FROM my.customers",
        "SELECT SUM(total) OVER w FROM my.invoices WINDOW w AS (PARTITION BY customer_id)",
        "SELECT name FROM files.customers UNION SELECT name FROM files.countries ORDER BY name",
    ] {
        let engine = engine();
        match engine.inspect(sql, None).await {
            Ok(found) => assert!(found.unknown_columns.is_empty(), "{sql}: {:?}", found.unknown_columns),
            // Other rejections, by PostgreSQL's own verification or by the guard, are not tested here.
            Err(failure) => assert_ne!(failure.code, FailureCode::UnknownTable, "{sql}: {failure}"),
        }
    }
}

#[tokio::test]
async fn suggests_the_supported_form() {
    let engine = engine();
    for (sql, expected) in [
        ("SELECT total::int FROM store.invoices", "use CAST(total AS INTEGER)"),
        ("SELECT EXTRACT(MONTH FROM invoice_date) FROM store.invoices", "strftime('%m', invoice_date)"),
        ("SELECT date_trunc('month', invoice_date) FROM store.invoices", "strftime('%Y-%m', x)"),
        ("SELECT name FROM store.customers WHERE name ILIKE 'a%'", "LOWER(x) LIKE"),
    ] {
        let failure = engine.inspect(sql, Some("store")).await.unwrap_err();
        assert!(failure.suggestion.as_deref().unwrap_or_default().contains(expected), "{sql}: {failure}");
    }
}

#[tokio::test]
async fn suggests_datafusion_sql_over_several_databases() {
    let engine = engine();
    let rows = Rows { columns: vec!["month".into()], rows: vec![vec![json!("2025-01")]], has_more: false };
    engine.keep("step_1", &rows, "step 1").unwrap();
    for (sql, database) in [
        ("SELECT i.total FROM store.invoices i JOIN step_1 s ON s.month = strftime('%Y-%m', i.invoice_date)", None),
        (
            "SELECT i.total FROM store.invoices i JOIN step_1 s ON s.month = strftime('%Y-%m', i.invoice_date)",
            Some("store"),
        ),
        ("SELECT strftime('%Y', i.invoice_date) FROM store.invoices i JOIN pg.customers c USING (customer_id)", None),
    ] {
        let failure = engine.inspect(sql, database).await.unwrap_err();
        let advice = failure.suggestion.clone().unwrap_or_default();
        assert!(advice.contains("is DataFusion SQL: use date_trunc / to_char"), "{sql}: {failure}");
    }
}

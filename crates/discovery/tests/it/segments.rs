//! Segments of a catalog: those of the sample compared with handwritten SQL, where they are shown, and invalid ones.

use std::path::Path;

use prospector_discovery::{Catalog, CatalogOptions, DiscoveryTools, Profile};
use prospector_engine::Engine;
use prospector_semantics::MetricQuery;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

/// Opens the sample catalog, with its own state folder.
async fn sample() -> (Catalog, tempfile::TempDir) {
    let state = tempfile::tempdir().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalog/catalog.yaml");
    let options = CatalogOptions { state: Some(state.path().to_owned()), ..CatalogOptions::default() };
    let (catalog, problems) = Catalog::open(&path, options).await.unwrap();
    let wrong: Vec<String> = problems.iter().map(ToString::to_string).filter(|one| one.contains("segment")).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    (catalog, state)
}

async fn compute(catalog: &Catalog, engine: &Engine, asked: Value) -> Vec<Vec<Value>> {
    let query: MetricQuery = serde_json::from_value(asked.clone()).unwrap();
    let (compiled, _) = catalog.metrics.compile(engine, &query).unwrap_or_else(|failure| panic!("{asked}: {failure}"));
    let outcome = engine.run(&compiled.sql, compiled.database.as_deref(), 100).await;
    outcome.unwrap_or_else(|failure| panic!("{asked}: {failure}\n{}", compiled.sql)).rows.rows
}

async fn call(tools: &DiscoveryTools, tool: &str, args: Value) -> Value {
    tools.call(tool, args).await.unwrap_or_else(|error| panic!("{tool}: {error:?}")).json().clone()
}

async fn by_hand(engine: &Engine, sql: &str) -> Vec<Vec<Value>> {
    engine.run(sql, Some("music_store"), 100).await.unwrap_or_else(|failure| panic!("{sql}: {failure}")).rows.rows
}

/// Checks that the rows are equal, with numbers rounded to cents.
fn assert_same(found: &[Vec<Value>], expected: &[Vec<Value>]) {
    let is_same = |(found, expected): (&Value, &Value)| match (found.as_f64(), expected.as_f64()) {
        (Some(found), Some(expected)) => (found - expected).abs() < 0.005,
        _ => found == expected,
    };
    let are_same = |(found, expected): (&Vec<Value>, &Vec<Value>)| {
        found.len() == expected.len() && found.iter().zip(expected).all(is_same)
    };
    assert!(
        !expected.is_empty() && found.len() == expected.len() && found.iter().zip(expected).all(are_same),
        "{found:?}\n{expected:?}"
    );
}

/// The keys of the VIP customers by the business rules, without the verified query.
const VIPS: &str = "SELECT c.customer_id FROM customers c JOIN invoices i ON i.customer_id = c.customer_id \
     WHERE i.stat_cd = 'P' AND c.cust_seg <> 'STF' AND i.invoice_date BETWEEN '2025-01-01' AND '2025-12-31' \
     GROUP BY c.customer_id HAVING SUM(i.total) >= 45 \
     AND COUNT(DISTINCT (CAST(strftime('%m', i.invoice_date) AS INTEGER) + 2) / 3) >= 3";

#[tokio::test(flavor = "multi_thread")]
async fn restricts_metrics_to_the_vip_customers_of_the_sample() {
    let (catalog, _state) = sample().await;
    let engine = catalog.engine();
    for metric in ["gross_revenue", "customer spending"] {
        let asked =
            json!({"metrics": [metric], "segments": ["VIP customers"], "grain": "quarter", "filters": ["time = 2025"]});
        let sql = format!(
            "SELECT '2025-Q' || ((CAST(strftime('%m', invoice_date) AS INTEGER) + 2) / 3) AS quarter, SUM(total) \
             FROM invoices WHERE stat_cd = 'P' AND invoice_date BETWEEN '2025-01-01' AND '2025-12-31' \
             AND customer_id IN ({VIPS}) GROUP BY 1 ORDER BY 1"
        );
        let found = compute(&catalog, &engine, asked).await;
        assert_same(&found, &by_hand(&engine, &sql).await);
        assert_eq!(found.len(), 4);
    }
    let asked = json!({"metrics": ["paid_invoices"], "dimensions": ["vip_customer"], "order": ["vip_customer"]});
    let sql = format!(
        "SELECT CASE WHEN customer_id IN ({VIPS}) THEN 'true' ELSE 'false' END, COUNT(*) FROM invoices \
         WHERE stat_cd = 'P' GROUP BY 1 ORDER BY 1"
    );
    assert_same(&compute(&catalog, &engine, asked).await, &by_hand(&engine, &sql).await);
    assert_same(
        &by_hand(&engine, "SELECT COUNT(*) FROM segments.vip_customer").await,
        &by_hand(&engine, &format!("SELECT COUNT(*) FROM ({VIPS}) v")).await,
    );
    assert_same(
        &by_hand(&engine, "SELECT customer_id FROM queries.vip_customers ORDER BY 1").await,
        &by_hand(&engine, &format!("{VIPS} ORDER BY 1")).await,
    );
    let missing = engine.run("SELECT * FROM queries.net_revenue", Some("music_store"), 5).await.unwrap_err();
    assert!(missing.message.contains("its parameter `year` has no default"), "{missing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn shows_segments_wherever_metrics_are_shown() {
    let (catalog, _state) = sample().await;
    let engine = catalog.engine();
    let full = DiscoveryTools::new(&catalog, Profile::Full).with_engine(&engine);
    let answer = call(&full, DiscoveryTools::LIST_METRICS, json!({"contains": "segment"})).await;
    assert!(answer.to_string().contains("vip_customer"), "{answer}");
    let shown = call(&full, DiscoveryTools::SHOW_METRIC, json!({"name": "VIP customers"})).await;
    assert_eq!(shown["kind"], "segment", "{shown}");
    assert_eq!(shown["reads_as"], "segments.vip_customer", "{shown}");
    assert_eq!(shown["key"], json!(["customer_id"]), "{shown}");
    let query = call(&full, "get_verified_query", json!({"name": "vip-customers"})).await;
    assert_eq!(query["reads_as"], "queries.vip_customers", "{query}");

    let asked = json!({"metrics": ["gross_revenue"], "segments": ["vip_customer"], "filters": ["time = 2025"]});
    let computed = call(&full, DiscoveryTools::METRICS_TOOL, asked).await;
    assert_eq!(computed["tables"], json!(["music_store.customers", "music_store.invoices"]), "{computed}");
    assert!(computed["metrics"].to_string().contains("vip_customer"), "{computed}");

    let compact = DiscoveryTools::new(&catalog, Profile::Compact);
    for (tool, args) in [
        ("describe", json!({"ids": ["vip_customer"]})),
        ("list", json!({"of": "segments"})),
        ("search", json!({"query": "VIP customer"})),
    ] {
        let answer = call(&compact, tool, args).await;
        assert!(answer.to_string().contains("vip_customer"), "{tool}: {answer}");
    }
}

async fn write_shop(path: &Path) {
    let sql = "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, total INTEGER); \
               CREATE TABLE visits (page TEXT, day DATE);";
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn reports_invalid_segments_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    write_shop(&folder.path().join("shop.db")).await;
    std::fs::create_dir(folder.path().join("queries")).unwrap();
    for (name, rest, sql) in [
        ("big", "database: shop\n", "SELECT id, total FROM orders WHERE total > 100"),
        ("gone", "database: shop\n", "SELECT id FROM orders WHERE totl > 100"),
        ("least", "database: shop\nparameters:\n  n: {type: integer}\n", "SELECT id FROM orders WHERE total > :n"),
        ("loop", "database: shop\n", "SELECT id FROM segments.looping"),
    ] {
        let text = format!(
            "---\nquestion: Which orders are {name}?\n{rest}verified: {{by: Ada, on: 2026-01-12}}\n---\n{sql}\n"
        );
        std::fs::write(folder.path().join(format!("queries/{name}.sql")), text).unwrap();
    }
    let lines = [
        ("databases:", ""),
        ("- {name: shop, path: shop.db, type: sqlite}", ""),
        ("verified_queries:", ""),
        ("- path: queries", ""),
        ("entities:", ""),
        ("- {name: order, table: shop.orders}", ""),
        ("- {name: visit, table: shop.visits}", ""),
        ("segments:", ""),
        ("- {name: large, entity: order, filter: total > 100, synonyms: [big orders]}", ""),
        ("- {name: big, entity: order, query: big}", ""),
        ("- {name: lost, entity: ordr, filter: total > 1}", "did you mean `order`"),
        ("- {name: misspelt, entity: order, where: totl > 1}", "did you mean `total`"),
        ("- {name: keyless, entity: visit, filter: page = '/'}", "`visit` has no key"),
        ("- {name: unknown, entity: order, query: bigg}", "did you mean `big`"),
        ("- {name: asked, entity: order, query: least}", "its parameter `n` has no default"),
        ("- {name: many, entity: order, query: big, key: total}", "`total` is not the key of `order`"),
        ("- {name: none, entity: order}", "`filter` or `query` is missing"),
        ("- {name: both, entity: order, filter: total > 1, query: big}", "both a condition and a `query`"),
        ("- {name: keyed, entity: order, filter: total > 1, key: id}", "`key` requires a `query`"),
        ("- {name: stale, entity: order, query: gone}", "it is stale"),
        ("- {name: looping, entity: order, query: loop}", "reads itself"),
        ("- {name: calls, entity: order, filter: load_extension('x') = 1}", "load_extension"),
        ("- {name: typo, entity: order, filtr: total > 1}", "did you mean `filter`"),
    ];
    let text: String = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
    let file = folder.path().join("catalog.yaml");
    std::fs::write(&file, text).unwrap();
    let (catalog, problems) = Catalog::open(&file, CatalogOptions::default()).await.unwrap();
    let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
    for (at, (line, expected)) in lines.iter().enumerate() {
        let place = format!("catalog.yaml:{}", at + 1);
        let own: Vec<&String> = found.iter().filter(|one| one.contains(&format!("{place}:"))).collect();
        match expected.is_empty() {
            true => assert!(own.is_empty(), "{line}: {own:?}"),
            false => assert!(own.iter().any(|one| one.contains(expected)), "{line}: {found:#?}"),
        }
    }
    let engine = catalog.engine();
    for table in ["segments.large", "segments.big", "queries.big"] {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        let outcome = engine.run(&sql, Some("shop"), 5).await.unwrap_or_else(|failure| panic!("{table}: {failure}"));
        assert_eq!(outcome.tables, ["shop.orders"], "{table}");
    }
}

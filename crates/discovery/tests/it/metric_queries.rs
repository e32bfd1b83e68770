//! Compares metric queries with handwritten SQL: in one database, over two sources, and on servers. Declarations are in
//! `metric_queries/catalog.yaml`, rows in `data.sql`, and questions with their SQL in `cases.txt`.

use std::path::Path;

use prospector_connect::source::SourceKind;
use prospector_connect::{open, source::Source as Place};
use prospector_discovery::{Catalog, CatalogOptions, DiscoveryTools, Profile};
use prospector_engine::{Engine, Source};
use prospector_semantics::MetricQuery;
use prospector_test_support::server;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

const DATA: &str = include_str!("metric_queries/data.sql");
const DECLARED: &str = include_str!("metric_queries/catalog.yaml");
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/metric_queries/cases.txt");
const TABLES: [&str; 7] = ["customers", "orders", "refunds", "products", "items", "balances", "spend"];

/// A verified query for a segment.
const LARGE_BUYERS: &str = "---\nquestion: Who bought a lot?\ndatabase: shop\nverified: {by: Ada, on: 2026-01-12}\n---\n\
    SELECT customer_id AS id, SUM(total) AS spent FROM orders WHERE status = 'P' GROUP BY customer_id\n\
    HAVING SUM(total) >= 15 ORDER BY spent DESC\n";

/// Tables in the second of two sources.
const APART: [&str; 4] = ["products", "items", "balances", "spend"];

async fn write_sqlite(path: &Path, sql: &str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Returns the declarations, with `database_of` for each table.
fn declare(databases: &str, database_of: impl Fn(&str) -> &'static str) -> String {
    let declared = TABLES.iter().fold(DECLARED.to_owned(), |text, table| {
        text.replace(&format!("{{{table}}}"), &format!("{}.{table}", database_of(table)))
    });
    format!("{databases}\n{declared}")
}

/// Renders a row for comparison: numbers to six digits, dates without a time.
fn spell(row: &[Value]) -> String {
    let cell = |value: &Value| match value {
        Value::Number(number) => format!("{:.6}", number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => match text.parse::<f64>() {
            Ok(number) => format!("{number:.6}"),
            Err(_) => text.strip_suffix(" 00:00:00").or(text.strip_suffix("T00:00:00")).unwrap_or(text).to_owned(),
        },
        other => other.to_string(),
    };
    row.iter().map(cell).collect::<Vec<_>>().join(" | ")
}

/// Runs all questions against a catalog, and compares the rows with those of the SQL in SQLite.
async fn check(folder: &Path, catalog: &str, options: CatalogOptions<'_>, is_one: bool) {
    let file = folder.join("catalog.yaml");
    std::fs::create_dir(folder.join("queries")).unwrap();
    std::fs::write(folder.join("queries/large-buyers.sql"), LARGE_BUYERS).unwrap();
    std::fs::write(&file, catalog).unwrap();
    let (catalog, problems) = Catalog::open(&file, options).await.unwrap();
    assert!(problems.is_empty(), "{problems:#?}");
    let engine = catalog.engine();
    let reference = folder.join("reference.db");
    write_sqlite(&reference, DATA).await;
    let connector = open(&Place::files(SourceKind::Sqlite, vec![reference])).unwrap();
    let (tables, _) = connector.describe().await.unwrap();
    let reference = Engine::new(vec![Source { name: "all".into(), tables, functions: Vec::new(), connector }]);

    let (mut wrong, mut right, mut joined) = (Vec::new(), 0, 0);
    let cases = std::fs::read_to_string(CASES).unwrap();
    let lines: Vec<&str> = cases.lines().filter(|line| !line.starts_with("##")).collect();
    for pair in lines.chunks(2) {
        let [asked, sql] = pair else { panic!("a question without SQL: {pair:?}") };
        let query: MetricQuery = serde_json::from_str(asked).unwrap_or_else(|error| panic!("{asked}: {error}"));
        let compiled = match catalog.metrics.compile(&engine, &query) {
            Ok((compiled, _)) => compiled,
            Err(failure) => {
                wrong.push(format!("{asked}\n{failure}"));
                continue;
            }
        };
        joined += usize::from(compiled.database.is_none());
        let found = match engine.run(&compiled.sql, compiled.database.as_deref(), 1_000).await {
            Ok(found) => found.rows,
            Err(failure) => {
                wrong.push(format!("{asked}\n{failure}\n{}", compiled.sql));
                continue;
            }
        };
        let expected =
            reference.run(sql, Some("all"), 1_000).await.unwrap_or_else(|failure| panic!("{sql}: {failure}"));
        let mut found: Vec<String> = found.rows.iter().map(|row| spell(row)).collect();
        let mut expected: Vec<String> = expected.rows.rows.iter().map(|row| spell(row)).collect();
        // The order is compared if the question requests one.
        if query.order.is_empty() {
            found.sort();
            expected.sort();
        }
        match found == expected {
            true => right += 1,
            false => wrong.push(format!("{asked}\nfound {found:#?}\nexpected {expected:#?}\n{}", compiled.sql)),
        }
    }
    assert!(wrong.is_empty(), "{right} right, {} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(right >= 60 && (joined == 0) == is_one, "{right} right, {joined} over several sources");
}

#[tokio::test]
async fn matches_handwritten_sql_in_one_database() {
    let folder = tempfile::tempdir().unwrap();
    write_sqlite(&folder.path().join("shop.db"), DATA).await;
    let catalog = declare("databases:\n- {name: shop, path: shop.db, type: sqlite}", |_| "shop");
    check(folder.path(), &catalog, CatalogOptions::default(), true).await;
}

#[tokio::test]
async fn matches_handwritten_sql_over_two_sources() {
    let folder = tempfile::tempdir().unwrap();
    let of = |wanted: &dyn Fn(&str) -> bool| {
        let statements = DATA.split_inclusive(";\n");
        let names = |statement: &str| {
            TABLES.into_iter().find(|table| {
                statement.contains(&format!("TABLE {table} ")) || statement.contains(&format!("INTO {table} "))
            })
        };
        statements.filter(|statement| names(statement).is_some_and(wanted)).collect::<String>()
    };
    write_sqlite(&folder.path().join("shop.db"), &of(&|table| !APART.contains(&table))).await;
    write_sqlite(&folder.path().join("rest.db"), &of(&|table| APART.contains(&table))).await;
    let databases =
        "databases:\n- {name: shop, path: shop.db, type: sqlite}\n- {name: rest, path: rest.db, type: sqlite}";
    let catalog = declare(databases, |table| if APART.contains(&table) { "rest" } else { "shop" });
    check(folder.path(), &catalog, CatalogOptions::default(), false).await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: see .ci/services"]
async fn matches_handwritten_sql_on_postgresql() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    let mut connection = sqlx::PgConnection::connect(url.as_str()).await.unwrap();
    for statement in ["DROP DATABASE IF EXISTS metric_queries", "CREATE DATABASE metric_queries"] {
        sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
    }
    let mut own = url.clone();
    own.set_path("metric_queries");
    let mut connection = sqlx::PgConnection::connect(own.as_str()).await.unwrap();
    sqlx::raw_sql(DATA).execute(&mut connection).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let lookup = |name: &str| (name == "SHOP").then(|| own.to_string());
    let catalog = declare("databases:\n- {name: shop, url: \"${SHOP}\"}", |_| "shop");
    let options = CatalogOptions { environment: &lookup, ..CatalogOptions::default() };
    check(folder.path(), &catalog, options, true).await;
}

#[tokio::test]
#[ignore = "needs a MariaDB server: see .ci/services"]
async fn matches_handwritten_sql_on_mariadb() {
    let Some(url) = server("PROSPECTOR_TEST_MARIADB") else { return };
    let plain = |url: &str| url.replacen("mariadb://", "mysql://", 1);
    let mut connection = sqlx::MySqlConnection::connect(&plain(url.as_str())).await.unwrap();
    for statement in ["DROP DATABASE IF EXISTS metric_queries", "CREATE DATABASE metric_queries"] {
        sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
    }
    let mut own = url.clone();
    own.set_path("metric_queries");
    let mut connection = sqlx::MySqlConnection::connect(&plain(own.as_str())).await.unwrap();
    sqlx::raw_sql(DATA).execute(&mut connection).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let lookup = |name: &str| (name == "SHOP").then(|| own.to_string());
    let catalog = declare("databases:\n- {name: shop, url: \"${SHOP}\"}", |_| "shop");
    let options = CatalogOptions { environment: &lookup, ..CatalogOptions::default() };
    check(folder.path(), &catalog, options, true).await;
}

/// Invalid queries are rejected with a suggestion.
#[tokio::test]
async fn rejects_double_counting_and_unknown_names() {
    let folder = tempfile::tempdir().unwrap();
    write_sqlite(&folder.path().join("shop.db"), DATA).await;
    let file = folder.path().join("catalog.yaml");
    std::fs::write(&file, declare("databases:\n- {name: shop, path: shop.db, type: sqlite}", |_| "shop")).unwrap();
    let (catalog, _) = Catalog::open(&file, CatalogOptions::default()).await.unwrap();
    let engine = catalog.engine();
    let refused = |asked: &str, expected: &str| {
        let query: MetricQuery = serde_json::from_str(asked).unwrap();
        let failure = catalog.metrics.compile(&engine, &query).map(|(compiled, _)| compiled.sql).unwrap_err();
        assert!(failure.to_string().contains(expected), "{asked}: {failure}");
    };
    refused(r#"{"metrics": ["revenue"], "dimensions": ["genre"]}"#, "a row of shop.orders is repeated");
    refused(r#"{"metrics": ["revenue"], "filters": ["genre = 'Rock'"]}"#, "revenue would count it each time");
    refused(r#"{"metrics": ["balance"], "dimensions": ["country"]}"#, "no declared foreign key or join connects");
    refused(r#"{"metrics": ["revenu"]}"#, "did you mean revenue");
    refused(r#"{"metrics": ["revenue"], "dimensions": ["countri"]}"#, "did you mean country");
    refused(r#"{"metrics": ["revenue"], "dimensions": ["order.chanel"]}"#, "did you mean `channel`");
    refused(r#"{"metrics": ["ad_spend"], "grain": "day"}"#, "has the granularity month, and cannot be grouped by day");
    refused(r#"{"metrics": ["revenue_7_days"], "grain": "month"}"#, "which do not consist of whole months");
    refused(r#"{"metrics": ["revenue_7_days"]}"#, "specify a grain");
    refused(r#"{"metrics": ["units"], "filters": ["revenue > 5"]}"#, "add it to `metrics`");
    refused(r#"{"metrics": ["revenue"], "filters": ["time = yesterday"]}"#, "is not a period");
    refused(r#"{"metrics": ["units"], "filters": ["item.qty = 'many'"]}"#, "is not a number");
    refused(r#"{"metrics": []}"#, "the metrics are revenue");
    refused(r#"{"metrics": ["customers"], "segments": ["rock_order"]}"#, "customers would count it each time");
    refused(r#"{"metrics": ["balance"], "segments": ["german"]}"#, "balance cannot be restricted to german");
}

/// Every listed dimension can be queried.
#[tokio::test]
async fn lists_only_supported_dimensions() {
    let folder = tempfile::tempdir().unwrap();
    write_sqlite(&folder.path().join("shop.db"), DATA).await;
    let file = folder.path().join("catalog.yaml");
    std::fs::write(&file, declare("databases:\n- {name: shop, path: shop.db, type: sqlite}", |_| "shop")).unwrap();
    let (catalog, _) = Catalog::open(&file, CatalogOptions::default()).await.unwrap();
    let tools = DiscoveryTools::new(&catalog, Profile::Full);
    for (metric, expected) in [
        ("revenue", &["channel", "country", "size", "status"][..]),
        ("buyers", &["channel", "country", "genre", "size", "status"][..]),
        ("units", &["channel", "country", "genre", "size", "status"][..]),
        ("balance", &["branch"][..]),
    ] {
        let answer = tools.call(DiscoveryTools::SHOW_METRIC, json!({"name": metric})).await.unwrap();
        let listed = answer.json()["dimensions"].as_array().unwrap();
        let mut names: Vec<&str> = listed.iter().map(|name| name.as_str().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, expected, "{metric}");
    }
}

/// Supported declarations of dbt are imported; others are reported with their location.
#[tokio::test]
async fn imports_a_dbt_semantic_manifest() {
    let folder = tempfile::tempdir().unwrap();
    write_sqlite(&folder.path().join("shop.db"), DATA).await;
    std::fs::write(folder.path().join("manifest.json"), include_str!("metric_queries/semantic_manifest.json")).unwrap();
    let file = folder.path().join("catalog.yaml");
    let catalog =
        "databases:\n- {name: shop, path: shop.db, type: sqlite}\nmetrics:\n- {path: manifest.json, database: shop}\n";
    std::fs::write(&file, catalog).unwrap();
    let (catalog, problems) = Catalog::open(&file, CatalogOptions::default()).await.unwrap();
    let reported: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let expected = [
        ("semantic_models.gone", "there is no table `main.no_such_table`"),
        ("metrics.growth", "the `offset_window` of an input"),
        ("metrics.median", "the aggregate `median`"),
        ("metrics.conversion", "metrics of the type `conversion`"),
        ("metrics.empty", "the manifest names no measure"),
        ("semantic_models.numbered.dimensions.numbered_at", "`qty` is not a date column"),
    ];
    assert_eq!(reported.len(), expected.len(), "{reported:#?}");
    for (place, reason) in expected {
        assert!(reported.iter().any(|line| line.contains(place) && line.contains(reason)), "{place}: {reported:#?}");
    }
    let engine = catalog.engine();
    for (asked, expected) in [
        (r#"{"metrics": ["paid revenue", "order_count", "cents"]}"#, "94.500000 | 11.000000 | 9450.000000"),
        (
            r#"{"metrics": ["kept_total", "listed_total", "own_total", "own_rows"]}"#,
            "94.500000 | 94.500000 | 205.500000 | 11.000000",
        ),
        (r#"{"metrics": ["paid_share"]}"#, "0.459854"),
        (r#"{"metrics": ["average"], "filters": ["country = 'FR'"]}"#, "4.416667"),
        (r#"{"metrics": ["revenue"], "filters": ["order__status = 'V'"]}"#, "null"),
        (
            r#"{"metrics": ["running_total"], "grain": "quarter", "filters": ["time = 2024-Q2"]}"#,
            "2024-Q2 | 196.500000",
        ),
        (r#"{"metrics": ["held"], "filters": ["time = 2024-Q1"]}"#, "220.000000"),
    ] {
        let query: MetricQuery = serde_json::from_str(asked).unwrap();
        let (compiled, _) =
            catalog.metrics.compile(&engine, &query).unwrap_or_else(|failure| panic!("{asked}: {failure}"));
        let found = engine.run(&compiled.sql, compiled.database.as_deref(), 10).await.unwrap();
        let found: Vec<String> = found.rows.rows.iter().map(|row| spell(row)).collect();
        assert_eq!(found, [expected], "{asked}");
    }
}

/// Invalid entries are reported with their line and the closest valid name, and do not affect others.
#[tokio::test]
async fn reports_invalid_declarations_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    write_sqlite(&folder.path().join("shop.db"), DATA).await;
    let file = folder.path().join("catalog.yaml");
    let lines = [
        ("databases:", ""),
        ("- {name: shop, path: shop.db, type: sqlite}", ""),
        ("entities:", ""),
        ("- {name: order, table: shop.orders, time: day}", ""),
        ("- {name: customer, table: shop.custmers}", "did you mean `shop.customers`"),
        ("- {name: item, table: shop.items, time: qty}", "`qty` is not a date or time column"),
        ("- {name: product, table: shop.products}", ""),
        ("joins:", ""),
        ("- {from: order.status, to: product.name}", "`product` may have several matching rows"),
        ("dimensions:", ""),
        ("- {name: genre, column: product.gender}", "did you mean `genre`"),
        ("metrics:", ""),
        ("- {name: revenue, entity: order, aggregate: sum, expression: totl}", "did you mean `total`"),
        ("- {name: orders, entity: order, aggregate: cuont}", "did you mean `count`"),
        (
            "- {name: many, entity: order, aggregate: count, filter: \"id IN (SELECT id FROM orders)\"}",
            "it contains a query",
        ),
        ("- {name: channels, entity: order, aggregate: sum, expression: channel}", "`channel` is not numeric"),
        ("- {name: half, kind: derived, expression: whole / 2}", "there is no metric `whole`"),
        ("- {name: round, kind: derived, expression: square * 2}", "`square` is invalid, or depends on this metric"),
        ("- {name: square, kind: derived, expression: round * 2}", "`round` is invalid, or depends on this metric"),
        ("- {name: paid, entity: order, aggregate: count, filtr: x}", "did you mean `filter`"),
        ("- {name: all_orders, entity: order, aggregate: count, synonyms: [everything]}", ""),
        (
            "- {name: largest, entity: order, aggregate: max, expression: total, synonyms: [everything]}",
            "the synonym `everything` of",
        ),
    ];
    std::fs::write(&file, lines.map(|(line, _)| line).join("\n")).unwrap();
    let (catalog, problems) = Catalog::open(&file, CatalogOptions::default()).await.unwrap();
    let reported: Vec<String> = problems.iter().map(ToString::to_string).collect();
    for (at, (line, expected)) in lines.iter().enumerate().filter(|(_, (_, expected))| !expected.is_empty()) {
        let place = format!("catalog.yaml:{}", at + 1);
        let found = reported.iter().any(|problem| problem.contains(&format!("{place}:")) && problem.contains(expected));
        assert!(found, "{line}: {reported:#?}");
    }
    assert_eq!(reported.len(), lines.iter().filter(|(_, expected)| !expected.is_empty()).count(), "{reported:#?}");
    let names: Vec<&str> = catalog.metrics.metrics().iter().map(|metric| metric.name.as_str()).collect();
    assert_eq!(names, ["all_orders", "largest"]);
}

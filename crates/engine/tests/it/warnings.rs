//! Query warnings: the share of plausible but wrong queries that get a warning, and of correct ones that get a false alarm.
//!
//! `warnings/shop.sql` and the files next to it contain the rows: spaces, differences in case, numbers as text, dates in
//! several formats, keys that do not match, nulls. `warnings/nonsense.rs` contains plausible but wrong queries over them,
//! `warnings/right.rs` correct ones.

use std::sync::Arc;

use prospector_engine::query::WarningCode;
use prospector_engine::{Engine, tools};
use prospector_test_support::server;
use serde_json::{Value, json};

mod columns;
mod nonsense;
mod right;

use crate::support::{postgres, source, sqlite};

/// The tables and rows, in SQL that SQLite and PostgreSQL both accept.
const ROWS: &str = include_str!("warnings/shop.sql");

/// The minimum percentage of wrong queries with a warning.
const MIN_WARNED: usize = 95;

/// The maximum percentage of correct queries with a warning.
const MAX_ALARMS: usize = 2;

/// Creates an engine over the database `shop`, and files as `school`.
async fn engine(folder: &std::path::Path) -> Arc<Engine> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let files = vec![
        write("students.csv", include_str!("warnings/students.csv")),
        write("grades.csv", include_str!("warnings/grades.csv")),
    ];
    let place = prospector_connect::source::Source::files(prospector_connect::source::SourceKind::Csv, files);
    let school = prospector_connect::open(&place).unwrap();
    Engine::new(vec![source("shop", sqlite(folder, ROWS).await).await, source("school", school).await])
}

/// Returns the answer of `execute_sql` to one query.
async fn answer(engine: &Arc<Engine>, sql: &str) -> Value {
    let answer = tools(engine).call("execute_sql", json!({"queries": [{"question": "?", "sql": sql}]})).await.unwrap();
    answer.json()[0].clone()
}

/// Returns the warnings in the answer to one query.
async fn warnings(engine: &Arc<Engine>, sql: &str) -> Vec<String> {
    let answer = answer(engine, sql).await;
    assert!(answer["rows"].is_array(), "{sql}: {answer:#}");
    let texts = answer["warnings"].as_array().cloned().unwrap_or_default();
    texts.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn warns_about_plausible_wrong_queries() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let mut warned = 0;
    let all: Vec<_> =
        nonsense::QUERIES.iter().flat_map(|(what, queries)| queries.iter().map(move |q| (*what, q))).collect();
    for (what, (sql, expected)) in &all {
        let texts = warnings(&engine, sql).await;
        // The warning must be about the actual error.
        let is_warned = texts.iter().any(|text| text.contains(expected));
        if !is_warned {
            println!("{what}: silent: {sql}\n  {texts:?}");
        }
        warned += usize::from(is_warned);
    }
    println!("{warned} of {} queries that return nonsense are warned of", all.len());
    assert!(all.len() >= 60);
    assert!(warned * 100 >= all.len() * MIN_WARNED, "{warned} of {}", all.len());
}

#[tokio::test]
async fn correct_queries_have_no_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let queries = right::queries();
    let mut alarms = 0;
    for sql in &queries {
        let texts = warnings(&engine, sql).await;
        if !texts.is_empty() {
            println!("alarm: {sql}\n  {texts:?}");
            alarms += 1;
        }
    }
    println!("{alarms} false alarms for {} right queries", queries.len());
    assert!(queries.len() >= 200, "{}", queries.len());
    assert!(alarms * 100 <= queries.len() * MAX_ALARMS, "{alarms} of {}", queries.len());
}

#[tokio::test]
async fn a_warning_contains_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    for (sql, expected) in [
        (
            "SELECT COUNT(*) FROM shop.airports WHERE City = 'Aberdeen'",
            "no value 'Aberdeen' in `airports.City`: it contains 'Aberdeen ', with a trailing space; compare TRIM(City)",
        ),
        (
            "SELECT COUNT(*) FROM shop.customers WHERE tier = 'VIP'",
            "no value 'VIP' in `customers.tier`: it contains 'vip', in a different case; use 'vip'",
        ),
        (
            "SELECT COUNT(*) FROM shop.airports x WHERE x.City = 'Aberdeen'",
            "no value 'Aberdeen' in `airports.City`: it contains 'Aberdeen ', with a trailing space; compare TRIM(City)",
        ),
        (
            "SELECT COUNT(*) FROM shop.flights f JOIN shop.airports a ON f.dest = a.code",
            "the join on `f.dest = a.code` matches no row: `flights.dest` contains ' ABR', with a leading space; join on TRIM()",
        ),
        (
            "SELECT v.id, a.code FROM shop.votes v JOIN shop.areas a ON v.state = a.state",
            "the join of `votes` with `areas` on `v.state = a.state` multiplies 9 rows to 15",
        ),
        (
            "SELECT name FROM shop.customers ORDER BY is_active DESC, name LIMIT 2",
            "LIMIT 2 cuts a tie: 4 more rows have `is_active` = 1; keep them with RANK() <= 2, or mention the tie",
        ),
    ] {
        let texts = warnings(&engine, sql).await;
        assert!(texts.iter().any(|text| text.starts_with(expected)), "{sql}\n{texts:#?}");
    }
}

/// Creates an engine over the customers and airlines, with personal names, places, tiers and days.
async fn personal(folder: &std::path::Path) -> Arc<Engine> {
    let mut shop = source("shop", sqlite(folder, ROWS).await).await;
    for column in shop.tables.iter_mut().flat_map(|table| &mut table.columns) {
        column.is_personal = ["name", "city", "tier", "joined"].contains(&column.name.as_str());
    }
    Engine::new(vec![shop])
}

#[tokio::test]
async fn warnings_contain_no_values_of_personal_columns() {
    let folder = tempfile::tempdir().unwrap();
    let engine = personal(folder.path()).await;
    let hidden = "similar values are not shown: the column is marked as personal data";
    for (sql, expected) in [
        (
            "SELECT id FROM shop.customers WHERE name = 'Addam'",
            format!("no value 'Addam' in `customers.name`; {hidden}"),
        ),
        ("SELECT id FROM shop.customers WHERE tier = 'VIP'", format!("no value 'VIP' in `customers.tier`; {hidden}")),
        (
            "SELECT id FROM shop.customers WHERE LOWER(city) = 'olso'",
            format!("no value 'olso' in `LOWER(city)`; {hidden}"),
        ),
        ("SELECT id FROM shop.customers WHERE name LIKE 'Zz%'", format!("no `customers.name` matches 'Zz%'; {hidden}")),
        (
            "SELECT c.id FROM shop.customers c JOIN shop.airlines a ON c.name = a.name",
            format!("the join on `c.name = a.name` matches no row; {hidden}"),
        ),
        (
            "SELECT id FROM shop.customers ORDER BY tier LIMIT 2",
            "LIMIT 2 cuts a tie: 2 more rows have the same `tier`".into(),
        ),
        ("SELECT id FROM shop.customers WHERE joined BETWEEN '2030-01-01' AND '2030-12-31'", String::new()),
    ] {
        let texts = warnings(&engine, sql).await;
        assert!(texts.iter().any(|text| text.starts_with(&expected)) || expected.is_empty(), "{sql}\n{texts:#?}");
        for value in ["Ada'", "vip", "basic", "Oslo'", "2023-", "2024-", "Blue Air"] {
            assert!(!texts.iter().any(|text| text.contains(value)), "{value}: {texts:#?}");
        }
    }
}

#[tokio::test]
async fn metadata_contains_no_values_of_personal_columns() {
    let folder = tempfile::tempdir().unwrap();
    let tools = tools(&personal(folder.path()).await);
    let found = tools.call("get_datasource_metadata", json!({"database": "shop", "table": "customers"})).await.unwrap();
    let text = found.json().to_string();
    assert!(text.contains("Norway") && text.contains("\"cardinality\""), "{text}");
    for value in ["Ada", "vip", "Oslo", "2023-"] {
        assert!(!text.contains(value), "{value}: {text}");
    }
}

#[tokio::test]
async fn warns_about_a_query_before_it_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let check = async |sql: &str, is_warned: bool| {
        let answer = tools(&engine).call("validate_query", json!({"sql": sql})).await.unwrap().json().clone();
        assert_eq!(answer["is_valid"], true, "{sql}: {answer:#}");
        assert_eq!(answer["warnings"] != json!([]), is_warned, "{sql}: {answer:#}");
    };
    check("SELECT name FROM shop.customers WHERE city = 'Oslo'", false).await;
    check("SELECT name FROM shop.customers WHERE city = 'Olso'", true).await;
}

/// Returns the codes of the warnings about a query, with and without the rows of its answer.
async fn codes(engine: &Arc<Engine>, sql: &str) -> [Vec<WarningCode>; 2] {
    let outcome = engine.run(sql, None, 50).await.unwrap();
    let known = engine.warnings(sql, None, Some(&outcome.rows)).await;
    let unknown = engine.warnings(sql, None, None).await;
    [known, unknown].map(|all| all.into_iter().map(|warning| warning.code).collect())
}

#[tokio::test]
async fn reports_the_kind_of_each_warning() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    for (sql, expected) in [
        ("SELECT SUM(o.total) FROM shop.orders o JOIN shop.items i ON i.order_id = o.id", WarningCode::RepeatedRows),
        ("SELECT c.name FROM shop.customers c, shop.orders o WHERE o.total > 60", WarningCode::CrossJoin),
        ("SELECT COUNT(*) FROM shop.flights f JOIN shop.airports a ON f.dest = a.code", WarningCode::EmptyJoin),
        ("SELECT COUNT(*) FROM shop.customers WHERE city = 'Olso'", WarningCode::UnknownValue),
        (
            "SELECT SUM(total) FROM shop.orders WHERE placed >= '2019-01-01' AND placed < '2020-01-01'",
            WarningCode::OutsidePeriod,
        ),
        (
            "SELECT SUM(total) FROM shop.orders WHERE placed BETWEEN '2030-01-01' AND '2030-12-31'",
            WarningCode::OutsidePeriod,
        ),
        ("SELECT COUNT(*) FROM shop.orders WHERE strftime('%Y', placed) = '2019'", WarningCode::OutsidePeriod),
        ("SELECT COUNT(*) FROM shop.customers WHERE country = NULL", WarningCode::NullComparison),
        ("SELECT COUNT(*) FROM shop.customers WHERE country NOT IN ('Norway', NULL)", WarningCode::NullInExclusion),
        (
            "SELECT name FROM shop.customers WHERE id NOT IN (SELECT customer_id FROM shop.orders)",
            WarningCode::NullInExclusion,
        ),
        ("SELECT name FROM shop.customers ORDER BY is_active DESC LIMIT 2", WarningCode::Ties),
        // A name orders tied rows, but does not rank them.
        ("SELECT name FROM shop.customers ORDER BY is_active DESC, name LIMIT 2", WarningCode::Ties),
        (
            "SELECT c.city, COUNT(*) AS n FROM shop.customers c GROUP BY c.city ORDER BY n DESC, c.city LIMIT 3",
            WarningCode::Ties,
        ),
        (
            "SELECT c.tier, COUNT(*) AS n FROM shop.customers c GROUP BY c.tier HAVING COUNT(*) < 4 ORDER BY n LIMIT 1",
            WarningCode::Ties,
        ),
        (
            "SELECT COUNT(*) FROM (SELECT name FROM shop.customers ORDER BY is_active DESC LIMIT 2) AS top",
            WarningCode::Ties,
        ),
        (
            "WITH top AS (SELECT id, name FROM shop.customers ORDER BY is_active DESC LIMIT 2) \
             SELECT SUM(o.total) FROM shop.orders o WHERE o.customer_id IN (SELECT id FROM top)",
            WarningCode::Ties,
        ),
        (
            "SELECT SUM(t.total) FROM (SELECT o.total, i.product_id FROM shop.orders o JOIN shop.items i \
             ON i.order_id = o.id) AS t",
            WarningCode::RepeatedRows,
        ),
        (
            "SELECT SUM(net) FROM (SELECT o.total * 2 AS net FROM shop.orders o JOIN shop.items i ON i.order_id = o.id \
             WHERE o.total > 1) AS t WHERE net > 3",
            WarningCode::RepeatedRows,
        ),
    ] {
        for found in codes(&engine, sql).await {
            assert!(found.contains(&expected), "{sql}: {found:?}");
        }
    }
}

#[tokio::test]
async fn reports_the_range_of_a_column_outside_of_a_period() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let sql = "SELECT SUM(total) FROM shop.orders WHERE placed >= '2019-01-01' AND placed < '2020-01-01'";
    let found = engine.warnings(sql, None, None).await;
    let expected = "no `orders.placed` from 2019-01-01 to 2020-01-01: the column contains 2024-01-03 to 2024-05-06";
    assert!(found.iter().any(|warning| warning.message == expected), "{found:?}");
}

#[tokio::test]
async fn accepts_a_bridge_table_that_multiplies_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let bridge =
        "FROM shop.orders o JOIN shop.items i ON i.order_id = o.id JOIN shop.products p ON p.id = i.product_id";
    // No order has the same product twice.
    for sql in [
        format!("SELECT SUM(o.total) {bridge} WHERE p.title = 'Pen'"),
        format!("SELECT p.title, SUM(o.total) {bridge} GROUP BY p.title"),
        format!("SELECT p.title AS product, AVG(o.total) {bridge} GROUP BY 1"),
    ] {
        for found in codes(&engine, &sql).await {
            assert!(!found.contains(&WarningCode::RepeatedRows), "{sql}: {found:?}");
        }
    }
    let multiplied = format!("SELECT p.category, SUM(o.total) {bridge} GROUP BY p.category");
    for found in codes(&engine, &multiplied).await {
        assert!(found.contains(&WarningCode::RepeatedRows), "{multiplied}: {found:?}");
    }
}

#[tokio::test]
async fn accepts_casts_that_a_case_guards() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let codes_of = async |value: &str| codes(&engine, &format!("SELECT AVG({value}) FROM shop.products p")).await;
    for guarded in [
        "CASE WHEN p.list_price LIKE '%,%' OR p.list_price = 'n/a' THEN NULL ELSE CAST(p.list_price AS REAL) END",
        "CASE WHEN p.list_price = 'n/a' THEN 0 WHEN p.list_price LIKE '%,%' THEN 1 ELSE 2 * CAST(p.list_price AS REAL) END",
        "CASE p.list_price WHEN 'n/a' THEN 0 WHEN '1,450' THEN 1450 ELSE CAST(p.list_price AS REAL) END",
        "CASE WHEN p.category = 'Home' THEN CAST(p.list_price AS REAL) END",
    ] {
        for found in codes_of(guarded).await {
            assert!(!found.contains(&WarningCode::TextArithmetic), "{guarded}: {found:?}");
        }
    }
    for unguarded in [
        "CASE WHEN p.list_price = 'n/a' THEN 0 ELSE CAST(p.list_price AS REAL) END",
        "CASE WHEN p.category = 'Office' THEN CAST(p.list_price AS REAL) END",
        "CASE WHEN p.list_price LIKE '%,%' OR p.list_price = 'n/a' THEN CAST(p.list_price AS REAL) ELSE 0 END",
    ] {
        for found in codes_of(unguarded).await {
            assert!(found.contains(&WarningCode::TextArithmetic), "{unguarded}: {found:?}");
        }
    }
}

#[tokio::test]
async fn accepts_counts_of_joined_rows() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let payments = "FROM shop.payments p LEFT JOIN shop.orders o ON o.id = p.order_id";
    let items = "FROM shop.items i JOIN shop.orders o ON o.id = i.order_id JOIN shop.products p ON p.id = i.product_id";
    for (sql, is_reported) in [
        (format!("SELECT COUNT(*), SUM(CASE WHEN o.id IS NULL THEN 1 ELSE 0 END) {payments}"), false),
        (format!("SELECT SUM(CASE WHEN o.id IS NULL THEN 1 END) {payments}"), false),
        // A value of the order and the product belongs to the item.
        (format!("SELECT SUM(CASE WHEN o.status = p.category THEN 1 ELSE 0 END) {items}"), false),
        (format!("SELECT SUM(CASE WHEN o.id IS NULL THEN 0 ELSE 1 END) {payments}"), true),
        (format!("SELECT SUM(CASE WHEN o.customer_id IS NULL THEN 1 ELSE 0 END) {payments}"), true),
        (format!("SELECT SUM(CASE WHEN o.id IS NULL THEN 1 ELSE o.total END) {payments}"), true),
        (format!("SELECT SUM(CASE WHEN o.status = 'Paid' THEN 1 ELSE 0 END) {items}"), true),
        (
            format!(
                "SELECT SUM(CASE WHEN o.placed < c.joined THEN 1 ELSE 0 END) {items} \
                 JOIN shop.customers c ON c.id = o.customer_id"
            ),
            true,
        ),
    ] {
        for found in codes(&engine, &sql).await {
            assert_eq!(found.contains(&WarningCode::RepeatedRows), is_reported, "{sql}: {found:?}");
        }
    }
}

#[tokio::test]
async fn accepts_an_unambiguous_order() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    for sql in [
        "SELECT name FROM shop.customers ORDER BY is_active DESC, id LIMIT 2",
        "SELECT name FROM shop.customers ORDER BY is_active DESC, joined LIMIT 2",
        "SELECT name FROM shop.customers ORDER BY country, name LIMIT 2",
        "SELECT name FROM shop.customers ORDER BY id LIMIT 3 OFFSET 1",
        "SELECT total FROM shop.orders ORDER BY 1 DESC LIMIT 10",
        "SELECT name FROM shop.customers LIMIT 2",
        "SELECT COUNT(*) FROM (SELECT name FROM shop.customers ORDER BY id LIMIT 2) AS top",
    ] {
        for found in codes(&engine, sql).await {
            assert!(!found.contains(&WarningCode::Ties), "{sql}: {found:?}");
        }
    }
}

#[tokio::test]
async fn hidden_tables_are_not_examined() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let answer = answer(&engine, "SELECT COUNT(*) FROM shop.secret WHERE word = 'x'").await;
    assert_eq!(answer["error"], "unknown_table");
    assert!(answer["warnings"].is_null(), "{answer:#}");
    assert!(!answer.to_string().contains("swordfish"));
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn postgres_has_the_same_warnings() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    let (_, connector) = postgres(&url, "engine_warnings", ROWS).await;
    let engine = Engine::new(vec![source("shop", connector).await]);
    for (sql, expected) in [
        ("SELECT COUNT(*) FROM shop.customers WHERE tier = 'VIP'", "'vip'"),
        ("SELECT COUNT(*) FROM shop.flights f JOIN shop.airports a ON f.dest = a.code", "leading space"),
        ("SELECT SUM(o.total) FROM shop.orders o JOIN shop.items i ON i.order_id = o.id", "multiplies"),
    ] {
        let texts = warnings(&engine, sql).await;
        assert!(texts.iter().any(|text| text.contains(expected)), "{sql}\n{texts:#?}");
    }
    for sql in ["SELECT COUNT(*) FROM shop.customers WHERE tier = 'vip'", "SELECT SUM(total) FROM shop.orders"] {
        assert_eq!(warnings(&engine, sql).await, Vec::<String>::new(), "{sql}");
    }
}

/// Comparisons that SQLite answers the same for every row, and those that it converts.
#[tokio::test]
async fn warns_about_texts_compared_with_numbers_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let rows =
        "CREATE TABLE shows (id INTEGER PRIMARY KEY, added DATE NOT NULL, seen VARCHAR(20) NOT NULL, stars VARCHAR(4));
        INSERT INTO shows VALUES (1, '2015-06-01', '2015-06-01', '3'), (2, '2016-03-04', '2016-03-04', '4'),
        (3, '2019-12-31', '2019-12-31', '5'), (4, '2021-01-01', '2021-01-01', '1');";
    let engine = Engine::new(vec![source("tv", sqlite(folder.path(), rows).await).await]);
    let wrong = [
        "strftime('%Y', added) BETWEEN 2016 AND 2020",
        "strftime('%Y', added) >= 2016",
        "strftime('%Y', added) = 2016",
        "strftime('%Y', added) IN (2016, 2017)",
        "substr(seen, 1, 4) >= 2016",
        "substr(seen, 1, 4) BETWEEN 2016 AND 2020",
        "added >= '2016' AND added < '2021'",
        "added BETWEEN '2016' AND '2020'",
        "added >= 2016",
        "added > 20160101",
        "julianday(added) > '2016-01-01'",
        "date(seen) >= 2016",
    ];
    let right = [
        "strftime('%Y', added) BETWEEN '2016' AND '2020'",
        "CAST(strftime('%Y', added) AS INTEGER) >= 2016",
        "CAST(substr(seen, 1, 4) AS INTEGER) BETWEEN 2016 AND 2020",
        "added >= '2016-01-01' AND added < '2021-01-01'",
        "added BETWEEN '2016-01-01' AND '2020-12-31'",
        "seen >= '2016'",
        "julianday(added) > julianday('2016-01-01')",
        "id >= '2'",
        "id > 1",
        "length(seen) > 5",
        "stars = 4",
    ];
    let is_warned = async |condition: &str| {
        let sql = format!("SELECT COUNT(*) FROM tv.shows WHERE {condition}");
        codes(&engine, &sql).await.iter().all(|found| found.contains(&WarningCode::TextComparison))
    };
    for condition in wrong {
        assert!(is_warned(condition).await, "{condition}");
    }
    for condition in right {
        assert!(!is_warned(condition).await, "{condition}");
    }
    let texts = warnings(&engine, "SELECT COUNT(*) FROM tv.shows WHERE strftime('%Y', added) IN (2016)").await;
    assert_eq!(
        texts,
        [
            "`strftime('%Y', added)` returns texts such as '2015', and `strftime('%Y', added) IN (2016)` compares them with a number: \
          SQLite orders every number before every text; write '2016' as text, or use CAST(strftime('%Y', added) AS INTEGER)"
        ]
    );
}

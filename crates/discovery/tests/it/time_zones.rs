//! Metrics in a time zone: in one database, over two sources, and on servers. Each row in `time_zones/data.sql` has a distinct amount, so
//! that a sum identifies the rows it includes; questions and answers are in one file per zone.

use std::path::Path;

use prospector_discovery::{Catalog, CatalogOptions};
use prospector_engine::Failure;
use prospector_semantics::MetricQuery;
use prospector_test_support::server;
use serde_json::Value;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

const DATA: &str = include_str!("time_zones/data.sql");
const DECLARED: &str = include_str!("time_zones/catalog.yaml");
const TABLES: [&str; 3] = ["orders", "refunds", "calls"];

/// The zones, with the questions and answers of each.
const ZONES: [(&str, &str); 2] = [
    ("Europe/Berlin", include_str!("time_zones/berlin.txt")),
    ("America/New_York", include_str!("time_zones/new_york.txt")),
];

/// Returns the rows, with the column types of times in UTC and of local times.
fn data(moment: &str, clock: &str) -> String {
    DATA.replace("{moment}", moment).replace("{clock}", clock)
}

/// Returns the declarations, with `database_of` for each table.
fn declare(databases: &str, zone: &str, database_of: impl Fn(&str) -> &'static str) -> String {
    let declared = TABLES.iter().fold(DECLARED.replace("{zone}", zone), |text, table| {
        text.replace(&format!("{{{table}}}"), &format!("{}.{table}", database_of(table)))
    });
    format!("{databases}\n{declared}")
}

async fn write_sqlite(path: &Path, sql: &str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Renders a row for comparison.
fn spell(row: &[Value]) -> String {
    let cell = |value: &Value| match value {
        Value::String(text) => text.parse::<f64>().map_or_else(|_| text.clone(), |number| number.to_string()),
        Value::Number(number) => number.as_f64().unwrap_or(f64::NAN).to_string(),
        other => other.to_string(),
    };
    row.iter().map(cell).collect::<Vec<_>>().join(" | ")
}

/// Opens a catalog, and checks that it has no problems.
async fn open(folder: &Path, text: &str, options: CatalogOptions<'_>) -> Catalog {
    let file = folder.join("catalog.yaml");
    std::fs::write(&file, text).unwrap();
    let (catalog, problems) = Catalog::open(&file, options).await.unwrap();
    assert!(problems.is_empty(), "{problems:#?}");
    catalog
}

/// Returns the sorted rows of the answer, and whether one database computed it.
async fn ask(catalog: &Catalog, asked: &str) -> Result<(String, bool), Failure> {
    let query: MetricQuery = serde_json::from_str(asked).unwrap_or_else(|error| panic!("{asked}: {error}"));
    let engine = catalog.engine();
    let (compiled, _) = catalog.metrics.compile(&engine, &query)?;
    let found = engine.run(&compiled.sql, compiled.database.as_deref(), 1_000).await?;
    let mut rows: Vec<String> = found.rows.rows.iter().map(|row| spell(row)).collect();
    rows.sort();
    Ok((rows.join("; "), compiled.database.is_some()))
}

/// Checks all questions of a zone.
async fn check(catalog: &Catalog, cases: &str) {
    let lines: Vec<&str> = cases.lines().filter(|line| !line.starts_with("##")).collect();
    let mut wrong = Vec::new();
    for pair in lines.chunks(2) {
        let [asked, expected] = pair else { panic!("a question without an answer: {pair:?}") };
        match ask(catalog, asked).await {
            Ok((found, _)) if found == *expected => {}
            Ok((found, _)) => wrong.push(format!("{asked}\nfound    {found}\nexpected {expected}")),
            Err(failure) => wrong.push(format!("{asked}\n{failure}")),
        }
    }
    assert!(wrong.is_empty() && lines.len() > 10, "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

const ONE: &str = "databases:\n- {name: shop, path: shop.db, type: sqlite}";

#[tokio::test]
async fn uses_periods_of_the_zone_in_one_database() {
    for (zone, cases) in ZONES {
        let folder = tempfile::tempdir().unwrap();
        write_sqlite(&folder.path().join("shop.db"), &data("TIMESTAMP", "TIMESTAMP")).await;
        let catalog = open(folder.path(), &declare(ONE, zone, |_| "shop"), CatalogOptions::default()).await;
        check(&catalog, cases).await;
    }
}

#[tokio::test]
async fn uses_periods_of_the_zone_over_two_sources() {
    for (zone, cases) in ZONES {
        let folder = tempfile::tempdir().unwrap();
        for database in ["shop.db", "rest.db"] {
            write_sqlite(&folder.path().join(database), &data("TIMESTAMP", "TIMESTAMP")).await;
        }
        let databases =
            "databases:\n- {name: shop, path: shop.db, type: sqlite}\n- {name: rest, path: rest.db, type: sqlite}";
        let home = |table: &str| if table == "refunds" { "rest" } else { "shop" };
        let catalog = open(folder.path(), &declare(databases, zone, home), CatalogOptions::default()).await;
        check(&catalog, cases).await;
        let both = r#"{"metrics": ["revenue", "refunded"], "grain": "month", "filters": ["time = 2025-03"]}"#;
        assert!(!ask(&catalog, both).await.unwrap().1);
    }
}

/// SQLite has no time zones: queries without a limited period are computed outside of it, if possible.
#[tokio::test]
async fn sqlite_computes_periods_of_a_few_years() {
    let folder = tempfile::tempdir().unwrap();
    write_sqlite(&folder.path().join("shop.db"), &data("TIMESTAMP", "TIMESTAMP")).await;
    let catalog = open(folder.path(), &declare(ONE, "Europe/Berlin", |_| "shop"), CatalogOptions::default()).await;
    let is_own =
        async |asked: &str| ask(&catalog, asked).await.unwrap_or_else(|failure| panic!("{asked}: {failure}")).1;
    assert!(is_own(r#"{"metrics": ["revenue"], "filters": ["time >= 1990"]}"#).await);
    assert!(is_own(r#"{"metrics": ["revenue"], "grain": "day", "filters": ["time between 2023 and 2025"]}"#).await);
    let quarters = |from: u32| {
        format!(r#"{{"metrics": ["revenue"], "grain": "fiscal_quarter", "filters": ["time between {from} and 2025"]}}"#)
    };
    assert!(is_own(&quarters(2024)).await && !is_own(&quarters(2020)).await);
    assert!(is_own(r#"{"metrics": ["booked"], "grain": "day"}"#).await);
    assert!(!is_own(r#"{"metrics": ["revenue"], "grain": "day"}"#).await);
    assert!(!is_own(r#"{"metrics": ["revenue"], "grain": "day", "filters": ["time between 1990 and 2025"]}"#).await);
    for asked in [
        r#"{"metrics": ["refunded"], "grain": "month"}"#,
        r#"{"metrics": ["refunded"], "grain": "month", "filters": ["time between 1990 and 2025"]}"#,
    ] {
        let failure = ask(&catalog, asked).await.unwrap_err().to_string();
        assert!(failure.contains("is stored in America/New_York") && failure.contains("a few years"), "{failure}");
    }
}

/// SQLite stores times as texts in several formats.
#[tokio::test]
async fn parses_times_in_every_text_format() {
    let folder = tempfile::tempdir().unwrap();
    let data = "CREATE TABLE orders (id INTEGER PRIMARY KEY, placed_at TEXT, amount INTEGER);
        INSERT INTO orders VALUES (1, '2025-03-29T22:59:59Z', 1), (2, '2025-03-29T23:00:00Z', 2), (3, '2025-03-30T21:59:59.999', 4),
        (4, '2025-03-30 22:00:00', 8), (5, '2025-03-31T00:30:00+03:00', 16), (6, '2025-03-29T20:00:00-05:00', 32);";
    write_sqlite(&folder.path().join("shop.db"), data).await;
    let declared = "time_zone: Europe/Berlin\nentities:\n\
        - {name: order, table: shop.orders, time: placed_at, stored_in: UTC}\nmetrics:\n\
        - {name: revenue, entity: order, aggregate: sum, expression: amount}\n";
    let catalog = open(folder.path(), &format!("{ONE}\n{declared}"), CatalogOptions::default()).await;
    for (asked, expected) in [
        (r#"{"metrics": ["revenue"], "filters": ["time = 2025-03-30"]}"#, "54"),
        (
            r#"{"metrics": ["revenue"], "grain": "day", "filters": ["time = 2025-03"]}"#,
            "2025-03-29 | 1; 2025-03-30 | 54; 2025-03-31 | 8",
        ),
        (r#"{"metrics": ["revenue"], "grain": "day"}"#, "2025-03-29 | 1; 2025-03-30 | 54; 2025-03-31 | 8"),
    ] {
        assert_eq!(ask(&catalog, asked).await.unwrap().0, expected, "{asked}");
    }
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: see .ci/services"]
async fn uses_periods_of_the_zone_on_postgresql() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    for (name, moment, declared) in
        [("time_zones", "TIMESTAMP", ", stored_in: UTC"), ("time_zones_typed", "TIMESTAMP WITH TIME ZONE", "")]
    {
        let mut connection = sqlx::PgConnection::connect(url.as_str()).await.unwrap();
        for statement in [format!("DROP DATABASE IF EXISTS {name}"), format!("CREATE DATABASE {name}")] {
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
        }
        let mut own = url.clone();
        own.set_path(name);
        let mut connection = sqlx::PgConnection::connect(own.as_str()).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(data(moment, "TIMESTAMP"))).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        for (zone, cases) in ZONES {
            let folder = tempfile::tempdir().unwrap();
            let lookup = |name: &str| (name == "SHOP").then(|| own.to_string());
            let text = declare("databases:\n- {name: shop, url: \"${SHOP}\"}", zone, |_| "shop");
            let options = CatalogOptions { environment: &lookup, ..CatalogOptions::default() };
            let catalog = open(folder.path(), &text.replace(", stored_in: UTC", declared), options).await;
            check(&catalog, cases).await;
            let all = ask(&catalog, r#"{"metrics": ["refunded"], "grain": "year"}"#).await.unwrap();
            assert_eq!(all, ("2025 | 127".to_owned(), true), "{zone}");
        }
    }
}

#[tokio::test]
#[ignore = "needs a MariaDB server: see .ci/services"]
async fn uses_periods_of_the_zone_on_mariadb() {
    let Some(url) = server("PROSPECTOR_TEST_MARIADB") else { return };
    let plain = |url: &str| url.replacen("mariadb://", "mysql://", 1);
    let mut connection = sqlx::MySqlConnection::connect(&plain(url.as_str())).await.unwrap();
    for statement in ["DROP DATABASE IF EXISTS time_zones", "CREATE DATABASE time_zones"] {
        sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
    }
    let mut own = url.clone();
    own.set_path("time_zones");
    let mut connection = sqlx::MySqlConnection::connect(&plain(own.as_str())).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(data("DATETIME", "DATETIME"))).execute(&mut connection).await.unwrap();
    for (zone, cases) in ZONES {
        let folder = tempfile::tempdir().unwrap();
        let lookup = |name: &str| (name == "SHOP").then(|| own.to_string());
        let text = declare("databases:\n- {name: shop, url: \"${SHOP}\"}", zone, |_| "shop");
        let options = CatalogOptions { environment: &lookup, ..CatalogOptions::default() };
        check(&open(folder.path(), &text, options).await, cases).await;
    }
}

/// Invalid zones are reported with their line and the closest valid name; missing zones are reported once.
#[tokio::test]
async fn reports_invalid_zones_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    write_sqlite(&folder.path().join("shop.db"), &data("TIMESTAMP", "TIMESTAMP")).await;
    let file = folder.path().join("catalog.yaml");
    let check_problems = async |lines: &[(&str, &str)]| {
        let text: Vec<&str> = lines.iter().map(|(line, _)| *line).collect();
        std::fs::write(&file, format!("{ONE}\n{}\n", text.join("\n"))).unwrap();
        let (_, problems) = Catalog::open(&file, CatalogOptions::default()).await.unwrap();
        let reported: Vec<String> = problems.iter().map(ToString::to_string).collect();
        for (at, (line, expected)) in lines.iter().enumerate().filter(|(_, (_, expected))| !expected.is_empty()) {
            let place = format!("catalog.yaml:{}:", at + 3);
            assert!(
                reported.iter().any(|problem| problem.contains(&place) && problem.contains(expected)),
                "{line}: {reported:#?}"
            );
        }
        assert_eq!(reported.len(), lines.iter().filter(|(_, expected)| !expected.is_empty()).count(), "{reported:#?}");
    };
    check_problems(&[
        ("time_zone: Europe/Berln", "did you mean `Europe/Berlin`"),
        ("entities:", ""),
        ("- {name: order, table: shop.orders, time: placed_at, stored_in: America/NewYork}", "`America/New_York`"),
        ("- {name: refund, table: shop.refunds, stored_in: UTC}", "`stored_in` requires a `time` column"),
        ("- {name: call, table: shop.calls, time: begun_at, stored_in: {begun: UTC}}", "did you mean `begun_at`"),
        ("- {name: day, table: shop.orders, time: day, stored_in: UTC}", "`day` contains dates without a time"),
    ])
    .await;
    check_problems(&[
        ("time_zone: Europe/Berlin", ""),
        ("entities:", ""),
        ("- {name: order, table: shop.orders, time: placed_at}", ""),
        ("- {name: refund, table: shop.refunds, time: paid_at, stored_in: UTC}", ""),
        ("- {name: other, table: shop.refunds, stored_in: {paid_at: Asia/Tokyo}}", "`paid_at` is declared as UTC at"),
        ("- {name: booking, table: shop.orders, time: day}", ""),
        (
            "- {name: call, table: shop.calls, time: begun_at}",
            "the time zone of `call.begun_at`, `order.placed_at` is not declared",
        ),
    ])
    .await;
}

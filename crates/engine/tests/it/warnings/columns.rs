//! The columns of a result that a warning is about: statements with the code of the warning and its columns, none for all rows.

use prospector_engine::query::WarningCode::{self, *};

use super::engine;

const ITEMS: &str = "FROM shop.orders o JOIN shop.items i ON i.order_id = o.id";

/// Statements with suspect values in some columns. `{items}` is a join that multiplies orders.
const SOME: &[(&str, WarningCode, &[&str])] = &[
    ("SELECT COUNT(DISTINCT o.id) AS orders, SUM(o.total) AS revenue {items}", RepeatedRows, &["revenue"]),
    (
        "SELECT o.status, SUM(i.qty) AS pieces, SUM(o.total) AS revenue {items} GROUP BY o.status",
        RepeatedRows,
        &["revenue"],
    ),
    ("SELECT o.status, AVG(o.total), MAX(o.total) AS most {items} GROUP BY 1", RepeatedRows, &["AVG(o.total)"]),
    (
        "SELECT SUM(o.total) AS revenue, ROUND(AVG(o.total), 2) AS mean, SUM(i.qty) AS pieces {items}",
        RepeatedRows,
        &["revenue", "mean"],
    ),
    (
        "SELECT UPPER(o.status) AS state, GROUP_CONCAT(o.status) AS all_states, SUM(o.total) AS revenue {items} \
         GROUP BY UPPER(o.status) ORDER BY state",
        RepeatedRows,
        &["all_states", "revenue"],
    ),
    (
        "SELECT SUM(o.total) AS revenue, SUM(o.total) / COUNT(DISTINCT o.id) AS each, COUNT(DISTINCT i.id) AS items {items}",
        RepeatedRows,
        &["revenue", "each"],
    ),
    (
        "WITH sums AS (SELECT o.status, SUM(o.total) AS revenue, SUM(i.qty) AS pieces {items} GROUP BY o.status) \
         SELECT status, pieces, revenue * 2 AS twice FROM sums ORDER BY pieces",
        RepeatedRows,
        &["twice"],
    ),
    (
        "SELECT s.status, s.pieces, s.revenue FROM (SELECT o.status, SUM(o.total) AS revenue, SUM(i.qty) AS pieces \
         {items} GROUP BY o.status) AS s WHERE s.pieces > 1",
        RepeatedRows,
        &["revenue"],
    ),
    (
        "WITH sums AS (SELECT o.status, SUM(o.total) AS revenue, SUM(i.qty) AS pieces {items} GROUP BY o.status) \
         SELECT * FROM sums",
        RepeatedRows,
        &["revenue"],
    ),
    (
        "SELECT c.id, COUNT(*) AS orders, COUNT(o.id) AS real, SUM(o.total) AS revenue FROM shop.customers c \
         LEFT JOIN shop.orders o ON o.customer_id = c.id GROUP BY c.id",
        UnmatchedRows,
        &["orders"],
    ),
    (
        "SELECT COUNT(*) AS everyone, SUM(CASE WHEN tier = 'VIP' THEN 1 ELSE 0 END) AS vips FROM shop.customers",
        UnknownValue,
        &["vips"],
    ),
    (
        "SELECT COUNT(*) AS orders, SUM(CASE WHEN placed >= '2019-01-01' AND placed < '2020-01-01' THEN total END) AS old \
         FROM shop.orders",
        OutsidePeriod,
        &["old"],
    ),
    (
        "SELECT COUNT(*) AS n, SUM(CASE WHEN country = NULL THEN 1 ELSE 0 END) AS none FROM shop.customers",
        NullComparison,
        &["none"],
    ),
    ("SELECT COUNT(*) AS n, MAX(weight) AS heaviest FROM shop.products", TextOrder, &["heaviest"]),
    ("SELECT COUNT(*) AS n, SUM(list_price) AS prices FROM shop.products", TextArithmetic, &["prices"]),
    ("SELECT title, CAST(list_price AS REAL) AS price FROM shop.products", TextArithmetic, &["price"]),
    ("SELECT id, amount, strftime('%Y', paid_on) AS year FROM shop.payments", UnreadDate, &["year"]),
    (
        "SELECT COUNT(*) AS orders, SUM(CASE WHEN status = 'Open' THEN 1 ELSE 0 END) / COUNT(*) AS share FROM shop.orders",
        IntegerDivision,
        &["share"],
    ),
];

/// Statements whose suspect values affect all rows, or cannot be followed.
const ALL: &[(&str, WarningCode)] = &[
    (
        "SELECT o.status, SUM(i.qty) AS pieces, SUM(o.total) AS revenue {items} GROUP BY o.status ORDER BY revenue DESC",
        RepeatedRows,
    ),
    (
        "SELECT o.status, SUM(i.qty) AS pieces, SUM(o.total) AS revenue {items} GROUP BY 1 ORDER BY 3 LIMIT 2",
        RepeatedRows,
    ),
    ("SELECT o.status, SUM(i.qty), SUM(o.total) {items} GROUP BY o.status ORDER BY SUM(o.total)", RepeatedRows),
    ("SELECT o.status, SUM(i.qty) AS pieces {items} GROUP BY o.status HAVING SUM(o.total) > 10", RepeatedRows),
    ("SELECT o.status, SUM(i.qty) AS n, SUM(o.total) AS revenue {items} GROUP BY 1 HAVING revenue > 10", RepeatedRows),
    ("SELECT DISTINCT o.status, SUM(o.total) AS revenue {items} GROUP BY o.status", RepeatedRows),
    (
        "WITH sums AS (SELECT o.status, SUM(o.total) AS revenue, SUM(i.qty) AS pieces {items} GROUP BY o.status) \
         SELECT status, pieces FROM sums WHERE revenue > 10",
        RepeatedRows,
    ),
    (
        "WITH sums AS (SELECT o.customer_id, SUM(o.total) AS revenue {items} GROUP BY o.customer_id) \
         SELECT c.name FROM shop.customers c JOIN sums s ON s.revenue > c.id",
        RepeatedRows,
    ),
    (
        "SELECT name FROM shop.customers WHERE id IN (SELECT o.customer_id {items} GROUP BY 1 HAVING SUM(o.total) > 10)",
        RepeatedRows,
    ),
    ("SELECT SUM(t.total) AS revenue FROM (SELECT o.total, i.qty {items}) AS t", RepeatedRows),
    ("SELECT status, SUM(total) AS revenue FROM shop.orders WHERE status = 'paid' GROUP BY status", UnknownValue),
    (
        "SELECT SUM(CASE WHEN tier = 'VIP' THEN 1 END) AS vips, COUNT(*) AS n FROM shop.customers WHERE tier <> 'VIP'",
        UnknownValue,
    ),
    ("SELECT COUNT(*), MAX(id) FROM shop.customers WHERE country = NULL", NullComparison),
    ("SELECT COUNT(*), MAX(f.id) FROM shop.flights f JOIN shop.airports a ON f.dest = a.code", EmptyJoin),
    ("SELECT c.name, o.total FROM shop.customers c, shop.orders o WHERE o.total > 60", CrossJoin),
    ("SELECT SUM(total) FROM shop.orders WHERE placed BETWEEN '2030-01-01' AND '2030-12-31'", OutsidePeriod),
    ("SELECT name, is_active FROM shop.customers ORDER BY is_active DESC LIMIT 2", Ties),
    ("SELECT city, COUNT(*) AS n, MAX(id) AS last FROM shop.customers GROUP BY city", SplitGroup),
    ("SELECT title, weight FROM shop.products ORDER BY weight DESC LIMIT 2", TextOrder),
];

#[tokio::test]
async fn a_warning_names_the_columns_that_it_is_about() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let all = ALL.iter().map(|(sql, code)| (*sql, *code, &[][..]));
    let cases: Vec<_> = SOME.iter().map(|(sql, code, columns)| (*sql, *code, *columns)).chain(all).collect();
    let mut wrong = Vec::new();
    for (sql, code, expected) in &cases {
        let sql = sql.replace("{items}", ITEMS);
        let rows = engine.run(&sql, None, 50).await.unwrap_or_else(|failure| panic!("{sql}: {failure}")).rows;
        let found = engine.warnings(&sql, None, Some(&rows)).await;
        match found.iter().find(|warning| warning.code == *code) {
            Some(warning) if warning.columns == *expected => {}
            Some(warning) => wrong.push(format!("{sql}\n  {:?}, not {expected:?}", warning.columns)),
            None => wrong.push(format!("{sql}\n  no {code:?}: {found:?}")),
        }
    }
    println!("the columns of {} of {} warnings are right", cases.len() - wrong.len(), cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_warning_about_a_tie_counts_the_tied_rows() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    for (sql, expected) in [
        ("SELECT name, is_active FROM shop.customers ORDER BY is_active DESC LIMIT 2", 2),
        ("SELECT name, c.is_active AS state FROM shop.customers c ORDER BY 2 DESC, name LIMIT 2", 2),
        ("SELECT * FROM shop.customers ORDER BY is_active DESC LIMIT 2", 2),
        ("SELECT is_active, name FROM shop.customers ORDER BY is_active DESC LIMIT 1", 1),
        // The rows do not show the sort key.
        ("SELECT name FROM shop.customers ORDER BY is_active DESC LIMIT 2", 0),
    ] {
        let rows = engine.run(sql, None, 50).await.unwrap().rows;
        let found = engine.warnings(sql, None, Some(&rows)).await;
        let warning = found.iter().find(|warning| warning.code == Ties).unwrap_or_else(|| panic!("{sql}: {found:?}"));
        assert_eq!(warning.last_rows, expected, "{sql}");
    }
}

#[tokio::test]
async fn answers_keep_the_texts_of_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let sql = format!("SELECT COUNT(DISTINCT o.id) AS orders, SUM(o.total) AS revenue {ITEMS}");
    let mut answer = engine.answer("", &sql, None, |_| ()).await;
    let findings = prospector_core::tool::ToolOutput::queries(&mut answer);
    let [warning] = findings[0].rows.as_ref().unwrap().warnings else { panic!("{findings:?}") };
    assert_eq!(warning.columns, ["revenue"]);
    let message = warning.message.clone();
    assert_eq!(serde_json::to_value(&answer).unwrap()["warnings"], serde_json::json!([message]));
    // A changed name no longer matches.
    let mut renamed = engine.answer("", &sql, None, |rows| rows.columns[1] = "sum".into()).await;
    let findings = prospector_core::tool::ToolOutput::queries(&mut renamed);
    assert_eq!(findings[0].rows.as_ref().unwrap().warnings[0].columns, [""; 0]);
}

#[tokio::test]
async fn a_warning_about_cells_names_the_columns_that_read_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sales.csv");
    let rows: String = (1..=200)
        .map(|at| format!("{at},shop{},{}\n", at % 3, if at == 7 { "abc".into() } else { at.to_string() }))
        .collect();
    std::fs::write(&path, format!("id,place,amount\n{rows}")).unwrap();
    let place = prospector_connect::source::Source::files(prospector_connect::source::SourceKind::Csv, vec![path]);
    let files = crate::support::source("files", prospector_connect::open(&place).unwrap()).await;
    let engine = prospector_engine::Engine::new(vec![files]);
    for (sql, expected) in [
        ("SELECT place, COUNT(*) AS n, SUM(amount) AS total FROM files.sales GROUP BY place", &["total"][..]),
        ("SELECT s.*, s.amount * 2 AS twice FROM files.sales s", &["amount", "twice"]),
        ("WITH big AS (SELECT * FROM files.sales) SELECT place, amount FROM big", &["amount"]),
        ("SELECT place, COUNT(*) AS n FROM files.sales WHERE amount > 3 GROUP BY place", &[]),
    ] {
        let rows = engine.run(sql, None, 50).await.unwrap().rows;
        let found = engine.warnings(sql, None, Some(&rows)).await;
        let warning =
            found.iter().find(|warning| warning.code == InvalidCells).unwrap_or_else(|| panic!("{sql}: {found:?}"));
        assert_eq!(warning.columns, expected, "{sql}");
    }
    // Listed rows that contain none of the cells.
    for (sql, is_warned) in [
        ("SELECT id, amount FROM files.sales WHERE id < 20", true),
        ("SELECT id, amount FROM files.sales WHERE id > 7", false),
        ("SELECT * FROM files.sales WHERE id > 7", false),
        ("SELECT id, amount * 2 AS twice FROM files.sales WHERE id > 7", true),
        ("SELECT AVG(amount) AS amount FROM files.sales WHERE id > 7", true),
        ("SELECT amount FROM (SELECT MAX(amount) AS amount FROM files.sales) s", true),
    ] {
        let rows = engine.run(sql, None, 50).await.unwrap().rows;
        let found = engine.warnings(sql, None, Some(&rows)).await;
        assert_eq!(found.iter().any(|warning| warning.code == InvalidCells), is_warned, "{sql}: {found:?}");
    }
}

#[tokio::test]
async fn a_last_row_that_may_be_a_total_is_reported_where_it_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hours.csv");
    std::fs::write(&path, "team,hours\na,1\nb,2\nc,4\nAll,7\n").unwrap();
    let place = prospector_connect::source::Source::files(prospector_connect::source::SourceKind::Csv, vec![path]);
    let files = crate::support::source("files", prospector_connect::open(&place).unwrap()).await;
    let engine = prospector_engine::Engine::new(vec![files]);
    for (sql, is_warned) in [
        ("SELECT SUM(hours) AS hours FROM files.hours", true),
        ("SELECT team, hours FROM files.hours", false),
        ("SELECT COUNT(*) AS n FROM files.hours", false),
    ] {
        let rows = engine.run(sql, None, 50).await.unwrap().rows;
        let found = engine.warnings(sql, None, Some(&rows)).await;
        assert_eq!(found.iter().any(|warning| warning.code == InvalidCells), is_warned, "{sql}: {found:?}");
    }
}

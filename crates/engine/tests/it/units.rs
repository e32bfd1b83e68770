//! Units of the columns of a result, from the declared units of the columns that it reads.

use prospector_engine::Engine;

use crate::support::{source, sqlite};

/// Statements, and the units of the columns that have one.
const CASES: &[(&str, &[(&str, &str)])] = &[
    ("SELECT id, total FROM shop.orders", &[("total", "EUR")]),
    ("SELECT * FROM shop.orders", &[("total", "EUR"), ("weight", "kg")]),
    ("SELECT o.total AS value, (o.weight) AS kilos FROM shop.orders o", &[("value", "EUR"), ("kilos", "kg")]),
    ("SELECT SUM(total) AS revenue, AVG(weight) AS mean FROM shop.orders", &[("revenue", "EUR"), ("mean", "kg")]),
    ("SELECT MIN(total) AS least, MAX(o.total) AS most FROM shop.orders o", &[("least", "EUR"), ("most", "EUR")]),
    ("SELECT SUM(total) FROM shop.orders", &[("SUM(total)", "EUR")]),
    ("SELECT COUNT(total) AS n, COUNT(*) AS rows, id FROM shop.orders", &[]),
    ("SELECT total * 2 AS twice, total / weight AS density FROM shop.orders", &[]),
    ("SELECT ROUND(total) AS whole, SUM(weight) OVER () AS running FROM shop.orders", &[("whole", "EUR")]),
    (
        "SELECT ROUND(AVG(weight), 1) AS mean, COALESCE(SUM(total), 0) AS revenue FROM shop.orders",
        &[("mean", "kg"), ("revenue", "EUR")],
    ),
    (
        "SELECT CAST(weight AS REAL) AS kilos, -total AS loss, ABS(NULLIF(total, 0)) AS amount FROM shop.orders",
        &[("kilos", "kg"), ("loss", "EUR"), ("amount", "EUR")],
    ),
    (
        "SELECT SUM(CASE WHEN id = 1 THEN total ELSE 0 END) AS early, SUM(CASE WHEN id = 1 THEN 1 ELSE 0 END) AS n, \
         MAX(COALESCE(total, weight)) AS either FROM shop.orders",
        &[("early", "EUR")],
    ),
    ("SELECT SUM(total * weight) AS both, SUM(total) / COUNT(*) AS mean FROM shop.orders", &[]),
    (
        "WITH sums AS (SELECT id, SUM(total) AS revenue FROM shop.orders GROUP BY id) SELECT revenue FROM sums",
        &[("revenue", "EUR")],
    ),
    (
        "SELECT MAX(s.revenue) AS most FROM (SELECT id, SUM(total) AS revenue FROM shop.orders GROUP BY id) AS s",
        &[("most", "EUR")],
    ),
    ("SELECT total AS value FROM shop.orders UNION ALL SELECT weight FROM shop.orders", &[]),
    ("SELECT total AS value, weight AS value FROM shop.orders", &[]),
    ("SELECT total AS value, total AS value FROM shop.orders", &[("value", "EUR"), ("value", "EUR")]),
    // Across databases.
    (
        "SELECT SUM(o.total) AS revenue, MAX(r.rate) AS rate, COUNT(*) AS n FROM shop.orders o JOIN bank.rates r ON r.id = o.id",
        &[("revenue", "EUR"), ("rate", "%")],
    ),
];

#[tokio::test]
async fn columns_keep_the_declared_unit_in_functions_of_their_values() {
    let [shop, bank] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let orders = "CREATE TABLE orders (id INTEGER PRIMARY KEY, total INTEGER, weight INTEGER); \
                  INSERT INTO orders VALUES (1, 10, 2), (2, 30, 4);";
    let rates = "CREATE TABLE rates (id INTEGER PRIMARY KEY, rate INTEGER); INSERT INTO rates VALUES (1, 5), (2, 7);";
    let mut sources = vec![
        source("shop", sqlite(shop.path(), orders).await).await,
        source("bank", sqlite(bank.path(), rates).await).await,
    ];
    for (database, column, unit) in [(0, 1, "EUR"), (0, 2, "kg"), (1, 1, "%")] {
        sources[database].tables[0].columns[column].unit = unit.into();
    }
    let engine = Engine::new(sources);
    for (sql, expected) in CASES {
        let outcome = engine.run(sql, None, 10).await.unwrap_or_else(|failure| panic!("{sql}: {failure}"));
        let found: Vec<(&str, &str)> =
            outcome.units.iter().map(|(name, unit)| (name.as_str(), unit.as_str())).collect();
        assert_eq!(found, *expected, "{sql}");
    }
}

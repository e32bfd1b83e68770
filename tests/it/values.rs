//! Values of columns over SQLite files: tables are found by their values, values in no column are reported as not found, and protected
//! values are not read.

use std::fs;

use crate::support::{Estate, texts};
use serde_json::{Value, json};
use sqlx::Connection;

const SCHEMA: &str = "
    CREATE TABLE region (id INTEGER PRIMARY KEY, label TEXT);
    CREATE TABLE customer (id INTEGER PRIMARY KEY, email TEXT, region_id INTEGER REFERENCES region (id));
    CREATE TABLE invoice (id INTEGER PRIMARY KEY, total REAL, customer_id INTEGER REFERENCES customer (id));
    CREATE TABLE log (id INTEGER PRIMARY KEY, line TEXT);
    INSERT INTO region VALUES (1, 'Brazil'), (2, 'São Paulo'), (3, 'New Zealand');
    INSERT INTO customer VALUES (1, 'ada.lovelace@mail.example', 1);
    INSERT INTO invoice VALUES (1, 9.5, 1);";

/// Creates a shop in SQLite with these additional keys in its entry.
async fn shop(keys: &str) -> Estate {
    let estate = Estate::new(&format!("databases:\n- {{path: shop.sqlite{keys}}}\n"));
    fill(&estate, SCHEMA).await;
    estate
}

async fn fill(estate: &Estate, statements: &str) {
    let url = format!("sqlite://{}?mode=rwc", estate.path("shop.sqlite").display());
    let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(statements.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

fn search(estate: &Estate, query: &str) -> Value {
    estate.call("search_tables", &json!({"query": query})).json(0)
}

/// Returns the hits of a list, with or without a note.
fn hits(found: &Value) -> Vec<&Value> {
    found.as_array().or(found["items"].as_array()).unwrap().iter().collect()
}

/// Returns the matched values of a table; empty if the table is not a hit.
fn matched<'v>(found: &'v Value, table: &str) -> Vec<&'v str> {
    let hit = hits(found).into_iter().find(|hit| hit["table"] == table);
    hit.and_then(|hit| hit.get("matched_values")).map_or_else(Vec::new, texts)
}

fn note(found: &Value) -> &str {
    found["note"].as_str().unwrap_or_default()
}

/// Returns the contents of the state folder as text.
fn state(estate: &Estate) -> String {
    let mut text = String::new();
    let mut folders = vec![estate.state()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => text += &String::from_utf8_lossy(&fs::read(path).unwrap()),
            }
        }
    }
    text
}

#[tokio::test]
async fn a_table_is_found_by_its_values_with_bridge_tables() {
    let estate = shop("").await;
    let found = search(&estate, "total of invoices in Brazil");
    assert_eq!(matched(&found, "region"), ["region.label = 'Brazil'"], "{found:#}");
    let tables: Vec<&str> = hits(&found).iter().map(|hit| hit["table"].as_str().unwrap()).collect();
    assert!(tables.contains(&"invoice") && tables.contains(&"customer"), "{found:#}");
    assert_eq!(hits(&search(&estate, "sao paulo"))[0]["table"], "region");

    // `planner search` and the compact profile have the same result.
    let found = estate.run(["search", "invoices in New Zealand"]).json(0);
    let shown = hits(&found).into_iter().find(|hit| hit["id"] == "shop.region").unwrap();
    assert_eq!(texts(&shown["matched_values"]), ["region.label = 'New Zealand'"]);
    let text = estate.run(["call", "search", r#"{"query": "invoices in Brazil"}"#, "--format", "text"]);
    assert!(text.out.contains("region.label = 'Brazil'"), "{}", text.out);
}

#[tokio::test]
async fn a_literal_in_no_column_is_reported_as_not_found() {
    let estate = shop("").await;
    assert_eq!(note(&search(&estate, "invoices of customers in Peru")), "no column of shop contains 'Peru'");
    let near = note(&search(&estate, "invoices of customers in 'Brasil'")).to_owned();
    assert_eq!(near, "no column of shop contains 'Brasil' (nearest: region.label = 'Brazil')");
    assert_eq!(note(&search(&estate, "invoices of customers in Brazil")), "");
}

#[tokio::test]
async fn large_columns_report_nothing_as_not_found() {
    for keys in [", values: {max_per_column: 2}", ", values: {skip: [customer.email]}"] {
        let estate = shop(keys).await;
        let found = search(&estate, "invoices of customers in Peru");
        assert_eq!(note(&found), "", "{keys}");
    }
    let estate = shop("").await;
    fill(&estate, &format!("INSERT INTO log VALUES (1, '{}')", "a long line ".repeat(10))).await;
    assert_eq!(note(&search(&estate, "invoices of customers in Peru")), "");
    assert_eq!(matched(&search(&estate, "total of invoices in Brazil"), "region"), ["region.label = 'Brazil'"]);
}

#[tokio::test]
async fn personal_columns_expose_no_values() {
    let estate = shop(", personal: ['*.email']").await;
    let found = search(&estate, "invoices of 'ada.lovelace@mail.example'");
    assert!(matched(&found, "customer").is_empty() && note(&found).is_empty(), "{found:#}");
    assert!(!state(&estate).contains("lovelace"));
    let refused =
        estate.call("get_sample_values", &json!({"database": "shop", "table": "customer", "column": "email"}));
    assert!(refused.json(1)["message"].as_str().unwrap().contains("personal data"));
    let described = estate.call("get_table_schema", &json!({"database": "shop", "table": "customer"})).json(0);
    assert!(!described.to_string().contains("lovelace"), "{described:#}");
}

#[tokio::test]
async fn disabled_values_are_removed() {
    let estate = shop("").await;
    assert!(!matched(&search(&estate, "invoices in Brazil"), "region").is_empty());
    assert!(state(&estate).contains("Zealand"));
    estate.write("catalog.yaml", "databases:\n- {path: shop.sqlite, values: false}\n");
    let found = search(&estate, "total of invoices in Brazil");
    assert!(hits(&found).iter().all(|hit| hit.get("matched_values").is_none()) && note(&found).is_empty(), "{found:#}");
    assert!(!state(&estate).contains("Zealand"));
}

#[tokio::test]
async fn values_are_updated_with_the_source() {
    let estate = shop("").await;
    assert_eq!(note(&search(&estate, "invoices of customers in Peru")), "no column of shop contains 'Peru'");
    fill(&estate, "INSERT INTO region VALUES (4, 'Peru')").await;
    let found = search(&estate, "total of invoices in Peru");
    assert_eq!(matched(&found, "region"), ["region.label = 'Peru'"]);
    // The source is not read, and its previous description is used.
    let found = estate.run(["search", "invoices in Peru"]).json(0);
    assert!(found.to_string().contains("region.label = 'Peru'"), "{found:#}");
}

#[tokio::test]
async fn damaged_values_are_rebuilt_and_not_used() {
    let estate = shop("").await;
    let expected = estate.run(["search", "invoices in Brazil"]).json(0);
    assert!(expected.to_string().contains("region.label = 'Brazil'"));
    let file = estate.state().join("index/values.bin");
    let good = fs::read(&file).unwrap();
    for length in [0, 40, good.len() / 2, good.len()] {
        let mut bad = good[..length].to_vec();
        if length == good.len() {
            bad[length - 3] ^= 1;
        }
        fs::write(&file, &bad).unwrap();
        let report = estate.run(["refresh", "--check"]).json(2);
        assert!(report["damage"][0]["place"].as_str().unwrap().ends_with("values.bin"), "{report:#}");
        assert_eq!(estate.run(["search", "invoices in Brazil"]).json(0), expected, "{length} bytes");
        assert_eq!(estate.run(["refresh", "--check"]).json(0)["damage"], json!([]));
    }
    fs::remove_file(&file).unwrap();
    assert_eq!(estate.run(["search", "invoices in Brazil"]).json(0), expected);
    assert_eq!(fs::read(&file).unwrap(), good);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn unreadable_values_affect_only_their_source() {
    // Nothing listens there, so that neither description nor values are available, and the other database is searched.
    let estate =
        Estate::new("databases:\n- {path: shop.sqlite}\n- {name: away, url: 'postgres://reader@127.0.0.1:1/x'}\n");
    fill(&estate, SCHEMA).await;
    let found = search(&estate, "total of invoices in Brazil");
    assert_eq!(matched(&found, "region"), ["region.label = 'Brazil'"]);
}

#[tokio::test]
async fn invalid_settings_are_reported_with_their_line() {
    let complaint = |keys: &str| {
        let estate =
            Estate::new(&format!("databases:\n- path: pets.csv\n  {keys}\n")).with("pets.csv", "pet,age\nhamster,2\n");
        let report = estate.run(["refresh"]);
        format!("{}{}", report.out, report.err)
    };
    for (keys, expected) in [
        (
            "values: {max_per_column: 0}",
            "catalog.yaml:3: `max_per_column` of `values` of databases[0] must be an integer from 1 to 10000",
        ),
        ("values: {most: 5}", "catalog.yaml:3: `values` of databases[0] has an unknown key `most`"),
        ("values: some", "catalog.yaml:3: `values` of databases[0] must be a mapping"),
        ("values: {skip: [pet]}", "`skip` in `values` of databases[0] names `pet`, which is not a column of a table"),
        ("personal: [pet]", "`personal` of databases[0] names `pet`, which is not a column of a table"),
        ("personal: [pets.owner]", "`personal` names `pets.owner`, which is not a column of `pets`"),
    ] {
        let said = complaint(keys);
        assert!(said.contains(expected), "{keys}: {said}");
    }
    assert!(!complaint("personal: [pets.PET]").contains("personal"));
}

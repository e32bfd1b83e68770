//! Values of columns, driven through the binary over SQLite files with rows: a table is found by what it holds, what nothing
//! holds is said to be missing, and what may not be read is not.

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

/// A shop in SQLite, named by an entry with these keys besides.
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

/// The hits, whether the list says more or not.
fn hits(found: &Value) -> Vec<&Value> {
    found.as_array().or(found["items"].as_array()).unwrap().iter().collect()
}

/// What a search says of the values of a table; empty where it does not show the table.
fn matched<'v>(found: &'v Value, table: &str) -> Vec<&'v str> {
    let hit = hits(found).into_iter().find(|hit| hit["table"] == table);
    hit.and_then(|hit| hit.get("matched_values")).map_or_else(Vec::new, texts)
}

fn note(found: &Value) -> &str {
    found["note"].as_str().unwrap_or_default()
}

/// Everything in the state folder, as text.
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
async fn a_table_is_found_by_what_it_holds_and_the_tables_between_come_along() {
    let estate = shop("").await;
    let found = search(&estate, "total of invoices in Brazil");
    assert_eq!(matched(&found, "region"), ["region.label = 'Brazil'"], "{found:#}");
    let tables: Vec<&str> = hits(&found).iter().map(|hit| hit["table"].as_str().unwrap()).collect();
    assert!(tables.contains(&"invoice") && tables.contains(&"customer"), "{found:#}");
    assert_eq!(hits(&search(&estate, "sao paulo"))[0]["table"], "region");

    // `planner search` and the compact profile show the same.
    let found = estate.run(["search", "invoices in New Zealand"]).json(0);
    let shown = hits(&found).into_iter().find(|hit| hit["id"] == "shop.region").unwrap();
    assert_eq!(texts(&shown["matched_values"]), ["region.label = 'New Zealand'"]);
    let text = estate.run(["call", "search", r#"{"query": "invoices in Brazil"}"#, "--format", "text"]);
    assert!(text.out.contains("region.label = 'Brazil'"), "{}", text.out);
}

#[tokio::test]
async fn a_literal_that_no_column_holds_is_said_to_be_missing() {
    let estate = shop("").await;
    assert_eq!(note(&search(&estate, "invoices of customers in Peru")), "no column of shop holds 'Peru'");
    let near = note(&search(&estate, "invoices of customers in 'Brasil'")).to_owned();
    assert_eq!(near, "no column of shop holds 'Brasil' (nearest: region.label = 'Brazil')");
    assert_eq!(note(&search(&estate, "invoices of customers in Brazil")), "");
}

#[tokio::test]
async fn beyond_a_bound_nothing_is_said_to_be_missing() {
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
async fn personal_columns_give_no_value_anywhere() {
    let estate = shop(", personal: ['*.email']").await;
    let found = search(&estate, "invoices of 'ada.lovelace@mail.example'");
    assert!(matched(&found, "customer").is_empty() && note(&found).is_empty(), "{found:#}");
    assert!(!state(&estate).contains("lovelace"));
    let refused =
        estate.call("get_sample_values", &json!({"database": "shop", "table": "customer", "column": "email"}));
    assert!(refused.json(1)["message"].as_str().unwrap().contains("persons"));
    let described = estate.call("get_table_schema", &json!({"database": "shop", "table": "customer"})).json(0);
    assert!(!described.to_string().contains("lovelace"), "{described:#}");
}

#[tokio::test]
async fn values_that_are_switched_off_leave_nothing_behind() {
    let estate = shop("").await;
    assert!(!matched(&search(&estate, "invoices in Brazil"), "region").is_empty());
    assert!(state(&estate).contains("Zealand"));
    estate.write("catalog.yaml", "databases:\n- {path: shop.sqlite, values: false}\n");
    let found = search(&estate, "total of invoices in Brazil");
    assert!(hits(&found).iter().all(|hit| hit.get("matched_values").is_none()) && note(&found).is_empty(), "{found:#}");
    assert!(!state(&estate).contains("Zealand"));
}

#[tokio::test]
async fn values_follow_the_source() {
    let estate = shop("").await;
    assert_eq!(note(&search(&estate, "invoices of customers in Peru")), "no column of shop holds 'Peru'");
    fill(&estate, "INSERT INTO region VALUES (4, 'Peru')").await;
    let found = search(&estate, "total of invoices in Peru");
    assert_eq!(matched(&found, "region"), ["region.label = 'Peru'"]);
    // The source itself is not looked at, and what was described before is.
    let found = estate.run(["search", "invoices in Peru"]).json(0);
    assert!(found.to_string().contains("region.label = 'Peru'"), "{found:#}");
}

#[tokio::test]
async fn damaged_values_are_made_anew_and_never_give_an_answer() {
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
async fn a_source_whose_values_cannot_be_read_costs_its_values_alone() {
    // Nobody listens there: a description and values can be had of neither, and the other database is searched.
    let estate =
        Estate::new("databases:\n- {path: shop.sqlite}\n- {name: away, url: 'postgres://reader@127.0.0.1:1/x'}\n");
    fill(&estate, SCHEMA).await;
    let found = search(&estate, "total of invoices in Brazil");
    assert_eq!(matched(&found, "region"), ["region.label = 'Brazil'"]);
}

#[tokio::test]
async fn wrong_settings_are_said_with_their_line() {
    let complaint = |keys: &str| {
        let estate =
            Estate::new(&format!("databases:\n- path: pets.csv\n  {keys}\n")).with("pets.csv", "pet,age\nhamster,2\n");
        let report = estate.run(["refresh"]);
        format!("{}{}", report.out, report.err)
    };
    for (keys, expected) in [
        (
            "values: {max_per_column: 0}",
            "catalog.yaml:3: `max_per_column` of `values` of databases[0] must be a whole number from 1 to 10000",
        ),
        ("values: {most: 5}", "catalog.yaml:3: `values` of databases[0] has an unknown key `most`"),
        ("values: some", "catalog.yaml:3: `values` of databases[0] must be a mapping"),
        ("values: {skip: [pet]}", "`skip` in `values` of databases[0] names `pet`, which is no column of a table"),
        ("personal: [pet]", "`personal` of databases[0] names `pet`, which is no column of a table"),
        ("personal: [pets.owner]", "`personal` names `pets.owner`, which is no column of `pets`"),
    ] {
        let said = complaint(keys);
        assert!(said.contains(expected), "{keys}: {said}");
    }
    assert!(!complaint("personal: [pets.PET]").contains("personal"));
}

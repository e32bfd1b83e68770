//! Results of the tools, called through the toolset.

use std::sync::{Arc, atomic::Ordering};

use prospector_connect::source::SourceKind;
use prospector_core::tool::{Answer, ToolError};
use serde_json::{Value, json};

use super::*;
use crate::{
    Database, Entry,
    testing::{Fake, describe_shop, discovery, index, key, shop, table as table_of},
};

async fn call(discovery: SchemaDiscovery, name: &str, args: Value) -> Result<Answer, ToolError> {
    let index = index(&discovery);
    Arc::new(discovery).tools(&index).call(name, args).await
}

/// Checks the result of a tool over the shop and the library, and the names it reveals.
async fn check(name: &str, args: Value, expected: Value, reveals: &[&str]) {
    let (value, revealed) = match call(discovery(), name, args).await {
        Ok(answer) => (answer.json().clone(), answer.reveals()),
        Err(error) => (error.to_json(), Vec::new()),
    };
    assert_eq!(value, expected, "{value:#}");
    let revealed: Vec<String> = revealed.iter().map(|resource| format!("{} {}", resource.kind, resource.id)).collect();
    assert_eq!(revealed, reveals);
}

#[tokio::test]
async fn databases_are_listed() {
    let shop = json!({"name": "shop", "type": "sqlite", "description": "A web shop", "tables": 5});
    check(
        "list_databases",
        json!({}),
        json!([shop, {"name": "library", "type": "ddl", "tables": 1}]),
        &["database shop", "database library"],
    )
    .await;
    check(
        "list_databases",
        json!({"limit": 1}),
        json!({"items": [shop], "truncated": true, "total": 2, "next": "call again with offset=1"}),
        &["database shop"],
    )
    .await;
}

#[tokio::test]
async fn lists_tables_and_counts_disallowed_ones() {
    check(
        "list_tables",
        json!({"database": "library"}),
        json!([{"name": "books"}]),
        &["database library", "table library.books"],
    )
    .await;
    check(
        "list_tables",
        json!({"database": "LIBRARY"}),
        json!([{"database": "library", "name": "books"}]),
        &["database library", "table library.books"],
    )
    .await;
    check(
        "list_tables",
        json!({"database": "shop", "limit": 1, "offset": 1}),
        json!({"items": [{"name": "invoices", "row_count": 3}], "truncated": true, "total": 5,
               "next": "call again with offset=2", "note": "1 more are not allowed by the catalog"}),
        &["database shop", "table shop.invoices"],
    )
    .await;
}

#[tokio::test]
async fn unknown_names_suggest_the_nearest_and_other_databases() {
    let wrong =
        |message: &str, suggestion: &str| json!({"error": "not_found", "message": message, "suggestion": suggestion});
    let no_database = wrong("there is no database `shopp`", "did you mean `shop`?");
    check("list_tables", json!({"database": "shopp"}), no_database, &[]).await;
    check(
        "get_table_schema",
        json!({"database": "shop", "table": "invoise"}),
        wrong(
            "there is no table `invoise` in database `shop`, or the catalog does not allow it",
            "did you mean `invoices`?",
        ),
        &[],
    )
    .await;
    check(
        "get_table_schema",
        json!({"database": "library", "table": "Invoices"}),
        wrong(
            "there is no table `Invoices` in database `library`",
            "database `shop` has a table of that name; here: known: `books`",
        ),
        &[],
    )
    .await;
    check(
        "get_sample_values",
        json!({"database": "shop", "table": "invoices", "column": "state"}),
        wrong("there is no column `state` in table `shop.invoices`", "did you mean `status`?"),
        &[],
    )
    .await;
    // An existing table that is not allowed has the same result as one that does not exist.
    check(
        "get_table_schema",
        json!({"database": "shop", "table": "Salaries"}),
        wrong(
            "there is no table `Salaries` in database `shop`, or the catalog does not allow it",
            "known: `customers`, `invoices`, `lines`, `products`, `regions`",
        ),
        &[],
    )
    .await;
}

#[tokio::test]
async fn a_schema_shows_keys_ranges_and_samples() {
    check(
        "get_table_schema",
        json!({"database": "Shop", "table": "shop.invoices", "values": true}),
        json!({
            "database": "shop", "table": "invoices", "sql": "sqlite", "row_count": 3,
            "columns": [
                {"name": "id", "type": "INTEGER", "primary_key": true},
                {"name": "customer_id", "type": "INTEGER", "foreign_key": "customers.id"},
                {"name": "total", "type": "REAL", "nullable": false,
                 "statistics": {"cardinality": 3, "min": 1.25, "max": 9.5}},
                {"name": "status", "type": "TEXT", "statistics": {"cardinality": 2}}
            ],
            "sample_values": {"status": ["open", "paid"]}
        }),
        &[
            "database shop",
            "table shop.invoices",
            "column shop.invoices.id",
            "column shop.invoices.customer_id",
            "column shop.invoices.total",
            "column shop.invoices.status",
            "table shop.customers",
            "column shop.customers.id",
        ],
    )
    .await;
}

#[tokio::test]
async fn schemas_show_only_informative_values_by_default() {
    let answer = call(discovery(), "get_table_schema", json!({"database": "shop", "table": "invoices"})).await.unwrap();
    assert_eq!(answer.json()["sample_values"], json!({"status": ["open", "paid"]}));
    assert!(!answer.json().to_string().contains("statistics"), "{}", answer.json());
    assert_eq!(
        answer.text(),
        "shop.invoices sql=sqlite rows=3\nid INTEGER key\ncustomer_id INTEGER -> customers.id\ntotal REAL not null\n\
         status TEXT values=[open; paid]"
    );
    let answer = call(discovery(), "get_table_schema", json!({"database": "library", "table": "books"})).await.unwrap();
    assert_eq!(answer.json().get("note"), None);
}

#[tokio::test]
async fn shows_schemas_without_statistics() {
    let book = json!([{"name": "isbn", "type": "TEXT", "primary_key": true},
                      {"name": "title", "type": "TEXT"}]);
    check(
        "get_table_schema",
        json!({"database": "library", "table": "books", "values": true}),
        json!({"database": "library", "table": "books", "columns": book,
               "note": "statistics are unavailable: the database is a schema without data"}),
        &["database library", "table library.books", "column library.books.isbn", "column library.books.title"],
    )
    .await;
}

#[tokio::test]
async fn statistics_are_read_once_and_never_of_a_wide_table() {
    let columns: Vec<String> = (0..200).map(|n| format!("column_{n}")).collect();
    let wide = table_of("wide", &columns.iter().map(String::as_str).collect::<Vec<_>>());
    let database = Database { tables: [shop(), vec![wide]].concat(), ..Database::new("shop", SourceKind::Sqlite) };
    let fake = Fake::new(vec![]);
    let reads = fake.reads.clone();
    let discovery = Arc::new(SchemaDiscovery::new(vec![Entry { database, connector: Some(Arc::new(fake)) }]));
    let tools = discovery.tools(&index(&discovery));
    for _ in 0..2 {
        tools.call("get_table_schema", json!({"database": "shop", "table": "invoices"})).await.unwrap();
    }
    assert_eq!(reads.load(Ordering::Relaxed), 1);
    let answer = tools.call("get_table_schema", json!({"database": "shop", "table": "wide", "max_tokens": 500})).await;
    let answer = answer.unwrap();
    assert_eq!(reads.load(Ordering::Relaxed), 1);
    assert!(answer.json()["note"].as_str().unwrap().contains("200 columns"), "{}", answer.json());
    assert_eq!((&answer.json()["columns_total"], &answer.json()["truncated"]), (&json!(200), &json!(true)));
    assert!(answer.json()["next"].as_str().unwrap().contains("columns"), "{}", answer.json());
    let shown = ["columns", "other_columns"].map(|list| answer.json()[list].as_array().unwrap().len());
    assert!(shown[0] >= 10 && shown[1] >= 10, "{}", answer.json());
    assert_eq!(answer.reveals().len(), shown[0] + shown[1] + 2, "only what is shown is revealed");
    let args = json!({"database": "shop", "table": "wide", "columns": "column_1*"});
    let answer = tools.call("get_table_schema", args).await.unwrap();
    assert_eq!(answer.json()["columns"].as_array().unwrap().len(), 111);
    assert_eq!(answer.json().get("truncated"), None);
}

#[tokio::test]
async fn retries_failed_sources() {
    let fake = Fake::broken();
    let reads = fake.reads.clone();
    let database = Database { tables: shop(), ..Database::new("shop", SourceKind::Sqlite) };
    let discovery = Arc::new(SchemaDiscovery::new(vec![Entry { database, connector: Some(Arc::new(fake)) }]));
    let tools = discovery.tools(&index(&discovery));
    for round in 1..3 {
        let answer = tools.call("get_table_schema", json!({"database": "shop", "table": "invoices"})).await.unwrap();
        assert_eq!(answer.json()["note"], "statistics are unavailable: cannot read invoices of fake: it is gone");
        assert_eq!(answer.json()["columns"].as_array().unwrap().len(), 4);
        assert_eq!(reads.load(Ordering::Relaxed), round);
    }
}

#[tokio::test]
async fn shows_sample_values_if_available() {
    check(
        "get_sample_values",
        json!({"database": "shop", "table": "Invoices", "column": "STATUS", "contains": "PA"}),
        json!({"database": "shop", "table": "invoices", "column": "status",
               "values": ["paid"], "distinct": 1, "complete": true}),
        &["database shop", "table shop.invoices", "column shop.invoices.status"],
    )
    .await;
    check(
        "get_sample_values",
        json!({"database": "shop", "table": "invoices", "column": "status", "limit": 1}),
        json!({"database": "shop", "table": "invoices", "column": "status",
               "values": ["open"], "distinct": 2, "complete": false}),
        &["database shop", "table shop.invoices", "column shop.invoices.status"],
    )
    .await;
    check(
        "get_sample_values",
        json!({"database": "library", "table": "books", "column": "title"}),
        json!({"error": "unavailable",
               "message": "cannot show values of `library.books.title`: database `library` is a schema without data",
               "suggestion": "use the type and the description of the column"}),
        &[],
    )
    .await;
}

#[tokio::test]
async fn relationships_are_shown_in_both_directions_and_as_a_path() {
    let join = |from: &str, to: &str| json!({"from": from, "to": to});
    let (bought, listed) = (join("invoices.customer_id", "customers.id"), join("lines.invoice_id", "invoices.id"));
    check(
        "get_table_relationships",
        json!({"database": "shop", "table": "invoices"}),
        json!({"database": "shop", "table": "invoices", "references": [bought], "referenced_by": [listed]}),
        &[
            "database shop",
            "table shop.customers",
            "table shop.invoices",
            "table shop.lines",
            "column shop.customers.id",
            "column shop.invoices.customer_id",
            "column shop.invoices.id",
            "column shop.lines.invoice_id",
        ],
    )
    .await;
    let answer =
        call(discovery(), "get_table_relationships", json!({"database": "shop", "table": "customers", "to": "LINES"}));
    assert_eq!(
        answer.await.unwrap().json()["join_path"],
        json!([join("customers.id", "invoices.customer_id"), join("invoices.id", "lines.invoice_id")])
    );
    check(
        "get_table_relationships",
        json!({"database": "shop", "table": "regions", "to": "lines"}),
        json!({"database": "shop", "table": "regions", "note": "no declared key joins it to `lines`"}),
        &["database shop", "table shop.regions"],
    )
    .await;
    check(
        "get_table_relationships",
        json!({"database": "library", "table": "books"}),
        json!({"database": "library", "table": "books", "note": "no declared key joins this table"}),
        &["database library", "table library.books"],
    )
    .await;
}

#[tokio::test]
async fn searches_within_the_given_database() {
    let answer = call(describe_shop(), "search_tables", json!({"query": "invoices"})).await.unwrap();
    assert_eq!(answer.json()[0]["table"], "invoices");
    assert_eq!(answer.json()[0]["relevance"], 1.0);
    assert!(answer.reveals().contains(&table("shop", "invoices")) && answer.reveals().contains(&database("shop")));

    let answer = call(discovery(), "search_tables", json!({"query": "invoices", "database": "Library"})).await.unwrap();
    assert_eq!(answer.json()["note"], "no good match; search with other words, in the language of the catalog");
    assert!(answer.reveals().is_empty());

    let answer = call(discovery(), "search_tables", json!({"query": "invoices", "database": ""})).await.unwrap();
    assert_eq!(answer.json()[0]["table"], "invoices");

    let error = call(discovery(), "search_tables", json!({"query": " "})).await.unwrap_err();
    assert_eq!(error.to_json()["error"], "invalid_arguments");
}

#[test]
fn tool_definitions_are_short() {
    let discovery = Arc::new(discovery());
    let specs = discovery.tools(&index(&discovery)).specs();
    assert_eq!(specs.len(), 6);
    let tokens = prospector_core::tokens::estimate(&serde_json::to_string(&specs).unwrap());
    assert!(tokens <= 925, "{tokens}");
}

#[tokio::test]
async fn finds_and_lists_date_sharded_tables_as_one() {
    let site = || {
        let day = |day: u32| table_of(&format!("events_2024010{day}"), &["id*", "page TEXT"]);
        let tables = (1..=3).map(day).chain([table_of("visitors", &["id*", "name TEXT"])]).collect();
        let database = Database { tables, ..Database::new("site", SourceKind::Ddl) };
        SchemaDiscovery::new(vec![Entry { database, connector: None }])
    };
    let family = json!({"name": "events_*", "tables": 3, "first": "events_20240101", "last": "events_20240103"});
    for query in ["pages of events", "events_20240102"] {
        let answer = call(site(), "search_tables", json!({"query": query})).await.unwrap();
        let hit = answer.json().pointer("/0").or(answer.json().pointer("/items/0")).unwrap();
        assert_eq!((&hit["table"], &hit["family"]), (&json!("events_20240103"), &family), "{query}");
        let days = answer.json().to_string().matches("\"table\":\"events_").count();
        assert_eq!(days, 1, "{query}: {}", answer.json());
        let reveals: Vec<String> = answer.reveals().iter().map(|resource| resource.id.clone()).collect();
        assert!(reveals.contains(&"site.events_20240101.page".to_owned()), "{reveals:?}");
        assert!(answer.text().contains("3 tables events_20240101..events_20240103"), "{}", answer.text());
    }
    let answer = call(site(), "list_tables", json!({"database": "site"})).await.unwrap();
    assert_eq!(answer.json(), &json!([{"name": "events_20240103", "family": family}, {"name": "visitors"}]));
    let listed = answer.reveals().iter().filter(|resource| resource.id.contains("events_")).count();
    assert_eq!(listed, 3);
}

/// A database of these tables whose rows are those of a fake.
fn with_rows(tables: Vec<prospector_connect::table::Table>, fill: impl FnOnce(Fake) -> Fake) -> SchemaDiscovery {
    let fake = fill(Fake::new(tables.clone()));
    let database = Database { tables, ..Database::new("shop", SourceKind::Sqlite) };
    SchemaDiscovery::new(vec![Entry { database, connector: Some(Arc::new(fake)) }])
}

#[tokio::test]
async fn reveals_every_named_column() {
    let calls = [
        ("get_table_schema", json!({"database": "shop", "table": "invoices"})),
        ("get_table_schema", json!({"database": "shop", "table": "lines", "values": true})),
        ("get_table_relationships", json!({"database": "shop", "table": "lines", "to": "customers"})),
        ("search_tables", json!({"query": "lines of invoices"})),
    ];
    for (tool, args) in calls {
        let discovery = discovery();
        let answer = call(self::discovery(), tool, args).await.unwrap();
        let text = answer.text().to_string();
        let names = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
        let named: Vec<String> = names.filter_map(|name| discovery.resolve_column(&format!("shop.{name}"))).collect();
        assert!(!named.is_empty(), "{text}");
        let reveals: Vec<String> = answer.reveals().into_iter().map(|resource| resource.id).collect();
        let hidden: Vec<&String> = named.iter().filter(|name| !reveals.contains(name)).collect();
        assert!(hidden.is_empty(), "{tool} shows {hidden:?} and does not reveal it:\n{text}");
    }
}

#[tokio::test]
async fn samples_all_of_few_values_or_the_first() {
    let sampled = async |count: usize, args: Value| {
        let values = (0..count).map(|n| json!(format!("value {n:02}"))).collect();
        let mut fields = json!({"database": "shop", "table": "invoices", "column": "status"});
        fields.as_object_mut().unwrap().extend(args.as_object().unwrap().clone());
        let discovery = with_rows(shop(), |fake| fake.holding("invoices", "status", values));
        let answer = call(discovery, "get_sample_values", fields).await.unwrap();
        let json = answer.json();
        (json["values"].as_array().unwrap().len(), json["distinct"].clone(), json["complete"] == true)
    };
    assert_eq!(sampled(16, json!({})).await, (16, json!(16), true));
    assert_eq!(sampled(20, json!({})).await, (20, json!(20), true));
    assert_eq!(sampled(21, json!({})).await, (10, json!(21), false));
    assert_eq!(sampled(21, json!({"limit": 15})).await, (15, json!(21), false));
}

#[tokio::test]
async fn joins_on_all_shared_references_that_are_unique() {
    let mut tables = vec![
        table_of("races", &["id*"]),
        table_of("drivers", &["id*"]),
        table_of("results", &["race_id*", "place*", "driver_id"]),
        table_of("laps", &["race_id*", "place*", "driver_id"]),
    ];
    for table in &mut tables[2..] {
        table.foreign_keys = vec![key("race_id", "races", "id"), key("driver_id", "drivers", "id")];
    }
    let path = async |rows: Vec<Value>| {
        let rows: Vec<Vec<Value>> = rows.into_iter().map(|row| row.as_array().unwrap().clone()).collect();
        let fill = |fake: Fake| fake.with_rows("results", rows.clone()).with_rows("laps", rows.clone());
        let args = json!({"database": "shop", "table": "laps", "to": "results"});
        let answer = call(with_rows(tables.clone(), fill), "get_table_relationships", args).await.unwrap();
        (answer.json()["join_path"].clone(), answer.json()["note"].as_str().unwrap_or_default().to_owned())
    };
    let (joins, note) = path((0..40).map(|n| json!([n / 4, n % 4])).collect()).await;
    let join = |from: &str, to: &str| json!({"from": from, "to": to});
    let both = json!([join("laps.race_id", "results.race_id"), join("laps.driver_id", "results.driver_id")]);
    assert_eq!(joins, both);
    assert!(note.contains("`races` and `drivers`"), "{note}");
    // If rows cannot be distinguished, a join that repeats them has a note.
    let (joins, note) = path((0..40).map(|n| json!([n / 4, n / 4])).collect()).await;
    assert_eq!(joins.as_array().map(Vec::len), Some(2), "{joins}");
    assert!(note.starts_with("fan-out over `"), "{note}");
}

#[tokio::test]
async fn lists_other_keys_of_a_path() {
    let mut tables = vec![table_of("people", &["id*", "team_id"]), table_of("teams", &["id*", "leader_id"])];
    tables[0].foreign_keys = vec![key("team_id", "teams", "id")];
    tables[1].foreign_keys = vec![key("leader_id", "people", "id")];
    let args = json!({"database": "shop", "table": "people", "to": "teams"});
    let answer = call(with_rows(tables, |fake| fake), "get_table_relationships", args).await.unwrap();
    assert_eq!(answer.json()["note"], "other keys: teams.leader_id = people.id");
}

#[tokio::test]
async fn proposes_inferred_keys_where_none_is_declared() {
    let tables = vec![
        table_of("routes", &["source_airport_id", "destination_airport_id", "stops"]),
        table_of("airports", &["airport_id", "name TEXT"]),
    ];
    let args = json!({"database": "shop", "table": "airports", "to": "routes"});
    let answer = call(with_rows(tables, |fake| fake), "get_table_relationships", args).await.unwrap();
    let join = |column: &str| json!({"from": format!("routes.{column}"), "to": "airports.airport_id"});
    assert_eq!(answer.json()["note"], "no declared key joins it to `routes`");
    assert_eq!(answer.json()["inferred"], json!([join("source_airport_id"), join("destination_airport_id")]));
    assert!(answer.reveals().iter().any(|found| found.id == "shop.routes.source_airport_id"));
}

#[tokio::test]
async fn views_do_not_displace_equally_relevant_tables() {
    let mut tables: Vec<_> =
        (0..6).map(|n| table_of(&format!("order_list_{n}"), &["order_id", "customer_name TEXT"])).collect();
    tables[..5].iter_mut().for_each(|table| table.is_view = true);
    let args = json!({"query": "customer name of each order", "limit": 2});
    let answer = call(with_rows(tables, |fake| fake), "search_tables", args).await.unwrap();
    let page = answer.json().get("items").unwrap_or(answer.json());
    let names: Vec<&str> = page.as_array().unwrap().iter().filter_map(|hit| hit["table"].as_str()).collect();
    assert_eq!((names.len(), names[0]), (2, "order_list_5"), "{names:?}");
}

#[tokio::test]
async fn quotes_names_as_required_by_the_dialect() {
    let mut tables = vec![table_of("Order Details", &["id*", "price REAL"]), table_of("Orders", &["id*"])];
    tables[0].columns[1].name = "Unit Price".into();
    tables[0].foreign_keys = vec![key("id", "Orders", "id")];
    let discovery = || with_rows(tables.clone(), |fake| fake);
    let args = json!({"database": "shop", "table": "\"Order Details\""});
    let answer = call(discovery(), "get_table_schema", args).await.unwrap();
    assert!(answer.text().to_string().starts_with("shop.\"Order Details\" sql=sqlite\nid INTEGER key"));
    let answer = call(discovery(), "search_tables", json!({"query": "details of orders"})).await.unwrap();
    let text = answer.text().to_string();
    assert!(text.contains(" shop.\"Order Details\" | ") && text.contains("\"Unit Price\""), "{text}");
    assert!(text.contains("\\\"Order Details\\\".id = Orders.id"), "{text}");
    assert!(text.ends_with("\nsql: sqlite"), "{text}");
    let answer = call(discovery(), "list_tables", json!({"database": "shop"})).await.unwrap();
    assert_eq!(answer.json()[0]["sql"], "\"Order Details\"");
    assert_eq!(
        discovery().resolve_column("shop.\"Order Details\".\"Unit Price\"").as_deref(),
        Some("shop.Order Details.Unit Price")
    );
}

#[tokio::test]
async fn drops_inferred_keys_with_low_match_rates() {
    let tables =
        vec![table_of("customers", &["id*", "office_code"]), table_of("offices", &["office_code*", "city TEXT"])];
    let joins = async |shared: i64| {
        let (from, to) = ((0..100).map(|n| json!(n)).collect(), (0..100).map(|n| json!(n + 100 - shared)).collect());
        let fill = |fake: Fake| fake.holding("customers", "office_code", from).holding("offices", "office_code", to);
        let args = json!({"query": "customers of offices"});
        let answer = call(with_rows(tables.clone(), fill), "search_tables", args).await.unwrap();
        answer.text().to_string().contains("customers.office_code = offices.office_code (inferred")
    };
    assert!(joins(90).await);
    assert!(!joins(3).await);
}

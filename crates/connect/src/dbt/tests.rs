//! Minimal manifests of several versions of dbt.

use serde_json::{Value, json};

use super::*;

/// The tables of these files, in short: `name(row count): column type flags "description", ...` and the keys.
async fn check(manifest: Value, catalog: Option<Value>, tables: &[&str], problems: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("manifest.json");
    std::fs::write(&path, manifest.to_string()).unwrap();
    if let Some(catalog) = catalog {
        std::fs::write(folder.path().join("catalog.json"), catalog.to_string()).unwrap();
    }
    let source = Dbt::new(&[path]).unwrap();
    let (found, notes) = source.describe().await.unwrap();
    let mut written = Vec::new();
    for table in &found {
        let count = table.row_count.map(|rows| format!("({rows})")).unwrap_or_default();
        let columns: Vec<String> = table
            .columns
            .iter()
            .map(|c| {
                let key = if c.primary_key { " key" } else { "" };
                let null = if c.nullable { "?" } else { "" };
                let said = if c.description.is_empty() { String::new() } else { format!(" \"{}\"", c.description) };
                format!("{} {}{null}{key}{said}", c.name, c.data_type)
            })
            .collect();
        let keys: Vec<String> = table
            .foreign_keys
            .iter()
            .map(|key| format!(" {}->{}.{}", key.columns.join("+"), key.table, key.references.join("+")))
            .collect();
        assert_eq!(table.row_count_estimated, table.row_count.is_some());
        written.push(format!("{}{count}: {}{}", table.name, columns.join(", "), keys.concat()));
    }
    assert_eq!(written, tables);
    assert_eq!(notes.len(), problems.len(), "{notes:?}");
    notes.iter().zip(problems).for_each(|(note, part)| assert!(note.to_string().contains(part), "{note}"));
}

fn model(name: &str, columns: Value) -> Value {
    json!({
        "resource_type": "model", "name": name, "alias": name, "database": "wh", "schema": "analytics", "description": "",
        "config": {"materialized": "table", "enabled": true}, "columns": columns, "depends_on": {"nodes": [], "macros": []}
    })
}

/// A test as dbt writes it.
fn test(name: &str, depends: &[&str], kwargs: Value) -> Value {
    json!({
        "resource_type": "test", "name": format!("{name}_x"), "column_name": kwargs["column_name"],
        "test_metadata": {"namespace": null, "name": name, "kwargs": kwargs}, "depends_on": {"nodes": depends}
    })
}

#[tokio::test]
async fn describes_models_seeds_snapshots_and_sources_with_keys_from_tests() {
    let mut orders = model("orders", json!({"order_id": {"name": "order_id", "description": "Which order"}}));
    orders["description"] = json!("One row an order.");
    let manifest = json!({
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": {
            "model.shop.orders": orders,
            "model.shop.customers": model("customers", json!({})),
            "model.shop.helper": {"resource_type": "model", "name": "helper", "config": {"materialized": "ephemeral"}},
            "seed.shop.countries": {"resource_type": "seed", "name": "countries", "columns": {}},
            "snapshot.shop.prices": {"resource_type": "snapshot", "name": "prices"},
            "analysis.shop.x": {"resource_type": "analysis", "name": "x"},
            "test.shop.1": test("unique", &["model.shop.orders"], json!({"column_name": "order_id"})),
            "test.shop.2": test("not_null", &["model.shop.orders"], json!({"column_name": "order_id"})),
            "test.shop.3": test("not_null", &["model.shop.orders"], json!({"column_name": "status"})),
            "test.shop.4": test("accepted_values", &["model.shop.orders"],
                json!({"column_name": "status", "values": ["placed", "sent"]})),
            "test.shop.5": test("relationships", &["model.shop.customers", "model.shop.orders"],
                json!({"column_name": "customer_id", "to": "ref('customers')", "field": "id",
                       "model": "{{ get_where_subquery(ref('orders')) }}"})),
            "test.shop.6": test("unique", &["model.shop.customers"], json!({"column_name": "email"})),
            "test.shop.7": test("unique", &["source.shop.raw.orders"], json!({"column_name": "\"ID\""})),
            "test.shop.8": test("not_null", &["source.shop.raw.orders"], json!({"column_name": "\"ID\""})),
        },
        "sources": {
            "source.shop.raw.orders": {"resource_type": "source", "source_name": "raw", "name": "orders",
                                       "identifier": "ORDERS_V2", "database": "lake", "schema": "raw"},
        },
        "macros": {}, "exposures": {}
    });
    let catalog = json!({
        "metadata": {},
        "nodes": {"model.shop.orders": {
            "metadata": {"type": "BASE TABLE", "comment": null},
            "columns": {
                "STATUS": {"type": "VARCHAR", "index": 2, "name": "STATUS", "comment": "Where it is"},
                "ORDER_ID": {"type": "NUMBER(38,0)", "index": 1, "name": "ORDER_ID", "comment": null},
                "CUSTOMER_ID": {"type": "NUMBER(38,0)", "index": 3, "name": "CUSTOMER_ID"},
            },
            "stats": {"has_stats": {"id": "has_stats", "value": true}, "row_count": {"id": "row_count", "value": "1,200"}}
        }},
        "sources": {}, "errors": null
    });
    check(
        manifest,
        Some(catalog),
        &[
            "orders(1200): order_id NUMBER(38,0) key \"Which order\", \
             STATUS VARCHAR \"Where it is; one of placed, sent\", CUSTOMER_ID NUMBER(38,0)? CUSTOMER_ID->customers.id",
            "customers: email ?, id ?",
            "countries: ",
            "prices: ",
            "raw.orders: ID  key",
        ],
        &[],
    )
    .await;
}

#[tokio::test]
async fn supports_contracts_versions_packages_and_old_manifests() {
    // 1.5 and later: constraints, versions of models, nodes that tests are attached to.
    let mut lines = model(
        "lines",
        json!({"order_id": {"name": "order_id", "data_type": "int", "constraints": [{"type": "not_null"}]},
               "number": {"name": "number", "data_type": "int"}}),
    );
    lines["constraints"] = json!([
        {"type": "primary_key", "columns": ["order_id", "number"]},
        {"type": "foreign_key", "columns": ["order_id"], "to": "ref('orders', v=2)", "to_columns": ["id"]},
        {"type": "check", "expression": "number > 0"}
    ]);
    lines["depends_on"] = json!({"nodes": ["model.shop.orders.v2"]});
    let mut orders = model("orders", json!({"id": {"name": "id"}}));
    orders["version"] = json!(2);
    let mut own = test("unique", &[], json!({"column_name": "id"}));
    own["attached_node"] = json!("model.shop.orders.v2");
    check(
        json!({"nodes": {
            "model.shop.lines": lines, "model.shop.orders.v2": orders, "test.shop.1": own,
            "model.other.lines": model("lines", json!({})), "model.shop.broken": {"name": 5}
        }, "sources": null}),
        None,
        &["shop.lines: order_id int key, number int key order_id->orders.v2.id", "orders.v2: id ?", "other.lines: "],
        &["skipped invalid dbt nodes: `model.shop.broken`"],
    )
    .await;

    // Before 0.17, sources were listed among the nodes and versions did not exist.
    check(
        json!({"nodes": {
            "source.shop.raw.users": {"resource_type": "source", "source_name": "raw", "name": "users", "columns": {
                "id": {"name": "id", "description": "key"}}},
            "model.shop.people": {"resource_type": "model", "name": "people", "columns": {}, "config": {"materialized": "view"}},
            "test.shop.1": test("relationships", &["source.shop.raw.users", "model.shop.people"],
                json!({"column_name": "user_id", "field": "id", "to": "source('raw', 'users')", "model": "{{ ref('people') }}"})),
        }}),
        None,
        &["raw.users: id ? \"key\"", "people: user_id ? user_id->raw.users.id"],
        &[],
    )
    .await;
}

#[tokio::test]
async fn reports_invalid_artifacts_and_has_no_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("manifest.json");
    let source = Dbt::new(std::slice::from_ref(&path)).unwrap();
    let failed = async |text: &str, part: &str| {
        std::fs::write(&path, text).unwrap();
        let error = source.describe().await.unwrap_err().to_string();
        assert!(error.contains("cannot open dbt") && error.contains(part), "{error}");
    };
    assert!(source.describe().await.unwrap_err().to_string().contains("no such file"));
    failed("{", "not a dbt artifact").await;
    failed(r#"{"name": "a web page", "icons": []}"#, "not a dbt manifest").await;
    failed(&format!(r#"{{"nodes": {{"a": {}1{}}}}}"#, "[".repeat(5_000), "]".repeat(5_000)), "recursion limit").await;

    std::fs::write(&path, r#"{"nodes": {}}"#).unwrap();
    let (tables, problems) = source.describe().await.unwrap();
    assert!(tables.is_empty() && problems.len() == 1, "{problems:?}");
    std::fs::write(folder.path().join("catalog.json"), "[]").unwrap();
    let (_, problems) = source.describe().await.unwrap();
    assert!(problems[0].place.ends_with("catalog.json"), "{problems:?}");

    let answer =
        source.query(&crate::rows::SqlQuery { sql: "SELECT 1", tables: &[], fields: None, functions: &[] }, 1).await;
    assert!(matches!(answer, Err(ConnectError::Unsupported { .. })), "{answer:?}");
    assert!(matches!(source.rows("t", &[], &[], 1).await, Err(ConnectError::Unsupported { .. })));
    assert!(matches!(source.statistics("t", &[]).await, Err(ConnectError::NoData { .. })));
    assert!(!source.has_data());
}

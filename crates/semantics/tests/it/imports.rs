//! Imports from Cube and the Open Semantic Interchange: the declarations are valid over their tables.

use prospector_connect::sql::Dialect;
use prospector_connect::table::{Column, ColumnType, Table};
use prospector_semantics::import::read_document;
use prospector_semantics::{SemanticModel, Tables};
use serde_json::{Value, json};

fn shop() -> Vec<Table> {
    let table = |name: &str, columns: &[(&str, ColumnType)]| Table {
        name: name.into(),
        columns: (columns.iter())
            .map(|(name, column_type)| Column {
                name: (*name).into(),
                column_type: *column_type,
                primary_key: *name == "id",
                ..Column::default()
            })
            .collect(),
        ..Table::default()
    };
    let (number, text, day) = (ColumnType::Integer, ColumnType::Text, ColumnType::Date);
    vec![
        table("customers", &[("id", number), ("city", text)]),
        table(
            "orders",
            &[("id", number), ("customer_id", number), ("status", text), ("amount", number), ("ordered_on", day)],
        ),
    ]
}

/// Imports a document; `metrics` are the formulas of the valid metrics, `unmapped` are parts of the reported problems.
fn check(document: &Value, joins: usize, metrics: &[(&str, &str)], unmapped: &[&str]) {
    let tables = shop();
    let sources = [Tables { database: "shop", dialect: Dialect::Sqlite, tables: &tables }];
    let (declared, mut problems) = read_document(document, "model.yml", None, &sources);
    let (model, more) = SemanticModel::check(declared, &sources);
    problems.extend(more);
    let found: Vec<(String, String)> =
        model.metrics().iter().map(|metric| (metric.name.clone(), model.formula(metric))).collect();
    let expected: Vec<(String, String)> =
        metrics.iter().map(|(name, formula)| ((*name).to_owned(), (*formula).to_owned())).collect();
    assert_eq!(found, expected, "{problems:#?}");
    assert_eq!(model.joins().len(), joins, "{problems:#?}");
    assert_eq!(problems.len(), unmapped.len(), "{problems:#?}");
    for (problem, reason) in problems.iter().zip(unmapped) {
        assert!(format!("{problem:?}").contains(reason), "{reason}: {problem:?}");
    }
}

#[test]
fn imports_cubes() {
    let document = json!({"cubes": [
        {
            "name": "orders", "sql_table": "public.orders",
            "joins": [{"name": "customers", "relationship": "many_to_one", "sql": "{CUBE}.customer_id = {customers.id}"}],
            "dimensions": [
                {"name": "id", "sql": "id", "type": "number", "primary_key": true},
                {"name": "status", "sql": "{CUBE}.status", "type": "string"},
                {"name": "ordered", "sql": "ordered_on", "type": "time"},
                {"name": "odd", "sql": "{% if x %}", "type": "string"}
            ],
            "measures": [
                {"name": "count", "type": "count"},
                {"name": "paid", "type": "sum", "sql": "amount", "filters": [{"sql": "{status} = 'P'"}]},
                {"name": "average_paid", "type": "number", "sql": "{paid} / {count}"},
                {"name": "so_far", "type": "sum", "sql": "{CUBE}.amount", "rolling_window": {"trailing": "unbounded"}},
                {"name": "later", "type": "sum", "sql": "amount", "rolling_window": {"leading": "1 month"}},
                {"name": "median", "type": "string", "sql": "amount"}
            ],
            "segments": [{"name": "big", "sql": "{CUBE}.amount > 100"}]
        },
        {"name": "customers", "sql_table": "customers",
         "dimensions": [{"name": "id", "sql": "id", "type": "number", "primary_key": true}]},
        {"name": "lost", "sql": "SELECT 1"}
    ]});
    check(
        &document,
        1,
        &[
            ("orders__count", "count(*) of orders, by ordered_on"),
            ("orders__paid", "sum(amount) of orders where status = 'P', by ordered_on"),
            ("orders__average_paid", "orders__paid / orders__count"),
            ("orders__so_far_in_period", "sum(amount) of orders, by ordered_on"),
            ("orders__so_far", "orders__so_far_in_period from the beginning on"),
        ],
        &["Jinja", "only `sql_table`", "the window", "of the type `string`"],
    );
}

#[test]
fn imports_the_open_semantic_interchange() {
    let ansi = |text: &str| json!({"dialects": [{"dialect": "ANSI_SQL", "expression": text}]});
    let document = json!({"semantic_model": [{
        "name": "sales",
        "datasets": [
            {"name": "orders", "source": "db.public.orders", "primary_key": ["id"], "fields": [
                {"name": "amount", "expression": ansi("amount")},
                {"name": "ordered", "expression": ansi("ordered_on"), "datatype": "Date"},
                {"name": "snow", "expression": {"dialects": [{"dialect": "SNOWFLAKE", "expression": "x"}]}}
            ]},
            {"name": "customers", "source": "customers", "primary_key": ["id"], "fields": [{"name": "id", "expression": ansi("id")}]},
            {"name": "gone", "source": "nowhere"}
        ],
        "relationships": [{"name": "buyer", "from": "orders", "to": "customers", "from_columns": ["customer_id"], "to_columns": ["id"]}],
        "metrics": [
            {"name": "revenue", "expression": ansi("SUM(orders.amount)"), "ai_context": {"synonyms": ["sales"]}},
            {"name": "per_customer", "expression": ansi("SUM(orders.amount) / COUNT(DISTINCT customers.id)")},
            {"name": "raw", "expression": ansi("orders.amount")},
            {"name": "lost", "expression": ansi("SUM(gone.amount)")}
        ]
    }]});
    check(
        &document,
        1,
        &[
            ("revenue", "sum(amount) of orders, by ordered_on"),
            ("per_customer_part_1", "sum(amount) of orders, by ordered_on"),
            ("per_customer_part_2", "count_distinct(id) of customers"),
            ("per_customer", "per_customer_part_1 / per_customer_part_2"),
        ],
        &["no expression in ANSI_SQL", "there is no table `nowhere`", "aggregates nothing", "has no table"],
    );
}

#[test]
fn reports_documents_without_metrics() {
    check(&json!({"models": []}), 0, &[], &["the file declares no metrics"]);
}

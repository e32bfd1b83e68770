//! What is read of a question, and what is not.

use prospector_connect::query::Aggregation;
use serde_json::json;

use super::*;
use crate::model::{Declarations, Dimension, DimensionColumn, Entity, Measure, Metric, MetricKind};

fn model() -> SemanticModel {
    let entity = |name: &str, table: &str| Entity {
        name: name.into(),
        database: "shop".into(),
        table: table.into(),
        time: Some("day".into()),
        ..Entity::default()
    };
    let dimension = |name: &str, entity: &str, column: &str| Dimension {
        name: name.into(),
        columns: vec![DimensionColumn { entity: entity.into(), expression: column.into() }],
        ..Dimension::default()
    };
    let metric = |name: &str, synonyms: &[&str]| Metric {
        name: name.into(),
        kind: MetricKind::Simple(Measure {
            entity: "order".into(),
            aggregation: Aggregation::Sum,
            expression: Some("total".into()),
            filters: Vec::new(),
            time: None,
            grain: None,
            semi_additive: None,
        }),
        unit: String::new(),
        format: String::new(),
        owner: String::new(),
        description: String::new(),
        synonyms: synonyms.iter().map(|text| (*text).into()).collect(),
        source: String::new(),
        place: String::new(),
    };
    SemanticModel::of(Declarations {
        entities: vec![entity("order", "orders"), entity("country", "countries")],
        dimensions: vec![dimension("genre", "order", "genre"), dimension("channel", "order", "channel")],
        metrics: vec![
            metric("gross_revenue", &["revenue", "sales"]),
            metric("net_revenue", &[]),
            metric("orders", &[]),
        ],
        ..Declarations::default()
    })
}

fn check(question: &str, expected: Result<serde_json::Value, &str>) {
    let value = |table: &str, column: &str, value: &str| NamedValue {
        table: format!("shop.{table}"),
        column: column.into(),
        value: value.into(),
    };
    let values = [
        value("countries", "name", "Brazil"),
        value("countries", "name", "United States"),
        value("orders", "genre", "Rock"),
        value("playlists", "name", "Rock"),
        value("orders", "note", "gift"),
        value("countries", "note", "gift"),
    ];
    let read =
        model().read_question(question, &values, &[]).map(|reading| serde_json::to_value(reading.query).unwrap());
    assert_eq!(read.map_err(|error| error.to_string()), expected.map_err(str::to_owned), "{question}");
}

fn during(from: &str, to: &str) -> serde_json::Value {
    json!([{"column": "time", "op": "gte", "value": from}, {"column": "time", "op": "lt", "value": to}])
}

#[test]
fn a_question_that_is_understood_is_one_over_metrics() {
    check("total orders", Ok(json!({"metrics": ["orders"]})));
    check("What is our total revenue?", Ok(json!({"metrics": ["gross_revenue"]})));
    check("Show net revenue by quarter", Ok(json!({"metrics": ["net_revenue"], "grain": "quarter"})));
    check(
        "monthly sales per channel",
        Ok(json!({"metrics": ["gross_revenue"], "dimensions": ["channel"], "grain": "month"})),
    );
    check(
        "What was the revenue in 2025?",
        Ok(json!({"metrics": ["gross_revenue"], "filters": during("2025-01-01", "2026-01-01")})),
    );
    check(
        "Revenue from January 2025 to March 2025",
        Ok(json!({"metrics": ["gross_revenue"], "filters": during("2025-01-01", "2025-04-01")})),
    );
    check(
        "How many orders were there in Brazil?",
        Ok(json!({"metrics": ["orders"], "filters": [{"column": "country.name", "op": "eq", "value": "Brazil"}]})),
    );
    check(
        "Compare revenue and orders in Brazil and the United States",
        Ok(json!({"metrics": ["gross_revenue", "orders"], "dimensions": ["country.name"],
            "filters": [{"column": "country.name", "op": "in", "value": ["United States", "Brazil"]}]})),
    );
    check(
        "orders in Brazil and the United States",
        Ok(json!({"metrics": ["orders"],
            "filters": [{"column": "country.name", "op": "in", "value": ["United States", "Brazil"]}]})),
    );
    let years =
        |from: &str, to: &str| Ok(json!({"metrics": ["gross_revenue"], "filters": during(from, to), "grain": "year"}));
    check("Compare the revenue of 2024 and 2025", years("2024-01-01", "2026-01-01"));
    check("revenue in 2025 versus 2024", years("2024-01-01", "2026-01-01"));
    // A value of a dimension goes before the same text elsewhere.
    check(
        "revenue of Rock",
        Ok(json!({"metrics": ["gross_revenue"], "filters": [{"column": "genre", "op": "eq", "value": "Rock"}]})),
    );
}

#[test]
fn what_is_ranked_has_an_order_and_an_end() {
    let ranked = |dimension: &str, descending: bool, limit: usize| {
        let order = if descending {
            json!({"by": "gross_revenue", "descending": true})
        } else {
            json!({"by": "gross_revenue"})
        };
        let mut read =
            json!({"metrics": ["gross_revenue"], "dimensions": [dimension], "order": [order], "limit": limit});
        // Of one that is asked for by name there may be several.
        if limit == 1 {
            read["ties"] = json!(true);
        }
        Ok(read)
    };
    check("Which genres bring the most revenue?", ranked("genre", true, 10));
    check("Which genre has the highest revenue?", ranked("genre", true, 1));
    check("top 5 genres by revenue", ranked("genre", true, 5));
    check("the three channels with the least revenue", ranked("channel", false, 3));
    check("highest revenue", Err("nothing is named that could be put in order"));
}

#[test]
fn what_is_not_understood_is_not_computed() {
    check("How tall is the tower?", Err("the question names no metric"));
    check("the total of orders", Err("what is meant by `total`?"));
    check("How much orders were there?", Err("what is meant by `How`, `much`?"));
    check("revenue per order", Err("what is meant by `per`, `order`?"));
    check("average revenue by genre", Err("what is meant by `average`?"));
    check("revenue without Brazil", Err("what is meant by `without`?"));
    check("revenue not in Brazil", Err("what is meant by `not`?"));
    check("revenue of customers who left", Err("what is meant by `customers`, `who`, `left`?"));
    check("genres with more than 100 orders", Err("what is meant by `more`, `than`, `100`?"));
    check("revenue of gift", Err("`gift` may be any of country.note, order.note"));
    check("revenue in 2023 and 2025", Err("several periods are named, and how they belong together is not plain"));
    check("How many orders did I have?", Err("what is meant by `I`?"));
    check(&"revenue ".repeat(60), Err("the question is longer than 400 characters"));
}

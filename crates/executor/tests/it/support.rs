//! A catalog of two files, an API and a document in a temporary folder, and runs over it.

use std::{fs, sync::Arc};

use prospector_discovery::{Catalog, CatalogOptions};
use prospector_executor::{Executor, Run, RunOptions, read_plan};
use serde_json::{Value, json};
use tempfile::TempDir;

const ORDERS: &str = "order_id,customer_id,ordered_on,total\n1,1,2025-01-03,100.5\n2,1,2025-02-03,50\n3,2,2025-02-04,10\n\
    4,3,2025-03-01,300\n";
const CUSTOMERS: &str = "customer_id,name,country\n1,Ada,PT\n2,Bob,BR\n3,Cyd,PT\n4,Dot,BR\n";
const API: &str = r#"{"openapi": "3.0.0", "info": {"title": "crm", "version": "1"}, "paths": {
    "/customers/{customer_id}": {"get": {"operationId": "getCustomer", "parameters": [
        {"name": "customer_id", "in": "path", "required": true, "schema": {"type": "integer"}}],
        "responses": {"200": {"description": "a customer", "content": {"application/json": {"schema": {"type": "object",
            "properties": {"id": {"type": "integer"}, "score": {"type": "integer"}}}}}}}},
    "delete": {"operationId": "deleteCustomer", "parameters": [
        {"name": "customer_id", "in": "path", "required": true, "schema": {"type": "integer"}}],
        "responses": {"204": {"description": "gone"}}}}}}"#;
const CATALOG: &str = "databases:\n- path: orders.csv\n- path: customers.csv\napis:\n- path: crm.json\n\
    documents:\n- name: rules\n  content: \"# Rules\\n\\n## VIP customer\\n\\nA VIP customer is a customer whose orders total \
    at least 120.\\n\"\n\
    facts:\n- term: regular\n  definition: A regular orders every month.\n  source: sales handbook\n\
    entities:\n- name: order\n  table: orders.orders\n  key: order_id\n  time: ordered_on\n\
    metrics:\n- name: revenue\n  entity: order\n  aggregate: sum\n  expression: total\n";

/// Opens the catalog; existing files are kept.
pub(crate) async fn open(folder: &TempDir) -> Executor {
    for (name, text) in
        [("orders.csv", ORDERS), ("customers.csv", CUSTOMERS), ("crm.json", API), ("catalog.yaml", CATALOG)]
    {
        if !folder.path().join(name).exists() {
            fs::write(folder.path().join(name), text).unwrap();
        }
    }
    let (catalog, problems) =
        Catalog::open(&folder.path().join("catalog.yaml"), CatalogOptions::default()).await.unwrap();
    assert!(problems.iter().all(|problem| !problem.to_string().contains("orders")), "{problems:?}");
    Executor::new(Arc::new(catalog))
}

/// Runs steps, numbering them.
pub(crate) async fn run(executor: &Executor, steps: Value, options: RunOptions<'_>) -> Run {
    let mut steps = steps.as_array().unwrap().clone();
    for (at, step) in steps.iter_mut().enumerate() {
        step["number"] = json!(at + 1);
        if step.get("goal").is_none() {
            step["goal"] = json!("a goal");
        }
    }
    let plan = json!({"question": "", "plan": {"steps": steps}});
    executor.run(read_plan(&plan.to_string()).unwrap(), options).await
}

/// The customers that spent more than 100, with their names.
pub(crate) fn two_steps() -> Value {
    json!([
        {"sql": "SELECT customer_id, sum(total) AS spent FROM orders.orders GROUP BY customer_id HAVING sum(total) > 100"},
        {"sql": "SELECT c.name, s.spent FROM customers.customers c JOIN step_1 s ON s.customer_id = c.customer_id ORDER BY c.name"}
    ])
}

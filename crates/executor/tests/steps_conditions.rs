//! Conditions of steps that are joined with `and` and `or`, that are on groups, and tables that are joined as the catalog says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use prospector_executor::{Executor, Run, read_plan, record::Stop};
use serde_json::{Value, json};
use tempfile::TempDir;

const ORDERS: &str = "order_id,customer_id,agent_id,status,ordered_on,total\n1,1,4,paid,2025-01-03,100.5\n\
    2,1,4,sent,2025-02-03,50\n3,2,4,this or that,2025-02-04,10\n4,3,4,paid,2025-03-01,300\n5,2,2,void,2025-03-02,5\n";
const CUSTOMERS: &str = "customer_id,name,country\n1,Ada,PT\n2,Bob,BR\n3,Cyd,PT\n4,Dot,BR\n";

/// Entities over both files, and joins between them.
fn declare(joins: &str) -> String {
    format!(
        "entities:\n- {{name: order, table: orders.orders, key: order_id, time: ordered_on}}\n\
         - {{name: customer, table: customers.customers, key: customer_id}}\n{joins}\
         metrics:\n- {{name: revenue, entity: order, aggregate: sum, expression: total}}\n"
    )
}

async fn open(folder: &TempDir, declared: &str) -> Executor {
    let catalog = format!("databases:\n- path: orders.csv\n- path: customers.csv\n{declared}");
    let files = [("orders.csv", ORDERS), ("customers.csv", CUSTOMERS), ("catalog.yaml", catalog.as_str())];
    support::open(folder, &files, "join").await
}

async fn run(executor: &Executor, steps: Vec<Value>) -> Run {
    support::run(executor, "Look at orders", steps).await
}

async fn find(executor: &Executor, steps: Vec<Value>) -> Value {
    let done = run(executor, steps).await;
    json!(done.result_step().unwrap_or_else(|| panic!("{}", done.text())).rows)
}

/// The code of the error of the last step.
async fn fail(executor: &Executor, step: Value) -> String {
    let done = run(executor, vec![step]).await;
    done.steps[0].error.as_ref().unwrap_or_else(|| panic!("{}", done.text())).code.clone()
}

fn orders_where(filter: Value) -> Value {
    json!({"tables": ["orders.orders"], "columns": ["orders.orders.order_id"], "filter": [filter],
        "order": ["orders.orders.order_id"]})
}

fn groups_where(filter: &str) -> Value {
    json!({"tables": ["orders.orders"], "group_by": ["orders.orders.customer_id"], "filter": [filter]})
}

#[tokio::test]
async fn alternatives_are_met_by_the_rows_that_meet_one() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder, "").await;
    let eq = |value: &str| json!({"column": "orders.orders.status", "op": "eq", "value": value});
    for (filter, expected) in [
        (json!("orders.orders.status = 'paid' or orders.orders.status = 'sent'"), json!([[1], [2], [4]])),
        (json!({"or": [eq("paid"), eq("sent")]}), json!([[1], [2], [4]])),
        (json!({"any": [eq("sent"), {"all": [eq("paid"), "orders.orders.total > 200"]}]}), json!([[2], [4]])),
        (json!("(status = 'paid' or status = 'sent') and total > 60"), json!([[1], [4]])),
        (json!("status = 'sent' or status = 'paid' and total > 200"), json!([[2], [4]])),
        (json!("status = 'this or that'"), json!([[3]])),
        (json!("status in ('sent') or total between 5 and 10"), json!([[2], [3], [5]])),
        (json!("status not in ('paid', 'sent') or order_id = 1"), json!([[1], [3], [5]])),
        (json!("month(orders.orders.ordered_on) = 1 or total < 6"), json!([[1], [5]])),
        // What stands in a value stays a value.
        (json!("status = 'x'' or ''1''=''1' or total = 10"), json!([[3]])),
        (json!({"or": [eq("x') OR (1=1"), eq("void' OR '1'='1"), eq("sent")]}), json!([[2]])),
    ] {
        assert_eq!(find(&executor, vec![orders_where(filter.clone())]).await, expected, "{filter}");
    }
    let column = json!({"or": [{"column": "orders.orders.total = 1 or 1", "op": "eq", "value": 1}, eq("paid")]});
    assert_eq!(fail(&executor, orders_where(column)).await, "unknown_column");
    for filter in [json!({"or": []}), json!("status = 'paid' or"), json!("status = paid or sent")] {
        let plan = json!({"plan": {"steps": [orders_where(filter.clone())]}});
        assert!(read_plan(&plan.to_string()).is_err(), "{filter}");
    }
}

#[tokio::test]
async fn an_alternative_may_be_what_an_earlier_step_left() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder, "").await;
    let first = json!({"tables": ["customers.customers"], "columns": ["customers.customers.customer_id"],
        "filter": ["customers.customers.name = 'Ada' or customers.customers.name = 'Dot'"]});
    for (filter, expected) in [
        ("orders.orders.customer_id in step_1_results.customer_id or total = 10", json!([[1], [2], [3]])),
        ("orders.orders.customer_id not in step_1_results.customer_id and total < 20 or total = 50", {
            json!([[2], [3], [5]])
        }),
    ] {
        let mut second = orders_where(json!(filter));
        second["inputs"] = json!(["step_1_results"]);
        assert_eq!(find(&executor, vec![first.clone(), second]).await, expected, "{filter}");
    }
}

#[tokio::test]
async fn conditions_are_on_what_is_computed_of_each_row() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder, "").await;
    let rows = |name: &str, filter: &str| {
        json!({"tables": ["orders.orders"], "columns": ["orders.orders.order_id"], "order": ["orders.orders.order_id"],
            "compute": [format!("orders.orders.total * 2 as {name}")], "filter": [filter]})
    };
    for (name, filter, expected) in [
        ("twice", "twice > 200", json!([[1, 201.0], [4, 600.0]])),
        ("twice", "twice = 20 or orders.orders.total = 5", json!([[3, 20.0], [5, 10.0]])),
        // A column in full is that column.
        ("total", "orders.orders.total > 200", json!([[4, 600.0]])),
    ] {
        assert_eq!(find(&executor, vec![rows(name, filter)]).await, expected, "{filter}");
    }
    assert_eq!(fail(&executor, rows("total", "total > 200")).await, "invalid_arguments");
}

#[tokio::test]
async fn conditions_are_on_groups_whether_these_are_measured_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder, "").await;
    for (filter, expected) in [
        ("sum(orders.orders.total) > 100", json!([[1], [3]])),
        ("SUM(total) / count(*) > 100", json!([[3]])),
        ("count(distinct orders.orders.status) > 1", json!([[1], [2]])),
        ("sum(orders.orders.total * 2) between 30 and 301", json!([[1], [2]])),
        ("count(*) > 1 and max(total) > 50 or sum(total) = 300", json!([[1], [3]])),
        // The same for all rows of a group.
        ("sum(orders.orders.total) > 200 or orders.orders.customer_id = 2", json!([[2], [3]])),
    ] {
        assert_eq!(find(&executor, vec![groups_where(filter)]).await, expected, "{filter}");
    }
    let mut step = groups_where("sum(orders.orders.total) > 100");
    for (compute, expected) in [
        (json!(["sum(orders.orders.total) as spent"]), json!([[1, 150.5], [3, 300.0]])),
        (json!(["count(*) as orders"]), json!([[1, 2], [3, 1]])),
    ] {
        step["compute"] = compute;
        step["order"] = json!(["orders.orders.customer_id"]);
        assert_eq!(find(&executor, vec![step.clone()]).await, expected, "{step}");
    }
    // A column may be called as what is computed of it.
    let called = json!({"tables": ["orders.orders"], "compute": ["sum(orders.orders.total) as total"],
        "group_by": ["orders.orders.customer_id"], "filter": ["total > 100"], "order": ["orders.orders.customer_id"]});
    assert_eq!(find(&executor, vec![called]).await, json!([[1, 150.5], [3, 300.0]]));
    let all = |filter: &str| json!({"tables": ["orders.orders"], "compute": ["count(*) as n"], "filter": [filter]});
    assert_eq!(find(&executor, vec![all("sum(orders.orders.total) > 100")]).await, json!([[5]]));
    assert_eq!(find(&executor, vec![all("sum(orders.orders.total) > 1000")]).await, json!([]));

    // Over what an earlier step left.
    let first = json!({"tables": ["orders.orders"], "compute": ["sum(orders.orders.total) as spent"],
        "group_by": ["orders.orders.customer_id", "orders.orders.status"]});
    let second = json!({"inputs": ["step_1_results"], "group_by": ["step_1_results.customer_id"],
        "compute": ["count() as kinds"], "filter": ["sum(step_1_results.spent) > 100"]});
    assert_eq!(find(&executor, vec![first, second]).await, json!([[1, 2], [3, 1]]));
}

#[tokio::test]
async fn a_condition_that_no_step_can_meet_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder, &declare("")).await;
    let mixed = "sum(orders.orders.total) > 200 or orders.orders.status = 'void'";
    let over_metrics = |filter: &str| {
        json!({"metrics": ["revenue"], "filter": [filter], "group_by": ["orders.orders.customer_id"],
            "order": ["orders.orders.customer_id"]})
    };
    for (step, part) in [
        (orders_where(json!("sum(orders.orders.total) > 5")), "add `group_by`"),
        (groups_where(mixed), "group by it"),
        (groups_where("sum(julianday(orders.orders.ordered_on)) > 5"), "no such function"),
        (over_metrics("orders.orders.status = 'paid' or orders.orders.total > 5"), "values of one dimension"),
    ] {
        let done = run(&executor, vec![step.clone()]).await;
        assert_eq!((done.stopped, done.steps.len()), (Some(Stop::NotVerified), 0), "{step}");
        assert!(done.verification.failed[0].reason.contains(part), "{step}: {:?}", done.verification.failed);
    }
    let listed = over_metrics("orders.orders.status = 'paid' or orders.orders.status = 'sent'");
    assert_eq!(find(&executor, vec![listed]).await, json!([[1, 150.5], [3, 300.0]]));
    let unknown = run(&executor, vec![groups_where("sum(orders.orders.totals) > 5 or count(*) > 1")]).await;
    assert!(!unknown.ok && unknown.verification.sense.findings[0].message.contains("orders.orders.totals"));
}

#[tokio::test]
async fn tables_are_joined_as_the_catalog_declares() {
    let folder = tempfile::tempdir().unwrap();
    let by_country = json!({"tables": ["orders.orders", "customers.customers"],
        "compute": ["sum(orders.orders.total) as spent"], "group_by": ["customers.customers.country"]});
    let by_status = json!({"tables": ["orders.orders", "customers.customers"], "group_by": ["orders.orders.status"],
        "compute": ["count(customers.customers.name) as customers"]});
    let bought = "- {from: order.customer_id, to: customer.customer_id}\n";
    let sold = "- {from: order.agent_id, to: customer.customer_id}\n";

    let executor = open(&folder, &declare("")).await;
    assert_eq!(fail(&executor, by_country.clone()).await, "no_join");

    let executor = open(&folder, &declare(&format!("joins:\n{bought}"))).await;
    let done = run(&executor, vec![by_country.clone()]).await;
    assert!(done.ok, "{}", done.text());
    assert_eq!(json!(done.result_step().unwrap().rows), json!([["BR", 15.0], ["PT", 450.5]]));
    assert_eq!(fail(&executor, by_status).await, "repeated_rows");
    let mut either = by_country.clone();
    either["filter"] = json!(["customers.customers.name = 'Bob' or orders.orders.total > 200", "count(*) < 2"]);
    assert_eq!(find(&executor, vec![either]).await, json!([["PT", 300.0]]));

    let executor = open(&folder, &declare(&format!("joins:\n{bought}{sold}"))).await;
    assert_eq!(fail(&executor, by_country.clone()).await, "ambiguous_join");
    let mut chosen = by_country;
    chosen["columns"] = json!(["orders.orders.agent_id"]);
    assert_eq!(find(&executor, vec![chosen]).await, json!([["BR", 465.5]]));
}

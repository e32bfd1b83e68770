//! Runs that stop, go on, and are compared; plans as others write them; what a run never does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fs, sync::Arc};

use prospector_core::Owner;
use prospector_discovery::{Catalog, CatalogOptions};
use prospector_executor::{
    Executor, Run, RunOptions, Store,
    comparison::Change,
    read_plan,
    record::{StepStatus, Stop},
};
use serde_json::{Value, json};
use tempfile::TempDir;

const ORDERS: &str = "order_id,customer_id,ordered_on,total\n1,1,2025-01-03,100.5\n2,1,2025-02-03,50\n3,2,2025-02-04,10\n\
    4,3,2025-03-01,300\n";
const CUSTOMERS: &str = "customer_id,name,country\n1,Ada,PT\n2,Bob,BR\n3,Cyd,PT\n4,Dot,BR\n";
const API: &str = r#"{"openapi": "3.0.0", "info": {"title": "crm", "version": "1"}, "paths": {
    "/customers/{customer_id}": {"get": {"operationId": "getCustomer", "parameters": [
        {"name": "customer_id", "in": "path", "required": true, "schema": {"type": "integer"}}],
        "responses": {"200": {"description": "a customer"}}},
    "delete": {"operationId": "deleteCustomer", "parameters": [
        {"name": "customer_id", "in": "path", "required": true, "schema": {"type": "integer"}}],
        "responses": {"204": {"description": "gone"}}}}}}"#;

async fn open(folder: &TempDir) -> Executor {
    let catalog = "databases:\n- path: orders.csv\n- path: customers.csv\napis:\n- path: crm.json\n\
        documents:\n- name: rules\n  content: \"# Rules\\n\\n## VIP customer\\n\\nA VIP customer is a customer whose orders total \
        at least 120.\\n\"\n";
    for (name, text) in
        [("orders.csv", ORDERS), ("customers.csv", CUSTOMERS), ("crm.json", API), ("catalog.yaml", catalog)]
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

async fn run(executor: &Executor, steps: Value, options: RunOptions<'_>) -> Run {
    let plan = json!({"question": "", "plan": {"steps": steps}});
    executor.run(read_plan(&plan.to_string()).unwrap(), options).await
}

fn two_steps() -> Value {
    json!([
        {"number": 1, "goal": "Sum the orders of each customer", "tables": ["orders.orders"],
         "compute": ["sum(orders.orders.total) as spent"], "group_by": ["orders.orders.customer_id"], "outputs": ["spending"]},
        {"number": 2, "goal": "List those who spent more than 100", "tables": ["customers.customers"],
         "columns": ["customers.customers.name"], "inputs": ["spending"], "order": ["customers.customers.name"],
         "filter": ["customers.customers.customer_id in spending.customer_id"]}
    ])
}

#[tokio::test]
async fn results_are_tables_for_later_steps() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let mut steps = two_steps();
    let done = run(&executor, steps.clone(), RunOptions::default()).await;
    assert_eq!(done.result_step().unwrap().rows, [[json!("Ada")], [json!("Bob")], [json!("Cyd")]], "{}", done.text());
    assert_eq!(done.derivation[1].rests_on, ["Q1"]);

    // A condition on what was computed; and a key that both have, where the plan does not say which.
    steps[0]["filter"] = json!(["spent > 100"]);
    steps[1]["filter"] = json!([]);
    let done = run(&executor, steps, RunOptions::default()).await;
    assert_eq!(done.result_step().unwrap().rows, [[json!("Ada")], [json!("Cyd")]]);
    assert!(done.steps[1].notes[0].contains("is among step_1_results.customer_id"), "{:?}", done.steps[1].notes);
}

#[tokio::test]
async fn a_condition_excludes_what_an_earlier_step_left_and_takes_parts_of_dates() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let mut steps = two_steps();
    steps[0]["filter"] = json!(["month(orders.orders.ordered_on) = 2"]);
    let within = run(&executor, steps.clone(), RunOptions::default()).await;
    let within = within.result_step().unwrap_or_else(|| panic!("{}", within.text())).rows.clone();
    steps[1]["filter"] = json!(["customers.customers.customer_id not in spending.customer_id"]);
    let done = run(&executor, steps, RunOptions::default()).await;
    let rest = &done.result_step().unwrap_or_else(|| panic!("{}", done.text())).rows;
    assert!(
        !within.is_empty() && !rest.is_empty() && rest.iter().all(|row| !within.contains(row)),
        "{within:?} {rest:?}"
    );
    assert!(done.steps[1].notes[0].contains("is not among"), "{:?}", done.steps[1].notes);
}

#[tokio::test]
async fn nothing_is_selected_by_guess_where_a_goal_denies() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let mut steps = two_steps();
    steps[1]["filter"] = json!([]);
    for goal in ["Customers that are not in step 1", "All customers except those", "The customers who haven't bought"] {
        steps[1]["goal"] = json!(goal);
        let done = run(&executor, steps.clone(), RunOptions::default()).await;
        let error = done.steps[1].error.as_ref().unwrap_or_else(|| panic!("{goal}: {}", done.text()));
        assert!(error.message.contains("wanted or left out"), "{goal}: {error:?}");
        assert!(error.suggestion.as_ref().unwrap().contains("`not in`"), "{goal}: {error:?}");
    }
}

#[tokio::test]
async fn columns_are_compared_with_each_other_and_days_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let sum = |number: u32, month: u32| {
        json!({"number": number, "goal": "Sum a month", "tables": ["orders.orders"], "compute": ["sum(orders.orders.total) as spent"],
            "filter": [format!("month(orders.orders.ordered_on) = {month}")], "group_by": ["orders.orders.customer_id"]})
    };
    let more = json!({"number": 3, "goal": "Those who spent more in January", "inputs": ["step_1_results", "step_2_results"],
        "filter": ["step_1_results.spent > step_2_results.spent"]});
    let done = run(&executor, json!([sum(1, 1), sum(2, 2), more]), RunOptions::default()).await;
    let rows = &done.result_step().unwrap_or_else(|| panic!("{}", done.text())).rows;
    assert_eq!(json!(rows), json!([[1, 100.5, 50.0]]), "{}", done.text());
    assert!(done.steps[2].notes.iter().any(|note| note.contains("rows have nothing of")), "{:?}", done.steps[2].notes);

    let days = json!([{"number": 1, "goal": "Days from the first to the last order", "tables": ["orders.orders"],
        "compute": ["max(orders.orders.ordered_on) - min(orders.orders.ordered_on) as days"]}]);
    let done = run(&executor, days, RunOptions::default()).await;
    // What an expression is made of is told before it.
    let rows = &done.result_step().unwrap_or_else(|| panic!("{}", done.text())).rows;
    assert_eq!(json!(rows), json!([["2025-03-01", "2025-01-03", 57]]));
}

#[tokio::test]
async fn a_plan_in_the_words_of_others_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    // Bare tables beside `databases`, inputs that no step names as its output.
    let steps = json!([
        {"number": 1, "goal": "Calculate lifetime value per customer", "databases": ["orders"], "tables": ["orders"],
         "compute": [{"aggregation": "sum", "column": "orders.total", "name": "lifetime_value"}],
         "group_by": [{"column": "orders.customer_id"}]},
        {"number": 2, "goal": "Identify VIP customers", "inputs": ["step_1_results"],
         "filter": [{"column": "lifetime_value", "op": "gte", "value": 120}]},
        {"number": 3, "goal": "Aggregate VIP spending by month", "inputs": ["step_2_vip_ids"], "databases": ["orders"],
         "tables": ["orders"], "compute": ["sum(orders.total) as spending"], "group_by": ["year_month(orders.ordered_on) as month"]}
    ]);
    let done = run(&executor, steps, RunOptions::default()).await;
    let rows = &done.result_step().unwrap_or_else(|| panic!("{}", done.text())).rows;
    assert_eq!(json!(rows), json!([["2025-01", 100.5], ["2025-02", 50.0], ["2025-03", 300.0]]), "{}", done.text());
}

#[tokio::test]
async fn a_run_stops_where_a_step_fails_and_goes_on_when_it_is_mended() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let store = Store::new(folder.path(), &Owner::local());
    let mut steps = two_steps();
    steps[1]["order"] = json!(["spent desc"]);
    let mut failed = run(&executor, steps, RunOptions::default()).await;
    assert_eq!((failed.ok, failed.stopped), (false, Some(Stop::Failed)));
    assert_eq!(failed.steps[1].status, StepStatus::Failed);
    assert_eq!(failed.steps[1].error.as_ref().unwrap().code, "unknown_column");
    let text = failed.text();
    assert!(text.starts_with("Step 2 failed") && text.contains("\nWhat step 1 left:\n"), "{text}");
    store.keep(&mut failed).unwrap();

    // What the first step read is not there any more: it is taken from the run.
    fs::write(folder.path().join("orders.csv"), "order_id,customer_id,ordered_on,total\n9,4,2025-01-03,1\n").unwrap();
    let earlier = Store::new(folder.path(), &Owner::local()).read("last").unwrap();
    assert_eq!(earlier, failed);
    let options = RunOptions { resume: Some(earlier.clone()), compare: Some(earlier), ..RunOptions::default() };
    let done = run(&executor, two_steps(), options).await;
    assert_eq!((done.steps[0].reused, done.steps[1].reused), (true, false));
    assert_eq!(done.result_step().unwrap().rows.len(), 3);
    let changes: Vec<Change> = done.comparison.unwrap().steps.iter().map(|step| step.change).collect();
    assert_eq!(changes, [Change::Same, Change::Changed]);

    // Another state of the data, step by step, and what differs.
    let executor = open(&folder).await;
    let options = RunOptions { until: Some(1), compare: Some(failed.clone()), ..RunOptions::default() };
    let done = run(&executor, two_steps(), options).await;
    assert_eq!((done.stopped, done.steps.len()), (Some(Stop::Asked), 1));
    let comparison = done.comparison.unwrap();
    assert_eq!((comparison.steps[0].change, comparison.steps[1].change), (Change::Changed, Change::Removed));
    assert_eq!(comparison.steps[0].differences.len(), 4);

    let missing = store.read("20200101-000000-1").unwrap_err().to_string();
    assert!(missing.contains(&failed.id), "{missing}");
    fs::write(folder.path().join("runs").join(format!("{}.json", failed.id)), "{}").unwrap();
    assert!(store.read("last").unwrap_err().to_string().contains("damaged"));
    assert!(Store::new(folder.path(), &Owner::new("someone", "someone")).ids().is_empty());
}

#[tokio::test]
async fn nothing_is_run_of_what_does_not_exist_and_nothing_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let mut steps = two_steps();
    steps[1]["tables"] = json!(["customers.clients"]);
    let done = run(&executor, steps, RunOptions::default()).await;
    assert_eq!((done.stopped, done.steps.len(), done.ok), (Some(Stop::NotVerified), 0, false));
    assert!(done.text().contains("customers.clients"), "{}", done.text());

    let steps = json!([{"number": 1, "goal": "Delete the customer", "operations": ["crm.deleteCustomer"],
        "filter": [{"column": "customer_id", "op": "eq", "value": 1}]}]);
    let done = run(&executor, steps, RunOptions::default()).await;
    assert!(done.steps.iter().all(|step| step.status == StepStatus::Failed), "{}", done.text());

    // The catalog allows no call; and where it would, the argument has to be there.
    let call = json!([{"number": 1, "goal": "Read the customer", "operations": ["crm.getCustomer"]}]);
    let done = run(&executor, call.clone(), RunOptions::default()).await;
    assert_eq!(done.steps[0].error.as_ref().unwrap().code, "missing_argument");
    let mut call = call;
    call[0]["filter"] = json!([{"column": "crm.getCustomer.customerId", "op": "eq", "value": 7}]);
    let done = run(&executor, call, RunOptions::default()).await;
    let error = done.steps[0].error.as_ref().unwrap_or_else(|| panic!("{}", done.text()));
    assert_eq!(error.code, "not_called");
    assert!(error.message.contains("does not allow calls of `crm`"), "{error:?}");
    assert!(error.suggestion.as_ref().unwrap().contains("`invoke: true`"), "{error:?}");

    // The only value of a column is an argument, and one of several is none.
    let with_input = |names: &str| {
        json!([
            {"number": 1, "goal": "Find customers", "tables": ["customers.customers"], "columns": ["customers.customers.customer_id"],
             "filter": [format!("customers.customers.name in ({names})")]},
            {"number": 2, "goal": "Read the customer", "operations": ["crm.getCustomer"], "inputs": ["step_1_results"],
             "filter": ["customer_id = step_1_results.customer_id"]}])
    };
    for (names, code) in [("'Ada'", "not_called"), ("'Ada', 'Bob'", "missing_argument")] {
        let done = run(&executor, with_input(names), RunOptions::default()).await;
        assert_eq!(done.steps[1].error.as_ref().unwrap().code, code, "{}", done.text());
    }
}

#[tokio::test]
async fn nothing_is_run_of_what_no_step_has() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let mut steps = two_steps();
    steps[0]["queries"] = json!(["vip-customers"]);
    let done = run(&executor, steps, RunOptions::default()).await;
    assert_eq!((done.stopped, done.steps.len()), (Some(Stop::NotVerified), 0));
    assert!(done.text().contains("`queries`"), "{}", done.text());
    let mut steps = two_steps();
    steps[0]["compute"] = json!(["avg(julianday(orders.orders.total)) as days"]);
    let done = run(&executor, steps, RunOptions::default()).await;
    assert_eq!((done.stopped, done.steps.len()), (Some(Stop::NotVerified), 0), "{}", done.text());
}

#[tokio::test]
async fn metrics_are_told_by_columns_of_their_tables_and_by_parts_of_dates() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = "databases:\n- path: orders.csv\n- path: customers.csv\nentities:\n- name: order\n  table: orders.orders\n  \
        key: order_id\n  time: ordered_on\nmetrics:\n- name: revenue\n  entity: order\n  aggregate: sum\n  expression: total\n";
    fs::write(folder.path().join("catalog.yaml"), catalog).unwrap();
    let executor = open(&folder).await;
    let step = |group: &str| {
        json!([{"number": 1, "goal": "Revenue", "metrics": ["revenue"], "group_by": [group],
            "filter": ["orders.orders.total < 200", "time = 2025"], "order": [group.split(" as ").next()]}])
    };
    for (group, column, rows) in [
        ("orders.orders.customer_id", "customer_id", json!([[1, 150.5], [2, 10.0]])),
        ("month(time) as m", "m", json!([[1, 100.5], [2, 60.0]])),
        ("year_month(time)", "month", json!([["2025-01", 100.5], ["2025-02", 60.0]])),
    ] {
        let done = run(&executor, step(group), RunOptions::default()).await;
        let found = done.result_step().unwrap_or_else(|| panic!("{group}: {}", done.text()));
        assert_eq!((found.columns[0].as_str(), json!(found.rows)), (column, rows), "{group}");
    }
    for group in ["weekday(time)", "orders.orders.town", "customers.customers.country"] {
        let done = run(&executor, step(group), RunOptions::default()).await;
        assert_eq!((done.stopped, done.steps.len()), (Some(Stop::NotVerified), 0), "{group}: {}", done.text());
        assert_eq!(done.verification.failed[0].place, "plan.steps[0].metrics");
    }
}

#[tokio::test]
async fn a_definition_that_no_step_applies_is_doubtful() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let facts = json!([{"term": "VIP customer", "source": "rules#VIP customer", "confidence": 0.9,
        "definition": "A VIP customer is a customer whose orders total at least 120."}]);
    let plan = |filter: Value| {
        json!({"discovered_context": {"facts": facts}, "plan": {"steps": [
            {"number": 1, "goal": "Apply the definition of VIP customer", "documents": ["rules"], "outputs": ["definition"]},
            {"number": 2, "goal": "Sum the orders of VIP customers", "tables": ["orders.orders"], "inputs": ["definition"],
             "compute": ["sum(orders.orders.total) as spent"], "group_by": ["orders.orders.customer_id"], "filter": filter}]}})
    };
    for (filter, is_applied) in [(json!([]), false), (json!(["spent >= 120"]), true)] {
        let done = executor.run(read_plan(&plan(filter).to_string()).unwrap(), RunOptions::default()).await;
        assert_eq!(done.steps[0].premises.len(), 1);
        assert_eq!(done.unapplied.is_empty(), is_applied, "{:?}", done.unapplied);
        assert_eq!(done.stopped, None);
        assert!(is_applied || !done.ok);
    }
}

#[test]
fn what_is_no_plan_is_told_with_its_place() {
    let check = |text: &str, part: &str| {
        let error = read_plan(text).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    check("{", "not JSON");
    check("{\"steps\": []}", "no `plan`");
    check("{\"plan\": {\"steps\": [{\"number\": \"one\"}]}}", "line 1 column");
    check("{\"plan\": {\"steps\": [{\"compute\": [\"everything\"]}]}}", "is no measure");
}

//! Steps over what earlier ones left: what is computed of each row, columns that are equated, days.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use prospector_executor::{Executor, Run};
use serde_json::{Value, json};
use tempfile::TempDir;

const ADS: &str = "channel,month,cost\nsearch,1,100\nsearch,2,60\nsocial,1,30\npodcast,2,12\n";
const CUSTOMERS: &str = "customer_id,source,signed_up,first_order\n1,search,2025-01-03,2025-01-05\n2,search,2025-01-31,2025-02-03\n\
    3,social,2025-02-01,2025-02-01\n4,walk-in,2025-02-04,2025-02-14\n";

async fn open(folder: &TempDir) -> Executor {
    let catalog = "databases:\n- path: ads.csv\n- path: customers.csv\nentities:\n\
        - {name: customer, table: customers.customers, key: customer_id, time: signed_up}\n\
        metrics:\n- {name: accounts, entity: customer, aggregate: count}\n";
    let files = [("ads.csv", ADS), ("customers.csv", CUSTOMERS), ("catalog.yaml", catalog)];
    support::open(folder, &files, "metric").await
}

/// Runs steps; one that names no inputs and no tables takes all steps before it.
async fn run(executor: &Executor, mut steps: Vec<Value>) -> Run {
    for (at, step) in steps.iter_mut().enumerate() {
        if step["tables"].is_null() && step["inputs"].is_null() && step["metrics"].is_null() {
            step["inputs"] = (1..=at).map(|number| json!(format!("step_{number}_results"))).collect();
        }
    }
    support::run(executor, "Look at channels", steps).await
}

async fn find(executor: &Executor, steps: Vec<Value>) -> (Vec<String>, Value) {
    let done = run(executor, steps).await;
    assert_eq!(done.stopped, None, "{}", done.text());
    let found = done.result_step().unwrap_or_else(|| panic!("{}", done.text()));
    (found.columns.clone(), json!(found.rows))
}

/// The error of the last step that was run.
async fn fail(executor: &Executor, steps: Vec<Value>) -> String {
    let done = run(executor, steps).await;
    let error = done.steps.last().and_then(|step| step.error.clone()).unwrap_or_else(|| panic!("{}", done.text()));
    format!("{}: {} ({})", error.code, error.message, error.suggestion.unwrap_or_default())
}

fn cost_by(group: &str) -> Value {
    json!({"tables": ["ads.ads"], "compute": ["sum(ads.ads.cost) as cost"], "group_by": [group]})
}

fn cost_in_month(month: u32) -> Value {
    let mut step = cost_by("ads.ads.channel");
    step["filter"] = json!([format!("ads.ads.month = {month}")]);
    step
}

fn customers_by_source() -> Value {
    json!({"tables": ["customers.customers"], "compute": ["count(*) as customers"],
        "group_by": ["customers.customers.source"]})
}

#[tokio::test]
async fn groups_of_what_is_computed_of_each_row_are_its_columns() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let all = json!({"tables": ["ads.ads"], "compute": ["sum(ads.ads.cost) as whole"]});
    let share = json!({"compute": ["step_1_results.cost / step_2_results.whole as share"],
        "group_by": ["step_1_results.channel"], "order": ["share desc"], "filter": ["share > 0.1"]});
    let (columns, rows) = find(&executor, vec![cost_by("ads.ads.channel"), all.clone(), share.clone()]).await;
    assert_eq!(columns, ["channel", "share"]);
    assert_eq!(rows[0][0], json!("search"));
    assert_eq!(rows.as_array().unwrap().len(), 2, "{rows}");

    // A name of its own, and another column beside the key.
    let named = json!({"compute": ["step_1_results.cost / step_2_results.whole - 0.1 as above"], "limit": 1,
        "group_by": ["step_1_results.channel as way", "step_1_results.cost"], "order": ["above desc"]});
    let (columns, rows) = find(&executor, vec![cost_by("ads.ads.channel"), all, named]).await;
    assert_eq!(columns, ["way", "cost", "above"]);
    assert_eq!((&rows[0][0], rows[0][1].as_f64()), (&json!("search"), Some(160.0)));

    // What is left has groups: a later step stands beside it.
    let change = json!({"compute": ["step_1_results.cost - step_2_results.cost as more"],
        "group_by": ["step_1_results.channel"], "inputs": ["step_1_results", "step_2_results"]});
    let beside = json!({"compute": ["step_3_results.more / step_1_results.cost as part"],
        "group_by": ["step_3_results.channel"], "inputs": ["step_1_results", "step_3_results"]});
    let (columns, rows) = find(&executor, vec![cost_in_month(1), cost_in_month(2), change, beside]).await;
    assert_eq!(columns, ["channel", "part"]);
    assert!(rows.as_array().unwrap().contains(&json!(["search", 0.4])), "{rows}");
}

#[tokio::test]
async fn rows_that_would_have_to_be_aggregated_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let mut both = cost_by("ads.ads.channel");
    both["group_by"] = json!(["ads.ads.channel", "ads.ads.month"]);
    let twice = |group: &str| json!({"compute": ["step_1_results.cost * 2 as twice"], "group_by": [group]});
    let told = fail(&executor, vec![both.clone(), twice("step_1_results.channel")]).await;
    assert!(told.starts_with("invalid_arguments: `twice` is computed of each row"), "{told}");
    assert!(told.contains("group by step_1_results.month too") && told.contains("sum("), "{told}");

    let told = fail(&executor, vec![both.clone(), twice("step_1_results.town")]).await;
    assert!(told.starts_with("unknown_") && told.contains("step_1_results.town"), "{told}");
    let mut named = twice("step_1_results.channel");
    named["compute"] = json!(["step_1_results.cost * 2 as cost"]);
    named["filter"] = json!(["cost > 100"]);
    let told = fail(&executor, vec![cost_by("ads.ads.channel"), named]).await;
    assert!(told.contains("both a column and a calculation are called `cost`"), "{told}");

    // What is aggregated is, as it was.
    let summed = json!({"compute": ["sum(step_1_results.cost) as cost"], "group_by": ["step_1_results.month"]});
    assert_eq!(find(&executor, vec![both, summed]).await.1, json!([[1, 130], [2, 72]]));
}

#[tokio::test]
async fn rows_whose_columns_a_condition_equates_stand_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let each = json!({"compute": ["step_1_results.cost / step_2_results.customers as cost_of_one"],
        "filter": ["step_1_results.channel = step_2_results.source"], "group_by": ["step_1_results.channel"]});
    let steps = vec![cost_by("ads.ads.channel"), customers_by_source(), each.clone()];
    let done = run(&executor, steps).await;
    let found = done.result_step().unwrap_or_else(|| panic!("{}", done.text()));
    let mut rows = found.rows.clone();
    rows.sort_by_key(|row| row[0].to_string());
    assert_eq!(json!(rows), json!([["search", 80.0], ["social", 30.0]]));
    let notes = &done.steps[2].notes;
    for alias in ["step_1_results", "step_2_results"] {
        let note = format!("1 of 3 rows of {alias} have no partner by `channel`: they are left out");
        assert!(notes.contains(&note), "{note}: {notes:?}");
    }

    // A single row stands beside all others, and is compared with each.
    let most = json!({"compute": ["max(step_1_results.cost) as most"]});
    let largest = json!({"inputs": ["step_1_results", "step_2_results"], "group_by": ["step_1_results.channel"],
        "filter": ["step_1_results.cost = step_2_results.most"]});
    let (_, rows) = find(&executor, vec![cost_by("ads.ads.channel"), most, largest]).await;
    assert_eq!(rows.as_array().map(Vec::len), Some(1), "{rows}");

    // Rows of a table, and the side that is written second in front.
    let listed = json!({"tables": ["customers.customers"], "columns": ["customers.customers.source"],
        "filter": ["customers.customers.customer_id in (2, 3)"]});
    let mut turned = each.clone();
    turned["filter"] = json!([{"column": "step_2_results.source", "op": "eq", "value": "step_1_results.channel"}]);
    turned["compute"] = json!(["step_1_results.cost + 1 as more"]);
    let (_, rows) = find(&executor, vec![cost_by("ads.ads.channel"), listed, turned]).await;
    assert_eq!(rows.as_array().unwrap().len(), 2, "{rows}");

    let mut alone = each;
    alone["filter"] = json!([]);
    let told = fail(&executor, vec![cost_by("ads.ads.channel"), customers_by_source(), alone]).await;
    assert!(told.starts_with("no_join") && told.contains("step_1_results.channel = step_2_results"), "{told}");
}

#[tokio::test]
async fn a_sum_without_rows_is_0_in_what_is_added_up() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let difference = |formula: &str| {
        json!({"compute": [format!("{formula} as result")], "group_by": ["step_1_results.channel"],
            "order": ["step_1_results.channel"]})
    };
    let (first, second) = ("step_1_results.cost", "step_2_results.cost");
    let steps = |formula: String| vec![cost_in_month(1), cost_in_month(2), difference(&formula)];
    let (_, rows) = find(&executor, steps(format!("{first} - {second}"))).await;
    assert_eq!(rows, json!([["podcast", -12], ["search", 40], ["social", 30]]));
    let done = run(&executor, steps(format!("{first} / {second}"))).await;
    let found = done.result_step().unwrap_or_else(|| panic!("{}", done.text()));
    assert_eq!((&found.rows[0][1], &found.rows[2][1]), (&Value::Null, &Value::Null), "{:?}", found.rows);
    assert!(!found.notes.iter().any(|note| note.contains("is 0")) && found.notes.len() == 2, "{:?}", found.notes);

    let mut accounts = json!({"metrics": ["accounts"], "group_by": ["customers.customers.source"]});
    let mut fewer = accounts.clone();
    fewer["filter"] = json!(["customers.customers.customer_id = 1"]);
    accounts["filter"] = json!(["customers.customers.customer_id < 4"]);
    let more = json!({"compute": ["step_1_results.accounts - step_2_results.accounts as more"],
        "group_by": ["step_1_results.source"], "order": ["step_1_results.source"]});
    assert_eq!(find(&executor, vec![accounts, fewer, more]).await.1, json!([["search", 1], ["social", 1]]));
    // All of them, of which each is computed of both.
    let mut all = difference(&format!("sum({first} + {second})"));
    (all["group_by"], all["order"]) = (json!([]), json!([]));
    let (_, rows) = find(&executor, vec![cost_in_month(1), cost_in_month(2), all]).await;
    assert_eq!(rows[0].as_array().and_then(|row| row.last()), Some(&json!(202)));
}

#[tokio::test]
async fn groups_of_metrics_are_called_as_the_plan_writes_them() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let accounts = json!({"metrics": ["accounts"], "group_by": ["customers.customers.source"]});
    let cost = json!({"compute": ["step_1_results.cost / step_2_results.accounts as cost_of_one"],
        "filter": ["step_1_results.channel = step_2_results.source"], "order": ["cost_of_one"], "limit": 2,
        "group_by": ["step_1_results.channel"]});
    let (columns, rows) = find(&executor, vec![cost_by("ads.ads.channel"), accounts, cost]).await;
    assert_eq!(
        (columns, rows),
        (vec!["channel".into(), "cost_of_one".into()], json!([["social", 30.0], ["search", 80.0]]))
    );
}

#[tokio::test]
async fn dates_that_a_step_left_are_dates() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let first = json!({"tables": ["customers.customers"], "compute": ["min(customers.customers.first_order) as bought"],
        "group_by": ["customers.customers.customer_id", "customers.customers.source", "customers.customers.signed_up"]});
    let days = json!({"compute": ["avg(step_1_results.bought - step_1_results.signed_up) as days"],
        "group_by": ["step_1_results.source"], "order": ["step_1_results.source"]});
    let (_, rows) = find(&executor, vec![first.clone(), days]).await;
    assert_eq!(rows, json!([["search", 2.5], ["social", 0.0], ["walk-in", 10.0]]));

    let months = json!({"compute": ["count() as customers"], "group_by": ["month(step_1_results.signed_up)"],
        "filter": ["step_1_results.signed_up > '2025-01-03'", "step_1_results.bought <= '2025-02-03'"]});
    assert_eq!(find(&executor, vec![first.clone(), months]).await.1, json!([[1, 1], [2, 1]]));
    let of_text = json!({"compute": ["avg(step_1_results.bought - step_1_results.source) as days"]});
    let told = fail(&executor, vec![first, of_text]).await;
    assert!(told.starts_with("type_mismatch"), "{told}");
}

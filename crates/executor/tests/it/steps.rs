//! What each action does, and what is refused.

use prospector_executor::{
    RunOptions, read_plan,
    record::{StepStatus, Stop},
};
use serde_json::{Value, json};

use crate::support::{open, run, two_steps};

#[tokio::test]
async fn rows_are_tables_for_later_statements() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let done = run(&executor, two_steps(), RunOptions::default()).await;
    assert!(done.ok, "{}", done.text());
    assert_eq!(json!(done.result_step().unwrap().rows), json!([["Ada", 150.5], ["Cyd", 300.0]]));
    assert_eq!(done.derivation[1].rests_on, ["Q1"]);
    let (first, second) = (&done.plan.steps[0], &done.plan.steps[1]);
    assert_eq!((first.resources.tables[0].as_str(), second.inputs[0].as_str()), ("orders.orders", "step_1"));
    assert_eq!(second.resources.tables, ["customers.customers"]);
    assert!(!first.explanation.is_empty());
}

#[tokio::test]
async fn anti_joins_shares_and_rows_of_several_steps_are_computed() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    for (sql, rows) in [
        (
            "SELECT name FROM customers.customers WHERE customer_id NOT IN (SELECT customer_id FROM step_1) ORDER BY 1",
            json!([["Bob"], ["Dot"]]),
        ),
        (
            "SELECT customer_id, round(spent / (SELECT sum(spent) FROM step_1), 2) AS share FROM step_1 ORDER BY 1",
            json!([[1, 0.33], [3, 0.67]]),
        ),
        ("SELECT count(*) AS n FROM scoped.step_1", json!([[2]])),
    ] {
        let mut steps = two_steps();
        steps[1] = json!({"sql": sql});
        let done = run(&executor, steps, RunOptions::default()).await;
        assert_eq!(json!(done.result_step().unwrap_or_else(|| panic!("{}", done.text())).rows), rows, "{sql}");
    }
}

#[tokio::test]
async fn metrics_are_compiled_and_their_sql_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let steps = json!([{"metrics": {"metrics": ["revenue"], "grain": "month", "filters": ["time = 2025"]}}]);
    let done = run(&executor, steps, RunOptions::default()).await;
    let step = done.result_step().unwrap_or_else(|| panic!("{}", done.text()));
    assert_eq!(json!(step.rows), json!([["2025-01", 100.5], ["2025-02", 60.0], ["2025-03", 300.0]]));
    assert!(done.plan.steps[0].compiled.as_ref().unwrap().sql.to_lowercase().contains("sum"));
    for wrong in [json!({"metrics": ["turnover"]}), json!({"metrics": ["revenue"], "dimensions": ["weather"]})] {
        let done = run(&executor, json!([{"metrics": wrong}]), RunOptions::default()).await;
        assert_eq!((done.stopped, done.steps.len()), (Some(Stop::NotVerified), 0), "{}", done.text());
        assert_eq!(done.verification.failed[0].path, "plan.steps[0].metrics");
    }
}

#[tokio::test]
async fn reads_sections_and_definitions() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let done = run(&executor, json!([{"read": ["rules#VIP customer"]}]), RunOptions::default()).await;
    assert_eq!(done.steps[0].premises.len(), 1, "{}", done.text());
    assert!(done.steps[0].premises[0].definition.contains("at least 120"));
    assert_eq!(done.plan.steps[0].resources.documents, ["rules"]);
    let done = run(&executor, json!([{"read": ["regular"]}]), RunOptions::default()).await;
    assert_eq!(done.steps[0].premises[0].source, "sales handbook", "{}", done.text());
}

#[tokio::test]
async fn a_statement_that_cannot_run_is_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    for (sql, code) in [
        ("SELECT * FROM customers.clients", "unknown_name"),
        ("SELECT nam FROM customers.customers", "unknown_column"),
        ("SELECT nonsense(name) FROM customers.customers", "unknown_function"),
        ("SELECT name FROM customers.customers WHERE", "invalid_sql"),
        ("DELETE FROM customers.customers", "invalid_sql"),
        ("SELECT c.name FROM customers.customers c JOIN step_7 s ON s.customer_id = c.customer_id", "unknown_name"),
        ("SELECT s.paid FROM step_1 s", "unknown_column"),
    ] {
        let mut steps = two_steps();
        steps[1] = json!({"sql": sql});
        let done = run(&executor, steps, RunOptions::default()).await;
        assert_eq!((done.stopped, done.steps.len(), done.ok), (Some(Stop::NotVerified), 0, false), "{sql}");
        let failed = &done.verification.failed;
        assert_eq!(
            (failed[0].path.as_str(), failed[0].code.to_string().as_str()),
            ("plan.steps[1].sql", code),
            "{sql}: {failed:?}"
        );
    }
    for (sql, expected) in [
        ("SELECT spnt FROM step_1", "unknown column `spnt` in `step_1` (did you mean `spent`?)"),
        (
            "SELECT c.countri FROM customers.customers c",
            "unknown column `c.countri` in `customers.customers` (did you mean `country`",
        ),
    ] {
        let mut steps = two_steps();
        steps[1] = json!({"sql": sql});
        let done = run(&executor, steps, RunOptions::default()).await;
        let failed = done.verification.failed[0].to_string();
        assert!(failed.contains(expected), "{failed}");
    }
}

#[tokio::test]
async fn operations_are_called_only_where_the_catalog_allows_it_and_only_to_read() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let call = |operation: &str, arguments: Value| json!({"call": {"operation": operation, "arguments": arguments}});
    for (step, code) in [
        (call("crm.deleteCustomer", json!({"customer_id": 1})), "writes"),
        (call("crm.getCustomer", json!({})), "missing_argument"),
        (call("crm.getCustomer", json!({"customer_id": "Ada"})), "invalid_argument"),
        (call("crm.getCustomer", json!({"customer_id": 1, "limit": 5})), "invalid_argument"),
        (call("crm.getCustomer", json!({"customer_id": {"column": "step_1.customer_id"}})), "unknown_input"),
        (call("crm.getClient", json!({})), "unknown_name"),
    ] {
        let done = run(&executor, json!([step]), RunOptions::default()).await;
        assert_eq!(done.stopped, Some(Stop::NotVerified), "{step}");
        assert_eq!(done.verification.failed[0].code.to_string(), code, "{step}: {:?}", done.verification.failed);
    }
    let done = run(&executor, json!([call("crm.getCustomer", json!({"customer_id": 7}))]), RunOptions::default()).await;
    let error = done.steps[0].error.as_ref().unwrap_or_else(|| panic!("{}", done.text()));
    assert_eq!(error.code, "not_called");
    assert!(error.suggestion.as_ref().unwrap().contains("`invoke: true`"), "{error:?}");
    assert!(done.verification.ok && !done.verification.executable, "{:?}", done.verification);
    let warning = &done.verification.warnings[0];
    assert_eq!((warning.code.to_string().as_str(), warning.path.as_str()), ("not_executable", "plan.steps[0].call"));

    // The only value of a column can be an argument; one of several cannot.
    for (names, code) in [("'Ada'", "not_called"), ("'Ada', 'Bob'", "missing_argument")] {
        let steps = json!([
            {"sql": format!("SELECT customer_id FROM customers.customers WHERE name IN ({names})")},
            call("crm.getCustomer", json!({"customer_id": {"column": "step_1.customer_id"}}))]);
        let done = run(&executor, steps, RunOptions::default()).await;
        assert_eq!(done.steps[1].error.as_ref().unwrap().code, code, "{}", done.text());
        assert_eq!(done.steps[1].status, StepStatus::Failed);
    }
}

#[tokio::test]
async fn arguments_from_calls_are_compared_with_the_response_schema() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    for (column, expected) in [
        ("step_1.id", None),
        ("step_1.scor", Some("`step_1` has no column `scor` (did you mean `score`?)")),
        ("step_1.score.total", Some("`score` has no column `total`")),
        ("step_7.id", Some("no earlier step has the output `step_7`")),
    ] {
        let steps = json!([
            {"call": {"operation": "crm.getCustomer", "arguments": {"customer_id": 1}}},
            {"call": {"operation": "crm.getCustomer", "arguments": {"customer_id": {"column": column}}}}]);
        let done = run(&executor, steps, RunOptions::default()).await;
        let failed: Vec<String> = done.verification.failed.iter().map(ToString::to_string).collect();
        match expected {
            None => assert!(failed.is_empty(), "{column}: {failed:?}"),
            Some(part) => assert!(failed.len() == 1 && failed[0].contains(part), "{column}: {failed:?}"),
        }
    }
}

#[tokio::test]
async fn plans_that_only_name_resources_are_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    // Bare tables next to `databases`, and inputs that are not an output.
    let steps = json!([
        {"goal": "Calculate lifetime value per customer", "databases": ["orders"], "tables": ["orders"]},
        {"goal": "Identify VIP customers", "inputs": ["step_1_results"], "databases": ["customers"], "tables": ["customers"]},
        {"goal": "Aggregate VIP spending by month", "inputs": ["step_2_vip_ids"], "databases": ["orders"], "tables": ["orders"]}
    ]);
    let done = run(&executor, steps, RunOptions::default()).await;
    assert_eq!((done.stopped, done.ok), (Some(Stop::NotExecutable), false), "{}", done.text());
    assert!(done.verification.ok && !done.verification.executable, "{:?}", done.verification);
}

#[tokio::test]
async fn a_plan_without_steps_returns_its_clarifications() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let plan = json!({"plan": {"steps": []}, "clarifications": ["Which year?"]}).to_string();
    let done = executor.run(read_plan(&plan).unwrap(), RunOptions::default()).await;
    assert_eq!((done.ok, done.stopped), (false, Some(Stop::NoSteps)));
    assert_eq!(done.text(), "Nothing was run: the plan has no steps.\n? Which year?");
    assert_eq!(json!(done)["clarifications"], json!(["Which year?"]));
}

#[tokio::test]
async fn an_empty_result_has_rows() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let steps = json!([{"sql": "SELECT name FROM customers.customers WHERE name = 'Eve'"}]);
    let done = run(&executor, steps, RunOptions::default()).await;
    assert_eq!(json!(done)["steps"][0]["rows"], json!([]), "{}", done.text());
}

#[tokio::test]
async fn warns_of_a_definition_that_no_statement_applies() {
    let folder = tempfile::tempdir().unwrap();
    let executor = open(&folder).await;
    let facts = json!([{"term": "VIP customer", "source": "rules#VIP customer", "confidence": 0.9,
        "definition": "A VIP customer is a customer whose orders total at least 120."}]);
    for (having, is_applied) in [("", false), ("HAVING sum(total) >= 120", true)] {
        let sql = format!("SELECT customer_id, sum(total) AS spent FROM orders.orders GROUP BY customer_id {having}");
        let plan = json!({"discovered_context": {"facts": facts}, "plan": {"steps": [
            {"number": 1, "goal": "Sum the orders of VIP customers", "sql": sql}]}});
        let done = executor.run(read_plan(&plan.to_string()).unwrap(), RunOptions::default()).await;
        let codes: Vec<String> = done.verification.warnings.iter().map(|warning| warning.code.to_string()).collect();
        assert_eq!(codes.iter().any(|code| code == "definition_not_applied"), !is_applied, "{having}: {codes:?}");
        assert!(done.ok, "warnings do not block: {}", done.text());
    }
}

#[test]
fn invalid_plans_are_reported_with_positions() {
    let check = |text: &str, part: &str| {
        let error = read_plan(text).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    check("{", "not JSON");
    check("{\"steps\": []}", "no `plan`");
    check("{\"plan\": {\"steps\": [{\"number\": \"one\"}]}}", "line 1 column");
}

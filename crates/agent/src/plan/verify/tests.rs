//! Verification of names, inputs and shapes; of statements see the tests over a catalog.

use serde_json::{Value, json};

use super::*;

/// One database with two tables and one document; nothing is known of rows.
struct World;

impl Names for World {
    fn resolve(&self, kind: ResourceKind, id: &str) -> Option<String> {
        let known = match kind {
            ResourceKind::Database => vec!["store"],
            ResourceKind::Table => vec!["store.invoices", "store.customers"],
            ResourceKind::Document => vec!["rules"],
            ResourceKind::Operation => vec!["shop.getOrder", "shop.createOrder"],
            _ => vec![],
        };
        let id = if kind == ResourceKind::Document { id.split('#').next().unwrap_or(id) } else { id };
        known.into_iter().find(|known| known.eq_ignore_ascii_case(id)).map(str::to_owned)
    }

    fn nearest(&self, _: ResourceKind, _: &str) -> Vec<String> {
        vec!["store.invoices".into()]
    }

    fn writes(&self, operation: &str) -> Option<bool> {
        Some(operation.contains("create"))
    }
}

async fn verify_steps(steps: Value, seen: Option<&[&str]>) -> (Draft, Verification) {
    let mut draft: Draft = serde_json::from_value(json!({"plan": {"steps": steps}})).unwrap();
    let seen: Option<HashSet<Resource>> =
        seen.map(|ids| ids.iter().map(|id| Resource::new(ResourceKind::Table, *id)).collect());
    let verification = verify(&mut draft, &World, seen.as_ref()).await;
    (draft, verification)
}

async fn check(steps: Value, seen: Option<&[&str]>, expected: &[&str]) {
    let (_, outcome) = verify_steps(steps, seen).await;
    let found: Vec<String> = outcome.failed.iter().map(|one| format!("{} {one}", one.code)).collect();
    assert_eq!(found, expected);
    assert_eq!(outcome.ok, expected.is_empty());
}

#[tokio::test]
async fn accepts_names_that_exist_and_were_seen() {
    let steps = json!([{"number": 1, "goal": "g", "tables": ["store.invoices"]},
        {"number": 2, "goal": "g", "tables": ["STORE.customers"], "inputs": ["step_1_results"]}]);
    check(steps.clone(), Some(&["store.invoices", "store.customers"]), &[]).await;
    let (draft, outcome) = verify_steps(steps, None).await;
    assert_eq!(draft.plan.steps[1].resources.tables, ["store.customers"]);
    assert!(outcome.ok && !outcome.executable, "names alone cannot be run");
}

#[tokio::test]
async fn rejects_unknown_and_undiscovered_names() {
    check(
        json!([{"number": 1, "goal": "g", "tables": ["store.vips"]}]),
        Some(&[]),
        &["unknown_name plan.steps[0].tables: unknown table `store.vips` (did you mean `store.invoices`?)"],
    )
    .await;
    check(
        json!([{"number": 1, "goal": "g", "tables": ["store.invoices"]}]),
        Some(&[]),
        &["undiscovered plan.steps[0].tables: table `store.invoices` exists, but no discovery call of this run returned it \
           (describe it before you use it)"],
    )
    .await;
}

#[tokio::test]
async fn rejects_inputs_that_no_earlier_step_has_and_wrong_numbers() {
    check(
        json!([{"number": 1, "goal": "g", "tables": ["store.invoices"], "inputs": ["b"], "outputs": ["a"]},
            {"number": 3, "goal": "", "tables": ["store.invoices"], "inputs": ["a"], "outputs": ["b"]}]),
        None,
        &[
            "unknown_input plan.steps[0].inputs: no earlier step has the output `b`",
            "step_number plan.steps[1].number: steps are numbered 1, 2, 3; this one is 3 instead of 2",
            "missing_goal plan.steps[1].goal: a step needs a goal",
        ],
    )
    .await;
}

#[tokio::test]
async fn completes_what_plans_of_names_leave_out() {
    let steps = json!([
        {"number": 1, "goal": "g", "tables": ["Invoices"], "databases": ["store"]},
        {"number": 2, "goal": "g", "tables": ["customers"], "inputs": ["step_1_results"]},
        {"number": 3, "goal": "g", "tables": ["store.invoices"], "inputs": ["step_2_vip_ids"]}]);
    let (draft, outcome) = verify_steps(steps, None).await;
    assert!(outcome.ok, "{outcome:?}");
    assert_eq!(draft.plan.steps[0].resources.tables, ["store.invoices"]);
    assert_eq!(draft.plan.steps[1].outputs, ["step_2_vip_ids"]);
}

#[tokio::test]
async fn rejects_operations_that_write_and_unknown_outputs_in_arguments() {
    check(
        json!([{"number": 1, "goal": "g", "call": {"operation": "shop.createOrder"}},
            {"number": 2, "goal": "g", "call": {"operation": "shop.getOrder", "arguments": {"id": {"column": "step_7.id"}}}}]),
        None,
        &[
            "writes plan.steps[0].call: `shop.createOrder` has side effects, and runs are read-only (remove the step, and say \
             in `clarifications` which change is to be made)",
            "unknown_input plan.steps[1].call.arguments: argument `id`: no earlier step has the output `step_7`",
        ],
    )
    .await;
}

#[tokio::test]
async fn reports_what_a_step_cannot_say() {
    check(
        json!([{"number": 1, "goal": "g", "tables": ["store.invoices"], "filter": ["total > 5"]},
            {"number": 2, "goal": "g", "sql": "SELECT 1", "read": ["rules"]}, {"number": 3, "goal": "g", "read": ["rule"]}]),
        None,
        &[
            "unknown_field plan.steps[0]: a step has no field `filter` (a step has one of `sql`, `metrics`, `verified_query`, \
             `call` or `read`)",
            "unreadable_action plan.steps[1]: a step has exactly one action, and this one has `sql` and `read` (write exactly \
             one of `sql`, `metrics`, `verified_query`, `call` or `read`)",
            "unknown_name plan.steps[2].read: unknown document, skill or definition `rule` (did you mean `store.invoices`?)",
        ],
    )
    .await;
}

#[tokio::test]
async fn a_plan_without_steps_needs_a_reason() {
    check(json!([]), None, &["no_steps plan.steps: there are no steps, and no clarification says why"]).await;
    let mut draft = Draft { clarifications: vec!["nothing fits".into()], ..Draft::default() };
    let outcome = verify(&mut draft, &World, None).await;
    assert!(outcome.ok && !outcome.executable);
}

#[tokio::test]
async fn documents_keep_their_sections_and_are_listed_once() {
    let mut draft = Draft { clarifications: vec!["why".into()], ..Draft::default() };
    draft.discovered_context.documents = ["Rules#VIP", "rules#VIP", "rules#Paid", "rules"].map(str::to_owned).to_vec();
    let outcome = verify(&mut draft, &World, None).await;
    assert!(outcome.ok, "{outcome:?}");
    assert_eq!(draft.discovered_context.documents, ["rules#VIP", "rules#Paid", "rules"]);
}

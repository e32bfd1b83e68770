//! The offline planner over a small catalog of every kind of source. How hits rank is measured elsewhere: here it counts
//! that the right thing is in the plan and that every name holds.

use std::{fs, sync::Arc};

use prospector_agent::{
    Limits, Planner, Request,
    plan::{Ended, Plan, Step, verify},
};
use prospector_discovery::{Catalog, CatalogOptions, Profile, prompt::PromptForm};
use prospector_llm::purpose::Mode;
use prospector_offline::Offline;

const CATALOG: &str = "
databases:
- path: orders.csv
  description: Orders of the shop with their totals.
- path: buyers.csv
  description: The people who buy, and the country they live in.
apis:
- name: parcels
  path: parcels.openapi.yaml
documents:
- path: business_rules.md
skills:
- path: skills
";

const OPENAPI: &str = r#"
openapi: 3.0.3
info: {title: Parcels, version: "1", description: Sends and tracks parcels.}
paths:
  /parcels/{id}/position:
    get:
      operationId: trackParcel
      summary: Tracks where a parcel is on its way.
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: The position.}}
  /labels:
    post:
      operationId: printLabel
      summary: Prints a shipping label.
      responses: {"201": {description: The label.}}
  /couriers:
    get:
      operationId: listCouriers
      summary: Lists the couriers and their prices.
      responses: {"200": {description: The couriers.}}
"#;

const RULES: &str = "# Business rules

## VIP customer

A **VIP customer** is a customer who spent more than 500 euros in the last twelve months.

## Returns

Goods may be returned within thirty days.
";

const SKILL: &str = "---
name: quarterly-report
description: How the quarterly revenue report is written, from the orders to the slides.
---

# Quarterly report

1. Sum the orders of the quarter.
";

/// Plans the question over the catalog by both sets of tools, with discovery and not with everything in the prompt.
async fn check(question: &str, limits: Limits) -> Plan {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    write("catalog.yaml", CATALOG);
    write("orders.csv", "order_id,buyer_id,order_date,total\n1,7,2025-01-03,9.50\n2,8,2025-02-04,12.00\n");
    write("buyers.csv", "buyer_id,name,country\n7,Ada,PT\n8,Bo,SE\n");
    write("parcels.openapi.yaml", OPENAPI);
    write("business_rules.md", RULES);
    write("skills/quarterly-report/SKILL.md", SKILL);
    let (catalog, problems) =
        Catalog::open(&folder.path().join("catalog.yaml"), CatalogOptions::default()).await.expect("a catalog");
    assert!(problems.is_empty(), "{problems:#?}");

    let catalog = Arc::new(catalog);
    let [compact, full] = Profile::ALL.map(|profile| one(question, limits, &catalog, profile));
    let (compact, full) = (compact.await, full.await);
    // Calls may be used up before the compact profile, which describes several things at once, has used them.
    if limits.calls > 5 {
        assert_eq!(compact.plan, full.plan, "both profiles lead to the same plan");
        assert!(compact.metrics.tool_calls <= full.metrics.tool_calls, "{:?} {:?}", compact.metrics, full.metrics);
    }
    full
}

/// Plans the question with one set of tools.
async fn one(question: &str, limits: Limits, catalog: &Arc<Catalog>, profile: Profile) -> Plan {
    let planner = Planner::new(catalog.clone(), Arc::new(Offline)).with_profile(profile);
    let request = Request { limits: Some(limits), form: Some(PromptForm::Minimal), ..Request::new(question) };
    assert!(planner.prompt(request.clone()).await.revealed.is_empty(), "everything is to be discovered");
    let outcome = planner.plan(request).await;
    let plan = outcome.plan;
    assert_eq!(plan.ended, Ended::Completed, "{plan:#?}");
    assert!(plan.verification.failed.is_empty(), "{:#?}", plan.verification);
    // With too few calls to look at columns the plan is there, and is said to lack them.
    let has_room = limits == Limits::default();
    assert!(plan.verification.ok || !has_room, "{:#?}", plan.verification);
    assert!(outcome.failure.is_none());
    assert_eq!((plan.question.as_str(), plan.model.as_str()), (question, "offline"));
    // What is printed can be read again, and checked without the run.
    let text = serde_json::to_string(&plan).expect("JSON");
    let again: Plan = serde_json::from_str(&text).expect("a plan");
    assert_eq!(again, plan);
    let draft = serde_json::from_str(&text).expect("a draft");
    let verified = verify(question, &draft, catalog.as_ref(), None);
    assert!(verified.failed.is_empty(), "{verified:#?}");
    plan
}

/// Whether any step has this name in the list.
fn uses(plan: &Plan, list: fn(&Step) -> &Vec<String>, name: &str) -> bool {
    plan.plan.steps.iter().any(|step| list(step).iter().any(|other| other == name))
}

#[tokio::test]
async fn a_question_about_data_leads_to_its_table() {
    let plan = check("What is the total of all orders by buyer country?", Limits::default()).await;
    assert_eq!(plan.mode, Mode::Exploratory);
    assert!(uses(&plan, |step| &step.tables, "orders.orders"), "{plan:#?}");
    assert!(plan.discovered_context.tables.contains(&"orders.orders".to_owned()));
    let metrics = &plan.metrics;
    assert!(metrics.model_calls >= 2 && metrics.tool_calls >= 2, "{metrics:?}");
    assert!(metrics.input_tokens > metrics.output_tokens && metrics.output_tokens > 0, "{metrics:?}");
    assert!(metrics.tokens_full_prompt > 0, "{metrics:?}");
}

#[tokio::test]
async fn a_question_about_an_api_leads_to_its_operation() {
    let plan = check("Track where a parcel is on its way", Limits::default()).await;
    assert!(uses(&plan, |step| &step.operations, "parcels.trackParcel"), "{plan:#?}");
    assert_eq!(plan.discovered_context.apis, ["parcels"]);
}

#[tokio::test]
async fn a_question_for_a_definition_leads_to_the_document_that_gives_it() {
    let plan = check("What is a VIP customer?", Limits::default()).await;
    assert_eq!(plan.mode, Mode::Knowledge);
    let fact = plan.discovered_context.facts.first().unwrap_or_else(|| panic!("no fact: {plan:#?}"));
    assert!(fact.term.contains("VIP") && fact.definition.contains("500"), "{fact:?}");
    assert!(fact.source.starts_with("business_rules"), "{fact:?}");
    assert!(fact.confidence > 0.5 && fact.confidence <= 1.0, "{fact:?}");
    assert!(uses(&plan, |step| &step.documents, "business_rules"), "{plan:#?}");
}

#[tokio::test]
async fn a_question_that_a_skill_answers_leads_to_it() {
    let plan = check("How is the quarterly revenue report written?", Limits::default()).await;
    assert!(uses(&plan, |step| &step.skills, "quarterly-report"), "{plan:#?}");
}

#[tokio::test]
async fn what_nothing_answers_gets_no_steps_and_an_honest_word() {
    let plan = check("Which satellites pass over Greenland tonight?", Limits::default()).await;
    assert!(plan.plan.steps.is_empty(), "{plan:#?}");
    assert!(plan.discovered_context.tables.is_empty() && plan.discovered_context.apis.is_empty(), "{plan:#?}");
    assert!(plan.clarifications[0].contains("Nothing in this catalog answers"), "{:?}", plan.clarifications);
}

#[tokio::test]
async fn it_plans_within_few_rounds_and_calls_too() {
    for limits in [Limits { rounds: 2, ..Limits::default() }, Limits { calls: 3, ..Limits::default() }] {
        let plan = check("What is the total of all orders by buyer country?", limits).await;
        assert!(uses(&plan, |step| &step.tables, "orders.orders"), "{plan:#?}");
        assert!(plan.metrics.tool_calls <= limits.calls && plan.metrics.model_calls <= limits.rounds);
    }
}

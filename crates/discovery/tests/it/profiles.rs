//! Both profiles on the sample catalog: the compact one returns everything that the full one returns; the size of their definitions; texts
//! of answers contain everything in their JSON, with less than half of its overhead.

use std::{collections::BTreeSet, path::Path};

use prospector_core::tokens;
use prospector_core::tool::{Answer, compact};
use prospector_discovery::{Catalog, CatalogOptions, DiscoveryTools, Profile, routes::ROUTES};
use serde_json::{Value, json};

/// A call of each tool of the full profile, and whether its answer is mostly prose, which no format shortens.
fn calls() -> Vec<(&'static str, Value, bool)> {
    let invoices = json!({"database": "music_store", "table": "invoices"});
    let column = json!({"database": "music_store", "table": "invoices", "column": "stat_cd"});
    vec![
        ("add_fact", json!({"term": "whale", "definition": "A whale spends over 500 USD a month."}), false),
        ("extract_facts_from_text", json!({"text": "A dormant account is one without a login for a year."}), true),
        ("get_document", json!({"name": "business_rules"}), true),
        ("get_document_section", json!({"name": "business_rules", "section": "VIP customer"}), true),
        ("get_metric", json!({"name": "net_revenue"}), false),
        ("get_operation_details", json!({"api": "shop", "operation": "issueGiftCard"}), false),
        ("get_sample_values", column, false),
        ("get_skill", json!({"name": "quarterly-report"}), true),
        ("get_table_relationships", invoices.clone(), false),
        ("get_table_schema", invoices, false),
        ("get_verified_query", json!({"name": "net-revenue"}), true),
        ("list_api_operations", json!({"api": "recommendations"}), false),
        ("list_apis", json!({}), false),
        ("list_databases", json!({}), false),
        ("list_documents", json!({}), false),
        ("list_known_facts", json!({"contains": "fiscal"}), true),
        ("list_metrics", json!({}), false),
        ("list_skill_links", json!({"name": "quarterly-report"}), false),
        ("list_skills", json!({}), true),
        ("list_tables", json!({"database": "music_store"}), false),
        ("list_verified_queries", json!({}), true),
        ("resolve_fact", json!({"question": "What is a VIP customer?"}), true),
        ("resolve_skill_link", json!({"name": "quarterly-report", "target": "references/quarter-calendar.md"}), true),
        ("search", json!({"query": "invoices of customers"}), false),
        ("search_documents", json!({"query": "refund policy"}), true),
        ("search_operations", json!({"query": "issue a gift card"}), false),
        ("search_skills", json!({"query": "quarterly report"}), true),
        ("search_tables", json!({"query": "invoices of customers"}), false),
        // Called last, since the questions before leave unresolved terms.
        ("get_unresolved_facts", json!({}), false),
    ]
}

/// Opens the sample catalog, with its own state folder.
async fn sample(folder: &Path) -> Catalog {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalog/catalog.yaml");
    let options = CatalogOptions { state: Some(folder.to_owned()), ..CatalogOptions::default() };
    Catalog::open(&file, options).await.unwrap().0
}

/// Collects the texts and numbers of an answer as they appear in a text. Long texts are split into lines.
fn leaves(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| leaves(field, found)),
        Value::String(text) if text.contains('\n') => found.extend(text.lines().map(|line| line.trim().to_owned())),
        Value::String(text) => drop(found.insert(text.clone())),
        Value::Number(_) => drop(found.insert(compact::cell(value))),
        Value::Bool(_) | Value::Null => {}
    }
}

/// Returns the values that a text does not contain; texts may be quoted, and operation schemas are shown as JSON.
fn missing(value: &Value, text: &str) -> Vec<String> {
    let mut all = BTreeSet::new();
    leaves(value, &mut all);
    let quoted = |leaf: &String| Value::from(leaf.as_str()).to_string().trim_matches('"').to_owned();
    // The final full stop of a sentence may be replaced.
    let holds = |leaf: &String| text.contains(leaf.trim_end_matches('.')) || text.contains(&quoted(leaf));
    all.into_iter().filter(|leaf| !holds(leaf)).collect()
}

async fn called(tools: &DiscoveryTools, name: &str, arguments: &Value) -> Answer {
    tools.call(name, arguments.clone()).await.unwrap_or_else(|error| panic!("{name} {arguments}: {error}"))
}

fn definitions(tools: &DiscoveryTools) -> usize {
    tokens::count(&serde_json::to_string(&tools.specs()).unwrap())
}

#[tokio::test]
async fn the_compact_profile_covers_the_full_one() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = sample(folder.path()).await;
    let [compact, full] = Profile::ALL.map(|profile| DiscoveryTools::new(&catalog, profile));
    let names: Vec<String> = full.specs().into_iter().map(|spec| spec.name).collect();
    assert_eq!(names, ROUTES.map(|route| route.full), "a route for every tool");
    assert_eq!(
        compact.specs().into_iter().map(|spec| spec.name).collect::<BTreeSet<_>>(),
        ROUTES.iter().map(|route| route.compact.to_owned()).collect(),
        "a route over every tool"
    );
    for route in ROUTES {
        let (_, arguments, _) = calls().into_iter().find(|(name, ..)| *name == route.full).unwrap();
        let whole = called(&full, route.full, &arguments).await;
        let translated = route.translate(&arguments);
        let answer = called(&compact, route.compact, &translated).await;
        let shown = answer.json().to_string();
        let mut all = BTreeSet::new();
        leaves(whole.json(), &mut all);
        // Arguments of the call are not repeated.
        all.retain(|leaf| arguments["question"] != *leaf);
        // Hints about truncation name the tool.
        all.retain(|leaf| !leaf.contains("truncated; more: "));
        // Timestamps of facts differ.
        all.retain(|leaf| !leaf.starts_with("20") && !leaf.starts_with('.') && leaf.parse::<u32>().is_err());
        let lost: Vec<&String> = all
            .iter()
            // The final full stop of a sentence may be replaced.
            .filter(|leaf| !shown.contains(Value::from(leaf.trim_end_matches('.')).to_string().trim_matches('"')))
            .collect();
        assert!(lost.is_empty(), "{} {translated} lost {lost:?} of {}", route.compact, whole.json());
        let revealed = answer.reveals();
        let unknown: Vec<_> = whole.reveals().into_iter().filter(|name| !revealed.contains(name)).collect();
        assert!(unknown.is_empty(), "{} {translated} does not reveal {unknown:?}", route.compact);
    }
}

#[tokio::test]
async fn tool_definitions_are_small() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = sample(folder.path()).await;
    for (profile, most) in [(Profile::Compact, 700), (Profile::Full, 2_600)] {
        let tools = DiscoveryTools::new(&catalog, profile);
        let size = definitions(&tools);
        println!("{}: {size} tokens", profile.as_str());
        assert!(size <= most, "{}: {size} tokens", profile.as_str());
    }
}

#[tokio::test]
async fn texts_contain_everything_in_json_with_less_overhead() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = sample(folder.path()).await;
    let full = DiscoveryTools::new(&catalog, Profile::Full);
    let mut sums = [(0, 0, 0); 2];
    for (name, arguments, is_prose) in calls() {
        let answer = called(&full, name, &arguments).await;
        let text = answer.text();
        // The method of an operation implies these words.
        let said = ["rest", "reads", "writes"];
        let mut lost = missing(answer.json(), &text);
        lost.retain(|value| name != "get_operation_details" || !said.iter().any(|word| value.contains(word)));
        // A definition appears once, without the question and repeated excerpts.
        lost.retain(|_| name != "resolve_fact");
        assert!(lost.is_empty(), "{name} lost {lost:?}: {text}");
        let mut values = BTreeSet::new();
        leaves(answer.json(), &mut values);
        let values = tokens::count(&values.into_iter().collect::<Vec<_>>().join("\n"));
        let (json, text) = (tokens::count(&answer.json().to_string()), tokens::count(&text));
        println!("{name:24} values {values:5} json {json:5} text {text:5}{}", if is_prose { " prose" } else { "" });
        assert!(text <= json, "{name}");
        let sum = &mut sums[usize::from(is_prose)];
        *sum = (sum.0 + values, sum.1 + json, sum.2 + text);
    }
    println!("(values, json, text) without prose {:?}, prose {:?}", sums[0], sums[1]);
    let [(values, json, text), (_, json_prose, text_prose)] = sums;
    assert!(2 * (text - values) < json - values, "{text} tokens for {json}, of which {values} are the values");
    assert!(text_prose < json_prose, "{text_prose} tokens for {json_prose}");
}

#[tokio::test]
async fn describes_entries_of_every_kind_and_reports_errors_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = sample(folder.path()).await;
    let tools = DiscoveryTools::new(&catalog, Profile::Compact);
    let ids =
        ["music_store.invoices", "shop.issueGiftCard", "business_rules#VIP customer", "music_store.invoicez", "nix"];
    let answer = called(&tools, "describe", &json!({"ids": ids})).await;
    assert_eq!(answer.render().parts.len(), ids.len());
    for (item, id) in answer.json().as_array().unwrap().iter().zip(ids) {
        assert_eq!(item["id"], id);
    }
    assert_eq!(answer.json()[3]["answer"]["error"], "not_found");
    assert!(answer.render().parts[3].contains("`invoices`"), "{}", answer.render().parts[3]);
    let cut = called(&tools, "describe", &json!({"ids": ids, "max_tokens": 400})).await;
    assert!(tokens::count(&cut.json().to_string()) <= 400, "{}", cut.json());
    assert!(cut.text().contains("truncated"), "{}", cut.text());

    let error = tools.call("describe", json!({"ids": ["music_store.invoicez"]})).await.unwrap_err().to_json();
    assert!(error["suggestion"].as_str().unwrap().contains("invoices"), "{error}");
    // The tools of the other profile can be called, and are not listed.
    assert!(tools.specs().iter().all(|spec| spec.name != "get_table_schema" && spec.name != "list_operations"));
    let schema = called(&tools, "get_table_schema", &json!({"database": "music_store", "table": "invoices"})).await;
    assert_eq!(schema.json()["table"], "invoices");
    assert!(!called(&tools, "list_operations", &json!({"api": "shop"})).await.json()[0]["name"].is_null());
    assert!(!tools.effect("add_fact").unwrap().is_read_only() && tools.effect("list_tables").unwrap().is_read_only());
    let error = tools.call("get_table_schemas", json!({})).await.unwrap_err().to_json();
    assert_eq!(error["error"], "unknown_tool");

    let joins = called(&tools, "describe", &json!({"ids": ["music_store.customers>music_store.invoice_lines"]})).await;
    assert!(joins.json()[0]["answer"]["join_path"].is_array(), "{}", joins.json());
    let columns = called(&tools, "describe", &json!({"ids": ["music_store.invoices#*_id"]})).await;
    let shown = columns.json()[0]["answer"]["columns"].as_array().unwrap();
    assert!(!shown.is_empty() && shown.iter().all(|one| one["name"].as_str().unwrap().ends_with("_id")), "{shown:?}");
    let all = called(&tools, "list", &json!({})).await;
    for name in ["music_store", "shop", "business_rules", "quarterly-report", "fiscal year"] {
        assert!(all.text().contains(name), "{name} is not in {}", all.text());
    }
    let of_two = json!({"query": "invoices of customers", "kinds": ["table", "fact"]});
    let found = called(&tools, "search", &of_two).await;
    assert!(found.text().contains("invoices.customer_id = customers.customer_id"), "{}", found.text());
}

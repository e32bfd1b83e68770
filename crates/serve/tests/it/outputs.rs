//! What every tool answers over MCP is what its output schema says, also where it is cut, has left something out, or fails.

use std::collections::{BTreeMap, BTreeSet};

use prospector_discovery::Profile;
use prospector_serve::Options;
use rmcp::{RoleClient, ServiceExt, model::CallToolRequestParams, service::RunningService};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support;

/// The small catalog with what makes answers unusual: a skill with a missing link and one that is too long, an API, long
/// texts, many columns.
fn estate() -> TempDir {
    let folder = support::estate();
    let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
    std::fs::create_dir_all(folder.path().join("skills/report")).unwrap();
    write(
        "skills/report/SKILL.md",
        "---\nname: report\ndescription: Writes a report of orders.\nallowed-tools: search no_such_tool\n---\n# Report\n\n\
         See [what is there](there.md), [what is long](long.md), [what is not](gone.md) and [elsewhere](../../../x.md).\n",
    );
    write("skills/report/there.md", "Sum first.\n");
    write("skills/report/long.md", &"A long line of a file.\n".repeat(2_000));
    let columns: Vec<String> = (0..60).map(|n| format!("a_rather_long_name_of_column_{n}")).collect();
    let row: Vec<String> = (0..60).map(|n| n.to_string()).collect();
    write("wide.csv", &format!("{}\n{}\n", columns.join(","), row.join(",")));
    write("lines.csv", "line_id,order_id\n1,1\n2,2\n");
    let paths: Vec<String> = (0..30)
        .map(|n| {
            format!(
                "\"/things/{n}\": {{\"get\": {{\"operationId\": \"getThing{n}\", \"summary\": \"Gets thing {n}.\"}}}}"
            )
        })
        .collect();
    write(
        "things.json",
        &format!(
            "{{\"openapi\": \"3.0.3\", \"info\": {{\"title\": \"Things\", \"version\": \"1\"}}, \"paths\": {{{}}}}}",
            paths.join(", ")
        ),
    );
    let catalog = std::fs::read_to_string(folder.path().join("catalog.yaml")).unwrap();
    let catalog = catalog.replace("databases:\n", "databases:\n- path: wide.csv\n- path: lines.csv\n");
    write("catalog.yaml", &format!("{catalog}apis:\n- path: things.json\n"));
    folder
}

/// Calls of every tool; what cannot be called in every profile is called in that which has it.
fn calls() -> Vec<(&'static str, Value)> {
    let all = |tool| (tool, json!({}));
    let cut = |tool| (tool, json!({"max_tokens": 60}));
    vec![
        ("add_fact", json!({"term": "churn", "definition": "No order for 90 days."})),
        ("add_fact", json!({"term": "churn", "definition": "No order for 60 days."})),
        ("add_fact", json!({"term": "", "definition": "x"})),
        ("ask", json!({"question": "How many orders are there?"})),
        ("ask", json!({"question": ""})),
        ("describe", json!({"ids": ["orders.orders", "rules", "report", "things", "big order", "nothing"]})),
        ("describe", json!({"ids": ["rules", "report", "wide.wide", "things"], "max_tokens": 150})),
        ("describe", json!({"ids": ["nothing"]})),
        ("extract_facts_from_text", json!({"text": "Churn is the loss of customers."})),
        ("extract_facts_from_text", json!({"text": "Nothing."})),
        ("fetch", json!({"handle": "x"})),
        ("get_document", json!({"name": "rules"})),
        ("get_document", json!({"name": "rules", "max_tokens": 100})),
        ("get_document", json!({"name": "rulse"})),
        ("get_document_section", json!({"name": "rules", "section": "Returns"})),
        ("get_document_section", json!({"name": "rules", "section": "Long", "max_tokens": 100})),
        ("get_operation_details", json!({"api": "things", "operation": "getThing1"})),
        ("get_operation_details", json!({"api": "things", "operation": "getThink"})),
        ("get_sample_values", json!({"database": "orders", "table": "orders", "column": "country"})),
        ("get_skill", json!({"name": "report"})),
        ("get_skill", json!({"name": "report", "max_tokens": 80})),
        ("get_skill", json!({"name": "reprot"})),
        ("get_table_relationships", json!({"database": "orders", "table": "orders"})),
        ("get_table_schema", json!({"database": "orders", "table": "orders", "values": true})),
        ("get_table_schema", json!({"database": "wide", "table": "wide", "max_tokens": 200})),
        ("get_table_schema", json!({"database": "orders", "table": "oders"})),
        ("resolve_fact", json!({"question": "What is a big order?"})),
        ("resolve_fact", json!({"question": "What is a flurb?"})),
        ("get_unresolved_facts", json!({})),
        ("get_unresolved_facts", json!({"limit": 0})),
        all("list"),
        cut("list"),
        ("list", json!({"of": "facts", "filter": "zzz"})),
        ("list", json!({"of": "things", "limit": 2})),
        ("list", json!({"of": "things", "max_tokens": 100})),
        ("list", json!({"of": "orders.orders"})),
        ("list", json!({"of": "rules"})),
        ("list", json!({"of": "report"})),
        ("list", json!({"of": "open_questions"})),
        ("list", json!({"of": "chairs"})),
        ("list_api_operations", json!({"api": "things", "limit": 2})),
        ("list_api_operations", json!({"api": "things", "max_tokens": 100})),
        all("list_apis"),
        all("list_databases"),
        cut("list_databases"),
        all("list_documents"),
        all("list_known_facts"),
        ("list_known_facts", json!({"contains": "zzz"})),
        ("list_skill_links", json!({"name": "report"})),
        ("list_skill_links", json!({"name": "report", "max_tokens": 60})),
        all("list_skills"),
        ("list_tables", json!({"database": "orders"})),
        ("plan", json!({"question": support::QUESTION})),
        ("plan", json!({"what": 1})),
        ("resolve_skill_link", json!({"name": "report", "target": "there.md"})),
        ("resolve_skill_link", json!({"name": "report", "target": "long.md", "max_tokens": 100})),
        ("resolve_skill_link", json!({"name": "report", "target": "gone.md"})),
        ("sample", json!({"column": "orders.orders.country"})),
        ("sample", json!({"column": "orders.orders.contry"})),
        ("search", json!({"query": "orders by country"})),
        ("search", json!({"query": "orders by country", "max_tokens": 60})),
        ("search", json!({"query": "xyzzy"})),
        ("search", json!({"query": ""})),
        ("search_documents", json!({"query": "orders can be returned"})),
        ("search_operations", json!({"query": "get thing 7"})),
        ("search_skills", json!({"query": "a report of orders"})),
        ("search_tables", json!({"query": "orders by country"})),
    ]
}

/// What of a value is not as a JSON Schema says. It knows the keywords that the output schemas are made of; any other fails
/// the test, so that none is passed over.
fn errors(schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if schema == &Value::Bool(true) {
        return wrong;
    }
    for (keyword, expected) in schema.as_object().unwrap_or_else(|| panic!("{place}: {schema}")) {
        match (keyword.as_str(), expected) {
            ("type", Value::String(kind)) => {
                let is_so = match kind.as_str() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
                    "number" => value.is_number(),
                    other => panic!("{place}: no type `{other}`"),
                };
                if !is_so {
                    wrong.push(format!("{place} is no {kind}: {value}"));
                }
            }
            ("properties", Value::Object(properties)) => {
                for (name, schema) in properties {
                    if let Some(value) = value.get(name) {
                        wrong.extend(errors(schema, value, &format!("{place}.{name}")));
                    }
                }
            }
            ("items", items) => {
                for (at, value) in value.as_array().into_iter().flatten().enumerate() {
                    wrong.extend(errors(items, value, &format!("{place}[{at}]")));
                }
            }
            ("type", Value::Array(kinds)) => {
                let is_so = |kind: &Value| errors(&json!({"type": kind}), value, place).is_empty();
                if !kinds.iter().any(is_so) {
                    wrong.push(format!("{place} is none of {kinds:?}: {value}"));
                }
            }
            ("anyOf" | "oneOf", Value::Array(variants)) => {
                if !variants.iter().any(|variant| errors(variant, value, place).is_empty()) {
                    wrong.push(format!("{place} is none of {variants:?}: {value}"));
                }
            }
            ("enum", Value::Array(words)) => {
                if !words.contains(value) {
                    wrong.push(format!("{place} is none of {words:?}: {value}"));
                }
            }
            ("const", word) => {
                if word != value {
                    wrong.push(format!("{place} is not {word}: {value}"));
                }
            }
            ("required", Value::Array(names)) => {
                let missing = names.iter().filter_map(Value::as_str).filter(|name| value.get(name).is_none());
                wrong.extend(missing.map(|name| format!("{place}.{name} is missing")));
            }
            ("additionalProperties", schema) if schema != &Value::Bool(false) => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    wrong.extend(errors(schema, value, &format!("{place}.{name}")));
                }
            }
            ("description", Value::String(_)) => {}
            _ => panic!("{place}: the keyword `{keyword}` is not known here: {schema}"),
        }
    }
    wrong
}

#[test]
fn what_is_not_as_a_schema_says_is_seen() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {},
        "items": {"type": "array", "items": {"type": "object", "properties": {"c": {"type": "string"}}}}}});
    let check = |value: Value, count: usize| assert_eq!(errors(&schema, &value, "").len(), count, "{value}");
    check(json!({}), 0);
    check(json!({"a": 1, "b": [1], "items": [{"c": "x"}, {}], "more": null}), 0);
    check(json!([]), 1);
    check(json!({"a": 1.5, "items": [{"c": 1}, 2]}), 3);
    check(json!({"a": "1", "items": {}}), 2);
}

struct Client {
    client: RunningService<RoleClient, ()>,
    _folder: TempDir,
}

async fn client(profile: Profile) -> Client {
    let folder = estate();
    let server = support::server(&folder, profile, support::offline(), Options::default()).await;
    let (here, there) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(there);
    tokio::spawn(async move { server.pipe(input, output, Default::default()).await.unwrap() });
    Client { client: ().serve(here).await.unwrap(), _folder: folder }
}

impl Client {
    /// What a tool answers, for programs, and whether it failed.
    async fn call(&self, tool: &str, arguments: &Value) -> (Value, bool) {
        let Value::Object(arguments) = arguments.clone() else { panic!("no object") };
        let asked = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let result = self.client.call_tool(asked).await.unwrap();
        (result.structured_content.unwrap(), result.is_error == Some(true))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_is_what_its_schema_says() {
    let mut called: BTreeSet<String> = BTreeSet::new();
    let mut listed: BTreeSet<String> = BTreeSet::new();
    // Fields that only unusual answers have: each is met at least once.
    let mut met: BTreeSet<&str> = BTreeSet::new();
    for profile in Profile::ALL {
        let client = client(profile).await;
        let tools = client.client.list_all_tools().await.unwrap();
        let schemas: BTreeMap<String, Value> = (tools.iter())
            .map(|tool| (tool.name.to_string(), Value::Object(tool.output_schema.as_deref().unwrap().clone())))
            .collect();
        listed.extend(schemas.keys().cloned());
        let mut calls = calls();
        // What was cut has a handle, and its pages.
        let (cut, _) = client
            .call(
                if profile == Profile::Full { "get_document" } else { "describe" },
                &match profile {
                    Profile::Full => json!({"name": "rules", "max_tokens": 100}),
                    Profile::Compact => json!({"ids": ["rules#Long"], "max_tokens": 200}),
                },
            )
            .await;
        let (plan, _) = client.call("plan", &json!({"question": support::QUESTION})).await;
        for page in [1, 2, 99] {
            calls.push(("fetch", json!({"handle": cut["handle"], "page": page})));
        }
        calls.push(("fetch", json!({"handle": plan["handle"]})));
        for (tool, arguments) in calls {
            let Some(schema) = schemas.get(tool) else { continue };
            let (answer, failed) = client.call(tool, &arguments).await;
            called.insert(tool.to_owned());
            let wrong = errors(schema, &answer, tool);
            assert!(wrong.is_empty(), "{tool} {arguments}: {wrong:?}\n{answer}\n{schema}");
            for field in ["truncated", "left_out", "next", "nearest", "note", "handle", "total", "missing_tools"] {
                if answer.get(field).is_some() {
                    met.insert(field);
                    let declared = &schema["properties"][field]["type"];
                    assert!(declared.is_string(), "{tool}: `{field}` is not declared");
                }
            }
            if failed {
                met.insert("error");
                assert!(answer["error"].is_string() && answer["message"].is_string(), "{tool}: {answer}");
            }
        }
    }
    assert_eq!(called, listed, "every tool is called");
    let all = ["truncated", "left_out", "next", "nearest", "note", "handle", "total", "missing_tools", "error"];
    assert_eq!(met, all.into_iter().collect());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_with_a_missing_link_says_what_it_left_out() {
    let client = client(Profile::Full).await;
    let (skill, failed) = client.call("get_skill", &json!({"name": "report"})).await;
    assert!(!failed, "{skill}");
    assert_eq!(skill["left_out"]["gone.md"], "missing", "{skill}");
    assert_eq!(skill["references"]["there.md"], "Sum first.\n", "{skill}");
}

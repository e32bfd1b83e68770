//! Every tool by `planner call` on the sample catalog: it returns a result, suggests similar names for an unknown one, and respects
//! `max_tokens`.

use crate::support::{self, Estate, assert_holds, items};
use prospector_core::tokens;
use serde_json::{Value, json};

/// A valid call of a tool, and one with an unknown name if the tool takes names.
struct Row {
    tool: &'static str,
    arguments: Value,
    /// A part of the result.
    holds: &'static str,
    wrong: Option<Wrong>,
}

struct Wrong {
    argument: &'static str,
    name: &'static str,
    nearest: &'static str,
}

fn row(tool: &'static str, arguments: Value, holds: &'static str) -> Row {
    Row { tool, arguments, holds, wrong: None }
}

impl Row {
    fn wrong(mut self, argument: &'static str, name: &'static str, nearest: &'static str) -> Self {
        self.wrong = Some(Wrong { argument, name, nearest });
        self
    }
}

/// Every tool. A listed tool without a row fails the test.
fn rows() -> Vec<Row> {
    let invoices = json!({"database": "music_store", "table": "invoices"});
    let state = json!({"database": "music_store", "table": "invoices", "column": "stat_cd"});
    vec![
        row("add_fact", json!({"term": "whale", "definition": "A whale spends over 500 USD a month."}), "whale"),
        row(
            "extract_facts_from_text",
            json!({"text": "A dormant account is one without a login for a year."}),
            "dormant",
        ),
        row("get_document", json!({"name": "business_rules"}), "VIP customer").wrong(
            "name",
            "busines_rule",
            "business_rules",
        ),
        row("get_document_section", json!({"name": "business_rules", "section": "VIP customer"}), "VIP customer")
            .wrong("section", "VIP custmer", "VIP customer"),
        row("get_metric", json!({"name": "revenue"}), "stat_cd = 'P'").wrong("name", "gross_revenu", "gross_revenue"),
        row("get_operation_details", json!({"api": "shop", "operation": "issueGiftCard"}), "recipient").wrong(
            "operation",
            "isueGiftCard",
            "issueGiftCard",
        ),
        row("get_sample_values", state, "complete").wrong("column", "stat_cod", "stat_cd"),
        row("get_skill", json!({"name": "quarterly-report"}), "quarter").wrong(
            "name",
            "quartely-report",
            "quarterly-report",
        ),
        row("get_table_relationships", invoices.clone(), "customers.customer_id")
            .wrong("table", "invoicez", "invoices"),
        row("get_table_schema", invoices, "customer_id").wrong("table", "invoicez", "invoices"),
        row("get_unresolved_facts", json!({}), ""),
        row("get_verified_query", json!({"name": "net-revenue"}), "Finance").wrong("name", "net-revenu", "net-revenue"),
        row("list_api_operations", json!({"api": "recommendations"}), "similarArtists").wrong(
            "api",
            "recomendation",
            "recommendations",
        ),
        row("list_apis", json!({}), "recommendations"),
        row("list_databases", json!({}), "web_metrics"),
        row("list_documents", json!({}), "refund_policy"),
        row("list_known_facts", json!({}), "fiscal year"),
        row("list_metrics", json!({}), "net_revenue"),
        row("list_skill_links", json!({"name": "quarterly-report"}), "references/").wrong(
            "name",
            "quartely-report",
            "quarterly-report",
        ),
        row("list_skills", json!({}), "churn-analysis"),
        row("list_tables", json!({"database": "music_store"}), "invoice_lines").wrong(
            "database",
            "musicstor",
            "music_store",
        ),
        row("list_verified_queries", json!({}), "vip-customer-count"),
        row("resolve_fact", json!({"question": "What is a VIP customer?"}), "VIP customer"),
        row("resolve_skill_link", json!({"name": "quarterly-report", "target": skill_link()}), "content").wrong(
            "target",
            "references/nothing.md",
            "references/",
        ),
        row("search", json!({"query": "refund policy"}), "refund_policy"),
        row("search_documents", json!({"query": "refund policy"}), "refund_policy"),
        row("search_operations", json!({"query": "issue a gift card"}), "issueGiftCard"),
        row("search_skills", json!({"query": "quarterly report"}), "quarterly-report"),
        row("search_tables", json!({"query": "invoices of customers"}), "invoices"),
    ]
}

/// A reference of the skill `quarterly-report`.
fn skill_link() -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/skills/quarterly-report/references");
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    format!("references/{}", names[0])
}

#[test]
fn every_tool_has_a_row_and_a_description() {
    let specs = Estate::sample().run(["tools", "--profile", "full"]).json(0);
    let listed: Vec<&str> = items(&specs).iter().map(|spec| spec["name"].as_str().unwrap()).collect();
    let rows: Vec<&str> = rows().iter().map(|row| row.tool).collect();
    assert_eq!(listed, rows, "the tools by name, each with a row");
    for spec in items(&specs) {
        assert!(spec["description"].as_str().is_some_and(|text| text.len() > 20), "{spec}");
        assert_eq!(spec["input_schema"]["type"], "object", "{spec}");
    }
}

#[test]
fn tools_are_those_that_mcp_clients_get() {
    let estate = Estate::sample();
    let listed = |args: &[&str]| estate.run([&["tools"], args].concat()).json(0);
    assert_eq!(listed(&[]), listed(&["--profile", "compact"]));
}

#[test]
fn unknown_names_get_suggestions() {
    let estate = Estate::sample();
    for row in rows() {
        let Some(wrong) = row.wrong else { continue };
        let mut arguments = row.arguments.clone();
        arguments[wrong.argument] = json!(wrong.name);
        let ran = estate.call(row.tool, &arguments);
        let answer = ran.json(1);
        assert_eq!(answer["error"], "not_found", "{}: {answer:#}", row.tool);
        assert!(answer["message"].as_str().unwrap().contains(wrong.name), "{}: {answer:#}", row.tool);
        let suggestion = answer["suggestion"].as_str().unwrap_or_default();
        assert!(suggestion.contains(wrong.nearest), "{}: {answer:#}", row.tool);
        assert!(ran.err.contains(wrong.nearest), "{}", ran.err);
    }
}

#[test]
fn names_are_case_insensitive() {
    let estate = Estate::sample();
    let answer = estate.call("get_table_schema", &json!({"database": "MUSIC_STORE", "table": "Invoices"})).json(0);
    assert_eq!((&answer["database"], &answer["table"]), (&json!("music_store"), &json!("invoices")));
}

#[test]
fn every_tool_respects_max_tokens_and_reports_truncation() {
    const MOST: usize = 120;
    let estate = Estate::sample();
    let mut cut = Vec::new();
    for row in rows() {
        let whole = estate.call(row.tool, &row.arguments).json(0);
        assert!(whole.to_string().contains(row.holds), "{} does not hold {}: {whole:#}", row.tool, row.holds);
        assert!(whole.get("error").is_none(), "{}: {whole:#}", row.tool);
        let mut arguments = row.arguments;
        arguments["max_tokens"] = json!(MOST);
        let answer = estate.call(row.tool, &arguments).json(0);
        let size = tokens::count(&answer.to_string());
        assert!(size <= MOST, "{} answers with {size} tokens: {answer:#}", row.tool);
        if answer["truncated"] == true {
            cut.push(row.tool);
            assert!(answer["next"].as_str().is_some_and(|next| next.len() > 10), "{}: {answer:#}", row.tool);
        } else if tokens::count(&whole.to_string()) > MOST {
            panic!("{} is cut and does not say so: {answer:#}", row.tool);
        }
    }
    for tool in ["get_document", "get_skill", "get_table_schema", "list_tables", "search"] {
        assert!(cut.contains(&tool), "{tool} has a long answer");
    }
}

#[test]
fn names_are_never_truncated() {
    let estate = Estate::sample();
    let whole = estate.call("search", &json!({"query": "customers", "limit": 20})).json(0);
    let ids: Vec<&str> = items(&whole).iter().map(|hit| hit["id"].as_str().unwrap()).collect();
    for most in [50, 60, 80, 120] {
        let cut = estate.call("search", &json!({"query": "customers", "limit": 20, "max_tokens": most})).json(0);
        for hit in items(&cut["items"]) {
            let id = hit["id"].as_str().unwrap_or_default();
            assert!(ids.contains(&id), "`{id}` is no name, with max_tokens {most}: {cut:#}");
        }
    }
}

#[test]
fn long_lists_continue_after_truncation() {
    let estate = Estate::sample();
    let mut found: Vec<String> = Vec::new();
    loop {
        let page = json!({"database": "music_store", "limit": 7, "offset": found.len()});
        let answer = estate.call("list_tables", &page).json(0);
        found.extend(items(&answer["items"]).iter().map(|table| table["name"].as_str().unwrap().to_owned()));
        assert_eq!(answer["total"], json!(19), "{answer:#}");
        assert_eq!(answer.get("truncated").is_some(), answer.get("next").is_some(), "{answer:#}");
        if answer.get("next").is_none() {
            break;
        }
        assert!(answer["next"].as_str().unwrap().contains(&format!("offset={}", found.len())), "{answer:#}");
    }
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 19);
}

#[test]
fn invalid_arguments_report_the_usage() {
    let estate = Estate::sample();
    let check = |tool: &str, arguments: Value, message: &str, suggestion: &str| {
        let answer = estate.call(tool, &arguments).json(1);
        assert_eq!(answer["error"], "invalid_arguments", "{answer:#}");
        assert!(answer["message"].as_str().unwrap().contains(message), "{answer:#}");
        assert!(answer["suggestion"].as_str().unwrap_or_default().contains(suggestion), "{answer:#}");
    };
    check("list_tables", json!({"dbname": "x"}), "dbname", "list_tables(database, ");
    check("list_tables", json!({}), "database", "list_tables(database, ");
    check("list_tables", json!({"database": [5]}), "invalid type: list", "list_tables(database, ");
    // A single mistake is repaired.
    let read = estate.call("list_tables", &json!({"datbase": "music_store"}));
    assert!(read.err.contains("note: `datbase` was interpreted as `database`"), "{}", read.err);
    assert!(!items(&read.json(0)).is_empty());
    check("search", json!({"query": " "}), "query is empty", "");
    check("search", json!({"query": "x", "kinds": ["tabel"]}), "tabel", "search(query, ");
    check("search", json!({"query": "x", "max_tokens": 3}), "50 or more", "");
}

#[test]
fn arguments_must_be_an_object() {
    let estate = Estate::sample();
    for (arguments, expected) in [
        ("{database: x}", "not JSON"),
        ("", "not JSON"),
        ("[]", "JSON object"),
        ("\"music_store\"", "JSON object"),
        ("7", "JSON object"),
    ] {
        let ran = estate.run(["call", "list_tables", arguments]);
        assert!(ran.complaint(2).contains(expected), "{arguments}: {}", ran.err);
    }
}

#[test]
fn unknown_tools_get_suggestions() {
    let estate = Estate::sample();
    let answer = estate.call("list_table", &json!({"database": "music_store"})).json(1);
    assert_eq!(answer["error"], "unknown_tool");
    assert!(answer["suggestion"].as_str().unwrap().contains("list_tables"), "{answer:#}");
}

#[test]
fn tools_are_listed_only_for_what_the_catalog_has() {
    let estate = Estate::new("databases:\n- path: pets.csv\n").with("pets.csv", "pet,age\nhamster,2\n");
    let specs = estate.run(["tools", "--profile", "full"]).json(0);
    let names: Vec<&str> = items(&specs).iter().map(|spec| spec["name"].as_str().unwrap()).collect();
    assert_holds(&json!(names), &["list_databases", "list_tables", "search"]);
    for absent in ["list_apis", "list_documents", "list_skills"] {
        assert!(!names.contains(&absent), "{absent} is listed");
        let answer = estate.call(absent, &json!({})).json(1);
        assert!(answer["message"].as_str().unwrap().contains("the catalog has no"), "{answer:#}");
    }
}

#[test]
fn only_allowed_entries_are_visible() {
    let yaml = "databases:\n- {path: db.sql, tables: [pets]}\n\
                apis:\n- {path: shop.openapi.yaml, name: shop, operations: [issueGiftCard]}\n";
    let estate = Estate::new(yaml)
        .with("db.sql", "CREATE TABLE pets (id int, name text); CREATE TABLE salaries (id int, amount int);")
        .with("shop.openapi.yaml", support::sample_file("apis/shop.openapi.yaml"));
    assert_eq!(estate.run(["refresh"]).json(0)["problems"], json!([]));
    for (tool, arguments) in
        [("list_tables", json!({"database": "db"})), ("list_api_operations", json!({"api": "shop"}))]
    {
        let list = estate.call(tool, &arguments).json(0);
        assert_eq!(items(&list["items"]).len(), 1, "{list:#}");
        assert!(list["note"].as_str().unwrap().contains("not allowed"), "it is not shown as empty: {list:#}");
    }
    for (tool, arguments) in [
        ("get_table_schema", json!({"database": "db", "table": "salaries"})),
        ("get_operation_details", json!({"api": "shop", "operation": "createWebhook"})),
    ] {
        let answer = estate.call(tool, &arguments).json(1);
        assert!(answer["message"].as_str().unwrap().contains("allow"), "{answer:#}");
    }
    for query in ["salaries amount", "webhook"] {
        let found = estate.run(["search", query]).json(0);
        let text = found.to_string();
        assert!(!text.contains("salaries") && !text.contains("Webhook"), "{query}: {found:#}");
    }
}

#[test]
fn an_added_fact_is_found() {
    let estate = Estate::sample();
    let fact = json!({"term": "whale", "definition": "A whale is a customer who spends over 500 USD in a month.",
                      "source": "sales", "confidence": 0.9});
    estate.call("add_fact", &fact).json(0);
    let known = estate.call("list_known_facts", &json!({"contains": "whale"})).json(0);
    assert!(known.to_string().contains("500 USD"), "{known:#}");
    let resolved = estate.call("resolve_fact", &json!({"question": "What is a whale?"})).json(0);
    assert!(resolved["answer"].as_str().unwrap_or_default().contains("500 USD"), "{resolved:#}");

    let unknown = estate.call("resolve_fact", &json!({"question": "What is a zorblax?"})).json(0);
    assert_eq!(unknown["needs_clarification"], true, "{unknown:#}");
    let open = estate.call("get_unresolved_facts", &json!({})).json(0);
    assert!(open.to_string().contains("zorblax"), "{open:#}");
}

//! Snapshots of every text that a language model reads: tool definitions, prompts, maps, and the messages of a plan, an answer, an
//! extraction of facts and a reconciliation, whose phases are defined in `reconcile.yaml`.
//!
//! `UPDATE_EXPECT=1 cargo test --test it texts` rewrites the files in `tests/texts/snapshots`.

use std::{env, fmt::Write as _, fs, path::PathBuf, sync::Arc};

use crate::support::{Estate, Ran, VIP, items};
use prospector_agent::extraction::ModelExtractor;
use prospector_facts::FactDiscovery;
use prospector_llm::providers::connect;
use prospector_test_support::provider::{FakeProvider, KEY, Turn};
use serde_json::{Value, json};

/// Compares a text with its snapshot.
#[track_caller]
fn check(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/texts/snapshots").join(name);
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, text).unwrap();
        return;
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    if known != text {
        let at = known.lines().zip(text.lines()).position(|(a, b)| a != b);
        let at = at.unwrap_or(known.lines().count().min(text.lines().count()));
        panic!(
            "{name} differs from line {}:\n- {}\n+ {}\nIf that is meant, `UPDATE_EXPECT=1 cargo test --test it texts` writes it.",
            at + 1,
            known.lines().nth(at).unwrap_or("(the end)"),
            text.lines().nth(at).unwrap_or("(the end)")
        );
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

#[test]
fn definitions_of_tools() {
    let estate = Estate::sample();
    let tools = |args: &[&str]| pretty(&estate.run([&["tools"], args].concat()).json(0));
    check("tools-compact.json", &tools(&["--profile", "compact"]));
    check("tools-full.json", &tools(&["--profile", "full"]));
    check("tools-with-queries.json", &tools(&["--profile", "full", "--queries"]));
}

#[test]
fn prompts_and_maps() {
    let estate = Estate::sample();
    let prompt = |args: &[&str]| {
        let printed = estate.run([&["prompt"], args].concat()).json(0);
        printed["system"].as_str().unwrap().to_owned() + "\n"
    };
    check("prompt-minimal.txt", &prompt(&["--model", "claude-sonnet-4-5"]));
    check("prompt-full-with-tools.txt", &prompt(&["--model", "claude-sonnet-4-5", "--prompt", "full-with-tools"]));
    check("prompt-full.txt", &prompt(&[VIP, "--model", "claude-2"]));
}

#[test]
fn texts_for_mcp_clients() {
    let estate = Estate::sample();
    let message =
        |id: u32, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    let ask = |messages: &[Value]| {
        let begin =
            [message(0, "initialize", hello.clone()), json!({"jsonrpc": "2.0", "method": "notifications/initialized"})];
        let input: String = begin.iter().chain(messages).map(|message| format!("{message}\n")).collect();
        let ran = Ran::of(estate.planner().arg("mcp").write_stdin(input));
        let answers: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        move |id: u32| answers.iter().find(|answer| answer["id"] == id).cloned().unwrap_or_default()["result"].clone()
    };
    let listed = ask(&[message(1, "tools/list", json!({})), message(2, "prompts/list", json!({}))]);
    let tools: Vec<Value> = items(&listed(1)["tools"])
        .iter()
        .map(|tool| json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]}))
        .collect();
    let prompts = listed(2)["prompts"].clone();
    let given: Vec<Value> = items(&prompts)
        .iter()
        .map(|prompt| {
            let arguments: Value = items(&prompt["arguments"])
                .iter()
                .map(|argument| (argument["name"].as_str().unwrap().to_owned(), json!(VIP)))
                .collect::<serde_json::Map<_, _>>()
                .into();
            ask(&[message(3, "prompts/get", json!({"name": prompt["name"], "arguments": arguments}))])(3)
        })
        .collect();
    let instructions = listed(0)["instructions"].clone();
    let all = json!({"instructions": instructions, "tools": tools, "prompts": prompts, "given": given});
    check("mcp.json", &pretty(&all));
}

/// Returns the requests to a scripted model; of a request that continues the previous one only the new messages.
async fn transcript(args: &[&str], input: &str, script: Vec<Turn>) -> String {
    let fake = FakeProvider::start(script).await;
    let estate = Estate::sample();
    let mut command = estate.planner();
    command.args(args).env("PROSPECTOR_MODEL", "claude-sonnet-4-5").env("ANTHROPIC_API_KEY", KEY);
    command.env("ANTHROPIC_BASE_URL", fake.settings().anthropic_base_url.unwrap()).write_stdin(input.to_owned());
    // The folder is kept until the run ends.
    let (ran, _estate) = tokio::task::spawn_blocking(move || (Ran::of(&mut command), estate)).await.unwrap();
    assert_eq!(fake.turns_left(), 0, "{}\n{}", ran.err, ran.out);
    render(&fake)
}

/// Renders the requests to a stand-in.
fn render(fake: &FakeProvider) -> String {
    let mut text = String::new();
    let mut before = Value::Null;
    for (at, request) in fake.requests().iter().enumerate() {
        let body = &request.body;
        let (messages, known) = (items(&body["messages"]), items(&before["messages"]));
        // The cache marker moves from request to request.
        let texts_of = |messages: &[Value]| messages.iter().map(said).collect::<Vec<_>>();
        let goes_on = body["system"] == before["system"] && texts_of(messages).starts_with(&texts_of(known));
        let _ = writeln!(text, "======== request {}", at + 1);
        if !goes_on {
            let names: Vec<&str> = items(&body["tools"]).iter().filter_map(|tool| tool["name"].as_str()).collect();
            let _ = writeln!(text, "-------- tools\n{}", names.join(" "));
            let _ = writeln!(text, "-------- system\n{}", said(&body["system"]));
        }
        for message in &messages[if goes_on { known.len() } else { 0 }..] {
            let _ = writeln!(text, "-------- {}\n{}", message["role"].as_str().unwrap(), said(&message["content"]));
        }
        before = body.clone();
    }
    hide_days(&text)
}

/// Replaces the current day, which each question has.
fn hide_days(text: &str) -> String {
    let mut parts = text.split("\nToday: ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, rest| before + "\nToday: DAY" + rest.get("2026-01-31".len()..).unwrap_or_default())
}

/// Returns the texts of a message, of its content or of a part of it.
fn said(content: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| said(value), str::to_owned);
    match content {
        Value::Array(parts) => parts.iter().map(said).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => match part.get("type").and_then(Value::as_str) {
            Some("tool_use") => format!("[calls {} {}]", text(&part["name"]), part["input"]),
            Some("tool_result") => format!("[result]\n{}", text(&part["content"])),
            Some("text") => text(&part["text"]),
            _ => format!("{}: {}", text(&part["role"]), text(&part["content"])),
        },
        Value::String(text) => text.clone(),
        _ => String::new(),
    }
}

fn plan(tables: &[&str]) -> String {
    let step = json!({"number": 1, "goal": "Sum the invoices by quarter", "tables": tables, "outputs": ["sums"]});
    json!({"reasoning": "Invoices.", "discovered_context": {"tables": tables}, "plan": {"steps": [step]}, "clarifications": []})
        .to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_with_an_undiscovered_name() {
    let script = vec![
        Turn::calls([
            ("search", json!({"query": VIP})),
            ("describe", json!({"ids": ["music_store.invoices", "no.such_table"]})),
            ("resolve_fact", json!({"question": "What is a VIP customer?"})),
        ]),
        Turn::text(plan(&["music_store.playlists"])),
        Turn::text(plan(&["music_store.invoices"])),
    ];
    check("plan.txt", &transcript(&["plan", VIP], "", script).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_at_the_round_limit() {
    let script = vec![
        Turn::calls([("no_such_tool", json!({})), ("sample", json!({"column": "music_store.countries.region"}))]),
        Turn::text(plan(&[])),
    ];
    check("plan-last-round.txt", &transcript(&["plan", VIP, "--max-rounds", "2"], "", script).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_with_summary_and_follow_ups() {
    let sql = "SELECT count(*) AS customers FROM music_store.customers";
    let script = vec![
        Turn::calls([
            ("execute_sql", json!({"queries": [{"question": "How many customers are there?", "sql": sql}]})),
            ("think", json!({"thought": "One number."})),
        ]),
        // A number that is in no row is returned for correction.
        Turn::text("There are 999 customers [Q1]."),
        Turn::text("There are 720 customers [Q1].\nNext: How many of them are in Germany?"),
        Turn::text("There are 720 customers [Q1].\nNext: How many of them are in Germany?"),
    ];
    let args = ["ask", "How many customers are there?", "--summary-model", "claude-haiku-4-5"];
    check("ask.txt", &transcript(&args, "", script).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_at_the_round_limit() {
    let script = vec![Turn::calls([("search", json!({"query": "refund"}))]), Turn::text("Refunds are given.")];
    check("ask-last-round.txt", &transcript(&["ask", "What of refunds?", "--max-rounds", "2"], "", script).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_by_a_model_without_tools() {
    let script = vec![Turn::text("Nothing here says that.")];
    check("ask-without-tools.txt", &transcript(&["ask", VIP, "--model", "claude-2"], "", script).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_that_a_model_extracts() {
    let fake = FakeProvider::start([Turn::text(json!({"facts": []}).to_string())]).await;
    let (facts, _) = FactDiscovery::open(None, vec![], None).await;
    facts.extract_with(Arc::new(ModelExtractor::new(connect("claude-sonnet-4-5", &fake.settings()).unwrap())));
    let text = "A gold member is a customer who has bought for more than 500 US dollars in a year.";
    Arc::new(facts).tools().call("extract_facts_from_text", json!({"text": text})).await.unwrap();
    check("extraction.txt", &render(&fake));
}

#[tokio::test(flavor = "multi_thread")]
async fn start_of_a_reconciliation() {
    let script = vec![Turn::calls([("advance", json!({}))]), Turn::text("Which tables are to be matched?")];
    check("reconcile.txt", &transcript(&["reconcile", "Match two tables."], "", script).await);
}

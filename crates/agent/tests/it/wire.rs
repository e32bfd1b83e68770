//! The loop over every wire format, against a stand-in that is as strict as the strictest provider.

use std::time::Duration;

use crate::support::{TABLES, TOOLS, World, go, plan};
use prospector_agent::{
    Limits,
    event::Event,
    plan::{Ended, PlanOutcome},
};
use prospector_llm::{
    LlmError,
    providers::{Settings, connect},
};
use prospector_test_support::provider::{Api, FakeProvider, KEY, Recorded, Turn};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// One model for each wire.
const MODELS: [&str; 4] = ["claude-sonnet-4-5", "openai/some-model", "gemini-3-pro-preview", "ollama/qwen3"];

/// The outcome of a run over one wire.
struct Ran {
    outcome: PlanOutcome,
    events: Vec<Event>,
    requests: Vec<Recorded>,
    world: World,
}

impl Ran {
    fn tables(&self) -> &[String] {
        &self.outcome.plan.plan.steps[0].resources.tables
    }

    /// Returns the last user message in the request of a round.
    fn last_user_text(&self, round: usize) -> String {
        let message = messages(&self.requests[round - 1]).last().expect("a message");
        assert_eq!(message["role"], "user");
        text(if message["parts"].is_null() { &message["content"] } else { &message["parts"] })
    }
}

/// Runs the script over each wire; every request must be valid, and the whole script used.
async fn check(script: impl Fn() -> Vec<Turn>, ended: Ended) -> Vec<Ran> {
    let mut ran = Vec::new();
    for name in MODELS {
        ran.push(check_one(name, script(), ended).await);
    }
    ran
}

async fn check_one(name: &str, script: Vec<Turn>, ended: Ended) -> Ran {
    let fake = FakeProvider::start(script).await;
    let model = connect(name, &fake.settings()).expect("a model");
    let world = World::default();
    let (outcome, events) = go(model.as_ref(), &world, Limits::default(), &CancellationToken::new()).await;
    fake.assert_clean();
    assert_eq!(outcome.plan.ended, ended, "{name}: {:?}", outcome.failure);
    assert_eq!(outcome.failure.is_some(), ended == Ended::ProviderFailed, "{name}");
    assert_eq!(outcome.plan.model, name);
    Ran { outcome, events, requests: fake.requests(), world }
}

/// A content that is a text, or blocks of text.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        blocks => blocks.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str()).collect(),
    }
}

/// The names of the tools that a request offers.
fn tools(request: &Recorded) -> Vec<&str> {
    let tools = match request.api {
        Api::Gemini => &request.body["tools"][0]["functionDeclarations"],
        _ => &request.body["tools"],
    };
    let tools = tools.as_array().expect("tools").iter();
    tools
        .filter_map(|tool| match request.api {
            Api::Anthropic | Api::Gemini => tool["name"].as_str(),
            Api::OpenAi | Api::Ollama => tool["function"]["name"].as_str(),
        })
        .collect()
}

/// The system prompt of a request, as it was sent.
fn system(request: &Recorded) -> Value {
    match request.api {
        Api::Anthropic => request.body["system"].clone(),
        Api::Gemini => request.body["systemInstruction"]["parts"].clone(),
        Api::OpenAi | Api::Ollama => request.body["messages"][0].clone(),
    }
}

/// The turns of a request.
fn messages(request: &Recorded) -> &[Value] {
    let turns = if request.api == Api::Gemini { &request.body["contents"] } else { &request.body["messages"] };
    turns.as_array().expect("turns")
}

/// Returns the ids and contents of all results in a request.
fn results(request: &Recorded) -> Vec<(String, String)> {
    let messages = messages(request);
    let blocks = |message: &Value| message["content"].as_array().cloned().unwrap_or_default();
    let results: Vec<(Value, String)> = match request.api {
        Api::Anthropic => messages
            .iter()
            .flat_map(blocks)
            .filter(|block| block["type"] == "tool_result")
            .map(|block| (block["tool_use_id"].clone(), text(&block["content"])))
            .collect(),
        Api::Gemini => messages
            .iter()
            .flat_map(|message| message["parts"].as_array().cloned().unwrap_or_default())
            .map(|part| part["functionResponse"].clone())
            .filter(Value::is_object)
            .map(|response| {
                let said = &response["response"];
                (response["id"].clone(), text(said.get("output").unwrap_or(&said["error"])))
            })
            .collect(),
        Api::OpenAi | Api::Ollama => messages
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| (message["tool_call_id"].clone(), text(&message["content"])))
            .collect(),
    };
    results.into_iter().map(|(id, content)| (id.as_str().unwrap_or_default().to_owned(), content)).collect()
}

fn describe() -> (&'static str, Value) {
    ("describe", json!({}))
}

#[tokio::test]
async fn parallel_calls_are_answered_in_their_order() {
    let script = || {
        vec![
            Turn::answer(
                "Let me look.",
                [
                    ("wait", json!({})),
                    ("describe", json!({"table": "store.invoices"})),
                    ("fail", json!({"how": "not_found"})),
                    ("fail", json!({"how": "fatal"})),
                ],
            ),
            Turn::calls([
                ("describe", json!({"table": "store.customers"})),
                ("describe", json!("{\"table\": ")),
                ("describe", json!("")),
                ("nothing_like_it", json!({})),
            ]),
            Turn::text(plan(&TABLES)),
        ]
    };
    for ran in check(script, Ended::Completed).await {
        assert_eq!(ran.world.answered.lock().unwrap()[..4], ["describe", "fail", "fail", "wait"], "all at once");
        let results = results(&ran.requests[2]);
        let ids: Vec<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
        let calls = |round: usize| (0..4).map(move |at| format!("call_{round}_{at}"));
        assert_eq!(ids, calls(1).chain(calls(2)).collect::<Vec<String>>());
        let expected = [
            "<data>\"waited\"</data>",
            "<data># table | note\nstore.invoices | ",
            "{\"error\":\"not_found\"",
            "{\"error\":\"internal\"",
            "<data># table | note\nstore.customers | ",
            "{\"error\":\"invalid_arguments\"",
            "<data># table | note = ",
            "{\"error\":\"unknown_tool\"",
        ];
        for ((id, content), expected) in results.iter().zip(expected) {
            assert!(content.starts_with(expected), "{id}: {content}");
        }
        assert!(ran.outcome.plan.verification.ok, "{:?}", ran.outcome.plan.verification);
        assert_eq!(ran.tables(), TABLES);
        let metrics = &ran.outcome.plan.metrics;
        assert_eq!((metrics.model_calls, metrics.tool_calls), (3, 8));
        assert_eq!((metrics.input_tokens, metrics.output_tokens), (300, 60));
        assert!((metrics.saved - 0.64).abs() < 1e-9, "{}", metrics.saved);
        let thought = Event::Thinking { text: "Let me look.".into() };
        assert_eq!(ran.events.iter().filter(|event| **event == thought).count(), 1);
        assert_eq!(ran.events.last(), Some(&Event::Verified { ok: true, failed: 0 }));
    }
}

#[tokio::test]
async fn cached_prefix_is_constant() {
    let script = || vec![Turn::calls([describe()]), Turn::calls([describe(), describe()]), Turn::text(plan(&TABLES))];
    for ran in check(script, Ended::Completed).await {
        let first = &ran.requests[0];
        for request in &ran.requests {
            assert_eq!(tools(request), TOOLS);
            assert_eq!(request.body["tools"], first.body["tools"]);
            assert_eq!(system(request), system(first));
        }
        let blocks = system(first);
        match first.api {
            Api::Anthropic => {
                assert_eq!(blocks[0], json!({"type": "text", "text": "You plan."}));
                assert_eq!(blocks[1]["cache_control"], json!({"type": "ephemeral"}));
            }
            Api::Gemini => assert_eq!(blocks[0], json!({"text": "You plan."})),
            Api::OpenAi | Api::Ollama => assert!(text(&blocks["content"]).starts_with("You plan."), "{blocks}"),
        }
        let today = format!("Today: {}", prospector_text::periods::today());
        let question = format!("{today}\nQuestion: Which customers spend most?");
        assert!(ran.last_user_text(1).ends_with(&question), "{}", ran.last_user_text(1));
        assert!(!system(first).to_string().contains(&today), "the day is not cached");
    }
}

#[tokio::test]
async fn an_unknown_name_is_returned_once_for_correction() {
    let script =
        || vec![Turn::calls([describe()]), Turn::text(plan(&["store.vips"])), Turn::text(plan(&["STORE.invoices"]))];
    for ran in check(script, Ended::Completed).await {
        let complaint: Value = serde_json::from_str(&ran.last_user_text(3)).unwrap();
        assert_eq!(complaint["error"], "plan_not_verified");
        assert_eq!(complaint["failed"][0]["message"], "unknown table `store.vips`");
        assert_eq!(complaint["failed"][0]["suggestion"], "did you mean `store.invoices`?");
        assert!(ran.outcome.plan.verification.ok);
        assert_eq!(ran.tables(), ["store.invoices"], "as the catalog spells it");
        let verified: Vec<&Event> = ran.events.iter().filter(|event| matches!(event, Event::Verified { .. })).collect();
        // The name is in the context and in the step.
        assert_eq!(verified, [&Event::Verified { ok: false, failed: 2 }, &Event::Verified { ok: true, failed: 0 }]);
    }
}

#[tokio::test]
async fn an_undiscovered_name_can_be_discovered() {
    let script = || vec![Turn::text(plan(&TABLES)), Turn::calls([describe()]), Turn::text(plan(&TABLES))];
    for ran in check(script, Ended::Completed).await {
        assert!(
            ran.last_user_text(2).contains("no discovery call of this run returned it"),
            "{}",
            ran.last_user_text(2)
        );
        assert!(ran.outcome.plan.verification.ok);
    }
}

#[tokio::test]
async fn a_repeated_mistake_is_reported_in_the_plan() {
    let wrong = || Turn::text(plan(&["store.vips", "store.invoices"]));
    let script = || vec![Turn::calls([describe()]), wrong(), wrong()];
    for ran in check(script, Ended::Completed).await {
        let verification = &ran.outcome.plan.verification;
        assert!(!verification.ok);
        assert!(verification.failed.iter().all(|failure| failure.message.contains("store.vips")), "{verification:?}");
        assert_eq!(ran.tables(), ["store.vips", "store.invoices"]);
    }
}

#[tokio::test]
async fn a_fenced_plan_is_parsed() {
    let fenced = || format!("Here {{it}} is:\n```json\n{}\n```\nAsk me more.", plan(&TABLES));
    let script = || vec![Turn::calls([describe()]), Turn::text(fenced())];
    for ran in check(script, Ended::Completed).await {
        assert!(ran.outcome.plan.verification.ok);
        assert_eq!(ran.outcome.plan.reasoning, "because");
    }
}

#[tokio::test]
async fn prose_is_returned_once_for_correction() {
    let prose = || Turn::text("I would look at the invoices.");
    for ran in check(|| vec![Turn::calls([describe()]), prose(), Turn::text(plan(&TABLES))], Ended::Completed).await {
        let complaint: Value = serde_json::from_str(&ran.last_user_text(3)).unwrap();
        assert_eq!(complaint["error"], "no_plan");
        assert!(ran.outcome.plan.verification.ok);
    }
    for ran in check(|| vec![Turn::calls([describe()]), prose(), prose()], Ended::NoPlan).await {
        assert!(ran.outcome.plan.plan.steps.is_empty() && !ran.outcome.plan.verification.ok);
        assert_eq!(ran.outcome.plan.discovered_context.tables, TABLES);
    }
}

#[tokio::test]
async fn a_truncated_plan_is_returned_for_a_shorter_one() {
    let cut = || {
        let whole = plan(&TABLES);
        let (before, _) = whole.split_once("\"clarifications\"").expect("it ends with them");
        Turn::text(before).cut()
    };
    let script = || vec![Turn::calls([describe()]), cut(), Turn::text(plan(&TABLES))];
    for ran in check(script, Ended::Completed).await {
        let complaint: Value = serde_json::from_str(&ran.last_user_text(3)).unwrap();
        assert!(complaint["message"].as_str().unwrap().contains("the JSON is malformed"), "{complaint}");
        assert!(complaint["suggestion"].as_str().unwrap().contains("make it shorter"), "{complaint}");
        assert_eq!(ran.outcome.plan.reasoning, "because");
    }
}

#[tokio::test]
async fn a_permanent_provider_failure_ends_the_run_with_findings() {
    let broken = || Turn::failure(500).retry_after(0);
    // One more request is sent with the findings, without tools.
    let script = || [vec![Turn::calls([describe()])], (0..6).map(|_| broken()).collect()].concat();
    for ran in check(script, Ended::ProviderFailed).await {
        assert!(matches!(ran.outcome.failure, Some(LlmError::Status { status: 500, .. })), "{:?}", ran.outcome.failure);
        assert_eq!(ran.outcome.plan.discovered_context.tables, TABLES);
        assert_eq!(ran.outcome.plan.metrics.model_calls, 3);
    }
}

#[tokio::test]
async fn a_run_continues_after_provider_recovery() {
    let script = || {
        vec![
            Turn::failure(429).retry_after(1),
            Turn::calls([describe()]),
            Turn::failure(429).retry_after(0),
            Turn::failure(529).retry_after(0),
            Turn::text(plan(&TABLES)),
        ]
    };
    for ran in check(script, Ended::Completed).await {
        assert!(ran.outcome.plan.verification.ok);
        assert_eq!(ran.outcome.plan.metrics.model_calls, 2, "an attempt is not a round");
    }
}

#[tokio::test]
async fn unusable_responses_end_the_run() {
    let bodies =
        [("text/html", "<html>Sign in</html>"), ("application/json", "{\"choices\": ["), ("text/event-stream", "")];
    for (content_type, body) in bodies {
        for ran in check(|| vec![Turn::raw(content_type, body)], Ended::ProviderFailed).await {
            assert!(matches!(ran.outcome.failure, Some(LlmError::Nonsense { .. })), "{:?}", ran.outcome.failure);
        }
    }
    for ran in check(|| vec![Turn::text("")], Ended::ProviderFailed).await {
        assert!(matches!(ran.outcome.failure, Some(LlmError::Nonsense { .. })), "{:?}", ran.outcome.failure);
    }
}

#[tokio::test]
async fn a_refused_connection_ends_the_run() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let settings = Settings {
        anthropic_api_key: Some(KEY.into()),
        anthropic_base_url: Some(address.clone()),
        openai_api_key: Some(KEY.into()),
        openai_base_url: Some(format!("{address}/v1")),
        gemini_api_key: Some(KEY.into()),
        gemini_base_url: Some(address.clone()),
        ollama_base_url: Some(address),
        retries: 0,
        ..Settings::default()
    };
    for name in MODELS {
        let model = connect(name, &settings).unwrap();
        let world = World::default();
        let (outcome, _) = go(model.as_ref(), &world, Limits::default(), &CancellationToken::new()).await;
        assert_eq!(outcome.plan.ended, Ended::ProviderFailed);
        let failure = outcome.failure.expect("a failure").to_string();
        assert!(failure.contains("cannot connect to") && !failure.contains(KEY), "{failure}");
    }
}

#[tokio::test]
async fn a_cancelled_run_closes_the_connection() {
    for name in MODELS {
        let fake = FakeProvider::start([Turn::calls([describe()]), Turn::silence()]).await;
        let model = connect(name, &fake.settings()).unwrap();
        let (world, cancel) = (World::default(), CancellationToken::new());
        let stop = async {
            until(|| fake.requests().len() == 2).await;
            cancel.cancel();
        };
        let ((outcome, _), ()) = futures::join!(go(model.as_ref(), &world, Limits::default(), &cancel), stop);
        assert_eq!(outcome.plan.ended, Ended::Cancelled);
        assert_eq!(outcome.plan.discovered_context.tables, TABLES);
        until(|| fake.abandoned() == 1).await;
        fake.assert_clean();
    }
}

/// Waits until the server has noticed it.
async fn until(noticed: impl Fn() -> bool) {
    let waiting = async {
        while !noticed() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.expect("the server notices");
}

#[tokio::test]
async fn text_is_streamed_and_the_conversation_is_cached() {
    let script = || {
        vec![
            Turn::answer("Let me look at every table that there is, one after the other.", [("describe", json!({}))]),
            Turn::text(plan(&TABLES)),
        ]
    };
    for ran in check(script, Ended::Completed).await {
        let streamed: String = ran
            .events
            .iter()
            .filter_map(|event| if let Event::Text { text } = event { Some(text.as_str()) } else { None })
            .collect();
        assert_eq!(
            streamed,
            format!("Let me look at every table that there is, one after the other.{}", plan(&TABLES))
        );
        let marks = |message: &Value| message.to_string().matches("cache_control").count();
        let marked: Vec<usize> = messages(&ran.requests[1]).iter().map(marks).collect();
        let expected = if ran.requests[1].api == Api::Anthropic { vec![0, 0, 1] } else { vec![0; marked.len()] };
        assert_eq!(marked, expected, "the results");
    }
}

//! Conversations over every API, against the fake that refuses what a strict provider would refuse.

use futures::StreamExt;
use prospector_core::tool::ToolSpec;
use prospector_llm::{
    ChatEvent, ChatRequest, ChatResponse, Message,
    message::{SystemBlock, ToolCall, ToolResult, Usage},
    providers::connect,
};
use prospector_test_support::provider::{Api, FakeProvider, KEY, Recorded, Turn};
use serde_json::{Value, json};

const CLAUDE: &str = "claude-sonnet-4-5";
const SERVER: &str = "openai/team::qwen-max";
const GEMINI: &str = "gemini-2.5-flash";
const OLLAMA: &str = "ollama/hf.co/team/qwen3:8b";
const WIRES: [&str; 4] = [CLAUDE, SERVER, GEMINI, OLLAMA];

fn tool(name: &str) -> ToolSpec {
    let input_schema = json!({"type": "object", "properties": {"query": {"type": "string"}}});
    ToolSpec { name: name.into(), description: format!("Does {name}."), input_schema }
}

/// A question with two tools, out of order, and a system prompt whose first block is cached.
fn question(text: &str) -> ChatRequest {
    ChatRequest {
        purpose: Default::default(),
        system: vec![
            SystemBlock { text: "You plan. ü".into(), cache: true },
            SystemBlock { text: "The map: chinook (11 tables)".into(), cache: false },
        ],
        messages: vec![Message::User { text: text.into() }],
        tools: vec![tool("search_tables"), tool("list_databases")],
        max_output_tokens: 1000,
    }
}

/// Appends a response and a result for each of its calls; the second call of a turn fails.
fn go_on(request: &mut ChatRequest, answer: ChatResponse) {
    let result = |(at, call): (usize, &ToolCall)| ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: if at == 1 { "no such table".into() } else { json!({"items": [at]}).to_string() },
        data: None,
        is_error: at == 1,
    };
    let results = answer.calls.iter().enumerate().map(result).collect();
    request.messages.push(Message::Assistant { text: answer.text, calls: answer.calls });
    request.messages.push(Message::ToolResults { results });
}

fn script() -> [Turn; 3] {
    [
        Turn::answer(
            "Let me look. 数据",
            [("list_databases", json!({})), ("search_tables", json!({"query": "übertrag"}))],
        ),
        Turn::calls([("search_tables", json!("{\"query\": broken")), ("list_databases", json!(""))]),
        Turn::text("Done.").usage(Usage { input_tokens: 900, output_tokens: 7, cached_tokens: 800 }),
    ]
}

/// Runs three rounds with parallel calls, one invalid, one without arguments; returns what the provider received.
async fn check(model: &str) -> Vec<Recorded> {
    let fake = FakeProvider::start(script()).await;
    let model = connect(model, &fake.settings()).expect("a model");
    let mut request = question("Which customers?");

    let first = model.complete(&request).await.expect("an answer");
    assert_eq!(first.text, "Let me look. 数据");
    let calls: Vec<(&str, Value)> =
        first.calls.iter().map(|call| (call.name.as_str(), call.arguments.clone())).collect();
    assert_eq!(calls, [("list_databases", json!({})), ("search_tables", json!({"query": "übertrag"}))]);
    assert_eq!(first.usage, Usage { input_tokens: 100, output_tokens: 20, cached_tokens: 0 });
    assert!(!first.cut);
    go_on(&mut request, first);

    let second = model.complete(&request).await.expect("an answer");
    assert_eq!(second.text, "");
    assert_eq!(second.calls[0].arguments, json!("{\"query\": broken"), "what is not JSON stays a string");
    assert_eq!(second.calls[1].arguments, json!({}));
    go_on(&mut request, second);

    let third = model.complete(&request).await.expect("an answer");
    assert_eq!((third.text.as_str(), third.calls.len()), ("Done.", 0));
    assert_eq!(third.usage, Usage { input_tokens: 900, output_tokens: 7, cached_tokens: 800 });
    fake.assert_clean();
    fake.requests()
}

fn header<'a>(request: &'a Recorded, name: &str) -> Option<&'a str> {
    request.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

#[tokio::test]
async fn three_rounds_with_anthropic() {
    let requests = check(CLAUDE).await;
    for request in &requests {
        assert_eq!(request.api, Api::Anthropic);
        assert_eq!(header(request, "x-api-key"), Some(KEY));
        assert_eq!(request.body["model"], CLAUDE);
        assert_eq!(request.body["max_tokens"], 1000);
        assert_eq!(
            request.body["system"],
            json!([
                {"type": "text", "text": "You plan. ü", "cache_control": {"type": "ephemeral"}},
                {"type": "text", "text": "The map: chinook (11 tables)"},
            ])
        );
        let names: Vec<&Value> = request.body["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["list_databases", "search_tables"]);
    }
    let results = requests[1].body["messages"][2]["content"].clone();
    assert_eq!(results[0]["content"], r#"{"items":[0]}"#);
    assert_eq!(results[1]["content"], r#"{"error":"no such table"}"#);
}

#[tokio::test]
async fn three_rounds_with_an_openai_compatible_server() {
    let requests = check(SERVER).await;
    for request in &requests {
        assert_eq!(request.api, Api::OpenAi);
        assert_eq!(header(request, "authorization"), Some(format!("Bearer {KEY}").as_str()));
        assert_eq!(request.body["model"], "team::qwen-max", "no part of the name is interpreted");
        assert_eq!(request.body["max_tokens"], 1000);
        assert!(request.body.get("reasoning_effort").is_none());
        let system = &request.body["messages"][0];
        assert_eq!(*system, json!({"role": "system", "content": "You plan. ü\n\nThe map: chinook (11 tables)"}));
        let tools = request.body["tools"].as_array().unwrap();
        let names: Vec<&Value> = tools.iter().map(|tool| &tool["function"]["name"]).collect();
        assert_eq!(names, ["list_databases", "search_tables"]);
    }
    assert_eq!(requests[1].body["messages"][4]["content"], r#"{"error":"no such table"}"#);
    let sent_back = &requests[2].body["messages"][5]["tool_calls"][0]["function"]["arguments"];
    assert_eq!(*sent_back, json!(r#"{"invalid_arguments":"{\"query\": broken"}"#));
}

#[tokio::test]
async fn a_local_server_needs_no_key() {
    let fake = FakeProvider::start_without_key([Turn::text("Hi")]).await;
    let model = connect("llama3.1:8b", &fake.settings()).unwrap();
    assert_eq!(model.complete(&question("Hello?")).await.unwrap().text, "Hi");
    fake.assert_clean();
}

#[tokio::test]
async fn three_rounds_with_gemini() {
    let requests = check(GEMINI).await;
    for request in &requests {
        assert_eq!(request.api, Api::Gemini);
        assert_eq!(request.path, "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
        assert_eq!(header(request, "x-goog-api-key"), Some(KEY));
        assert_eq!(request.body["generationConfig"], json!({"maxOutputTokens": 1000}));
        let system = json!({"parts": [{"text": "You plan. ü"}, {"text": "The map: chinook (11 tables)"}]});
        assert_eq!(request.body["systemInstruction"], system);
        let tools = request.body["tools"][0]["functionDeclarations"].as_array().unwrap();
        let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["list_databases", "search_tables"]);
    }
    let results = &requests[1].body["contents"][2]["parts"];
    let response = |at: usize| results[at]["functionResponse"].clone();
    assert_eq!(response(0), json!({"name": "list_databases", "response": {"output": "{\"items\":[0]}"}}));
    assert_eq!(response(1), json!({"name": "search_tables", "response": {"error": "no such table"}}));
    let sent_back = &requests[2].body["contents"][3]["parts"][0]["functionCall"];
    assert_eq!(sent_back["args"], json!({"invalid_arguments": "{\"query\": broken"}));
    assert!(sent_back.get("id").is_none(), "generated ids are not sent");
}

#[tokio::test]
async fn three_rounds_with_ollama() {
    let requests = check(OLLAMA).await;
    for request in &requests {
        assert_eq!(request.api, Api::Ollama);
        assert_eq!(request.body["model"], "hf.co/team/qwen3:8b");
        assert_eq!(request.body["options"], json!({"num_ctx": 8192, "num_predict": 1000}));
        assert_eq!((&request.body["truncate"], &request.body["shift"]), (&json!(false), &json!(false)));
        assert!(request.body.get("think").is_none());
        let system = &request.body["messages"][0];
        assert_eq!(*system, json!({"role": "system", "content": "You plan. ü\n\nThe map: chinook (11 tables)"}));
    }
    let messages = &requests[1].body["messages"];
    assert_eq!(
        (&messages[3]["tool_name"], &messages[3]["content"]),
        (&json!("list_databases"), &json!("{\"items\":[0]}"))
    );
    assert_eq!(messages[4]["content"], r#"{"error":"no such table"}"#);
    let sent_back = &requests[2].body["messages"][5]["tool_calls"][0]["function"]["arguments"];
    assert_eq!(*sent_back, json!({"invalid_arguments": "{\"query\": broken"}));
}

#[tokio::test]
async fn parallel_calls_over_several_rounds_are_answered_one_by_one() {
    for name in WIRES.into_iter().chain(["gemini-3-pro-preview", "ollama/llama3.1"]) {
        let search = |query: &str| ("search_tables", json!({"query": query}));
        let three = || Turn::calls([search("a"), search("b"), search("c")]);
        let fake = FakeProvider::start([three(), three(), Turn::text("Done.")]).await;
        let model = connect(name, &fake.settings()).unwrap();
        let mut request = question("q");
        let mut ids = Vec::new();
        for _ in 0..2 {
            let answer = model.complete(&request).await.unwrap();
            let asked: Vec<&Value> = answer.calls.iter().map(|call| &call.arguments["query"]).collect();
            assert_eq!(asked, ["a", "b", "c"], "{name}");
            ids.extend(answer.calls.iter().map(|call| call.id.clone()));
            go_on(&mut request, answer);
        }
        assert_eq!(model.complete(&request).await.unwrap().text, "Done.");
        fake.assert_clean();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 6, "{name}: every call of the conversation has its own id");
    }
}

#[tokio::test]
async fn gemini_receives_signatures_with_their_calls() {
    let search = |query: &str| ("search_tables", json!({"query": query}));
    let script = [
        Turn::calls([("list_databases", json!({}))]).thinking("First I list them.", "c2ln"),
        Turn::calls([search("x"), search("y")]).thinking("Both.", "c2lnMg=="),
        Turn::text("There are two.").thinking("Done.", "c2lnMw=="),
        Turn::text("Yes."),
    ];
    let fake = FakeProvider::start(script).await;
    let model = connect("gemini-3-pro-preview", &fake.settings()).unwrap();
    let mut request = question("q");
    for _ in 0..2 {
        let answer = model.complete(&request).await.unwrap();
        assert_eq!(answer.text, "", "thinking is not text");
        go_on(&mut request, answer);
    }
    let answer = model.complete(&request).await.unwrap();
    request.messages.push(Message::Assistant { text: answer.text, calls: answer.calls });
    request.messages.push(Message::User { text: "Sure?".into() });
    assert_eq!(model.complete(&request).await.unwrap().text, "Yes.");
    fake.assert_clean();
    let contents = fake.requests()[3].body["contents"].clone();
    let signature = |content: usize, part: usize| contents[content]["parts"][part]["thoughtSignature"].clone();
    assert_eq!(signature(1, 0), "c2ln");
    assert_eq!((signature(3, 0), signature(3, 1)), (json!("c2lnMg=="), Value::Null));
    assert_eq!(signature(5, 0), "c2lnMw==");
    assert_eq!(contents[3]["parts"][0]["functionCall"]["id"], "call_2_0", "ids of the provider are sent back");

    // Another process continues the conversation: it has no signatures, and uses the documented placeholder.
    let fake = FakeProvider::start([Turn::text("No.")]).await;
    let resumed = connect("gemini-3-pro-preview", &fake.settings()).unwrap();
    assert_eq!(resumed.complete(&request).await.unwrap().text, "No.");
    fake.assert_clean();
    let contents = fake.requests()[0].body["contents"].clone();
    assert_eq!(contents[1]["parts"][0]["thoughtSignature"], "skip_thought_signature_validator");
}

#[tokio::test]
async fn ollama_receives_its_thinking_back() {
    let fake = FakeProvider::start([
        Turn::calls([("list_databases", json!({}))]).thinking("First I list them. 数据", ""),
        Turn::text("Done."),
    ])
    .await;
    let model = connect(OLLAMA, &fake.settings()).unwrap();
    let mut request = question("q");
    let answer = model.complete(&request).await.unwrap();
    assert_eq!(answer.text, "", "thinking is not text");
    go_on(&mut request, answer);
    model.complete(&request).await.unwrap();
    fake.assert_clean();
    assert_eq!(fake.requests()[1].body["messages"][2]["thinking"], "First I list them. 数据");
}

#[tokio::test]
async fn ollama_loads_a_context_that_holds_the_prompt() {
    let refused = Turn::failure(400)
        .body(r#"{"error":"{\"error\":{\"code\":400,\"message\":\"request (9000 tokens) exceeds the available context size\"}}"}"#);
    let fake = FakeProvider::start([Turn::text("a"), Turn::text("b"), refused, Turn::text("c"), Turn::text("d")]).await;
    let model = connect("ollama/llama3.1", &fake.settings()).unwrap();
    for question_ in ["short", &"many words ".repeat(10_000), "short again", "and again"] {
        model.complete(&question(question_)).await.unwrap();
    }
    fake.assert_clean();
    let sizes: Vec<u64> =
        fake.requests().iter().map(|request| request.body["options"]["num_ctx"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [8_192, 32_768, 32_768, 65_536, 65_536], "it grows and never shrinks");
}

#[tokio::test]
async fn schemas_use_keywords_supported_by_every_provider() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "any": true,
            "size": {"$ref": "#/$defs/Size", "description": "How large."},
            "kind": {"oneOf": [{"const": "a", "description": "first"}, {"const": "b"}]},
            "limit": {"type": ["integer", "null"], "format": "uint", "default": 5},
        },
        "required": ["kind"],
        "additionalProperties": false,
        "$defs": {"Size": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "null"}]}},
    });
    for name in [GEMINI, OLLAMA] {
        let fake = FakeProvider::start([Turn::text("Hi")]).await;
        let mut request = question("q");
        request.tools[0].input_schema = schema.clone();
        connect(name, &fake.settings()).unwrap().complete(&request).await.unwrap();
        fake.assert_clean();
    }
}

#[tokio::test]
async fn openai_reasoning_models_get_their_parameters() {
    let fake = FakeProvider::start([Turn::text("a"), Turn::text("b"), Turn::text("c")]).await;
    let mut request = question("q");
    for name in ["o3-mini", "gpt-5.5"] {
        connect(name, &fake.settings()).unwrap().complete(&request).await.unwrap();
    }
    request.tools.clear();
    connect("gpt-5.5", &fake.settings()).unwrap().complete(&request).await.unwrap();
    let bodies: Vec<Value> = fake.requests().into_iter().map(|request| request.body).collect();
    assert!(bodies.iter().all(|body| body["max_completion_tokens"] == 1000 && body.get("max_tokens").is_none()));
    assert_eq!(bodies[0].get("reasoning_effort"), None);
    assert_eq!(bodies[1]["reasoning_effort"], "none", "tools are refused otherwise");
    assert_eq!(bodies[2].get("reasoning_effort"), None);
    assert!(bodies[2].get("tools").is_none());
    fake.assert_clean();
}

#[tokio::test]
async fn text_streams_in_order_before_the_complete_response() {
    for name in WIRES {
        let text = "A longer answer in several pieces, mit Umläuten und 数据.";
        let fake = FakeProvider::start([Turn::text(text)]).await;
        let model = connect(name, &fake.settings()).unwrap();
        assert_eq!(model.name(), name);
        let events: Vec<ChatEvent> =
            model.stream(&question("q")).await.unwrap().map(|event| event.unwrap()).collect().await;
        let mut streamed = String::new();
        for event in &events[..events.len() - 1] {
            let ChatEvent::Text(piece) = event else { panic!("{event:?}") };
            streamed.push_str(piece);
        }
        assert!(events.len() > 3, "{events:?}");
        assert_eq!(streamed, text);
        assert!(matches!(events.last(), Some(ChatEvent::Done(done)) if done.text == text));
        assert_eq!(fake.abandoned(), 0);
    }
}

#[tokio::test]
async fn responses_at_the_limit_are_marked_as_truncated() {
    for name in WIRES {
        let script = [Turn::calls([("search_tables", json!("{\"query\": \"al"))]).cut()];
        let fake = FakeProvider::start(script).await;
        let answer = connect(name, &fake.settings()).unwrap().complete(&question("q")).await.unwrap();
        assert!(answer.cut);
        assert_eq!(answer.calls[0].arguments, json!("{\"query\": \"al"));
    }
}

#[tokio::test]
async fn thinking_is_sent_back_unchanged() {
    let fake = FakeProvider::start([
        Turn::calls([("list_databases", json!({}))]).thinking("First I list them.", "c2ln"),
        Turn::calls([("search_tables", json!({"query": "x"}))]).thinking("", "c2lnMg=="),
        Turn::text("Done."),
    ])
    .await;
    let model = connect("claude-opus-5-5", &fake.settings()).unwrap();
    let mut request = question("q");
    for _ in 0..2 {
        let answer = model.complete(&request).await.unwrap();
        assert_eq!(answer.text, "", "thinking is not text");
        go_on(&mut request, answer);
    }
    model.complete(&request).await.unwrap();
    fake.assert_clean();
    let messages = fake.requests()[2].body["messages"].clone();
    assert_eq!(
        messages[1]["content"][0],
        json!({"type": "thinking", "thinking": "First I list them.", "signature": "c2ln"})
    );
    assert_eq!(messages[3]["content"][0], json!({"type": "thinking", "thinking": "", "signature": "c2lnMg=="}));
}

#[tokio::test]
async fn the_fake_refuses_invalid_requests() {
    for name in WIRES {
        let fake = FakeProvider::start([Turn::calls([("list_databases", json!({}))])]).await;
        let model = connect(name, &fake.settings()).unwrap();
        let mut request = question("q");
        let answer = model.complete(&request).await.unwrap();
        request.messages.push(Message::Assistant { text: answer.text, calls: answer.calls });
        request.messages.push(Message::User { text: "and the result?".into() });
        let error = model.complete(&request).await.unwrap_err().to_string();
        assert!(error.contains("400") && error.contains("are answered by"), "{error}");
        assert!(!fake.violations().is_empty());
    }
}

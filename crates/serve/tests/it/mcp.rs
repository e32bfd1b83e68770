//! MCP as the official client sees it, over a pipe, and as raw HTTP.

use std::{sync::Arc, sync::Mutex, time::Duration};

use prospector_agent::Models;
use prospector_discovery::Profile;
use prospector_serve::Options;
use rmcp::{
    ClientHandler, RoleClient, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResult, ClientRequest, GetPromptRequestParams, GetSkillRequestParams,
        PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams, Request, ResourceContents,
        SkillResources,
    },
    service::{NotificationContext, PeerRequestOptions, RunningService},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::support::{self, QUESTION, Running, TIMEOUT, estate, waiting};

/// A client that records progress notifications.
#[derive(Clone, Default)]
struct Client(Arc<Mutex<Vec<ProgressNotificationParam>>>);

impl ClientHandler for Client {
    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.0.lock().unwrap().push(progress);
    }
}

struct Session {
    client: RunningService<RoleClient, Client>,
    stop: CancellationToken,
    ended: JoinHandle<()>,
    _folder: TempDir,
}

impl Session {
    async fn new(profile: Profile, models: Models) -> Self {
        let folder = estate();
        let server = support::server(&folder, profile, models, Options::default()).await;
        let (here, there) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(there);
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let ended = tokio::spawn(async move { server.pipe(input, output, stopped).await.unwrap() });
        let client = Client::default().serve(here).await.unwrap();
        Session { client, stop, ended, _folder: folder }
    }

    async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        let Value::Object(arguments) = arguments else { panic!("no object") };
        self.client.call_tool(CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)).await.unwrap()
    }
}

fn text(result: &CallToolResult) -> &str {
    result.content[0].as_text().map(|text| text.text.as_str()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_have_complete_descriptions() {
    for profile in Profile::ALL {
        let session = Session::new(profile, support::offline()).await;
        let tools = session.client.list_all_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        let again = session.client.list_all_tools().await.unwrap();
        assert_eq!(tools, again, "one order");
        assert!(names.contains(&"plan") && names.contains(&"fetch") && names.contains(&"search"), "{names:?}");
        for tool in &tools {
            let said = tool.annotations.as_ref().unwrap();
            let writes = ["add_fact", "extract_facts_from_text"].contains(&tool.name.as_ref());
            assert_eq!(said.read_only_hint, Some(!writes), "{}", tool.name);
            assert_eq!((said.destructive_hint, said.idempotent_hint), (Some(writes), Some(true)), "{}", tool.name);
            assert_eq!(said.open_world_hint, Some(false), "{}", tool.name);
            assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
            assert_eq!(tool.output_schema, None, "{}", tool.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_have_text_and_structured_content() {
    let session = Session::new(Profile::Compact, support::offline()).await;
    let found = session.call("search", json!({"query": "orders"})).await;
    assert_eq!(found.is_error, Some(false));
    let fields = found.structured_content.as_ref().unwrap();
    assert_eq!(fields["items"][0]["id"], "orders.orders", "{fields}");
    assert!(text(&found).starts_with("<data>") && text(&found).ends_with("</data>"), "{}", text(&found));

    let wrong = session.call("describe", json!({"ids": ["orders.oders"]})).await;
    assert_eq!(wrong.is_error, Some(true));
    let fields = wrong.structured_content.as_ref().unwrap();
    assert_eq!(fields["error"], "not_found", "{fields}");
    assert!(fields["suggestion"].as_str().unwrap().contains("orders"), "{fields}");

    let unknown = session.client.call_tool(CallToolRequestParams::new("serach")).await.unwrap_err();
    assert!(unknown.to_string().contains("did you mean search?"), "{unknown}");

    let cut = session.call("describe", json!({"ids": ["rules#Long"], "max_tokens": 200})).await;
    let handle = cut.structured_content.as_ref().unwrap()["handle"].as_str().unwrap().to_owned();
    assert!(text(&cut).ends_with(&format!("fetch with handle {handle}")), "{}", text(&cut));
    let page = session.call("fetch", json!({"handle": handle, "page": 2})).await;
    assert_eq!(page.structured_content.as_ref().unwrap()["page"], 2);
    for (handle, code) in [("result_0123456789abcdef0123456789abcdef", "expired"), ("x", "not_found")] {
        let gone = session.call("fetch", json!({"handle": handle})).await;
        assert_eq!((gone.is_error, &gone.structured_content.unwrap()["error"]), (Some(true), &json!(code)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_report_progress_and_can_be_fetched_again() {
    let session = Session::new(Profile::Compact, support::offline()).await;
    let planned = session.call("plan", json!({"question": QUESTION})).await;
    assert_eq!(planned.is_error, Some(false), "{planned:?}");
    let plan = planned.structured_content.unwrap();
    assert_eq!(plan["verification"]["ok"], true);
    let again = session.call("fetch", json!({"handle": plan["handle"]})).await;
    assert_eq!(again.structured_content.as_ref(), Some(&plan));
    let notified = session.client.service().0.lock().unwrap().clone();
    // The client handles notifications concurrently, in any order, but each step is reported once.
    let mut numbers: Vec<f64> = notified.iter().map(|progress| progress.progress).collect();
    numbers.sort_by(f64::total_cmp);
    assert!(numbers.len() > 3 && numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    assert!(notified.iter().any(|progress| progress.message.as_deref().is_some_and(|text| text.starts_with("search"))));

    let wrong = session.call("plan", json!({"query": QUESTION})).await;
    assert_eq!(
        (wrong.is_error, &wrong.structured_content.unwrap()["error"]),
        (Some(true), &json!("invalid_arguments"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_are_cancelled_by_request_and_disconnect() {
    let session = Session::new(Profile::Compact, waiting()).await;
    let begin = async || {
        let Value::Object(arguments) = json!({"question": QUESTION}) else { panic!("no object") };
        let params = CallToolRequestParams::new("plan").with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(Request::new(params));
        session.client.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap()
    };
    let request = begin().await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    request.cancel(Some("enough".into())).await.unwrap();
    let _waiting = begin().await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    // The end of the input stops the server, even during a plan.
    session.client.cancel().await.unwrap();
    tokio::time::timeout(TIMEOUT, session.ended).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn stops_on_request() {
    let session = Session::new(Profile::Compact, support::offline()).await;
    session.stop.cancel();
    tokio::time::timeout(TIMEOUT, session.ended).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_catalog_entry_is_a_resource() {
    let session = Session::new(Profile::Compact, support::offline()).await;
    let resources = session.client.list_all_resources().await.unwrap();
    let uris: Vec<&str> = resources.iter().map(|resource| resource.uri.as_str()).collect();
    let expected = [
        "prospector://database/orders",
        "prospector://table/orders.orders",
        "prospector://document/rules",
        "prospector://skill/report",
        "prospector://fact/big%20order",
    ];
    assert_eq!(uris, expected);
    let read = async |uri: &str| session.client.read_resource(ReadResourceRequestParams::new(uri)).await;
    for (uri, holds) in expected.iter().zip(["orders", "country", "# Rules", "Sum, then write.", "more than 10"]) {
        let found = read(uri).await.unwrap();
        let ResourceContents::TextResourceContents { text, .. } = &found.contents[0] else { panic!("no text") };
        assert!(text.contains(holds), "{uri}: {text}");
    }
    for uri in ["prospector://table/orders.oders", "prospector://chair/x", "file:///etc/passwd", "prospector://plan/x"]
    {
        assert!(read(uri).await.is_err(), "{uri}");
    }
    let plan = session.call("plan", json!({"question": QUESTION})).await.structured_content.unwrap();
    let handle = plan["handle"].as_str().unwrap();
    let found = read(&format!("prospector://plan/{handle}")).await.unwrap();
    let ResourceContents::TextResourceContents { text, .. } = &found.contents[0] else { panic!("no text") };
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), plan);
    let templates = session.client.list_all_resource_templates().await.unwrap();
    assert_eq!(templates.len(), 12);
    let wrong = PaginatedRequestParams::default().with_cursor(Some("zzz".into()));
    assert!(session.client.list_resources(Some(wrong)).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn skills_are_listed_with_digests_of_their_files() {
    let session = Session::new(Profile::Compact, support::offline()).await;
    let skills = session.client.list_skills(None).await.unwrap().skills;
    let [skill] = &skills[..] else { panic!("{skills:?}") };
    assert_eq!((skill.uri.as_str(), skill.name()), ("skill://report/SKILL.md", "report"));
    assert_eq!(skill.frontmatter.description, "Writes a report of orders.");
    let got = session.client.get_skill(GetSkillRequestParams::new(skill.uri.clone())).await.unwrap();
    assert_eq!(got.skill, *skill);
    let SkillResources::Files(files) = &skill.resources else { panic!("{skill:?}") };
    assert_eq!(files.len(), 1);
    for file in files {
        let found = session.client.read_resource(ReadResourceRequestParams::new(file.uri.clone())).await.unwrap();
        let ResourceContents::TextResourceContents { text, .. } = &found.contents[0] else { panic!("no text") };
        file.verify(text.as_bytes()).unwrap();
    }
    for uri in ["skill://reports/SKILL.md", "skill://report/../../rules.md", "skill://report/%2e%2e/%2e%2e/rules.md"] {
        assert!(session.client.read_resource(ReadResourceRequestParams::new(uri)).await.is_err(), "{uri}");
        assert!(session.client.get_skill(GetSkillRequestParams::new(uri)).await.is_err(), "{uri}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prompt_has_instructions_and_catalog_map() {
    let session = Session::new(Profile::Compact, support::offline()).await;
    let prompts = session.client.list_all_prompts().await.unwrap();
    assert_eq!(prompts.iter().map(|prompt| prompt.name.as_str()).collect::<Vec<_>>(), ["plan"]);
    let Value::Object(arguments) = json!({"question": QUESTION}) else { panic!("no object") };
    let prompt =
        session.client.get_prompt(GetPromptRequestParams::new("plan").with_arguments(arguments)).await.unwrap();
    let said = serde_json::to_string(&prompt.messages).unwrap();
    assert!(said.contains("rules") && said.contains("report") && said.contains(QUESTION), "{said}");
    assert!(session.client.get_prompt(GetPromptRequestParams::new("plan")).await.is_err());
    let info = session.client.peer_info().unwrap();
    let instructions = serde_json::to_string(&info.instructions).unwrap();
    assert!(instructions.contains("rules") && instructions.contains("report"), "{instructions}");
}

#[tokio::test(flavor = "multi_thread")]
async fn http_sessions_are_required_for_old_clients_only() {
    let server = Running::usual().await;
    let both = ("accept", "application/json, text/event-stream");
    let json_body = ("content-type", "application/json");
    let ask = async |headers: &[(&str, &str)], body: Value| {
        let mut all = vec![both, json_body];
        all.extend(headers);
        server.request("POST", "/mcp", &all, &body.to_string()).await
    };
    let result = |said: &support::Said| -> Value {
        let lines = said.body.lines().filter_map(|line| line.strip_prefix("data: "));
        let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let last = messages.rfind(|message| message.get("result").is_some());
        last.unwrap_or_else(|| serde_json::from_str(&said.body).unwrap_or_else(|_| panic!("{said:?}")))["result"]
            .clone()
    };

    let version = "2025-06-18";
    // The stream of an initialize request ends by itself.
    let opened = ask(
        &[],
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}),
    )
    .await;
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    assert_eq!(result(&opened)["protocolVersion"], version);
    let own = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", version)];
    assert_eq!(ask(&own, json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await.status, 202);
    let call = |id: u32| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                                "params": {"name": "search", "arguments": {"query": "orders"}}})
    };
    assert_eq!(result(&ask(&own, call(2)).await)["structuredContent"]["items"][0]["id"], "orders.orders");
    assert!((200..300).contains(&server.request("DELETE", "/mcp", &own, "").await.status));
    assert_eq!(ask(&own, call(3)).await.status, 404, "the session has ended");

    let version = "2026-07-28";
    let mut call = call(4);
    call["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    let headers = [("mcp-protocol-version", version), ("mcp-method", "tools/call"), ("mcp-name", "search")];
    let said = ask(&headers, call).await;
    assert_eq!(result(&said)["structuredContent"]["items"][0]["id"], "orders.orders", "{said:?}");
}

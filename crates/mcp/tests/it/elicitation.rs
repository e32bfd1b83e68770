//! What a server asks and shows during a call reaches the client of that call.

use std::sync::{Arc, Mutex};

use prospector_core::{
    record::ResourceKind,
    tool::{
        BoxFuture,
        client::{Client, Progress, with_client},
    },
};
use serde_json::{Value, json};

use super::{
    Scripted,
    behaviours::{calls, done, result},
};

/// A client that records what reaches it, and accepts every request with this content.
#[derive(Debug, Default)]
struct Recorder {
    requests: Mutex<Vec<Value>>,
    reports: Mutex<Vec<Progress>>,
    attached: Mutex<Vec<Value>>,
}

impl Client for Recorder {
    fn elicit(&self, request: Value) -> BoxFuture<'_, Option<Value>> {
        self.requests.lock().unwrap().push(request);
        Box::pin(async { Some(json!({"action": "accept", "content": {"city": "Oslo"}})) })
    }

    fn report(&self, progress: Progress) -> BoxFuture<'_, ()> {
        self.reports.lock().unwrap().push(progress);
        Box::pin(async {})
    }

    fn attach(&self, content: Value) {
        self.attached.lock().unwrap().push(content);
    }

    fn link(&self, _: ResourceKind, _: &str) {}
}

fn ask(params: &Value) -> Value {
    json!({"ask": format!(r#"{{"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": {params}}}"#)})
}

fn form(message: &str) -> Value {
    json!({"message": message, "requestedSchema": {"type": "object", "properties": {"city": {"type": "string"}}}})
}

/// The answer of the client to the last request, as the text of the result.
fn answered() -> Value {
    json!(result(r#"{"content": [{"type": "text", "text": "$ANSWER"}]}"#))
}

/// Calls the tool with a recorder, and returns its result and the recorder.
async fn call(steps: Value) -> (String, Arc<Recorder>) {
    let scripted = Scripted::new(calls(steps));
    scripted.server.refresh().await.unwrap();
    let recorder = Arc::new(Recorder::default());
    let result = with_client(recorder.clone(), scripted.call("t", json!({}))).await;
    (result.map_or_else(|error| error.to_string(), |value| value.to_string()), recorder)
}

#[tokio::test]
async fn a_request_for_input_reaches_the_client_of_the_call() {
    let (result, recorder) = call(json!([ask(&form("Which city?\u{202e}</data>")), answered()])).await;
    assert!(result.contains("accept") && result.contains("Oslo"), "{result}");
    let requests = recorder.requests.lock().unwrap().clone();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0]["message"], "The MCP server `scripted`: Which city?\u{2039}/data>");
    assert_eq!(requests[0]["requestedSchema"]["properties"]["city"]["type"], "string");
}

#[tokio::test]
async fn an_address_is_shown_only_if_it_is_https() {
    for (url, is_shown) in [
        ("https://issues.example/authorize?state=1", true),
        ("http://issues.example/authorize", false),
        ("javascript:alert(1)", false),
        ("https://issues.example/\u{202e}moc", false),
    ] {
        let params = json!({"mode": "url", "message": "Sign in", "url": url, "elicitationId": "e"});
        let (result, recorder) = call(json!([ask(&params), answered()])).await;
        let requests = recorder.requests.lock().unwrap().clone();
        assert_eq!(requests.len(), usize::from(is_shown), "{url}: {result}");
        assert_eq!(result.contains("accept"), is_shown, "{url}: {result}");
    }
}

#[tokio::test]
async fn requests_are_limited_in_size_and_number() {
    let (result, recorder) = call(json!([ask(&form(&"x".repeat(70_000))), answered()])).await;
    assert!(result.contains("decline") && recorder.requests.lock().unwrap().is_empty(), "{result}");
    let mut steps = vec![ask(&form("Again?")); 8];
    steps.push(answered());
    let (result, recorder) = call(Value::Array(steps)).await;
    assert!(result.contains("decline"), "{result}");
    assert_eq!(recorder.requests.lock().unwrap().len(), 5);
}

#[tokio::test]
async fn without_a_client_a_request_is_declined() {
    let scripted = Scripted::new(calls(json!([ask(&form("Which city?")), answered()])));
    scripted.server.refresh().await.unwrap();
    let result = scripted.call("t", json!({})).await.unwrap().to_string();
    assert!(result.contains("decline"), "{result}");
}

#[tokio::test]
async fn progress_and_images_reach_the_client() {
    let report = |done: u32| {
        json!(format!(
            r#"{{"jsonrpc": "2.0", "method": "notifications/progress", "params": {{"progressToken": 1, "progress": {done}, "total": 2, "message": "part {done}"}}}}"#
        ))
    };
    let image = r#"{"content": [{"type": "text", "text": "a map"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]}"#;
    // The request for input is answered after the reports before it.
    let (answer, recorder) = call(json!([report(1), report(2), ask(&form("Done?")), result(image)])).await;
    assert!(answer.contains("a map") && answer.contains("\"bytes\":3"), "{answer}");
    let attached = recorder.attached.lock().unwrap().clone();
    assert_eq!(attached, [json!({"type": "image", "data": "AAAA", "mimeType": "image/png"})]);
    let mut reports = recorder.reports.lock().unwrap().clone();
    reports.sort_by(|one, other| one.done.total_cmp(&other.done));
    let expected = |done: f64| Progress { done, total: Some(2.0), message: Some(format!("part {done}")) };
    assert_eq!(reports, [expected(1.0), expected(2.0)]);
}

#[tokio::test]
async fn a_flood_of_progress_is_cut() {
    let line =
        r#"{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}"#;
    let (_, recorder) = call(json!([{"line": line, "times": 3_000}, ask(&form("Done?")), done()])).await;
    assert!(recorder.reports.lock().unwrap().len() <= 1_000);
}

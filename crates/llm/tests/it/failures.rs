//! Failures of providers, and how they are handled.

use std::{
    io,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use futures::StreamExt;
use prospector_llm::{
    ChatEvent, ChatRequest, LlmError, Message,
    providers::{Settings, connect},
};
use prospector_test_support::provider::{FakeProvider, KEY, Turn};
use serde_json::json;
use tokio::net::TcpListener;

/// One model per API.
const MODELS: [&str; 4] = ["claude-sonnet-4-5", "openai/some-model", "gemini-2.5-pro", "ollama/qwen3"];

fn question() -> ChatRequest {
    ChatRequest {
        purpose: Default::default(),
        system: vec![],
        messages: vec![Message::User { text: "q".into() }],
        tools: vec![],
        max_output_tokens: 100,
    }
}

/// Sends a request to each API; the outcome is the text or the error, with the number of requests.
async fn check(script: impl Fn() -> Vec<Turn>, expected: &str, requests: usize) {
    for name in MODELS {
        let fake = FakeProvider::start(script()).await;
        let model = connect(name, &fake.settings()).unwrap();
        let outcome = match model.complete(&question()).await {
            Ok(answer) => answer.text,
            Err(error) => error.to_string(),
        };
        assert!(outcome.contains(expected), "{name}: {outcome}");
        assert!(!outcome.contains(KEY), "{name}: {outcome}");
        assert_eq!(fake.requests().len(), requests, "{name}: {outcome}");
        fake.assert_clean();
    }
}

/// A refusal that may be retried at once.
fn passing(status: u16) -> Turn {
    Turn::failure(status).retry_after(0)
}

#[tokio::test]
async fn transient_failures_are_retried() {
    for status in [429, 500, 502, 503, 529] {
        check(|| vec![passing(status), Turn::text("fine")], "fine", 2).await;
    }
}

#[tokio::test]
async fn retry_after_is_respected() {
    let fake = FakeProvider::start([Turn::failure(429).retry_after(1.1), Turn::text("fine")]).await;
    let started = Instant::now();
    connect(MODELS[0], &fake.settings()).unwrap().complete(&question()).await.unwrap();
    // Without the header the pause is at most one second.
    assert!(started.elapsed() >= Duration::from_millis(1100), "{:?}", started.elapsed());
}

#[tokio::test]
async fn permanent_failures_are_reported_after_three_attempts() {
    check(
        || vec![passing(500), passing(500), passing(500)],
        "the provider responded with status 500: scripted failure",
        3,
    )
    .await;
}

#[tokio::test]
async fn other_refusals_are_final_and_hide_the_key() {
    let echo = || {
        let message = format!("Incorrect API key provided: {KEY}. {}", "x".repeat(1000));
        vec![Turn::failure(401).body(json!({"error": {"message": message}}).to_string())]
    };
    check(echo, "401: Incorrect API key provided: [hidden]. xxx", 1).await;
    check(|| vec![Turn::failure(404).retry_after(0)], "404", 1).await;
    check(|| vec![Turn::failure(307)], "307", 1).await;
}

#[tokio::test]
async fn logs_contain_no_key() {
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    for name in MODELS {
        let refusal = || passing(500).body(format!("the key {KEY} is odd"));
        let fake = FakeProvider::start([refusal(), refusal(), refusal()]).await;
        connect(name, &fake.settings()).unwrap().complete(&question()).await.unwrap_err();
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(log.matches("retrying: ").count(), 2 * MODELS.len(), "{log}");
    assert!(!log.contains(KEY), "{log}");
}

#[tokio::test]
async fn long_refusals_are_shortened() {
    let fake = FakeProvider::start([Turn::failure(400).body("long ".repeat(10_000))]).await;
    let error = connect(MODELS[1], &fake.settings()).unwrap().complete(&question()).await.unwrap_err();
    let LlmError::Status { status: 400, message, .. } = error else { panic!("{error}") };
    assert_eq!(message.chars().count(), 301);
}

#[tokio::test]
async fn rejects_responses_outside_the_protocol() {
    let raw = |content_type: &'static str, body: &'static str| move || vec![Turn::raw(content_type, body)];
    check(raw("text/html", "<html><p>Sign in</p></html>"), "the response contains no event of the protocol", 1).await;
    check(raw("application/json", "{\"choices\": ["), "the response contains no event of the protocol", 1).await;
    check(raw("text/event-stream", ""), "the response contains no event of the protocol", 1).await;
    let broken = "event: content_block_start\ndata: {\"oh\n\n";
    check(raw("text/event-stream", broken), "the response contains invalid JSON", 1).await;
    check(|| vec![Turn::text("")], "returned an unusable response: the response is empty", 1).await;
    check(|| vec![Turn::text(" \n")], "returned an unusable response: the response is empty", 1).await;
    check(|| vec![Turn::text("").cut()], "the limit of output tokens before any text", 1).await;
}

/// What each API sends in the middle of a stream when the model is overloaded, and the corresponding status.
fn errors_in_the_stream() -> [(&'static str, String, Option<u16>); 4] {
    let named = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let google = json!({"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}});
    let ollama = json!({"error": "Overloaded"});
    [
        (MODELS[0], format!("event: error\ndata: {named}\n\n"), Some(529)),
        (MODELS[1], format!("data: {named}\n\n"), Some(529)),
        (MODELS[2], format!("data: {google}\r\n\r\n"), Some(503)),
        (MODELS[3], format!("{ollama}\n"), None),
    ]
}

/// A first piece of text in the format of each API.
fn first_piece(name: &str) -> &'static str {
    match MODELS.iter().position(|model| *model == name) {
        Some(0) => "event: content_block_delta\ndata: {\"delta\": {\"text\": \"Hi\"}}\n\n",
        Some(1) => "data: {\"choices\": [{\"delta\": {\"content\": \"Hi\"}}]}\n\n",
        Some(2) => "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"Hi\"}]}}]}\r\n\r\n",
        _ => "{\"message\": {\"role\": \"assistant\", \"content\": \"Hi\"}, \"done\": false}\n",
    }
}

#[tokio::test]
async fn an_error_event_is_reported_with_its_status() {
    for (name, event, status) in errors_in_the_stream() {
        // No header requests a retry, so nothing is retried.
        for body in [event.clone(), format!("{}{event}", first_piece(name))] {
            let fake = FakeProvider::start([Turn::raw("text/event-stream", body)]).await;
            let settings = Settings { retries: 0, ..fake.settings() };
            let error = connect(name, &settings).unwrap().complete(&question()).await.unwrap_err();
            let found = match &error {
                LlmError::Status { status, .. } => Some(*status),
                _ => None,
            };
            assert_eq!(found, status, "{error}");
            assert!(error.to_string().ends_with("Overloaded"), "{error}");
        }
    }
}

#[tokio::test]
async fn google_retry_info_is_respected() {
    let kind = "type.googleapis.com/google.rpc.RetryInfo";
    let details = json!([{"@type": kind, "retryDelay": "1.1s"}]);
    let quota = json!({"error": {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED", "details": details}});
    let in_the_stream = Turn::raw("text/event-stream", format!("data: {quota}\n\n"));
    for refused in [Turn::failure(429).body(quota.to_string()), in_the_stream] {
        let fake = FakeProvider::start([refused, Turn::text("fine")]).await;
        let started = Instant::now();
        connect(MODELS[2], &fake.settings()).unwrap().complete(&question()).await.unwrap();
        assert!(started.elapsed() >= Duration::from_millis(1100), "{:?}", started.elapsed());
    }
}

#[tokio::test]
async fn blocked_gemini_responses_report_the_reason() {
    let ends = |end: serde_json::Value, expected: &'static str, requests: usize| async move {
        let turn = || Turn::raw("text/event-stream", format!("data: {end}\n\n"));
        let fake = FakeProvider::start((0..requests).map(|_| turn())).await;
        let settings = Settings { retries: 1, ..fake.settings() };
        let error = connect(MODELS[2], &settings).unwrap().complete(&question()).await.unwrap_err().to_string();
        assert!(error.ends_with(expected), "{error}");
        fake.assert_clean();
    };
    let stopped = |reason: &str| json!({"candidates": [{"content": {}, "finishReason": reason}]});
    ends(json!({"promptFeedback": {"blockReason": "SAFETY"}}), "the provider blocked the prompt (SAFETY)", 1).await;
    ends(stopped("SAFETY"), "the provider stopped the response (SAFETY)", 1).await;
    ends(stopped("RECITATION"), "the provider stopped the response (RECITATION)", 1).await;
    ends(stopped("MALFORMED_FUNCTION_CALL"), "the provider stopped the response (MALFORMED_FUNCTION_CALL)", 2).await;
}

#[tokio::test]
async fn missing_ollama_models_are_reported() {
    let missing = Turn::failure(404).body(r#"{"error":"model 'qwen3' not found"}"#);
    let fake = FakeProvider::start([missing]).await;
    let error = connect(MODELS[3], &fake.settings()).unwrap().complete(&question()).await.unwrap_err().to_string();
    let expected = "404: model 'qwen3' not found (download it with `ollama pull qwen3`)";
    assert_eq!(error, format!("model `ollama/qwen3`: the provider responded with status {expected}"));
}

#[tokio::test]
async fn broken_streams_fail_after_the_received_text() {
    for name in MODELS {
        let fake = FakeProvider::start([Turn::text("A text of some length. ".repeat(20)).broken_at(70)]).await;
        let model = connect(name, &fake.settings()).unwrap();
        let mut events = model.stream(&question()).await.unwrap();
        let mut pieces = 0;
        let error = loop {
            match events.next().await.expect("an error before the end") {
                Ok(ChatEvent::Text(_)) => pieces += 1,
                Ok(done) => panic!("{done:?}"),
                Err(error) => break error,
            }
        };
        assert!(pieces > 1);
        assert!(
            matches!(&error, LlmError::Nonsense { reason, .. } if reason.contains("the connection broke")),
            "{error}"
        );
        assert!(events.next().await.is_none());
        assert_eq!(fake.requests().len(), 1, "a partly delivered response is not retried");
    }
}

#[tokio::test]
async fn streams_broken_before_the_first_piece_are_retried() {
    let script = || {
        let call = ("search", json!({"query": "a long question about many things"}));
        vec![Turn::calls([call]).broken_at(80), Turn::text("fine")]
    };
    check(script, "fine", 2).await;
}

#[tokio::test]
async fn streams_without_an_end_are_rejected() {
    for name in MODELS {
        let fake = FakeProvider::start([Turn::raw("text/event-stream", first_piece(name))]).await;
        let error = connect(name, &fake.settings()).unwrap().complete(&question()).await.unwrap_err();
        assert!(matches!(&error, LlmError::Nonsense { reason, .. } if reason == "the response ended early"), "{error}");
    }
}

#[tokio::test]
async fn oversized_pieces_are_rejected() {
    for (name, begin) in [(MODELS[2], "data: {\"text\": \""), (MODELS[3], "{\"text\": \"")] {
        let body = format!("{}{begin}{}", first_piece(name), "x".repeat(9 << 20));
        let fake = FakeProvider::start([Turn::raw("text/event-stream", body)]).await;
        let error = connect(name, &fake.settings()).unwrap().complete(&question()).await.unwrap_err().to_string();
        assert!(error.ends_with("the response exceeds the size limit"), "{error}");
    }
}

#[tokio::test]
async fn invalid_json_in_a_stream_is_rejected() {
    for name in MODELS {
        let body = format!("{}event: content_block_delta\ndata: {{oops\n\n", first_piece(name));
        let fake = FakeProvider::start([Turn::raw("text/event-stream", body)]).await;
        let error = connect(name, &fake.settings()).unwrap().complete(&question()).await.unwrap_err().to_string();
        assert!(error.contains("the response contains invalid JSON"), "{error}");
    }
}

#[tokio::test]
async fn refused_connections_report_the_address() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let settings = Settings {
        openai_api_key: Some(KEY.into()),
        openai_base_url: Some(format!("{address}/v1?secret=1")),
        retries: 1,
        ..Settings::default()
    };
    let settings = Settings {
        gemini_api_key: Some(KEY.into()),
        gemini_base_url: Some(format!("{address}/v1beta?secret=1")),
        ollama_base_url: Some(format!("{address}?secret=1")),
        ..settings
    };
    for name in &MODELS[1..] {
        let error = connect(name, &settings).unwrap().complete(&question()).await.unwrap_err();
        let LlmError::Transport { reason, .. } = error else { panic!("{error}") };
        assert!(reason.starts_with(&format!("cannot connect to {address}")), "{reason}");
        assert!(reason.contains("refused") && !reason.contains("secret"), "{reason}");
    }
}

#[tokio::test]
async fn silent_providers_time_out() {
    for name in MODELS {
        for turn in [Turn::silence(), Turn::text("A text of some length. ".repeat(20)).stalled_at(60)] {
            let fake = FakeProvider::start([turn]).await;
            let settings = Settings { timeout: Duration::from_millis(50), ..fake.settings() };
            let error = connect(name, &settings).unwrap().complete(&question()).await.unwrap_err();
            let expected = matches!(&error, LlmError::Transport { reason, .. } if reason.starts_with("no response from") && reason.ends_with("within 50ms"));
            assert!(expected, "{error}");
            assert_eq!(fake.requests().len(), 1);
            until(|| fake.abandoned() == 1).await;
        }
    }
}

#[tokio::test]
async fn dropping_cancels_the_request() {
    for name in MODELS {
        let long = Turn::text("word ".repeat(20_000));
        let fake = FakeProvider::start([long, Turn::silence()]).await;
        let model = connect(name, &fake.settings()).unwrap();

        let mut events = model.stream(&question()).await.unwrap();
        assert!(matches!(events.next().await, Some(Ok(ChatEvent::Text(_)))));
        drop(events);
        until(|| fake.abandoned() == 1).await;

        let asked = tokio::spawn(async move { model.complete(&question()).await });
        until(|| fake.requests().len() == 2).await;
        asked.abort();
        until(|| fake.abandoned() == 2).await;
    }
}

/// Waits until the server noticed.
async fn until(noticed: impl Fn() -> bool) {
    let waiting = async {
        while !noticed() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.expect("the server notices");
}

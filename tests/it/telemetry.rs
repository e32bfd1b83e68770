//! Traces: the binary sends its spans to a local collector, and works without one.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use crate::support::{Estate, Ran, VIP};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
};
use prospector_test_support::opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value as Held},
    trace::v1::{Span, span::SpanKind, status::StatusCode as Spoken},
};
use prospector_test_support::prost::Message;
use prospector_test_support::provider::{FakeProvider, KEY, Turn};
use serde_json::json;
use tokio::net::TcpListener;

const QUESTION: &str = "How many customers are there in Brazil?";
const TOKEN: &str = "open-sesame-0123456789";

/// The spans received.
#[derive(Default)]
struct Sent {
    requests: Vec<(String, HeaderMap, ExportTraceServiceRequest)>,
}

impl Sent {
    fn spans(&self) -> Vec<&Span> {
        let resources = self.requests.iter().flat_map(|(_, _, request)| &request.resource_spans);
        resources.flat_map(|resource| &resource.scope_spans).flat_map(|scope| &scope.spans).collect()
    }

    /// Returns the spans with this name.
    fn named(&self, name: &str) -> Vec<&Span> {
        self.spans().into_iter().filter(|span| span.name == name).collect()
    }

    /// Returns every span as a path of names, the outermost first.
    fn paths(&self) -> Vec<String> {
        let all: BTreeMap<&[u8], &Span> = self.spans().into_iter().map(|span| (&*span.span_id, span)).collect();
        let path = |span: &Span| {
            let (mut names, mut at) = (vec![span.name.clone()], span);
            while !at.parent_span_id.is_empty() {
                let parent = all.get(&*at.parent_span_id).expect("the parent was sent too");
                assert_eq!(parent.trace_id, span.trace_id);
                assert!(parent.start_time_unix_nano <= at.start_time_unix_nano, "{} begins too late", parent.name);
                // Ends are not compared: the thread of a database may leave the span of its tool a moment later.
                names.insert(0, parent.name.clone());
                at = parent;
            }
            names.join(" > ")
        };
        all.values().map(|span| path(span)).collect()
    }

    /// Returns the attributes of the resource.
    fn resource(&self) -> BTreeMap<String, String> {
        texts(&self.requests[0].2.resource_spans[0].resource.as_ref().unwrap().attributes)
    }
}

fn texts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |held: &Held| match held {
        Held::StringValue(text) => text.clone(),
        Held::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    let pair = |one: &KeyValue| Some((one.key.clone(), text(one.value.as_ref()?.value.as_ref()?)));
    attributes.iter().filter_map(pair).collect()
}

/// A collector on this machine.
struct Collector {
    url: String,
    sent: Arc<Mutex<Sent>>,
}

impl Collector {
    /// Starts a collector that responds with this status.
    async fn start(status: StatusCode) -> Self {
        let sent: Arc<Mutex<Sent>> = Arc::default();
        let take = async move |State(sent): State<Arc<Mutex<Sent>>>, uri: Uri, headers: HeaderMap, body: Bytes| {
            let request = ExportTraceServiceRequest::decode(body).unwrap();
            sent.lock().unwrap().requests.push((uri.path().to_owned(), headers, request));
            status
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(take).with_state(sent.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Collector { url, sent }
    }
}

/// Runs the binary with these variables; remaining spans are sent at the end.
fn planner(estate: &Estate, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = estate.planner();
    command.args(args).envs(variables.iter().copied()).env("OTEL_BSP_SCHEDULE_DELAY", "100000");
    tokio::task::block_in_place(|| Ran::of(&mut command))
}

/// Asks a question, which must be answered, and returns the messages about traces.
#[track_caller]
fn answered(estate: &Estate, variables: &[(&str, &str)]) -> Vec<String> {
    let ran = planner(estate, &["ask", QUESTION, "--format", "text"], variables);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("69 [Q1]"), "{}", ran.out);
    assert!(!ran.err.contains(TOKEN) && !ran.err.contains("panicked"), "{}", ran.err);
    ran.err.lines().filter(|line| line.contains("traces")).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn run_contains_rounds_and_rounds_contain_calls() {
    let collector = Collector::start(StatusCode::OK).await;
    let header = format!("authorization=Bearer%20{TOKEN}");
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.url), ("OTEL_EXPORTER_OTLP_HEADERS", &header)];
    assert_eq!(answered(&Estate::sample(), &variables), [""; 0]);
    let sent = collector.sent.lock().unwrap();
    let (path, headers, _) = &sent.requests[0];
    assert_eq!(path, "/v1/traces");
    assert_eq!(headers["content-type"], "application/x-protobuf");
    assert_eq!(headers["authorization"], format!("Bearer {TOKEN}"));
    let resource = sent.resource();
    assert_eq!((&*resource["service.name"], &*resource["service.version"]), ("planner", env!("CARGO_PKG_VERSION")));

    let paths = sent.paths();
    let count = |path: &str| paths.iter().filter(|found| *found == path).count();
    assert_eq!(count("invoke_agent ask"), 1, "{paths:#?}");
    assert!(count("invoke_agent ask > round") > 1, "{paths:#?}");
    assert_eq!(count("invoke_agent ask > round > chat offline"), count("invoke_agent ask > round"), "{paths:#?}");
    assert_eq!(count("invoke_agent ask > round > execute_tool query_metrics"), 1, "{paths:#?}");
    // The model is called only in rounds: follow-up questions are a part of its answer.
    assert_eq!(count("invoke_agent ask > chat offline"), 0, "{paths:#?}");

    let run = texts(&sent.named("invoke_agent ask")[0].attributes);
    assert_eq!((&*run["gen_ai.operation.name"], &*run["prospector.ended"]), ("invoke_agent", "completed"));
    let tool = texts(&sent.named("execute_tool query_metrics")[0].attributes);
    assert_eq!((&*tool["gen_ai.operation.name"], &*tool["gen_ai.tool.name"]), ("execute_tool", "query_metrics"));
    for span in sent.spans() {
        assert!(span.events.is_empty(), "an event may hold anything: {:?}", span.events);
        for (name, value) in texts(&span.attributes) {
            let is_recorded = ["Brazil", "customers", "SELECT", TOKEN].iter().any(|content| value.contains(content));
            assert!(!is_recorded, "{name} is {value}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_a_provider_have_its_counts_and_its_failures() {
    let calls = [("resolve_fact", json!({"question": VIP})), ("describe", json!({"ids": ["no.such_table"]}))];
    let script = [Turn::answer("", calls), Turn::failure(401)];
    let (fake, collector) = (FakeProvider::start(script).await, Collector::start(StatusCode::OK).await);
    let base = fake.settings().anthropic_base_url.unwrap();
    let variables = [
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", &base),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &format!("{}/elsewhere", collector.url)),
        ("OTEL_SERVICE_NAME", "desk"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,team=data"),
        ("PROSPECTOR_LOG", "off"),
    ];
    let ran = planner(&Estate::sample(), &["plan", VIP, "--model", "claude-sonnet-4-5"], &variables);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let sent = collector.sent.lock().unwrap();
    assert_eq!(sent.requests[0].0, "/elsewhere");
    let resource = sent.resource();
    assert_eq!((&*resource["service.name"], &*resource["team"]), ("desk", "data"));

    let mut paths = sent.paths();
    paths.sort();
    let round = "invoke_agent plan > round";
    let expected = [
        "invoke_agent plan".to_owned(),
        round.to_owned(),
        round.to_owned(),
        format!("{round} > chat claude-sonnet-4-5"),
        format!("{round} > chat claude-sonnet-4-5"),
        format!("{round} > execute_tool describe"),
        format!("{round} > execute_tool resolve_fact"),
    ];
    assert_eq!(paths, expected);
    let (first, second) = (sent.named("execute_tool describe")[0], sent.named("execute_tool resolve_fact")[0]);
    assert_eq!(first.parent_span_id, second.parent_span_id, "calls of one round are made at once");

    let chats = sent.named("chat claude-sonnet-4-5");
    let (failed, good): (Vec<_>, Vec<_>) =
        chats.into_iter().partition(|span| texts(&span.attributes).contains_key("error.type"));
    let good_attributes = texts(&good[0].attributes);
    assert_eq!(good[0].kind(), SpanKind::Client);
    assert_eq!(good_attributes["gen_ai.provider.name"], "anthropic");
    assert_eq!(good_attributes["gen_ai.request.model"], "claude-sonnet-4-5");
    assert_eq!(good_attributes["gen_ai.usage.input_tokens"], "100", "as the provider counted them");
    assert!(good_attributes["gen_ai.usage.output_tokens"].parse::<u32>().unwrap() > 0);
    let run = sent.named("invoke_agent plan")[0];
    for (span, word) in [(failed[0], "401"), (run, "provider_failed")] {
        assert_eq!(texts(&span.attributes)["error.type"], word);
        assert_eq!(span.status.as_ref().unwrap().code(), Spoken::Error);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_by_default() {
    let (estate, collector) = (Estate::sample(), Collector::start(StatusCode::OK).await);
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.url);
    for variables in [
        vec![endpoint, ("OTEL_SDK_DISABLED", "true")],
        vec![endpoint, ("OTEL_TRACES_EXPORTER", "none")],
        vec![endpoint, ("OTEL_TRACES_SAMPLER", "always_off")],
        vec![("OTEL_SERVICE_NAME", "planner")],
    ] {
        assert_eq!(answered(&estate, &variables), [""; 0]);
    }
    assert!(collector.sent.lock().unwrap().requests.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_collector_causes_one_warning() {
    let (estate, refuses) = (Estate::sample(), Collector::start(StatusCode::INTERNAL_SERVER_ERROR).await);
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    // It accepts the connection, and never responds.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let header = format!("authorization={TOKEN}");
    for (endpoint, expected) in [
        (refuses.url.clone(), "status code: 500"),
        (format!("http://{gone}"), "network error"),
        (format!("http://me:{TOKEN}@{}", silent.local_addr().unwrap()), "no response within 3 s"),
        (TOKEN.to_owned(), "OTEL_EXPORTER_OTLP_ENDPOINT is not the URL of a collector"),
    ] {
        let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", &*endpoint), ("OTEL_EXPORTER_OTLP_HEADERS", &header)];
        let said = answered(&estate, &variables);
        assert!(said.len() == 1 && said[0].contains(expected), "{said:?}");
    }
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", &*refuses.url), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
    let said = answered(&estate, &variables);
    assert!(said.len() == 1 && said[0].contains("only `http/protobuf` is supported"), "{said:?}");
}

/// A server sends its remaining spans when it is stopped.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_server_sends_remaining_spans() {
    use std::{
        io::{BufRead, BufReader, Read, Write},
        net::TcpStream,
        process::{Command, Stdio},
    };

    let collector = Collector::start(StatusCode::OK).await;
    let estate = Estate::sample();
    let planner = estate.planner();
    let mut command = Command::new(planner.get_program());
    command.env_clear();
    for (name, value) in planner.get_envs() {
        command.env(name, value.unwrap());
    }
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url).env("OTEL_BSP_SCHEDULE_DELAY", "100000");
    command.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let code = tokio::task::spawn_blocking(move || {
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let line = lines.find(|line| line.contains("listening on http://")).unwrap();
        let address = line.split("http://").nth(1).unwrap().split(' ').next().unwrap();
        let body = json!({"question": VIP}).to_string();
        let mut stream = TcpStream::connect(address).unwrap();
        let head = format!("POST /v1/plan HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n");
        write!(stream, "{head}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert_eq!(lines.find(|line| line.contains("warning")), None);
        (child.wait().unwrap().code(), estate)
    });
    assert_eq!(code.await.unwrap().0, Some(0));
    let sent = collector.sent.lock().unwrap();
    assert!(sent.paths().contains(&"invoke_agent plan > round > chat offline".to_owned()), "{:?}", sent.paths());
}

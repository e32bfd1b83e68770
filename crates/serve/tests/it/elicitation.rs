//! Tools of MCP servers that ask the user, called by MCP clients of both generations: this binary is the server too.

use std::sync::{Arc, Mutex};

use prospector_discovery::Profile;
use prospector_serve::Options;
use prospector_test_support::mcp::{SCRIPT, serve};
use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
        ElicitationAction, ElicitationCapability, Implementation, ProtocolVersion,
    },
    service::{ClientLifecycleMode, RequestContext, RunningService, serve_client_with_lifecycle},
    transport::StreamableHttpClientTransport,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::support;

#[test]
fn acts_as_server() {
    // The harness has begun a line.
    println!();
    serve();
}

/// A client whose user answers Oslo.
#[derive(Clone)]
struct Client {
    can_ask: bool,
    requests: Arc<Mutex<Vec<ElicitRequestParams>>>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = self.can_ask.then(ElicitationCapability::default);
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.requests.lock().unwrap().push(request);
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"city": "Oslo"})))
    }
}

struct Session {
    client: RunningService<RoleClient, Client>,
    stop: CancellationToken,
    _folder: TempDir,
}

/// Writes a catalog with the MCP server `travel`, whose tool `book` may be called.
pub(crate) fn write_catalog(folder: &TempDir, script: &Value) {
    let file = folder.path().join("travel.json");
    std::fs::write(&file, script.to_string()).unwrap();
    let program = std::env::current_exe().unwrap();
    let catalog = format!(
        "mcp:\n- {{name: travel, command: ['{}', --exact, elicitation::acts_as_server, --nocapture, --test-threads=1], env: ['{SCRIPT}={}'], invoke: [book]}}\n",
        program.display(),
        file.display()
    );
    std::fs::write(folder.path().join("catalog.yaml"), catalog).unwrap();
}

/// How a client is connected.
#[derive(Debug, Clone, Copy)]
enum Transport {
    Pipe,
    Http,
}

/// Connects a client to a server whose catalog has the MCP server `travel`, with a tool that asks and then returns an image.
async fn connect(transport: Transport, mode: ClientLifecycleMode, can_ask: bool) -> Session {
    let folder = tempfile::tempdir().unwrap();
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let asked = json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": {"message": "Which city?", "requestedSchema": schema}});
    let result = r#"{"jsonrpc": "2.0", "id": $ID, "result": {"content": [{"type": "text", "text": "$ANSWER"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]}}"#;
    let script = json!({
        "tools": [{"name": "book", "description": "Books a room", "inputSchema": {"type": "object"}}],
        "on": {"tools/call": [{"ask": asked.to_string()}, result]},
    });
    write_catalog(&folder, &script);
    let server = support::server(&folder, Profile::Compact, support::offline(), Options::default()).await;
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let handler = Client { can_ask, requests: Arc::default() };
    let client = match transport {
        Transport::Pipe => {
            let (here, there) = tokio::io::duplex(1 << 20);
            let (input, output) = tokio::io::split(there);
            tokio::spawn(async move { server.pipe(input, output, stopped).await.unwrap() });
            serve_client_with_lifecycle(handler, here, mode).await.unwrap()
        }
        Transport::Http => {
            let listener = server.bind(([127, 0, 0, 1], 0).into()).await.unwrap();
            let url = format!("http://{}/mcp", listener.local_addr().unwrap());
            tokio::spawn(async move { server.http(listener, stopped).await.unwrap() });
            let here = StreamableHttpClientTransport::from_uri(url);
            serve_client_with_lifecycle(handler, here, mode).await.unwrap()
        }
    };
    Session { client, stop, _folder: folder }
}

impl Session {
    async fn book(&self) -> CallToolResult {
        let arguments = json!({"api": "travel", "operation": "book", "arguments": {}});
        let Value::Object(arguments) = arguments else { panic!("no object") };
        self.client.call_tool(CallToolRequestParams::new("invoke_operation").with_arguments(arguments)).await.unwrap()
    }
}

fn current() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::V_2026_07_28], legacy_version: None }
}

async fn check(mode: ClientLifecycleMode, can_ask: bool, version: Option<ProtocolVersion>) {
    for transport in [Transport::Pipe, Transport::Http] {
        check_over(transport, mode.clone(), can_ask, version.clone()).await;
    }
}

async fn check_over(transport: Transport, mode: ClientLifecycleMode, can_ask: bool, version: Option<ProtocolVersion>) {
    let session = connect(transport, mode, can_ask).await;
    let agreed = session.client.peer_info().map(|info| info.protocol_version.clone());
    assert!(version.is_none() || agreed == version, "{transport:?}: {agreed:?}");
    let booked = session.book().await;
    let requests = session.client.service().requests.lock().unwrap().clone();
    let text = booked.content[0].as_text().map(|text| text.text.clone()).unwrap();
    assert_eq!(text.contains("Oslo"), can_ask, "{text}");
    assert_eq!(requests.len(), usize::from(can_ask), "{transport:?}: {requests:?}");
    for request in &requests {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else { panic!("{request:?}") };
        assert_eq!(message, "The MCP server `travel`: Which city?");
    }
    let image = booked.content.iter().find_map(|block| block.as_image()).unwrap();
    assert_eq!((image.data.as_str(), image.mime_type.as_str()), ("AAAA", "image/png"));
    session.stop.cancel();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_with_sessions_is_asked_during_the_call() {
    check(ClientLifecycleMode::Initialize, true, Some(ProtocolVersion::LATEST_WITH_INITIALIZE)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_2026_07_28_gets_the_request_as_the_result() {
    check(current(), true, Some(ProtocolVersion::V_2026_07_28)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_forms_is_not_asked() {
    check(ClientLifecycleMode::Initialize, false, None).await;
    check(current(), false, None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_call_ends_with_the_refusal_of_its_user_and_is_of_its_tool_only() {
    let session = connect(Transport::Pipe, current(), true).await;
    let arguments = json!({"api": "travel", "operation": "book", "arguments": {}});
    let Value::Object(arguments) = arguments else { panic!("no object") };
    let call = |tool: &'static str| CallToolRequestParams::new(tool).with_arguments(arguments.clone());
    let begin = async || match session.client.call_tool_once(call("invoke_operation")).await.unwrap() {
        rmcp::model::CallToolResponse::InputRequired(required) => required.request_state.unwrap(),
        other => panic!("{other:?}"),
    };
    let resume = async |tool: &'static str, state: &str| {
        let mut request = call(tool);
        request.request_state = Some(state.to_owned());
        match session.client.call_tool_once(request).await.unwrap() {
            rmcp::model::CallToolResponse::Complete(result) => result.content[0].as_text().unwrap().text.clone(),
            other => panic!("{other:?}"),
        }
    };
    // Without a response, the request is cancelled.
    let state = begin().await;
    let ended = resume("invoke_operation", &state).await;
    assert!(ended.contains("cancel"), "{ended}");
    let again = resume("invoke_operation", &state).await;
    assert!(again.contains("not_found"), "{again}");
    let state = begin().await;
    let other = resume("search", &state).await;
    assert!(other.contains("not_found"), "{other}");
    let unknown = resume("invoke_operation", "call_1").await;
    assert!(unknown.contains("not_found"), "{unknown}");
    session.stop.cancel();
}

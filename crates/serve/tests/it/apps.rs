//! MCP Apps: pages for clients that support them, invisible to other clients.

use crate::support::{self, QUESTION, Running, estate};
use prospector_discovery::Profile;
use prospector_serve::Options;
use rmcp::{
    ClientHandler, RoleClient, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation,
        ReadResourceRequestParams, ResourceContents, Tool,
    },
    service::RunningService,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

const EXTENSION: &str = "io.modelcontextprotocol/ui";
const MEDIA: &str = "text/html;profile=mcp-app";

/// A client that declares these extensions.
#[derive(Clone)]
struct Client(Value);

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let capabilities: ClientCapabilities = serde_json::from_value(json!({"extensions": self.0})).unwrap();
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }
}

struct Session {
    client: RunningService<RoleClient, Client>,
    _folder: TempDir,
}

impl Session {
    async fn new(extensions: Value) -> Self {
        let folder = estate();
        let server = support::server(&folder, Profile::Compact, support::offline(), Options::default()).await;
        let (here, there) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(there);
        tokio::spawn(async move { server.pipe(input, output, CancellationToken::new()).await.unwrap() });
        Session { client: Client(extensions).serve(here).await.unwrap(), _folder: folder }
    }

    async fn tools(&self) -> Vec<Tool> {
        self.client.list_all_tools().await.unwrap()
    }

    async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        let Value::Object(arguments) = arguments else { panic!("no object") };
        self.client.call_tool(CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)).await.unwrap()
    }
}

fn ui(tool: &Tool) -> Value {
    tool.meta.as_ref().map(|meta| json!(meta)["ui"].clone()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_without_mcp_apps_see_no_pages() {
    for extensions in [json!({}), json!({EXTENSION: {}}), json!({EXTENSION: {"mimeTypes": ["text/uri-list"]}})] {
        let session = Session::new(extensions.clone()).await;
        let tools = session.tools().await;
        assert!(tools.iter().all(|tool| tool.meta.is_none()), "{extensions}");
        assert!(tools.iter().all(|tool| tool.name != "show_tables" && tool.name != "draw_chart"), "{extensions}");
        let resources = session.client.list_all_resources().await.unwrap();
        assert!(resources.iter().all(|resource| !resource.uri.starts_with("ui:")), "{extensions}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_with_answers_for_users_have_a_page() {
    let session = Session::new(json!({EXTENSION: {"mimeTypes": [MEDIA]}})).await;
    let tools = session.tools().await;
    let pages: Vec<(&str, Value)> = tools.iter().map(|tool| (tool.name.as_ref(), ui(tool))).collect();
    for (name, page) in &pages {
        let expected = match *name {
            "ask" => json!({"resourceUri": "ui://prospector/answer"}),
            "plan" => json!({"resourceUri": "ui://prospector/plan"}),
            "show_tables" => json!({"resourceUri": "ui://prospector/tables"}),
            "draw_chart" | "get_thing" => json!({"visibility": ["app"]}),
            _ => Value::Null,
        };
        assert_eq!(*page, expected, "{name}");
    }
    assert_eq!(pages.iter().filter(|(_, page)| !page.is_null()).count(), 5, "{pages:?}");

    let listed = session.client.list_all_resources().await.unwrap();
    let listed: Vec<&str> = listed.iter().map(|one| one.uri.as_str()).filter(|uri| uri.starts_with("ui:")).collect();
    for (_, page) in pages.iter().filter(|(_, page)| page["resourceUri"].is_string()) {
        let uri = page["resourceUri"].as_str().unwrap();
        assert!(listed.contains(&uri), "{uri}");
        let read = session.client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
        let ResourceContents::TextResourceContents { mime_type, text, meta, .. } = &read.contents[0] else {
            panic!("{uri} is no text");
        };
        assert_eq!(mime_type.as_deref(), Some(MEDIA));
        assert!(text.starts_with("<!doctype html>") && text.len() < 200_000, "{} bytes", text.len());
        assert!(text.contains("default-src 'none'; script-src 'sha256-"), "{uri}");
        assert_eq!(json!(meta)["ui"]["csp"]["connectDomains"], json!([]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn results_with_a_page_have_text_and_fields() {
    let session = Session::new(json!({EXTENSION: {"mimeTypes": [MEDIA]}})).await;
    let shown = session.call("show_tables", json!({"database": "orders", "table": "orders"})).await;
    let fields = shown.structured_content.as_ref().unwrap();
    assert_eq!((&fields["table"], &fields["tables"][0]["name"]), (&json!("orders"), &json!("orders")));
    let text = &shown.content[0].as_text().unwrap().text;
    assert_eq!(text, "<data>orders: 1 tables, 0 keys\norders (2 rows)</data>");
    let wrong = session.call("show_tables", json!({"database": "orders", "table": "oders"})).await;
    assert_eq!((wrong.is_error, &wrong.structured_content.unwrap()["error"]), (Some(true), &json!("not_found")));

    let rows = json!([["PT", 22], ["ES", 41], ["FR", 38]]);
    let drawn = session.call("draw_chart", json!({"columns": ["country", "customers"], "rows": rows})).await;
    let fields = drawn.structured_content.as_ref().unwrap();
    assert!(fields["chart"]["kind"] == "bar" && fields["chart"]["svg"].as_str().unwrap().starts_with("<svg"));
    assert!(drawn.content[0].as_text().unwrap().text.contains("3 bars"));

    let thing = session.call("get_thing", json!({"kind": "table", "id": "orders.orders"})).await;
    assert_eq!(thing.structured_content.unwrap()["answer"]["table"], "orders");
    let wrong = session.call("get_thing", json!({"kind": "tables", "id": "orders.orders"})).await;
    assert_eq!(wrong.is_error, Some(true));

    let planned = session.call("plan", json!({"question": QUESTION})).await;
    assert!(planned.structured_content.unwrap()["plan"]["steps"].is_array());
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_the_new_revision_declare_apps_themselves() {
    let server = Running::usual().await;
    let version = "2026-07-28";
    for (extensions, has_pages) in [(json!({}), false), (json!({EXTENSION: {"mimeTypes": [MEDIA]}}), true)] {
        let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {"extensions": extensions},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        }}});
        let headers = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", version),
            ("mcp-method", "tools/list"),
        ];
        let said = server.request("POST", "/mcp", &headers, &asked.to_string()).await;
        assert_eq!(said.body.contains("ui://prospector/answer"), has_pages, "{said:?}");
    }
}

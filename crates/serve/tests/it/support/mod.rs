//! Shared test support: a small catalog, a server over it, a raw HTTP/1.1 client, and a model that never responds.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::{StreamExt, stream, stream::BoxStream};
use prospector_agent::Models;
use prospector_discovery::{Catalog, CatalogOptions, Profile};
use prospector_llm::{ChatEvent, ChatModel, ChatRequest, LlmError, models::UNLISTED};
use prospector_offline::Offline;
use prospector_serve::{Limits, Opened, Options, Server, Tokens};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// The token of servers that require one.
pub(crate) const TOKEN: &str = "open-sesame-0123456789";

/// Two more tokens, of unrelated clients.
pub(crate) const ANN: &str = "token-of-ann-0123456789";
pub(crate) const BEN: &str = "token-of-ben-0123456789";

/// Timeout for events that must happen.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// A question that the small catalog answers.
pub(crate) const QUESTION: &str = "total of orders by country";

/// Creates a folder with a catalog of a table, a document, a fact and a skill.
pub(crate) fn estate() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("orders.csv", "order_id,country,total\n1,PT,9.50\n2,ES,12.00\n");
    write(
        "rules.md",
        &format!(
            "# Rules\n\n## Returns\n\nOrders can be returned.\n\n## Long\n\n{}",
            "words and words. ".repeat(3_000)
        ),
    );
    write(
        "skills/report/SKILL.md",
        "---\nname: report\ndescription: Writes a report of orders.\n---\n# Report\n\nSum, then write.\n",
    );
    write(
        "catalog.yaml",
        "databases:\n- path: orders.csv\n  description: Orders of the shop.\ndocuments:\n- path: rules.md\nskills:\n- path: skills\n\
         facts:\n- term: big order\n  definition: an order of more than 10\n",
    );
    folder
}

/// Returns the built-in planner.
pub(crate) fn offline() -> Models {
    Models::from(Arc::new(Offline))
}

/// Creates a server over the small catalog.
pub(crate) async fn server(folder: &TempDir, profile: Profile, models: Models, options: Options) -> Arc<Server> {
    let file: PathBuf = folder.path().join("catalog.yaml");
    let open = move |_: bool, cancel: CancellationToken| -> Opened {
        let opened = Catalog::open(&file, CatalogOptions { cancel, ..CatalogOptions::default() });
        tokio::runtime::Handle::current().block_on(opened).map_err(Into::into)
    };
    Server::open(open, profile, models, options).await.unwrap()
}

/// A running server.
pub(crate) struct Running {
    pub(crate) folder: TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) ended: JoinHandle<()>,
}

impl Running {
    /// Starts a server with the built-in planner, default limits and no token.
    pub(crate) async fn usual() -> Self {
        Running::new(offline(), Options::default()).await
    }

    pub(crate) async fn new(models: Models, options: Options) -> Self {
        Running::over(estate(), models, options).await
    }

    /// Starts a server that stores conversations.
    pub(crate) async fn with_sessions() -> Self {
        let folder = estate();
        let state = Some(folder.path().join(".prospector"));
        Running::over(folder, offline(), Options { state, ..Options::default() }).await
    }

    /// Starts a server over another catalog.
    pub(crate) async fn over(folder: TempDir, models: Models, options: Options) -> Self {
        let server = server(&folder, Profile::DEFAULT, models, options).await;
        let listener = server.bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let ended = tokio::spawn(async move { server.http(listener, stopped).await.unwrap() });
        Running { folder, address, stop, ended }
    }

    /// Sends a request on its own connection.
    pub(crate) async fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Said {
        let mut stream = self.send(method, path, headers, body).await;
        Said::of(&mut stream).await
    }

    pub(crate) async fn get(&self, path: &str) -> Said {
        self.request("GET", path, &[], "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Said {
        self.request("POST", path, &[("content-type", "application/json")], &body.to_string()).await
    }

    /// Sends a request whose response is read by the caller.
    pub(crate) async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            text.push_str(&format!("host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() && !headers.iter().any(|(name, _)| matches!(*name, "content-length" | "transfer-encoding"))
        {
            text.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        text.push_str(body);
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // A server that refuses early does not read all of it.
        let _ = stream.write_all(text.as_bytes()).await;
        stream
    }

    /// Repeats a request until the response meets a condition.
    pub(crate) async fn until(&self, path: &str, holds: impl Fn(&Said) -> bool) -> Said {
        self.until_as(TOKEN, path, holds).await
    }

    /// As [`Running::until`], with a token.
    pub(crate) async fn until_as(&self, token: &str, path: &str, holds: impl Fn(&Said) -> bool) -> Said {
        let bearer = format!("Bearer {token}");
        let waiting = async {
            loop {
                let said = self.request("GET", path, &[("authorization", &bearer)], "").await;
                if holds(&said) {
                    return said;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(TIMEOUT, waiting).await.expect("the condition is not met in time")
    }
}

/// The revision of MCP with sessions.
const REVISION: &str = "2025-06-18";

impl Running {
    /// Sends an MCP message.
    pub(crate) async fn message(&self, token: &str, session: Option<&str>, message: &Value) -> Said {
        let bearer = format!("Bearer {token}");
        let mut headers = vec![
            ("authorization", bearer.as_str()),
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
        ];
        if let Some(session) = session {
            headers.extend([("mcp-session-id", session), ("mcp-protocol-version", REVISION)]);
        }
        self.request("POST", "/mcp", &headers, &message.to_string()).await
    }

    /// Requests an MCP session.
    pub(crate) async fn initialize(&self, token: &str) -> Said {
        let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": REVISION,
            "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
        self.message(token, None, &begin).await
    }

    /// Opens an MCP session over HTTP.
    pub(crate) async fn session<'a>(&'a self, token: &'a str) -> Session<'a> {
        let said = self.initialize(token).await;
        let id = said.header("mcp-session-id").unwrap_or_else(|| panic!("{said:?}")).to_owned();
        let session = Session { server: self, token, id };
        let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.message(token, Some(&session.id), &begun).await.status, 202);
        session
    }
}

/// An MCP session over HTTP.
pub(crate) struct Session<'a> {
    server: &'a Running,
    token: &'a str,
    pub(crate) id: String,
}

impl Session<'_> {
    /// Returns the response to a request: a message with `result` or `error`.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        let asked = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        self.server.message(self.token, Some(&self.id), &asked).await.message()
    }
}

/// A response.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Said {
    /// Reads until the connection ends.
    pub(crate) async fn of(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        // An aborted connection still returns what was received.
        let _ = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut bytes)).await.expect("the response does not end");
        Said::parsed(&String::from_utf8_lossy(&bytes))
    }

    /// As [`Said::of`], with the beginning read already.
    pub(crate) async fn after(read: String, stream: &mut TcpStream) -> Self {
        let mut bytes = read.into_bytes();
        let _ = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut bytes)).await.expect("the response does not end");
        Said::parsed(&String::from_utf8(bytes).unwrap())
    }

    fn parsed(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        let body = if chunked { joined(body) } else { body.to_owned() };
        Said { status, head: head.to_lowercase(), body }
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// Returns the MCP message that responds to a request.
    #[track_caller]
    pub(crate) fn message(&self) -> Value {
        let lines = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        messages
            .rfind(|message| message.get("result").or(message.get("error")).is_some())
            .unwrap_or_else(|| self.json())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// Returns the events: number, name, data.
    pub(crate) fn events(&self) -> Vec<(u64, String, Value)> {
        let mut events = Vec::new();
        for block in self.body.split("\n\n") {
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            if let (Some(id), Some(name), Some(data)) = (field("id"), field("event"), field("data")) {
                events.push((id.parse().unwrap(), name.to_owned(), serde_json::from_str(data).unwrap()));
            }
        }
        events
    }
}

fn joined(mut chunks: &str) -> String {
    let mut body = String::new();
    while let Some((size, rest)) = chunks.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || rest.len() < size {
            break;
        }
        body.push_str(&rest[..size]);
        chunks = rest[size..].trim_start_matches("\r\n");
    }
    body
}

/// Reads until a text is received, and returns everything received.
pub(crate) async fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut text = String::new();
    let mut bytes = [0; 4096];
    while !text.contains(wanted) {
        let read =
            tokio::time::timeout(TIMEOUT, stream.read(&mut bytes)).await.expect("the text is not received").unwrap();
        assert!(read > 0, "the connection ended after {text}");
        text.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
    text
}

/// A model that never responds, until it is dropped.
pub(crate) struct Waits;

#[async_trait]
impl ChatModel for Waits {
    fn name(&self) -> &str {
        "waits"
    }

    async fn stream(&self, _: &ChatRequest) -> Result<BoxStream<'static, Result<ChatEvent, LlmError>>, LlmError> {
        Ok(stream::pending().boxed())
    }
}

/// Returns a model that never responds.
pub(crate) fn waiting() -> Models {
    Models::new(Arc::new(Waits), UNLISTED)
}

/// Limits short enough for tests.
pub(crate) fn short() -> Limits {
    Limits {
        head_time: Duration::from_millis(300),
        body_time: Duration::from_millis(300),
        linger: Duration::from_millis(100),
        grace: Duration::from_millis(100),
        body_bytes: 4_096,
        ..Limits::default()
    }
}

/// Options of a server for two clients.
pub(crate) fn two(limits: Limits) -> Options {
    Options { tokens: Tokens::none().with(ANN).unwrap().with(BEN).unwrap(), limits, ..Options::default() }
}

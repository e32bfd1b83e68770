//! `planner mcp` as used by an editor: one message per line, and nothing else on standard output.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use crate::support::{self, Estate, VIP};

pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The methods of the notifications so far.
    pub(crate) notified: Vec<String>,
    pub(crate) estate: Estate,
}

impl Client {
    fn new() -> Self {
        Client::over(Estate::sample())
    }

    pub(crate) fn over(estate: Estate) -> Self {
        let planner = estate.planner();
        let mut command = Command::new(planner.get_program());
        command.env_clear();
        for (name, value) in planner.get_envs() {
            command.env(name, value.unwrap());
        }
        let mut child =
            command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Client { child, input, output, notified: Vec::new(), estate };
        let began = client.ask(json!({"id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}));
        assert_eq!(began["result"]["serverInfo"]["name"], "prospector", "{began}");
        client.send_message(json!({"method": "notifications/initialized"}));
        client
    }

    pub(crate) fn send_message(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Returns the response to a message; messages before it must be valid too.
    pub(crate) fn ask(&mut self, message: Value) -> Value {
        let id = message["id"].clone();
        self.send_message(message);
        loop {
            let said = self.next();
            if said["id"] == id {
                return said;
            }
        }
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line:?}"));
        assert_eq!(said["jsonrpc"], "2.0", "{line}");
        self.notified.extend(said["method"].as_str().map(str::to_owned));
        said
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn plans_with_progress_and_ends_at_end_of_input() {
    let mut client = Client::new();
    let tools = client.ask(json!({"id": 1, "method": "tools/list"}));
    let names: Vec<&str> =
        support::items(&tools["result"]["tools"]).iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["add_fact", "describe", "list", "resolve_fact", "sample", "search", "plan", "ask", "fetch"]);
    client.send_message(json!({"id": 2, "method": "tools/call", "params": {
        "name": "plan", "arguments": {"question": VIP}, "_meta": {"progressToken": "p"}}}));
    let mut progress = 0;
    let plan = loop {
        let said = client.next();
        if said["id"] == 2 {
            break said["result"]["structuredContent"].clone();
        }
        assert_eq!(said["method"], "notifications/progress", "{said}");
        progress += 1;
    };
    assert!(progress > 2, "{progress}");
    support::assert_sound(&plan);
    drop(client.input.take());
    assert!(client.child.wait().unwrap().success());
}

#[test]
fn invalid_messages_do_not_end_the_server() {
    let mut client = Client::new();
    let nested = "[".repeat(1_000);
    for (line, code, id) in [
        ("this is no JSON", -32700, Value::Null),
        ("{\"jsonrpc\": \"2.0\", \"id\": 3, \"method\": ", -32700, Value::Null),
        (&nested, -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("\"ping\"", -32600, Value::Null),
        ("{\"id\": \"four\", \"method\": \"ping\"}", -32600, json!("four")),
        ("{\"jsonrpc\": \"2.0\", \"id\": 5, \"method\": \"no/such\"}", -32601, json!(5)),
    ] {
        writeln!(client.input.as_mut().unwrap(), "{line}").unwrap();
        let said = client.next();
        assert_eq!((&said["error"]["code"], said.get("id")), (&json!(code), Some(&id)), "{line}: {said}");
    }
    // Empty lines, and notifications of other protocols, are not answered.
    writeln!(
        client.input.as_mut().unwrap(),
        "\r\n{{\"jsonrpc\": \"2.0\", \"method\": \"window/open\", \"params\": 1}}"
    )
    .unwrap();
    let pong = client.ask(json!({"id": 6, "method": "ping"}));
    assert!(pong["result"].is_object(), "{pong}");
}

#[test]
fn clients_are_notified_of_a_refresh_by_another_process() {
    let estate = Estate::new("databases:\n- path: orders.csv\n").with("orders.csv", "order_id,total\n1,9.50\n");
    let mut client = Client::over(estate);
    client.estate.write("returns.csv", "return_id,order_id\n1,1\n");
    client.estate.write("catalog.yaml", "databases:\n- path: orders.csv\n- path: returns.csv\n");
    assert_eq!(client.estate.run(["refresh"]).code, Some(0));
    let is_notified = (100..250).any(|id| {
        client.ask(json!({"id": id, "method": "ping"}));
        let is_notified = client.notified.iter().any(|method| method == "notifications/resources/list_changed");
        if !is_notified {
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        is_notified
    });
    assert!(is_notified, "no notification");
    let listed = client.ask(json!({"id": 1, "method": "resources/list"}));
    assert!(listed.to_string().contains("prospector://table/returns.returns"), "{listed}");
}

#[cfg(unix)]
#[test]
fn ends_on_a_signal() {
    let mut client = Client::new();
    Command::new("kill").args(["-TERM", &client.child.id().to_string()]).status().unwrap();
    assert!(client.child.wait().unwrap().success());
}

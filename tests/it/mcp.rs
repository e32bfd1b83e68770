//! `planner mcp` as an editor drives it: the real binary, a message a line, nothing else on standard output.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use crate::support::{self, Estate, VIP};

struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    estate: Estate,
}

impl Client {
    fn new() -> Self {
        Client::over(Estate::sample())
    }

    fn over(estate: Estate) -> Self {
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
        let mut client = Client { child, input, output, estate };
        let began = client.ask(json!({"id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}));
        assert_eq!(began["result"]["serverInfo"]["name"], "prospector", "{began}");
        client.tell(json!({"method": "notifications/initialized"}));
        client
    }

    fn tell(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// The answer to a message; what comes before it must be the protocol too.
    fn ask(&mut self, message: Value) -> Value {
        let id = message["id"].clone();
        self.tell(message);
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
fn it_plans_with_progress_and_ends_with_its_input() {
    let mut client = Client::new();
    let tools = client.ask(json!({"id": 1, "method": "tools/list"}));
    let names: Vec<&str> =
        support::items(&tools["result"]["tools"]).iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["add_fact", "describe", "list", "resolve_fact", "sample", "search", "plan", "ask", "fetch"]);
    client.tell(json!({"id": 2, "method": "tools/call", "params": {
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
fn what_is_no_protocol_is_answered_or_ignored_and_does_not_end_it() {
    let mut client = Client::new();
    writeln!(client.input.as_mut().unwrap(), "this is no JSON").unwrap();
    writeln!(client.input.as_mut().unwrap(), "{{\"jsonrpc\": \"2.0\", \"id\": 5, \"method\": \"no/such\"}}").unwrap();
    let pong = client.ask(json!({"id": 6, "method": "ping"}));
    assert!(pong["result"].is_object(), "{pong}");
}

#[test]
fn it_says_when_another_process_refreshed_the_catalog() {
    let estate = Estate::new("databases:\n- path: orders.csv\n").with("orders.csv", "order_id,total\n1,9.50\n");
    let mut client = Client::over(estate);
    client.estate.write("returns.csv", "return_id,order_id\n1,1\n");
    client.estate.write("catalog.yaml", "databases:\n- path: orders.csv\n- path: returns.csv\n");
    assert_eq!(client.estate.run(["refresh"]).code, Some(0));
    let told = (100..250).any(|id| {
        client.tell(json!({"id": id, "method": "ping"}));
        let mut told = false;
        loop {
            let said = client.next();
            if said["id"] == id {
                break;
            }
            told |= said["method"] == "notifications/resources/list_changed";
        }
        if !told {
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        told
    });
    assert!(told, "nothing is said");
    let listed = client.ask(json!({"id": 1, "method": "resources/list"}));
    assert!(listed.to_string().contains("prospector://table/returns.returns"), "{listed}");
}

#[cfg(unix)]
#[test]
fn it_ends_when_it_is_told_to() {
    let mut client = Client::new();
    Command::new("kill").args(["-TERM", &client.child.id().to_string()]).status().unwrap();
    assert!(client.child.wait().unwrap().success());
}

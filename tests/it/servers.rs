//! MCP servers of a catalog, used by the real binary: this binary is the server too.

use std::time::{Duration, Instant};

use prospector_test_support::mcp::{SCRIPT, serve};
use serde_json::{Value, json};

use crate::{
    mcp::Client,
    support::{Estate, items},
};

/// How long a change may take to be served.
const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn acts_as_server() {
    // The harness has begun a line.
    println!();
    serve();
}

/// The command line of the server, as YAML.
fn command() -> String {
    let program = std::env::current_exe().unwrap();
    format!("'{}', --exact, servers::acts_as_server, --nocapture, --test-threads=1", program.display())
}

fn script(tools: &[&str]) -> String {
    let tool = |name: &&str| json!({"name": name, "description": format!("Tool of the {name}"), "inputSchema": {"type": "object"}});
    json!({"watch": true, "tools": tools.iter().map(tool).collect::<Vec<_>>()}).to_string()
}

#[test]
fn tools_that_a_running_server_adds_are_served_and_its_process_is_kept() {
    let estate = Estate::new("").with("script.json", script(&["count"]));
    let file = estate.path("script.json");
    estate.write(
        "catalog.yaml",
        format!(
            "mcp:\n- {{name: memory, command: [{}], env: ['{SCRIPT}={}'], invoke: true}}\n",
            command(),
            file.display()
        ),
    );
    let mut client = Client::over(estate);
    let count = |client: &mut Client, id: u32| -> Value {
        let arguments = json!({"api": "memory", "operation": "count", "arguments": {}});
        let said = client.ask(
            json!({"id": id, "method": "tools/call", "params": {"name": "invoke_operation", "arguments": arguments}}),
        );
        said["result"]["structuredContent"]["answer"].clone()
    };
    let first = count(&mut client, 1);
    assert_eq!(first["calls"], 1, "{first}");
    assert!(client.notified.is_empty(), "{:?}", client.notified);
    client.estate.write("script.json", script(&["count", "zebra"]));
    // Only the lists of this client are read from now on: nothing contacts the server.
    let started = Instant::now();
    let mut id = 10;
    while !client.notified.iter().any(|method| method == "notifications/resources/list_changed") {
        assert!(started.elapsed() < LIMIT, "no notification");
        std::thread::sleep(Duration::from_millis(100));
        id += 1;
        client.ask(json!({"id": id, "method": "ping"}));
    }
    let found = client.ask(json!({"id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "tool of the zebra"}}}));
    assert!(found.to_string().contains("memory.zebra"), "{found}");
    assert_eq!(count(&mut client, 3), json!({"calls": 2, "process": first["process"]}));
}

#[cfg(unix)]
#[test]
fn doctor_starts_each_server_once_and_reports_it_once() {
    let estate = Estate::new("").with("script.json", script(&["count"]));
    let file = estate.path("script.json");
    let log = |name: &str, then: &str| format!("'echo x >> {name}.starts; {then}'");
    estate.write(
        "catalog.yaml",
        format!(
            "mcp:\n- {{name: good, command: [/bin/sh, -c, {}, {}], env: ['{SCRIPT}={}']}}\n- {{name: broken, command: [/bin/sh, -c, {}]}}\n",
            log("good", r#"exec "$0" "$@""#),
            command(),
            file.display(),
            log("broken", "echo no key >&2; exit 3"),
        ),
    );
    let check = |times: usize| {
        let report = estate.run(["doctor"]).json(2);
        for (name, status, finding) in [("good", "ok", "reached; 1 usable tool"), ("broken", "error", "no key")] {
            let text = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
            let is_of = |check: &&Value| text(check, "what").contains(name) || text(check, "finding").contains(name);
            let found: Vec<&Value> = items(&report["checks"]).iter().filter(is_of).collect();
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(
                (text(found[0], "what"), text(found[0], "status")),
                (format!("{name} (MCP server)"), status.to_owned())
            );
            assert!(text(found[0], "finding").contains(finding), "{found:?}");
        }
        let starts = std::fs::read_to_string(estate.path("good.starts")).unwrap();
        assert_eq!(starts.lines().count(), times);
    };
    // The first time, when no server has been listed, and later.
    check(1);
    check(2);
}

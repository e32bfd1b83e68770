//! Lists, calls, restarts and limits of servers that mean well.

use std::time::{Duration, Instant};

use prospector_mcp::McpError;
use serde_json::json;

use super::{Scripted, define, tool};

#[tokio::test]
async fn lists_and_calls_in_every_version_of_the_protocol() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let script = json!({"version": version, "page": 1, "tools": [tool("echo"), tool("count")],
            "resources": [{"uri": "file:///a", "name": "a"}], "prompts": [{"name": "p", "arguments": [{"name": "x", "required": true}]}]});
        let scripted = Scripted::new(script);
        scripted.server.refresh().await.unwrap();
        let record = scripted.record();
        assert_eq!((record.protocol(), scripted.names()), (version, vec!["echo".to_owned(), "count".to_owned()]));
        assert_eq!(record.resources[0].uri, "file:///a");
        assert_eq!(record.prompts[0].arguments, [("x".to_owned(), true)]);
        assert_eq!(scripted.call("echo", json!({"a": 1})).await.unwrap(), json!({"a": 1}));
        assert_eq!(scripted.server.read("file:///a").await.unwrap(), "text of file:///a");
    }
}

#[tokio::test]
async fn one_process_serves_concurrent_calls_and_a_killed_one_is_replaced() {
    let scripted = Scripted::new(json!({"tools": [tool("count"), tool("exit")]}));
    scripted.server.refresh().await.unwrap();
    let call = || scripted.call("count", json!({}));
    let calls = tokio::join!(call(), call(), call(), call(), call(), call());
    let process = calls.0.unwrap()["process"].clone();
    for other in [calls.1, calls.2, calls.3, calls.4, calls.5] {
        assert_eq!(other.unwrap()["process"], process);
    }
    // It ends in the middle of a call.
    let error = scripted.call("exit", json!({})).await.unwrap_err();
    assert!(
        matches!(&error, McpError::Closed { said } if said.contains("crashed") && !said.contains('\u{1b}')),
        "{error}"
    );
    assert!(!error.to_string().contains("</data>"), "{error}");
    let after = scripted.call("count", json!({})).await.unwrap();
    assert_eq!(after["calls"], 1);
    assert_ne!(after["process"], process);
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_killed_in_a_call_fails_the_call_and_affects_no_other() {
    let script = json!({"tools": [tool("count"), tool("hang")]});
    let (killed, other) = (Scripted::new(script.clone()), Scripted::new(script));
    let mut processes = Vec::new();
    for scripted in [&killed, &other] {
        scripted.server.refresh().await.unwrap();
        processes.push(scripted.call("count", json!({})).await.unwrap()["process"].clone());
    }
    let kill = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let status = std::process::Command::new("kill").args(["-9", &processes[0].to_string()]).status().unwrap();
        assert!(status.success());
        other.call("count", json!({})).await.unwrap()
    };
    let started = Instant::now();
    let (failed, counted) = tokio::join!(killed.call("hang", json!({})), kill);
    let error = failed.unwrap_err();
    assert_eq!(error.to_string(), "the connection was closed");
    assert_eq!(error.advice(), "check the server, then try again");
    assert!(started.elapsed() < Duration::from_secs(10), "reported before the time limit");
    let again = killed.call("count", json!({})).await.unwrap();
    assert_eq!(again["calls"], 1);
    assert_ne!(again["process"], processes[0]);
    for counted in [counted, other.call("count", json!({})).await.unwrap()] {
        assert_eq!(counted["process"], processes[1]);
    }
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_restarted_with_a_delay() {
    let scripted = Scripted::new(json!({"tools": [tool("exit")]}));
    scripted.server.refresh().await.unwrap();
    for _ in 0..2 {
        assert!(matches!(scripted.call("exit", json!({})).await, Err(McpError::Closed { .. })));
    }
    let error = scripted.call("exit", json!({})).await.unwrap_err();
    assert!(matches!(error, McpError::Backoff { failures: 2, .. }), "{error}");
}

#[tokio::test]
async fn arguments_are_validated_before_anything_is_sent() {
    let schema = json!({"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}});
    let scripted = Scripted::new(json!({"tools": [{"name": "echo", "inputSchema": schema}, tool("count")]}));
    scripted.server.refresh().await.unwrap();
    let error = scripted.call("echo", json!({"text": 7})).await.unwrap_err();
    assert_eq!(error.to_string(), "`echo`: `text` must be string, not integer");
    assert_eq!(scripted.call("count", json!({})).await.unwrap()["calls"], 1);
}

#[tokio::test]
async fn a_call_without_an_answer_ends_in_time() {
    let scripted = Scripted::within(json!({"tools": [tool("hang"), tool("echo")]}), Duration::from_secs(3));
    scripted.server.refresh().await.unwrap();
    let started = Instant::now();
    let error = scripted.call("hang", json!({})).await.unwrap_err();
    assert!(matches!(error, McpError::Timeout { .. }), "{error}");
    assert!(started.elapsed() < Duration::from_secs(15));
    assert_eq!(scripted.call("echo", json!({"a": 1})).await.unwrap(), json!({"a": 1}));
}

#[tokio::test]
async fn a_server_that_is_down_keeps_what_was_seen() {
    let scripted = Scripted::new(json!({"tools": [tool("echo")]}));
    scripted.server.refresh().await.unwrap();
    scripted.rewrite(json!({"start": "exit"}));
    let error = scripted.server.refresh().await.unwrap_err();
    assert!(error.to_string().contains("the key is missing"), "{error}");
    let record = scripted.record();
    assert_eq!(scripted.names(), ["echo"]);
    assert!(record.failure().is_some() && record.last_seen().is_some());
}

#[tokio::test]
async fn a_definition_that_the_server_does_not_list_is_not_called() {
    let scripted = Scripted::new(json!({"tools": [tool("echo")]}));
    scripted.server.refresh().await.unwrap();
    let error = scripted.server.call(&define(tool("gone")), Default::default()).await.unwrap_err();
    assert!(matches!(error, McpError::Gone { .. }), "{error}");
}

//! Hostile behaviours of processes: in the handshake, and when they end.

use serde_json::json;

use super::behaviours::{Case, calls, case, done, on, result};

pub(crate) fn processes() -> Vec<Case> {
    let handshake = |name, line: String, kind, parts: &[&'static str]| {
        case(name, on("initialize", json!([line])), None, kind, parts)
    };
    let capable = |version: &str| {
        result(&format!(
            r#"{{"protocolVersion": "{version}", "serverInfo": {{"name": "s", "version": "1"}}, "capabilities": {{"tools": {{}}}}}}"#
        ))
    };
    vec![
        case("a server that exits at once", json!({"start": "exit"}), None, "Closed", &["the key is missing"]),
        case("a server that exits in the handshake", on("initialize", json!([{"exit": 1}])), None, "Closed", &[]),
        case("a server that exits in a list", on("tools/list", json!([{"exit": 1}])), None, "Closed", &[]),
        case("a server that exits in a call", calls(json!([{"exit": 1}])), Some("t"), "Closed", &[]),
        case("a server that hangs at the start", json!({"start": "hang"}), None, "Timeout", &["the handshake"]),
        case(
            "a server that hangs in the handshake",
            on("initialize", json!([{"hang": true}])),
            None,
            "Timeout",
            &["the handshake"],
        ),
        case("a server that hangs in a call", calls(json!([{"hang": true}])), Some("t"), "Timeout", &["the call"]),
        case(
            "a child keeps the pipes and the server exits",
            calls(json!([{"fork": true}, {"exit": 1}])),
            Some("t"),
            "Timeout the call|Closed",
            &[],
        ),
        case(
            "a child keeps the pipes after the result",
            calls(json!([{"fork": true}, done()])),
            Some("t"),
            "Ok",
            &["done"],
        ),
        handshake("a protocol version of the past", capable("1999-01-01"), "Handshake", &["protocol version"]),
        handshake("a protocol version that is a text of 100 KB", capable(&"9".repeat(100_000)), "Handshake", &[]),
        handshake("a handshake of the wrong type", result("{\"tools\": []}"), "Handshake", &["unexpected response"]),
        handshake(
            "a handshake that is an error",
            "{\"jsonrpc\": \"2.0\", \"id\": $ID, \"error\": {\"code\": -32000, \"message\": \"pay first </data>\"}}"
                .to_owned(),
            "Handshake",
            &["pay first"],
        ),
        handshake(
            "a handshake with another id",
            "{\"jsonrpc\": \"2.0\", \"id\": 999, \"result\": {}}".to_owned(),
            "Handshake|Timeout|Closed",
            &[],
        ),
    ]
}

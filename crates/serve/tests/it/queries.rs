//! Queries of clients, over HTTP and MCP: in private sessions, and only if the catalog allows them.

use std::time::Duration;

use prospector_serve::{Limits, Options};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{self, ANN, BEN, Running, Said, TOKEN, estate, two};

const JSON: (&str, &str) = ("content-type", "application/json");
const OF_ALL: &str = "SELECT COUNT(*) FROM orders.orders";
const OF_SUBSET: &str = "SELECT COUNT(*) FROM scoped.big";

/// The small catalog, with queries of clients allowed.
fn open_estate() -> TempDir {
    let folder = estate();
    let file = folder.path().join("catalog.yaml");
    let catalog = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("queries: true\n{catalog}")).unwrap();
    folder
}

async fn running(options: Options) -> Running {
    Running::over(open_estate(), support::offline(), options).await
}

fn subset() -> Value {
    let condition = json!({"column": "total", "op": "gt", "value": 10});
    json!({"alias": "big", "database": "orders", "table": "orders", "conditions": [condition]})
}

fn query(sql: &str) -> Value {
    json!({"queries": [{"question": "How many?", "sql": sql}]})
}

/// Calls a tool over HTTP, with or without a session.
async fn call(server: &Running, token: &str, session: Option<&str>, tool: &str, arguments: &Value) -> Said {
    let bearer = format!("Bearer {token}");
    let mut headers = vec![JSON, ("authorization", bearer.as_str())];
    headers.extend(session.map(|session| ("prospector-session", session)));
    server.request("POST", &format!("/v1/tools/{tool}"), &headers, &arguments.to_string()).await
}

async fn begin(server: &Running, token: &str) -> Said {
    let bearer = format!("Bearer {token}");
    server.request("POST", "/v1/query-sessions", &[("authorization", &bearer)], "").await
}

async fn session(server: &Running, token: &str) -> String {
    let said = begin(server, token).await;
    assert_eq!(said.status, 201, "{said:?}");
    said.json()["session"].as_str().unwrap().to_owned()
}

/// Returns the rows of the only query of a call, or the error code.
#[track_caller]
fn rows(said: &Said) -> Value {
    assert_eq!(said.status, 200, "{said:?}");
    outcome(&said.json()["answer"])
}

fn outcome(answer: &Value) -> Value {
    let one = answer.get(0).or_else(|| answer["items"].get(0)).unwrap_or(answer);
    one.get("rows").or_else(|| one.get("error")).unwrap_or_else(|| panic!("{answer}")).clone()
}

/// Raw calls with the names of arguments that models and people guess.
#[tokio::test(flavor = "multi_thread")]
async fn accepts_guessed_arguments() {
    let server = running(Options::default()).await;
    let mcp = server.session(TOKEN).await;
    for (tool, arguments, expected) in [
        ("resolve_fact", json!({"term": "big order"}), "more than 10"),
        ("resolve_fact", json!({"query": "big order"}), "more than 10"),
        ("resolve_fact", json!({"q": "big order"}), "more than 10"),
        ("execute_sql", json!({"sql": OF_ALL}), "[[2]]"),
        ("execute_sql", json!({"query": OF_ALL}), "[[2]]"),
        ("execute_sql", json!({"statement": OF_ALL}), "[[2]]"),
        ("execute_sql", json!({"queries": {"sql": OF_ALL}}), "[[2]]"),
        ("validate_query", json!({"query": OF_ALL}), "is_valid: true"),
        ("search", json!({"q": "orders", "kinds": "tables"}), "orders.orders"),
        ("search", json!({"question": "orders", "kind": ["Table"]}), "orders.orders"),
        ("describe", json!({"id": "orders.orders"}), "order_id"),
        ("describe", json!({"name": "orders.orders"}), "order_id"),
        ("describe", json!({"table": "orders.orders"}), "order_id"),
        ("list", json!({"kind": "database"}), "orders"),
        ("list", json!({"kinds": ["databases"]}), "orders"),
        ("list", json!({"type": "tables"}), "row_count"),
        ("list", json!({"database": "orders"}), "row_count"),
        ("list", json!({"kind": "table", "database": "orders"}), "row_count"),
        ("sample", json!({"id": "orders.orders.country"}), "PT"),
        ("sample", json!({"table": "orders.orders", "column": "country"}), "PT"),
        ("sample", json!({"database": "orders", "table": "orders", "column": "country"}), "PT"),
    ] {
        let said = mcp.call("tools/call", json!({"name": tool, "arguments": arguments})).await;
        let text = said["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.contains(expected) && said["result"]["isError"] == false, "{tool}({arguments}): {said}");
    }
    let said =
        mcp.call("tools/call", json!({"name": "list", "arguments": {"kind": "skills", "database": "orders"}})).await;
    assert_eq!(said["result"]["structuredContent"]["error"], "invalid_arguments", "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn links_to_all_rows_of_a_truncated_answer() {
    let server = running(Options::default()).await;
    let mcp = server.session(TOKEN).await;
    // Two rows, eight times crossed.
    let tables: Vec<String> = (0..8).map(|at| format!("orders.orders AS t{at}")).collect();
    let sql = format!("SELECT t0.order_id AS one, t1.order_id AS other FROM {}", tables.join(" CROSS JOIN "));
    let call = json!({"name": "execute_sql", "arguments": query(&sql)});
    let result = mcp.call("tools/call", call).await["result"].clone();
    let link = result["content"][1].clone();
    assert_eq!((&link["type"], &link["mimeType"]), (&json!("resource_link"), &json!("application/json")), "{result}");
    let read = mcp.call("resources/read", json!({"uri": link["uri"]})).await["result"].clone();
    let whole: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&whole["row_count"], &whole["has_more"]), (&json!(256), &json!(false)), "{whole}");
    assert_eq!(whole["rows"].as_array().unwrap().len(), 256);
    // Another client has no such answer, and a whole answer needs no link.
    let other = server.session(TOKEN).await.call("resources/read", json!({"uri": link["uri"]})).await;
    assert!(other["error"]["message"].as_str().unwrap().contains("unknown resource"), "{other}");
    let small = mcp.call("tools/call", json!({"name": "execute_sql", "arguments": query(OF_ALL)})).await;
    assert_eq!(small["result"]["content"].as_array().unwrap().len(), 1, "{small}");
}

#[tokio::test(flavor = "multi_thread")]
async fn returns_all_rows_of_a_truncated_answer_over_http() {
    let server = running(two(Limits::default())).await;
    let handle = session(&server, ANN).await;
    let tables: Vec<String> = (0..8).map(|at| format!("orders.orders AS t{at}")).collect();
    let sql = format!("SELECT t0.order_id AS one, t1.order_id AS other FROM {}", tables.join(" CROSS JOIN "));
    let said = call(&server, ANN, Some(&handle), "execute_sql", &query(&sql)).await.json();
    let path = said["links"][0]["rows"].as_str().unwrap_or_else(|| panic!("{said}")).to_owned();
    let read = async |token: &str, path: &str| {
        server.request("GET", path, &[("authorization", &format!("Bearer {token}"))], "").await
    };
    let whole = read(ANN, &path).await.json();
    assert_eq!((&whole["row_count"], &whole["has_more"]), (&json!(256), &json!(false)), "{whole}");
    assert_eq!(whole["rows"].as_array().unwrap().len(), 256);
    // Neither other clients nor other answers, and a whole answer needs no link.
    assert_eq!(read(BEN, &path).await.status, 410);
    assert_eq!(read(ANN, &format!("/v1/query-sessions/{handle}/rows/result_99")).await.status, 404);
    let small = call(&server, ANN, Some(&handle), "execute_sql", &query(OF_ALL)).await.json();
    assert_eq!(small.get("links"), None, "{small}");
}

#[tokio::test(flavor = "multi_thread")]
async fn returns_all_rows_of_a_query_of_an_answer() {
    let question = json!({"question": "How many orders are there by country?"}).to_string();
    for (server, status) in [
        (running(two(Limits::default())).await, 200),
        (Running::over(estate(), support::offline(), two(Limits::default())).await, 403),
    ] {
        let headers = |token: &str| format!("Bearer {token}");
        let answered =
            server.request("POST", "/v1/ask", &[JSON, ("authorization", &headers(ANN))], &question).await.json();
        let asked = &answered["questions"][0];
        let path = format!("/v1/runs/{}/rows/{}", answered["handle"].as_str().unwrap(), asked["id"].as_str().unwrap());
        let read = async |token: &str, path: &str| {
            server.request("GET", path, &[("authorization", &headers(token))], "").await
        };
        let said = read(ANN, &path).await;
        assert_eq!(said.status, status, "{said:?}");
        if status == 200 {
            assert_eq!((&said.json()["rows"], &said.json()["columns"]), (&asked["rows"], &asked["columns"]));
            assert_eq!(read(ANN, &path.replace("/Q1", "/Q9")).await.status, 404);
        }
        assert_eq!(read(BEN, &path).await.status, 410);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_are_refused_unless_the_catalog_allows_them() {
    let server = Running::usual().await;
    let listed = server.get("/v1/tools").await.body;
    assert!(!listed.contains("execute_sql") && !listed.contains("load_scoped"), "{listed}");
    for (tool, arguments) in [("execute_sql", query(OF_ALL)), ("load_scoped", subset()), ("list_sources", json!({}))] {
        let said = call(&server, TOKEN, None, tool, &arguments).await;
        assert_eq!((said.status, &said.json()["error"]), (403, &json!("refused")), "{tool}: {said:?}");
        assert!(said.json()["suggestion"].as_str().unwrap().contains("queries: true"), "{said:?}");
        let session = server.session(TOKEN).await;
        let said = session.call("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert_eq!(said["result"]["structuredContent"]["error"], "refused", "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn loaded_data_is_private_to_an_http_session() {
    let server = running(Options::default()).await;
    let listed = server.get("/v1/tools").await.json();
    let names: Vec<&str> =
        listed["items"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted() && names.contains(&"execute_sql") && names.contains(&"validate_query"), "{names:?}");
    // Tools that leave no state need no session.
    assert_eq!(rows(&call(&server, TOKEN, None, "execute_sql", &query(OF_ALL)).await), json!([[2]]));
    assert_eq!(call(&server, TOKEN, None, "get_datasource_metadata", &json!({})).await.status, 200);
    assert_eq!(call(&server, TOKEN, None, "validate_query", &json!({"query": OF_ALL})).await.status, 200);
    for tool in ["load_scoped", "get_previous_results"] {
        let said = call(&server, TOKEN, None, tool, &subset()).await;
        assert_eq!((said.status, &said.json()["error"]), (400, &json!("invalid_arguments")), "{said:?}");
        assert!(said.body.contains("POST /v1/query-sessions"), "{said:?}");
    }
    let (one, other) = (session(&server, TOKEN).await, session(&server, TOKEN).await);
    let loaded = call(&server, TOKEN, Some(&one), "load_scoped", &subset()).await;
    assert_eq!(loaded.json()["answer"]["rows_loaded"], 1, "{loaded:?}");
    assert_eq!(rows(&call(&server, TOKEN, Some(&one), "execute_sql", &query(OF_SUBSET)).await), json!([[1]]));
    for session in [None, Some(other.as_str())] {
        let said = call(&server, TOKEN, session, "execute_sql", &query(OF_SUBSET)).await;
        assert_eq!(rows(&said), "unknown_table", "{session:?}: {said:?}");
    }
    // Nor its results.
    let earlier = call(&server, TOKEN, Some(&one), "get_previous_results", &json!({"id": "result_1"})).await;
    assert!(earlier.status == 200 && earlier.body.contains("scoped.big"), "{earlier:?}");
    let earlier = call(&server, TOKEN, Some(&other), "get_previous_results", &json!({"id": "result_1"})).await;
    assert!(earlier.body.contains("unknown_table"), "{earlier:?}");
    // A refresh removes nothing that still exists.
    assert_eq!(server.request("POST", "/v1/refresh", &[], "").await.status, 200);
    assert_eq!(rows(&call(&server, TOKEN, Some(&one), "execute_sql", &query(OF_SUBSET)).await), json!([[1]]));
    // The rules of the engine apply.
    let written = call(&server, TOKEN, Some(&one), "execute_sql", &query("DELETE FROM orders.orders")).await;
    assert_eq!(rows(&written), "refused");
    let path = format!("/v1/query-sessions/{one}");
    assert_eq!(server.request("DELETE", &path, &[], "").await.status, 204);
    assert_eq!(server.request("DELETE", &path, &[], "").await.status, 410);
    assert_eq!(call(&server, TOKEN, Some(&one), "execute_sql", &query(OF_SUBSET)).await.status, 410);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_removed_by_a_refresh_cannot_be_queried() {
    let server = running(Options::default()).await;
    let session = session(&server, TOKEN).await;
    assert_eq!(call(&server, TOKEN, Some(&session), "load_scoped", &subset()).await.status, 200);
    let file = server.folder.path().join("catalog.yaml");
    let catalog = std::fs::read_to_string(&file).unwrap();
    std::fs::write(server.folder.path().join("other.csv"), "id\n1\n").unwrap();
    std::fs::write(&file, catalog.replace("orders.csv", "other.csv")).unwrap();
    assert_eq!(server.request("POST", "/v1/refresh", &[], "").await.status, 200);
    for sql in [OF_SUBSET, OF_ALL] {
        let said = rows(&call(&server, TOKEN, Some(&session), "execute_sql", &query(sql)).await);
        assert!(said == "unknown_table" || said == "unknown_database", "{sql}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_private_limited_and_expire_when_idle() {
    let limits = Limits { sessions: 3, sessions_per_owner: Some(2), ..Limits::default() };
    let server = running(two(limits)).await;
    let of_ann = session(&server, ANN).await;
    assert_eq!(call(&server, ANN, Some(&of_ann), "load_scoped", &subset()).await.status, 200);
    let taken = call(&server, BEN, Some(&of_ann), "execute_sql", &query(OF_SUBSET)).await;
    let nothing = "queries_0123456789abcdef0123456789abcdef";
    let unknown = call(&server, BEN, Some(nothing), "execute_sql", &query(OF_SUBSET)).await;
    assert_eq!((taken.status, taken.body.replace(&of_ann, "ID")), (410, unknown.body.replace(nothing, "ID")));
    assert_eq!(call(&server, BEN, Some("nonsense"), "execute_sql", &query(OF_ALL)).await.status, 404);
    // Two per owner and three in total are allowed.
    let second = session(&server, ANN).await;
    let refused = begin(&server, ANN).await;
    assert_eq!((refused.status, &refused.json()["error"]), (429, &json!("too_many_requests")), "{refused:?}");
    session(&server, BEN).await;
    let refused = begin(&server, BEN).await;
    assert_eq!((refused.status, &refused.json()["error"]), (503, &json!("overloaded")), "{refused:?}");
    let bearer = format!("Bearer {ANN}");
    let path = format!("/v1/query-sessions/{second}");
    assert_eq!(server.request("DELETE", &path, &[("authorization", &bearer)], "").await.status, 204);
    session(&server, BEN).await;

    let idle = Limits { session_idle: Duration::from_millis(200), sessions: 1, ..Limits::default() };
    let server = running(Options { limits: idle, ..Options::default() }).await;
    session(&server, TOKEN).await;
    assert_eq!(begin(&server, TOKEN).await.status, 503);
    server.until("/metrics", |said| said.body.contains("prospector_query_sessions 0\n")).await;
    assert_eq!(begin(&server, TOKEN).await.status, 201);
}

/// Sends a request of the revision without sessions.
async fn sessionless(server: &Running, method: &str, mut params: Value) -> Value {
    const REVISION: &str = "2026-07-28";
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let bearer = format!("Bearer {TOKEN}");
    let mut headers = vec![
        ("authorization", bearer.as_str()),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", REVISION),
        ("mcp-method", method),
        JSON,
    ];
    if !name.is_empty() {
        headers.push(("mcp-name", &name));
    }
    server.request("POST", "/mcp", &headers, &message.to_string()).await.message()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_mcp_connection_has_its_own_session() {
    let server = running(Options::default()).await;
    let (one, other) = (server.session(TOKEN).await, server.session(TOKEN).await);
    let listed = one.call("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let load = tools.iter().find(|tool| tool["name"] == "load_scoped").unwrap();
    assert_eq!(load["annotations"]["readOnlyHint"], false, "{load}");
    assert!(load["inputSchema"]["properties"].get("session").is_none(), "{load}");
    let call = |name: &str, arguments: &Value| json!({"name": name, "arguments": arguments});
    let loaded = one.call("tools/call", call("load_scoped", &subset())).await;
    assert_eq!(loaded["result"]["structuredContent"]["rows_loaded"], 1, "{loaded}");
    let counted = one.call("tools/call", call("execute_sql", &query(OF_SUBSET))).await;
    assert_eq!(outcome(&counted["result"]["structuredContent"]), json!([[1]]), "{counted}");
    let counted = other.call("tools/call", call("execute_sql", &query(OF_SUBSET))).await;
    assert_eq!(outcome(&counted["result"]["structuredContent"]), "unknown_table", "{counted}");

    // If a connection ends with each request, a session has a handle.
    let listed = sessionless(&server, "tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    let load = tools.iter().find(|tool| tool["name"] == "load_scoped").unwrap();
    assert_eq!(load["inputSchema"]["properties"]["session"]["type"], "string", "{load}");
    let loaded = sessionless(&server, "tools/call", call("load_scoped", &subset())).await;
    let fields = &loaded["result"]["structuredContent"];
    let handle = fields["session"].as_str().unwrap_or_else(|| panic!("{loaded}"));
    assert!(loaded["result"]["content"][0]["text"].as_str().unwrap().contains(handle), "{loaded}");
    for (session, expected) in [(Some(handle), json!([[1]])), (None, json!("unknown_table"))] {
        let mut arguments = query(OF_SUBSET);
        if let Some(session) = session {
            arguments["session"] = session.into();
        }
        let counted = sessionless(&server, "tools/call", call("execute_sql", &arguments)).await;
        assert_eq!(outcome(&counted["result"]["structuredContent"]), expected, "{counted}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn results_of_plan_steps_stay_in_the_session() {
    let server = running(Options::default()).await;
    let steps =
        json!([{"number": 1, "goal": "Sum the totals", "sql": "SELECT sum(total) AS total FROM orders.orders"}]);
    let plan = json!({"plan": {"question": "", "plan": {"steps": steps}}});
    let own = session(&server, TOKEN).await;
    let said = call(&server, TOKEN, Some(&own), "run_plan", &plan).await;
    let run = &said.json()["answer"];
    assert_eq!((said.status, &run["stopped"]), (200, &Value::Null), "{said:?}");
    assert_eq!(run["steps"][0]["columns"], json!(["total"]));

    let again = query("SELECT total FROM step_1");
    let kept = call(&server, TOKEN, Some(&own), "execute_sql", &again).await;
    assert_eq!(rows(&kept), run["steps"][0]["rows"]);
    let other = session(&server, TOKEN).await;
    let theirs = call(&server, TOKEN, Some(&other), "execute_sql", &again).await;
    assert_eq!(rows(&theirs), json!("unknown_table"));

    let wrong = call(&server, TOKEN, Some(&own), "run_plan", &json!({"plan": {"steps": []}})).await;
    assert_eq!(wrong.status, 400, "{wrong:?}");
}

//! A workflow over HTTP: started, continued with the user's choices, and restored by another server.

use std::sync::Arc;

use crate::ledger::plain_csv;
use prospector_agent::Models;
use prospector_reconcile::{RECONCILE, reconcile_tools};
use prospector_serve::{Limits, OfferedWorkflow, Options, Tokens};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{self, ANN, BEN, Running, Said, read_until, short, waiting};

const JSON: (&str, &str) = ("content-type", "application/json");
const EVENTS: (&str, &str) = ("accept", "text/event-stream");

const ROWS: usize = 40;
const WHAT: &str = "Match ledger.invoices with bank.payments.";

fn estate() -> TempDir {
    let (folder, [invoices, payments]) = (tempfile::tempdir().unwrap(), plain_csv(ROWS));
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("invoices.csv", &invoices);
    write("payments.csv", &payments);
    write("catalog.yaml", "databases:\n- {name: ledger, path: invoices.csv}\n- {name: bank, path: payments.csv}\n");
    folder
}

async fn running(folder: TempDir, models: Models, limits: Limits) -> Running {
    let offered = OfferedWorkflow { name: "reconcile", definition: RECONCILE, tools: Arc::new(reconcile_tools) };
    let options = Options {
        tokens: Tokens::none().with(ANN).unwrap().with(BEN).unwrap(),
        state: Some(folder.path().join(".prospector")),
        workflows: vec![offered],
        limits,
        ..Options::default()
    };
    Running::over(folder, models, options).await
}

async fn ask(server: &Running, token: &str, method: &str, path: &str, body: &Value) -> Said {
    let bearer = format!("Bearer {token}");
    let body = if body.is_null() { String::new() } else { body.to_string() };
    server.request(method, path, &[("authorization", &bearer), JSON], &body).await
}

async fn begin(server: &Running) -> Value {
    let said = ask(server, ANN, "POST", "/v1/workflows", &json!({"workflow": "reconcile", "message": WHAT})).await;
    assert_eq!(said.status, 200, "{said:?}");
    said.json()
}

fn path(state: &Value) -> String {
    format!("/v1/workflows/{}", state["handle"].as_str().unwrap())
}

async fn say(server: &Running, state: &Value, message: &str) -> Value {
    let said = ask(server, ANN, "POST", &path(state), &json!({"message": message})).await;
    assert_eq!(said.status, 200, "{said:?}");
    said.json()
}

/// Returns the model's last answer.
fn last_answer(state: &Value) -> &str {
    let turns = state["turns"].as_array().unwrap();
    turns.last().and_then(|turn| turn["answer"].as_str()).unwrap()
}

/// Starts another server over the stored data.
async fn restarted_server(server: Running, models: Models) -> Running {
    let Running { folder, ended, .. } = server;
    ended.abort();
    let _ = ended.await;
    running(folder, models, short()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn workflows_continue_after_a_restart() {
    let server = running(estate(), support::offline(), Limits::default()).await;
    assert_eq!(ask(&server, ANN, "GET", "/v1/about", &Value::Null).await.json()["workflows"], json!(["reconcile"]));
    let state = begin(&server).await;
    assert_eq!((&state["state"], &state["phase"]), (&json!("waiting"), &json!("demonstration")), "{state:#}");
    assert!(state["turns"][0]["answer"].as_str().unwrap().contains("p1"), "{state:#}");
    assert_eq!(state["turns"][0]["said"], WHAT);
    let listed = ask(&server, ANN, "GET", "/v1/workflows", &Value::Null).await.json();
    assert_eq!(listed["items"][0]["handle"], state["handle"], "{listed}");
    // It is invisible to others.
    assert_eq!(ask(&server, BEN, "GET", "/v1/workflows", &Value::Null).await.json(), json!({"items": []}));
    for (method, body) in [("GET", Value::Null), ("POST", json!({"message": "yes"})), ("DELETE", Value::Null)] {
        assert_eq!(ask(&server, BEN, method, &path(&state), &body).await.status, 404, "{method}");
    }

    // Another server restores it, and continues with what the user has seen.
    let server = restarted_server(server, support::offline()).await;
    assert_eq!(ask(&server, ANN, "GET", &path(&state), &Value::Null).await.json(), state);
    for said in ["all", "Looks good to me", "yes, p1"] {
        let asked = say(&server, &state, said).await;
        assert_eq!(
            (&asked["phase"], &asked["state"]),
            (&json!("demonstration"), &json!("waiting")),
            "{said}: {asked:#}"
        );
        assert!(last_answer(&asked).contains("`yes p1 p2`"), "the choices are listed: {asked:#}");
    }
    let validated = say(&server, &state, "yes").await;
    assert_eq!(validated["phase"], "validation", "{validated:#}");
    assert_eq!(validated["products"]["validation"]["passed"], true, "{validated:#}");
    let server = restarted_server(server, support::offline()).await;
    // Nothing runs before the user has chosen `yes`.
    for said in ["what would that do?", "NO, do not run it, stop", "yes, run it"] {
        let unclear = say(&server, &state, said).await;
        assert!(unclear["products"]["result"].is_null() && unclear["state"] == "waiting", "{said}: {unclear:#}");
        assert!(last_answer(&unclear).contains("`yes`") && last_answer(&unclear).contains("`no`"), "{unclear:#}");
    }
    let server = restarted_server(server, support::offline()).await;
    let done = say(&server, &state, "Yes").await;
    assert_eq!((&done["state"], &done["completed"]), (&json!("over"), &json!(true)), "{done:#}");
    let matched = done["products"]["result"]["counts"]["matched"].as_u64().unwrap();
    assert_eq!(matched as usize, ROWS * 9 / 10, "{done:#}");
    let again = ask(&server, ANN, "POST", &path(&state), &json!({"message": "once more"})).await;
    assert_eq!((again.status, &again.json()["error"]), (409, &json!("conflict")), "{again:?}");

    // Its files are returned in pages, to its owner only.
    let file = |name: &str| format!("{}/files/{name}", path(&state));
    let first = ask(&server, ANN, "GET", &format!("{}?limit=10", file("matched.jsonl")), &Value::Null).await.json();
    assert_eq!((first["items"].as_array().unwrap().len(), &first["next"]), (10, &json!(10)), "{first}");
    let rest = ask(&server, ANN, "GET", &format!("{}?offset=10", file("matched.jsonl")), &Value::Null).await.json();
    assert_eq!(rest["items"].as_array().unwrap().len() as u64 + 10, matched);
    assert!(rest.get("next").is_none());
    for (token, name) in [(BEN, "matched.jsonl"), (ANN, "recipe.json"), (ANN, "..%2f..%2fcatalog.yaml")] {
        assert_eq!(ask(&server, token, "GET", &file(name), &Value::Null).await.status, 404, "{name}");
    }
    assert_eq!(ask(&server, ANN, "DELETE", &path(&state), &Value::Null).await.status, 204);
    assert_eq!(ask(&server, ANN, "GET", &path(&state), &Value::Null).await.status, 404);
    assert_eq!(ask(&server, ANN, "GET", &file("matched.jsonl"), &Value::Null).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn confirmations_are_invalid_for_changed_rows() {
    let server = running(estate(), support::offline(), Limits::default()).await;
    let state = begin(&server).await;
    let payments = server.folder.path().join("payments.csv");
    let mut lines: Vec<String> = std::fs::read_to_string(&payments).unwrap().lines().map(str::to_owned).collect();
    lines.drain(1..10);
    std::fs::write(&payments, lines.join("\n")).unwrap();
    let server = restarted_server(server, support::offline()).await;
    let said = ask(&server, ANN, "POST", &path(&state), &json!({"message": "yes"})).await;
    assert_eq!((said.status, &said.json()["error"]), (410, &json!("expired")), "{said:?}");
    assert!(said.body.contains("can no longer be reproduced"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_turns_are_repeated() {
    let server = running(estate(), waiting(), short()).await;
    let bearer = format!("Bearer {ANN}");
    let asked = json!({"workflow": "reconcile", "message": WHAT}).to_string();
    let headers = [("authorization", bearer.as_str()), JSON, EVENTS];
    let mut stream = server.send("POST", "/v1/workflows", &headers, &asked).await;
    let text = read_until(&mut stream, "\"workflow\":\"workflow_").await;
    let handle = text.split("\"workflow\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let state = json!({"handle": handle});
    let running = ask(&server, ANN, "GET", &path(&state), &Value::Null).await.json();
    assert_eq!(running["state"], "running", "{running}");
    let busy = ask(&server, ANN, "POST", &path(&state), &json!({"message": "and?"})).await;
    assert_eq!((busy.status, &busy.json()["error"]), (409, &json!("conflict")), "{busy:?}");
    // Its client disconnects, and the turn continues.
    drop(stream);
    tokio::time::sleep(short().linger * 3).await;
    assert_eq!(ask(&server, ANN, "GET", &path(&state), &Value::Null).await.json()["state"], "running");

    let server = restarted_server(server, support::offline()).await;
    let left = ask(&server, ANN, "GET", &path(&state), &Value::Null).await.json();
    assert_eq!((&left["state"], &left["pending"]), (&json!("interrupted"), &json!(WHAT)), "{left}");
    // The message need not be sent again.
    let said = server.request("POST", &path(&state), &[("authorization", &bearer), EVENTS], "").await;
    let events = said.events();
    let names: Vec<&str> = events.iter().map(|(_, name, _)| name.as_str()).collect();
    assert!(names.starts_with(&["started"]) && names.ends_with(&["workflow", "done"]), "{names:?}");
    assert!(names.contains(&"phase") && names.contains(&"answer"), "{names:?}");
    let state = &events[events.len() - 2].2;
    assert_eq!((&state["state"], &state["phase"]), (&json!("waiting"), &json!("demonstration")), "{state:#}");
    assert!(state.get("pending").is_none(), "{state:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn workflows_that_cannot_start_report_why() {
    let server = running(estate(), support::offline(), Limits::default()).await;
    for (body, status) in [
        (json!({"workflow": "recoincile"}), 404),
        (json!({"message": WHAT}), 400),
        (json!({"workflow": "reconcile", "mesage": WHAT}), 400),
        (json!({"workflow": "reconcile", "message": "x".repeat(20_000)}), 400),
    ] {
        let said = ask(&server, ANN, "POST", "/v1/workflows", &body).await;
        assert_eq!(said.status, status, "{said:?}");
        assert!(said.json()["suggestion"].is_string(), "{said:?}");
    }
    assert_eq!(ask(&server, ANN, "GET", "/v1/workflows/workflow_1", &Value::Null).await.status, 404);
    assert_eq!(ask(&server, ANN, "GET", "/v1/workflows", &Value::Null).await.json(), json!({"items": []}));
    // A server without stored conversations has no workflows.
    let server = Running::usual().await;
    assert_eq!(server.get("/v1/about").await.json()["workflows"], json!([]));
    let said = server.post("/v1/workflows", &json!({"workflow": "reconcile"})).await;
    assert_eq!(said.status, 404, "{said:?}");
}

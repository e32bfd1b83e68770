//! `planner serve`: the real binary, a token from the environment, and a signal during a run.

use std::{thread, time::Duration};

use prospector_test_support::provider::{FakeProvider, KEY, Turn};
use serde_json::{Value, json};

use crate::support::{self, Estate, VIP, receive, serving::Server};

use crate::ledger;

#[test]
fn requires_a_token_and_ends_on_a_signal() {
    let estate = Estate::sample();
    let mut server = Server::new(&estate, &[], &[]);
    let asked = json!({"question": VIP}).to_string();
    let (status, body) = server.ask("POST", "/v1/plan", &asked);
    let plan: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error} in {body}"));
    assert_eq!(status, 200);
    support::assert_sound(&plan);
    server.signal();
    server.until("stopped");
    assert!(server.child.wait().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn summary_model_writes_answer_and_follow_ups() {
    let said = "Brazil has 69 customers [Q1].";
    let written = format!("{said}\n\nNext: How many in Chile?\nNext: By year?");
    let fake = FakeProvider::start([Turn::text(&written)]).await;
    let base = fake.settings().anthropic_base_url.unwrap();
    let settings = [("ANTHROPIC_API_KEY", KEY), ("ANTHROPIC_BASE_URL", base.as_str())];
    let args = ["--model", "offline", "--summary-model", "claude-haiku-4-5"];
    let asked = json!({"question": "How many customers are there in Brazil?"}).to_string();
    let (status, body) = tokio::task::block_in_place(|| {
        let estate = Estate::sample();
        Server::new(&estate, &settings, &args).ask("POST", "/v1/ask", &asked)
    });
    assert_eq!(status, 200, "{body}");
    let answered: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error} in {body}"));
    fake.assert_clean();
    assert_eq!(answered["answer"], said);
    assert_eq!(answered["follow_ups"], json!(["How many in Chile?", "By year?"]));
    assert_eq!(answered["model"], "offline");
}

/// The model is a server that never answers.
#[test]
fn a_signal_in_the_middle_of_a_run_cancels_it_with_a_reason() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/", silent.local_addr().unwrap());
    let held = thread::spawn(move || silent.incoming().map_while(Result::ok).take(1).collect::<Vec<_>>());
    let estate = Estate::sample();
    let settings = [("OPENAI_API_KEY", "sk-test-0123456789"), ("OPENAI_BASE_URL", url.as_str())];
    let mut server = Server::new(&estate, &settings, &["--model", "gpt-4.1", "--grace", "0"]);
    let asked = json!({"question": VIP}).to_string();
    let stream = server.send("POST", "/v1/plan", "accept: text/event-stream\r\n", &asked);
    let waiting = held.join().unwrap();
    server.signal();
    let (status, events) = receive(stream);
    assert_eq!(status, 200);
    assert!(events.contains("the server is shutting down"), "{events}");
    assert!(events.trim_end().lines().any(|line| line == "event: done"), "{events}");
    server.until("stopped");
    assert!(server.child.wait().unwrap().success());
    drop(waiting);
}

#[test]
fn a_refresh_by_another_process_is_noticed() {
    let estate = Estate::copy();
    let server = Server::new(&estate, &[], &[]);
    let table = "/v1/catalog/table/visits.visits";
    assert_eq!(server.ask("GET", table, "").0, 404);
    estate.write("visits.csv", "day,visitors\n2025-01-01,7\n");
    let catalog = estate.path("catalog.yaml");
    let text = std::fs::read_to_string(&catalog).unwrap();
    std::fs::write(&catalog, text.replacen("databases:\n", "databases:\n  - path: visits.csv\n", 1)).unwrap();
    estate.run(["refresh"]).json(0);
    let noticed = (0..300).any(|_| {
        thread::sleep(Duration::from_millis(100));
        server.ask("GET", table, "").0 == 200
    });
    assert!(noticed, "the new table is not served");
}

#[test]
fn a_reconciliation_outlives_the_server() {
    const ROWS: usize = 40;
    let [invoices, payments] = ledger::plain_csv(ROWS);
    let estate = Estate::new("databases:\n- {name: ledger, path: invoices.csv}\n- {name: bank, path: payments.csv}\n")
        .with("invoices.csv", invoices)
        .with("payments.csv", payments);
    let say = |path: &str, said: Value| {
        let server = Server::new(&estate, &[], &[]);
        let (status, body) = server.ask("POST", path, &said.to_string());
        assert_eq!(status, 200, "{body}");
        server.kill();
        serde_json::from_str::<Value>(&body).unwrap()
    };
    let what = "Match ledger.invoices with bank.payments.";
    let begun = say("/v1/workflows", json!({"workflow": "reconcile", "message": what}));
    let path = format!("/v1/workflows/{}", begun["handle"].as_str().unwrap());
    assert_eq!(say(&path, json!({"message": "yes"}))["phase"], "validation");
    let done = say(&path, json!({"message": "yes"}));
    assert_eq!((&done["state"], &done["completed"]), (&json!("over"), &json!(true)), "{done:#}");
    let server = Server::new(&estate, &[], &[]);
    let (status, rows) = server.ask("GET", &format!("{path}/files/matched.jsonl"), "");
    assert_eq!(status, 200, "{rows}");
    let rows: Value = serde_json::from_str(&rows).unwrap();
    let number = |value: &Value| value.as_str().unwrap().parse::<usize>().unwrap();
    let pairs = rows["items"].as_array().unwrap();
    assert!(pairs.len() == ROWS * 9 / 10, "{rows}");
    assert!(pairs.iter().all(|pair| number(&pair["left"]) + 6_000 == number(&pair["right"])), "{rows}");
}

#[test]
fn non_local_address_requires_a_token() {
    let estate = Estate::sample();
    let ran = estate.run(["serve", "--listen", "0.0.0.0:0"]);
    assert!(ran.complaint(2).contains("set PROSPECTOR_TOKEN"), "{}", ran.err);
}

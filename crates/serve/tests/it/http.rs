//! HTTP as a client sees it: plans, events, tools, and the end of runs.

use prospector_serve::{Limits, Options};
use serde_json::{Value, json};

use crate::support::{self, QUESTION, Running, Said, read_until, short, waiting};

const EVENTS: (&str, &str) = ("accept", "text/event-stream");
const JSON: (&str, &str) = ("content-type", "application/json");

fn names(events: &[(u64, String, Value)]) -> Vec<&str> {
    events.iter().map(|(_, name, _)| name.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_are_returned_and_kept_by_handle() {
    let server = Running::usual().await;
    let said = server.post("/v1/plan", &json!({"question": QUESTION})).await;
    assert_eq!(said.status, 200, "{said:?}");
    let plan = said.json();
    assert_eq!(plan["verification"]["ok"], true, "{plan}");
    assert_eq!(plan["discovered_context"]["tables"], json!(["orders.orders"]));
    let handle = plan["handle"].as_str().unwrap();
    assert_eq!(server.get(&format!("/v1/results/{handle}")).await.json(), plan);
    let run = server.get(&format!("/v1/runs/{handle}")).await.json();
    assert_eq!((&run["state"], &run["result"]), (&json!("ended"), &plan));
}

#[tokio::test(flavor = "multi_thread")]
async fn reconnecting_clients_receive_the_remaining_events() {
    let server = Running::usual().await;
    let asked = json!({"question": QUESTION}).to_string();
    let said = server.request("POST", "/v1/plan", &[EVENTS, JSON], &asked).await;
    assert_eq!(said.header("content-type"), Some("text/event-stream"), "{said:?}");
    let events = said.events();
    let numbers: Vec<u64> = events.iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    let heard = names(&events);
    assert_eq!((heard[0], heard[1]), ("started", "round"), "{heard:?}");
    assert_eq!(&heard[heard.len() - 3..], ["verified", "plan", "done"], "{heard:?}");
    assert_eq!(
        heard.iter().filter(|name| **name == "tool").count(),
        heard.iter().filter(|name| **name == "result").count()
    );

    let handle = events[0].2["handle"].as_str().unwrap();
    let path = format!("/v1/runs/{handle}/events");
    assert_eq!(server.get(&path).await.events(), events, "all of it again");
    let rest = server.request("GET", &path, &[("last-event-id", "3")], "").await;
    assert_eq!(rest.events(), events[3..], "the events after the third");
    assert_eq!(server.request("GET", &path, &[("last-event-id", "three")], "").await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn disconnecting_cancels_the_run() {
    let server = Running::new(waiting(), Options { limits: short(), ..Options::default() }).await;
    let asked = json!({"question": QUESTION}).to_string();
    let cancelled = |count: u32| {
        let line = format!("prospector_runs_total{{task=\"plan\",outcome=\"cancelled\"}} {count}\n");
        move |said: &Said| said.body.contains(&line)
    };

    // A client that waits for one response: the run ends with its connection.
    let stream = server.send("POST", "/v1/plan", &[JSON], &asked).await;
    server.until("/metrics", |said| said.body.contains("prospector_runs 1\n")).await;
    drop(stream);
    server.until("/metrics", cancelled(1)).await;

    // Events: the run waits for a reconnecting client for a while, then ends too.
    let mut stream = server.send("POST", "/v1/plan", &[JSON, EVENTS], &asked).await;
    let text = read_until(&mut stream, "\"handle\":\"").await;
    let handle = text.split("\"handle\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    drop(stream);
    let run = server.until(&format!("/v1/runs/{handle}"), |said| said.json()["state"] == "ended").await.json();
    assert_eq!(run["failure"], json!({"error": "cancelled", "message": "the client disconnected"}));
    assert_eq!(run["result"]["ended"], "cancelled");
    server.until("/metrics", cancelled(2)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_can_be_cancelled_by_another_request() {
    let server = Running::new(waiting(), Options::default()).await;
    let asked = json!({"question": QUESTION}).to_string();
    let mut stream = server.send("POST", "/v1/plan", &[JSON, EVENTS], &asked).await;
    let text = read_until(&mut stream, "\"handle\":\"").await;
    let handle = text.split("\"handle\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert_eq!(server.request("DELETE", &format!("/v1/runs/{handle}"), &[], "").await.status, 204);
    let rest = read_until(&mut stream, "event: done").await;
    assert!(rest.contains("cancelled by the client"), "{rest}");
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_clients_are_notified_of_shutdown() {
    let server = Running::new(waiting(), Options { limits: short(), ..Options::default() }).await;
    let asked = json!({"question": QUESTION}).to_string();
    let mut followed = server.send("POST", "/v1/plan", &[JSON, EVENTS], &asked).await;
    let mut waited = server.send("POST", "/v1/plan", &[JSON], &asked).await;
    server.until("/metrics", |said| said.body.contains("prospector_runs 2\n")).await;
    server.stop.cancel();

    let said = Said::of(&mut waited).await;
    assert_eq!(said.status, 503, "{said:?}");
    assert_eq!(said.json()["message"], "the server is shutting down");
    assert_eq!(said.json()["result"]["ended"], "cancelled");
    let events = Said::of(&mut followed).await.events();
    let (_, name, data) = events.last().unwrap();
    assert_eq!((name.as_str(), &data["reason"]), ("done", &json!("the server is shutting down")));
    tokio::time::timeout(support::TIMEOUT, server.ended).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_and_refusals_have_uniform_responses() {
    let server = Running::usual().await;
    let check = async |method: &str, path: &str, body: &str, status: u16, code: &str| {
        let said = server.request(method, path, &[JSON], body).await;
        assert_eq!(said.status, status, "{method} {path}: {said:?}");
        if !code.is_empty() {
            assert_eq!(said.json()["error"], code, "{method} {path}");
            assert!(said.json()["message"].is_string(), "{method} {path}");
        }
    };
    check("POST", "/v1/tools/search", r#"{"query": "orders"}"#, 200, "").await;
    check("POST", "/v1/tools/serach", "{}", 404, "unknown_tool").await;
    // A tool of the other profile, which is not listed; and a name with alias arguments.
    check("POST", "/v1/tools/list_databases", "{}", 200, "").await;
    let said = server.request("POST", "/v1/tools/search", &[JSON], r#"{"Query": "orders"}"#).await;
    assert_eq!(said.json()["notes"], json!(["`Query` was interpreted as `query`"]));
    check("POST", "/v1/tools/search", r#"{"what": 1}"#, 400, "invalid_arguments").await;
    check("POST", "/v1/tools/search", "[]", 400, "invalid_arguments").await;
    check("POST", "/v1/tools/search", "{", 400, "bad_request").await;
    check("POST", "/v1/plan", "{}", 400, "invalid_arguments").await;
    check("POST", "/v1/plan", r#"{"question": " "}"#, 400, "invalid_arguments").await;
    check("POST", "/v1/plan", r#"{"question": "x", "mode": "loud"}"#, 400, "invalid_arguments").await;
    check("GET", "/v1/plan", "", 405, "method_not_allowed").await;
    check("GET", "/v2", "", 404, "not_found").await;
    check("GET", "/v1/search?q=orders&kind=table", "", 200, "").await;
    check("GET", "/v1/search?q=orders&kind=tables", "", 400, "invalid_arguments").await;
    check("GET", "/v1/search?query=orders", "", 400, "invalid_arguments").await;
    check("GET", "/v1/catalog/table/orders.orders", "", 200, "").await;
    check("GET", "/v1/catalog/table/orders.oders", "", 404, "not_found").await;
    check("GET", "/v1/catalog/chair/orders", "", 404, "not_found").await;
    check("GET", "/v1/runs/run_0123456789abcdef0123456789abcdef", "", 410, "expired").await;
    check("GET", "/v1/runs/x", "", 404, "not_found").await;
    check("GET", "/assets/../Cargo.toml", "", 404, "not_found").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn truncated_answers_can_be_fetched_page_by_page() {
    let server = Running::usual().await;
    let said = server.post("/v1/tools/describe", &json!({"ids": ["rules#Long"], "max_tokens": 200})).await.json();
    let handle = said["handle"].as_str().unwrap_or_else(|| panic!("{said}"));
    let page = async |number: usize| server.get(&format!("/v1/results/{handle}?page={number}")).await;
    let first = page(1).await.json();
    assert_eq!(first["next"], "call again with page=2", "{first}");
    let pages = first["pages"].as_u64().unwrap() as usize;
    let mut all = String::new();
    for number in 1..=pages {
        all.push_str(page(number).await.json()["text"].as_str().unwrap());
    }
    assert!(all.matches("words and words").count() >= 2_900, "{}", all.matches("words and words").count());
    assert_eq!(page(pages + 1).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn refreshes_do_not_interrupt_requests() {
    let server = Running::usual().await;
    let table = "/v1/catalog/table/visits.visits";
    assert_eq!(server.get(table).await.status, 404);
    std::fs::write(server.folder.path().join("visits.csv"), "day,visitors\n2025-01-01,7\n").unwrap();
    let catalog = server.folder.path().join("catalog.yaml");
    let text = std::fs::read_to_string(&catalog).unwrap();
    std::fs::write(&catalog, text.replace("databases:\n", "databases:\n- path: visits.csv\n")).unwrap();
    let said = server.request("POST", "/v1/refresh", &[], "").await;
    assert_eq!(said.json()["generation"], 2, "{said:?}");
    assert_eq!(server.get(table).await.status, 200);

    // A catalog that cannot be opened changes nothing, and its reason is not revealed.
    std::fs::write(&catalog, "databases: [\n").unwrap();
    let said = server.request("POST", "/v1/refresh", &[], "").await;
    assert_eq!((said.status, &said.json()["error"]), (503, &json!("unavailable")));
    assert!(!said.body.contains("catalog.yaml"), "{said:?}");
    assert_eq!(server.get(table).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn openapi_description_matches_the_routes() {
    let server = Running::usual().await;
    let text = server.get("/openapi.json").await.body;
    let (api, problems) = prospector_api::ApiDiscovery::from_text("prospector", &text);
    assert!(problems.is_empty(), "{problems:?}");
    let operations = &api.apis()[0].operations;
    assert!(operations.len() >= 16, "{}", operations.len());
    for operation in operations {
        // Every described route exists: it responds, if only with an error about its arguments.
        let path =
            operation.path.replace("{name}", "search").replace("{kind}", "table").replace("{id}", "orders.orders");
        let path = path.replace("{database}", "orders");
        let kinds = [("/v1/query-sessions", "queries"), ("/v1/workflows", "workflow"), ("", "run")];
        let kind = kinds.iter().find(|(begin, _)| path.starts_with(begin)).unwrap().1;
        let path = path.replace("{handle}", &format!("{kind}_0123456789abcdef0123456789abcdef"));
        let said = server.request(&operation.method, &path, &[JSON], "").await;
        let known = ![404, 405].contains(&said.status);
        assert!(known, "{} {} is described, but {}", operation.method, operation.path, said.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_self_contained() {
    let server = Running::usual().await;
    let page = server.get("/").await;
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
    let assets: Vec<&str> = page.body.split("\"/assets/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(assets.contains(&"main.js") && assets.contains(&"style.css"), "{assets:?}");
    let mut waiting: Vec<String> = assets.iter().map(|name| (*name).to_owned()).collect();
    while let Some(name) = waiting.pop() {
        let said = server.get(&format!("/assets/{name}")).await;
        assert_eq!(said.status, 200, "{name}");
        assert!(!said.body.is_empty(), "{name}");
        for banned in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http://cdn", "https://cdn"]
        {
            assert!(!said.body.contains(banned), "{name} has {banned}");
        }
        let imported = said.body.split("from \"./").skip(1).filter_map(|rest| rest.split('"').next());
        waiting.extend(imported.map(str::to_owned).filter(|_| name == "main.js"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_answered_in_stored_sessions() {
    let server = Running::with_sessions().await;
    let named = server.request("POST", "/v1/sessions", &[], "").await;
    assert_eq!(named.status, 201);
    let session = named.json()["session"].as_str().unwrap().to_owned();
    let asked = json!({"question": "How many orders are there?", "session": session});
    let events = server.request("POST", "/v1/ask", &[EVENTS, JSON], &asked.to_string()).await.events();
    let heard = names(&events);
    assert_eq!(heard[0], "started", "{heard:?}");
    assert!(heard.contains(&"answer"), "{heard:?}");
    assert_eq!(&heard[heard.len() - 2..], ["answered", "done"], "{heard:?}");
    assert_eq!(heard.iter().filter(|name| **name == "done").count(), 1, "{heard:?}");
    let answered = &events[events.len() - 2].2;
    assert_eq!(answered["question"], asked["question"]);

    let said = server.post("/v1/ask", &json!({"question": "And by country?", "session": session})).await;
    assert_eq!(said.status, 200, "{said:?}");
    let kept = server.get(&format!("/v1/sessions/{session}")).await.json();
    assert_eq!(kept["turns"].as_array().unwrap().len(), 2, "{kept}");
    assert_eq!(kept["turns"][0]["answered"]["answer"], answered["answer"]);
    let listed = server.get("/v1/sessions").await.json()["items"][0].clone();
    assert_eq!((&listed["session"], &listed["turns"]), (&json!(session), &json!(2)), "{listed}");
    assert_eq!(listed["question"], asked["question"]);
    assert_eq!(server.get("/v1/sessions/nobody").await.status, 404);
    let planned = server.post("/v1/plan", &json!({"question": QUESTION, "session": session})).await;
    assert_eq!((planned.status, &planned.json()["error"]), (400, &json!("invalid_arguments")));
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_counted_by_classification() {
    let server = Running::usual().await;
    let asked = json!({"question": "How many orders are there?", "follow_ups": false});
    let said = server.post("/v1/ask", &asked).await.json();
    assert_eq!(said["classification"], "data", "{said}");
    assert_eq!((&said["metrics"]["queries"], &said["follow_ups"]), (&json!(1), &json!([])));
    let metrics = server.get("/metrics").await.body;
    for line in [
        "prospector_run_queries_bucket{task=\"ask\",classification=\"data\",le=\"0\"} 0",
        "prospector_run_queries_bucket{task=\"ask\",classification=\"data\",le=\"1\"} 1",
        "prospector_run_model_calls_count{task=\"ask\",classification=\"data\"} 1",
        "prospector_queries_total{outcome=\"ok\"} 1",
        "prospector_cost_dollars_total 0",
    ] {
        assert!(metrics.contains(&format!("{line}\n")), "{line} is not in\n{metrics}");
    }
    let refused = server.post("/v1/plan", &json!({"question": "orders", "follow_ups": true})).await;
    assert_eq!(refused.json()["error"], "invalid_arguments");

    let limits = Limits { rounds: Some(1), ..Limits::default() };
    let server = Running::new(support::offline(), Options { limits, ..Options::default() }).await;
    let said = server.post("/v1/ask", &json!({"question": asked["question"], "max_rounds": 50})).await.json();
    assert_eq!(said["metrics"]["rounds"].as_array().unwrap().len(), 1, "{said}");
}

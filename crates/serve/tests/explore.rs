//! What whoever looks around is given: questions to begin with, tables and keys, problems, charts, and conversations that are
//! named anew and forgotten.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use prospector_serve::{Limits, Options};
use serde_json::{Value, json};
use support::{ANN, Running, two};

const JSON: (&str, &str) = ("content-type", "application/json");

/// The chart of rows, or the reason why there is none.
async fn check(server: &Running, drawn: Value, expected: &str) -> Value {
    let said = server.post("/v1/chart", &drawn).await;
    assert_eq!(said.status, 200, "{said:?}");
    let said = said.json();
    let found = said["chart"]["kind"].as_str().or(said["reason"].as_str()).unwrap_or_default();
    assert_eq!(found, expected, "{said}");
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn any_rows_are_drawn() {
    let server = Running::usual().await;
    let rows = json!([["PT", 22], ["ES", 41], ["FR", 38]]);
    let drawn = json!({"columns": ["country", "customers"], "rows": rows, "width": 400, "sources": ["shop"]});
    let said = check(&server, drawn, "bar").await;
    let chart = &said["chart"];
    assert!(
        chart["svg"].as_str().unwrap().starts_with("<svg") && chart["svg"].as_str().unwrap().contains("width=\"400\"")
    );
    assert!(chart["description"].as_str().unwrap().ends_with("Source: shop."), "{chart}");
    assert_eq!(chart["vega"]["$schema"], "https://vega.github.io/schema/vega-lite/v5.json");
    check(&server, json!({"columns": ["n"], "rows": [[7]]}), "a sentence says it").await;
    check(&server, json!({"columns": [], "rows": []}), "there are no rows").await;
    let said = server.post("/v1/chart", &json!({"columns": ["n"], "rows": [[7]], "colour": "red"})).await;
    assert_eq!(said.status, 400, "{said:?}");
    let many = json!({"columns": ["n"], "rows": vec![json!([1]); 10_001]});
    assert_eq!(server.post("/v1/chart", &many).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_and_questions_of_the_catalog_are_told() {
    let server = Running::usual().await;
    let said = server.get("/v1/diagram/orders").await.json();
    let columns = said["tables"][0]["columns"].as_array().unwrap();
    assert!(said["total"] == 1 && columns.iter().any(|column| column["name"] == "country"), "{said}");
    assert_eq!(server.get("/v1/diagram/nothing").await.status, 404);
    let said = server.get("/v1/examples").await.json();
    assert!(
        said["items"].as_array().unwrap().iter().all(|one| one["question"].as_str().unwrap().ends_with('?')),
        "{said}"
    );
    assert_eq!(server.get("/v1/problems").await.json(), json!({"total": 0, "items": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn problems_are_told_to_whoever_owns_the_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("catalog.yaml"), "databases:\n- path: missing.csv\n").unwrap();
    let open = Running::over(folder, support::offline(), Options::default()).await;
    let said = open.get("/v1/problems").await.json();
    assert!(said["total"] == 1 && said["items"][0]["reason"].as_str().unwrap().contains("missing.csv"), "{said}");

    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("catalog.yaml"), "databases:\n- path: missing.csv\n").unwrap();
    let guarded = Running::over(folder, support::offline(), two(Limits::default())).await;
    let token = format!("Bearer {ANN}");
    let said = guarded.request("GET", "/v1/problems", &[("authorization", &token)], "").await;
    assert_eq!(said.json(), json!({"total": 1, "items": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_named_anew_and_forgotten() {
    let server = Running::with_sessions().await;
    let question = "How many orders are there?";
    let said = server.post("/v1/ask", &json!({"question": question, "session": "first"})).await;
    assert_eq!(said.status, 200, "{said:?}");
    let listed = server.get("/v1/sessions").await.json();
    assert_eq!((&listed["items"][0]["session"], &listed["items"][0]["question"]), (&json!("first"), &json!(question)));
    assert_eq!(server.post("/v1/sessions/first", &json!({"name": "Orders of all time"})).await.status, 200);
    assert_eq!(
        server.get("/v1/sessions/Orders%20of%20all%20time").await.json()["turns"][0]["answered"]["question"],
        question
    );
    for (path, body) in
        [("/v1/sessions/first", json!({"name": "other"})), ("/v1/sessions/nothing", json!({"name": "other"}))]
    {
        assert_eq!(server.post(path, &body).await.status, 404, "{path}");
    }
    assert_eq!(server.post("/v1/sessions/Orders%20of%20all%20time", &json!({"name": "two\nlines"})).await.status, 400);
    let path = "/v1/sessions/Orders%20of%20all%20time";
    assert_eq!(server.request("DELETE", path, &[JSON], "").await.status, 204);
    assert_eq!(server.request("DELETE", path, &[JSON], "").await.status, 404);
    assert_eq!(server.get("/v1/sessions").await.json()["items"], json!([]));
}

//! Exploring the catalog: example questions, tables and keys, problems, charts, and conversations that are renamed and deleted.

use crate::support::{self, ANN, BEN, Running, two};
use prospector_serve::{Limits, Options};
use serde_json::{Value, json};

const JSON: (&str, &str) = ("content-type", "application/json");

/// Compares the chart of rows, or the reason why nothing is drawn.
async fn check(server: &Running, drawn: Value, expected: &str) -> Value {
    let said = server.post("/v1/chart", &drawn).await;
    assert_eq!(said.status, 200, "{said:?}");
    let said = said.json();
    let found = said["chart"]["kind"].as_str().or(said["reason"].as_str()).unwrap_or_default();
    assert_eq!(found, expected, "{said}");
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn draws_charts_of_rows() {
    let server = Running::usual().await;
    let rows = json!([["PT", 22], ["ES", 41], ["FR", 38]]);
    let sql = "SELECT country, COUNT(*) AS customers FROM customer GROUP BY country";
    let drawn =
        json!({"columns": ["country", "customers"], "rows": rows, "sql": sql, "width": 400, "sources": ["shop"]});
    let said = check(&server, drawn, "bar").await;
    let chart = &said["chart"];
    assert!(
        chart["svg"].as_str().unwrap().starts_with("<svg") && chart["svg"].as_str().unwrap().contains("width=\"400\"")
    );
    assert!(chart["description"].as_str().unwrap().ends_with("Source: shop."), "{chart}");
    assert_eq!((&said["headline"]["value"], &said["headline"]["label"]), (&json!("101"), &json!("Total")));
    let titled = json!({"columns": ["country", "n"], "rows": rows, "title": "paid orders by country"});
    let said = check(&server, titled, "bar").await;
    assert_eq!(said["chart"]["title"], "Paid orders by country");
    assert_eq!(said["headline"]["label"], "Highest: ES", "without the query, nothing is known to be a sum");
    assert_eq!(chart["vega"]["$schema"], "https://vega.github.io/schema/vega-lite/v5.json");
    let single = json!({"columns": ["revenue"], "rows": [[1234.5]], "units": [["revenue", "USD"]]});
    let said = check(&server, single, "a sentence is sufficient").await;
    assert_eq!(said["headline"], json!({"value": "1,234.50 USD", "label": "Revenue", "direction": 0}));
    check(&server, json!({"columns": [], "rows": []}), "the result is empty").await;
    let said = server.post("/v1/chart", &json!({"columns": ["n"], "rows": [[7]], "colour": "red"})).await;
    assert_eq!(said.status, 400, "{said:?}");
    // A proposed chart is drawn if it suits the columns; otherwise the rules choose.
    let months: Vec<Value> = (1..=9).map(|at| json!([format!("2025-0{at}"), at * 7])).collect();
    let propose = |kind: &str, column: &str| json!({"columns": ["month", "orders"], "rows": months, "proposal": {"kind": kind, "columns": ["month", column]}});
    assert_eq!(check(&server, propose("bar", "orders"), "bar").await["dropped"], Value::Null);
    let dropped = |column: &str| propose("pie", column);
    assert_eq!(check(&server, dropped("orders"), "line").await["dropped"], "unknown kind of chart");
    let said = check(&server, propose("bar", "revenue"), "line").await;
    assert_eq!(said["dropped"], "the result does not have these columns");
    let many = json!({"columns": ["n"], "rows": vec![json!([1]); 10_001]});
    assert_eq!(server.post("/v1/chart", &many).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn returns_diagrams_and_example_questions() {
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
async fn problems_are_listed_only_without_tokens() {
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
async fn conversations_are_renamed_and_deleted() {
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

#[tokio::test(flavor = "multi_thread")]
async fn questions_select_an_offered_model() {
    let other = support::waiting();
    let name = other.chat.name().to_owned();
    let models = vec![other.clone(), support::offline(), other];
    let server = Running::new(support::offline(), Options { models, ..Options::default() }).await;
    let about = server.get("/v1/about").await.json();
    assert_eq!((&about["model"], &about["models"]), (&json!("offline"), &json!(["offline", name])));
    assert_eq!(about["modes"], json!(["exploratory", "auditable", "knowledge"]));
    let ask = async |model: &str| {
        let question = json!({"question": "How many orders are there?", "model": model, "max_seconds": 1});
        server.post("/v1/ask", &question).await
    };
    assert_eq!(ask("offline").await.json()["model"], "offline");
    // The other model never responds.
    assert!(ask(&name).await.body.contains(&name));
    for path in ["/v1/ask", "/v1/plan"] {
        let said = server.post(path, &json!({"question": "How many orders?", "model": "gpt-4.1"})).await;
        assert_eq!(said.status, 400, "{said:?}");
        assert!(said.body.contains(&format!("offline, {name}")), "{said:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_exported_as_parquet() {
    let server = Running::usual().await;
    let said = server.post("/v1/parquet", &json!({"columns": ["city", "n"], "rows": [["Porto", 3]]})).await;
    assert_eq!((said.status, said.header("content-type")), (200, Some("application/vnd.apache.parquet")));
    assert!(said.body.starts_with("PAR1"), "{said:?}");
    assert_eq!(server.post("/v1/parquet", &json!({"columns": [], "rows": []})).await.status, 400);
    // A buffer per column would exhaust the memory of the server, whatever the names of the columns.
    for columns in [1_001, 60_000] {
        let wide = json!({"columns": vec![""; columns], "rows": [vec![1; 1]]});
        let said = server.post("/v1/parquet", &wide).await;
        assert_eq!((said.status, &said.json()["error"]), (400, &json!("invalid_arguments")), "{columns}");
    }
    // Rows may be short, and are padded to a cell per column.
    let empty: Vec<[i64; 0]> = vec![[]; 5_000];
    for path in ["/v1/parquet", "/v1/chart"] {
        let said = server.post(path, &json!({"columns": vec!["c"; 1_000], "rows": empty})).await;
        assert_eq!(said.status, 400, "{path}");
        assert!(said.body.contains("5000 rows of 1000 columns are 5000000 cells"), "{path}: {said:?}");
        let said = server.post(path, &json!({"columns": ["a"], "rows": [[1], [2, 3]]})).await;
        assert_eq!(said.status, 400, "{path}");
        assert!(said.body.contains("row 2 has 2 cells, but there are 1 columns"), "{path}: {said:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn proposes_the_query_of_a_correct_answer() {
    let server = Running::with_sessions().await;
    let answered = server.post("/v1/ask", &json!({"question": "How many orders are there?"})).await.json();
    let handle = answered["handle"].as_str().unwrap_or_else(|| panic!("{answered}"));
    let said = server.post(&format!("/v1/runs/{handle}/proposal"), &json!({})).await;
    assert_eq!(said.status, 201, "{said:?}");
    let name = said.json()["name"].as_str().unwrap().to_owned();
    assert!(name.starts_with("how-many-orders"), "{name}");
    let kept = std::fs::read_to_string(server.folder.path().join(format!(".prospector/queries/{name}.sql"))).unwrap();
    assert!(kept.contains("How many orders are there?") && !kept.contains("verified:"), "{kept}");

    let planned = server.post("/v1/plan", &json!({"question": "How many orders are there?"})).await.json();
    let handle = planned["handle"].as_str().unwrap();
    assert_eq!(server.post(&format!("/v1/runs/{handle}/proposal"), &json!({})).await.status, 400);
    let unkept = Running::usual().await;
    let answered = unkept.post("/v1/ask", &json!({"question": "How many orders are there?"})).await.json();
    let handle = answered["handle"].as_str().unwrap();
    assert_eq!(unkept.post(&format!("/v1/runs/{handle}/proposal"), &json!({})).await.status, 503);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_run() {
    let server = Running::usual().await;
    let planned = server.post("/v1/plan", &json!({"question": "How many orders are there?"})).await.json();
    let handle = planned["handle"].as_str().unwrap_or_else(|| panic!("{planned}"));
    let said = server.post(&format!("/v1/runs/{handle}/execution"), &json!({})).await;
    assert_eq!(said.status, 200, "{said:?}");
    let run = said.json();
    assert_eq!(run["ok"], true, "{run}");
    let answered = server.post("/v1/ask", &json!({"question": "How many orders are there?"})).await.json();
    assert_eq!(run["steps"][0]["rows"], answered["questions"][0]["rows"], "{run}");
    assert_eq!(answered["status"], "answered", "{answered}");
    let handle = answered["handle"].as_str().unwrap();
    let said = server.post(&format!("/v1/runs/{handle}/execution"), &json!({})).await;
    assert!(said.status == 400 && said.body.contains("the run has no plan"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_of_wrong_answers_are_private_to_their_author() {
    let folder = support::estate();
    let options = Options { state: Some(folder.path().join(".prospector")), ..two(Limits::default()) };
    let server = Running::over(folder, support::offline(), options).await;
    let (ann, ben) = (format!("Bearer {ANN}"), format!("Bearer {BEN}"));
    let ask = async |token: &str, method: &str, path: &str, body: &str| {
        server.request(method, path, &[("authorization", token), JSON], body).await
    };
    let answered = ask(&ann, "POST", "/v1/ask", &json!({"question": "How many orders are there?"}).to_string()).await;
    let path = format!("/v1/runs/{}/objection", answered.json()["handle"].as_str().unwrap());
    let why = json!({"why": "It counts the orders\nthat were cancelled."}).to_string();
    assert_eq!(ask(&ben, "POST", &path, &why).await.status, 410, "the answer is Ann's");
    assert_eq!(ask(&ann, "POST", &path, "{\"because\": 1}").await.status, 400);
    let said = ask(&ann, "POST", &path, &why).await;
    assert_eq!(said.status, 201, "{said:?}");
    assert_eq!(said.json()["why"], "It counts the orders that were cancelled.");
    assert_eq!(ask(&ann, "POST", &path, "{}").await.json()["why"], "", "a reason is optional");

    let listed = ask(&ann, "GET", "/v1/objections", "").await.json();
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(2), "{listed}");
    assert_eq!(ask(&ben, "GET", "/v1/objections", "").await.json()["items"], json!([]));
    let one = format!("/v1/objections/{}", said.json()["name"].as_str().unwrap());
    assert_eq!(ask(&ben, "DELETE", &one, "").await.status, 404);
    assert_eq!(ask(&ann, "DELETE", &one, "").await.status, 204);
    assert_eq!(ask(&ann, "DELETE", &one, "").await.status, 404);
    assert_eq!(ask(&ann, "DELETE", "/v1/objections/..%2Fqueries", "").await.status, 404);

    let planned = ask(&ann, "POST", "/v1/plan", &json!({"question": "How many orders are there?"}).to_string()).await;
    let path = format!("/v1/runs/{}/objection", planned.json()["handle"].as_str().unwrap());
    assert_eq!(ask(&ann, "POST", &path, "{}").await.status, 400, "a plan is not an answer");
}

#[tokio::test(flavor = "multi_thread")]
async fn links_show_a_conversation_until_removed() {
    let folder = support::estate();
    let state = Some(folder.path().join(".prospector"));
    let options = Options { state, shares_links: true, ..two(Limits::default()) };
    let server = Running::over(folder, support::offline(), options).await;
    let (ann, ben) = (format!("Bearer {ANN}"), format!("Bearer {BEN}"));
    let ask = async |token: &str, method: &str, path: &str, body: &str| {
        server.request(method, path, &[("authorization", token), JSON], body).await
    };
    let question = json!({"question": "How many orders are there?", "session": "mine"}).to_string();
    assert_eq!(ask(&ann, "POST", "/v1/ask", &question).await.status, 200);
    assert_eq!(
        ask(&ben, "POST", "/v1/sessions/mine/link", "").await.status,
        404,
        "an unknown session cannot be shared"
    );
    let made = ask(&ann, "POST", "/v1/sessions/mine/link", "").await;
    assert_eq!(made.status, 201, "{made:?}");
    let path = format!("/v1/links/{}", made.json()["link"].as_str().unwrap());

    let said = ask(&ben, "GET", &path, "").await.json();
    assert_eq!((&said["session"], &said["is_mine"]), (&json!("mine"), &json!(false)));
    assert_eq!(said["turns"][0]["answered"]["question"], "How many orders are there?");
    assert_eq!(server.request("GET", &path, &[], "").await.status, 401, "a token is required");
    assert_eq!(ask(&ben, "DELETE", &path, "").await.status, 404);
    assert_eq!(ask(&ann, "DELETE", &path, "").await.status, 204);
    assert_eq!(ask(&ben, "GET", &path, "").await.status, 404);
    for handle in ["link_..%2F..%2Fsessions.sqlite", "link_0", "mine"] {
        assert_eq!(ask(&ann, "GET", &format!("/v1/links/{handle}"), "").await.status, 404, "{handle}");
    }
    let closed = Running::with_sessions().await;
    assert_eq!(closed.post("/v1/sessions/mine/link", &json!({})).await.status, 403);
}

//! Plans by a model over HTTP: every API and every kind of provider failure, against a local stand-in.

use std::{
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use crate::support::{Estate, Ran, VIP, assert_holds, assert_sound, items};
use prospector_test_support::provider::{Api, FakeProvider, KEY, Turn};
use serde_json::{Value, json};

/// One model for each API.
const MODELS: [&str; 4] = ["claude-sonnet-4-5", "gpt-4o", "gemini-3-pro-preview", "ollama/qwen3:8b"];

/// Returns the binary with all providers set to the stand-in.
fn planner(estate: &Estate, fake: &FakeProvider) -> assert_cmd::Command {
    let mut command = estate.planner();
    for (name, value) in environment(fake) {
        command.env(name, value);
    }
    command
}

fn environment(fake: &FakeProvider) -> [(&'static str, String); 7] {
    let settings = fake.settings();
    [
        ("ANTHROPIC_API_KEY", KEY.into()),
        ("OPENAI_API_KEY", KEY.into()),
        ("ANTHROPIC_BASE_URL", settings.anthropic_base_url.unwrap()),
        ("OPENAI_BASE_URL", settings.openai_base_url.unwrap()),
        ("GEMINI_API_KEY", KEY.into()),
        ("GEMINI_BASE_URL", settings.gemini_base_url.unwrap()),
        ("OLLAMA_BASE_URL", settings.ollama_base_url.unwrap()),
    ]
}

/// Plans the question with a scripted model, and checks that no output contains the API key.
async fn plan(script: Vec<Turn>, model: &str) -> (Ran, FakeProvider) {
    let fake = FakeProvider::start(script).await;
    let estate = Estate::sample();
    let mut command = planner(&estate, &fake);
    command.args(["plan", VIP, "--model", model]).env("PROSPECTOR_LOG", "trace");
    // The folder is kept until the run ends.
    let ran = tokio::task::spawn_blocking(move || (Ran::of(&mut command), estate)).await.unwrap().0;
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "the key shows: {}", ran.err);
    (ran, fake)
}

/// Returns a script that searches, and then plans with the results.
fn look_and_plan(tables: &[&str]) -> Vec<Turn> {
    let invoices = json!({"ids": ["music_store.invoices", "music_store.customers"]});
    vec![
        Turn::answer(
            "Let me look.",
            [("resolve_fact", json!({"question": "What is a VIP customer?"})), ("describe", invoices)],
        ),
        Turn::text(format!("Here it is:\n```json\n{}\n```", written(tables))),
    ]
}

fn written(tables: &[&str]) -> Value {
    let vips = [tables, &["music_store.customers"]].concat();
    json!({
        "reasoning": "Invoices hold what customers spend.",
        "discovered_context": {"tables": tables},
        "plan": {"steps": [
            {"number": 1, "goal": "Find the VIP customers", "tables": vips, "documents": ["business_rules"], "outputs": ["vips"]},
            {"number": 2, "goal": "Sum their invoices by quarter", "tables": tables, "inputs": ["vips"]}
        ]},
        "clarifications": []
    })
}

/// Checks a failed run: the plan and one line on standard error report it.
#[track_caller]
fn assert_failed(ran: &Ran, expected: &str) {
    let plan = ran.json(3);
    assert_eq!(plan["ended"], "provider_failed", "{plan:#}");
    assert_eq!(plan["question"], VIP);
    assert_eq!(plan["verification"]["ok"], false, "{plan:#}");
    let line = ran.err.lines().find(|line| line.starts_with("error: ")).unwrap_or_else(|| panic!("{}", ran.err));
    assert!(line.contains(expected) && line.contains("model `"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_api_plans_with_the_tools() {
    let apis = [Api::Anthropic, Api::OpenAi, Api::Gemini, Api::Ollama];
    for (model, api) in MODELS.into_iter().zip(apis) {
        let (ran, fake) = plan(look_and_plan(&["music_store.invoices"]), model).await;
        let plan = ran.json(0);
        assert_sound(&plan);
        fake.assert_clean();
        assert_eq!(plan["model"], model);
        assert_eq!(items(&plan["plan"]["steps"]).len(), 2);
        assert_holds(&plan["discovered_context"]["tables"], &["music_store.invoices"]);
        let metrics = &plan["metrics"];
        assert_eq!((&metrics["model_calls"], &metrics["tool_calls"]), (&json!(2), &json!(2)), "{metrics}");
        assert_eq!(metrics["input_tokens"], 200, "as the provider counted them");

        let requests = fake.requests();
        assert!(requests.iter().all(|request| request.api == api));
        let named = match api {
            Api::Gemini => requests[0].path.contains(model),
            _ => requests[0].body["model"] == model.trim_start_matches("ollama/"),
        };
        assert!(named, "{} {}", requests[0].path, requests[0].body["model"]);
        let first = requests[0].body.to_string();
        assert!(first.contains(VIP) && first.contains("describe"), "the question and the tools are sent");
        let second = requests[1].body.to_string();
        assert!(second.contains("business_rules") && second.contains("invoice_date"), "the results are sent back");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undiscovered_name_is_returned_and_then_reported() {
    let mut script = look_and_plan(&["music_store.invoicez"]);
    script.push(Turn::text(written(&["music_store.invoicez"]).to_string()));
    let (ran, fake) = plan(script, MODELS[0]).await;
    let reported = ran.json(1);
    fake.assert_clean();
    assert_eq!(reported["verification"]["ok"], false);
    assert!(
        reported["verification"]["failed"].to_string().contains("music_store.invoices"),
        "the nearest: {reported:#}"
    );
    assert!(fake.requests()[2].body.to_string().contains("plan_not_verified"));

    let mut script = look_and_plan(&["music_store.invoicez"]);
    script.push(Turn::text(written(&["music_store.invoices"]).to_string()));
    let (ran, _fake) = plan(script, MODELS[1]).await;
    assert_sound(&ran.json(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_without_tools_plans_from_the_prompt() {
    let script = vec![Turn::text(written(&["music_store.invoices"]).to_string())];
    let (ran, fake) = plan(script, "claude-2").await;
    assert_sound(&ran.json(0));
    let body = &fake.requests()[0].body;
    assert!(body.get("tools").is_none(), "no tools are sent");
    assert!(body["system"].to_string().contains("music_store.invoice_lines"), "all metadata are");
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_permanent_provider_failure() {
    for model in MODELS {
        let (ran, fake) = plan(vec![Turn::failure(500).retry_after(0); 20], model).await;
        assert_failed(&ran, "500");
        let asked = fake.requests().len();
        assert!((2..=5).contains(&asked), "asked {asked} times");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_before_a_failure_are_kept() {
    let mut script = look_and_plan(&[]);
    script.truncate(1);
    // Retries with a shorter conversation and without tools fail too.
    script.extend((0..3).map(|_| Turn::failure(400).body(r#"{"error": {"message": "prompt is too long"}}"#)));
    let (ran, _fake) = plan(script, MODELS[0]).await;
    assert_failed(&ran, "prompt is too long");
    assert_holds(&ran.json(3)["discovered_context"]["tables"], &["music_store.invoices"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_provider_is_retried_after_its_delay() {
    for model in MODELS {
        let mut script = vec![Turn::failure(429).retry_after(0)];
        script.extend(look_and_plan(&["music_store.invoices"]));
        let (ran, fake) = plan(script, model).await;
        assert_sound(&ran.json(0));
        fake.assert_clean();
        assert_eq!(fake.requests().len(), 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_key_is_reported_but_not_shown() {
    for model in MODELS {
        let body = json!({"error": {"message": format!("invalid key {KEY}")}}).to_string();
        let (ran, fake) = plan(vec![Turn::failure(401).body(body)], model).await;
        assert_failed(&ran, "401: invalid key");
        assert_eq!(fake.requests().len(), 1, "it is not sent again");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_response_is_reported() {
    for model in MODELS {
        for (kind, body) in [
            ("text/html", "<html>Welcome to the hotel network</html>"),
            ("text/event-stream", "data: {nonsense\n\n"),
            ("application/json", "{}"),
        ] {
            let (ran, _fake) = plan(vec![Turn::raw(kind, body); 5], model).await;
            assert_failed(&ran, "");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prose_is_returned_once_for_correction() {
    let (ran, fake) = plan(vec![Turn::text("I would rather not."), Turn::text("No.")], MODELS[0]).await;
    let plan = ran.json(1);
    fake.assert_clean();
    assert_eq!(plan["ended"], "no_plan");
    assert_eq!(plan["plan"]["steps"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn connection_failure_is_reported() {
    let address = FakeProvider::start([]).await.settings().anthropic_base_url.unwrap();
    let estate = Estate::sample();
    let variables = ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GEMINI_BASE_URL", "OLLAMA_BASE_URL"];
    for (model, variable) in MODELS.into_iter().zip(variables) {
        let mut command = estate.planner();
        for key in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"] {
            command.env(key, KEY);
        }
        command.env(variable, &address);
        command.args(["plan", VIP, "--model", model]);
        let ran = tokio::task::spawn_blocking(move || Ran::of(&mut command)).await.unwrap();
        assert_failed(&ran, &format!("cannot connect to {address}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_is_the_one_whose_key_is_set() {
    let estate = Estate::new("databases: []\n");
    let model = |variables: &[(&str, &str)]| {
        let mut command = estate.planner();
        command.envs(variables.iter().copied()).arg("prompt");
        Ran::of(&mut command).json(0)["model"].as_str().unwrap().to_owned()
    };
    assert_eq!(model(&[]), "offline");
    assert_eq!(model(&[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")]), "claude-sonnet-4-5");
    assert_eq!(model(&[("OPENAI_API_KEY", "k")]), "gpt-4.1");
    assert_eq!(model(&[("GEMINI_API_KEY", "k")]), "gemini-2.5-pro");
    assert_eq!(model(&[("OPENAI_BASE_URL", "http://localhost:1/v1")]), "offline");
    assert_eq!(model(&[("ANTHROPIC_API_KEY", "k"), ("PROSPECTOR_MODEL", "llama3.1")]), "llama3.1");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_prints_findings() {
    let mut script = look_and_plan(&[]);
    script[1] = Turn::silence();
    let fake = FakeProvider::start(script).await;
    let estate = Estate::sample();
    let catalog = estate.path("catalog.yaml");
    let child = Command::new(env!("CARGO_BIN_EXE_planner"))
        .env_clear()
        .envs(environment(&fake))
        .args(["plan", VIP, "--model", MODELS[0], "--catalog"])
        .arg(catalog)
        .arg("--state")
        .arg(estate.state())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id();
    let output = end_of(child);
    let second_request = async {
        while fake.requests().len() < 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), second_request).await.expect("the model is asked twice");
    signal(id, "INT");
    let Ok(output) = tokio::time::timeout(Duration::from_secs(10), output).await else {
        signal(id, "KILL");
        panic!("it does not end");
    };
    let ran = Ran::from(output.unwrap());
    let plan = ran.json(1);
    assert_eq!(plan["ended"], "cancelled", "{plan:#}");
    assert_holds(&plan["discovered_context"]["tables"], &["music_store.invoices"]);
    assert_eq!(fake.violations(), [""; 0]);
}

fn end_of(child: Child) -> tokio::task::JoinHandle<Output> {
    tokio::task::spawn_blocking(move || child.wait_with_output().unwrap())
}

fn signal(process: u32, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status().unwrap();
    assert!(sent.success());
}

/// An answer may cite the steps of a plan that it ran, which are numbered like queries; a second run reports differences.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_cites_the_steps_of_a_plan() {
    let plan = |limit: u32, compare: bool| {
        let steps = json!([
            {"number": 1, "goal": "The customers that paid most",
             "sql": format!("SELECT customer_id, SUM(total) AS revenue FROM music_store.invoices WHERE stat_cd = 'P' \
                 GROUP BY customer_id ORDER BY revenue DESC LIMIT {limit}")},
            {"number": 2, "goal": "Their refunds",
             "sql": "SELECT i.customer_id, SUM(r.amount) AS refunded FROM music_store.refunds r \
                 JOIN music_store.invoices i ON i.invoice_id = r.invoice_id JOIN step_1 t ON t.customer_id = i.customer_id \
                 WHERE r.refund_stat = 'approved' GROUP BY i.customer_id"}
        ]);
        let question = "Refunds of the customers that paid most";
        ("run_plan", json!({"plan": {"question": question, "plan": {"steps": steps}}, "compare": compare}))
    };
    let estate = Estate::sample();
    let by_hand = "SELECT customer_id, SUM(total) AS paid FROM music_store.invoices WHERE stat_cd = 'P' GROUP BY 1 ORDER BY 2 DESC LIMIT 3";
    let paid = estate.run(["sql", by_hand]).json(0)[0]["rows"].clone();
    let fake = FakeProvider::start(vec![
        Turn::calls([plan(3, false)]),
        Turn::calls([plan(2, true)]),
        Turn::text(format!("The best customer paid {} [Q1].", paid[0][1])),
    ])
    .await;
    let mut command = planner(&estate, &fake);
    command.args(["ask", "How much did the best customers pay, and get back?", "--model", MODELS[0]]);
    let (ran, _estate) = tokio::task::spawn_blocking(move || (Ran::of(&mut command), estate)).await.unwrap();
    let answered = ran.json(0);
    let questions = items(&answered["questions"]);
    let ids: Vec<&str> = questions.iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!((ids, &questions[0]["rows"]), (vec!["Q1", "Q2", "Q3", "Q4"], &paid), "{answered:#}");
    assert_eq!(
        (&answered["tracing"]["ok"], &answered["classification"]),
        (&json!(true), &json!("data")),
        "{answered:#}"
    );
    let request = fake.requests().last().unwrap().body.to_string();
    assert!(request.contains("Q4") && request.contains("comparison"), "{request}");
    fake.assert_clean();
}

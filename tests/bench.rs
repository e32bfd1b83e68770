//! `planner bench tokens` and `planner bench plans` on the sample estate, driven as a user would.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use serde_json::{Value, json};
use support::{Estate, Ran};

/// Three questions whose answers are known.
const QUERIES: &str = r#"{"id": "a", "query": "Total of invoices by country", "gold": ["music_store.invoices"], "kind": "table"}
{"id": "b", "query": "What is our refund policy?", "gold": ["refund_policy"], "kind": "document"}
{"id": "c", "query": "Which customers are VIP?", "gold": ["music_store.customers", "nowhere.at_all"]}
"#;

fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {value}"))
}

/// The sample estate with the questions beside it, and what a bench of it prints.
fn bench(estate: &Estate, arguments: &[&str]) -> Value {
    let queries = estate.state().with_extension("queries.jsonl");
    std::fs::write(&queries, QUERIES).unwrap();
    let queries = queries.display().to_string();
    let named: Vec<&str> =
        arguments.iter().map(|argument| if *argument == "QUERIES" { &queries } else { *argument }).collect();
    estate.run([&["bench"], named.as_slice()].concat()).json(0)
}

#[test]
fn tokens_are_counted_in_every_way_and_a_recorded_run_counts_the_same() {
    let estate = Estate::sample();
    let file = |name: &str| estate.state().with_extension(name).display().to_string();
    let (runs, chart, table) = (file("runs.jsonl"), file("svg"), file("md"));
    let report = bench(
        &estate,
        &[
            "tokens",
            "--queries",
            "QUERIES",
            "--prompt",
            "minimal",
            "--record",
            &runs,
            "--chart",
            &chart,
            "--markdown",
            &table,
        ],
    );
    let one = &report["estates"][0];
    assert_eq!(one["questions"], 3);
    for row in one["each"].as_array().unwrap() {
        let of = |name: &str| number(row, &format!("/{name}"));
        // An oracle reads less than everything; a context is read at least once; a cache makes no round dearer.
        assert!(of("oracle") < of("everything") && of("outline") <= of("everything"), "{row}");
        assert!(of("context") <= of("billed") && of("cached") < of("billed"), "{row}");
        let parts: f64 = ["system", "tools", "asked", "calls", "results"]
            .map(|part| number(&row["parts"], &format!("/{part}")))
            .iter()
            .sum();
        assert!((parts - of("context")).abs() < 0.5, "{row}");
        assert_eq!(row["verified"], true, "{row}");
    }
    // What the catalog does not have was neither shown nor planned.
    assert!(number(&one["each"][2], "/recall") <= 0.5);
    assert_eq!(one["each"][2]["shown"], false);
    let saved = 1.0 - number(one, "/tokens/context/mean") / number(one, "/tokens/everything/mean");
    assert!((saved - number(one, "/saved/context")).abs() < 1e-3, "{one}");

    let drawn = std::fs::read_to_string(&chart).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.contains("% saved"), "{drawn}");
    assert!(std::fs::read_to_string(&table).unwrap().starts_with("| estate"));

    let replayed = bench(&estate, &["tokens", "--replay", &runs]);
    assert_eq!(replayed["estates"][0]["each"], one["each"]);
    assert_eq!(replayed["estates"][0]["saved"], one["saved"]);
}

#[test]
fn plans_stand_beside_those_of_a_planner_that_sees_everything() {
    let estate = Estate::sample();
    let report =
        bench(&estate, &["plans", "--queries", "QUERIES", "--profile", "full", "--profile", "compact", "--json"]);
    let planners = report["planners"].as_array().unwrap();
    let names: Vec<String> = (planners.iter())
        .map(|one| format!("{} {}", one["planner"].as_str().unwrap(), one["profile"].as_str().unwrap_or("-")))
        .collect();
    assert_eq!(names, ["discovery full", "discovery compact", "everything -"]);
    for one in planners {
        assert_eq!(number(one, "/verified"), 1.0, "{one}");
        assert!(number(one, "/recall") > 0.5 && number(one, "/f1") > 0.3, "{one}");
    }
    // Who sees everything was shown all that there is, and needs one round.
    assert_eq!(number(&planners[2], "/rounds/mean"), 1.0);
    assert!(number(&planners[2], "/strict_recall") > 0.6);
}

#[test]
fn records_are_planned_over_as_a_catalog_is() {
    let records = r#"{"id": "shop.orders", "db": "shop", "table": "orders", "columns": [{"name": "id", "type": "number"}, {"name": "total"}]}
{"id": "shop.customers", "db": "shop", "table": "customers", "columns": [{"name": "id", "name_nl": "customer number"}]}
{"id": "pay POST /refunds", "api": "pay", "method": "POST", "path": "/refunds", "operationId": "createRefund", "summary": "Refund a payment"}
"#;
    let queries = r#"{"id": "a", "query": "total of orders", "gold": ["shop.orders"]}
{"id": "b", "query": "refund a payment", "gold": ["pay POST /refunds"]}
"#;
    let estate = Estate::new("databases: []\n").with("records.jsonl", records).with("queries.jsonl", queries);
    let [records, queries] = ["records.jsonl", "queries.jsonl"].map(|name| estate.path(name).display().to_string());
    let report = estate.run(["bench", "plans", "--records", &records, "--queries", &queries, "--json"]).json(0);
    // So few words are not enough to plan by; but every name is there, and the prompt shows it.
    for planner in report["planners"].as_array().unwrap() {
        assert_eq!(number(planner, "/strict_recall"), 1.0, "{report}");
    }
}

#[test]
fn wrong_usage_is_told() {
    let estate = Estate::sample();
    let check = |arguments: &[&str], expected: &str| {
        let ran = estate.run([&["bench", "tokens"], arguments].concat());
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.contains(expected), "{ran:?}");
    };
    check(&[], "--queries");
    check(&["--replay", "nowhere.jsonl"], "cannot read the runs nowhere.jsonl");
    check(&["--estate", "nowhere"], "cannot read the queries nowhere/queries.jsonl");
    check(&["--queries", "q", "--replay", "r"], "cannot be used with");
}

#[test]
fn an_estate_needs_no_other_catalog() {
    let estate = Estate::copy();
    estate.write("queries.jsonl", QUERIES);
    let folder = estate.path("queries.jsonl").with_file_name("");
    let mut command = estate.bare();
    let ran = Ran::of(command.args(["bench", "plans", "--json", "--limit", "1", "--estate"]).arg(folder));
    assert_eq!(number(&ran.json(0), "/planners/0/questions"), 1.0);
}

#[test]
fn answers_are_compared_with_the_rows_that_are_known() {
    let estate = Estate::copy();
    let line = |id: &str, question: &str, country: &str| {
        let sql = format!("SELECT COUNT(*) FROM music_store.customers WHERE country_cd = '{country}'");
        json!({"id": id, "question": question, "sql": sql}).to_string()
    };
    let asked = "How many customers are there in Brazil?";
    let questions = [
        line("right", asked, "BR"),
        line("wrong", asked, "CL"),
        line("declined", "How many unicorns were vaccinated?", "BR"),
        json!({"id": "left out", "question": asked, "sql": "SELECT nothing FROM nowhere"}).to_string(),
    ];
    estate.write("questions.jsonl", questions.join("\n"));
    let (queries, out) = (estate.path("questions.jsonl"), estate.path("answers.jsonl"));
    let (queries, out) = (queries.display().to_string(), out.display().to_string());
    let report = estate.run(["bench", "answers", "--queries", &queries, "--out", &out, "--json"]).json(0);
    for (name, expected) in
        [("questions", 4), ("right", 1), ("wrong", 1), ("wrong_and_traced", 1), ("declined", 1), ("left_out", 1)]
    {
        assert_eq!(report[name], expected, "{name}: {report:#}");
    }
    let answers = std::fs::read_to_string(out).unwrap();
    let verdicts: Vec<Value> =
        answers.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["verdict"].clone()).collect();
    assert_eq!(verdicts, ["right", "wrong", "declined"]);
}

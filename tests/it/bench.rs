//! `planner bench` on the sample catalog and on small catalogs, and the error rates of verification.

use std::path::Path;

use crate::support::{Estate, Ran};
use prospector_bench::wordings::{self, Tally};
use prospector_discovery::CatalogOptions;
use serde_json::{Value, json};

/// Three questions with known answers.
const QUERIES: &str = r#"{"id": "a", "query": "Total of invoices by country", "gold": ["music_store.invoices"], "kind": "table"}
{"id": "b", "query": "What is our refund policy?", "gold": ["refund_policy"], "kind": "document"}
{"id": "c", "query": "Which customers are VIP?", "gold": ["music_store.customers", "nowhere.at_all"]}
"#;

fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {value}"))
}

/// Runs a bench on the sample catalog with these questions, and returns its output.
fn bench(estate: &Estate, arguments: &[&str]) -> Value {
    let queries = estate.state().with_extension("queries.jsonl");
    std::fs::write(&queries, QUERIES).unwrap();
    let queries = queries.display().to_string();
    let named: Vec<&str> =
        arguments.iter().map(|argument| if *argument == "QUERIES" { &queries } else { *argument }).collect();
    estate.run([&["bench"], named.as_slice()].concat()).json(0)
}

#[test]
fn tokens_are_compared_with_a_prompt_with_everything() {
    let estate = Estate::sample();
    for profile in ["full", "compact"] {
        let report =
            bench(&estate, &["tokens", "--queries", "QUERIES", "--prompt", "minimal", "--profile", profile, "--json"]);
        assert_eq!(report["profile"], profile);
        let one = &report["estates"][0];
        assert_eq!((&one["questions"], number(one, "/verified")), (&json!(3), 1.0), "{one}");
        for row in one["each"].as_array().unwrap() {
            let of = |name: &str| number(row, &format!("/{name}"));
            // The context is read at least once.
            assert!(of("context") <= of("billed"), "{row}");
        }
        // Entries that the catalog lacks are not shown.
        assert_eq!((&one["each"][0]["shown"], &one["each"][2]["shown"]), (&json!(true), &json!(false)), "{one}");
        let saved = 1.0 - number(one, "/context/mean") / number(one, "/everything/mean");
        assert!((saved - number(one, "/context_saved")).abs() < 1e-3, "{one}");
    }
}

/// Writes tools of an MCP server, one per object, as lines of a catalog.
fn tools(server: &str, objects: &[&str]) -> String {
    let line = |object: &&str| {
        let schema =
            json!({"type": "object", "properties": {"number": {"type": "string", "description": "Its number"}}});
        let description = format!("Changes an entry of the register. The entry is a {object}.");
        json!({"id": format!("{server}.edit_{object}"), "server": server, "tool": format!("edit_{object}"),
               "description": description, "inputSchema": schema})
        .to_string()
    };
    objects.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn tool_lists_are_compared_at_every_size() {
    let animals = ["horse", "sparrow", "salmon", "lizard"];
    let others: Vec<String> = (1..=40).map(|number| format!("part{number}")).collect();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    // Only the description of this tool contains its object.
    let own = tools("zoo", &animals).replace("edit_lizard", "edit_entry");
    let queries = r#"{"id": "a", "query": "Change the horse 12", "gold": ["zoo.edit_horse"]}
{"id": "b", "query": "Change the lizard 7", "gold": ["zoo.edit_entry"]}
{"id": "c", "query": "Change the tiger", "gold": ["zoo.edit_tiger"]}"#;
    let estate = Estate::new("databases: []\n").with("zoo/catalog.jsonl", own).with("zoo/queries.jsonl", queries);
    estate.write("parts/catalog.jsonl", tools("parts", &others));
    let [zoo, parts] = ["zoo", "parts"].map(|name| estate.path(name).display().to_string());
    let bench =
        |sizes: &str| estate.run(["bench", "tokens", "--tools", &zoo, "--tools", &parts, "--sizes", sizes, "--json"]);
    let report = bench("4,10,40").json(0);
    assert_eq!((&report["questions"], &report["questions_skipped"]), (&json!(2), &json!(1)));
    let methods = report["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 3 * 6);
    for (rows, size) in methods.chunks(6).zip([4, 10, 40]) {
        let names: Vec<&str> = rows.iter().map(|row| row["method"].as_str().unwrap()).collect();
        assert_eq!(names, ["all", "low", "medium", "high", "max", "search"]);
        assert!(rows.iter().all(|row| row["tools"] == size), "{rows:?}");
        let prompts: Vec<f64> = rows.iter().map(|row| number(row, "/prompt")).collect();
        assert!(prompts[0] > prompts[1] && prompts[1] > prompts[2] && prompts[2] > prompts[3], "{rows:?}");
        let of = |row: usize, value: &str| number(&rows[row], value);
        assert_eq!((of(0, "/recall"), of(0, "/question/mean")), (1.0, 0.0));
        assert_eq!((&rows[0]["is_measured"], &rows[5]["is_measured"]), (&json!(false), &json!(true)));
        assert!(of(4, "/question/mean") > of(3, "/question/mean"), "max lists the tools for a question: {rows:?}");
    }
    let of = |row: usize, value: &str| number(&methods[row], value);
    // The prompts of `max` and `search` do not grow with the list, except for the names in the map.
    assert_eq!(of(4, "/prompt"), of(16, "/prompt"));
    assert!(of(17, "/prompt") < of(5, "/prompt") + 20.0, "{report}");
    // Names and parameters do not show the object of the tool whose name lacks it.
    assert_eq!((of(13, "/recall"), of(17, "/recall")), (1.0, 1.0), "{report}");
    assert_eq!((of(15, "/recall"), of(16, "/recall")), (0.5, 0.5), "{report}");
    assert_eq!(bench("4,10,40").out, bench("4,10,40").out);

    let few = bench("100");
    assert_eq!(few.code, Some(2), "{few:?}");
    assert!(few.err.contains("100 tools were requested, but the folders contain 44"), "{few:?}");
    let small = bench("1");
    assert_eq!(number(&small.json(0), "/questions"), 1.0);
}

#[test]
fn invalid_usage_is_reported() {
    let estate = Estate::sample();
    let check = |arguments: &[&str], expected: &str| {
        let ran = estate.run([&["bench", "tokens"], arguments].concat());
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.contains(expected), "{ran:?}");
    };
    check(&[], "--queries");
    check(&["--estate", "nowhere"], "cannot read the queries nowhere/queries.jsonl");
    check(&["--queries", "q", "--estate", "e"], "cannot be used with");
    check(&["--tools", "nowhere"], "cannot read the queries nowhere/queries.jsonl");
    check(&["--tools", "t", "--queries", "q"], "cannot be used with");
    check(&["--queries", "q", "--sizes", "5"], "cannot be used with");
}

#[test]
fn synthetic_workload_needs_no_catalog() {
    let estate = Estate::copy();
    estate.write("queries.jsonl", QUERIES);
    let folder = estate.path("queries.jsonl").with_file_name("");
    let mut command = estate.bare();
    let ran = Ran::of(command.args(["bench", "tokens", "--json", "--limit", "1", "--estate"]).arg(folder));
    assert_eq!(number(&ran.json(0), "/estates/0/questions"), 1.0);
}

#[test]
fn answers_are_compared_with_expected_rows() {
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

/// Creates a database of orders and lines from a script.
const SHOP: &str = "CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL NOT NULL, state TEXT NOT NULL);
CREATE TABLE lines (order_id INTEGER NOT NULL REFERENCES orders (id), line_no INTEGER NOT NULL, PRIMARY KEY (order_id, line_no));
INSERT INTO orders VALUES (1, 9.5, 'paid'), (2, 12.0, 'open');
INSERT INTO lines VALUES (1, 1), (1, 2), (2, 1);
";

/// A correct plan and three defective ones: one fails, one has a warning, and one answers another question.
const SHOP_QUERIES: &str = "catalog: catalog.yaml
queries:
- id: total
  wordings: {en: [Total of all orders, Sum of orders], de: [Summe der Bestellungen]}
  right:
  - sql: SELECT SUM(total) AS total FROM shop.orders
  spoiled:
  - {kind: unknown_column, structural: true, plan: [{sql: SELECT SUM(amount) FROM shop.orders}]}
  - kind: fan_out
    structural: true
    plan:
    - sql: SELECT SUM(o.total) FROM shop.orders o JOIN shop.lines l ON l.order_id = o.id
  - {kind: wrong_measure, structural: false, plan: [{sql: SELECT COUNT(*) FROM shop.orders}]}
";

#[test]
fn verdicts_are_counted_by_defect() {
    let estate = Estate::new("databases: []\n")
        .with("wordings/shop/catalog.yaml", "databases:\n- {name: shop, path: shop.sqlite}\n")
        .with("wordings/shop/shop.sql", SHOP)
        .with("wordings/shop/queries.yaml", SHOP_QUERIES);
    let data = estate.path("wordings").display().to_string();
    let ran = estate.run(["bench", "wordings", "--data", &data]);
    let report = ran.json(0);
    assert_eq!(report["queries"], 1);
    assert_eq!(report["right"], json!({"plans": 1, "failed": 0, "warned": 0, "neither": 1}));
    assert_eq!(report["structural"]["unknown_column"]["failed"], 1, "{report:#}");
    assert_eq!(report["structural"]["fan_out"]["warned"], 1, "{report:#}");
    assert_eq!(report["semantic"]["wrong_measure"]["neither"], 1, "{report:#}");
    assert_eq!(report["each"][2]["codes"], json!(["repeated_rows"]));
    assert!(ran.err.contains("| fan_out"), "{}", ran.err);

    let missing = estate.run(["bench", "wordings", "--data", &data, "--only", "nowhere"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    assert!(missing.err.contains("cannot read the queries"), "{missing:?}");
    estate.write("wordings/shop/shop.sql", "CREATE TABLE orders (");
    let broken = estate.run(["bench", "wordings", "--data", &data]);
    assert_eq!(broken.code, Some(2), "{broken:?}");
    assert!(broken.err.contains("cannot create a SQLite database from"), "{broken:?}");
}

/// Maximum share of correct plans that fail.
const MAX_RIGHT_FAILED: f64 = 0.01;

/// Maximum share of correct plans with warnings.
const MAX_RIGHT_WARNED: f64 = 0.05;

/// Minimum share of plans with a structural defect that fail or have warnings.
const MIN_STRUCTURAL_CAUGHT: f64 = 0.95;

#[tokio::test]
async fn verification_accepts_correct_plans_and_finds_structural_defects() {
    let options = || Ok(CatalogOptions::default());
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/wordings");
    let setup = wordings::Setup { data, only: Vec::new(), options: &options, notify: &|_| {} };
    let report = wordings::measure(&setup).await.unwrap();
    let table = report.table();
    println!("{table}");
    let [structural, semantic] = [&report.structural, &report.semantic].map(|tallies| Tally::sum(tallies.values()));
    assert!(report.queries >= 60 && structural.plans >= 100 && semantic.plans >= 60, "{table}");
    let right = report.right;
    assert!(right.share(right.failed) <= MAX_RIGHT_FAILED, "{table}");
    assert!(right.share(right.warned) <= MAX_RIGHT_WARNED, "{table}");
    assert!(structural.share(structural.failed + structural.warned) >= MIN_STRUCTURAL_CAUGHT, "{table}");
}

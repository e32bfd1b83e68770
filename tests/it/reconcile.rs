//! `planner reconcile` from the terminal, with a scripted model behind a provider's API and with the built-in planner, over a file and a
//! database of 10,000 rows each.

use crate::ledger::Ledger;
use crate::support::{Estate, Ran, items};
use prospector_test_support::provider::{FakeProvider, KEY, Turn};
use prospector_test_support::server;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection};

const ROWS: usize = 10_000;
const WHAT: &str = "Match ledger.invoices with bank.payments.";

/// The payments in SQLite.
async fn sqlite(ledger: &Ledger) -> Estate {
    let estate = Estate::new("databases:\n- {name: ledger, path: invoices.csv}\n- {name: bank, path: bank.sqlite}\n")
        .with("invoices.csv", ledger.invoices_csv());
    let url = format!("sqlite://{}?mode=rwc", estate.path("bank.sqlite").display());
    let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(ledger.payments_sql())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    estate
}

/// The payments in PostgreSQL.
async fn postgres(ledger: &Ledger) -> Option<Estate> {
    let mut url = server("PROSPECTOR_TEST_POSTGRES")?;
    let mut connection = sqlx::PgConnection::connect(url.as_str()).await.unwrap();
    for sql in ["DROP DATABASE IF EXISTS reconcile_test", "CREATE DATABASE reconcile_test"] {
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    }
    url.set_path("reconcile_test");
    let mut connection = sqlx::PgConnection::connect(url.as_str()).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(ledger.payments_sql())).execute(&mut connection).await.unwrap();
    let yaml = format!("databases:\n- {{name: ledger, path: invoices.csv}}\n- {{name: bank, url: '{url}'}}\n");
    Some(Estate::new(&yaml).with("invoices.csv", ledger.invoices_csv()))
}

/// The report, and the files with the complete result.
struct Reconciled {
    report: Value,
    matched: Vec<Value>,
    estate: Estate,
}

impl Reconciled {
    #[track_caller]
    fn of(ran: &Ran, estate: Estate) -> Self {
        let report = ran.json(0);
        let mut reconciled = Reconciled { report, matched: Vec::new(), estate };
        reconciled.matched = reconciled.lines("matched");
        reconciled
    }

    fn lines(&self, name: &str) -> Vec<Value> {
        let file = self.estate.state().join("reconcile/run-1").join(format!("{name}.jsonl"));
        let text = std::fs::read_to_string(file).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Checks that the result is correct, complete and explained.
    #[track_caller]
    fn check(&self, ledger: &Ledger) {
        assert_eq!(self.report["completed"], true, "{:#}", self.report);
        let pairs = self.matched.iter().map(|pair| (pair["left"].as_str().unwrap(), pair["right"].as_str().unwrap()));
        let (precision, recall) = ledger.judge(pairs);
        let rules = &self.report["products"]["result"]["rules"];
        assert!(precision >= 0.99 && recall >= 0.93, "precision {precision}, recall {recall}: {rules:#}");
        println!("{} matched, precision {precision:.4}, recall {recall:.4}", self.matched.len());
        // No rule was a cross join.
        let compared = items(rules).iter().map(|rule| rule["compared"].as_u64().unwrap()).max().unwrap();
        assert!(compared < 5_000_000, "{rules:#}");
        // Every row is matched or listed, and no row twice.
        for (side, name) in [("left", "unmatched_left"), ("right", "unmatched_right")] {
            let open = self.lines(name);
            assert!(open.iter().all(|line| line["row"].is_object()), "{name}");
            let matched = self.matched.iter().map(|pair| pair[side].as_str().unwrap());
            let keys: std::collections::BTreeSet<&str> =
                matched.chain(open.iter().map(|line| line["key"].as_str().unwrap())).collect();
            assert_eq!((keys.len(), self.matched.len() + open.len()), (ROWS, ROWS), "{name}");
        }
        for pair in &self.matched {
            assert!(pair["rule"].is_string() && !items(&pair["evidence"]).is_empty(), "{pair}");
        }
        // The model and the user see only a part.
        let shown = &self.report["products"]["result"];
        assert!(items(&shown["matched"]).len() <= 8 && shown.to_string().len() < 16_000);
        let phases: Vec<&str> =
            items(&self.report["phases"]).iter().filter_map(|entered| entered["phase"].as_str()).collect();
        let all = ["greeting", "intent", "scoping", "demonstration", "inference", "validation", "execution", "end"];
        assert!(all.iter().all(|phase| phases.contains(phase)), "{phases:?}");
    }
}

/// Returns the script of a competent model, with a failed call in each phase that has tools.
fn script() -> Vec<Turn> {
    let pair = |left: &str, right: &str, test: Value| {
        let mut fields = json!({"left": left, "right": right});
        fields.as_object_mut().unwrap().extend(test.as_object().unwrap().clone());
        fields
    };
    let reference = pair("reference", "purpose", json!({"test": "exact"}));
    let amount = pair("amount", "paid", json!({"test": "tolerance", "within": 0.05}));
    let date = pair("issued", "paid_on", json!({"test": "window", "days": 5}));
    let name = pair("customer", "payer", json!({"test": "fuzzy", "threshold": 0.75}));
    let rule = |name: &str, tests: &[&Value]| json!({"name": name, "tests": tests});
    let rules = json!([
        rule("reference and amount", &[&reference, &amount]),
        rule("reference and name", &[&reference, &name]),
        rule("amount, date and name", &[&amount, &date, &name]),
        rule("amount and name", &[&amount, &name]),
        rule("amount and date", &[&amount, &date]),
    ]);
    let load = |alias: &str, database: &str, table: &str| {
        ("load_scoped", json!({"alias": alias, "database": database, "table": table, "limit": 50_000}))
    };
    let no_args = || json!({});
    let preview = |database: &str, table: &str| ("get_source_preview", json!({"database": database, "table": table}));
    vec![
        // Calls of a later phase are refused, and the next round continues within the turn.
        Turn::calls([load("inv", "ledger", "invoices"), ("list_sources", no_args()), ("advance", no_args())]),
        Turn::calls([
            preview("ledger", "invoices"),
            ("advance", json!({"note": "too early: one table was not looked at"})),
            preview("bank", "payments"),
            ("describe", json!({"idz": 1})),
        ]),
        Turn::calls([
            ("advance", json!({"note": "ledger.invoices with bank.payments, all rows"})),
            load("inv", "ledger", "invoices"),
            load("pay", "bank", "paymentz"),
            ("advance", no_args()),
        ]),
        Turn::calls([
            load("pay", "bank", "payments"),
            ("advance", no_args()),
            ("propose_match", json!({"left": "inv", "right": "nothing"})),
        ]),
        // Pairs cannot be confirmed before the user has seen them.
        Turn::calls([("propose_match", json!({"left": "inv", "right": "pay", "limit": 12})), ("advance", no_args())]),
        Turn::calls([("confirm_pairs", no_args())]),
        Turn::text("Which of p1 to p12 are right?"),
        Turn::calls([("advance", no_args()), ("confirm_pairs", json!({"confirmed": ["p99"]}))]),
        Turn::calls([("confirm_pairs", no_args()), ("advance", no_args()), ("infer_rules", no_args())]),
        Turn::calls([(
            "build_recipe",
            json!({"rules": [{"name": "x", "tests": [pair("amount", "payed", json!({"test": "exact"}))]}]}),
        )]),
        Turn::calls([("build_recipe", json!({"rules": rules})), ("advance", no_args()), ("run_full", no_args())]),
        Turn::calls([("validate_recipe", json!({"min_recall": "most"})), ("run_sample", json!({"rows": 50}))]),
        // A run cannot be approved before the user has seen the validation.
        Turn::calls([("validate_recipe", no_args()), ("advance", no_args())]),
        Turn::calls([("approve_run", no_args())]),
        Turn::text("It passes. Shall I run it?"),
        Turn::calls([
            ("approve_run", no_args()),
            ("advance", no_args()),
            ("run_full", json!({"all": true})),
            ("run_full", no_args()),
        ]),
        Turn::text("Done."),
    ]
}

/// Runs the binary with these answers on standard input.
async fn run(estate: Estate, fake: Option<&FakeProvider>, answers: &str) -> (Ran, Estate) {
    let mut command = estate.planner();
    command.args(["reconcile", WHAT]).write_stdin(answers.to_owned());
    if let Some(fake) = fake {
        command.args(["--model", "claude-sonnet-4-5"]).env("ANTHROPIC_API_KEY", KEY);
        command.env("ANTHROPIC_BASE_URL", fake.settings().anthropic_base_url.unwrap());
    }
    command.timeout(std::time::Duration::from_secs(500));
    tokio::task::spawn_blocking(move || (Ran::of(&mut command), estate)).await.unwrap()
}

async fn scripted(ledger: &Ledger, estate: Estate) {
    let fake = FakeProvider::start(script()).await;
    let (ran, estate) = run(estate, Some(&fake), "yes\nYES\n").await;
    let reconciled = Reconciled::of(&ran, estate);
    fake.assert_clean();
    reconciled.check(ledger);
    assert_eq!(reconciled.report["answer"], "Done.");
    // Premature calls are refused.
    let second = fake.requests()[1].body.to_string();
    assert!(second.contains("wrong_phase"), "{second}");
    let last = fake.requests().last().unwrap().body.to_string();
    for refused in [
        "`scoping` cannot start yet: 1 more preview is missing",
        "the user has not seen the pairs yet",
        "3 more pair is missing",
        "is not a tool of the phase `validation`",
        "the user has not answered yet",
    ] {
        assert!(last.contains(refused), "{refused}: {last}");
    }
    // The tools are the same in every request, so that the provider's cache holds.
    let requests = fake.requests();
    assert!(requests.iter().all(|request| request.body["tools"] == requests[0].body["tools"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scripted_model_matches_a_file_and_sqlite() {
    let ledger = Ledger::new(ROWS);
    let estate = sqlite(&ledger).await;
    scripted(&ledger, estate).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a server: .ci/services"]
async fn a_scripted_model_matches_a_file_and_postgres() {
    let ledger = Ledger::new(ROWS);
    let Some(estate) = postgres(&ledger).await else { return };
    scripted(&ledger, estate).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_the_suggested_rules_do() {
    let ledger = Ledger::new(ROWS);
    let estate = sqlite(&ledger).await;
    let (ran, estate) = run(estate, None, "yes\nyes\n").await;
    Reconciled::of(&ran, estate).check(&ledger);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_runs_without_approval() {
    let ledger = Ledger::new(300);
    let estate = sqlite(&ledger).await;
    // Other replies than `yes` and `no` run nothing, and the choices are listed again.
    let words = "yes\nNO, do not run it, stop\nyes, run it\nja\nyes p1\n";
    let (ran, estate) = run(estate, None, words).await;
    let report = ran.json(1);
    assert_eq!((&report["completed"], &report["phase"]), (&json!(false), &json!("validation")), "{report:#}");
    assert!(report["answer"].as_str().unwrap().contains("Write `yes` to run it"), "{report:#}");
    assert!(report["products"]["refusal"].is_null(), "{report:#}");
    assert!(report["products"]["result"].is_null() && !estate.state().join("reconcile").exists(), "{report:#}");
    // Other replies do not confirm pairs.
    let (ran, estate) = run(estate, None, "all\np1, p2 and p3\nAll of them are right.\n").await;
    let report = ran.json(1);
    assert_eq!((&report["phase"], &report["products"]["pair"]), (&json!("demonstration"), &Value::Null), "{report:#}");
    assert!(report["answer"].as_str().unwrap().contains("`yes p1 p2`"), "{report:#}");
    // `no` ends the workflow.
    let (ran, estate) = run(estate, None, "yes\nno\n").await;
    let report = ran.json(0);
    assert_eq!(report["products"]["refusal"]["refused"], true, "{report:#}");
    assert!(report["products"]["result"].is_null() && !estate.state().join("reconcile").exists(), "{report:#}");
    // Two pairs are too few, and a question is not a reply.
    let (ran, estate) = run(estate, None, "yes p1 p2\nwhat would that do?\nyes\nyes\n").await;
    let report = ran.json(0);
    assert_eq!((&report["completed"], &report["products"]["result"].is_object()), (&json!(true), &true), "{report:#}");
    assert!(estate.state().join("reconcile/run-1").is_dir());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_cannot_choose_for_the_user() {
    let ledger = Ledger::new(300);
    // The replies of the user and the exit status; the model continues in each case.
    for (answer, code) in [("no", 0), ("No, do not run it.", 1), ("yes, run it", 1)] {
        let mut turns = script();
        turns.truncate(14);
        turns.extend([
            Turn::text("It passes. Shall I run it?"),
            Turn::calls([
                ("approve_run", json!({})),
                ("advance", json!({"phase": "execution"})),
                ("run_full", json!({})),
                ("advance", json!({"phase": "end"})),
            ]),
            Turn::text("Nothing was run."),
        ]);
        let fake = FakeProvider::start(turns).await;
        let estate = sqlite(&ledger).await;
        let (ran, estate) = run(estate, Some(&fake), &format!("yes\n{answer}\n")).await;
        fake.assert_clean();
        let report = ran.json(code);
        assert!(report["products"]["result"].is_null() && !estate.state().join("reconcile").exists(), "{report:#}");
        let last = fake.requests().last().unwrap().body.to_string();
        assert!(last.contains("`execution` cannot start yet: approval is missing"), "{answer}: {last}");
        assert!(last.contains("is not a tool of the phase `validation`"), "{answer}: {last}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn payments_that_name_their_invoice_are_matched() {
    const INVOICES: usize = 1_500;
    let mut invoices = String::from("invoice_id,total,invoice_date\n");
    let mut payments = String::from("payment_id,received,amount,text\n");
    for at in 0..INVOICES {
        let (id, total) = (2_000 + at, 5.0 + (at * 37 % 900) as f64 / 100.0);
        invoices.push_str(&format!("{id},{total:.2},2025-{:02}-{:02}\n", at % 12 + 1, at % 28 + 1));
        // One of five has no payment; one of four of the others is paid in part, weeks later.
        if at % 5 == 0 {
            continue;
        }
        let amount = if at % 4 == 0 { total / 2.0 } else { total };
        let spelled =
            ["Invoice {}", "payment inv. {}, thank you", "INV-0{}", "re: {}"][at % 4].replace("{}", &id.to_string());
        let (month, day) = ((at + at % 3) % 12 + 1, (at * 11) % 28 + 1);
        payments
            .push_str(&format!("{},2025-{month:02}-{day:02},{amount:.2},\"{spelled}\"\n", 90_000 + at * 7 % INVOICES));
    }
    let estate = Estate::new("databases:\n- {name: ledger, path: invoices.csv}\n- {name: bank, path: payments.csv}\n")
        .with("invoices.csv", invoices)
        .with("payments.csv", payments);
    let (ran, estate) = run(estate, None, "yes\nyes\n").await;
    let reconciled = Reconciled::of(&ran, estate);
    let right = |pair: &&Value| {
        let number = |side: &str| pair[side].as_str().unwrap().parse::<usize>().unwrap();
        90_000 + (number("left") - 2_000) * 7 % INVOICES == number("right")
    };
    let (found, right) = (reconciled.matched.len(), reconciled.matched.iter().filter(right).count());
    let rules = &reconciled.report["products"]["recipe"];
    assert!(right >= 1_180 && found - right <= 6, "{found} found, {right} right of 1200: {rules:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn incomplete_runs_are_reported() {
    let ledger = Ledger::new(60);
    let estate = sqlite(&ledger).await;
    // The input of the user ends.
    let (ran, estate) = run(estate, None, "").await;
    let report = ran.json(1);
    assert_eq!((&report["completed"], &report["phase"]), (&json!(false), &json!("demonstration")), "{report:#}");
    assert!(!estate.state().join("reconcile").exists(), "nothing is run before the user agrees");
    // The tables do not exist.
    let mut command = estate.planner();
    let ran = Ran::of(command.args(["reconcile", "Match ledger.invoicez with bank.payment."]).write_stdin("no\n"));
    assert_eq!(ran.json(1)["completed"], false);
    // A custom workflow that is invalid.
    estate.write("own.yaml", "workflow: own\nbegin: one\nrole: x\nphases:\n- name: one\n  tools: [serch]\n  instructions: x\n  advance: [{to: end}]\n");
    let path = estate.path("own.yaml").display().to_string();
    let ran = estate.run(["reconcile", "--workflow", &path]);
    let complaint = ran.complaint(2);
    assert!(complaint.contains("own.yaml:6:11: unknown tool `serch` (did you mean search"), "{complaint}");
}

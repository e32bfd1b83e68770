//! The command line: plans, prompts, refresh, check, init, and the output streams.

use std::{fs, process::Stdio};

use crate::support::{Estate, Ran, VIP, assert_holds, assert_sound, items, texts};
use serde_json::{Value, json};

#[test]
fn readme_question_gives_a_verified_plan() {
    let plan = Estate::sample().plan(VIP);
    assert_eq!(plan["model"], "offline");
    assert_eq!(plan["mode"], "exploratory");
    let facts = items(&plan["discovered_context"]["facts"]);
    let is_vip = |fact: &&Value| fact["term"].as_str().is_some_and(|term| term.contains("VIP customer"));
    let vip = facts.iter().find(is_vip).unwrap_or_else(|| panic!("no fact about VIP customers: {plan:#}"));
    assert!(vip["source"].as_str().unwrap().starts_with("business_rules"), "{vip}");
    assert!(vip["definition"].as_str().unwrap().contains("45.00"), "{vip}");
    assert_holds(&plan["discovered_context"]["tables"], &["music_store.invoices"]);
    assert_holds(&plan["discovered_context"]["documents"], &["business_rules"]);
    let step = &plan["plan"]["steps"][0];
    assert_eq!(
        (&step["metrics"]["segments"], &step["metrics"]["grain"]),
        (&json!(["vip_customer"]), &json!("quarter"))
    );
    assert!(step["explanation"].as_str().is_some_and(|text| !text.is_empty()), "{step:#}");
    assert_eq!(plan["verification"]["executable"], true, "{plan:#}");
    let metrics = &plan["metrics"];
    for count in ["model_calls", "tool_calls", "input_tokens", "output_tokens", "tokens_full_prompt"] {
        assert!(metrics[count].as_u64().is_some_and(|n| n > 0), "{count}: {metrics}");
    }
    let checked = plan["verification"]["checked"].as_u64().unwrap();
    assert!(checked >= 5, "only {checked} names and steps checked");
}

/// Running the plan gives the same rows as a hand-written query: the paid invoices of the VIP customers.
#[test]
fn readme_plan_returns_correct_rows() {
    let estate = Estate::sample();
    let ran = estate.run(["plan", VIP, "--run"]).json(0);
    assert_eq!(ran["ok"], true, "{ran:#}");
    let by_hand = "SELECT '20' || substr(invoice_date, 3, 2) || '-Q' || ((CAST(strftime('%m', invoice_date) AS INTEGER) + 2) / 3) AS quarter, \
        SUM(total) AS spending FROM music_store.invoices WHERE stat_cd = 'P' AND customer_id IN (SELECT i.customer_id \
        FROM music_store.invoices i JOIN music_store.customers c ON c.customer_id = i.customer_id WHERE i.stat_cd = 'P' \
        AND i.invoice_date LIKE '2025%' AND c.cust_seg <> 'STF' GROUP BY i.customer_id HAVING SUM(i.total) >= 45 \
        AND COUNT(DISTINCT (CAST(strftime('%m', i.invoice_date) AS INTEGER) + 2) / 3) >= 3) GROUP BY 1 ORDER BY 1";
    let expected = estate.run(["sql", by_hand]).json(0)[0]["rows"].clone();
    let own = items(&ran["steps"][0]["rows"]);
    assert_eq!(own.len(), items(&expected).len(), "{ran:#}");
    for (own, expected) in own.iter().zip(items(&expected)) {
        assert_eq!(own[0], expected[0]);
        let difference = own[1].as_f64().unwrap() - expected[1].as_f64().unwrap();
        assert!(difference.abs() < 0.005, "{own} for {expected}");
    }
}

/// Questions that cannot be parsed are declined with the closest sources.
#[test]
fn declined_plans_list_the_nearest_sources() {
    let estate = Estate::sample();
    for (question, kind, nearest) in [
        ("Issue a gift card to a customer by e-mail", "apis", "shop"),
        ("Why do customers churn?", "skills", "churn-analysis"),
        ("Write the quarterly report for the fourth quarter of 2025", "skills", "quarterly-report"),
    ] {
        let plan = estate.run(["plan", question]).json(1);
        assert_eq!(plan["plan"]["steps"], json!([]), "{plan:#}");
        assert_holds(&plan["discovered_context"][kind], &[nearest]);
        let reason = texts(&plan["clarifications"])[0];
        assert!(reason.contains("closest sources"), "{reason}");
    }
}

#[test]
fn unanswerable_questions_get_no_steps_and_a_reason() {
    let estate = Estate::sample();
    for question in ["What will the weather be in Lisbon tomorrow?", "?! xqzzt"] {
        let plan = estate.run(["plan", question]).json(1);
        assert_eq!(plan["plan"]["steps"], json!([]), "{plan:#}");
        assert!(!texts(&plan["clarifications"]).is_empty(), "{plan:#}");
    }
}

#[test]
fn unusual_questions_are_returned_unchanged() {
    let estate = Estate::sample();
    for question in [
        "\"\\\" {}[] </data><data> $HOME `ls` %s \t ok",
        "Wie viel gaben VIP-Kunden je Quartal aus? 客户 🎵",
        "--model",
    ] {
        let plan = Ran::of(estate.planner().args(["plan", "--", question])).json(1);
        assert_eq!(plan["question"], question);
        assert_sound(&plan);
    }
}

#[test]
fn a_very_long_question_is_planned() {
    let question = "revenue of customers by quarter ".repeat(2000);
    let plan = Estate::sample().run(["plan", question.trim()]).json(1);
    assert!(plan["clarifications"].to_string().contains("use a language model"), "{plan:#}");
}

#[test]
fn limits_and_modes_are_applied() {
    let estate = Estate::sample();
    let ran = estate.run(["plan", VIP, "--max-calls", "3", "--mode", "auditable", "--quiet"]);
    let plan: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(plan["mode"], "auditable");
    assert!(plan["metrics"]["tool_calls"].as_u64().unwrap() <= 3, "{plan:#}");
    assert_eq!(ran.code, Some(if plan["verification"]["ok"] == true { 0 } else { 1 }), "{plan:#}");
    let plan = estate.run(["plan", VIP, "--max-rounds", "2"]).json(0);
    assert!(plan["metrics"]["model_calls"].as_u64().unwrap() <= 2, "{plan:#}");
}

#[test]
fn prompt_form_depends_on_the_model() {
    let estate = Estate::sample();
    let prompt = |model: &str| estate.run(["prompt", "--model", model]).json(0);

    let full = prompt("claude-2");
    assert_eq!(full["form"], "full");
    assert_eq!(full["tools"], json!([]));
    assert_eq!(full["tokens"]["tools"], 0);
    assert!(full["system"].as_str().unwrap().contains("music_store.invoice_lines"));

    let minimal = prompt("claude-sonnet-4-5");
    assert_eq!(minimal["form"], "minimal");
    assert_holds(&minimal["tools"], &["search", "describe", "resolve_fact"]);
    let tokens = |part: &str| minimal["tokens"][part].as_u64().unwrap();
    assert!((100..=500).contains(&tokens("instructions")), "{minimal:#}");
    println!("all tool definitions together: {} tokens", tokens("tools"));
    assert!((300..=700).contains(&tokens("tools")), "{minimal:#}");
    let sum: u64 = ["instructions", "map", "preload", "metadata", "tools"].into_iter().map(tokens).sum();
    assert_eq!(tokens("total"), sum);
    assert!(tokens("total") < full["tokens"]["total"].as_u64().unwrap());
    let system = minimal["system"].as_str().unwrap();
    for name in ["music_store", "recommendations", "business_rules", "churn-analysis"] {
        assert!(system.contains(name), "the map does not show {name}: {system}");
    }
    assert!(system.contains("music_store.customers"), "what is preloaded is pinned: {system}");
    assert!(!system.contains("music_store.invoice_lines"), "{system}");
}

#[test]
fn prompt_without_tools_contains_the_most_relevant_entries() {
    let estate = Estate::sample();
    let prompt = |model: &str| estate.run(["prompt", VIP, "--model", model]).json(0);
    let tokens = |prompt: &Value| prompt["tokens"]["total"].as_u64().unwrap();
    let system = |prompt: &Value| prompt["system"].as_str().unwrap().to_owned();

    // The definition is in the text of a document, the response of an operation in its schema.
    let large = prompt("claude-2");
    assert!(system(&large).contains("45.00"), "{large:#}");
    assert!(system(&large).contains("\n    answer "), "{large:#}");
    assert!(!system(&large).contains("did not fit"), "{large:#}");

    let small = prompt("gpt-3.5-turbo-instruct");
    assert!((800..=2_048).contains(&tokens(&small)), "{small:#}");
    for best in ["music_store.customers", "45.00", "did not fit"] {
        assert!(system(&small).contains(best), "{best} is not in {small:#}");
    }
    let tiny = prompt("text-curie-001");
    assert!((500..=1_024).contains(&tokens(&tiny)), "{tiny:#}");
}

#[test]
fn catalog_instructions_are_in_every_prompt() {
    let yaml = "databases:\n- path: orders.csv\ninstructions: |\n  Amounts are in euro.\n  Weeks begin on Monday.\n";
    let estate = Estate::new(yaml).with("orders.csv", "order_id,total\n1,9.50\n");
    for (model, form) in
        [("claude-sonnet-4-5", "full-with-tools"), ("claude-sonnet-4-5", "minimal"), ("claude-2", "full")]
    {
        let prompt = estate.run(["prompt", "--model", model, "--prompt", form]).json(0);
        let said = "From the owner of the catalog:\nAmounts are in euro.\nWeeks begin on Monday.";
        assert!(prompt["system"].as_str().unwrap().contains(said), "{prompt:#}");
        let tokens = |part: &str| prompt["tokens"][part].as_u64().unwrap();
        let sum: u64 = ["instructions", "map", "preload", "metadata", "tools"].into_iter().map(tokens).sum();
        assert_eq!(tokens("total"), sum);
    }
}

#[test]
fn pinned_tables_are_found_and_omissions_reported() {
    let wide: Vec<String> = (0..400).map(|at| format!("payment_detail_{at}")).collect();
    let yaml = "databases:\n- path: customers.csv\n- path: payments.csv\n- path: weather.csv\n\
                context_preload:\n  seed_patterns: [customer, payment]\n  similarity_threshold: 0.3\n  max_tables: 5\n";
    let estate = Estate::new(yaml)
        .with("customers.csv", "customer_id,name\n1,Ada\n")
        .with("payments.csv", format!("{}\n", wide.join(",")))
        .with("weather.csv", "day,temperature\n2025-01-01,5\n");
    let prompt = estate.run(["prompt", "--model", "claude-sonnet-4-5", "--prompt", "minimal"]).json(0);
    let system = prompt["system"].as_str().unwrap();
    let pinned = system.split("Tables you will probably need:").nth(1).unwrap();
    assert!(pinned.contains("customers.customers"), "{pinned}");
    assert!(pinned.contains("without columns to save space: payments.payments."), "{pinned}");
    assert!(!pinned.contains("weather"), "{pinned}");
}

#[test]
fn a_small_catalog_is_complete_in_the_prompt() {
    let yaml = "databases:\n- path: customers.csv\n- path: orders.csv\n- path: products.csv\n";
    let estate = Estate::new(yaml)
        .with("customers.csv", "customer_id,name\n1,Ada\n")
        .with("orders.csv", "order_id,customer_id,total\n1,1,9.50\n")
        .with("products.csv", "product_id,title\n1,Lamp\n");
    let prompt = estate.run(["prompt", "--model", "claude-sonnet-4-5"]).json(0);
    assert_eq!(prompt["form"], "full_with_tools");
    assert_holds(&prompt["tools"], &["sample", "list", "search"]);
    let system = prompt["system"].as_str().unwrap();
    for name in ["customers.customers", "orders.orders", "products.products", "title"] {
        assert!(system.contains(name), "{name} is not in {system}");
    }
    assert_eq!(estate.run(["prompt", "--model", "claude-2"]).json(0)["form"], "full");
    let forced = estate.run(["prompt", "--model", "claude-sonnet-4-5", "--prompt", "minimal"]).json(0);
    assert_eq!(forced["form"], "minimal");
}

#[test]
fn two_fresh_states_give_the_same_prompt_and_tools() {
    let [first, second] = [1, 2].map(|_| {
        let estate = Estate::sample();
        let model = ["prompt", "--model", "gpt-4o"];
        (estate.run(model).out, estate.run(["tools"]).out, estate.run(["search", "refund"]).out)
    });
    assert_eq!(first, second);
}

#[test]
fn refresh_reports_changes() {
    let estate = Estate::copy();
    let refresh = || {
        let report = estate.run(["refresh"]).json(0);
        assert_eq!(report["problems"], json!([]), "{report:#}");
        ["added", "updated", "removed", "unchanged"].map(|count| report[count].as_u64().unwrap())
    };
    let [all, _, _, unchanged] = refresh();
    assert!(all > 100 && unchanged == 0, "{all} added, {unchanged} unchanged");
    assert_eq!(refresh(), [0, 0, 0, all]);

    let hours = "name: opening_hours\n    description: When customer support answers.";
    let text = fs::read_to_string(estate.path("catalog.yaml")).unwrap();
    assert!(text.contains(hours));
    let changed = text.replace(hours, "name: opening_hours\n    description: When the phone is answered.");
    estate.write("catalog.yaml", changed);
    let [added, updated, removed, unchanged] = refresh();
    assert!(added + removed == 0 && updated >= 1 && unchanged >= all - 5, "{updated} updated, {unchanged} unchanged");

    estate.write("documents/refund_policy.md", "# Refund policy\n\nMoney is given back in cash, by the tooth fairy.\n");
    let [_, updated, removed, unchanged] = refresh();
    assert!(updated >= 1 && removed >= 1, "{updated} updated, {removed} removed");
    assert_eq!(unchanged + updated + removed, all);
    let found = estate.run(["search", "tooth fairy cash", "--kind", "document"]).json(0);
    assert!(items(&found).iter().any(|hit| hit["id"].as_str().unwrap().starts_with("refund_policy")), "{found:#}");
}

#[test]
fn changes_are_detected_without_a_refresh() {
    let estate = Estate::new("databases:\n- path: pets.csv\n").with("pets.csv", "pet,age\nhamster,2\n");
    let schema = || estate.call("get_table_schema", &json!({"database": "pets", "table": "pets"})).json(0).to_string();
    assert!(!schema().contains("favourite_food"));
    estate.write("pets.csv", "pet,age,favourite_food\nhamster,2,oats\n");
    assert!(schema().contains("favourite_food"));
}

#[test]
fn a_plan_is_checked_against_the_catalog() {
    let estate = Estate::sample();
    let plan = estate.plan(VIP);
    estate_file(&estate, "plan.json", &plan);
    let file = estate.state().join("plan.json");
    let file = file.to_str().unwrap();
    assert_eq!(estate.run(["check", file]).json(0)["ok"], true);
    let piped = Ran::of(estate.planner().args(["check", "-"]).write_stdin(plan.to_string()));
    assert_eq!(piped.json(0)["ok"], true);

    let check = |step: Value, code: &str, path: &str, suggestion: &str| {
        let plan = json!({"question": "", "plan": {"steps": [step]}});
        let checked = Ran::of(estate.planner().args(["check", "-"]).write_stdin(plan.to_string())).json(1);
        let failure = &items(&checked["failed"])[0];
        assert_eq!((&checked["ok"], &failure["code"], &failure["path"]), (&json!(false), &json!(code), &json!(path)));
        assert!(failure.to_string().contains(suggestion), "{failure:#}");
        // `run` gives the same verdict.
        fs::write(estate.state().join("wrong.json"), plan.to_string()).unwrap();
        let ran = estate.run(["run", estate.state().join("wrong.json").to_str().unwrap()]).json(1);
        assert_eq!(ran["verification"], checked, "{ran:#}");
    };
    let step = |action: Value| {
        let mut step = json!({"number": 1, "goal": "g"});
        step.as_object_mut().unwrap().extend(action.as_object().unwrap().clone());
        step
    };
    let tables = json!({"tables": ["music_store.invoicez"]});
    check(step(tables), "unknown_name", "plan.steps[0].tables", "music_store.invoices");
    let sql = json!({"sql": "SELECT totl FROM music_store.invoices"});
    check(step(sql), "unknown_column", "plan.steps[0].sql", "totl");
    let inputs = json!({"tables": ["music_store.invoices"], "inputs": ["step_9_results"]});
    check(step(inputs), "unknown_input", "plan.steps[0].inputs", "step_9_results");
}

/// The plan of the specification has unqualified tables, and inputs that no step declares.
#[test]
fn the_plan_of_the_specification_loads() {
    let estate = Estate::sample();
    let plan = json!({"reasoning": "...", "discovered_context": {"facts": [], "tables": ["music_store.invoices"], "apis": []},
        "plan": {"steps": [
            {"number": 1, "goal": "Calculate lifetime value per customer", "databases": ["music_store"], "tables": ["invoices"]},
            {"number": 2, "goal": "Identify VIP customers", "inputs": ["step_1_results"], "databases": ["music_store"],
             "tables": ["customers"]},
            {"number": 3, "goal": "Aggregate VIP spending by quarter", "inputs": ["step_2_vip_ids"], "databases": ["music_store"],
             "tables": ["invoices"]}]}});
    let checked = Ran::of(estate.planner().args(["check", "-"]).write_stdin(plan.to_string())).json(0);
    assert_eq!((&checked["ok"], &checked["executable"]), (&json!(true), &json!(false)), "{checked:#}");
    let ran = Ran::of(estate.planner().args(["run", "-"]).write_stdin(plan.to_string())).json(1);
    assert_eq!(ran["stopped"], "not_executable", "{ran:#}");
}

fn estate_file(estate: &Estate, name: &str, value: &Value) {
    fs::write(estate.state().join(name), value.to_string()).unwrap();
}

#[test]
fn check_rejects_files_that_are_not_plans() {
    let estate = Estate::sample();
    let check = |input: &str, expected: &str| {
        let ran = Ran::of(estate.planner().args(["check", "-"]).write_stdin(input));
        let complaint = ran.complaint(2);
        assert!(complaint.contains(expected) && complaint.contains("standard input"), "{input}: {complaint}");
    };
    check("no plan at all", "is not JSON");
    check("", "it is empty");
    check("[]", "is not a plan");
    check("{\"answer\": 42}", "`plan` with `steps`");
    check("{\"plan\": {\"steps\": [{\"number\": \"one\"}]}}", "is not a plan");
    let missing = estate.run(["check", "nowhere.json"]);
    assert!(missing.complaint(2).contains("nowhere.json"), "{}", missing.err);
}

#[test]
fn init_creates_a_working_catalog() {
    let estate = Estate::new("");
    let folder = estate.path("new");
    let begin = || Ran::of(estate.bare().arg("init").arg(&folder));
    let mistyped = begin();
    assert!(mistyped.complaint(2).contains("does not exist"), "{}", mistyped.err);
    assert!(!folder.exists());
    fs::create_dir(&folder).unwrap();
    assert_eq!(begin().json(0)["created"], folder.join("catalog.yaml").to_str().unwrap());
    let written = fs::read(folder.join("catalog.yaml")).unwrap();

    let second = begin();
    let complaint = second.complaint(2);
    assert!(complaint.contains("catalog.yaml") && complaint.contains("nothing was changed"), "{complaint}");
    assert_eq!(fs::read(folder.join("catalog.yaml")).unwrap(), written);

    let next = Ran::of(estate.bare().args(["doctor", "--catalog"]).arg(folder.join("catalog.yaml"))).json(0);
    assert!(items(&next["checks"]).iter().any(|check| check["what"] == "index"), "{next:#}");

    let here = |args: &[&str]| Ran::of(estate.bare().current_dir(&folder).args(args));
    assert_eq!(here(&["refresh"]).json(0)["problems"], json!([]));
    let plan = here(&["plan", "What is this catalog about?"]).json(1);
    assert_sound(&plan);
    assert_holds(&plan["discovered_context"]["documents"], &["about_this_catalog"]);
    let mut found: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found, [".prospector", "catalog.yaml"], "nothing else is written");
}

#[test]
fn help_shows_everything() {
    let estate = Estate::new("");
    let help = Ran::of(estate.bare().arg("--help"));
    assert_eq!((help.code, help.err.as_str()), (Some(0), ""));
    for word in ["plan", "call", "tools", "search", "prompt", "refresh", "check", "init", "EXIT STATUS", "EXAMPLES"] {
        assert!(help.out.contains(word), "{word} is not in the help");
    }
    let version = Ran::of(estate.bare().arg("--version"));
    assert_eq!(version.out.trim(), concat!("planner ", env!("CARGO_PKG_VERSION")));
}

#[test]
fn concurrent_processes_share_a_state_folder() {
    let estate = Estate::sample();
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| estate.run(["search", "refund policy"]).json(0))).collect();
        let answers: Vec<Value> = runs.into_iter().map(|run| run.join().unwrap()).collect();
        assert!(answers[0].to_string().contains("refund_policy"), "{}", answers[0]);
        assert!(answers.iter().all(|answer| *answer == answers[0]));
    });
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let estate = Estate::sample();
    estate.run(["tools"]).json(0);
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_planner"))
        .args(["tools", "--state"])
        .arg(estate.state())
        .env_clear()
        .env("PROSPECTOR_CATALOG", concat!(env!("CARGO_MANIFEST_DIR"), "/catalog/catalog.yaml"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The reader closes the pipe before anything is written.
    drop(child.stdout.take());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}

#[test]
fn search_works_without_embeddings() {
    let estate = Estate::sample();
    for embedder in ["static", "none"] {
        let found = estate.run(["search", "refund policy", "--kind", "document", "--embedder", embedder]).json(0);
        let hits = items(&found);
        assert!(!hits.is_empty() && hits.iter().all(|hit| hit["kind"] == "document"), "{found:#}");
        assert!(hits[0]["id"].as_str().unwrap().starts_with("refund_policy"), "{embedder}: {found:#}");
        assert!(hits.iter().all(|hit| (0.0..=1.0).contains(&hit["relevance"].as_f64().unwrap())), "{found:#}");
    }
}

//! Invalid input: each problem is reported with place, reason and advice, and does not affect other entries.

use std::{fs, path::Path};

use crate::support::{Estate, Ran, VIP, items, sample_file};
use serde_json::{Value, json};

/// A catalog with one invalid entry.
struct Broken<'a> {
    section: &'a str,
    entry: &'a str,
    file: Option<(&'a str, Vec<u8>)>,
}

impl Broken<'_> {
    fn estate(&self) -> Estate {
        let mut yaml = String::from("databases:\n- {name: good, path: good.csv}\n");
        if self.section != "databases" {
            yaml.push_str(&format!("{}:\n", self.section));
        }
        yaml.push_str(&format!("- {}\n", self.entry));
        let estate = Estate::new(&yaml).with("good.csv", "pet,age\nhamster,2\n");
        match &self.file {
            Some((path, content)) => estate.with(path, content),
            None => estate,
        }
    }
}

/// Checks that the problem is reported with all three parts wherever the catalog is used, and that other entries work.
#[track_caller]
fn check(broken: &Broken<'_>, place: &str, reason: &str, advice: &str) {
    let estate = broken.estate();
    let report = estate.run(["refresh"]).json(2);
    let problem = find(&report["problems"], place, reason);
    let advised = problem["advice"].as_str().unwrap_or_default();
    assert!(!advised.is_empty() && advised.contains(advice), "what to do? {problem:#}");
    assert_eq!(problem["severity"], "error");

    let used = estate.call("list_tables", &json!({"database": "good"}));
    assert_eq!(used.json(0)[0]["row_count"], 1);
    let is_reported =
        used.err.lines().any(|line| line.contains(place) && line.contains(reason) && line.contains(advice));
    assert!(is_reported, "{}", used.err);
}

#[track_caller]
fn find<'a>(problems: &'a Value, place: &str, reason: &str) -> &'a Value {
    let text = |problem: &Value, field: &str| problem[field].as_str().unwrap_or_default().to_owned();
    items(problems)
        .iter()
        .find(|problem| text(problem, "place").contains(place) && text(problem, "reason").contains(reason))
        .unwrap_or_else(|| panic!("no problem at `{place}` with `{reason}`: {problems:#}"))
}

fn database<'a>(entry: &'a str, path: &'a str, content: Vec<u8>) -> Broken<'a> {
    Broken { section: "databases", entry, file: Some((path, content)) }
}

fn cut(path: &str, bytes: usize) -> Vec<u8> {
    let mut content = sample_file(path);
    assert!(content.len() > bytes);
    content.truncate(bytes);
    content
}

#[test]
fn reports_damaged_databases() {
    let garbage: Vec<u8> = (0..5000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let line = "catalog.yaml:3";
    let what = "`broken`";
    let todo = "repair";
    let check_one = |entry: &str, path: &str, content: Vec<u8>, reason: &str| {
        let broken = database(entry, path, content);
        check(&broken, line, reason, todo);
        check(&broken, line, what, todo);
        check(&broken, line, path, todo);
    };
    check_one("path: broken.sqlite", "broken.sqlite", garbage, "it is not a SQLite database");
    check_one("path: broken.sqlite", "broken.sqlite", cut("databases/music_store.sqlite", 100_000), "malformed");
    check_one("path: broken.sqlite", "broken.sqlite", vec![], "empty");
    check_one("path: broken.parquet", "broken.parquet", cut("files/exchange_rates.parquet", 5_000), "Corrupt footer");
    check_one("path: broken.arrow", "broken.arrow", cut("files/ad_spend.arrow", 2_000), "truncated");
    check_one("path: broken.json", "broken.json", b"{\"a\": [1,".to_vec(), "not JSON");
}

#[test]
fn a_database_that_is_damaged_inside_keeps_its_schema() {
    let mut content = sample_file("databases/music_store.sqlite");
    let middle = content.len() / 2;
    content[middle..].fill(0xA5);
    let estate = Estate::new("databases:\n- path: shop.sqlite\n").with("shop.sqlite", content);
    let report = estate.run(["refresh"]).json(0);
    let problem = find(&report["problems"], "shop.sqlite: invoice_lines", "malformed");
    assert_eq!(problem["severity"], "warning");
    let schema = estate.call("get_table_schema", &json!({"database": "shop", "table": "invoice_lines"})).json(0);
    assert!(schema.to_string().contains("invln_qty"), "{schema:#}");
    let values = json!({"database": "shop", "table": "invoice_lines", "column": "invln_qty"});
    assert_eq!(estate.call("get_sample_values", &values).json(1)["error"], "unavailable");
}

#[test]
fn reports_missing_sources() {
    let missing = |entry| Broken { section: "databases", entry, file: None };
    check(&missing("path: god.csv"), "catalog.yaml:3", "god.csv", "did you mean `good.csv`?");
    check(&missing("path: nowhere/*.csv"), "catalog.yaml:3", "nowhere", "correct the");
    check(
        &missing("{path: good.csv, type: cvs}"),
        "catalog.yaml:3",
        "unknown database type `cvs`",
        "did you mean `csv`?",
    );
    check(&missing("path: \"${NOT_SET}/a.csv\""), "catalog.yaml:3", "`NOT_SET` is not set", "set it");
    let missing = |section, entry| Broken { section, entry, file: None };
    check(&missing("documents", "path: good.cvs"), "catalog.yaml:4", "good.cvs", "did you mean `good.csv`?");
    check(&missing("apis", "path: nowhere/shop.yaml"), "catalog.yaml:4", "nowhere/shop.yaml", "correct the path");
    check(&missing("skills", "path: nowhere/skills"), "catalog.yaml:4", "nowhere/skills", "correct the path");
}

#[test]
fn reports_misspelt_entries() {
    let misspelt = |section, entry| Broken { section, entry, file: None };
    check(&misspelt("databases", "pth: good.csv"), "catalog.yaml:3", "unknown key `pth`", "did you mean `path`?");
    check(&misspelt("databases", "7"), "catalog.yaml:3", "must be a mapping", "path");
    check(&misspelt("facts", "{term: x, definition: no}"), "catalog.yaml:4", "must be a text", "put it in quotes");
    check(&misspelt("facts", "term: whale"), "catalog.yaml:4", "`definition` is missing", "definition");
    check(&misspelt("documents", "name: rules"), "catalog.yaml:4", "exactly one of `path`, `content`", "write one");
    check(&misspelt("apis", "{path: good.csv, type: soap}"), "catalog.yaml:4", "unknown API type `soap`", "openapi");
    check(
        &misspelt("databses", "path: good.csv"),
        "catalog.yaml:",
        "unknown key `databses`",
        "did you mean `databases`?",
    );
}

#[test]
fn reports_missing_preloaded_table() {
    let yaml = "databases:\n- path: pets.csv\ncontext_preload:\n- pets.*\n- pets.petz\n";
    let estate = Estate::new(yaml).with("pets.csv", "pet,age\nhamster,2\n");
    let report = estate.run(["refresh"]).json(0);
    let problem = find(&report["problems"], "catalog.yaml:5", "pets.petz");
    assert_eq!((&problem["severity"], items(&report["problems"]).len()), (&json!("warning"), 1), "{report:#}");
    assert!(problem["advice"].as_str().unwrap().contains("`pets.pets`"), "{problem:#}");
}

#[test]
fn reports_invalid_api_descriptions() {
    let api =
        |path, content: &str| Broken { section: "apis", entry: "path: x.yaml", file: Some((path, content.into())) };
    check(&api("x.yaml", "title: a recipe\n"), "x.yaml", "not an API description", "name a file that describes an API");
    check(&api("x.yaml", ""), "x.yaml", "not an API description", "name a file that describes an API");
    let broken = Broken {
        section: "apis",
        entry: "path: x.graphql",
        file: Some(("x.graphql", b"type Query { pets: [Pet }".to_vec())),
    };
    check(&broken, "x.graphql:1", "not valid GraphQL", "correct");
}

#[test]
fn reports_skills_without_front_matter() {
    let skill = |content: &str| Broken {
        section: "skills",
        entry: "path: skills",
        file: Some(("skills/walk/SKILL.md", content.into())),
    };
    check(&skill("# Walk the dog\n"), "skills/walk/SKILL.md:1", "no front matter", "start the file with `---`");
    check(
        &skill("---\nname: [walk\n---\n# Walk\n"),
        "skills/walk/SKILL.md:2",
        "not valid YAML",
        "start the file with `---`",
    );
}

#[test]
fn reports_invalid_yaml() {
    let check = |content: &[u8], expected: &[&str]| {
        let estate = Estate::new("").with("catalog.yaml", content);
        for command in [vec!["tools"], vec!["plan", VIP], vec!["refresh"]] {
            let ran = estate.run(command);
            let complaint = ran.complaint(2);
            for part in expected {
                assert!(complaint.contains(part), "{part}: {complaint}");
            }
            assert!(!complaint.contains("Options") && !complaint.contains("from_str"), "{complaint}");
        }
    };
    check(b"databases:\n  - path: [a\nx: {", &["catalog.yaml:3: not valid YAML"]);
    check(b"databases:\n\t- path: a\n", &["catalog.yaml:2: not valid YAML", "tabs"]);
    check(b"databases:\n- path: a\n  path: b\n", &["catalog.yaml:3", "duplicate", "path"]);
    check(b"databases: []\n---\ndocuments: []\n", &["catalog.yaml:3"]);
    check(b"- path: a\n", &["catalog.yaml:1", "must be a mapping"]);
    check(b"\xff\xfe\x00\x01", &["catalog.yaml", "UTF-8"]);
}

/// A key that may limit what is shown rejects its entry, and results say that it is missing.
#[test]
fn results_say_that_entries_are_not_loaded() {
    let estate =
        Broken { section: "databases", entry: "{name: pets, path: good.csv, tabels: [good]}", file: None }.estate();
    let note = "the catalog has an error: one of its entries is not loaded";
    let plan = estate.run(["plan", VIP]).json(1);
    assert!(items(&plan["clarifications"]).iter().any(|text| text.as_str().unwrap().contains(note)), "{plan:#}");
    let answered = estate.run(["ask", VIP]).json(1);
    assert!(answered["answer"].as_str().unwrap().contains(note), "{answered:#}");
    for ran in [estate.run(["search", "hamster"]), estate.call("search", &json!({"query": "hamster"}))] {
        assert!(ran.code == Some(0) && ran.err.contains(note), "{}", ran.err);
    }
    // An answer from the other entries is complete.
    let answered = estate.run(["ask", "How many pets are there?"]).json(0);
    assert!(!answered["answer"].as_str().unwrap().contains(note), "{answered:#}");
}

#[test]
fn reports_empty_catalog() {
    for yaml in ["", "# nothing yet\n", "databases: []\n"] {
        let estate = Estate::new(yaml);
        let ran = estate.run(["plan", VIP]);
        let plan = ran.json(1);
        assert_eq!(plan["plan"]["steps"], json!([]));
        assert!(!items(&plan["clarifications"]).is_empty(), "{plan:#}");
        assert!(ran.err.contains("catalog.yaml is empty: add databases"), "{}", ran.err);
        assert_eq!(estate.run(["tools"]).json(0), json!([]));
        assert_eq!(estate.run(["refresh"]).json(0)["problems"], json!([]));
    }
}

#[test]
fn reports_missing_catalog() {
    let estate = Estate::new("");
    let here = Ran::of(estate.bare().arg("tools"));
    let complaint = here.complaint(2);
    assert!(complaint.contains("planner init") && complaint.contains("--catalog"), "{complaint}");

    let there = Ran::of(estate.bare().args(["tools", "--catalog", "nowhere/catalog.yaml"]));
    let complaint = there.complaint(2);
    for part in ["nowhere/catalog.yaml", "No such file", "planner init"] {
        assert_eq!(complaint.matches(part).count(), 1, "{part}: {complaint}");
    }
}

#[test]
fn reports_read_only_state_folder() {
    let check = |estate: &Estate| {
        let ran = Ran::of(estate.bare().arg("tools").arg("--catalog").arg(estate.path("catalog.yaml")));
        let complaint = ran.complaint(2);
        assert!(complaint.contains(".prospector") && complaint.contains("--state FOLDER"), "{complaint}");
    };
    let yaml = "databases:\n- path: pets.csv\n";
    check(&Estate::new(yaml).with("pets.csv", "pet\nhamster\n").with(".prospector", "in the way"));

    // A privileged user can write to read-only folders.
    let estate = Estate::new(yaml).with("pets.csv", "pet\nhamster\n");
    let folder = estate.path("");
    set_writable(&folder, false);
    if fs::write(folder.join("probe"), "").is_err() {
        check(&estate);
        assert_eq!(items(&estate.run(["call", "list_databases"]).json(0)).len(), 1, "another folder works");
    }
    set_writable(&folder, true);
}

fn set_writable(folder: &Path, writable: bool) {
    let mut permissions = fs::metadata(folder).unwrap().permissions();
    permissions.set_readonly(!writable);
    fs::set_permissions(folder, permissions).unwrap();
}

#[test]
fn damaged_state_is_rebuilt() {
    let estate = Estate::new("databases:\n- path: pets.csv\n").with("pets.csv", "pet,age\nhamster,2\n");
    let search = || estate.run(["search", "age of a pet"]).json(0);
    let expected = search();
    let mut files = vec![estate.state()];
    let mut damaged = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.exists() {
            fs::write(&path, b"\x00garbage\xff").unwrap();
            assert_eq!(search(), expected, "after {} was damaged", path.display());
            damaged += 1;
        }
    }
    assert!(damaged > 3, "only {damaged} files were found");
}

#[test]
fn reports_invalid_usage() {
    let estate = Estate::new("databases: []\n");
    let check = |args: &[&str], expected: &str| {
        let ran = estate.run(args);
        assert!(ran.complaint(2).contains(expected), "{args:?}: {}", ran.err);
    };
    check(&["plna"], "'plan'");
    check(&["plan"], "<QUESTION>");
    check(&["plan", ""], "the question is empty");
    check(&["plan", " \t\n"], "the question is empty");
    check(&["plan", "x", "--max-round", "5"], "--max-rounds");
    check(&["plan", "x", "--mode", "sloppy"], "auditable, exploratory, knowledge");
    check(&["plan", "x", "--max-rounds", "1"], "2..=100");
    check(&["plan", "x", "--max-calls", "many"], "'--max-calls <N>': write a whole number");
    check(&["health", "nowhere"], "write an IP address and a port");
    let ran = estate.run(["run", "nowhere.json"]);
    assert!(!ran.complaint(2).contains("os error"), "{}", ran.err);
    check(&["search", "x", "--kind", "tabel"], "table, operation, document, fact, skill");
    check(&["search", "x", "--embedder", "magic"], "static, none");
    // Builds with and without transformers report what they do not support.
    check(&["search", "x", "--embedder", "./nowhere"], "./nowhere");
    check(&["search", "x", "--embedder", "model:all-MiniLM-L66"], "all-MiniLM-L66");
    let ran = Ran::of(estate.planner().env("PROSPECTOR_EMBEDDER", "magic").args(["search", "x"]));
    assert!(ran.complaint(2).contains("PROSPECTOR_EMBEDDER is `magic`"), "{}", ran.err);
    check(&["call"], "<TOOL>");
    check(&["plan", "VIP", "customers"], "customers");
    check(&["plan", "x", "--model", "claude-sonet-4.5"], "`claude-sonnet-4-5`");
    check(&["prompt", "--model", "gtp-4o"], "`gpt-4o`");
    check(&["plan", "x", "--model", "claude-sonnet-4-5"], "ANTHROPIC_API_KEY");
    check(&["plan", "x", "--model", "gpt-4o"], "OPENAI_API_KEY");
    check(&["plan", "x", "--model", "llama3.1"], "OPENAI_BASE_URL");
}

#[cfg(unix)]
#[test]
fn reports_arguments_that_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let estate = Estate::new("databases: []\n");
    let noise = std::ffi::OsStr::from_bytes(b"\xff\xfe\x01");
    for command in ["plan", "search", "call"] {
        let ran = Ran::of(estate.planner().arg(command).arg(noise));
        assert!(ran.complaint(2).contains("UTF-8"), "{}", ran.err);
    }
}

#[test]
fn a_secret_from_the_environment_never_shows() {
    const SECRET: &str = "s3cr3t-0123456789";
    let yaml = "databases:\n- path: pets.csv\n\
                apis:\n- {name: shop, path: shop.openapi.yaml, url: \"https://api.example/v1?key=${SHOP_KEY}\"}\n";
    let estate = Estate::new(yaml)
        .with("pets.csv", "pet,age\nhamster,2\n")
        .with("shop.openapi.yaml", sample_file("apis/shop.openapi.yaml"));
    let gift_card = json!({"api": "shop", "operation": "issueGiftCard"}).to_string();
    for args in [
        vec!["refresh"],
        vec!["tools"],
        vec!["call", "list_apis"],
        vec!["call", "get_operation_details", &gift_card],
        vec!["search", "shop key"],
        vec!["prompt", "--model", "claude-2"],
        vec!["prompt", "--model", "gpt-4o"],
        vec!["plan", "Issue a gift card", "--model", "offline"],
        vec!["plan", "Issue a gift card", "--model", "claude-nothing"],
    ] {
        let mut command = estate.planner();
        for name in ["SHOP_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"] {
            command.env(name, SECRET);
        }
        let ran = Ran::of(command.env("PROSPECTOR_LOG", "trace").args(&args));
        assert!(ran.code.is_some_and(|code| code != 101), "{args:?}");
        assert!(!ran.out.contains(SECRET) && !ran.err.contains(SECRET), "{args:?} shows it");
    }
    let apis = estate.run(["call", "list_apis"]).json(0);
    assert_eq!(apis[0]["url"], "https://api.example/v1?key=${SHOP_KEY}", "the variable, not its value");
    assert!(!holds(&estate.state(), SECRET.as_bytes()), "the state holds it");
}

fn holds(path: &Path, text: &[u8]) -> bool {
    if path.is_dir() {
        return fs::read_dir(path).unwrap().any(|entry| holds(&entry.unwrap().path(), text));
    }
    fs::read(path).unwrap().windows(text.len()).any(|window| window == text)
}

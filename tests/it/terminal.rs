//! Terminal escape sequences in catalogs, files and questions are printed escaped.

use crate::support::{Estate, Ran};
use serde_json::json;

/// Clears the screen and sets the window title, also as one-byte sequences, and reverses the text direction.
const HOSTILE: &str = "x\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}2J\u{7f}\u{202e}y\u{2066}";

fn estate() -> Estate {
    let yaml = json!({
        "databases": [{"path": "pets.csv", "description": format!("Pets {HOSTILE}")}, {"path": format!("{HOSTILE}.csv")}],
        "documents": [{"name": "rules", "content": format!("# Rules {HOSTILE}\n\nPets {HOSTILE} are fed.")}],
        "facts": [{"term": "old pet", "definition": format!("a pet {HOSTILE} of 9")}],
    });
    Estate::new(&as_yaml(&yaml)).with("pets.csv", format!("pet,note\nhamster,{HOSTILE}\n"))
}

/// JSON is valid YAML, which allows some characters only if they are escaped.
fn as_yaml(value: &serde_json::Value) -> String {
    let escaped =
        |c: char| if c.is_ascii() && c != '\u{7f}' { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) };
    value.to_string().chars().map(escaped).collect()
}

#[track_caller]
fn check(ran: &Ran) {
    for text in [&ran.out, &ran.err] {
        let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || "\u{202e}\u{2066}".contains(c);
        assert!(!text.contains(obeyed), "{text:?}");
    }
}

#[track_caller]
fn check_shown(ran: &Ran) {
    check(ran);
    let both = format!("{}{}", ran.out, ran.err);
    assert!(both.contains("\\u{1b}[2J") || both.contains("\\u001b[2J"), "{both}");
    assert!(both.contains("\\u{9b}2J") || both.contains("\\u009b2J"), "{both}");
}

#[test]
fn output_contains_no_escape_sequences() {
    let estate = estate();
    let rows = json!({"queries": [{"question": "all", "sql": "SELECT * FROM pets"}]}).to_string();
    for format in ["json", "text"] {
        check_shown(&estate.run(["sql", "SELECT * FROM pets", "--format", format]));
        check_shown(&estate.run(["call", "resolve_fact", r#"{"question": "old pet"}"#, "--format", format]));
        check_shown(&estate.run(["call", "execute_sql", &rows, "--format", format]));
        check_shown(&estate.run(["call", "get_document", r#"{"name": "rules"}"#, "--format", format]));
        check_shown(&estate.run(["ask", "what is an old pet?", "--format", format]));
    }
    check_shown(&estate.run(["search", "pets"]));
    check_shown(&estate.run(["refresh"]));
    check_shown(&estate.run(["prompt"]));
    check_shown(&estate.run(["plan", &format!("pets {HOSTILE}")]));
    check_shown(&estate.run(["ask", "what is an old pet?", "--events"]));
    check_shown(&Ran::of(estate.planner().arg("chat").write_stdin("what is an old pet?\n/facts\n")));
    check_shown(&estate.run(["call", "search_tables", &json!({"database": HOSTILE, "query": "x"}).to_string()]));
}

#[test]
fn names_cannot_imitate_lines_of_the_program() {
    const FORGED: &str = "the plan is verified: all is well";
    let name = format!("gone\n{FORGED}\u{2028}\u{200b}");
    let yaml = json!({"databases": [{"path": "pets.csv"}, {"path": format!("{name}.csv")}]});
    let estate = Estate::new(&as_yaml(&yaml)).with("pets.csv", "pet\nhamster\n");
    let check = |ran: &Ran| {
        for text in [&ran.out, &ran.err] {
            assert!(text.lines().all(|line| !line.trim_start().starts_with(FORGED)), "{text}");
        }
        assert!(!ran.err.contains(['\u{2028}', '\u{200b}']), "{}", ran.err);
        assert!(format!("{}{}", ran.out, ran.err).contains(&format!("gone\\n{FORGED}")), "{}\n{}", ran.out, ran.err);
    };
    check(&estate.run(["refresh"]));
    check(&estate.run(["run", "--resume", &name]));
    check(&estate.run(["run", &name]));
    let step = json!({"number": 1, "goal": name, "read": [name]});
    estate.write("plan.json", json!({"question": "", "plan": {"steps": [step]}}).to_string());
    check(&estate.run(["run", estate.path("plan.json").to_str().unwrap(), "--format", "text"]));
}

#[cfg(unix)]
#[test]
fn a_new_catalog_shows_every_character_of_a_file_name() {
    let estate = Estate::new("").with("data/a\u{202e}b\u{85}c.csv", "pet\nhamster\n");
    std::fs::remove_file(estate.path("catalog.yaml")).unwrap();
    estate.run(["init", estate.path("").to_str().unwrap()]).json(0);
    let yaml = std::fs::read_to_string(estate.path("catalog.yaml")).unwrap();
    assert!(yaml.contains("\\u202e") && !yaml.contains(['\u{202e}', '\u{85}']), "{yaml}");
    assert_eq!(estate.run(["refresh"]).json(0)["problems"], json!([]));
}

#[test]
fn logs_contain_no_escape_sequences() {
    let estate = estate();
    check(&Ran::of(estate.planner().env("PROSPECTOR_LOG", "debug").args(["refresh"])));
    check(&Ran::of(estate.planner().env("PROSPECTOR_LOG", "debug").args(["search", &format!("pets {HOSTILE}")])));
}

#[test]
fn logs_and_problems_redact_url_secrets() {
    // Nothing listens at that port.
    let url = "postgres://ada:s3cret@127.0.0.1:1/crm?api_key=s3cret&sslmode=disable";
    let yaml =
        json!({"databases": [{"url": url}, {"path": url}], "documents": [{"path": "https://ada:s3cret@host/x"}]});
    let estate = Estate::new(&yaml.to_string());
    for level in ["warn", "trace"] {
        let ran = Ran::of(estate.planner().env("PROSPECTOR_LOG", level).args(["refresh"]));
        assert!(!ran.out.contains("s3cret") && !ran.err.contains("s3cret"), "{}\n{}", ran.out, ran.err);
        assert!(ran.out.contains("the parameters `api_key` are ignored"), "{}", ran.out);
    }
}

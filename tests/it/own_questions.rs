//! Verified queries and test cases: `planner queries`, `planner ask --save`, `planner test`.

use std::fs;

use crate::support::{Estate, items};
use serde_json::Value;

/// A table of orders, and a folder for verified queries.
fn estate() -> Estate {
    Estate::new("databases:\n- path: orders.csv\nverified_queries:\n- path: queries\n")
        .with("orders.csv", "order_id,country,total\n1,Brazil,9.50\n2,Brazil,12.00\n3,Japan,1.00\n")
        .with("queries/README.md", "Verified queries.\n")
}

#[test]
fn a_saved_query_is_pending_until_approved() {
    let estate = estate();
    let asked = estate.run(["ask", "How many orders are there?", "--save", "order-count"]);
    assert_eq!(asked.json(0)["questions"][0]["rows"][0][0], 3);
    assert!(asked.err.contains("planner queries approve order-count"), "{}", asked.err);
    let waiting = estate.run(["queries", "list", "--waiting"]).json(0);
    assert_eq!(waiting[0]["name"], "order-count", "{waiting}");
    assert!(!estate.path("queries/order-count.sql").exists());
    // Until then it is not used.
    estate.run(["queries", "run", "order-count"]).json(1);
    let approved = estate.run(["queries", "approve", "order-count", "--by", "Ada"]).json(0);
    assert_eq!(approved["verified"]["by"], "Ada");
    assert!(fs::read_to_string(estate.path("queries/order-count.sql")).unwrap().contains("\"by\":\"Ada\""));
    assert_eq!(estate.run(["queries", "list", "--waiting"]).json(0), Value::Array(Vec::new()));
    let answered = estate.run(["ask", "How many orders are there?"]).json(0);
    assert_eq!(answered["questions"][0]["verified"]["query"], "order-count", "{answered}");
    assert!(answered["answer"].as_str().unwrap().contains("was checked by Ada"), "{answered}");
    estate.run(["queries", "approve", "order-count", "--by", "Ada"]).complaint(2);
    // A name cannot refer to a path outside of the folder.
    estate.run(["ask", "How many orders are there?", "--save", "../x"]).complaint(2);
}

#[test]
fn reported_answers_are_listed_until_dismissed() {
    let said = "{\"name\": \"orders-1\", \"question\": \"How many orders?\", \"why\": \"It counts returns.\", \"owner\": \"\", \
                \"by\": \"the local user\", \"on\": \"2026-01-12\", \"queries\": [{\"sql\": \"SELECT 1\", \"verified\": \"order-count\"}]}";
    let text = "---\nquestion: How many orders are there?\nverified: {by: Ada, on: 2026-01-12}\n---\nSELECT COUNT(*) FROM orders.orders\n";
    let estate = estate().with("queries/order-count.sql", text);
    fs::create_dir_all(estate.state().join("objections")).unwrap();
    fs::write(estate.state().join("objections/orders-1.json"), said).unwrap();
    let listed = estate.run(["queries", "list"]).json(0);
    assert_eq!(listed[0]["objections"][0]["why"], "It counts returns.", "{listed}");
    assert_eq!((&listed[1]["name"], &listed[1]["objection"]["on"]), (&"orders-1".into(), &"2026-01-12".into()));
    assert_eq!(estate.run(["queries", "show", "orders-1"]).json(0)["queries"][0]["sql"], "SELECT 1");
    // It changes no answer, and is in none.
    let answered = estate.run(["ask", "How many orders are there?"]);
    assert!(!answered.out.contains("counts returns"), "{}", answered.out);
    assert_eq!(estate.run(["queries", "dismiss", "orders-1"]).json(0)["dismissed"], true);
    assert_eq!(estate.run(["queries", "list", "--waiting"]).json(0), Value::Array(Vec::new()));
    estate.run(["queries", "dismiss", "orders-1"]).complaint(2);
    estate.run(["queries", "dismiss", "../order-count"]).complaint(2);
}

#[test]
fn a_query_accepts_only_valid_parameters() {
    let text = "---\nquestion: How many orders are there in {country}?\nparameters:\n  country: {type: text, column: orders.orders.country}\n\
                verified: {by: Ada, on: 2026-01-12}\n---\nSELECT COUNT(*) AS orders FROM orders.orders WHERE country = :country\n";
    let estate = estate().with("queries/orders-of-country.sql", text);
    let ran = estate.run(["queries", "run", "orders-of-country", "--set", "country=brazil"]).json(0);
    assert_eq!((&ran["rows"][0][0], &ran["parameters"]["country"]), (&2.into(), &"Brazil".into()));
    for wrong in ["country=Japan' OR '1'='1", "country=Peru", "land=Japan"] {
        let refused = estate.run(["queries", "run", "orders-of-country", "--set", wrong]).json(1);
        assert_eq!(refused["error"], "invalid_arguments", "{refused}");
    }
    assert_eq!(estate.run(["queries", "check"]).json(0)[0]["ok"], true);
    let answered = estate.run(["ask", "How many orders do we have in Japan?"]).json(0);
    assert_eq!(
        (&answered["questions"][0]["rows"][0][0], &answered["questions"][0]["verified"]["by"]),
        (&1.into(), &"Ada".into())
    );
    // A changed table schema makes it stale.
    estate.write("orders.csv", "order_id,land,total\n1,Brazil,9.50\n");
    let checked = estate.run(["queries", "check"]).json(1);
    assert!(checked[0]["problem"].as_str().unwrap().contains("has a column `country`"), "{checked}");
    estate.run(["queries", "run", "orders-of-country", "--set", "country=Brazil"]).json(1);
}

#[test]
fn a_failing_case_is_reported() {
    let good = "cases:\n- question: How many orders are there?\n  expect: {value: 3, tables: [orders.orders]}\n\
                - question: What will the weather be tomorrow?\n  expect: {refusal: true}\n";
    let estate = estate().with("tests.yaml", good);
    let passed = estate.run(["test"]);
    assert_eq!(passed.code, Some(0), "{}{}", passed.out, passed.err);
    assert!(passed.out.contains("2 passed, 0 failed") && passed.out.contains("1 of 1 tables used"), "{}", passed.out);
    let wrong = "- name: wrong\n  question: How many orders are in Brazil?\n  expect: {value: 7}\n";
    estate.write("tests.yaml", format!("{good}{wrong}"));
    let failed = estate.run(["test"]);
    assert_eq!(failed.code, Some(1), "{}", failed.out);
    assert!(failed.out.contains("FAIL  wrong") && failed.out.contains("expected the value 7"), "{}", failed.out);
    let report = estate.run(["test", "--format", "json", "--repeat", "2", "--only", "wrong"]).json(1);
    assert_eq!((&report["results"][0]["status"], items(&report["results"][0]["runs"]).len()), (&"failed".into(), 2));
    let xml = estate.run(["test", "--format", "junit"]);
    assert!(xml.code == Some(1) && xml.out.contains("tests=\"3\" failures=\"1\""), "{}", xml.out);
    let both = estate.run(["test", "--compare", "offline", "--only", "wrong"]);
    assert!(both.code == Some(1) && both.out.contains("no differences"), "{}", both.out);
    estate.write("tests.yaml", format!("{good}{wrong}  known: Brazil has two\n"));
    let known = estate.run(["test"]);
    assert!(known.code == Some(0) && known.out.contains("1 known to fail"), "{}", known.out);
    estate.write("tests.yaml", format!("{good}- question: x\n  expects: {{value: 1}}\n"));
    assert!(estate.run(["test"]).complaint(2).contains("tests.yaml:6"), "a case that cannot be read is an error");
}

#[test]
fn an_answer_becomes_a_case() {
    let estate = estate();
    let path = estate.path("mine.yaml");
    let path = path.to_str().unwrap();
    let added = estate.run(["test", path, "--add", "How many orders are there?"]);
    assert!(added.code == Some(0) && added.out.contains("\"value\":3"), "{}{}", added.out, added.err);
    let passed = estate.run(["test", path]);
    assert_eq!(passed.code, Some(0), "{}", passed.out);
    estate.write("orders.csv", "order_id,country,total\n1,Brazil,9.50\n");
    assert_eq!(estate.run(["test", path]).code, Some(1));
}

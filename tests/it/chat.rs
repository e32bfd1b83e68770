//! `planner chat` from a pipe: questions, commands, and a conversation that continues.

use crate::support::{Estate, Ran};

/// Checks the output for these input lines.
#[track_caller]
fn check(estate: &Estate, args: &[&str], lines: &[&str], expected: &[&str]) -> Ran {
    let ran = Ran::of(estate.planner().arg("chat").args(args).write_stdin(lines.join("\n")));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for expected in expected {
        assert!(ran.out.contains(expected), "{expected} is not in\n{}\n{}", ran.out, ran.err);
    }
    ran
}

#[test]
fn questions_are_answered_in_order() {
    let estate = Estate::sample();
    let saved = estate.state().join("talk.md");
    let save = format!("/save {}", saved.display());
    let lines = ["How many customers are there in Brazil?", "How many invoices are there per payment method?", &save];
    check(
        &estate,
        &["--session", "talk"],
        &lines,
        &["69 [Q1]", "| CARD | 2572 |", "● Answered from 1 query", "Saved 2 turns to"],
    );
    let text = std::fs::read_to_string(saved).unwrap();
    assert!(text.contains("## How many customers are there in Brazil?") && text.contains("SELECT COUNT(*)"), "{text}");
    let ran = check(&estate, &["--session", "talk"], &["/quit", "How many customers?"], &[]);
    assert!(ran.err.contains("continuing talk with 2 earlier turns") && ran.out.is_empty(), "{}", ran.err);
}

/// A follow-up question after a declined one refers to the last answered question, which the answer states.
#[test]
fn follow_up_after_a_declined_turn_refers_to_the_last_answered_one() {
    let estate = Estate::sample();
    let (asked, declined) = ("How many customers are there?", "How many unicorns are there?");
    let ran = check(&estate, &[], &[asked, declined, "only in Brazil"], &["I cannot answer this:", "69 [Q1]"]);
    assert!(ran.out.contains(&format!("Understood as: “{asked} only in Brazil” [Q1]")), "{}", ran.out);
    let ran = check(&estate, &[], &[declined, "only in Brazil"], &[]);
    assert!(ran.out.contains("was not answered from data: ask it in full"), "{}", ran.out);
}

#[test]
fn commands_work() {
    let estate = Estate::sample();
    let lines =
        ["/help", "/mode", "/mode knowledge", "/mode wild", "/facts", "/refresh", "/plan refunds by reason", "/hlep"];
    let expected = [
        "/refresh",
        "chosen by the question",
        "The mode is knowledge",
        "fiscal year",
        "reloaded. Entries: 0 added, 0 updated, 0 removed, ",
        "music_store.refunds",
    ];
    let ran = check(&estate, &[], &lines, &expected);
    assert!(ran.err.contains("unknown mode; use") && ran.err.contains("did you mean /help?"), "{}", ran.err);
}

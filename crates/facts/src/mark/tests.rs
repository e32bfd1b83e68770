//! Which structures mark a term.

use super::*;

/// Checks the terms of a text that are stronger than mentions, with their definitions.
fn check(heading: &str, text: &str, expected: &[(&str, &str)]) {
    let found = marks(text, heading);
    let found: Vec<(&str, &str)> =
        found.iter().filter(|one| one.mark < Mark::Mention).map(|one| (one.term.as_str(), one.text.as_str())).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn headings_mark_sections_without_other_terms() {
    let sweep = "A driver makes a clean sweep when he wins. Sprints have none.\n- Not a slam.";
    let text = "A driver makes a **clean sweep** when\nhe wins. Sprints have none.\n\n- Not a `slam`.\n";
    check("Clean sweep", text, &[("clean sweep", sweep), ("Clean sweep", sweep)]);
    check(
        "Full crate",
        "A crate with at least 12 kilograms.",
        &[("Full crate", "A crate with at least 12 kilograms.")],
    );
    let net = "Net revenue is what is left.";
    check("Money", "**Net revenue** is what is left.", &[("Net revenue", net)]);
    check("", "### What is a chargeback?\n\nThe bank takes it back.", &[("chargeback", "The bank takes it back.")]);
    check("How a channel is assigned", "By the first view.", &[]);
}

#[test]
fn bold_words_mark_definitions() {
    check(
        "",
        "A **buyer** has paid once. Any. A **guest** has not.\n\nIn detail:\n\n- Staff is no guest.\n\nMore.\n",
        &[("buyer", "A buyer has paid once. Any."), ("guest", "A guest has not.\nIn detail:\n- Staff is no guest.")],
    );
    check("", "Ask within **14 days**, or in **January 2025**.", &[]);
    let found = marks("**Average order value** (AOV) is a ratio. A bed is **resting** if it is empty.", "");
    assert_eq!((&found[0].aliases, &found[1].aliases), (&vec!["AOV".to_owned()], &vec!["resting bed".to_owned()]));
}

#[test]
fn rows_labels_and_definition_lists_mark_terms() {
    check("", "| Tier | Spend |\n|---|--:|\n| **Gold** | 45 |\n| 2 | |\n", &[("Gold", "Tier: Gold; Spend: 45")]);
    check(
        "",
        "Basket\n: everything that is paid\n  in one go\n",
        &[("Basket", "Basket: everything that is paid in one go")],
    );
    check("", "- Frost night: a night below zero", &[("Frost night", "Frost night: a night below zero")]);
    check("", "**Churn**\n\nA loss.\n\nOf customers.\n", &[("Churn", "A loss.\nOf customers.")]);
    let codes = marks_of_name("stat cd", "values: P = paid, W = written off");
    assert_eq!((codes[1].term.as_str(), codes[2].text.as_str()), ("P", "W: written off"));
}

#[test]
fn subjects_of_defining_sentences_mark_terms() {
    for (text, term) in [
        ("A VIP customer is a customer whose spending is at least 45.", "VIP customer"),
        ("Churn means that a customer left.", "Churn"),
        ("A customer is considered churned when there was no order.", "churned customer"),
        ("An invoice is overdue once it has been unpaid for 30 days.", "overdue invoice"),
        ("The average order value (AOV) is calculated as revenue by orders.", "average order value"),
        ("gross_margin = (revenue - cost) / revenue", "gross_margin"),
    ] {
        check("", text, &[(term, text)]);
    }
    let stores = "The store named Online is our web shop; every other store is a physical one.";
    assert!(marks(stores, "").iter().any(|one| one.term == "web shop"));
    for text in [
        "VIP customers receive free shipping.",
        "VIP customers are a priority for the support team.",
        "It is the best of all.",
        "A VIP customer is not a customer with a large order.",
        "Drafts are left out.",
    ] {
        check("", text, &[]);
    }
}

#[test]
fn run_time_is_linear_for_adversarial_texts() {
    let started = std::time::Instant::now();
    let part = |part: &str| part.repeat(100_000 / part.len());
    for text in
        ["No. 5 ", "A b: is c.\n", "x > y. A b\n: is c.\n", "[", "**a `b ", "(AOV ", "a:\n", "- a:\n", "| a |\n|---|\n"]
    {
        marks(&part(text), "");
    }
    assert!(started.elapsed() < std::time::Duration::from_secs(30), "{:?}", started.elapsed());
}

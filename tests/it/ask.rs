//! `planner ask` without a language model over the sample catalog: values that agree with hand-written SQL, and questions that it must
//! decline.

use crate::support::{Estate, Ran, items};
use serde_json::{Value, json};

/// Asks a question, and compares its only query with this one.
#[track_caller]
fn check(estate: &Estate, question: &str, sql: &str) {
    let answered = estate.run(["ask", question]).json(0);
    let expected = estate.run(["sql", sql]).json(0);
    let (found, expected) = (&answered["questions"][0], &expected[0]["rows"]);
    assert!(!items(expected).is_empty(), "{sql} gives nothing");
    assert!(is_same(&found["rows"], expected), "{question}\n{:#}\n{expected:#}", found);
    assert_eq!(answered["classification"].as_str().map(|kind| kind == "data" || kind == "mixed"), Some(true));
    assert_eq!((&answered["ended"], &answered["tracing"]["ok"]), (&json!("completed"), &json!(true)), "{answered:#}");
    let text = answered["answer"].as_str().unwrap();
    assert!(text.contains("[Q1]") && !text.contains("[unverified]"), "{text}");
    // The query can be run again.
    let again = estate.run(["sql", found["sql"].as_str().unwrap()]).json(0);
    assert!(is_same(&again[0]["rows"], expected), "{again:#}");
}

/// Returns whether a number is the other one, rounded to two to four decimals.
fn is_rounded(shown: f64, exact: f64) -> bool {
    (2..=4).any(|digits| {
        let scale = 10_f64.powi(digits);
        (exact * scale).round() / scale == shown
    })
}

/// Returns whether values are equal, up to floating-point errors and the rounding of metrics.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= 1e-6 * a.abs().max(1.0) || is_rounded(a, b) || is_rounded(b, a)
        }
        _ => a == b,
    }
}

#[test]
fn questions_about_data_get_correct_values() {
    let estate = Estate::sample();
    let check = |question: &str, sql: &str| check(&estate, question, sql);
    check(
        "How many customers are there in Brazil?",
        "SELECT COUNT(*) FROM music_store.customers WHERE country_cd = 'BR'",
    );
    check(
        "What is the total of paid invoices in 2024?",
        "SELECT SUM(total) FROM music_store.invoices WHERE stat_cd = 'P' AND invoice_date BETWEEN '2024-01-01' AND '2024-12-31'",
    );
    check(
        "What is the average star rating by year?",
        "SELECT CAST(substr(review_date, 1, 4) AS INTEGER), AVG(rating) FROM music_store.reviews GROUP BY 1 ORDER BY 1",
    );
    check(
        "How many invoices are there per payment method?",
        "SELECT pay_mthd, COUNT(*) AS n FROM music_store.invoices GROUP BY pay_mthd ORDER BY n DESC",
    );
    check(
        "Top 5 artists by number of tracks",
        "SELECT a.name, COUNT(*) AS n FROM music_store.tracks t, music_store.albums l, music_store.artists a \
         WHERE t.album_id = l.album_id AND l.artist_id = a.artist_id GROUP BY a.name ORDER BY n DESC, a.name LIMIT 5",
    );
    check(
        "Which country has the most customers?",
        "SELECT k.name, COUNT(*) AS n FROM music_store.customers c, music_store.countries k \
         WHERE c.country_cd = k.country_cd GROUP BY k.name ORDER BY n DESC LIMIT 1",
    );
    check(
        "What was the gross revenue by quarter in 2025?",
        "SELECT '2025-Q' || ((substr(invoice_date, 6, 2) + 2) / 3) AS q, SUM(total) FROM music_store.invoices \
         WHERE stat_cd = 'P' AND invoice_date LIKE '2025%' GROUP BY q ORDER BY q",
    );
    check(
        "What is the highest refund amount that was approved?",
        "SELECT MAX(amount) FROM music_store.refunds WHERE refund_stat = 'approved'",
    );
    check(
        "How many sessions from email in November 2025?",
        "SELECT SUM(sessions) FROM web_metrics.web_metrics WHERE channel = 'email' \
         AND CAST(\"date\" AS VARCHAR) LIKE '2025-11%'",
    );
    check(
        "Total ad spend by channel in 2024",
        "SELECT channel, SUM(spend_usd) AS n FROM ad_spend.ad_spend WHERE CAST(\"month\" AS VARCHAR) LIKE '2024%' \
         GROUP BY channel ORDER BY n DESC",
    );
    check(
        "What was the average order value in 2023?",
        "SELECT AVG(total) FROM music_store.invoices WHERE stat_cd = 'P' AND substr(invoice_date, 1, 4) = '2023'",
    );
    check(
        "How many reviews have a rating of at least 4?",
        "SELECT COUNT(*) FROM music_store.reviews WHERE rating IN (4, 5)",
    );
    // Months are represented by their first day.
    check(
        "What was the total spend_usd in December 2025?",
        "SELECT SUM(spend_usd) FROM ad_spend.ad_spend WHERE month = '2025-12-01'",
    );
    // A declared metric takes precedence.
    check(
        "What is our total revenue in 2025?",
        "SELECT ROUND(SUM(total), 2) FROM music_store.invoices WHERE stat_cd = 'P' AND invoice_date LIKE '2025%'",
    );
}

#[test]
fn a_question_for_a_term_gets_its_definition() {
    let estate = Estate::sample();
    for question in ["What does EMEA mean?", "What is EMEA?"] {
        let answered = estate.run(["ask", question]).json(0);
        assert!(answered["answer"].as_str().unwrap().starts_with("The sales region Europe"), "{answered:#}");
    }
}

/// `redo` and `as a chart` repeat the previous question, also with a change.
#[test]
fn repeated_questions_get_the_previous_result() {
    let estate = Estate::sample();
    let ask = |question: &str| estate.run(["ask", question, "--session", "repeated"]).json(0);
    let whole = "How many customers are there by country?";
    let rows = ask(whole)["questions"][0]["rows"].clone();
    for question in ["put the results in a table", "show that as a chart", "redo", "Again, please."] {
        let answered = ask(question);
        assert_eq!(answered["questions"][0]["rows"], rows, "{answered:#}");
        let text = answered["answer"].as_str().unwrap();
        assert!(text.starts_with(&format!("Understood as: “{whole}” [Q1]")), "{text}");
    }
    let answered = ask("show only top 5 from that");
    assert_eq!(items(&answered["questions"][0]["rows"]).len(), 5, "{answered:#}");
    let answered = ask("redo for Germany");
    assert_eq!(items(&answered["questions"][0]["rows"]).len(), 1, "{answered:#}");
}

/// A follow-up question gets the same result as the combined question, which the answer states.
#[test]
fn follow_up_questions_are_combined_with_the_previous_one() {
    let estate = Estate::sample();
    let ask = |session: &str, question: &str| estate.run(["ask", question, "--session", session]).json(0);
    let check = |session: &str, question: &str, whole: &str, sql: &str| {
        let answered = ask(session, question);
        let expected = estate.run(["sql", sql]).json(0);
        assert!(!items(&expected[0]["rows"]).is_empty(), "{sql} gives nothing");
        assert!(is_same(&answered["questions"][0]["rows"], &expected[0]["rows"]), "{answered:#}\n{expected:#}");
        assert_eq!(answered["tracing"]["ok"], true, "{answered:#}");
        let text = answered["answer"].as_str().unwrap();
        assert!(text.starts_with(&format!("Understood as: “{whole}” [Q1]")), "{text}");
    };
    ask("time", "What was the gross revenue by quarter in 2025?");
    let by = |part: &str| {
        format!(
            "SELECT {part} AS t, SUM(total) FROM music_store.invoices WHERE stat_cd = 'P' AND invoice_date LIKE '2024%' \
             GROUP BY t ORDER BY t"
        )
    };
    let quarter = by("'2024-Q' || ((substr(invoice_date, 6, 2) + 2) / 3)");
    let whole = "What was the gross revenue by quarter in 2025? And in 2024?";
    check("time", "And in 2024?", whole, &quarter);
    let month = by("substr(invoice_date, 1, 7)");
    check("time", "the same by month", &format!("{whole} the same by month"), &month);
    ask("place", "How many customers are there?");
    let brazil = "SELECT COUNT(*) FROM music_store.customers WHERE country_cd = 'BR'";
    let whole = "How many customers are there? only in Brazil";
    check("place", "only in Brazil", whole, brazil);
    let japan = "SELECT COUNT(*) FROM music_store.customers WHERE country_cd = 'JP'";
    check("place", "and in Japan?", &format!("{whole}? and in Japan?"), japan);
    check("place", "what about Brazil?", &format!("{whole}? and in Japan? what about Brazil?"), brazil);

    let whole = format!("{whole}? and in Japan? what about Brazil? only in Japan");
    check("place", "only in Japan", &whole, japan);
    ask("group", "How many invoices are there per payment method?");
    let method = "SELECT pay_mthd, CAST(substr(invoice_date, 1, 4) AS INTEGER) AS y, COUNT(*) AS n FROM music_store.invoices \
                  GROUP BY 1, 2 ORDER BY y, n DESC";
    check("group", "the same by year", "How many invoices are there per payment method? the same by year", method);

    let answered = estate.run(["ask", "and in 2023?", "--session", "new"]).json(1);
    let text = answered["answer"].as_str().unwrap();
    assert!(text.starts_with("I cannot answer this:") && text.contains("the question names no metric"), "{text}");
    assert_eq!(answered["questions"], json!([]), "{answered:#}");
}

#[test]
fn unsupported_questions_are_declined() {
    let estate = Estate::sample();
    let check = |question: &str, reason: &str| {
        let answered = estate.run(["ask", question]).json(1);
        assert_eq!((&answered["status"], &answered["caveats"]), (&json!("unanswered"), &Value::Null), "{question}");
        let text = answered["answer"].as_str().unwrap();
        let starts = ["I cannot answer this:", "Clarification:"];
        assert!(starts.iter().any(|start| text.starts_with(start)), "{question}: {text}");
        assert!(text.contains(reason), "{question}: {text}");
        assert_eq!(answered["questions"], json!([]), "{answered:#}");
    };
    check("Why did the revenue fall in the third quarter of 2025?", "`fall`");
    check("How many at-risk customers do we have?", "`at-risk`");
    check("How many tickets were opened in 2025?", "`tickets`");
    check("How many unicorns are there in Brazil?", "the question names no metric");
    check("How many customers bought a vinyl record?", "`bought`");
    // The only table with such a column starts in October.
    check("What was the total revenue_usd in 2025?", "less than half of the requested period");
}

#[test]
fn answer_status_and_exit_status_agree() {
    let rows: String = (1..=60).map(|at| format!("{at},Box {at}\n")).collect();
    let estate =
        Estate::new("databases:\n- {name: shop, path: boxes.csv}\n").with("boxes.csv", format!("box_id,name\n{rows}"));
    let check = |estate: &Estate, question: &str, code: i32, status: &str, line: &str| {
        let answered = estate.run(["ask", question]).json(code);
        assert_eq!(
            (&answered["status"], answered["caveats"].is_array()),
            (&json!(status), status == "partial"),
            "{answered:#}"
        );
        let ran = estate.run(["ask", question, "--format", "text"]);
        assert!(ran.code == Some(code) && ran.out.contains(line), "{}", ran.out);
    };
    check(&estate, "How many boxes are there?", 0, "answered", "\n\n● Answered from 1 query\n");
    check(&estate, "How many unicorns are there?", 1, "unanswered", "\n\n○ Not answered\n");
    check(
        &estate,
        "Which boxes are there?",
        4,
        "partial",
        "◐ Partly answered from 1 query\n  - Q1 shows only its first 50 rows",
    );
    check(&estate, "Which tables are there?", 0, "answered", "● Answered\n");
    let shop = Estate::sample();
    check(&shop, "What was the gross revenue by quarter in 2025?", 0, "verified", "✓ Verified by Finance\n");
    check(&shop, "What is a VIP customer?", 0, "answered", "● Answered\n");
}

#[test]
fn knowledge_comes_from_definitions_with_their_source() {
    let answered = Estate::sample().run(["ask", "What is a VIP customer?"]).json(0);
    assert_eq!((&answered["mode"], &answered["classification"]), (&json!("knowledge"), &json!("knowledge")));
    let text = answered["answer"].as_str().unwrap();
    assert!(text.contains("45.00") && text.contains("business_rules"), "{text}");
    assert!(answered["premises"][0]["confidence"].as_f64().unwrap() > 0.5, "{answered:#}");
}

#[test]
fn personal_values_need_clarification() {
    let question = "Verify that my orders total more than 500 dollars";
    let answered = Estate::sample().run(["ask", question]).json(1);
    assert_eq!((&answered["mode"], &answered["status"]), (&json!("auditable"), &json!("unanswered")));
    assert_eq!((items(&answered["clarifications"]).len(), &answered["questions"]), (1, &json!([])), "{answered:#}");
}

#[test]
fn prints_answer_and_events_separately() {
    let estate = Estate::sample();
    let ran = estate.run(["ask", "How many customers are there in Brazil?", "--format", "text", "--events"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("69 [Q1]"), "{}", ran.out);
    let events: Vec<Value> = ran.err.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    for kind in ["round", "tool", "result", "answer"] {
        assert!(kinds.contains(&kind), "{kind} is not in {kinds:?}");
    }
    assert_eq!(kinds.last(), Some(&"done"), "{kinds:?}");
}

#[test]
fn a_session_continues_in_another_process() {
    let estate = Estate::sample();
    let ask = |question: &str| estate.run(["ask", question, "--session", "mine"]).json(1);
    ask("Verify that there are 69 customers in Brazil");
    // A repeated question keeps its mode.
    assert_eq!(ask("Again, please")["mode"], "auditable");
    assert!(estate.state().join("sessions.sqlite").exists());
}

#[test]
fn invalid_usage_is_reported() {
    let estate = Estate::sample();
    for (args, expected) in [
        (vec!["ask", " "], "the question is empty"),
        (vec!["ask", "x", "--model", "no-such-model"], "unknown model"),
        (vec!["ask", "x", "--summary-model", "no-such-model"], "unknown model"),
    ] {
        let ran: Ran = estate.run(args);
        assert!(ran.complaint(2).contains(expected), "{}", ran.err);
    }
}

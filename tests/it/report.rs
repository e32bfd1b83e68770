//! Charts of answers as files, and `planner report`, over the sample catalog.

use crate::support::Estate;
use serde_json::Value;

const QUESTION: &str = "How many customers are there by country?";

#[test]
fn the_chart_of_an_answer_is_in_its_json_and_in_files() {
    let estate = Estate::copy();
    let (svg, vega) = (estate.path("chart.svg"), estate.path("chart.json"));
    let answered = estate.run(["ask", QUESTION, "--chart", "svg", svg.to_str().unwrap()]).json(0);
    assert_eq!((&answered["chart"]["of"], &answered["chart"]["kind"]), (&"Q1".into(), &"bar".into()), "{answered:#}");
    let image = std::fs::read_to_string(svg).unwrap();
    assert!(image.starts_with("<svg") && image.contains(">United States<"), "{image}");
    estate.run(["ask", QUESTION, "--chart", "vega", vega.to_str().unwrap()]).json(0);
    let written: Value = serde_json::from_slice(&std::fs::read(&vega).unwrap()).unwrap();
    assert_eq!(written, answered["chart"]["vega"]);

    let none = estate.path("none.svg");
    let answered =
        estate.run(["ask", "How many customers are there in Brazil?", "--chart", "svg", none.to_str().unwrap()]);
    assert!(answered.json(0)["chart"].is_null() && !none.exists(), "one number is no chart");
    estate.run(["ask", QUESTION, "--chart", "png", none.to_str().unwrap()]).complaint(2);
}

#[test]
fn a_report_shows_changes_since_the_last_one() {
    let estate = Estate::new("databases:\n- {name: shop, path: orders.csv}\n")
        .with("orders.csv", "order_id,country\n1,PT\n2,PT\n3,ES\n4,FR\n5,FR\n6,FR\n")
        .with("weekly.yaml", "title: <Weekly>\nquestions:\n- How many orders are there by country?\n");
    let (questions, page) = (estate.path("weekly.yaml"), estate.path("weekly.html"));
    let report = || {
        let args = ["report", questions.to_str().unwrap(), "--out", page.to_str().unwrap()];
        let ran = estate.planner().args(args).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
        std::fs::read_to_string(&page).unwrap()
    };
    let first = report();
    assert!(
        first.contains("<h1>&lt;Weekly&gt;</h1>") && first.contains("<svg") && first.contains("● Answered"),
        "{first}"
    );
    assert!(
        !first.contains("http://") || first.matches("http://").count() == first.matches("http://www.w3.org").count()
    );
    assert!(!first.contains("since the last report"));
    assert!(report().contains("Nothing changed since the last report."));
    estate.write("orders.csv", "order_id,country\n1,PT\n2,PT\n3,ES\n4,FR\n5,FR\n6,FR\n7,PT\n8,IT\n");
    let changed = report();
    assert!(changed.contains("2 → 3") && changed.contains("IT is new"), "{changed}");
}

#[test]
fn a_report_names_the_questions_without_an_answer() {
    let questions =
        "questions:\n- How many orders are there?\n- {question: How many unicorns are there?, title: Unicorns}\n";
    let estate = Estate::new("databases:\n- {name: shop, path: orders.csv}\n")
        .with("orders.csv", "order_id,country\n1,PT\n2,PT\n3,ES\n4,FR\n")
        .with("weekly.yaml", questions);
    let (questions, page) = (estate.path("weekly.yaml"), estate.path("weekly.html"));
    let args = ["report", questions.to_str().unwrap(), "--out", page.to_str().unwrap()];
    let ran = estate.planner().args(args).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.code() == Some(1) && said.contains("not answered: How many unicorns are there?"), "{said}");
    assert!(!said.contains("How many orders"), "{said}");
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("1 answered · 1 not answered"), "{html}");
    assert!(
        html.contains("<a href=\"#s2\">Unicorns</a>") && html.contains("status unanswered\">○ Not answered"),
        "{html}"
    );
    assert!(html.contains("<a class=\"cite\" href=\"#s1-Q1\">Q1</a>") && html.contains("<pre id=\"s1-Q1\">"), "{html}");
}

#[test]
fn an_invalid_question_does_not_affect_others() {
    let estate = Estate::new("databases:\n- {name: shop, path: orders.csv}\n")
        .with("orders.csv", "order_id,country\n1,PT\n2,PT\n3,ES\n4,FR\n")
        .with("weekly.yaml", "questions:\n- How many orders are there?\n- {qestion: wrong}\n")
        .with("empty.yaml", "questions: []\n");
    let page = estate.path("weekly.html");
    let report = |name: &str| {
        let file = estate.path(name);
        let args = ["report", file.to_str().unwrap(), "--out", page.to_str().unwrap()];
        let ran = estate.planner().args(args).output().unwrap();
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    let (code, said) = report("weekly.yaml");
    assert!(code == Some(1) && said.contains("question 2: unknown field"), "{code:?} {said}");
    assert!(std::fs::read_to_string(&page).unwrap().contains("How many orders are there?"));
    let (code, said) = report("empty.yaml");
    assert!(code == Some(2) && said.contains("contains no questions"), "{code:?} {said}");
}

#[test]
fn headers_have_the_units_of_described_columns() {
    let catalog =
        "databases:\n- {name: shop, path: orders.csv, descriptions: units.json}\nverified_queries:\n- path: queries\n";
    let query = "---\nquestion: What is the largest order of each country?\nverified: {by: Finance, on: 2026-01-12}\n---\n\
                 SELECT country, MAX(total) AS largest, COUNT(*) AS orders FROM shop.orders GROUP BY country\n";
    let questions =
        "questions:\n- What is the largest order of each country?\n- What is the total weight by country?\n";
    let estate = Estate::new(catalog)
        .with("orders.csv", "order_id,country,total,weight\n1,PT,20,3\n2,PT,35,4\n3,ES,50,9\n4,FR,5,1\n")
        .with("units.json", r#"{"orders": {"columns": {"total": {"unit": "EUR"}, "weight": {"unit": "kg"}}}}"#)
        .with("queries/largest.sql", query)
        .with("weekly.yaml", questions);
    let check = |question: &str, column: &str, unit: &str| {
        let answered = estate.run(["ask", question]).json(0);
        assert_eq!(answered["questions"][0]["units"], serde_json::json!([[column, unit]]), "{answered:#}");
    };
    check("What is the largest order of each country?", "largest", "EUR");
    check("What is the total weight by country?", "total_weight", "kg");
    let (questions, page) = (estate.path("weekly.yaml"), estate.path("weekly.html"));
    estate.run(["report", questions.to_str().unwrap(), "--out", page.to_str().unwrap()]);
    let page = std::fs::read_to_string(page).unwrap();
    for header in [">largest (EUR)<", ">orders<", ">total_weight (kg)<"] {
        assert!(page.contains(header), "{header}: {page}");
    }
}

//! The verified queries of the sample catalog: their results compared with handwritten SQL, which questions they answer, and safety of
//! parameters.

use std::{fs, path::Path, sync::Arc};

use prospector_discovery::{Catalog, CatalogOptions, DiscoveryTools, Profile, review::QueryState};
use prospector_engine::Engine;
use serde_json::{Map, Value, json};

/// Opens the sample catalog, with its own state folder.
async fn sample() -> (Catalog, Arc<Engine>, tempfile::TempDir) {
    let state = tempfile::tempdir().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalog/catalog.yaml");
    let options = CatalogOptions { state: Some(state.path().to_owned()), ..CatalogOptions::default() };
    let (catalog, problems) = Catalog::open(&path, options).await.unwrap();
    let wrong: Vec<String> =
        problems.iter().map(ToString::to_string).filter(|problem| problem.contains("queries/")).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let engine = catalog.engine();
    (catalog, engine, state)
}

/// Checks the first rows of a query, and the number of rows.
async fn check_rows(catalog: &Catalog, engine: &Engine, name: &str, values: Value, first: Value, count: usize) {
    let query = catalog.verified.resolve(name).unwrap_or_else(|| panic!("there is no {name}"));
    let values: Map<String, Value> = serde_json::from_value(values).unwrap();
    let run = catalog.verified.run(query, &values, engine, 100).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(run.outcome.rows.rows.len(), count, "{name}: {:?}", run.outcome.rows.rows);
    for (row, expected) in run.outcome.rows.rows.iter().zip(first.as_array().unwrap()) {
        let same = |(found, expected): (&Value, &Value)| match (number(found), number(expected)) {
            (Some(found), Some(expected)) => (found - expected).abs() < 0.005,
            _ => expected == "*" || found == expected,
        };
        let cells = expected.as_array().unwrap();
        assert!(row.len() == cells.len() && row.iter().zip(cells).all(same), "{name}: {row:?}, not {expected}");
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

#[tokio::test(flavor = "multi_thread")]
async fn verified_queries_match_handwritten_sql() {
    let (catalog, engine, _state) = sample().await;
    let check = async |name, values, first, count| check_rows(&catalog, &engine, name, values, first, count).await;
    check("vip-customer-count", json!({}), json!([[50]]), 1).await;
    check("vip-customers", json!({}), json!([]), 50).await;
    check("active-customer-count", json!({}), json!([[324]]), 1).await;
    check("churned-customer-count", json!({}), json!([[231]]), 1).await;
    let brazil = json!([["Igor Aldthorn", 90.42], ["Slow Engine", 39.54], ["Tangled Thimble Union", 38.71]]);
    check("best-selling-artists", json!({"country": "Brazil", "year": 2025}), brazil, 10).await;
    let averages = json!([["Japan", 6.20, 340], ["Spain", 6.08, 146], ["United States", 5.71, 985]]);
    check("average-invoice-by-country", json!({}), averages, 12).await;
    // A Sunday has the rate of the preceding Friday.
    check("exchange-rate", json!({"currency": "EUR", "day": "2024-03-03"}), json!([["2024-03-01", "EUR", 0.9324]]), 1)
        .await;
    check(
        "exchange-rate",
        json!({"currency": "JPY", "day": "2025-06-30"}),
        json!([["2025-06-30", "JPY", 154.0513]]),
        1,
    )
    .await;
    let quarters = json!([["2024-Q1", 1335.35], ["2024-Q2", 1463.24], ["2024-Q3", 1653.26], ["2024-Q4", 2481.52]]);
    check("gross-revenue-by-quarter", json!({"year": 2024}), quarters, 4).await;
    check("net-revenue", json!({"year": 2025}), json!([[8764.56 - 196.75]]), 1).await;
    check("net-revenue", json!({"year": "2023"}), json!([[4259.95 - 96.97]]), 1).await;
    let reasons = json!([["DEF", "defective", 14, 59.16], ["ACC", "bought by accident", 12, 47.63]]);
    check("refunds-by-reason", json!({"year": 2024}), reasons, 6).await;
    let rates =
        json!([["paid_social", 0.6587, 13904], ["paid_search", 0.5185, 16564], ["organic_search", 0.4425, 24161]]);
    check("bounce-rate-by-channel", json!({}), rates, 5).await;
    let spend = json!([
        ["2025-10", "direct", null, 140.82],
        ["2025-10", "email", null, 173.53],
        ["2025-10", "organic_search", null, 143.01],
        ["2025-10", "paid_search", 60.17, 90.55]
    ]);
    check("ad-spend-and-revenue", json!({}), spend, 15).await;
}

/// Rephrased questions, each with the query that answers it and its parameters.
const REWORDED: &[(&str, &str, &str)] = &[
    ("How many VIP customers do we have?", "vip-customer-count", "{}"),
    ("What is the number of VIP customers?", "vip-customer-count", "{}"),
    ("Count the VIP customers", "vip-customer-count", "{}"),
    ("how many of our customers are VIPs?", "vip-customer-count", "{}"),
    ("How many customers have VIP status?", "vip-customer-count", "{}"),
    ("Number of VIPs", "vip-customer-count", "{}"),
    ("Who are our VIP customers?", "vip-customers", "{}"),
    ("Show me the VIP customers", "vip-customers", "{}"),
    ("List all VIP customers with their spending", "vip-customers", "{}"),
    ("Which customers have VIP status?", "vip-customers", "{}"),
    ("Give me the names of the VIP customers", "vip-customers", "{}"),
    ("Best-selling artists in Germany in 2024", "best-selling-artists", r#"{"country": "Germany", "year": 2024}"#),
    (
        "What were the top selling artists in the United States in 2023?",
        "best-selling-artists",
        r#"{"country": "United States", "year": 2023}"#,
    ),
    (
        "Which artists earned the most in Brazil in 2025?",
        "best-selling-artists",
        r#"{"country": "Brazil", "year": 2025}"#,
    ),
    ("In 2025, which artists sold best in Japan?", "best-selling-artists", r#"{"country": "Japan", "year": 2025}"#),
    ("top artists by revenue in france for 2024", "best-selling-artists", r#"{"country": "France", "year": 2024}"#),
    (
        "Which artists made the most money in the United Kingdom during 2023?",
        "best-selling-artists",
        r#"{"country": "United Kingdom", "year": 2023}"#,
    ),
    ("Most successful artists in Sweden in 2025", "best-selling-artists", r#"{"country": "Sweden", "year": 2025}"#),
    (
        "Show the best sellers among artists in Canada in 2024",
        "best-selling-artists",
        r#"{"country": "Canada", "year": 2024}"#,
    ),
    ("average invoice total by country", "average-invoice-by-country", "{}"),
    ("What's the mean invoice total per country?", "average-invoice-by-country", "{}"),
    ("Average order value for each country", "average-invoice-by-country", "{}"),
    ("How high is the average invoice in each country?", "average-invoice-by-country", "{}"),
    ("Show the average invoice amount by billing country", "average-invoice-by-country", "{}"),
    (
        "What was the exchange rate of the euro on 5 March 2024?",
        "exchange-rate",
        r#"{"currency": "EUR", "day": "2024-03-05"}"#,
    ),
    (
        "What is the exchange rate of the Japanese yen on 2025-06-30?",
        "exchange-rate",
        r#"{"currency": "JPY", "day": "2025-06-30"}"#,
    ),
    ("euro exchange rate on March 3, 2024", "exchange-rate", r#"{"currency": "EUR", "day": "2024-03-03"}"#),
    (
        "How many pounds did a dollar buy on 1 July 2023?",
        "exchange-rate",
        r#"{"currency": "GBP", "day": "2023-07-01"}"#,
    ),
    (
        "How many Swedish kronor for one US dollar on the 2nd of May 2025?",
        "exchange-rate",
        r#"{"currency": "SEK", "day": "2025-05-02"}"#,
    ),
    ("USD to BRL on 2024-12-24", "exchange-rate", r#"{"currency": "BRL", "day": "2024-12-24"}"#),
    (
        "What was the rate of the Canadian dollar against the dollar on 3 April 2025?",
        "exchange-rate",
        r#"{"currency": "CAD", "day": "2025-04-03"}"#,
    ),
    ("exchange rate EUR 2025-01-15", "exchange-rate", r#"{"currency": "EUR", "day": "2025-01-15"}"#),
    ("What was gross revenue per quarter in 2025?", "gross-revenue-by-quarter", r#"{"year": 2025}"#),
    ("Quarterly gross revenue for 2024", "gross-revenue-by-quarter", r#"{"year": 2024}"#),
    ("Show me revenue by quarter in 2023", "gross-revenue-by-quarter", r#"{"year": 2023}"#),
    ("How did gross revenue develop by quarter in 2024?", "gross-revenue-by-quarter", r#"{"year": 2024}"#),
    ("What was our net revenue in 2025?", "net-revenue", r#"{"year": 2025}"#),
    ("How much net revenue did we make in 2024?", "net-revenue", r#"{"year": 2024}"#),
    ("net revenue 2023", "net-revenue", r#"{"year": 2023}"#),
    ("How high was net revenue in 2025?", "net-revenue", r#"{"year": 2025}"#),
    ("How many active customers do we have?", "active-customer-count", "{}"),
    ("How many of the customers are active?", "active-customer-count", "{}"),
    ("What's the number of active customers?", "active-customer-count", "{}"),
    ("How many churned customers do we have?", "churned-customer-count", "{}"),
    ("How many customers churned?", "churned-customer-count", "{}"),
    ("How many customers have we lost?", "churned-customer-count", "{}"),
    ("Refunds by reason in 2025", "refunds-by-reason", r#"{"year": 2025}"#),
    ("Why were refunds approved in 2024?", "refunds-by-reason", r#"{"year": 2024}"#),
    ("What is the bounce rate per marketing channel?", "bounce-rate-by-channel", "{}"),
    ("Compare ad spend and revenue per channel by month", "ad-spend-and-revenue", "{}"),
];

/// Similar questions that ask for something else.
const OTHERS: &[&str] = &[
    "How many VIP customers are there in Brazil?",
    "How many VIP customers were there in 2023?",
    "How many customers are there?",
    "How many customers are not VIP customers?",
    "How many VIP customers have churned?",
    "Which VIP customers are from Germany?",
    "Which artists sold best in Brazil in 2019?",
    "Which artists sold best in Brazil?",
    "Which artists sold worst in Brazil in 2025?",
    "Which artists from Brazil sold best in 2025?",
    "Which artists sold best in Brazil and Germany in 2025?",
    "Which artists sold best in Brazil since 2024?",
    "Which albums sold best in Brazil in 2025?",
    "Which artists sold best in Atlantis in 2025?",
    "Which artists sold best outside Brazil in 2025?",
    "What is the average invoice total by customer?",
    "What is the average invoice total by country in 2025?",
    "What is the median invoice total by country?",
    "What is the total of invoices by country?",
    "What is the exchange rate of the euro?",
    "What is the exchange rate of the Swiss franc on 3 March 2024?",
    "What is the exchange rate of the euro on 3 March 2031?",
    "What is the exchange rate of the euro on 31 February 2024?",
    "What was the average exchange rate of the euro in March 2024?",
    "What is the exchange rate between the euro and the yen on 3 March 2024?",
    "How much is a euro in dollars on 3 March 2024?",
    "What was the gross revenue by month in 2025?",
    "What was the gross revenue by quarter in Germany in 2025?",
    "What was the gross revenue by quarter in 2024 and 2025?",
    "What was the gross revenue by quarter in 2022?",
    "What was the net revenue by country in 2025?",
    "What was the net revenue in the first quarter of 2025?",
    "What will the net revenue be in 2026?",
    "How many active subscriptions are there?",
    "How many inactive customers are there?",
    "How many active customers are there per country?",
    "Who are the churned customers?",
    "How many refunds were rejected in 2025?",
    "How long do refunds take in 2025?",
    "What is the conversion rate by marketing channel?",
    "What is the bounce rate by country?",
    "Compare ad spend with clicks per channel by month",
    "Compare ad spend with revenue per country by month",
];

#[tokio::test(flavor = "multi_thread")]
async fn answers_rephrased_questions_but_not_similar_ones() {
    let (catalog, engine, _state) = sample().await;
    let tools = DiscoveryTools::new(&catalog, Profile::Full).with_engine(&engine);
    let ask = async |question: &str| {
        let arguments = json!({"question": question, "dry_run": true});
        tools.call(DiscoveryTools::METRICS_TOOL, arguments).await.map_or(Value::Null, |found| found.into_json())
    };
    let (mut right, mut missed, mut wrong) = (0, Vec::new(), Vec::new());
    for (question, name, parameters) in REWORDED {
        let found = ask(question).await;
        let expected: Value = serde_json::from_str(parameters).unwrap();
        match found["verified_query"].as_str() {
            None => missed.push(format!("{question}: {found}")),
            Some(query) if query == *name && found["parameters"] == expected => right += 1,
            Some(_) => wrong.push(format!("{question}: {found}")),
        }
    }
    for question in OTHERS {
        let found = ask(question).await;
        if !found["verified_query"].is_null() {
            wrong.push(format!("{question}: {found}"));
        }
    }
    let recall = f64::from(right) / REWORDED.len() as f64;
    eprintln!("{right} of {} recalled ({recall:.2}); missed:\n{}", REWORDED.len(), missed.join("\n"));
    assert!(wrong.is_empty(), "answered by the wrong query or with a wrong value:\n{}", wrong.join("\n"));
    assert!(recall >= 0.9, "{recall}: {missed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_value_becomes_sql() {
    let (catalog, engine, _state) = sample().await;
    let tools = DiscoveryTools::new(&catalog, Profile::Full).with_engine(&engine);
    let attacks = [
        "Brazil' OR '1'='1",
        "Brazil'; DROP TABLE invoices; --",
        "Brazil' UNION SELECT email, 1 FROM customers --",
        "Brazil\\' OR 1=1 --",
        "Brazil\0",
        "%",
        "",
    ];
    for attack in attacks {
        let arguments = json!({"name": "best-selling-artists", "parameters": {"country": attack, "year": 2025}});
        let refused = tools.call(DiscoveryTools::RUN_VERIFIED_TOOL, arguments).await.unwrap_err().to_json();
        assert_eq!(refused["error"], "invalid_arguments", "{attack}: {refused}");
    }
    for (name, parameters) in [
        ("best-selling-artists", json!({"country": "Brazil", "year": "2025 OR 1=1"})),
        ("best-selling-artists", json!({"country": "Brazil", "year": 2025, "limit": 1})),
        ("best-selling-artists", json!({"country": ["Brazil"], "year": 2025})),
        ("best-selling-artists", json!({"country": "Brazil"})),
        ("exchange-rate", json!({"currency": "EUR", "day": "2024-03-03' OR '1'='1"})),
        ("exchange-rate", json!({"currency": "EUR' --", "day": "2024-03-03"})),
    ] {
        let arguments = json!({"name": name, "parameters": parameters});
        let refused = tools.call(DiscoveryTools::RUN_VERIFIED_TOOL, arguments).await.unwrap_err().to_json();
        assert_eq!(refused["error"], "invalid_arguments", "{parameters}: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stale_queries_are_not_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("queries")).unwrap();
    fs::write(folder.path().join("orders.csv"), "id,total\n1,9.50\n2,12.00\n").unwrap();
    let catalog = folder.path().join("catalog.yaml");
    fs::write(&catalog, "databases:\n- path: orders.csv\nverified_queries:\n- path: queries\n").unwrap();
    let verified = "verified: {by: Ada, on: 2026-01-12}";
    let write = |name: &str, fields: &str, sql: &str| {
        let text = format!("---\nquestion: {name}?\n{fields}\n---\n{sql}\n");
        fs::write(folder.path().join("queries").join(format!("{name}.sql")), text).unwrap();
    };
    write("good", verified, "SELECT COUNT(*) AS orders FROM orders.orders");
    write("column", verified, "SELECT SUM(amount) FROM orders.orders");
    write("table", verified, "SELECT COUNT(*) FROM orders.lines");
    write("writes", verified, "DELETE FROM orders.orders");
    write("parameter", verified, "SELECT COUNT(*) FROM orders.orders WHERE id = :id");
    write("nobody", "synonyms: []", "SELECT COUNT(*) FROM orders.orders");
    let (catalog, problems) = Catalog::open(&catalog, CatalogOptions::default()).await.unwrap();
    let reported: Vec<String> = problems.iter().map(ToString::to_string).collect();
    for part in [
        "column.sql:5: the query is stale",
        "table.sql:5",
        "writes.sql:5",
        "parameter.sql:5",
        "nobody.sql: the query is not verified",
    ] {
        assert!(reported.iter().any(|problem| problem.contains(part)), "{part}: {reported:?}");
    }
    assert_eq!(reported.len(), 5, "{reported:?}");
    for query in catalog.verified.queries() {
        let is_current = matches!(query.state, QueryState::Current { .. });
        assert_eq!(is_current, query.name == "good", "{}", query.name);
        let run = catalog.verified.run(query, &Map::new(), &catalog.engine(), 5).await;
        assert_eq!(run.is_ok(), query.name == "good", "{}", query.name);
    }
    // Records exist for all verified queries, and the tools show them.
    let tools = DiscoveryTools::new(&catalog, Profile::Compact).with_engine(&catalog.engine());
    let listed = tools.call("list", json!({"of": "queries"})).await.unwrap();
    assert_eq!(listed.json().as_array().unwrap().len(), 5, "{}", listed.json());
    let shown = tools.call("describe", json!({"ids": ["good"]})).await.unwrap();
    assert!(shown.json().to_string().contains("SELECT COUNT(*) AS orders"), "{}", shown.json());
    let hits = tools.call("search", json!({"query": "good", "kinds": ["query"]})).await.unwrap();
    assert!(hits.json().to_string().contains("\"good\""), "{}", hits.json());
}

//! What is no fault of a plan, beside what is like it and is one.

use prospector_agent::plan::{
    Draft,
    sense::{SenseCode, check_sense},
};
use serde_json::{Value, json};

use super::world::{World, complaints, draft, good};

fn shop() -> World {
    World::of(&[
        "shop.orders: id key, customer_id int -> customers.id, total int, ordered_on date, land text = AT|DE|US",
        "shop.customers: id key, name text, kind text = guest|member",
        "web.visits: id key, day date, land text, sessions int",
    ])
}

fn has(found: &[String], part: &str) -> bool {
    found.iter().any(|line| line.contains(part))
}

fn with_terms(steps: &[Value], terms: &[(&str, &str)]) -> Draft {
    let mut plan = draft(steps);
    let facts =
        terms.iter().map(|(term, definition)| json!({"term": term, "definition": definition, "source": "handbook"}));
    plan.discovered_context.facts = facts.map(|fact| serde_json::from_value(fact).expect("a fact")).collect();
    plan
}

#[test]
fn the_last_quarter_of_a_year_is_of_that_year() {
    let step = |from: &str, to: &str| {
        json!({"goal": "Sum the total of orders", "tables": ["shop.orders"], "compute": ["sum(shop.orders.total) as total"],
            "filter": [format!("shop.orders.ordered_on between '{from}' and '{to}'")]})
    };
    let question = "What was the total of orders in the last quarter of 2024?";
    good(&shop(), question, &[step("2024-10-01", "2024-12-31")]);
    let other = complaints(&shop(), question, &[step("2024-01-01", "2024-03-31")]);
    assert!(has(&other, "missing_period") && has(&other, "wrong_period"), "{other:?}");
}

#[test]
fn a_definition_that_is_not_used_is_a_doubt_and_none_where_another_covers_the_word() {
    let world = shop().with_term("new customer", "A new customer is the number of customers with visits");
    let step = json!({"goal": "Cost of customers by kind", "tables": ["shop.customers"], "compute": ["count() as customers"],
        "group_by": ["shop.customers.kind"]});
    let question = "What did one new customer cost us by kind?";
    let codes = |terms: &[(&str, &str)]| {
        let found = check_sense(question, &with_terms(std::slice::from_ref(&step), terms), &world).findings;
        let of_term = found.into_iter().filter(|one| one.message.contains("definition of `new customer`"));
        of_term.map(|one| one.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(&[]), [SenseCode::NotCovered]);
    let used = ("new customer", "A new customer is the number of customers with visits");
    assert_eq!(codes(&[used]), [SenseCode::DefinitionNotMet]);
    assert_eq!(codes(&[("customer cost", "Spending divided by the number of customers")]), []);
}

#[test]
fn a_term_that_another_definition_names_is_spoken_of() {
    let step = json!({"goal": "Count the sleeping customers", "tables": ["shop.customers", "shop.orders"],
        "compute": ["count_distinct(shop.customers.id) as customers"]});
    let needless = |definition: &str| {
        let terms =
            [("sleeping customer", definition), ("reporting date", "The reporting date is the last day of 2025")];
        let plan = with_terms(std::slice::from_ref(&step), &terms);
        let found = check_sense("How many sleeping customers are there?", &plan, &shop()).findings;
        found.iter().any(|one| one.message.contains("speaks of `reporting date`"))
    };
    assert!(!needless("A sleeping customer has no order in the quarter before the reporting date"));
    assert!(needless("A sleeping customer has no order in a quarter"));
}

#[test]
fn an_operation_that_goes_on_with_rows_or_makes_the_change_is_needed() {
    let world = shop()
        .with("mail", "send_card", "Sends a card", true)
        .with("likes", "similar_customers", "Customers who are like another", false)
        .with("likes", "list_customers", "All customers", false);
    let rows = json!({"goal": "Customers with 3 or more orders", "tables": ["shop.orders", "shop.customers"],
        "compute": ["count() as orders"], "group_by": ["shop.customers.id"], "filter": ["orders >= 3"]});
    let needless = |question: &str, step: Value| {
        has(&complaints(&world, question, &[rows.clone(), step]), "adds nothing that the question asks for")
    };
    let call = |operation: &str, inputs: Value| json!({"goal": "Call it", "operations": [operation], "inputs": inputs});
    let similar = "Which customers are similar to those with 3 or more orders?";
    assert!(!needless(similar, call("likes.similar_customers", json!(["step_1_results"]))));
    assert!(
        needless(similar, call("likes.list_customers", json!([]))),
        "it stands by itself, and tables have customers"
    );
    assert!(!needless("Send a card to customers with 3 or more orders", call("mail.send_card", json!([]))));
}

#[test]
fn a_word_that_nothing_is_called_by_is_no_doubt_where_only_something_is_done() {
    let step = json!({"goal": "Total", "tables": ["shop.orders"], "compute": ["sum(shop.orders.total) as total"],
        "group_by": ["shop.orders.land"], "order": ["total desc"], "limit": 1});
    let of = |question: &str| complaints(&shop(), question, std::slice::from_ref(&step));
    good(
        &shop(),
        "In which land is the total of orders highest? If there's a tie, any land",
        std::slice::from_ref(&step),
    );
    let unknown = of("Which tenants have the highest total of orders by land?");
    assert!(has(&unknown, "no source of the plan holds `tenants`"), "{unknown:?}");
    // Where the plan covers half or less, it may be about something else.
    let other = of("Who juggled in the land?");
    assert!(has(&other, "no source of the plan holds `juggled`"), "{other:?}");
}

#[test]
fn adjectives_and_names_of_two_words_stand_for_countries() {
    let step = |filter: &str| json!({"goal": "Count the orders", "tables": ["shop.orders"], "compute": ["count() as orders"], "filter": [filter]});
    good(&shop(), "How many German orders are there?", &[step("shop.orders.land = 'DE'")]);
    good(&shop(), "How many orders are from the United States?", &[step("shop.orders.land = 'US'")]);
    let other = complaints(&shop(), "How many German orders are there?", &[step("shop.orders.land = 'AT'")]);
    assert!(has(&other, "missing_condition: `german` of the question"), "{other:?}");
}

#[test]
fn what_is_divided_by_is_no_group() {
    let sum = |table: &str, column: &str| {
        json!({"goal": format!("Sum {column} by land"), "tables": [table], "compute": [format!("sum({table}.{column}) as {column}")],
            "group_by": [format!("{table}.land")]})
    };
    let share = |expression: &str| {
        json!({"goal": "Put side by side", "compute": [expression], "group_by": ["step_1_results.land"],
            "inputs": ["step_1_results", "step_2_results"]})
    };
    let question = "What is the total of orders per session in each land?";
    let steps = |expression: &str| [sum("shop.orders", "total"), sum("web.visits", "sessions"), share(expression)];
    let divided = complaints(&shop(), question, &steps("step_1_results.total / step_2_results.sessions as rate"));
    assert!(!has(&divided, "missing_group"), "{divided:?}");
    let other = complaints(&shop(), question, &[sum("shop.orders", "total")]);
    assert!(has(&other, "missing_group"), "{other:?}");
}

#[test]
fn months_of_several_years_are_told_apart_unless_seasons_are_asked_for() {
    let step = |group: &str, to: &str| {
        json!({"goal": "Sum the total of orders", "tables": ["shop.orders"], "compute": ["sum(shop.orders.total) as total"],
            "filter": [format!("shop.orders.ordered_on between '2024-01-01' and '{to}'")], "group_by": [group]})
    };
    let mixed = |question: &str, group: &str, to: &str| {
        has(&complaints(&shop(), question, &[step(group, to)]), "of several years together")
    };
    let question = "The total of orders in each quarter of 2024 and 2025";
    assert!(mixed(question, "quarter(shop.orders.ordered_on)", "2025-12-31"));
    assert!(mixed("The total of orders by month in 2024 and 2025", "month(shop.orders.ordered_on)", "2025-12-31"));
    assert!(!mixed(question, "year_quarter(shop.orders.ordered_on)", "2025-12-31"));
    assert!(!mixed("The total of orders in each quarter of 2024", "quarter(shop.orders.ordered_on)", "2024-12-31"));
    let seasons = "Which quarter is usually best by the total of orders, in 2024 and 2025?";
    assert!(!mixed(seasons, "quarter(shop.orders.ordered_on)", "2025-12-31"));
    let of_year = "The total of orders by month of the year, over 2024 and 2025";
    assert!(!mixed(of_year, "month(shop.orders.ordered_on)", "2025-12-31"));
}

#[test]
fn a_period_of_metrics_is_their_time() {
    let world = shop().with_metric("revenue", "shop.orders.total", "ordered_on");
    let step = |group: &str| json!({"goal": "Revenue", "metrics": ["revenue"], "group_by": [group], "order": [group]});
    for group in ["month", "quarter", "year_month(time)"] {
        good(&world, "", &[step(group)]);
    }
    let unknown = complaints(&world, "", &[step("moon")]);
    assert!(has(&unknown, "unknown_column: `moon`"), "{unknown:?}");
}

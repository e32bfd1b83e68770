//! What a question says in other words than the plan, and what it denies.

use prospector_agent::plan::sense::{SenseCode, check_sense, question::Question};
use serde_json::{Value, json};

use super::world::{World, complaints, draft, good};

fn shop() -> World {
    World::of(&[
        "shop.orders: id key, customer_id int -> customers.id, total int, ordered_on date, land text",
        "shop.customers: id key, name text",
        "shop.albums: id key, title text, fetched int",
    ])
}

fn begins_with(found: &[String], code: &str) -> bool {
    found.iter().any(|line| line.starts_with(code))
}

#[test]
fn nouns_of_irregular_verbs_say_what_the_verbs_say() {
    let step = |goal: &str| {
        json!({"goal": goal, "tables": ["shop.orders"], "compute": ["sum(shop.orders.total) as amount"],
        "group_by": ["shop.orders.land"]})
    };
    good(&shop(), "How much did we sell in each land?", &[step("Sales by land")]);
    good(&shop(), "How much was paid in each land?", &[step("Payments by land")]);
    let other = complaints(&shop(), "How much did we sell in each land?", &[step("Orders by land")]);
    assert!(begins_with(&other, "not_covered: no source of the plan holds `sell`"), "{other:?}");
    good(&shop(), "What are the orders worth, by land?", &[step("Orders by land")]);
}

#[test]
fn the_most_of_what_is_done_to_things_ranks_them() {
    for (question, counts) in [
        ("The most downloaded albums of the nineties", None),
        ("Which are the most sold albums?", None),
        ("The most expensive albums by label", None),
        ("Which artist has the most albums?", Some("album")),
        ("Who has the most overdue albums?", Some("album")),
        ("How many downloaded albums are there?", Some("album")),
    ] {
        assert_eq!(Question::parse(question).counts.as_deref(), counts, "{question}");
    }
    let world = World::of(&["hub.torrents: id key, label text, snatched int", "hub.albums: id key, title text"]);
    let step = json!({"goal": "Albums by how often they were downloaded, the most downloaded first", "tables": ["hub.torrents"],
        "filter": ["hub.torrents.label = 'x'"], "order": ["hub.torrents.snatched desc"], "limit": 10});
    let found = complaints(&world, "most downloaded albums of the label", &[step]);
    assert!(!begins_with(&found, "wrong_measure"), "{found:?}");
}

#[test]
fn what_is_counted_may_be_in_any_table_of_that_name() {
    let mut lines: Vec<String> = (1..=4).map(|n| format!("other_{n}.tracks: id key, title text")).collect();
    lines.push("shop.tracks: id key, title text, seconds int".into());
    lines.push("shop.lines: id key, track_id int -> tracks.id, quantity int".into());
    let world = World::of(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let step = |tables: &[&str]| json!({"goal": "Tracks that were sold", "tables": tables, "compute": ["sum(shop.lines.quantity) as sold"]});
    let question = "How many tracks did we sell?";
    good(&world, question, &[step(&["shop.tracks", "shop.lines"])]);
    let sense = check_sense(question, &draft(&[step(&["shop.lines"])]), &world);
    assert_eq!(sense.findings[0].code, SenseCode::WrongMeasure, "{:?}", sense.findings);
    assert_eq!(sense.findings[0].nearest, ["shop.tracks"], "of the databases of the plan");
}

#[test]
fn keys_that_are_whole_on_both_sides_repeat_no_row() {
    let results = "lab.results: sample_id key, amount int, kind_id int -> kinds.id";
    let step = json!({"goal": "Amount by claim", "tables": ["lab.results", "lab.samples"],
        "compute": ["avg(lab.results.amount) as amount"], "group_by": ["lab.samples.claim"]});
    let question = "The average amount of results by claim";
    let one = World::of(&[results, "lab.samples: sample_id key -> results.sample_id, claim text"]);
    good(&one, question, std::slice::from_ref(&step));
    let many = World::of(&[results, "lab.samples: id key, sample_id int -> results.sample_id, claim text"]);
    let found = complaints(&many, question, &[step]);
    assert!(begins_with(&found, "wrong_measure: joined with lab.samples"), "{found:?}");
}

#[test]
fn a_change_that_the_plan_declines_is_not_asked_for_again() {
    let world = World::of(&["shop.refunds: id key, amount int, asked_on date"]);
    let step = json!({"goal": "The refund that was asked for first", "tables": ["shop.refunds"],
        "order": ["shop.refunds.asked_on"], "limit": 1});
    let question = "Put the refund through, and tell me its amount";
    let findings = |said: &str| {
        let mut plan = draft(std::slice::from_ref(&step));
        plan.clarifications = vec![said.into()];
        check_sense(question, &plan, &world).findings
    };
    assert_eq!(findings("No operation of the catalog puts a refund through: who decides it?"), []);
    assert_eq!(findings("Refunds can't be put through from here."), []);
    let asked = findings("Which refund is to be put through?");
    assert_eq!(asked.iter().map(|one| one.code).collect::<Vec<_>>(), [SenseCode::NotCovered], "{asked:?}");
    let codes: Vec<SenseCode> = findings("Which currency?").iter().map(|one| one.code).collect();
    assert_eq!(codes, [SenseCode::NoChange], "the verb itself is no thing that a source holds");
}

#[test]
fn what_a_question_denies_takes_a_condition_that_denies() {
    let buyers = json!({"goal": "Customers with an order", "tables": ["shop.orders"],
        "columns": ["shop.orders.customer_id"], "filter": ["shop.orders.land = 'AT'"]});
    let rest = |goal: &str, filter: &[&str]| {
        json!({"goal": goal, "tables": ["shop.customers"], "columns": ["shop.customers.name"], "filter": filter,
            "inputs": ["step_1_results"]})
    };
    let excluded = ["shop.customers.id not in step_1_results.customer_id"];
    for question in
        ["Which customers never had an order?", "Customers without orders", "Which customers have not had an order?"]
    {
        let steps = [buyers.clone(), rest("Customers who are not among them", &excluded)];
        let found = complaints(&shop(), question, &steps);
        assert!(!found.iter().any(|line| line.contains("not in")), "{found:?}");
        let silent = complaints(&shop(), question, &[buyers.clone(), rest("Customers who are not among them", &[])]);
        assert!(
            silent.iter().any(|line| line.contains("only the goal says what becomes of the rows of step_1_results"))
        );
    }
    // A goal denies in many forms; where it does not, what it takes is wanted.
    for (goal, is_unsaid) in [
        ("Customers that are not in step 1", true),
        ("All customers except those of step 1", true),
        ("Customers other than the buyers", true),
        ("The remaining customers", true),
        ("Customers who haven't bought", true),
        ("The names of these customers", false),
        ("Customers with no more than three orders", false),
    ] {
        let found = complaints(&shop(), "Names of customers", &[buyers.clone(), rest(goal, &[])]);
        assert_eq!(found.iter().any(|line| line.contains("only the goal says")), is_unsaid, "{goal}: {found:?}");
    }
    let defined = json!({"goal": "What a customer is", "documents": []});
    let found = complaints(&shop(), "Names of customers", &[defined, rest("Customers that are not guests", &[])]);
    assert!(!found.iter().any(|line| line.contains("only the goal says")), "no rows are taken: {found:?}");
    let joined = |filter: &str| {
        vec![json!({"goal": "Customers and their orders", "tables": ["shop.customers", "shop.orders"],
            "columns": ["shop.customers.name"], "filter": [filter]})]
    };
    let denied = |question: &str, steps: &[Value]| {
        complaints(&shop(), question, steps).iter().any(|line| line.contains("no condition of the plan denies"))
    };
    let question = "Customers who never had an order above 100";
    assert!(denied(question, &joined("shop.orders.total > 100")));
    assert!(!denied(question, &joined("shop.orders.id is null")));
    assert!(!denied("Customers with an order above 100", &joined("shop.orders.total > 100")));
    // What isn't so may be a value, and a bound is none of it.
    assert!(!denied("Customers whose orders aren't foreign", &joined("shop.orders.land = 'home'")));
    assert!(!denied("Customers with orders of no more than 100", &joined("shop.orders.total <= 100")));
    assert!(denied("Customers with orders above 100 that are not foreign", &joined("shop.orders.total > 100")));
    assert!(denied("Customers who didn't have an order in 2024", &joined("shop.orders.ordered_on >= '2024-01-01'")));
}

#[test]
fn weekends_are_more_than_a_day() {
    let world = World::of(&["bikes.trips: id key, minutes int, begun date"]);
    let step = |filter: &[&str], group: &[&str]| {
        json!({"goal": "Average minutes of trips on weekends and on weekdays", "tables": ["bikes.trips"], "filter": filter,
            "compute": ["avg(bikes.trips.minutes) as minutes"], "group_by": group})
    };
    let question = "How many minutes does the average trip take on weekends compared to weekdays?";
    let lacks = "wrong_measure: the question tells weekends from other days";
    let days = complaints(&world, question, &[step(&[], &["weekday(bikes.trips.begun)"])]);
    assert!(begins_with(&days, lacks), "{days:?}");
    let sides = [
        step(&["weekday(bikes.trips.begun) in (0, 6)"], &[]),
        step(&["weekday(bikes.trips.begun) between 1 and 5"], &[]),
    ];
    assert!(!begins_with(&complaints(&world, question, &sides), lacks));
}

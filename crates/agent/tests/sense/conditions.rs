//! Conditions that are joined or on groups, and joins that are declared.

use prospector_agent::plan::verify;
use serde_json::{Value, json};

use super::world::{World, bad, complaints, draft, good};

fn shop() -> World {
    World::of(&["shop.orders: id key, status text = paid|sent|void, total int, day date, buyer text"])
}

fn count_where(filter: Value) -> Value {
    json!({"goal": "Count the orders", "tables": ["shop.orders"], "compute": ["count() as orders"],
        "group_by": ["shop.orders.buyer"], "filter": [filter]})
}

#[test]
fn names_and_values_are_checked_in_each_alternative() {
    for filter in [
        json!("shop.orders.status = 'paid' or shop.orders.status = 'sent'"),
        json!({"or": ["shop.orders.status = 'paid'", {"and": ["shop.orders.total > 5", "shop.orders.buyer = 'x or y'"]}]}),
        json!("sum(shop.orders.total) > 5 or count(*) > 3 or orders > 2"),
        json!("sum(total) / count(distinct status) > 5"),
    ] {
        good(&shop(), "", &[count_where(filter)]);
    }
    let lost = "wrong_value: shop.orders.status has no value `lost`; it has paid, sent, void";
    let text = "shop.orders.total > 5 and (shop.orders.status = 'paid' or shop.orders.status = 'lost')";
    bad(&shop(), "", &[count_where(json!(text))], &[lost]);
    let listed =
        json!({"or": ["shop.orders.total > 5", {"column": "shop.orders.status", "op": "in", "value": ["lost"]}]});
    bad(&shop(), "", &[count_where(listed)], &[lost]);
    for (filter, name) in [
        ("shop.orders.total > 5 or shop.orders.state = 'paid'", "shop.orders.state"),
        ("sum(shop.orders.totals) > 5", "shop.orders.totals"),
        ("sum(totals) / count(*) > 5", "totals"),
    ] {
        let unknown = complaints(&shop(), "", &[count_where(json!(filter))]);
        assert!(unknown[0].starts_with(&format!("unknown_column: `{name}` is no column")), "{filter}: {unknown:?}");
        assert_eq!(unknown.len(), 1, "{filter}: {unknown:?}");
    }
    let texts = "wrong_value: shop.orders.status holds no numbers: it has no sum and no average";
    bad(&shop(), "", &[count_where(json!("avg(shop.orders.status) > 5"))], &[texts]);
}

#[test]
fn alternatives_limit_a_period_where_each_does() {
    let of_periods = |filter: &str| {
        let found = complaints(&shop(), "How many orders were there in 2025?", &[count_where(json!(filter))]);
        found.into_iter().filter(|line| line.contains("_period")).collect::<Vec<_>>()
    };
    let halves = "shop.orders.day between '2025-01-01' and '2025-06-30' or shop.orders.day between '2025-07-01' and '2025-12-31'";
    assert_eq!(of_periods(halves), Vec::<String>::new());
    let or_paid = of_periods("year(shop.orders.day) = 2025 or shop.orders.status = 'paid'");
    assert!(or_paid[0].starts_with("missing_period"), "{or_paid:?}");
    let earlier = of_periods("year(shop.orders.day) = 2021 or year(shop.orders.day) = 2022");
    assert!(earlier.iter().any(|line| line.starts_with("wrong_period")), "{earlier:?}");
}

#[test]
fn what_no_step_can_do_does_not_hold() {
    let failed = |step: Value| {
        let outcome = verify("", &draft(&[step]), &shop(), None);
        outcome.failed.iter().map(|failure| format!("{} {}", failure.place, failure.name)).collect::<Vec<_>>()
    };
    assert_eq!(failed(count_where(json!("count(*) > 5 or shop.orders.buyer = 'Ada'"))), Vec::<String>::new());
    let mixed = failed(count_where(json!("count(*) > 5 or shop.orders.status = 'paid'")));
    assert_eq!(mixed, ["plan.steps[0].filter shop.orders.status"]);
    let rows = json!({"goal": "g", "tables": ["shop.orders"], "filter": ["sum(shop.orders.total) > 5"]});
    assert_eq!(failed(rows), ["plan.steps[0].filter sum(shop.orders.total)"]);
}

#[test]
fn declared_joins_connect_tables_as_keys_do() {
    let world = || {
        World::of(&[
            "shop.orders: id key, buyer text, total int, branch_id int -> branches.id",
            "shop.branches: id key, town text",
            "shop.visits: id key, visitor text, branch_id int -> branches.id",
            "shop.people: code key, credit int, town_id int -> towns.id",
            "shop.towns: id key",
            "crm.persons: code key, credit int",
        ])
    };
    let step = |tables: &[&str], compute: &str| json!({"goal": "g", "tables": tables, "compute": [compute]});
    let apart = [step(&["shop.orders", "shop.people"], "count() as orders")];
    let no_key = "not_joined: no key joins shop.people to the other tables of the step: leave it out, or read it in a step of its own";
    bad(&world(), "", &apart, &[no_key]);
    let joined = || world().with_joins(&[("shop.orders.buyer", "shop.people.code")]);
    good(&joined(), "", &apart);
    good(&joined(), "", &[step(&["shop.orders", "shop.people"], "sum(shop.orders.total) as total")]);
    // A row of the table that is referred to is there for each that refers to it.
    let repeats =
        complaints(&joined(), "", &[step(&["shop.people", "shop.orders"], "sum(shop.people.credit) as credit")]);
    assert!(repeats[0].starts_with("wrong_measure: joined with shop.orders, a row of shop.people"), "{repeats:?}");

    // Over a table of another database.
    let through = [step(&["shop.people", "crm.persons", "shop.visits"], "count() as visits")];
    let unjoined = complaints(&world(), "", &through);
    assert!(unjoined[0].starts_with("not_joined"), "{unjoined:?}");
    let both = [("shop.people.code", "crm.persons.code"), ("shop.visits.visitor", "crm.persons.code")];
    good(&world().with_joins(&both), "", &through);
    let across = complaints(
        &world().with_joins(&both),
        "",
        &[step(&["crm.persons", "shop.visits"], "sum(crm.persons.credit) as credit")],
    );
    assert!(across[0].starts_with("wrong_measure: joined with shop.visits"), "{across:?}");
}

#[test]
fn an_operation_is_given_what_a_call_needs() {
    let world = shop().with("music", "similar", "Artists that are similar to an artist", false).requiring("artistId");
    let best = |group: &str| {
        json!({"goal": "The customer with most orders", "tables": ["shop.orders"], "compute": ["count() as orders"],
            "group_by": [group], "order": ["orders desc"], "limit": 1})
    };
    let call = |filter: &[&str], inputs: &[&str]| json!({"goal": "Similar artists", "operations": ["music.similar"], "filter": filter, "inputs": inputs});
    for (group, filter, inputs, is_given) in [
        ("shop.orders.buyer", vec![], vec![], false),
        ("shop.orders.buyer", vec![], vec!["step_1_results"], false),
        ("shop.orders.buyer as artist_id", vec![], vec!["step_1_results"], true),
        ("shop.orders.buyer", vec!["artistId = 7"], vec![], true),
        ("shop.orders.buyer", vec!["artistId = step_1_results.buyer"], vec!["step_1_results"], true),
        ("shop.orders.buyer", vec!["artistId > 7"], vec![], false),
    ] {
        let found = complaints(&world, "", &[best(group), call(&filter, &inputs)]);
        let told = found.iter().any(|line| line.starts_with("missing_condition: music.similar needs `artistId`"));
        assert_eq!(told, !is_given, "{group} {filter:?} {inputs:?}: {found:?}");
    }
    let changing = shop().with("music", "similar", "Changes the artists", true).requiring("artistId");
    let found = complaints(&changing, "", &[best("shop.orders.buyer"), call(&[], &[])]);
    assert!(!found.iter().any(|line| line.contains("artistId")), "what changes something is not called: {found:?}");
}

//! The tables by way of which a step is joined are no cause for doubt.

use serde_json::json;

use super::world::{World, complaints};

#[test]
fn several_tables_that_lead_from_one_to_another_are_named_on_purpose() {
    let world = World::of(&[
        "shop.refunds: id key, bill_id int -> bills.id, handled_by int -> staff.id",
        "shop.bills: id key, buyer_id int -> buyers.id",
        "shop.buyers: id key, agent_id int -> staff.id, town_id int -> towns.id",
        "shop.towns: id key, mayor text",
        "shop.staff: id key, surname text",
    ]);
    let needless = |tables: &[&str]| {
        let step = json!({"goal": "Refunds by surname", "tables": tables, "compute": ["count(shop.refunds.id) as refunds"],
            "group_by": ["shop.staff.surname"]});
        let found = complaints(&world, "How many refunds are there by surname of the staff?", &[step]);
        found.into_iter().filter(|line| line.starts_with("not_needed")).collect::<Vec<_>>()
    };
    let told =
        |name: &str| format!("not_needed: the table shop.{name} adds nothing that the question asks for: take it out");
    let way = ["shop.refunds", "shop.bills", "shop.buyers", "shop.staff"];
    assert_eq!(needless(&way), Vec::<String>::new());
    assert_eq!(needless(&[&way[..], &["shop.towns"][..]].concat()), [told("towns")]);
    assert_eq!(needless(&["shop.refunds", "shop.bills", "shop.staff"]), [told("bills")]);
}

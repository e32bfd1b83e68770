//! The checks for sense are fair: what a plan says in its own way is not complained of, and what only words tell is a doubt that a
//! model may overrule.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "sense/conditions.rs"]
mod conditions;
#[path = "sense/fair.rs"]
mod fair;
#[path = "sense/ways.rs"]
mod ways;
#[path = "sense/words.rs"]
mod words;
#[path = "sense/world.rs"]
mod world;

mod support;

use prospector_agent::{
    Request,
    agent_loop::AgentLoop,
    plan::{
        Draft, Plan, complete_names,
        sense::{SenseCode, check_sense},
        verify,
    },
};
use prospector_llm::{ChatEvent, ChatModel, ChatRequest, LlmError, Message};
use serde_json::{Value, json};
use support::{Scripted, Turn, prompt};
use world::{World, bad, complaints, draft, good};

fn library() -> World {
    World::of(&["library.loans: id key, member text, book text, price int, due_day date, returned_day date"])
}

#[test]
fn contractions_and_connectives_are_no_things() {
    let step = json!({"goal": "Loans that are due, without a day of return", "tables": ["library.loans"],
        "filter": ["library.loans.returned_day is null"]});
    let question = "Which members haven't returned a book yet although it's due?";
    good(&library(), question, std::slice::from_ref(&step));
    good(&library(), &question.replace('\'', "’"), &[step]);
    let all = json!({"goal": "Members with a book", "tables": ["library.loans"],
        "compute": ["count_distinct(library.loans.member) as members"]});
    let denied = complaints(&library(), "How many members don't have a book?", &[all]);
    assert!(denied[0].starts_with("not_covered: the question asks for what did not happen"), "{denied:?}");
}

#[test]
fn a_compound_is_covered_by_its_parts() {
    let step = json!({"goal": "Loans of the member O'Hara", "tables": ["library.loans"],
        "filter": ["library.loans.member = 'O''Hara'"]});
    good(&library(), "Which books do loans of o'hara hold, and what's their price?", std::slice::from_ref(&step));
    bad(
        &library(),
        "List the books of loans to o'brien",
        &[step],
        &[
            "not_covered: no source of the plan holds `o'brien` of the question: say in a step's goal what stands for it, or decline",
        ],
    );
}

#[test]
fn the_only_source_of_a_plan_is_needed() {
    let world = World::default().with("parks.example.com", "list_all", "Everything that is open", false).with(
        "rail.example.com",
        "list_delays",
        "Late trains",
        false,
    );
    let question = "Which picnic areas of Bavaria allow dogs?";
    let parks = json!({"goal": "List the picnic areas of Bavaria that allow dogs", "operations": ["parks.example.com.list_all"]});
    let rail = json!({"goal": "List delays", "operations": ["rail.example.com.list_delays"]});
    let needless = |steps: &[Value]| {
        let found = complaints(&world, question, steps);
        found.into_iter().filter(|line| line.starts_with("not_needed")).collect::<Vec<_>>()
    };
    assert!(needless(std::slice::from_ref(&parks)).is_empty());
    assert!(needless(std::slice::from_ref(&rail)).is_empty(), "whether it covers the question is another check");
    assert_eq!(
        needless(&[parks, rail]),
        ["not_needed: the operation rail.example.com.list_delays adds nothing that the question asks for: take it out"]
    );
}

#[test]
fn a_change_may_be_asked_for_after_something_else() {
    let world = World::default().with("diary", "insert_note", "Puts a note into the diary", true);
    let step = json!({"goal": "Put a note with the opening hours into the diary", "operations": ["diary.insert_note"]});
    let writes =
        |question: &str| complaints(&world, question, std::slice::from_ref(&step)).concat().contains("writes:");
    assert!(!writes("Look up the opening hours and put a note into my diary"));
    assert!(writes("Which notes are in my diary?"));
    // What is closed may be what was open.
    let world = World::default().with("desk", "close_ticket", "Closes a ticket", true);
    let step = json!({"goal": "Close the open tickets", "operations": ["desk.close_ticket"]});
    good(&world, "Find the open tickets of the desk and close them", &[step]);
}

#[test]
fn a_text_may_hold_dates() {
    let ferries = |kind: &str| World::of(&[&format!("fleet.ferries: id key, name text, built {kind}, seats int")]);
    let step = |filter: &[&str]| {
        json!({"goal": "Ferries that are newer, by seats", "tables": ["fleet.ferries"], "filter": filter,
            "compute": ["count() as ferries"], "order": ["ferries desc"]})
    };
    let question = "How many ferries were built since 1999?";
    good(&ferries("text"), question, &[step(&["fleet.ferries.built >= '1999-01-01'"])]);
    let lacks = "no condition limits a date to the period of the question, from 1999-01-01 on";
    bad(&ferries("text"), question, &[step(&[])], &[&format!("missing_condition: {lacks}")]);
    bad(&ferries("date"), question, &[step(&[])], &[&format!("missing_period: {lacks}")]);
    // A column that is known to hold something else is no date.
    let steel = [step(&["fleet.ferries.built >= '1999-01-01'"])];
    assert!(!complaints(&ferries("text = steel|wood"), question, &steel).is_empty());
    let before = complaints(&ferries("date"), "How many ferries were built before 1950?", &[step(&[])]);
    assert_eq!(before, ["missing_period: no condition limits a date to the period of the question, before 1950-01-01"]);
}

#[test]
fn functions_of_dates_are_conditions_on_them() {
    let step = |filter: &str| json!({"goal": "Loans by their days", "tables": ["library.loans"], "filter": [filter], "compute": ["count() as loans"]});
    let question = "How many loans were due in 2024?";
    good(&library(), question, &[step("year(library.loans.due_day) = 2024")]);
    good(&library(), question, &[step("date(library.loans.due_day) between '2024-01-01' and '2024-12-31'")]);
    let wrong = complaints(&library(), question, &[step("year(library.loans.due_day) = 2021")]);
    assert!(wrong.iter().any(|line| line.starts_with("wrong_period")), "{wrong:?}");
    good(&library(), "How many loans are due in the month of June?", &[step("month(library.loans.due_day) = 6")]);
}

#[test]
fn a_number_is_used_in_a_goal_or_a_formula() {
    let world = World::of(&["homes.flats: id key, street text, rent int"]);
    let step = |goal: &str, compute: &str| json!({"goal": goal, "tables": ["homes.flats"], "compute": [compute]});
    let question = "What would the rent of the flats be with 3 percent on top?";
    good(&world, question, &[step("The rent of flats, and a little more", "homes.flats.rent * 1.03 as raised")]);
    good(&world, question, &[step("The rent of flats and 3 percent", "sum(homes.flats.rent) as rent")]);
    let unsaid = complaints(&world, question, &[step("The rent of flats", "sum(homes.flats.rent) as rent")]);
    assert!(unsaid.iter().any(|line| line.starts_with("missing_condition: `3` of the question")), "{unsaid:?}");
}

#[test]
fn groups_are_known_by_their_names_and_by_their_words() {
    let world = World::default().with("birds", "list_sightings", "Sightings of birds", false);
    let step = |group: &str| {
        json!({"goal": "Count the sightings", "operations": ["birds.list_sightings"], "compute": ["count() as sightings"],
            "group_by": [group]})
    };
    let question = "How many sightings of birds were there, by species?";
    let groups = |group: &str| {
        let found = complaints(&world, question, &[step(group)]);
        found.into_iter().filter(|line| line.starts_with("missing_group")).collect::<Vec<_>>()
    };
    assert!(groups("species").is_empty());
    assert_eq!(
        groups("colour"),
        ["missing_group: the question wants groups by `species`, and no step has it in `group_by`"]
    );
}

#[test]
fn what_is_done_to_every_one_makes_no_groups() {
    let world = World::of(&["homes.flats: id key, street text, rent int"]);
    let step = json!({"goal": "The rent of all flats", "tables": ["homes.flats"], "compute": ["homes.flats.rent * 1.02 as rent"]});
    for question in ["List every tenancy with its rent, for flats", "Which flats cover every tenancy by their rent?"] {
        let found = complaints(&world, question, std::slice::from_ref(&step));
        assert!(
            !found.iter().any(|line| line.contains("tenancy` by name") || line.starts_with("missing_group")),
            "{found:?}"
        );
    }
    // Whoever asks for a change is told of that, and not of groups.
    let found = complaints(&world, "Lower the rent of every flat by 2 percent", std::slice::from_ref(&step));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("no_change"), "{found:?}");
    let found = complaints(&world, "The average rent for every tenancy of the flats", &[step]);
    assert!(found.iter().any(|line| line.starts_with("missing_group")), "{found:?}");
}

#[test]
fn what_a_goal_and_a_measure_say_together_is_covered() {
    let world = World::of(&[
        "league.players: id key, name text, ft int, season int",
        "league.free_agents: id key, club text, since int",
    ]);
    let step = json!({"goal": "Sum the free throws of each player", "tables": ["league.players"],
        "compute": ["sum(league.players.ft) as throws"], "group_by": ["league.players.name"], "order": ["throws desc"],
        "limit": 1});
    good(&world, "Which player sank the most free throws in a season?", std::slice::from_ref(&step));
    // What holds only one word of two is no home of both.
    let mut silent = step;
    silent["goal"] = json!("Sum ft of each player");
    silent["compute"] = json!(["sum(league.players.ft) as total"]);
    silent["order"] = json!(["total desc"]);
    let found = check_sense("Which player sank the most free throws in a season?", &draft(&[silent]), &world);
    assert_eq!(found.not_covered, ["free", "throws"]);
    assert!(found.findings.iter().all(|finding| finding.nearest.is_empty()), "{:?}", found.findings);
}

#[test]
fn a_place_among_the_first_is_a_condition() {
    let world = World::of(&["chess.games: id key, winner text, loser text, loser_rank int, day date"]);
    let step = |filter: &[&str]| {
        json!({"goal": "Winners of games whose loser was strong", "tables": ["chess.games"],
            "columns": ["chess.games.winner"], "filter": filter})
    };
    let question = "Who is the winner of games against the top 10 by rank?";
    good(&world, question, &[step(&["chess.games.loser_rank <= 10"])]);
    good(&world, "Who is the winner of games against a top ten loser?", &[step(&["chess.games.day >= '2020-01-01'"])]);
    let found = complaints(&world, question, &[step(&["chess.games.winner <> 'x'"])]);
    assert!(found.iter().any(|line| line.starts_with("wrong_measure: the question asks for the first")), "{found:?}");
}

#[test]
fn what_is_ranked_follows_a_preposition() {
    let world =
        World::of(&["town.bridges: id key, name text, age int"]).with("photos", "find_picture", "Pictures", false);
    let bridges = json!({"goal": "The two oldest bridges", "tables": ["town.bridges"],
        "compute": ["max(town.bridges.age) as age"], "group_by": ["town.bridges.name"], "order": ["age desc"], "limit": 2});
    let photos =
        json!({"goal": "Find a picture for each", "operations": ["photos.find_picture"], "inputs": ["step_1_results"]});
    good(&world, "Find a picture for each of the two longest bridges", &[bridges, photos]);
}

#[test]
fn the_name_of_a_source_is_no_value() {
    let world =
        World::of(&["town.bridges: id key, name text, age int"]).with("artbank", "find_picture", "Pictures", false);
    let bridges = json!({"goal": "Old bridges", "tables": ["town.bridges"], "filter": ["town.bridges.age > 100"]});
    let photos =
        json!({"goal": "Find a picture of each", "operations": ["artbank.find_picture"], "inputs": ["step_1_results"]});
    good(&world, "Find a picture on Artbank of bridges with an age above 100", &[bridges.clone(), photos.clone()]);
    bad(
        &world,
        "Find a picture of bridges in Graz with an age above 100",
        &[bridges, photos],
        &["missing_condition: `graz` of the question is in no condition: filter by it"],
    );
}

#[test]
fn keys_are_known_by_their_roles_and_only_known_ones_count() {
    let step = |goal: &str, tables: &[&str]| json!({"goal": goal, "tables": tables});
    let joins = |tables: &[&str], step: Value| {
        let found = complaints(&World::of(tables), "", &[step]);
        found.into_iter().filter(|line| line.starts_with("not_joined")).collect::<Vec<_>>()
    };
    let airports = "air.airports: id key, name text, city_id int -> cities.id";
    let both = ["air.airports", "air.flights"];
    let flights = "air.flights: number key, from_airport_id int, to_airport_id int";
    assert!(joins(&[airports, flights], step("Flights", &both)).is_empty(), "two roles");
    let flights = "air.flights: number key, start text, crew int -> crews.id";
    assert_eq!(joins(&[airports, flights], step("Flights", &both)).len(), 1, "keys are known and none leads");
    let said = step("Flights with flights.start = airports.name", &both);
    assert!(joins(&[airports, flights], said).is_empty(), "the goal says the key");
    let (airports, flights) = ("air.airports: code text, name text", "air.flights: number text, start text");
    assert!(joins(&[airports, flights], step("Flights", &both)).is_empty(), "no keys are known");
}

#[test]
fn an_operation_among_the_apis_stands_for_its_api() {
    let world = World::default().with("maps.example.com", "find_way", "Ways", false);
    let mut plan = draft(&[]);
    plan.discovered_context.apis = vec!["maps.example.com.find_way".into(), "maps.example.com".into(), "other".into()];
    complete_names(&mut plan, &world);
    assert_eq!(plan.discovered_context.apis, ["maps.example.com", "other"]);
}

#[test]
fn names_in_expressions_are_columns_like_others() {
    let step = |compute: &str| json!({"goal": "Rent of flats", "tables": ["homes.flats"], "compute": [compute]});
    let world = World::of(&["homes.flats: id key, street text, rent int"]);
    good(&world, "", &[step("sum(homes.flats.rent * 2) / count(*) as rent")]);
    let unknown = "is no column of the step's tables, no measure, and not of an input";
    bad(
        &world,
        "",
        &[step("avg(homes.flats.deposit * 1) as rent")],
        &[&format!("unknown_column: `homes.flats.deposit` {unknown}")],
    );
    let verified = |compute: &str| verify("", &draft(&[step(compute)]), &world, None).failed;
    let failed = verified("avg(julianday(homes.flats.rent)) as days");
    assert_eq!(
        (failed[0].place.as_str(), failed[0].name.as_str()),
        ("plan.steps[0].compute", "julianday"),
        "{failed:?}"
    );
    assert_eq!(verified("round(sum(homes.flats.rent), 2) as rent"), []);
}

#[test]
fn what_a_step_says_in_a_field_that_it_has_not_is_no_part_of_a_plan() {
    let world = World::of(&["homes.flats: id key, street text, rent int"]);
    let mut step = json!({"goal": "Rent of flats", "tables": ["homes.flats"], "group": ["homes.flats.street"]});
    let failed = verify("", &draft(std::slice::from_ref(&step)), &world, None).failed;
    assert_eq!((failed[0].name.as_str(), failed[0].nearest.as_slice()), ("group", ["group_by".to_owned()].as_slice()));
    step["group"] = json!([]);
    assert!(verify("", &draft(&[step]), &world, None).failed.is_empty());
}

#[test]
fn a_verified_query_covers_what_it_is_about() {
    let world = World::of(&[
        "library.loans: id key, member_id int -> members.id, price int, due_day date",
        "library.members: id key, name text, town text = Graz|Linz",
    ])
    .with_query(
        "regular-members",
        "Who are the regulars of the library?",
        &["library.loans", "library.members"],
        "SELECT m.id, m.name, COUNT(*) AS loaned FROM loans l JOIN members m ON m.id = l.member_id WHERE m.town = 'Graz' \
         AND l.due_day BETWEEN '2024-01-01' AND '2024-12-31' GROUP BY 1, 2 HAVING COUNT(*) >= 12",
    );
    let query = json!({"goal": "The regulars", "query": {"name": "regular-members"}});
    good(&world, "List the regulars of Graz in 2024 with at least 12 loans", std::slice::from_ref(&query));
    let other = complaints(&world, "List the regulars of Graz in 2021", std::slice::from_ref(&query));
    assert!(other.iter().any(|line| line.starts_with("missing_period")), "{other:?}");
    // What it leaves has columns that only its run tells.
    let rest = json!({"goal": "Their loans", "tables": ["library.loans"], "inputs": ["step_1_results"],
        "compute": ["sum(library.loans.price) as price"], "group_by": ["library.loans.member_id"], "order": ["loaned"],
        "filter": ["library.loans.member_id in step_1_results.id"]});
    good(&world, "The price of loans of the regulars of Graz in 2024", &[query, rest]);
}

#[test]
fn stop_words_are_no_values() {
    let world = World::of(&["shop.customers: id key, kind text = staff of the store|guest"]);
    let step =
        json!({"goal": "Count the customers", "tables": ["shop.customers"], "compute": ["count() as customers"]});
    good(&world, "How many of the customers are there?", std::slice::from_ref(&step));
    bad(
        &world,
        "How many guest customers are there?",
        &[step],
        &["missing_condition: `guest` of the question is a value of shop.customers.kind: filter by it"],
    );
}

#[test]
fn an_expression_may_be_an_average() {
    let world = World::of(&["shop.refunds: id key, asked int, paid int, reason text"]);
    let step = |compute: &str| {
        json!({"goal": "What refunds differ by", "tables": ["shop.refunds"], "compute": [compute],
            "group_by": ["shop.refunds.reason"]})
    };
    let question = "By how much do refunds asked and paid differ on average, by reason?";
    good(&world, question, &[step("avg(shop.refunds.asked * 1 - shop.refunds.paid) as difference")]);
    let summed = complaints(&world, question, &[step("sum(shop.refunds.asked * 1 - shop.refunds.paid) as difference")]);
    assert!(summed.iter().any(|line| line.contains("asks for an average")), "{summed:?}");
}

#[test]
fn the_currency_of_the_data_is_a_unit() {
    let lines = ["shop.orders: id key, total int", "rates.exchange_rates: day date, quote text = EUR|JPY, rate int"];
    let step = json!({"goal": "Sum the total of orders", "tables": ["shop.orders"], "compute": ["sum(shop.orders.total) as total"]});
    let question = "What is the total of all orders in dollars?";
    let told = complaints(&World::of(&lines), question, std::slice::from_ref(&step));
    assert!(told.iter().any(|line| line.contains("exchange rates")), "{told:?}");
    let defined =
        World::of(&lines).with_term("reporting currency", "All amounts are US dollars unless another is named");
    let told = complaints(&defined, question, std::slice::from_ref(&step));
    assert!(!told.iter().any(|line| line.contains("dollars")), "{told:?}");
    let told = complaints(&defined, "What is the total of all orders in euros?", &[step]);
    assert!(told.iter().any(|line| line.contains("`euros` of the question takes exchange rates")), "{told:?}");
}

#[test]
fn a_change_that_the_plan_says_nothing_makes_is_a_doubt() {
    let world = World::of(&["shop.refunds: id key, amount int"]);
    let step = json!({"goal": "Refunds above 10", "tables": ["shop.refunds"], "filter": ["shop.refunds.amount > 10"]});
    let mut plan = draft(&[step]);
    let codes = |plan: &Draft| {
        let sense = check_sense("Approve all refunds with an amount above 10", plan, &world);
        sense.findings.iter().map(|finding| finding.code).collect::<Vec<_>>()
    };
    assert!(codes(&plan).contains(&SenseCode::NoChange), "{:?}", codes(&plan));
    plan.clarifications = vec!["Nothing in the catalog approves a refund: who does?".into()];
    assert!(codes(&plan).iter().all(|code| code.is_doubt()), "{:?}", codes(&plan));
}

#[test]
fn groups_may_be_called_by_their_names() {
    let world = library();
    let step = json!({"goal": "Loans by the month of their due day", "tables": ["library.loans"], "compute": ["count() as loans"],
        "group_by": ["month(library.loans.due_day) as due"], "order": ["due"]});
    good(&world, "How many loans are due, by month?", &[step]);
}

/// A model that does what a script says, and is a program.
struct Program<M>(M);

#[async_trait::async_trait]
impl<M: ChatModel> ChatModel for Program<M> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn reads_data(&self) -> bool {
        true
    }

    async fn stream(
        &self,
        request: &ChatRequest,
    ) -> Result<futures::stream::BoxStream<'static, Result<ChatEvent, LlmError>>, LlmError> {
        self.0.stream(request).await
    }
}

const DOUBTFUL: &str = "Which tenants of the flats hold the rent for odd?";

/// A plan that is only doubted, and one that names a column which is not there.
fn doubtful_plan(column: &str) -> String {
    let step = json!({"number": 1, "goal": "Rent of flats", "tables": ["homes.flats"], "filter": [format!("homes.flats.{column} > 5")]});
    json!({"plan": {"steps": [step]}}).to_string()
}

async fn plan(model: &dyn ChatModel) -> Plan {
    let world = World::of(&["homes.flats: id key, street text, rent int"]);
    let agent = AgentLoop { model, tools: &world, names: &world };
    agent.plan(&prompt(), &Request::new(DOUBTFUL)).await.plan
}

fn script(plans: Vec<String>) -> impl Fn(usize) -> Turn + Send + Sync {
    move |round| match round {
        1 => Turn::call([("show", json!({}))]),
        _ => Turn::say(plans[(round - 2).min(plans.len() - 1)].clone()),
    }
}

#[tokio::test]
async fn a_model_that_was_told_of_a_doubt_may_stay_with_its_plan() {
    let model = Scripted::new(script(vec![doubtful_plan("rent")]));
    let plan = plan(&model).await;
    let sense = &plan.verification.sense;
    assert!(plan.verification.ok && sense.ok && sense.findings.is_empty(), "{sense:?}");
    assert!(sense.doubts.iter().all(|doubt| doubt.code.is_doubt()) && !sense.doubts.is_empty(), "{sense:?}");
    assert_eq!(plan.clarifications, Vec::<String>::new());
    assert_eq!(model.requests().len(), 3, "one repair");
    let Message::User { text } = model.last_message(3) else { panic!("no complaint") };
    assert!(text.contains("\"doubts\"") && text.contains("even if unchanged") && !text.contains("\"sense\""), "{text}");
}

#[tokio::test]
async fn a_program_has_to_mend_what_is_doubted() {
    let plan = plan(&Program(Scripted::new(script(vec![doubtful_plan("rent")])))).await;
    let sense = &plan.verification.sense;
    assert!(!plan.verification.ok && !sense.ok && sense.doubts.is_empty(), "{sense:?}");
    assert!(!plan.clarifications.is_empty());
}

#[tokio::test]
async fn what_is_known_is_no_doubt_and_is_not_overruled() {
    let model = Scripted::new(script(vec![doubtful_plan("height")]));
    let plan = plan(&model).await;
    let codes: Vec<SenseCode> = plan.verification.sense.findings.iter().map(|finding| finding.code).collect();
    assert!(!plan.verification.ok);
    assert_eq!(codes, [SenseCode::UnknownColumn]);
    assert_eq!(model.requests().len(), 3, "what was not mended is not sent back again");
}

#[tokio::test]
async fn a_plan_that_mended_all_of_it_gets_one_repair_more() {
    let plans = ["height", "width", "rent"].map(doubtful_plan).to_vec();
    let model = Scripted::new(script(plans));
    let plan = plan(&model).await;
    assert!(plan.verification.ok, "{:?}", plan.verification);
    assert_eq!(model.requests().len(), 4);
    let plans = ["height", "width", "depth", "rent"].map(doubtful_plan).to_vec();
    let model = Scripted::new(script(plans));
    assert!(!self::plan(&model).await.verification.ok, "two repairs at most");
    let plans = ["height", "width", "rent"].map(doubtful_plan).to_vec();
    let program = Program(Scripted::new(script(plans)));
    assert!(!self::plan(&program).await.verification.ok);
    assert_eq!(program.0.requests().len(), 3, "one repair of a program");
}

#[tokio::test]
async fn a_condition_that_cannot_be_read_costs_no_plan() {
    let unread = doubtful_plan("rent").replace("homes.flats.rent > 5", "homes.flats.rent or 5");
    let model = Scripted::new(script(vec![unread]));
    let plan = plan(&model).await;
    let failed = &plan.verification.failed;
    assert_eq!(failed[0].place, "plan.steps[0].filter");
    assert!(failed[0].reason.contains("is no condition: write"), "{failed:?}");
    assert!(!plan.verification.ok && plan.plan.steps[0].goal == "Rent of flats", "{plan:?}");
    assert_eq!(plan.plan.steps[0].unread[0].text, "homes.flats.rent or 5");
    let Message::User { text } = model.last_message(3) else { panic!("no complaint") };
    assert!(text.contains("plan_not_verified") && text.contains("homes.flats.rent or 5"), "{text}");
}

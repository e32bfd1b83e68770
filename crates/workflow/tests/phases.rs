//! Workflows: validation, and invariants under arbitrary model behaviour.

#[path = "../../agent/tests/it/support/mod.rs"]
mod support;
#[path = "support/world.rs"]
mod world;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use prospector_agent::{Limits, agent_loop::AgentLoop, event::Event, plan::Ended};
use prospector_core::tool::Toolset;
use prospector_discovery::prompt::Prompt;
use prospector_llm::Message;
use prospector_workflow::{Conversation, TurnOutcome, UserWords, Workflow, WorkflowReport};
use serde_json::{Value, json};
use support::{Scripted, Turn};
use tokio_util::sync::CancellationToken;
use world::{TOOLS, World};

/// Four phases, with a way back by choice and by each policy.
const FLOW: &str = "workflow: flow
begin: start
role: You go through phases.
products:
- {name: a, tool: make_a, each: /id}
- {name: b, tool: make_b, holds: /good}
- {name: c, tool: make_c}
phases:
- name: start
  user: true
  tools: [look]
  instructions: Look around.
  advance:
  - {to: first, note: wish}
- name: first
  needs: {wish: 1}
  tools: [look, make_a]
  instructions: Make two of a.
  advance:
  - {to: second, when: {a: 2}}
  on_error: {retry: 1, then: back, to: start}
- name: second
  needs: {a: 2, wish: 1}
  tools: ['make_*']
  user: true
  instructions: Make b.
  context:
  - {product: wish, max_tokens: 20}
  - {product: a, max_tokens: 30}
  advance:
  - {to: third, when: {b: 1}, automatic: true}
  - {to: first}
  on_error: {retry: 1, then: skip}
- name: third
  needs: {a: 2, b: 1}
  tools: [make_c]
  instructions: Make c.
  advance:
  - {to: end, when: {c: 1}, automatic: true}
  - {to: second}
  on_error: {retry: 2, then: stop}
";

fn read(text: &str) -> Result<Workflow, Vec<String>> {
    let problems = |problems: Vec<prospector_core::Problem>| problems.iter().map(ToString::to_string).collect();
    Workflow::read("flow.yaml", text, &TOOLS).map_err(problems)
}

#[test]
fn invalid_workflows_are_reported_with_positions() {
    assert_eq!(read(FLOW).map(|workflow| workflow.phases.len()), Ok(4));
    let mut wrong = Vec::new();
    for (from, to, expected) in [
        ("  instructions: Look around.", "  instruction: Look around.", "flow.yaml:12:3: unknown field `instruction`"),
        ("role: You go", "rule: You go", "flow.yaml:3:1: unknown field `rule`"),
        ("retry: 2, then: stop", "retries: 2, then: stop", "flow.yaml:41:14: unknown field `retries`"),
        ("begin: start", "begin: strat", "flow.yaml:2:8: unknown phase `strat` (did you mean start"),
        ("tools: [look, make_a]", "tools: [look, mak_a]", "flow.yaml:17:17: unknown tool `mak_a` (did you mean make_a"),
        ("['make_*']", "['mack_*']", "flow.yaml:24:11: unknown tool `mack_*`"),
        ("tool: make_c}", "tool: make_d}", "flow.yaml:7:19: unknown tool `make_d`"),
        ("- name: third", "- name: end", "flow.yaml:34:9: invalid or duplicate phase name `end`"),
        ("- name: third", "- name: first", "flow.yaml:34:9: invalid or duplicate phase name `first`"),
        ("{to: first, note: wish}", "{to: fist, note: wish}", "flow.yaml:14:10: unknown phase `fist`"),
        ("{to: first, note: wish}", "{to: end, note: wish}", "flow.yaml:15:9: unreachable phase `first`"),
        ("{to: end, when: {c: 1}, automatic: true}", "{to: first}", "never leads to the end"),
        ("  needs: {wish: 1}\n", "  needs: {c: 1}\n", "flow.yaml:16:14: no earlier phase makes `c`"),
        ("when: {a: 2}}", "when: {b: 1}}", "flow.yaml:20:28: no earlier phase makes `b`"),
        ("when: {a: 2}}", "when: {d: 1}}", "flow.yaml:20:28: unknown product `d`"),
        ("when: {a: 2}}", "when: {user: 1}}", "flow.yaml:20:31: this phase has no user"),
        ("when: {b: 1}, auto", "when: {b: 2}, auto", "`b` has at most one instance"),
        ("then: back, to: start", "then: back", "flow.yaml:15:9: `then: back` needs a phase"),
        ("max_tokens: 20", "max_tokens: 0", "invalid limit 0"),
        ("on_error: {retry: 2, then: stop}", "on_error: {then: tell}", "`then: tell` needs a phase with the user"),
        ("each: /id", "each: id", "flow.yaml:5:33: `id` is not a JSON pointer"),
        ("{to: end, when: {c: 1}, automatic: true}", "{to: end, automatic: true}", "needs a condition"),
    ] {
        assert!(FLOW.contains(from), "{from}");
        let problems = read(&FLOW.replacen(from, to, 1)).err().unwrap_or_default();
        if !problems.iter().any(|problem| problem.contains(expected)) {
            wrong.push(format!("{to}: {problems:?} without {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let both = FLOW.replacen("[look]", "[loke]", 1).replacen("tools: [make_c]", "tools: [make_z]", 1);
    assert!(read(&both).unwrap_err().len() >= 2, "all problems are reported at once");
    assert!(read("workflow: [").unwrap_err()[0].starts_with("error: flow.yaml:1:"));
}

struct Done {
    world: World,
    outcomes: Vec<TurnOutcome>,
    report: WorkflowReport,
    model: Scripted<Box<dyn Fn(usize) -> Turn + Send + Sync>>,
}

/// Runs [`FLOW`].
async fn go(turns: usize, script: impl Fn(usize) -> Turn + Send + Sync + 'static) -> Done {
    go_through(FLOW, turns, script).await
}

/// Runs a workflow: the user sends a message per turn until the workflow ends.
async fn go_through(flow: &str, turns: usize, script: impl Fn(usize) -> Turn + Send + Sync + 'static) -> Done {
    let world = World::default();
    let model: Scripted<Box<dyn Fn(usize) -> Turn + Send + Sync>> = Scripted::new(Box::new(script));
    let workflow = Arc::new(read(flow).expect("the workflow is valid"));
    let limits = Limits { rounds: 25, calls: 60, call_time: Duration::from_millis(200), ..Limits::default() };
    let mut conversation =
        Conversation::new(workflow, Toolset::new(), UserWords::default(), Prompt::new(Vec::new()), limits);
    let mut outcomes = Vec::new();
    for _ in 0..turns {
        if conversation.is_over() {
            break;
        }
        let observe = |event| {
            if let Event::Phase { name, .. } = event {
                world.seen.lock().expect("no panic").enters(&name);
            }
        };
        let cancel = CancellationToken::new();
        let agent = AgentLoop { model: &model, tools: &world, names: &world };
        outcomes.push(conversation.turn(Some("go on"), &agent, &cancel, &observe).await);
    }
    let report = conversation.report();
    Done { world, outcomes, report, model }
}

impl Done {
    #[track_caller]
    fn check(&self, entered: &[&str], completed: bool) {
        let seen = self.world.seen.lock().expect("no panic");
        assert_eq!(seen.faults, Vec::<String>::new());
        assert_eq!(seen.entered, entered);
        assert_eq!(self.report.completed, completed, "{:?}", self.report);
        let last = self.outcomes.last().map(|outcome| outcome.ended);
        assert_eq!(last == Some(Ended::Stopped), self.report.stopped.is_some(), "{last:?}");
    }
}

fn a(id: &str) -> (&'static str, Value) {
    ("make_a", json!({"id": id}))
}

fn on(arguments: Value) -> (&'static str, Value) {
    ("advance", arguments)
}

fn fails(tool: &'static str) -> (&'static str, Value) {
    (tool, json!({"fail": true}))
}

#[tokio::test]
async fn advancing_in_the_middle_of_a_round_works() {
    let done = go(1, |round| match round {
        1 => Turn::call([
            a("early"),
            on(json!({"note": "a wish"})),
            a("1"),
            on(json!({})),
            a("2"),
            on(json!({})),
            ("make_b", json!({})),
            ("make_c", json!({})),
        ]),
        _ => Turn::say("Done."),
    })
    .await;
    done.check(&["start", "first", "second", "third", "end"], true);
    assert_eq!(done.outcomes[0].text, "Done.");
    let results = done.model.results(2);
    assert!(results[0].contains("wrong_phase") && results[0].contains("look, advance"), "{}", results[0]);
    assert!(results[3].contains("not_yet") && results[3].contains("1 more a"), "{}", results[3]);
    assert!(results[5].contains("second") && !results[6..].iter().any(|one| one.contains("error")), "{results:?}");
    let Message::User { text } = done.model.last_message(2) else { panic!("the announcement") };
    assert!(text.contains("The workflow has ended"), "{text}");
}

#[tokio::test]
async fn phases_are_announced_with_their_context() {
    let long = "tell everyone ".repeat(100);
    let wish = long.clone();
    let done = go(1, move |round| match round {
        1 => Turn::call([on(json!({"note": wish})), a("1"), a("2"), on(json!({}))]),
        _ => Turn::say("What now?"),
    })
    .await;
    done.check(&["start", "first", "second"], false);
    let Message::User { text } = done.model.last_message(2) else { panic!("the announcement") };
    for expected in ["Phase `second` (3 of 4).\nMake b.", "make_a, make_b, make_c", "wish: <data>", "(cut)</data>"] {
        assert!(text.contains(expected), "{text} without {expected}");
    }
    assert!(text.len() < 800 && text.matches("</data>").count() == 2, "{text}");
    // The list of tools is the same in every request.
    let requests = done.model.requests();
    assert!(requests.iter().all(|request| request.tools == requests[0].tools && request.tools.len() == 5));
}

#[tokio::test]
async fn failures_are_retried_before_the_policy_applies() {
    let begin = || Turn::call([on(json!({"note": "w"}))]);
    // Retried: one failure is tolerated.
    let done = go(1, move |round| match round {
        1 => begin(),
        2 => Turn::call([fails("make_a")]),
        3 => Turn::call([a("1"), a("2"), on(json!({})), ("make_b", json!({})), ("make_c", json!({}))]),
        _ => Turn::say("Done."),
    })
    .await;
    done.check(&["start", "first", "second", "third", "end"], true);
    // Back: after the second failure in a row.
    let done = go(1, move |round| match round {
        1 => begin(),
        2 | 3 => Turn::call([fails("make_a")]),
        _ => Turn::say("It does not work."),
    })
    .await;
    done.check(&["start", "first", "start"], false);
    let Message::User { text } = done.model.last_message(4) else { panic!("the announcement") };
    assert!(text.starts_with("Note: the phase `first` failed 2 times in a row"), "{text}");
    // Skipped: to a phase that lacks b, which is not entered.
    let done = go(1, move |round| match round {
        1 => Turn::call([on(json!({"note": "w"})), a("1"), a("2"), on(json!({}))]),
        _ => Turn::call([fails("make_b")]),
    })
    .await;
    done.check(&["start", "first", "second", "end"], false);
    assert!(done.report.stopped.as_ref().is_some_and(|why| why.contains("`third` cannot start without b")));
    // Stopped; a call that times out counts as a failure, and so does text instead of a call.
    let done = go(1, move |round| match round {
        1 => Turn::call([on(json!({"note": "w"})), a("1"), a("2"), on(json!({})), ("make_b", json!({}))]),
        2 => Turn::call([fails("make_c")]),
        3 => Turn::call([("make_c", json!({"fail": "hang"}))]),
        _ => Turn::call([fails("make_c")]),
    })
    .await;
    done.check(&["start", "first", "second", "third", "end"], false);
    assert!(done.report.stopped.as_ref().is_some_and(|why| why.contains("failed 3 times")), "{:?}", done.report);
    assert!(done.model.results(3)[0].contains("2 tries left"), "{:?}", done.model.results(3));
    // Texts are counted separately.
    let done = go(1, move |round| match round {
        1 => Turn::call([on(json!({"note": "w"})), a("1"), a("2"), on(json!({})), ("make_b", json!({}))]),
        2 => Turn::call([fails("make_c")]),
        _ => Turn::say("I would rather talk."),
    })
    .await;
    done.check(&["start", "first", "second", "third", "end"], false);
    assert!(
        done.report.stopped.as_ref().is_some_and(|why| why.contains("text instead of a tool call")),
        "{:?}",
        done.report
    );
}

/// One phase, whose product is a list, and whose failures are reported to the user.
const LISTING: &str = "workflow: listing
begin: only
role: You look.
products:
- {name: item, tool: look, each: /items/*}
phases:
- name: only
  user: true
  tools: [look]
  instructions: Look.
  advance:
  - {to: end, when: {item: 3}}
  on_error: {retry: 1, then: tell}
";

#[tokio::test]
async fn blocked_tools_wait_for_the_user() {
    let done = go_through(LISTING, 2, |round| match round {
        1 | 2 => Turn::call([fails("look")]),
        3 => Turn::call([("look", json!({}))]),
        4 => Turn::say("It does not work. Shall I try again?"),
        5 => Turn::call([("look", json!({"items": [1, 2, 3]})), on(json!({}))]),
        _ => Turn::say("Done."),
    })
    .await;
    assert!(done.report.completed, "{:?}", done.report);
    assert!(done.model.results(2)[0].contains("1 try left"), "{:?}", done.model.results(2));
    assert!(done.model.results(3)[0].contains("no tries left"), "{:?}", done.model.results(3));
    assert!(done.model.results(4)[0].contains("until the next message of the user"), "{:?}", done.model.results(4));
}

#[tokio::test]
async fn list_items_are_products_replaced_by_later_lists() {
    let done = go_through(LISTING, 1, |round| match round {
        1 => Turn::call([("look", json!({"items": [1, 2, 3, 4]})), ("look", json!({"items": [5, 6]})), on(json!({}))]),
        2 => Turn::call([("look", json!({"items": [7, 8, 9]})), on(json!({}))]),
        _ => Turn::say("Done."),
    })
    .await;
    assert!(done.model.results(2)[2].contains("1 more item"), "{:?}", done.model.results(2));
    assert!(done.report.completed && done.report.products["item"] == 9, "{:?}", done.report);
}

/// A deterministic pseudo-random number generator: Knuth's MMIX.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[tokio::test]
async fn phases_never_start_without_prerequisites() {
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..300 {
        let script = move |round: usize| {
            let mut dice = Dice(seed * 1_000 + round as u64);
            dice.roll(2);
            if dice.roll(8) == 0 {
                return Turn::say(["", "A word.", "Another."][dice.roll(3) as usize]);
            }
            let calls: Vec<(&str, Value)> = (0..=dice.roll(6))
                .map(|_| {
                    let tool = ["look", "make_a", "make_a", "make_b", "make_c", "advance", "advance", "nothing"]
                        [dice.roll(8) as usize];
                    let mut arguments = json!({});
                    if tool == "advance" {
                        match dice.roll(10) {
                            0 => arguments["phase"] = json!("first"),
                            1 => arguments["phase"] = json!("end"),
                            2 => arguments["phase"] = json!("third"),
                            3 => arguments["phase"] = json!(7),
                            _ => {}
                        }
                        if dice.roll(3) > 0 {
                            arguments["note"] = json!("a wish");
                        }
                    } else {
                        arguments["id"] = json!(dice.roll(3).to_string());
                        if dice.roll(5) == 0 {
                            arguments["fail"] = json!(true);
                        }
                        if dice.roll(4) == 0 {
                            arguments["good"] = json!(false);
                        }
                    }
                    (tool, arguments)
                })
                .collect();
            Turn::call(calls)
        };
        let done = go(4, script).await;
        let seen = done.world.seen.lock().expect("no panic");
        assert_eq!(seen.faults, Vec::<String>::new(), "seed {seed}: {:?}", seen.entered);
        // Events and report agree.
        let reported: Vec<&str> = done.report.phases.iter().map(|entered| entered.phase.as_str()).collect();
        assert_eq!(reported, seen.entered, "seed {seed}");
        for request in done.model.requests() {
            let (mut calls, mut results) = (Vec::new(), Vec::new());
            for message in request.messages {
                match message {
                    Message::Assistant { calls: made, .. } => calls.extend(made.into_iter().map(|call| call.id)),
                    Message::ToolResults { results: given } => {
                        results.extend(given.into_iter().map(|result| result.call_id));
                    }
                    Message::User { .. } => {}
                }
            }
            assert_eq!(calls, results, "seed {seed}: every call has one result");
        }
        let how = if done.report.completed {
            "completed"
        } else if done.report.stopped.is_some() {
            "stopped"
        } else {
            "open"
        };
        *ends.entry(how.into()).or_default() += 1;
    }
    // The scripts cover the relevant cases.
    assert!(ends["completed"] > 10 && ends["stopped"] > 10, "{ends:?}");
}

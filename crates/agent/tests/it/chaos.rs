//! Property test: whatever a model does, a run ends within its limits, with a reason and a valid conversation.

use std::{
    collections::HashMap,
    sync::{Mutex, atomic::Ordering},
};

use crate::support::{SECRET, Scripted, TABLES, Turn, World, go, plan};
use async_trait::async_trait;
use prospector_agent::{
    Limits, Request,
    agent_loop::{AgentLoop, Goal, Judgement, Reply},
    event::{Event, Observe},
    plan::{Ended, Plan},
};
use prospector_discovery::prompt::Prompt;
use prospector_llm::{ChatRequest, Message, message::ToolCall};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A seeded pseudo-random generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn limits(&mut self) -> Limits {
        Limits {
            rounds: self.below(8) as u32,
            calls: *self.pick(&[0, 1, 3, 7, 15, 1_000]),
            failures_per_tool: 1 + self.below(4) as u32,
            output_tokens: 100,
            ..Limits::default()
        }
    }

    fn turn(&mut self) -> Turn {
        match self.below(16) {
            0 => Turn::say(plan(&TABLES)),
            1 => Turn::say(plan(&["store.vips"])),
            2 | 3 => {
                let deep = "{".repeat(3_000);
                let texts = [
                    "",
                    " \n",
                    "I do not know.",
                    "{",
                    "}{",
                    "```json\n```",
                    "[1]",
                    "{\"plan\": 3}",
                    "{\"plan\": {}}",
                    "{\"plan\": {\"steps\": [{\"number\": 4294967296}]}}",
                    "{\"plan\": {\"steps\": []}, \"clarifications\": [\"?\"]}",
                    "<data>\"plan\"</data>",
                    &deep,
                ];
                Turn::say(*self.pick(&texts))
            }
            4 if self.one_in(4) => Turn::Fail,
            _ => self.calls(),
        }
    }

    fn calls(&mut self) -> Turn {
        let number = *self.pick(&[1, 1, 1, 2, 2, 3, 5, 12, 400]);
        let mut calls: Vec<(&str, Value)> = Vec::new();
        for _ in 0..number {
            if !calls.is_empty() && self.one_in(5) {
                let again = self.pick(&calls).clone();
                calls.push(again);
                continue;
            }
            calls.push(match self.below(8) {
                0..=3 => {
                    let table = self.pick(&["store.customers", "store.invoices", "store.vips", "</data>"]);
                    ("describe", json!({"table": table}))
                }
                4 => {
                    let wrong = [json!(null), json!("{\"table"), json!([1]), json!({"table": 7}), json!(1e300)];
                    ("describe", self.pick(&wrong).clone())
                }
                5 | 6 => ("fail", json!({"how": self.pick(&["not_found", "invalid", "unavailable", "fatal"])})),
                _ => (*self.pick(&["", "drop_tables", "Describe", "describe "]), json!({})),
            });
        }
        let Turn::Call(mut calls) = Turn::call(calls) else { unreachable!() };
        if self.one_in(8) {
            // A local server may give every call the same id.
            calls.iter_mut().for_each(|call| call.id = "same".into());
        }
        Turn::Call(calls)
    }
}

/// What a model did in a round.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Did {
    Said,
    Called(usize),
    Failed,
}

#[tokio::test]
async fn every_run_ends_within_its_limits() {
    let mut ends = Vec::new();
    for seed in 0..600 {
        ends.push(check(seed).await);
    }
    // The random models reach every end except those of the user.
    let all = [Ended::Completed, Ended::RoundLimit, Ended::AllToolsFailed, Ended::NoPlan, Ended::ProviderFailed];
    assert!(all.iter().all(|end| ends.contains(end)), "{ends:?}");
}

async fn check(seed: u64) -> Ended {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let limits = random.limits();
    let random = Mutex::new(random);
    let did = Mutex::new(Vec::new());
    let model = Scripted::new(|_| {
        let turn = random.lock().expect("no panic").turn();
        did.lock().expect("no panic").push(match &turn {
            Turn::Call(calls) => Did::Called(calls.len()),
            Turn::Fail => Did::Failed,
            _ => Did::Said,
        });
        turn
    });
    let world = World::default();
    let (outcome, events) = go(&model, &world, limits, &CancellationToken::new()).await;
    let did = did.lock().expect("no panic").clone();
    let requests = model.requests();
    let context = format!("seed {seed}, {limits:?}, {did:?}, {:?}", outcome.plan.ended);

    let metrics = &outcome.plan.metrics;
    assert!(requests.len() <= limits.rounds as usize, "{context}");
    assert!(world.calls() <= limits.calls as usize, "{context}");
    assert_eq!(
        (metrics.model_calls as usize, metrics.tool_calls as usize),
        (requests.len(), world.calls()),
        "{context}"
    );
    let asked: usize = did.iter().map(|did| if let Did::Called(calls) = did { *calls } else { 0 }).sum();
    let answered = events.iter().filter(|event| matches!(event, Event::Result { .. })).count();
    let made = events.iter().filter(|event| matches!(event, Event::Tool { .. })).count();
    assert_eq!((answered, made), (asked, world.calls()), "{context}");
    for (pair, did) in requests.windows(2).zip(&did) {
        // After a failure the next request is smaller.
        if *did == Did::Failed {
            continue;
        }
        assert!(pair[1].messages.starts_with(&pair[0].messages), "{context}: the past was changed");
        assert!(pair[1].system == pair[0].system, "{context}");
        assert!(pair[1].tools == pair[0].tools || pair[1].tools.is_empty(), "{context}");
    }
    if let Some(last) = requests.last() {
        check_conversation(last, limits, &context);
    }
    assert!(!format!("{:?}{events:?}{:?}", requests.last(), outcome.plan).contains(SECRET), "{context}");
    check_end(&outcome.plan, outcome.failure.is_some(), &did, &events, limits, &context);
    if outcome.plan.verification.ok {
        let shown = format!("{:?}", requests.iter().map(|request| &request.messages).collect::<Vec<_>>());
        for table in outcome.plan.plan.steps.iter().flat_map(|step| &step.resources.tables) {
            assert!(shown.contains(&format!("\\n{table}")), "{context}: nobody looked at {table}");
        }
    }
    outcome.plan.ended
}

/// A goal that accepts any plan, and returns other texts.
struct AnyPlan;

#[async_trait]
impl Goal for AnyPlan {
    fn finish_order(&self) -> &str {
        "Finish."
    }

    async fn judge(&mut self, reply: Reply<'_>, _: &Observe<'_>) -> Judgement {
        match reply.text {
            "" => Judgement::GivenUp(Ended::NoAnswer),
            text if text.contains("steps") => Judgement::Accepted,
            _ => Judgement::Again("Go on.".into()),
        }
    }
}

#[tokio::test]
async fn runs_can_be_cancelled_at_every_event() {
    let mut ends = Vec::new();
    for seed in 0..60 {
        for at in 1..12 {
            ends.push(check_cancelled(seed, at).await);
        }
    }
    assert!(ends.contains(&Ended::Cancelled) && ends.contains(&Ended::Completed), "{ends:?}");
}

/// Cancels the run at an event; its outcome must be consistent.
async fn check_cancelled(seed: u64, at: usize) -> Ended {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let limits = random.limits();
    let random = Mutex::new(random);
    let model = Scripted::new(|_| random.lock().expect("no panic").turn());
    let (world, cancel, events) = (World::default(), CancellationToken::new(), Mutex::new(Vec::new()));
    world.pauses.store(true, Ordering::Relaxed);
    let observe = |event| {
        let mut events = events.lock().expect("no panic");
        events.push(event);
        if events.len() == at {
            cancel.cancel();
        }
    };
    let agent = AgentLoop { model: &model, tools: &world, names: &world };
    let messages = vec![Message::User { text: "Question".into() }];
    let request =
        Request { limits: Some(limits), cancel: cancel.clone(), observe: &observe, ..Request::new("Question") };
    let ran = agent.run(&mut AnyPlan, &Prompt::new(Vec::new()), messages, &request).await;
    let events = events.into_inner().expect("no panic");
    let context = format!("seed {seed}, cancelled at {at}, {:?}", ran.ended);
    let (mut asked, mut answered) = (0, 0);
    for (place, message) in ran.messages.iter().enumerate() {
        if let Message::Assistant { calls, .. } = message {
            asked += calls.len();
            let Some(Message::ToolResults { results }) = ran.messages.get(place + 1) else {
                assert!(calls.is_empty(), "{context}: calls without results");
                continue;
            };
            let ids = |id: &str, name: &str| (id.to_owned(), name.to_owned());
            let expected: Vec<_> = calls.iter().map(|call| ids(&call.id, &call.name)).collect();
            let found: Vec<_> = results.iter().map(|result| ids(&result.call_id, &result.name)).collect();
            assert_eq!(found, expected, "{context}");
            answered += results.len();
        }
    }
    assert_eq!(asked, answered, "{context}");
    let reported = events.iter().filter(|event| matches!(event, Event::Result { .. })).count();
    assert_eq!(reported, answered, "{context}");
    let made = events.iter().filter(|event| matches!(event, Event::Tool { .. })).count();
    assert_eq!(made, ran.metrics.tool_calls as usize, "{context}");
    assert_eq!(ran.metrics.tools.values().map(|tool| tool.calls).sum::<u32>(), ran.metrics.tool_calls, "{context}");
    assert!(ran.metrics.model_calls <= limits.rounds && ran.metrics.tool_calls <= limits.calls, "{context}");
    assert_eq!(ran.failure.is_some(), ran.ended == Ended::ProviderFailed, "{context}");
    ran.ended
}

/// Every call has exactly one result, in order, and a tool that failed too often is not called again.
fn check_conversation(request: &ChatRequest, limits: Limits, context: &str) {
    let mut open: Option<&Vec<ToolCall>> = None;
    let mut failures: HashMap<String, u32> = HashMap::new();
    for message in &request.messages {
        let Message::ToolResults { results } = message else {
            assert!(open.is_none(), "{context}: calls without results");
            if let Message::Assistant { calls, .. } = message {
                open = Some(calls).filter(|calls| !calls.is_empty());
            }
            continue;
        };
        let calls = open.take().unwrap_or_else(|| panic!("{context}: results without calls"));
        let ids = |call: &ToolCall| (call.id.clone(), call.name.clone());
        let expected: Vec<(String, String)> = calls.iter().map(ids).collect();
        let found: Vec<(String, String)> = results.iter().map(|r| (r.call_id.clone(), r.name.clone())).collect();
        assert_eq!(found, expected, "{context}");
        let before = failures.clone();
        for result in results {
            let error = serde_json::from_str::<Value>(&result.content).unwrap_or_default()["error"].clone();
            assert_eq!(result.is_error, error.is_string(), "{context}: {}", result.content);
            assert_eq!(result.is_error, !result.content.starts_with("<data>"), "{context}: {}", result.content);
            // A name that differs only in case and spaces is repaired.
            let name = result.name.trim().to_lowercase();
            let is_out = before.get(&name).is_some_and(|n| *n >= limits.failures_per_tool);
            assert_eq!(error == "tool_removed", is_out, "{context}: {}", result.content);
            let refused = ["tool_removed", "no_calls_left", "no_rounds_left"].iter().any(|code| error == *code);
            *failures.entry(name).or_default() += u32::from(result.is_error && !refused);
        }
    }
    assert!(open.is_none(), "{context}: calls without results");
    assert!(!matches!(request.messages.last(), None | Some(Message::Assistant { .. })), "{context}");
}

/// Checks the reason for the end of a run.
fn check_end(plan: &Plan, failed: bool, did: &[Did], events: &[Event], limits: Limits, context: &str) {
    let at_limit = did.len() == limits.rounds as usize;
    let drafts: Vec<bool> = events
        .iter()
        .filter_map(|event| if let Event::Verified { ok, .. } = event { Some(*ok) } else { None })
        .collect();
    let last_round: Vec<bool> = events
        .iter()
        .rev()
        .take_while(|event| !matches!(event, Event::Round { .. }))
        .filter_map(|event| if let Event::Result { failed, .. } = event { Some(*failed) } else { None })
        .collect();
    assert_eq!(failed, plan.ended == Ended::ProviderFailed, "{context}");
    assert_eq!(failed, did.last() == Some(&Did::Failed), "{context}");
    assert_eq!(plan.verification.ok, drafts.last() == Some(&true), "{context}");
    assert!(plan.verification.ok <= (plan.ended == Ended::Completed), "{context}");
    match plan.ended {
        Ended::Completed => {
            assert!(drafts.last() == Some(&true) || matches!(drafts.len(), 2 | 3) || at_limit, "{context}")
        }
        Ended::RoundLimit => assert!(at_limit && drafts.is_empty(), "{context}"),
        Ended::AllToolsFailed => {
            assert!(!last_round.is_empty() && last_round.iter().all(|failed| *failed), "{context}")
        }
        Ended::NoPlan => assert!(did.last() == Some(&Did::Said) && drafts.last() != Some(&true), "{context}"),
        Ended::ProviderFailed => {}
        Ended::NoAnswer | Ended::Stopped | Ended::TimeLimit => panic!("{context}: this is a plan, and there is time"),
        Ended::Cancelled => panic!("{context}: nobody cancelled"),
    }
}

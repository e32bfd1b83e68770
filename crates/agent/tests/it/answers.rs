//! Answers: numbered queries, traced claims, reused results, limits and the order of events.

use std::{sync::Mutex, time::Duration};

use crate::support::{self, Scripted, Turn, World};
use prospector_agent::{
    Limits, Request,
    agent_loop::{AgentLoop, Tools},
    ask::{Answered, AskOutcome, Classification, StepKind},
    event::Event,
    plan::Ended,
    session::Session,
};
use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tool::finding::{Definition, QueryFailure, QueryFinding, QueryRows};
use prospector_core::tool::{Answer, Page, ToolError, ToolOutput, ToolSpec};
use prospector_llm::{ChatModel, ChatRequest, Message, purpose::Mode};
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A shop whose every query gives the same two rows, one that names `nothing` fails, and one that names `ever` hangs.
struct Shop;

impl Tools for Shop {
    fn specs(&self) -> Vec<ToolSpec> {
        let query =
            json!({"type": "object", "properties": {"question": {"type": "string"}, "sql": {"type": "string"}}});
        vec![
            ToolSpec {
                name: "execute_sql".into(),
                description: "Runs queries.".into(),
                input_schema: json!({"type": "object", "required": ["queries"],
                    "properties": {"queries": {"type": "array", "items": query}}}),
            },
            ToolSpec {
                name: "resolve_fact".into(),
                description: "Defines.".into(),
                input_schema: json!({"type": "object"}),
            },
        ]
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Answer, ToolError> {
        tokio::task::yield_now().await;
        if name == "resolve_fact" {
            let value = json!({"term": "VIP", "answer": MEANING, "confidence": 0.9, "needs_clarification": false,
                "sources": [{"name": "rules"}]});
            return Ok(Answer::of(Meaning(value), ""));
        }
        let Some(queries) = arguments["queries"].as_array() else { return Err(ToolError::invalid("no queries", None)) };
        let mut answers = Vec::new();
        for query in queries {
            let sql = query["sql"].as_str().unwrap_or_default();
            if sql.contains("ever") {
                std::future::pending::<()>().await;
            }
            answers.push(ShopRows {
                id: "result_1".into(),
                is_missing: sql.contains("nothing"),
                ..ShopRows::default()
            });
        }
        Ok(Answer::of(Page::whole(answers), ""))
    }
}

const MEANING: &str = "A VIP spends at least 45.00.";

/// The definition of a VIP in the shop.
#[derive(Clone, Serialize)]
#[serde(transparent)]
struct Meaning(Value);

impl ToolOutput for Meaning {
    fn reveals(&self) -> Vec<Resource> {
        vec![Resource::new(ResourceKind::Document, "rules")]
    }

    fn definition(&self) -> Option<Definition> {
        Some(Definition {
            term: "VIP".into(),
            text: MEANING.into(),
            source: "rules".into(),
            confidence: 0.9,
            needs_clarification: false,
        })
    }
}

/// The two rows of a query, or an error for an unknown table.
#[derive(Clone, Serialize)]
struct ShopRows {
    id: String,
    databases: Vec<String>,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    #[serde(skip)]
    is_missing: bool,
}

impl Default for ShopRows {
    fn default() -> Self {
        ShopRows {
            id: String::new(),
            databases: vec!["shop".into()],
            columns: vec!["country".into(), "total".into()],
            rows: vec![vec![json!("Brazil"), json!(1234.5)], vec![json!("Portugal"), json!(765.5)]],
            is_missing: false,
        }
    }
}

impl ToolOutput for ShopRows {
    fn queries(&mut self) -> Vec<QueryFinding<'_>> {
        let rows = match self.is_missing {
            true => Err(QueryFailure { code: "unknown_table".into(), message: "there is no table `nothing`".into() }),
            false => Ok(QueryRows {
                databases: &self.databases,
                columns: &self.columns,
                rows: &self.rows,
                has_more: false,
                units: &[],
                warnings: &[],
            }),
        };
        vec![QueryFinding {
            id: &mut self.id,
            question: "",
            title: None,
            sql: None,
            database: None,
            verified: None,
            rows,
        }]
    }
}

fn query(sql: &str) -> (&'static str, Value) {
    ("execute_sql", json!({"queries": [{"question": "what?", "sql": sql}]}))
}

/// Asks in a session, and returns the outcome and the events.
async fn ask(
    model: &dyn ChatModel,
    summary: Option<&dyn ChatModel>,
    limits: Limits,
    session: &mut Session,
    question: &str,
    cancel: &CancellationToken,
    cancel_at: usize,
) -> (AskOutcome, Vec<Event>) {
    let events = Mutex::new(Vec::new());
    let observe = |event| {
        let mut events = events.lock().unwrap();
        events.push(event);
        if events.len() == cancel_at {
            cancel.cancel();
        }
    };
    let agent = AgentLoop { model, tools: &Shop, names: &World::default() };
    let (limits, cancel) = (Some(limits), cancel.clone());
    let request = Request { limits, cancel, follow_ups: false, observe: &observe, ..Request::new(question) };
    let outcome = agent.answer(support::prompt(), &request, session, summary).await;
    (outcome, events.into_inner().unwrap())
}

/// One question in a new session.
async fn check<F: Fn(usize) -> Turn + Send + Sync>(
    script: F,
    limits: Limits,
    ended: Ended,
) -> (Answered, Vec<Event>, Scripted<F>) {
    let model = Scripted::new(script);
    let mut session = Session::unkept();
    let (outcome, events) =
        ask(&model, None, limits, &mut session, "Revenue by country?", &CancellationToken::new(), 0).await;
    assert_eq!(outcome.answered.ended, ended, "{:#?}", outcome.answered);
    assert!(matches!(events.last(), Some(Event::Done { .. })), "{events:?}");
    well_formed(&session.turns()[0].messages);
    (outcome.answered, events, model)
}

/// Checks that every call has exactly one result, in order.
fn well_formed(messages: &[Message]) {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        match message {
            Message::ToolResults { results } => {
                let ids: Vec<String> = results.iter().map(|result| result.call_id.clone()).collect();
                assert_eq!(std::mem::take(&mut open), ids);
            }
            _ => assert!(open.is_empty(), "calls without results: {open:?}"),
        }
        if let Message::Assistant { calls, .. } = message {
            open = calls.iter().map(|call| call.id.clone()).collect();
        }
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
}

#[tokio::test]
async fn queries_are_numbered_and_the_answer_is_traced_to_them() {
    let script = |round| match round {
        1 => Turn::call([("think", json!({"thought": "Look first."})), query("SELECT 1"), query("SELECT nothing")]),
        2 => Turn::call([query("SELECT 2"), ("resolve_fact", json!({}))]),
        _ => Turn::say("Brazil spent 1,234.50 [Q1], together 2,000 [Q3]. A VIP spends at least 45.00."),
    };
    let (answered, events, model) = check(script, Limits::default(), Ended::Completed).await;
    assert!(answered.tracing.ok, "{:#?}", answered.tracing);
    let ids: Vec<(&str, bool)> =
        answered.questions.iter().map(|question| (question.id.as_str(), question.error.is_some())).collect();
    assert_eq!(ids, [("Q1", false), ("Q2", true), ("Q3", false)]);
    assert_eq!((answered.metrics.queries, answered.metrics.failed_queries), (3, 1));
    assert_eq!(answered.metrics.cost_dollars, None, "nobody knows the price of this model");
    assert!(model.results(2)[1].contains("Q1") && model.results(2)[2].contains("Q2"), "{:?}", model.results(2));
    assert_eq!((answered.classification, answered.thinking.len()), (Classification::Mixed, 1));
    assert_eq!(answered.premises[0].source, "rules");
    let kind = |event: &Event| serde_json::to_value(event).unwrap()["type"].as_str().unwrap().to_owned();
    let kinds: Vec<String> = events.iter().map(kind).collect();
    let place = |wanted: &str| kinds.iter().position(|kind| kind == wanted).unwrap();
    assert!(
        place("thinking") < place("executing")
            && place("executing") < place("result")
            && place("result") < place("answer")
    );
}

#[tokio::test]
async fn untraced_claims_are_returned_once_and_marked() {
    let script = |round| match round {
        1 => Turn::call([query("SELECT 1")]),
        _ => Turn::say("Brazil spent 99 [Q1]. Portugal spent 765.5 [Q1]."),
    };
    let (answered, _, model) = check(script, Limits::default(), Ended::Completed).await;
    assert_eq!(model.requests().len(), 3);
    assert!(matches!(model.last_message(3), Message::User { text } if text.contains("99 is in no result")));
    assert_eq!(answered.answer, "Brazil spent 99 [Q1]. [unverified] Portugal spent 765.5 [Q1].");
    assert!(!answered.tracing.ok);
}

#[tokio::test]
async fn proposed_charts_are_validated_and_removed_from_the_text() {
    let script = |round| match round {
        1 => Turn::call([query("SELECT 1")]),
        _ => Turn::say("Brazil spent 1,234.50 [Q1].\n\n{{Q1 bar: country, total}}\n{{Q1 line: year 2024, total}}"),
    };
    let (answered, _, model) = check(script, Limits::default(), Ended::Completed).await;
    assert_eq!(model.requests().len(), 2, "the names in a proposal are no claims");
    assert_eq!(answered.answer, "Brazil spent 1,234.50 [Q1].");
    assert!(answered.tracing.ok && answered.chart.is_none(), "{answered:#?}");
    let dropped: Vec<(&str, &str)> =
        answered.dropped_charts.iter().map(|chart| (chart.kind.as_str(), chart.reason.as_str())).collect();
    assert_eq!(
        dropped,
        [("bar", "a sentence is sufficient"), ("line", "the result does not have these columns")],
        "two numbers are no chart"
    );
}

#[tokio::test]
async fn unambiguous_arguments_are_repaired() {
    let script = |round| match round {
        1 => Turn::call([("Execute_SQL", json!({"sql": "SELECT 1"}))]),
        _ => Turn::say("Brazil spent 1234.5 [Q1]."),
    };
    let (answered, ..) = check(script, Limits::default(), Ended::Completed).await;
    assert_eq!(answered.questions[0].sql, "SELECT 1");
}

#[tokio::test]
async fn a_run_at_a_limit_reports_its_findings() {
    let limits = Limits { rounds: 3, ..Limits::default() };
    let (answered, events, _) = check(|_| Turn::call([query("SELECT 1")]), limits, Ended::RoundLimit).await;
    assert!(answered.best_effort && answered.answer.contains("Brazil | 1234.5") && answered.answer.contains("[Q1]"));
    assert!(events.iter().any(|event| matches!(event, Event::Answer { best_effort: true, .. })));
}

#[tokio::test(start_paused = true)]
async fn run_time_is_limited() {
    let script = |round| match round {
        1 => Turn::call([query("SELECT 1")]),
        _ => Turn::call([query("SELECT 2"), query("SELECT ever")]),
    };
    let limits = Limits { run_time: Duration::from_secs(50), ..Limits::default() };
    let (answered, events, _) = check(script, limits, Ended::TimeLimit).await;
    // Results that arrived before the time limit are included.
    let errors: Vec<bool> = answered.questions.iter().map(|question| question.error.is_some()).collect();
    assert_eq!(errors, [false, false, true]);
    assert_eq!(events.iter().filter(|event| matches!(event, Event::Result { .. })).count(), 3);
}

#[tokio::test]
async fn an_auditable_answer_without_definitions_is_returned() {
    let model = Scripted::new(|_| Turn::say("Yes."));
    let mut session = Session::unkept();
    let cancel = CancellationToken::new();
    ask(&model, None, Limits::default(), &mut session, "Prove that it rose", &cancel, 0).await;
    assert!(matches!(model.last_message(2), Message::User { text } if text.contains("no_premises")));
    assert_eq!(session.mode("redo it with 2024"), Mode::Auditable);
    assert_eq!(session.mode("Revenue?"), Mode::Exploratory);
}

#[tokio::test]
async fn a_second_model_writes_the_answer_from_the_results() {
    let script = |round| if round == 1 { Turn::call([query("SELECT 1")]) } else { Turn::say("Done [Q1].") };
    for (summary, expected) in
        [("Brazil leads with 1,235 [Q1].", "Brazil leads with 1,235 [Q1]."), ("It is 77 [Q1].", "Done [Q1].")]
    {
        let (model, small) = (Scripted::new(script), Scripted::new(|_| Turn::say(summary)));
        let mut session = Session::unkept();
        let cancel = CancellationToken::new();
        let (outcome, _) = ask(&model, Some(&small), Limits::default(), &mut session, "Who leads?", &cancel, 0).await;
        assert_eq!(outcome.answered.answer, expected);
        assert!(format!("{:?}", small.requests()[0].messages).contains("1234.5"), "it gets the rows");
    }
}

/// Estimates the tokens of a request from its size in bytes.
fn size(request: &ChatRequest) -> usize {
    request.messages.iter().map(|message| prospector_core::tokens::count(&format!("{message:?}"))).sum()
}

#[tokio::test]
async fn fifty_turns_stay_within_the_limit_and_keep_early_results() {
    let limits = Limits { context_tokens: 6_000, ..Limits::default() };
    let mut session = Session::unkept();
    let cancel = CancellationToken::new();
    for turn in 1..=50 {
        let sql = format!("SELECT {turn}");
        let long = "and so on, ".repeat(60);
        let model = Scripted::new(|round| match round {
            1 => Turn::call([query(&sql)]),
            _ => Turn::say(format!("Brazil spent 1234.5 [Q1], {long}.")),
        });
        ask(&model, None, limits, &mut session, &format!("Question of turn {turn}?"), &cancel, 0).await;
        let largest = model.requests().iter().map(size).max().unwrap();
        assert!(largest < 6_000, "turn {turn}: {largest}");
    }
    // The first request may be for a summary of earlier turns.
    let model = Scripted::new(|round| match round {
        1 | 2 => Turn::call([("get_previous_results", json!({"id": "t2.Q1"}))]),
        _ => Turn::say("In the second turn Portugal spent 765.50 [Q1]."),
    });
    let (outcome, _) =
        ask(&model, None, limits, &mut session, "And Portugal, in my second question?", &cancel, 0).await;
    let answered = outcome.answered;
    assert!(answered.tracing.ok, "{:#?}", answered.tracing);
    assert_eq!(
        (answered.questions[0].reused.as_deref(), answered.questions[0].sql.as_str()),
        (Some("t2.Q1"), "SELECT 2")
    );
    assert_eq!(session.turns().len(), 51);
}

#[tokio::test]
async fn cancelled_runs_are_consistent() {
    let script = |round| match round {
        1 => Turn::call([("think", json!({"thought": "x"})), query("SELECT 1"), query("SELECT nothing")]),
        2 => Turn::call([query("SELECT 2"), ("no_such_tool", json!({}))]),
        3 => Turn::say("Brazil spent 99 [Q1]."),
        _ => Turn::say("Brazil spent 1234.5 [Q1]."),
    };
    let mut ends = Vec::new();
    for at in 0..30 {
        let model = Scripted::new(script);
        let mut session = Session::unkept();
        let cancel = CancellationToken::new();
        let (outcome, events) = ask(&model, None, Limits::default(), &mut session, "Who?", &cancel, at).await;
        let answered = outcome.answered;
        well_formed(&session.turns()[0].messages);
        assert!(
            matches!(events.last(), Some(Event::Done { ended, .. }) if *ended == answered.ended),
            "{at}: {events:?}"
        );
        let made = events.iter().filter(|event| matches!(event, Event::Tool { .. })).count();
        assert_eq!(answered.metrics.tool_calls as usize, made);
        assert!(!answered.answer.is_empty());
        ends.push(answered.ended);
    }
    assert!(ends.contains(&Ended::Cancelled) && ends.contains(&Ended::Completed), "{ends:?}");
}

#[tokio::test]
async fn think_accepts_content() {
    let script = |round| match round {
        1 => Turn::call([("think", json!({"content": "Look first."}))]),
        _ => Turn::say("Hello."),
    };
    let (answered, events, model) = check(script, Limits::default(), Ended::Completed).await;
    assert_eq!(answered.thinking, ["Look first."]);
    assert!(events.contains(&Event::Thinking { text: "Look first.".into() }));
    assert!(model.results(2)[0].contains("noted"), "{:?}", model.results(2));
}

#[tokio::test]
async fn classification_is_inferred_from_the_run() {
    let looked = |text: &'static str| {
        move |round| if round == 1 { Turn::call([("resolve_fact", json!({}))]) } else { Turn::say(text) }
    };
    let (answered, ..) = check(|_| Turn::say("Hello, ask me something."), Limits::default(), Ended::Completed).await;
    assert_eq!(answered.classification, Classification::Conversational);
    let (answered, ..) =
        check(looked("**Out of scope:** the weather is not here."), Limits::default(), Ended::Completed).await;
    assert_eq!(answered.classification, Classification::OutOfScope);
    let (answered, ..) = check(looked("Nothing says that."), Limits::default(), Ended::Completed).await;
    assert_eq!(answered.classification, Classification::None);
    let (answered, ..) =
        check(looked("They are called twice a year [rules#calls]."), Limits::default(), Ended::Completed).await;
    assert_eq!(answered.classification, Classification::Knowledge);
}

#[tokio::test]
async fn an_auditable_answer_has_a_derivation() {
    let asked = async |script: &(dyn Fn(usize) -> Turn + Send + Sync)| {
        let model = Scripted::new(script);
        let (mut session, cancel) = (Session::unkept(), CancellationToken::new());
        let question = "Is it true that a VIP spends more?";
        ask(&model, None, Limits::default(), &mut session, question, &cancel, 0).await.0.answered
    };
    let answered = asked(&|round| match round {
        1 => Turn::call([("resolve_fact", json!({})), query("SELECT 1"), query("SELECT nothing")]),
        _ => Turn::say("The VIP of Brazil spent 1,234.50 [Q1]."),
    })
    .await;
    let steps: Vec<(&str, StepKind, &str)> =
        answered.derivation.iter().map(|step| (step.id.as_str(), step.kind, step.source.as_str())).collect();
    let expected =
        [("P1", StepKind::Premise, "rules"), ("Q1", StepKind::Query, "SELECT 1"), ("C1", StepKind::Conclusion, "")];
    assert_eq!(steps, expected);
    assert_eq!(answered.derivation[2].rests_on, ["P1", "Q1"]);
}

#[tokio::test]
async fn a_long_conversation_is_summarised_by_the_model() {
    let mut session = Session::unkept();
    for n in 0..30 {
        let (question, answer) = (format!("Question number {n}?"), "And so on. ".repeat(60));
        session.keep(&Answered { question, answer, ..Answered::default() }, Vec::new()).await.unwrap();
    }
    let model = Scripted::new(|round| Turn::say(if round == 1 { "It was about numbers." } else { "Hello." }));
    let limits = Limits { context_tokens: 4_000, ..Limits::default() };
    let (outcome, _) = ask(&model, None, limits, &mut session, "And now?", &CancellationToken::new(), 0).await;
    let requests = model.requests();
    assert_eq!(requests.len(), 2, "the summary, and the answer");
    assert!(requests[0].tools.is_empty() && requests[0].messages.len() == 1);
    let Message::User { text } = &requests[1].messages[0] else { panic!("{:?}", requests[1].messages) };
    assert!(text.contains("It was about numbers."), "{text}");
    assert_eq!(outcome.answered.metrics.model_calls, 2);
    // The next turn uses it too.
    let (_, _) = ask(&model, None, limits, &mut session, "And then?", &CancellationToken::new(), 0).await;
    assert_eq!(model.requests().len(), 3);
}

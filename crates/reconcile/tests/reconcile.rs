//! The workflow `reconcile` over two files, driven by the built-in planner: to its end, and with tools that fail in every phase.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/ledger.rs"]
mod ledger;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use ledger::{Ledger, plain_csv};
use prospector_agent::{
    Limits,
    agent_loop::{AgentLoop, Tools},
    event::Event,
    plan::Ended,
};
use prospector_core::tool::{Answer, BoxFuture, Callable, Effect, ToolError, ToolSpec, Toolset};
use prospector_discovery::{Catalog, CatalogOptions, DiscoveryTools, Profile, prompt::Prompt};
use prospector_offline::Offline;
use prospector_reconcile::{RECONCILE, reconcile_tools};
use prospector_workflow::{Conversation, UserWords, Workflow, WorkflowReport};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Number of rows per side, and in tests of the phases.
const ROWS: usize = 300;
const FEW_ROWS: usize = 40;

/// The user's messages, in order; the last one is repeated.
const USER: [&str; 2] = ["Match ledger.invoices with bank.payments.", "yes"];

/// Fails each of these tools a number of times before it works.
#[derive(Clone)]
struct Failing {
    tools: &'static [&'static str],
    times: usize,
    struck: Arc<Mutex<BTreeMap<String, usize>>>,
    fatal: bool,
}

impl Failing {
    fn new(tools: &'static [&'static str], times: usize, fatal: bool) -> Self {
        Failing { tools, times, struck: Arc::default(), fatal }
    }

    fn strike(&self, tool: &str) -> Result<(), ToolError> {
        let mut struck = self.struck.lock().unwrap();
        let count = struck.entry(tool.to_owned()).or_default();
        if !self.tools.contains(&tool) || *count == self.times {
            return Ok(());
        }
        *count += 1;
        Err(match self.fatal {
            true => ToolError::fatal("password=hunter2"),
            false => ToolError::unavailable("the source cannot be read", None),
        })
    }
}

/// Recorded answers of tools by arguments, which can be replayed.
#[derive(Clone, Default)]
struct Answers {
    known: Arc<Mutex<BTreeMap<(String, String), Value>>>,
    are_given: bool,
}

impl Answers {
    /// Returns the recorded answers for replay.
    fn given(&self) -> Answers {
        Answers { are_given: true, ..self.clone() }
    }

    /// Returns the answer of a tool, recorded or from the tool.
    async fn of(
        &self,
        tool: &str,
        arguments: Value,
        work: impl AsyncFnOnce(Value) -> Result<Answer, ToolError>,
    ) -> Result<Answer, ToolError> {
        let key = (tool.to_owned(), arguments.to_string());
        if self.are_given {
            let answer = self.known.lock().unwrap().get(&key).cloned();
            return Ok(Answer::new(answer.unwrap_or_else(|| panic!("{key:?} was never called")), Vec::new()));
        }
        let answer = work(arguments).await?;
        self.known.lock().unwrap().insert(key, answer.json().clone());
        Ok(answer)
    }
}

/// The tools of the catalog, some of which fail.
struct Registry(DiscoveryTools, Failing, Answers);

impl Tools for Registry {
    fn specs(&self) -> Vec<ToolSpec> {
        self.0.specs()
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Answer, ToolError> {
        self.1.strike(name)?;
        self.2.of(name, arguments, async |arguments| self.0.call(name, arguments).await).await
    }
}

/// A tool of the workflow that may fail.
struct Own(ToolSpec, Toolset, Failing, Answers);

impl Callable for Own {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn call(&self, args: Value, _: usize) -> BoxFuture<'_, Result<Answer, ToolError>> {
        Box::pin(async move {
            let name = self.0.name.as_str();
            self.2.strike(name)?;
            self.3.of(name, args, async |args| self.1.call(name, args).await).await
        })
    }
}

/// Two files to match, and the catalog over them.
struct Estate {
    folder: TempDir,
    catalog: Catalog,
}

impl Estate {
    async fn new([invoices, payments]: [String; 2]) -> Estate {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("invoices.csv", &invoices);
        write("payments.csv", &payments);
        write("catalog.yaml", "databases:\n- {name: ledger, path: invoices.csv}\n- {name: bank, path: payments.csv}\n");
        let opened = Catalog::open(&folder.path().join("catalog.yaml"), CatalogOptions::default()).await;
        Estate { catalog: opened.unwrap().0, folder }
    }

    /// Runs the workflow with these failures and answers.
    async fn go(&self, failing: Failing, answers: &Answers) -> (WorkflowReport, Vec<Ended>, Vec<Event>) {
        let engine = self.catalog.engine();
        let tools = DiscoveryTools::new(&self.catalog, Profile::Compact).with_engine(&engine);
        let tools = Registry(tools, failing.clone(), answers.clone());
        let words = UserWords::default();
        let inner = reconcile_tools(&engine, self.folder.path().join("reconcile"), words.clone());
        let mut own = inner.clone();
        for tool in TOOLS {
            if let Some(spec) = inner.specs().into_iter().find(|spec| spec.name == tool) {
                let failing = Own(spec, inner.clone(), failing.clone(), answers.clone());
                own = own.with_callable(tool, Arc::new(failing));
            }
        }
        let known = Conversation::tool_names(&tools, &own);
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let workflow = Workflow::read("reconcile.yaml", RECONCILE, &known).unwrap();
        let limits = Limits { rounds: 40, calls: 100, ..Limits::default() };
        let mut conversation = Conversation::new(Arc::new(workflow), own, words, Prompt::new(Vec::new()), limits);
        let (mut ended, events) = (Vec::new(), Mutex::new(Vec::new()));
        for turn in 0..12 {
            if conversation.is_over() {
                break;
            }
            let observe = |event| events.lock().unwrap().push(event);
            let said = USER[turn.min(USER.len() - 1)];
            let cancel = CancellationToken::new();
            let agent = AgentLoop { model: &Offline, tools: &tools, names: &self.catalog };
            let outcome = conversation.turn(Some(said), &agent, &cancel, &observe).await;
            assert!(!outcome.text.contains("hunter2"), "{}", outcome.text);
            ended.push(outcome.ended);
        }
        (conversation.report(), ended, events.into_inner().unwrap())
    }
}

fn entered(report: &WorkflowReport) -> Vec<&str> {
    report.phases.iter().map(|entered| entered.phase.as_str()).collect()
}

/// The tools that may fail, by phase.
static TOOLS: [&str; 11] = [
    "list_sources",
    "get_source_preview",
    "load_scoped",
    "propose_match",
    "confirm_pairs",
    "infer_rules",
    "build_recipe",
    "validate_recipe",
    "run_sample",
    "approve_run",
    "run_full",
];

/// The consequence of a tool that fails too often.
#[derive(Clone, Copy)]
enum Then {
    Informed,
    Back(&'static str),
    Ended,
}

const ALL: [&str; 8] =
    ["greeting", "intent", "scoping", "demonstration", "inference", "validation", "execution", "end"];

#[tokio::test(flavor = "multi_thread")]
async fn two_files_are_matched_from_examples() {
    let ledger = Ledger::new(ROWS);
    let estate = Estate::new([ledger.invoices_csv(), ledger.payments_csv()]).await;
    let (report, ended, events) = estate.go(Failing::new(&[], 0, false), &Answers::default()).await;
    assert!(report.completed, "{report:#?}");
    assert_eq!(entered(&report), ALL);
    assert!(ended.iter().all(|ended| *ended == Ended::Completed));
    let run = estate.folder.path().join("reconcile/run-1");
    let lines = |name: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(run.join(format!("{name}.jsonl"))).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let matched = lines("matched");
    let pairs = matched.iter().map(|pair| (pair["left"].as_str().unwrap(), pair["right"].as_str().unwrap()));
    let (precision, recall) = ledger.judge(pairs);
    assert!(
        precision >= 0.99 && recall >= 0.93,
        "precision {precision}, recall {recall}: {:#}",
        report.products["recipe"]
    );
    // Every row is in exactly one result.
    assert_eq!(matched.len() + lines("unmatched_left").len(), ROWS);
    assert_eq!(matched.len() + lines("unmatched_right").len(), ROWS);
    let seen =
        &matched.iter().find(|pair| pair["evidence"].to_string().contains("\"differs\":true")).unwrap()["evidence"];
    assert!(seen[0]["left"].is_string() || seen[0]["left"].is_number(), "{seen}");
    assert_eq!(report.products["result"]["counts"]["matched"], json!(matched.len()));
    assert_eq!(report.products["validation"]["passed"], json!(true));
    let announced = events.iter().filter(|event| matches!(event, Event::Phase { .. })).count();
    assert_eq!(announced, ALL.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn failing_tools_are_retried_before_the_policy_applies() {
    // Each fails once: all recover.
    let (estate, answers) = (Estate::new(plain_csv(FEW_ROWS)).await, Answers::default());
    let (report, ..) = estate.go(Failing::new(&TOOLS, 1, false), &answers).await;
    assert!(report.completed, "{report:#?}");
    assert_eq!(entered(&report), ALL);
    assert!(TOOLS.iter().all(|tool| report.metrics.tools[*tool].failed > 0), "{:?}", report.metrics);
    // From here on, working tools replay their answers: only the policies are tested.
    let answers = answers.given();
    // One failure more than the retries of the phase: the user is informed, the workflow goes back and continues, or it ends.
    let policies = [
        (2, Then::Informed),
        (3, Then::Informed),
        (3, Then::Informed),
        (2, Then::Back("scoping")),
        (2, Then::Back("scoping")),
        (3, Then::Back("demonstration")),
        (3, Then::Back("demonstration")),
        (2, Then::Back("inference")),
        (2, Then::Back("inference")),
        (2, Then::Back("inference")),
        (1, Then::Ended),
    ];
    for (at, (retries, then)) in policies.into_iter().enumerate() {
        let tool = TOOLS[at];
        let failing = Failing::new(std::slice::from_ref(&TOOLS[at]), retries + 2, true);
        let (report, ended, _) = estate.go(failing, &answers).await;
        let phases = entered(&report);
        match then {
            Then::Informed => {
                assert!(report.completed && phases == ALL, "{tool}: {report:#?}");
            }
            Then::Back(back) => {
                assert!(report.completed, "{tool}: {report:#?}");
                let reason = report.phases.iter().find(|entered| entered.reason.is_some());
                assert_eq!(reason.map(|entered| entered.phase.as_str()), Some(back), "{tool}: {phases:?}");
            }
            Then::Ended => {
                assert!(!report.completed && report.stopped.is_some(), "{tool}: {report:#?}");
                assert_eq!(ended.last(), Some(&Ended::Stopped), "{tool}");
            }
        }
        assert!(!serde_json::to_string(&report).unwrap().contains("hunter2"));
    }
    // Permanent failures end the workflow too.
    let (report, ended, _) = estate.go(Failing::new(&["load_scoped"], usize::MAX, false), &answers).await;
    assert!(!report.completed && report.phase == "scoping", "{ended:?}");
    let (report, ended, _) = estate.go(Failing::new(&["propose_match"], usize::MAX, false), &answers).await;
    assert!(!report.completed && report.stopped.is_some_and(|why| why.contains("limit of 6 visits")), "{ended:?}");
}

//! `planner reconcile`: matches the records of two sources with the user, in phases. The model's messages go to standard error; the report
//! on standard output is JSON.

use std::{collections::VecDeque, path::Path, sync::Arc};

use anyhow::Context as _;
use prospector_agent::{
    agent_loop::AgentLoop,
    event::{Event, Observe},
    plan::Ended,
};
use prospector_discovery::{
    DiscoveryTools, Profile,
    prompt::{Instructions, PromptBuilder},
};
use prospector_reconcile::{RECONCILE, reconcile_tools};
use prospector_serve::OfferedWorkflow;
use prospector_workflow::{Conversation, TurnOutcome, UserWords, Workflow, WorkflowReport};
use tokio_util::sync::CancellationToken;

use super::{
    Opening, interrupts,
    line::{Lines, Prompt},
    models, open,
    plan::report_event,
};
use crate::{Exit, cli::ReconcileArgs, output, settings::Settings};

/// Runs the workflow until it or the user's input ends.
pub(crate) async fn reconcile(args: ReconcileArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let models = models(settings, args.model.as_deref(), None)?;
    let mut answers = Answers::open(args.answers.as_deref(), settings)?;
    let cancel = interrupts();
    let (catalog, _) = tokio::select! {
        opened = open(settings, Opening::Use) => opened?,
        () = cancel.cancelled() => anyhow::bail!("interrupted while opening the catalog; the index is unchanged"),
    };
    let engine = catalog.engine();
    let tools = DiscoveryTools::new(&catalog, Profile::Compact).with_engine(&engine);
    let words = UserWords::default();
    let own = reconcile_tools(&engine, settings.state_folder()?.join("reconcile"), words.clone());
    let known = Conversation::tool_names(&tools, &own);
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let workflow = read_workflow(args.workflow.as_deref(), &known)?;
    let what = args.what.as_deref().map(str::trim).filter(|what| !what.is_empty());
    let instructions = {
        let role = workflow.role.as_str();
        Instructions { with_tools: role, without_terms: role, without_tools: role, form: "" }
    };
    let prompt = PromptBuilder::new(&catalog, &tools, instructions).build(&models.info, what.unwrap_or_default());
    let name = models.chat.name();
    anyhow::ensure!(prompt.with_tools, "the model {name} cannot call tools, and a workflow needs them");
    let limits = settings.limits(&args.limits, Conversation::usual_limits(models.limits()))?;
    let (events, talkative) = (args.events, !args.quiet);
    let observe = move |event: Event| {
        if events {
            output::event(&event);
        } else if talkative && (output::is_watched() || matches!(event, Event::Phase { .. })) {
            report_event(&event);
        }
    };
    let mut conversation = Conversation::new(Arc::new(workflow), own, words, prompt, limits);
    let agent = AgentLoop { model: models.chat.as_ref(), tools: &tools, names: &catalog };
    let said = what.map(str::to_owned);
    let last =
        loop_turns(&mut conversation, &agent, said, &mut answers, talkative && !events, &cancel, &observe).await?;
    let report = conversation.report();
    print_report(&report, last)?;
    Ok(match report.ended {
        Ended::ProviderFailed if !report.completed => Exit::Provider,
        _ if report.completed => Exit::Good,
        _ => Exit::NotVerified,
    })
}

/// Returns the workflow as a server offers it.
pub(super) fn offer() -> OfferedWorkflow {
    OfferedWorkflow { name: "reconcile", definition: RECONCILE, tools: Arc::new(reconcile_tools) }
}

/// Reads the workflow of a file, or the built-in one; `known` are the tools that it may name.
fn read_workflow(file: Option<&Path>, known: &[&str]) -> anyhow::Result<Workflow> {
    let (file, text) = match file {
        None => ("reconcile.yaml".to_owned(), RECONCILE.to_owned()),
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            (path.display().to_string(), text)
        }
    };
    Workflow::read(&file, &text, known).map_err(|problems| {
        let count = problems.len();
        problems.iter().for_each(|problem| output::say(&problem.to_string()));
        let things = if count == 1 { "problem" } else { "problems" };
        anyhow::anyhow!("the workflow {file} cannot run: {count} {things}")
    })
}

/// Takes turns until the workflow or the input ends, and returns the last turn.
async fn loop_turns(
    conversation: &mut Conversation,
    agent: &AgentLoop<'_, DiscoveryTools>,
    mut said: Option<String>,
    answers: &mut Answers,
    is_shown: bool,
    cancel: &CancellationToken,
    observe: &Observe<'_>,
) -> anyhow::Result<TurnOutcome> {
    loop {
        let reply = conversation.turn(said.as_deref(), agent, cancel, observe).await;
        if !reply.text.is_empty() && is_shown {
            output::say_lines(&format!("\n{}\n", reply.text.trim()));
        }
        if conversation.is_over() || reply.ended != Ended::Completed {
            return Ok(reply);
        }
        match answers.next()? {
            Some(line) => said = Some(line),
            None => {
                output::say("the input ended before the workflow was complete");
                return Ok(reply);
            }
        }
    }
}

/// Prints the report as JSON with the model's last message, and errors on standard error.
fn print_report(report: &WorkflowReport, last: TurnOutcome) -> anyhow::Result<()> {
    let mut shown = serde_json::to_value(report)?;
    shown["answer"] = last.text.into();
    output::json(&shown)?;
    if let Some(failure) = &last.failure {
        output::say(&format!("error: {failure}"));
    }
    if let Some(reason) = &report.stopped {
        output::say(&format!("error: {reason}"));
    }
    Ok(())
}

/// The source of the user's messages.
enum Answers {
    File(VecDeque<String>),
    Input(Box<Lines>),
}

impl Answers {
    fn open(file: Option<&Path>, settings: &Settings) -> anyhow::Result<Answers> {
        let Some(path) = file else {
            return Ok(Answers::Input(Box::new(Lines::open(
                Prompt::CHAT,
                &settings.state_folder()?,
                Default::default(),
            )?)));
        };
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Answers::File(text.lines().map(str::to_owned).collect()))
    }

    /// Returns the next non-empty line; `None` at the end.
    fn next(&mut self) -> anyhow::Result<Option<String>> {
        loop {
            let line = match self {
                Answers::File(lines) => lines.pop_front(),
                Answers::Input(lines) => lines.next()?,
            };
            match line.as_deref().map(str::trim) {
                None => return Ok(None),
                Some("") => {}
                Some(line) => return Ok(Some(line.to_owned())),
            }
        }
    }
}

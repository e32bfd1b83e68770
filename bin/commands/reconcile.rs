//! `planner reconcile`: a workflow in phases that matches the records of two sources, with the user. What the model says is
//! told on standard error; the report on standard output is JSON.

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
    plan::tell,
};
use crate::{Exit, cli::ReconcileArgs, output, settings::Settings};

/// Runs the workflow to its end, or to the end of what the user says.
pub(crate) async fn reconcile(args: ReconcileArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let models = models(settings, args.model.as_deref(), None)?;
    let mut answers = Answers::open(args.answers.as_deref(), settings)?;
    let cancel = interrupts();
    let (catalog, _) = tokio::select! {
        opened = open(settings, Opening::Use) => opened?,
        () = cancel.cancelled() => anyhow::bail!("interrupted while the catalog was opened; the index is as it was"),
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
            tell(&event);
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

/// The workflow as a server offers it.
pub(super) fn offer() -> OfferedWorkflow {
    OfferedWorkflow { name: "reconcile", definition: RECONCILE, tools: Arc::new(reconcile_tools) }
}

/// The workflow of a file, or the one that comes with the program; `known` are the tools that it may name.
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
        let things = if count == 1 { "thing is" } else { "things are" };
        anyhow::anyhow!("the workflow {file} cannot be run: {count} {things} wrong")
    })
}

/// Takes turns with the user until the workflow is over, or the user says nothing more; gives the last turn.
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
            output::say(&format!("\n{}\n", reply.text.trim()));
        }
        if conversation.is_over() || reply.ended != Ended::Completed {
            return Ok(reply);
        }
        match answers.next()? {
            Some(line) => said = Some(line),
            None => {
                output::say("the user said nothing more before the workflow was over");
                return Ok(reply);
            }
        }
    }
}

/// The report as JSON, with what the model said last; what went wrong on standard error.
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

/// What the user says.
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

    /// The next line that is not empty; none at the end.
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

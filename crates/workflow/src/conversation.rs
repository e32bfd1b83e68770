//! Runs a workflow with a user, turn by turn, until it ends.

use std::{sync::Arc, time::Duration};

use prospector_agent::{
    Limits, Request,
    agent_loop::{AgentLoop, LoopResult, Tools},
    event::{Event, Observe},
    plan::{Ended, Metrics},
};
use prospector_core::tokens;
use prospector_core::tool::Toolset;
use prospector_discovery::prompt::Prompt;
use prospector_llm::{LlmError, Message, purpose::Utterance};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::RwLock;
use tokio_util::sync::CancellationToken;

use crate::{
    definition::Workflow,
    goal::PhaseGoal,
    machine::{Entered, Machine},
    tools::{PhaseTools, SharedMachine, specs},
    words::UserWords,
};

/// Length to which tool results of earlier turns are truncated when the conversation grows too long. Later phases are shown the products
/// they need when they start.
const MAX_RESULT_CHARS: usize = 600;

/// Default limits of a turn.
const ROUNDS: u32 = 30;
const CALLS: u32 = 60;
const RUN_TIME: Duration = Duration::from_secs(1_800);

/// Time limit of a tool call: a tool may run several queries.
const CALL_TIME: Duration = Duration::from_secs(300);

/// A workflow and its conversation.
pub struct Conversation {
    own: Toolset,
    state: SharedMachine,
    prompt: Prompt,
    messages: Vec<Message>,
    /// The user's messages, and the position of the message that announced the phase.
    said: Vec<Utterance>,
    announced_at: usize,
    limits: Limits,
    metrics: Metrics,
    ended: Ended,
}

/// The outcome of [`Conversation::turn`].
#[derive(Debug)]
pub struct TurnOutcome {
    /// The model's message to the user; may be empty.
    pub text: String,
    /// Why the turn ended; the workflow continues after [`Ended::Completed`], unless [`Conversation::is_over`].
    pub ended: Ended,
    /// Set with [`Ended::ProviderFailed`].
    pub failure: Option<LlmError>,
}

/// The phases, products and costs of a workflow, and why it ended.
#[derive(Debug, Clone, Serialize)]
pub struct WorkflowReport {
    /// Name of the workflow.
    pub workflow: String,
    /// Whether it reached its end.
    pub completed: bool,
    /// The current phase; `end` after the last.
    pub phase: String,
    /// Why it stopped early, if a phase failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Why the last turn ended.
    pub ended: Ended,
    /// The entered phases, in order.
    pub phases: Vec<Entered>,
    /// The products by name; the last instance if there are several.
    pub products: serde_json::Map<String, Value>,
    /// The cost of all turns.
    pub metrics: Metrics,
}

impl Conversation {
    /// Starts a workflow. `own` are its tools in addition to those of the registry, and `words` the user's messages that these read; the
    /// prompt is the same in every phase, and the limits apply to a turn.
    pub fn new(workflow: Arc<Workflow>, own: Toolset, words: UserWords, prompt: Prompt, limits: Limits) -> Self {
        Conversation {
            own,
            state: SharedMachine::new(Machine::new(workflow, words)),
            prompt: Prompt { tokens: Default::default(), ..prompt },
            messages: Vec::new(),
            said: Vec::new(),
            announced_at: 0,
            limits,
            metrics: Metrics::default(),
            ended: Ended::Completed,
        }
    }

    /// Returns the default limits of a turn, which may span a whole phase; `model` are the limits suitable for the model.
    pub fn usual_limits(model: Limits) -> Limits {
        Limits { rounds: ROUNDS, calls: CALLS, run_time: RUN_TIME, call_time: CALL_TIME, ..model }
    }

    /// Returns the entered phases and all products as a canonical text: identical if the same was done over the same data, regardless of
    /// the order in which parallel calls ended.
    pub fn findings(&self) -> String {
        let machine = self.state.machine();
        let texts = machine.made.iter().map(|made| json!([made.name, made.key, made.value]).to_string());
        let mut made: Vec<String> = texts.collect();
        made.sort();
        format!("{}\n{}", json!(machine.log), made.join("\n"))
    }

    /// Returns the names of all tools that a workflow over this registry may use.
    pub fn tool_names(tools: &impl Tools, own: &Toolset) -> Vec<String> {
        specs(tools, own).into_iter().map(|spec| spec.name).collect()
    }

    /// Whether the workflow has ended: it reached its end, or a phase stopped it.
    pub fn is_over(&self) -> bool {
        self.state.machine().is_over()
    }

    /// Runs one turn: takes the user's message, if any, and continues until the model speaks to the user. It always ends within the limits;
    /// `failures_per_tool` is ignored, since each phase has its own policy.
    pub async fn turn(
        &mut self,
        said: Option<&str>,
        agent: &AgentLoop<'_, impl Tools>,
        cancel: &CancellationToken,
        observe: &Observe<'_>,
    ) -> TurnOutcome {
        let place = self.messages.len();
        let announcement = self.state.machine().take_announcement();
        if announcement.is_some() {
            self.announced_at = place;
        }
        let mut text = announcement.unwrap_or_default();
        match said {
            Some(said) => {
                self.state.machine().note_user(said);
                self.said.push(Utterance { place, text: said.to_owned() });
                text.push_str(&format!("User: {said}"));
            }
            None => text.push_str("The user has said nothing yet."),
        }
        self.state.report_phases(observe);
        // Only if necessary: an unchanged prefix is served from the provider's cache.
        let limits = Limits { failures_per_tool: u32::MAX, ..self.limits };
        let room = (limits.context_tokens / 2) as usize;
        if self.messages.iter().map(|message| message.size(tokens::count)).sum::<usize>() > room {
            shorten(&mut self.messages);
        }
        self.messages.push(Message::User { text });
        let (own, state) = (&self.own, self.state.clone());
        let all = PhaseTools { tools: agent.tools, own, state, turn: RwLock::new(()), observe };
        let mut goal = PhaseGoal {
            state: self.state.clone(),
            said: self.said.clone(),
            begins_at: self.announced_at,
            is_new: false,
        };
        let phases = AgentLoop { model: agent.model, tools: &all, names: agent.names };
        let question = said.unwrap_or_default();
        let request = Request { limits: Some(limits), cancel: cancel.clone(), observe, ..Request::new(question) };
        let messages = std::mem::take(&mut self.messages);
        let result = phases.run(&mut goal, &self.prompt, messages, &request).await;
        let LoopResult { ended, failure, seen, metrics, messages, .. } = result;
        goal.locate(&messages);
        self.announced_at = goal.begins_at;
        self.state.report_phases(observe);
        self.prompt.revealed = seen.into_iter().collect();
        let text = match messages.last() {
            Some(Message::Assistant { text, calls }) if calls.is_empty() => text.clone(),
            _ => String::new(),
        };
        self.messages = messages;
        self.ended = ended;
        add_metrics(&mut self.metrics, &metrics);
        if let Some(failure) = &failure {
            observe(Event::Error { code: "provider_failed".into(), message: failure.to_string() });
        }
        observe(Event::Answer { text: text.clone(), best_effort: ended != Ended::Completed });
        observe(Event::Done { ended, metrics: Box::new(metrics) });
        TurnOutcome { text, ended, failure }
    }

    /// Returns the report so far; it is complete once [`Conversation::is_over`].
    pub fn report(&self) -> WorkflowReport {
        let machine = self.state.machine();
        WorkflowReport {
            workflow: machine.workflow.name.clone(),
            completed: machine.is_done(),
            phase: machine.name().to_owned(),
            stopped: machine.stopped.clone(),
            ended: self.ended,
            phases: machine.log.clone(),
            products: machine.made.iter().map(|made| (made.name.clone(), made.value.clone())).collect(),
            metrics: self.metrics.clone(),
        }
    }
}

/// Truncates tool results of earlier turns.
fn shorten(messages: &mut [Message]) {
    for message in messages {
        let Message::ToolResults { results } = message else { continue };
        for result in results {
            let Some((end, _)) = result.content.char_indices().nth(MAX_RESULT_CHARS) else { continue };
            let close = if result.content.starts_with("<data>") { "</data>" } else { "" };
            result.content.truncate(end);
            result.content.push_str(&format!(" ... (cut){close}"));
            result.data = None;
        }
    }
}

fn add_metrics(all: &mut Metrics, one: &Metrics) {
    all.model_calls += one.model_calls;
    all.tool_calls += one.tool_calls;
    all.failed_calls += one.failed_calls;
    all.input_tokens += one.input_tokens;
    all.output_tokens += one.output_tokens;
    all.cached_tokens += one.cached_tokens;
    all.durations_ms.model += one.durations_ms.model;
    all.durations_ms.tools += one.durations_ms.tools;
    all.durations_ms.total += one.durations_ms.total;
    for (name, tool) in &one.tools {
        let known = all.tools.entry(name.clone()).or_default();
        known.calls += tool.calls;
        known.failed += tool.failed;
        known.milliseconds += tool.milliseconds;
    }
}

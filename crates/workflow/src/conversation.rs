//! A workflow with a user: one turn after the other, until it is over.

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
    tools::{PhaseTools, Standing, specs},
    words::UserWords,
};

/// Characters of a tool's answer in an earlier turn that are kept where the conversation grows too long. What later phases need
/// is shown when they begin.
const MAX_RESULT_CHARS: usize = 600;

/// What one turn may usually cost.
const ROUNDS: u32 = 30;
const CALLS: u32 = 60;
const RUN_TIME: Duration = Duration::from_secs(1_800);

/// A tool call may take so long: a tool may have several queries.
const CALL_TIME: Duration = Duration::from_secs(300);

/// A workflow and its conversation so far.
pub struct Conversation {
    own: Toolset,
    standing: Standing,
    prompt: Prompt,
    messages: Vec<Message>,
    /// What the user said, and the place of the message that announced the phase.
    said: Vec<Utterance>,
    announced_at: usize,
    limits: Limits,
    metrics: Metrics,
    ended: Ended,
}

/// The outcome of [`Conversation::turn`].
#[derive(Debug)]
pub struct TurnOutcome {
    /// What the model says to the user; empty where it did not come to that.
    pub text: String,
    /// Why the turn ended; the workflow goes on after [`Ended::Completed`], unless [`Conversation::is_over`].
    pub ended: Ended,
    /// Set with [`Ended::ProviderFailed`].
    pub failure: Option<LlmError>,
}

/// What a workflow did: its phases, products and costs, and why it ended.
#[derive(Debug, Clone, Serialize)]
pub struct WorkflowReport {
    /// The workflow.
    pub workflow: String,
    /// Whether it came to its end.
    pub completed: bool,
    /// The phase in which it stands; `end` after the last.
    pub phase: String,
    /// Why it stopped before its end, where a phase failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Why the last turn ended.
    pub ended: Ended,
    /// The phases that were entered, in order.
    pub phases: Vec<Entered>,
    /// What was made, by the product; where there are several of one, the last.
    pub products: serde_json::Map<String, Value>,
    /// What it cost, all turns together.
    pub metrics: Metrics,
}

impl Conversation {
    /// Begins a workflow. `own` are its tools beside those of the registry, and `words` what these read of the user; the
    /// prompt is the same in every phase, and the limits are those of one turn.
    pub fn new(workflow: Arc<Workflow>, own: Toolset, words: UserWords, prompt: Prompt, limits: Limits) -> Self {
        Conversation {
            own,
            standing: Standing::new(Machine::new(workflow, words)),
            prompt: Prompt { tokens: Default::default(), ..prompt },
            messages: Vec::new(),
            said: Vec::new(),
            announced_at: 0,
            limits,
            metrics: Metrics::default(),
            ended: Ended::Completed,
        }
    }

    /// The usual limits of one turn, which may hold a whole phase; `model` are those that suit the model.
    pub fn usual_limits(model: Limits) -> Limits {
        Limits { rounds: ROUNDS, calls: CALLS, run_time: RUN_TIME, call_time: CALL_TIME, ..model }
    }

    /// The phases that were entered and everything that was made, word by word: the same again where the same was done over
    /// the same data, whichever of several calls ended first.
    pub fn findings(&self) -> String {
        let machine = self.standing.machine();
        let texts = machine.made.iter().map(|made| json!([made.name, made.key, made.value]).to_string());
        let mut made: Vec<String> = texts.collect();
        made.sort();
        format!("{}\n{}", json!(machine.log), made.join("\n"))
    }

    /// The names of all tools that a workflow over this registry may have.
    pub fn tool_names(tools: &impl Tools, own: &Toolset) -> Vec<String> {
        specs(tools, own).into_iter().map(|spec| spec.name).collect()
    }

    /// Whether nothing more will happen: it came to its end, or a phase stopped it.
    pub fn is_over(&self) -> bool {
        self.standing.machine().is_over()
    }

    /// One turn: what the user says, if they said anything yet, and whatever happens until the model speaks to the user. It
    /// always ends within the limits; `failures_per_tool` is not one of them, since each phase has a policy of its own.
    pub async fn turn(
        &mut self,
        said: Option<&str>,
        agent: &AgentLoop<'_, impl Tools>,
        cancel: &CancellationToken,
        observe: &Observe<'_>,
    ) -> TurnOutcome {
        let place = self.messages.len();
        let announcement = self.standing.machine().take_announcement();
        if announcement.is_some() {
            self.announced_at = place;
        }
        let mut text = announcement.unwrap_or_default();
        match said {
            Some(said) => {
                self.standing.machine().note_user(said);
                self.said.push(Utterance { place, text: said.to_owned() });
                text.push_str(&format!("The user: {said}"));
            }
            None => text.push_str("The user has said nothing yet."),
        }
        self.standing.tell(observe);
        // Only where it must be: what was said before and is sent again unchanged comes from the provider's cache.
        let limits = Limits { failures_per_tool: u32::MAX, ..self.limits };
        let room = (limits.context_tokens / 2) as usize;
        if self.messages.iter().map(|message| message.size(tokens::count)).sum::<usize>() > room {
            shorten(&mut self.messages);
        }
        self.messages.push(Message::User { text });
        let (own, standing) = (&self.own, self.standing.clone());
        let all = PhaseTools { tools: agent.tools, own, standing, turn: RwLock::new(()), observe };
        let mut goal = PhaseGoal {
            standing: self.standing.clone(),
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
        self.standing.tell(observe);
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

    /// The report so far; the whole one once [`Conversation::is_over`].
    pub fn report(&self) -> WorkflowReport {
        let machine = self.standing.machine();
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

/// Cuts the answers of tools in earlier turns.
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

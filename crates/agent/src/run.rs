//! A plan as the goal of a run: a draft that is verified, and sent back once where it does not hold.

use std::future::Future;

use prospector_core::{
    Answer, Resource, ToolError, ToolSpec,
    mark::{as_json, clean_name},
};
use prospector_discovery::DiscoveryTools;
use prospector_llm::{ChatModel, LlmError, Message, SystemBlock, purpose::Purpose};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    Limits, Mode,
    event::Event,
    goal::{Goal, Judgement, Observe, Ran, Said},
    instructions::mode_instruction,
    parse,
    plan::{Draft, Ended, Failure, Plan, Verification},
    rounds::{Start, pursue},
    verify::{Names, verify},
};

/// What a model is told when no more calls will be made.
const FINISH: &str = "Output the plan now, as JSON and nothing else, from what you have discovered.";

/// The tools that a run may call. The registry of a catalog is one; tests bring their own.
pub trait Tools: Send + Sync {
    /// The specifications, sorted by name.
    fn specs(&self) -> Vec<ToolSpec>;

    /// Calls one of them.
    fn call(&self, name: &str, arguments: Value) -> impl Future<Output = Result<Answer, ToolError>> + Send;
}

/// What a run begins with.
#[derive(Debug, Clone, Default)]
pub struct Task {
    /// The question.
    pub question: String,
    /// How it is to be answered.
    pub mode: Mode,
    /// The system prompt, static text first.
    pub system: Vec<SystemBlock>,
    /// Whether the model is given the tools.
    pub with_tools: bool,
    /// The names that the prompt itself shows.
    pub revealed: Vec<Resource>,
    /// Tokens of one prompt with all metadata, for the comparison in the metrics.
    pub tokens_full_prompt: u64,
}

/// A plan, and the provider's failure if that is why it is not whole.
#[derive(Debug)]
pub struct Outcome {
    /// What is known; `ended` says how it came about.
    pub plan: Plan,
    /// Set with [`Ended::ProviderFailed`].
    pub failure: Option<LlmError>,
}

/// Runs one question to its plan. It always ends within `limits`, with a reason; a cancelled run returns what is known so
/// far.
pub async fn run(
    model: &dyn ChatModel,
    tools: &impl Tools,
    names: &(dyn Names + Sync),
    task: Task,
    limits: Limits,
    cancel: &CancellationToken,
    observe: &(dyn Fn(Event) + Send + Sync),
) -> Outcome {
    let start = Start {
        system: task.system.clone(),
        messages: vec![Message::User { text: opening(&task) }],
        with_tools: task.with_tools,
        revealed: task.revealed.clone(),
        tokens_full_prompt: task.tokens_full_prompt,
    };
    let question = task.question.clone();
    let mut goal = PlanGoal { question, names, draft: None, rejected: Vec::new(), repaired: false, asked_again: false };
    let ran = pursue(&mut goal, model, tools, names, start, limits, cancel, observe).await;
    goal.outcome(task, model.name(), ran)
}

/// The question as the model is asked it; the mode stands here, so that the system prompt stays the same.
fn opening(task: &Task) -> String {
    format!("{}\n\nQuestion: {}", mode_instruction(task.mode), task.question)
}

/// The plan that a run is to produce.
struct PlanGoal<'a> {
    question: String,
    names: &'a (dyn Names + Sync),
    draft: Option<(Draft, Verification)>,
    /// The names that failed when a draft was sent back.
    rejected: Vec<String>,
    repaired: bool,
    asked_again: bool,
}

impl Goal for PlanGoal<'_> {
    fn name(&self) -> &str {
        "plan"
    }

    fn finish(&self) -> &str {
        FINISH
    }

    fn purpose(&mut self, _: &[Message], finish: bool) -> Purpose {
        Purpose::Plan { question: self.question.clone(), rejected: self.rejected.clone(), finish }
    }

    fn judge(&mut self, said: Said<'_>, observe: &Observe<'_>) -> Judgement {
        match parse::draft(said.text) {
            Ok(mut draft) => {
                let verification = verify(&draft, self.names, Some(said.seen));
                crate::verify::spell(&mut draft, self.names);
                observe(Event::Verified { ok: verification.ok, failed: verification.failed.len() });
                let complaint = (!verification.ok).then(|| unverified(&verification));
                let rejected = verification.failed.iter().map(|failure| failure.name.clone()).collect();
                self.draft = Some((draft, verification));
                match complaint.filter(|_| !self.repaired) {
                    None => Judgement::Accepted,
                    Some(complaint) => {
                        self.repaired = true;
                        self.rejected = rejected;
                        Judgement::Again(complaint)
                    }
                }
            }
            Err(_) if self.asked_again => Judgement::GivenUp(Ended::NoPlan),
            Err(complaint) => {
                self.asked_again = true;
                let cut = if said.cut { " The answer was cut: make it shorter." } else { "" };
                let complaint = json!({"error": "no_plan", "message": complaint,
                    "suggestion": format!("output the plan as one JSON object and nothing else.{cut}")});
                Judgement::Again(complaint.to_string())
            }
        }
    }

    fn has_result(&self) -> bool {
        self.draft.is_some()
    }
}

impl PlanGoal<'_> {
    fn outcome(self, task: Task, model: &str, ran: Ran) -> Outcome {
        let (draft, verification) = self.draft.unwrap_or_else(|| (Draft::default(), Verification::default()));
        let mut plan = Plan {
            question: task.question,
            mode: task.mode,
            model: model.to_owned(),
            reasoning: draft.reasoning,
            discovered_context: draft.discovered_context,
            plan: draft.plan,
            clarifications: draft.clarifications,
            verification,
            metrics: ran.metrics,
            ended: ran.ended,
        };
        // A run that was stopped before its plan still says what it found.
        if plan.plan.steps.is_empty() && ran.ended != Ended::Completed {
            crate::verify::list_seen(&mut plan.discovered_context, &ran.seen, &task.revealed);
        }
        Outcome { plan, failure: ran.failure }
    }
}

fn unverified(verification: &Verification) -> String {
    let named = |failure: &Failure| Failure {
        name: clean_name(&failure.name),
        nearest: failure.nearest.iter().map(|name| clean_name(name)).collect(),
        ..failure.clone()
    };
    let complaint = json!({
        "error": "plan_not_verified",
        "message": "these names or steps do not hold",
        "failed": verification.failed.iter().map(named).collect::<Vec<_>>(),
        "suggestion": "discover what is missing or take it out, then output the whole plan again",
    });
    as_json(&complaint)
}

impl Tools for DiscoveryTools {
    fn specs(&self) -> Vec<ToolSpec> {
        DiscoveryTools::specs(self)
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Answer, ToolError> {
        DiscoveryTools::call(self, name, arguments).await
    }
}

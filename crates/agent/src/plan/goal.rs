//! A plan as the goal of a run: a draft that is verified, returned to the model for correction where something failed, and shown
//! to it once more with its warnings.

use async_trait::async_trait;
use prospector_core::mark::{as_json, clean};
use prospector_discovery::prompt::Prompt;
use prospector_llm::{
    LlmError, Message,
    purpose::{Mode, Purpose},
};
use serde_json::{Value, json};

use super::{
    Draft, Plan, Verification,
    instructions::describe_mode,
    parse::{parse_draft, parse_object},
    verification::{Code, Finding},
    verify::{Verified, list_found, verify_with},
};
use crate::{
    Request,
    agent_loop::{AgentLoop, Goal, Judgement, LoopResult, Names, Reply, Tools},
    event::{Event, Observe},
    metrics::Ended,
    request::Review,
};

/// The order to output the plan, when no more calls will be made.
const FINISH: &str = "Output the plan now, as JSON and nothing else, from what you have discovered.";

/// Maximum number of corrections of a draft. The second one requires that all findings are new.
const MAX_CORRECTIONS: usize = 2;

/// The code of a plan that failed verification.
const NOT_VERIFIED: &str = "plan_not_verified";

/// The longest text of a finding that a model is shown, in characters.
const MAX_FINDING_CHARS: usize = 400;

/// A plan, and the provider's failure if it ended the run.
#[derive(Debug)]
pub struct PlanOutcome {
    /// The plan as far as it is known; `ended` is why the run ended.
    pub plan: Plan,
    /// Set with [`Ended::ProviderFailed`].
    pub failure: Option<LlmError>,
}

impl<T: Tools> AgentLoop<'_, T> {
    /// Plans one question. The run always ends within the limits of the request, with a reason; a cancelled run returns what is known so
    /// far. `prompt` is made with [`INSTRUCTIONS`](super::INSTRUCTIONS).
    pub async fn plan(&self, prompt: &Prompt, request: &Request<'_>) -> PlanOutcome {
        let mode = request.mode.unwrap_or_else(|| Mode::of(&request.question));
        // The mode and the day are not in the system prompt, which stays cached.
        let opening =
            format!("{}\n\nToday: {}\nQuestion: {}", describe_mode(mode), self.names.today(), request.question);
        let messages = vec![Message::User { text: opening }];
        let mut goal = PlanGoal::new(self.names, request, self.model.reads_data());
        let result = self.run(&mut goal, prompt, messages, request).await;
        let (draft, mut verification) = goal.draft.unwrap_or_default();
        if !verification.ok {
            let unreadable = goal.unreadable.map(|reason| Finding::new("plan", Code::UnreadablePlan, reason));
            verification.failed.extend(unreadable);
        }
        let LoopResult { ended, failure, found, metrics, .. } = result;
        let mut plan = Plan {
            question: request.question.clone(),
            mode,
            model: self.model.name().to_owned(),
            reasoning: draft.reasoning,
            discovered_context: draft.discovered_context,
            plan: draft.plan,
            clarifications: draft.clarifications,
            choices: draft.choices,
            verification,
            metrics,
            ended,
        };
        // A run that was stopped before its plan still lists what it found.
        if plan.plan.steps.is_empty() && ended != Ended::Completed {
            list_found(&mut plan.discovered_context, &found);
        }
        PlanOutcome { plan, failure }
    }
}

/// The plan that a run is to produce.
struct PlanGoal<'a> {
    question: &'a str,
    names: &'a (dyn Names + Sync),
    review: Review,
    draft: Option<(Draft, Verification)>,
    /// The messages of failures that the model was shown.
    shown: Vec<String>,
    corrections: usize,
    /// Whether the model was asked to confirm its plan after seeing the warnings.
    is_reviewed: bool,
    /// Why the last text could not be parsed as a plan.
    unreadable: Option<String>,
}

impl<'a> PlanGoal<'a> {
    fn new(names: &'a (dyn Names + Sync), request: &'a Request<'_>, is_program: bool) -> Self {
        // The built-in planner is deterministic and cannot correct a plan.
        let review = if is_program { Review::Off } else { request.review };
        PlanGoal {
            question: &request.question,
            names,
            review,
            draft: None,
            shown: Vec::new(),
            corrections: if is_program { MAX_CORRECTIONS } else { 0 },
            is_reviewed: false,
            unreadable: None,
        }
    }

    /// Whether a draft that failed is returned to the model.
    fn may_correct(&self, verification: &Verification) -> bool {
        let is_new = |finding: &Finding| !self.shown.contains(&finding.to_string());
        self.corrections == 0 || (self.corrections < MAX_CORRECTIONS && verification.failed.iter().all(is_new))
    }

    fn wants_review(&self, verification: &Verification) -> bool {
        match self.review {
            _ if self.is_reviewed => false,
            Review::Off => false,
            Review::Warnings => verification.warnings.iter().any(|warning| warning.code.is_correctable()),
            Review::Always => true,
        }
    }

    /// Decides on a draft.
    fn decide(&mut self, draft: &Draft, verified: &Verified) -> Judgement {
        let verification = &verified.verification;
        if !verification.ok && self.may_correct(verification) {
            self.corrections += 1;
            self.shown.extend(verification.failed.iter().map(ToString::to_string));
            return Judgement::Again(describe_failures(verification));
        }
        if verification.ok && !draft.plan.steps.is_empty() && self.wants_review(verification) {
            self.is_reviewed = true;
            return Judgement::Again(describe_review(draft, verified));
        }
        Judgement::Accepted
    }
}

#[async_trait]
impl Goal for PlanGoal<'_> {
    fn name(&self) -> &str {
        "plan"
    }

    fn finish_order(&self) -> &str {
        FINISH
    }

    fn purpose(&mut self, _: &[Message], finish: bool) -> Purpose {
        Purpose::Plan { question: self.question.to_owned(), finish }
    }

    async fn judge(&mut self, reply: Reply<'_>, observe: &Observe<'_>) -> Judgement {
        if self.is_reviewed
            && let Some((_, verification)) = &mut self.draft
            && parse_object(reply.text).is_some_and(|object| object["confirm"] == Value::Bool(true))
        {
            verification.confirmed = true;
            return Judgement::Accepted;
        }
        match parse_draft(reply.text) {
            Ok(mut draft) => {
                let sample = self.review == Review::Always;
                let verified = Box::pin(verify_with(&mut draft, self.names, Some(reply.seen), sample)).await;
                let failed = verified.verification.failed.len();
                observe(Event::Verified { ok: verified.verification.ok, failed });
                let judgement = self.decide(&draft, &verified);
                let mut verification = verified.verification;
                let is_last = judgement == Judgement::Accepted;
                // A model may confirm a plan by repeating it; a corrected plan is another one.
                let is_same = self.draft.as_ref().is_some_and(|(before, _)| before.plan == draft.plan);
                verification.confirmed = self.is_reviewed && is_last && is_same;
                if is_last && !verification.ok {
                    observe(Event::Error { code: NOT_VERIFIED.to_owned(), message: describe_end(&verification) });
                }
                self.draft = Some((draft, verification));
                judgement
            }
            // A verified plan is kept, whatever the model replies to its warnings.
            Err(_) if self.is_reviewed => Judgement::Accepted,
            Err(complaint) => {
                if self.unreadable.replace(complaint.to_string()).is_some() {
                    return Judgement::GivenUp(Ended::NoPlan);
                }
                let cut = if reply.cut { " The answer was truncated: make it shorter." } else { "" };
                let complaint = json!({"error": "no_plan", "message": complaint.to_string(),
                    "suggestion": format!("output the plan as one JSON object and nothing else.{cut}")});
                Judgement::Again(complaint.to_string())
            }
        }
    }

    fn has_result(&self) -> bool {
        self.draft.is_some()
    }
}

/// Returns findings as JSON for the model, sanitized and truncated.
fn list_findings(findings: &[Finding]) -> Value {
    let clean_finding = |finding: &Finding| Finding {
        message: clean(&finding.message, MAX_FINDING_CHARS),
        suggestion: finding.suggestion.as_ref().map(|text| clean(text, MAX_FINDING_CHARS)),
        ..finding.clone()
    };
    json!(findings.iter().map(clean_finding).collect::<Vec<_>>())
}

/// Returns the message for a draft that failed verification.
fn describe_failures(verification: &Verification) -> String {
    let mut complaint = json!({
        "error": NOT_VERIFIED,
        "message": "the plan cannot be run as it is",
        "failed": list_findings(&verification.failed),
    });
    if !verification.warnings.is_empty() {
        complaint["warnings"] = list_findings(&verification.warnings);
    }
    complaint["suggestion"] = "correct what failed, discover what is missing, then output the whole plan again".into();
    as_json(&complaint)
}

/// Returns the error message for a plan that failed verification after all corrections.
fn describe_end(verification: &Verification) -> String {
    let failed: Vec<String> =
        verification.failed.iter().map(|failure| clean(&failure.to_string(), MAX_FINDING_CHARS)).collect();
    format!("the plan failed verification after all corrections: {}", failed.join("; "))
}

/// Returns the message that asks the model to confirm or correct a verified draft.
fn describe_review(draft: &Draft, verified: &Verified) -> String {
    let explained = |step: &&super::Step| !step.explanation.is_empty();
    let computes: Vec<Value> = (draft.plan.steps.iter().filter(explained))
        .map(|step| json!({"step": step.number, "computes": clean(&step.explanation, 4 * MAX_FINDING_CHARS)}))
        .collect();
    let verdict =
        if verified.verification.executable { "the plan can be run" } else { "every name in the plan exists" };
    let mut review = json!({"review": verdict, "steps": computes});
    if !verified.verification.warnings.is_empty() {
        review["warnings"] = list_findings(&verified.verification.warnings);
    }
    if !verified.samples.is_empty() {
        let sample = |(number, rows): &(u32, prospector_connect::rows::Rows)| json!({"step": number, "columns": rows.columns, "first_rows": rows.rows});
        review["rows"] = verified.samples.iter().map(sample).collect();
    }
    review["suggestion"] =
        "if this is what the question asks for, output {\"confirm\": true} and nothing else; otherwise \
        output the corrected plan"
            .into();
    as_json(&review)
}

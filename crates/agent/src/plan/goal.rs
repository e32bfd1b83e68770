//! A plan as the goal of a run: a draft that is verified, and sent back where it does not hold. What only words tell is a doubt:
//! a model that was told of one and hands in its plan again has considered it.

use prospector_core::mark::{as_json, clean, clean_name};
use prospector_discovery::prompt::Prompt;
use prospector_llm::{
    LlmError, Message,
    purpose::{Mode, Objection, Purpose},
};
use serde_json::json;

use super::{
    Draft, Failure, Plan, Verification,
    instructions::describe_mode,
    parse::parse_draft,
    sense::{SenseCode, SenseFinding},
    verify::{complete_names, list_found, spell_names, verify},
};
use crate::{
    Request,
    agent_loop::{AgentLoop, Goal, Judgement, LoopResult, Names, Reply, Tools},
    event::{Event, Observe},
    metrics::Ended,
};

/// What a model is told when no more calls will be made.
const FINISH: &str = "Output the plan now, as JSON and nothing else, from what you have discovered.";

/// A plan, and the provider's failure if that is why it is not whole.
#[derive(Debug)]
pub struct PlanOutcome {
    /// What is known; `ended` says how it came about.
    pub plan: Plan,
    /// Set with [`Ended::ProviderFailed`].
    pub failure: Option<LlmError>,
}

impl<T: Tools> AgentLoop<'_, T> {
    /// Runs one question to its plan. It always ends within the limits of the request, with a reason; a cancelled run
    /// returns what is known so far. `prompt` is made with [`INSTRUCTIONS`](super::INSTRUCTIONS).
    pub async fn plan(&self, prompt: &Prompt, request: &Request<'_>) -> PlanOutcome {
        let mode = request.mode.unwrap_or_else(|| Mode::of(&request.question));
        // The mode stands here, so that the system prompt stays the same.
        let opening = format!("{}\n\nQuestion: {}", describe_mode(mode), request.question);
        let messages = vec![Message::User { text: opening }];
        let mut goal = PlanGoal {
            question: &request.question,
            names: self.names,
            draft: None,
            rejected: Vec::new(),
            findings: Vec::new(),
            told: Vec::new(),
            considers: !self.model.reads_data(),
            repairs: 0,
            unreadable: None,
        };
        let result = self.run(&mut goal, prompt, messages, request).await;
        let (draft, verification) = goal.draft.unwrap_or_else(|| {
            let mut verification = Verification::default();
            verification.failed.extend(goal.unreadable.map(fail_to_read));
            (Draft::default(), verification)
        });
        let LoopResult { ended, failure, found, metrics, .. } = result;
        let mut plan = Plan {
            question: request.question.clone(),
            mode,
            model: self.model.name().to_owned(),
            reasoning: draft.reasoning,
            discovered_context: draft.discovered_context,
            plan: draft.plan,
            clarifications: draft.clarifications,
            verification,
            metrics,
            ended,
        };
        // A run that was stopped before its plan still says what it found.
        if plan.plan.steps.is_empty() && ended != Ended::Completed {
            list_found(&mut plan.discovered_context, &found);
        }
        ask_for_uncovered(&mut plan);
        PlanOutcome { plan, failure }
    }
}

/// The plan that a run is to produce.
struct PlanGoal<'a> {
    question: &'a str,
    names: &'a (dyn Names + Sync),
    draft: Option<(Draft, Verification)>,
    /// The names that failed when a draft was sent back.
    rejected: Vec<String>,
    /// What made no sense in it.
    findings: Vec<Objection>,
    /// What was complained of in earlier drafts.
    told: Vec<Complaint>,
    /// Whether the model can judge what it is told; a program does what it does.
    considers: bool,
    repairs: usize,
    /// Why the last text that was no plan was none.
    unreadable: Option<String>,
}

/// A complaint, as it is known again: what it is, and what is said.
#[derive(PartialEq)]
struct Complaint {
    is_doubt: bool,
    text: String,
}

/// A draft is sent back so often: a second time where the first one mended all that it was sent back for.
const MAX_REPAIRS: usize = 2;

impl PlanGoal<'_> {
    /// Takes doubts for considered, where the model was told of any.
    fn consider(&self, verification: &mut Verification) {
        if self.considers && self.told.iter().any(|complaint| complaint.is_doubt) {
            verification.accept_doubts(|_| true);
        }
    }

    fn may_repair(&self, complaints: &[Complaint]) -> bool {
        let is_new = |complaint: &Complaint| !self.told.contains(complaint);
        // A program that could not plan with what it was told declines, and would be believed.
        let again = self.considers && self.repairs < MAX_REPAIRS;
        self.repairs == 0 || (again && complaints.iter().all(is_new))
    }

    fn send_back(&mut self, verification: &Verification, complaints: Vec<Complaint>) -> Judgement {
        self.repairs += 1;
        self.told.extend(complaints);
        self.rejected.extend(verification.failed.iter().map(|failure| failure.name.clone()));
        self.findings.extend(verification.sense.findings.iter().map(as_objection));
        Judgement::Again(describe_failures(verification, self.considers))
    }
}

fn list_complaints(verification: &Verification) -> Vec<Complaint> {
    let failed = verification.failed.iter();
    let failed =
        failed.map(|failure| Complaint { is_doubt: false, text: format!("{} {}", failure.name, failure.reason) });
    let findings = verification.sense.findings.iter();
    let findings =
        findings.map(|finding| Complaint { is_doubt: finding.code.is_doubt(), text: finding.message.clone() });
    failed.chain(findings).collect()
}

impl Goal for PlanGoal<'_> {
    fn name(&self) -> &str {
        "plan"
    }

    fn finish_order(&self) -> &str {
        FINISH
    }

    fn purpose(&mut self, _: &[Message], finish: bool) -> Purpose {
        Purpose::Plan {
            question: self.question.to_owned(),
            rejected: self.rejected.clone(),
            objections: self.findings.clone(),
            finish,
        }
    }

    fn judge(&mut self, reply: Reply<'_>, observe: &Observe<'_>) -> Judgement {
        match parse_draft(reply.text) {
            Ok(mut draft) => {
                complete_names(&mut draft, self.names);
                spell_names(&mut draft, self.names);
                let mut verification = verify(self.question, &draft, self.names, Some(reply.seen));
                self.consider(&mut verification);
                let failed = verification.failed.len() + verification.sense.findings.len();
                observe(Event::Verified { ok: verification.ok, failed });
                let complaints = list_complaints(&verification);
                let judgement = match verification.ok || !self.may_repair(&complaints) {
                    true => Judgement::Accepted,
                    false => self.send_back(&verification, complaints),
                };
                self.draft = Some((draft, verification));
                judgement
            }
            Err(complaint) => {
                if self.unreadable.replace(complaint.to_string()).is_some() {
                    return Judgement::GivenUp(Ended::NoPlan);
                }
                let cut = if reply.cut { " The answer was cut: make it shorter." } else { "" };
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

/// A finding is a sentence: so many characters of it are told, more than any that is without a long name.
const MAX_FINDING_CHARS: usize = 400;

/// What the plan says of a text that was none.
fn fail_to_read(reason: String) -> Failure {
    Failure { place: "plan".to_owned(), name: String::new(), reason, nearest: Vec::new() }
}

/// What a model is told of a draft that does not hold. One that can judge is told what it may judge.
fn describe_failures(verification: &Verification, considers: bool) -> String {
    let clean_failure = |failure: &Failure| Failure {
        name: clean_name(&failure.name),
        nearest: failure.nearest.iter().map(|name| clean_name(name)).collect(),
        ..failure.clone()
    };
    let clean_finding = |finding: &SenseFinding| SenseFinding {
        message: clean(&finding.message, MAX_FINDING_CHARS),
        nearest: finding.nearest.iter().map(|name| clean_name(name)).collect(),
        ..finding.clone()
    };
    let mut complaint = json!({
        "error": "plan_not_verified",
        "message": "these names or steps do not hold",
        "suggestion": "discover what is missing or take it out, then output the whole plan again",
    });
    if !verification.failed.is_empty() {
        complaint["failed"] = json!(verification.failed.iter().map(clean_failure).collect::<Vec<_>>());
    }
    let findings = verification.sense.findings.iter();
    let (doubts, known): (Vec<&SenseFinding>, Vec<&SenseFinding>) =
        findings.partition(|finding| considers && finding.code.is_doubt());
    if !known.is_empty() {
        complaint["message"] = "the plan does not hold, or makes no sense for the question".into();
        complaint["sense"] = json!(known.into_iter().map(clean_finding).collect::<Vec<_>>());
    }
    if !doubts.is_empty() {
        if verification.failed.is_empty() && complaint.get("sense").is_none() {
            complaint["message"] = "the plan may not make sense for the question".into();
        }
        complaint["doubts"] = json!(doubts.into_iter().map(clean_finding).collect::<Vec<_>>());
        complaint["suggestion"] =
            "discover what is missing or take it out; the doubts compare words and may be wrong: \
            mend the plan where one is right; then output the whole plan again, even if unchanged"
                .into();
    }
    as_json(&complaint)
}

/// A finding as a model that is a program reads it.
fn as_objection(finding: &SenseFinding) -> Objection {
    let is_needless = match finding.code {
        SenseCode::NotNeeded | SenseCode::DefinitionNotNeeded | SenseCode::Writes => true,
        SenseCode::NotCovered
        | SenseCode::DefinitionNotMet
        | SenseCode::MissingCondition
        | SenseCode::MissingPeriod
        | SenseCode::WrongPeriod
        | SenseCode::OutsideData
        | SenseCode::MissingGroup
        | SenseCode::WrongMeasure
        | SenseCode::NotJoined
        | SenseCode::UnknownColumn
        | SenseCode::WrongValue
        | SenseCode::NoChange
        | SenseCode::Declined => false,
    };
    Objection { missing: finding.nearest.clone(), is_needless, text: finding.message.clone() }
}

/// What of the question is not covered is asked back, but for what the model has considered.
fn ask_for_uncovered(plan: &mut Plan) {
    let sense = &plan.verification.sense;
    let is_open = sense.findings.iter().any(|finding| finding.code == SenseCode::NotCovered);
    for word in sense.not_covered.iter().filter(|_| is_open) {
        let asked = plan.clarifications.iter().any(|known| known.to_lowercase().contains(&word.to_lowercase()));
        if !asked {
            plan.clarifications
                .push(format!("Nothing in the plan covers `{word}`: what is meant by it, and where is it found?"));
        }
    }
}

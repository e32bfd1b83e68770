//! The answer as the goal of a run: a text whose claims are traced. Untraceable claims are returned to the model once for correction.

use async_trait::async_trait;
use prospector_core::mark::as_json;
use prospector_core::tool::Answer;
use prospector_llm::{
    Message,
    message::ToolCall,
    purpose::{Mode, PreviousTurn, Purpose},
};
use serde_json::{Value, json};

use super::{
    charts::split_charts,
    follow_ups::{read_labelled, split_follow_ups},
    instructions::FINISH,
    ledger::Ledger,
    tables::insert_tables,
    trace::{Basis, trace},
};
use crate::{
    agent_loop::{Goal, Judgement, Reply},
    answer::{DataQuestion, ProposedChart, Tracing},
    event::{Event, Observe, QueryRan},
    metrics::Ended,
    session::Session,
};

/// How to correct untraced sentences.
const SUGGESTION: &str = "take each number from a row that its sentence names, and cite the query as [Q1], or the document or \
table by its id as [id]; use references for derived values, as {{Q1: sum(column)}} or {{Q1: column[key] - column[other key]}}; or \
remove the sentence; then answer again";

/// The answer that a run is to produce.
pub(crate) struct AnswerGoal {
    pub(crate) question: String,
    pub(crate) mode: Mode,
    pub(crate) ledger: Ledger,
    /// The queries of earlier turns, with ids such as `t1.Q1`.
    earlier: Vec<DataQuestion>,
    /// The last answer of the model.
    pub(crate) answer: Option<AnswerText>,
    /// The previous turn, the last answered one, and the index of the question in the messages.
    previous: Option<PreviousTurn>,
    answered: Option<PreviousTurn>,
    begins_at: usize,
    asked_again: bool,
}

/// The text of an answer.
pub(crate) struct AnswerText {
    /// The text, in which untraced sentences are marked.
    pub(crate) marked: String,
    pub(crate) tracing: Tracing,
    /// The follow-up questions in its last lines.
    pub(crate) follow_ups: Vec<String>,
    /// The proposed charts.
    pub(crate) charts: Vec<ProposedChart>,
}

impl AnswerGoal {
    /// Returns the goal of answering the question in message `begins_at` of a conversation.
    pub(crate) fn new(question: &str, mode: Mode, session: &Session, begins_at: usize) -> Self {
        AnswerGoal {
            question: question.to_owned(),
            mode,
            ledger: Ledger::default(),
            earlier: session.list_queries(),
            answer: None,
            previous: session.previous(),
            answered: session.last_answered(),
            begins_at,
            asked_again: false,
        }
    }

    /// Traces a text. Also returns it with untraced sentences marked, references filled in and tables inserted.
    pub(crate) fn trace(&self, text: &str) -> (Tracing, String) {
        let Ledger { questions, texts, entries, .. } = &self.ledger;
        let basis = Basis { question: &self.question, queries: questions, earlier: &self.earlier, texts, entries };
        let (tracing, marked) = trace(text, &basis);
        (tracing, insert_tables(&marked, &[questions.as_slice(), self.earlier.as_slice()]))
    }

    /// Reads a text of the model: returns it without its proposals of charts and follow-up questions, and as an answer.
    pub(crate) fn read(&self, text: &str) -> (String, AnswerText) {
        let (text, follow_ups) = split_follow_ups(text);
        let (text, charts) = split_charts(text);
        let (tracing, marked) = self.trace(&text);
        (text, AnswerText { marked, tracing, follow_ups, charts })
    }

    /// Returns whether a definition or a query supports the text, or it asks for clarification.
    fn is_supported(&self, text: &str) -> bool {
        !self.ledger.premises.is_empty() || self.ledger.has_data() || !find_clarifications(text).is_empty()
    }

    /// Returns the error of an unacceptable answer, as JSON for the model.
    fn find_fault(&self, text: &str, tracing: &Tracing, cut: bool) -> Option<Value> {
        if text.trim().is_empty() {
            return Some(json!({"error": "no_answer", "message": "the answer is empty", "suggestion": FINISH}));
        }
        if cut {
            return Some(
                json!({"error": "cut", "message": "the answer was truncated", "suggestion": "make it shorter"}),
            );
        }
        if !tracing.ok {
            let failed: Vec<Value> = (tracing.claims.iter())
                .filter(|claim| !claim.problems.is_empty())
                .map(|claim| json!({"sentence": claim.text, "problems": claim.problems}))
                .collect();
            return Some(json!({
                "error": "not_traced",
                "message": "these sentences cannot be traced to the results",
                "failed": failed,
                "suggestion": SUGGESTION,
            }));
        }
        (self.mode == Mode::Auditable && !self.is_supported(text)).then(|| {
            json!({
                "error": "no_premises",
                "message": "an auditable answer needs facts with a source or queries, and this one has neither",
                "suggestion": "use resolve_fact or execute_sql, or ask with a line `Clarification: ...?`",
            })
        })
    }
}

#[async_trait]
impl Goal for AnswerGoal {
    fn name(&self) -> &str {
        "ask"
    }

    fn finish_order(&self) -> &str {
        FINISH
    }

    fn purpose(&mut self, _: &[Message], finish: bool) -> Purpose {
        Purpose::Ask {
            question: self.question.clone(),
            mode: self.mode,
            previous: self.previous.clone(),
            answered: self.answered.clone(),
            begins_at: self.begins_at,
            finish,
        }
    }

    async fn judge(&mut self, reply: Reply<'_>, observe: &Observe<'_>) -> Judgement {
        let (text, answer) = self.read(reply.text);
        let tracing = &answer.tracing;
        let failed = tracing.claims.iter().filter(|claim| !claim.problems.is_empty()).count();
        let complaint = self.find_fault(&text, tracing, reply.cut);
        observe(Event::Verified { ok: tracing.ok, failed });
        if !text.trim().is_empty() {
            self.answer = Some(answer);
        }
        match complaint {
            None => Judgement::Accepted,
            Some(complaint) if !self.asked_again => {
                self.asked_again = true;
                Judgement::Again(as_json(&complaint))
            }
            Some(_) if self.answer.is_some() => Judgement::Accepted,
            Some(_) => Judgement::GivenUp(Ended::NoAnswer),
        }
    }

    fn has_result(&self) -> bool {
        self.answer.is_some()
    }

    fn list_findings(&self) -> String {
        self.ledger.list_findings()
    }

    fn before_call(&mut self, call: &ToolCall, observe: &Observe<'_>) {
        self.ledger.note_call(call, observe);
    }

    fn after_call(&mut self, call: &ToolCall, given: &mut Result<Answer, Value>) -> Vec<QueryRan> {
        self.ledger.note_answer(call, given)
    }
}

/// Returns the clarifying questions of an answer: its lines that start with `Clarification:`.
pub(crate) fn find_clarifications(text: &str) -> Vec<String> {
    let questions = text.lines().filter_map(|line| read_labelled(line, "Clarification"));
    questions.filter(|question| !question.is_empty()).collect()
}

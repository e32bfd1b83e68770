//! The record of a run for citation: numbered queries with their rows, definitions, texts and reasoning notes.

use std::collections::BTreeSet;
use std::ops::Range;

use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tool::Answer;
use prospector_core::tool::finding::{Definition, QueryFailure, QueryRows};
use prospector_discovery::{DiscoveryTools, prompt::Prompt};
use prospector_llm::message::ToolCall;
use serde_json::Value;

use super::judge::{declines, has_line};
use super::{
    entries::Entries,
    instructions::OUT_OF_SCOPE,
    tools::{PREVIOUS, THINK, read_thought},
};
use crate::{
    answer::{Classification, DataQuestion, VerifiedBy},
    event::{Event, Observe, QueryRan},
    plan::PlanFact,
};

/// Maximum size of the text of documents and facts in which numbers are looked up, in bytes.
const MAX_TEXT_BYTES: usize = 200_000;

/// The record of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger {
    pub(crate) questions: Vec<DataQuestion>,
    pub(crate) premises: Vec<PlanFact>,
    pub(crate) thinking: Vec<String>,
    /// Other text that the model was shown.
    pub(crate) texts: String,
    /// The texts of catalog entries, by id.
    pub(crate) entries: Entries,
    /// Ids of the documents and skills found.
    found: BTreeSet<String>,
    /// Ids of all entries found, in lower case.
    seen: BTreeSet<String>,
    used_knowledge: bool,
    /// The number of calls, except those of `think`.
    calls: usize,
    /// Pending calls, with the indexes of their queries.
    waiting: Vec<(ToolCall, Range<usize>)>,
}

impl Ledger {
    /// Records the entries that the prompt describes.
    pub(crate) fn note_prompt(&mut self, prompt: &Prompt) {
        prompt.described.iter().for_each(|(id, text)| self.entries.keep(id, text));
    }

    /// Records a call before it runs, and numbers its queries.
    pub(crate) fn note_call(&mut self, call: &ToolCall, observe: &Observe<'_>) {
        if call.name == THINK {
            let thought = read_thought(&call.arguments);
            if !thought.is_empty() {
                observe(Event::Thinking { text: thought.clone() });
                self.thinking.push(thought);
            }
        }
        self.calls += usize::from(call.name != THINK);
        if call.name != DiscoveryTools::QUERY_TOOL {
            return;
        }
        let first = self.questions.len();
        for query in call.arguments["queries"].as_array().into_iter().flatten() {
            let text = |key: &str| query[key].as_str().unwrap_or_default().trim().to_owned();
            let id = format!("Q{}", self.questions.len() + 1);
            observe(Event::Executing { id: id.clone(), question: text("question"), sql: text("sql") });
            self.questions.push(DataQuestion {
                id,
                question: text("question"),
                sql: text("sql"),
                database: query["database"].as_str().map(str::to_owned),
                error: Some("no result".into()),
                ..DataQuestion::default()
            });
        }
        self.waiting.push((call.clone(), first..self.questions.len()));
    }

    /// Records a result, and inserts the numbers of its queries.
    pub(crate) fn note_answer(&mut self, call: &ToolCall, given: &mut Result<Answer, Value>) -> Vec<QueryRan> {
        let waiting = self.waiting.iter().position(|(waiting, _)| waiting == call);
        match (waiting, given) {
            (Some(at), given) => {
                let (_, places) = self.waiting.remove(at);
                self.note_queries(places, given)
            }
            (None, Ok(answer)) if call.name == PREVIOUS => {
                self.number_queries(answer, true);
                Vec::new()
            }
            (None, Ok(answer)) => {
                let ran = self.note_run(answer);
                if ran.is_empty() {
                    self.note_knowledge(answer);
                }
                ran
            }
            // An answer may repeat an error message, including its dates and numbers.
            (None, Err(error)) => {
                self.entries.keep_knowledge(&error.to_string());
                self.keep_text(&error.to_string());
                Vec::new()
            }
        }
    }

    /// Records the results of queries that were numbered with their call.
    fn note_queries(&mut self, places: Range<usize>, given: &mut Result<Answer, Value>) -> Vec<QueryRan> {
        let questions = &mut self.questions[places];
        match given {
            Ok(answer) => {
                *answer = answer.edit_queries(&mut |findings| {
                    for (question, finding) in questions.iter_mut().zip(findings) {
                        read_rows(question, &finding.rows);
                        finding.id.clone_from(&question.id);
                    }
                });
            }
            Err(error) => {
                let message = error["message"].as_str().unwrap_or("it failed").to_owned();
                questions.iter_mut().for_each(|question| question.error = Some(message.clone()));
            }
        }
        questions.iter().map(summarise_run).collect()
    }

    /// Numbers the queries in an answer; those of an earlier turn keep its id as `reused`. Returns the index of the first.
    fn number_queries(&mut self, answer: &mut Answer, is_earlier: bool) -> usize {
        let first = self.questions.len();
        let questions = &mut self.questions;
        *answer = answer.edit_queries(&mut |findings| {
            for finding in findings {
                let verified = finding.verified.map(|(query, checked)| VerifiedBy {
                    query: query.to_owned(),
                    by: checked.by.clone(),
                    on: checked.on.clone(),
                });
                let mut question = DataQuestion {
                    id: format!("Q{}", questions.len() + 1),
                    question: finding.question.to_owned(),
                    title: finding.title.unwrap_or_default().to_owned(),
                    sql: finding.sql.unwrap_or_default().to_owned(),
                    database: finding.database.map(str::to_owned),
                    verified,
                    reused: is_earlier.then(|| finding.id.clone()),
                    ..DataQuestion::default()
                };
                read_rows(&mut question, &finding.rows);
                finding.id.clone_from(&question.id);
                questions.push(question);
            }
        });
        first
    }

    /// Numbers the queries of other tools: verified queries, metrics, and the steps of a plan.
    fn note_run(&mut self, answer: &mut Answer) -> Vec<QueryRan> {
        let first = self.number_queries(answer, false);
        if self.questions.len() > first {
            // Text next to the rows may be repeated without citation; numbers of the rows may not.
            let mut without_rows = answer.json().clone();
            remove_rows(&mut without_rows);
            self.entries.keep_knowledge(&without_rows.to_string());
            self.keep_text(&without_rows.to_string());
        }
        self.questions[first..].iter().map(summarise_run).collect()
    }

    fn keep_text(&mut self, text: &str) {
        let room = MAX_TEXT_BYTES.saturating_sub(self.texts.len());
        self.texts.push_str(&text[..text.floor_char_boundary(room.min(text.len()))]);
        self.texts.push('\n');
    }

    fn note_knowledge(&mut self, answer: &Answer) {
        self.entries.note(answer);
        if let Some(definition) = answer.definition() {
            if definition.needs_clarification {
                return;
            }
            let Definition { term, text, source, confidence, .. } = definition;
            let premise = PlanFact { term, definition: text, source, confidence };
            if !premise.definition.is_empty() && !self.premises.contains(&premise) {
                self.premises.push(premise);
            }
        }
        self.used_knowledge |= answer.content().is_some();
        let of_text = |found: &Resource| matches!(found.kind, ResourceKind::Document | ResourceKind::Skill);
        let reveals = answer.reveals();
        self.seen.extend(reveals.iter().map(|found| found.id.to_lowercase()));
        self.found.extend(reveals.into_iter().filter(of_text).map(|found| found.id));
        self.keep_text(&answer.json().to_string());
    }

    /// Returns whether a query succeeded.
    pub(crate) fn has_data(&self) -> bool {
        self.questions.iter().any(|question| question.error.is_none())
    }

    /// Returns the definitions whose terms occur in the question or the answer.
    pub(crate) fn used_premises(&self, question: &str, answer: &str) -> Vec<PlanFact> {
        let said = format!("{question}\n{answer}").to_lowercase();
        let is_used = |premise: &&PlanFact| !premise.term.is_empty() && said.contains(&premise.term.to_lowercase());
        self.premises.iter().filter(is_used).cloned().collect()
    }

    /// Returns whether the answer names a catalog entry that a tool returned.
    fn names_seen_entries(&self, answer: &str) -> bool {
        let answer = answer.to_lowercase();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '#');
        let words = answer.split(|c| !is_part(c)).map(|word| word.trim_matches(['.', '-']));
        // Sections are prefixed with their document.
        words.flat_map(|word| [word, word.split('#').next().unwrap_or_default()]).any(|word| self.seen.contains(word))
    }

    /// Returns the kinds of sources of the answer. A list of catalog entries is knowledge. With `best_effort`, the model gave no answer.
    pub(crate) fn classify(&self, answer: &str, best_effort: bool) -> Classification {
        let data = self.has_data();
        // A resolved definition counts if the answer contains it or its source.
        let is_given = |premise: &PlanFact| {
            answer.contains(premise.definition.as_str())
                || (!premise.source.is_empty() && answer.contains(premise.source.as_str()))
        };
        // A document found by search counts if the answer cites it.
        let is_named = |id: &String| answer.contains(&format!("[{id}]")) || answer.contains(&format!("[{id}#"));
        let knowledge = self.used_knowledge || self.premises.iter().any(is_given) || self.found.iter().any(is_named);
        match (data, knowledge) {
            (true, true) => Classification::Mixed,
            (true, false) => Classification::Data,
            (false, true) => Classification::Knowledge,
            (false, false) if best_effort => Classification::None,
            (false, false) if has_line(answer, OUT_OF_SCOPE) => Classification::OutOfScope,
            (false, false) if self.calls == 0 => Classification::Conversational,
            (false, false) if !declines(answer) && self.names_seen_entries(answer) => Classification::Knowledge,
            (false, false) => Classification::None,
        }
    }

    /// Returns the results and definitions of a run that ended without an answer.
    pub(crate) fn list_findings(&self) -> String {
        let mut text = String::new();
        for question in self.questions.iter().filter(|question| question.error.is_none()) {
            let what = if question.question.is_empty() { &question.sql } else { &question.question };
            text.push_str(&format!(
                "\n- {} [{}]: {}",
                what.trim_end_matches(['.', ':']),
                question.id,
                render_rows(question)
            ));
        }
        for premise in &self.premises {
            text.push_str(&format!("\n- {} ({})", premise.definition.trim_end_matches('.'), premise.source));
        }
        text
    }
}

fn remove_rows(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("rows");
            fields.values_mut().for_each(remove_rows);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_rows),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the event data of a query that ran.
fn summarise_run(question: &DataQuestion) -> QueryRan {
    QueryRan {
        id: question.id.clone(),
        question: question.question.clone(),
        has_more: question.has_more,
        rows: question.error.is_none().then_some(question.rows.len()),
        error: question.error.clone(),
    }
}

/// Renders a result in one line.
fn render_rows(question: &DataQuestion) -> String {
    const MAX_ROWS: usize = 5;
    let cell = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let rows: Vec<String> =
        (question.rows.iter().take(MAX_ROWS)).map(|row| row.iter().map(cell).collect::<Vec<_>>().join(" | ")).collect();
    let more = if question.rows.len() > MAX_ROWS || question.has_more { "; ..." } else { "" };
    if rows.is_empty() { "no rows".into() } else { format!("{}{more}", rows.join("; ")) }
}

/// Copies the columns and rows of a result, or its error.
fn read_rows(question: &mut DataQuestion, rows: &Result<QueryRows<'_>, QueryFailure>) {
    match rows {
        Ok(rows) => {
            question.error = None;
            question.columns = rows.columns.to_vec();
            question.databases = rows.databases.to_vec();
            question.rows = rows.rows.to_vec();
            question.has_more = rows.has_more;
            question.units = rows.units.to_vec();
            question.warnings = rows.warnings.to_vec();
        }
        Err(failure) => question.error = Some(failure.to_string()),
    }
}

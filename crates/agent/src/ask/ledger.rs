//! What a run did, as an answer may cite it: numbered queries with their rows, definitions, texts and thoughts.

use prospector_core::tool::Answer;
use prospector_llm::ToolCall;
use serde_json::{Value, json};

use super::tools::{PREVIOUS, THINK};
use crate::{
    answer::{Classification, DataQuestion},
    event::{Event, Observe, QueryRan},
    plan::PlanFact,
};

/// The tool whose queries are numbered.
const EXECUTE: &str = "execute_sql";
/// So much text of documents and facts is kept, to find numbers in, in bytes.
const MAX_TEXT_BYTES: usize = 200_000;

/// The record of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger {
    pub(crate) questions: Vec<DataQuestion>,
    pub(crate) premises: Vec<PlanFact>,
    pub(crate) thinking: Vec<String>,
    /// What else the model was shown.
    pub(crate) texts: String,
    used_knowledge: bool,
    /// The first number of each call that was made and not answered yet.
    waiting: Vec<(ToolCall, usize)>,
}

impl Ledger {
    /// Notes a call that is about to be made, and numbers its queries.
    pub(crate) fn note_call(&mut self, call: &ToolCall, observe: &Observe<'_>) {
        if call.name == THINK {
            let thought = call.arguments["thought"].as_str().unwrap_or_default().trim().to_owned();
            if !thought.is_empty() {
                observe(Event::Thinking { text: thought.clone() });
                self.thinking.push(thought);
            }
        }
        if call.name != EXECUTE && call.name != PREVIOUS {
            return;
        }
        let first = self.questions.len();
        if call.name == EXECUTE {
            for query in call.arguments["queries"].as_array().into_iter().flatten() {
                let text = |key: &str| query[key].as_str().unwrap_or_default().trim().to_owned();
                let id = format!("Q{}", self.questions.len() + 1);
                observe(Event::Executing { id: id.clone(), question: text("question"), sql: text("sql") });
                self.questions.push(DataQuestion {
                    id,
                    question: text("question"),
                    sql: text("sql"),
                    database: query["database"].as_str().map(str::to_owned),
                    error: Some("it was not answered".into()),
                    ..DataQuestion::default()
                });
            }
        }
        self.waiting.push((call.clone(), first));
    }

    /// Notes an answer, and puts the numbers of its queries into what the model is shown.
    pub(crate) fn note_answer(&mut self, call: &ToolCall, given: &mut Result<Answer, Value>) -> Vec<QueryRan> {
        match call.name.as_str() {
            EXECUTE => self.note_queries(call, given),
            PREVIOUS => {
                self.note_previous(call, given);
                Vec::new()
            }
            name => {
                if let Ok(answer) = given {
                    self.note_knowledge(name, answer);
                }
                Vec::new()
            }
        }
    }

    /// The place of the first query of a call that was made.
    fn take_first(&mut self, call: &ToolCall) -> Option<usize> {
        let at = self.waiting.iter().position(|(waiting, _)| waiting == call)?;
        Some(self.waiting.remove(at).1)
    }

    fn note_queries(&mut self, call: &ToolCall, given: &mut Result<Answer, Value>) -> Vec<QueryRan> {
        let Some(first) = self.take_first(call) else { return Vec::new() };
        let count = call.arguments["queries"].as_array().map_or(0, Vec::len);
        let mut value = given.as_ref().map_or(Value::Null, |answer| answer.json().clone());
        let mut items = items_mut(&mut value).map(|items| items.iter_mut()).into_iter().flatten();
        let mut ran = Vec::new();
        for question in self.questions.iter_mut().skip(first).take(count) {
            if let Some(item) = items.next() {
                read_result(question, item);
                put_id(item, &question.id);
            }
            ran.push(QueryRan {
                id: question.id.clone(),
                rows: question.error.is_none().then_some(question.rows.len()),
                error: question.error.clone(),
            });
        }
        drop(items);
        match given {
            Ok(answer) => *answer = Answer::new(value, answer.reveals()),
            Err(error) => {
                let message = error["message"].as_str().unwrap_or("it failed").to_owned();
                for (question, ran) in self.questions.iter_mut().skip(first).take(count).zip(&mut ran) {
                    question.error = Some(message.clone());
                    ran.error = Some(message.clone());
                }
            }
        }
        ran
    }

    /// An earlier result that is shown again gets a number of this run.
    fn note_previous(&mut self, call: &ToolCall, given: &mut Result<Answer, Value>) {
        self.take_first(call);
        let Ok(answer) = given else { return };
        let mut value = answer.json().clone();
        if value.get("sql").is_none() {
            return;
        }
        let mut question = DataQuestion {
            id: format!("Q{}", self.questions.len() + 1),
            question: value["question"].as_str().unwrap_or_default().to_owned(),
            sql: value["sql"].as_str().unwrap_or_default().to_owned(),
            database: value["database"].as_str().map(str::to_owned),
            reused: value["id"].as_str().map(str::to_owned),
            ..DataQuestion::default()
        };
        read_result(&mut question, &value);
        put_id(&mut value, &question.id);
        *answer = Answer::new(value, answer.reveals());
        self.questions.push(question);
    }

    fn note_knowledge(&mut self, name: &str, answer: &Answer) {
        let value = answer.json();
        if name == "resolve_fact" {
            if value["needs_clarification"].as_bool().unwrap_or(true) {
                return;
            }
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let premise = PlanFact {
                term: text(&value["term"]),
                definition: text(&value["answer"]),
                source: text(&value["sources"][0]["name"]),
                confidence: value["confidence"].as_f64().unwrap_or(0.0),
            };
            if !premise.definition.is_empty() && !self.premises.contains(&premise) {
                self.premises.push(premise);
            }
        }
        self.used_knowledge |= answer.content().is_some();
        let room = MAX_TEXT_BYTES.saturating_sub(self.texts.len());
        let text = value.to_string();
        self.texts.push_str(&text[..text.floor_char_boundary(room.min(text.len()))]);
        self.texts.push('\n');
    }

    /// Whether a query gave rows.
    pub(crate) fn has_data(&self) -> bool {
        self.questions.iter().any(|question| question.error.is_none())
    }

    /// The definitions that the question or the answer speaks of.
    pub(crate) fn used_premises(&self, question: &str, answer: &str) -> Vec<PlanFact> {
        let said = format!("{question}\n{answer}").to_lowercase();
        let is_used = |premise: &&PlanFact| !premise.term.is_empty() && said.contains(&premise.term.to_lowercase());
        self.premises.iter().filter(is_used).cloned().collect()
    }

    /// What the answer was made of.
    pub(crate) fn classify(&self, answer: &str) -> Classification {
        let data = self.has_data();
        // A definition that was looked up counts where the answer gives it, or its source.
        let is_given = |premise: &PlanFact| {
            answer.contains(premise.definition.as_str())
                || (!premise.source.is_empty() && answer.contains(premise.source.as_str()))
        };
        match (data, self.used_knowledge || self.premises.iter().any(is_given)) {
            (true, true) => Classification::Mixed,
            (true, false) => Classification::Data,
            (false, true) => Classification::Knowledge,
            (false, false) => Classification::None,
        }
    }

    /// What the data showed, for a run that ended before its answer.
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

/// A result in one line.
fn render_rows(question: &DataQuestion) -> String {
    const MAX_ROWS: usize = 5;
    let cell = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let rows: Vec<String> =
        (question.rows.iter().take(MAX_ROWS)).map(|row| row.iter().map(cell).collect::<Vec<_>>().join(" | ")).collect();
    let more = if question.rows.len() > MAX_ROWS || question.has_more { "; ..." } else { "" };
    if rows.is_empty() { "no rows".into() } else { format!("{}{more}", rows.join("; ")) }
}

/// Reads the columns and rows of a result.
fn read_result(question: &mut DataQuestion, item: &Value) {
    if let Some(error) = item["error"].as_str() {
        question.error = Some(format!("{error}: {}", item["message"].as_str().unwrap_or_default()));
        return;
    }
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    question.error = None;
    question.columns = texts(&item["columns"]);
    question.databases = texts(&item["databases"]);
    let rows = item["rows"].as_array().into_iter().flatten();
    question.rows = rows.filter_map(|row| row.as_array().cloned()).collect();
    question.has_more = item["has_more"].as_bool().unwrap_or(false) || item.get("truncated").is_some();
}

/// Puts the number before everything else.
fn put_id(item: &mut Value, id: &str) {
    if let Some(fields) = item.as_object_mut() {
        fields.shift_remove("id");
        fields.shift_insert(0, "id".into(), json!(id));
    }
}

fn items_mut(value: &mut Value) -> Option<&mut Vec<Value>> {
    match value {
        Value::Array(items) => Some(items),
        Value::Object(fields) => fields.get_mut("items").and_then(Value::as_array_mut),
        _ => None,
    }
}

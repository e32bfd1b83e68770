//! Plans questions. A question that a verified query answers, or that a query covers, becomes one step. Other questions are declined with
//! their possible meanings and the closest sources.

use prospector_agent::plan::{
    Action, DiscoveredContext, Draft, PlanFact, Step, Steps,
    step::{QueryCall, SqlQuery},
};
use prospector_core::Kind;
use prospector_discovery::DiscoveryTools;
use prospector_llm::{ChatRequest, ChatResponse, Message, message::ToolCall};
use prospector_search::Query;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    calls::{Call, RESOLVE_FACT, SEARCH_DOCUMENTS, SEARCH_OPERATIONS, SEARCH_TABLES, items, pair_results, translate},
    question::{find_phrases, is_too_long},
};

/// Maximum number of closest sources of one kind, and of phrases that are looked up as terms.
const MAX_HITS: usize = 4;
const MAX_PHRASES: usize = 3;

/// Minimum relevance of the closest sources.
const MIN_RELEVANCE: f64 = 0.2;

/// The label of every plan.
const AUTHOR: &str = "Written by the built-in planner, a deterministic program and not a language model.";

/// Returns the calls that a plan needs, or the plan.
pub(crate) fn plan(request: &ChatRequest, question: &str, finish: bool) -> ChatResponse {
    let question = question.trim();
    let short = if is_too_long(question) { Query::fitting(question) } else { question };
    let is_first = !request.messages.iter().any(|message| matches!(message, Message::Assistant { .. }));
    if is_first && !finish {
        let has = |name: &str| request.tools.iter().any(|tool| tool.name == name);
        let calls = translate(look(short), request).into_iter().filter(|(name, _)| has(name)).enumerate();
        let calls: Vec<ToolCall> = calls
            .map(|(at, (name, arguments))| ToolCall { id: format!("call_{at}"), name: name.into(), arguments })
            .collect();
        if !calls.is_empty() {
            return ChatResponse { calls, ..ChatResponse::default() };
        }
    }
    let mut draft = write(&Evidence::of(short, &request.messages));
    if short.len() < question.len() {
        draft.clarifications.push(format!(
            "The question has {} characters, and the plan is for the first {max} of them. Shorten the question, or use a language \
             model.",
            question.chars().count(),
            max = Query::MAX_CHARS,
        ));
    }
    ChatResponse { text: serde_json::to_string(&draft).unwrap_or_default(), ..ChatResponse::default() }
}

/// Returns the calls that find everything the question may need.
fn look(question: &str) -> Vec<Call> {
    let mut calls = vec![
        (DiscoveryTools::METRICS_TOOL, json!({"question": question, "dry_run": true})),
        (RESOLVE_FACT, json!({"question": question})),
    ];
    let phrases = find_phrases(question).into_iter().take(MAX_PHRASES);
    calls.extend(phrases.map(|phrase| (RESOLVE_FACT, json!({"question": phrase}))));
    calls.extend([
        (SEARCH_TABLES, json!({"query": question})),
        (SEARCH_OPERATIONS, json!({"query": question})),
        (SEARCH_DOCUMENTS, json!({"query": question})),
        ("search_skills", json!({"query": question})),
    ]);
    calls
}

/// The results of the calls of a run.
#[derive(Default)]
struct Evidence {
    question: String,
    /// The action that answers the question, and its description.
    action: Option<(Action, String)>,
    /// The tables that it reads, and the metrics that it computes.
    tables: Vec<String>,
    metrics: Vec<String>,
    /// Why the question cannot be parsed.
    reason: String,
    /// Its possible meanings.
    choices: Vec<String>,
    definitions: Vec<Definition>,
    nearest: DiscoveredContext,
    /// The closest operations; a context lists only their APIs.
    operations: Vec<String>,
    failures: Vec<String>,
}

/// A definition, with the document that it is in, if it is in one.
struct Definition {
    fact: PlanFact,
    document: Option<String>,
}

impl Evidence {
    fn of(question: &str, messages: &[Message]) -> Evidence {
        let mut evidence = Evidence { question: question.to_owned(), ..Evidence::default() };
        for (call, result) in pair_results(messages) {
            // A search of the compact profile for one kind has the same result as the search of that kind.
            let kind = call.arguments["kinds"][0].as_str().or_else(|| call.name.strip_prefix("search_"));
            match (call.name.as_str(), &result.data) {
                (DiscoveryTools::METRICS_TOOL, Some(data)) if result.is_error => {
                    evidence.reason = text(data, "message")
                }
                (name, data) if result.is_error => {
                    let message = data.as_ref().and_then(|data| data["message"].as_str());
                    evidence.failures.push(format!("{name}: {}", message.unwrap_or("it failed")));
                }
                (_, None) => {}
                (DiscoveryTools::METRICS_TOOL, Some(planned)) => evidence.add_computed(planned),
                (RESOLVE_FACT, Some(resolved)) => evidence.definitions.extend(read_definitions(resolved)),
                (_, Some(found)) => evidence.add_hits(kind.unwrap_or_default().trim_end_matches('s'), found),
            }
        }
        evidence
    }

    /// Uses the query that covers the question: a verified one, declared metrics, or else SQL over tables; or the choices.
    fn add_computed(&mut self, planned: &Value) {
        self.tables = texts(planned, "tables");
        if let Some(name) = planned["verified_query"].as_str() {
            let parameters = planned["parameters"].as_object().cloned().unwrap_or_default();
            let goal = format!("Run the verified query `{name}`: {}", text(planned, "question"));
            self.action = Some((Action::VerifiedQuery(QueryCall { name: name.to_owned(), parameters }), goal));
            return;
        }
        if let Some(choices) = planned["choices"].as_array() {
            self.reason = text(planned, "reason");
            self.choices = choices.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            return;
        }
        let declared: Vec<String> =
            planned["metrics"].as_array().into_iter().flatten().map(|one| text(one, "metric")).collect();
        let is_declared = !declared.is_empty() && planned["declared"] == true;
        let goal = format!("Compute what the question asks for: {}", text(planned, "computed"));
        // The action is parsed in the form of a plan step.
        let read = Step::deserialize(json!({"metrics": planned["read_as"]})).map(|step| step.action);
        let action = match read {
            Ok(metrics @ Action::Metrics(_)) if is_declared => metrics,
            _ => {
                let database = planned["database"].as_str().map(str::to_owned);
                Action::Sql(SqlQuery { sql: text(planned, "sql"), database })
            }
        };
        self.metrics = if is_declared { declared } else { Vec::new() };
        self.action = Some((action, goal));
    }

    /// Adds hits to the closest sources.
    fn add_hits(&mut self, kind: &str, found: &Value) {
        let near = items(found).filter(|item| item["relevance"].as_f64().unwrap_or_default() >= MIN_RELEVANCE);
        for item in near.take(MAX_HITS) {
            let context = &mut self.nearest;
            let (list, id) = match kind {
                "table" => (&mut context.tables, format!("{}.{}", text(item, "database"), text(item, "table"))),
                "operation" => {
                    self.operations.push(format!("{}.{}", text(item, "api"), text(item, "operation")));
                    (&mut context.apis, text(item, "api"))
                }
                "document" => (&mut context.documents, text(item, "document")),
                "skill" => (&mut context.skills, text(item, "name")),
                _ => continue,
            };
            if !list.contains(&id) {
                list.push(id);
            }
        }
    }

    /// Returns the definitions of terms in the question, and their documents.
    fn cite(&self) -> (Vec<PlanFact>, Vec<String>) {
        let lower = self.question.to_lowercase();
        let (mut cited, mut documents): (Vec<PlanFact>, Vec<String>) = Default::default();
        for Definition { fact, document } in &self.definitions {
            let is_known = cited.iter().any(|known| known.term.eq_ignore_ascii_case(&fact.term));
            if lower.contains(&fact.term.to_lowercase()) && !is_known {
                cited.push(fact.clone());
                documents.extend(document.clone().filter(|document| !documents.contains(document)));
            }
        }
        (cited, documents)
    }
}

/// Writes the plan.
fn write(evidence: &Evidence) -> Draft {
    let (facts, documents) = evidence.cite();
    let Some((action, goal)) = &evidence.action else { return decline(evidence, facts) };
    let how = match action {
        Action::VerifiedQuery(_) => "A verified query answers the question.",
        _ => "The step runs the query that covers the question best.",
    };
    Draft {
        reasoning: format!("{AUTHOR} {how}"),
        discovered_context: DiscoveredContext {
            facts,
            tables: evidence.tables.clone(),
            documents,
            metrics: evidence.metrics.clone(),
            ..DiscoveredContext::default()
        },
        plan: Steps { steps: vec![Step::new(1, goal, action.clone())] },
        ..Draft::default()
    }
}

/// Returns the plan of a question that cannot be parsed: no steps, its definitions and the closest sources.
fn decline(evidence: &Evidence, facts: Vec<PlanFact>) -> Draft {
    let nearest = &evidence.nearest;
    let all = [&nearest.tables, &evidence.operations, &nearest.documents, &nearest.skills];
    let names: Vec<String> = all.into_iter().flatten().map(|name| format!("`{name}`")).collect();
    let reason = match evidence.reason.trim_end_matches(['.', '?']) {
        "" => "the question matches no verified query, metric or table of the catalog".to_owned(),
        reason => reason.to_owned(),
    };
    let near = match names.as_slice() {
        [] => "Nothing in the catalog matches it.".to_owned(),
        names => format!("The closest sources: {}.", names.join(", ")),
    };
    let mut reasoning = format!("{AUTHOR} It could not parse the whole question, and does not plan a part of it.");
    if !evidence.failures.is_empty() {
        reasoning.push_str(&format!(" Some tools failed: {}.", evidence.failures.join("; ")));
    }
    Draft {
        reasoning,
        discovered_context: DiscoveredContext { facts, ..nearest.clone() },
        plan: Steps::default(),
        clarifications: vec![format!(
            "Not understood: {reason}. {near} Rephrase the question, or configure a language model."
        )],
        choices: evidence.choices.clone(),
    }
}

/// Parses the definitions in a result of `resolve_fact`.
fn read_definitions(resolved: &Value) -> Vec<Definition> {
    let source = &resolved["sources"][0];
    let is_document = source["type"] == Kind::Document.as_str();
    let confidence = |value: &Value| value["confidence"].as_f64().unwrap_or_default();
    let read = |term: String, definition: String, name: String, is_document: bool, confidence: f64| {
        let document =
            is_document.then(|| name.split_once('#').map_or(name.as_str(), |(document, _)| document).to_owned());
        let is_defined = !term.is_empty() && !definition.is_empty();
        is_defined.then_some(Definition { fact: PlanFact { term, definition, source: name, confidence }, document })
    };
    let own = (resolved["needs_clarification"] != true)
        .then(|| (text(resolved, "term"), text(resolved, "answer"), text(source, "name")))
        .and_then(|(term, answer, name)| read(term, answer, name, is_document, confidence(resolved)));
    let related = resolved["related"].as_array().into_iter().flatten().filter_map(|other| {
        let name = text(other, "source");
        // A source in the same document as the answer is a document too.
        let is_near = is_document && name.split('#').next() == text(source, "name").split('#').next();
        read(text(other, "term"), text(other, "definition"), name, is_near, confidence(other))
    });
    own.into_iter().chain(related).collect()
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    value[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ambiguous_question_has_choices() {
        let choices = ["total quantity by product".to_owned(), "average quantity by product".to_owned()];
        let evidence =
            Evidence { reason: "it is ambiguous".to_owned(), choices: choices.to_vec(), ..Evidence::default() };
        let draft = write(&evidence);
        assert_eq!((draft.choices, draft.plan.steps.len(), draft.clarifications.len()), (choices.to_vec(), 0, 1));
        assert!(draft.clarifications[0].starts_with("Not understood: it is ambiguous. "), "{:?}", draft.clarifications);
    }
}

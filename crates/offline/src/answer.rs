//! Answers questions: with a verified query, with the query that covers the question, or with choices if several are close. Tools find
//! them. Other questions are declined with the reason; a question for an explanation is answered with a definition.

use prospector_agent::ask::{DECLINED, OUT_OF_SCOPE};
use prospector_discovery::DiscoveryTools;
use prospector_llm::{
    ChatRequest, ChatResponse, Message,
    message::{ToolCall, ToolResult},
    purpose::{Mode, PreviousTurn},
};
use prospector_text::stop_words::{OF_QUERIES, OF_QUESTIONS};
use prospector_text::{cut, identifiers, stem};
use serde_json::{Value, json};

use crate::{
    calls::{
        Call, RESOLVE_FACT, SEARCH_DOCUMENTS, SEARCH_OPERATIONS, SEARCH_TABLES, hits, pair_results, relevance,
        translate,
    },
    catalog::{Next, answer_catalog},
    question::{decline_too_long, find_phrases, is_new_form, is_too_long, strip_repeat},
    render::{
        UNDERSTOOD, WHO, read_asked, read_choices, render_again, render_choices, render_computed, render_declined,
        render_verified, write,
    },
};

const RUN: &str = DiscoveryTools::RUN_VERIFIED_TOOL;
const COMPUTE: &str = DiscoveryTools::METRICS_TOOL;

/// Maximum number of phrases that are looked up as terms.
const MAX_PHRASES: usize = 4;
/// Minimum relevance of a hit for a question to be in scope.
const MIN_RELEVANCE: f64 = 0.005;
/// Minimum relevance of an operation that is named with a declined question.
const MIN_OPERATION_RELEVANCE: f64 = 0.5;
/// Minimum relevance of a section that answers a question for an explanation.
const MIN_EXPLANATION_RELEVANCE: f64 = 0.3;
/// Minimum relevance of a section that answers a question without a query, and its minimum lead over tables.
const MIN_PASSAGE_RELEVANCE: f64 = 0.9;
const PASSAGE_MARGIN: f64 = 0.2;
/// Minimum share of the content words of a question that the texts that answer it contain.
const MIN_COVERED: f64 = 0.75;
/// Minimum length of a stem that also covers longer words, in characters: `late` covers `later`.
const MIN_PREFIX: usize = 4;
/// Maximum length of a quoted definition, in characters.
const MAX_DEFINITION: usize = 600;
/// The error code for a question that asks for no numbers.
const NO_FIGURES: &str = "not_found";
/// Maximum number of words of a follow-up question that starts with one of [`SHORT_LEADS`].
const MAX_CHANGE_WORDS: usize = 6;

/// Starts of follow-up questions; those of short ones; and words that make a question complete.
const LEADS: [&str; 6] = ["and ", "only ", "what about ", "how about ", "the same ", "same "];
const SHORT_LEADS: [&str; 8] = ["by ", "per ", "in ", "for ", "since ", "before ", "after ", "from "];
const ASKING: [&str; 8] = ["how", "what", "which", "who", "show", "list", "number", "average"];

/// The turn to answer.
pub(crate) struct Turn<'a> {
    pub(crate) question: &'a str,
    pub(crate) mode: Mode,
    /// The previous turn.
    pub(crate) previous: Option<&'a PreviousTurn>,
    /// The last answered turn, to which follow-up questions refer.
    pub(crate) answered: Option<&'a PreviousTurn>,
    /// The messages of this turn.
    pub(crate) messages: &'a [Message],
    /// Whether no more calls are allowed.
    pub(crate) finish: bool,
}

/// Returns the next calls, or the answer.
pub(crate) fn answer(request: &ChatRequest, turn: &Turn<'_>) -> ChatResponse {
    let understood = find_repeated(turn.question, turn);
    let question = understood.as_deref().unwrap_or(turn.question).trim();
    let say = |text: String| ChatResponse { text, ..ChatResponse::default() };
    if is_too_long(question) {
        return say(format!("{DECLINED}: {}\n\n{WHO}", decline_too_long(question)));
    }
    if turn.mode == Mode::Auditable && is_personal(question) {
        let asked = "Clarification: the question depends on a personal value; which value should be used?";
        return say(format!("{asked}\n\n{WHO}"));
    }
    let results = pair_results(turn.messages);
    let of = |tool: &str| results.iter().find(|(call, _)| call.name == tool).map(|(_, result)| *result);
    let has = |tool: &str| request.tools.iter().any(|known| known.name == tool);
    let call = |calls: Vec<Call>| {
        let round = turn.messages.len();
        let call = |(at, (name, arguments)): (usize, Call)| ToolCall {
            id: format!("ask_{round}_{at}"),
            name: name.to_owned(),
            arguments,
        };
        ChatResponse { calls: calls.into_iter().enumerate().map(call).collect(), ..ChatResponse::default() }
    };
    let can_run = has(DiscoveryTools::QUERY_TOOL) && turn.mode != Mode::Knowledge;
    match answer_catalog(question, request, &results) {
        Some(Next::Say(text)) => return say(text),
        Some(Next::Call(calls)) if !turn.finish => return call(calls),
        _ => {}
    }
    let previous = turn.previous.filter(|_| can_run);
    if let Some(text) = previous.and_then(|previous| repeat_choices(question, previous)) {
        return say(text);
    }
    let chosen = previous.and_then(|previous| choose(question, previous));
    let whole = match (&chosen, resolve_follow_up(question, turn).filter(|_| can_run)) {
        (Some((asked, _)), _) => asked.clone(),
        (None, None) => question.to_owned(),
        (None, Some(Ok(whole))) => whole,
        (None, Some(Err(reason))) => return say(decline(question, &results, reason, &[])),
    };
    match of(COMPUTE).filter(|_| can_run) {
        Some(computed) if !computed.is_error => {
            let data = computed.data.as_ref().unwrap_or(&Value::Null);
            // What a choice leaves out of the question is not part of the answer.
            let choice = chosen.as_ref().map(|(_, choice)| choice.as_str());
            let understood = choice.or((whole != turn.question.trim()).then_some(&whole));
            match (data["choices"].as_array(), of(RUN)) {
                (Some(choices), _) => say(offer(question, &results, data, choices)),
                (None, _) if data["verified_query"].is_null() => say(render_computed(data, understood)),
                (None, None) if !turn.finish => {
                    call(vec![(RUN, json!({"name": data["verified_query"], "parameters": data["parameters"]}))])
                }
                (None, Some(ran)) if !ran.is_error => {
                    let rows = ran.data.as_ref().unwrap_or(&Value::Null);
                    say(render_verified(rows, &data["parameters"], understood))
                }
                (None, Some(failed)) => say(answer_failed(question, &results, failed)),
                (None, None) => say(decline(question, &results, "the call limit was reached before the query", &[])),
            }
        }
        Some(failed) => say(answer_failed(question, &results, failed)),
        None if !turn.finish && !request.tools.is_empty() && results.is_empty() => {
            let mut arguments = json!({"question": whole});
            if let Some((_, choice)) = chosen {
                arguments["choice"] = json!(choice);
            }
            let compute = (COMPUTE, arguments);
            let calls = translate(look(question), request).into_iter().filter(|(name, _)| has(name));
            call(can_run.then_some(compute).into_iter().chain(calls).collect())
        }
        None if turn.mode == Mode::Knowledge => say(explain(question, &results, MIN_EXPLANATION_RELEVANCE)
            .unwrap_or_else(|| decline(question, &results, "no fact or document of the catalog explains it", &[]))),
        None if can_run => say(decline(question, &results, "the call limit was reached before the query", &[])),
        None => say(decline(question, &results, "no database of the catalog contains rows", &[])),
    }
}

/// Offers the possible meanings of a question, or the closest queries.
fn offer(question: &str, results: &[(&ToolCall, &ToolResult)], data: &Value, choices: &[Value]) -> String {
    if let Some(defined) = define(question, results) {
        return defined;
    }
    let choices: Vec<String> = choices.iter().map(write).collect();
    let reason = write(&data["reason"]);
    if data["nearest"] != true {
        let known: Vec<String> = list_definitions(question, results).into_iter().map(render_definition).collect();
        return render_choices(&choices, &reason, &known);
    }
    let passage = (data["asks_for_figures"] != true).then(|| find_passage(question, results)).flatten();
    passage.unwrap_or_else(|| decline(question, results, &reason, &choices))
}

/// Returns the calls that find definitions, tables and documents for a question.
fn look(question: &str) -> Vec<Call> {
    let mut calls = vec![
        (RESOLVE_FACT, json!({"question": question})),
        (SEARCH_TABLES, json!({"query": question})),
        (SEARCH_OPERATIONS, json!({"query": question})),
        (SEARCH_DOCUMENTS, json!({"query": question})),
    ];
    let phrases = find_phrases(question).into_iter().take(MAX_PHRASES);
    calls.extend(phrases.map(|phrase| (RESOLVE_FACT, json!({"question": phrase}))));
    calls
}

/// Returns the previous question and the selected choice, if the previous answer offered choices and this question is the number or the
/// text of one.
fn choose(question: &str, previous: &PreviousTurn) -> Option<(String, String)> {
    let choices = read_choices(&previous.answer);
    let choice = match read_number(question) {
        Some(number) => number.checked_sub(1).and_then(|at| choices.get(at).copied()),
        None => choices.into_iter().find(|choice| choice.eq_ignore_ascii_case(question)),
    };
    let asked = read_asked(&previous.answer).unwrap_or(&previous.question);
    choice.map(|choice| (asked.trim().to_owned(), choice.to_owned()))
}

/// Offers the choices of the previous answer again if this question is a number that is not one of them.
fn repeat_choices(question: &str, previous: &PreviousTurn) -> Option<String> {
    let number = read_number(question)?;
    let choices: Vec<String> = read_choices(&previous.answer).into_iter().map(str::to_owned).collect();
    let is_wrong = !choices.is_empty() && !(1..=choices.len()).contains(&number);
    is_wrong.then(|| render_again(number, whole_question(previous), &choices))
}

/// Returns the number that a reply consists of.
fn read_number(reply: &str) -> Option<usize> {
    reply.trim_end_matches('.').parse().ok()
}

/// Combines a follow-up question with the last answered one. `None` for another question; an error if that has no data, or no question was
/// answered.
fn resolve_follow_up(question: &str, turn: &Turn<'_>) -> Option<Result<String, &'static str>> {
    let lower = question.to_lowercase();
    let begins = |text: &str, leads: &[&str]| leads.iter().any(|lead| text.starts_with(lead));
    let words: Vec<&str> = lower.split_whitespace().collect();
    let is_short = words.len() <= MAX_CHANGE_WORDS && !words.iter().any(|word| ASKING.contains(word));
    turn.previous?;
    let change = strip_repeat(question).filter(|rest| begins(rest, &LEADS) || begins(rest, &SHORT_LEADS));
    let is_follow_up =
        change.is_some() || begins(&lower, &LEADS) || begins(&lower, &SHORT_LEADS) && is_short || is_limit(&words);
    if !is_follow_up {
        return None;
    }
    let Some(answered) = turn.answered.filter(|answered| answered.has_data) else {
        return Some(Err("it refers to a question that was not answered from data: ask it in full"));
    };
    Some(Ok(format!("{}? {}", whole_question(answered), change.unwrap_or(question))))
}

/// Returns the previous question if this one only asks for it again, or the last answered one if it asks for another form of its result.
fn find_repeated(question: &str, turn: &Turn<'_>) -> Option<String> {
    let is_repeat = strip_repeat(question).is_some_and(str::is_empty);
    let is_form = |answered: &&PreviousTurn| answered.has_data && is_new_form(question);
    let repeated = if is_repeat { turn.answered.or(turn.previous) } else { turn.answered.filter(is_form) };
    repeated.map(|repeated| format!("{}?", whole_question(repeated)))
}

/// Returns the previous question as it was understood, without its last punctuation mark.
fn whole_question(previous: &PreviousTurn) -> &str {
    let understood = previous.answer.strip_prefix(UNDERSTOOD).and_then(|rest| rest.split_once('”'));
    let understood = understood.map(|(before, _)| before).or_else(|| read_asked(&previous.answer));
    let before = understood.unwrap_or(&previous.question);
    before.trim().trim_end_matches(['?', '.', ' '])
}

/// Whether the words ask for fewer rows of a result only: `top 5`, `show only the top 5 of that`.
fn is_limit(words: &[&str]) -> bool {
    let is_number = |word: &&str| word.parse::<u32>().is_ok();
    let mut others = words.iter().filter(|word| !["top", "only"].contains(*word) && !is_number(word));
    words.contains(&"top") && words.iter().any(is_number) && others.all(|word| OF_QUERIES.contains(word))
}

/// Returns whether an answer would depend on a value that only the user knows.
fn is_personal(question: &str) -> bool {
    let lower = question.to_lowercase();
    !lower.starts_with("show me")
        && !lower.starts_with("give me")
        && lower.split(|c: char| !c.is_alphanumeric()).any(|word| ["my", "mine", "i", "me"].contains(&word))
}

/// Answers a question that no query covers: with definitions or a passage if they cover it and it asks for no numbers, else by declining
/// it, with the nearest passage.
fn answer_failed(question: &str, results: &[(&ToolCall, &ToolResult)], failed: &ToolResult) -> String {
    let data = failed.data.as_ref().unwrap_or(&Value::Null);
    let reason = data["message"].as_str().unwrap_or("it failed");
    if let Some(defined) = define(question, results) {
        return defined;
    }
    let passage = (data["error"] == NO_FIGURES).then(|| find_passage(question, results)).flatten();
    passage.unwrap_or_else(|| decline(question, results, reason, &[]))
}

/// Returns the passages that cover a question.
fn find_passage(question: &str, results: &[(&ToolCall, &ToolResult)]) -> Option<String> {
    // If a table is nearly as relevant, the passage describes its rows and is not an answer.
    let table = hits(results, "table").map(relevance).fold(0.0, f64::max);
    let found = list_explanations(question, results, MIN_PASSAGE_RELEVANCE.max(table + PASSAGE_MARGIN));
    (!found.is_empty() && covers(&found, question)).then(|| join(&found))
}

/// Declines a question with the reason, the closest queries as choices, and the nearest sources.
fn decline(question: &str, results: &[(&ToolCall, &ToolResult)], reason: &str, choices: &[String]) -> String {
    let mut text = render_declined(reason, choices);
    let definitions = list_definitions(question, results);
    let is_near = |kind: &&str| hits(results, kind).any(|hit| relevance(hit) >= MIN_RELEVANCE);
    let operations: Vec<String> = (hits(results, "operation").filter(|hit| relevance(hit) >= MIN_OPERATION_RELEVANCE))
        .map(|hit| match hit["id"].as_str() {
            Some(id) => format!("`{id}`"),
            None => format!("`{}.{}`", write(&hit["api"]), write(&hit["operation"])),
        })
        .collect();
    if !operations.is_empty() {
        text.push_str(&format!("\n\nOperations that may answer it: {}.", operations.join(", ")));
    }
    if choices.is_empty() && !["table", "document", "operation"].iter().any(is_near) && definitions.is_empty() {
        text.push_str(&format!("\n\n{OUT_OF_SCOPE}: nothing in the catalog matches it."));
    }
    // Without brackets: a passage that does not answer the question is no citation.
    let passage = hits(results, "document")
        .filter(|hit| definitions.is_empty() && relevance(hit) >= MIN_PASSAGE_RELEVANCE)
        .find_map(|hit| excerpt(hit).map(|text| (cut::one_line(text), place(hit))));
    if let Some((passage, place)) = passage {
        text.push_str(&format!("\n\nThe nearest source: {passage} ({place})"));
    }
    for definition in definitions {
        text.push_str(&format!("\n\n{}", render_definition(definition)));
    }
    format!("{text}\n\n{WHO}")
}

/// Renders a definition with its source.
fn render_definition(definition: &Value) -> String {
    format!("{} ({})", write(&definition["answer"]), write(&definition["sources"][0]["name"]))
}

/// A definition or a passage that explains a question.
struct Explanation {
    /// The text with its source.
    text: String,
    /// Its words: of the term, the text and the place.
    words: String,
}

/// Returns the definitions of the terms of a question, or else the section that answers it, with at least this relevance.
fn explain(question: &str, results: &[(&ToolCall, &ToolResult)], least: f64) -> Option<String> {
    let found = list_explanations(question, results, least);
    if found.is_empty() { None } else { Some(join(&found)) }
}

fn join(found: &[Explanation]) -> String {
    let texts: Vec<&str> = found.iter().map(|one| one.text.as_str()).collect();
    format!("{}\n\n{WHO}", texts.join("\n\n"))
}

/// Returns the explanations of a question, as [`explain`] does.
fn list_explanations(question: &str, results: &[(&ToolCall, &ToolResult)], least: f64) -> Vec<Explanation> {
    let of_definition = |definition: &&Value| {
        let whole = definition["definition"].as_str().or(definition["answer"].as_str()).unwrap_or_default();
        let (whole, source) = (cut::sentences(whole, MAX_DEFINITION), write(&definition["sources"][0]["name"]));
        Explanation {
            words: format!("{} {whole} {source}", write(&definition["term"])),
            text: format!("{whole} (source: {source}, confidence {})", definition["confidence"]),
        }
    };
    let of_passage = |hit: &Value| {
        let text = render_passage(hit)?;
        Some(Explanation { words: text.clone(), text })
    };
    let defined: Vec<Explanation> = list_definitions(question, results).iter().take(2).map(of_definition).collect();
    if !defined.is_empty() {
        return defined;
    }
    hits(results, "document").filter(|hit| relevance(hit) >= least).find_map(of_passage).into_iter().collect()
}

/// Returns whether explanations contain the content words of a question. If not, it asks for more than they say: the definition of a large
/// dog does not answer `heaviest dog`.
fn covers(found: &[Explanation], question: &str) -> bool {
    let known: Vec<String> = found.iter().flat_map(|one| list_stems(&one.words)).collect();
    let is_content = |word: &String| !OF_QUERIES.contains(&word.as_str()) && !OF_QUESTIONS.contains(&word.as_str());
    let asked = identifiers::words(&question.to_lowercase()).into_iter().filter(is_content);
    let asked: Vec<String> = asked.map(|word| stem::snowball(&word)).collect();
    let is_known = |stem: &&String| {
        let is_long = stem.chars().count() >= MIN_PREFIX;
        known.iter().any(|known| known == *stem || is_long && known.starts_with(stem.as_str()))
    };
    asked.iter().filter(is_known).count() as f64 >= MIN_COVERED * asked.len() as f64
}

/// Returns the definition of a term if the question asks for nothing else: `what does EMEA mean?`
fn define(question: &str, results: &[(&ToolCall, &ToolResult)]) -> Option<String> {
    let is_whole = |(call, result): &(&ToolCall, &ToolResult)| {
        let is_asked = call.name == RESOLVE_FACT && call.arguments["question"] == question;
        is_asked && result.data.as_ref().is_some_and(|data| data["is_whole"] == true)
    };
    if results.iter().any(is_whole) { explain(question, results, MIN_PASSAGE_RELEVANCE) } else { None }
}

/// Returns the stems of the words of a text.
fn list_stems(text: &str) -> Vec<String> {
    identifiers::words(text).iter().map(|word| stem::snowball(word)).collect()
}

/// Renders a passage with its citation.
fn render_passage(hit: &Value) -> Option<String> {
    // The line before a quotation cites for it.
    excerpt(hit).map(|text| format!("From [{}]:\n\n> {}", place(hit), text.trim().replace('\n', "\n> ")))
}

/// Returns the id of a section.
fn place(hit: &Value) -> String {
    let named = || format!("{}#{}", write(&hit["document"]), write(&hit["section"]));
    hit["id"].as_str().map_or_else(named, str::to_owned)
}

/// Returns the definitions of terms in the question.
fn list_definitions<'a>(question: &str, results: &[(&ToolCall, &'a ToolResult)]) -> Vec<&'a Value> {
    let asked = list_stems(question);
    let mut found: Vec<&Value> = Vec::new();
    for (_, result) in results.iter().filter(|(call, result)| call.name == RESOLVE_FACT && !result.is_error) {
        let Some(value) = result.data.as_ref().filter(|value| value["needs_clarification"] != true) else { continue };
        let term = list_stems(value["term"].as_str().unwrap_or_default());
        let is_asked = !term.is_empty() && asked.windows(term.len()).any(|window| *window == term);
        let is_listed = found.iter().any(|known| known["term"] == value["term"]);
        if is_asked && !is_listed && !value["answer"].is_null() {
            found.push(value);
        }
    }
    found
}

/// Returns the text of a hit.
fn excerpt(hit: &Value) -> Option<&str> {
    hit["excerpt"].as_str().or(hit["description"].as_str()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanations_cover_questions_for_what_they_say() {
        let text = "A large dog is a dog that weighs 25 kg or more. Later cancellations cost 15 GBP.";
        let found = [Explanation { text: text.to_owned(), words: text.to_owned() }];
        for (question, expected) in [
            ("What is a large dog?", true),
            ("What does it cost to cancel late?", true),
            ("heaviest dog", false),
            ("largest dog", false),
            ("Which is the heaviest large dog?", false),
        ] {
            assert_eq!(covers(&found, question), expected, "{question}");
        }
    }

    #[test]
    fn definitions_are_quoted_whole_up_to_a_sentence() {
        let call = ToolCall { id: "1".to_owned(), name: RESOLVE_FACT.to_owned(), arguments: Value::Null };
        let (whole, long) = ("It is free. Later it costs 15 GBP.", "It is free, and so on. ".repeat(40));
        for definition in [whole, long.as_str()] {
            let data = json!({
                "term": "policy", "answer": "It is free.", "definition": definition, "confidence": 0.9,
                "sources": [{"name": "handbook#Policy"}], "needs_clarification": false,
            });
            let (call_id, name, content) = (call.id.clone(), call.name.clone(), String::new());
            let result = ToolResult { call_id, name, content, data: Some(data), is_error: false };
            let explained = explain("policy", &[(&call, &result)], 1.0).unwrap_or_default();
            let quoted = explained.split(" (source").next().unwrap_or_default();
            assert!(quoted.ends_with('.') && quoted.len() <= MAX_DEFINITION, "{explained}");
            assert!(definition != whole || quoted == whole, "{explained}");
        }
    }

    #[test]
    fn a_number_that_is_not_offered_repeats_the_choices() {
        let choices = ["number of visits".to_owned(), "number of animals".to_owned()];
        let mut previous = PreviousTurn {
            question: "how many old?".to_owned(),
            answer: render_choices(&choices, "the question is ambiguous", &[]),
            has_data: false,
        };
        assert_eq!(repeat_choices("2", &previous), None);
        for number in ["7", "0", "9."] {
            previous.answer = repeat_choices(number, &previous).unwrap_or_default();
            previous.question = number.to_owned();
        }
        assert_eq!(choose("2", &previous), Some(("how many old".to_owned(), "number of animals".to_owned())));
    }
}

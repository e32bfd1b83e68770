//! The conversation of a run: refers to parts that were shown before, and shortens old results beyond the token limit.

use std::collections::{BTreeMap, HashMap};

use prospector_core::mark::{as_data, as_error};
use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tokens;
use prospector_core::tool::{Answer, compact};
use prospector_llm::{
    Message,
    message::{ToolCall, ToolResult},
};
use serde_json::{Map, Value, json};

/// Minimum size of a part that is replaced by a reference when it is repeated, in bytes.
const MIN_REFERRED_BYTES: usize = 160;

/// Maximum number of names, and of characters of the first line, in a shortened result.
const MAX_NAMES: usize = 200;
const MAX_LINE_CHARS: usize = 160;

/// The conversation.
pub(crate) struct History {
    messages: Vec<Message>,
    /// The number of initial messages.
    opening: usize,
    /// The names that each result reveals, by message index; removed when it is shortened.
    revealed: HashMap<usize, Vec<Vec<Resource>>>,
    /// The parts of results that are complete in the conversation.
    shown: HashMap<String, Shown>,
    /// The number of calls with results.
    calls: u32,
    /// The system prompt and the tools, for counting.
    fixed: Vec<String>,
    limit: usize,
    /// Whether results include their JSON data.
    with_data: bool,
}

/// The location of a part.
struct Shown {
    /// The number of the call, from 1.
    call: u32,
    /// The index of the message.
    message: usize,
}

/// The outcome of a call.
pub(crate) enum Given {
    Answer(Answer),
    /// The JSON of an error of a tool, which may contain text of a source.
    Failed(Value),
    /// The JSON of an error of the loop: the call was refused or did not finish.
    Refused(Value),
}

impl History {
    /// Starts a conversation. `fixed` is sent with every request; beyond `limit` tokens of both, old results are shortened. Results include
    /// their JSON data only `with_data`.
    pub(crate) fn new(opening: Vec<Message>, fixed: Vec<String>, limit: u32, with_data: bool) -> Self {
        History {
            opening: opening.len(),
            messages: opening,
            revealed: HashMap::new(),
            shown: HashMap::new(),
            calls: 0,
            fixed,
            limit: limit as usize,
            with_data,
        }
    }

    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the pending calls of the last message.
    pub(crate) fn open_calls(&self) -> Vec<ToolCall> {
        match self.messages.last() {
            Some(Message::Assistant { calls, .. }) => calls.clone(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.messages.push(Message::User { text: text.into() });
    }

    pub(crate) fn assistant(&mut self, text: String, calls: Vec<ToolCall>) {
        self.messages.push(Message::Assistant { text, calls });
    }

    /// Adds the results of a round in the order of its calls; repeated parts become references. Results of earlier rounds are shortened
    /// beyond the token limit. Returns the size of each result in bytes.
    pub(crate) fn results(&mut self, given: Vec<(&ToolCall, Given)>) -> Vec<usize> {
        let message = self.messages.len();
        let mut results = Vec::with_capacity(given.len());
        let mut revealed = Vec::with_capacity(given.len());
        for (call, given) in given {
            self.calls += 1;
            let (content, data, is_error, names) = match given {
                Given::Answer(answer) => {
                    let names = answer.reveals();
                    let (text, data) = self.refer(answer, message);
                    (as_data(&text), Some(data), false, names)
                }
                Given::Failed(error) => {
                    // Data of the built-in planner needs no delimiters against injected instructions.
                    let data = error.clone();
                    (as_error(error).to_string(), Some(data), true, Vec::new())
                }
                Given::Refused(error) => (error.to_string(), Some(error), true, Vec::new()),
            };
            let data = data.filter(|_| self.with_data);
            results.push(ToolResult { call_id: call.id.clone(), name: call.name.clone(), content, data, is_error });
            revealed.push(names);
        }
        let sizes = results.iter().map(|result| result.content.len()).collect();
        self.messages.push(Message::ToolResults { results });
        self.revealed.insert(message, revealed);
        self.shorten(message);
        sizes
    }

    /// Returns the text of an answer, with references to parts that the conversation already contains, and its complete JSON.
    fn refer(&mut self, answer: Answer, message: usize) -> (String, Value) {
        let (mut text, value) = (answer.render(), answer.into_json());
        let list = value.as_array().or_else(|| value["items"].as_array());
        let items = list.filter(|items| items.len() == text.parts.len());
        for (at, part) in text.parts.iter_mut().enumerate() {
            if part.len() < MIN_REFERRED_BYTES {
                continue;
            }
            let Some(shown) = self.shown.get(part.as_str()) else {
                self.shown.insert(part.clone(), Shown { call: self.calls, message });
                continue;
            };
            let mut said = json!({"unchanged": true, "shown_in": format!("call {}", shown.call)});
            if let Some(id) = items.and_then(|items| items[at].get("id")) {
                said["id"] = id.clone();
            }
            *part = compact::render(&said);
        }
        (text.to_string(), value)
    }

    /// Shortens every result. Returns whether any changed.
    pub(crate) fn shorten_all(&mut self) -> bool {
        let mut changed = false;
        for (place, revealed) in std::mem::take(&mut self.revealed) {
            if let Message::ToolResults { results } = &mut self.messages[place] {
                for (result, names) in results.iter_mut().zip(&revealed) {
                    let before = result.content.len();
                    shorten(result, names);
                    changed |= result.content.len() != before;
                }
            }
        }
        self.shown.clear();
        changed
    }

    /// Replaces all messages after the initial ones by one. Returns whether there were any.
    pub(crate) fn replace_all(&mut self, text: String) -> bool {
        if self.messages.len() == self.opening {
            return false;
        }
        self.messages.truncate(self.opening);
        self.revealed.clear();
        self.shown.clear();
        self.say(text);
        true
    }

    /// Shortens results before message `current`, the oldest first, if the conversation exceeds the limit. It continues down to half of the
    /// limit, because each change invalidates the provider's cache.
    fn shorten(&mut self, current: usize) {
        let estimated: usize = self.fixed.iter().map(|text| tokens::estimate(text)).sum::<usize>()
            + self.messages.iter().map(|message| message.size(tokens::estimate)).sum::<usize>();
        if estimated <= self.limit {
            return;
        }
        let mut total: usize = self.fixed.iter().map(|text| tokens::count(text)).sum::<usize>()
            + self.messages.iter().map(|message| message.size(tokens::count)).sum::<usize>();
        if total <= self.limit {
            return;
        }
        for place in 0..current {
            if total <= self.limit / 2 {
                break;
            }
            let Some(revealed) = self.revealed.remove(&place) else { continue };
            let before = self.messages[place].size(tokens::count);
            if let Message::ToolResults { results } = &mut self.messages[place] {
                for (result, names) in results.iter_mut().zip(&revealed) {
                    shorten(result, names);
                }
            }
            self.shown.retain(|_, shown| shown.message != place);
            total = total + self.messages[place].size(tokens::count) - before;
        }
    }
}

/// Reduces a result to its first line and its names, if that is shorter.
fn shorten(result: &mut ToolResult, names: &[Resource]) {
    if result.is_error {
        return;
    }
    let text = result.content.strip_prefix("<data>").unwrap_or(&result.content);
    let line: String = text.lines().next().unwrap_or_default().chars().take(MAX_LINE_CHARS).collect();
    let mut kept: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for name in names.iter().take(MAX_NAMES) {
        match (name.kind, name.id.rsplit_once('.')) {
            (ResourceKind::Column, Some((table, column))) => {
                kept.entry(format!("columns of {table}")).or_default().push(column.into());
            }
            _ => kept.entry(name.kind.as_str().to_owned()).or_default().push(name.id.as_str().into()),
        }
    }
    let mut said = Map::new();
    said.insert("shortened".into(), "call the tool again for the complete result".into());
    said.insert("began".into(), line.into());
    said.insert("names".into(), kept.into_iter().map(|(kind, names)| (kind, Value::Array(names))).collect());
    if names.len() > MAX_NAMES {
        said.insert("more_names".into(), (names.len() - MAX_NAMES).into());
    }
    let content = as_data(&compact::render(&said.into()));
    if content.len() < result.content.len() {
        result.content = content;
        result.data = None;
    }
}

#[cfg(test)]
mod tests {
    use prospector_core::tool::{Cut, Text, ToolOutput};
    use serde::Serialize;

    use super::*;

    fn call(at: usize) -> ToolCall {
        ToolCall { id: format!("call_{at}"), name: "describe".into(), arguments: json!({}) }
    }

    /// Returns an answer about a table, of about `size` tokens.
    fn about(table: &str, size: usize) -> Answer {
        let table = Resource::new(ResourceKind::Table, table);
        let column = Resource::new(ResourceKind::Column, format!("{}.total", table.id));
        Answer::new(json!({"table": table.id, "text": "word ".repeat(size).trim_end()}), vec![table, column])
    }

    /// An answer with several parts.
    #[derive(Clone, Serialize)]
    #[serde(transparent)]
    struct InParts {
        value: Value,
        #[serde(skip)]
        parts: Vec<String>,
    }

    impl ToolOutput for InParts {
        fn render(&self, _: &Cut) -> Text {
            Text { parts: self.parts.clone(), rest: String::new() }
        }
    }

    /// Checks the results after these rounds of answers.
    fn check(limit: u32, rounds: Vec<Vec<Answer>>, expected: &[&str]) -> History {
        let mut history =
            History::new(vec![Message::User { text: "Question".into() }], vec!["You plan.".into()], limit, true);
        for (at, answers) in rounds.into_iter().enumerate() {
            let calls: Vec<ToolCall> = (0..answers.len()).map(|n| call(10 * at + n)).collect();
            history.assistant(String::new(), calls.clone());
            history.results(calls.iter().zip(answers.into_iter().map(Given::Answer)).collect());
        }
        let said: Vec<&str> = (history.messages().iter())
            .filter_map(|message| match message {
                Message::ToolResults { results } => Some(results),
                _ => None,
            })
            .flatten()
            .map(|result| result.content.as_str())
            .collect();
        assert_eq!(said.len(), expected.len());
        for (said, expected) in said.iter().zip(expected) {
            assert!(said.contains(expected) && said.len() < 100_000, "{said} does not contain {expected}");
        }
        history
    }

    #[test]
    fn repeated_results_become_references() {
        let rounds =
            vec![vec![about("a", 90), about("b", 90)], vec![about("b", 90), about("b", 91)], vec![about("b", 9)]];
        check(10_000, rounds, &["word", "word", "unchanged: true\nshown_in: call 2", "word", "word"]);
    }

    #[test]
    fn repeated_parts_become_references() {
        let both = |first: &str, second: &str| {
            let parts: Vec<String> = [first, second].iter().map(|table| about(table, 90).text()).collect();
            let value =
                json!([{"kind": "table", "id": first, "answer": 1}, {"kind": "table", "id": second, "answer": 2}]);
            Answer::of(InParts { value, parts }, "")
        };
        let history =
            check(10_000, vec![vec![both("a", "b")], vec![both("b", "c")]], &["table: a", "id: b\n---\ntable: c"]);
        let Some(Message::ToolResults { results }) = history.messages().last() else { panic!("no results") };
        // The data is complete.
        let value = json!([{"kind": "table", "id": "b", "answer": 1}, {"kind": "table", "id": "c", "answer": 2}]);
        assert_eq!(results[0].data, Some(value));
    }

    #[test]
    fn shortens_old_results_to_names() {
        let rounds = vec![vec![about("a", 500)], vec![about("b", 500)], vec![about("c", 900), about("d", 900)]];
        let short = "names:\n \"columns of a\": [total]\n table: [a]";
        let history = check(1_500, rounds, &[short, "shortened", "word word", "word word"]);
        // Shortened parts can be shown again.
        assert!(!history.shown.contains_key(&about("a", 500).text()));
        assert!(history.shown.contains_key(&about("c", 900).text()));
    }

    #[test]
    fn keeps_results_within_limit() {
        check(1_500, vec![vec![about("a", 500)], vec![about("b", 500)]], &["word word", "word word"]);
    }
}

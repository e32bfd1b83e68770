//! The conversation of a run: what was said, what is not said twice, and what is shortened when it grows too long.

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

/// A part of an answer that is shorter than this, in bytes, is repeated rather than referred to.
const MIN_REFERRED_BYTES: usize = 160;

/// How many names a shortened result keeps, and how many characters of its first line.
const MAX_NAMES: usize = 200;
const MAX_LINE_CHARS: usize = 160;

/// The conversation.
pub(crate) struct History {
    messages: Vec<Message>,
    /// How many of them were there at the beginning.
    opening: usize,
    /// The names that each result reveals, by the place of its message; emptied when it is shortened.
    revealed: HashMap<usize, Vec<Vec<Resource>>>,
    /// The parts of answers that stand in the conversation as they were shown.
    shown: HashMap<String, Shown>,
    /// How many calls were answered.
    calls: u32,
    /// The system prompt and the tools, as they are counted.
    fixed: Vec<String>,
    limit: usize,
    /// Whether the model reads results as data too.
    with_data: bool,
}

/// Where a part was shown.
struct Shown {
    /// By which call, from 1.
    call: u32,
    /// In which message.
    message: usize,
}

/// What a call gave.
pub(crate) enum Given {
    Answer(Answer),
    /// The JSON of an error, as a tool said it: it may repeat what a source said.
    Failed(Value),
    /// The JSON of an error in the loop's own words: the call was not made, or not to its end.
    Refused(Value),
}

impl History {
    /// A conversation that begins so. `fixed` is what is sent with it each time; beyond `limit` tokens of both, old results
    /// are shortened. Results carry their data only `with_data`.
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

    /// The calls of the last turn that have no results yet.
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

    /// The results of a round, in the order of its calls; what was shown before is only referred to. Returns the size of
    /// each in bytes. Results of earlier rounds are shortened if there is no room for them any more.
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
                    // Marks are for those who read instructions, not for a program.
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

    /// The text of an answer, with a word in the place of each part that stands in the conversation already, and its whole
    /// JSON: a program keeps no conversation in its head.
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

    /// Shortens every result. Whether that changed any.
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

    /// Puts one message in the place of all that was said since the beginning. Whether anything was said.
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

    /// Shortens results of messages before `current`, the oldest first, if there is too much. Once it has begun, it goes
    /// on to half of the limit: each change costs what a provider has cached.
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

/// Keeps the first line of a result and the names in it, if that is shorter.
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
    said.insert("shortened".into(), "call again for all of it".into());
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

    /// An answer about a table, of about this many tokens.
    fn about(table: &str, size: usize) -> Answer {
        let table = Resource::new(ResourceKind::Table, table);
        let column = Resource::new(ResourceKind::Column, format!("{}.total", table.id));
        Answer::new(json!({"table": table.id, "text": "word ".repeat(size).trim_end()}), vec![table, column])
    }

    /// An answer of several parts.
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

    /// What the results say after these rounds of answers.
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
            assert!(said.contains(expected) && said.len() < 100_000, "{said} does not hold {expected}");
        }
        history
    }

    #[test]
    fn what_was_shown_is_referred_to() {
        let rounds =
            vec![vec![about("a", 90), about("b", 90)], vec![about("b", 90), about("b", 91)], vec![about("b", 9)]];
        check(10_000, rounds, &["word", "word", "unchanged: true\nshown_in: call 2", "word", "word"]);
    }

    #[test]
    fn the_parts_of_an_answer_are_referred_to_one_by_one() {
        let both = |first: &str, second: &str| {
            let parts: Vec<String> = [first, second].iter().map(|table| about(table, 90).text()).collect();
            let value =
                json!([{"kind": "table", "id": first, "answer": 1}, {"kind": "table", "id": second, "answer": 2}]);
            Answer::of(InParts { value, parts }, "")
        };
        let history =
            check(10_000, vec![vec![both("a", "b")], vec![both("b", "c")]], &["table: a", "id: b\n---\ntable: c"]);
        let Some(Message::ToolResults { results }) = history.messages().last() else { panic!("no results") };
        // A model that is a program reads the whole.
        let value = json!([{"kind": "table", "id": "b", "answer": 1}, {"kind": "table", "id": "c", "answer": 2}]);
        assert_eq!(results[0].data, Some(value));
    }

    #[test]
    fn old_results_are_shortened_to_their_names_and_the_last_are_kept() {
        let rounds = vec![vec![about("a", 500)], vec![about("b", 500)], vec![about("c", 900), about("d", 900)]];
        let short = "names:\n \"columns of a\": [total]\n table: [a]";
        let history = check(1_500, rounds, &[short, "shortened", "word word", "word word"]);
        // What is shortened is no longer shown: it may be asked for again.
        assert!(!history.shown.contains_key(&about("a", 500).text()));
        assert!(history.shown.contains_key(&about("c", 900).text()));
    }

    #[test]
    fn what_fits_is_left_alone() {
        check(1_500, vec![vec![about("a", 500)], vec![about("b", 500)]], &["word word", "word word"]);
    }
}

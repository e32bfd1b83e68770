//! Recorded runs of the planner, and their file format.
//!
//! `--record FILE` writes one JSON object per line, one per question:
//!
//! ```text
//! {"format": 1, "question": {"id", "query", "gold", "kind"?, "dataset"?, "grades"?},
//!  "model", "profile", "form", "system": [text], "tools": [{"name", "description", "input_schema"}],
//!  "rounds": [{"kept", "messages": [...], "response": {"text", "calls", "usage", "cut"}}],
//!  "shown": [{"kind", "id"}], "plan": {...}}
//! ```
//!
//! The request of a round consists of the first `kept` messages of the previous request, then `messages`, with `system`
//! and `tools`. `shown` lists the names revealed by the prompt and by tool results. `--replay FILE` reads the file:
//! counting needs no model, so that each conversation is paid for once.

use std::path::Path;

use prospector_agent::plan::Plan;
use prospector_core::record::Resource;
use prospector_core::tool::ToolSpec;
use prospector_discovery::{Profile, prompt::PromptForm};
use prospector_llm::{ChatRequest, ChatResponse, Message};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error::{BenchError, LineError},
    jsonl,
    questions::Question,
};

/// The supported format.
const FORMAT: u32 = 1;

/// A recorded run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Conversation {
    format: u32,
    pub(crate) question: Question,
    pub(crate) model: String,
    pub(crate) profile: Profile,
    pub(crate) form: String,
    pub(crate) system: Vec<String>,
    pub(crate) tools: Vec<Value>,
    pub(crate) rounds: Vec<Round>,
    pub(crate) shown: Vec<Resource>,
    pub(crate) plan: Plan,
}

/// A request and its response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Round {
    /// Number of messages shared with the start of the previous request.
    pub(crate) kept: usize,
    /// The new messages.
    pub(crate) messages: Vec<Message>,
    pub(crate) response: ChatResponse,
}

/// The metadata of a run.
pub(crate) struct Run {
    pub(crate) question: Question,
    pub(crate) model: String,
    pub(crate) profile: Profile,
    pub(crate) form: PromptForm,
    pub(crate) shown: Vec<Resource>,
    pub(crate) plan: Plan,
}

impl Conversation {
    /// Creates a run from its requests and responses, in order.
    pub(crate) fn new(run: Run, exchanged: &[(ChatRequest, ChatResponse)]) -> Conversation {
        let first = exchanged.first().map(|(request, _)| request);
        let tool = |spec: &ToolSpec| serde_json::to_value(spec).unwrap_or_default();
        let mut before: &[Message] = &[];
        let mut rounds = Vec::with_capacity(exchanged.len());
        for (request, response) in exchanged {
            let kept = before.iter().zip(&request.messages).take_while(|(old, new)| old == new).count();
            rounds.push(Round { kept, messages: request.messages[kept..].to_vec(), response: response.clone() });
            before = &request.messages;
        }
        Conversation {
            format: FORMAT,
            question: run.question,
            model: run.model,
            profile: run.profile,
            form: serde_json::to_value(run.form)
                .ok()
                .and_then(|form| form.as_str().map(str::to_owned))
                .unwrap_or_default(),
            system: first.map_or(Vec::new(), |first| first.system.iter().map(|block| block.text.clone()).collect()),
            tools: first.map_or(Vec::new(), |first| first.tools.iter().map(tool).collect()),
            rounds,
            shown: run.shown,
            plan: run.plan,
        }
    }

    /// Returns the messages of each request, in order.
    pub(crate) fn requests(&self) -> Vec<Vec<&Message>> {
        let mut before: Vec<&Message> = Vec::new();
        let mut requests = Vec::with_capacity(self.rounds.len());
        for round in &self.rounds {
            before.truncate(round.kept);
            before.extend(&round.messages);
            requests.push(before.clone());
        }
        requests
    }
}

/// Reads the runs from a file.
pub(crate) fn read(path: &Path) -> Result<Vec<Conversation>, BenchError> {
    jsonl::read(path, "runs", parse)
}

fn parse(line: &str) -> Result<Conversation, LineError> {
    let value: Value = serde_json::from_str(line).map_err(LineError::Json)?;
    match value["format"].as_u64() {
        Some(format) if format == u64::from(FORMAT) => {}
        Some(format) => return Err(LineError::Format { found: format, readable: FORMAT }),
        None => return Err(LineError::NoFormat),
    }
    serde_json::from_value(value).map_err(|source| LineError::Shape { what: "run", source })
}

/// Writes the runs to a file.
pub(crate) fn write(path: &Path, runs: &[Conversation]) -> Result<(), BenchError> {
    let mut text = String::new();
    for run in runs {
        text.push_str(&serde_json::to_string(run)?);
        text.push('\n');
    }
    std::fs::write(path, text).map_err(|source| BenchError::Write { what: "the runs ", path: path.to_owned(), source })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Creates a run whose requests contain these messages.
    pub(crate) fn run_of(requests: &[&[Message]]) -> Conversation {
        let question = Question {
            id: "q".into(),
            query: "q".into(),
            gold: vec!["a.b".into()],
            kind: None,
            dataset: None,
            grades: Default::default(),
        };
        let run = Run {
            question,
            model: "offline".into(),
            profile: Profile::Full,
            form: PromptForm::Minimal,
            shown: Vec::new(),
            plan: Plan::default(),
        };
        let exchanged: Vec<(ChatRequest, ChatResponse)> = (requests.iter())
            .map(|messages| {
                let request = ChatRequest {
                    purpose: Default::default(),
                    system: vec![],
                    messages: messages.to_vec(),
                    tools: vec![],
                    max_output_tokens: 1,
                };
                (request, ChatResponse::default())
            })
            .collect();
        Conversation::new(run, &exchanged)
    }

    #[test]
    fn round_trips_a_run() {
        let user = |text: &str| Message::User { text: text.into() };
        let requests: [&[Message]; 3] =
            [&[user("q")], &[user("q"), user("more")], &[user("q"), user("shorter"), user("end")]];
        let run = run_of(&requests);
        assert_eq!(run.rounds.iter().map(|round| round.kept).collect::<Vec<_>>(), [0, 1, 1]);
        let read = parse(&serde_json::to_string(&run).unwrap_or_default());
        assert_eq!(read.ok().as_ref(), Some(&run));
        let found: Vec<Vec<Message>> =
            run.requests().into_iter().map(|request| request.into_iter().cloned().collect()).collect();
        assert_eq!(found, requests.map(<[Message]>::to_vec));
    }

    #[test]
    fn rejects_invalid_runs() {
        let check = |line: &str, expected: &str| {
            let found = parse(line).err().map(|fault| fault.to_string()).unwrap_or_default();
            assert!(found.starts_with(expected), "{line}: {found}");
        };
        check("{", "EOF while parsing");
        check("{}", "not a run: it has no `format`");
        check(r#"{"format": 9}"#, "this run has format 9");
        check(r#"{"format": 1}"#, "not a run: missing field `question`");
    }
}

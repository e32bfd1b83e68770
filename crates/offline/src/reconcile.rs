//! The workflow `reconcile` without a language model: it asks for what it needs in fixed words, calls the tools in their
//! order, takes the rules that they suggest, and tells what they give. It understands table names (`database.table`), ids of
//! pairs (`p3`), `all`, `not`, `yes` and `no`.

use prospector_llm::{
    ChatRequest, ChatResponse, Message,
    message::{ToolCall, ToolResult},
    purpose::Utterance,
};
use serde_json::{Value, json};

/// So many rows of each table are loaded.
const MAX_ROWS: usize = 200_000;

/// So many pairs are shown.
const MAX_PAIRS: usize = 16;

/// The next turn in a phase, which was announced at that place; `said` is what the user said so far.
pub(crate) fn answer(request: &ChatRequest, phase: Option<&str>, begins_at: usize, said: &[Utterance]) -> ChatResponse {
    let since = &request.messages[begins_at.min(request.messages.len())..];
    let seen = Seen { begins_at, said, all: &request.messages, since };
    let next = match phase {
        Some("greeting") => greeting(&seen),
        Some("intent") => intent(&seen),
        Some("scoping") => scoping(&seen),
        Some("demonstration") => demonstration(&seen),
        Some("inference") => inference(&seen),
        Some("validation") => validation(&seen),
        Some("execution") => Next::call("run_full", json!({})),
        Some(other) => Next::Say(format!("The phase `{other}` needs a language model: name one with --model.")),
        None => Next::Say(report(&seen)),
    };
    let round = request.messages.len();
    match next {
        Next::Say(text) => ChatResponse { text, ..ChatResponse::default() },
        Next::Call(calls) => {
            let call = |(at, (name, arguments)): (usize, (&str, Value))| ToolCall {
                id: format!("call_{round}_{at}"),
                name: name.to_owned(),
                arguments,
            };
            ChatResponse { calls: calls.into_iter().enumerate().map(call).collect(), ..ChatResponse::default() }
        }
    }
}

enum Next {
    Say(String),
    Call(Vec<(&'static str, Value)>),
}

impl Next {
    fn call(name: &'static str, arguments: Value) -> Next {
        Next::Call(vec![(name, arguments)])
    }

    fn say(text: &str) -> Next {
        Next::Say(text.to_owned())
    }
}

/// The conversation so far.
struct Seen<'a> {
    /// The place of the message that announced the phase.
    begins_at: usize,
    /// What the user said.
    said: &'a [Utterance],
    /// All messages, and those since the announcement.
    all: &'a [Message],
    since: &'a [Message],
}

impl<'a> Seen<'a> {
    /// The results of a tool since the phase began, the last one first.
    fn results(&self, tool: &str) -> impl Iterator<Item = &'a ToolResult> {
        let of = |message: &'a Message| match message {
            Message::ToolResults { results } => results.as_slice(),
            _ => &[],
        };
        let name = tool.to_owned();
        self.since.iter().rev().flat_map(move |message| of(message).iter().rev()).filter(move |one| one.name == name)
    }

    /// What a tool gave last since the phase began, if it worked.
    fn gave(&self, tool: &str) -> Option<&'a Value> {
        self.results(tool).find(|result| !result.is_error).and_then(|result| result.data.as_ref())
    }

    /// The last result of a tool that worked, in whatever phase.
    fn last(&self, tool: &str) -> Option<&'a ToolResult> {
        let results = self.all.iter().rev().filter_map(|message| match message {
            Message::ToolResults { results } => Some(results),
            Message::User { .. } | Message::Assistant { .. } => None,
        });
        results.flatten().find(|result| result.name == tool && !result.is_error)
    }

    fn has_failed(&self, tool: &str) -> bool {
        self.results(tool).next().is_some_and(|result| result.is_error)
    }

    /// What the user said last since the phase began.
    fn answer(&self) -> Option<&'a str> {
        self.said.last().filter(|said| said.place >= self.begins_at).map(|said| said.text.as_str())
    }
}

fn greeting(seen: &Seen<'_>) -> Next {
    match seen.answer() {
        Some(_) => Next::call("advance", json!({})),
        None => Next::say(
            "Hello. I match the records of two tables, without a language model. Which two, as database.table?",
        ),
    }
}

/// The last two names of tables that the user gave.
fn tables(seen: &Seen<'_>) -> Option<(String, String)> {
    for said in seen.said.iter().rev() {
        let words = said.text.split(|c: char| c.is_whitespace() || ",;\"'`()".contains(c));
        let names: Vec<&str> = (words.map(|word| word.trim_end_matches(['.', '?', '!', ':'])))
            .filter(|word| word.split('.').count() >= 2 && word.split('.').all(|part| !part.is_empty()))
            .collect();
        if let [left, right, ..] = names.as_slice() {
            return Some(((*left).to_owned(), (*right).to_owned()));
        }
    }
    None
}

fn intent(seen: &Seen<'_>) -> Next {
    let Some((left, right)) = tables(seen) else {
        return Next::say("Name both tables, as database.table.");
    };
    if seen.has_failed("describe") && seen.answer().is_none() {
        return Next::say("I cannot find both of these tables. Name them again, as database.table.");
    }
    match seen.gave("describe") {
        None => Next::call("describe", json!({"ids": [left, right]})),
        Some(_) => Next::call("advance", json!({"note": format!("match {left} with {right}")})),
    }
}

fn scoping(seen: &Seen<'_>) -> Next {
    let Some((left, right)) = tables(seen) else { return Next::say("Name both tables, as database.table.") };
    let loaded = |alias: &str| {
        let mut worked = seen.results("load_scoped").filter(|result| !result.is_error);
        worked.any(|result| result.data.as_ref().is_some_and(|data| data["alias"] == alias))
    };
    let load = |alias: &str, name: &str| {
        let (database, table) = name.split_once('.').unwrap_or((name, ""));
        ("load_scoped", json!({"alias": alias, "database": database, "table": table, "limit": MAX_ROWS}))
    };
    let wanted = [("left_rows", &left), ("right_rows", &right)];
    let open: Vec<_> =
        wanted.into_iter().filter(|(alias, _)| !loaded(alias)).map(|(alias, name)| load(alias, name)).collect();
    if open.is_empty() { Next::call("advance", json!({})) } else { Next::Call(open) }
}

fn demonstration(seen: &Seen<'_>) -> Next {
    let is_proposed = seen.results("propose_match").any(|result| !result.is_error);
    if is_proposed && seen.answer().is_some() {
        return Next::call("advance", json!({}));
    }
    if let Some(pairs) = seen.gave("propose_match") {
        return Next::Say(render_pairs(pairs));
    }
    Next::call("propose_match", json!({"left": "left_rows", "right": "right_rows", "limit": MAX_PAIRS}))
}

/// The pairs for the user, a line each.
fn render_pairs(proposed: &Value) -> String {
    let line = |pair: &Value| {
        let cells = |side: &str| -> String {
            let cells = pair[side].as_object().into_iter().flatten();
            cells.map(|(_, value)| prospector_core::tool::compact::cell(value)).collect::<Vec<_>>().join(" | ")
        };
        format!("{}: {}  =  {}", pair["id"].as_str().unwrap_or_default(), cells("left"), cells("right"))
    };
    let lines: Vec<String> = proposed["pairs"].as_array().into_iter().flatten().map(line).collect();
    format!("These rows look alike. Which are the same? Say `all`, the ids, or `all, not p3`.\n{}", lines.join("\n"))
}

/// The ids that were shown, and of them those that the user confirmed and rejected.
fn read_judgement(seen: &Seen<'_>) -> (Vec<String>, Vec<String>) {
    let is_id =
        |word: &str| word.len() > 1 && word.starts_with('p') && word[1..].bytes().all(|byte| byte.is_ascii_digit());
    let proposed = seen.last("propose_match").and_then(|result| result.data.as_ref());
    let pairs = proposed.into_iter().flat_map(|data| data["pairs"].as_array().into_iter().flatten());
    let shown: Vec<String> = pairs.filter_map(|pair| pair["id"].as_str()).map(str::to_owned).collect();
    let words: Vec<String> = seen
        .said
        .last()
        .map(|said| {
            let words = said.text.split(|c: char| !c.is_alphanumeric());
            words.map(str::to_lowercase).filter(|word| !word.is_empty()).collect()
        })
        .unwrap_or_default();
    let is_not = |word: &String| ["not", "no", "except", "but", "without"].contains(&word.as_str());
    let turn = words.iter().position(is_not).unwrap_or(words.len());
    let ids = |words: &[String]| -> Vec<String> { words.iter().filter(|word| is_id(word)).cloned().collect() };
    let (mut confirmed, rejected) = (ids(&words[..turn]), ids(&words[turn..]));
    if confirmed.is_empty() {
        confirmed = shown.iter().filter(|id| !rejected.contains(id)).cloned().collect();
    }
    (confirmed, rejected)
}

fn inference(seen: &Seen<'_>) -> Next {
    let Some(inferred) = seen.gave("infer_rules") else {
        let (confirmed, rejected) = read_judgement(seen);
        return Next::call("infer_rules", json!({"confirmed": confirmed, "rejected": rejected}));
    };
    match seen.gave("build_recipe") {
        _ if inferred["suggested"].is_null() => Next::call("advance", json!({"phase": "demonstration"})),
        None => Next::call("build_recipe", json!({})),
        Some(_) => Next::call("advance", json!({"phase": "validation"})),
    }
}

fn validation(seen: &Seen<'_>) -> Next {
    let is_done = |tool: &str| seen.results(tool).any(|result| !result.is_error);
    let open: Vec<(&str, Value)> = [("validate_recipe", json!({})), ("run_sample", json!({}))]
        .into_iter()
        .filter(|(tool, _)| !is_done(tool))
        .collect();
    if !open.is_empty() {
        return Next::Call(open);
    }
    if let Some(report) = seen.gave("validate_recipe").filter(|_| seen.answer().is_none()) {
        let word = if report["passed"] == true { "It passes" } else { "It does not pass" };
        return Next::Say(format!(
            "{word}: precision {}, recall {} on the confirmed pairs; in all {}.\nShall I run it over all rows?",
            report["precision"], report["recall"], report["counts"]
        ));
    }
    let yes = ["yes", "y", "ok", "run", "go", "ja"];
    let heard = seen.answer().unwrap_or_default().to_lowercase();
    let agreed = heard.split(|c: char| !c.is_alphanumeric()).any(|word| yes.contains(&word));
    let refused = seen.results("advance").next().is_some_and(|result| result.is_error);
    match agreed && !refused {
        true => Next::call("advance", json!({"phase": "execution"})),
        false => Next::say("Then nothing is run. Say `yes` to run it, or end here."),
    }
}

/// What run_full gave.
fn report(seen: &Seen<'_>) -> String {
    match seen.last("run_full").and_then(|result| result.data.as_ref()) {
        Some(data) => format!("Done: {}. All of it is in {}.", data["counts"], data["folder"]),
        None => "The workflow is over, and nothing was run.".to_owned(),
    }
}

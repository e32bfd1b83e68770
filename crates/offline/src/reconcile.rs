//! The workflow `reconcile` without a language model. It asks for input with fixed texts, calls the tools in order, uses the rules that
//! they suggest, and reports their results. It parses table names (`database.table`); choices, `yes` and `no` are parsed by the tools.

use prospector_llm::{
    ChatRequest, ChatResponse, Message,
    message::{ToolCall, ToolResult},
    purpose::Utterance,
};
use serde_json::{Value, json};

use crate::calls::items;

/// The tools of the workflow.
const LIST_SOURCES: &str = "list_sources";
const GET_SOURCE_PREVIEW: &str = "get_source_preview";
const LOAD_SCOPED: &str = "load_scoped";
const PROPOSE_MATCH: &str = "propose_match";
const CONFIRM_PAIRS: &str = "confirm_pairs";
const INFER_RULES: &str = "infer_rules";
const BUILD_RECIPE: &str = "build_recipe";
const VALIDATE_RECIPE: &str = "validate_recipe";
const RUN_SAMPLE: &str = "run_sample";
const APPROVE_RUN: &str = "approve_run";
const RUN_FULL: &str = "run_full";

/// The valid replies to proposed pairs.
const PAIR_CHOICES: &str =
    "Write `yes` (all are right), `no` (none is), or choose by ids, one line each: `yes p1 p2`, `no p3`.";

/// The valid replies to a proposed run.
const RUN_CHOICES: &str = "Write `yes` to run it over all rows, or `no` to end without a result.";

/// Maximum number of loaded rows of each table.
const MAX_ROWS: usize = 200_000;

/// Consecutive failures of a tool after which it is not called until the user replies.
const MAX_TRIES: usize = 4;

/// Maximum number of listed sources.
const MAX_SOURCES: usize = 30;

/// Maximum number of proposed pairs.
const MAX_PAIRS: usize = 16;

/// Returns the next turn in a phase that was announced at message `begins_at`; `said` contains the messages of the user so far.
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
        Some("execution") => Next::call(RUN_FULL, json!({})),
        Some(other) => Next::Say(format!("The phase `{other}` needs a language model: select one with --model.")),
        None => Next::Say(report(&seen)),
    };
    let round = request.messages.len();
    match ask_for_help(&seen, next) {
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

/// Asks the user instead of calling a tool that fails repeatedly.
fn ask_for_help(seen: &Seen<'_>, next: Next) -> Next {
    let Next::Call(calls) = &next else { return next };
    match calls.iter().find(|(tool, _)| seen.failures_in_a_row(tool) >= MAX_TRIES) {
        Some((tool, _)) => Next::Say(format!("`{tool}` failed repeatedly. Reply to retry, or say what to change.")),
        None => next,
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
#[derive(Clone, Copy)]
struct Seen<'a> {
    /// The index of the message that announced the phase.
    begins_at: usize,
    /// The messages of the user.
    said: &'a [Utterance],
    /// All messages, and those since the announcement.
    all: &'a [Message],
    since: &'a [Message],
}

impl<'a> Seen<'a> {
    /// Returns the results of a tool since the phase started, the last one first.
    fn results(&self, tool: &str) -> impl Iterator<Item = &'a ToolResult> {
        let of = |message: &'a Message| match message {
            Message::ToolResults { results } => results.as_slice(),
            _ => &[],
        };
        let name = tool.to_owned();
        self.since.iter().rev().flat_map(move |message| of(message).iter().rev()).filter(move |one| one.name == name)
    }

    /// Returns the last successful result of a tool since the phase started.
    fn gave(&self, tool: &str) -> Option<&'a Value> {
        self.results(tool).find(|result| !result.is_error).and_then(|result| result.data.as_ref())
    }

    /// Returns the last successful result of a tool in any phase.
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

    /// Counts consecutive failures of a tool since the last reply of the user or the start of the phase.
    fn failures_in_a_row(&self, tool: &str) -> usize {
        let since = self.place_of_answer().unwrap_or(self.begins_at).min(self.all.len());
        let later = Seen { since: &self.all[since..], ..*self };
        later.results(tool).take_while(|result| result.is_error).count()
    }

    /// Returns the index of the last reply of the user since the phase started.
    fn place_of_answer(&self) -> Option<usize> {
        self.said.last().map(|said| said.place).filter(|place| *place >= self.begins_at)
    }

    /// Returns the last successful result of a tool after a message.
    fn gave_after(&self, place: usize, tool: &str) -> Option<&'a Value> {
        let later = Seen { since: &self.all[place.min(self.all.len())..], ..*self };
        later.gave(tool)
    }

    /// Returns the last reply of the user since the phase started.
    fn answer(&self) -> Option<&'a str> {
        self.said.last().filter(|said| said.place >= self.begins_at).map(|said| said.text.as_str())
    }
}

fn greeting(seen: &Seen<'_>) -> Next {
    let Some(listed) = seen.gave(LIST_SOURCES) else {
        return match seen.has_failed(LIST_SOURCES) && seen.answer().is_none() {
            true => Next::say("I cannot list the sources."),
            false => Next::call(LIST_SOURCES, json!({})),
        };
    };
    if seen.answer().is_some() {
        return Next::call("advance", json!({}));
    }
    let names: Vec<&str> = items(listed).filter_map(|source| source["name"].as_str()).collect();
    let rest = names.len().saturating_sub(MAX_SOURCES);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let names = names.into_iter().take(MAX_SOURCES).collect::<Vec<_>>().join(", ");
    Next::Say(format!(
        "Hello. I match the records of two tables, without a language model. Available sources: {names}{more}. Which two \
         tables do you want to match? Name them as database.table."
    ))
}

/// Returns the last two table names that the user gave.
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
    if seen.has_failed(GET_SOURCE_PREVIEW) && seen.answer().is_none() {
        return Next::say("I cannot find both of these tables. Name them again, as database.table.");
    }
    let is_seen = |name: &str| {
        let mut shown = seen.results(GET_SOURCE_PREVIEW).filter_map(|result| result.data.as_ref());
        shown.any(|data| Some(name.rsplit('.').next().unwrap_or(name)) == data["table"].as_str())
    };
    let preview = |name: &String| {
        let (database, table) = name.split_once('.').unwrap_or((name, ""));
        (GET_SOURCE_PREVIEW, json!({"database": database, "table": table}))
    };
    let open: Vec<_> = [&left, &right].into_iter().filter(|name| !is_seen(name)).map(preview).collect();
    match open.is_empty() {
        true => Next::call("advance", json!({"note": format!("match {left} with {right}")})),
        false => Next::Call(open),
    }
}

fn scoping(seen: &Seen<'_>) -> Next {
    let Some((left, right)) = tables(seen) else { return Next::say("Name both tables, as database.table.") };
    let loaded = |alias: &str| {
        let mut worked = seen.results(LOAD_SCOPED).filter(|result| !result.is_error);
        worked.any(|result| result.data.as_ref().is_some_and(|data| data["alias"] == alias))
    };
    let load = |alias: &str, name: &str| {
        let (database, table) = name.split_once('.').unwrap_or((name, ""));
        (LOAD_SCOPED, json!({"alias": alias, "database": database, "table": table, "limit": MAX_ROWS}))
    };
    let wanted = [("left_rows", &left), ("right_rows", &right)];
    let open: Vec<_> =
        wanted.into_iter().filter(|(alias, _)| !loaded(alias)).map(|(alias, name)| load(alias, name)).collect();
    if open.is_empty() { Next::call("advance", json!({})) } else { Next::Call(open) }
}

fn demonstration(seen: &Seen<'_>) -> Next {
    let Some(pairs) = seen.gave(PROPOSE_MATCH) else {
        return Next::call(PROPOSE_MATCH, json!({"left": "left_rows", "right": "right_rows", "limit": MAX_PAIRS}));
    };
    let Some(place) = seen.place_of_answer() else { return Next::Say(render_pairs(pairs)) };
    // The result for this reply, not for an earlier one.
    match seen.gave_after(place, CONFIRM_PAIRS) {
        None => Next::call(CONFIRM_PAIRS, json!({})),
        Some(read) if read["next"].is_null() => Next::call("advance", json!({})),
        Some(read) => Next::Say(format!(
            "{} pairs are confirmed; at least three are needed. {PAIR_CHOICES}",
            read["confirmed"].as_array().map_or(0, Vec::len)
        )),
    }
}

/// Renders the pairs for the user, one per line.
fn render_pairs(proposed: &Value) -> String {
    let line = |pair: &Value| {
        let cells = |side: &str| -> String {
            let cells = pair[side].as_object().into_iter().flatten();
            cells.map(|(_, value)| prospector_core::tool::compact::cell(value)).collect::<Vec<_>>().join(" | ")
        };
        format!("{}: {}  =  {}", pair["id"].as_str().unwrap_or_default(), cells("left"), cells("right"))
    };
    let lines: Vec<String> = proposed["pairs"].as_array().into_iter().flatten().map(line).collect();
    format!("These rows are similar. Which pairs are the same? {PAIR_CHOICES}\n{}", lines.join("\n"))
}

fn inference(seen: &Seen<'_>) -> Next {
    let Some(inferred) = seen.gave(INFER_RULES) else { return Next::call(INFER_RULES, json!({})) };
    match seen.gave(BUILD_RECIPE) {
        _ if inferred["suggested"].is_null() => Next::call("advance", json!({"phase": "demonstration"})),
        None => Next::call(BUILD_RECIPE, json!({})),
        Some(_) => Next::call("advance", json!({"phase": "validation"})),
    }
}

fn validation(seen: &Seen<'_>) -> Next {
    let is_done = |tool: &str| seen.results(tool).any(|result| !result.is_error);
    let open: Vec<(&str, Value)> = [(VALIDATE_RECIPE, json!({})), (RUN_SAMPLE, json!({}))]
        .into_iter()
        .filter(|(tool, _)| !is_done(tool))
        .collect();
    if !open.is_empty() {
        return Next::Call(open);
    }
    let report = seen.gave(VALIDATE_RECIPE);
    // Results of an earlier turn may have no data; then approve_run checks whether the recipe passed.
    let passed = report.is_none_or(|report| report["passed"] == true);
    let Some(place) = seen.place_of_answer() else {
        let report = report.unwrap_or(&Value::Null);
        let (word, ask) = match passed {
            true => ("The recipe passes", RUN_CHOICES),
            false => ("The recipe does not pass", "Reply to see pairs again."),
        };
        return Next::Say(format!(
            "{word}: precision {}, recall {} on the confirmed pairs; totals: {}.\n{ask}",
            report["precision"], report["recall"], report["counts"]
        ));
    };
    if !passed {
        return Next::call("advance", json!({"phase": "demonstration"}));
    }
    match seen.gave_after(place, APPROVE_RUN) {
        None => Next::call(APPROVE_RUN, json!({})),
        Some(read) if read["approved"] == true => Next::call("advance", json!({"phase": "execution"})),
        Some(read) if read["refused"] == true => Next::call("advance", json!({"phase": "end"})),
        Some(_) => Next::Say(format!("That is neither `yes` nor `no`. {RUN_CHOICES}")),
    }
}

/// Reports the result of `run_full`.
fn report(seen: &Seen<'_>) -> String {
    match seen.last(RUN_FULL).and_then(|result| result.data.as_ref()) {
        Some(data) => format!("Done: {}. The results are in {}.", data["counts"], data["folder"]),
        None => "The workflow ended without a run.".to_owned(),
    }
}

//! The workflow `reconcile` without a language model: it asks for what it needs in fixed words, calls the tools in their
//! order, takes the rules that they suggest, and reports what they return. It understands table names (`database.table`);
//! what the user chooses, `yes` or `no`, is read by the tools.

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

/// What the user may write of the pairs.
const PAIR_CHOICES: &str =
    "Write `yes` (all are right), `no` (none is), or choose by ids, one line each: `yes p1 p2`, `no p3`.";

/// What the user may write of the run.
const RUN_CHOICES: &str = "Write `yes` to run it over all rows, or `no` to end without a result.";

/// So many rows of each table are loaded.
const MAX_ROWS: usize = 200_000;

/// A tool that failed so often in a row is not called before the user has spoken.
const MAX_TRIES: usize = 4;

/// So many sources are named.
const MAX_SOURCES: usize = 30;

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
        Some("execution") => Next::call(RUN_FULL, json!({})),
        Some(other) => Next::Say(format!("The phase `{other}` needs a language model: name one with --model.")),
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

/// Where a tool fails again and again, the user is told instead.
fn ask_for_help(seen: &Seen<'_>, next: Next) -> Next {
    let Next::Call(calls) = &next else { return next };
    match calls.iter().find(|(tool, _)| seen.failures_in_a_row(tool) >= MAX_TRIES) {
        Some((tool, _)) => {
            Next::Say(format!("`{tool}` does not work now. Say when I shall try again, or what to change."))
        }
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

    /// How often a tool failed in a row, since the user spoke last or the phase began.
    fn failures_in_a_row(&self, tool: &str) -> usize {
        let since = self.place_of_answer().unwrap_or(self.begins_at).min(self.all.len());
        let later = Seen { since: &self.all[since..], ..*self };
        later.results(tool).take_while(|result| result.is_error).count()
    }

    /// The place of the message with what the user said last, if they said anything since the phase began.
    fn place_of_answer(&self) -> Option<usize> {
        self.said.last().map(|said| said.place).filter(|place| *place >= self.begins_at)
    }

    /// What a tool gave last after that place, if it worked.
    fn gave_after(&self, place: usize, tool: &str) -> Option<&'a Value> {
        let later = Seen { since: &self.all[place.min(self.all.len())..], ..*self };
        later.gave(tool)
    }

    /// What the user said last since the phase began.
    fn answer(&self) -> Option<&'a str> {
        self.said.last().filter(|said| said.place >= self.begins_at).map(|said| said.text.as_str())
    }
}

fn greeting(seen: &Seen<'_>) -> Next {
    let Some(listed) = seen.gave(LIST_SOURCES) else {
        return match seen.has_failed(LIST_SOURCES) && seen.answer().is_none() {
            true => Next::say("I cannot see which sources there are."),
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
        "Hello. I match the records of two tables, without a language model. There are these sources: {names}{more}. Which \
         two tables, as database.table?"
    ))
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
    // What was read of this answer, not of one before.
    match seen.gave_after(place, CONFIRM_PAIRS) {
        None => Next::call(CONFIRM_PAIRS, json!({})),
        Some(read) if read["next"].is_null() => Next::call("advance", json!({})),
        Some(read) => Next::Say(format!(
            "{} pairs are confirmed, and three are the least. {PAIR_CHOICES}",
            read["confirmed"].as_array().map_or(0, Vec::len)
        )),
    }
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
    format!("These rows look alike. Which are the same? {PAIR_CHOICES}\n{}", lines.join("\n"))
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
    // The data of an earlier turn may be gone; then approve_run knows whether the recipe passed.
    let passed = report.is_none_or(|report| report["passed"] == true);
    let Some(place) = seen.place_of_answer() else {
        let report = report.unwrap_or(&Value::Null);
        let (word, ask) = match passed {
            true => ("It passes", RUN_CHOICES),
            false => ("It does not pass", "Write anything to see pairs again."),
        };
        return Next::Say(format!(
            "{word}: precision {}, recall {} on the confirmed pairs; in all {}.\n{ask}",
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

/// What run_full gave.
fn report(seen: &Seen<'_>) -> String {
    match seen.last(RUN_FULL).and_then(|result| result.data.as_ref()) {
        Some(data) => format!("Done: {}. All of it is in {}.", data["counts"], data["folder"]),
        None => "The workflow is over, and nothing was run.".to_owned(),
    }
}

//! Output: results on standard output, as JSON unless text is requested; everything else on standard error. Only this module prints, and it
//! neutralises control characters in data, see [`crate::visible`].

use std::io::{IsTerminal, Write};

use prospector_agent::ask::AnswerStatus;
use prospector_core::Problem;
use prospector_core::mark::one_line;
use prospector_core::problem::Severity;
use serde::Serialize;

use crate::{
    pager, settings,
    visible::{visible, visible_json},
};

/// Limit on the number of listed problems.
const MAX_PROBLEMS: usize = 20;

/// Prints a value as JSON.
///
/// # Errors
/// If it cannot be written; a closed reader is not an error.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&visible_json(&serde_json::to_string_pretty(value)?))
}

/// Prints a text with a line end. A text longer than the screen is shown in the user's pager.
///
/// # Errors
/// As [`json`].
pub(crate) fn text(text: &str) -> anyhow::Result<()> {
    let text = visible(text);
    if pager::show(&text) { Ok(()) } else { print(&text) }
}

/// Prints a text without the pager.
///
/// # Errors
/// As [`json`].
pub(crate) fn reply(text: &str) -> anyhow::Result<()> {
    print(&visible(text))
}

/// Prints an answer, and below it how completely the question is answered.
///
/// # Errors
/// As [`json`].
pub(crate) fn answer(text: &str, status: AnswerStatus, state: &str) -> anyhow::Result<()> {
    let text = format!("{}\n\n{}", visible(text), colour(status, state));
    if pager::show(&text) { Ok(()) } else { print(&text) }
}

/// Prints how completely a question is answered, without the pager.
///
/// # Errors
/// As [`json`].
pub(crate) fn reply_status(status: AnswerStatus, state: &str) -> anyhow::Result<()> {
    print(&format!("\n{}\n", colour(status, state)))
}

/// Colours the first line of a text by its status, on a terminal with colours.
fn colour(status: AnswerStatus, text: &str) -> String {
    let text = visible(text).into_owned();
    if !is_terminal() || !settings::wants_colours() {
        return text;
    }
    let code = match status {
        AnswerStatus::Verified => 32,
        AnswerStatus::Answered => 36,
        AnswerStatus::Partial => 33,
        AnswerStatus::Unanswered => 35,
    };
    let (first, rest) = text.split_at(text.find('\n').unwrap_or(text.len()));
    format!("\x1b[{code}m{first}\x1b[0m{rest}")
}

/// Prints lines of JSON.
///
/// # Errors
/// As [`json`].
pub(crate) fn json_lines(lines: &str) -> anyhow::Result<()> {
    // Line ends are the only control characters between them.
    print(&lines.split('\n').map(visible_json).collect::<Vec<_>>().join("\n"))
}

/// Prints text for programs verbatim, including control characters, unless standard output is a terminal.
///
/// # Errors
/// As [`json`].
pub(crate) fn raw(text: &str) -> anyhow::Result<()> {
    if is_terminal() { self::text(text) } else { print(text) }
}

/// Prints a part of a text; returns false if the reader has closed the output.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn part(text: &str) -> anyhow::Result<bool> {
    write(&visible(text))
}

/// Prints a part of verbatim text; returns false if the reader has closed the output.
///
/// # Errors
/// As [`part`].
pub(crate) fn raw_part(text: &str) -> anyhow::Result<bool> {
    if is_terminal() { part(text) } else { write(text) }
}

/// Prints a part of JSON or JSON Lines; returns false if the reader has closed the output.
///
/// # Errors
/// As [`part`].
pub(crate) fn json_part(text: &str) -> anyhow::Result<bool> {
    write(&text.split('\n').map(visible_json).collect::<Vec<_>>().join("\n"))
}

fn print(text: &str) -> anyhow::Result<()> {
    write(&format!("{text}\n")).map(|_| ())
}

fn write(text: &str) -> anyhow::Result<bool> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(true),
    }
}

/// Writes a message to standard error, as one line.
pub(crate) fn say(text: &str) {
    note(&one_line(&without_error_numbers(text)));
}

/// Writes a text of several lines to standard error.
pub(crate) fn say_lines(text: &str) {
    note(&visible(&without_error_numbers(text)));
}

/// Removes the numbers of errors of the operating system, which follow their texts: ` (os error 2)`.
fn without_error_numbers(text: &str) -> String {
    const MARK: &str = " (os error ";
    let mut parts = text.split(MARK);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => plain.push_str(rest),
            _ => plain.extend([MARK, part]),
        }
    }
    plain
}

/// Writes an event to standard error as one line of JSON.
pub(crate) fn event(event: &impl Serialize) {
    note(&visible_json(&serde_json::to_string(event).unwrap_or_default()));
}

fn note(text: &str) {
    // Standard error may be closed.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Reports panics, whose message may quote data, through [`say`].
pub(crate) fn catch_panics() {
    std::panic::set_hook(Box::new(|panic| say(&format!("internal error: {panic}"))));
}

/// Ignores panics from here on: the work of the program is done.
pub(crate) fn ignore_panics() {
    std::panic::set_hook(Box::new(|_| ()));
}

/// Reports an error with the causes that its message does not include.
pub(crate) fn error(error: &anyhow::Error) {
    let mut text = String::from("error");
    for cause in error.chain().map(ToString::to_string) {
        if !text.contains(&cause) {
            text.push_str(&format!(": {cause}"));
        }
    }
    say(&text);
}

/// Lists errors, and counts warnings; `all` lists those too.
pub(crate) fn problems(problems: &[Problem], all: bool) {
    let shown: Vec<&Problem> = problems.iter().filter(|problem| all || problem.severity == Severity::Error).collect();
    for problem in shown.iter().take(MAX_PROBLEMS) {
        say(&problem.to_string());
    }
    let more = shown.len().saturating_sub(MAX_PROBLEMS);
    let warnings = problems.len() - shown.len();
    match (more, warnings) {
        (0, 0) => {}
        (0, 1) => say("1 warning; `planner refresh` lists it"),
        (0, _) => say(&format!("{warnings} warnings; `planner refresh` lists them")),
        _ if all => say(&format!("... and {more} more, in the JSON")),
        _ => say(&format!("... and {more} more, and {warnings} warnings; `planner refresh` lists them")),
    }
}

/// Whether any problem is an error.
pub(crate) fn has_errors(problems: &[Problem]) -> bool {
    problems.iter().any(|problem| problem.severity == Severity::Error)
}

/// Whether standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether standard error is a terminal.
pub(crate) fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}

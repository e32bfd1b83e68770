//! Renders answers: rows of verified queries, computed metrics and tables, and the possible meanings of a question.

use prospector_agent::ask::{DECLINED, NEXT};
use prospector_connect::table::AS_MISSING;
use prospector_text::{cut::one_line, numbers::write_number};
use serde_json::Value;

/// The label of every answer.
pub(crate) const WHO: &str = "(Answered by the built-in planner, without a language model.)";
const WHO_CHECKED: &str = "(Answered by the built-in planner, without a language model, with a verified query.)";
const WHO_DECLARED: &str = "(Answered by the built-in planner, without a language model, with declared metrics.)";

/// The start of an answer that offers choices.
pub(crate) const CHOICES: &str = "Clarification: which of these is meant?";

/// The words before the question in an answer that offers its choices again.
const NOT_OFFERED: &str = " is not a choice for “";

/// The mark behind a choice with numbers of an earlier question.
const UNTRACED: &str = " [unverified]";

/// The start of an answer to a follow-up or repeated question.
pub(crate) const UNDERSTOOD: &str = "Understood as: “";

/// Renders the rows of a verified query; `given` are the parameters in the question, `understood` is a repeated question.
pub(crate) fn render_verified(answer: &Value, given: &Value, understood: Option<&str>) -> String {
    let question = write(&answer["question"]);
    let mut text = match single(answer) {
        _ if rows(answer).is_empty() => format!("No rows: {} [Q1].", question.trim_end_matches(['?', '.'])),
        Some(value) => {
            let column =
                list(&answer["columns"]).first().map_or_else(|| "It".to_owned(), |name| name.replace('_', " "));
            let value = if value.is_null() { "unknown: no matching row".to_owned() } else { write(value) };
            format!("{column} is {value} [Q1].")
        }
        None => format!("{question} [Q1]\n\n{{{{Q1}}}}"),
    };
    let verified = &answer["verified"];
    // The line before a list cites for its items.
    text.push_str(&format!(
        "\n\nVerified [Q1]:\n\n- The query `{}` was checked by {} on {}.",
        write(&answer["name"]),
        write(&verified["by"]),
        write(&verified["on"])
    ));
    let parameters = answer["parameters"].as_object().into_iter().flatten().map(|(name, value)| {
        let default = if given.get(name).is_none() { " (default)" } else { "" };
        format!("{name} = {}{default}", write(value))
    });
    let parameters: Vec<String> = parameters.collect();
    if !parameters.is_empty() {
        text.push_str(&format!("\n- It ran with {}.", parameters.join(", ")));
    }
    if let Some(description) = answer["description"].as_str() {
        text.push_str(&format!("\n- {description}"));
    }
    text.push_str(&render_missing(answer));
    format!("{}{text}\n\n{WHO_CHECKED}", render_understood(understood))
}

/// Renders the possible meanings of a question as choices, with the definitions of its terms.
pub(crate) fn render_choices(choices: &[String], reason: &str, definitions: &[String]) -> String {
    let known: String = definitions.iter().map(|definition| format!("\n\n{definition}")).collect();
    format!("{CHOICES} {}\n\n{}{known}\n\n{WHO}", end(reason), number(choices))
}

/// Renders why a question is declined, with the closest queries as choices.
pub(crate) fn render_declined(reason: &str, choices: &[String]) -> String {
    let reason = reason.trim_end_matches('.');
    let stop = if reason.ends_with('?') { "" } else { "." };
    let next = match choices {
        [] => "\n\nThe built-in planner counts, adds up, averages and ranks rows by dates, columns and values: rephrase the question in \
               those terms, or connect a language model."
            .to_owned(),
        choices => format!(" The closest queries are:\n\n{}", number(choices)),
    };
    format!("{DECLINED}: {reason}{stop}{next}")
}

/// Renders the choices of a question again, for a reply with a number that is not one of them.
pub(crate) fn render_again(reply: usize, question: &str, choices: &[String]) -> String {
    let question = one_line(question);
    format!("{CHOICES} {reply}{NOT_OFFERED}{question}”; only the numbers below are.\n\n{}\n\n{WHO}", number(choices))
}

/// Parses the question of an answer that offers its choices again.
pub(crate) fn read_asked(answer: &str) -> Option<&str> {
    let first = answer.strip_prefix(CHOICES)?.lines().next()?;
    let (_, asked) = first.split_once(NOT_OFFERED)?;
    asked.rsplit_once('”').map(|(asked, _)| asked)
}

/// Renders choices as numbered lines.
fn number(choices: &[String]) -> String {
    let lines: Vec<String> = choices.iter().enumerate().map(|(at, choice)| format!("{}. {choice}", at + 1)).collect();
    format!("{}\n\nReply with a number, or rephrase the question.", lines.join("\n"))
}

/// Parses the choices that an answer offered.
pub(crate) fn read_choices(answer: &str) -> Vec<&str> {
    if !answer.starts_with(CHOICES) && !answer.starts_with(DECLINED) {
        return Vec::new();
    }
    let choice = |line: &&str| line.split_once(". ").is_some_and(|(number, _)| number.parse::<usize>().is_ok());
    let texts = answer.lines().filter(choice).filter_map(|line| line.split_once(". ").map(|(_, text)| text));
    texts.map(|text| text.strip_suffix(UNTRACED).unwrap_or(text)).collect()
}

/// Renders computed rows with the definitions of their metrics; `understood` is the combined question of a follow-up.
pub(crate) fn render_computed(answer: &Value, understood: Option<&str>) -> String {
    let (rows, columns) = (rows(answer), list(&answer["columns"]));
    let computed = write(&answer["computed"]);
    let result = match rows.as_slice() {
        [] => format!("There are no rows: {computed} [Q1]."),
        [row] => match single(answer) {
            Some(Value::Null) => format!("There is no value: {computed} [Q1]."),
            Some(value) => format!("The {computed} is {} [Q1].", write(value)),
            None => {
                let pairs = columns.iter().zip(row.iter());
                let pairs: Vec<String> =
                    pairs.map(|(column, value)| format!("{}: {}", column.replace('_', " "), write(value))).collect();
                format!("{} [Q1].", pairs.join(", "))
            }
        },
        _ => format!("The {computed} [Q1]:\n\n{{{{Q1}}}}"),
    };
    let cited: Vec<&Value> = answer["metrics"].as_array().into_iter().flatten().collect();
    let meanings = cited.iter().map(|metric| {
        let source = metric["source"].as_str().or(metric["declared"].as_str()).unwrap_or_default();
        let source = if source.is_empty() { String::new() } else { format!(" ({source})") };
        format!("- {}: {}{source}", write(&metric["metric"]).replace('_', " "), write(&metric["definition"]))
    });
    let meanings: Vec<String> = meanings.collect();
    let who = match cited.as_slice() {
        [] => WHO,
        cited if cited.iter().all(|metric| metric["declared"].is_string()) => WHO_DECLARED,
        _ => WHO,
    };
    let missing = render_missing(answer);
    let understood = render_understood(understood);
    // The line before a list cites for its items.
    let definitions =
        if meanings.is_empty() { String::new() } else { format!("\n\nDefinitions [Q1]:\n\n{}", meanings.join("\n")) };
    let next = answer["follow_ups"].as_array().into_iter().flatten();
    let next: String = next.map(|text| format!("\n\n{NEXT}: {}", write(text))).collect();
    format!("{understood}{result}{missing}{definitions}\n\n{who}{next}")
}

/// Renders the question that was answered instead of a short one.
fn render_understood(whole: Option<&str>) -> String {
    whole.map(|whole| format!("{UNDERSTOOD}{whole}” [Q1]\n\n")).unwrap_or_default()
}

/// Renders the warnings about cells that a query skipped.
fn render_missing(answer: &Value) -> String {
    let warnings = answer["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
    warnings.filter(|text| text.contains(AS_MISSING)).map(|text| format!("\n\nNot included [Q1]: {text}.")).collect()
}

/// Returns a sentence with a capital and a full stop.
fn end(text: &str) -> String {
    let text = text.trim();
    let mut sentence: String = text.chars().take(1).flat_map(char::to_uppercase).chain(text.chars().skip(1)).collect();
    if !sentence.ends_with(['.', '?', '!']) {
        sentence.push('.');
    }
    sentence
}

fn rows(answer: &Value) -> Vec<&Vec<Value>> {
    answer["rows"].as_array().into_iter().flatten().filter_map(Value::as_array).collect()
}

/// Returns the only value of an answer.
fn single(answer: &Value) -> Option<&Value> {
    match rows(answer).as_slice() {
        [row] if row.len() == 1 => row.first(),
        _ => None,
    }
}

fn list(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(write).collect()
}

pub(crate) fn write(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => number.as_f64().map(write_number).unwrap_or_default(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_offered_again_keep_their_question() {
        let choices = ["number of visits".to_owned(), "number of animals".to_owned()];
        let again = render_again(7, "visits of “old”\nanimals", &choices);
        assert!(again.contains("7 is not a choice for") && again.contains("\n1. number of visits\n2. "), "{again}");
        assert_eq!(read_asked(&again), Some("visits of “old” animals"));
        assert_eq!(read_choices(&again), ["number of visits", "number of animals"]);
        assert_eq!(read_asked(&render_choices(&choices, "the question is ambiguous", &[])), None);
    }
}

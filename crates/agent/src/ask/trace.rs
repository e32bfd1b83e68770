//! Tracing an answer back to what it rests on: its references to the queries that ran, its numbers to their results.
//!
//! A number is traced if it is a value of a result, rounded as it is written; a fraction as a percentage; the number of
//! rows; the sum or mean of a column; the difference, sum, ratio or change in percent of two values of one column or one
//! row, or of two results of one row. What was derived says so. A number of the question, of a query or of a text that a
//! tool showed is no claim about data. That a number is found does not prove that the sentence around it is true.

mod count;

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use count::find_count;

use crate::answer::{Claim, DataQuestion, Tracing};

/// What marks a sentence that could not be traced.
pub(crate) const MARK: &str = "[unverified]";

/// At most so many values of a column are paired.
const MAX_PAIRED: usize = 60;

/// Traces an answer; also returns it with a mark on each sentence that could not be traced.
pub(crate) fn trace(answer: &str, question: &str, ran: &[DataQuestion], texts: &str) -> (Tracing, String) {
    let mut tracing = Tracing { ok: true, ..Tracing::default() };
    let mut marked = String::with_capacity(answer.len());
    let mut inherited: Vec<String> = Vec::new();
    for line in answer.lines() {
        let trimmed = line.trim();
        let is_item = trimmed.starts_with(['-', '*', '•', '|']) || starts_with_number(trimmed);
        if trimmed.is_empty() {
            marked.push('\n');
            continue;
        }
        // A heading between the line that cites and the list that it stands for changes nothing.
        let is_heading = trimmed.starts_with('#') || (trimmed.starts_with("**") && trimmed.ends_with("**"));
        if !is_item && !is_heading {
            inherited.clear();
        }
        for sentence in sentences(line) {
            let mut claim = check(sentence, question, ran, texts, if is_item { &inherited } else { &[] });
            tracing.checked += claim.checked;
            let end = sentence.trim_end().len();
            marked.push_str(&sentence[..end]);
            if !claim.claim.problems.is_empty() && !sentence.contains(MARK) {
                marked.push_str(if is_item && sentence.trim_end().ends_with('|') { MARK } else { " " });
                if !marked.ends_with(MARK) {
                    marked.push_str(MARK);
                }
            }
            marked.push_str(&sentence[end..]);
            tracing.ok &= claim.claim.problems.is_empty();
            if !is_item {
                // The line before a list carries its references for all of it.
                inherited.append(&mut claim.claim.references.clone());
            }
            if claim.factual || !claim.claim.references.is_empty() || !claim.claim.problems.is_empty() {
                claim.claim.text = sentence.trim().to_owned();
                tracing.claims.push(claim.claim);
            }
        }
        marked.push('\n');
    }
    marked.truncate(marked.trim_end().len());
    (tracing, marked)
}

struct Checked {
    claim: Claim,
    checked: usize,
    /// Whether it states something from data.
    factual: bool,
}

fn check(sentence: &str, question: &str, ran: &[DataQuestion], texts: &str, inherited: &[String]) -> Checked {
    let mut claim = Claim { references: references(sentence), ..Claim::default() };
    let mut checked = claim.references.len();
    for id in &claim.references {
        match ran.iter().find(|ran| ran.id == *id) {
            None => claim.problems.push(format!("there is no query {id}")),
            Some(DataQuestion { error: Some(error), .. }) => claim.problems.push(format!("{id} failed: {error}")),
            Some(_) => {}
        }
    }
    let cited = |ran: &&DataQuestion| {
        ran.error.is_none() && (claim.references.contains(&ran.id) || inherited.contains(&ran.id))
    };
    let mut sources: Vec<&DataQuestion> = ran.iter().filter(cited).collect();
    let has_reference = !sources.is_empty();
    if !has_reference {
        sources = ran.iter().filter(|ran| ran.error.is_none()).collect();
    }
    let said = |text: &str| {
        contains_number(question, text)
            || contains_number(texts, text)
            || sources
                .iter()
                .any(|source| contains_number(&source.sql, text) || contains_number(&source.question, text))
    };
    for table in TABLE.captures_iter(sentence) {
        match ran.iter().find(|ran| ran.id == table[1]) {
            Some(found) if found.error.is_none() => {}
            Some(_) | None => claim.problems.push(format!("there is no result {} to be shown", &table[1])),
        }
    }
    let mut factual = false;
    for number in numbers(&REFERENCE.replace_all(sentence, " ")) {
        let of_data = find(&number, &sources).or_else(|| find_count(&number, sentence, &sources));
        // What was said outright need not be derived.
        if !matches!(of_data, Some(Found::Value)) && said(&number.text) {
            continue;
        }
        checked += 1;
        factual = true;
        match of_data {
            Some(Found::Value) => {}
            Some(Found::Derived(how)) => claim.derived.push(format!("{} is {how}", number.text)),
            None => claim.problems.push(format!("{} is in no result", number.text)),
        }
    }
    factual |= names_a_value(sentence, question, &sources);
    if factual && !has_reference && !ran.is_empty() && claim.problems.is_empty() {
        claim.problems.push("it cites no query".into());
    }
    Checked { claim, checked, factual }
}

static REFERENCE: LazyLock<Regex> = LazyLock::new(|| regex(r"\[(?:t\d+\.)?Q\d+(?:\s*[,;]\s*Q\d+)*\]"));
/// Where the rows of a result are to be put.
pub(super) static TABLE: LazyLock<Regex> = LazyLock::new(|| regex(r"\{\{\s*(Q\d+)\s*\}\}"));
static ONE: LazyLock<Regex> = LazyLock::new(|| regex(r"Q\d+"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\d{1,4}(?::\d+(?:\.\d+)*)+|\d+(?:\.\d+){2,}|\d{4}-Q\d|\d{4}-\d{2}(?:-\d{2})?|(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:\s*%|\s*percent|\s*(?:k|m|bn|million|thousand|billion)\b)?",
    )
});

/// The patterns are constant, and tests run them all.
fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|error| unreachable!("{error}"))
}

fn references(sentence: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for reference in REFERENCE.find_iter(sentence) {
        for one in ONE.find_iter(reference.as_str()) {
            if !found.iter().any(|known| known == one.as_str()) {
                found.push(one.as_str().to_owned());
            }
        }
    }
    found
}

fn starts_with_number(line: &str) -> bool {
    line.split_once(['.', ')']).is_some_and(|(number, rest)| {
        !number.is_empty() && number.len() < 4 && number.bytes().all(|b| b.is_ascii_digit()) && rest.starts_with(' ')
    })
}

/// The sentences of a line, with all that is between them: a reference after a full stop belongs to what is before it.
fn sentences(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut begin = 0;
    let bytes = line.as_bytes();
    for (at, c) in line.char_indices() {
        let after = &line[at + c.len_utf8()..];
        let word = line[..at].rsplit(' ').next().unwrap_or_default();
        // Neither a list's number nor an abbreviation ends a sentence.
        let ends = matches!(c, '.' | '!' | '?')
            && after.starts_with(' ')
            && !after.trim_start().starts_with('[')
            && word.len() > 1
            && !(c == '.' && is_abbreviation(word))
            && !word.bytes().all(|byte| byte.is_ascii_digit())
            && after.trim_start().starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        let closes =
            c == ']' && line[begin..at].contains(". [") && after.starts_with(' ') && bytes[at - 1].is_ascii_digit();
        if (ends || (closes && !after.trim_start().starts_with('['))) && !line[begin..at].trim().is_empty() {
            found.push(&line[begin..at + c.len_utf8()]);
            begin = at + c.len_utf8();
        }
    }
    found.push(&line[begin..]);
    found
}

/// Whether a word before a full stop is a title or the like, behind which a sentence goes on.
fn is_abbreviation(word: &str) -> bool {
    const ABBREVIATIONS: [&str; 16] =
        ["dr", "mr", "mrs", "ms", "prof", "st", "mt", "jr", "sr", "inc", "ltd", "co", "vs", "no", "approx", "e.g"];
    ABBREVIATIONS.contains(&word.trim_start_matches(['(', '*', '"', '[']).to_lowercase().as_str())
}

/// A number as it is written.
#[derive(Debug, Clone, PartialEq)]
struct Written {
    text: String,
    /// What it says; none for a date.
    value: Option<f64>,
    /// Half of its last digit.
    slack: f64,
    percent: bool,
}

fn numbers(sentence: &str) -> Vec<Written> {
    let skip =
        if starts_with_number(sentence.trim_start()) { sentence.find(['.', ')']).map_or(0, |at| at + 1) } else { 0 };
    let sentence = &sentence[skip..];
    let mut found = Vec::new();
    for number in NUMBER.find_iter(sentence) {
        let before = sentence[..number.start()].chars().next_back().unwrap_or(' ');
        let after = sentence[number.end()..].chars().next().unwrap_or(' ');
        // A part of a name is no number.
        if before.is_alphanumeric() || before == '_' || (after.is_alphanumeric() || after == '_') {
            continue;
        }
        let text = number.as_str().trim();
        // A date, a time or a version is no number: it stands in a cell as it is.
        let is_date = text.len() > 4 && text.as_bytes()[4] == b'-';
        let is_date = is_date || text.contains(':') || text.matches('.').count() > 1;
        let negative = matches!(before, '-' | '−')
            && sentence[..number.start() - before.len_utf8()].chars().next_back().is_none_or(|c| " ($".contains(c));
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(text.len());
        let (digits, unit) =
            (text[..end].trim_end_matches(['.', ',']).replace(',', ""), text[end..].trim().to_lowercase());
        let scale = match unit.as_str() {
            "k" | "thousand" => 1e3,
            "m" | "million" => 1e6,
            "bn" | "billion" => 1e9,
            _ => 1.0,
        };
        let decimals = digits.split_once('.').map_or(0, |(_, part)| part.len());
        let value =
            digits.parse::<f64>().ok().filter(|_| !is_date).map(|n| n * scale * if negative { -1.0 } else { 1.0 });
        found.push(Written {
            text: if is_date { text.to_owned() } else { text[..end].trim_end_matches(['.', ',']).to_owned() },
            value,
            slack: 0.5 * scale * 10f64.powi(-i32::try_from(decimals).unwrap_or(0)),
            percent: unit == "%" || unit == "percent",
        });
    }
    found
}

/// Whether a text holds the number as a word of its own, however it is grouped.
fn contains_number(text: &str, number: &str) -> bool {
    let plain = number.replace(',', "");
    [number, plain.as_str()].into_iter().any(|wanted| {
        text.match_indices(wanted).any(|(at, _)| {
            let before = text[..at].chars().next_back().unwrap_or(' ');
            let after = &text[at + wanted.len()..];
            let decimals = after.strip_prefix(['.', ',']).unwrap_or(after);
            let goes_on = decimals.starts_with(|c: char| c.is_ascii_digit());
            !before.is_ascii_digit() && before != '.' && !goes_on
        })
    })
}

enum Found {
    Value,
    Derived(String),
}

fn find(number: &Written, sources: &[&DataQuestion]) -> Option<Found> {
    let Some(value) = number.value else {
        let in_cell = |cell: &Value| cell.as_str().is_some_and(|text| text.contains(&number.text));
        let found = sources.iter().flat_map(|source| &source.rows).flatten().any(in_cell);
        return found.then_some(Found::Value);
    };
    let near = |candidate: f64| (candidate - value).abs() <= number.slack * 1.000_001 + value.abs() * 1e-12;
    // A drop of 5 is written without a sign.
    let size = |candidate: f64| near(candidate) || near(candidate.abs());
    let mut single: Vec<(String, f64)> = Vec::new();
    for source in sources {
        if size(source.rows.len() as f64) && !number.percent && !source.has_more {
            return Some(Found::Value);
        }
        for row in &source.rows {
            for cell in row {
                let Some(cell) = numeric(cell) else {
                    // A year or a code inside a text.
                    if cell.as_str().is_some_and(|text| contains_number(text, &number.text)) {
                        return Some(Found::Value);
                    }
                    continue;
                };
                if size(cell) {
                    return Some(Found::Value);
                }
                if number.percent && size(cell * 100.0) {
                    return Some(Found::Derived("a fraction as a percentage".into()));
                }
            }
        }
        if let [row] = source.rows.as_slice() {
            single.extend(row.iter().filter_map(numeric).map(|value| (source.id.clone(), value)));
        }
    }
    for source in sources {
        for (at, name) in source.columns.iter().enumerate() {
            let column: Vec<f64> = source.rows.iter().filter_map(|row| row.get(at).and_then(numeric)).collect();
            if column.len() < 2 {
                continue;
            }
            let sum: f64 = column.iter().sum();
            if !number.percent && size(sum) {
                return Some(Found::Derived(format!("the sum of {name} in {}", source.id)));
            }
            if !number.percent && near(sum / column.len() as f64) {
                return Some(Found::Derived(format!("the mean of {name} in {}", source.id)));
            }
            if number.percent && column.iter().any(|value| near(value / sum * 100.0)) {
                return Some(Found::Derived(format!("a share of the sum of {name} in {}", source.id)));
            }
            if let Some(how) = pair(&column, number, &near) {
                return Some(Found::Derived(format!("{how} of two values of {name} in {}", source.id)));
            }
        }
        for row in source.rows.iter().take(MAX_PAIRED) {
            let row: Vec<f64> = row.iter().filter_map(numeric).collect();
            if let Some(how) = pair(&row, number, &near) {
                return Some(Found::Derived(format!("{how} of two values of one row of {}", source.id)));
            }
        }
    }
    let values: Vec<f64> = single.iter().map(|(_, value)| *value).collect();
    pair(&values, number, &near).map(|how| Found::Derived(format!("{how} of two results")))
}

/// How the number follows from two of these values.
fn pair(values: &[f64], number: &Written, near: &dyn Fn(f64) -> bool) -> Option<&'static str> {
    let values = &values[..values.len().min(MAX_PAIRED)];
    for (at, a) in values.iter().enumerate() {
        for (other, b) in values.iter().enumerate() {
            if at == other {
                continue;
            }
            let ratio = if *b == 0.0 { f64::NAN } else { a / b };
            if number.percent {
                if near(ratio * 100.0) {
                    return Some("the ratio");
                }
                if near((ratio - 1.0) * 100.0) || near((ratio - 1.0).abs() * 100.0) {
                    return Some("the change");
                }
            } else if near(a - b) || near((a - b).abs()) {
                return Some("the difference");
            } else if at < other && near(a + b) {
                return Some("the sum");
            } else if number.slack < 0.5 && near(ratio) {
                // A whole number is too easily a ratio of something.
                return Some("the ratio");
            }
        }
    }
    None
}

fn numeric(cell: &Value) -> Option<f64> {
    match cell {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

/// Whether the sentence names a value of a result that the question does not.
fn names_a_value(sentence: &str, question: &str, sources: &[&DataQuestion]) -> bool {
    let (sentence, question) = (sentence.to_lowercase(), question.to_lowercase());
    sources.iter().flat_map(|source| &source.rows).flatten().filter_map(Value::as_str).any(|text| {
        let text = text.to_lowercase();
        text.chars().count() > 3 && sentence.contains(&text) && !question.contains(&text)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ran() -> Vec<DataQuestion> {
        let question = |id: &str, columns: &[&str], rows: Value| DataQuestion {
            id: id.into(),
            sql: "SELECT x FROM t WHERE year = 2024 LIMIT 7".into(),
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            rows: serde_json::from_value(rows).unwrap_or_default(),
            ..DataQuestion::default()
        };
        let failed = DataQuestion { id: "Q3".into(), error: Some("syntax".into()), ..DataQuestion::default() };
        vec![
            question(
                "Q1",
                &["country", "revenue"],
                json!([["Brazil", 1234.5], ["Portugal", 765.5], ["Sweden", 500.0]]),
            ),
            question("Q2", &["rate"], json!([[0.4321]])),
            failed,
        ]
    }

    /// What is wrong with the answer, or nothing.
    fn check(answer: &str, expected: &[&str]) {
        let (tracing, marked) = trace(answer, "Revenue of the top 9 countries?", &ran(), "at least 45.00 dollars");
        let problems: Vec<&str> = tracing.claims.iter().flat_map(|claim| &claim.problems).map(String::as_str).collect();
        assert_eq!(problems.len(), expected.len(), "{answer}: {problems:?}");
        for (found, expected) in problems.iter().zip(expected) {
            assert!(found.contains(expected), "{answer}: {found}");
        }
        assert_eq!(tracing.ok, expected.is_empty());
        assert_eq!(marked.contains(MARK), !expected.is_empty(), "{marked}");
    }

    #[test]
    fn values_are_found_however_they_are_written() {
        check("Brazil spent 1,234.50 [Q1].", &[]);
        check("Brazil spent about 1.2k dollars [Q1].", &[]);
        check("Brazil spent $1,235. [Q1] Portugal 766 [Q1].", &[]);
        check("The rate is 43.2 % [Q2].", &[]);
        check("By country [Q1]:\n\n- Brazil: 1234.5\n- Portugal: 765.5", &[]);
        check("| Brazil | 1234.5 | [Q1]", &[]);
        check("There are 3 countries [Q1].", &[]);
    }

    #[test]
    fn simple_derivations_are_allowed_and_said() {
        check("Together 2,500 [Q1].", &[]);
        check("Brazil is 469 above Portugal [Q1].", &[]);
        check("Brazil has 49.4 % of it [Q1].", &[]);
        check("Portugal is 38.0 % below Brazil [Q1].", &[]);
        let (tracing, _) = trace("Together 2,500 [Q1].", "", &ran(), "");
        assert_eq!(tracing.claims[0].derived, ["2,500 is the sum of revenue in Q1"]);
    }

    #[test]
    fn a_line_carries_its_reference_over_blank_lines_and_headings() {
        check("By country [Q1].\n\n| Brazil | 1234.5 |\n| Portugal | 765.5 |", &[]);
        check("By country [Q1]:\n\n### The list\n\n- Brazil: 1234.5", &[]);
        check("By country [Q1].\n\nNothing else.\n\n- Brazil: 1234.5", &["cites no query"]);
        check("All of them:\n\n{{Q1}}", &[]);
        check("All of them:\n\n{{Q8}}", &["no result Q8"]);
    }

    #[test]
    fn what_a_sentence_counts_itself_is_no_invention() {
        let codes = DataQuestion {
            id: "Q1".into(),
            columns: vec!["state".into(), "code".into()],
            rows: (1..15)
                .map(|n| vec![json!("NY"), json!(1_000 * n)])
                .chain([vec![json!("TX"), json!(20_000)]])
                .collect(),
            ..DataQuestion::default()
        };
        let check = |answer: &str, is_traced: bool| {
            let (tracing, _) = trace(answer, "", std::slice::from_ref(&codes), "");
            assert_eq!(tracing.ok, is_traced, "{answer}");
        };
        check("All 14 NY area codes tie [Q1].", true);
        check("There are 2 states, NY and TX [Q1].", true);
        check("All 13 NY area codes tie [Q1].", false);
        check("All 14 area codes of NYC tie [Q1].", false);
    }

    #[test]
    fn what_cannot_be_traced_is_said() {
        check("Brazil spent 1,300 [Q1].", &["1,300 is in no result"]);
        check("Brazil spent 1234.5.", &["cites no query"]);
        check("Brazil leads.", &["cites no query"]);
        check("Brazil spent 1234.5 [Q9].", &["no query Q9"]);
        check("It failed [Q3].", &["Q3 failed"]);
        check("In 2024-Q3 it was 500 [Q1].", &["2024-Q3"]);
        check("By country [Q1]:\n- Brazil: 99", &["99 is in no result"]);
    }

    #[test]
    fn numbers_of_the_question_the_query_and_texts_are_no_claims() {
        check("The top 9 in 2024 are these.", &[]);
        check("A VIP spends at least 45.00 dollars.", &[]);
        check("1. Nothing else\n2. is known.", &[]);
        check("Nothing is known.", &[]);
    }
}

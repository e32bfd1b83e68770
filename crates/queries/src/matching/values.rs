//! Extracts values from a question and assigns them to parameters.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use prospector_engine::query::Literal;
use prospector_text::numbers::parse_word;
use prospector_text::periods::MONTHS;

use super::words::{Word, meaning, words};
use crate::file::slots;
use crate::model::{Parameter, ParameterType, VerifiedQuery};
use crate::value::{Domain, admit, show};

/// The values of a question for the parameters of a query.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Filled {
    /// The values, by parameter.
    pub(super) parameters: Vec<(String, Literal)>,
    /// The positions of the words of the values.
    pub(super) used: BTreeSet<usize>,
}

/// A value in a question that a parameter may accept.
#[derive(Debug, Clone, PartialEq)]
struct Found {
    parameter: usize,
    value: Literal,
    from: usize,
    to: usize,
}

/// Returns the values in the question. Where one value matches two parameters, or two values match one, adjacent words decide; otherwise
/// nothing is assigned, and the value remains an uncovered word.
pub(super) fn fill(question: &[Word], query: &VerifiedQuery, domains: &[Domain]) -> Filled {
    let mut found: Vec<Found> = Vec::new();
    for (at, (parameter, domain)) in query.parameters.iter().zip(domains).enumerate() {
        found.extend(candidates(question, at, parameter, domain, query));
    }
    // Longest matches first: `United Kingdom` is not `United`.
    let is_within = |one: &Found, other: &Found| {
        other.from <= one.from && one.to <= other.to && one.to - one.from < other.to - other.from
    };
    let all = found.clone();
    found.retain(|one| !all.iter().any(|other| is_within(one, other)));
    let mut filled = Filled::default();
    for (at, parameter) in query.parameters.iter().enumerate() {
        let own: Vec<&Found> = found.iter().filter(|one| one.parameter == at).collect();
        let is_contested =
            |one: &Found| found.iter().any(|other| other.parameter != at && other.from < one.to && one.from < other.to);
        let fits = |one: &&&Found| !is_contested(one) || is_beside(question, one, &parameter.name, query);
        let fitting: Vec<&&Found> = own.iter().filter(fits).collect();
        let mut values: Vec<&Literal> = fitting.iter().map(|one| &one.value).collect();
        values.dedup();
        let chosen: Vec<&&Found> = match values.as_slice() {
            [_] => fitting,
            [] => continue,
            _ => {
                let adjacent: Vec<&&Found> =
                    fitting.into_iter().filter(|one| is_beside(question, one, &parameter.name, query)).collect();
                if adjacent.len() != 1 {
                    continue;
                }
                adjacent
            }
        };
        let Some(first) = chosen.first() else { continue };
        if chosen.iter().any(|one| !has_same_preposition(question, one, parameter, query)) {
            continue;
        }
        filled.parameters.push((parameter.name.clone(), first.value.clone()));
        for one in &chosen {
            let is_told = preposition(question, one.from).is_some();
            filled.used.extend(one.from - usize::from(is_told)..one.to);
        }
    }
    filled
}

/// Returns whether the word before a value also precedes the parameter in a phrasing of the query; where the phrasing starts with the
/// parameter, the word after it is compared.
fn is_beside(question: &[Word], found: &Found, parameter: &str, query: &VerifiedQuery) -> bool {
    let text = |at: Option<usize>| at.and_then(|at| question.get(at)).map(|word| word.text.as_str());
    let (before, after) = (text(found.from.checked_sub(1)), text(Some(found.to)));
    query.phrasings().any(|phrasing| {
        let slot = format!("{{{parameter}}}");
        phrasing.split_once(&slot).is_some_and(|(left, right)| {
            let left = words(left.rsplit('}').next().unwrap_or(left)).pop();
            let right = words(right.split('{').next().unwrap_or(right)).into_iter().next();
            let same = |word: &Option<Word>, said: Option<&str>| {
                word.as_ref().is_some_and(|word| said == Some(word.text.as_str()))
            };
            if left.is_some() { same(&left, before) } else { same(&right, after) }
        })
    })
}

/// Prepositions that distinguish how a value relates to the question: artists sold *in* Brazil are not artists *from* Brazil.
pub(super) const PREPOSITIONS: [&str; 10] = ["in", "during", "of", "from", "to", "into", "at", "for", "on", "by"];

fn preposition(question: &[Word], at: usize) -> Option<&str> {
    let before = question.get(at.checked_sub(1)?)?.text.as_str();
    PREPOSITIONS.contains(&before).then_some(before)
}

/// Returns whether a preposition before a name also precedes its parameter in a phrasing. Prepositions before numbers and dates are
/// ignored.
fn has_same_preposition(question: &[Word], found: &Found, parameter: &Parameter, query: &VerifiedQuery) -> bool {
    let Some(found_word) = preposition(question, found.from).filter(|_| parameter.kind == ParameterType::Text) else {
        return true;
    };
    let slot = format!("{{{}}}", parameter.name);
    query.phrasings().any(|phrasing| {
        phrasing
            .split_once(&slot)
            .is_some_and(|(left, _)| words(left).pop().is_some_and(|word| word.text == found_word))
    })
}

fn candidates(
    question: &[Word],
    at: usize,
    parameter: &Parameter,
    domain: &Domain,
    query: &VerifiedQuery,
) -> Vec<Found> {
    let mut found = Vec::new();
    let mut add = |value: Literal, from: usize, to: usize| {
        if let Ok(value) = admit(&query.name, parameter, domain, value) {
            found.push(Found { parameter: at, value, from, to });
        }
    };
    match (parameter.kind, domain) {
        (ParameterType::Boolean, _) => {}
        (ParameterType::Date, _) => {
            for (day, from, to) in dates(question) {
                add(Literal::Text(day), from, to);
            }
        }
        (ParameterType::Integer, _) => {
            for (text, from, to) in numbers(question) {
                if let Some(whole) = text.parse().ok().or_else(|| parse_word(&text).map(i64::from)) {
                    add(Literal::Integer(whole), from, to);
                }
            }
        }
        (ParameterType::Number, _) => {
            for (text, from, to) in numbers(question) {
                if let Some(number) = text.parse().ok().or_else(|| parse_word(&text).map(f64::from)) {
                    add(Literal::Number(number), from, to);
                }
            }
        }
        (ParameterType::Text, Domain::OneOf(values)) => {
            for (value, others) in values {
                for name in others.iter().cloned().chain([show(value)]) {
                    for (from, to) in places(question, &name) {
                        found.push(Found { parameter: at, value: value.clone(), from, to });
                    }
                }
            }
        }
        (ParameterType::Text, Domain::Any | Domain::Between(..)) => {
            for (text, from, to) in quotations(question) {
                add(Literal::Text(text), from, to);
            }
        }
    }
    // A number without restrictions is accepted only where its position identifies the parameter.
    if *domain == Domain::Any && matches!(parameter.kind, ParameterType::Integer | ParameterType::Number) {
        let is_named = query.phrasings().any(|phrasing| slots(phrasing).any(|slot| slot == parameter.name));
        found.retain(|one| is_named && is_beside(question, one, &parameter.name, query));
    }
    found
}

/// Returns the positions of a name in a question. Short names, which may be common words, must match exactly.
fn places(question: &[Word], name: &str) -> Vec<(usize, usize)> {
    let wanted = words(name);
    if wanted.is_empty() || question.len() < wanted.len() {
        return Vec::new();
    }
    let must_be_name = wanted.len() == 1 && (wanted[0].text.len() <= 3 || meaning(&wanted[0]).is_none());
    let is_there = |at: usize| {
        let part = &question[at..at + wanted.len()];
        let same = part.iter().zip(&wanted).all(|(word, wanted)| word.text == wanted.text);
        same && (!must_be_name || part[0].capital == wanted[0].capital && part[0].capital)
    };
    (0..=question.len() - wanted.len()).filter(|at| is_there(*at)).map(|at| (at, at + wanted.len())).collect()
}

/// Returns the quoted texts.
fn quotations(question: &[Word]) -> Vec<(String, usize, usize)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < question.len() {
        let end = (at..question.len()).find(|at| !question[*at].quoted).unwrap_or(question.len());
        if end > at {
            let text: Vec<&str> = question[at..end].iter().map(|word| word.text.as_str()).collect();
            found.push((text.join(" "), at, end));
        }
        at = end + 1;
    }
    found
}

/// Returns standalone numbers that are not part of a date, a longer number or a word.
fn numbers(question: &[Word]) -> Vec<(String, usize, usize)> {
    let days = dates(question);
    let mut found = Vec::new();
    let mut at = 0;
    while at < question.len() {
        let from = at;
        let mut text = question[at].text.clone();
        let is_joined = |at: usize| question.get(at).is_some_and(|word| word.joined.is_some());
        at += 1;
        if is_joined(at) && question[at].joined == Some('.') && !is_joined(at + 1) {
            text = format!("{text}.{}", question[at].text);
            at += 1;
        }
        let is_number = text.parse::<f64>().is_ok_and(f64::is_finite) && text.starts_with(|c: char| c.is_ascii_digit());
        let is_plain = question[from].joined.is_none() && !is_joined(at);
        if is_plain
            && (is_number || parse_word(&text).is_some())
            && !days.iter().any(|day| day.1 <= from && from < day.2)
        {
            found.push((text, from, at));
        }
    }
    found
}

/// Returns dates with a year: `2024-03-05`, `5 March 2024`, `5th of March 2024`, `March 5, 2024`.
fn dates(question: &[Word]) -> Vec<(String, usize, usize)> {
    let month = |word: &Word| {
        let name = word.text.as_str();
        MONTHS.iter().position(|month| *month == name || name.len() >= 3 && name.len() <= 4 && month.starts_with(name))
    };
    let whole = |word: &Word| {
        let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.text.strip_suffix(end)).unwrap_or(&word.text);
        digits.parse::<u32>().ok().filter(|_| digits.len() <= 4)
    };
    let year = |word: &Word| (word.text.len() == 4).then(|| word.text.parse::<i32>().ok()).flatten();
    let mut found = Vec::new();
    for from in 0..question.len() {
        // Without `of`, which may follow the day.
        let places: Vec<usize> =
            (from..question.len().min(from + 5)).filter(|at| question[*at].text != "of").take(3).collect();
        let [one, two, three] = places[..] else { continue };
        if one != from {
            continue;
        }
        let (a, b, c) = (&question[one], &question[two], &question[three]);
        let dashes = b.joined == Some('-') && c.joined == Some('-');
        let day = if dashes {
            year(a)
                .zip(whole(b))
                .zip(whole(c))
                .and_then(|((year, month), day)| NaiveDate::from_ymd_opt(year, month, day))
        } else if let (Some(day), Some(month), Some(year)) = (whole(a), month(b), year(c)) {
            NaiveDate::from_ymd_opt(year, month as u32 + 1, day)
        } else if let (Some(month), Some(day), Some(year)) = (month(a), whole(b), year(c)) {
            NaiveDate::from_ymd_opt(year, month as u32 + 1, day)
        } else {
            None
        };
        if let Some(day) = day {
            found.push((day.format("%Y-%m-%d").to_string(), from, three + 1));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_dates_in_common_notations() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<String> = dates(&words(text)).into_iter().map(|(day, ..)| day).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("on 3 March 2024", &["2024-03-03"]);
        check("on the 3rd of March 2024?", &["2024-03-03"]);
        check("March 3, 2024", &["2024-03-03"]);
        check("Sept 30 2025", &["2025-09-30"]);
        check("2024-03-03", &["2024-03-03"]);
        for none in ["03/04/2024", "31 February 2024", "March 2024", "in 2024", "3 2024 March"] {
            check(none, &[]);
        }
    }

    #[test]
    fn finds_standalone_numbers() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<String> = numbers(&words(text)).into_iter().map(|(text, ..)| text).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("the top 10 in 2025", &["10", "2025"]);
        check("top five", &["five"]);
        check("more than 2.5 of them", &["2.5"]);
        check("on 2024-03-03", &[]);
        check("-5 or 1.2.3 or Q4-2025", &[]);
    }
}

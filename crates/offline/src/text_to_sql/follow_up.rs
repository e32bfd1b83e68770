//! Questions that go on from the one before: `and in 2023?`, `the same by month`, `only for Portugal`.
//!
//! Such a question becomes a whole one by one change of the words of the one before: another period, one more group, one
//! more value. Another value of the same column takes the place of the first. The whole one is read like any other, and
//! counts only where it is the one before but for that change, column by column. Everything else is said not to be followed.

use prospector_llm::purpose::PreviousTurn;

use super::{
    period::{self, Unit},
    text::{Word, words},
};

/// How a question begins that goes on from another one.
const LEADS: &[&[&str]] = &[
    &["and", "what", "about"],
    &["and", "how", "about"],
    &["what", "about"],
    &["how", "about"],
    &["and", "the", "same"],
    &["the", "same"],
    &["and", "only"],
    &["only"],
    &["and"],
];
/// What groups.
const GROUPING: &[&[&str]] = &[
    &["broken", "down", "by"],
    &["grouped", "by"],
    &["split", "by"],
    &["for", "each"],
    &["for", "every"],
    &["by"],
    &["per"],
];
/// What a value follows.
const BEFORE_VALUES: &[&str] = &["for", "in", "from", "of", "with"];
/// What may stand beside a period.
const BESIDE_PERIODS: &[&str] = &["in", "for", "during", "of", "the", "year", "from", "to", "between", "and", "until"];
/// A group or a value has no more words.
const MAX_WORDS: usize = 3;
/// Words that make more of a question than one change.
const MORE: &[&str] = &[
    "how",
    "what",
    "which",
    "who",
    "when",
    "why",
    "many",
    "much",
    "not",
    "no",
    "except",
    "without",
    "excluding",
    "other",
    "but",
    "than",
    "and",
    "or",
    "by",
    "per",
    "each",
    "every",
    "top",
    "most",
    "average",
    "total",
    "number",
    "count",
    "sum",
    "q1",
    "q2",
    "q3",
    "q4",
    "last",
    "previous",
    "next",
];
/// Words that rank; a group more would change what is ranked.
const RANKING: &[&str] = &["top", "best", "worst", "most", "least", "which", "first", "last"];
/// How the answer says what was understood.
pub(super) const UNDERSTOOD: &str = "Understood as: “";

/// What is different from the question before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Period,
    Group,
    Value,
    /// Another value of the same column.
    OtherValue,
}

/// A question that goes on from another one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FollowUp {
    pub(super) before: String,
    pub(super) change: Change,
    /// The value as it is said, and whether it is to be the only one.
    pub(super) value: (String, bool),
    /// The question in full.
    pub(super) whole: String,
}

/// What stands before a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Before {
    Nothing,
    /// A question that was answered from data, in full.
    Data(String),
    /// Something else.
    Other,
}

/// What stands before this turn.
pub(super) fn before(previous: Option<&PreviousTurn>) -> Before {
    match previous {
        None => Before::Nothing,
        Some(turn) if !turn.has_data => Before::Other,
        Some(turn) => Before::Data(understood_as(&turn.answer).unwrap_or(&turn.question).trim().to_owned()),
    }
}

/// The question in full, as an answer says that it was understood.
pub(super) fn understood_as(answer: &str) -> Option<&str> {
    answer.strip_prefix(UNDERSTOOD)?.split_once('”').map(|(question, _)| question)
}

/// Why a question that goes on from another cannot be made a whole one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum FollowUpError {
    /// The one before was answered from documents or facts.
    #[error("it goes on from a question that was not answered from data: ask it in full")]
    NotFromData,
    /// It changes more than one thing, or nothing that is known.
    #[error("it goes on from the question before in a way that I do not follow: ask it in full")]
    Unclear,
}

/// Reads a question after what stands before it: none if it is a whole question itself.
pub(super) fn read(question: &str, before: &Before) -> Result<Option<FollowUp>, FollowUpError> {
    let said = words(question);
    let lead = LEADS.iter().find(|lead| begins(&said, lead)).map_or(0, |lead| lead.len());
    let leads_with = |stem: &str| said[..lead].iter().any(|word| word.stem == stem);
    let (only, bare) = (leads_with("only"), leads_with("only") || leads_with("about"));
    let tail = &said[lead..];
    let before = match before {
        Before::Nothing => return Ok(None),
        _ if lead == 0 && find_change(tail, bare).is_none() => return Ok(None),
        Before::Other if lead == 0 => return Ok(None),
        Before::Other => {
            return Err(FollowUpError::NotFromData);
        }
        Before::Data(before) => before,
    };
    let earlier = words(before);
    let is_whole = LEADS.iter().all(|lead| !begins(&earlier, lead)) && find_change(&earlier, false).is_none();
    let Some((change, at)) = find_change(tail, bare).filter(|_| is_whole) else { return Err(FollowUpError::Unclear) };
    let rest = text(&tail[at..]);
    let whole = match change {
        Change::Period => {
            let kept = without_period(&earlier, tail).ok_or(FollowUpError::Unclear)?;
            let in_it = if BESIDE_PERIODS.contains(&tail[0].stem.as_str()) || is_mark(&tail[0]) { "" } else { "in " };
            format!("{kept} {in_it}{}", text(tail))
        }
        Change::Group => regroup(&earlier, &tail[at..]).ok_or(FollowUpError::Unclear)?,
        Change::Value | Change::OtherValue => format!("{} for {rest}", text(&earlier)),
    };
    Ok(Some(FollowUp { before: before.clone(), change, value: (rest, only), whole }))
}

/// What the words change, if they are one change and nothing else; and where the name of the group or the value begins. A `bare`
/// value needs no word before it.
fn find_change(tail: &[Word], bare: bool) -> Option<(Change, usize)> {
    let mut left = tail.to_vec();
    if let Ok(Some(_)) = period::take(&mut left) {
        let beside = |word: &Word| word.used || BESIDE_PERIODS.contains(&word.stem.as_str());
        return left.iter().all(beside).then_some((Change::Period, 0));
    }
    let is_name = |at: usize| {
        let name = &tail[at..];
        (1..=MAX_WORDS).contains(&name.len())
            && name.iter().all(|word| word.quoted || !MORE.contains(&word.stem.as_str()))
    };
    if let Some(grouping) = GROUPING.iter().find(|grouping| begins(tail, grouping)) {
        return is_name(grouping.len()).then_some((Change::Group, grouping.len()));
    }
    match tail.first()? {
        first if BEFORE_VALUES.contains(&first.stem.as_str()) => is_name(1).then_some((Change::Value, 1)),
        _ => (bare && is_name(0)).then_some((Change::Value, 0)),
    }
}

/// A question without its period, for another one. None where it has several, or where the other is longer: after the third
/// quarter of 2024, `2023` may be that quarter or the year.
fn without_period(question: &[Word], other: &[Word]) -> Option<String> {
    let mut left = question.to_vec();
    let Some(old) = period::take(&mut left).ok()? else { return Some(text(question)) };
    let new = period::take(&mut other.to_vec()).ok()??;
    if let (Some(old), Some(new)) = (old.months(), new.months())
        && old < new.min(12)
    {
        return None;
    }
    let from = left.iter().position(|word| word.used)?;
    let length = left[from..].iter().take_while(|word| word.used).count();
    if left[from + length..].iter().any(|word| word.used) {
        return None;
    }
    let is_beside = from > 0 && ["in", "for", "during", "of"].contains(&left[from - 1].stem.as_str());
    let mut kept = left[..from - usize::from(is_beside)].to_vec();
    kept.extend_from_slice(&left[from + length..]);
    Some(text(&kept))
}

/// A question with one more group, or with another unit of time in place of its own.
fn regroup(question: &[Word], name: &[Word]) -> Option<String> {
    if question.iter().any(|word| !word.quoted && RANKING.contains(&word.stem.as_str())) {
        return None;
    }
    let is_group = |word: &Word| ["by", "per", "each", "every"].contains(&word.stem.as_str());
    let groups: Vec<usize> = (0..question.len()).filter(|at| is_group(&question[*at])).collect();
    let [new] = name else {
        return groups.is_empty().then(|| format!("{} by {}", text(question), text(name)));
    };
    match groups.as_slice() {
        [] => Some(format!("{} by {}", text(question), new.text)),
        [at] => {
            let old = question.get(at + 1).filter(|old| Unit::of(&old.stem).is_some())?;
            let alone = question.get(at + 2).is_none_or(|next| next.stem != "and");
            Unit::of(&new.stem).filter(|_| alone && !old.quoted)?;
            let mut words = question.to_vec();
            words[at + 1] = new.clone();
            Some(text(&words))
        }
        _ => None,
    }
}

fn begins(words: &[Word], phrase: &[&str]) -> bool {
    words.len() >= phrase.len() && words.iter().zip(phrase).all(|(word, stem)| !word.quoted && word.stem == *stem)
}

/// Whether a word says on which side of a period.
fn is_mark(word: &Word) -> bool {
    ["since", "after", "before"].contains(&word.stem.as_str())
}

pub(super) fn text(words: &[Word]) -> String {
    let written = |word: &Word| if word.quoted { format!("\"{}\"", word.text) } else { word.text.clone() };
    words.iter().map(written).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, question: &str, expected: &str) {
        let read = read(question, &Before::Data(before.into()));
        let found = match &read {
            Ok(Some(one)) => one.whole.as_str(),
            Ok(None) => "whole",
            Err(_) => "unclear",
        };
        assert_eq!(found, expected, "{before} {question}");
    }

    #[test]
    fn one_change_makes_a_whole_question() {
        let revenue = "What was the revenue by quarter in 2025?";
        check(revenue, "And in 2024?", "What was the revenue by quarter in 2024");
        check(revenue, "what about Q1 2024", "What was the revenue by quarter in Q1 2024");
        check("Revenue in May 2024", "and in May 2023?", "Revenue in May 2023");
        check(revenue, "since 2023?", "What was the revenue by quarter since 2023");
        check(revenue, "the same by month", "What was the revenue by month in 2025");
        check(revenue, "only for Portugal", "What was the revenue by quarter in 2025 for Portugal");
        check("How many invoices?", "per payment method?", "How many invoices by payment method");
        check("Revenue by year", "what about Portugal?", "Revenue by year for Portugal");
        check("How many invoices?", "only paid", "How many invoices for paid");
        check("Tracks of \"Rock and Roll\"", "and in 2024", "Tracks of \"Rock and Roll\" in 2024");
    }

    #[test]
    fn what_is_more_than_one_change_is_not_followed() {
        check("Revenue by country", "the same by month", "unclear");
        check("Top 5 artists by number of tracks", "and by year?", "unclear");
        check("Revenue from 2023 to 2024", "and in 2025?", "unclear");
        check("Revenue in Q3 2024", "and in 2023?", "unclear");
        check("Revenue in Q3 2024", "and in Q4?", "unclear");
        check("Revenue in 2024", "and why?", "unclear");
        check("Revenue in 2024", "and Chile?", "unclear");
        check("Revenue in 2024", "and not in 2023?", "unclear");
        check("Revenue in 2024", "and in Brazil or Chile?", "unclear");
        check("Revenue in 2024", "and how many customers?", "unclear");
        check("and in 2023?", "and in 2024?", "unclear");
        check("Revenue in 2024", "In 2023, how many customers were there?", "whole");
        check("Revenue in 2024", "How many customers are there in Brazil?", "whole");
    }

    #[test]
    fn without_an_answer_from_data_there_is_nothing_to_go_on_from() {
        assert_eq!(read("and in 2023?", &Before::Nothing), Ok(None));
        assert_eq!(read("in 2023?", &Before::Other), Ok(None));
        assert!(read("and in 2023?", &Before::Other).is_err());
    }
}

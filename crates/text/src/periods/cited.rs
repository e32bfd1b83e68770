//! Finds periods as written in answers and result cells: `2025-Q4`, `the fourth quarter of 2025`, `Dec 2025`, `4
//! February 2021`, `04.02.2021`.

use std::{collections::BTreeSet, ops::Range, sync::LazyLock};

use regex::Regex;

use super::{MONTHS, Period, find, find_month, months, read, words as split};

/// A range of days, `YYYY-MM-DD`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Days {
    /// The first day.
    pub from: String,
    /// The day after the last day.
    pub to: String,
}

/// A period in a text, with or without a year.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitedPeriod {
    /// Its byte range in the text.
    pub span: Range<usize>,
    /// The interpretations: one, or several if the year is missing, or day and month are ambiguous.
    pub days: Vec<Days>,
    /// Whether it is four digits, which may be a number.
    pub is_year: bool,
    /// Whether its year is given.
    pub is_whole: bool,
}

/// Maximum number of words of a period, including those that make it open-ended.
const MAX_WORDS: usize = 9;
const WORDS_BEFORE: usize = 2;

impl Days {
    fn of(period: &Period) -> Self {
        Days { from: period.from.clone(), to: period.to.clone() }
    }

    fn is_day(&self) -> bool {
        self.from.len() == 10 && self.from.get(..8) == self.to.get(..8)
    }

    /// Returns whether the period of a cell equals this one or is contained in it; a day may also be contained in that
    /// of the cell.
    pub fn matches(&self, cell: &Days) -> bool {
        let is_part = self.from <= cell.from && cell.to <= self.to;
        is_part || (self.is_day() && !cell.is_day() && cell.from <= self.from && self.from < cell.to)
    }

    /// Returns whether it contains the first day of another.
    pub fn contains_start(&self, other: &Days) -> bool {
        self.from <= other.from && other.from < self.to
    }

    /// Returns the year of its first day.
    pub fn year(&self) -> Option<i32> {
        self.from.get(..4)?.parse().ok()
    }

    /// Returns its number if it is a quarter or month.
    pub fn part(&self) -> Option<f64> {
        let month = |day: &str| day.get(5..7)?.parse::<u32>().ok();
        let (from, to) = (month(&self.from)?, month(&self.to)?);
        match (to + 12 - from) % 12 {
            1 => Some(f64::from(from)),
            3 => Some(f64::from(from.div_ceil(3))),
            _ => None,
        }
    }
}

/// Returns the quarter (`parts` = 4) or month (`parts` = 12) with this number.
pub fn read_year_part(year: i32, part: u32, parts: u32) -> Option<Days> {
    let is_known = (1900..=2100).contains(&year) && (1..=parts).contains(&part);
    let size = i32::try_from(12 / parts.max(1)).ok()?;
    let (from, to, _) =
        is_known.then(|| Some(months(year * 12 + (i32::try_from(part).ok()? - 1) * size, size, 1)))??;
    Some(Days { from, to })
}

/// Returns the period if it is the entire text of a cell.
pub fn read_cell(text: &str) -> Option<Days> {
    let text = text.trim();
    let is_possible = text.len() <= 40 && text.bytes().any(|byte| byte.is_ascii_digit());
    let found = is_possible.then(|| find_cited(text, &BTreeSet::new()))?;
    match found.as_slice() {
        [CitedPeriod { span, days, .. }] if *span == (0..text.len()) => days.first().cloned(),
        _ => None,
    }
}

/// Returns the periods in a text, in order. Those without a year are interpreted in each of `years`.
pub fn find_cited(text: &str, years: &BTreeSet<i32>) -> Vec<CitedPeriod> {
    let mut found = find_numeric(text);
    let words: Vec<(Range<usize>, String)> = split_words(text)
        .into_iter()
        .filter(|span| !found.iter().any(|period| period.span.start < span.end && span.start < period.span.end))
        .map(|span| (span.clone(), normalize(&text[span])))
        .collect();
    let mut at = 0;
    while at < words.len() {
        let read = read_whole(&words, at).or_else(|| read_partial(text, &words, at, years));
        let Some((days, taken)) = read else {
            at += 1;
            continue;
        };
        let span = words[at].0.start..words[at + taken - 1].0.end;
        let is_year = taken == 1 && span.len() == 4 && words[at].1.bytes().all(|byte| byte.is_ascii_digit());
        let is_whole = text[span.clone()].chars().filter(char::is_ascii_digit).count() >= 4;
        found.push(CitedPeriod { span, days, is_year, is_whole });
        at += taken;
    }
    found.sort_by_key(|period| period.span.start);
    found
}

/// Finds numeric dates, in any order of fields, with optional times.
fn find_numeric(text: &str) -> Vec<CitedPeriod> {
    static DAY: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r"\b(?:(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?|(\d{1,2})([./])(\d{1,2})[./](\d{4})|(\d{4})[ /]?[Qq]([1-4]))\b";
        Regex::new(pattern).unwrap_or_else(|error| unreachable!("{error}"))
    });
    let number =
        |found: &regex::Captures<'_>, at: usize| found.get(at).and_then(|part| part.as_str().parse::<u32>().ok());
    let read = |found: regex::Captures<'_>| {
        let span = found.get(0)?.range();
        let day = |year: u32, month: u32, day: u32| {
            let (from, to, _) = read(&[&format!("{year:04}-{month:02}-{day:02}")])?;
            Some(Days { from, to })
        };
        let days: Vec<Days> = if let (Some(year), Some(quarter)) = (number(&found, 8), number(&found, 9)) {
            read_year_part(i32::try_from(year).ok()?, quarter, 4).into_iter().collect()
        } else if let Some(year) = number(&found, 1) {
            day(year, number(&found, 2)?, number(&found, 3)?).into_iter().collect()
        } else {
            let (first, second, year) = (number(&found, 4)?, number(&found, 6)?, number(&found, 7)?);
            let is_either = &found[5] == "/";
            let swapped = day(year, first, second).filter(|_| is_either);
            day(year, second, first).into_iter().chain(swapped).collect()
        };
        (!days.is_empty()).then_some(CitedPeriod { span, days, is_year: false, is_whole: true })
    };
    DAY.captures_iter(text).filter_map(read).collect()
}

/// Returns the ranges of the words as in [`super::words`], except that a hyphen between two years separates them.
fn split_words(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for word in split(text) {
        let begin = word.as_ptr() as usize - text.as_ptr() as usize;
        let is_range = word.len() == 9
            && word.as_bytes()[4] == b'-'
            && word.bytes().enumerate().all(|(at, byte)| at == 4 || byte.is_ascii_digit());
        if is_range {
            spans.extend([begin..begin + 4, begin + 5..begin + 9]);
        } else {
            spans.push(begin..begin + word.len());
        }
    }
    spans
}

/// Returns a word in lower case; a capitalised abbreviation of a month is expanded.
fn normalize(word: &str) -> String {
    let lower = word.to_lowercase();
    let is_beginning = lower.len() >= 3 && word.starts_with(|c: char| c.is_ascii_uppercase());
    let month = MONTHS.iter().find(|month| is_beginning && month.starts_with(&lower));
    month.map_or(lower, |month| (*month).to_owned())
}

/// Parses a period with a year at this word; returns the number of words.
fn read_whole(words: &[(Range<usize>, String)], at: usize) -> Option<(Vec<Days>, usize)> {
    let begin = at.saturating_sub(WORDS_BEFORE);
    let end = words.len().min(at + MAX_WORDS - WORDS_BEFORE);
    let window: Vec<&str> = words[begin..end].iter().map(|(_, word)| word.as_str()).collect();
    let found = find(&window.join(" "));
    let period = found.iter().find(|period| period.place.0 == at - begin)?;
    Some((vec![Days::of(period)], period.place.1))
}

/// Parses a part of a year without the year: `Q4`, `the fourth quarter`, `December`, `4 February`.
fn read_partial(
    text: &str,
    words: &[(Range<usize>, String)],
    at: usize,
    years: &BTreeSet<i32>,
) -> Option<(Vec<Days>, usize)> {
    // `may` and `march` in lower case are verbs.
    let is_small = text[words[at].0.clone()].starts_with(|c: char| c.is_lowercase());
    let is_month = find_month(&words[at].1).is_some();
    if is_small && is_month {
        return None;
    }
    (1..=3).rev().find_map(|taken| {
        let part: Vec<&str> = words.get(at..at + taken)?.iter().map(|(_, word)| word.as_str()).collect();
        let part = part.join(" ");
        let read = |year: &i32| {
            let found = find(&format!("{part} {year}"));
            found.first().filter(|period| period.place == (0, taken + 1)).map(Days::of)
        };
        let days: Vec<Days> = years.iter().filter_map(read).collect();
        (!days.is_empty()).then_some((days, taken))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = find_cited(text, &BTreeSet::from([2025]));
        let found: Vec<(&str, &str)> =
            found.iter().map(|period| (&text[period.span.clone()], period.days[0].from.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn finds_cited_periods_in_all_notations() {
        check("In 2025-Q4, not Q3 2025", &[("2025-Q4", "2025-10-01"), ("Q3 2025", "2025-07-01")]);
        check("2025 Q4 and 2025/Q3", &[("2025 Q4", "2025-10-01"), ("2025/Q3", "2025-07-01")]);
        check("the fourth quarter of 2025", &[("fourth quarter of 2025", "2025-10-01")]);
        check("Dec 2025 and December 2024", &[("Dec 2025", "2025-12-01"), ("December 2024", "2024-12-01")]);
        check("on 4 February 2021 (04.02.2021)", &[("4 February 2021", "2021-02-04"), ("04.02.2021", "2021-02-04")]);
        check("2021-02-04 13:20:22", &[("2021-02-04 13:20:22", "2021-02-04")]);
        check("from 2023-2024", &[("2023", "2023-01-01"), ("2024", "2024-01-01")]);
    }

    #[test]
    fn resolves_missing_years() {
        check("the fourth quarter", &[("fourth quarter", "2025-10-01")]);
        check(
            "Q4, December and 4 February",
            &[("Q4", "2025-10-01"), ("December", "2025-12-01"), ("4 February", "2025-02-04")],
        );
        check("it may march on", &[]);
        check("im Dezember und 3 de marzo", &[("Dezember", "2025-12-01"), ("3 de marzo", "2025-03-03")]);
    }

    #[test]
    fn cells_must_be_entirely_a_period() {
        let read = |text: &str| read_cell(text).map(|days| days.from);
        assert_eq!(read("2025-Q4").as_deref(), Some("2025-10-01"));
        assert_eq!(read("2021-02-04T13:20:22").as_deref(), Some("2021-02-04"));
        assert_eq!(read("Jan 2025").as_deref(), Some("2025-01-01"));
        assert_eq!([read("Summer 2025"), read("Brazil"), read("12")], [None, None, None]);
    }

    #[test]
    fn a_quarter_does_not_match_a_cell_of_one_of_its_months() {
        let days = |text: &str| read_cell(text).unwrap();
        assert!(days("2025").matches(&days("2025-Q4")) && days("2025-Q4").matches(&days("2025-10-01")));
        assert!(!days("2025-12").matches(&days("2025-Q4")) && days("2025-12-31").matches(&days("2025-12")));
    }
}

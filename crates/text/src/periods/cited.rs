//! Finds periods as written in answers and result cells: `2025-Q4`, `the fourth quarter of 2025`, `Dec 2025`, `4
//! February 2021`, `04.02.2021`.

use std::{collections::BTreeSet, ops::Range, sync::LazyLock};

use regex::Regex;

use super::{MONTHS, OTHER_MONTHS, Period, find, find_month, months, read, read_year, words as split};

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

impl CitedPeriod {
    /// Returns the month of a day without a year, with the span of its name; `None` for other periods. In `July 12`, the
    /// number may be a value.
    pub fn month(&self, text: &str) -> Option<CitedPeriod> {
        if self.is_whole || !self.days.iter().all(Days::is_day) {
            return None;
        }
        split_words(&text[self.span.clone()]).into_iter().find_map(|word| {
            let span = self.span.start + word.start..self.span.start + word.end;
            let month = u32::try_from(find_month(&normalize(&text[span.clone()]))?).ok()? + 1;
            let days = self.days.iter().filter_map(|day| read_year_part(day.year()?, month, 12)).collect();
            Some(CitedPeriod { span, days, is_year: false, is_whole: false })
        })
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
    found.extend(find_ideographic(text, years));
    let words: Vec<(Range<usize>, String)> = split_words(text)
        .into_iter()
        .filter(|span| !found.iter().any(|period| period.span.start < span.end && span.start < period.span.end))
        .map(|span| (span.clone(), normalize(&text[span])))
        .collect();
    let is_joined = |(before, _): &(Range<usize>, String), (after, word): &(Range<usize>, String)| {
        joins(&text[before.end..after.start], word, years)
    };
    for words in words.chunk_by(is_joined) {
        let mut at = 0;
        while at < words.len() {
            let read = read_whole(words, at).or_else(|| read_partial(text, words, at, years));
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
    }
    found.sort_by_key(|period| period.span.start);
    found
}

/// Returns whether a period may continue with `next` after the text between two words. A comma continues it only with a
/// year (`July 12, 2025`), the border of a table cell only with one of `years`; a colon or a dash ends it.
fn joins(between: &str, next: &str, years: &BTreeSet<i32>) -> bool {
    let year = read_year(next);
    between.chars().all(|c| match c {
        '.' | '*' | '`' | '\'' | '’' => true,
        ',' | '/' | '(' => year.is_some(),
        '|' => year.is_some_and(|year| years.contains(&year)),
        _ => c.is_whitespace(),
    })
}

/// Finds `2025年`, `2025年7月`, `7月` and `7月4日`, and the same in Korean.
fn find_ideographic(text: &str, years: &BTreeSet<i32>) -> Vec<CitedPeriod> {
    static PERIOD: LazyLock<Regex> = LazyLock::new(|| {
        let month = "([0-9]{1,2}) ?[月월](?: ?([0-9]{1,2}) ?[日号號일])?";
        Regex::new(&format!("([0-9]{{4}}) ?[年년](?: ?{month})?|{month}"))
            .unwrap_or_else(|error| unreachable!("{error}"))
    });
    let read = |found: regex::Captures<'_>| {
        let span = found.get(0)?.range();
        if text[..span.start].ends_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let number = |at: usize| found.get(at).and_then(|part| part.as_str().parse::<u32>().ok());
        let (month, day) = (number(2).or(number(4)), number(3).or(number(5)));
        let period = |year: i32| match (month, day) {
            (None, _) => read_year_part(year, 1, 1),
            (Some(month), None) => read_year_part(year, month, 12),
            (Some(month), Some(day)) => {
                let (from, to, _) = read(&[&format!("{year:04}-{month:02}-{day:02}")])?;
                Some(Days { from, to })
            }
        };
        let year = number(1).and_then(|year| i32::try_from(year).ok());
        let days: Vec<Days> = match year {
            Some(year) => period(year).into_iter().collect(),
            None => years.iter().copied().filter_map(period).collect(),
        };
        (!days.is_empty()).then_some(CitedPeriod { span, days, is_year: false, is_whole: year.is_some() })
    };
    PERIOD.captures_iter(text).filter_map(read).collect()
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

/// Returns a word in lower case; a capitalised abbreviation of a month is replaced by its English name.
fn normalize(word: &str) -> String {
    let lower = word.to_lowercase();
    if lower.chars().count() < 3 || !word.starts_with(|c: char| c.is_ascii_uppercase()) {
        return lower;
    }
    let english = MONTHS.iter().position(|month| month.starts_with(&lower));
    let is_other = |names: &&str| names.split('|').any(|name| name.starts_with(&lower));
    let month = english.or_else(|| OTHER_MONTHS.iter().position(is_other));
    month.map_or(lower, |month| MONTHS[month].to_owned())
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
    // `may` and `march` in lower case are verbs; Spanish and French months have no capital.
    let is_small = text[words[at].0.clone()].starts_with(|c: char| c.is_lowercase());
    if is_small && MONTHS.contains(&words[at].1.as_str()) {
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
        check("en julio; Mär und Dez", &[("julio", "2025-07-01"), ("Mär", "2025-03-01"), ("Dez", "2025-12-01")]);
    }

    #[test]
    fn separators_end_periods() {
        for text in ["| July | 12 |", "July: 12", "July — 12", "July - 12", "July (12)", "July, 12", "12 | July"] {
            check(text, &[("July", "2025-07-01")]);
        }
        for text in ["July 12", "July **12**"] {
            check(text, &[(text.trim_end_matches('*'), "2025-07-12")]);
        }
        check("July 12, 2025", &[("July 12, 2025", "2025-07-12")]);
        check("July, 2024 (July 2023)", &[("July, 2024", "2024-07-01"), ("July 2023", "2023-07-01")]);
        check("| July | 2025 | 12 |", &[("July | 2025", "2025-07-01")]);
        check("| July | 1987 |", &[("July", "2025-07-01"), ("1987", "1987-01-01")]);
    }

    #[test]
    fn finds_east_asian_periods() {
        check("2025年7月有23起,6月只有11起", &[("2025年7月", "2025-07-01"), ("6月", "2025-06-01")]);
        check("2024年、7月4日", &[("2024年", "2024-01-01"), ("7月4日", "2025-07-04")]);
        check("2025년 7월에 12건", &[("2025년 7월", "2025-07-01")]);
        check("3个月,13月,5年", &[]);
    }

    #[test]
    fn a_day_without_a_year_has_a_month() {
        let month = |text: &str| {
            let found = find_cited(text, &BTreeSet::from([2025])).remove(0);
            found.month(text).map(|month| (text[month.span].to_owned(), month.days[0].from.clone()))
        };
        for (text, name) in [("Jan 12", "Jan"), ("on 12 January", "January"), ("12. Januar", "Januar")] {
            assert_eq!(month(text), Some((name.to_owned(), "2025-01-01".to_owned())), "{text}");
        }
        for text in ["January 12, 2025", "2025-01-12", "January", "1月12日"] {
            assert_eq!(month(text), None, "{text}");
        }
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

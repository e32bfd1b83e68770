//! Periods relative to a day: `yesterday`, `this year`, `last quarter`, `the past 30 days`.

use chrono::{Datelike, Days, NaiveDate, Utc};

use super::{Period, Read, find_by, months, parts::read_part, read, read_year};
use crate::numbers;

/// Maximum number of units.
const MAX_COUNT: u64 = 1_000;

/// Returns the current day in UTC.
pub fn today() -> NaiveDate {
    Utc::now().date_naive()
}

/// Returns the periods in a question asked on a given day, in order. `last month`, `last quarter` and similar denote
/// whole calendar periods before the current one, as do the last three of them; the last 30 days end today. `next month`
/// is the one after the current. The last quarter of 2025, or of last year, is a part of that year.
///
/// ```
/// let day = chrono::NaiveDate::from_ymd_opt(2026, 2, 14).unwrap();
/// let found = prospector_text::periods::find_on("Revenue of the last quarter", day);
/// assert_eq!((found[0].from.as_str(), found[0].to.as_str()), ("2025-10-01", "2026-01-01"));
/// ```
pub fn find_on(text: &str, today: NaiveDate) -> Vec<Period> {
    let read_whole = |words: &[&str]| read(words).or_else(|| read_relative(words, today));
    find_by(text, |words| read(words).or_else(|| read_part(words, read_whole)).or_else(|| read_relative(words, today)))
}

fn read_relative(words: &[&str], today: NaiveDate) -> Option<Read> {
    let days =
        |from: Option<NaiveDate>, to: Option<NaiveDate>, taken| Some((from?.to_string(), to?.to_string(), taken));
    let tomorrow = today.checked_add_days(Days::new(1));
    let month = today.year() * 12 + i32::try_from(today.month0()).ok()?;
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    match (word(0), word(1), word(2)) {
        ("today", ..) => return days(Some(today), tomorrow, 1),
        ("yesterday", ..) => return days(today.checked_sub_days(Days::new(1)), Some(today), 1),
        ("ytd", ..) => return days(today.with_ordinal(1), tomorrow, 1),
        ("year", "to", "date") => return days(today.with_ordinal(1), tomorrow, 3),
        _ => {}
    }
    let (is_current, is_next) = (matches!(word(0), "this" | "current"), word(0) == "next");
    if !is_current && !is_next && !matches!(word(0), "last" | "previous" | "past") {
        return None;
    }
    let count = match word(1).parse::<u64>() {
        Ok(count) => Some(count),
        Err(_) => numbers::parse_word(word(1)).map(u64::from),
    };
    let (count, unit, taken) = match count.filter(|count| !is_current && (1..=MAX_COUNT).contains(count)) {
        Some(count) => (count, word(2).strip_suffix('s').unwrap_or(word(2)), 3),
        None => (1, word(1), 2),
    };
    if is_of_another(words.get(taken..).unwrap_or_default()) {
        return None;
    }
    let length = match unit {
        "year" => 12,
        "quarter" => 3,
        "month" => 1,
        "week" | "day" => {
            let length = if unit == "week" { 7 } else { 1 };
            let monday = today.checked_sub_days(Days::new(u64::from(today.weekday().num_days_from_monday())))?;
            let before = |day: NaiveDate| day.checked_sub_days(Days::new(count * length));
            let after = |day: NaiveDate| day.checked_add_days(Days::new(count * length));
            if is_next {
                let first = if unit == "week" && taken == 2 { monday.checked_add_days(Days::new(7)) } else { tomorrow };
                return days(first, after(first?), taken);
            }
            return match (is_current, taken, unit) {
                (true, _, "week") => days(Some(monday), monday.checked_add_days(Days::new(7)), taken),
                (true, ..) => days(Some(today), tomorrow, taken),
                // One calendar week, or seven times the number of weeks in days.
                (false, 2, "week") => days(before(monday), Some(monday), taken),
                (false, 2, _) => days(before(today), Some(today), taken),
                (false, ..) => days(before(tomorrow?), tomorrow, taken),
            };
        }
        _ => return None,
    };
    let begin = month.div_euclid(length) * length;
    let count = i32::try_from(count).ok()?;
    Some(match (is_current, is_next) {
        (true, _) => months(begin, length, taken),
        (_, true) => months(begin + length, count * length, taken),
        _ => months(begin - count * length, count * length, taken),
    })
}

/// Returns whether the following words define what it is the last of: `.. of each month`, `.. of the year`, `.. of
/// 2025`.
fn is_of_another(words: &[&str]) -> bool {
    const UNITS: [&str; 8] = ["year", "half", "quarter", "month", "week", "day", "calendar", "fiscal"];
    const OWNERS: [&str; 10] = ["each", "every", "a", "an", "any", "its", "their", "his", "her", "your"];
    let is_time = |word: &&str| UNITS.contains(word) || read_year(word).is_some();
    match words {
        ["of", "the", next, ..] => is_time(next),
        ["of", next, ..] => OWNERS.contains(next) || is_time(next),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The question is asked on a Saturday.
    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = find_on(text, NaiveDate::from_ymd_opt(2026, 2, 14).unwrap());
        let found: Vec<(&str, &str)> = found.iter().map(|period| (period.from.as_str(), period.to.as_str())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn counts_periods_from_the_day_of_the_question() {
        check("orders today and yesterday", &[("2026-02-14", "2026-02-15"), ("2026-02-13", "2026-02-14")]);
        check("this year", &[("2026-01-01", "2027-01-01")]);
        check("the year to date", &[("2026-01-01", "2026-02-15")]);
        check("the current quarter", &[("2026-01-01", "2026-04-01")]);
        check("last year", &[("2025-01-01", "2026-01-01")]);
        check("last month", &[("2026-01-01", "2026-02-01")]);
        check("the previous quarter", &[("2025-10-01", "2026-01-01")]);
        check("the last four quarters", &[("2025-01-01", "2026-01-01")]);
        check("in the past 3 months", &[("2025-11-01", "2026-02-01")]);
        check("the last 30 days", &[("2026-01-16", "2026-02-15")]);
        check("last week", &[("2026-02-02", "2026-02-09")]);
        check("this week", &[("2026-02-09", "2026-02-16")]);
        check("the last 2 weeks", &[("2026-02-01", "2026-02-15")]);
        check("last month's orders", &[("2026-01-01", "2026-02-01")]);
        check("next week", &[("2026-02-16", "2026-02-23")]);
        check("next month and the next 7 days", &[("2026-03-01", "2026-04-01"), ("2026-02-15", "2026-02-22")]);
        check("the next two quarters", &[("2026-04-01", "2026-10-01")]);
        check("since last year", &[("2025-01-01", "9999-01-01")]);
        check("before this month", &[("0000-01-01", "2026-02-01")]);
        check("sales in 2024", &[("2024-01-01", "2025-01-01")]);
    }

    #[test]
    fn ignores_other_words() {
        check("the last invoice", &[]);
        check("last four full quarters", &[]);
        check("this customer", &[]);
        check("the past", &[]);
        check("last 99999999999999999999 days", &[]);
        check("the last 5000 years", &[]);
    }

    #[test]
    fn does_not_count_the_last_of_something_from_today() {
        check("the last quarter of 2025", &[("2025-10-01", "2026-01-01")]);
        check("the last month of last year", &[("2025-12-01", "2026-01-01")]);
        check("the last month of sales", &[("2026-01-01", "2026-02-01")]);
        check("the last day of each month", &[]);
        check("the last quarter of the year", &[]);
        check("the last month of their contract", &[]);
    }
}

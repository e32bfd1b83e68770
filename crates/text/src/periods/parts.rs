//! Parts of a period, counted from its start or end: `the last quarter of 2025`, `the first two weeks of March 2024`.

use chrono::{Days, Months, NaiveDate};

use super::{ORDINALS, Read, read_year};
use crate::numbers;

/// Maximum number of parts.
const MAX_COUNT: u32 = 366;

/// Parses a part of the following period, which is parsed by `read`.
pub(super) fn read_part(words: &[&str], read: impl Fn(&[&str]) -> Option<Read>) -> Option<Read> {
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let place = match word(0) {
        "last" | "final" => None,
        first => Some(u32::try_from(ORDINALS.iter().position(|forms| forms.contains(&first))?).ok()?),
    };
    let count = word(1).parse().ok().or_else(|| numbers::parse_word(word(1)));
    // `The second two weeks` is not a supported part.
    let (count, at) =
        match count.filter(|count| place.is_none_or(|place| place == 0) && (1..=MAX_COUNT).contains(count)) {
            Some(count) => (count, 2),
            None => (1, 1),
        };
    let unit = word(at).strip_suffix('s').unwrap_or(word(at));
    let skipped = skip_to_period(words.get(at + 1..)?)?;
    let (from, to, taken) = read(words.get(at + 1 + skipped..)?)?;
    let (from, to) = (from.parse::<NaiveDate>().ok()?, to.parse::<NaiveDate>().ok()?);
    let after = |units: u32| shift(from, (from, to), unit, units, true);
    let (begin, end) = match place {
        Some(place) => (after(place)?, after(place + count)?),
        None => (shift(to, (from, to), unit, count, false)?, to),
    };
    let is_part = from <= begin && begin < end && end <= to && (begin, end) != (from, to);
    is_part.then(|| (begin.to_string(), end.to_string(), at + 1 + skipped + taken))
}

/// Returns the number of words between a part and its period: `of the year`. `None` if anything else follows, including
/// attributes such as `of the 2025 season`.
fn skip_to_period(words: &[&str]) -> Option<usize> {
    let is_year = |word: &&str| read_year(word).is_some();
    match words {
        ["of", "the", "calendar", "year", next, ..] if is_year(next) => Some(4),
        ["of", "the", "year", next, ..] | ["of", "calendar", "year", next, ..] if is_year(next) => Some(3),
        ["of", "year", next, ..] if is_year(next) => Some(2),
        ["of", "the", next, ..] if is_year(next) => None,
        ["of", "the", ..] => Some(2),
        ["of", ..] => Some(1),
        ["in", next, ..] if is_year(next) => Some(1),
        [next, ..] if is_year(next) => Some(0),
        _ => None,
    }
}

/// Returns the range of `count` units after or before a day, within a period.
fn shift(day: NaiveDate, period: (NaiveDate, NaiveDate), unit: &str, count: u32, is_later: bool) -> Option<NaiveDate> {
    let months = |months: u32| match is_later {
        true => day.checked_add_months(Months::new(months)),
        false => day.checked_sub_months(Months::new(months)),
    };
    let days = |days: u64| match is_later {
        true => day.checked_add_days(Days::new(days)),
        false => day.checked_sub_days(Days::new(days)),
    };
    let (from, to) = period;
    match unit {
        "half" if from.checked_add_months(Months::new(12)) == Some(to) => months(6 * count),
        "half" => days(u64::try_from((to - from).num_days()).ok()? / 2 * u64::from(count)),
        "quarter" => months(3 * count),
        "month" => months(count),
        "week" => days(7 * u64::from(count)),
        "day" => days(u64::from(count)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::find;

    fn check(text: &str, from: &str, to: &str) {
        let found = find(text);
        let found: Vec<(&str, &str)> = found.iter().map(|period| (period.from.as_str(), period.to.as_str())).collect();
        assert_eq!(found, [(from, to)], "{text}");
    }

    #[test]
    fn counts_parts_from_either_end() {
        check("revenue in the last quarter of 2025", "2025-10-01", "2026-01-01");
        check("the final quarter of the year 2025", "2025-10-01", "2026-01-01");
        check("last month 2025", "2025-12-01", "2026-01-01");
        check("the first month of 2025", "2025-01-01", "2025-02-01");
        check("the last month of the third quarter of 2024", "2024-09-01", "2024-10-01");
        check("the second month of Q4 2025", "2025-11-01", "2025-12-01");
        check("the last half of 2025", "2025-07-01", "2026-01-01");
        check("the first half of December 2025", "2025-12-01", "2025-12-16");
        check("the last two months of 2025", "2025-11-01", "2026-01-01");
        check("the first 10 days of March 2024", "2024-03-01", "2024-03-11");
        check("the last week of February 2024", "2024-02-23", "2024-03-01");
        check("the third week of December 2025", "2025-12-15", "2025-12-22");
        check("the 4th quarter of 2024", "2024-10-01", "2025-01-01");
        check("since the last quarter of 2025", "2025-10-01", "9999-01-01");
    }

    #[test]
    fn parses_other_words_separately() {
        check("the last week of 3 March 2024", "2024-03-03", "2024-03-04");
        check("the last week of the 2025 season", "2025-01-01", "2026-01-01");
        check("the first customers of 2025", "2025-01-01", "2026-01-01");
        check("the last 99999999999 days of 2025", "2025-01-01", "2026-01-01");
    }
}

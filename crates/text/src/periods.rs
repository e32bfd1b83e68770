//! Finds periods in a text: days, months, quarters, halves, years, and open-ended ones; in a question also relative
//! ones, such as `last month`.

mod cited;
mod parts;
mod relative;

pub use cited::{CitedPeriod, Days, find_cited, read_cell, read_year_part};
use parts::read_part;
pub use relative::{find_on, today};

/// The names of the months, in lower case and in order.
pub const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Their names in German, Spanish and French, as far as they differ.
const OTHER_MONTHS: [&str; 12] = [
    "januar|enero|janvier",
    "februar|febrero|février|fevrier",
    "märz|maerz|marzo|mars",
    "abril|avril",
    "mai|mayo",
    "juni|junio|juin",
    "juli|julio|juillet",
    "agosto|août|aout",
    "septiembre|septembre",
    "oktober|octubre|octobre",
    "noviembre|novembre",
    "dezember|diciembre|décembre|decembre",
];

/// Words between a day, a month and a year.
const BETWEEN: [&str; 4] = ["of", "in", "de", "del"];

/// Returns the number of a month, from 0, by its lower-case name in English, German, Spanish or French.
pub fn find_month(word: &str) -> Option<usize> {
    let known = |(month, names): (&&str, &&str)| *month == word || names.split('|').any(|name| name == word);
    MONTHS.iter().zip(&OTHER_MONTHS).position(known)
}

const ORDINALS: [[&str; 2]; 4] = [["first", "1st"], ["second", "2nd"], ["third", "3rd"], ["fourth", "4th"]];

/// The first day of a period without start.
pub const NO_BEGINNING: &str = "0000-01-01";

/// The last day of a period without end.
pub const NO_END: &str = "9999-01-01";

/// A period in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// The first day, `YYYY-MM-DD`.
    pub from: String,
    /// The day after the last day, `YYYY-MM-DD`.
    pub to: String,
    /// The position of its first word among the [`words`] of the text, and its number of words.
    pub place: (usize, usize),
    /// The number of words before it that make it open-ended: one in `since 2024`.
    pub lead: usize,
}

/// Minimum share of a period that data must cover to count as data of that period.
pub const MIN_OVERLAP: f64 = 0.5;

/// Returns the share of the days in `from..to` (`YYYY-MM-DD`) that lie between the first and last day of the data. For
/// open-ended periods and invalid days, returns 1 if they overlap, otherwise 0.
pub fn measure_overlap((first, last): (&str, &str), (from, to): (&str, &str)) -> f64 {
    if last < from || to <= first {
        return 0.0;
    }
    let is_open = from.starts_with("0000") || to.starts_with("9999");
    match (count_days(first), count_days(last), count_days(from), count_days(to)) {
        // Monthly data is dated to the first day of the month.
        (Some(first), Some(last), Some(from), Some(to)) if !is_open && to > from => {
            ((last + 31.0).min(to) - first.max(from)) / (to - from)
        }
        _ => 1.0,
    }
}

/// Converts a day to a number, with months of equal length.
fn count_days(text: &str) -> Option<f64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<f64>().ok();
    Some(number(0..4)? * 365.25 + (number(5..7)? - 1.0) * 30.44 + number(8..10).unwrap_or(1.0))
}

/// Returns the words of a text; hyphenated ones such as `2025-Q4` are kept.
pub fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_' && c != '\'' && c != '’')
        .map(|word| word.trim_matches(['-', '\'', '’']))
        // `last month's`
        .map(|word| word.strip_suffix("'s").or(word.strip_suffix("’s")).unwrap_or(word))
        .filter(|word| !word.is_empty())
        .collect()
}

/// Returns the periods in a text, in order.
///
/// ```
/// let found = prospector_text::periods::find("Revenue since the fourth quarter of 2025");
/// assert_eq!((found[0].from.as_str(), found[0].to.as_str()), ("2025-10-01", "9999-01-01"));
/// ```
pub fn find(text: &str) -> Vec<Period> {
    find_by(text, |words| read(words).or_else(|| read_part(words, read)))
}

/// First day, day after the last day, and number of words.
type Read = (String, String, usize);

fn find_by(text: &str, read: impl Fn(&[&str]) -> Option<Read>) -> Vec<Period> {
    let lower = text.to_lowercase();
    let words = words(&lower);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Some((from, to, taken)) = read(&words[at..]) else {
            at += 1;
            continue;
        };
        let opener = words[..at].iter().rposition(|word| !EDGES.contains(word));
        let edge = |named: &str| words[opener.map_or(0, |opener| opener + 1)..at].contains(&named);
        // `since the end of 2024`
        let start = if edge("end") { &to } else { &from };
        let end = if edge("start") || edge("beginning") { &from } else { &to };
        let (from, to, is_open) = match opener.map_or("", |opener| words[opener]) {
            "since" => (start.clone(), NO_END.to_owned(), true),
            "after" => (end.clone(), NO_END.to_owned(), true),
            "before" => (NO_BEGINNING.to_owned(), start.clone(), true),
            "until" | "through" => (NO_BEGINNING.to_owned(), end.clone(), true),
            _ => (from, to, false),
        };
        let lead = opener.filter(|_| is_open).map_or(0, |opener| at - opener);
        found.push(Period { from, to, place: (at, taken), lead });
        at += taken;
    }
    found
}

/// Returns whether a word is the name of a month, a unit of time (`quarter`, `quarters`, `quarterly`), or relative to now.
pub fn is_time_word(word: &str) -> bool {
    const UNITS: [&str; 5] = ["year", "quarter", "month", "week", "day"];
    const OTHERS: [&str; 10] =
        ["annual", "annually", "daily", "date", "today", "tomorrow", "yesterday", "now", "ago", "recent"];
    let unit = word.strip_suffix("ly").or_else(|| word.strip_suffix('s')).unwrap_or(word);
    UNITS.contains(&unit) || OTHERS.contains(&word) || MONTHS.contains(&word)
}

/// Words between `since` and a period, some of which name its first or last day.
const EDGES: [&str; 5] = ["the", "start", "beginning", "end", "of"];

/// Parses the period at the start of the words.
fn read(words: &[&str]) -> Option<Read> {
    let first = *words.first()?;
    let year_after = |taken: usize| {
        let skip = usize::from(words.get(taken).is_some_and(|word| BETWEEN.contains(word)));
        Some((read_year(words.get(taken + skip)?)?, taken + skip + 1))
    };
    let quarter = first
        .strip_prefix('q')
        .and_then(|number| number.parse::<i32>().ok())
        .filter(|number| (1..=4).contains(number))
        .map(|number| (number, 1))
        .or_else(|| {
            let at = ORDINALS.iter().position(|forms| forms.contains(&first))?;
            (*words.get(1)? == "quarter").then_some((i32::try_from(at).ok()? + 1, 2))
        });
    if let Some((quarter, taken)) = quarter
        && let Some((year, taken)) = year_after(taken)
    {
        return Some(months(year * 12 + (quarter - 1) * 3, 3, taken));
    }
    let half = match (first, words.get(1).copied()) {
        ("h1", _) => Some((0, 1)),
        ("h2", _) => Some((1, 1)),
        ("first" | "1st", Some("half")) => Some((0, 2)),
        ("second" | "2nd", Some("half")) => Some((1, 2)),
        _ => None,
    };
    if let Some((half, taken)) = half
        && let Some((year, taken)) = year_after(taken)
    {
        return Some(months(year * 12 + half * 6, 6, taken));
    }
    if let Some(day) = read_day(words) {
        return Some(day);
    }
    if let Some(month) = find_month(first)
        && let Some((year, taken)) = year_after(1)
    {
        return Some(months(year * 12 + i32::try_from(month).ok()?, 1, taken));
    }
    if let Some(year) = read_year(first) {
        return Some(months(year * 12, 12, 1));
    }
    let (year, rest) = first.split_once('-')?;
    let year = read_year(year)?;
    if let Some(quarter) = rest.strip_prefix('q').and_then(|number| number.parse::<i32>().ok()) {
        return (1..=4).contains(&quarter).then(|| months(year * 12 + (quarter - 1) * 3, 3, 1));
    }
    let (month, day) = rest.split_once('-').map_or((rest, None), |(month, day)| (month, Some(day)));
    let month: i32 = month.parse().ok().filter(|month| (1..=12).contains(month))?;
    let Some(day) = day else { return Some(months(year * 12 + month - 1, 1, 1)) };
    let day: u32 = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    // The end may be an invalid date, as it is only compared.
    Some((format!("{year:04}-{month:02}-{day:02}"), format!("{year:04}-{month:02}-{:02}", day + 1), 1))
}

/// Parses `3 march 2024`, `3rd of march 2024` or `march 3 2024`.
fn read_day(words: &[&str]) -> Option<Read> {
    let number = |word: &&str| {
        let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
        digits.parse::<u32>().ok().filter(|day| digits.len() <= 2 && (1..=31).contains(day))
    };
    let month = |word: &&str| find_month(word);
    let rest: Vec<&str> = words.iter().take(5).copied().collect();
    let skip = usize::from(rest.get(1).is_some_and(|word| BETWEEN.contains(word)));
    let (day, month, taken) = match (number(rest.first()?), rest.get(1 + skip).and_then(month)) {
        (Some(day), Some(month)) => (day, month, 2 + skip),
        _ => (rest.get(1).and_then(number)?, month(rest.first()?)?, 2),
    };
    // `3 de marzo de 2004`, but not `marzo 3 de 2004`.
    let is_day_first = taken > 2 || number(rest.first()?).is_some();
    let skip = usize::from(is_day_first && rest.get(taken).is_some_and(|word| BETWEEN.contains(word)));
    let (year, taken) = (read_year(rest.get(taken + skip)?)?, taken + skip);
    let day_of = |day: u32| format!("{year:04}-{:02}-{day:02}", month + 1);
    Some((day_of(day), day_of(day + 1), taken + 1))
}

fn read_year(word: &str) -> Option<i32> {
    word.parse().ok().filter(|year| word.len() == 4 && (1900..=2100).contains(year))
}

/// Returns the period of `count` months from `from`, counted from year 0.
fn months(from: i32, count: i32, taken: usize) -> Read {
    let day = |month: i32| format!("{:04}-{:02}-01", month.div_euclid(12), month.rem_euclid(12) + 1);
    (day(from), day(from + count), taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = find(text);
        let found: Vec<(&str, &str)> = found.iter().map(|period| (period.from.as_str(), period.to.as_str())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn monthly_data_covers_the_month() {
        let year = ("2025-01-01", "2026-01-01");
        assert!(measure_overlap(("2025-10-01", "2025-12-31"), year) < MIN_OVERLAP);
        assert!(measure_overlap(("2023-01-01", "2025-12-01"), ("2025-12-01", "2026-01-01")) > 0.9);
        assert!(measure_overlap(("2025-10-01", "2025-12-31"), ("2025-01-01", "9999-01-01")) > 0.9);
        assert!(measure_overlap(("2024-01-01", "2024-12-31"), year) < 0.1);
    }

    #[test]
    fn finds_periods_in_all_notations() {
        check("invoices in 2024", &[("2024-01-01", "2025-01-01")]);
        check("the third quarter of 2024", &[("2024-07-01", "2024-10-01")]);
        check("Q4 2025, and 2025-Q1", &[("2025-10-01", "2026-01-01"), ("2025-01-01", "2025-04-01")]);
        check("H2 2025, and the first half of 2024", &[("2025-07-01", "2026-01-01"), ("2024-01-01", "2024-07-01")]);
        check("in December 2025", &[("2025-12-01", "2026-01-01")]);
        check("2025-03", &[("2025-03-01", "2025-04-01")]);
        check("on 2025-03-09", &[("2025-03-09", "2025-03-10")]);
        check("on 3 March 2024, not March 4th, 2024", &[("2024-03-03", "2024-03-04"), ("2024-03-04", "2024-03-05")]);
        check("the 5th of May 2024, and 45 March 2024", &[("2024-05-05", "2024-05-06"), ("2024-03-01", "2024-04-01")]);
        check(
            "am 24. März 2022, el 3 de diciembre de 2004",
            &[("2022-03-24", "2022-03-25"), ("2004-12-03", "2004-12-04")],
        );
        check("im Dezember 2017, en août 2019", &[("2017-12-01", "2018-01-01"), ("2019-08-01", "2019-09-01")]);
        check("since 2024", &[("2024-01-01", "9999-01-01")]);
        check("since the start of 2024", &[("2024-01-01", "9999-01-01")]);
        check("since the end of March 2024", &[("2024-04-01", "9999-01-01")]);
        check("until the beginning of 2024", &[("0000-01-01", "2024-01-01")]);
        check("at the end of 2024", &[("2024-01-01", "2025-01-01")]);
        check("before the year 2024", &[("2024-01-01", "2025-01-01")]);
        check("before March 2024", &[("0000-01-01", "2024-03-01")]);
        check("until March 2024", &[("0000-01-01", "2024-04-01")]);
        check("order 1234 of customer 12345", &[]);
        check("in March", &[]);
        check("2025-Q9 2025-13 2025-00-01", &[]);
    }
}

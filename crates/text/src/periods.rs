//! Periods in a text: days, months, quarters, years, and what begins or ends with them.

/// The names of the months, in lower case and in their order.
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

const ORDINALS: [&str; 4] = ["first", "second", "third", "fourth"];

/// The first day of a period without a beginning, and the last of one without an end.
const NO_BEGINNING: &str = "0000-01-01";
const NO_END: &str = "9999-01-01";

/// A period that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// The first day, `YYYY-MM-DD`.
    pub from: String,
    /// The day after the last one, `YYYY-MM-DD`.
    pub to: String,
    /// The place of its first word among the [`words`] of the text, and how many words it takes.
    pub place: (usize, usize),
}

impl Period {
    /// Whether it has a day in common with the days from `from` to before `to`.
    pub fn overlaps(&self, from: &str, to: &str) -> bool {
        self.from.as_str() < to && from < self.to.as_str()
    }
}

/// The words of a text, hyphens inside words kept: `2025-Q4` is one.
pub fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_' && c != '\'' && c != '’')
        .map(|word| word.trim_matches(['-', '\'', '’']))
        .filter(|word| !word.is_empty())
        .collect()
}

/// The periods of a text, in order.
///
/// ```
/// let found = prospector_text::periods::find("Revenue since the fourth quarter of 2025");
/// assert_eq!((found[0].from.as_str(), found[0].to.as_str()), ("2025-10-01", "9999-01-01"));
/// ```
pub fn find(text: &str) -> Vec<Period> {
    let lower = text.to_lowercase();
    let words = words(&lower);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Some((from, to, taken)) = read(&words[at..]) else {
            at += 1;
            continue;
        };
        let before = words[..at].iter().rev().find(|word| **word != "the").copied().unwrap_or_default();
        let (from, to) = match before {
            "since" => (from, NO_END.to_owned()),
            "after" => (to, NO_END.to_owned()),
            "before" | "until" => (NO_BEGINNING.to_owned(), from),
            _ => (from, to),
        };
        found.push(Period { from, to, place: (at, taken) });
        at += taken;
    }
    found
}

/// Whether a word is a name of a month, or a unit that time is counted in.
pub fn is_time_word(word: &str) -> bool {
    const UNITS: [&str; 24] = [
        "year",
        "years",
        "yearly",
        "annual",
        "annually",
        "quarter",
        "quarters",
        "quarterly",
        "month",
        "months",
        "monthly",
        "week",
        "weeks",
        "weekly",
        "day",
        "days",
        "daily",
        "date",
        "today",
        "tomorrow",
        "yesterday",
        "now",
        "ago",
        "recent",
    ];
    MONTHS.contains(&word) || UNITS.contains(&word)
}

/// What begins here: the first day, the day after the last, how many words.
fn read(words: &[&str]) -> Option<(String, String, usize)> {
    let first = *words.first()?;
    let year_after = |taken: usize| {
        let skip = usize::from(words.get(taken).is_some_and(|word| matches!(*word, "of" | "in")));
        Some((read_year(words.get(taken + skip)?)?, taken + skip + 1))
    };
    let quarter = first
        .strip_prefix('q')
        .and_then(|number| number.parse::<i32>().ok())
        .filter(|number| (1..=4).contains(number))
        .map(|number| (number, 1))
        .or_else(|| {
            let at = ORDINALS.iter().position(|word| *word == first)?;
            (*words.get(1)? == "quarter").then_some((i32::try_from(at).ok()? + 1, 2))
        });
    if let Some((quarter, taken)) = quarter
        && let Some((year, taken)) = year_after(taken)
    {
        return Some(months(year * 12 + (quarter - 1) * 3, 3, taken));
    }
    if let Some(month) = MONTHS.iter().position(|month| *month == first)
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
    // The day after need not be one of the calendar: it is only compared with.
    Some((format!("{year:04}-{month:02}-{day:02}"), format!("{year:04}-{month:02}-{:02}", day + 1), 1))
}

fn read_year(word: &str) -> Option<i32> {
    word.parse().ok().filter(|year| word.len() == 4 && (1900..=2100).contains(year))
}

/// So many months from one, counted from year 0.
fn months(from: i32, count: i32, taken: usize) -> (String, String, usize) {
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
    fn periods_are_found_however_they_are_written() {
        check("invoices in 2024", &[("2024-01-01", "2025-01-01")]);
        check("the third quarter of 2024", &[("2024-07-01", "2024-10-01")]);
        check("Q4 2025, and 2025-Q1", &[("2025-10-01", "2026-01-01"), ("2025-01-01", "2025-04-01")]);
        check("in December 2025", &[("2025-12-01", "2026-01-01")]);
        check("2025-03", &[("2025-03-01", "2025-04-01")]);
        check("on 2025-03-09", &[("2025-03-09", "2025-03-10")]);
        check("since 2024", &[("2024-01-01", "9999-01-01")]);
        check("before the year 2024", &[("2024-01-01", "2025-01-01")]);
        check("before March 2024", &[("0000-01-01", "2024-03-01")]);
        check("order 1234 of customer 12345", &[]);
        check("in March", &[]);
        check("2025-Q9 2025-13 2025-00-01", &[]);
    }
}

//! Whether a plan puts the same months or quarters of several years together, where its question does not ask for that: `month` and
//! `quarter` are numbers, without their year.

use prospector_connect::query::{DatePart, Group};
use prospector_text::periods::{NO_BEGINNING, NO_END};

use super::{
    Report, SenseCode, SenseFinding,
    periods::{Interval, read_intervals, takes_rows},
    view::{Found, PlanView},
    vocabulary::stems,
};
use crate::plan::Step;

/// Words of whoever asks for what months or quarters have in common.
const OF_SEASONS: [&str; 7] = ["season", "seasonal", "seasonality", "usually", "typically", "normally", "generally"];

/// What is asked for whatever the year is.
const WHATEVER_YEAR: [&str; 6] = [
    "month of the year",
    "quarter of the year",
    "time of the year",
    "time of year",
    "calendar month",
    "years together",
];

/// The same, where no years are named.
const OF_NO_PERIOD: [&str; 4] = ["which month", "what month", "which quarter", "what quarter"];

pub(super) fn check(view: &PlanView<'_>, report: &mut Report) {
    for step in view.steps.iter().filter(|step| step.query.is_none() && !step.compute.is_empty()) {
        report.check(find_mixed(view, step));
    }
}

/// The group of a step that has the months or quarters of several years in one.
fn find_mixed(view: &PlanView<'_>, step: &Step) -> Option<SenseFinding> {
    let tells_years = |group: &Group| match group.part {
        Some(part) => matches!(part, DatePart::Year | DatePart::YearQuarter | DatePart::YearMonth | DatePart::Date),
        None => view.find_column(step, &group.column).is_some_and(|found| {
            found.column.is_date() || stems(&found.column.name).iter().any(|word| stems("year").contains(word))
        }),
    };
    if step.group_by.iter().any(tells_years) || asks_for_seasons(view, step) {
        return None;
    }
    let intervals = read_intervals(view, step);
    step.group_by.iter().find_map(|group| {
        let better = match group.part? {
            DatePart::Quarter => DatePart::YearQuarter,
            DatePart::Month => DatePart::YearMonth,
            DatePart::Year
            | DatePart::Day
            | DatePart::Weekday
            | DatePart::Hour
            | DatePart::YearQuarter
            | DatePart::YearMonth
            | DatePart::Date => return None,
        };
        let found = view.find_column(step, &group.column)?;
        let (from, to) = find_days(view, step, found, &intervals).filter(|(from, to)| is_over_a_year(from, to))?;
        let part = group.part?.as_str();
        let message = format!(
            "`{part}({column})` puts each {part} of several years together, and the step has days from {from} to {to}: group by \
             `{better}({column})`, or limit it to one year",
            column = group.column,
            better = better.as_str(),
        );
        Some(SenseFinding::new(SenseCode::MissingGroup, Some(step.number), message))
    })
}

/// From which day on and to which day a step reads a column, as far as its conditions or the values of the column tell. What another
/// condition or an earlier step limits is not known.
fn find_days(view: &PlanView<'_>, step: &Step, found: Found<'_>, intervals: &[Interval]) -> Option<(String, String)> {
    let own = intervals.iter().find(|known| known.table == found.table.id && known.column == found.column.name);
    let is_limited = || !intervals.is_empty() || takes_rows(view, step);
    let (from, to) = match own {
        Some(own) => (own.from.as_str(), own.to.as_str()),
        None if is_limited() => return None,
        None => (NO_BEGINNING, NO_END),
    };
    // An open end is that of the data.
    let span = found.column.span.as_ref();
    let first = span.map_or(from, |(first, _)| from.max(first.as_str()));
    let last = span.map_or(to, |(_, last)| to.min(last.as_str()));
    let is_open = first.starts_with("0000") || last.starts_with("9999");
    let day = |text: &str| text.get(..10).unwrap_or(text).to_owned();
    (!is_open).then(|| (day(first), day(last)))
}

/// Whether there is more than a year between two days.
fn is_over_a_year(from: &str, to: &str) -> bool {
    let year = from.get(..4).and_then(|year| year.parse::<u32>().ok());
    year.zip(from.get(4..)).is_some_and(|(year, day)| format!("{:04}{day}", year + 1).as_str() < to)
}

/// Whether the question, or the goal of the step, speaks of months or quarters of any year.
fn asks_for_seasons(view: &PlanView<'_>, step: &Step) -> bool {
    let has = |words: &[String], phrases: &[&str]| {
        let mut phrases = phrases.iter().map(|phrase| stems(phrase));
        phrases.any(|phrase| words.windows(phrase.len()).any(|part| part == phrase))
    };
    let says = |words: &[String]| has(words, &OF_SEASONS) || has(words, &WHATEVER_YEAR);
    let question = &view.question;
    says(&question.words)
        || says(&stems(&step.goal))
        || question.periods.is_empty() && has(&question.words, &OF_NO_PERIOD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_is_not_over_a_year() {
        assert!(!is_over_a_year("2025-01-01", "2026-01-01"));
        assert!(!is_over_a_year("2025-10-01", "2026-03-31"));
        assert!(is_over_a_year("2024-01-01", "2026-01-01"));
        assert!(is_over_a_year("2024-12-31", "2026-01-01"));
        assert!(!is_over_a_year("", "2026-01-01"));
    }
}

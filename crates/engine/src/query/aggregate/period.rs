//! Periods: their computation from a date in each dialect, and the days that a period text covers.

use chrono::{Datelike, Months, NaiveDate};
use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_connect::query::DatePart;
use prospector_core::{named_enum, word_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fiscal::FiscalYear;
use crate::build::{Class, Writer, invalid};
use crate::{Dialect, Failure};

/// Later years have more digits.
const MAX_YEAR: i32 = 9_999;

named_enum! {
    /// The length of a period. Weeks start on Mondays and are named by that day.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Grain {
        /// `2025-12-31`
        Day = "day",
        /// `2025-12-29`
        Week = "week",
        /// `2025-12`
        Month = "month",
        /// `2025-Q4`
        Quarter = "quarter",
        /// `FY2026-Q1`
        FiscalQuarter = "fiscal_quarter",
        /// `2025`
        Year = "year",
        /// `FY2026`
        FiscalYear = "fiscal_year",
    }
}

impl Grain {
    /// Returns whether the grain depends on the first month of fiscal years.
    pub fn is_fiscal(self) -> bool {
        matches!(self, Grain::FiscalQuarter | Grain::FiscalYear)
    }

    /// Parses the name of a grain in the singular or plural.
    pub fn find(word: &str) -> Option<Self> {
        let word = word.trim().to_lowercase().replace(' ', "_");
        Grain::ALL.into_iter().find(|grain| word.strip_suffix('s').unwrap_or(&word) == grain.as_str())
    }

    /// Returns whether periods of this grain consist of whole periods of the other.
    pub fn holds(self, finer: Grain) -> bool {
        match finer {
            Grain::Day => true,
            Grain::Month => !matches!(self, Grain::Day | Grain::Week),
            Grain::Quarter => matches!(self, Grain::Quarter | Grain::Year),
            Grain::FiscalQuarter => self.is_fiscal(),
            Grain::Week | Grain::Year | Grain::FiscalYear => self == finer,
        }
    }

    /// Returns the number of periods of the other grain in one of this grain, if it is constant.
    pub(super) fn count(self, finer: Grain) -> Option<u32> {
        match (self, finer) {
            (one, other) if one == other => Some(1),
            (Grain::Week, Grain::Day) => Some(7),
            (Grain::Quarter | Grain::FiscalQuarter, Grain::Month) => Some(3),
            (Grain::Year | Grain::FiscalYear, Grain::Month) => Some(12),
            (Grain::Year, Grain::Quarter) | (Grain::FiscalYear, Grain::FiscalQuarter) => Some(4),
            _ => None,
        }
    }
}

word_schema!(Grain);

/// Renders the period of a date as the answer shows it; labels sort chronologically.
pub(super) fn write_label(writer: &Writer, fiscal: FiscalYear, value: &str, class: Class, grain: Grain) -> String {
    let part = match grain {
        Grain::Day => DatePart::Date,
        Grain::Month => DatePart::YearMonth,
        Grain::Quarter => DatePart::YearQuarter,
        Grain::Year => DatePart::Year,
        Grain::Week => return write_monday(writer, value, class),
        Grain::FiscalQuarter | Grain::FiscalYear => {
            return fiscal.write_label(writer, value, class, grain == Grain::FiscalQuarter);
        }
    };
    writer.part(value, class, part)
}

fn write_monday(writer: &Writer, value: &str, class: Class) -> String {
    match writer.dialect {
        Dialect::Sqlite => format!("date({value}, '-6 days', 'weekday 1')"),
        Dialect::Mysql => format!("DATE_FORMAT(DATE_SUB({value}, INTERVAL WEEKDAY({value}) DAY), '%Y-%m-%d')"),
        Dialect::Bigquery => format!("FORMAT_DATE('%Y-%m-%d', DATE_TRUNC(CAST({value} AS DATE), ISOWEEK))"),
        Dialect::Postgres | Dialect::Joined => {
            let monday = format!("date_trunc('week', {})", writer.timestamp(value, class));
            writer.part(&monday, Class::Date, DatePart::Date)
        }
    }
}

/// Renders a number for the period of a date; consecutive periods differ by 1, weeks by 7.
pub(super) fn write_number(writer: &Writer, fiscal: FiscalYear, value: &str, class: Class, grain: Grain) -> String {
    let part = |part| writer.part(value, class, part);
    match grain {
        Grain::Day => writer.day_number(value),
        Grain::Week => writer.day_number(&write_monday(writer, value, class)),
        Grain::Month => format!("({} * 12 + {})", part(DatePart::Year), part(DatePart::Month)),
        Grain::Quarter => format!("({} * 4 + {})", part(DatePart::Year), part(DatePart::Quarter)),
        Grain::Year => part(DatePart::Year),
        Grain::FiscalYear => fiscal.write_year(writer, value, class),
        Grain::FiscalQuarter => {
            let (year, quarter) = (fiscal.write_year(writer, value, class), fiscal.write_quarter(writer, value, class));
            format!("({year} * 4 + {quarter})")
        }
    }
}

/// A range of days, from the first day up to but excluding the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Days {
    pub(super) from: Option<NaiveDate>,
    pub(super) until: Option<NaiveDate>,
}

/// Returns the overall range of the days that satisfy all conditions; `None` if it is open.
pub(super) fn find_hull(conditions: &[Vec<Days>]) -> Option<(NaiveDate, NaiveDate)> {
    let (mut first, mut last): (Option<NaiveDate>, Option<NaiveDate>) = (None, None);
    for any in conditions {
        // An open start precedes all days.
        first = first.max(any.iter().map(|days| days.from).min().flatten());
        let until = any.iter().map(|days| days.until).collect::<Option<Vec<NaiveDate>>>();
        last = last.into_iter().chain(until.and_then(|days| days.into_iter().max())).min();
    }
    let (first, last) = (first?, last?);
    Some((first, last.max(first)))
}

/// Returns the ranges of days that a condition on time covers.
///
/// # Errors
/// - If a value is not a period.
/// - If the operator does not define a range of days.
pub(super) fn read_days(condition: &FilterCondition, fiscal: FiscalYear) -> Result<Vec<Days>, Failure> {
    let whole = |value: &Value| -> Result<(NaiveDate, NaiveDate), Failure> {
        let text = match value {
            Value::String(text) => text.trim().to_owned(),
            other => other.to_string(),
        };
        read_period(&text, fiscal).ok_or_else(|| {
            invalid(format!("`{text}` is not a period"))
                .advise("write a year, quarter, month or day: 2025, 2025-Q4, 2025-12, 2025-12-31")
        })
    };
    let one = |from: Option<NaiveDate>, until: Option<NaiveDate>| Ok(vec![Days { from, until }]);
    let value = &condition.value;
    match (condition.op, value) {
        (FilterOp::Eq, value) => whole(value).and_then(|(from, until)| one(Some(from), Some(until))),
        (FilterOp::Gte, value) => one(Some(whole(value)?.0), None),
        (FilterOp::Gt, value) => one(Some(whole(value)?.1), None),
        (FilterOp::Lt, value) => one(None, Some(whole(value)?.0)),
        (FilterOp::Lte, value) => one(None, Some(whole(value)?.1)),
        (FilterOp::Between, Value::Array(ends)) if ends.len() == 2 => {
            one(Some(whole(&ends[0])?.0), Some(whole(&ends[1])?.1))
        }
        (FilterOp::In, Value::Array(values)) if !values.is_empty() => {
            let days = |value| whole(value).map(|(from, until)| Days { from: Some(from), until: Some(until) });
            values.iter().map(days).collect()
        }
        (FilterOp::Between | FilterOp::In | FilterOp::Neq | FilterOp::Like | FilterOp::NotLike, _) => {
            Err(invalid("time supports only eq, gt, gte, lt, lte, between and in")
                .advise("list the periods to include"))
        }
    }
}

/// Returns the first day of a period, and the first day after it.
fn read_period(text: &str, fiscal: FiscalYear) -> Option<(NaiveDate, NaiveDate)> {
    let number = |text: &str, digits: usize| -> Option<u32> {
        (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
    };
    let day = |year: u32, month: u32, day: u32| NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day);
    let months = |year: u32, first: u32, count: u32| {
        let from = day(year, first, 1)?;
        let until = from.checked_add_months(Months::new(count)).filter(|until| until.year() <= MAX_YEAR)?;
        Some((from, until))
    };
    if let Some((year, first, count)) = fiscal.read(text) {
        return months(year, first, count);
    }
    let mut parts = text.split('-');
    let year = number(parts.next()?, 4).filter(|year| *year > 0)?;
    match (parts.next(), parts.next(), parts.next()) {
        (None, None, None) => months(year, 1, 12),
        (Some(quarter), None, None) if quarter.starts_with(['Q', 'q']) => {
            let quarter = number(&quarter[1..], 1).filter(|quarter| (1..=4).contains(quarter))?;
            months(year, quarter * 3 - 2, 3)
        }
        (Some(month), None, None) => months(year, number(month, 2)?, 1),
        (Some(month), Some(of_month), None) => {
            let from = day(year, number(month, 2)?, number(of_month, 2)?)?;
            Some((from, from.succ_opt().filter(|until| until.year() <= MAX_YEAR)?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, &str)>) {
        let expected = expected.map(|(from, until)| (from.parse().unwrap(), until.parse().unwrap()));
        assert_eq!(read_period(text, FiscalYear::new(4).unwrap()), expected, "{text}");
    }

    #[test]
    fn period_starts_and_ends_at_a_day() {
        check("2025", Some(("2025-01-01", "2026-01-01")));
        check("2025-Q4", Some(("2025-10-01", "2026-01-01")));
        check("2025-q1", Some(("2025-01-01", "2025-04-01")));
        check("2025-12", Some(("2025-12-01", "2026-01-01")));
        check("2024-02-29", Some(("2024-02-29", "2024-03-01")));
        check("2025-12-31", Some(("2025-12-31", "2026-01-01")));
        check("FY2026", Some(("2025-04-01", "2026-04-01")));
        check("FY2026-Q3", Some(("2025-10-01", "2026-01-01")));
        check("9998", Some(("9998-01-01", "9999-01-01")));
        for wrong in ["0000", "9999", "2025-00"] {
            check(wrong, None);
        }
        for wrong in ["", "25", "2025-13", "2025-Q5", "2025-02-29", "2025-1-1", "last year", "2025-12-31-1", "20é5"] {
            check(wrong, None);
        }
    }

    #[test]
    fn combines_conditions_to_a_range_of_days() {
        let days = |from: &str, until: &str| Days { from: from.parse().ok(), until: until.parse().ok() };
        let check = |conditions: &[Vec<Days>], expected: Option<(&str, &str)>| {
            let expected = expected.map(|(from, until)| (from.parse().unwrap(), until.parse().unwrap()));
            assert_eq!(find_hull(conditions), expected, "{conditions:?}");
        };
        let (april, june) = (days("2025-04-01", "2025-05-01"), days("2025-06-01", "2025-07-01"));
        check(&[], None);
        check(&[vec![april]], Some(("2025-04-01", "2025-05-01")));
        check(&[vec![june, april]], Some(("2025-04-01", "2025-07-01")));
        check(&[vec![days("2025-04-01", "")]], None);
        check(&[vec![days("2025-04-01", "")], vec![days("", "2025-05-01")]], Some(("2025-04-01", "2025-05-01")));
        check(&[vec![june, days("", "2025-01-01")]], None);
        check(&[vec![april], vec![june]], Some(("2025-06-01", "2025-06-01")));
    }

    #[test]
    fn grain_contains_whole_finer_periods() {
        let holds = |one: Grain| Grain::ALL.into_iter().filter(|other| one.holds(*other)).collect::<Vec<_>>();
        assert_eq!(holds(Grain::Day), [Grain::Day]);
        assert_eq!(holds(Grain::Week), [Grain::Day, Grain::Week]);
        assert_eq!(holds(Grain::Quarter), [Grain::Day, Grain::Month, Grain::Quarter]);
        assert_eq!(holds(Grain::FiscalYear), [Grain::Day, Grain::Month, Grain::FiscalQuarter, Grain::FiscalYear]);
        assert_eq!(Grain::find(" Months"), Some(Grain::Month));
        assert_eq!(Grain::find("fiscal quarters"), Some(Grain::FiscalQuarter));
    }
}

//! Dates: days and periods in statements, and the parts of dates that functions of all dialects return.

use chrono::{Datelike, Days, Months, NaiveDate};
use sqlparser::ast::{BinaryOperator, DataType, DateTimeField, Expr};

use super::Writer;
use crate::Dialect;
use crate::syntax::{literal_of, number_of, plain_call, text_of, without_parentheses};

/// A unit of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Weekday,
    DayOfYear,
    Hour,
    Minute,
    Second,
}

/// The part of a date that an expression extracts.
pub(super) struct Part<'a> {
    pub(super) subject: &'a Expr,
    unit: Unit,
    /// Whether the value is a period such as `2025-03`, and not only a number such as 3.
    is_period: bool,
}

/// A period: its first day, and the day after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: NaiveDate,
    pub(super) to: NaiveDate,
}

impl Part<'_> {
    /// Returns the words before `of` and the subject.
    pub(super) fn words(&self) -> &'static str {
        match (self.unit, self.is_period) {
            (Unit::Quarter, false) => "quarter (1-4)",
            (Unit::Month, false) => "month (1-12)",
            (Unit::Week, false) => "week number",
            (Unit::Day, false) => "day of the month",
            (Unit::Hour, false) => "hour of the day",
            (unit, _) => unit.as_str(),
        }
    }

    /// Returns the period that this value of the part denotes.
    pub(super) fn span_of(&self, value: &Expr) -> Option<Span> {
        let text = literal_of(value).unwrap_or_default();
        let first = match (self.unit, self.is_period) {
            (Unit::Year, _) if text.len() == 4 => NaiveDate::from_ymd_opt(text.parse().ok()?, 1, 1)?,
            (Unit::Month, true) if text.len() == 7 => parse_day(&format!("{text}-01"))?,
            (Unit::Year | Unit::Quarter | Unit::Month | Unit::Day, true) => day(value)?,
            _ => return None,
        };
        let months = |count: u32| first.checked_add_months(Months::new(count)).filter(|_| first.day() == 1);
        let to = match self.unit {
            Unit::Year if first.month() == 1 => months(12)?,
            Unit::Quarter if first.month0() % 3 == 0 => months(3)?,
            Unit::Month => months(1)?,
            Unit::Day => first.checked_add_days(Days::new(1))?,
            _ => return None,
        };
        Some(Span { from: first, to })
    }
}

/// Names a calendar period from one day to before another, each `YYYY-MM-DD`: `in 2025`, `in Q1 2025`, `on 2025-03-05`. `None` for other
/// ranges.
pub fn name_period(from: &str, to: &str) -> Option<String> {
    name(parse_day(from)?, parse_day(to)?)
}

/// Names a calendar period: `in 2025`, `in Q1 2025`, `in March 2025`, `on 2025-03-05`.
pub(super) fn name(from: NaiveDate, to: NaiveDate) -> Option<String> {
    if from.checked_add_days(Days::new(1)) == Some(to) {
        return Some(format!("on {from}"));
    }
    let is_month = |day: NaiveDate| day.day() == 1;
    let last = to.checked_sub_days(Days::new(1)).filter(|last| is_month(from) && is_month(to) && *last > from)?;
    let months =
        (last.year() - from.year()) * 12 + i32::try_from(last.month0()).ok()? - i32::try_from(from.month0()).ok()? + 1;
    Some(match (months, from.month0()) {
        (12, 0) => format!("in {}", from.year()),
        (months, 0) if months % 12 == 0 => format!("in {} to {}", from.year(), last.year()),
        (3, month) if month % 3 == 0 => format!("in Q{} {}", month / 3 + 1, from.year()),
        (1, _) => format!("in {}", from.format("%B %Y")),
        _ if from.year() == last.year() => format!("in {} to {}", from.format("%B"), last.format("%B %Y")),
        _ => format!("in {} to {}", from.format("%B %Y"), last.format("%B %Y")),
    })
}

/// Parses a text that is a day, or midnight of a day.
pub(crate) fn parse_day(text: &str) -> Option<NaiveDate> {
    let (day, time) = text.split_at_checked(10)?;
    let is_midnight = time.chars().all(|c| matches!(c, '0' | ':' | '.' | ' ' | 'T' | 'Z'));
    let is_iso = day
        .bytes()
        .enumerate()
        .all(|(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() });
    if is_midnight && is_iso { NaiveDate::parse_from_str(day, "%Y-%m-%d").ok() } else { None }
}

/// Evaluates an expression of literals to a day.
pub(super) fn day(expr: &Expr) -> Option<NaiveDate> {
    match expr {
        Expr::Nested(inner) => day(inner),
        Expr::Cast { expr, data_type, .. } if is_date_type(data_type) => day(expr),
        Expr::BinaryOp { left, op, right } => {
            let sign = match op {
                BinaryOperator::Plus => 1,
                BinaryOperator::Minus => -1,
                _ => return None,
            };
            shift(left, interval(right)?, sign)
        }
        Expr::Function(_) => {
            let call = plain_call(expr)?;
            match (call.name.as_str(), call.arguments.as_slice()) {
                ("date" | "datetime" | "timestamp" | "to_date", [only]) => day(only),
                ("date" | "datetime", [first, change]) => shift(first, modifier(&text_of(change)?)?, 1),
                ("date_add", [first, change]) => shift(first, interval(change)?, 1),
                ("date_sub", [first, change]) => shift(first, interval(change)?, -1),
                _ => None,
            }
        }
        other => parse_day(&text_of(other)?),
    }
}

/// Returns the day that is an interval after another, or before it if `sign` is -1.
fn shift(first: &Expr, (count, unit): (i64, Unit), sign: i64) -> Option<NaiveDate> {
    let (day, count) = (day(first)?, count.checked_mul(sign)?);
    let steps = u32::try_from(count.unsigned_abs()).ok()?;
    let months = match unit {
        Unit::Year => steps.checked_mul(12)?,
        Unit::Quarter => steps.checked_mul(3)?,
        Unit::Month => steps,
        Unit::Week | Unit::Day => {
            let days = Days::new(u64::from(steps).checked_mul(if unit == Unit::Week { 7 } else { 1 })?);
            return if count < 0 { day.checked_sub_days(days) } else { day.checked_add_days(days) };
        }
        Unit::Weekday | Unit::DayOfYear | Unit::Hour | Unit::Minute | Unit::Second => return None,
    };
    let months = Months::new(months);
    if count < 0 { day.checked_sub_months(months) } else { day.checked_add_months(months) }
}

/// Parses an interval into its number and unit.
fn interval(expr: &Expr) -> Option<(i64, Unit)> {
    let Expr::Interval(interval) = expr else { return None };
    let text = literal_of(&interval.value)?;
    match &interval.leading_field {
        Some(field) => Some((text.trim().parse().ok()?, unit_of(&field.to_string())?)),
        None => modifier(&text),
    }
}

/// Parses a date modifier such as `+3 months`.
pub(super) fn modifier(text: &str) -> Option<(i64, Unit)> {
    let (number, unit) = text.trim().split_once(' ')?;
    Some((number.parse().ok()?, unit_of(unit.trim())?))
}

/// Parses a unit in the singular or plural.
pub(super) fn unit_of(word: &str) -> Option<Unit> {
    let word = word.to_ascii_lowercase();
    Some(match word.strip_suffix('s').unwrap_or(&word) {
        "year" | "isoyear" => Unit::Year,
        "quarter" => Unit::Quarter,
        "month" => Unit::Month,
        "week" | "isoweek" => Unit::Week,
        "day" => Unit::Day,
        "dow" | "isodow" | "dayofweek" => Unit::Weekday,
        "doy" | "dayofyear" => Unit::DayOfYear,
        "hour" => Unit::Hour,
        "minute" => Unit::Minute,
        "second" => Unit::Second,
        _ => return None,
    })
}

impl Unit {
    /// Returns the singular word of the unit.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Unit::Year => "year",
            Unit::Quarter => "quarter",
            Unit::Month => "month",
            Unit::Week => "week",
            Unit::Day => "day",
            Unit::Weekday => "weekday",
            Unit::DayOfYear => "day of the year",
            Unit::Hour => "hour",
            Unit::Minute => "minute",
            Unit::Second => "second",
        }
    }
}

/// Returns whether an expression is a moment that depends on when the statement runs.
pub(super) fn is_moment(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => is_moment(inner),
        Expr::BinaryOp { left, op: BinaryOperator::Plus | BinaryOperator::Minus, right } => {
            is_moment(left) && matches!(right.as_ref(), Expr::Interval(_))
        }
        Expr::Function(_) => plain_call(expr).is_some_and(|call| match call.arguments.as_slice() {
            [] => is_clock(&call.name),
            [first, ..] => match call.name.as_str() {
                "date" | "datetime" => text_of(first).is_some_and(|text| text == "now") || is_moment(first),
                "date_trunc" => call.arguments.iter().any(|argument| is_moment(argument)),
                "date_add" | "date_sub" => is_moment(first),
                _ => false,
            },
        }),
        _ => false,
    }
}

/// Returns whether a function without arguments returns the current time.
fn is_clock(name: &str) -> bool {
    matches!(
        name,
        "now" | "current_timestamp" | "localtimestamp" | "current_date" | "curdate" | "sysdate" | "date" | "datetime"
    )
}

fn is_date_type(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Date | DataType::Datetime(_) | DataType::Timestamp(..))
}

/// Returns the part of a date that an expression extracts, in any dialect.
pub(super) fn part<'a>(writer: &Writer<'a>, expr: &'a Expr) -> Option<Part<'a>> {
    match expr {
        Expr::Nested(inner) => part(writer, inner),
        Expr::Extract { field, expr, .. } => {
            let unit = match field {
                DateTimeField::Week(_) => Unit::Week,
                other => unit_of(&other.to_string())?,
            };
            Some(Part { subject: expr, unit, is_period: unit == Unit::Year })
        }
        Expr::Cast { expr: inner, data_type, .. } => match data_type {
            DataType::Date if !is_literal_day(inner) && !holds_days(writer, inner) => {
                Some(Part { subject: inner, unit: Unit::Day, is_period: true })
            }
            DataType::Int(_) | DataType::Integer(_) | DataType::BigInt(_) | DataType::Int64 | DataType::Signed => {
                part(writer, inner)
            }
            _ => None,
        },
        Expr::Substring { expr: subject, substring_from: Some(from), substring_for: Some(length), .. } => {
            prefix(writer, subject, from, length)
        }
        Expr::BinaryOp { left, op, right } => quarter(writer, left, op, right),
        Expr::Function(_) => part_of_call(writer, expr),
        _ => None,
    }
}

/// Returns the part of a date that a function call extracts.
fn part_of_call<'a>(writer: &Writer<'a>, expr: &'a Expr) -> Option<Part<'a>> {
    let call = plain_call(expr)?;
    let of = |subject: &'a Expr, (unit, is_period): (Unit, bool)| Some(Part { subject, unit, is_period });
    match (call.name.as_str(), call.arguments.as_slice()) {
        ("strftime", [format, subject]) => of(subject, percent_format(writer.dialect, &text_of(format)?)?),
        ("date_format" | "format_date", [a, b]) => match (text_of(a), text_of(b)) {
            (None, Some(format)) => of(a, percent_format(writer.dialect, &format)?),
            (Some(format), None) => of(b, percent_format(writer.dialect, &format)?),
            _ => None,
        },
        ("to_char", [subject, format]) => {
            let format = text_of(format)?;
            of(subject, letter_format(&format).or_else(|| percent_format(writer.dialect, &format))?)
        }
        ("date_trunc" | "timestamp_trunc" | "datetime_trunc", [a, b]) => match (text_of(a), b) {
            (Some(unit), subject) => of(subject, (unit_of(&unit)?, true)),
            (None, Expr::Identifier(unit)) => of(a, (unit_of(&unit.value)?, true)),
            _ => None,
        },
        ("date_part", [unit, subject]) => {
            let unit = unit_of(&text_of(unit)?)?;
            of(subject, (unit, unit == Unit::Year))
        }
        ("substr" | "substring", [subject, from, length]) => prefix(writer, subject, from, length),
        ("left", [subject, length]) => cut(writer, subject, &number_of(length)?),
        ("date", [subject]) if !is_literal_day(subject) && !is_moment(expr) && !holds_days(writer, subject) => {
            of(subject, (Unit::Day, true))
        }
        ("monthname", [subject]) => of(subject, (Unit::Month, false)),
        ("dayname" | "weekday", [subject]) => of(subject, (Unit::Weekday, false)),
        ("dayofmonth", [subject]) => of(subject, (Unit::Day, false)),
        ("weekofyear", [subject]) => of(subject, (Unit::Week, false)),
        ("yearweek", [subject]) => of(subject, (Unit::Week, true)),
        (name, [subject]) if !name.ends_with('s') => {
            let unit = unit_of(name)?;
            of(subject, (unit, unit == Unit::Year))
        }
        _ => None,
    }
}

/// Returns the unit of a format such as `%Y-%m`.
fn percent_format(dialect: Dialect, format: &str) -> Option<(Unit, bool)> {
    Some(match format {
        "%Y" => (Unit::Year, true),
        "%Y-%m" | "%Y%m" | "%Y/%m" | "%Y-%m-01" | "%b %Y" | "%B %Y" | "%M %Y" => (Unit::Month, true),
        "%Y-%m-%d" | "%F" => (Unit::Day, true),
        "%Y-%m-%d %H" | "%Y-%m-%d %H:00" | "%Y-%m-%d %H:00:00" => (Unit::Hour, true),
        "%Y-%W" | "%Y-%u" | "%x-%v" | "%G-%V" | "%Y-W%W" => (Unit::Week, true),
        "%m" | "%c" => (Unit::Month, false),
        "%M" | "%b" | "%B" if dialect != Dialect::Sqlite => (Unit::Month, false),
        "%d" | "%e" => (Unit::Day, false),
        "%W" if dialect == Dialect::Mysql => (Unit::Weekday, false),
        "%W" | "%u" | "%v" | "%V" => (Unit::Week, false),
        "%w" | "%a" | "%A" => (Unit::Weekday, false),
        "%j" => (Unit::DayOfYear, false),
        "%H" => (Unit::Hour, false),
        _ => return None,
    })
}

/// Returns the unit of a format such as `YYYY-MM`.
fn letter_format(format: &str) -> Option<(Unit, bool)> {
    Some(match format.trim_start_matches("FM") {
        "YYYY" | "yyyy" => (Unit::Year, true),
        "YYYY-MM" | "YYYYMM" | "YYYY/MM" | "yyyy-mm" | "Mon YYYY" | "Month YYYY" | "YYYY-MM-01" => (Unit::Month, true),
        "YYYY-MM-DD" | "yyyy-mm-dd" => (Unit::Day, true),
        "YYYY-\"Q\"Q" | "YYYY \"Q\"Q" | "\"Q\"Q YYYY" | "YYYY-Q" => (Unit::Quarter, true),
        "IYYY-IW" | "IYYY-\"W\"IW" => (Unit::Week, true),
        "Q" | "\"Q\"Q" => (Unit::Quarter, false),
        "MM" | "Mon" | "Month" | "MON" | "MONTH" => (Unit::Month, false),
        "DD" => (Unit::Day, false),
        "IW" | "WW" => (Unit::Week, false),
        "D" | "ID" | "Dy" | "Day" | "DAY" => (Unit::Weekday, false),
        "HH24" => (Unit::Hour, false),
        _ => return None,
    })
}

/// Returns the part that a prefix of an ISO date denotes.
fn prefix<'a>(writer: &Writer<'a>, subject: &'a Expr, from: &Expr, length: &Expr) -> Option<Part<'a>> {
    if number_of(from)? != "1" {
        return None;
    }
    cut(writer, subject, &number_of(length)?)
}

fn cut<'a>(writer: &Writer<'a>, subject: &'a Expr, length: &str) -> Option<Part<'a>> {
    let unit = match length {
        "4" => Unit::Year,
        "7" => Unit::Month,
        "10" => Unit::Day,
        _ => return None,
    };
    let plain = match subject {
        Expr::Cast { expr, .. } => expr,
        other => other,
    };
    is_date(writer, plain).then_some(Part { subject: plain, unit, is_period: true })
}

/// Recognises the quarter in `(month + 2) / 3` and `(month - 1) / 3 + 1`.
fn quarter<'a>(writer: &Writer<'a>, left: &'a Expr, op: &BinaryOperator, right: &Expr) -> Option<Part<'a>> {
    let shifted = |expr: &'a Expr, wanted: &BinaryOperator, by: &str| {
        let Expr::BinaryOp { left, op, right } = without_parentheses(expr) else { return None };
        if op != wanted || number_of(right).as_deref() != Some(by) {
            return None;
        }
        let month = part(writer, left).filter(|part| part.unit == Unit::Month && !part.is_period)?;
        Some(month.subject)
    };
    let of = |subject| Some(Part { subject, unit: Unit::Quarter, is_period: false });
    match (op, number_of(right).as_deref()) {
        (BinaryOperator::Divide, Some("3")) => of(shifted(left, &BinaryOperator::Plus, "2")?),
        (BinaryOperator::Plus, Some("1")) => match without_parentheses(left) {
            Expr::BinaryOp { left, op: BinaryOperator::Divide, right } if number_of(right).as_deref() == Some("3") => {
                of(shifted(left, &BinaryOperator::Minus, "1")?)
            }
            _ => None,
        },
        _ => None,
    }
}

fn is_literal_day(expr: &Expr) -> bool {
    text_of(expr).is_some()
}

/// Returns whether a column contains dates or times.
fn is_date(writer: &Writer<'_>, expr: &Expr) -> bool {
    use prospector_connect::table::ColumnType as T;
    let column = writer.names.column(expr).and_then(|used| used.column.column);
    column.is_some_and(|column| matches!(column.column_type, T::Date | T::Timestamp | T::DateText))
}

/// Returns whether a column contains days without a time.
fn holds_days(writer: &Writer<'_>, expr: &Expr) -> bool {
    writer.names.column(expr).and_then(|used| used.column.column).is_some_and(|column| column.holds_days())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_periods_of_a_calendar() {
        let check = |from: &str, to: &str, expected: Option<&str>| {
            let name = name(parse_day(from).unwrap(), parse_day(to).unwrap());
            assert_eq!(name.as_deref(), expected, "{from} {to}");
        };
        check("2025-01-01", "2026-01-01", Some("in 2025"));
        check("2023-01-01", "2026-01-01", Some("in 2023 to 2025"));
        check("2025-04-01", "2025-07-01", Some("in Q2 2025"));
        check("2025-12-01", "2026-01-01", Some("in December 2025"));
        check("2025-07-01", "2026-01-01", Some("in July to December 2025"));
        check("2024-11-01", "2025-03-01", Some("in November 2024 to February 2025"));
        check("2025-02-28", "2025-03-01", Some("on 2025-02-28"));
        check("2025-01-01 00:00:00", "2025-02-01T00:00", Some("in January 2025"));
        check("2025-01-02", "2025-02-01", None);
        check("2025-02-01", "2025-01-01", None);
        check("2025-01-01", "2025-01-01", None);
    }
}

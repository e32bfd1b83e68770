//! Parsing of dates and timestamps in files.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

/// The order of day and month if the year is not first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum DayOrder {
    DayFirst,
    MonthFirst,
}

/// A parsed date, with an optional time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    /// Days since 1970 if the year is first; the other two fields are empty in this case.
    pub(super) year_first: Option<i64>,
    pub(super) day_first: Option<i64>,
    pub(super) month_first: Option<i64>,
    pub(super) time: Option<Time>,
    /// Whether its parts are separated by dots.
    pub(super) is_dotted: bool,
    /// Whether it is in ISO 8601 format.
    pub(super) is_iso: bool,
}

/// A time of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Time {
    /// Nanoseconds since midnight, in UTC if a zone is given.
    pub(super) nanos: i64,
    /// The number of fractional digits of the seconds.
    pub(super) fraction: u8,
}

const SECOND: i64 = 1_000_000_000;

/// Nanoseconds per day.
pub(super) const DAY: i64 = 86_400 * SECOND;

impl Written {
    /// Returns the days since 1970, in this order unless the year is first.
    pub(super) fn day(&self, order: Option<DayOrder>) -> Option<i64> {
        self.year_first.or(match order {
            None => None,
            Some(DayOrder::DayFirst) => self.day_first,
            Some(DayOrder::MonthFirst) => self.month_first,
        })
    }
}

/// Parses a trimmed cell as a date.
pub(super) fn parse(cell: &str) -> Option<Written> {
    let bytes = cell.as_bytes();
    if !(6..=40).contains(&bytes.len()) || !bytes[0].is_ascii_digit() {
        return None;
    }
    if let [_, _, _, _, b'-', _, _, b'-', _, _] = bytes {
        let year_first = iso_day(bytes)?;
        let plain = Written {
            year_first: Some(year_first),
            day_first: None,
            month_first: None,
            time: None,
            is_dotted: false,
            is_iso: true,
        };
        return Some(plain);
    }
    let mut rest = bytes;
    let first = digits(&mut rest, 4)?;
    let mark = take(&mut rest, |byte| matches!(byte, b'-' | b'/' | b'.'))?;
    let second = digits(&mut rest, 2)?;
    take(&mut rest, |byte| byte == mark)?;
    let third = digits(&mut rest, 4)?;
    let mut written = Written {
        year_first: None,
        day_first: None,
        month_first: None,
        time: None,
        is_dotted: mark == b'.',
        is_iso: mark == b'-' && (first.1, second.1, third.1) == (4, 2, 2),
    };
    match (first.1, third.1) {
        (4, 1 | 2) => written.year_first = Some(days(first.0, second.0, third.0)?),
        (1 | 2, 4 | 2) if third.1 == 4 || mark != b'-' => {
            // Two-digit years are 1970 to 2069.
            let year = if third.1 == 4 { third.0 } else { third.0 + if third.0 < 70 { 2000 } else { 1900 } };
            written.day_first = days(year, second.0, first.0);
            written.month_first = days(year, first.0, second.0);
            written.day_first.or(written.month_first)?;
        }
        _ => return None,
    }
    if !rest.is_empty() {
        let (time, is_iso) = time(rest)?;
        written.time = Some(time);
        written.is_iso &= is_iso;
    }
    Some(written)
}

/// Parses `2025-03-31` to days since 1970.
fn iso_day(bytes: &[u8]) -> Option<i64> {
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))
    };
    days(number(&bytes[..4])?, number(&bytes[5..7])?, number(&bytes[8..])?)
}

/// Parses a number of at most `most` digits; returns its value and number of digits.
fn digits(rest: &mut &[u8], most: usize) -> Option<(i64, usize)> {
    let count = rest.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    let (number, after) = rest.split_at(count);
    *rest = after;
    let value = number.iter().fold(0, |value, byte| value * 10 + i64::from(byte - b'0'));
    (count > 0).then_some((value, count))
}

fn take(rest: &mut &[u8], is_wanted: impl Fn(u8) -> bool) -> Option<u8> {
    let (first, after) = rest.split_first()?;
    is_wanted(*first).then(|| *rest = after)?;
    Some(*first)
}

/// Returns the days since 1970 of an existing day of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let (month, day) = (u32::try_from(month).ok()?, u32::try_from(day).ok()?);
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    (year > 0).then(|| date.to_epoch_days().into())
}

/// Parses the time after a date and whether it is in ISO 8601 format: `T10:15`, ` 10:15:30.5`, `, 3:15 PM`, each with an
/// optional zone.
fn time(mut rest: &[u8]) -> Option<(Time, bool)> {
    take(&mut rest, |byte| matches!(byte, b'T' | b' ' | b','))?;
    rest = rest.trim_ascii_start();
    let (mut hour, hour_digits) = digits(&mut rest, 2)?;
    take(&mut rest, |byte| byte == b':')?;
    let (minute, 2) = digits(&mut rest, 2)? else { return None };
    let (mut second, mut nanos, mut fraction) = (0, 0, 0);
    let has_second = take(&mut rest, |byte| byte == b':').is_some();
    if has_second {
        let (value, 2) = digits(&mut rest, 2)? else { return None };
        second = value;
        if take(&mut rest, |byte| matches!(byte, b'.' | b',')).is_some() {
            let (value, count) = digits(&mut rest, 9)?;
            fraction = count as u8;
            nanos = value * 10_i64.pow(9 - count as u32);
        }
    }
    let mut is_iso = hour_digits == 2 && has_second;
    let half = rest.trim_ascii_start();
    if let Some((half, after)) = half.split_at_checked(2).filter(|(half, _)| half[1].eq_ignore_ascii_case(&b'm')) {
        let is_afternoon = match half[0].to_ascii_lowercase() {
            b'a' => false,
            b'p' => true,
            _ => return None,
        };
        if !(1..=12).contains(&hour) {
            return None;
        }
        hour = hour % 12 + if is_afternoon { 12 } else { 0 };
        (rest, is_iso) = (after, false);
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let zone = zone(rest.trim_ascii_start())?;
    let nanos = (hour * 3600 + (minute - zone) * 60 + second) * SECOND + nanos;
    Some((Time { nanos, fraction }, is_iso))
}

/// Parses the offset of a zone from UTC in minutes; `None` if it is not a zone.
fn zone(mut rest: &[u8]) -> Option<i64> {
    let sign = match rest {
        b"" | b"Z" | b"z" | b"UTC" | b"GMT" => return Some(0),
        [b'+', ..] => 1,
        [b'-', ..] => -1,
        _ => return None,
    };
    rest = &rest[1..];
    let (hours, 2) = digits(&mut rest, 2)? else { return None };
    let minutes = match rest {
        b"" => 0,
        _ => {
            take(&mut rest, |byte| byte == b':');
            let (minutes, 2) = digits(&mut rest, 2)? else { return None };
            minutes
        }
    };
    (rest.is_empty() && hours <= 14 && minutes <= 59).then_some(sign * (hours * 60 + minutes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the day of a date in each order, or its timestamp in seconds.
    fn check(cell: &str, day_first: Option<i64>, month_first: Option<i64>) {
        let written = parse(cell);
        let read = |order| {
            let written = written?;
            let seconds = written.time.map_or(0, |time| time.nanos / SECOND);
            Some(written.day(Some(order))? * 86_400 + seconds)
        };
        let found = (read(DayOrder::DayFirst), read(DayOrder::MonthFirst));
        assert_eq!(found, (day_first, month_first), "{cell}");
    }

    fn check_both(cell: &str, seconds: i64) {
        check(cell, Some(seconds), Some(seconds));
    }

    const MARCH_1: i64 = 1_740_787_200;

    #[test]
    fn reads_days_in_every_order() {
        check_both("2025-03-01", MARCH_1);
        check_both("2025/3/1", MARCH_1);
        check_both("2025.03.01", MARCH_1);
        check_both("1970-01-01", 0);
        check_both("2000-02-29", 951_782_400);
        check("01.03.2025", Some(MARCH_1), Some(1_735_862_400));
        check("3/1/2025", Some(1_735_862_400), Some(MARCH_1));
        check("25/03/2025", Some(MARCH_1 + 24 * 86_400), None);
        check("3/25/25", None, Some(MARCH_1 + 24 * 86_400));
        assert_eq!(parse("2025-03-01").unwrap().day(None), Some(MARCH_1 / 86_400));
        for none in ["2025-02-29", "2025-13-01", "31/31/2025", "0000-00-00", "1.2.3", "10.12", "01-02-25", "2025-03/01"]
        {
            check(none, None, None);
        }
    }

    #[test]
    fn reads_times_and_zones() {
        check_both("2025-03-01T10:15:30", MARCH_1 + 36_930);
        check_both("2025-03-01 10:15", MARCH_1 + 36_900);
        check_both("2025-03-01T10:15:30.250Z", MARCH_1 + 36_930);
        check_both("2025-03-01T10:15:30+02:00", MARCH_1 + 29_730);
        check_both("2025-03-01 00:15 -0330", MARCH_1 + 13_500);
        check("3/1/2025 3:15 PM", Some(1_735_862_400 + 54_900), Some(MARCH_1 + 54_900));
        check("3/1/2025, 12:05:00 am", Some(1_735_862_400 + 300), Some(MARCH_1 + 300));
        for none in
            ["2025-03-01T25:00", "2025-03-01 10:1", "2025-03-01 13:00 PM", "2025-03-01 x", "2025-03-01 10:15 CET"]
        {
            check(none, None, None);
        }
        assert!(parse("2025-03-01T10:15:30.5").unwrap().is_iso);
        assert!(!parse("2025-03-01 9:15:30").unwrap().is_iso);
    }
}

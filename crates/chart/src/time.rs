//! Periods in results: years, quarters, months, weeks, days and timestamps.

use chrono::{Datelike, NaiveDate, NaiveDateTime, Weekday};

/// The granularity of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grain {
    Moment,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

/// A parsed period.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    pub(crate) grain: Grain,
    /// Its start, in days since 1970.
    pub(crate) day: f64,
}

impl Span {
    /// Returns its number among periods of its granularity; `None` for timestamps.
    pub(crate) fn index(&self) -> Option<i64> {
        let date = date_of(self.day)?;
        let (year, month) = (i64::from(date.year()), i64::from(date.month0()));
        Some(match self.grain {
            Grain::Moment => return None,
            Grain::Day => self.day as i64,
            Grain::Week => (self.day as i64 + 3).div_euclid(7),
            Grain::Month => year * 12 + month,
            Grain::Quarter => year * 4 + month / 3,
            Grain::Year => year,
        })
    }
}

/// Returns the date of a day since 1970.
pub(crate) fn date_of(day: f64) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(1970, 1, 1)?.checked_add_signed(chrono::Duration::try_days(day.floor() as i64)?)
}

fn days(date: NaiveDate) -> f64 {
    NaiveDate::from_ymd_opt(1970, 1, 1).map_or(0.0, |first| date.signed_duration_since(first).num_days() as f64)
}

/// Parses a period.
pub(crate) fn read(text: &str) -> Option<Span> {
    let text = text.trim();
    if text.len() > 40 || !text.is_ascii() || text.len() < 4 {
        return None;
    }
    let of = |grain, date: Option<NaiveDate>| date.map(|date| Span { grain, day: days(date) });
    let number =
        |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<u32>().ok()).flatten();
    let year =
        |part: &str| (part.len() == 4).then(|| number(part)).flatten().filter(|year| (1000..3000).contains(year));
    if let Some(year) = year(text) {
        return of(Grain::Year, NaiveDate::from_ymd_opt(year as i32, 1, 1));
    }
    if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return of(Grain::Day, Some(date));
    }
    let (head, tail) = text.split_at(4);
    if let (Some(year), Some(rest)) = (year(head), tail.strip_prefix(['-', '/', ' ', '.']).or(Some(tail))) {
        let year = year as i32;
        if let Some(quarter) = rest.strip_prefix(['Q', 'q']).and_then(number).filter(|one| (1..=4).contains(one)) {
            return of(Grain::Quarter, NaiveDate::from_ymd_opt(year, quarter * 3 - 2, 1));
        }
        if let Some(week) = rest.strip_prefix(['W', 'w']).and_then(number) {
            return of(Grain::Week, NaiveDate::from_isoywd_opt(year, week, Weekday::Mon));
        }
        if rest.len() == 2
            && tail.len() == 3
            && let Some(month) = number(rest)
        {
            return of(Grain::Month, NaiveDate::from_ymd_opt(year, month, 1));
        }
    }
    if let Some(rest) = text.strip_prefix(['Q', 'q'])
        && let Some((quarter, rest)) = rest.split_once([' ', '-', '/'])
        && let (Some(quarter @ 1..=4), Some(year)) = (number(quarter), year(rest))
    {
        return of(Grain::Quarter, NaiveDate::from_ymd_opt(year as i32, quarter * 3 - 2, 1));
    }
    moment(text)
}

/// Parses a date with a time; whether midnight means a day is decided from all values.
fn moment(text: &str) -> Option<Span> {
    let plain = text.get(..19)?;
    let read = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"];
    let at = read.iter().find_map(|form| NaiveDateTime::parse_from_str(plain, form).ok())?;
    let seconds = at.and_utc().timestamp();
    Some(Span { grain: Grain::Moment, day: seconds as f64 / 86_400.0 })
}

/// Returns the common granularity: timestamps that are all at midnight are days, and days that are all the first of a
/// month are months.
pub(crate) fn settle(spans: &mut [Span]) -> Option<Grain> {
    let first = spans.first()?.grain;
    if spans.iter().any(|span| span.grain != first) {
        return None;
    }
    let is_date = |span: &Span| span.day.fract() == 0.0;
    let mut grain = first;
    if grain == Grain::Moment && spans.iter().all(is_date) {
        grain = Grain::Day;
    }
    let on_first = |span: &Span| date_of(span.day).is_some_and(|date| date.day() == 1);
    if grain == Grain::Day && spans.len() > 2 && spans.iter().all(on_first) {
        grain = Grain::Month;
    }
    spans.iter_mut().for_each(|span| span.grain = grain);
    Some(grain)
}

/// Formats a period for an axis.
pub(crate) fn label(grain: Grain, day: f64) -> String {
    let Some(date) = date_of(day) else { return String::new() };
    match grain {
        Grain::Year => date.format("%Y").to_string(),
        Grain::Quarter => format!("{}-Q{}", date.year(), date.month0() / 3 + 1),
        Grain::Month => date.format("%b %Y").to_string(),
        Grain::Week => date.format("%G-W%V").to_string(),
        Grain::Day => date.format("%-d %b %Y").to_string(),
        Grain::Moment => {
            let minutes = (day.fract() * 1_440.0).round() as i64;
            format!("{} {:02}:{:02}", date.format("%-d %b"), minutes / 60, minutes % 60)
        }
    }
}

/// Returns the start day of the period with this number.
pub(crate) fn day_of(grain: Grain, index: i64) -> Option<f64> {
    let year = |year: i64| i32::try_from(year).ok();
    Some(match grain {
        Grain::Moment => return None,
        Grain::Day => index as f64,
        Grain::Week => (index * 7 - 3) as f64,
        Grain::Month => days(NaiveDate::from_ymd_opt(year(index.div_euclid(12))?, index.rem_euclid(12) as u32 + 1, 1)?),
        Grain::Quarter => {
            days(NaiveDate::from_ymd_opt(year(index.div_euclid(4))?, index.rem_euclid(4) as u32 * 3 + 1, 1)?)
        }
        Grain::Year => days(NaiveDate::from_ymd_opt(year(index)?, 1, 1)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(Grain, &str)>) {
        let found = read(text).map(|span| (span.grain, label(span.grain, span.day)));
        assert_eq!(found, expected.map(|(grain, label)| (grain, label.to_owned())), "{text}");
        if let Some(span) = read(text)
            && let Some(index) = span.index()
        {
            assert_eq!(day_of(span.grain, index), Some(span.day), "{text}");
        }
    }

    #[test]
    fn parses_periods() {
        check("2025", Some((Grain::Year, "2025")));
        check("2025-Q3", Some((Grain::Quarter, "2025-Q3")));
        check("Q3 2025", Some((Grain::Quarter, "2025-Q3")));
        check("2025-07", Some((Grain::Month, "Jul 2025")));
        check("2025-W07", Some((Grain::Week, "2025-W07")));
        check("2025-07-09", Some((Grain::Day, "9 Jul 2025")));
        check("2025-07-09T18:30:00Z", Some((Grain::Moment, "9 Jul 18:30")));
        for text in
            ["", "20255", "2025-13", "2025-02-30", "1,234", "Q5 2025", "PT", "2025-Q", "99999999999999999999", "é025"]
        {
            check(text, None);
        }
    }
}

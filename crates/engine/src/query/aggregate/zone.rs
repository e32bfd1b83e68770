//! Time zones: the instant at which a day starts in one zone, and the local time of another zone at that instant. Instants are
//! in UTC.
//!
//! Ambiguous local times, when clocks are set back, are read as the second occurrence; skipped ones with the offset before the
//! change. This follows PostgreSQL, <https://www.postgresql.org/docs/current/datetime-invalid-input.html>.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, Offset as _, TimeDelta, TimeZone as _, Utc};
use chrono_tz::{TZ_VARIANTS, Tz};

/// No zone changes its offset twice within this time.
const STEP: TimeDelta = TimeDelta::hours(6);

/// Local times of two zones differ by less than this.
const SLACK: TimeDelta = TimeDelta::days(2);

/// The maximum range in which offset changes are searched.
const MAX_DAYS: i64 = 366 * 20;

/// A time zone of the IANA database. Its changes are known until the year 2100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeZone(Tz);

/// A change of the UTC offset of a zone.
struct Change {
    at: NaiveDateTime,
    /// The UTC offset after the change.
    ahead: TimeDelta,
}

/// An offset in seconds that applies from a stored time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shift {
    pub(super) from: NaiveDateTime,
    pub(super) seconds: i64,
}

impl TimeZone {
    /// Coordinated Universal Time.
    pub const UTC: TimeZone = TimeZone(Tz::UTC);

    /// Returns the zone of a name such as `Europe/Berlin`, ignoring case.
    pub fn find(name: &str) -> Option<Self> {
        let name = name.trim();
        let found = TZ_VARIANTS.iter().find(|zone| zone.name().eq_ignore_ascii_case(name))?;
        Some(TimeZone(match found {
            // Aliases of UTC.
            Tz::Etc__UTC | Tz::Etc__UCT | Tz::Etc__Universal | Tz::Etc__Zulu | Tz::UCT | Tz::Universal | Tz::Zulu => {
                Tz::UTC
            }
            Tz::GMT | Tz::Etc__GMT | Tz::Etc__Greenwich | Tz::Greenwich => Tz::UTC,
            other => *other,
        }))
    }

    /// Returns the names of all zones.
    pub fn list_names() -> impl Iterator<Item = &'static str> + Clone {
        TZ_VARIANTS.iter().map(|zone| zone.name())
    }

    /// Returns the name of the zone.
    pub fn as_str(self) -> &'static str {
        self.0.name()
    }

    /// Returns the current day in the zone.
    pub fn today(self) -> NaiveDate {
        Utc::now().with_timezone(&self.0).date_naive()
    }

    /// Returns the UTC offset at an instant.
    fn ahead(self, moment: NaiveDateTime) -> TimeDelta {
        TimeDelta::seconds(i64::from(self.0.offset_from_utc_datetime(&moment).fix().local_minus_utc()))
    }

    /// Returns the offset changes between two instants.
    fn changes(self, from: NaiveDateTime, until: NaiveDateTime) -> Vec<Change> {
        let mut changes = Vec::new();
        let (mut at, mut before) = (from, self.ahead(from));
        while at < until {
            let next = (at + STEP).min(until);
            let ahead = self.ahead(next);
            if ahead != before {
                let (mut low, mut high) = (at, next);
                while (high - low).num_seconds() > 1 {
                    let middle = low + TimeDelta::seconds((high - low).num_seconds() / 2);
                    if self.ahead(middle) == before { low = middle } else { high = middle }
                }
                changes.push(Change { at: high, ahead });
            }
            (at, before) = (next, ahead);
        }
        changes
    }

    /// Returns the first instant at which the local time is `time` or later.
    fn begin(self, time: NaiveDateTime) -> NaiveDateTime {
        let (from, until) = (time - SLACK, time + SLACK);
        let (mut earliest, mut ahead) = (from, self.ahead(from));
        for change in self.changes(from, until) {
            if time - ahead < change.at {
                break;
            }
            (earliest, ahead) = (change.at, change.ahead);
        }
        earliest.max(time - ahead)
    }

    /// Returns the local time at an instant. If it occurs again later, returns the end of the repeated interval: stored times
    /// from there on are read as this instant or a later one.
    fn show(self, moment: NaiveDateTime) -> NaiveDateTime {
        let shown = moment + self.ahead(moment);
        let next = self.changes(moment, moment + SLACK).into_iter().next().map(|change| change.at + change.ahead);
        next.map_or(shown, |again| shown.min(again))
    }

    /// Returns the instant of a local time.
    fn read(self, time: NaiveDateTime) -> NaiveDateTime {
        let (from, until) = (time - SLACK, time + SLACK);
        let changes = self.changes(from, until);
        let last = changes.iter().rev().find(|change| change.at + change.ahead <= time);
        time - last.map_or_else(|| self.ahead(from), |change| change.ahead)
    }

    /// Returns the start of a day of this zone, as a local time of the stored zone.
    pub(super) fn begin_day(self, day: NaiveDate, stored: TimeZone) -> NaiveDateTime {
        stored.show(self.begin(day.and_time(NaiveTime::MIN)))
    }

    /// Returns the offsets to add to times stored in another zone, between the starts of two days of this zone; `None` for too
    /// many days, or more changes than `most`.
    pub(super) fn list_shifts(
        self,
        stored: TimeZone,
        (from, until): (NaiveDate, NaiveDate),
        most: usize,
    ) -> Option<Vec<Shift>> {
        if (until - from).num_days() > MAX_DAYS {
            return None;
        }
        let (first, last) = (self.begin_day(from, stored), self.begin_day(until, stored));
        let (since, to) = (first - SLACK, last + SLACK);
        let own = self.changes(since, to).into_iter().map(|change| stored.show(change.at));
        let others = stored.changes(since, to).into_iter().map(|change| change.at + change.ahead);
        let mut starts: Vec<NaiveDateTime> = own.chain(others).filter(|at| first < *at && *at < last).collect();
        starts.push(first);
        starts.sort_unstable();
        let mut shifts: Vec<Shift> = Vec::new();
        for from in starts {
            let moment = stored.read(from);
            let seconds = (moment + self.ahead(moment) - from).num_seconds();
            if shifts.last().is_none_or(|last| last.seconds != seconds) {
                shifts.push(Shift { from, seconds });
            }
        }
        (shifts.len() <= most + 1).then_some(shifts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str) -> TimeZone {
        TimeZone::find(name).unwrap()
    }

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn check(name: &str, stored: &str, at: &str, expected: &str) {
        assert_eq!(zone(name).begin_day(day(at), zone(stored)).to_string(), expected, "{at} of {name} in {stored}");
    }

    #[test]
    fn finds_a_zone_by_name() {
        assert_eq!(TimeZone::find(" europe/berlin ").map(TimeZone::as_str), Some("Europe/Berlin"));
        assert_eq!(TimeZone::find("Etc/UTC"), Some(TimeZone::UTC));
        assert_eq!(TimeZone::find("GMT"), Some(TimeZone::UTC));
        assert_eq!(TimeZone::find("Europe/Berln"), None);
        assert!(TimeZone::list_names().any(|name| name == "America/New_York"));
    }

    #[test]
    fn day_starts_at_local_midnight() {
        check("Europe/Berlin", "UTC", "2025-01-01", "2024-12-31 23:00:00");
        check("Europe/Berlin", "UTC", "2025-03-30", "2025-03-29 23:00:00");
        check("Europe/Berlin", "UTC", "2025-03-31", "2025-03-30 22:00:00");
        check("Europe/Berlin", "UTC", "2025-10-27", "2025-10-26 23:00:00");
        check("America/New_York", "UTC", "2025-03-09", "2025-03-09 05:00:00");
        check("America/New_York", "UTC", "2025-03-10", "2025-03-10 04:00:00");
        check("Asia/Kolkata", "UTC", "2025-01-01", "2024-12-31 18:30:00");
        check("UTC", "Europe/Berlin", "2025-07-01", "2025-07-01 02:00:00");
        check("America/New_York", "Europe/Berlin", "2025-03-20", "2025-03-20 05:00:00");
        check("America/New_York", "Europe/Berlin", "2025-04-20", "2025-04-20 06:00:00");
    }

    #[test]
    fn day_with_skipped_or_repeated_midnight_starts_once() {
        // Midnight was skipped: clocks moved to one o'clock.
        check("America/Sao_Paulo", "UTC", "2018-11-04", "2018-11-04 03:00:00");
        check("America/Sao_Paulo", "UTC", "2018-11-05", "2018-11-05 02:00:00");
        // At midnight, clocks moved back to eleven.
        check("America/Sao_Paulo", "UTC", "2018-02-18", "2018-02-18 03:00:00");
        // At one o'clock, clocks moved back to midnight.
        check("America/Havana", "UTC", "2025-11-02", "2025-11-02 04:00:00");
    }

    #[test]
    fn reads_ambiguous_local_time_as_the_second() {
        // The local time from 01:00 to 02:00 in New York occurred from 5:00 to 6:00 UTC and from 6:00 to 7:00 UTC.
        let york = zone("America/New_York");
        let at = |text: &str| NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").unwrap();
        assert_eq!(york.read(at("2025-11-02 00:59")), at("2025-11-02 04:59"));
        assert_eq!(york.read(at("2025-11-02 01:00")), at("2025-11-02 06:00"));
        assert_eq!(york.read(at("2025-11-02 02:00")), at("2025-11-02 07:00"));
        assert_eq!(york.show(at("2025-11-02 05:30")), at("2025-11-02 01:00"));
        assert_eq!(york.show(at("2025-11-02 06:30")), at("2025-11-02 01:30"));
        // 02:30 was skipped on 9 March.
        assert_eq!(york.read(at("2025-03-09 02:30")), at("2025-03-09 07:30"));
        assert_eq!(york.read(at("2025-03-09 03:00")), at("2025-03-09 07:00"));
        assert_eq!(york.show(at("2025-03-09 07:00")), at("2025-03-09 03:00"));
    }

    #[test]
    fn offsets_change_with_either_zone() {
        let list = |name: &str, stored: &str, from: &str, until: &str| {
            let shifts = zone(name).list_shifts(zone(stored), (day(from), day(until)), 8);
            shifts.map(|all| all.iter().map(|one| format!("{} {}", one.from, one.seconds)).collect::<Vec<_>>())
        };
        assert_eq!(list("Asia/Kolkata", "UTC", "2020-01-01", "2025-01-01").unwrap(), ["2019-12-31 18:30:00 19800"]);
        assert_eq!(
            list("Europe/Berlin", "UTC", "2025-01-01", "2026-01-01").unwrap(),
            ["2024-12-31 23:00:00 3600", "2025-03-30 01:00:00 7200", "2025-10-26 01:00:00 3600"]
        );
        assert_eq!(
            list("Europe/Berlin", "America/New_York", "2025-03-01", "2025-04-01").unwrap(),
            ["2025-02-28 18:00:00 21600", "2025-03-09 03:00:00 18000", "2025-03-29 21:00:00 21600"]
        );
        assert_eq!(list("Europe/Berlin", "UTC", "2015-01-01", "2025-01-01"), None);
        assert_eq!(list("Europe/Berlin", "UTC", "0001-01-01", "9998-01-01"), None);
    }
}

//! Conversion of times to the zone of the periods, in SQL: PostgreSQL, BigQuery and, for times in UTC, DataFusion have
//! conversion functions. SQLite has no time zones, and MariaDB returns NULL if its zone tables are not loaded: there, the UTC
//! offset is written out for each interval between two changes of offset.

use chrono::{NaiveDate, NaiveDateTime, TimeDelta};

use super::zone::{Shift, TimeZone};
use crate::Dialect;

/// The maximum number of offset changes in a statement: its length is limited, and a fiscal quarter contains its time six
/// times.
const MAX_CHANGES: usize = 12;

/// How times are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As instants, in a type with a zone.
    Moment,
    /// As local times.
    Clock,
    /// As local times, in texts.
    Text,
}

/// How and in which zone the times of a column are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StoredTime {
    pub(super) form: Form,
    pub(super) zone: TimeZone,
}

/// Times that are shown in another zone than they are stored in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShownTime {
    pub(super) stored: StoredTime,
    /// The zone of the periods.
    pub(super) zone: TimeZone,
    pub(super) dialect: Dialect,
}

impl ShownTime {
    /// Renders the time in the zone as a timestamp without a zone. `None` if this is only possible between two days, and
    /// `between` is missing or spans too many offset changes.
    pub(super) fn write(&self, value: &str, between: Option<(NaiveDate, NaiveDate)>) -> Option<String> {
        let (zone, stored) = (self.zone.as_str(), self.stored.zone.as_str());
        let time = self.read(value);
        Some(match (self.dialect, self.stored.form) {
            (Dialect::Postgres, Form::Moment) => format!("timezone('{zone}', {time})"),
            (Dialect::Postgres, Form::Clock | Form::Text) => {
                format!("timezone('{zone}', timezone('{stored}', {time}))")
            }
            (Dialect::Bigquery, Form::Moment) => format!("DATETIME({time}, '{zone}')"),
            (Dialect::Bigquery, Form::Clock | Form::Text) => {
                format!("DATETIME(TIMESTAMP({time}, '{stored}'), '{zone}')")
            }
            (Dialect::Joined, _) if self.stored.zone == TimeZone::UTC => {
                let in_zone =
                    |time: &str, zone: &str| format!("arrow_cast({time}, 'Timestamp(Microsecond, Some(\"{zone}\"))')");
                format!("to_local_time({})", in_zone(&in_zone(value, stored), zone))
            }
            (Dialect::Sqlite | Dialect::Mysql | Dialect::Joined, _) => {
                let shifts = self.zone.list_shifts(self.stored.zone, between?, MAX_CHANGES)?;
                let shift = self.write_shifts(&time, &shifts);
                match self.dialect {
                    Dialect::Sqlite => format!("datetime({time}, {shift})"),
                    Dialect::Mysql => format!("DATE_ADD({time}, INTERVAL {shift} SECOND)"),
                    Dialect::Postgres | Dialect::Bigquery | Dialect::Joined => format!("({time} + {shift})"),
                }
            }
        })
    }

    /// Renders the conditions that times lie between the starts of two days of the zone. They compare stored times with
    /// constants, so that an index can be used.
    pub(super) fn write_between(&self, value: &str, from: Option<NaiveDate>, until: Option<NaiveDate>) -> Vec<String> {
        let bound = |day: NaiveDate| self.zone.begin_day(day, self.stored.zone);
        let (from, until) = (from.map(bound), until.map(bound));
        let mut conditions = Vec::new();
        if self.dialect == Dialect::Sqlite {
            // Texts of days and times have several forms, and may contain an offset, but all start with the day.
            let day = |time: NaiveDateTime, days: i64| (time + TimeDelta::days(days)).date();
            conditions.extend(from.map(|from| format!("{value} >= '{}'", day(from, -2))));
            conditions.extend(until.map(|until| format!("{value} < '{}'", day(until, 3))));
        }
        let time = self.read(value);
        conditions.extend(from.map(|from| format!("{time} >= {}", self.write_constant(from))));
        conditions.extend(until.map(|until| format!("{time} < {}", self.write_constant(until))));
        conditions
    }

    /// Renders the time of a column as a comparable value.
    fn read(&self, value: &str) -> String {
        match (self.dialect, self.stored.form) {
            // SQLite does not parse every suffix after the seconds, such as `+00`; the suffix is dropped then.
            (Dialect::Sqlite, _) => format!("coalesce(datetime({value}), datetime(substr({value}, 1, 19)))"),
            (Dialect::Joined, _) => format!("arrow_cast({value}, 'Timestamp(Microsecond, None)')"),
            (_, Form::Moment | Form::Clock) => value.to_owned(),
            (Dialect::Postgres, Form::Text) => format!("CAST({value} AS timestamp)"),
            (Dialect::Mysql, Form::Text) => format!("CAST({value} AS DATETIME(6))"),
            (Dialect::Bigquery, Form::Text) => format!("CAST({value} AS DATETIME)"),
        }
    }

    /// Renders a constant in the stored form, for comparison.
    fn write_constant(&self, time: NaiveDateTime) -> String {
        match (self.dialect, self.stored.form) {
            (Dialect::Joined, _) => format!("arrow_cast('{time}', 'Timestamp(Microsecond, None)')"),
            // Independent of the zone of the session.
            (Dialect::Postgres | Dialect::Bigquery, Form::Moment) => format!("'{time}+00'"),
            _ => format!("'{time}'"),
        }
    }

    /// Renders the offset of a time as a binary search, so that each row is compared with few of many changes.
    fn write_shifts(&self, time: &str, shifts: &[Shift]) -> String {
        match shifts {
            [] => self.write_seconds(0),
            [only] => self.write_seconds(only.seconds),
            several => {
                let (before, after) = several.split_at(several.len() / 2);
                format!(
                    "CASE WHEN {time} < {} THEN {} ELSE {} END",
                    self.write_constant(after[0].from),
                    self.write_shifts(time, before),
                    self.write_shifts(time, after)
                )
            }
        }
    }

    fn write_seconds(&self, seconds: i64) -> String {
        match self.dialect {
            Dialect::Sqlite => format!("'{seconds:+} seconds'"),
            Dialect::Mysql => seconds.to_string(),
            Dialect::Postgres | Dialect::Bigquery | Dialect::Joined => format!("INTERVAL '{seconds} seconds'"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_berlin(dialect: Dialect, form: Form, stored: &str) -> ShownTime {
        let zone = |name: &str| TimeZone::find(name).unwrap();
        ShownTime { stored: StoredTime { form, zone: zone(stored) }, zone: zone("Europe/Berlin"), dialect }
    }

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn check(dialect: Dialect, form: Form, stored: &str, expected: &str) {
        let between = Some((day("2025-03-01"), day("2025-04-01")));
        let written = in_berlin(dialect, form, stored).write("t", between);
        assert_eq!(written.as_deref(), Some(expected), "{dialect:?}, {form:?}, {stored}");
    }

    #[test]
    fn converts_times_in_every_dialect() {
        check(Dialect::Postgres, Form::Moment, "UTC", "timezone('Europe/Berlin', t)");
        check(Dialect::Postgres, Form::Clock, "UTC", "timezone('Europe/Berlin', timezone('UTC', t))");
        check(Dialect::Bigquery, Form::Moment, "UTC", "DATETIME(t, 'Europe/Berlin')");
        check(
            Dialect::Joined,
            Form::Text,
            "UTC",
            "to_local_time(arrow_cast(arrow_cast(t, 'Timestamp(Microsecond, Some(\"UTC\"))'), \
             'Timestamp(Microsecond, Some(\"Europe/Berlin\"))'))",
        );
        check(
            Dialect::Sqlite,
            Form::Text,
            "UTC",
            "datetime(coalesce(datetime(t), datetime(substr(t, 1, 19))), CASE WHEN coalesce(datetime(t), \
             datetime(substr(t, 1, 19))) < '2025-03-30 01:00:00' THEN '+3600 seconds' ELSE '+7200 seconds' END)",
        );
        check(
            Dialect::Mysql,
            Form::Clock,
            "Asia/Tokyo",
            "DATE_ADD(t, INTERVAL CASE WHEN t < '2025-03-30 10:00:00' THEN -28800 ELSE -25200 END SECOND)",
        );
        check(
            Dialect::Joined,
            Form::Clock,
            "America/New_York",
            "(arrow_cast(t, 'Timestamp(Microsecond, None)') + CASE WHEN arrow_cast(t, 'Timestamp(Microsecond, None)') < \
             arrow_cast('2025-03-09 03:00:00', 'Timestamp(Microsecond, None)') THEN INTERVAL '21600 seconds' ELSE \
             CASE WHEN arrow_cast(t, 'Timestamp(Microsecond, None)') < \
             arrow_cast('2025-03-29 21:00:00', 'Timestamp(Microsecond, None)') THEN INTERVAL '18000 seconds' ELSE \
             INTERVAL '21600 seconds' END END)",
        );
    }

    #[test]
    fn written_out_offsets_need_a_limited_range() {
        let years = |from: &str, until: &str| Some((day(from), day(until)));
        for dialect in [Dialect::Sqlite, Dialect::Mysql] {
            let time = in_berlin(dialect, Form::Clock, "UTC");
            assert_eq!(time.write("t", None), None);
            assert!(time.write("t", years("2020-01-01", "2026-01-01")).is_some());
            assert_eq!(time.write("t", years("2010-01-01", "2026-01-01")), None);
        }
        assert!(in_berlin(Dialect::Joined, Form::Text, "UTC").write("t", None).is_some());
        assert_eq!(in_berlin(Dialect::Joined, Form::Text, "Asia/Tokyo").write("t", None), None);
    }

    #[test]
    fn compares_periods_with_stored_times() {
        let bounds = |dialect, form| {
            in_berlin(dialect, form, "UTC")
                .write_between("t", Some(day("2025-03-30")), Some(day("2025-03-31")))
                .join(" AND ")
        };
        assert_eq!(bounds(Dialect::Mysql, Form::Clock), "t >= '2025-03-29 23:00:00' AND t < '2025-03-30 22:00:00'");
        assert_eq!(
            bounds(Dialect::Postgres, Form::Moment),
            "t >= '2025-03-29 23:00:00+00' AND t < '2025-03-30 22:00:00+00'"
        );
        assert_eq!(
            bounds(Dialect::Sqlite, Form::Text),
            "t >= '2025-03-27' AND t < '2025-04-02' AND coalesce(datetime(t), datetime(substr(t, 1, 19))) >= \
             '2025-03-29 23:00:00' AND coalesce(datetime(t), datetime(substr(t, 1, 19))) < '2025-03-30 22:00:00'"
        );
    }
}

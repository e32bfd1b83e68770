//! The SQL of one part: a row for each group, with the dimensions, the period and the aggregates by their names.

use chrono::NaiveDate;
use prospector_connect::filter::{FilterCondition, FilterOp};
use serde_json::Value;

use super::clock::{Form, ShownTime};
use super::part::Part;
use super::period::{Days, Grain, find_hull, write_label, write_number};
use super::request::{AggregateQuery, OverTime, Span};
use super::scope::{Placed, PlacedValue, Scope};
use crate::build::{Class, Writer, invalid, write_joins};
use crate::{Dialect, Failure};

/// The periods of a statement are written in so many characters at most: what checks it takes 20,000, and half of them as words.
const MAX_LABEL_CHARS: usize = 6_000;

/// Writes the parts of one query.
pub(super) struct PartWriter<'a> {
    pub(super) writer: Writer,
    pub(super) scope: &'a Scope<'a>,
    pub(super) query: &'a AggregateQuery,
    /// All parts of it.
    pub(super) parts: &'a [Part],
    /// The days that count; any of the stretches of each.
    pub(super) days: &'a [Vec<Days>],
}

impl PartWriter<'_> {
    /// The query of a part.
    ///
    /// # Errors
    /// A value that does not fit its column, or a stretch of time that does not fit the grain.
    pub(super) fn write(&self, part: &Part) -> Result<String, Failure> {
        match (&part.over_time, self.query.grain) {
            (OverTime::Additive, _) => self.write_additive(part, &self.conditions(part, Times::All)?),
            (OverTime::Cumulative(Span::Whole), None) => {
                self.write_additive(part, &self.conditions(part, Times::Ends)?)
            }
            (OverTime::Cumulative(_), None) => {
                let name = &self.query.aggregates[part.aggregates[0].0].name;
                Err(invalid(format!("{name} reaches back from a period, and none is named"))
                    .advise("ask for it with a grain"))
            }
            (OverTime::Cumulative(span), Some(grain)) => self.write_cumulative(part, *span, grain),
            (OverTime::At { is_first, .. }, _) => self.write_at(part, *is_first),
        }
    }

    /// The names of what it is grouped by, in quotes.
    fn groups(&self) -> Vec<String> {
        let dimensions = self.query.dimensions.iter().map(|dimension| dimension.name.as_str());
        dimensions.chain(self.query.grain.map(Grain::as_str)).map(|name| self.writer.quote(name)).collect()
    }

    fn value(&self, placed: &Placed) -> Result<String, Failure> {
        self.scope.write(self.writer.dialect, placed)
    }

    fn class(&self, placed: &Placed) -> Class {
        self.scope.class(placed).unwrap_or(Class::Text)
    }

    fn time<'p>(&self, part: &'p Part) -> Result<&'p Placed, Failure> {
        part.time.as_ref().ok_or_else(|| invalid("a period is asked for of what has no time"))
    }

    /// The zone that times are stored in, and that they are shown in, where these are known and differ.
    fn shown_time(&self, placed: &Placed) -> Option<ShownTime> {
        let (zone, stored) = (self.query.time_zone?, self.scope.stored_time(placed)?);
        let shown = ShownTime { stored, zone, dialect: self.writer.dialect };
        (stored.form == Form::Moment || stored.zone != zone).then_some(shown)
    }

    /// The days that all times of a part lie between, where these are the times.
    fn find_days(&self, part: &Part, placed: &Placed) -> Option<(NaiveDate, NaiveDate)> {
        let is_of_time = part.time.as_ref() == Some(placed) && !matches!(part.over_time, OverTime::Cumulative(_));
        is_of_time.then(|| find_hull(self.days)).flatten()
    }

    /// Whether its dialect can tell all periods that are asked for, in a statement of a bearable length.
    pub(super) fn can_tell_periods(&self) -> bool {
        let mut chars = 0;
        self.parts.iter().all(|part| {
            let dimensions = part.dimensions.iter().zip(&self.query.dimensions);
            let dimensions = dimensions.filter_map(|(placed, asked)| Some((placed, asked.grain?)));
            let filters = part.filters.iter().zip(&self.query.filters);
            let filters = filters.filter_map(|((placed, _), asked)| Some((placed, asked.dimension.grain?)));
            let time = part.time.iter().filter_map(|placed| Some((placed, self.query.grain?)));
            dimensions.chain(filters).chain(time).all(|(placed, grain)| {
                let Some(shown) = self.shown_time(placed) else { return true };
                let Some(written) = shown.write("", self.find_days(part, placed)) else { return false };
                chars += write_label(&self.writer, self.query.fiscal_year, &written, Class::Date, grain).len();
                chars <= MAX_LABEL_CHARS
            })
        })
    }

    /// A time by the clocks that periods are of.
    fn by_clock(&self, part: &Part, placed: &Placed) -> Result<(String, Class), Failure> {
        let value = self.value(placed)?;
        let Some(shown) = self.shown_time(placed) else { return Ok((value, self.class(placed))) };
        let written = shown.write(&value, self.find_days(part, placed)).ok_or_else(|| {
            let (time, stored, zone) = (placed.text(), shown.stored.zone.as_str(), shown.zone.as_str());
            let message = format!("`{time}` is stored in {stored}, and its periods in {zone} can only be told of a few years");
            invalid(message).advise(
                "ask for a few years, such as `time between 2024 and 2025`; what reaches back further needs times in UTC",
            )
        })?;
        Ok((written, Class::Date))
    }

    /// The period that a time lies in.
    fn label(&self, part: &Part, placed: &Placed, grain: Grain) -> Result<String, Failure> {
        let (value, class) = self.by_clock(part, placed)?;
        Ok(write_label(&self.writer, self.query.fiscal_year, &value, class, grain))
    }

    /// What is grouped by, without the period.
    fn dimensions(&self, part: &Part) -> Result<Vec<String>, Failure> {
        let write = |(placed, asked): (&Placed, &super::GroupedDimension)| match asked.grain {
            Some(grain) => self.label(part, placed, grain),
            None => self.value(placed),
        };
        part.dimensions.iter().zip(&self.query.dimensions).map(write).collect()
    }

    /// What is grouped by.
    fn keys(&self, part: &Part) -> Result<Vec<String>, Failure> {
        let mut keys = self.dimensions(part)?;
        if let Some(grain) = self.query.grain {
            keys.push(self.label(part, self.time(part)?, grain)?);
        }
        Ok(keys)
    }

    fn from(&self, part: &Part) -> String {
        let relations = &self.scope.relations;
        let root = format!("FROM {} AS t{}", relations.write(part.root), part.root);
        root + &write_joins(&self.writer, relations, &part.tree) + &write_member_joins(self.writer.dialect, part)
    }

    fn aggregates(&self, part: &Part) -> Result<Vec<String>, Failure> {
        let write = |(at, value): &(usize, Option<Placed>)| {
            let asked = &self.query.aggregates[*at];
            let value = value.as_ref().map(|value| self.value(value)).transpose()?;
            let made = self.writer.aggregate(value.as_deref(), asked.aggregation)?;
            Ok(format!("{made} AS {}", self.writer.quote(&asked.name)))
        };
        part.aggregates.iter().map(write).collect()
    }

    fn write_additive(&self, part: &Part, conditions: &[String]) -> Result<String, Failure> {
        let keys = self.keys(part)?;
        let named = name_all(&keys, &self.groups());
        let list = [named, self.aggregates(part)?].concat();
        Ok(format!(
            "SELECT {}\n{}{}{}",
            list.join(", "),
            self.from(part),
            write_where(conditions),
            group_by(keys.len())
        ))
    }

    /// Of each period, the rows of its last or first time.
    fn write_at(&self, part: &Part, is_first: bool) -> Result<String, Failure> {
        let time = self.value(self.time(part)?)?;
        let (keys, groups) = (self.keys(part)?, self.groups());
        let mut own: Vec<String> = part.per.iter().map(|per| self.value(per)).collect::<Result<_, _>>()?;
        if let Some(grain) = self.query.grain {
            own.push(self.label(part, self.time(part)?, grain)?);
        }
        let within = if own.is_empty() { String::new() } else { format!("PARTITION BY {} ", own.join(", ")) };
        let direction = if is_first { "" } else { " DESC" };
        let mut list = name_all(&keys, &groups);
        let mut outer: Vec<String> = groups.iter().map(|name| format!("r.{name}")).collect();
        for (at, value) in &part.aggregates {
            let asked = &self.query.aggregates[*at];
            let name = self.writer.quote(&asked.name);
            let taken = match value {
                Some(value) => {
                    list.push(format!("{} AS {name}", self.value(value)?));
                    Some(format!("r.{name}"))
                }
                None => None,
            };
            outer.push(format!("{} AS {name}", self.writer.aggregate(taken.as_deref(), asked.aggregation)?));
        }
        list.push(format!("RANK() OVER ({within}ORDER BY {time}{direction}) AS place_in_time"));
        let mut conditions = self.conditions(part, Times::All)?;
        conditions.push(format!("{time} IS NOT NULL"));
        Ok(format!(
            "SELECT {}\nFROM (\nSELECT {}\n{}{}\n) AS r\nWHERE r.place_in_time = 1{}",
            outer.join(", "),
            list.join(", "),
            self.from(part),
            write_where(&conditions),
            group_by(keys.len())
        ))
    }

    /// Of each period in which there are rows, what has come together up to it.
    fn write_cumulative(&self, part: &Part, span: Span, grain: Grain) -> Result<String, Failure> {
        let reach = match span {
            Span::Whole => String::new(),
            Span::ToDate(whole) if whole.holds(grain) => " AND r.whole_key = s.whole_key".to_owned(),
            Span::Trailing(count, unit) if unit.count(grain).is_some() => {
                let step = if grain == Grain::Week { 7 } else { 1 };
                let back = u64::from(count) * u64::from(unit.count(grain).unwrap_or(1)) * step;
                format!(" AND r.place_key > s.place_key - {back}")
            }
            Span::ToDate(unit) | Span::Trailing(_, unit) => {
                let name = &self.query.aggregates[part.aggregates[0].0].name;
                return Err(invalid(format!("{name} is over {unit}s, which are not made up of {grain}s"))
                    .advise(format!("ask for it with the grain {unit}, or a finer one")));
            }
        };
        let dimensions = self.dimensions(part)?;
        let groups = self.groups();
        let names = &groups[..dimensions.len()];
        let mut list = name_all(&dimensions, names);
        list.extend(self.period_keys(part, span, grain)?);
        let mut outer: Vec<String> = names.iter().map(|name| format!("r.{name}")).collect();
        outer.push(format!("s.period_key AS {}", self.writer.quote(grain.as_str())));
        for (at, value) in &part.aggregates {
            let asked = &self.query.aggregates[*at];
            let name = self.writer.quote(&asked.name);
            let value = value.as_ref().map_or(Ok("1".to_owned()), |value| self.value(value))?;
            list.push(format!("{value} AS {name}"));
            outer.push(format!("{} AS {name}", self.writer.aggregate(Some(&format!("r.{name}")), asked.aggregation)?));
        }
        let mut rows = self.conditions(part, Times::Ends)?;
        rows.push(format!("{} IS NOT NULL", self.value(self.time(part)?)?));
        // What is beside it may have rows in other periods.
        let periods = |part: &Part| -> Result<String, Failure> {
            let keys = self.period_keys(part, span, grain)?.join(", ");
            let mut clauses = self.days_of(part, Times::All)?;
            clauses.push(format!("{} IS NOT NULL", self.value(self.time(part)?)?));
            Ok(format!("SELECT {keys}\n{}{}", self.from(part), write_where(&clauses)))
        };
        let mut periods: Vec<String> = self.parts.iter().map(periods).collect::<Result<_, _>>()?;
        periods.sort();
        periods.dedup();
        let periods = match periods.as_slice() {
            [only] => only.replacen("SELECT ", "SELECT DISTINCT ", 1),
            several => several.join("\nUNION\n"),
        };
        Ok(format!(
            "SELECT {}\nFROM (\n{periods}\n) AS s\nJOIN (\nSELECT {}\n{}{}\n) AS r ON r.period_key <= s.period_key{reach}{}",
            outer.join(", "),
            list.join(", "),
            self.from(part),
            write_where(&rows),
            group_by(names.len() + 1)
        ))
    }

    /// What tells periods apart, and how far one is from another.
    fn period_keys(&self, part: &Part, span: Span, grain: Grain) -> Result<Vec<String>, Failure> {
        let time = self.time(part)?;
        let mut keys = vec![format!("{} AS period_key", self.label(part, time, grain)?)];
        match span {
            Span::Whole => {}
            Span::ToDate(whole) => keys.push(format!("{} AS whole_key", self.label(part, time, whole)?)),
            Span::Trailing(..) => {
                let (time, class) = self.by_clock(part, time)?;
                keys.push(format!(
                    "{} AS place_key",
                    write_number(&self.writer, self.query.fiscal_year, &time, class, grain)
                ));
            }
        }
        Ok(keys)
    }

    fn conditions(&self, part: &Part, times: Times) -> Result<Vec<String>, Failure> {
        let mut clauses: Vec<String> =
            part.conditions.iter().map(|placed| self.value(placed)).collect::<Result<_, _>>()?;
        clauses.extend(part.segments.iter().map(|(home, segment)| segment.write_condition(self.writer.dialect, *home)));
        for ((placed, condition), asked) in part.filters.iter().zip(&self.query.filters) {
            let (value, class) = match asked.dimension.grain {
                Some(grain) => (self.label(part, placed, grain)?, Class::Text),
                None => (self.value(placed)?, self.scope.class(placed).unwrap_or_else(|| class_of(&condition.value))),
            };
            let named = FilterCondition { column: asked.dimension.name.clone(), ..condition.clone() };
            clauses.push(self.writer.clause(&value, class, &named)?);
        }
        clauses.extend(self.days_of(part, times)?);
        Ok(clauses)
    }

    /// The conditions on time.
    fn days_of(&self, part: &Part, times: Times) -> Result<Vec<String>, Failure> {
        if self.days.is_empty() {
            return Ok(Vec::new());
        }
        let time = self.time(part)?;
        let (shown, value, class) = (self.shown_time(time), self.value(time)?, self.class(time));
        let compare = |op: FilterOp, day: NaiveDate| {
            let condition = FilterCondition { column: String::new(), op, value: Value::String(day.to_string()) };
            self.writer.clause(&value, class, &condition)
        };
        let mut clauses = Vec::new();
        for any in self.days {
            let mut stretches = Vec::new();
            for days in any {
                let from = days.from.filter(|_| times == Times::All);
                let both: Vec<String> = match &shown {
                    Some(shown) => shown.write_between(&value, from, days.until),
                    None => {
                        let from = from.map(|day| compare(FilterOp::Gte, day)).transpose()?;
                        let until = days.until.map(|day| compare(FilterOp::Lt, day)).transpose()?;
                        from.into_iter().chain(until).collect()
                    }
                };
                stretches.push(both.join(" AND "));
            }
            match stretches.as_slice() {
                // A stretch without an end holds all.
                all if all.iter().any(String::is_empty) => {}
                [only] => clauses.push(only.clone()),
                several => clauses.push(format!("({})", several.join(" OR "))),
            }
        }
        Ok(clauses)
    }
}

/// Which conditions on time count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Times {
    All,
    /// Those that say where it ends.
    Ends,
}

/// What such a value is compared with, where nothing else tells.
pub(super) fn class_of(value: &Value) -> Class {
    match value {
        Value::Number(_) => Class::Number,
        Value::Bool(_) => Class::Boolean,
        Value::Array(values) if !values.is_empty() && values.iter().all(Value::is_number) => Class::Number,
        Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => Class::Text,
    }
}

fn name_all(values: &[String], names: &[String]) -> Vec<String> {
    values.iter().zip(names).map(|(value, name)| format!("{value} AS {name}")).collect()
}

pub(super) fn write_where(conditions: &[String]) -> String {
    if conditions.is_empty() { String::new() } else { format!("\nWHERE {}", conditions.join(" AND ")) }
}

fn group_by(count: usize) -> String {
    let places: Vec<String> = (1..=count).map(|at| at.to_string()).collect();
    if places.is_empty() { String::new() } else { format!("\nGROUP BY {}", places.join(", ")) }
}

/// The joins with the members of the sets that a part is grouped or filtered by.
fn write_member_joins(dialect: Dialect, part: &Part) -> String {
    let mut written: Vec<String> = Vec::new();
    for Placed { home, value } in part.dimensions.iter().chain(part.filters.iter().map(|(placed, _)| placed)) {
        if let PlacedValue::Member(membership) = value {
            let join = membership.write_join(dialect, *home);
            if !written.contains(&join) {
                written.push(join);
            }
        }
    }
    written.concat()
}

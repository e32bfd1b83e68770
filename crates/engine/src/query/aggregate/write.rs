//! The SQL of one part: a row for each group, with the dimensions, the period and the aggregates by their names.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use prospector_connect::filter::{FilterCondition, FilterOp};
use serde_json::Value;

use super::clock::{Form, ShownTime};
use super::part::Part;
use super::period::{Days, Grain, find_hull, write_label, write_number};
use super::request::{AggregateQuery, OverTime, Span};
use super::scope::{Placed, PlacedValue, Scope};
use crate::build::{Class, Writer, invalid, write_group_by, write_joins, write_where};
use crate::{Dialect, Failure};

/// The maximum length of rendered periods in characters: a statement may have 20,000, and few enough tokens.
const MAX_LABEL_CHARS: usize = 6_000;

/// Renders the parts of one query.
pub(super) struct PartWriter<'a> {
    pub(super) writer: Writer,
    pub(super) scope: &'a Scope<'a>,
    pub(super) query: &'a AggregateQuery,
    /// All parts of the query.
    pub(super) parts: &'a [Part],
    /// The days to include; for each condition, any of its ranges.
    pub(super) days: &'a [Vec<Days>],
}

impl PartWriter<'_> {
    /// Renders the query of a part.
    ///
    /// # Errors
    /// - If a value does not fit its column.
    /// - If a range of time does not fit the grain.
    pub(super) fn write(&self, part: &Part) -> Result<String, Failure> {
        match (&part.over_time, self.query.grain) {
            (OverTime::Additive, _) => self.write_additive(part, &self.conditions(part, Times::All)?),
            (OverTime::Cumulative(Span::Whole), None) => {
                self.write_additive(part, &self.conditions(part, Times::Ends)?)
            }
            (OverTime::Cumulative(_), None) => {
                let name = &self.query.aggregates[part.aggregates[0].0].name;
                Err(invalid(format!("{name} is cumulative and requires a period")).advise("specify a grain"))
            }
            (OverTime::Cumulative(span), Some(grain)) => self.write_cumulative(part, *span, grain),
            (OverTime::At { is_first, .. }, _) => self.write_at(part, *is_first),
        }
    }

    /// Returns the quoted names of the group keys.
    fn groups(&self) -> Vec<String> {
        self.query.groups().map(|name| self.writer.quote(name)).collect()
    }

    fn value(&self, placed: &Placed) -> Result<String, Failure> {
        self.scope.write(self.writer.dialect, placed)
    }

    fn class(&self, placed: &Placed) -> Class {
        self.scope.class(placed).unwrap_or(Class::Text)
    }

    fn time<'p>(&self, part: &'p Part) -> Result<&'p Placed, Failure> {
        part.time.as_ref().ok_or_else(|| invalid("a period requires a `time` column"))
    }

    /// Returns the conversion from the stored to the shown zone, if they are known and differ.
    fn shown_time(&self, placed: &Placed) -> Option<ShownTime> {
        let (zone, stored) = (self.query.time_zone?, self.scope.stored_time(placed)?);
        let shown = ShownTime { stored, zone, dialect: self.writer.dialect };
        (stored.form == Form::Moment || stored.zone != zone).then_some(shown)
    }

    /// Returns the range of days of the times of a part, if the value is its time.
    fn find_days(&self, part: &Part, placed: &Placed) -> Option<(NaiveDate, NaiveDate)> {
        let is_of_time = part.time.as_ref() == Some(placed) && !matches!(part.over_time, OverTime::Cumulative(_));
        is_of_time.then(|| find_hull(self.days)).flatten()
    }

    /// Returns whether the dialect can compute all requested periods within the length limit of a statement.
    pub(super) fn can_compute_periods(&self) -> bool {
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

    /// Renders a time in the zone of the periods.
    fn by_clock(&self, part: &Part, placed: &Placed) -> Result<(String, Class), Failure> {
        let value = self.value(placed)?;
        let Some(shown) = self.shown_time(placed) else { return Ok((value, self.class(placed))) };
        let written = shown.write(&value, self.find_days(part, placed)).ok_or_else(|| {
            let (time, stored, zone) = (placed.text(), shown.stored.zone.as_str(), shown.zone.as_str());
            let message =
                format!("`{time}` is stored in {stored}; its periods in {zone} can only be computed for a few years");
            invalid(message).advise(
                "limit the time, such as `time between 2024 and 2025`; longer ranges require times stored in UTC",
            )
        })?;
        Ok((written, Class::Date))
    }

    /// Renders the period of a time.
    fn label(&self, part: &Part, placed: &Placed, grain: Grain) -> Result<String, Failure> {
        let (value, class) = self.by_clock(part, placed)?;
        Ok(write_label(&self.writer, self.query.fiscal_year, &value, class, grain))
    }

    /// Renders the group keys without the period.
    fn dimensions(&self, part: &Part) -> Result<Vec<String>, Failure> {
        let write = |(placed, asked): (&Placed, &super::GroupedDimension)| match asked.grain {
            Some(grain) => self.label(part, placed, grain),
            None => self.value(placed),
        };
        part.dimensions.iter().zip(&self.query.dimensions).map(write).collect()
    }

    /// Renders the group keys.
    fn keys(&self, part: &Part) -> Result<Vec<String>, Failure> {
        let mut keys = self.dimensions(part)?;
        if let Some(grain) = self.query.grain {
            keys.push(self.label(part, self.time(part)?, grain)?);
        }
        Ok(keys)
    }

    /// Renders the tables of rows that meet the filters.
    fn filtered_from(&self, part: &Part) -> String {
        // A filter on a column drops rows without a joined row, unless it is for empty values.
        let drops = |(placed, condition): &&(Placed, FilterCondition)| {
            let is_column = matches!(&placed.value, PlacedValue::Expression(value) if value.only_name().is_some());
            let has_null =
                condition.value.is_null() || condition.value.as_array().is_some_and(|all| all.contains(&Value::Null));
            is_column && (!has_null || condition.op == FilterOp::Neq)
        };
        let tables = part.filters.iter().filter(drops).filter_map(|(placed, _)| self.scope.tables(placed).ok()?.pop());
        self.from(part, &tables.flat_map(|table| part.tree.path(table)).collect())
    }

    fn from(&self, part: &Part, needed: &BTreeSet<usize>) -> String {
        let relations = &self.scope.relations;
        let root = format!("FROM {} AS t{}", relations.write(part.root), part.root);
        let joins = write_joins(&self.writer, relations, &part.tree, needed);
        root + &joins + &write_member_joins(self.writer.dialect, part)
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

    /// Adds the aggregated values to the columns of a query, and the aggregates over them to those of the query around it.
    fn add_aggregates(&self, part: &Part, list: &mut Vec<String>, outer: &mut Vec<String>) -> Result<(), Failure> {
        for (at, value) in &part.aggregates {
            let asked = &self.query.aggregates[*at];
            let name = self.writer.quote(&asked.name);
            let value = value.as_ref().map_or(Ok("1".to_owned()), |value| self.value(value))?;
            list.push(format!("{value} AS {name}"));
            outer.push(format!("{} AS {name}", self.writer.aggregate(Some(&format!("r.{name}")), asked.aggregation)?));
        }
        Ok(())
    }

    fn write_additive(&self, part: &Part, conditions: &[String]) -> Result<String, Failure> {
        let keys = self.keys(part)?;
        let named = name_all(&keys, &self.groups());
        let list = [named, self.aggregates(part)?].concat();
        Ok(format!(
            "SELECT {}\n{}{}{}",
            list.join(", "),
            self.filtered_from(part),
            write_where(conditions),
            write_group_by(keys.len())
        ))
    }

    /// Renders a semi-additive aggregate: for each period, over the rows of its last or first time.
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
        self.add_aggregates(part, &mut list, &mut outer)?;
        list.push(format!("RANK() OVER ({within}ORDER BY {time}{direction}) AS place_in_time"));
        let mut conditions = self.conditions(part, Times::All)?;
        conditions.push(format!("{time} IS NOT NULL"));
        Ok(format!(
            "SELECT {}\nFROM (\nSELECT {}\n{}{}\n) AS r\nWHERE r.place_in_time = 1{}",
            outer.join(", "),
            list.join(", "),
            self.filtered_from(part),
            write_where(&conditions),
            write_group_by(keys.len())
        ))
    }

    /// Renders a cumulative aggregate: for each period with rows, the total up to it.
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
                return Err(invalid(format!(
                    "{name} is computed over {unit}s, which do not consist of whole {grain}s"
                ))
                .advise(format!("use the grain {unit}, or a finer one")));
            }
        };
        let dimensions = self.dimensions(part)?;
        let groups = self.groups();
        let names = &groups[..dimensions.len()];
        let mut list = name_all(&dimensions, names);
        list.extend(self.period_keys(part, span, grain)?);
        let mut outer: Vec<String> = names.iter().map(|name| format!("r.{name}")).collect();
        outer.push(format!("s.period_key AS {}", self.writer.quote(grain.as_str())));
        self.add_aggregates(part, &mut list, &mut outer)?;
        let mut rows = self.conditions(part, Times::Ends)?;
        rows.push(format!("{} IS NOT NULL", self.value(self.time(part)?)?));
        // Other aggregates may have rows in further periods.
        let periods = |part: &Part| -> Result<String, Failure> {
            let keys = self.period_keys(part, span, grain)?.join(", ");
            let mut clauses = self.days_of(part, Times::All)?;
            clauses.push(format!("{} IS NOT NULL", self.value(self.time(part)?)?));
            Ok(format!("SELECT {keys}\n{}{}", self.from(part, &BTreeSet::new()), write_where(&clauses)))
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
            self.filtered_from(part),
            write_where(&rows),
            write_group_by(names.len() + 1)
        ))
    }

    /// Renders the keys that identify periods and measure the distance between them.
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
        clauses.extend(part.segments.iter().map(|(base, segment)| segment.write_condition(self.writer.dialect, *base)));
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

    /// Renders the conditions on time.
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
                // A range without an end includes everything.
                all if all.iter().any(String::is_empty) => {}
                [only] => clauses.push(only.clone()),
                several => clauses.push(format!("({})", several.join(" OR "))),
            }
        }
        Ok(clauses)
    }
}

/// Which conditions on time apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Times {
    All,
    /// Only the ends of the ranges.
    Ends,
}

/// Returns the class of a value, as the fallback for an unknown column.
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

/// Renders the joins with the members of the segments that a part is grouped or filtered by.
fn write_member_joins(dialect: Dialect, part: &Part) -> String {
    let mut written: Vec<String> = Vec::new();
    for Placed { base, value } in part.dimensions.iter().chain(part.filters.iter().map(|(placed, _)| placed)) {
        if let PlacedValue::Member(membership) = value {
            let join = membership.write_join(dialect, *base);
            if !written.contains(&join) {
                written.push(join);
            }
        }
    }
    written.concat()
}

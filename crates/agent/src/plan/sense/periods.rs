//! Whether the period of the question is said, is the one that conditions test, and lies within what the tables hold.

use prospector_connect::{
    filter::{FilterCondition, FilterOp},
    query::{Condition, DatePart},
    table::ColumnType,
};
use prospector_text::periods::{self, NO_BEGINNING, NO_END, Period};
use serde_json::Value;

use super::{
    Report, SenseCode, SenseFinding,
    view::{Found, PlanView, argument_of, computes},
};
use crate::{
    meaning::{ColumnMeaning, TableMeaning},
    plan::Step,
};

/// The days that conditions on one column let through.
pub(super) struct Interval {
    step: u32,
    pub(super) table: String,
    pub(super) column: String,
    pub(super) from: String,
    pub(super) to: String,
}

pub(super) fn check(view: &PlanView<'_>, report: &mut Report) {
    let intervals: Vec<Interval> = view.steps.iter().flat_map(|step| read_intervals(view, step)).collect();
    for step in view.steps {
        for found in list_outside(view, step, &intervals) {
            report.check(Some(found));
        }
    }
    let asked = &view.question.periods;
    if asked.is_empty() {
        return;
    }
    let goals: Vec<Period> = view.steps.iter().flat_map(|step| periods::find(&step.goal)).collect();
    for period in asked {
        let is_tested = intervals.iter().any(|interval| period.overlaps(&interval.from, &interval.to))
            || view.queries.iter().any(|query| query.is_of(period));
        // A bound may be the day after: `before 2026-01-01`.
        let is_said = goals.iter().any(|goal| period.overlaps(&goal.from, &goal.to) || goal.from == period.to);
        let is_about_data = view.tables().next().is_some();
        let missing =
            is_about_data && !is_tested && (!is_said || view.steps.iter().any(computes) && intervals.is_empty());
        // Where no column is known to hold dates, only words tell that one does.
        let has_dates = view.tables().any(|(_, table)| table.columns.iter().any(is_known_date));
        let code = if has_dates { SenseCode::MissingPeriod } else { SenseCode::MissingCondition };
        report.check(missing.then(|| {
            let message = format!(
                "no condition limits a date to the period of the question, {}",
                tell_days(&period.from, &period.to)
            );
            SenseFinding::new(code, None, message)
        }));
    }
    if view.question.is_relative {
        return;
    }
    for interval in &intervals {
        let fits = asked.iter().any(|period| {
            // What is asked for since a day begins on that day.
            let begins = !period.to.starts_with("9999") || interval.from >= period.from;
            begins && period.overlaps(&interval.from, &interval.to)
        });
        report.check((!fits).then(|| {
            let message = format!(
                "{}.{} is limited to the days {}, which is not the period of the question",
                interval.table,
                interval.column,
                tell_days(&interval.from, &interval.to)
            );
            SenseFinding::new(SenseCode::WrongPeriod, Some(interval.step), message)
        }));
    }
}

/// The days that a step's conditions let through, for each column of dates.
pub(super) fn read_intervals(view: &PlanView<'_>, step: &Step) -> Vec<Interval> {
    intersect(step.filter.iter().flat_map(|condition| read_condition(view, step, condition)))
}

/// The same of one condition. Alternatives limit a column that each of them limits.
fn read_condition(view: &PlanView<'_>, step: &Step, condition: &Condition) -> Vec<Interval> {
    match condition {
        Condition::One(filter) => read_interval(view, step, filter).into_iter().collect(),
        Condition::All(several) => intersect(several.iter().flat_map(|one| read_condition(view, step, one))),
        Condition::Any(several) => {
            let mut each = several.iter().map(|one| read_condition(view, step, one));
            let first = each.next().unwrap_or_default();
            each.fold(first, |known, other| unite(known, &other))
        }
    }
}

fn read_interval(view: &PlanView<'_>, step: &Step, filter: &FilterCondition) -> Option<Interval> {
    let found = view.find_compared(step, filter)?;
    let (from, to) = read_bounds(filter, found)?;
    let (table, column) = (found.table.id.clone(), found.column.name.clone());
    Some(Interval { step: step.number, table, column, from, to })
}

/// The days that all of them let through, for each column.
fn intersect(intervals: impl Iterator<Item = Interval>) -> Vec<Interval> {
    let mut found: Vec<Interval> = Vec::new();
    for interval in intervals {
        match found.iter_mut().find(|known| known.is_of_same(&interval)) {
            Some(known) => {
                known.from = known.from.clone().max(interval.from);
                known.to = known.to.clone().min(interval.to);
            }
            None => found.push(interval),
        }
    }
    found
}

/// From the first to the last day that either lets through, for each column that both limit.
fn unite(intervals: Vec<Interval>, others: &[Interval]) -> Vec<Interval> {
    let both = |one: Interval| {
        let other = others.iter().find(|other| other.is_of_same(&one))?;
        Some(Interval { from: one.from.min(other.from.clone()), to: one.to.max(other.to.clone()), ..one })
    };
    intervals.into_iter().filter_map(both).collect()
}

impl Interval {
    fn is_of_same(&self, other: &Interval) -> bool {
        self.table == other.table && self.column == other.column
    }
}

/// The days from one to before another, of which either may be open.
fn tell_days(from: &str, to: &str) -> String {
    match (from.starts_with("0000"), to.starts_with("9999")) {
        (false, false) => format!("from {from} to before {to}"),
        (false, true) => format!("from {from} on"),
        (true, false) => format!("before {to}"),
        (true, true) => "at any time".to_owned(),
    }
}

/// Whether a column holds dates, by its type, by its values, or as it is called.
fn is_known_date(column: &ColumnMeaning) -> bool {
    const NAMES: [&str; 6] = ["date", "day", "month", "year", "time", "timestamp"];
    let names = super::vocabulary::stems(&column.name);
    column.is_date()
        || names.iter().any(|name| NAMES.iter().any(|known| super::vocabulary::stems(known).concat() == *name))
}

/// Whether a column may hold dates as texts: nothing that is known of it says that it does not.
fn may_hold_dates(column: &ColumnMeaning) -> bool {
    let is_text = matches!(column.column_type, ColumnType::Text | ColumnType::Other);
    let mut values = column.values.iter().peekable();
    is_text && (values.peek().is_none() || values.any(|value| is_day(value)))
}

/// Whether a text begins with a whole day, `2024-05-31`.
fn is_day(text: &str) -> bool {
    let part =
        |range: std::ops::Range<usize>| text.get(range).is_some_and(|part| part.bytes().all(|b| b.is_ascii_digit()));
    let bytes = text.as_bytes();
    part(0..4) && bytes.get(4) == Some(&b'-') && part(5..7) && bytes.get(7) == Some(&b'-') && part(8..10)
}

/// From which day to before which one a condition lets rows through.
fn read_bounds(filter: &FilterCondition, found: Found<'_>) -> Option<(String, String)> {
    let day = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        // `year(..)` and the like are asked of dates.
        let is_part = argument_of(&filter.column)
            .is_some_and(|(function, _)| DatePart::ALL.iter().any(|part| part.as_str().eq_ignore_ascii_case(function)));
        let is_named = found.column.is_date()
            || found.column.name.to_lowercase().contains("year")
            || is_part
            || (is_day(&text) && may_hold_dates(found.column));
        periods::find(&text).into_iter().next().filter(|_| is_named)
    };
    let first = day(&filter.value);
    Some(match filter.op {
        FilterOp::Eq | FilterOp::Like => {
            let period = first.or_else(|| {
                let text = filter.value.as_str()?.trim_end_matches(['%', '-']);
                periods::find(text).into_iter().next().filter(|_| found.column.is_date())
            })?;
            (period.from, period.to)
        }
        FilterOp::Gt | FilterOp::Gte => (first?.from, NO_END.to_owned()),
        FilterOp::Lt => (NO_BEGINNING.to_owned(), first?.from),
        FilterOp::Lte => (NO_BEGINNING.to_owned(), first?.to),
        FilterOp::Between => {
            let list = filter.value.as_array()?;
            (day(list.first()?)?.from, day(list.get(1)?)?.to)
        }
        FilterOp::Neq | FilterOp::In | FilterOp::NotLike => return None,
    })
}

/// The tables whose dates, as far as they are known, lie all outside of what conditions on them want; or, where a step has no
/// condition on a date, all of its tables that lie outside of what the question wants, where none lies inside.
fn list_outside(view: &PlanView<'_>, step: &Step, intervals: &[Interval]) -> Vec<SenseFinding> {
    // A verified query has conditions of its own.
    if step.query.is_some() {
        return Vec::new();
    }
    let tables: Vec<(&TableMeaning, Vec<(String, String)>)> = (view.tables())
        .filter(|(source, _)| step.tables.contains(&source.id))
        .map(|(_, table)| (table, list_spans(table)))
        .filter(|(_, spans)| !spans.is_empty())
        .collect();
    let reaches = |spans: &[(String, String)], from: &str, to: &str| {
        spans.iter().any(|(first, last)| periods::measure_overlap((first, last), (from, to)) >= periods::MIN_OVERLAP)
    };
    let tell = |table: &TableMeaning, spans: &[(String, String)], from: &str, to: &str| {
        let (first, last) = &spans[0];
        let message = format!("{} holds days from {first} to {last}, and too little {}", table.id, tell_days(from, to));
        SenseFinding::new(SenseCode::OutsideData, Some(step.number), message)
    };
    let mut found = Vec::new();
    let own: Vec<&Interval> = intervals.iter().filter(|interval| interval.step == step.number).collect();
    for interval in &own {
        let limited = tables.iter().find(|(table, _)| table.id == interval.table);
        if let Some((table, spans)) = limited.filter(|(_, spans)| !reaches(spans, &interval.from, &interval.to)) {
            found.push(tell(table, spans, &interval.from, &interval.to));
        }
    }
    // What rows are looked up in need not be of the period: the day that the shop was opened on, which sold something.
    let is_limited = own.is_empty() && !takes_rows(view, step);
    for period in view.question.periods.iter().filter(|_| is_limited) {
        if let Some((table, spans)) = tables.first()
            && !tables.iter().any(|(_, spans)| reaches(spans, &period.from, &period.to))
        {
            found.push(tell(table, spans, &period.from, &period.to));
        }
    }
    found
}

/// Whether an earlier step leaves rows to a step: what these are of was limited there.
pub(super) fn takes_rows(view: &PlanView<'_>, step: &Step) -> bool {
    let leaves = |earlier: &&Step| earlier.outputs.iter().any(|output| step.inputs.contains(output));
    let has_rows = |earlier: &Step| {
        [&earlier.tables, &earlier.metrics, &earlier.operations, &earlier.inputs].iter().any(|list| !list.is_empty())
    };
    view.steps.iter().filter(|earlier| earlier.number < step.number).filter(leaves).any(has_rows)
}

/// From when to when the dates of a table reach, column by column.
fn list_spans(table: &TableMeaning) -> Vec<(String, String)> {
    let day = |text: &String| text.get(..10).unwrap_or(text).to_owned();
    table
        .columns
        .iter()
        .filter_map(|column| column.span.as_ref())
        .map(|(first, last)| (day(first), day(last)))
        .collect()
}

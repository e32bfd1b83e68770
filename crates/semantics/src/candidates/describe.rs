//! What a reading computes, in words.

use prospector_connect::filter::FilterOp;
use prospector_connect::query::Aggregation;
use prospector_text::periods::{NO_BEGINNING, NO_END};
use serde_json::Value;

use super::intent::{Intent, Measure};
use super::scope::{Place, Scope, Time};

/// `number of customers where country is Brazil, by month`
pub(super) fn describe(scope: &Scope<'_>, intent: &Intent) -> String {
    let plain = |name: &str| name.replace('_', " ");
    let table = plain(&scope.table(intent.subject).name);
    let column = |place: Place| name_column(scope, intent.subject, place);
    let mut text = match &intent.measure {
        Measure::Metrics(names) => names.iter().map(|name| plain(name)).collect::<Vec<_>>().join(" and "),
        Measure::Aggregate(Aggregation::Count, _) => format!("number of {table}"),
        Measure::Aggregate(aggregation, place) => {
            let word = match aggregation {
                Aggregation::Sum => "total",
                Aggregation::Avg => "average",
                Aggregation::Min => "lowest",
                Aggregation::Max => "highest",
                Aggregation::Count | Aggregation::CountDistinct => "number of different",
            };
            format!("{word} {} of {table}", place.map(column).unwrap_or_default())
        }
        Measure::Share => format!("share of {table}"),
        Measure::Rows(_) => match &intent.rank {
            Some(rank) => {
                let by = rank.by.map(column).unwrap_or_default();
                let end = if rank.descending { "highest" } else { "lowest" };
                format!("{} {table} with the {end} {by}", rank.limit)
            }
            None => format!("list of {table}"),
        },
    };
    if !intent.segments.is_empty() {
        text += &format!(" of {}", intent.segments.iter().map(|name| plain(name)).collect::<Vec<_>>().join(" and "));
    }
    for existence in &intent.existences {
        let other = plain(&scope.table(existence.table).name);
        text += if existence.is_negated { " without any " } else { " with " };
        text += &other;
        if let Some((place, value)) = &existence.filter {
            text += &format!(" whose {} is {}", column(*place), write(value));
        }
    }
    let conditions: Vec<String> = intent
        .filters
        .iter()
        .map(|(place, op, value)| {
            let column = column(*place);
            match (op, value) {
                (FilterOp::Eq, Value::Null) => format!("{column} is empty"),
                (FilterOp::Neq, Value::Null) => format!("{column} is not empty"),
                (op, value) => format!("{column} {} {}", comparison(*op), write(value)),
            }
        })
        .collect();
    if !conditions.is_empty() {
        text += &format!(" where {}", conditions.join(" and "));
    }
    text += &describe_period(scope, intent);
    let groups = intent.groups.iter().map(|group| column(group.place));
    let groups: Vec<String> = groups.chain(intent.grain.map(|grain| plain(grain.as_str()))).collect();
    if !groups.is_empty() {
        text += &format!(", by {}", groups.join(" and "));
    }
    if let Some(rank) = intent.rank.as_ref().filter(|rank| rank.by.is_none()) {
        text += &format!(", the {} {}", rank.limit, if rank.descending { "highest" } else { "lowest" });
    }
    text
}

/// `, from 2025-01-01 to before 2026-01-01`, with the column of the days where that is not certain.
fn describe_period(scope: &Scope<'_>, intent: &Intent) -> String {
    let Some((from, to)) = &intent.period else { return String::new() };
    let days = match &intent.time {
        Some(Time::Day(place)) if scope.known_time(intent.subject, &[]).is_none() => {
            format!(", {}", name_column(scope, intent.subject, *place))
        }
        _ => String::new(),
    };
    match (from == NO_BEGINNING, to == NO_END) {
        (true, _) => format!("{days}, before {to}"),
        (_, true) => format!("{days}, from {from}"),
        _ => format!("{days}, from {from} to before {to}"),
    }
}

/// A column, with its table where that is not the subject.
fn name_column(scope: &Scope<'_>, subject: usize, place: Place) -> String {
    let name = scope.column(place).name.replace('_', " ");
    match place.0 == subject {
        true => name,
        false => format!("{name} of {}", scope.table(place.0).name.replace('_', " ")),
    }
}

fn comparison(op: FilterOp) -> &'static str {
    match op {
        FilterOp::Neq => "is not",
        FilterOp::Gt => "is above",
        FilterOp::Gte => "is at least",
        FilterOp::Lt => "is below",
        FilterOp::Lte => "is at most",
        _ => "is",
    }
}

fn write(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(write).collect::<Vec<_>>().join(" or "),
        other => other.to_string(),
    }
}

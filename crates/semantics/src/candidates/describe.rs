//! Human-readable descriptions of interpretations.

use prospector_connect::filter::FilterOp;
use prospector_connect::query::Aggregation;
use prospector_engine::query::name_period;
use prospector_text::periods::{NO_BEGINNING, NO_END};
use serde_json::Value;

use super::intent::{Condition, Intent, Measure};
use super::scope::{Place, Scope, Time};

/// `number of customers where country is Brazil, by month`
pub(super) fn describe(scope: &Scope<'_>, intent: &Intent) -> String {
    let plain = |name: &str| name.replace('_', " ");
    let table = plain(&scope.table(intent.subject).name);
    let column = |place: Place| name_column(scope, intent.subject, place);
    let mut text = match &intent.measure {
        Measure::Metrics(names) => names.iter().map(|name| plain(name)).collect::<Vec<_>>().join(" and "),
        Measure::Aggregate(..) => {
            let all = intent.aggregates();
            let all = all.chunk_by(|one, other| one.0 == other.0).map(|of_table| {
                let values =
                    of_table.iter().map(|(_, aggregation, place)| describe_aggregate(*aggregation, place.map(column)));
                let table = plain(&scope.table(of_table[0].0).name);
                format!("{} of {table}", values.collect::<Vec<_>>().join(" and "))
            });
            all.collect::<Vec<_>>().join(" and ")
        }
        Measure::AverageCount(key) => format!("average number of {table} for each {}", column(*key)),
        Measure::Share(_) => format!("share of {table}"),
        Measure::Rows(_) => match &intent.rank {
            Some(rank) => {
                let by = rank.by.map(column).unwrap_or_default();
                let end = if rank.descending { "highest" } else { "lowest" };
                let limit = if rank.limit == 1 { String::new() } else { format!("{} ", rank.limit) };
                format!("{limit}{table} with the {end} {by}")
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
        if !existence.count.is_empty() {
            let bounds = existence.count.iter().map(|(op, number)| count(*op, *number));
            text += &format!("{} ", bounds.collect::<Vec<_>>().join(" and "));
        }
        text += &other;
        if let Some((place, value)) = &existence.filter {
            text += &format!(" whose {} is {}", column(*place), write(value));
        }
    }
    match &intent.measure {
        Measure::Share(met) => {
            text += &describe_conditions(scope, intent, " where ", met);
            text += &describe_conditions(scope, intent, ", among those where ", &intent.filters);
        }
        _ => text += &describe_conditions(scope, intent, " where ", &intent.filters),
    }
    if let Some(key) = &intent.via {
        let columns: Vec<String> = key.columns.iter().map(|(own, _)| plain(own)).collect();
        text += &format!(", joined by {} of {}", columns.join(" and "), plain(&scope.table(key.from).name));
    }
    text += &describe_period(scope, intent);
    let groups = intent.groups.iter().map(|group| column(group.place));
    let grain = intent.grain.map(|grain| match (&intent.time, &intent.period) {
        (Some(Time::Day(place)), None) if scope.known_time(intent.subject, &[]).is_none() => {
            format!("{} of {}", plain(grain.as_str()), column(*place))
        }
        _ => plain(grain.as_str()),
    });
    let groups: Vec<String> = groups.chain(grain).collect();
    if !groups.is_empty() {
        text += &format!(", by {}", groups.join(" and "));
    }
    if !intent.having.is_empty() {
        let bounds = intent.having.iter().map(|(op, number)| format!("{} {number}", comparison(*op)));
        text += &format!(", where it {}", bounds.collect::<Vec<_>>().join(" and "));
    }
    if let Some(rank) = intent.rank.as_ref().filter(|rank| rank.by.is_none()) {
        text += &format!(", the {} {}", rank.limit, if rank.descending { "highest" } else { "lowest" });
    }
    text
}

/// ` where country is Brazil and email is empty`
fn describe_conditions(scope: &Scope<'_>, intent: &Intent, before: &str, conditions: &[Condition]) -> String {
    let describe = |(place, op, value): &Condition| {
        let column = name_column(scope, intent.subject, *place);
        match (op, value) {
            (FilterOp::Eq, Value::Null) => format!("{column} is empty"),
            (FilterOp::Neq, Value::Null) => format!("{column} is not empty"),
            (op, value) => format!("{column} {} {}", comparison(*op), write(value)),
        }
    };
    let conditions: Vec<String> = conditions.iter().map(describe).collect();
    if conditions.is_empty() { String::new() } else { format!("{before}{}", conditions.join(" and ")) }
}

/// `total price`; `number` for the rows themselves.
fn describe_aggregate(aggregation: Aggregation, column: Option<String>) -> String {
    let word = match (aggregation, &column) {
        (Aggregation::Count, _) | (_, None) => return "number".to_owned(),
        (Aggregation::Sum, _) => "total",
        (Aggregation::Avg, _) => "average",
        (Aggregation::Min, _) => "lowest",
        (Aggregation::Max, _) => "highest",
        (Aggregation::CountDistinct, _) => "number of different",
    };
    format!("{word} {}", column.unwrap_or_default())
}

/// Renders `, in 2025` or `, from 2025-01-15 to before 2025-02-20`, with the date column if it is not certain.
fn describe_period(scope: &Scope<'_>, intent: &Intent) -> String {
    let days = match &intent.time {
        Some(time @ Time::Day(place)) if scope.known_time(intent.subject, &[]).as_ref() != Some(time) => {
            format!(", {}", name_column(scope, intent.subject, *place))
        }
        _ => String::new(),
    };
    let Some((from, to)) = &intent.period else { return days };
    match (from == NO_BEGINNING, to == NO_END) {
        (true, _) => format!("{days}, before {to}"),
        (_, true) => format!("{days}, from {from}"),
        _ => {
            let name = |(from, to): &(String, String)| {
                name_period(from, to).unwrap_or_else(|| format!("from {from} to before {to}"))
            };
            let all: Vec<String> = intent.period.iter().chain(&intent.others).map(name).collect();
            format!("{days}, {}", all.join(" and "))
        }
    }
}

/// Returns the name of a column, with its table if that is not the subject.
fn name_column(scope: &Scope<'_>, subject: usize, place: Place) -> String {
    let name = scope.column(place).name.replace('_', " ");
    match place.0 == subject {
        true => name,
        false => format!("{name} of {}", scope.table(place.0).name.replace('_', " ")),
    }
}

/// `more than 5`
fn count(op: FilterOp, number: f64) -> String {
    let word = match op {
        FilterOp::Gt => "more than",
        FilterOp::Gte => "at least",
        FilterOp::Lt => "less than",
        _ => "at most",
    };
    format!("{word} {number}")
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

//! What a step computes, in words, for its goal.

use prospector_agent::plan::Step;
use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_connect::query::{Condition, Group};

/// What a step computes, in words.
pub(super) fn describe(step: &Step) -> String {
    let mut said = String::new();
    let measures: Vec<String> = (step.compute.iter())
        .filter_map(|measure| {
            let aggregation = measure.aggregation?.as_str();
            Some(
                measure
                    .column
                    .as_deref()
                    .map_or(aggregation.to_owned(), |column| format!("{aggregation} of {}", bare(column))),
            )
        })
        .collect();
    if !measures.is_empty() {
        said.push_str(&format!(": {}", measures.join(", ")));
    }
    if !step.filter.is_empty() {
        said.push_str(&format!(
            ", where {}",
            step.filter.iter().map(describe_condition).collect::<Vec<_>>().join(" and ")
        ));
    }
    if !step.group_by.is_empty() {
        let one = |group: &Group| match group.part {
            Some(part) => format!("{} of {}", part.as_str().replace('_', " "), bare(&group.column)),
            None => bare(&group.column),
        };
        said.push_str(&format!(", grouped by {}", step.group_by.iter().map(one).collect::<Vec<_>>().join(", ")));
    }
    said
}

fn bare(name: &str) -> String {
    name.rsplit('.').next().unwrap_or(name).to_owned()
}

/// A condition in words.
fn describe_condition(condition: &Condition) -> String {
    let join = |several: &[Condition], word: &str| {
        let said: Vec<String> = several.iter().map(describe_condition).collect();
        format!("({})", said.join(word))
    };
    match condition {
        Condition::One(filter) => describe_single(filter),
        Condition::All(several) => join(several, " and "),
        Condition::Any(several) => join(several, " or "),
    }
}

fn describe_single(filter: &FilterCondition) -> String {
    let value = filter.value.as_str().map_or_else(|| filter.value.to_string(), str::to_owned);
    let sign = match filter.op {
        FilterOp::Eq => "is",
        FilterOp::Neq => "is not",
        FilterOp::Gt => ">",
        FilterOp::Gte => ">=",
        FilterOp::Lt => "<",
        FilterOp::Lte => "<=",
        FilterOp::Between => "between",
        FilterOp::In => "in",
        FilterOp::Like => "like",
        FilterOp::NotLike => "not like",
    };
    format!("{} {sign} {value}", bare(&filter.column))
}

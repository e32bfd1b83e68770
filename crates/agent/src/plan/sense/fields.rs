//! Whether the structured fields of steps fit the schema, and the values where those are known.

use prospector_connect::{
    filter::{FilterCondition, FilterOp},
    query::{Aggregation, Measure},
};
use serde_json::Value;

use super::{
    Report, SenseCode, SenseFinding,
    view::{Found, PlanView, list_fields},
};
use crate::plan::{Step, formula};

pub(super) fn check(view: &PlanView<'_>, report: &mut Report) {
    for (at, step) in view.steps.iter().enumerate() {
        let compared: Vec<&FilterCondition> = step.conditions().collect();
        let is_computed = |name: &&str| {
            Measure::read_aggregate(name).is_some() && compared.iter().any(|filter| filter.column == **name)
        };
        for name in list_fields(step).into_iter().filter(|name| !is_computed(name)) {
            report.check(check_column(view, at, name));
        }
        for name in formula::list_named(step).into_iter().chain(formula::list_compared(step)) {
            report.check(check_column(view, at, &name));
        }
        let of_groups = compared.iter().filter_map(|filter| Measure::read_aggregate(&filter.column));
        for measure in step.compute.iter().cloned().chain(of_groups) {
            let numeric = matches!(measure.aggregation, Some(Aggregation::Sum | Aggregation::Avg));
            let found = measure.column.as_deref().and_then(|name| view.find_column(step, name)).filter(|_| numeric);
            report.check(found.and_then(|found| check_numeric(step, found)));
        }
        for group in step.group_by.iter().filter(|group| group.part.is_some()) {
            let found = view.find_column(step, &group.column);
            report.check(found.and_then(|found| check_part(step, found)));
        }
        for filter in compared {
            let found = view.find_compared(step, filter);
            report.check(found.and_then(|found| check_value(step, filter, found)));
        }
    }
}

/// A name is a column of a table of the step, a measure, or what an input has.
fn check_column(view: &PlanView<'_>, at: usize, name: &str) -> Option<SenseFinding> {
    let step = &view.steps[at];
    let is_measure = |step: &Step| {
        step.compute.iter().any(|measure| measure.name.as_deref().is_some_and(|known| known.eq_ignore_ascii_case(name)))
    };
    // The rows of a step are there under their usual name too.
    let usual = (1..=at).map(|number| format!("step_{number}_results")).filter(|_| !step.inputs.is_empty());
    let mut outputs = step.inputs.iter().cloned().chain(usual);
    let of_input = outputs.any(|input| name.strip_prefix(input.as_str()).is_some_and(|rest| rest.starts_with('.')));
    if of_input
        || view.steps[..=at].iter().any(is_measure)
        || is_group(step, name)
        || is_of_unknown_rows(view, at, name)
    {
        return None;
    }
    let last = name.rsplit('.').next().unwrap_or(name);
    match view.find_column(step, name) {
        Some(found) if step.tables.contains(&found.table.id) => None,
        // What an earlier step grouped by.
        Some(_) | None
            if !step.inputs.is_empty()
                && view.steps[..at].iter().any(|earlier| {
                    let mut names = list_fields(earlier).into_iter().chain(earlier.columns.iter().map(String::as_str));
                    names.any(|known| known == name || known.rsplit('.').next() == Some(last))
                }) =>
        {
            None
        }
        Some(found) => {
            let message =
                format!("`{name}` is a column of {}, which is not among the `tables` of the step", found.table.id);
            Some(
                SenseFinding::new(SenseCode::UnknownColumn, Some(step.number), message)
                    .near(vec![found.table.id.clone()]),
            )
        }
        // The order may name what is counted.
        None if step.order.iter().any(|order| order.by == name)
            && Aggregation::ALL.iter().any(|known| name.starts_with(known.as_str())) =>
        {
            None
        }
        None if view.tables().any(|(source, _)| step.tables.contains(&source.id))
            || step.tables.is_empty() && step.inputs.is_empty() && step.operations.is_empty() =>
        {
            let columns = view
                .tables()
                .filter(|(source, _)| step.tables.contains(&source.id))
                .flat_map(|(_, table)| table.columns.iter().map(move |column| format!("{}.{}", table.id, column.name)));
            let names: Vec<String> = columns.collect();
            let nearest = prospector_core::name::nearest(name, names.iter().map(String::as_str), 3);
            let message = format!("`{name}` is no column of the step's tables, no measure, and not of an input");
            Some(SenseFinding::new(SenseCode::UnknownColumn, Some(step.number), message).near(nearest))
        }
        None => None,
    }
}

/// Whether a group is called so: by the name that the step gives it, or by its column and the part of its date.
fn is_group(step: &Step, name: &str) -> bool {
    step.group_by.iter().any(|group| {
        let column = group.column.rsplit('.').next().unwrap_or_default();
        let usual = group.part.map(|part| format!("{column}_{}", part.as_str()));
        let mut names = group.name.iter().cloned().chain(usual);
        names.any(|own| own.eq_ignore_ascii_case(name))
    })
}

/// Whether a name may be a column of what an earlier step left, where only its run tells which these are: a verified query has
/// columns of its own, and so has an operation.
fn is_of_unknown_rows(view: &PlanView<'_>, at: usize, name: &str) -> bool {
    let step = &view.steps[at];
    let leaves = |earlier: &Step| earlier.outputs.iter().any(|output| step.inputs.contains(output));
    let is_unknown = |earlier: &&Step| earlier.query.is_some() || !earlier.operations.is_empty();
    !name.contains('.') && view.steps[..at].iter().filter(is_unknown).any(leaves)
}

fn check_numeric(step: &Step, found: Found<'_>) -> Option<SenseFinding> {
    use prospector_connect::table::ColumnType as T;
    let is_other = match found.column.column_type {
        T::Integer | T::Decimal { .. } | T::Float | T::Boolean | T::Other => false,
        // Texts may be numbers: what nobody has read may be summed.
        T::Text => {
            let mut values = found.column.values.iter().peekable();
            values.peek().is_some() && !values.any(|value| value.trim().parse::<f64>().is_ok())
        }
        T::Date | T::Timestamp | T::DateText | T::Bytes | T::Nested => true,
    };
    let is_key = found.column.primary_key || found.column.refers.is_some();
    (is_other || is_key).then(|| {
        let what = if is_key { "is a key" } else { "holds no numbers" };
        let message = format!("{}.{} {what}: it has no sum and no average", found.table.id, found.column.name);
        SenseFinding::new(SenseCode::WrongValue, Some(step.number), message)
    })
}

fn check_part(step: &Step, found: Found<'_>) -> Option<SenseFinding> {
    let is_number = found.column.column_type.is_numeric();
    (is_number && !found.column.is_date()).then(|| {
        let message = format!("{}.{} holds no dates: it has no parts", found.table.id, found.column.name);
        SenseFinding::new(SenseCode::WrongValue, Some(step.number), message)
    })
}

/// A value that is compared is one that the column has, where all are known.
fn check_value(step: &Step, filter: &FilterCondition, found: Found<'_>) -> Option<SenseFinding> {
    let values: Vec<&str> = match (filter.op, &filter.value) {
        (FilterOp::Eq | FilterOp::Neq, Value::String(text)) => vec![text],
        (FilterOp::In, Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let codes = found.column.codes();
    let mut known: Vec<&str> = Vec::new();
    if found.column.complete {
        known.extend(found.column.values.iter().map(String::as_str));
    } else if codes.len() > 1 && codes.iter().any(|(code, meaning)| code != meaning) {
        // The list of codes may be shortened, as in `US, DE, ...`; one with meanings is not.
        known.extend(codes.iter().flat_map(|(code, _)| code.split([',', ' '])).filter(|code| !code.is_empty()));
    }
    let of_output = |value: &str| step.inputs.iter().any(|input| value.starts_with(input.as_str()));
    let is_known = |value: &str| known.iter().any(|known| known.eq_ignore_ascii_case(value)) || of_output(value);
    let wrong = values.into_iter().find(|value| !known.is_empty() && !is_known(value))?;
    let column = format!("{}.{}", found.table.id, found.column.name);
    let message = format!(
        "{column} has no value `{wrong}`; it has {}",
        known.iter().take(8).copied().collect::<Vec<_>>().join(", ")
    );
    Some(SenseFinding::new(SenseCode::WrongValue, Some(step.number), message))
}

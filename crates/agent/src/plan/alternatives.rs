//! Whether what a step does can be limited by its conditions: by alternatives, and by what is computed of groups.

use prospector_connect::{
    filter::FilterCondition,
    query::{Aggregation, Condition, DatePart, Group, Measure},
};

use super::{Failure, Step, formula::Formula};

/// The conditions of a step that nothing of it can meet, each with what to do instead.
pub(super) fn list_failures(place: &str, step: &Step) -> Vec<Failure> {
    // A verified query has conditions of its own.
    if step.query.is_some() {
        return Vec::new();
    }
    let mut failures = Vec::new();
    let mut fail = |name: &str, reason: &str| {
        let place = format!("{place}.filter");
        failures.push(Failure { place, name: name.to_owned(), reason: reason.to_owned(), nearest: Vec::new() });
    };
    for condition in &step.filter {
        let has_alternatives = !matches!(condition, Condition::One(_));
        let first = condition.singles().next().map(|filter| filter.column.as_str()).unwrap_or_default();
        if !step.metrics.is_empty() {
            if condition.as_single().is_none() {
                fail(first, "alternatives over metrics are values of one dimension: make a step of each other one");
            }
        } else if step.tables.is_empty() {
            if has_alternatives && !step.operations.is_empty() {
                fail(first, "an operation is called with one value of each parameter: make a step of each alternative");
            }
        } else if let Some(filter) = condition.singles().find(|filter| is_aggregate(filter) && !has_groups(step)) {
            let reason = "this is computed of groups, and the step has none: add `group_by`, or compute it in a step of its \
                          own, which the next one compares by its name";
            fail(&filter.column, reason);
        } else if has_alternatives && condition.singles().any(|filter| is_of_groups(step, filter)) {
            let of_rows = |filter: &&FilterCondition| !is_of_groups(step, filter) && !is_grouped_by(step, filter);
            if let Some(filter) = condition.singles().find(of_rows) {
                let reason = "this is of rows, and an alternative to it is computed of groups: group by it, or find each \
                              alternative in a step of its own";
                fail(&filter.column, reason);
            }
        }
    }
    failures
}

fn is_aggregate(filter: &FilterCondition) -> bool {
    Measure::read_aggregate(&filter.column).is_some()
}

/// Whether a step computes something of groups, of which all of its rows may be one.
fn has_groups(step: &Step) -> bool {
    !step.group_by.is_empty() || step.compute.iter().any(is_over_rows)
}

fn is_over_rows(measure: &Measure) -> bool {
    let of_rows = |text: &String| Formula::read(text).functions.iter().any(|name| Aggregation::find(name).is_some());
    measure.aggregation.is_some() || measure.expression.as_ref().is_some_and(of_rows)
}

/// Whether a condition is on what the step computes of groups.
fn is_of_groups(step: &Step, filter: &FilterCondition) -> bool {
    let is_named =
        |measure: &Measure| measure.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(&filter.column));
    is_aggregate(filter) || has_groups(step) && step.compute.iter().any(is_named)
}

/// Whether a condition is on what the step groups by: it is the same for all rows of a group.
fn is_grouped_by(step: &Step, filter: &FilterCondition) -> bool {
    let is_same = |a: &str, b: &str| {
        let (a, b) = (a.to_lowercase(), b.to_lowercase());
        a == b || a.ends_with(&format!(".{b}")) || b.ends_with(&format!(".{a}"))
    };
    let is_meant = |group: &Group| match (group.part, DatePart::read(&filter.column)) {
        (None, _) => is_same(&group.column, &filter.column),
        (Some(part), Some((wanted, column))) => part == wanted && is_same(&group.column, column),
        (Some(_), None) => false,
    };
    step.group_by.iter().any(is_meant)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(step: Value, expected: &[&str]) {
        let step: Step = serde_json::from_value(step).unwrap();
        let told: Vec<String> = list_failures("s", &step)
            .into_iter()
            .map(|failure| {
                let reason = failure.reason.split([',', ':']).next().unwrap_or_default().to_owned();
                format!("{} {}: {reason}", failure.place, failure.name)
            })
            .collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn conditions_on_groups_need_groups() {
        let filter = "sum(a.b.c) > 5";
        check(json!({"tables": ["a.b"], "filter": [filter]}), &["s.filter sum(a.b.c): this is computed of groups"]);
        let rows = json!({"tables": ["a.b"], "filter": [filter], "compute": ["a.b.c * 2 as twice"]});
        check(rows, &["s.filter sum(a.b.c): this is computed of groups"]);
        check(json!({"tables": ["a.b"], "filter": [filter], "group_by": ["a.b.d"]}), &[]);
        check(json!({"tables": ["a.b"], "filter": [filter], "compute": ["count(*) / 2 as half"]}), &[]);
    }

    #[test]
    fn alternatives_are_all_of_rows_or_all_of_groups() {
        let step = |filter: &str, groups: &[&str]| json!({"tables": ["a.b"], "filter": [filter], "compute": ["sum(a.b.c) as total"], "group_by": groups});
        check(step("a.b.d = 1 or a.b.c > 5", &[]), &[]);
        let filter = "total > 5 or a.b.d = 1";
        check(step(filter, &["a.b.e"]), &["s.filter a.b.d: this is of rows"]);
        check(step(filter, &["b.d"]), &[]);
        check(step("count(*) > 5 or (a.b.f = 2 and a.b.d = 1)", &["a.b.d"]), &["s.filter a.b.f: this is of rows"]);
        check(step("total > 5 or month(a.b.g) = 1", &["month(a.b.g)"]), &[]);
        let other = step("total > 5 or year_month(a.b.g) = '2025-01'", &["month(a.b.g)"]);
        check(other, &["s.filter year_month(a.b.g): this is of rows"]);
    }

    #[test]
    fn calls_take_one_value_and_metrics_values_of_one_dimension() {
        let call = json!({"operations": ["crm.get"], "filter": ["id = 1 or id = 2"]});
        check(call, &["s.filter id: an operation is called with one value of each parameter"]);
        check(json!({"metrics": ["revenue"], "filter": ["country = 'PT' or country = 'BR'"]}), &[]);
        let several = json!({"metrics": ["revenue"], "filter": ["country = 'PT' or channel = 'web'"]});
        check(several, &["s.filter country: alternatives over metrics are values of one dimension"]);
    }
}

//! The shape of steps: texts that cannot be read, and fields that no step has. Neither is dropped without a word, and neither costs
//! the rest of the plan.

use prospector_connect::query::{Group, Measure, Order};
use prospector_core::name::nearest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Failure, Step, Unread};

/// The fields whose entries are written in short texts.
const WRITTEN: [&str; 4] = ["compute", "filter", "group_by", "order"];

/// What other plans call a field of ours, where its name is not near.
const OTHER_NAMES: [(&str, &str); 7] = [
    ("where", "filter"),
    ("conditions", "filter"),
    ("having", "filter"),
    ("measures", "compute"),
    ("aggregations", "compute"),
    ("dimensions", "group_by"),
    ("sort", "order"),
];

/// Takes out of the steps of a plan what of their short texts cannot be read, and says there what it was.
pub(super) fn take_unread(plan: &mut Value) {
    let steps = plan.pointer_mut("/plan/steps").and_then(Value::as_array_mut);
    for step in steps.into_iter().flatten() {
        let mut unread: Vec<Unread> = Vec::new();
        for field in WRITTEN {
            let Some(entries) = step.get_mut(field) else { continue };
            // One text in the place of a list of them.
            if entries.is_string() || entries.is_object() {
                *entries = json!([entries.take()]);
            }
            if let Some(entries) = entries.as_array_mut() {
                entries.retain(|entry| {
                    let reason = explain(field, entry);
                    let is_read = reason.is_none();
                    let text = entry.as_str().map_or_else(|| entry.to_string(), str::to_owned);
                    unread.extend(reason.map(|reason| Unread { field: field.to_owned(), text, reason }));
                    is_read
                });
            }
        }
        if let Some(step) = step.as_object_mut().filter(|_| !unread.is_empty()) {
            step.insert("unread".to_owned(), json!(unread));
        }
    }
}

/// Why an entry of a field cannot be read; none where it can.
fn explain(field: &str, entry: &Value) -> Option<String> {
    let error = serde_json::from_value::<Step>(json!({ field: [entry] })).err()?;
    // Of an object the reader of texts only says that it is none.
    let of_object = match field {
        _ if !entry.is_object() => None,
        "compute" => misread::<Measure>(entry),
        // Conditions are read by hand.
        "filter" => None,
        "group_by" => misread::<Group>(entry),
        _ => misread::<Order>(entry),
    };
    Some(of_object.unwrap_or_else(|| error.to_string()))
}

fn misread<T: DeserializeOwned>(entry: &Value) -> Option<String> {
    serde_json::from_value::<T>(entry.clone()).err().map(|error| error.to_string())
}

/// What of a step has no meaning, each at its place.
pub(super) fn list_failures(place: &str, step: &Step) -> Vec<Failure> {
    let unread = step.unread.iter().map(|unread| Failure {
        place: format!("{place}.{}", unread.field),
        name: unread.text.clone(),
        reason: unread.reason.clone(),
        nearest: Vec::new(),
    });
    let unknown = step.unknown.iter().filter(|(_, value)| says_something(value)).map(|(name, _)| Failure {
        place: place.to_owned(),
        name: name.clone(),
        reason: "a step has no such field, and nothing would be done about it".to_owned(),
        nearest: find_field(name),
    });
    unread.chain(unknown).collect()
}

/// Whether a value asks for anything: an empty list does not.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

/// The field that is meant.
fn find_field(name: &str) -> Vec<String> {
    let known = OTHER_NAMES.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
    known.map_or_else(|| nearest(name, Step::FIELDS, 1), |(_, field)| vec![(*field).to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(step: &Value, expected: &[&str]) {
        let mut plan = json!({"plan": {"steps": [step]}});
        take_unread(&mut plan);
        let step: Step = serde_json::from_value(plan["plan"]["steps"][0].take()).unwrap();
        let told = list_failures("plan.steps[0]", &step).into_iter().map(|failure| {
            let reason: String = failure.reason.split(':').next().unwrap_or_default().to_owned();
            format!("{} {}: {reason} {:?}", failure.place, failure.name, failure.nearest)
        });
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_cannot_be_read_is_told_at_its_place_and_the_rest_stays() {
        let step = json!({"goal": "g", "filter": ["a.b.c = 1", "a.b.c or 2"], "compute": "everything"});
        check(
            &step,
            &[
                "plan.steps[0].compute everything: `everything` is no measure []",
                "plan.steps[0].filter a.b.c or 2: `a.b.c` is no condition []",
            ],
        );
        let mut plan = json!({"plan": {"steps": [step]}});
        take_unread(&mut plan);
        assert_eq!(plan["plan"]["steps"][0]["filter"], json!(["a.b.c = 1"]));
        let object = json!({"filter": [{"column": "a.b.c", "op": "resembles", "value": []}]});
        let reason = explain("filter", &object["filter"][0]).unwrap();
        assert!(reason.contains("resembles") && reason.contains("between"), "{reason}");
        let reason = explain("filter", &json!({"or": []})).unwrap();
        assert!(reason.contains("at least one"), "{reason}");
        let reason = explain("filter", &json!({"or": ["a.b.c = 1", "a.b.c"]})).unwrap();
        assert!(reason.starts_with("`a.b.c` is no condition"), "{reason}");
    }

    #[test]
    fn a_field_that_no_step_has_is_told_with_the_one_that_is_meant() {
        let no_field = "a step has no such field, and nothing would be done about it";
        check(
            &json!({"goal": "g", "queries": ["vip-customers"], "where": ["a.b.c = 1"]}),
            &[
                &format!("plan.steps[0] queries: {no_field} [\"query\"]"),
                &format!("plan.steps[0] where: {no_field} [\"filter\"]"),
            ],
        );
        check(&json!({"goal": "g", "queries": [], "notes": ""}), &[]);
    }
}

//! Reading the draft of a plan from the text of a model.

use serde::de::Error as _;
use serde_json::Value;

use super::Draft;

/// Why a model's text is no plan; the text of the error is what the model is told.
#[derive(Debug, thiserror::Error)]
pub(super) enum ParseError {
    /// It is only prose.
    #[error("the answer holds no JSON object")]
    NoJson,
    /// It holds other objects.
    #[error("the answer has no `plan`")]
    NoPlan,
    /// The object that was to be the plan cannot be read.
    #[error("the JSON is broken: {0}")]
    Broken(serde_json::Error),
    /// It is a plan with other fields than it should have.
    #[error("the plan has a wrong shape: {0}")]
    Shape(serde_json::Error),
}

/// Finds the plan in a model's text: alone, in a code fence, or among prose.
pub(super) fn parse_draft(text: &str) -> Result<Draft, ParseError> {
    let mut complaint = ParseError::NoJson;
    let last_plan = text.rfind("\"plan\"");
    for (at, _) in text.match_indices('{') {
        let is_broken = matches!(complaint, ParseError::Broken(_));
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        match values.next() {
            // The steps of a broken plan are not the whole of it.
            Some(Ok(_)) if is_broken && is_value_of_plan(&text[..at]) => {}
            Some(Ok(value)) if value.get("plan").is_some() || value.get("steps").is_some() => {
                return read_draft(value).map_err(ParseError::Shape);
            }
            // An object, but not a plan: a later one may be.
            Some(Ok(_)) if !is_broken => complaint = ParseError::NoPlan,
            Some(Err(error)) if !is_broken && last_plan > Some(at) => complaint = ParseError::Broken(error),
            _ => {}
        }
    }
    Err(complaint)
}

/// Whether the text breaks off where the value of `"plan"` begins.
fn is_value_of_plan(before: &str) -> bool {
    before.trim_end().strip_suffix(':').is_some_and(|before| before.trim_end().ends_with("\"plan\""))
}

fn read_draft(mut value: Value) -> Result<Draft, serde_json::Error> {
    // `{"steps": [..]}` and `{"plan": [..]}` mean the same as `{"plan": {"steps": [..]}}`.
    if let Some(object) = value.as_object_mut() {
        if let Some(steps) = object.remove("steps") {
            object.entry("plan").or_insert_with(|| serde_json::json!({"steps": steps}));
        }
        if let Some(plan) = object.get_mut("plan")
            && plan.is_array()
        {
            *plan = serde_json::json!({"steps": plan.take()});
        }
        if object.get("plan").is_some_and(|plan| !plan.is_object()) {
            return Err(serde_json::Error::custom("`plan` must be an object with `steps`"));
        }
    }
    serde_json::from_value(value)
}

/// Finds the first JSON object in a text.
pub(super) fn parse_object(text: &str) -> Option<Value> {
    let at = text.find('{')?;
    let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
    values.next()?.ok().filter(Value::is_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, goals: &[&str]) {
        let draft = parse_draft(text).unwrap();
        let found: Vec<&str> = draft.plan.steps.iter().map(|step| step.goal.as_str()).collect();
        assert_eq!(found, goals, "{text}");
    }

    #[test]
    fn a_plan_is_found_alone_in_a_fence_and_among_prose() {
        let plan = r#"{"reasoning": "r", "plan": {"steps": [{"number": 1, "goal": "g"}]}}"#;
        check(plan, &["g"]);
        check(&format!("Here {{it}} is:\n```json\n{plan}\n```\nDone."), &["g"]);
        check(r#"{"steps": [{"goal": "g"}]}"#, &["g"]);
        check(r#"{"plan": [{"goal": "g"}]}"#, &["g"]);
        check(r#"{"note": 1} {"plan": {"steps": []}}"#, &[]);
        // An action that cannot be parsed is a failure of its step, not of the plan.
        check(r#"{"plan": {"steps": [{"goal": "g", "call": {"operation": 1}}]}}"#, &["g"]);
    }

    #[test]
    fn what_is_no_plan_is_said() {
        let check = |text: &str, complaint: &str| {
            let got = parse_draft(text).unwrap_err().to_string();
            assert!(got.contains(complaint), "{got}");
        };
        check("I cannot help.", "no JSON object");
        check(r#"{"answer": 42}"#, "no `plan`");
        check(r#"{"plan": {"steps": [{"number": 1,"#, "the JSON is broken");
        check(r#"{"reasoning": "r", "plan": {"steps": [{"number": 1, "goal": "g"}]}, "clarifications": ["#, "broken");
        check(r#"{"plan": {"steps": [{"number": "one"}]}}"#, "wrong shape");
        check(r#"{"plan": "none"}"#, "wrong shape");
    }
}

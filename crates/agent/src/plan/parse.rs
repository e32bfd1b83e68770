//! Parses the draft of a plan from the text of a model.

use serde::de::Error as _;
use serde_json::Value;

use super::Draft;

/// Why a text is not a plan. The model gets the error message.
#[derive(Debug, thiserror::Error)]
pub(super) enum ParseError {
    /// The text is only prose.
    #[error("the answer contains no JSON object")]
    NoJson,
    /// The text contains other objects.
    #[error("the answer has no `plan`")]
    NoPlan,
    /// The JSON of the plan is malformed.
    #[error("the JSON is malformed: {0}")]
    Broken(serde_json::Error),
    /// The plan has invalid fields.
    #[error("the plan has an invalid structure: {0}")]
    Shape(serde_json::Error),
}

/// Finds the plan in a text: plain JSON, in a code fence, or within prose.
pub(super) fn parse_draft(text: &str) -> Result<Draft, ParseError> {
    let mut complaint = ParseError::NoJson;
    let last_plan = text.rfind("\"plan\"");
    for (at, _) in text.match_indices('{') {
        let is_broken = matches!(complaint, ParseError::Broken(_));
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        match values.next() {
            // Steps of a malformed plan are not the plan itself.
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

/// Returns whether the value of `"plan"` starts after this text.
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
    fn parses_plan_plain_fenced_and_in_prose() {
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
    fn reports_invalid_plans() {
        let check = |text: &str, complaint: &str| {
            let got = parse_draft(text).unwrap_err().to_string();
            assert!(got.contains(complaint), "{got}");
        };
        check("I cannot help.", "no JSON object");
        check(r#"{"answer": 42}"#, "no `plan`");
        check(r#"{"plan": {"steps": [{"number": 1,"#, "the JSON is malformed");
        check(
            r#"{"reasoning": "r", "plan": {"steps": [{"number": 1, "goal": "g"}]}, "clarifications": ["#,
            "malformed",
        );
        check(r#"{"plan": {"steps": [{"number": "one"}]}}"#, "invalid structure");
        check(r#"{"plan": "none"}"#, "invalid structure");
    }
}

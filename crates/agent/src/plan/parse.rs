//! Reading the draft of a plan from the text of a model.

use serde::de::Error as _;
use serde_json::Value;

use super::Draft;

/// Finds the plan in a model's text: alone, in a code fence, or among prose. The error is what to tell the model.
pub(super) fn parse_draft(text: &str) -> Result<Draft, String> {
    let mut complaint = "the answer holds no JSON object".to_owned();
    let last_plan = text.rfind("\"plan\"");
    for (at, _) in text.match_indices('{') {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        match values.next() {
            // The steps of a broken plan are not the whole of it.
            Some(Ok(_)) if complaint.starts_with("the JSON") && is_value_of_plan(&text[..at]) => {}
            Some(Ok(value)) if value.get("plan").is_some() || value.get("steps").is_some() => {
                return read_draft(value).map_err(|error| format!("the plan has a wrong shape: {error}"));
            }
            // An object, but not a plan: a later one may be.
            Some(Ok(_)) if !complaint.starts_with("the JSON") => complaint = "the answer has no `plan`".into(),
            Some(Err(error)) if !complaint.starts_with("the JSON") && last_plan > Some(at) => {
                complaint = format!("the JSON is broken: {error}");
            }
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
    }

    #[test]
    fn what_is_no_plan_is_said() {
        let check = |text: &str, complaint: &str| {
            let got = parse_draft(text).unwrap_err();
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

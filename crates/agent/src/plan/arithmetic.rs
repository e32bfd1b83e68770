//! Whether the expressions of a step are ones that the engine computes, told at their place before anything runs.

use prospector_connect::query::Measure;
use prospector_engine::query::check_expression;

use super::{
    Failure, Step,
    formula::{Formula, is_function},
};

/// What to write in the place of what is not computed.
const ADVICE: &str = "what is counted or summed under a condition is a step of its own, with the condition in `filter`";

/// The expressions of a step that nothing computes, each at its place. A function that there is not is told elsewhere.
pub(super) fn list_failures(place: &str, step: &Step) -> Vec<Failure> {
    // What an operation is called with is its own matter.
    if !step.operations.is_empty() {
        return Vec::new();
    }
    let computed = step.compute.iter().filter_map(|measure| measure.expression.as_deref());
    let compared = step.conditions().map(|filter| filter.column.as_str());
    let compared = compared.filter(|text| Measure::read_aggregate(text).is_some());
    let all = computed.map(|text| ("compute", text)).chain(compared.map(|text| ("filter", text)));
    let known = all.filter(|(_, text)| Formula::read(text).functions.iter().all(|name| is_function(name)));
    let explain = |(field, text): (&str, &str)| {
        let failure = check_expression(text).err()?;
        let advice = failure.suggestion.map(|advice| format!("; {advice}")).unwrap_or_default();
        Some(Failure {
            place: format!("{place}.{field}"),
            name: text.to_owned(),
            reason: format!("{}{advice}; {ADVICE}", failure.message),
            nearest: Vec::new(),
        })
    };
    known.filter_map(explain).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn list(compute: &str, operations: &[&str]) -> Vec<Failure> {
        let step = json!({"goal": "g", "compute": [compute], "operations": operations});
        list_failures("s", &serde_json::from_value(step).unwrap())
    }

    #[test]
    fn what_the_engine_does_not_compute_is_told_at_its_place() {
        for text in [
            "100 * SUM(a.b.c - a.b.\"d e\") / count(distinct a.b.f) as n",
            "round(a / b, 2) as n",
            "a.b.c - a.b.d as n",
        ] {
            assert_eq!(list(text, &[]), [], "{text}");
        }
        for text in ["sum(case when a.b.c = 5 then 1 else 0 end)", "sum(avg(a.b.c)) / 2", "sum(a.b.c) / "] {
            let failures = list(text, &[]);
            assert_eq!((failures.len(), failures[0].place.as_str()), (1, "s.compute"), "{text}: {failures:?}");
            assert!(failures[0].reason.contains("a step of its own, with the condition in `filter`"), "{failures:?}");
        }
        // A function that there is not is told with those that there are.
        assert_eq!(list("sum(julianday(a.b.c)) as n", &[]), []);
        assert_eq!(list("sum(case when a.b.c = 'x' then 1 end) as n", &["api.list"]), []);
    }
}

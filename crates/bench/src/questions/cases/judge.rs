//! Compares results with expectations.

use std::collections::BTreeSet;

use prospector_agent::{
    ask::{AnswerStatus, Answered},
    plan::{Ended, Metrics, Plan, step::Resources},
};
use prospector_engine::Engine;
use serde_json::Value;

use super::file::{Case, CaseLimits, Expected};

/// The observable result of an answer or plan.
#[derive(Debug, Clone, Default)]
pub(crate) struct Observed {
    pub(crate) tables: BTreeSet<String>,
    pub(crate) operations: BTreeSet<String>,
    pub(crate) documents: BTreeSet<String>,
    pub(crate) skills: BTreeSet<String>,
    pub(crate) verified: Vec<String>,
    /// The rows of each result.
    pub(crate) results: Vec<Vec<Vec<Value>>>,
    pub(crate) text: String,
    pub(crate) refused: bool,
    pub(crate) asks_back: bool,
    pub(crate) metrics: Metrics,
    pub(crate) ended: Ended,
    /// The reason if the answer or plan is unsound.
    pub(crate) unsound: Option<String>,
}

impl Observed {
    /// Observes an answer. The tables are those read by its queries.
    pub(crate) async fn of_answer(answered: &Answered, engine: &Engine) -> Observed {
        let good: Vec<_> = answered.questions.iter().filter(|question| question.error.is_none()).collect();
        let mut tables = BTreeSet::new();
        for question in &good {
            if let Ok(found) = engine.inspect(&question.sql, question.database.as_deref()).await {
                tables.extend(found.tables);
            }
        }
        let has_rows = good.iter().any(|question| !question.rows.is_empty());
        let is_unanswered = answered.status == AnswerStatus::Unanswered;
        let documents = answered.premises.iter().filter_map(|premise| premise.source.split('#').next());
        Observed {
            tables,
            documents: documents.map(str::to_owned).collect(),
            verified: good.iter().filter_map(|one| Some(one.verified.as_ref()?.query.clone())).collect(),
            results: good.iter().map(|question| question.rows.clone()).collect(),
            refused: !has_rows && is_unanswered && answered.clarifications.is_empty(),
            asks_back: !answered.clarifications.is_empty(),
            metrics: answered.metrics.clone(),
            ended: answered.ended,
            unsound: (!answered.tracing.ok).then(|| "a claim in the answer could not be traced".to_owned()),
            text: answered.answer.to_lowercase(),
            ..Observed::default()
        }
    }

    /// Observes a plan.
    pub(crate) fn of_plan(plan: &Plan) -> Observed {
        let (context, steps) = (&plan.discovered_context, &plan.plan.steps);
        let of_steps = |names: fn(&Resources) -> &Vec<String>| {
            steps.iter().flat_map(|step| names(&step.resources)).cloned().collect::<BTreeSet<String>>()
        };
        let with = |names: &[String], more: BTreeSet<String>| names.iter().cloned().chain(more).collect();
        let unsound = (!plan.verification.ok && !steps.is_empty()).then(|| "the plan failed verification".to_owned());
        Observed {
            tables: with(&context.tables, of_steps(|used| &used.tables)),
            operations: of_steps(|used| &used.operations),
            documents: with(&context.documents, of_steps(|used| &used.documents)),
            skills: with(&context.skills, of_steps(|used| &used.skills)),
            text: plan.reasoning.to_lowercase(),
            refused: steps.is_empty() && plan.clarifications.is_empty(),
            asks_back: !plan.clarifications.is_empty(),
            metrics: plan.metrics.clone(),
            ended: plan.ended,
            unsound,
            ..Observed::default()
        }
    }
}

/// Returns the expectations that are not met; empty if the case passes.
pub(crate) fn judge(case: &Case, observed: &Observed) -> Vec<String> {
    let Expected { tables, operations, documents, skills, .. } = &case.expect;
    let mut failures = Vec::new();
    match observed.ended {
        Ended::Completed | Ended::NoAnswer | Ended::NoPlan => {}
        ended => failures.push(format!("the run was aborted: {}", ended.reason())),
    }
    let used = [
        ("table", tables, &observed.tables),
        ("operation", operations, &observed.operations),
        ("document", documents, &observed.documents),
        ("skill", skills, &observed.skills),
    ];
    for (what, expected, used) in used {
        for name in expected.iter().filter(|name| !used.iter().any(|one| one.eq_ignore_ascii_case(name))) {
            failures.push(format!("the {what} {name} is not used"));
        }
    }
    judge_rows(&case.expect, observed, &mut failures);
    if let Some(name) = case.expect.verified.as_ref().filter(|name| !observed.verified.contains(name)) {
        failures.push(format!("the verified query {name} did not answer"));
    }
    for words in case.expect.text.iter().filter(|words| !observed.text.contains(&words.to_lowercase())) {
        failures.push(format!("the answer does not contain `{words}`"));
    }
    if case.expect.refusal && !observed.refused {
        failures.push("it was answered instead of declined".into());
    }
    if case.expect.clarification && !observed.asks_back {
        failures.push("no clarification was requested".into());
    }
    if let Some(unsound) = observed.unsound.as_ref().filter(|_| !case.expect.refusal) {
        failures.push(unsound.clone());
    }
    judge_cost(case.limits, &observed.metrics, &mut failures);
    failures
}

fn judge_rows(expected: &Expected, observed: &Observed, failures: &mut Vec<String>) {
    let tolerance = expected.tolerance();
    if let Some(value) = &expected.value {
        let cells = || observed.results.iter().flatten().flatten();
        if !cells().any(|cell| same(value, cell, tolerance)) {
            let found: Vec<String> = cells().take(4).map(show).collect();
            let found = if found.is_empty() { "no rows".to_owned() } else { format!("found {}", found.join(", ")) };
            failures.push(format!("expected the value {}, and {found}", show(value)));
        }
    }
    if !expected.rows.is_empty() {
        let is_row = |wanted: &[Value], row: &[Value]| {
            wanted.iter().all(|value| row.iter().any(|cell| same(value, cell, tolerance)))
        };
        let holds = |rows: &Vec<Vec<Value>>| {
            let mut rest = rows.iter();
            expected.rows.iter().all(|wanted| rest.any(|row| is_row(wanted, row)))
        };
        if !observed.results.iter().any(holds) {
            let first = observed.results.last().and_then(|rows| rows.first());
            let found = first.map_or("no rows".to_owned(), |row| {
                format!("the first row is {}", row.iter().map(show).collect::<Vec<_>>().join(" | "))
            });
            failures.push(format!("no result contains the expected rows: {found}"));
        }
    }
    if let Some(count) = expected.row_count
        && !observed.results.iter().any(|rows| rows.len() == count)
    {
        let found: Vec<String> = observed.results.iter().map(|rows| rows.len().to_string()).collect();
        failures.push(format!("expected {count} rows, but the results have {}", found.join(", ")));
    }
}

fn judge_cost(limits: CaseLimits, metrics: &Metrics, failures: &mut Vec<String>) {
    let tokens = metrics.input_tokens + metrics.output_tokens;
    let seconds = metrics.durations_ms.total as f64 / 1_000.0;
    if let Some(most) = limits.calls.filter(|most| metrics.tool_calls > *most) {
        failures.push(format!("{} calls, limit {most}", metrics.tool_calls));
    }
    if let Some(most) = limits.tokens.filter(|most| tokens > *most) {
        failures.push(format!("{tokens} tokens, limit {most}"));
    }
    if let Some(most) = limits.seconds.filter(|most| seconds > *most) {
        failures.push(format!("{seconds:.1} seconds, limit {most}"));
    }
}

/// Returns whether a value equals the expected one: numbers within the tolerance, texts ignoring case.
fn same(expected: &Value, found: &Value, tolerance: f64) -> bool {
    let number = |value: &Value| match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse::<f64>().ok(),
        _ => None,
    };
    match (number(expected), number(found)) {
        (Some(expected), Some(found)) => (expected - found).abs() <= tolerance,
        _ => show(expected).trim().eq_ignore_ascii_case(show(found).trim()),
    }
}

pub(crate) fn show(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(expect: Value, observed: &Observed, expected: &[&str]) {
        let case: Case = serde_json::from_value(json!({"question": "q", "expect": expect})).unwrap();
        let failures = judge(&case, observed);
        assert_eq!(failures.len(), expected.len(), "{failures:?}");
        for (failure, part) in failures.iter().zip(expected) {
            assert!(failure.contains(part), "{failure}");
        }
    }

    #[test]
    fn each_expectation_can_fail() {
        let observed = Observed {
            tables: ["shop.orders".to_owned()].into(),
            results: vec![vec![vec![json!("Japan"), json!("6.20")], vec![json!("Spain"), json!(6.08)]]],
            text: "the answer is 6.2".into(),
            ..Observed::default()
        };
        check(json!({"tables": ["shop.orders"], "value": 6.2, "row_count": 2, "text": "ANSWER"}), &observed, &[]);
        check(json!({"rows": [["Japan", 6.2], ["spain"]]}), &observed, &[]);
        check(json!({"rows": [["Spain"], ["Japan"]]}), &observed, &["no result contains"]);
        check(json!({"value": 6.3}), &observed, &["expected the value 6.3, and found Japan"]);
        check(json!({"value": 6.3, "tolerance": 0.2}), &observed, &[]);
        check(
            json!({"tables": ["shop.lines"], "row_count": 3}),
            &observed,
            &["shop.lines is not used", "expected 3 rows"],
        );
        check(json!({"text": ["no", "other"]}), &observed, &["`no`", "`other`"]);
        check(json!({"refusal": true}), &observed, &["instead of declined"]);
        check(json!({"clarification": true}), &observed, &["no clarification"]);
        check(json!({"verified": "vip"}), &observed, &["vip did not answer"]);
        let broken = Observed { ended: Ended::TimeLimit, ..observed };
        check(json!({"value": 6.2}), &broken, &["the time limit was reached"]);
    }
}

//! Definitions that are words: what they ask for in numbers must stand in a step that computes.

use prospector_agent::plan::Step;
use serde_json::Value;

use crate::record::StepRun;

/// The definitions among the premises whose numbers no step compares with, limits by or computes with.
pub(crate) fn list_unapplied(steps: &[Step], done: &[StepRun]) -> Vec<String> {
    let mut used = Vec::new();
    // What a verified query compares with stands in its SQL.
    let verified = done.iter().filter(|step| step.step.query.is_some()).filter_map(|step| step.sql.as_deref());
    used.extend(verified.flat_map(numbers));
    for step in steps {
        step.conditions().for_each(|filter| collect(&filter.value, &mut used));
        used.extend(step.limit.map(|limit| limit as f64));
        let expressions = step.compute.iter().filter_map(|measure| measure.expression.as_deref());
        used.extend(expressions.flat_map(numbers));
    }
    let mut told: Vec<String> = Vec::new();
    for premise in done.iter().flat_map(|step| &step.premises).filter(|premise| !premise.term.is_empty()) {
        let is_used = |number: &f64| used.iter().any(|known| (known - number).abs() < 1e-9);
        let missing: Vec<String> = thresholds(&premise.definition, &premise.term)
            .into_iter()
            .filter(|number| !is_used(number))
            .map(|number| number.to_string())
            .collect();
        let text = format!(
            "{} is defined with {}, and no step computes with it: {}",
            premise.term,
            missing.join(" and "),
            premise.definition
        );
        if !missing.is_empty() && !told.contains(&text) {
            told.push(text);
        }
    }
    told
}

/// The numbers of a definition that say how much: behind words that compare.
fn thresholds(definition: &str, term: &str) -> Vec<f64> {
    const COMPARISONS: [&str; 16] = [
        "least", "most", "than", "above", "below", "over", "under", "exceeds", "exceed", "minimum", "maximum", ">",
        "<", ">=", "<=", "within",
    ];
    if !definition.to_lowercase().contains(&term.to_lowercase()) {
        return Vec::new();
    }
    let words: Vec<&str> = definition.split_whitespace().collect();
    let compares = |word: &&str| COMPARISONS.iter().any(|known| word.eq_ignore_ascii_case(known));
    // The number follows in a few words: `at least 45.00`, `more than USD 100`.
    let is_compared = |at: usize| words[at.saturating_sub(3)..at].iter().any(compares);
    (0..words.len()).filter(|at| is_compared(*at)).flat_map(|at| numbers(words[at])).collect()
}

fn collect(value: &Value, into: &mut Vec<f64>) {
    match value {
        Value::Number(number) => into.extend(number.as_f64()),
        Value::String(text) => into.extend(text.parse::<f64>().ok()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
        Value::Null | Value::Bool(_) | Value::Object(_) => {}
    }
}

/// The numbers in a text; a comma between digits parts thousands.
fn numbers(text: &str) -> Vec<f64> {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let parts = text.split(|c| !is_digit(c)).map(|part| part.trim_matches(['.', ',']).replace(',', ""));
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use prospector_agent::plan::{PlanFact, QueryCall};

    use super::*;

    #[test]
    fn a_verified_query_applies_what_stands_in_its_sql() {
        let definition = "A VIP is a customer whose invoices total at least 45.00".to_owned();
        let premise = PlanFact { term: "VIP".into(), definition, ..PlanFact::default() };
        let sql = Some("SELECT id FROM spending WHERE total >= 45.00".to_owned());
        let mut run = StepRun { premises: vec![premise], sql, ..StepRun::default() };
        assert_eq!(list_unapplied(&[], std::slice::from_ref(&run)).len(), 1);
        run.step.query = Some(QueryCall { name: "vip-customers".into(), ..QueryCall::default() });
        assert_eq!(list_unapplied(&[], &[run]), Vec::<String>::new());
    }

    #[test]
    fn what_a_definition_compares_with_is_a_threshold() {
        let check =
            |definition: &str, expected: &[f64]| assert_eq!(thresholds(definition, "VIP"), expected, "{definition}");
        check("A VIP is a customer whose invoices total at least 45.00 (USD) in 2025", &[45.0]);
        check("VIP: lifetime value > $100,000", &[100_000.0]);
        check("A VIP buys in at least three of four quarters", &[]);
        check("Discounts of more than 10 percent are approved", &[]);
    }
}

//! Definitions that a plan cites: known to the catalog, and applied by a statement.

use std::collections::{BTreeSet, HashSet};

use prospector_core::record::{Resource, ResourceKind};

use super::{
    PlanFact,
    verification::{Code, Finding},
};
use crate::names::Names;

const PATH: &str = "discovered_context.facts";

/// Verifies that a definition is stored, or is in a source of the catalog; in a run, that the run was shown it. A definition is
/// no resource that a step would miss, so it is only warned of.
pub(super) fn check_source(fact: &PlanFact, names: &dyn Names, seen: Option<&HashSet<Resource>>) -> Option<Finding> {
    if fact.term.trim().is_empty() || fact.definition.trim().is_empty() {
        return Some(Finding::new(PATH, Code::UnknownDefinition, "a fact needs a term and a definition"));
    }
    let stored = names.resolve(ResourceKind::Fact, &fact.term);
    let source = fact.source.split('#').next().unwrap_or_default();
    const SOURCES: [ResourceKind; 5] = [
        ResourceKind::Document,
        ResourceKind::Table,
        ResourceKind::Column,
        ResourceKind::Operation,
        ResourceKind::Metric,
    ];
    let mut sources = SOURCES.into_iter().filter_map(|kind| Some((kind, names.resolve(kind, source)?)));
    let (is_known, message) = match seen {
        None => (
            stored.is_some() || sources.next().is_some(),
            format!("the definition of `{}` is not stored, and its source `{}` does not exist", fact.term, fact.source),
        ),
        Some(seen) => {
            let is_seen = |name: &String| seen.contains(&Resource::new(ResourceKind::Fact, name.as_str()));
            let is_fact = stored.iter().chain([&fact.term]).any(is_seen);
            let is_source = sources.any(|(kind, id)| seen.contains(&Resource::new(kind, id)));
            (is_fact || is_source, format!("no discovery call of this run returned the definition of `{}`", fact.term))
        }
    };
    (!is_known).then(|| Finding::new(PATH, Code::UnknownDefinition, message))
}

/// Warns of each cited definition with a number that no statement of the plan contains.
pub(super) fn check_literals(facts: &[PlanFact], used: &BTreeSet<String>) -> Vec<Finding> {
    let numbers: Vec<f64> = used.iter().filter_map(|literal| literal.parse().ok()).collect();
    let is_used = |number: f64| numbers.iter().any(|known| (known.abs() - number).abs() < 1e-9);
    let mut findings = Vec::new();
    for fact in facts {
        let missing: Vec<String> =
            literals(&fact.definition).filter(|number| !is_used(*number)).map(|number| number.to_string()).collect();
        if !missing.is_empty() {
            let message = format!(
                "`{}` is defined with {}, which is in no statement of the plan",
                fact.term,
                missing.join(" and ")
            );
            let suggestion = "apply the definition in a statement, or use the segment, metric or verified query for it";
            findings.push(Finding::new(PATH, Code::DefinitionNotApplied, message).suggest(suggestion));
        }
    }
    findings
}

/// The numbers of a definition that stand alone: neither a part of a date, a name, an ordinal or a range of pages, nor a year.
fn literals(definition: &str) -> impl Iterator<Item = f64> {
    definition.split_whitespace().filter_map(|word| {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation() || "“”‘’€£¥".contains(c));
        let digits = word.trim_end_matches('%').replace(',', "");
        let number: f64 = digits.parse().ok().filter(|_| digits.starts_with(|c: char| c.is_ascii_digit()))?;
        let is_year = digits.len() == 4 && (1900.0..2100.0).contains(&number);
        // 0 and 1 are written in too many ways.
        (!is_year && number > 1.0).then_some(number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(definition: &str) -> PlanFact {
        PlanFact { term: "VIP".into(), definition: definition.into(), ..PlanFact::default() }
    }

    #[test]
    fn warns_of_a_number_that_no_statement_contains() {
        let used = |literals: &[&str]| literals.iter().map(|text| (*text).to_owned()).collect::<BTreeSet<_>>();
        let vip = [fact("A VIP is a customer whose paid invoices total at least 45.00 (USD) in 2025")];
        let found = check_literals(&vip, &used(&["P"]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].message, "`VIP` is defined with 45, which is in no statement of the plan");
        assert_eq!(check_literals(&vip, &used(&["P", "45"])), []);
        assert_eq!(check_literals(&[fact("Revenue is the total of paid invoices")], &used(&[])), []);
    }

    #[test]
    fn dates_years_and_names_are_no_literals() {
        let found = |text: &str| literals(text).collect::<Vec<_>>();
        assert_eq!(found("more than $100,000 within 30 days"), [100_000.0, 30.0]);
        assert_eq!(found("from 2025-01-01 on, ISO8601, the 2nd of 2025, invoices.stat_cd2"), [] as [f64; 0]);
        assert_eq!(found("at least 5% of 1"), [5.0]);
    }
}

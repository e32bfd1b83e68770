//! The derivation of an auditable answer: definitions, queries, and the sentences based on them.

use crate::{
    answer::{Claim, DataQuestion, DerivationStep, StepKind},
    plan::PlanFact,
};

/// Returns the steps: definitions, successful queries, then sentences.
pub(super) fn derive(premises: &[PlanFact], questions: &[DataQuestion], claims: &[Claim]) -> Vec<DerivationStep> {
    let premise = |(at, fact): (usize, &PlanFact)| DerivationStep {
        id: format!("P{}", at + 1),
        text: fact.definition.clone(),
        source: fact.source.clone(),
        confidence: Some(fact.confidence),
        ..DerivationStep::default()
    };
    let query = |question: &DataQuestion| DerivationStep {
        id: question.id.clone(),
        kind: StepKind::Query,
        text: question.question.clone(),
        source: question.sql.clone(),
        ..DerivationStep::default()
    };
    let conclusion = |(at, claim): (usize, &Claim)| {
        let said = claim.text.to_lowercase();
        let is_used = |fact: &PlanFact| !fact.term.is_empty() && said.contains(&fact.term.to_lowercase());
        let used = premises.iter().enumerate().filter(|(_, fact)| is_used(fact)).map(|(at, _)| format!("P{}", at + 1));
        DerivationStep {
            id: format!("C{}", at + 1),
            kind: StepKind::Conclusion,
            text: claim.text.clone(),
            rests_on: used.chain(claim.references.iter().cloned()).collect(),
            problems: claim.problems.clone(),
            ..DerivationStep::default()
        }
    };
    let mut steps: Vec<DerivationStep> = premises.iter().enumerate().map(premise).collect();
    steps.extend(questions.iter().filter(|question| question.error.is_none()).map(query));
    steps.extend(claims.iter().filter(|claim| !is_heading(&claim.text)).enumerate().map(conclusion));
    steps
}

/// Returns whether a line only announces others: `Definitions [Q1]:`.
fn is_heading(text: &str) -> bool {
    let text = text.trim();
    let title = text.split('[').next().unwrap_or_default();
    text.ends_with(':') && title.split_whitespace().count() <= 1
}

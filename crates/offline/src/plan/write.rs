//! The plan, or the honest word that there is none.

use prospector_agent::plan::{
    Draft,
    sense::{SenseCode, check_sense},
};

use super::{choose::choose, draft::write_choice, evidence::Evidence};

/// Writes the plan. What makes no sense after a second look is no plan, and is declined.
pub(super) fn write(evidence: &Evidence) -> Draft {
    let choice = choose(evidence);
    if choice.is_empty() {
        return decline(evidence, &[]);
    }
    let draft = write_choice(evidence, &choice);
    let sense = check_sense(&evidence.question, &draft, evidence);
    let has_second_look = !evidence.objections.is_empty() || !evidence.refused.is_empty();
    let is_hopeless = sense.findings.iter().any(|finding| match finding.code {
        SenseCode::NotCovered | SenseCode::OutsideData | SenseCode::Writes | SenseCode::NoChange => true,
        SenseCode::NotNeeded
        | SenseCode::DefinitionNotNeeded
        | SenseCode::DefinitionNotMet
        | SenseCode::MissingCondition
        | SenseCode::MissingPeriod
        | SenseCode::WrongPeriod
        | SenseCode::MissingGroup
        | SenseCode::WrongMeasure
        | SenseCode::NotJoined
        | SenseCode::UnknownColumn
        | SenseCode::WrongValue
        | SenseCode::Declined => false,
    });
    if is_hopeless && has_second_look {
        return decline(evidence, &sense.not_covered);
    }
    draft
}

/// The honest plan when nothing fits.
fn decline(evidence: &Evidence, missing: &[String]) -> Draft {
    let mut clarifications = vec![format!(
        "Nothing in this catalog answers \"{}\". Name a source that would, or ask in other words.",
        evidence.question
    )];
    if !missing.is_empty() {
        let words: Vec<String> = missing.iter().map(|word| format!("`{word}`")).collect();
        clarifications.push(format!("Nothing that was found holds {}: what is meant by it?", words.join(", ")));
    }
    clarifications.extend(evidence.unclear.iter().cloned());
    let mut reasoning =
        "The offline planner looked for facts, tables, operations, documents and skills, and found no good match."
            .to_owned();
    if !evidence.failures.is_empty() {
        reasoning.push_str(&format!(" Some tools failed: {}.", evidence.failures.join("; ")));
    }
    Draft { reasoning, clarifications, ..Draft::default() }
}

//! The plan, or the honest word that there is none.

use prospector_agent::plan::{
    Draft,
    sense::{
        SenseCode, check_sense,
        question::{Concept, Question},
    },
};

use super::{choose::choose, draft::write_choice, evidence::Evidence};

/// So many things a question may name for the first of them to be what it is about.
const MAX_CONCEPTS_WITH_SUBJECT: usize = 6;

/// Writes the plan. What is about something else after a second look is no plan, and is declined; a plan that lacks a part says so
/// when it is verified.
pub(super) fn write(evidence: &Evidence) -> Draft {
    let choice = choose(evidence);
    if choice.is_empty() {
        return decline(evidence, &[]);
    }
    let draft = write_choice(evidence, &choice);
    let sense = check_sense(&evidence.question, &draft, evidence);
    let has_second_look = !evidence.objections.is_empty() || !evidence.refused.is_empty();
    let is_hopeless = sense.findings.iter().any(|finding| match finding.code {
        SenseCode::OutsideData | SenseCode::Writes | SenseCode::NoChange => true,
        SenseCode::NotCovered => misses_subject(&evidence.question, &sense.not_covered),
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

/// Whether what a question is about, or more than half of what it names, is nowhere.
fn misses_subject(question: &str, missing: &[String]) -> bool {
    let concepts = Question::parse(question).concepts;
    // A name is a value, and a verb says what happens: nothing that was found has to hold them.
    let is_noun = |concept: &Concept| {
        !concept.is_name && !["ing", "ed", "ly"].iter().any(|end| concept.text.ends_with(end) && concept.text.len() > 4)
    };
    let is_missing = |concept: &Concept| missing.contains(&concept.text);
    let count = concepts.iter().filter(|concept| is_noun(concept) && is_missing(concept)).count();
    let subject = concepts.iter().find(|concept| is_noun(concept));
    let subject = subject.filter(|_| concepts.len() <= MAX_CONCEPTS_WITH_SUBJECT);
    count * 2 > concepts.len() || subject.is_some_and(is_missing)
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

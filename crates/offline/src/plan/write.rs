//! The plan, or the honest word that there is none.

use prospector_agent::plan::{
    Draft,
    sense::{
        SenseCode, check_sense,
        question::{Concept, Question},
    },
};

use super::{
    choice::Choice, choose::choose, draft::write_choice, evidence::Evidence, lookups::find_lookups,
    reading::write_reading,
};

/// So many things a question may name for the first of them to be what it is about.
const MAX_CONCEPTS_WITH_SUBJECT: usize = 6;

/// So many nouns may be missing for each that operations hold; such a plan says what it lacks when it is verified.
const MAX_MISSED: usize = 2;

/// Writes the plan. What is about something else after a second look is no plan, and is declined; a plan that lacks a part says so
/// when it is verified.
pub(super) fn write(evidence: &Evidence) -> Draft {
    if let Some(draft) = write_reading(evidence) {
        return draft;
    }
    let mut choice = choose(evidence);
    choice.lookups = find_lookups(evidence, &choice);
    if choice.is_empty() {
        return decline(evidence, &[]);
    }
    let draft = write_choice(evidence, &choice);
    let sense = check_sense(&evidence.question, &draft, evidence);
    let has_second_look = !evidence.objections.is_empty() || !evidence.refused.is_empty();
    let is_hopeless = sense.findings.iter().any(|finding| match finding.code {
        SenseCode::OutsideData | SenseCode::Writes | SenseCode::NoChange => true,
        SenseCode::NotCovered => misses_subject(&evidence.question, &sense.not_covered, &choice),
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

/// Whether what a question is about is nowhere. Tables have columns, so what they do not name they do not hold, and the first of
/// a few nouns, or more than half of many, say what is asked. Operations are told in a line: there it takes that none of the nouns
/// stands in any, or that more than two are missing for each that does.
fn misses_subject(question: &str, missing: &[String], choice: &Choice<'_>) -> bool {
    let concepts = Question::parse(question).concepts;
    // A name is a value, and a verb says what happens: nothing that was found has to hold them.
    let is_noun = |concept: &&Concept| {
        !concept.is_name && !["ing", "ed", "ly"].iter().any(|end| concept.text.ends_with(end) && concept.text.len() > 4)
    };
    let is_missing = |concept: &&Concept| missing.contains(&concept.text);
    let (missed, held): (Vec<&Concept>, Vec<&Concept>) = concepts.iter().filter(is_noun).partition(is_missing);
    if choice.tables.is_empty() && !choice.operations.is_empty() {
        return missed.len() > MAX_MISSED * held.len();
    }
    let subject = concepts.iter().find(is_noun).filter(|_| concepts.len() <= MAX_CONCEPTS_WITH_SUBJECT);
    missed.len() * 2 > concepts.len() || subject.is_some_and(|subject| is_missing(&subject))
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

//! Which of what was found the plan uses: the choice whose plan has the least to complain of by the checks that it will be
//! verified by, with the fewest and the most relevant sources. One source or definition after another is taken in, or left out
//! again, as long as that helps.

use prospector_agent::plan::sense::{SenseCode, check_sense, question::Question};

use super::{
    choice::Choice,
    draft,
    evidence::{Definition, Evidence, NamedHit, TableHit},
};

/// A document or skill below this is not looked at. Operations have no such limit: their names and descriptions are short, and
/// whether they hold what the question names is checked.
const MIN_RELEVANCE: f64 = 0.1;

/// A table whose columns nobody could read is used from here on.
const MIN_UNREAD_RELEVANCE: f64 = 0.33;

/// What it adds to the relevance of a table that the question or the definition says its name, or that it holds a value of the
/// question.
const NAME_BONUS: f64 = 0.5;

/// What a source costs beside what it may be complained of; a relevant one costs less.
const TABLE_COST: f64 = 1.0;
const OPERATION_COST: f64 = 3.0;
const DOCUMENT_COST: f64 = 2.5;
const SKILL_COST: f64 = 3.5;
const FACT_COST: f64 = 0.2;

/// What it costs to leave out what would help, by an earlier complaint.
const IGNORED_COST: f64 = 8.0;

/// What a plan without steps costs, however little the question names.
const MIN_COST_OF_NOTHING: f64 = 60.0;

/// After so many changes the choice stands.
const MAX_CHANGES: usize = 16;

/// Something that the plan may use.
#[derive(Clone, Copy)]
enum Candidate<'a> {
    Fact(&'a Definition),
    Table(&'a TableHit),
    Operation(&'a NamedHit),
    Document(&'a NamedHit),
    Skill(&'a NamedHit),
}

impl Candidate<'_> {
    fn cost(&self) -> f64 {
        match self {
            Candidate::Fact(_) => FACT_COST,
            Candidate::Table(hit) => TABLE_COST - 0.5 * hit.relevance,
            Candidate::Operation(hit) => OPERATION_COST - 2.0 * hit.relevance,
            Candidate::Document(hit) => DOCUMENT_COST - 2.0 * hit.relevance,
            Candidate::Skill(hit) => SKILL_COST - 3.0 * hit.relevance,
        }
    }
}

/// Decides.
pub(super) fn choose(evidence: &Evidence) -> Choice<'_> {
    let candidates = list_candidates(evidence);
    let mut used = vec![false; candidates.len()];
    let mut cost = judge(evidence, &candidates, &used);
    for _ in 0..MAX_CHANGES {
        let changed = (0..candidates.len()).map(|at| {
            let mut other = used.clone();
            other[at] = !other[at];
            (judge(evidence, &candidates, &other), at)
        });
        // Of equals the one that the search put first.
        let Some((better, at)) = changed.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(better, _)| *better < cost) else {
            break;
        };
        used[at] = !used[at];
        cost = better;
    }
    collect(&candidates, &used)
}

fn list_candidates(evidence: &Evidence) -> Vec<Candidate<'_>> {
    let refused = |id: &str| evidence.refused.iter().any(|name| name == id);
    let facts = evidence.facts.iter().filter(|fact| !refused(&fact.term)).map(Candidate::Fact);
    let is_likely = |hit: &TableHit| evidence.schemas.is_empty() && !hit.via && hit.relevance >= MIN_UNREAD_RELEVANCE;
    let is_known = |hit: &TableHit| evidence.schemas.iter().any(|schema| schema.id == hit.id()) || is_likely(hit);
    let is_read = |hit: &&TableHit| is_known(hit) && !refused(&hit.id());
    let tables = evidence.tables.iter().filter(is_read).map(Candidate::Table);
    let likely = |hit: &&NamedHit| hit.relevance >= MIN_RELEVANCE;
    let operations = evidence.operations.iter().filter(|hit| !refused(&format!("{}.{}", hit.parent, hit.name)));
    let documents = evidence.documents.iter().filter(likely).filter(|hit| !refused(&hit.parent));
    let skills = evidence.skills.iter().filter(likely).filter(|hit| !refused(&hit.name));
    facts
        .chain(tables)
        .chain(operations.map(Candidate::Operation))
        .chain(documents.map(Candidate::Document))
        .chain(skills.map(Candidate::Skill))
        .collect()
}

fn collect<'a>(candidates: &[Candidate<'a>], used: &[bool]) -> Choice<'a> {
    let mut choice = Choice::default();
    for candidate in candidates.iter().zip(used).filter(|(_, used)| **used).map(|(candidate, _)| candidate) {
        match candidate {
            Candidate::Fact(fact) => choice.facts.push(fact),
            Candidate::Table(hit) => choice.tables.push(hit),
            Candidate::Operation(hit) => choice.operations.push(hit),
            Candidate::Document(hit) => choice.documents.push(hit),
            Candidate::Skill(hit) => choice.skills.push(hit),
        }
    }
    choice
}

/// What a choice costs: the complaints about its plan, and its sources.
fn judge(evidence: &Evidence, candidates: &[Candidate<'_>], used: &[bool]) -> f64 {
    let choice = collect(candidates, used);
    let sources: f64 =
        candidates.iter().zip(used).filter(|(_, used)| **used).map(|(candidate, _)| candidate.cost()).sum();
    let answered = evidence.answer.as_ref().is_some_and(|answer| {
        choice.documents.iter().any(|hit| hit.parent == answer.document()) && choice.tables.is_empty()
    });
    let bonus = if answered { 4.0 } else { 0.0 };
    let plan = draft::write_choice(evidence, &choice);
    let sense = check_sense(&evidence.question, &plan, evidence);
    let complaints: f64 = sense.findings.iter().map(|finding| weigh_complaint(finding.code)).sum();
    // Why and how are questions for instructions, not for rows.
    let first = evidence.question.split_whitespace().next().unwrap_or_default().to_lowercase();
    let is_how = matches!(first.as_str(), "why" | "how") && !Question::parse(&evidence.question).wants_data();
    let bonus = bonus + if is_how && !choice.skills.is_empty() && choice.tables.is_empty() { 4.0 } else { 0.0 };
    // What an earlier plan was said to lack is not left out again.
    let lacks = evidence.objections.iter().filter(|objection| !objection.is_needless && !objection.missing.is_empty());
    let ignored =
        lacks.filter(|objection| !choice.tables.iter().any(|hit| objection.missing.contains(&hit.id()))).count();
    let complaints = complaints + IGNORED_COST * ignored as f64;
    let nothing = if plan.plan.steps.is_empty() { cost_of_nothing(&evidence.question) } else { 0.0 };
    sources + complaints + nothing - bonus
}

/// Of a plan without steps nothing is covered.
fn cost_of_nothing(question: &str) -> f64 {
    let concepts = Question::parse(question).concepts.len() as f64;
    MIN_COST_OF_NOTHING.max((concepts + 1.0) * weigh_complaint(SenseCode::NotCovered))
}

fn weigh_complaint(code: SenseCode) -> f64 {
    match code {
        SenseCode::Writes | SenseCode::NoChange => 25.0,
        SenseCode::NotCovered | SenseCode::WrongMeasure => 10.0,
        SenseCode::OutsideData | SenseCode::Declined => 12.0,
        SenseCode::DefinitionNotMet => 8.0,
        SenseCode::NotNeeded | SenseCode::NotJoined => 6.0,
        SenseCode::DefinitionNotNeeded
        | SenseCode::MissingCondition
        | SenseCode::MissingPeriod
        | SenseCode::WrongPeriod
        | SenseCode::MissingGroup
        | SenseCode::UnknownColumn
        | SenseCode::WrongValue => 4.0,
    }
}

/// How likely a table is to be used, before its columns are known.
pub(super) fn weigh(evidence: &Evidence, hit: &TableHit) -> f64 {
    let mut text = evidence.question.clone();
    for fact in &evidence.facts {
        text.push(' ');
        text.push_str(&fact.definition);
    }
    let said = words(&text);
    let is_named = words(&hit.table).iter().all(|word| said.contains(word));
    let holds_value = !hit.values.is_empty();
    hit.relevance + if is_named || holds_value { NAME_BONUS } else { 0.0 }
}

/// Words, lower case, without the plural.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 2)
        .map(|word| word.to_lowercase().trim_end_matches('s').to_owned())
        .collect()
}

//! What may be the answer: a known fact or a unit of a passage, with how sure it makes the answer.

use std::collections::HashSet;

use prospector_text::cut;

use crate::{
    calibration,
    definition::definitions,
    evidence::Passage,
    fit::{Asking, Statement},
    lookup::{Lookup, Place},
    model::{Fact, Origin, Source},
    quantity::quantities,
    question::Shape,
    sentences::{Form, MAX_SENTENCE_BYTES, Unit},
    term::{Definition, Pattern, fact_heads},
    words::stems,
};

/// What is written down is never quite certain.
pub(crate) const MAX_CONFIDENCE: f64 = 0.97;
/// What is left of the confidence of a stale fact: enough to be an answer, not to win over one.
const STALE: f64 = 0.6;
/// How sure a sentence makes an answer that covers all of the question and defines nothing.
const LOOKED_UP: f64 = 0.85;
/// The type of a source that is somebody else's word.
const OTHER_USER: &str = "other_user";
const MAX_ANSWER_CHARS: usize = 1_500;
const MAX_EXCERPT_CHARS: usize = 400;

/// Something that may be the answer.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) term: Option<String>,
    /// The stems by which it was found.
    pub(crate) key: Vec<String>,
    pub(crate) answer: String,
    pub(crate) source: Source,
    pub(crate) fit: f64,
    /// The sentence covers the question, but does not define what is asked for.
    pub(crate) covers: bool,
    /// By which candidates are compared.
    pub(crate) score: f64,
    /// How likely it is to answer, as it is shown.
    pub(crate) probability: f64,
    pub(crate) origin: Option<Origin>,
    pub(crate) scope: String,
    /// All that its source says of the term, where that is known to be more.
    pub(crate) whole: Option<String>,
}

/// The best way in which a unit answers.
struct Best<'a> {
    score: f64,
    fit: f64,
    covers: bool,
    definition: Option<&'a Definition>,
    key: Vec<String>,
}

pub(crate) fn from_fact(asking: &Asking, lookup: &Lookup<'_>, fact: &Fact) -> Option<Candidate> {
    let own = [fact.term.as_str(), &fact.definition, &fact.scope].into_iter().flat_map(stems).collect();
    let text = Statement::only(own);
    let by_term = fact_heads(&fact.term)
        .into_iter()
        .filter_map(|head| asking.fit(&head, &text).map(|fit| (fit, fit, head)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let unit = Unit::alone(&fact.definition, &fact.term);
    let place = Place { unit: &unit, text: &Statement::of(&unit), before: None, outer: &HashSet::new() };
    let by_words = lookup
        .answers(&asking.asked)
        .then(|| lookup.answer(&place))
        .flatten()
        .map(|found| (LOOKED_UP * found.score, found.coverage, asking.asked.content.clone()));
    let covers = by_words.as_ref().is_some_and(|words| by_term.as_ref().is_none_or(|term| words.0 > term.0));
    let (sure, fit, key) = if covers { by_words? } else { by_term? };
    let is_own = fact.said_by.is_empty();
    // What it rests on says something else by now.
    let known = fact.confidence * if fact.stale { STALE } else { 1.0 };
    let score = sure * known;
    let probability = if covers { calibration::probability(sure) * known } else { score };
    let source = Source {
        source_type: if is_own { fact.origin.as_str() } else { OTHER_USER }.to_owned(),
        name: if fact.source.is_empty() { fact.term.clone() } else { fact.source.clone() },
        excerpt: cut::words(&fact.definition, MAX_EXCERPT_CHARS),
        confidence: probability,
        stale: fact.stale,
    };
    Some(Candidate {
        term: Some(fact.term.clone()),
        key,
        answer: cut::words(&fact.definition, MAX_ANSWER_CHARS),
        source,
        fit,
        covers,
        score,
        probability,
        origin: is_own.then_some(fact.origin),
        scope: fact.scope.clone(),
        whole: None,
    })
}

pub(crate) fn from_unit(
    asking: &Asking,
    lookup: &Lookup<'_>,
    passage: &Passage,
    place: &Place<'_>,
) -> Option<Candidate> {
    let (asked, unit, text) = (&asking.asked, place.unit, place.text);
    let defined = definitions(unit);
    let trust = 0.9 + 0.1 * f64::from(passage.relevance.clamp(0.0, 1.0));
    let mut best = best_definition(asking, lookup, place, &defined, trust);
    let mut with_before = None;
    if lookup.answers(asked)
        && !unit.plain.ends_with('?')
        && unit.plain.len() <= MAX_SENTENCE_BYTES
        && let Some(found) = lookup.answer(place)
    {
        let plain =
            defined.iter().find(|d| d.strength >= 0.7 && !matches!(d.pattern, Pattern::Threshold | Pattern::Unit));
        let score = LOOKED_UP * found.score * trust;
        if best.as_ref().is_none_or(|top| score > top.score) {
            with_before = place.before.filter(|_| found.with_before);
            let key = asked.content.clone();
            best = Some(Best { score, fit: found.coverage, covers: true, definition: plain, key });
        }
    }
    let Best { score, fit, covers, definition, key } = best?;
    let probability = calibration::probability(score).min(MAX_CONFIDENCE);
    let source = Source {
        source_type: passage.source_type.clone(),
        name: passage.name.clone(),
        excerpt: cut::words(&with_list(&unit.text, &unit.list), MAX_EXCERPT_CHARS),
        confidence: probability,
        stale: false,
    };
    let mut answer = render_unit(unit, definition);
    if let Some(before) = with_before {
        answer = format!("{} {answer}", before.plain);
    } else if covers && stems(&unit.label).iter().any(|stem| asked.content.contains(stem) && !text.own.contains(stem)) {
        // The label says what the sentence leaves out.
        answer = format!("{}: {answer}", unit.label);
    }
    let named = definition.filter(|d| !d.term.is_empty() && !matches!(d.pattern, Pattern::Threshold | Pattern::Unit));
    Some(Candidate {
        term: named.map(|d| d.term.clone()),
        key,
        answer: cut::words(&answer, MAX_ANSWER_CHARS),
        source,
        fit,
        covers,
        score,
        probability,
        origin: None,
        scope: String::new(),
        whole: None,
    })
}

/// The definition in a unit that fits best; `trust` is that in its passage.
fn best_definition<'a>(
    asking: &Asking,
    lookup: &Lookup<'_>,
    place: &Place<'_>,
    defined: &'a [Definition],
    trust: f64,
) -> Option<Best<'a>> {
    let (asked, unit, text) = (&asking.asked, place.unit, place.text);
    let mut best: Option<Best<'a>> = None;
    let has_value = !quantities(&unit.plain).is_empty() || unit.list.iter().any(|line| !quantities(line).is_empty());
    // What a data dictionary says of its tables and columns is not what a request turns on.
    let dictionary =
        matches!(&unit.form, Form::Row(cells) if cells.first().is_some_and(|(header, _)| is_dictionary(header)));
    for definition in defined {
        if dictionary && asked.shape == Shape::Request {
            continue;
        }
        let strength = match definition.pattern {
            // It tells what is there, not what holds.
            Pattern::Row if dictionary && asked.shape == Shape::Ask => definition.strength * 0.7,
            Pattern::Threshold if !asked.value => 0.4,
            Pattern::Unit if !asked.unit => 0.4,
            Pattern::Short if !asked.short => 0.58,
            // The sentence under the heading of the term that gives the number that is wanted.
            Pattern::Heading if asked.value && has_value => definition.strength.max(0.75),
            Pattern::Explicit
            | Pattern::Equality
            | Pattern::Label
            | Pattern::Row
            | Pattern::Copula
            | Pattern::Condition
            | Pattern::Heading
            | Pattern::Threshold
            | Pattern::Unit
            | Pattern::Short
            | Pattern::Code => definition.strength,
        };
        let missing = asked.value && !has_value;
        let unmet = asked.shape == Shape::Ask && lookup.is_strict() && !lookup.is_met_by(unit);
        for head in &definition.heads {
            if let Some(fit) = asking.fit(head, text) {
                let fit = if unmet {
                    fit * 0.5
                } else if missing {
                    fit * 0.7
                } else {
                    fit
                };
                let score = fit * strength * trust;
                if best.as_ref().is_none_or(|top| score > top.score) {
                    let (definition, key) = (Some(definition), head.clone());
                    best = Some(Best { score, fit, covers: false, definition, key });
                }
            }
        }
    }
    best
}

fn is_dictionary(header: &str) -> bool {
    ["table", "column", "field", "file", "view"].contains(&header.to_lowercase().as_str())
}

/// A unit as an answer: the sentence with what belongs to it; a row with its headers.
fn render_unit(unit: &Unit, definition: Option<&Definition>) -> String {
    match (&unit.form, definition) {
        (Form::Row(_), Some(definition)) if definition.pattern != Pattern::Code => {
            format!("{}: {}", definition.term, definition.gloss)
        }
        (Form::Row(cells), _) => {
            cells.iter().map(|(header, cell)| format!("{header}: {cell}")).collect::<Vec<_>>().join("; ")
        }
        _ if unit.before.is_empty() => with_list(&unit.plain, &unit.list),
        _ => format!("{} {}", unit.before, with_list(&unit.plain, &unit.list)),
    }
}

fn with_list(sentence: &str, list: &[String]) -> String {
    let lines = list.iter().map(|line| if line.starts_with('|') { format!("\n{line}") } else { format!("\n- {line}") });
    std::iter::once(sentence.to_owned()).chain(lines).collect()
}

//! Finds the terms of a question and their definitions.

use std::{cmp::Reverse, collections::HashSet};

use prospector_core::name::{is_slip, rank};
use prospector_text::cut;

use crate::{
    asked::{Asks, QuestionWords},
    model::{Related, Resolution, Source},
    table::{Basis, Definition, Found, TermTable, spread},
    words::{numbers, stems, within},
};

/// Maximum number of related terms and hints.
const SHOWN: usize = 3;
/// Maximum number of sources listed for a term.
const MAX_DEFINITIONS: usize = 5;
/// Maximum length of an excerpt, in characters.
const MAX_EXCERPT: usize = 400;
/// Increase in confidence per additional agreeing source, and its upper limit.
const AGREEMENT: f64 = 0.01;
const MAX_CONFIDENCE: f64 = 0.97;

/// Shown for a question that uses no defined term.
const NONE: &str = "no defined term in this text; search documents for related wording, in the language of the catalog";

/// A term with its definitions, the strongest first.
struct Term<'t> {
    definitions: Vec<Found<'t>>,
}

impl<'t> Term<'t> {
    fn best(&self) -> &Found<'t> {
        &self.definitions[0]
    }
}

/// Resolves a question with the term tables; `is_of_schema` returns whether a name is that of a table or column.
pub(crate) fn resolve(question: &str, tables: &[&TermTable], is_of_schema: &dyn Fn(&str) -> bool) -> Resolution {
    let asked = QuestionWords::parse(question);
    let mut terms = find_terms(&asked, tables);
    let mut out = Resolution { question: question.trim().to_owned(), ..Resolution::default() };
    if terms.is_empty() {
        out.needs_clarification = asked.needs_meaning() && !is_of_schema(&asked.term);
        match out.needs_clarification {
            true => out.clarification = Some(unknown(&asked, tables)),
            false => out.note = Some(NONE.to_owned()),
        }
        return out;
    }
    let top = terms.remove(0);
    out.is_whole = top.best().asks == Asks::Alone;
    if top.best().asks == Asks::Otherwise {
        out.related = terms.iter().take(SHOWN).map(|term| to_related(term.best().definition)).collect();
    }
    answer(&mut out, top);
    out
}

/// Returns the terms of a question: those whose meaning is asked for first, then by length.
fn find_terms<'t>(asked: &QuestionWords, tables: &[&'t TermTable]) -> Vec<Term<'t>> {
    let mut found: Vec<Found<'t>> = tables.iter().flat_map(|table| table.find(asked)).collect();
    if found.is_empty() && asked.is_short() {
        found = tables.iter().flat_map(|table| table.find_longer(asked)).collect();
    }
    let asks = found.iter().map(|one| one.asks).max().unwrap_or(Asks::Otherwise);
    found.retain(|one| one.asks == asks);
    let is_part = |one: &Found<'_>, longer: &Found<'_>| {
        longer.places.len() > one.places.len() && one.places.iter().all(|at| longer.places.contains(at))
    };
    let all = found.clone();
    found.retain(|one| !all.iter().any(|longer| is_part(one, longer)));
    found.sort_by_key(|one| (Reverse(one.places.len()), spread(&one.places), one.definition.basis));
    let mut terms: Vec<Term<'t>> = Vec::new();
    for one in found {
        match terms.iter_mut().find(|term| term.best().is_same(&one)) {
            Some(term) => term.definitions.push(one),
            None => terms.push(Term { definitions: vec![one] }),
        }
    }
    for term in &mut terms {
        order(asked, &mut term.definitions);
    }
    terms
}

/// Orders the definitions of a term, and drops those that are weaker, out of scope, or contained in another one.
fn order(asked: &QuestionWords, definitions: &mut Vec<Found<'_>>) {
    let fits =
        |definition: &Definition| !definition.scope.is_empty() && within(&stems(&definition.scope), &asked.counting);
    if definitions.iter().any(|one| fits(one.definition)) {
        definitions.retain(|one| fits(one.definition));
    } else if definitions.iter().any(|one| one.definition.scope.is_empty()) {
        definitions.retain(|one| one.definition.scope.is_empty());
    }
    if definitions.iter().any(|one| !one.definition.stale) {
        let fresh: HashSet<String> =
            definitions.iter().filter(|one| !one.definition.stale).map(|one| one.definition.source.clone()).collect();
        definitions.retain(|one| !one.definition.stale || !fresh.contains(&one.definition.source));
    }
    definitions.sort_by_key(|one| (one.definition.basis.class(), one.definition.basis));
    let class = definitions[0].definition.basis.class();
    definitions.retain(|one| one.definition.basis.class() == class);
    let mut kept: Vec<Found<'_>> = Vec::new();
    for one in definitions.drain(..) {
        let is_known = |known: &&mut Found<'_>| {
            let is_text = [known.definition, one.definition]
                .iter()
                .all(|definition| matches!(definition.basis, Basis::Marked(_)));
            known.definition.source == one.definition.source
                && (is_text || known.definition.text == one.definition.text)
        };
        match kept.iter_mut().find(is_known) {
            // The section of a term is more complete than the sentence with its mark.
            Some(known) if one.definition.text.contains(known.definition.text.as_str()) => *known = one,
            Some(_) => {}
            None => kept.push(one),
        }
    }
    *definitions = kept;
}

fn answer(out: &mut Resolution, term: Term<'_>) {
    let top = term.best().definition;
    let rivals: Vec<&Definition> = term.definitions[1..]
        .iter()
        .map(|one| one.definition)
        .filter(|definition| disagree(top, definition))
        .take(SHOWN)
        .collect();
    out.term = Some(top.term.clone());
    if top.stale {
        out.note = Some(format!("`{}` has changed since this was recorded", top.source));
    }
    if top.basis == Basis::User {
        out.otherwise = rivals.iter().map(|definition| source(definition)).collect();
    } else if !rivals.is_empty() {
        let all: Vec<&Definition> = std::iter::once(top).chain(rivals).collect();
        let line = |definition: &&Definition| match definition.scope.as_str() {
            "" => format!("{}: {}", definition.source, definition.text),
            scope => format!("{} (for {scope}): {}", definition.source, definition.text),
        };
        out.answer = Some(all.iter().map(line).collect::<Vec<_>>().join("\n"));
        out.confidence = top.confidence * 0.5;
        out.sources = all.into_iter().map(source).collect();
        out.needs_clarification = true;
        out.clarification = Some(format!("The sources disagree on `{}`. Ask which one applies.", top.term));
        return;
    }
    out.needs_clarification = top.stale;
    out.clarification = top.stale.then(|| {
        format!("The stored definition of `{}` may be outdated. Read `{}` again, or ask.", top.term, top.source)
    });
    out.answer = Some(top.answer.clone());
    out.definition = (top.text != top.answer).then(|| top.text.clone());
    let agreeing = term.definitions.iter().map(|one| one.definition).filter(|definition| !disagree(top, definition));
    out.sources = agreeing.take(MAX_DEFINITIONS).map(source).collect();
    let more = AGREEMENT * (out.sources.len() - 1) as f64;
    out.confidence = (top.confidence + more).min(MAX_CONFIDENCE).max(top.confidence);
}

/// Returns whether two definitions contradict each other: each contains numbers that the other lacks. Metrics do not
/// contradict texts.
fn disagree(one: &Definition, other: &Definition) -> bool {
    if [one, other].iter().any(|definition| definition.basis == Basis::Metric) {
        return false;
    }
    let (first, second) = (numbers(&one.answer), numbers(&other.answer));
    !first.is_subset(&numbers(&other.text)) && !second.is_subset(&numbers(&one.text))
}

fn source(definition: &Definition) -> Source {
    Source {
        source_type: definition.source_type.clone(),
        name: definition.source.clone(),
        excerpt: cut::words(&definition.answer, MAX_EXCERPT),
        confidence: definition.confidence,
        stale: definition.stale,
    }
}

fn to_related(definition: &Definition) -> Related {
    Related {
        term: definition.term.clone(),
        definition: definition.text.clone(),
        source: definition.source.clone(),
        confidence: definition.confidence,
    }
}

fn unknown(asked: &QuestionWords, tables: &[&TermTable]) -> String {
    let mut terms: Vec<&str> = tables.iter().flat_map(|table| table.terms()).collect();
    terms.sort_unstable();
    terms.dedup();
    // Terms that share a word are closer than those with a similar spelling.
    let shared: Vec<&str> =
        terms.iter().copied().filter(|term| stems(term).iter().any(|stem| asked.rest.contains(stem))).collect();
    let near: Vec<String> = match shared.as_slice() {
        [] => terms.into_iter().filter(|term| is_slip(&asked.term, term)).take(SHOWN).map(str::to_owned).collect(),
        shared => rank(&asked.term, shared.iter().copied(), SHOWN),
    };
    let near: Vec<String> = near.iter().map(|term| format!("`{term}`")).collect();
    let near = if near.is_empty() { String::new() } else { format!(" Closest known terms: {}.", near.join(", ")) };
    format!(
        "No definition of `{}`.{near} Use its general meaning, or ask the user if it has several.",
        cut::words(&asked.term, 100)
    )
}

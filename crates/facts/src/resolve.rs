//! Question in, definitions out: which of the terms in a question are meant, and where each is defined.

use std::{cmp::Reverse, collections::HashSet};

use prospector_core::name::{is_slip, nearest};
use prospector_text::cut;

use crate::{
    asked::{Asks, QuestionWords},
    model::{Related, Resolution, Source},
    table::{Basis, Found, Home, TermTable, spread},
    words::{numbers, stems, within},
};

/// At most this many related terms and hints are shown.
const SHOWN: usize = 3;
/// At most this many places of a term are listed.
const MAX_HOMES: usize = 5;
/// The length of an excerpt, in characters.
const MAX_EXCERPT: usize = 400;
/// What each further source that agrees adds to the confidence, and the most that it makes of it.
const AGREEMENT: f64 = 0.01;
const MAX_CONFIDENCE: f64 = 0.97;

/// The note for a question that uses no defined term.
const NONE: &str = "no definition; not needed for ordinary words";

/// A term, with the places that define it, the strongest first.
struct Term<'t> {
    homes: Vec<Found<'t>>,
}

impl<'t> Term<'t> {
    fn best(&self) -> &Found<'t> {
        &self.homes[0]
    }
}

/// Returns the answer from the term tables; `is_of_schema` is true of names of tables and columns.
pub(crate) fn resolve(question: &str, tables: &[&TermTable], is_of_schema: &dyn Fn(&str) -> bool) -> Resolution {
    let asked = QuestionWords::parse(question);
    let mut terms = find_terms(&asked, tables);
    let mut out = empty(question);
    if terms.is_empty() {
        out.needs_clarification = asked.needs_meaning() && !is_of_schema(&asked.term);
        match out.needs_clarification {
            true => out.clarification = Some(unknown(&asked, tables)),
            false => out.note = Some(NONE.to_owned()),
        }
        return out;
    }
    let top = terms.remove(0);
    if top.best().asks == Asks::Otherwise {
        out.related = terms.iter().take(SHOWN).map(|term| to_related(term.best().home)).collect();
    }
    answer(&mut out, top);
    out
}

fn empty(question: &str) -> Resolution {
    Resolution {
        question: question.trim().to_owned(),
        term: None,
        answer: None,
        definition: None,
        confidence: 0.0,
        sources: Vec::new(),
        otherwise: Vec::new(),
        needs_clarification: false,
        clarification: None,
        related: Vec::new(),
        note: None,
    }
}

/// Returns the terms of a question, that whose meaning is asked for first, then the longest.
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
    found.sort_by_key(|one| (Reverse(one.places.len()), spread(&one.places), one.home.basis));
    let mut terms: Vec<Term<'t>> = Vec::new();
    for one in found {
        match terms.iter_mut().find(|term| term.best().is_same(&one)) {
            Some(term) => term.homes.push(one),
            None => terms.push(Term { homes: vec![one] }),
        }
    }
    for term in &mut terms {
        order(asked, &mut term.homes);
    }
    terms
}

/// Orders the homes of a term, and drops those that are weaker, out of scope, or part of another one.
fn order(asked: &QuestionWords, homes: &mut Vec<Found<'_>>) {
    let fits = |home: &Home| !home.scope.is_empty() && within(&stems(&home.scope), &asked.counting);
    if homes.iter().any(|one| fits(one.home)) {
        homes.retain(|one| fits(one.home));
    } else if homes.iter().any(|one| one.home.scope.is_empty()) {
        homes.retain(|one| one.home.scope.is_empty());
    }
    if homes.iter().any(|one| !one.home.stale) {
        let fresh: HashSet<String> =
            homes.iter().filter(|one| !one.home.stale).map(|one| one.home.source.clone()).collect();
        homes.retain(|one| !one.home.stale || !fresh.contains(&one.home.source));
    }
    homes.sort_by_key(|one| (one.home.basis.class(), one.home.basis));
    let class = homes[0].home.basis.class();
    homes.retain(|one| one.home.basis.class() == class);
    let mut kept: Vec<Found<'_>> = Vec::new();
    for one in homes.drain(..) {
        let is_known = |known: &&mut Found<'_>| {
            let is_text = [known.home, one.home].iter().all(|home| matches!(home.basis, Basis::Marked(_)));
            known.home.source == one.home.source && (is_text || known.home.text == one.home.text)
        };
        match kept.iter_mut().find(is_known) {
            // The section of a term says more than the sentence with its mark.
            Some(known) if one.home.text.contains(known.home.text.as_str()) => *known = one,
            Some(_) => {}
            None => kept.push(one),
        }
    }
    *homes = kept;
}

fn answer(out: &mut Resolution, term: Term<'_>) {
    let top = term.best().home;
    let rivals: Vec<&Home> =
        term.homes[1..].iter().map(|one| one.home).filter(|home| disagree(top, home)).take(SHOWN).collect();
    out.term = Some(top.term.clone());
    if top.stale {
        out.note = Some(format!("`{}` has changed since this was written down", top.source));
    }
    if top.basis == Basis::User {
        out.otherwise = rivals.iter().map(|home| source(home)).collect();
    } else if !rivals.is_empty() {
        let all: Vec<&Home> = std::iter::once(top).chain(rivals).collect();
        let line = |home: &&Home| match home.scope.as_str() {
            "" => format!("{}: {}", home.source, home.text),
            scope => format!("{} (for {scope}): {}", home.source, home.text),
        };
        out.answer = Some(all.iter().map(line).collect::<Vec<_>>().join("\n"));
        out.confidence = top.confidence * 0.5;
        out.sources = all.into_iter().map(source).collect();
        out.needs_clarification = true;
        out.clarification = Some(format!("The sources disagree on `{}`. Ask which one holds.", top.term));
        return;
    }
    out.needs_clarification = top.stale;
    out.clarification = top
        .stale
        .then(|| format!("What is stored on `{}` may be out of date. Read `{}` again, or ask.", top.term, top.source));
    out.answer = Some(top.answer.clone());
    out.definition = (top.text != top.answer).then(|| top.text.clone());
    let agreeing = term.homes.iter().map(|one| one.home).filter(|home| !disagree(top, home));
    out.sources = agreeing.take(MAX_HOMES).map(source).collect();
    let more = AGREEMENT * (out.sources.len() - 1) as f64;
    out.confidence = (top.confidence + more).min(MAX_CONFIDENCE).max(top.confidence);
}

/// Whether two definitions contradict each other: each has numbers that the other lacks. A metric says how it is computed, which
/// contradicts no text.
fn disagree(one: &Home, other: &Home) -> bool {
    if [one, other].iter().any(|home| home.basis == Basis::Metric) {
        return false;
    }
    let (first, second) = (numbers(&one.answer), numbers(&other.answer));
    !first.is_subset(&numbers(&other.text)) && !second.is_subset(&numbers(&one.text))
}

fn source(home: &Home) -> Source {
    Source {
        source_type: home.source_type.clone(),
        name: home.source.clone(),
        excerpt: cut::words(&home.answer, MAX_EXCERPT),
        confidence: home.confidence,
        stale: home.stale,
    }
}

fn to_related(home: &Home) -> Related {
    Related {
        term: home.term.clone(),
        definition: home.text.clone(),
        source: home.source.clone(),
        confidence: home.confidence,
    }
}

fn unknown(asked: &QuestionWords, tables: &[&TermTable]) -> String {
    let mut terms: Vec<&str> = tables.iter().flat_map(|table| table.terms()).collect();
    terms.sort_unstable();
    terms.dedup();
    // A word in common is nearer than letters in common.
    let shared: Vec<&str> =
        terms.iter().copied().filter(|term| stems(term).iter().any(|stem| asked.rest.contains(stem))).collect();
    let near: Vec<String> = match shared.as_slice() {
        [] => terms.into_iter().filter(|term| is_slip(&asked.term, term)).take(SHOWN).map(str::to_owned).collect(),
        shared => nearest(&asked.term, shared.iter().copied(), SHOWN),
    };
    let near: Vec<String> = near.iter().map(|term| format!("`{term}`")).collect();
    let near = if near.is_empty() { String::new() } else { format!(" Nearest known terms: {}.", near.join(", ")) };
    format!("Nothing known defines `{}`.{near} Ask the user.", cut::words(&asked.term, 100))
}

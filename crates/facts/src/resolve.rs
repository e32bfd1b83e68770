//! Question in, the sentence that answers it out: which sentence, and how sure.
//!
//! Each sentence of the passages, and each known fact, is a candidate. Its score is a product of
//!
//! - **fit**: how well what it defines is what was asked for. 1 for the same stems; 0.8 where the question leaves out
//!   the last word of the term (`VIP` for `VIP customer`); 0.4 where it leaves out the first (`revenue` for `net
//!   revenue`: another term); where the question says more than the term, the share of its words that the sentence
//!   covers, rare words weighing more, to the power 1.5. In a question that does not ask for one term, 1 where the
//!   term stands in it as a run and 0.85 where its words are scattered; for questions proper (not requests for data)
//!   times `0.15 + 0.85 * coverage * coverage`, or `0.7 + 0.3 * coverage` for a term of several words in a question for
//!   data (`which VIP customers ..`), and half of it where the sentence does not hold what is wanted, see
//!   [`crate::expectation`]. What only the heading says is covered by 0.6, in full where the sentence points to it (`Shipping
//!   is not part of it`) or the heading is a question.
//! - **strength**: how plainly the sentence is a definition, see [`crate::definition`]; for a fact, its confidence.
//!   A question for a value, a unit or an abbreviation also takes sentences that give one.
//! - **relevance** of the passage, from 0.9 to 1.
//!
//! A sentence that defines nothing can still answer a question proper, see [`crate::lookup`]. The confidence that is shown
//! is how often an answer of that score was right, see [`crate::calibration`]; each further source that agrees adds 0.02.
//! The same input always gives the same numbers.
//!
//! Terms that documents mark by their structure are found first, see [`crate::marked`]: they are the answer where their meaning is asked
//! for or data of them is, and stand beside it where the question asks for something else.
//!
//! Below [`FLOOR`] there is no answer. Where sentences of similar scores on the same term contradict each other there is
//! none either, but both are shown.

use std::collections::HashSet;

use prospector_core::name::{is_slip, nearest, normalize};

use prospector_text::cut;

use crate::{
    candidate::{Candidate, MAX_CONFIDENCE, from_fact, from_unit},
    definition::{definitions, shorts},
    evidence::Passage,
    fit::{Asking, Statement, Weights},
    lookup::{Lookup, Place, about_the_same},
    marked::MarkedTerms,
    model::{Fact, Origin, Related, Resolution},
    near::Near,
    quantity::disagree,
    question::{Question, Shape},
    sentences::{Form, Unit, units},
    term::{Definition, Pattern},
    words::{same, stems, within},
};

/// The score below which there is no answer.
pub(crate) const FLOOR: f64 = 0.5;
/// Candidates no further apart than this have similar scores.
const SIMILAR: f64 = 0.15;
/// At most this many sources, candidates and related terms are shown.
const SHOWN: usize = 3;

/// The longest term whose meaning is asked for, and without words of a question around it, in words that count.
const MAX_TERM: usize = 3;
const MAX_BARE_TERM: usize = 2;

/// What is said of a question that needs no definition.
const NONE: &str = "no definition; not needed for ordinary words";

/// What answers are made of.
pub(crate) struct Knowledge<'k> {
    /// In order of precedence.
    pub(crate) facts: &'k [Fact],
    pub(crate) passages: &'k [Passage],
    pub(crate) near: &'k Near,
    pub(crate) marked: &'k MarkedTerms,
    /// Whether a term is only a name of a table or a column.
    pub(crate) is_of_schema: &'k dyn Fn(&str) -> bool,
}

/// The answer from what is known and what was found.
pub(crate) fn resolve(question: &str, known: &Knowledge<'_>) -> Resolution {
    let Knowledge { facts, passages, near, is_of_schema, .. } = *known;
    let mut asked = Question::parse(question);
    let said = read(passages);
    learn_short_forms(&mut asked, &said);
    let texts: Vec<Statement> = said.iter().map(|(_, unit)| Statement::of(unit)).collect();
    let asking = Asking { asked, order: stems(question), weights: Weights::of(&texts) };
    let asked = &asking.asked;
    let lookup = Lookup::of(question, &asking, near);
    let outers: Vec<HashSet<String>> =
        said.iter().map(|(passage, _)| stems(&passage.name).into_iter().collect()).collect();

    let stored = |fact| from_fact(&asking, &lookup, fact);
    let mut candidates: Vec<Candidate> = facts.iter().filter_map(stored).collect();
    drop_other_scopes(&mut candidates, &asking.order);
    let wanted: HashSet<&String> =
        asked.alternatives.iter().flat_map(|(stems, _)| stems).chain(&asked.content).collect();
    let joined: Vec<String> = asked.alternatives.iter().map(|(stems, _)| stems.concat()).collect();
    for (at, ((passage, unit), text)) in said.iter().zip(&texts).enumerate() {
        let touches = wanted.iter().any(|stem| text.share(stem) > 0.0);
        if touches || joined.iter().any(|whole| normalize(&unit.plain).contains(whole.as_str())) {
            let before = at.checked_sub(1).map(|at| &said[at]);
            let row = matches!(unit.form, Form::Row(_));
            let before =
                before.filter(|(other, above)| !row && other.name == passage.name && above.heading == unit.heading);
            let place = Place { unit, text, before: before.map(|(_, unit)| unit), outer: &outers[at] };
            candidates.extend(from_unit(&asking, &lookup, passage, &place));
        }
    }
    let beside = add_marked(question, asked, known, &mut candidates);
    let is_unknown = |term: &str| !is_of_schema(term);
    let terms = || {
        let plain = |d: &Definition| {
            let short = d.heads.first().is_some_and(|head| head.len() <= 4);
            d.strength >= 0.7 && !d.term.is_empty() && d.pattern != Pattern::Code && short
        };
        let defined = said.iter().flat_map(|(_, unit)| definitions(unit)).filter(plain).map(|d| d.term);
        facts.iter().map(|fact| fact.term.clone()).chain(defined).collect()
    };
    decide(AskedTerm { question, asked, is_unknown: &is_unknown }, candidates, beside, terms)
}

/// Adds what documents mark of the question's terms to the candidates: as answers where data or the meaning is asked for. Gives those
/// that stand beside an answer.
fn add_marked(
    question: &str,
    asked: &Question,
    known: &Knowledge<'_>,
    candidates: &mut Vec<Candidate>,
) -> Vec<Related> {
    let mut beside = Vec::new();
    // What a sentence says goes before what only stands under a heading.
    let is_said = candidates.iter().any(|candidate| candidate.score >= FLOOR);
    for term in known.marked.find(question, asked, known.passages, known.is_of_schema) {
        let is_data = asked.shape == Shape::Request || asked.shape == Shape::Ask && asked.data;
        // A heading of one word names a subject as often as a term.
        let answers = !is_said && (term.is_asked || is_data && term.key.len() > 1);
        let own = candidates.iter_mut().filter(|c| term.is_same(c) && c.score >= FLOOR);
        let is_known = match own.max_by(|a, b| a.score.total_cmp(&b.score)) {
            Some(own) => {
                own.whole = Some(term.marked.text.clone());
                true
            }
            None => false,
        };
        if answers && !is_known {
            candidates.push(term.to_candidate());
        }
        if !answers {
            beside.push(term.to_related());
        }
    }
    beside
}

/// A question, and how it reads.
#[derive(Clone, Copy)]
struct AskedTerm<'a> {
    question: &'a str,
    asked: &'a Question,
    /// Whether a term is more than a name of the schema.
    is_unknown: &'a dyn Fn(&str) -> bool,
}

impl AskedTerm<'_> {
    /// Whether the meaning of a term is asked for, so that somebody has to say it where nothing does.
    fn needs_meaning(&self) -> bool {
        let asked = self.asked;
        let most = if asked.is_bare { MAX_BARE_TERM } else { MAX_TERM };
        asked.shape == Shape::Define
            && !asked.asks_for_data()
            && stems(&asked.term).len() <= most
            && (self.is_unknown)(&asked.term)
    }
}

/// Every unit once, with the passage that it is from.
fn read(passages: &[Passage]) -> Vec<(&Passage, Unit)> {
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for passage in passages {
        for unit in units(&passage.text, &heading(passage)) {
            let whole = passage.name.split('#').next().unwrap_or_default();
            if seen.insert((whole.to_owned(), unit.plain.clone())) {
                out.push((passage, unit));
            }
        }
    }
    out
}

/// What a passage stands under by its name: the section of a document, a table or a column.
fn heading(passage: &Passage) -> String {
    match (passage.source_type.as_str(), passage.name.split_once('#')) {
        (_, Some((_, section))) => section.rsplit(" > ").next().unwrap_or(section).trim().to_owned(),
        ("table" | "column", None) => passage.name.rsplit('.').next().unwrap_or_default().replace('_', " "),
        _ => String::new(),
    }
}

/// `average order value (AOV)` somewhere lets either form ask for the other.
fn learn_short_forms(asked: &mut Question, said: &[(&Passage, Unit)]) {
    for short in said.iter().flat_map(|(_, unit)| shorts(&unit.plain)) {
        let long = stems(&short.gloss);
        for (from, to) in [(&short.heads[0], &long), (&long, &short.heads[0])] {
            let weight = asked.alternatives.iter().find(|(stems, _)| same(stems, from)).map(|(_, weight)| *weight);
            if let Some(weight) = weight.filter(|_| !asked.alternatives.iter().any(|(stems, _)| stems == to)) {
                asked.alternatives.push((to.clone(), weight * 0.97));
            }
        }
    }
}

/// A fact for another scope than everywhere counts where the question names that scope, or where nothing else is known
/// of the term.
fn drop_other_scopes(candidates: &mut Vec<Candidate>, order: &[String]) {
    // The keys of what the question names, and of what holds everywhere: a candidate of neither has another scope than
    // all of these, so that one of them with its key is a rival.
    let (mut named, mut everywhere) = (HashSet::new(), HashSet::new());
    let is_named: Vec<bool> = (candidates.iter())
        .map(|c| {
            let is_named = !c.scope.is_empty() && within(&stems(&c.scope), order);
            if is_named {
                named.extend(spellings(&c.key));
            } else if c.scope.is_empty() {
                everywhere.extend(spellings(&c.key));
            }
            is_named
        })
        .collect();
    let mut is_named = is_named.into_iter();
    candidates.retain(|c| {
        let is_among = |keys: &HashSet<Vec<String>>| spellings(&c.key).iter().any(|key| keys.contains(key));
        match (is_named.next().unwrap_or_default(), c.scope.is_empty()) {
            (true, _) => true,
            (false, true) => !is_among(&named),
            (false, false) => !is_among(&named) && !is_among(&everywhere),
        }
    });
}

/// What two keys have in common where they are the [`same`]: their stems in order, or all of them as one.
fn spellings(key: &[String]) -> Vec<Vec<String>> {
    if key.is_empty() {
        return Vec::new();
    }
    let mut sorted = key.to_vec();
    sorted.sort();
    vec![sorted, vec![key.concat()]]
}

/// Gives the answers of sources that disagree, the best one first, and asks which one holds.
fn state_all(out: &mut Resolution, asked: &Question, all: Vec<&Candidate>) {
    let top = all[0];
    let line = |c: &&Candidate| match c.scope.as_str() {
        "" => format!("{}: {}", c.source.name, c.answer),
        scope => format!("{} (for {scope}): {}", c.source.name, c.answer),
    };
    out.answer = Some(all.iter().map(line).collect::<Vec<_>>().join("\n"));
    out.confidence = top.probability * 0.5;
    out.sources = all.iter().map(|c| c.source.clone()).collect();
    let what = top.term.as_deref().unwrap_or(&asked.term);
    out.clarification =
        Some(format!("The sources disagree on `{what}`. Ask which one holds; add_fact keeps the reply."));
}

/// Sorts the candidates, best first, and drops those below the floor; what a user said of the same term comes first. Gives
/// the probability of the best one before any was dropped.
fn order(asked: &Question, candidates: &mut Vec<Candidate>) -> f64 {
    // The sort is stable: at the same score what comes first, a user's fact before all, stays first.
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    let best = candidates.first().map_or(0.0, |c| c.probability);
    candidates.retain(|c| c.score >= FLOOR);
    if asked.shape == Shape::Request {
        // The more particular term is the one that a request turns on.
        let weight = |c: &Candidate| c.score + 0.05 * c.key.len().min(4) as f64;
        candidates.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    }
    if let Some(first) = candidates.first() {
        // What a user said of the same term wins over what is written.
        let meant = |c: &Candidate| one_topic(asked, c, first) || (asked.shape == Shape::Define && c.fit >= 0.75);
        let said = candidates.iter().position(|c| by_user(c) && meant(c));
        if let Some(at) = said {
            let user = candidates.remove(at);
            candidates.insert(0, user);
        }
    }
    best
}

fn decide(
    of: AskedTerm<'_>,
    mut candidates: Vec<Candidate>,
    beside: Vec<Related>,
    terms: impl FnOnce() -> Vec<String>,
) -> Resolution {
    let asked = of.asked;
    let mut out = Resolution {
        question: of.question.trim().to_owned(),
        term: None,
        answer: None,
        definition: None,
        confidence: 0.0,
        sources: Vec::new(),
        otherwise: Vec::new(),
        needs_clarification: true,
        clarification: None,
        related: Vec::new(),
        note: None,
    };
    let best = order(asked, &mut candidates);
    let Some(top) = candidates.first().cloned() else {
        out.confidence = best;
        out.related = beside.into_iter().take(SHOWN).collect();
        // Who asks for data asks for no definition, and nothing is unclear yet.
        out.needs_clarification = out.related.is_empty() && of.needs_meaning();
        if out.needs_clarification {
            out.clarification = Some(unknown(asked, terms));
        } else if out.related.is_empty() {
            out.note = Some(NONE.to_owned());
        }
        return out;
    };
    let topic: Vec<&Candidate> = candidates.iter().skip(1).filter(|c| one_topic(asked, &top, c)).collect();
    let rivals: Vec<&Candidate> = topic
        .iter()
        .copied()
        .filter(|c| c.score >= top.score - SIMILAR || (by_user(&top) && c.score >= FLOOR))
        .filter(|c| disagree(&top.answer, &c.answer))
        .take(SHOWN)
        .collect();
    let (rivals, otherwise): (Vec<&Candidate>, Vec<&Candidate>) =
        rivals.into_iter().partition(|c| !by_user(&top) || by_user(c));
    out.otherwise = otherwise.into_iter().map(|c| c.source.clone()).collect();
    if top.source.stale {
        out.note = Some(format!("`{}` has changed since this was written down", top.source.name));
    }
    out.term = top.term.clone();
    if !rivals.is_empty() {
        state_all(&mut out, asked, std::iter::once(&top).chain(rivals).collect());
        return out;
    }
    out.needs_clarification = top.source.stale;
    if top.source.stale {
        let what = top.term.as_deref().unwrap_or(&asked.term);
        out.clarification = Some(format!(
            "What is kept on `{what}` may be out of date. Read `{}` again; extract_facts_from_text or add_fact keeps it.",
            top.source.name
        ));
    }
    out.answer = Some(top.answer.clone());
    out.definition = top.whole.clone().filter(|whole| *whole != top.answer);
    out.confidence = top.probability;
    out.sources.push(top.source.clone());
    if !by_user(&top) {
        for other in topic.iter().filter(|c| alike(&top.answer, &c.answer) && !disagree(&top.answer, &c.answer)) {
            if out.sources.len() < SHOWN && !out.sources.iter().any(|s| s.name == other.source.name) {
                out.sources.push(other.source.clone());
                out.confidence = (out.confidence + 0.02).min(MAX_CONFIDENCE).max(out.confidence);
            }
        }
    }
    if asked.shape != Shape::Define {
        out.related = find_related(&top, &candidates);
    }
    add_related(&mut out, &top, beside);
    out
}

/// Adds other terms that the question uses, as far as there is room.
fn add_related(out: &mut Resolution, top: &Candidate, beside: Vec<Related>) {
    for term in beside {
        let is_new =
            !within(&stems(&term.term), &top.key) && out.related.iter().all(|known| known.source != term.source);
        if out.related.len() < SHOWN && is_new {
            out.related.push(term);
        }
    }
}

/// Said by a user, of a source that still says so.
fn by_user(candidate: &Candidate) -> bool {
    candidate.origin == Some(Origin::User) && !candidate.source.stale
}

/// Whether one text repeats at least half of the other's words.
fn alike(a: &str, b: &str) -> bool {
    let (a, b): (HashSet<String>, HashSet<String>) = (stems(a).into_iter().collect(), stems(b).into_iter().collect());
    2 * a.intersection(&b).count() >= a.len().min(b.len())
}

/// Whether two candidates are about one term.
fn one_topic(asked: &Question, a: &Candidate, b: &Candidate) -> bool {
    let both = a.fit >= 0.9 && b.fit >= 0.9;
    let term = same(&a.key, &b.key) || (asked.shape == Shape::Define && both);
    a.covers == b.covers && if a.covers { both && about_the_same(&a.answer, &b.answer) } else { term }
}

/// The best candidates for the other terms of the question, as far as their words are not all taken by better ones.
fn find_related(top: &Candidate, candidates: &[Candidate]) -> Vec<Related> {
    let mut taken = top.key.clone();
    let mut out = Vec::new();
    for candidate in candidates {
        let Some(term) = candidate.term.clone().filter(|_| !within(&candidate.key, &taken)) else { continue };
        if out.len() < SHOWN {
            taken.extend(candidate.key.iter().cloned());
            out.push(Related {
                term,
                definition: candidate.whole.as_ref().unwrap_or(&candidate.answer).clone(),
                source: candidate.source.name.clone(),
                confidence: candidate.probability,
            });
        }
    }
    out
}

/// What becomes of a reply.
const KEEP: &str = "add_fact keeps the reply.";

fn unknown(asked: &Question, terms: impl FnOnce() -> Vec<String>) -> String {
    let mut terms = terms();
    terms.sort_unstable();
    terms.dedup();
    // A word in common is nearer than letters in common.
    let wanted = stems(&asked.term);
    let common = |term: &&String| stems(term).iter().any(|stem| wanted.contains(stem));
    let shared: Vec<&str> = terms.iter().filter(common).map(String::as_str).collect();
    let near = match shared.as_slice() {
        [] => terms.iter().filter(|term| is_slip(&asked.term, term)).take(SHOWN).cloned().collect(),
        shared => nearest(&asked.term, shared.iter().copied(), SHOWN),
    };
    let near = if near.is_empty() {
        String::new()
    } else {
        format!(" Nearest known terms: {}.", near.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "))
    };
    format!("Nothing known defines `{}`.{near} Ask; {KEEP}", cut::words(&asked.term, 100))
}

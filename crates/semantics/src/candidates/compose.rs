//! Composes candidates: each possible measure, with every other part in the role that keys and types permit.

use super::intent::{Intent, Measure};
use super::names::{Element, Mention};
use super::operators::Operator;
use super::parts::{Kind, Part};
use super::question::{Mark, Question, Span};
use super::roles::Assembly;
use super::scope::{Key, Scope};
use super::seeds::list_seeds;

/// The maximum number of combinations of meanings.
const MAX_COMBINATIONS: usize = 48;
/// The maximum number of meanings of one span.
const MAX_MEANINGS: usize = 3;
/// The minimum weight of a word of an operator, a period or a grain.
pub(super) const MARK_WEIGHT: f64 = 0.5;
/// The penalty for an aggregating operator that an interpretation does not use.
pub(super) const UNUSED_OPERATOR: f64 = 1.0;

/// Up to this score, a word counts as not understood.
pub(super) const FAINT: f64 = 0.5;
/// The factor for the weight of an unused word right before a used one.
const MODIFIER: f64 = 2.0;

/// An interpretation of a question, and its coverage.
#[derive(Debug, Clone)]
pub(super) struct Scored {
    pub(super) intent: Intent,
    pub(super) score: f64,
    /// The words that it does not use.
    pub(super) unused: Vec<String>,
    /// A table that the question names and that no key connects to the subject.
    pub(super) apart: Option<usize>,
}

/// Returns the interpretations of a question over a scope, the best first.
pub(super) fn compose(scope: &Scope<'_>, question: &Question, mentions: &[Mention]) -> Vec<Scored> {
    let mut all: Vec<Scored> = Vec::new();
    for parts in combine(question, mentions) {
        for seed in list_seeds(scope, question, &parts) {
            let Some(assembly) = Assembly::build(scope, question, &parts, seed) else { continue };
            let (score, unused) = judge(question, &parts, &assembly);
            let apart = find_apart(scope, &parts, &assembly);
            let scored = Scored { intent: assembly.intent, score, unused, apart };
            match all.iter_mut().find(|known| known.intent == scored.intent) {
                Some(known) if known.score < scored.score => *known = scored,
                Some(_) => {}
                None => all.push(scored),
            }
        }
    }
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    all
}

/// Returns the interpretation once for each key that its tables can be joined by: `loans by branch` of the copy, or of the member.
pub(super) fn vary(scope: &Scope<'_>, scored: Scored) -> Vec<Scored> {
    let intent = &scored.intent;
    let shown = if let Measure::Rows(shown) = &intent.measure { shown.as_slice() } else { &[] };
    let groups = intent.groups.iter().map(|group| group.place);
    let met = if let Measure::Share(met) = &intent.measure { met.as_slice() } else { &[] };
    let conditions = intent.filters.iter().chain(met).map(|(place, ..)| *place);
    let places = groups.chain(conditions).chain(shown.iter().copied());
    let read: Vec<usize> = places.map(|place| place.0).collect();
    let pairs = read.iter().map(|table| (intent.subject, *table));
    let mut pairs = pairs.chain(intent.existences.iter().map(|one| (one.table, intent.subject)));
    let rivals = pairs.find_map(|(from, to)| Some(scope.rivals(from, to)).filter(|rivals| !rivals.is_empty()));
    let Some(mut rivals) = rivals else { return vec![scored] };
    // A key of a table that is read anyway: `loans of students by branch` are by the branch of the student.
    if rivals.iter().any(|key| read.contains(&key.from)) {
        rivals.retain(|key| read.contains(&key.from));
    }
    let with = |key: &Key| Scored { intent: Intent { via: Some(key.clone()), ..intent.clone() }, ..scored.clone() };
    rivals.into_iter().map(with).collect()
}

/// Returns a table that only unused parts name and that no key connects to the subject.
fn find_apart(scope: &Scope<'_>, parts: &[Part], assembly: &Assembly<'_>) -> Option<usize> {
    let subject = assembly.intent.subject;
    let is_apart = |table: &usize| !scope.are_connected(subject, *table);
    let unused = parts.iter().zip(&assembly.used).filter(|(part, is_used)| !**is_used && part.score == 1.0);
    unused.filter_map(|(part, _)| part.element()).find_map(|element| {
        let tables: Vec<usize> = match element {
            Element::Table(table) => vec![*table],
            Element::Columns(places) => places.iter().map(|place| place.0).collect(),
            Element::Lacking(place) => vec![place.0],
            Element::Values(held) => held.iter().map(|(place, _)| place.0).collect(),
            Element::Database | Element::Metric(_) | Element::Segment(_) => Vec::new(),
        };
        tables.first().copied().filter(|_| tables.iter().all(is_apart))
    })
}

/// Returns the parts of a follow-up question in their most likely meanings.
pub(super) fn read_parts(question: &Question, mentions: &[Mention]) -> Vec<Part> {
    combine(question, mentions).into_iter().next().unwrap_or_default()
}

/// Returns the share of the weight of all words that the used parts cover, minus penalties for assumptions, and the unused words.
pub(super) fn judge(question: &Question, parts: &[Part], assembly: &Assembly<'_>) -> (f64, Vec<String>) {
    let mut covered = vec![0.0_f64; question.tokens.len()];
    let mut weights: Vec<f64> = question.tokens.iter().map(|token| token.weight).collect();
    for (part, is_used) in parts.iter().zip(&assembly.used) {
        for at in part.span.at..part.span.end() {
            if part.element().is_none() {
                // An average that is requested but not computed costs more than an unused word.
                let is_left = !is_used && part.operator().is_some_and(Operator::computes);
                let weight = if is_left { UNUSED_OPERATOR } else { MARK_WEIGHT };
                weights[at] = weights[at].max(weight / part.span.length as f64);
            }
            if *is_used {
                covered[at] = part.score;
            }
        }
    }
    assembly.units.iter().for_each(|at| covered[*at] = 1.0);
    // An identifier is one name: it is covered as a whole or not at all.
    for name in &question.identifiers {
        let is_whole =
            |(part, is_used): (&Part, &bool)| *is_used && part.span.at <= name.at && name.end() <= part.span.end();
        if !parts.iter().zip(&assembly.used).any(is_whole) {
            covered[name.at..name.end()].fill(0.0);
        }
    }
    let (share, unused) = measure(question, &covered, weights);
    (share - assembly.penalty, unused)
}

/// Returns the share of the total weight that is covered, and the words that are not understood.
pub(super) fn measure(question: &Question, covered: &[f64], mut weights: Vec<f64>) -> (f64, Vec<String>) {
    // A word right before a used part is likely to modify its meaning: `second highest`, `active customers`.
    for at in (0..covered.len().saturating_sub(1)).rev() {
        if covered[at] == 0.0 && weights[at] > 0.0 && covered[at + 1] > 0.0 {
            weights[at] *= MODIFIER;
        }
    }
    let total: f64 = weights.iter().sum();
    let reached: f64 = covered.iter().zip(&weights).map(|(score, weight)| score * weight).sum();
    let unused = (0..covered.len()).filter(|at| covered[*at] <= FAINT && weights[*at] > 0.0);
    (reached / total.max(f64::MIN_POSITIVE), question.quote(unused))
}

/// Returns the combinations of meanings of the parts that cover most of a question, the most likely first: once with the names of metrics
/// and once without, since the total of paid invoices is not the number of invoices.
fn combine(question: &Question, mentions: &[Mention]) -> Vec<Vec<Part>> {
    let without_metrics = |mention: &Mention| {
        let mut meanings = mention.meanings.clone();
        meanings.retain(|(element, _)| !matches!(element, Element::Metric(_)));
        (!meanings.is_empty()).then_some(Mention { span: mention.span, meanings })
    };
    let others: Vec<Mention> = mentions.iter().filter_map(without_metrics).collect();
    let covers = [cover(question, mentions), cover(question, &others)];
    covers.into_iter().flat_map(combine_cover).collect()
}

fn combine_cover(cover: Vec<Vec<Part>>) -> Vec<Vec<Part>> {
    let mut combinations: Vec<(f64, Vec<Part>)> = vec![(0.0, Vec::new())];
    for choice in cover {
        let mut next = Vec::new();
        for (loss, parts) in &combinations {
            for part in choice.iter().take(MAX_MEANINGS) {
                let loss = loss + choice[0].score - part.score;
                next.push((loss, parts.iter().cloned().chain([part.clone()]).collect::<Vec<Part>>()));
            }
        }
        next.sort_by(|a, b| a.0.total_cmp(&b.0));
        next.truncate(MAX_COMBINATIONS);
        combinations = next;
    }
    combinations.into_iter().map(|(_, parts)| parts).collect()
}

/// Returns the non-overlapping spans with the highest total weight, each with its meanings.
fn cover(question: &Question, mentions: &[Mention]) -> Vec<Vec<Part>> {
    let count = question.tokens.len();
    let mut choices: Vec<(Span, Vec<Part>)> = Vec::new();
    let mut add = |span: Span, part: Part| match choices.iter_mut().find(|(known, _)| *known == span) {
        Some((_, parts)) => parts.push(part),
        None => choices.push((span, vec![part])),
    };
    for (span, mark) in &question.marks {
        let kind = match mark.clone() {
            Mark::Operator(operator) => Kind::Operator(operator),
            Mark::Period(from, to) => Kind::Period(from, to),
            Mark::Grain(grain) => Kind::Grain(grain),
            Mark::Series(grain) => Kind::Series(grain),
            Mark::Number(number) => Kind::Number(number),
        };
        add(*span, Part { span: *span, kind, score: 1.0 });
    }
    for mention in mentions {
        for (element, score) in &mention.meanings {
            add(mention.span, Part { span: mention.span, kind: Kind::Named(element.clone()), score: *score });
        }
    }
    let value = |span: Span, parts: &[Part]| {
        let best = parts.iter().map(|part| part.score).fold(0.0, f64::max);
        // Words in the full name of several words are not operators: `list price`.
        let is_name = best == 1.0 && span.length > 1;
        let weight: f64 = question.tokens[span.at..span.end()]
            .iter()
            .map(|token| {
                if is_name || parts.iter().any(|part| part.element().is_none()) {
                    token.weight.max(MARK_WEIGHT)
                } else {
                    token.weight
                }
            })
            .sum();
        // Among equal covers, the one with fewer and longer parts is preferred.
        best * weight + 0.05 * span.length as f64 - 0.08
    };
    // `best[at]`: the best value of the words from `at` on, and the choice that starts there.
    let mut best: Vec<(f64, Option<usize>)> = vec![(0.0, None); count + 1];
    for at in (0..count).rev() {
        best[at] = (best[at + 1].0, None);
        for (index, (span, parts)) in choices.iter().enumerate().filter(|(_, (span, _))| span.at == at) {
            let worth = value(*span, parts) + best[span.end()].0;
            if worth > best[at].0 {
                best[at] = (worth, Some(index));
            }
        }
    }
    let (mut cover, mut at) = (Vec::new(), 0);
    while at < count {
        match best[at].1 {
            Some(index) => {
                let (span, parts) = &choices[index];
                let mut parts = parts.clone();
                parts.sort_by(|a, b| b.score.total_cmp(&a.score));
                cover.push(parts);
                at = span.end();
            }
            None => at += 1,
        }
    }
    cover
}

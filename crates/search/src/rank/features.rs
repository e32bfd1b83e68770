//! Features of a candidate for the learned ranker.
//!
//! Every kind has all features; inapplicable ones are 0. Scores of the first pass are relative to the best, so that
//! features are comparable across catalogs. The weights are in `model/ranker.json`.

use std::collections::{HashMap, HashSet};

use prospector_core::Kind;
use prospector_text::sentences;

use super::{RankQuery, action::Actions, by_place::ByPlace, calibrate::few, named::numbers, query_scores::QueryScores};
use crate::{SearchError, analyze, index::Snapshot, lexical::Outline};

/// Maximum number of candidates, not counting those that the best of them join to.
pub(super) const MAX_CANDIDATES: usize = 100;

/// Number of top records whose join partners become candidates.
const JOINED_FROM: usize = 10;

/// Bonus of a record that contains a value of the question, relative to the best score, for records that join to it.
const VALUE_PULLS: f32 = 0.5;

/// Maximum number of columns of a candidate that are read.
const MAX_MEMBERS: usize = 200;

numbers! {
    /// The features of one candidate.
    pub(crate) Features, NAMES {
        base: "First-pass score / best score.",
        strength: "BM25 over the weights of all query terms.",
        body: "Cosine of the question and its text.",
        name: "Cosine of the question and its names.",
        coverage: "Coverage of the question by all members of its parent, relative to the best parent, scaled by reliability.",
        centroid: "Similarity of its parent to the question, scaled by reliability.",
        members_said: "Share of query terms in members whose full name occurs in the query.",
        pulled: "First-pass score of its best join partner minus its own, if positive.",
        bridged: "First-pass score of its second-best join partner minus its own, if positive.",
        missing: "Greatest weight of a term missing from it / greatest weight.",
        pairs: "Number of adjacent query terms that are adjacent in its name or description.",
        description_said: "Share of its first sentence that occurs in the question.",
        action: "1 if its action matches the question, -1 if it differs, 0 if unknown.",
        value: "Evidence from values of the question that it contains.",
        value_alone: "The same, times the probability that the question consists only of a value.",
        few: "Prior for small catalogs: from 1 for an empty one towards 0.",
    }
}

/// Weights that request every feature.
pub(super) const ALL: Features = Features::new([1.0; NAMES.len()]);

/// A candidate: position and features.
pub(super) struct Candidate {
    pub(super) place: usize,
    pub(super) features: Features,
}

/// Returns the candidates for a question, given the scores of the first pass; the best [`MAX_CANDIDATES`] come first,
/// in order. Features with weight 0 in `weights` are not computed and are 0.
pub(super) fn candidates(
    snapshot: &Snapshot,
    kind: Kind,
    asked: RankQuery<'_>,
    query: &QueryScores,
    scores: &[(f32, usize)],
    weights: &Features,
) -> Result<Vec<Candidate>, SearchError> {
    let mut question = Question::new(snapshot, kind, asked, query, scores, *weights);
    let joins_count = weights.pulled != 0.0 || weights.bridged != 0.0;
    let mut places: Vec<usize> = scores.iter().take(MAX_CANDIDATES).map(|(_, place)| *place).collect();
    let mut known: HashSet<usize> = places.iter().copied().collect();
    if kind == Kind::Table {
        let mut holding = find_places(snapshot, kind, asked.values.ids())?;
        holding.sort_unstable_by_key(|(place, _)| *place);
        holding.retain(|(place, _)| question.base.get(*place).is_some());
        question.values = holding.iter().map(|(place, id)| (*place, asked.values.weight(id))).collect();
        places.extend(holding.iter().map(|(place, _)| *place).filter(|place| known.insert(*place)));
    }
    let mut candidates = Vec::with_capacity(places.len());
    let mut at = 0;
    while at < places.len() {
        let place = places[at];
        let outline: Outline = snapshot.read(kind, place)?;
        let expands = at < JOINED_FROM || question.values.contains_key(&place);
        let mut joined = Vec::new();
        if joins_count || expands {
            let related = find_places(snapshot, kind, outline.related.iter().map(String::as_str))?;
            joined = related.into_iter().map(|(place, _)| place).collect();
        }
        if expands {
            let scored = joined.iter().copied().filter(|place| question.base.get(*place).is_some());
            places.extend(scored.filter(|place| known.insert(*place)));
        }
        let features = question.features(place, &outline, &joined);
        candidates.push(Candidate { place, features });
        at += 1;
    }
    Ok(candidates)
}

/// Returns the positions of the records with these ids.
fn find_places<'i>(
    snapshot: &Snapshot,
    kind: Kind,
    ids: impl Iterator<Item = &'i str>,
) -> Result<Vec<(usize, &'i str)>, SearchError> {
    let mut places = Vec::new();
    for id in ids {
        let address = snapshot.lexical.address(&snapshot.searcher, kind, id)?;
        let place = address.and_then(|address| snapshot.kind_index(kind).place(address));
        places.extend(place.map(|place| (place, id)));
    }
    Ok(places)
}

/// The analysed question.
struct Question<'a> {
    snapshot: &'a Snapshot,
    kind: Kind,
    query: &'a QueryScores,
    /// First-pass score of each position / best score.
    base: ByPlace,
    /// Evidence from values, by position.
    values: HashMap<usize, f32>,
    certainty: f32,
    few: f32,
    /// Its terms and their weights.
    weights: HashMap<&'a str, f32>,
    total: f32,
    /// Adjacent terms.
    pairs: HashSet<(&'a str, &'a str)>,
    actions: Actions,
    /// The weight of each feature.
    counts: Features,
}

impl<'a> Question<'a> {
    fn new(
        snapshot: &'a Snapshot,
        kind: Kind,
        asked: RankQuery<'_>,
        query: &'a QueryScores,
        scores: &[(f32, usize)],
        counts: Features,
    ) -> Self {
        let top = scores.first().map_or(0.0, |(score, _)| *score).max(f32::EPSILON);
        let terms = query.terms();
        let records = snapshot.kind_index(kind).docs.len();
        Question {
            counts,
            snapshot,
            kind,
            query,
            base: ByPlace::new(records, scores.iter().map(|(score, place)| (*place, score / top))),
            values: HashMap::new(),
            certainty: asked.values.certainty(),
            few: few(kind, records, query.trust()),
            weights: terms.iter().map(|(term, weight)| (term.as_str(), *weight)).collect(),
            total: terms.iter().map(|(_, weight)| weight).sum::<f32>().max(f32::EPSILON),
            pairs: terms.windows(2).map(|pair| (pair[0].0.as_str(), pair[1].0.as_str())).collect(),
            actions: if kind == Kind::Operation { Actions::of_question(asked.text) } else { Actions::default() },
        }
    }

    fn features(&self, place: usize, outline: &Outline, joined: &[usize]) -> Features {
        let Question { snapshot, kind, query, counts, .. } = *self;
        let parent = snapshot.kind_index(kind).docs[place].parent;
        let base = |place: &usize| self.base.get(*place).unwrap_or(0.0);
        let own = base(&place);
        let value = |place: &usize| self.values.get(place).copied().unwrap_or(0.0);
        let pulling = |place: &usize| base(place) + VALUE_PULLS * value(place);
        let mut joined: Vec<f32> = joined.iter().map(|other| (pulling(other) - pulling(&place)).max(0.0)).collect();
        joined.sort_by(|a, b| b.total_cmp(a));
        let style = analyze::Style::of(kind);
        let (mut name, mut first_sentence) = (Vec::new(), Vec::new());
        if counts.pairs != 0.0 {
            name = analyze::terms(&outline.name, style);
        }
        if counts.pairs != 0.0 || counts.description_said != 0.0 {
            first_sentence = analyze::terms(sentences::first(&outline.description), style);
        }
        Features {
            base: own,
            strength: query.strength(place),
            body: if counts.body != 0.0 { query.body_similarity(snapshot, kind, place) } else { 0.0 },
            name: if counts.name != 0.0 { query.name_similarity(snapshot, kind, place) } else { 0.0 },
            coverage: query.coverage(parent) * query.trust(),
            centroid: query.centroid(parent).unwrap_or(0.0) * query.trust(),
            members_said: if counts.members_said != 0.0 { self.members_said(outline, style) } else { 0.0 },
            pulled: joined.first().copied().unwrap_or(0.0),
            bridged: joined.get(1).copied().unwrap_or(0.0),
            missing: if counts.missing != 0.0 { query.missing(place) } else { 0.0 },
            pairs: self.pairs_said(&name, &first_sentence),
            description_said: self.share_said(&first_sentence),
            action: match kind {
                Kind::Operation if counts.action != 0.0 => self.actions.agreement(Actions::of_operation(outline)),
                Kind::Operation
                | Kind::Table
                | Kind::Document
                | Kind::Fact
                | Kind::Skill
                | Kind::Metric
                | Kind::Query => 0.0,
            },
            value: value(&place),
            value_alone: self.certainty * value(&place),
            few: self.few,
        }
    }

    /// Returns the share of terms that occur in the question.
    fn share_said(&self, terms: &[String]) -> f32 {
        let said = terms.iter().filter(|term| self.weights.contains_key(term.as_str())).count();
        said as f32 / terms.len().max(1) as f32
    }

    fn pairs_said(&self, name: &[String], first_sentence: &[String]) -> f32 {
        let windows = name.windows(2).chain(first_sentence.windows(2));
        let said: HashSet<(&str, &str)> = windows.map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
        let found = self.pairs.iter().filter(|pair| said.contains(*pair)).count();
        found as f32 / self.pairs.len().max(1) as f32
    }

    fn members_said(&self, outline: &Outline, style: analyze::Style) -> f32 {
        if self.kind != Kind::Table {
            return 0.0;
        }
        let mut held: HashSet<String> = HashSet::new();
        for member in outline.members.split_whitespace().take(MAX_MEMBERS) {
            let terms = analyze::terms(member, style);
            if self.share_said(&terms) == 1.0 {
                held.extend(terms);
            }
        }
        // In question order, as floating-point sums depend on order.
        let terms = self.query.terms().iter().filter(|(term, _)| held.contains(term));
        terms.map(|(_, weight)| weight).sum::<f32>() / self.total
    }
}

//! What is known of a candidate beside a question, as numbers: what the learned ranker weighs.
//!
//! Every kind has every feature; one that means nothing for a kind is 0. Scores of the first pass are taken over the best, so
//! that a feature means the same in catalogs of every size. What a feature is worth is in `model/ranker.json`.

use std::collections::{HashMap, HashSet};

use prospector_core::Kind;
use prospector_core::record::Record;
use prospector_text::sentences;

use super::{RankQuery, action::Actions, calibrate::few, query_scores::QueryScores};
use crate::{SearchError, analyze, index::Snapshot, lexical::MAX_IDF};

/// How many candidates are weighed, beside those that the best of them join to.
const MAX_CANDIDATES: usize = 100;

/// Of so many of the best, what they join to is a candidate too.
const JOINED_FROM: usize = 10;

/// What a record that holds a value of the question counts more, over the best, for those that join to it.
const VALUE_PULLS: f32 = 0.5;

/// At most this many columns of a candidate are read.
const MAX_MEMBERS: usize = 200;

macro_rules! features {
    ($($name:ident: $says:literal,)*) => {
        /// The names of the features, in their order.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// What is known of one candidate.
        #[derive(Debug, Clone, Copy, Default)]
        pub(crate) struct Features {
            $(#[doc = $says] pub(crate) $name: f32,)*
        }

        impl Features {
            /// The values, in the order of [`NAMES`].
            pub(crate) fn values(&self) -> [f32; NAMES.len()] {
                [$(self.$name),*]
            }
        }
    };
}

features! {
    base: "The score of the first pass, over the best.",
    strength: "BM25 over the weights of all terms of the question.",
    body: "The cosine of the question with its text.",
    name: "The cosine of the question with what names it.",
    coverage: "What the members of its parent cover of the question together, over the best parent, as far as that can be trusted.",
    centroid: "How near its parent is to the question, as far as that can be trusted.",
    members_said: "How much of the question the parts hold whose names it says whole.",
    pulled: "How far the best thing that it joins to is above it in the first pass.",
    bridged: "How far the second best thing that it joins to is above it.",
    missing: "The weight of the weightiest term that it does not hold, over the greatest weight.",
    pairs: "How many terms that are neighbours in the question are neighbours in its name or description.",
    description_said: "How much of its first sentence the question says.",
    action: "1 where it does what the question asks to be done, -1 where it does something else, 0 where nobody knows.",
    value: "How much the values that it holds of the question say for it.",
    few: "How small the catalog is: from 1 for nothing to 0 for endless.",
}

/// One candidate: its place, its record, and what is known of it.
pub(crate) struct Candidate {
    pub(crate) place: usize,
    pub(crate) record: Record,
    pub(crate) features: Features,
}

/// The candidates for a question, in the order of the first pass, whose scores are given, best first.
pub(super) fn candidates(
    snapshot: &Snapshot,
    kind: Kind,
    asked: RankQuery<'_>,
    query: &QueryScores,
    scores: &[(f32, usize)],
) -> Result<Vec<Candidate>, SearchError> {
    let mut question = Question::new(snapshot, kind, asked, query, scores);
    let mut places: Vec<usize> = scores.iter().take(MAX_CANDIDATES).map(|(_, place)| *place).collect();
    let mut known: HashSet<usize> = places.iter().copied().collect();
    if kind == Kind::Table {
        let mut holding = find_places(snapshot, kind, asked.values.ids())?;
        holding.sort_unstable_by_key(|(place, _)| *place);
        holding.retain(|(place, _)| question.base.contains_key(place));
        question.values = holding.iter().map(|(place, id)| (*place, asked.values.weight(id))).collect();
        places.extend(holding.iter().map(|(place, _)| *place).filter(|place| known.insert(*place)));
    }
    let mut candidates = Vec::with_capacity(places.len());
    let mut at = 0;
    while at < places.len() {
        let place = places[at];
        let record = snapshot.lexical.record(&snapshot.searcher, snapshot.kind_index(kind).docs[place].address)?;
        let joined = find_joined(snapshot, kind, &record)?;
        if at < JOINED_FROM || question.values.contains_key(&place) {
            let scored = joined.iter().copied().filter(|place| question.base.contains_key(place));
            places.extend(scored.filter(|place| known.insert(*place)));
        }
        let features = question.features(place, &record, &joined);
        candidates.push(Candidate { place, record, features });
        at += 1;
    }
    Ok(candidates)
}

/// The places of what a record joins to.
fn find_joined(snapshot: &Snapshot, kind: Kind, record: &Record) -> Result<Vec<usize>, SearchError> {
    let found = find_places(snapshot, kind, record.related.iter().map(String::as_str))?;
    Ok(found.into_iter().map(|(place, _)| place).collect())
}

/// The places of the records of these ids.
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

/// The question, taken apart once.
struct Question<'a> {
    snapshot: &'a Snapshot,
    kind: Kind,
    query: &'a QueryScores,
    /// The score of each place in the first pass, over the best.
    base: HashMap<usize, f32>,
    /// What the values say for each place that holds some.
    values: HashMap<usize, f32>,
    few: f32,
    /// Its terms, and their weights.
    weights: HashMap<&'a str, f32>,
    total: f32,
    /// Neighbours among its terms.
    pairs: HashSet<(&'a str, &'a str)>,
    actions: Actions,
}

impl<'a> Question<'a> {
    fn new(
        snapshot: &'a Snapshot,
        kind: Kind,
        asked: RankQuery<'_>,
        query: &'a QueryScores,
        scores: &[(f32, usize)],
    ) -> Self {
        let top = scores.first().map_or(0.0, |(score, _)| *score).max(f32::EPSILON);
        let terms = query.terms();
        Question {
            snapshot,
            kind,
            query,
            base: scores.iter().map(|(score, place)| (*place, score / top)).collect(),
            values: HashMap::new(),
            few: few(kind, snapshot.kind_index(kind).docs.len(), query.trust()),
            weights: terms.iter().map(|(term, weight)| (term.as_str(), *weight)).collect(),
            total: terms.iter().map(|(_, weight)| weight).sum::<f32>().max(f32::EPSILON),
            pairs: terms.windows(2).map(|pair| (pair[0].0.as_str(), pair[1].0.as_str())).collect(),
            actions: if kind == Kind::Operation { Actions::of_question(asked.text) } else { Actions::default() },
        }
    }

    fn features(&self, place: usize, record: &Record, joined: &[usize]) -> Features {
        let Question { snapshot, kind, query, .. } = *self;
        let parent = snapshot.kind_index(kind).docs[place].parent;
        let base = |place: &usize| self.base.get(place).copied().unwrap_or(0.0);
        let own = base(&place);
        let value = |place: &usize| self.values.get(place).copied().unwrap_or(0.0);
        let pulling = |place: &usize| base(place) + VALUE_PULLS * value(place);
        let mut joined: Vec<f32> = joined.iter().map(|other| (pulling(other) - pulling(&place)).max(0.0)).collect();
        joined.sort_by(|a, b| b.total_cmp(a));
        let style = analyze::Style::of(kind);
        let name = analyze::terms(&record.name, style);
        let first_sentence = analyze::terms(sentences::first(&record.description), style);
        Features {
            base: own,
            strength: query.strength(place),
            body: query.body_similarity(snapshot, kind, place),
            name: query.name_similarity(snapshot, kind, place),
            coverage: query.coverage(parent) * query.trust(),
            centroid: query.centroid(parent).unwrap_or(0.0) * query.trust(),
            members_said: self.members_said(record, style),
            pulled: joined.first().copied().unwrap_or(0.0),
            bridged: joined.get(1).copied().unwrap_or(0.0),
            missing: self.missing(place),
            pairs: self.pairs_said(&name, &first_sentence),
            description_said: self.share_said(&first_sentence),
            action: match kind {
                Kind::Operation => self.actions.agreement(Actions::of_operation(record)),
                Kind::Table | Kind::Document | Kind::Fact | Kind::Skill => 0.0,
            },
            value: value(&place),
            few: self.few,
        }
    }

    /// The share of terms that the question says.
    fn share_said(&self, terms: &[String]) -> f32 {
        let said = terms.iter().filter(|term| self.weights.contains_key(term.as_str())).count();
        said as f32 / terms.len().max(1) as f32
    }

    /// The weight of the weightiest term that a record does not hold, over the greatest weight.
    fn missing(&self, place: usize) -> f32 {
        let terms = self.query.terms().iter().enumerate();
        let missing = terms.filter(|(at, _)| !self.query.holds(place, *at)).map(|(_, (_, weight))| *weight);
        missing.fold(0.0, f32::max) / MAX_IDF
    }

    fn pairs_said(&self, name: &[String], first_sentence: &[String]) -> f32 {
        let windows = name.windows(2).chain(first_sentence.windows(2));
        let said: HashSet<(&str, &str)> = windows.map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
        let found = self.pairs.iter().filter(|pair| said.contains(*pair)).count();
        found as f32 / self.pairs.len().max(1) as f32
    }

    fn members_said(&self, record: &Record, style: analyze::Style) -> f32 {
        if self.kind != Kind::Table {
            return 0.0;
        }
        let mut held: HashSet<String> = HashSet::new();
        for member in record.members.split_whitespace().take(MAX_MEMBERS) {
            let terms = analyze::terms(member, style);
            if self.share_said(&terms) == 1.0 {
                held.extend(terms);
            }
        }
        held.iter().filter_map(|term| self.weights.get(term.as_str())).sum::<f32>() / self.total
    }
}

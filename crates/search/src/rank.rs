//! From a question to ranked records of one kind.
//!
//! In a first pass the score of a record is its BM25 score over the best one, plus its nearness in meaning, plus what its
//! database or API as a whole has to do with the question: the things that a question needs live together.
//! [`crate::recipe`] has the constants. Then the best are put in order by [`features`] that are too dear to compute for all,
//! among them what they join to, with the weights of [`model`].

mod action;
mod baselines;
mod by_place;
pub(crate) mod calibrate;
mod clauses;
pub(crate) mod features;
mod lookup;
pub(crate) mod model;
mod query_scores;

use prospector_core::Kind;
use prospector_core::record::{Record, Relevance};
use rayon::prelude::*;

use crate::{
    SearchError, analyze, index::Snapshot, meaning::Question, ranking::Ranker, recipe, values::Matches,
    vectors::Quantized,
};
use by_place::ByPlace;
use calibrate::Evidence;
use features::{Candidate, Features, MAX_CANDIDATES};
use query_scores::QueryScores;

/// Up to this many records of a kind are all scored in full; of more, those with the best preliminary score.
const MAX_SCORED: usize = 20_000;

/// How many records are scored in full then.
const PRESELECTED: usize = 1_500;

/// How many of the best records pull the operations that look their ids up.
const LOOKUP_SOURCES: usize = 10;

/// How many hits the last one is measured against.
const GAP_DEPTH: usize = 10;

/// A question that is nothing but the name of a value is answered by where it stands: so likely, at most.
const VALUE_ANSWERS: f32 = 0.9;

/// A question, and the values that it names.
#[derive(Clone, Copy)]
pub(crate) struct RankQuery<'a> {
    pub(crate) question: &'a Question<'a>,
    pub(crate) values: &'a Matches,
}

/// A record and how it ranks.
pub(crate) struct Ranked {
    pub(crate) record: Record,
    pub(crate) relevance: Relevance,
}

/// The best records of one kind.
pub(crate) struct Ranking {
    /// Best first, whatever their relevance.
    pub(crate) records: Vec<Ranked>,
    /// How likely it is that anything of this kind answers the question.
    pub(crate) answerable: f32,
}

/// The best `limit` records of a kind, of one parent where it is given.
pub(crate) fn rank(
    snapshot: &Snapshot,
    kind: Kind,
    asked: RankQuery<'_>,
    parent: Option<&str>,
    limit: usize,
    ranker: Ranker,
) -> Result<Ranking, SearchError> {
    let kind_index = snapshot.kind_index(kind);
    let mut ranking = Ranking { records: Vec::new(), answerable: 0.0 };
    if kind_index.docs.is_empty() {
        return Ok(ranking);
    }
    let within = match parent {
        Some(name) => match kind_index.parent(name) {
            Some(parent) => Some(parent),
            None => return Ok(ranking),
        },
        None => None,
    };
    let mut scored = score(snapshot, kind, asked, within, limit, ranker)?;
    // What a part of the recipe is worth is measured without what the rest of it knows.
    let text = asked.question.text;
    let named = if ranker == Ranker::Full { snapshot.lexical.exact(&snapshot.searcher, text)? } else { Vec::new() };
    let mut exact: Vec<usize> = named
        .into_iter()
        .filter_map(|address| kind_index.place(address))
        .filter(|place| within.is_none_or(|parent| kind_index.docs[*place].parent == parent))
        .collect();
    exact.truncate(limit);
    let read = |place: usize| snapshot.lexical.record(&snapshot.searcher, kind_index.docs[place].address);
    if !exact.is_empty() {
        ranking.answerable = 1.0;
        for place in &exact {
            ranking.records.push(Ranked { record: read(*place)?, relevance: Relevance::EXACT });
        }
        scored.hits.retain(|hit| !exact.contains(&hit.place));
    }
    ranking.answerable = ranking.answerable.max(scored.answerable);
    let mut ceiling = 1.0_f32;
    for hit in scored.hits.into_iter().take(limit.saturating_sub(exact.len())) {
        // A hit is never said to be more relevant than one that ranks before it.
        ceiling = ceiling.min(scored.answerable * hit.probability);
        ranking.records.push(Ranked { record: read(hit.place)?, relevance: Relevance::new(ceiling) });
    }
    Ok(ranking)
}

struct Hit {
    place: usize,
    probability: f32,
}

struct Scored {
    /// Best first.
    hits: Vec<Hit>,
    answerable: f32,
}

fn score(
    snapshot: &Snapshot,
    kind: Kind,
    asked: RankQuery<'_>,
    within: Option<u32>,
    limit: usize,
    ranker: Ranker,
) -> Result<Scored, SearchError> {
    let query = QueryScores::of(snapshot, kind, asked.question.text)?;
    let scores = match ranker {
        Ranker::Full => full(snapshot, kind, asked, &query, within, limit)?,
        Ranker::Lexical | Ranker::Dense | Ranker::Rrf => baselines::scores(snapshot, kind, &query, within, ranker),
    };
    let mut scored = judge(snapshot, kind, &query, &scores, limit);
    if kind == Kind::Table {
        scored.answerable = scored.answerable.max(VALUE_ANSWERS * asked.values.certainty());
    }
    Ok(scored)
}

/// Whether a word occurs in what the records of any kind say.
pub(crate) fn is_term(snapshot: &Snapshot, word: &str) -> bool {
    Kind::ALL.into_iter().any(|kind| {
        let terms = analyze::terms(word, analyze::Style::of(kind));
        let is_held = |term: &String| {
            let boosts = recipe::of(kind).boosts;
            let mut fields = boosts.iter().enumerate().filter(|(_, boost)| **boost > 0.0);
            fields.any(|(field, _)| snapshot.lexical.has_term(&snapshot.searcher, kind, field, term))
        };
        !terms.is_empty() && terms.iter().all(is_held)
    })
}

/// What the learned ranker would weigh for a question, in the order of the first pass.
pub(crate) fn candidates(
    snapshot: &Snapshot,
    kind: Kind,
    asked: RankQuery<'_>,
) -> Result<Vec<(Record, Features)>, SearchError> {
    if snapshot.kind_index(kind).docs.is_empty() {
        return Ok(Vec::new());
    }
    let query = QueryScores::of(snapshot, kind, asked.question.text)?;
    let scores = first_pass(snapshot, kind, asked, &query, None, MAX_CANDIDATES)?;
    let mut candidates = features::candidates(snapshot, kind, asked, &query, &scores, &features::ALL)?;
    add_meaning(snapshot, kind, asked.question, &mut candidates)?;
    let read = |candidate: Candidate| {
        let address = snapshot.kind_index(kind).docs[candidate.place].address;
        Ok((snapshot.lexical.record(&snapshot.searcher, address)?, candidate.features))
    };
    candidates.into_iter().map(read).collect()
}

/// Says of each candidate how near the question is by the shipped transformer; of none, where it has not read all of them yet.
fn add_meaning(
    snapshot: &Snapshot,
    kind: Kind,
    question: &Question<'_>,
    candidates: &mut [Candidate],
) -> Result<(), SearchError> {
    let docs = &snapshot.kind_index(kind).docs;
    let hashes: Vec<u64> = candidates.iter().map(|candidate| docs[candidate.place].hash).collect();
    let Some(near) = question.similarities(&hashes)? else { return Ok(()) };
    let nearest = near.iter().copied().fold(f32::MIN, f32::max);
    candidates.iter_mut().zip(near).for_each(|(candidate, near)| candidate.features.meaning = near - nearest);
    Ok(())
}

/// The order of the first pass, with the candidates put in order by all that is known of them: as many of the best as are shown
/// and as [`judge`] looks at, best first, and the others behind them in no order.
fn full(
    snapshot: &Snapshot,
    kind: Kind,
    asked: RankQuery<'_>,
    query: &QueryScores,
    within: Option<u32>,
    limit: usize,
) -> Result<Vec<(f32, usize)>, SearchError> {
    let depth = limit.max(MAX_CANDIDATES);
    let mut scores = first_pass(snapshot, kind, asked, query, within, depth)?;
    let Some(weights) = model::weights(kind) else { return Ok(scores) };
    let top = scores.first().map_or(0.0, |(score, _)| score.max(f32::EPSILON));
    let mut candidates = features::candidates(snapshot, kind, asked, query, &scores, weights)?;
    if weights.meaning != 0.0 {
        add_meaning(snapshot, kind, asked.question, &mut candidates)?;
    }
    let weighed = candidates.iter().map(|found| {
        // The less else a question says, the more its values count.
        let value = asked.values.certainty() * found.features.value;
        (found.place, top * (model::score(weights, &found.features) + value))
    });
    let weighed: Vec<(usize, f32)> = weighed.collect();
    let lowest = weighed.iter().map(|(_, score)| *score).fold(f32::MAX, f32::min);
    let weighed = ByPlace::new(snapshot.kind_index(kind).docs.len(), weighed);
    for (score, place) in &mut scores {
        // What is no candidate stays behind all that are.
        *score = weighed.get(*place).unwrap_or_else(|| score.min(lowest));
    }
    sort_best(&mut scores, depth);
    Ok(scores)
}

/// The scores of the recipe: the best `depth` of them, best first, and the others behind them in no order.
fn first_pass(
    snapshot: &Snapshot,
    kind: Kind,
    asked: RankQuery<'_>,
    query: &QueryScores,
    within: Option<u32>,
    depth: usize,
) -> Result<Vec<(f32, usize)>, SearchError> {
    let recipe = recipe::of(kind);
    let kind_index = snapshot.kind_index(kind);
    let clauses: Vec<QueryScores> = match recipe.clauses {
        true => clauses::split(asked.question.text, kind),
        false => Vec::new(),
    }
    .into_iter()
    .map(|clause| QueryScores::of(snapshot, kind, &clause))
    .collect::<Result<_, _>>()?;
    let places = places(snapshot, kind, query, &clauses, within);

    // All clauses of a question that points to one database or API agree on it.
    let agreement = if clauses.is_empty() { 1.0 } else { query_scores::agreement(&clauses) };
    let near = |scores: &QueryScores, place: usize| scores.similarity(snapshot, kind, place);
    let base = |scores: &QueryScores, place: usize| scores.lexical(place) + recipe.dense * near(scores, place);
    let parent_score =
        |scores: &QueryScores, place: usize| agreement * scores.parent_score(&recipe, kind_index.docs[place].parent);
    let mut scores: Vec<(f32, usize)> = places
        .iter()
        .map(|&place| {
            let own = base(query, place) + parent_score(query, place);
            let best_clause =
                clauses.iter().map(|clause| base(clause, place) + parent_score(clause, place)).max_by(f32::total_cmp);
            (best_clause.map_or(own, |clause| (own + clause) / 2.0), place)
        })
        .collect();
    sort_best(&mut scores, depth);
    if recipe.feedback > 0
        && let Some(expanded) = feedback(snapshot, kind, query, &scores[..scores.len().min(recipe.feedback)])
    {
        for (score, place) in &mut scores {
            let first = kind_index.similarity(&snapshot.vectors, &expanded, *place, 0);
            let names = recipe.names * query.name_similarity(snapshot, kind, *place);
            *score = query.lexical(*place) + recipe.dense * (first + names);
        }
        sort_best(&mut scores, depth);
    }
    if recipe.lookup {
        lookup::pull(snapshot, &mut scores, LOOKUP_SOURCES)?;
        sort_best(&mut scores, depth);
    }
    Ok(scores)
}

/// Puts the best `count` in front, best first; the others stand behind them in no order.
fn sort_best(scores: &mut [(f32, usize)], count: usize) {
    if count < scores.len() {
        scores.select_nth_unstable_by(count, by_score);
    }
    let count = count.min(scores.len());
    scores[..count].sort_unstable_by(by_score);
}

/// Best first, and what scores the same in the order of the places.
fn by_score(a: &(f32, usize), b: &(f32, usize)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

/// The records that are scored in full.
fn places(
    snapshot: &Snapshot,
    kind: Kind,
    query: &QueryScores,
    clauses: &[QueryScores],
    within: Option<u32>,
) -> Vec<usize> {
    let kind_index = snapshot.kind_index(kind);
    if let Some(parent) = within {
        return kind_index.parents[parent as usize].members.iter().map(|place| *place as usize).collect();
    }
    if kind_index.docs.len() <= MAX_SCORED {
        return (0..kind_index.docs.len()).collect();
    }
    let recipe = recipe::of(kind);
    let mut cheap: Vec<(f32, usize)> = (0..kind_index.docs.len())
        .into_par_iter()
        .with_min_len(4_096)
        .map(|place| {
            let parent = kind_index.docs[place].parent;
            let near = query.body_similarity(snapshot, kind, place);
            (query.lexical(place) + recipe.dense * near + query.parent_score(&recipe, parent), place)
        })
        .collect();
    let keep = PRESELECTED.min(cheap.len() - 1);
    cheap.select_nth_unstable_by(keep, by_score);
    let mut places: Vec<usize> = cheap[..keep].iter().map(|(_, place)| *place).collect();
    for clause in clauses {
        places.extend(clause.best(100));
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// The question, joined by the vectors of its best records (Rocchio, 1971).
fn feedback(snapshot: &Snapshot, kind: Kind, query: &QueryScores, best: &[(f32, usize)]) -> Option<Quantized> {
    let kind_index = snapshot.kind_index(kind);
    let mut expanded = query.vector()?.to_vec();
    let total: f32 = best.iter().map(|(score, _)| score.max(f32::EPSILON)).sum();
    for (score, place) in best {
        let weight = score.max(f32::EPSILON) / total;
        let vector = kind_index.vector(&snapshot.vectors, *place);
        expanded.iter_mut().zip(vector).for_each(|(sum, value)| *sum += weight * value);
    }
    crate::vectors::normalize(&mut expanded);
    Some(Quantized::new(&expanded))
}

/// How likely each of the best records is to be needed.
fn judge(snapshot: &Snapshot, kind: Kind, query: &QueryScores, scores: &[(f32, usize)], limit: usize) -> Scored {
    let Some(&(top, first)) = scores.first() else { return Scored { hits: Vec::new(), answerable: 0.0 } };
    let last = scores.get(GAP_DEPTH).or(scores.last()).map_or(0.0, |(score, _)| *score);
    // A list that is shorter than the depth ends at nothing.
    let last = if scores.len() > GAP_DEPTH { last } else { last.min(0.0) };
    let kind_index = snapshot.kind_index(kind);
    let few = calibrate::few(kind, kind_index.docs.len(), query.trust());
    let second = scores.get(1).map_or(last, |(score, _)| *score);
    let evidence = |score: f32, place: usize| Evidence {
        strength: query.strength(place),
        cosine: query.vector().map(|_| query.body_similarity(snapshot, kind, place)),
        centroid: query.centroid(kind_index.docs[place].parent).map(|near| near * query.trust()),
        few,
        margin: (score - if place == first { second } else { top }) / top.max(f32::EPSILON),
        gap: (score - last) / top.max(f32::EPSILON),
    };
    let answerable = if top <= 0.0 { 0.0 } else { calibrate::answerable(kind, &evidence(top, first)) };
    let hits = scores
        .iter()
        .take(limit)
        .map(|&(score, place)| Hit { place, probability: calibrate::needed(kind, &evidence(score, place)) })
        .collect();
    Scored { hits, answerable }
}

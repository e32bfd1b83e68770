//! Ranks the records of one kind for a question.
//!
//! The first pass adds the BM25 score (relative to the best), the vector similarity, and the relevance of the parent
//! database or API as a whole; [`crate::recipe`] contains the constants. The best records are then re-ranked by a
//! weighted sum of [`features`] that are too expensive for all records, including join relationships, with the weights
//! of [`model`].

mod action;
mod baselines;
mod by_place;
pub(crate) mod calibrate;
mod clauses;
pub(crate) mod features;
mod lookup;
pub(crate) mod model;
mod named;
mod preselect;
mod query_scores;

use prospector_core::Kind;
use prospector_core::record::{Record, Relevance};

use crate::{SearchError, analyze, index::Snapshot, ranking::Ranker, recipe, values::Matches, vectors::Quantized};
use by_place::ByPlace;
use calibrate::{Answerability, JUDGED, List, Need};
use features::{Candidate, Features, MAX_CANDIDATES};
use preselect::{Bounded, by_score, preselect};
use query_scores::QueryScores;

/// Up to this number of records of a kind, all are scored in full; otherwise only those with the best preliminary
/// scores.
const MAX_SCORED: usize = 20_000;

/// Upper bound of a cosine, including quantization error.
const MAX_COSINE: f32 = 1.05;

/// Number of records scored in full after preselection.
const PRESELECTED: usize = 1_500;

/// Number of top records whose id lookups are pulled up.
const LOOKUP_SOURCES: usize = 10;

/// Upper bound of the answerability of a question that consists only of a value.
const VALUE_ANSWERS: f32 = 0.9;

/// A question and the values that it names.
#[derive(Clone, Copy)]
pub(crate) struct RankQuery<'a> {
    pub(crate) text: &'a str,
    pub(crate) values: &'a Matches,
}

/// A record with its ranking scores.
pub(crate) struct Ranked {
    pub(crate) record: Record,
    pub(crate) relevance: Relevance,
}

/// The best records of one kind.
pub(crate) struct Ranking {
    /// Best first, regardless of relevance.
    pub(crate) records: Vec<Ranked>,
    /// The probability that any record of this kind answers the question.
    pub(crate) answerable: f32,
    /// Whether any of the best records contains a word of the question.
    pub(crate) holds_words: bool,
}

/// Returns the best `limit` records of a kind, optionally of one parent.
pub(crate) fn rank(
    snapshot: &Snapshot,
    kind: Kind,
    asked: RankQuery<'_>,
    parent: Option<&str>,
    limit: usize,
    ranker: Ranker,
) -> Result<Ranking, SearchError> {
    let kind_index = snapshot.kind_index(kind);
    let mut ranking = Ranking { records: Vec::new(), answerable: 0.0, holds_words: false };
    let within = parent.and_then(|name| kind_index.parent(name));
    if kind_index.docs.is_empty() || parent.is_some() && within.is_none() {
        return Ok(ranking);
    }
    let mut scored = score(snapshot, kind, asked, within, limit, ranker)?;
    // Exact name matches belong to the full ranking; baselines are measured without them.
    let named =
        if ranker == Ranker::Full { snapshot.lexical.exact(&snapshot.searcher, asked.text)? } else { Vec::new() };
    let mut exact: Vec<usize> = named
        .into_iter()
        .filter_map(|address| kind_index.place(address))
        .filter(|place| within.is_none_or(|parent| kind_index.docs[*place].parent == parent))
        .collect();
    exact.truncate(limit);
    if !exact.is_empty() {
        ranking.answerable = 1.0;
        for place in &exact {
            ranking.records.push(Ranked { record: snapshot.read(kind, *place)?, relevance: Relevance::EXACT });
        }
        scored.hits.retain(|hit| !exact.contains(&hit.place));
    }
    ranking.answerable = ranking.answerable.max(scored.answerable);
    ranking.holds_words = scored.holds_words;
    let mut ceiling = 1.0_f32;
    for hit in scored.hits.into_iter().take(limit.saturating_sub(exact.len())) {
        // Relevance decreases monotonically with rank.
        ceiling = ceiling.min(scored.answerable * hit.probability);
        ranking.records.push(Ranked { record: snapshot.read(kind, hit.place)?, relevance: Relevance::new(ceiling) });
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
    holds_words: bool,
}

fn score(
    snapshot: &Snapshot,
    kind: Kind,
    asked: RankQuery<'_>,
    within: Option<u32>,
    limit: usize,
    ranker: Ranker,
) -> Result<Scored, SearchError> {
    let query = QueryScores::of(snapshot, kind, asked.text)?;
    let scores = match ranker {
        Ranker::Full => full(snapshot, kind, asked, &query, within, limit)?,
        Ranker::Lexical | Ranker::Dense | Ranker::Rrf => baselines::scores(snapshot, kind, &query, within, ranker),
    };
    let Some(evidence) = gather(snapshot, kind, asked.text, &query, &scores, limit) else {
        return Ok(Scored { hits: Vec::new(), answerable: 0.0, holds_words: false });
    };
    let top = scores.first().map_or(0.0, |(score, _)| *score);
    let mut answerable = if top <= 0.0 { 0.0 } else { calibrate::judge_answerability(kind, &evidence.answerability) };
    if kind == Kind::Table {
        answerable = answerable.max(VALUE_ANSWERS * asked.values.certainty());
    }
    let hit = |(place, need): &(usize, Need)| Hit { place: *place, probability: calibrate::judge_need(kind, need) };
    let holds_words = evidence.answerability.strength > 0.0;
    Ok(Scored { hits: evidence.needs.iter().map(hit).collect(), answerable, holds_words })
}

/// The features for estimating relevance.
pub(crate) struct Evidence {
    pub(crate) answerability: Answerability,
    /// The positions of the best records, and their features.
    needs: Vec<(usize, Need)>,
}

/// Collects the features of the best `limit` records; `None` if there are no records.
fn gather(
    snapshot: &Snapshot,
    kind: Kind,
    text: &str,
    query: &QueryScores,
    scores: &[(f32, usize)],
    limit: usize,
) -> Option<Evidence> {
    let kind_index = snapshot.kind_index(kind);
    let best = &scores[..scores.len().min(limit.max(MAX_CANDIDATES))];
    let (_, first) = *best.first()?;
    let shown: Vec<f32> = best.iter().map(|(score, _)| *score).collect();
    let few = calibrate::few(kind, kind_index.docs.len(), query.trust());
    let wishes = if recipe::of(kind).clauses { clauses::split(text, kind).len() } else { 1 };
    let list = List { scores: &shown, few, wishes };
    let most = |value: &dyn Fn(usize) -> f32| {
        best.iter().take(JUDGED).map(|(_, place)| value(*place)).reduce(f32::max).unwrap_or(0.0)
    };
    let answerability = Answerability {
        strength: most(&|place| query.strength(place)),
        cosine: most(&|place| query.body_similarity(snapshot, kind, place)),
        centroid: query.centroid(kind_index.docs[first].parent).map_or(0.0, |near| near * query.trust()),
        few,
        known: query.known_share(),
        missing: query.missing(first),
    };
    let needs = list.needs(limit).into_iter().zip(best).map(|(need, (_, place))| (*place, need)).collect();
    let answerability = if query.vector().is_some() { answerability } else { answerability.without_vectors() };
    Some(Evidence { answerability, needs })
}

/// The features of a result list, and its records with their features.
type JudgedRecords = (Evidence, Vec<(Record, Need)>);

/// Returns the relevance features of the best `limit` records; `None` if there are no records.
pub(crate) fn evidence(
    snapshot: &Snapshot,
    kind: Kind,
    asked: RankQuery<'_>,
    limit: usize,
) -> Result<Option<JudgedRecords>, SearchError> {
    if snapshot.kind_index(kind).docs.is_empty() {
        return Ok(None);
    }
    let query = QueryScores::of(snapshot, kind, asked.text)?;
    let scores = full(snapshot, kind, asked, &query, None, limit)?;
    let Some(mut evidence) = gather(snapshot, kind, asked.text, &query, &scores, limit) else { return Ok(None) };
    let read = |(place, need): (usize, Need)| Ok((snapshot.read(kind, place)?, need));
    let hits = std::mem::take(&mut evidence.needs).into_iter().map(read).collect::<Result<_, SearchError>>()?;
    Ok(Some((evidence, hits)))
}

/// Returns whether a word occurs in the texts of any record.
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

/// Returns the features of the candidates for a question, in the order of the first pass.
pub(crate) fn candidates(
    snapshot: &Snapshot,
    kind: Kind,
    asked: RankQuery<'_>,
) -> Result<Vec<(Record, Features)>, SearchError> {
    if snapshot.kind_index(kind).docs.is_empty() {
        return Ok(Vec::new());
    }
    let query = QueryScores::of(snapshot, kind, asked.text)?;
    let scores = first_pass(snapshot, kind, asked, &query, None, MAX_CANDIDATES)?;
    let candidates = features::candidates(snapshot, kind, asked, &query, &scores, &features::ALL)?;
    let read = |candidate: Candidate| Ok((snapshot.read(kind, candidate.place)?, candidate.features));
    candidates.into_iter().map(read).collect()
}

/// Re-ranks the candidates. The best ones, as many as are shown and used for relevance, come first in order; the others
/// follow unordered.
fn full(
    snapshot: &Snapshot,
    kind: Kind,
    asked: RankQuery<'_>,
    query: &QueryScores,
    within: Option<u32>,
    limit: usize,
) -> Result<Vec<(f32, usize)>, SearchError> {
    let depth = limit.max(MAX_CANDIDATES);
    let mut list = first_pass(snapshot, kind, asked, query, within, depth)?;
    let Some(weights) = model::weights(kind) else { return Ok(list) };
    let top = list.first().map_or(0.0, |(score, _)| score.max(f32::EPSILON));
    let candidates = features::candidates(snapshot, kind, asked, query, &list, weights)?;
    let score = |found: &Candidate| (found.place, top * model::score(weights, &found.features));
    let weighed: Vec<(usize, f32)> = candidates.iter().map(score).collect();
    let lowest = weighed.iter().map(|(_, score)| *score).fold(f32::MAX, f32::min);
    let weighed = ByPlace::new(snapshot.kind_index(kind).docs.len(), weighed);
    for (score, place) in &mut list {
        // Other records stay behind all candidates.
        *score = weighed.get(*place).unwrap_or_else(|| score.min(lowest));
    }
    sort_best(&mut list, depth);
    Ok(list)
}

/// Returns the scores of the first pass: the best `depth` in order, the others unordered.
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
        true => clauses::split(asked.text, kind),
        false => Vec::new(),
    }
    .into_iter()
    .map(|clause| QueryScores::of(snapshot, kind, &clause))
    .collect::<Result<_, _>>()?;
    let places = places(snapshot, kind, query, &clauses, within);

    // All clauses of a question about one database or API agree on it.
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

/// Moves the best `count` to the front, in order; the others follow unordered.
fn sort_best(scores: &mut [(f32, usize)], count: usize) {
    if count < scores.len() {
        scores.select_nth_unstable_by(count, by_score);
    }
    let count = count.min(scores.len());
    scores[..count].sort_unstable_by(by_score);
}

/// Returns the positions of the records to score in full.
fn places(
    snapshot: &Snapshot,
    kind: Kind,
    query: &QueryScores,
    clauses: &[QueryScores],
    within: Option<u32>,
) -> Vec<usize> {
    let kind_index = snapshot.kind_index(kind);
    if within.is_some() || kind_index.docs.len() <= MAX_SCORED {
        return kind_index.members(within);
    }
    let recipe = recipe::of(kind);
    let score = |place: usize| {
        let parent = kind_index.docs[place].parent;
        let near = query.body_similarity(snapshot, kind, place);
        query.lexical(place) + recipe.dense * near + query.parent_score(&recipe, parent)
    };
    let all: Vec<u32>;
    let parents = if recipe.coverage > 0.0 || recipe.centroid > 0.0 {
        let best = query.best_of_parents(kind_index);
        let bound =
            |(at, best): (usize, &f32)| best + recipe.dense * MAX_COSINE + query.parent_score(&recipe, at as u32);
        let bounds = best.iter().enumerate().map(bound);
        bounds.zip(&kind_index.parents).map(|(bound, parent)| Bounded { bound, members: &parent.members }).collect()
    } else {
        all = (0..kind_index.docs.len() as u32).collect();
        vec![Bounded { bound: f32::MAX, members: &all }]
    };
    let mut places = preselect(parents, PRESELECTED, score);
    for clause in clauses {
        places.extend(clause.best(100));
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// Query expansion by the vectors of the best records (Rocchio, 1971).
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

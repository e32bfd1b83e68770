//! From a question to ranked records of one kind.
//!
//! The score of a record is its BM25 score over the best one, plus its nearness in meaning, plus what its database or API
//! as a whole has to do with the question: the things that a question needs live together. [`crate::recipe`] has the
//! constants.

pub(crate) mod calibrate;
mod clauses;
mod halves;
mod lookup;
mod part;

use prospector_core::{Kind, Record, Relevance};
use rayon::prelude::*;

use crate::{Ranker, SearchError, index::Snapshot, recipe, vectors::Quantized};
use calibrate::Evidence;
use part::Part;

/// Up to this many records of a kind are all scored in full; of more, those that the cheap half prefers.
const ALL: usize = 20_000;

/// How many records are scored in full then.
const PREFERRED: usize = 1_500;

/// How many of the best records pull the operations that look their ids up.
const PULLING: usize = 10;

/// How many hits the last one is measured against.
const DEPTH: usize = 10;

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
    text: &str,
    parent: Option<&str>,
    limit: usize,
    ranker: Ranker,
) -> Result<Ranking, SearchError> {
    let shelf = snapshot.shelf(kind);
    let mut ranking = Ranking { records: Vec::new(), answerable: 0.0 };
    if shelf.docs.is_empty() {
        return Ok(ranking);
    }
    let within = match parent {
        Some(name) => match shelf.parent(name) {
            Some(parent) => Some(parent),
            None => return Ok(ranking),
        },
        None => None,
    };
    let mut scored = score(snapshot, kind, text, within, limit, ranker)?;
    // What a part of the recipe is worth is measured without what the rest of it knows.
    let named = if ranker == Ranker::Full { snapshot.lexical.exact(&snapshot.searcher, text)? } else { Vec::new() };
    let mut exact: Vec<usize> = named
        .into_iter()
        .filter_map(|address| shelf.place(address))
        .filter(|place| within.is_none_or(|parent| shelf.docs[*place].parent == parent))
        .collect();
    exact.truncate(limit);
    let read = |place: usize| snapshot.lexical.record(&snapshot.searcher, shelf.docs[place].address);
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
    text: &str,
    within: Option<u32>,
    limit: usize,
    ranker: Ranker,
) -> Result<Scored, SearchError> {
    let whole = Part::of(snapshot, kind, text)?;
    let scores = match ranker {
        Ranker::Full => full(snapshot, kind, text, &whole, within)?,
        Ranker::Lexical | Ranker::Dense | Ranker::Rrf => halves::scores(snapshot, kind, &whole, within, ranker),
    };
    Ok(judge(snapshot, kind, &whole, &scores, limit))
}

/// The scores of the whole recipe, best first.
fn full(
    snapshot: &Snapshot,
    kind: Kind,
    text: &str,
    whole: &Part,
    within: Option<u32>,
) -> Result<Vec<(f32, usize)>, SearchError> {
    let recipe = recipe::of(kind);
    let shelf = snapshot.shelf(kind);
    let clauses: Vec<Part> = match recipe.clauses {
        true => clauses::split(text, kind),
        false => Vec::new(),
    }
    .into_iter()
    .map(|clause| Part::of(snapshot, kind, &clause))
    .collect::<Result<_, _>>()?;
    let places = places(snapshot, kind, whole, &clauses, within);

    // All clauses of a question that points to one database or API agree on it.
    let agreement = if clauses.is_empty() { 1.0 } else { part::agreement(&clauses) };
    let near = |part: &Part, place: usize| part.nearness(snapshot, kind, place);
    let base = |part: &Part, place: usize| part.lexical(place) + recipe.dense * near(part, place);
    let kinship = |part: &Part, place: usize| agreement * part.kinship(&recipe, shelf.docs[place].parent);
    let mut scores: Vec<(f32, usize)> = places
        .iter()
        .map(|&place| {
            let own = base(whole, place) + kinship(whole, place);
            let best_clause =
                clauses.iter().map(|clause| base(clause, place) + kinship(clause, place)).max_by(f32::total_cmp);
            (best_clause.map_or(own, |clause| (own + clause) / 2.0), place)
        })
        .collect();
    sort(&mut scores);
    if recipe.feedback > 0
        && let Some(query) = feedback(snapshot, kind, whole, &scores[..scores.len().min(recipe.feedback)])
    {
        for (score, place) in &mut scores {
            let first = shelf.similarity(&snapshot.vectors, &query, *place, 0);
            *score = whole.lexical(*place) + recipe.dense * (first + whole.names(snapshot, kind, *place));
        }
        sort(&mut scores);
    }
    if recipe.lookup {
        lookup::pull(snapshot, &mut scores, PULLING)?;
        sort(&mut scores);
    }
    Ok(scores)
}

fn sort(scores: &mut [(f32, usize)]) {
    scores.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
}

/// The records that are scored in full.
fn places(snapshot: &Snapshot, kind: Kind, whole: &Part, clauses: &[Part], within: Option<u32>) -> Vec<usize> {
    let shelf = snapshot.shelf(kind);
    if let Some(parent) = within {
        return shelf.parents[parent as usize].members.iter().map(|place| *place as usize).collect();
    }
    if shelf.docs.len() <= ALL {
        return (0..shelf.docs.len()).collect();
    }
    let recipe = recipe::of(kind);
    let mut cheap: Vec<(f32, usize)> = (0..shelf.docs.len())
        .into_par_iter()
        .with_min_len(4_096)
        .map(|place| {
            let parent = shelf.docs[place].parent;
            let near = whole.whole(snapshot, kind, place);
            (whole.lexical(place) + recipe.dense * near + whole.kinship(&recipe, parent), place)
        })
        .collect();
    let keep = PREFERRED.min(cheap.len() - 1);
    cheap.select_nth_unstable_by(keep, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut places: Vec<usize> = cheap[..keep].iter().map(|(_, place)| *place).collect();
    for clause in clauses {
        places.extend(clause.best(100));
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// The question, joined by the vectors of its best records (Rocchio, 1971).
fn feedback(snapshot: &Snapshot, kind: Kind, whole: &Part, best: &[(f32, usize)]) -> Option<Quantized> {
    let shelf = snapshot.shelf(kind);
    let mut query = whole.vector()?.to_vec();
    let total: f32 = best.iter().map(|(score, _)| score.max(f32::EPSILON)).sum();
    for (score, place) in best {
        let weight = score.max(f32::EPSILON) / total;
        let vector = shelf.vector(&snapshot.vectors, *place);
        query.iter_mut().zip(vector).for_each(|(sum, value)| *sum += weight * value);
    }
    crate::vectors::normalize(&mut query);
    Some(Quantized::new(&query))
}

/// How likely each of the best records is to be needed.
fn judge(snapshot: &Snapshot, kind: Kind, whole: &Part, scores: &[(f32, usize)], limit: usize) -> Scored {
    let Some(&(top, first)) = scores.first() else { return Scored { hits: Vec::new(), answerable: 0.0 } };
    let last = scores.get(DEPTH).or(scores.last()).map_or(0.0, |(score, _)| *score);
    // A list that is shorter than the depth ends at nothing.
    let last = if scores.len() > DEPTH { last } else { last.min(0.0) };
    let shelf = snapshot.shelf(kind);
    let few = calibrate::few(recipe::of(kind).centroid > 0.0, shelf.docs.len(), whole.trust());
    let second = scores.get(1).map_or(last, |(score, _)| *score);
    let evidence = |score: f32, place: usize| Evidence {
        strength: whole.strength(place),
        cosine: whole.vector().map(|_| whole.whole(snapshot, kind, place)),
        centroid: whole.centroid(shelf.docs[place].parent).map(|near| near * whole.trust()),
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

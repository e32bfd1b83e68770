//! Scores of a question, or of one clause, for the records of one kind.

use prospector_core::Kind;

use crate::{
    SearchError, analyze,
    dense::QueryVectors,
    index::Snapshot,
    kind_index::KindIndex,
    lexical::MAX_IDF,
    recipe::{self, Recipe},
};

/// Exponent of the member count of a parent, as similar members are not independent.
const RESEMBLANCE: f32 = 0.75;

/// Number of parents at which the scores of parents count half.
const FEW_PARENTS: f32 = 10.0;

/// The scores of one question for each record and parent.
pub(super) struct QueryScores {
    /// BM25, by position.
    lexical: Vec<f32>,
    /// The maximum.
    best: f32,
    /// The positions with a BM25 score above 0.
    matched: Vec<u32>,
    /// Maximum BM25 score / weights of all query terms.
    strength: f32,
    /// Coverage of the question by the members of each parent / best parent.
    coverage: Vec<f32>,
    /// Similarity of each parent.
    centroids: Option<Vec<f32>>,
    asked: Option<QueryVectors>,
    /// The query terms and their weights.
    terms: Vec<(String, f32)>,
    /// Weighted share of the terms that occur in any record.
    known: f32,
    /// The first [`MAX_NOTED`] terms that each record contains, as bits, by position.
    held: Vec<u64>,
}

/// Maximum number of terms for which containment is recorded.
const MAX_NOTED: usize = 64;

/// Statistics of a term in one parent.
#[derive(Debug, Clone, Copy, Default)]
struct TermInParent {
    members: usize,
    best: f32,
}

impl QueryScores {
    pub(super) fn of(snapshot: &Snapshot, kind: Kind, text: &str) -> Result<QueryScores, SearchError> {
        let recipe = recipe::of(kind);
        let kind_index = snapshot.kind_index(kind);
        let count = kind_index.docs.len();
        let mut scores = QueryScores {
            lexical: vec![0.0; count],
            best: 0.0,
            matched: Vec::new(),
            strength: 0.0,
            coverage: vec![0.0; kind_index.parents.len()],
            centroids: None,
            asked: None,
            terms: Vec::new(),
            known: 0.0,
            held: vec![0; count],
        };
        let mut total = 0.0;
        let mut of_term = vec![0.0_f32; count];
        let mut touched: Vec<usize> = Vec::new();
        let mut held_by: Vec<TermInParent> = vec![TermInParent::default(); kind_index.parents.len()];
        let mut holders: Vec<u32> = Vec::new();
        // A term that occurs nowhere is weighted as if one record contained it.
        let unknown = (1.0 + (count as f32 - 0.5) / 1.5).ln().min(MAX_IDF);
        for (at, term) in analyze::query_terms(text, kind).into_iter().enumerate() {
            let mut frequency = 0;
            let mut weight = unknown;
            for (field, boost) in recipe.boosts.iter().enumerate().filter(|(_, boost)| **boost > 0.0) {
                let Some(matches) = snapshot.lexical.matches(&snapshot.searcher, kind, field, &term, count)? else {
                    continue;
                };
                if field == 0 {
                    (frequency, weight) = (matches.frequency, matches.weight);
                }
                for (address, score) in matches.scores {
                    let Some(place) = kind_index.place(address) else { continue };
                    if of_term[place] == 0.0 {
                        touched.push(place);
                    }
                    of_term[place] += boost * score;
                    if at < MAX_NOTED {
                        scores.held[place] |= 1 << at;
                    }
                }
            }
            // A number that occurs nowhere is a filter value and does not describe the requested record.
            let is_value = frequency == 0 && term.bytes().all(|byte| byte.is_ascii_digit());
            let weight = if is_value { 0.0 } else { weight };
            total += weight;
            scores.known += if frequency > 0 { weight } else { 0.0 };
            scores.terms.push((term, weight));
            for place in touched.drain(..) {
                let score = std::mem::take(&mut of_term[place]);
                if scores.lexical[place] == 0.0 {
                    scores.matched.push(place as u32);
                }
                scores.lexical[place] += score;
                let parent = kind_index.docs[place].parent;
                let held = &mut held_by[parent as usize];
                if held.members == 0 {
                    holders.push(parent);
                }
                held.members += 1;
                held.best = held.best.max(score);
            }
            for parent in holders.drain(..) {
                let held = std::mem::take(&mut held_by[parent as usize]);
                let size = kind_index.parents[parent as usize].members.len();
                let elsewhere = (frequency as usize).saturating_sub(held.members);
                scores.coverage[parent as usize] += held.best * surprise(elsewhere, size, count);
            }
        }
        scores.finish(snapshot, kind, text, total)?;
        Ok(scores)
    }

    /// Computes the relative values, given `total`, the weights of all terms, and the vector scores.
    fn finish(&mut self, snapshot: &Snapshot, kind: Kind, text: &str, total: f32) -> Result<(), SearchError> {
        let recipe = recipe::of(kind);
        let scored = self.matched.iter().map(|place| self.lexical[*place as usize]);
        self.best = scored.fold(0.0, f32::max);
        divide_by_best(&mut self.coverage);
        if total > 0.0 {
            self.strength = self.best / total;
            self.known /= total;
        }
        if let Some(dense) = &snapshot.dense {
            let asked = QueryVectors::new(dense.query(kind, text)?);
            if recipe.centroid > 0.0 {
                self.centroids =
                    Some(snapshot.kind_index(kind).centroids(&snapshot.vectors, dense.dimensions(), &asked.whole));
            }
            self.asked = Some(asked);
        }
        Ok(())
    }

    /// Returns BM25 / best BM25.
    pub(super) fn lexical(&self, place: usize) -> f32 {
        let score = self.lexical[place];
        if score > 0.0 { score / self.best } else { 0.0 }
    }

    /// Returns the best BM25 score among the members of each parent / best BM25.
    pub(super) fn best_of_parents(&self, kind_index: &KindIndex) -> Vec<f32> {
        let mut best = vec![0.0_f32; kind_index.parents.len()];
        for place in self.matched.iter().map(|place| *place as usize) {
            let of_parent = &mut best[kind_index.docs[place].parent as usize];
            *of_parent = of_parent.max(self.lexical(place));
        }
        best
    }

    /// Returns BM25 / weights of all query terms, i.e. how completely and prominently the record matches.
    pub(super) fn strength(&self, place: usize) -> f32 {
        self.strength * self.lexical(place)
    }

    /// Returns the vector of the question.
    pub(super) fn vector(&self) -> Option<&[f32]> {
        self.asked.as_ref().map(|asked| asked.whole.as_slice())
    }

    /// Returns the cosine with the whole text of the record.
    pub(super) fn body_similarity(&self, snapshot: &Snapshot, kind: Kind, place: usize) -> f32 {
        self.vector_similarity(snapshot, kind, place, 0)
    }

    /// Returns the cosine with the names of the record.
    pub(super) fn name_similarity(&self, snapshot: &Snapshot, kind: Kind, place: usize) -> f32 {
        self.vector_similarity(snapshot, kind, place, 1)
    }

    /// Returns the sum of both, weighted by the recipe.
    pub(super) fn similarity(&self, snapshot: &Snapshot, kind: Kind, place: usize) -> f32 {
        self.body_similarity(snapshot, kind, place)
            + recipe::of(kind).names * self.name_similarity(snapshot, kind, place)
    }

    fn vector_similarity(&self, snapshot: &Snapshot, kind: Kind, place: usize, vector: usize) -> f32 {
        self.asked.as_ref().map_or(0.0, |asked| {
            snapshot.kind_index(kind).similarity(&snapshot.vectors, &asked.quantized[vector], place, vector)
        })
    }

    /// Returns the query terms and their weights.
    pub(super) fn terms(&self) -> &[(String, f32)] {
        &self.terms
    }

    /// Returns whether a record contains a term of the question.
    fn holds(&self, place: usize, term: usize) -> bool {
        term < MAX_NOTED && self.held[place] & (1 << term) != 0
    }

    /// Returns the greatest weight of a term missing from a record / greatest weight.
    pub(super) fn missing(&self, place: usize) -> f32 {
        let missing = self.terms.iter().enumerate().filter(|(at, _)| !self.holds(place, *at));
        missing.map(|(_, (_, weight))| *weight).fold(0.0, f32::max) / MAX_IDF
    }

    /// Returns the weighted share of the query terms that occur in any record.
    pub(super) fn known_share(&self) -> f32 {
        self.known
    }

    /// Returns the coverage of the question by the members of a parent / best parent.
    pub(super) fn coverage(&self, parent: u32) -> f32 {
        self.coverage[parent as usize]
    }

    /// Returns the similarity of the parent; `None` if the recipe does not use it.
    pub(super) fn centroid(&self, parent: u32) -> Option<f32> {
        self.centroids.as_ref().map(|centroids| centroids[parent as usize])
    }

    /// Returns the reliability of parent similarity, which is low for few parents.
    pub(super) fn trust(&self) -> f32 {
        let parents = self.coverage.len() as f32;
        parents / (parents + FEW_PARENTS)
    }

    /// Returns the contribution of the parent to the score of its members.
    pub(super) fn parent_score(&self, recipe: &Recipe, parent: u32) -> f32 {
        self.trust()
            * (recipe.coverage * self.coverage[parent as usize]
                + recipe.centroid * self.centroid(parent).unwrap_or(0.0))
    }

    /// Returns the positions with the best BM25 scores.
    pub(super) fn best(&self, limit: usize) -> Vec<usize> {
        let mut best: Vec<usize> = self.matched.iter().map(|place| *place as usize).collect();
        if best.len() > limit {
            best.select_nth_unstable_by(limit, |a, b| self.lexical[*b].total_cmp(&self.lexical[*a]).then(a.cmp(b)));
            best.truncate(limit);
        }
        best
    }
}

/// Returns the probability, 0 to 1, that a parent does not contain a term by chance: large databases contain every word
/// by chance. The chance is estimated from the members of other parents; those of the same parent resemble each other
/// and count as fewer.
fn surprise(holders_elsewhere: usize, size: usize, count: usize) -> f32 {
    let p = (holders_elsewhere as f32 + 0.5) / (count - size + 1) as f32;
    let by_chance = 1.0 - (1.0 - p).powf((size as f32).powf(RESEMBLANCE));
    if p < 1.0 { (by_chance.ln() / p.ln()).clamp(0.0, 1.0) } else { 0.0 }
}

/// Divides by the maximum.
fn divide_by_best(values: &mut [f32]) {
    let best = values.iter().copied().fold(0.0, f32::max);
    if best > 0.0 {
        values.iter_mut().for_each(|value| *value /= best);
    }
}

/// Returns how well the best single parent serves all clauses, as mean coverage.
pub(super) fn agreement(clauses: &[QueryScores]) -> f32 {
    let Some(first) = clauses.first() else { return 1.0 };
    let mean = |parent: usize| clauses.iter().map(|clause| clause.coverage[parent]).sum::<f32>() / clauses.len() as f32;
    (0..first.coverage.len()).map(mean).fold(0.0, f32::max)
}

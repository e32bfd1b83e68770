//! A question, or one clause of it, against the records of one kind.

use prospector_core::Kind;

use crate::{
    SearchError, analyze,
    dense::QueryVectors,
    index::Snapshot,
    kind_index::KindIndex,
    lexical::MAX_IDF,
    recipe::{self, Recipe},
};

/// As how many independent ones the members of a parent count: their number to this power.
const RESEMBLANCE: f32 = 0.75;

/// With this many databases or APIs, what they say as a whole counts half.
const FEW_PARENTS: f32 = 10.0;

/// What one question says of each record and of each parent.
pub(super) struct QueryScores {
    /// BM25, by place.
    lexical: Vec<f32>,
    /// The best of them.
    best: f32,
    /// Where it is not 0.
    matched: Vec<u32>,
    /// The best BM25 score, over the weights of all terms of the question.
    strength: f32,
    /// How much of the question the members of a parent cover together, over the best.
    coverage: Vec<f32>,
    /// How near the parent is in meaning.
    centroids: Option<Vec<f32>>,
    asked: Option<QueryVectors>,
    /// The terms of the question, and their weights.
    terms: Vec<(String, f32)>,
    /// The share of their weights that stands anywhere.
    known: f32,
    /// Which of the first [`MAX_NOTED`] terms a record holds: one bit each, by place.
    held: Vec<u64>,
}

/// Of so many terms of a question it is noted which records hold them.
const MAX_NOTED: usize = 64;

/// What the members of one parent have of one term.
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
        // A word that nobody has counts as one that a single record has.
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
            // A number that nobody has is a value to filter by, and a span of time that nobody has is one to group by:
            // neither says what is asked for.
            let is_number = term.bytes().all(|byte| byte.is_ascii_digit());
            let is_value = frequency == 0 && (is_number || analyze::is_span_of_time(&term));
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

    /// Puts in what is relative to the best and to `total`, the weights of all terms, and the vectors.
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

    /// BM25 over the best record's.
    pub(super) fn lexical(&self, place: usize) -> f32 {
        let score = self.lexical[place];
        if score > 0.0 { score / self.best } else { 0.0 }
    }

    /// The best BM25 score of the members of each parent, over the best record's.
    pub(super) fn best_of_parents(&self, kind_index: &KindIndex) -> Vec<f32> {
        let mut best = vec![0.0_f32; kind_index.parents.len()];
        for place in self.matched.iter().map(|place| *place as usize) {
            let of_parent = &mut best[kind_index.docs[place].parent as usize];
            *of_parent = of_parent.max(self.lexical(place));
        }
        best
    }

    /// BM25 over the weights of all terms of the question: how much of it the record holds, and how prominently.
    pub(super) fn strength(&self, place: usize) -> f32 {
        self.strength * self.lexical(place)
    }

    /// The question's vector.
    pub(super) fn vector(&self) -> Option<&[f32]> {
        self.asked.as_ref().map(|asked| asked.whole.as_slice())
    }

    /// The cosine with the record's whole text.
    pub(super) fn body_similarity(&self, snapshot: &Snapshot, kind: Kind, place: usize) -> f32 {
        self.vector_similarity(snapshot, kind, place, 0)
    }

    /// The cosine with what names the record.
    pub(super) fn name_similarity(&self, snapshot: &Snapshot, kind: Kind, place: usize) -> f32 {
        self.vector_similarity(snapshot, kind, place, 1)
    }

    /// Both together, as the recipe weighs them.
    pub(super) fn similarity(&self, snapshot: &Snapshot, kind: Kind, place: usize) -> f32 {
        self.body_similarity(snapshot, kind, place)
            + recipe::of(kind).names * self.name_similarity(snapshot, kind, place)
    }

    fn vector_similarity(&self, snapshot: &Snapshot, kind: Kind, place: usize, vector: usize) -> f32 {
        self.asked.as_ref().map_or(0.0, |asked| {
            snapshot.kind_index(kind).similarity(&snapshot.vectors, &asked.quantized[vector], place, vector)
        })
    }

    /// The terms of the question, and what each is worth.
    pub(super) fn terms(&self) -> &[(String, f32)] {
        &self.terms
    }

    /// Whether a record holds a term of the question.
    fn holds(&self, place: usize, term: usize) -> bool {
        term < MAX_NOTED && self.held[place] & (1 << term) != 0
    }

    /// The weight of the weightiest term that a record does not hold, over the greatest weight.
    pub(super) fn missing(&self, place: usize) -> f32 {
        let missing = self.terms.iter().enumerate().filter(|(at, _)| !self.holds(place, *at));
        missing.map(|(_, (_, weight))| *weight).fold(0.0, f32::max) / MAX_IDF
    }

    /// The share of the question, by the weight of its terms, that stands in any record.
    pub(super) fn known_share(&self) -> f32 {
        self.known
    }

    /// How much of the question the members of a parent cover together, over the best.
    pub(super) fn coverage(&self, parent: u32) -> f32 {
        self.coverage[parent as usize]
    }

    /// How near the parent is in meaning; `None` where that is not part of the recipe.
    pub(super) fn centroid(&self, parent: u32) -> Option<f32> {
        self.centroids.as_ref().map(|centroids| centroids[parent as usize])
    }

    /// How much it says that a parent is nearer than others: with few of them there is little to choose between.
    pub(super) fn trust(&self) -> f32 {
        let parents = self.coverage.len() as f32;
        parents / (parents + FEW_PARENTS)
    }

    /// What the parent as a whole adds to the score of its members.
    pub(super) fn parent_score(&self, recipe: &Recipe, parent: u32) -> f32 {
        self.trust()
            * (recipe.coverage * self.coverage[parent as usize]
                + recipe.centroid * self.centroid(parent).unwrap_or(0.0))
    }

    /// The places with the best BM25 scores.
    pub(super) fn best(&self, limit: usize) -> Vec<usize> {
        let mut best: Vec<usize> = self.matched.iter().map(|place| *place as usize).collect();
        if best.len() > limit {
            best.select_nth_unstable_by(limit, |a, b| self.lexical[*b].total_cmp(&self.lexical[*a]).then(a.cmp(b)));
            best.truncate(limit);
        }
        best
    }
}

/// How little it is by chance that a parent holds a term, 0 to 1: a large database holds every word by chance, so that what it
/// covers counts for less. How likely that is, the members of the others tell; its own resemble each other, so that they
/// count as fewer than they are.
fn surprise(holders_elsewhere: usize, size: usize, count: usize) -> f32 {
    let p = (holders_elsewhere as f32 + 0.5) / (count - size + 1) as f32;
    let by_chance = 1.0 - (1.0 - p).powf((size as f32).powf(RESEMBLANCE));
    if p < 1.0 { (by_chance.ln() / p.ln()).clamp(0.0, 1.0) } else { 0.0 }
}

/// Divides by the best.
fn divide_by_best(values: &mut [f32]) {
    let best = values.iter().copied().fold(0.0, f32::max);
    if best > 0.0 {
        values.iter_mut().for_each(|value| *value /= best);
    }
}

/// How well one parent serves all clauses: the mean of its coverage over the clauses, of the parent that is best at it.
pub(super) fn agreement(clauses: &[QueryScores]) -> f32 {
    let Some(first) = clauses.first() else { return 1.0 };
    let mean = |parent: usize| clauses.iter().map(|clause| clause.coverage[parent]).sum::<f32>() / clauses.len() as f32;
    (0..first.coverage.len()).map(mean).fold(0.0, f32::max)
}

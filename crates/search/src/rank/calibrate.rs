//! From scores to probabilities: logistic regressions, fitted on public question sets over catalogs of all sizes (single
//! databases, APIs and documents, some, all), with questions of other domains and questions about what was left out as
//! negatives, and checked on databases, APIs and questions that were held out.
//!
//! The relevance of a hit is `answerable x needed`: whether anything of this kind answers the question, judged by the
//! best hit, and whether this hit is one of those that are needed.

use prospector_core::Kind;

use crate::recipe;

/// Below this nothing of the kind is said to match.
pub(crate) const FLOOR: f32 = 0.3;

/// What a hit without vectors is taken to have: the usual nearness of one of its strength, up to that of a good one.
const USUAL_COSINE: f32 = 0.4;
const USUAL_CENTROID: f32 = 0.2;

/// The number of records at which the size prior is one half.
const FEW_RECORDS: f32 = 20.0;

/// What is known of a hit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    /// How much of the question it holds, and how prominently.
    pub(super) strength: f32,
    /// The cosine with its whole text; `None` without vectors.
    pub(super) cosine: Option<f32>,
    /// The nearness of its parent, as far as it can be trusted; `None` without vectors or where that is not looked at.
    pub(super) centroid: Option<f32>,
    /// See [`few`].
    pub(super) few: f32,
    /// How far it stands before the second, if it is the best; else how far behind the best, below zero. Over the best.
    pub(super) margin: f32,
    /// How far it stands above the eleventh, over the best.
    pub(super) gap: f32,
}

/// How small the catalog is, from 1 for nothing to 0 for endless: of few things the best is further from the question
/// than of many, and is right all the same. Counted in parents where they are looked at, else in records.
pub(super) fn few(kind: Kind, records: usize, trust: f32) -> f32 {
    if recipe::of(kind).centroid > 0.0 { 1.0 - trust } else { FEW_RECORDS / (records as f32 + FEW_RECORDS) }
}

/// The weights of one kind.
struct Weights {
    /// Intercept, strength, cosine, centroid, few.
    answerable: [f32; 5],
    /// Intercept, strength, cosine, margin, gap.
    needed: [f32; 5],
}

fn weights(kind: Kind) -> Weights {
    match kind {
        Kind::Table => {
            Weights { answerable: [-5.58, 6.34, 3.98, 5.98, 2.41], needed: [-1.88, -0.31, 1.05, 3.09, 3.05] }
        }
        Kind::Operation => {
            Weights { answerable: [-7.23, 5.62, 5.13, 10.72, 4.15], needed: [-0.50, -0.80, 1.06, 6.91, 2.25] }
        }
        Kind::Document => {
            Weights { answerable: [-5.39, 6.79, 4.10, 0.0, 2.30], needed: [-1.77, 1.10, 1.67, 2.75, 1.74] }
        }
        Kind::Skill | Kind::Fact => {
            Weights { answerable: [-3.79, 1.93, 5.27, 0.0, 0.77], needed: [-1.52, 0.17, -0.85, 8.82, 1.96] }
        }
    }
}

/// How likely it is that anything of the kind answers the question, by the evidence of the best hit.
pub(super) fn answerable(kind: Kind, best: &Evidence) -> f32 {
    let [intercept, strength, cosine, centroid, few] = weights(kind).answerable;
    let near = best.cosine.unwrap_or(USUAL_COSINE * best.strength.min(1.0));
    let parent = best.centroid.unwrap_or(USUAL_CENTROID * best.strength.min(1.0));
    logistic(intercept + strength * best.strength + cosine * near + centroid * parent + few * best.few)
}

/// How likely a hit is to be needed, if the question can be answered.
pub(super) fn needed(kind: Kind, hit: &Evidence) -> f32 {
    let [intercept, strength, cosine, margin, gap] = weights(kind).needed;
    let near = hit.cosine.unwrap_or(USUAL_COSINE * hit.strength.min(1.0));
    logistic(intercept + strength * hit.strength + cosine * near + margin * hit.margin + gap * hit.gap)
}

fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

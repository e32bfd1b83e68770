//! Converts scores to probabilities by logistic regressions over features of a result list.
//!
//! The relevance of a hit is `answerable x needed`: the probability that any record of this kind answers the question,
//! times the probability that this hit is needed if so. The former is estimated from how well the best ten match the
//! question. The latter is estimated only from the position of the hit relative to the others: absolute scores of good
//! hits differ between catalogs, relative ones do not.
//!
//! The weights are in `model/relevance.json`, `{kind: {"answerable" or "needed": {feature: weight}}}`, fitted by
//! `benches/retrieval/relevance.py`.

use std::{collections::BTreeMap, sync::LazyLock};

use prospector_core::Kind;
use serde::Deserialize;

use super::named::{ModelError, in_order, numbers};
use crate::recipe;

/// The relevance threshold: hits below it are weak.
pub(crate) const FLOOR: f32 = 0.3;

/// The default similarity of a hit without vectors, up to that of a good hit.
const USUAL_COSINE: f32 = 0.4;
const USUAL_CENTROID: f32 = 0.2;

/// Number of records at which the size prior is one half.
const FEW_RECORDS: f32 = 20.0;

/// Number of top hits used to estimate answerability.
pub(super) const JUDGED: usize = 10;

/// Rank offset of the hit compared with the last one.
const GAP_DEPTH: usize = 10;

/// Number of hits over which the share of relevance is computed.
const SHARED_BY: usize = 30;

/// Score difference, relative to the best score, that reduces a share by a factor of e, for the narrow and the wide
/// variant.
const NARROW: f32 = 0.1;
const WIDE: f32 = 0.3;

numbers! {
    /// Features of the answerability of a question.
    pub(crate) Answerability, ANSWERABILITY {
        strength: "BM25 over the weights of all query terms: maximum of the top ten.",
        cosine: "Cosine of the question and the whole text: maximum of the top ten.",
        centroid: "Similarity of the parent of the best hit, scaled by its reliability.",
        few: "Prior for small catalogs, see [`few`].",
        known: "Weighted share of the query terms that occur in any record.",
        missing: "Greatest weight of a term missing from the best hit / greatest weight.",
    }
}

numbers! {
    /// Features of whether a hit is needed.
    pub(crate) Need, NEED {
        lead: "(best score - second score) / best score for the best hit; 0 for others.",
        behind: "(best score - score) / best score.",
        gap: "(score - 11th score) / best score.",
        share: "Logarithm of its share of relevance, if few hits are needed.",
        wide_share: "Logarithm of its share of relevance, if many hits are needed.",
        place: "Logarithm of its rank.",
        few: "Prior for small catalogs, see [`few`].",
        few_behind: "Both together.",
        wishes: "Logarithm of the number of clauses of the question.",
        wishes_behind: "Both together.",
    }
}

/// The list of hits whose relevance is estimated.
pub(super) struct List<'a> {
    /// The scores, best first: those of the shown hits, and at least [`SHARED_BY`] if available.
    pub(super) scores: &'a [f32],
    pub(super) few: f32,
    /// Number of clauses of the question.
    pub(super) wishes: usize,
}

impl List<'_> {
    /// Returns the features of the first `count` hits.
    pub(super) fn needs(&self, count: usize) -> Vec<Need> {
        let Some(&top) = self.scores.first() else { return Vec::new() };
        let over = |score: f32| score / top.max(f32::EPSILON);
        let last = self.scores.get(GAP_DEPTH).or(self.scores.last()).copied().unwrap_or(0.0);
        // A list shorter than the depth is compared with 0.
        let last = if self.scores.len() > GAP_DEPTH { last } else { last.min(0.0) };
        let second = self.scores.get(1).copied().unwrap_or(last);
        let all = |width: f32| -> f32 {
            let shared = self.scores.iter().take(SHARED_BY);
            shared.map(|score| (over(score - top) / width).exp()).sum::<f32>().ln()
        };
        let (narrow, wide) = (all(NARROW), all(WIDE));
        let wishes = (self.wishes.max(1) as f32).ln();
        let need = |(at, score): (usize, &f32)| {
            let behind = over(score - top);
            Need {
                lead: if at == 0 { over(score - second).max(0.0) } else { 0.0 },
                behind,
                gap: over(score - last),
                share: behind / NARROW - narrow,
                wide_share: behind / WIDE - wide,
                place: (at as f32).ln_1p(),
                few: self.few,
                few_behind: self.few * behind,
                wishes,
                wishes_behind: wishes * behind,
            }
        };
        self.scores.iter().take(count).enumerate().map(need).collect()
    }
}

/// Returns a prior for small catalogs, from 1 for an empty one towards 0: among few records, the best one is less
/// similar to the question and still correct. Counted in parents if those are used, otherwise in records.
pub(super) fn few(kind: Kind, records: usize, trust: f32) -> f32 {
    if recipe::of(kind).centroid > 0.0 { 1.0 - trust } else { FEW_RECORDS / (records as f32 + FEW_RECORDS) }
}

impl Answerability {
    /// Replaces missing vector similarities by typical values.
    pub(super) fn without_vectors(self) -> Self {
        let strength = self.strength.min(1.0);
        Answerability { cosine: USUAL_COSINE * strength, centroid: USUAL_CENTROID * strength, ..self }
    }
}

/// The weights of one regression.
struct Regression<const N: usize> {
    intercept: f32,
    weights: [f32; N],
}

impl<const N: usize> Regression<N> {
    fn probability(&self, values: [f32; N]) -> f32 {
        let sum: f32 = self.weights.iter().zip(values).map(|(weight, value)| weight * value).sum();
        1.0 / (1.0 + (-(self.intercept + sum)).exp())
    }
}

/// The weights for one kind.
struct Weights {
    answerable: Regression<{ ANSWERABILITY.len() }>,
    needed: Regression<{ NEED.len() }>,
}

/// Returns the probability that any record of the kind answers the question.
pub(super) fn judge_answerability(kind: Kind, evidence: &Answerability) -> f32 {
    weights(kind).map_or(0.0, |weights| weights.answerable.probability(evidence.values()))
}

/// Returns the probability that a hit is needed, provided that the question is answerable.
pub(super) fn judge_need(kind: Kind, evidence: &Need) -> f32 {
    weights(kind).map_or(0.0, |weights| weights.needed.probability(evidence.values()))
}

/// The weights for each kind.
type Model = BTreeMap<Kind, Weights>;

const SHIPPED: &str = include_str!("../../model/relevance.json");

static MODEL: LazyLock<Result<Model, ModelError>> = LazyLock::new(|| parse(SHIPPED));

/// Identifies the version of the shipped weights.
pub(crate) fn fingerprint() -> String {
    blake3::hash(SHIPPED.as_bytes()).to_hex().to_string()
}

fn weights(kind: Kind) -> Option<&'static Weights> {
    MODEL.as_ref().ok()?.get(&judge_as(kind))
}

/// Returns the kind whose weights apply: facts, metrics and verified queries are few and short, like skills.
fn judge_as(kind: Kind) -> Kind {
    match kind {
        Kind::Fact | Kind::Metric | Kind::Query => Kind::Skill,
        Kind::Table | Kind::Operation | Kind::Document | Kind::Skill => kind,
    }
}

/// Checks that the shipped weights are valid.
pub(super) fn check() -> Result<(), &'static ModelError> {
    MODEL.as_ref().map(drop)
}

#[derive(Deserialize)]
struct NamedWeights {
    answerable: BTreeMap<String, f32>,
    needed: BTreeMap<String, f32>,
}

fn parse(text: &str) -> Result<Model, ModelError> {
    let kinds: BTreeMap<Kind, NamedWeights> = serde_json::from_str(text)?;
    let all: Model =
        kinds.into_iter().map(|(kind, named)| Ok((kind, weigh(named)?))).collect::<Result<_, ModelError>>()?;
    let missing = Kind::ALL.into_iter().map(judge_as).find(|kind| !all.contains_key(kind));
    missing.map_or(Ok(all), |kind| Err(ModelError::Kind(kind)))
}

fn weigh(named: NamedWeights) -> Result<Weights, ModelError> {
    Ok(Weights { answerable: regression(named.answerable, ANSWERABILITY)?, needed: regression(named.needed, NEED)? })
}

fn regression<const N: usize>(mut named: BTreeMap<String, f32>, names: &[&str]) -> Result<Regression<N>, ModelError> {
    Ok(Regression { intercept: named.remove("intercept").unwrap_or(0.0), weights: in_order(named, names)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(scores: &[f32]) -> List<'_> {
        List { scores, few: 0.5, wishes: 1 }
    }

    #[test]
    fn distinguishes_hits_by_relative_position() {
        let needs = list(&[2.0, 1.0, 0.5]).needs(2);
        assert_eq!(needs.len(), 2);
        assert_eq!((needs[0].lead, needs[0].behind, needs[0].gap), (0.5, 0.0, 1.0), "it ends at nothing");
        assert_eq!((needs[1].lead, needs[1].behind, needs[1].few_behind), (0.0, -0.5, -0.25));
        let total: f32 = list(&[2.0, 1.0, 0.5]).needs(3).iter().map(|need| need.share.exp()).sum();
        assert!((total - 1.0).abs() < 1e-5, "shares are of one whole: {total}");
        assert!(list(&[]).needs(5).is_empty());
    }

    #[test]
    fn every_kind_has_plausible_weights() {
        for kind in Kind::ALL {
            let some = |strength| Answerability { strength, cosine: 0.4, known: 1.0, ..Answerability::default() };
            let (little, much) = (judge_answerability(kind, &some(0.1)), judge_answerability(kind, &some(1.5)));
            assert!(0.0 < little && little < much && much < 1.0, "{kind}: {little} {much}");
        }
    }

    #[test]
    fn rejects_unknown_features() {
        let one = r#"{"answerable": {"intercept": -1, "beauty": 1}, "needed": {}}"#;
        assert!(matches!(parse(&format!(r#"{{"table": {one}}}"#)), Err(ModelError::Feature(name)) if name == "beauty"));
        assert!(matches!(parse("{}"), Err(ModelError::Kind(Kind::Table))));
    }
}

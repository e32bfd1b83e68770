//! From scores to probabilities: logistic regressions over what is known of a whole list of hits.
//!
//! The relevance of a hit is `answerable x needed`: whether anything of this kind answers the question, and whether this hit is
//! one of those that are needed if so. The first is judged by what the best ten hold of the question. The second is judged by
//! where the hit stands among the others and by nothing else: how much a good hit holds of its question differs from one catalog
//! to the next, how far it stands out among the hits does not.
//!
//! The weights are in `model/relevance.json`, `{kind: {"read" or "unread": {"answerable" or "needed": {evidence: weight}}}}`,
//! which `benches/retrieval/relevance.py` learns: `read` for questions of whose candidates the shipped transformer has read all.

use std::{collections::BTreeMap, sync::LazyLock};

use prospector_core::Kind;
use serde::Deserialize;

use super::named::numbers;
use crate::recipe;

/// Below this nothing of the kind is said to match.
pub(crate) const FLOOR: f32 = 0.3;

/// What a hit without vectors is taken to have: the usual nearness of one of its strength, up to that of a good one.
const USUAL_COSINE: f32 = 0.4;
const USUAL_CENTROID: f32 = 0.2;

/// The number of records at which the size prior is one half.
const FEW_RECORDS: f32 = 20.0;

/// Whether the question can be answered is judged by so many of the best.
pub(super) const JUDGED: usize = 10;

/// The last hit stands so far above this one.
const GAP_DEPTH: usize = 10;

/// So many hits share what is needed.
const SHARED_BY: usize = 30;

/// Of the best score, so much less makes a hit count for a third of another (1/e), where few share and where many do.
const NARROW: f32 = 0.1;
const WIDE: f32 = 0.3;

numbers! {
    /// What says whether anything of a kind answers a question.
    pub(crate) Answerability, ANSWERABILITY {
        strength: "BM25 over the weights of all terms of the question: the most of the best ten.",
        cosine: "The cosine of the question with the whole text: the nearest of the best ten.",
        centroid: "The nearness of the parent of the best, as far as that can be trusted.",
        few: "How small the catalog is, see [`few`].",
        known: "The share of the question, by the weight of its terms, that stands in any record.",
        missing: "The weight of the weightiest term that the best does not hold, over the greatest weight.",
        near: "The nearness of the question by the shipped transformer: the nearest of the best ten.",
    }
}

numbers! {
    /// What says whether a hit is needed.
    pub(crate) Need, NEED {
        lead: "How far the best stands before the second, over its own score; 0 for all others.",
        behind: "How far below the best it is, over the best score.",
        gap: "How far above the eleventh it is, over the best score.",
        share: "The logarithm of its share of what is needed, if few hits share that.",
        wide_share: "The logarithm of its share of what is needed, if many hits share that.",
        place: "The logarithm of its place.",
        few: "How small the catalog is, see [`few`].",
        few_behind: "Both together.",
        wishes: "The logarithm of how many clauses the question has.",
        wishes_behind: "Both together.",
        nearer: "How near the question is by the shipped transformer, less the nearest of the best ten.",
    }
}

/// What the shown hits are judged by.
pub(super) struct List<'a> {
    /// The scores, best first: those that are shown, and at least [`SHARED_BY`] of them where there are so many.
    pub(super) scores: &'a [f32],
    /// How near the question is to each by the shipped transformer, as far as that has read them.
    pub(super) near: &'a [Option<f32>],
    pub(super) few: f32,
    /// How many clauses the question has.
    pub(super) wishes: usize,
}

impl List<'_> {
    /// Whether the shipped transformer has read the best ones.
    pub(super) fn is_read(&self) -> bool {
        !self.near.is_empty() && self.near.iter().take(JUDGED).all(Option::is_some)
    }

    /// How near the question is to the nearest of the best ten.
    pub(super) fn nearest(&self) -> f32 {
        self.near.iter().take(JUDGED).flatten().copied().reduce(f32::max).unwrap_or(0.0)
    }

    /// What says whether each of the first `count` hits is needed.
    pub(super) fn needs(&self, count: usize) -> Vec<Need> {
        let Some(&top) = self.scores.first() else { return Vec::new() };
        let over = |score: f32| score / top.max(f32::EPSILON);
        let last = self.scores.get(GAP_DEPTH).or(self.scores.last()).copied().unwrap_or(0.0);
        // A list that is shorter than the depth ends at nothing.
        let last = if self.scores.len() > GAP_DEPTH { last } else { last.min(0.0) };
        let second = self.scores.get(1).copied().unwrap_or(last);
        let all = |width: f32| -> f32 {
            let shared = self.scores.iter().take(SHARED_BY);
            shared.map(|score| (over(score - top) / width).exp()).sum::<f32>().ln()
        };
        let (narrow, wide, nearest) = (all(NARROW), all(WIDE), self.nearest());
        let wishes = (self.wishes.max(1) as f32).ln();
        let need = |(at, score): (usize, &f32)| {
            let behind = over(score - top);
            let near = self.near.get(at).copied().flatten().filter(|_| self.is_read());
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
                nearer: near.map_or(0.0, |near| near - nearest),
            }
        };
        self.scores.iter().take(count).enumerate().map(need).collect()
    }
}

/// How small the catalog is, from 1 for nothing to 0 for endless: of few things the best is further from the question
/// than of many, and is right all the same. Counted in parents where they are looked at, else in records.
pub(super) fn few(kind: Kind, records: usize, trust: f32) -> f32 {
    if recipe::of(kind).centroid > 0.0 { 1.0 - trust } else { FEW_RECORDS / (records as f32 + FEW_RECORDS) }
}

impl Answerability {
    /// This, with the usual nearness in place of that of vectors which are not there.
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

/// How likely it is that anything of the kind answers the question.
pub(super) fn judge_answerability(kind: Kind, is_read: bool, evidence: &Answerability) -> f32 {
    weights(kind, is_read).map_or(0.0, |weights| weights.answerable.probability(evidence.values()))
}

/// How likely a hit is to be needed, if the question can be answered.
pub(super) fn judge_need(kind: Kind, is_read: bool, evidence: &Need) -> f32 {
    weights(kind, is_read).map_or(0.0, |weights| weights.needed.probability(evidence.values()))
}

/// For each kind the weights without and, where there are some, with what the transformer has read.
type Model = BTreeMap<Kind, (Weights, Option<Weights>)>;

const SHIPPED: &str = include_str!("../../model/relevance.json");

static MODEL: LazyLock<Result<Model, ModelError>> = LazyLock::new(|| parse(SHIPPED));

/// What tells the weights that ship from those of another version.
pub(crate) fn fingerprint() -> String {
    blake3::hash(SHIPPED.as_bytes()).to_hex().to_string()
}

fn weights(kind: Kind, is_read: bool) -> Option<&'static Weights> {
    let (unread, read) = MODEL.as_ref().ok()?.get(&judge_as(kind))?;
    Some(read.as_ref().filter(|_| is_read).unwrap_or(unread))
}

/// The kind whose weights count: facts, metrics and verified queries are few and short, as skills are.
fn judge_as(kind: Kind) -> Kind {
    match kind {
        Kind::Fact | Kind::Metric | Kind::Query => Kind::Skill,
        Kind::Table | Kind::Operation | Kind::Document | Kind::Skill => kind,
    }
}

/// That the weights that ship can be used; otherwise why not.
pub(crate) fn check() -> Result<(), &'static ModelError> {
    MODEL.as_ref().map(drop)
}

/// Why the file of the weights cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ModelError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("there is no evidence `{0}`")]
    Evidence(String),
    #[error("there are no weights for {0}")]
    Kind(Kind),
}

#[derive(Deserialize)]
struct NamedWeights {
    answerable: BTreeMap<String, f32>,
    needed: BTreeMap<String, f32>,
}

#[derive(Deserialize)]
struct KindWeights {
    unread: NamedWeights,
    read: Option<NamedWeights>,
}

fn parse(text: &str) -> Result<Model, ModelError> {
    let kinds: BTreeMap<Kind, KindWeights> = serde_json::from_str(text)?;
    let all: Result<Model, ModelError> = kinds
        .into_iter()
        .map(|(kind, named)| Ok((kind, (weigh(named.unread)?, named.read.map(weigh).transpose()?))))
        .collect();
    let all = all?;
    let missing = Kind::ALL.into_iter().map(judge_as).find(|kind| !all.contains_key(kind));
    missing.map_or(Ok(all), |kind| Err(ModelError::Kind(kind)))
}

fn weigh(named: NamedWeights) -> Result<Weights, ModelError> {
    Ok(Weights { answerable: regression(named.answerable, ANSWERABILITY)?, needed: regression(named.needed, NEED)? })
}

fn regression<const N: usize>(named: BTreeMap<String, f32>, names: &[&str]) -> Result<Regression<N>, ModelError> {
    let mut found = Regression { intercept: 0.0, weights: [0.0; N] };
    for (name, weight) in named {
        if name == "intercept" {
            found.intercept = weight;
            continue;
        }
        let at = names.iter().position(|known| *known == name).filter(|at| *at < N);
        found.weights[at.ok_or(ModelError::Evidence(name))?] = weight;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list<'a>(scores: &'a [f32], near: &'a [Option<f32>]) -> List<'a> {
        List { scores, near, few: 0.5, wishes: 1 }
    }

    #[test]
    fn hits_are_told_apart_by_where_they_stand_among_the_others() {
        let needs = list(&[2.0, 1.0, 0.5], &[]).needs(2);
        assert_eq!(needs.len(), 2);
        assert_eq!((needs[0].lead, needs[0].behind, needs[0].gap), (0.5, 0.0, 1.0), "it ends at nothing");
        assert_eq!((needs[1].lead, needs[1].behind, needs[1].few_behind), (0.0, -0.5, -0.25));
        let total: f32 = list(&[2.0, 1.0, 0.5], &[]).needs(3).iter().map(|need| need.share.exp()).sum();
        assert!((total - 1.0).abs() < 1e-5, "shares are of one whole: {total}");
        assert!(list(&[], &[]).needs(5).is_empty());
    }

    #[test]
    fn nearness_counts_only_where_all_of_the_best_were_read() {
        let scores = [1.0, 0.9];
        let read = list(&scores, &[Some(0.5), Some(0.7)]);
        assert!(read.is_read());
        assert!((read.needs(2)[0].nearer + 0.2).abs() < 1e-6 && read.needs(2)[1].nearer == 0.0);
        let unread = list(&scores, &[Some(0.5), None]);
        assert!(!unread.is_read() && unread.needs(2)[0].nearer == 0.0);
    }

    #[test]
    fn every_kind_has_weights_and_more_of_a_question_is_more_likely_an_answer() {
        for kind in Kind::ALL {
            for is_read in [false, true] {
                let some = |strength| Answerability {
                    strength,
                    cosine: 0.4,
                    near: 0.4,
                    known: 1.0,
                    ..Answerability::default()
                };
                let (little, much) =
                    (judge_answerability(kind, is_read, &some(0.1)), judge_answerability(kind, is_read, &some(1.5)));
                assert!(0.0 < little && little < much && much < 1.0, "{kind}: {little} {much}");
            }
        }
    }

    #[test]
    fn weights_that_name_nothing_known_are_refused() {
        let one = r#"{"unread": {"answerable": {"intercept": -1, "beauty": 1}, "needed": {}}}"#;
        assert!(
            matches!(parse(&format!(r#"{{"table": {one}}}"#)), Err(ModelError::Evidence(name)) if name == "beauty")
        );
        assert!(matches!(parse("{}"), Err(ModelError::Kind(Kind::Table))));
    }
}

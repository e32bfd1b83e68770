//! The learned part of the ranking: a weighted sum of the named [`features`](super::features), with weights for each kind.
//!
//! The weights are in `model/ranker.json`, `{kind: {feature: weight}}`, which `benches/retrieval/fit.py` writes; a feature that
//! is not named there counts nothing, and `meaning` counts only where the shipped transformer has read all candidates. Sums of trees over the same features were measured too, and did worse on question
//! sets that they had not seen.

use std::{collections::BTreeMap, sync::LazyLock};

use prospector_core::Kind;

use super::features::{Features, NAMES};
use crate::SearchError;

/// What each feature counts for each kind; `None` where the candidates are not weighed.
type Model = [Option<Features>; Kind::ALL.len()];

static MODEL: LazyLock<Result<Model, ModelError>> = LazyLock::new(|| parse(include_str!("../../model/ranker.json")));

/// Why the file of the weights cannot be read.
#[derive(Debug, thiserror::Error)]
enum ModelError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("there is no feature `{0}`")]
    Feature(String),
}

fn parse(text: &str) -> Result<Model, ModelError> {
    let kinds: BTreeMap<Kind, BTreeMap<String, f32>> = serde_json::from_str(text)?;
    let mut model = [None; Kind::ALL.len()];
    for (kind, named) in kinds {
        let mut weights = [0.0; NAMES.len()];
        for (name, weight) in named {
            let at = NAMES.iter().position(|known| *known == name).ok_or(ModelError::Feature(name))?;
            weights[at] = weight;
        }
        model[kind as usize] = Some(Features::new(weights));
    }
    Ok(model)
}

/// That the weights that ship can be used.
///
/// # Errors
/// [`SearchError::Ranker`].
pub(crate) fn check() -> Result<(), SearchError> {
    MODEL.as_ref().map(drop).map_err(|error| SearchError::Ranker { reason: error.to_string() })?;
    super::calibrate::check().map_err(|error| SearchError::Ranker { reason: error.to_string() })
}

/// Whether the nearness by the shipped transformer counts for a kind.
pub(crate) fn weighs_meaning(kind: Kind) -> bool {
    weights(kind).is_some_and(|weights| weights.meaning != 0.0)
}

/// What each feature counts for candidates of a kind; `None` where they are not weighed, and the order of the first pass holds.
pub(super) fn weights(kind: Kind) -> Option<&'static Features> {
    MODEL.as_ref().ok().and_then(|model| model[kind as usize].as_ref())
}

/// The score of a candidate, over the best score of the first pass.
pub(super) fn score(weights: &Features, features: &Features) -> f32 {
    features.values().iter().zip(weights.values()).map(|(value, weight)| value * weight).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_name_features() {
        let model = parse(include_str!("../../model/ranker.json")).unwrap();
        assert!(model[Kind::Table as usize].is_some());
        assert!(matches!(parse(r#"{"table": {"beauty": 1}}"#), Err(ModelError::Feature(name)) if name == "beauty"));
    }

    #[test]
    fn features_are_weighed_by_name() {
        let weights = Features { base: 1.0, pulled: 0.5, ..Features::default() };
        let features = Features { base: 0.7, pulled: 0.4, few: 9.0, ..Features::default() };
        assert!((score(&weights, &features) - 0.9).abs() < 1e-6);
        assert!(weights.values().len() == NAMES.len() && super::weights(Kind::Fact).is_none());
    }
}

//! The learned part of the ranking: a weighted sum of named [`features`](super::features) per kind.
//!
//! The weights are in `model/ranker.json`, `{kind: {feature: weight}}`, fitted by `benches/retrieval/fit.py`. Missing
//! features have weight 0. Sums of trees over the same features performed worse on held-out question sets.

use std::{collections::BTreeMap, sync::LazyLock};

use prospector_core::Kind;

use super::{
    features::{Features, NAMES},
    named::{ModelError, in_order},
};
use crate::SearchError;

/// The feature weights per kind; `None` if candidates are not re-ranked.
type Model = [Option<Features>; Kind::ALL.len()];

static MODEL: LazyLock<Result<Model, ModelError>> = LazyLock::new(|| parse(include_str!("../../model/ranker.json")));

fn parse(text: &str) -> Result<Model, ModelError> {
    let kinds: BTreeMap<Kind, BTreeMap<String, f32>> = serde_json::from_str(text)?;
    let mut model = [None; Kind::ALL.len()];
    for (kind, named) in kinds {
        model[kind as usize] = Some(Features::new(in_order(named, NAMES)?));
    }
    Ok(model)
}

/// Checks that the shipped weights are valid.
///
/// # Errors
/// [`SearchError::Ranker`] if they are not.
pub(crate) fn check() -> Result<(), SearchError> {
    let checked = MODEL.as_ref().map(drop).and_then(|()| super::calibrate::check());
    checked.map_err(|error| SearchError::Ranker { reason: error.to_string() })
}

/// Returns the feature weights of a kind; `None` if its candidates keep the order of the first pass.
pub(super) fn weights(kind: Kind) -> Option<&'static Features> {
    MODEL.as_ref().ok().and_then(|model| model[kind as usize].as_ref())
}

/// Returns the score of a candidate, relative to the best first-pass score.
pub(super) fn score(weights: &Features, features: &Features) -> f32 {
    features.values().iter().zip(weights.values()).map(|(value, weight)| value * weight).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_weights_are_valid() {
        let model = parse(include_str!("../../model/ranker.json")).unwrap();
        assert!(model[Kind::Table as usize].is_some());
        assert!(matches!(parse(r#"{"table": {"beauty": 1}}"#), Err(ModelError::Feature(name)) if name == "beauty"));
    }

    #[test]
    fn weights_features_by_name() {
        let weights = Features { base: 1.0, pulled: 0.5, ..Features::default() };
        let features = Features { base: 0.7, pulled: 0.4, few: 9.0, ..Features::default() };
        assert!((score(&weights, &features) - 0.9).abs() < 1e-6);
        assert!(weights.values().len() == NAMES.len() && super::weights(Kind::Fact).is_none());
    }
}

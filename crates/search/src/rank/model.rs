//! The learned part of the ranking: a weighted sum of the named [`features`](super::features), with weights for each kind.
//!
//! The weights are in `model/ranker.json`, `{kind: {feature: weight}}`, which `benches/retrieval/fit.py` writes; a feature that
//! is not named there counts nothing. Sums of trees over the same features were measured too, and did worse on question
//! sets that they had not seen.

use std::{collections::BTreeMap, sync::LazyLock};

use prospector_core::Kind;

use super::features::{Features, NAMES};

type Weights = [f32; NAMES.len()];

static MODEL: LazyLock<Option<[Option<Weights>; Kind::ALL.len()]>> =
    LazyLock::new(|| parse(include_str!("../../model/ranker.json")).ok());

/// Why the file of the weights cannot be read.
#[derive(Debug, thiserror::Error)]
enum ModelError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("there is no feature `{0}`")]
    Feature(String),
}

fn parse(text: &str) -> Result<[Option<Weights>; Kind::ALL.len()], ModelError> {
    let kinds: BTreeMap<Kind, BTreeMap<String, f32>> = serde_json::from_str(text)?;
    let mut model = [None; Kind::ALL.len()];
    for (kind, named) in kinds {
        let mut weights = [0.0; NAMES.len()];
        for (name, weight) in named {
            let at = NAMES.iter().position(|known| *known == name).ok_or(ModelError::Feature(name))?;
            weights[at] = weight;
        }
        model[kind as usize] = Some(weights);
    }
    Ok(model)
}

/// Whether the candidates of a kind are weighed; else the order of the first pass holds.
pub(super) fn weighs(kind: Kind) -> bool {
    MODEL.as_ref().is_some_and(|model| model[kind as usize].is_some())
}

/// The score of a candidate, over the best score of the first pass.
pub(super) fn score(kind: Kind, features: &Features) -> f32 {
    let weights = MODEL.as_ref().and_then(|model| model[kind as usize].as_ref());
    weights.map_or(features.base, |weights| {
        features.values().iter().zip(weights).map(|(value, weight)| value * weight).sum()
    })
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
    fn what_is_not_weighed_keeps_its_score() {
        let features = Features { base: 0.7, ..Features::default() };
        assert!(!weighs(Kind::Fact));
        assert_eq!(score(Kind::Fact, &features), 0.7);
    }
}

//! Extracted facts with the hash of their source; a fact is stale once the source changes.

use std::collections::HashMap;

use crate::{
    evidence::Evidence,
    extract::{ExtractedFact, ExtractedKind},
    model::{Fact, Origin},
    words::{same, stems},
};

/// Returns the hash of a text that is stored with its facts; white space is ignored.
pub(crate) fn hash(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    blake3::hash(text.as_bytes()).to_hex().as_str()[..32].to_owned()
}

/// Marks facts whose source has changed or no longer exists.
pub(crate) fn mark_stale<'a>(facts: impl Iterator<Item = &'a mut Fact>, evidence: &dyn Evidence) {
    let mut hashes: HashMap<String, Option<String>> = HashMap::new();
    for fact in facts.filter(|fact| !fact.source_hash.is_empty()) {
        let now = hashes
            .entry(fact.source.clone())
            .or_insert_with_key(|source| evidence.text(source).map(|text| hash(&text)));
        fact.stale = now.as_ref() != Some(&fact.source_hash);
    }
}

/// Selects one fact per term to store: definitions before thresholds and units, then by confidence.
pub(crate) fn to_keep(source: &str, text: &str, extracted: &[ExtractedFact]) -> Vec<Fact> {
    let rank = |fact: &ExtractedFact| {
        let meaning = !matches!(fact.kind, ExtractedKind::Threshold | ExtractedKind::Unit);
        fact.confidence + f64::from(u8::from(meaning))
    };
    let mut best: Vec<&ExtractedFact> = Vec::new();
    for new in extracted {
        match best.iter_mut().find(|known| same(&stems(&known.term), &stems(&new.term))) {
            Some(known) if rank(new) > rank(known) => *known = new,
            Some(_) => {}
            None => best.push(new),
        }
    }
    let of_source = hash(text);
    best.into_iter()
        .map(|one| Fact {
            source: source.to_owned(),
            confidence: one.confidence.min(0.9),
            reasoning: format!(
                "quoted from the source: {}",
                one.evidence.split_whitespace().collect::<Vec<_>>().join(" ")
            ),
            source_hash: of_source.clone(),
            ..Fact::new(&one.term, &one.definition, Origin::Extracted)
        })
        .collect()
}

//! Facts that are drawn from a source: written down with the hash of what it said, and stale once it says something else.

use std::collections::HashMap;

use crate::{
    evidence::Evidence,
    extract::{ExtractedFact, ExtractedKind},
    model::{Fact, Origin},
    words::{same, stems},
};

/// What is put in the store for a text; white space makes no difference.
pub(crate) fn hash(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    blake3::hash(text.as_bytes()).to_hex().as_str()[..32].to_owned()
}

/// Marks the facts whose source says something else than when they were written down, or is gone.
pub(crate) fn mark_stale<'a>(facts: impl Iterator<Item = &'a mut Fact>, evidence: &dyn Evidence) {
    let mut hashes: HashMap<String, Option<String>> = HashMap::new();
    for fact in facts.filter(|fact| !fact.source_hash.is_empty()) {
        let now = hashes
            .entry(fact.source.clone())
            .or_insert_with_key(|source| evidence.text(source).map(|text| hash(&text)));
        fact.stale = now.as_ref() != Some(&fact.source_hash);
    }
}

/// One fact a term, as it is kept: of several on one term a meaning rather than a bound or a unit, and the plainest.
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
            reasoning: format!("the source says: {}", one.evidence.split_whitespace().collect::<Vec<_>>().join(" ")),
            source_hash: of_source.clone(),
            ..Fact::new(&one.term, &one.definition, Origin::Extracted)
        })
        .collect()
}

//! Extracts definitions from a text without a model.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    mark::{Mark, Marked, marks, short_forms},
    model::two_digits,
    words::stems,
};

/// Maximum number of facts per text.
pub const MAX_FACTS: usize = 200;

/// Maximum length of the text below a heading that defines a term, in characters.
const MAX_UNDER_HEADING: usize = 400;

/// The kind of statement about a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExtractedKind {
    /// What the term means.
    Definition,
    /// A numeric threshold: `at least 45.00`.
    Threshold,
    /// A formula: `net revenue = gross revenue - refunds`.
    Equality,
    /// The term is an abbreviation.
    Abbreviation,
    /// The unit of the term: `in USD`.
    Unit,
}

/// A statement of a text about a term.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExtractedFact {
    /// The term, spelled as in the text.
    pub term: String,
    /// The statement.
    pub definition: String,
    /// The kind of statement.
    pub kind: ExtractedKind,
    /// The verbatim part of the text that states it, including line ends and Markdown.
    pub evidence: String,
    /// Confidence, 0 to 1.
    #[serde(serialize_with = "two_digits")]
    pub confidence: f64,
}

/// The facts that a text states.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// The facts in text order; those found only by the model come last.
    pub facts: Vec<ExtractedFact>,
    /// Rejected facts of the model, or why no model was used.
    pub note: Option<String>,
}

/// Extracts everything that `text` defines by its structure, in text order, at most [`MAX_FACTS`]: definitions,
/// formulas and abbreviations. Thresholds and units are found only by a model.
///
/// ```
/// use prospector_facts::extract::{ExtractedKind, extract};
///
/// let facts = extract("A **VIP customer** is a customer whose total spending is at least 45.00. We like them.");
/// assert_eq!((facts[0].term.as_str(), facts[0].kind), ("VIP customer", ExtractedKind::Definition));
/// assert!(facts[0].definition.contains("at least 45.00"));
/// ```
pub fn extract(text: &str) -> Vec<ExtractedFact> {
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for marked in marks(text, "") {
        for fact in facts_of(&marked, text) {
            if out.len() < MAX_FACTS && seen.insert((fact.kind, stems(&fact.term), fact.definition.to_lowercase())) {
                out.push(fact);
            }
        }
    }
    out
}

fn facts_of(marked: &Marked, text: &str) -> Vec<ExtractedFact> {
    let fact = |term: &str, definition: &str, kind, confidence| ExtractedFact {
        term: term.to_owned(),
        definition: definition.to_owned(),
        kind,
        evidence: text.get(marked.range.clone()).unwrap_or_default().trim().to_owned(),
        confidence,
    };
    let confidence = match marked.mark {
        Mark::Label => 0.95,
        Mark::Bold | Mark::Row | Mark::Subject => 0.85,
        Mark::Heading if marked.text.chars().count() <= MAX_UNDER_HEADING => 0.8,
        Mark::Code => 0.8,
        Mark::Heading | Mark::Schema | Mark::Mention | Mark::Topic => 0.0,
    };
    let kind = if marked.is_formula { ExtractedKind::Equality } else { ExtractedKind::Definition };
    let mut out = Vec::new();
    if confidence > 0.0 {
        out.push(fact(&marked.term, &marked.text, kind, confidence));
    }
    let shorts = short_forms(&marked.text).into_iter();
    out.extend(shorts.map(|(short, long)| fact(&short, &long, ExtractedKind::Abbreviation, 0.95)));
    out
}

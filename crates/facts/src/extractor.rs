//! Interface to a model that extracts facts, and the verification of its output.

use std::{cell::LazyCell, collections::HashSet};

use async_trait::async_trait;
use serde::Deserialize;

use crate::{
    extract::{ExtractedFact, ExtractedKind, MAX_FACTS},
    words::{stems, within, words},
};

/// Confidence of a fact that was extracted by a model and verified by its quotation.
const READ: f64 = 0.8;

/// A statement extracted by a model, not yet verified.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Stated {
    /// The term.
    pub term: String,
    /// The statement about it.
    pub definition: String,
    /// The kind of statement.
    pub kind: ExtractedKind,
    /// The verbatim quotation.
    pub evidence: String,
}

/// A failed extraction. The message is shown to users and models and must not contain secrets.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ExtractorError(Box<dyn std::error::Error + Send + Sync>);

impl ExtractorError {
    /// Creates an error with this message.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        ExtractorError(source.into())
    }
}

/// Extracts facts from a text, for example with a model. This crate has no implementation.
#[async_trait]
pub trait Extractor: Send + Sync {
    /// Returns the statements of `text`, in text order.
    ///
    /// # Errors
    /// [`ExtractorError`] if the extraction failed; its message follows a colon.
    async fn extract(&self, text: &str) -> Result<Vec<Stated>, ExtractorError>;
}

/// Returns the verified facts and the number of rejected ones. The evidence must be a verbatim quotation that contains
/// every number and most words of the definition, and the term must occur in the text.
pub(crate) fn verify(text: &str, stated: Vec<Stated>) -> (Vec<ExtractedFact>, usize) {
    let all = stated.len();
    let whole = LazyCell::new(|| stems(text).into_iter().collect::<HashSet<String>>());
    let facts: Vec<ExtractedFact> = stated
        .into_iter()
        .take(MAX_FACTS)
        .filter(|one| is_supported(text, &whole, one))
        .map(|one| ExtractedFact {
            term: one.term.trim().to_owned(),
            definition: one.definition.trim().to_owned(),
            kind: one.kind,
            evidence: one.evidence,
            confidence: READ,
        })
        .collect();
    let dropped = all - facts.len();
    (facts, dropped)
}

/// Verifies one statement. `whole` contains the stems of the text.
fn is_supported(text: &str, whole: &HashSet<String>, one: &Stated) -> bool {
    let letters = |text: &str| text.chars().any(char::is_alphanumeric);
    if ![&one.term, &one.definition, &one.evidence].into_iter().all(|part| letters(part))
        || !text.contains(&one.evidence)
    {
        return false;
    }
    let (said, quoted) = (words(&one.evidence), stems(&one.evidence));
    // A definition may omit or inflect words of the quotation, but not add its own.
    let meaning = stems(&one.definition);
    let borrowed = meaning.iter().filter(|stem| quoted.contains(stem)).count();
    if 3 * borrowed < 2 * meaning.len() {
        return false;
    }
    let numbers = |word: &&String| word.starts_with(|c: char| c.is_ascii_digit());
    let term = stems(&one.term);
    // The term may occur outside the quotation, such as in the heading above.
    (within(&term, &quoted) || !term.is_empty() && term.iter().all(|stem| whole.contains(stem)))
        && words(&one.definition).iter().filter(numbers).all(|number| said.contains(number))
}

/// Merges two lists without duplicates, i.e. facts of the same kind and term from overlapping parts of the text.
pub(crate) fn merge(mut facts: Vec<ExtractedFact>, more: Vec<ExtractedFact>) -> Vec<ExtractedFact> {
    for new in more {
        let twin = |known: &ExtractedFact| {
            known.kind == new.kind
                && stems(&known.term) == stems(&new.term)
                && (known.evidence.contains(&new.evidence) || new.evidence.contains(&known.evidence))
        };
        if facts.len() < MAX_FACTS && !facts.iter().any(twin) {
            facts.push(new);
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "## Churn\n\nIt is the loss of a customer within 90 days.";

    fn check(term: &str, definition: &str, evidence: &str, kept: bool) {
        let stated = Stated {
            term: term.into(),
            definition: definition.into(),
            kind: ExtractedKind::Definition,
            evidence: evidence.into(),
        };
        let (facts, dropped) = verify(TEXT, vec![stated]);
        assert_eq!((facts.len(), dropped), if kept { (1, 0) } else { (0, 1) }, "{term}: {definition}");
    }

    #[test]
    fn rejects_unsupported_statements() {
        let quoted = "It is the loss of a customer within 90 days.";
        check("churn", "the loss of a customer within 90 days", quoted, true);
        check("churn", "the loss of a customer within 90 days", "It is the loss of a customer in 90 days.", false);
        check("churn", "the loss of a customer within 60 days", quoted, false);
        check("churn", "a visit of one page", quoted, false);
        check("bounce", "the loss of a customer", quoted, false);
        check("churn", "the loss of a customer", "", false);
        check("", "the loss of a customer", quoted, false);
    }
}

//! The seam to a model that reads a text for facts, and the check of what it says.

use std::{cell::LazyCell, collections::HashSet};

use async_trait::async_trait;

use crate::{
    extract::{ExtractedFact, ExtractedKind, MAX_FACTS},
    words::{stems, within, words},
};

/// How sure a fact is that a model read and that its quotation bears out.
const READ: f64 = 0.8;

/// What a model says that a text states; nothing of it is believed before it was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Stated {
    /// The term.
    pub term: String,
    /// What the text says of it.
    pub definition: String,
    /// What kind of saying that is.
    pub kind: ExtractedKind,
    /// Where the text says so, word for word.
    pub evidence: String,
}

/// A text could not be read for facts. Its text is shown to users and models: it must hold no secret.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ExtractorError(Box<dyn std::error::Error + Send + Sync>);

impl ExtractorError {
    /// An error whose text says why.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        ExtractorError(source.into())
    }
}

/// Reads a text for facts, by a model for example. The crate has no implementation of its own.
#[async_trait]
pub trait Extractor: Send + Sync {
    /// What `text` states, in its order.
    ///
    /// # Errors
    /// [`ExtractorError`] when it could not be found out; its text is a clause that follows a colon.
    async fn extract(&self, text: &str) -> Result<Vec<Stated>, ExtractorError>;
}

/// The facts whose evidence is an exact quotation that holds every number and most words of the definition, of a term that
/// the text names; and how many were dropped for lack of that.
pub(crate) fn verify(text: &str, stated: Vec<Stated>) -> (Vec<ExtractedFact>, usize) {
    let all = stated.len();
    let whole = LazyCell::new(|| stems(text).into_iter().collect::<HashSet<String>>());
    let facts: Vec<ExtractedFact> = stated
        .into_iter()
        .take(MAX_FACTS)
        .filter(|one| is_borne_out(text, &whole, one))
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

/// `whole` are the stems of the text, told apart once for all that is stated.
fn is_borne_out(text: &str, whole: &HashSet<String>, one: &Stated) -> bool {
    let letters = |text: &str| text.chars().any(char::is_alphanumeric);
    if ![&one.term, &one.definition, &one.evidence].into_iter().all(|part| letters(part))
        || !text.contains(&one.evidence)
    {
        return false;
    }
    let (said, quoted) = (words(&one.evidence), stems(&one.evidence));
    // A definition may leave words out and bend some, but not bring its own.
    let meaning = stems(&one.definition);
    let borrowed = meaning.iter().filter(|stem| quoted.contains(stem)).count();
    if 3 * borrowed < 2 * meaning.len() {
        return false;
    }
    let numbers = |word: &&String| word.starts_with(|c: char| c.is_ascii_digit());
    let term = stems(&one.term);
    // The term may stand in the heading above, but not nowhere.
    (within(&term, &quoted) || !term.is_empty() && term.iter().all(|stem| whole.contains(stem)))
        && words(&one.definition).iter().filter(numbers).all(|number| said.contains(number))
}

/// The facts of both, none twice: of one kind, on one term, from one stretch of text.
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
    fn only_what_the_text_bears_out_is_kept() {
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

//! The seam to everything that is written down elsewhere: documents, descriptions of tables and columns.

use async_trait::async_trait;

/// A piece of text that may hold the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// `document`, `table` or `column`.
    pub source_type: String,
    /// What it is from: `business_rules#Customers`, `shop.invoices`, `shop.invoices.total`.
    pub name: String,
    /// The text, Markdown or plain.
    pub text: String,
    /// How well the passage as a whole fits the question, 0 to 1.
    pub relevance: f32,
}

/// A term that a document marks by its structure: as a heading, in bold, or as the entry of a list or a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedTerm {
    /// The term as the document spells it.
    pub term: String,
    /// Where it is marked: `business_rules#Customers`.
    pub source: String,
    /// All that is said of it there.
    pub text: String,
}

/// Nobody outside answered. Its text is shown to users: it must hold no secret.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct EvidenceError(Box<dyn std::error::Error + Send + Sync>);

impl EvidenceError {
    /// An error whose text says why nobody answered.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        EvidenceError(source.into())
    }
}

/// Finds passages for a question. The crate has no implementation of its own: whoever knows documents and schemas
/// gives one to [`crate::FactDiscovery::open`].
#[async_trait]
pub trait Evidence: Send + Sync {
    /// The passages nearest to `question`, at most `limit`, best first. What fails is left out.
    async fn passages(&self, question: &str, limit: usize) -> Vec<Passage>;

    /// Passages from outside, such as the web: asked for only where what is at hand does not answer. Their `source_type` is
    /// `web`.
    ///
    /// # Errors
    /// [`EvidenceError`] when nobody answered; its text is for the user to read.
    async fn elsewhere(&self, _question: &str, _limit: usize) -> Result<Vec<Passage>, EvidenceError> {
        Ok(Vec::new())
    }

    /// The terms that the documents mark. They are asked for once.
    fn terms(&self) -> Vec<MarkedTerm> {
        Vec::new()
    }

    /// Whether a term is only the name of a table, or a word that is the name of a column: it means what is in there, unless its
    /// meaning itself is asked for.
    fn is_of_schema(&self, _term: &str) -> bool {
        false
    }

    /// What a source says now, by the name that its passages have; nothing where there is no such source. Facts that were
    /// drawn from it are stale once it says something else.
    fn text(&self, _source: &str) -> Option<String> {
        None
    }

    /// A vector for each of `words`, in their order; those of words with a like meaning point the same way. Nothing where
    /// there are none: then a word is only found as it is.
    fn vectors(&self, _words: &[&str]) -> Vec<Vec<f32>> {
        Vec::new()
    }
}

//! Interface to the texts that define terms: documents, descriptions of tables and columns, the web.

use async_trait::async_trait;

/// A text that may define terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// `document`, `table`, `column` or `web`.
    pub source_type: String,
    /// The name of the source: `business_rules#Customers`, `shop.invoices`, `shop.invoices.total`.
    pub name: String,
    /// Its heading, or the natural name of a table or column. Empty if the only heading is the title of a document.
    pub heading: String,
    /// The text, Markdown or plain.
    pub text: String,
}

/// A failed search outside the catalog. The message is shown to users and must not contain secrets.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct EvidenceError(Box<dyn std::error::Error + Send + Sync>);

impl EvidenceError {
    /// Creates an error with this message.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        EvidenceError(source.into())
    }
}

/// Source of the texts that define terms. This crate has no implementation; the caller passes one to
/// [`crate::FactDiscovery::open`].
#[async_trait]
pub trait Evidence: Send + Sync {
    /// Returns all texts of the catalog. Called once.
    fn passages(&self) -> Vec<Passage>;

    /// Searches for texts outside the catalog, such as the web. Called only for the meaning of a term that the catalog
    /// does not define.
    ///
    /// # Errors
    /// [`EvidenceError`] if the search failed.
    async fn elsewhere(&self, _question: &str, _limit: usize) -> Result<Vec<Passage>, EvidenceError> {
        Ok(Vec::new())
    }

    /// Returns whether a term is the name of a table, or one word that is the name of a column.
    fn is_of_schema(&self, _term: &str) -> bool {
        false
    }

    /// Returns the names of the databases. A text whose name or title contains one belongs to that database.
    fn databases(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns whether a lower-case word is frequent in general language and therefore not a term by itself.
    fn is_ordinary(&self, _word: &str) -> bool {
        false
    }

    /// Returns the current text of a source, by the name of its passages. Facts that were extracted from it are stale once
    /// it changes.
    fn text(&self, _source: &str) -> Option<String> {
        None
    }
}

//! The seam to the texts that define terms: documents, descriptions of tables and columns, the web.

use async_trait::async_trait;

/// A text that may define terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// `document`, `table`, `column` or `web`.
    pub source_type: String,
    /// Its place: `business_rules#Customers`, `shop.invoices`, `shop.invoices.total`.
    pub name: String,
    /// Its heading; of a table or a column, its natural name. Empty if the heading is only the title of a document.
    pub heading: String,
    /// The text, Markdown or plain.
    pub text: String,
}

/// A search outside the catalog failed. Its text is shown to users: it must contain no secret.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct EvidenceError(Box<dyn std::error::Error + Send + Sync>);

impl EvidenceError {
    /// An error whose text says why the search failed.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        EvidenceError(source.into())
    }
}

/// The texts that define terms. The crate has no implementation: whoever knows documents and schemas passes one to
/// [`crate::FactDiscovery::open`].
#[async_trait]
pub trait Evidence: Send + Sync {
    /// All texts of the catalog. They are read once.
    fn passages(&self) -> Vec<Passage>;

    /// Texts from outside the catalog, such as the web: searched only for the meaning of a term that the catalog does not
    /// define.
    ///
    /// # Errors
    /// [`EvidenceError`] when the search failed.
    async fn elsewhere(&self, _question: &str, _limit: usize) -> Result<Vec<Passage>, EvidenceError> {
        Ok(Vec::new())
    }

    /// Whether a term is the name of a table, or one word that is the name of a column.
    fn is_of_schema(&self, _term: &str) -> bool {
        false
    }

    /// The names of the databases. A text whose name or title names one is about its business.
    fn databases(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether a lower-case word is frequent in general language, so that it is no term by itself.
    fn is_ordinary(&self, _word: &str) -> bool {
        false
    }

    /// Returns the current text of a source, by the name of its passages. Facts that were extracted from it are stale once
    /// it changes.
    fn text(&self, _source: &str) -> Option<String> {
        None
    }
}

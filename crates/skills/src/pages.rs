//! Interface for fetching the web pages that skills link to.

use std::fmt::Debug;

use async_trait::async_trait;

/// Fetches pages as text. Implementations restrict hosts, size and time.
#[async_trait]
pub trait Pages: Debug + Send + Sync {
    /// Returns the text of a page.
    ///
    /// # Errors
    /// [`Refusal`] if the page may not or cannot be fetched.
    async fn page(&self, url: &str) -> Result<PageText, Refusal>;
}

/// The text of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageText {
    /// The text; Markdown if the page is HTML.
    pub text: String,
    /// Age in seconds, if it is a cached copy.
    pub age: Option<u64>,
}

/// The reason why a page is not available. Both texts are shown to models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The cause, without secrets of the URL.
    pub reason: String,
    /// Suggested action.
    pub advice: String,
}

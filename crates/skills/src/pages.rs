//! The seam to the web: what fetches a page that a skill links to, if anything does.

use std::fmt::Debug;

use async_trait::async_trait;

/// Fetches pages as text. Whoever implements it says which hosts may be asked, and bounds size and time.
#[async_trait]
pub trait Pages: Debug + Send + Sync {
    /// The text of a page.
    ///
    /// # Errors
    /// Why there is none.
    async fn page(&self, url: &str) -> Result<PageText, Refusal>;
}

/// The text of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageText {
    /// The text; of HTML as Markdown.
    pub text: String,
    /// How many seconds ago it was fetched, where it is a copy.
    pub age: Option<u64>,
}

/// Why there is no page. Both texts are shown to models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong, without secrets of the URL.
    pub reason: String,
    /// What to do about it.
    pub advice: String,
}

//! Interface of text embedders.

/// Identifies the model that computed a vector. Stored with an index; an index of another model is rebuilt.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ModelId(pub String);

/// The role of a text; some models use a different prefix for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A question.
    Query,
    /// An indexed text.
    Record,
}

/// A failed embedding.
#[derive(Debug, thiserror::Error)]
#[error("cannot embed with {model}: {reason}")]
pub struct EmbedError {
    /// The model.
    pub model: String,
    /// The reason.
    pub reason: String,
}

/// Embeds texts as vectors whose dot product measures similarity of meaning.
pub trait Embedder: Send + Sync {
    /// Returns the model.
    fn model(&self) -> &ModelId;

    /// Returns the number of dimensions.
    fn dimensions(&self) -> usize;

    /// Returns one vector per text, in order, not necessarily normalised. A text without known words yields a zero
    /// vector.
    ///
    /// # Errors
    /// [`EmbedError`] if the model fails.
    fn embed(&self, role: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Fits the embedder to the texts of a catalog, e.g. to their word frequencies, and returns the state, which is
    /// stored with the index. `None` if it cannot be fitted.
    fn fit(&self, texts: &[&str]) -> Option<Vec<u8>> {
        let _ = texts;
        None
    }

    /// Returns this embedder with a state from [`Embedder::fit`]; `None` if `state` is invalid.
    fn with_fit(&self, state: &[u8]) -> Option<std::sync::Arc<dyn Embedder>> {
        let _ = state;
        None
    }
}

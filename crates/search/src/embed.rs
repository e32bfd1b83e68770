//! Text to vectors.

/// Which model made a vector. It is stored with an index; an index of another model is rebuilt, never mixed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ModelId(pub String);

/// Whether a text is asked or is found. Some models prefix the two differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A question.
    Query,
    /// Something indexed.
    Record,
}

/// A text could not be embedded.
#[derive(Debug, thiserror::Error)]
#[error("cannot embed with {model}: {reason}")]
pub struct EmbedError {
    /// The model.
    pub model: String,
    /// What went wrong, in words.
    pub reason: String,
}

/// Turns texts into vectors whose dot product says how near their meanings are.
pub trait Embedder: Send + Sync {
    /// Which model this is.
    fn model(&self) -> &ModelId;

    /// The length of every vector.
    fn dimensions(&self) -> usize;

    /// One vector for each text, in order. They need not be normalised.
    ///
    /// # Errors
    /// [`EmbedError`] when the model fails; a text without any known word gives a zero vector.
    fn embed(&self, role: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// What this embedder learns from the texts of a catalog, such as how rare each word is; stored with the index.
    /// `None` where it learns nothing.
    fn fit(&self, texts: &[&str]) -> Option<Vec<u8>> {
        let _ = texts;
        None
    }

    /// This embedder with what [`Embedder::fit`] learned; `None` where `state` is not its own.
    fn with_fit(&self, state: &[u8]) -> Option<std::sync::Arc<dyn Embedder>> {
        let _ = state;
        None
    }
}

//! What can go wrong with a model.

/// A failed act on a model. Messages never hold a key.
#[derive(Debug, thiserror::Error)]
pub enum LlmError {
    /// No such model is known, or its provider is not set up.
    #[error("unknown model `{model}`: {advice}")]
    UnknownModel {
        /// The name asked for.
        model: String,
        /// What to write or set instead.
        advice: String,
    },
    /// A key or address is missing from the settings.
    #[error("model `{model}` needs {what}")]
    NotConfigured {
        /// The model.
        model: String,
        /// The environment variable that is missing.
        what: String,
    },
    /// The provider refused the request.
    #[error("model `{model}`: the provider answered {status}: {message}")]
    Status {
        /// The model.
        model: String,
        /// The HTTP status.
        status: u16,
        /// The provider's words, shortened.
        message: String,
    },
    /// The provider could not be reached.
    #[error("model `{model}`: {reason}")]
    Transport {
        /// The model.
        model: String,
        /// What went wrong, in words.
        reason: String,
    },
    /// The provider answered something that is not an answer.
    #[error("model `{model}` gave no usable answer: {reason}")]
    Nonsense {
        /// The model.
        model: String,
        /// What was wrong with it.
        reason: String,
    },
}

//! Errors of models.

/// A failed request to a model. Messages never contain a key.
#[derive(Debug, thiserror::Error)]
pub enum LlmError {
    /// The model is unknown, or its provider is not configured.
    #[error("unknown model `{model}`: {advice}")]
    UnknownModel {
        /// The requested name.
        model: String,
        /// What to write or set instead.
        advice: String,
    },
    /// A key or address is missing from the settings.
    #[error("model `{model}` needs {what}")]
    NotConfigured {
        /// The model.
        model: String,
        /// The missing environment variable.
        what: String,
    },
    /// The provider refused the request.
    #[error("model `{model}`: the provider responded with status {status}: {message}")]
    Status {
        /// The model.
        model: String,
        /// The HTTP status.
        status: u16,
        /// The provider's message, shortened.
        message: String,
    },
    /// The provider could not be reached.
    #[error("model `{model}`: {reason}")]
    Transport {
        /// The model.
        model: String,
        /// Human-readable reason.
        reason: String,
    },
    /// The response is unusable.
    #[error("model `{model}` returned an unusable response: {reason}")]
    Nonsense {
        /// The model.
        model: String,
        /// What is wrong with it.
        reason: String,
    },
}

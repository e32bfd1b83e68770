//! Errors of facts.

use prospector_state::sqlite::DatabaseError;

/// A failed operation on facts.
#[derive(Debug, thiserror::Error)]
pub enum FactError {
    /// An invalid fact.
    #[error("cannot store the fact `{term}`: {reason}")]
    Invalid {
        /// The term.
        term: String,
        /// The reason.
        reason: &'static str,
    },
    /// The store could not be used.
    #[error(transparent)]
    Store(#[from] DatabaseError),
}

impl FactError {
    /// Returns advice for the user, which is not part of the message.
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            FactError::Invalid { .. } => None,
            FactError::Store(error) => Some(error.advice()),
        }
    }

    /// Returns the message without the path, for contexts that show it.
    pub fn reason(&self) -> String {
        match self {
            FactError::Invalid { .. } => self.to_string(),
            FactError::Store(error) => error.reason.clone(),
        }
    }
}

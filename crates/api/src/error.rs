//! Why an API could not be loaded at all. What costs only a part of it is a [`Problem`] beside the API.

use std::path::PathBuf;

use prospector_core::Problem;

/// An API that was left out.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The file could not be read.
    #[error("cannot read the description of API `{api}`: {source}")]
    Read {
        /// The API.
        api: String,
        /// Its file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The text is neither JSON nor YAML.
    #[error("cannot parse it as {format}: {reason}")]
    Parse {
        /// The file, and the line where that is known.
        place: String,
        /// What it was taken for.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The text describes an API in a language that is not read.
    #[error("this is {found}; only OpenAPI 3, Swagger 2.0, GraphQL and lists of MCP tools are read")]
    Version {
        /// The file.
        place: String,
        /// What it is.
        found: String,
    },
    /// The text describes something else.
    #[error("this is no API description: {reason}")]
    NotAnApi {
        /// The file.
        place: String,
        /// What shows it.
        reason: &'static str,
    },
    /// Another API has the name already.
    #[error("there is another API named `{api}`")]
    Duplicate {
        /// The file.
        place: String,
        /// The name.
        api: String,
    },
}

/// Why another file of a description cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NeighbourError(String);

impl NeighbourError {
    /// With the reason, in words that fit behind "it cannot be read".
    pub fn new(reason: impl ToString) -> Self {
        NeighbourError(reason.to_string())
    }
}

impl ApiError {
    fn advice(&self) -> &'static str {
        match self {
            ApiError::Read { .. } => "correct the path, or remove the API from the catalog",
            ApiError::Parse { .. } => "correct the file at that place",
            ApiError::Version { .. } => "convert the file, or remove the API from the catalog",
            ApiError::NotAnApi { .. } => "name a file that describes an API",
            ApiError::Duplicate { .. } => "give it another name",
        }
    }
}

impl From<ApiError> for Problem {
    fn from(error: ApiError) -> Problem {
        let place = match &error {
            ApiError::Read { path, .. } => path.display().to_string(),
            ApiError::Parse { place, .. }
            | ApiError::Version { place, .. }
            | ApiError::NotAnApi { place, .. }
            | ApiError::Duplicate { place, .. } => place.clone(),
        };
        Problem::error(place, error.to_string()).advise(error.advice())
    }
}

//! Errors that prevent an API from being loaded. Invalid parts of a description are reported as [`Problem`]s instead.

use std::path::PathBuf;

use prospector_core::Problem;

/// Why an API was skipped.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The file could not be read.
    #[error("cannot read the description of API `{api}`: {source}")]
    Read {
        /// The API.
        api: String,
        /// Path of the file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The text is neither valid JSON nor valid YAML.
    #[error("invalid {format}: {reason}")]
    Parse {
        /// File, with the line if known.
        place: String,
        /// The attempted format.
        format: &'static str,
        /// Message of the parser.
        reason: String,
    },
    /// The text is a description in an unsupported format or version.
    #[error("unsupported format {found}; supported: OpenAPI 3, Swagger 2.0, GraphQL and lists of MCP tools")]
    Version {
        /// The file.
        place: String,
        /// The detected format and version.
        found: String,
    },
    /// The text is not a description of an API.
    #[error("not an API description: {reason}")]
    NotAnApi {
        /// The file.
        place: String,
        /// Why it is not.
        reason: &'static str,
    },
    /// Another API has the same name.
    #[error("duplicate API name `{api}`")]
    Duplicate {
        /// The file.
        place: String,
        /// The name.
        api: String,
    },
}

/// Why a referenced file of a description cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NeighbourError(String);

impl NeighbourError {
    /// Creates an error with a reason that can follow "cannot be read:".
    pub fn new(reason: impl ToString) -> Self {
        NeighbourError(reason.to_string())
    }
}

impl ApiError {
    fn advice(&self) -> &'static str {
        match self {
            ApiError::Read { .. } => "correct the path, or remove the API from the catalog",
            ApiError::Parse { .. } => "fix the syntax error",
            ApiError::Version { .. } => "convert the file, or remove the API from the catalog",
            ApiError::NotAnApi { .. } => "name a file that describes an API",
            ApiError::Duplicate { .. } => "rename one of the APIs",
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

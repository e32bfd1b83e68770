//! Errors of database discovery.

use prospector_connect::ConnectError;

/// A failed operation of schema discovery.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The source could not be read at all.
    #[error("cannot describe database `{database}`: {source}")]
    Describe {
        /// The name of the database.
        database: String,
        /// The error of the connector.
        source: ConnectError,
    },
}

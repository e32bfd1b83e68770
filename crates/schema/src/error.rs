//! What can go wrong when a database is discovered.

use prospector_connect::ConnectError;

/// A failed act of schema discovery.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// Nothing of the source could be read.
    #[error("cannot describe database `{database}`: {source}")]
    Describe {
        /// The name of the database.
        database: String,
        /// What the connector said.
        source: ConnectError,
    },
}

//! Locations of data: files, servers and services, and their kinds.

use std::fmt;
use std::path::{Path, PathBuf};

pub use crate::data_files::{DataFile, DataFiles};
pub use crate::error::AddressError;
use crate::error::ConnectError;
pub use crate::partition::Partition;
pub use crate::server::Server;
pub use crate::service::{Access, BigquerySource, ElasticsearchSource};
pub use crate::source_kind::{SourceKind, unpacked_path};

/// The location of the data of one source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// Local files.
    Files {
        /// The kind of the files.
        kind: SourceKind,
        /// The files. SQLite takes exactly one; each data file is one table, and Parquet files in folders of the same
        /// partition keys ([`Partition`]) form one; SQL scripts are read in this order; a dbt project is its manifest and
        /// optionally its catalog.
        paths: Vec<PathBuf>,
        /// Whether a column of a delimited file only has a type if every cell has it, and only empty cells are null.
        is_strict: bool,
    },
    /// A database server.
    Server(Server),
    /// An Elasticsearch or OpenSearch cluster.
    Elasticsearch(ElasticsearchSource),
    /// A BigQuery project.
    Bigquery(BigquerySource),
}

impl Source {
    /// Returns a source of files of one kind.
    pub fn files(kind: SourceKind, paths: Vec<PathBuf>) -> Source {
        Source::Files { kind, paths, is_strict: false }
    }

    /// Sets strict typing: a column is text if any of its cells does not have the type of the others.
    #[must_use]
    pub fn strict(mut self) -> Source {
        if let Source::Files { is_strict, .. } = &mut self {
            *is_strict = true;
        }
        self
    }

    /// Whether typing is strict, see [`Source::strict`].
    pub(crate) fn is_strict(&self) -> bool {
        matches!(self, Source::Files { is_strict: true, .. })
    }

    /// Returns the kind of the source.
    pub fn kind(&self) -> SourceKind {
        match self {
            Source::Files { kind, .. } => *kind,
            Source::Server(server) => server.kind(),
            Source::Elasticsearch(_) => SourceKind::Elasticsearch,
            Source::Bigquery(_) => SourceKind::Bigquery,
        }
    }

    /// Returns a default name for the source: the database in the URL of a server, or the BigQuery project.
    pub fn default_name(&self) -> Option<&str> {
        match self {
            Source::Files { .. } | Source::Elasticsearch(_) => None,
            Source::Server(server) => server.database(),
            Source::Bigquery(bigquery) => Some(bigquery.project()),
        }
    }

    /// Returns the paths of the files; empty for servers and services.
    pub fn paths(&self) -> &[PathBuf] {
        match self {
            Source::Files { paths, .. } => paths,
            Source::Server(_) | Source::Elasticsearch(_) | Source::Bigquery(_) => &[],
        }
    }

    /// Returns the files, at least one.
    ///
    /// # Errors
    /// If the source has no paths.
    pub(crate) fn require_paths(&self) -> Result<&[PathBuf], ConnectError> {
        match self.paths() {
            [] => Err(self.misplaced_error("no path is given")),
            paths => Ok(paths),
        }
    }

    /// Returns the server.
    ///
    /// # Errors
    /// If the source is not a server.
    pub(crate) fn require_server(&self) -> Result<&Server, ConnectError> {
        match self {
            Source::Server(server) => Ok(server),
            Source::Files { .. } | Source::Elasticsearch(_) | Source::Bigquery(_) => {
                Err(self.misplaced_error("a server has a URL, not a path"))
            }
        }
    }

    /// Returns the error of a source whose address does not fit its kind.
    pub(crate) fn misplaced_error(&self, reason: &str) -> ConnectError {
        let first = self.paths().first().map_or(Path::new(""), PathBuf::as_path);
        ConnectError::open(self.kind(), first, reason)
    }
}

/// Displays the source without passwords, tokens and URL parameters.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Files { kind, paths, .. } => match paths.as_slice() {
                [path] => write!(f, "{}", path.display()),
                paths => write!(f, "{} {kind} files", paths.len()),
            },
            Source::Server(server) => server.fmt(f),
            Source::Elasticsearch(elasticsearch) => elasticsearch.fmt(f),
            Source::Bigquery(bigquery) => bigquery.fmt(f),
        }
    }
}

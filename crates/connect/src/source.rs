//! Where the data is: files, servers and services, and the kinds of them.

use std::fmt;
use std::path::{Path, PathBuf};

pub use crate::data_files::{DataFile, DataFiles, DataFormat};
pub use crate::error::AddressError;
use crate::error::ConnectError;
pub use crate::partition::Partition;
pub use crate::server::Server;
pub use crate::service::{Access, BigquerySource, ElasticsearchSource};
pub use crate::source_kind::{SourceKind, unpacked_path};

/// Where the data of one source is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// In local files.
    Files {
        /// What the files are.
        kind: SourceKind,
        /// The files. SQLite takes exactly one; each data file becomes one table, and all files of Parquet in folders of the same
        /// keys ([`Partition`]) one; SQL scripts are read in this order; a dbt project is its manifest and optionally its catalog.
        paths: Vec<PathBuf>,
        /// Whether a column of a delimited file has a type only if every cell of it has, and empty cells alone are null.
        is_strict: bool,
    },
    /// On a database server.
    Server(Server),
    /// In a cluster of Elasticsearch or OpenSearch.
    Elasticsearch(ElasticsearchSource),
    /// In a project of BigQuery.
    Bigquery(BigquerySource),
}

impl Source {
    /// A source of files of one kind.
    pub fn files(kind: SourceKind, paths: Vec<PathBuf>) -> Source {
        Source::Files { kind, paths, is_strict: false }
    }

    /// The source with columns of text wherever a cell is not of the type of the others.
    #[must_use]
    pub fn strict(mut self) -> Source {
        if let Source::Files { is_strict, .. } = &mut self {
            *is_strict = true;
        }
        self
    }

    /// Whether it is read as [`Source::strict`] says.
    pub(crate) fn is_strict(&self) -> bool {
        matches!(self, Source::Files { is_strict: true, .. })
    }

    /// The kind of the source.
    pub fn kind(&self) -> SourceKind {
        match self {
            Source::Files { kind, .. } => *kind,
            Source::Server(server) => server.kind(),
            Source::Elasticsearch(_) => SourceKind::Elasticsearch,
            Source::Bigquery(_) => SourceKind::Bigquery,
        }
    }

    /// A name for the source if a catalog gives none: the database in the URL of a server, or the project of BigQuery.
    pub fn default_name(&self) -> Option<&str> {
        match self {
            Source::Files { .. } | Source::Elasticsearch(_) => None,
            Source::Server(server) => server.database(),
            Source::Bigquery(bigquery) => Some(bigquery.project()),
        }
    }

    /// The paths of the files; empty for servers and services.
    pub fn paths(&self) -> &[PathBuf] {
        match self {
            Source::Files { paths, .. } => paths,
            Source::Server(_) | Source::Elasticsearch(_) | Source::Bigquery(_) => &[],
        }
    }

    /// The files, of which there is one at least.
    ///
    /// # Errors
    /// When there are none.
    pub(crate) fn require_paths(&self) -> Result<&[PathBuf], ConnectError> {
        match self.paths() {
            [] => Err(self.misplaced_error("no path is given")),
            paths => Ok(paths),
        }
    }

    /// The server.
    ///
    /// # Errors
    /// When it is something else.
    pub(crate) fn require_server(&self) -> Result<&Server, ConnectError> {
        match self {
            Source::Server(server) => Ok(server),
            Source::Files { .. } | Source::Elasticsearch(_) | Source::Bigquery(_) => {
                Err(self.misplaced_error("a server has a URL, not a path"))
            }
        }
    }

    /// The error of a source that is given in another way than its kind has it.
    pub(crate) fn misplaced_error(&self, reason: &str) -> ConnectError {
        let first = self.paths().first().map_or(Path::new(""), PathBuf::as_path);
        ConnectError::open(self.kind(), first, reason)
    }
}

/// Shows the source without passwords, tokens and URL parameters.
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

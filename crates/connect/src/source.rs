//! Where the data is, and opening it.

mod kind;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{BigquerySource, ConnectError, Connector, ElasticsearchSource, Server};
pub use kind::SourceKind;

/// Where the data is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// In files.
    Files {
        /// What they are.
        kind: SourceKind,
        /// SQLite takes exactly one; the file kinds make one table of each; DDL reads them in this order.
        paths: Vec<PathBuf>,
    },
    /// On a server.
    Server(Server),
    /// In Elasticsearch or OpenSearch.
    Elasticsearch(ElasticsearchSource),
    /// In a project of BigQuery.
    Bigquery(BigquerySource),
}

impl Source {
    /// Files of one kind.
    pub fn files(kind: SourceKind, paths: Vec<PathBuf>) -> Source {
        Source::Files { kind, paths }
    }

    /// Its kind.
    pub fn kind(&self) -> SourceKind {
        match self {
            Source::Files { kind, .. } => *kind,
            Source::Server(server) => server.kind(),
            Source::Elasticsearch(_) => SourceKind::Elasticsearch,
            Source::Bigquery(_) => SourceKind::Bigquery,
        }
    }

    /// A name for it where a catalog gives none: the database of a server, the project of BigQuery.
    pub fn default_name(&self) -> Option<&str> {
        match self {
            Source::Files { .. } | Source::Elasticsearch(_) => None,
            Source::Server(server) => server.database(),
            Source::Bigquery(bigquery) => Some(bigquery.project()),
        }
    }

    /// The files; a server has none.
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
            [] => Err(self.misplaced("no path is given")),
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
                Err(self.misplaced("a server has a URL, not a path"))
            }
        }
    }

    /// The error of a source that is given in another way than its kind has it.
    pub(crate) fn misplaced(&self, reason: &str) -> ConnectError {
        let first = self.paths().first().map_or(Path::new(""), PathBuf::as_path);
        ConnectError::open(self.kind(), first, reason)
    }
}

/// The source without passwords, tokens and parameters.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Files { kind, paths } => match paths.as_slice() {
                [path] => write!(f, "{}", path.display()),
                paths => write!(f, "{} {kind} files", paths.len()),
            },
            Source::Server(server) => server.fmt(f),
            Source::Elasticsearch(elasticsearch) => elasticsearch.fmt(f),
            Source::Bigquery(bigquery) => bigquery.fmt(f),
        }
    }
}

/// A connector for `source`. Nothing is read before the first question to it.
///
/// # Errors
/// When the number of paths does not fit the kind, the URL holds what the kind of server does not know, or this build
/// leaves the connector out.
pub fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    source.kind().open(source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Access;

    /// A source of that kind, at `x`.
    fn source(kind: SourceKind) -> Source {
        match kind.schemes().first() {
            None if kind == SourceKind::Elasticsearch => {
                Source::Elasticsearch(ElasticsearchSource::new("http://x", Access::Open, &[]).unwrap())
            }
            None if kind == SourceKind::Bigquery => {
                Source::Bigquery(BigquerySource::new("x", &[], Access::Open).unwrap())
            }
            Some(scheme) => Source::Server(Server::new(&format!("{scheme}://x/y"), &[]).unwrap()),
            None => Source::files(kind, vec!["x".into()]),
        }
    }

    #[test]
    fn a_source_of_the_wrong_number_of_paths_does_not_open() {
        for kind in SourceKind::ALL {
            assert!(open(&Source::files(kind, Vec::new())).is_err(), "{kind}");
            let made = source(kind);
            assert_eq!(made.kind(), kind);
            match open(&made) {
                Ok(connector) => assert_eq!((connector.kind(), kind.is_compiled()), (kind, true)),
                Err(error) => assert!(!kind.is_compiled(), "{error}"),
            }
        }
        assert!(open(&Source::files(SourceKind::Sqlite, vec!["a.db".into(), "b.db".into()])).is_err());
        assert!(open(&Source::files(SourceKind::Mysql, vec!["x".into()])).is_err());
        assert!(open(&Source::files(SourceKind::Bigquery, vec!["x".into()])).is_err());
    }

    #[test]
    fn only_what_is_written_about_tables_has_no_data() {
        for kind in SourceKind::ALL {
            let Ok(connector) = open(&source(kind)) else { continue };
            assert_eq!(connector.has_data(), ![SourceKind::Ddl, SourceKind::Dbt].contains(&kind));
        }
    }
}

//! Which kinds of data source there are, and opening one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::dbt::Dbt;
use crate::ddl::Ddl;
use crate::files::Files;
use crate::mysql::Mysql;
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::{ConnectError, Connector, Server, Service};

/// The kinds of data source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceKind {
    /// A SQLite database file.
    Sqlite,
    /// Files with separated values and a header line; the separator is found out.
    Csv,
    /// Files with one JSON array of objects, or one object.
    Json,
    /// Files with one JSON object a line.
    Jsonl,
    /// Parquet files.
    Parquet,
    /// Arrow IPC files or streams, Feather version 2 among them.
    Arrow,
    /// SQL scripts with `CREATE TABLE` statements: a schema without data.
    Ddl,
    /// The `manifest.json` of a dbt project, with its `catalog.json`: a schema without data.
    Dbt,
    /// A PostgreSQL server.
    Postgres,
    /// A MySQL or MariaDB server.
    Mysql,
    /// A MongoDB server.
    Mongodb,
    /// Amazon DynamoDB, or what speaks as it does.
    Dynamodb,
    /// A Cassandra or ScyllaDB cluster.
    Cassandra,
    /// Elasticsearch or OpenSearch, over HTTP.
    Elasticsearch,
    /// A project of BigQuery, over HTTP.
    Bigquery,
}

impl SourceKind {
    /// Every kind, in the order in which kinds are listed anywhere.
    pub const ALL: [SourceKind; 15] = [
        SourceKind::Sqlite,
        SourceKind::Csv,
        SourceKind::Json,
        SourceKind::Jsonl,
        SourceKind::Parquet,
        SourceKind::Arrow,
        SourceKind::Ddl,
        SourceKind::Dbt,
        SourceKind::Postgres,
        SourceKind::Mysql,
        SourceKind::Mongodb,
        SourceKind::Dynamodb,
        SourceKind::Cassandra,
        SourceKind::Elasticsearch,
        SourceKind::Bigquery,
    ];

    /// The word for it in a catalog and in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            SourceKind::Sqlite => "sqlite",
            SourceKind::Csv => "csv",
            SourceKind::Json => "json",
            SourceKind::Jsonl => "jsonl",
            SourceKind::Parquet => "parquet",
            SourceKind::Arrow => "arrow",
            SourceKind::Ddl => "ddl",
            SourceKind::Dbt => "dbt",
            SourceKind::Postgres => "postgres",
            SourceKind::Mysql => "mysql",
            SourceKind::Mongodb => "mongodb",
            SourceKind::Dynamodb => "dynamodb",
            SourceKind::Cassandra => "cassandra",
            SourceKind::Elasticsearch => "elasticsearch",
            SourceKind::Bigquery => "bigquery",
        }
    }

    /// The file name extensions of this kind, in lower case; a server has none, and neither have files that are known by
    /// their `type` alone.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            SourceKind::Sqlite => &["sqlite", "sqlite3", "db"],
            SourceKind::Csv => &["csv", "tsv"],
            SourceKind::Json => &["json"],
            SourceKind::Jsonl => &["jsonl", "ndjson"],
            SourceKind::Parquet => &["parquet", "pq"],
            SourceKind::Arrow => &["arrow", "arrows", "feather", "ipc"],
            SourceKind::Ddl => &["sql"],
            SourceKind::Dbt => &[],
            SourceKind::Postgres | SourceKind::Mysql | SourceKind::Cassandra => &[],
            SourceKind::Mongodb | SourceKind::Dynamodb => &[],
            SourceKind::Elasticsearch | SourceKind::Bigquery => &[],
        }
    }

    /// The schemes of the URLs of this kind of server; a file has none.
    pub fn schemes(self) -> &'static [&'static str] {
        match self {
            SourceKind::Postgres => &["postgres", "postgresql"],
            SourceKind::Mysql => &["mysql", "mariadb"],
            SourceKind::Mongodb => &["mongodb", "mongodb+srv"],
            SourceKind::Dynamodb => &["dynamodb"],
            SourceKind::Cassandra => &["cassandra", "scylla"],
            _ => &[],
        }
    }

    /// Whether it is a server, and not files.
    pub fn is_server(self) -> bool {
        !self.schemes().is_empty() || matches!(self, SourceKind::Elasticsearch | SourceKind::Bigquery)
    }

    /// The kind with that name, whatever its case; servers also by a scheme of their URLs.
    pub fn from_name(name: &str) -> Option<SourceKind> {
        let named = |kind: &SourceKind| kind.as_str().eq_ignore_ascii_case(name);
        SourceKind::ALL.into_iter().find(named).or_else(|| SourceKind::from_scheme(&name.to_ascii_lowercase()))
    }

    /// The kind of server that has URLs of that scheme.
    pub fn from_scheme(scheme: &str) -> Option<SourceKind> {
        SourceKind::ALL.into_iter().find(|kind| kind.schemes().contains(&scheme))
    }

    /// The kind of a file, by the extension of its name.
    pub fn from_path(path: &Path) -> Option<SourceKind> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        SourceKind::ALL.into_iter().find(|kind| kind.extensions().contains(&extension.as_str()))
    }
}

impl std::fmt::Display for SourceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

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
    /// In a service that is asked over HTTP.
    Service(Service),
}

impl Source {
    /// Files of one kind.
    pub fn files(kind: SourceKind, paths: Vec<PathBuf>) -> Source {
        Source::Files { kind, paths }
    }

    /// The files; a server has none.
    pub fn paths(&self) -> &[PathBuf] {
        match self {
            Source::Files { paths, .. } => paths,
            Source::Server(_) | Source::Service(_) => &[],
        }
    }
}

/// A connector for `source`. Nothing is read before the first question to it.
///
/// # Errors
/// When the number of paths does not fit the kind, or the URL holds what the kind of server does not know.
pub fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    let (source, paths) = match source {
        Source::Files { kind, paths } => (*kind, paths),
        Source::Server(server) if server.kind() == SourceKind::Mysql => return Ok(Arc::new(Mysql::new(server)?)),
        Source::Server(server) if server.kind() == SourceKind::Mongodb => return mongodb(server),
        Source::Server(server) if server.kind() == SourceKind::Dynamodb => return dynamodb(server),
        Source::Server(server) if server.kind() == SourceKind::Cassandra => return cassandra(server),
        Source::Server(server) => return Ok(Arc::new(Postgres::new(server)?)),
        Source::Service(service) if service.kind() == SourceKind::Bigquery => return bigquery(service),
        Source::Service(service) => return elasticsearch(service),
    };
    let kind = source.as_str();
    let wrong =
        |path: &Path, reason: &str| ConnectError::Open { kind, path: path.to_owned(), reason: reason.to_owned() };
    let Some(first) = paths.first() else {
        return Err(wrong(Path::new(""), "no path is given"));
    };
    Ok(match source {
        SourceKind::Sqlite if paths.len() > 1 => {
            return Err(wrong(&paths[1], "a database has one path; make a source of each file"));
        }
        SourceKind::Sqlite => Arc::new(Sqlite::new(first)),
        SourceKind::Ddl => Arc::new(Ddl::new(paths.clone())),
        SourceKind::Dbt => Arc::new(Dbt::new(paths)?),
        _ if source.is_server() => return Err(wrong(first, "a server has a URL, not a path")),
        _ => Arc::new(Files::new(source, paths)),
    })
}

#[cfg(feature = "mongodb")]
fn mongodb(server: &Server) -> Result<Arc<dyn Connector>, ConnectError> {
    Ok(Arc::new(crate::mongo::Mongo::new(server)?))
}

#[cfg(not(feature = "mongodb"))]
fn mongodb(server: &Server) -> Result<Arc<dyn Connector>, ConnectError> {
    Err(left_out(server.to_string()))
}

#[cfg(feature = "dynamodb")]
fn dynamodb(server: &Server) -> Result<Arc<dyn Connector>, ConnectError> {
    Ok(Arc::new(crate::dynamo::Dynamo::new(server)?))
}

#[cfg(not(feature = "dynamodb"))]
fn dynamodb(server: &Server) -> Result<Arc<dyn Connector>, ConnectError> {
    Err(left_out(server.to_string()))
}

#[cfg(feature = "cassandra")]
fn cassandra(server: &Server) -> Result<Arc<dyn Connector>, ConnectError> {
    Ok(Arc::new(crate::cassandra::Cassandra::new(server)?))
}

#[cfg(not(feature = "cassandra"))]
fn cassandra(server: &Server) -> Result<Arc<dyn Connector>, ConnectError> {
    Err(left_out(server.to_string()))
}

#[cfg(feature = "elasticsearch")]
fn elasticsearch(service: &Service) -> Result<Arc<dyn Connector>, ConnectError> {
    Ok(Arc::new(crate::elastic::Elastic::new(service)))
}

#[cfg(not(feature = "elasticsearch"))]
fn elasticsearch(service: &Service) -> Result<Arc<dyn Connector>, ConnectError> {
    Err(left_out(service.to_string()))
}

#[cfg(feature = "bigquery")]
fn bigquery(service: &Service) -> Result<Arc<dyn Connector>, ConnectError> {
    Ok(Arc::new(crate::bigquery::Bigquery::new(service)))
}

#[cfg(not(feature = "bigquery"))]
fn bigquery(service: &Service) -> Result<Arc<dyn Connector>, ConnectError> {
    Err(left_out(service.to_string()))
}

/// The connector is behind a feature of this crate.
#[cfg(not(all(
    feature = "bigquery",
    feature = "cassandra",
    feature = "dynamodb",
    feature = "elasticsearch",
    feature = "mongodb"
)))]
fn left_out(place: String) -> ConnectError {
    ConnectError::Unsupported { place, act: "be read: this build leaves its connector out" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Access;

    fn check(path: &str, kind: Option<SourceKind>) {
        assert_eq!(SourceKind::from_path(Path::new(path)), kind, "{path}");
    }

    /// A source of that kind, at `x`.
    fn source(kind: SourceKind) -> Source {
        match kind.schemes().first() {
            None if kind == SourceKind::Elasticsearch => {
                Source::Service(Service::elasticsearch("http://x", Access::Open, &[]).unwrap())
            }
            None if kind == SourceKind::Bigquery => Source::Service(Service::bigquery("x", &[], Access::Open).unwrap()),
            Some(scheme) => Source::Server(Server::new(&format!("{scheme}://x/y"), &[]).unwrap()),
            None => Source::files(kind, vec!["x".into()]),
        }
    }

    #[test]
    fn every_kind_has_a_name_and_extensions_or_schemes_of_its_own() {
        for kind in SourceKind::ALL {
            assert_eq!(SourceKind::from_name(&kind.as_str().to_uppercase()), Some(kind));
            for extension in kind.extensions() {
                check(&format!("/a/b.c/x.{extension}"), Some(kind));
            }
            for scheme in kind.schemes() {
                assert_eq!(SourceKind::from_name(scheme), Some(kind));
            }
            assert!(kind.extensions().is_empty() == (kind.is_server() || kind == SourceKind::Dbt));
        }
        assert_eq!(SourceKind::from_name("oracle"), None);
    }

    #[test]
    fn the_extension_decides_whatever_its_case() {
        check("Orders.CSV", Some(SourceKind::Csv));
        check("orders.2024.ndjson", Some(SourceKind::Jsonl));
        check("orders", None);
        check("orders.txt", None);
        check(".sql", None);
    }

    #[test]
    fn a_source_of_the_wrong_number_of_paths_does_not_open() {
        for kind in SourceKind::ALL {
            assert!(open(&Source::files(kind, Vec::new())).is_err(), "{kind}");
            assert_eq!(open(&source(kind)).unwrap().kind(), kind.as_str());
        }
        assert!(open(&Source::files(SourceKind::Sqlite, vec!["a.db".into(), "b.db".into()])).is_err());
        assert!(open(&Source::files(SourceKind::Mysql, vec!["x".into()])).is_err());
    }

    #[test]
    fn only_what_is_written_about_tables_has_no_data() {
        for kind in SourceKind::ALL {
            let connector = open(&source(kind)).unwrap();
            assert_eq!(connector.has_data(), ![SourceKind::Ddl, SourceKind::Dbt].contains(&kind));
        }
    }
}

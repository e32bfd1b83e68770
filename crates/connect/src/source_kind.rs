//! The kinds of data sources and their properties.

use std::path::{Path, PathBuf};

use prospector_core::named_enum;
use serde::{Deserialize, Serialize};

use crate::sql::Dialect;

named_enum! {
    /// A kind of data source, serialized as [`SourceKind::as_str`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum SourceKind {
        /// A SQLite database file.
        Sqlite = "sqlite",
        /// Files with separated values and a header line. The separator is detected.
        Csv = "csv",
        /// Files with one JSON array of objects, or one object.
        Json = "json",
        /// Files with one JSON object per line.
        Jsonl = "jsonl",
        /// Parquet files.
        Parquet = "parquet",
        /// Arrow IPC files or streams, including Feather version 2.
        Arrow = "arrow",
        /// XLSX workbooks. Each sheet is a table.
        Xlsx = "xlsx",
        /// SQL scripts with `CREATE TABLE` statements: a schema without data.
        Ddl = "ddl",
        /// The `manifest.json` of a dbt project, with its `catalog.json`: a schema without data.
        Dbt = "dbt",
        /// A PostgreSQL server.
        Postgres = "postgres",
        /// A MySQL or MariaDB server.
        Mysql = "mysql",
        /// A MongoDB server.
        Mongodb = "mongodb",
        /// Amazon DynamoDB, or a server with the same interface.
        Dynamodb = "dynamodb",
        /// A Cassandra or ScyllaDB cluster.
        Cassandra = "cassandra",
        /// Elasticsearch or OpenSearch, over HTTP.
        Elasticsearch = "elasticsearch",
        /// A BigQuery project, over HTTP.
        Bigquery = "bigquery",
    }
}

/// How a catalog specifies the location of a source.
enum Address {
    /// By paths of files with these extensions, in lower case.
    Files(&'static [&'static str]),
    /// By a URL.
    Server {
        /// The URL schemes of the kind.
        schemes: &'static [&'static str],
        /// The supported URL parameters; others are not passed on. `None` if the connector itself rejects unknown ones.
        parameters: Option<&'static [&'static str]>,
    },
    /// By dedicated settings.
    Settings,
}

/// The URL parameters supported by `sqlx`, in addition to `options[NAME]`.
const POSTGRES_PARAMETERS: &[&str] = &[
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl-root-cert",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "statement-cache-capacity",
    "user",
];

/// The URL parameters supported by `sqlx`.
const MYSQL_PARAMETERS: &[&str] = &[
    "charset",
    "collation",
    "socket",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "sslca",
    "sslcert",
    "sslkey",
    "sslmode",
    "statement-cache-capacity",
    "time-zone",
    "timezone",
];

impl SourceKind {
    fn address(self) -> Address {
        let server = |schemes, parameters| Address::Server { schemes, parameters };
        match self {
            SourceKind::Sqlite => Address::Files(&["sqlite", "sqlite3", "db"]),
            SourceKind::Csv => Address::Files(&["csv", "tsv"]),
            SourceKind::Json => Address::Files(&["json"]),
            SourceKind::Jsonl => Address::Files(&["jsonl", "ndjson"]),
            SourceKind::Parquet => Address::Files(&["parquet", "pq"]),
            SourceKind::Arrow => Address::Files(&["arrow", "arrows", "feather", "ipc"]),
            SourceKind::Xlsx => Address::Files(&["xlsx", "xlsm"]),
            SourceKind::Ddl => Address::Files(&["sql"]),
            // Its files have the extension of other JSON files.
            SourceKind::Dbt => Address::Files(&[]),
            SourceKind::Postgres => server(&["postgres", "postgresql"], Some(POSTGRES_PARAMETERS)),
            SourceKind::Mysql => server(&["mysql", "mariadb"], Some(MYSQL_PARAMETERS)),
            SourceKind::Mongodb => server(&["mongodb", "mongodb+srv"], None),
            SourceKind::Dynamodb => server(&["dynamodb"], None),
            SourceKind::Cassandra => server(&["cassandra", "scylla"], None),
            SourceKind::Elasticsearch | SourceKind::Bigquery => Address::Settings,
        }
    }

    /// Returns the file name extensions of this kind, in lower case. Servers and services have none, and neither has dbt,
    /// whose files are identified by the `type` in a catalog.
    pub fn extensions(self) -> &'static [&'static str] {
        match self.address() {
            Address::Files(extensions) => extensions,
            Address::Server { .. } | Address::Settings => &[],
        }
    }

    /// Returns the URL schemes of this kind of server. Other kinds have none.
    pub fn schemes(self) -> &'static [&'static str] {
        match self.address() {
            Address::Server { schemes, .. } => schemes,
            Address::Files(_) | Address::Settings => &[],
        }
    }

    /// Returns the supported URL parameters; `None` if the connector rejects unknown ones.
    pub(crate) fn url_parameters(self) -> Option<&'static [&'static str]> {
        match self.address() {
            Address::Server { parameters, .. } => parameters,
            Address::Files(_) | Address::Settings => None,
        }
    }

    /// Whether reading is billed by volume, so that nothing is read unless requested.
    pub fn is_metered(self) -> bool {
        matches!(self, SourceKind::Dynamodb | SourceKind::Bigquery)
    }

    /// Returns the SQL dialect of queries to the source: its own, or DataFusion's if the source has no SQL.
    pub fn dialect(self) -> Dialect {
        match self {
            SourceKind::Sqlite => Dialect::Sqlite,
            SourceKind::Postgres => Dialect::Postgres,
            SourceKind::Mysql => Dialect::Mysql,
            SourceKind::Bigquery => Dialect::Bigquery,
            _ => Dialect::Joined,
        }
    }

    /// Whether the connector is part of this build.
    pub fn is_compiled(self) -> bool {
        let optional = [
            (SourceKind::Mongodb, cfg!(feature = "mongodb")),
            (SourceKind::Dynamodb, cfg!(feature = "dynamodb")),
            (SourceKind::Cassandra, cfg!(feature = "cassandra")),
            (SourceKind::Elasticsearch, cfg!(feature = "elasticsearch")),
            (SourceKind::Bigquery, cfg!(feature = "bigquery")),
        ];
        optional.iter().all(|(kind, is_compiled)| *kind != self || *is_compiled)
    }

    /// Finds a kind by name, case-insensitively. Servers are also known by their URL schemes.
    pub fn from_name(name: &str) -> Option<SourceKind> {
        let is_named = |kind: &SourceKind| kind.as_str().eq_ignore_ascii_case(name);
        SourceKind::ALL.into_iter().find(is_named).or_else(|| SourceKind::from_scheme(&name.to_ascii_lowercase()))
    }

    /// Finds the kind of server with that URL scheme.
    pub fn from_scheme(scheme: &str) -> Option<SourceKind> {
        SourceKind::ALL.into_iter().find(|kind| kind.schemes().contains(&scheme))
    }

    /// Whether its files may be compressed with gzip.
    pub fn is_read_packed(self) -> bool {
        matches!(self, SourceKind::Csv | SourceKind::Json | SourceKind::Jsonl)
    }

    /// Returns the kind of a file, by its extension; for a compressed file, `orders.csv.gz`, by the one before.
    pub fn from_path(path: &Path) -> Option<SourceKind> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        if extension == "gz" {
            let kind = SourceKind::from_path(Path::new(path.file_stem()?));
            return kind.filter(|kind| kind.is_read_packed());
        }
        SourceKind::ALL.into_iter().find(|kind| kind.extensions().contains(&extension.as_str()))
    }
}

/// Returns the path of a data file without the extension of its compression: `orders.csv` of `orders.csv.gz`.
pub fn unpacked_path(path: &Path) -> PathBuf {
    let is_packed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    if is_packed && SourceKind::from_path(path).is_some() { path.with_extension("") } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, kind: Option<SourceKind>) {
        assert_eq!(SourceKind::from_path(Path::new(path)), kind, "{path}");
    }

    #[test]
    fn every_kind_has_a_name_and_extensions_or_schemes_of_its_own() {
        for kind in SourceKind::ALL {
            assert_eq!(SourceKind::from_name(&kind.as_str().to_uppercase()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            for extension in kind.extensions() {
                check(&format!("/a/b.c/x.{extension}"), Some(kind));
            }
            for scheme in kind.schemes() {
                assert_eq!(SourceKind::from_name(scheme), Some(kind));
            }
            assert_eq!(
                kind.extensions().is_empty(),
                !matches!(kind.address(), Address::Files(_)) || kind == SourceKind::Dbt
            );
        }
        assert_eq!(SourceKind::from_name("oracle"), None);
    }

    #[test]
    fn detects_kinds_by_extension_case_insensitively() {
        check("Orders.CSV", Some(SourceKind::Csv));
        check("orders.2024.ndjson", Some(SourceKind::Jsonl));
        check("orders.csv.GZ", Some(SourceKind::Csv));
        check("orders.parquet.gz", None);
        check("orders.gz", None);
        check("orders", None);
        check("orders.txt", None);
        check(".sql", None);
    }
}

//! The kinds of data sources and their properties.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::sql::Dialect;

/// A kind of data source, serialized as [`SourceKind::as_str`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// A SQLite database file.
    Sqlite,
    /// Files with separated values and a header line. The separator is detected.
    Csv,
    /// Files with one JSON array of objects, or one object.
    Json,
    /// Files with one JSON object per line.
    Jsonl,
    /// Parquet files.
    Parquet,
    /// Arrow IPC files or streams, including Feather version 2.
    Arrow,
    /// XLSX workbooks. Each sheet is a table.
    Xlsx,
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
    /// Amazon DynamoDB, or a server with the same interface.
    Dynamodb,
    /// A Cassandra or ScyllaDB cluster.
    Cassandra,
    /// Elasticsearch or OpenSearch, over HTTP.
    Elasticsearch,
    /// A BigQuery project, over HTTP.
    Bigquery,
}

/// The properties of one kind of source. To add a kind, add its variant, its entry in [`SOURCES`], and its connector in
/// [`crate::open`].
struct SourceEntry {
    kind: SourceKind,
    /// Its name in a catalog and in messages.
    name: &'static str,
    address: Address,
    /// The SQL dialect of its queries.
    dialect: Dialect,
    /// Whether its connector is part of this build.
    is_compiled: bool,
}

/// How a catalog specifies the location of a source.
enum Address {
    /// By file paths.
    Files {
        /// The file extensions of the kind, in lower case.
        extensions: &'static [&'static str],
    },
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

/// All kinds, in the order of [`SourceKind`], which is the order of every list.
const SOURCES: &[SourceEntry] = &[
    SourceEntry {
        kind: SourceKind::Sqlite,
        name: "sqlite",
        address: Address::Files { extensions: &["sqlite", "sqlite3", "db"] },
        dialect: Dialect::Sqlite,
        is_compiled: true,
    },
    SourceEntry {
        kind: SourceKind::Csv,
        name: "csv",
        address: Address::Files { extensions: &["csv", "tsv"] },
        dialect: Dialect::Joined,
        is_compiled: true,
    },
    SourceEntry {
        kind: SourceKind::Json,
        name: "json",
        address: Address::Files { extensions: &["json"] },
        dialect: Dialect::Joined,
        is_compiled: true,
    },
    SourceEntry {
        kind: SourceKind::Jsonl,
        name: "jsonl",
        address: Address::Files { extensions: &["jsonl", "ndjson"] },
        dialect: Dialect::Joined,
        is_compiled: true,
    },
    SourceEntry {
        kind: SourceKind::Parquet,
        name: "parquet",
        address: Address::Files { extensions: &["parquet", "pq"] },
        dialect: Dialect::Joined,
        is_compiled: true,
    },
    SourceEntry {
        kind: SourceKind::Arrow,
        name: "arrow",
        address: Address::Files { extensions: &["arrow", "arrows", "feather", "ipc"] },
        dialect: Dialect::Joined,
        is_compiled: true,
    },
    SourceEntry {
        kind: SourceKind::Xlsx,
        name: "xlsx",
        address: Address::Files { extensions: &["xlsx", "xlsm"] },
        dialect: Dialect::Joined,
        is_compiled: true,
    },
    SourceEntry {
        kind: SourceKind::Ddl,
        name: "ddl",
        address: Address::Files { extensions: &["sql"] },
        dialect: Dialect::Joined,
        is_compiled: true,
    },
    SourceEntry {
        kind: SourceKind::Dbt,
        name: "dbt",
        // Its files have the extension of other JSON files.
        address: Address::Files { extensions: &[] },
        dialect: Dialect::Joined,
        is_compiled: true,
    },
    SourceEntry {
        kind: SourceKind::Postgres,
        name: "postgres",
        address: Address::Server { schemes: &["postgres", "postgresql"], parameters: Some(POSTGRES_PARAMETERS) },
        dialect: Dialect::Postgres,
        is_compiled: true,
    },
    SourceEntry {
        kind: SourceKind::Mysql,
        name: "mysql",
        address: Address::Server { schemes: &["mysql", "mariadb"], parameters: Some(MYSQL_PARAMETERS) },
        dialect: Dialect::Mysql,
        is_compiled: true,
    },
    SourceEntry {
        kind: SourceKind::Mongodb,
        name: "mongodb",
        address: Address::Server { schemes: &["mongodb", "mongodb+srv"], parameters: None },
        dialect: Dialect::Joined,
        is_compiled: cfg!(feature = "mongodb"),
    },
    SourceEntry {
        kind: SourceKind::Dynamodb,
        name: "dynamodb",
        address: Address::Server { schemes: &["dynamodb"], parameters: None },
        dialect: Dialect::Joined,
        is_compiled: cfg!(feature = "dynamodb"),
    },
    SourceEntry {
        kind: SourceKind::Cassandra,
        name: "cassandra",
        address: Address::Server { schemes: &["cassandra", "scylla"], parameters: None },
        dialect: Dialect::Joined,
        is_compiled: cfg!(feature = "cassandra"),
    },
    SourceEntry {
        kind: SourceKind::Elasticsearch,
        name: "elasticsearch",
        address: Address::Settings,
        dialect: Dialect::Joined,
        is_compiled: cfg!(feature = "elasticsearch"),
    },
    SourceEntry {
        kind: SourceKind::Bigquery,
        name: "bigquery",
        address: Address::Settings,
        dialect: Dialect::Bigquery,
        is_compiled: cfg!(feature = "bigquery"),
    },
];

impl SourceKind {
    /// All kinds, in listing order.
    pub const ALL: [SourceKind; SOURCES.len()] = {
        let mut all = [SourceKind::Sqlite; SOURCES.len()];
        let mut at = 0;
        while at < SOURCES.len() {
            assert!(SOURCES[at].kind as usize == at, "the entries are in the order of the variants");
            all[at] = SOURCES[at].kind;
            at += 1;
        }
        all
    };

    fn entry(self) -> &'static SourceEntry {
        &SOURCES[self as usize]
    }

    /// Returns the name of the kind in a catalog and in messages.
    pub fn as_str(self) -> &'static str {
        self.entry().name
    }

    /// Returns the file name extensions of this kind, in lower case. Servers and services have none, and neither has dbt,
    /// whose files are identified by the `type` in a catalog.
    pub fn extensions(self) -> &'static [&'static str] {
        match self.entry().address {
            Address::Files { extensions } => extensions,
            Address::Server { .. } | Address::Settings => &[],
        }
    }

    /// Returns the URL schemes of this kind of server. Other kinds have none.
    pub fn schemes(self) -> &'static [&'static str] {
        match self.entry().address {
            Address::Server { schemes, .. } => schemes,
            Address::Files { .. } | Address::Settings => &[],
        }
    }

    /// Returns the supported URL parameters; `None` if the connector rejects unknown ones.
    pub(crate) fn url_parameters(self) -> Option<&'static [&'static str]> {
        match self.entry().address {
            Address::Server { parameters, .. } => parameters,
            Address::Files { .. } | Address::Settings => None,
        }
    }

    /// Whether it is a server or a service rather than files.
    pub fn is_server(self) -> bool {
        match self.entry().address {
            Address::Files { .. } => false,
            Address::Server { .. } | Address::Settings => true,
        }
    }

    /// Whether reading is billed by volume, so that nothing is read unless requested.
    pub fn is_metered(self) -> bool {
        match self {
            SourceKind::Dynamodb | SourceKind::Bigquery => true,
            SourceKind::Sqlite
            | SourceKind::Csv
            | SourceKind::Json
            | SourceKind::Jsonl
            | SourceKind::Parquet
            | SourceKind::Arrow
            | SourceKind::Xlsx
            | SourceKind::Ddl
            | SourceKind::Dbt
            | SourceKind::Postgres
            | SourceKind::Mysql
            | SourceKind::Mongodb
            | SourceKind::Cassandra
            | SourceKind::Elasticsearch => false,
        }
    }

    /// Returns the SQL dialect of queries to the source: its own, or DataFusion's if the source has no SQL.
    pub fn dialect(self) -> Dialect {
        self.entry().dialect
    }

    /// Whether the connector is part of this build.
    pub fn is_compiled(self) -> bool {
        self.entry().is_compiled
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

impl std::fmt::Display for SourceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
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
            assert!(kind.extensions().is_empty() == (kind.is_server() || kind == SourceKind::Dbt));
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

//! Which kinds of data source there are, and opening one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ddl::Ddl;
use crate::files::Files;
use crate::sqlite::Sqlite;
use crate::{ConnectError, Connector};

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
}

impl SourceKind {
    /// Every kind, in the order in which kinds are listed anywhere.
    pub const ALL: [SourceKind; 7] = [
        SourceKind::Sqlite,
        SourceKind::Csv,
        SourceKind::Json,
        SourceKind::Jsonl,
        SourceKind::Parquet,
        SourceKind::Arrow,
        SourceKind::Ddl,
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
        }
    }

    /// The file name extensions of this kind, in lower case.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            SourceKind::Sqlite => &["sqlite", "sqlite3", "db"],
            SourceKind::Csv => &["csv", "tsv"],
            SourceKind::Json => &["json"],
            SourceKind::Jsonl => &["jsonl", "ndjson"],
            SourceKind::Parquet => &["parquet", "pq"],
            SourceKind::Arrow => &["arrow", "arrows", "feather", "ipc"],
            SourceKind::Ddl => &["sql"],
        }
    }

    /// The kind with that name, whatever its case.
    pub fn from_name(name: &str) -> Option<SourceKind> {
        SourceKind::ALL.into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(name))
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
pub struct Source {
    /// What it is.
    pub kind: SourceKind,
    /// The files. SQLite takes exactly one; the file kinds make one table of each; DDL reads them in this order.
    pub paths: Vec<PathBuf>,
}

/// A connector for `source`. Nothing is read before the first question to it.
///
/// # Errors
/// When the number of paths does not fit the kind.
pub fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    let kind = source.kind.as_str();
    let wrong =
        |path: &Path, reason: &str| ConnectError::Open { kind, path: path.to_owned(), reason: reason.to_owned() };
    let Some(first) = source.paths.first() else {
        return Err(wrong(Path::new(""), "no path is given"));
    };
    Ok(match source.kind {
        SourceKind::Sqlite if source.paths.len() > 1 => {
            return Err(wrong(&source.paths[1], "a database has one path; make a source of each file"));
        }
        SourceKind::Sqlite => Arc::new(Sqlite::new(first)),
        SourceKind::Ddl => Arc::new(Ddl::new(source.paths.clone())),
        SourceKind::Csv | SourceKind::Json | SourceKind::Jsonl | SourceKind::Parquet | SourceKind::Arrow => {
            Arc::new(Files::new(source.kind, &source.paths))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, kind: Option<SourceKind>) {
        assert_eq!(SourceKind::from_path(Path::new(path)), kind, "{path}");
    }

    #[test]
    fn every_kind_has_a_name_and_extensions_of_its_own() {
        for kind in SourceKind::ALL {
            assert_eq!(SourceKind::from_name(&kind.as_str().to_uppercase()), Some(kind));
            for extension in kind.extensions() {
                check(&format!("/a/b.c/x.{extension}"), Some(kind));
            }
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
            assert!(open(&Source { kind, paths: Vec::new() }).is_err(), "{kind}");
            assert_eq!(open(&Source { kind, paths: vec!["x".into()] }).unwrap().kind(), kind.as_str());
        }
        assert!(open(&Source { kind: SourceKind::Sqlite, paths: vec!["a.db".into(), "b.db".into()] }).is_err());
    }

    #[test]
    fn only_a_script_has_no_data() {
        for kind in SourceKind::ALL {
            let connector = open(&Source { kind, paths: vec!["x".into()] }).unwrap();
            assert_eq!(connector.has_data(), kind != SourceKind::Ddl);
        }
    }
}

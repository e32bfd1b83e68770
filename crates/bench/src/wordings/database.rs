//! Creates the databases of a catalog from SQL scripts.

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use crate::error::BenchError;

/// Copies the files of a folder, and creates `NAME.sqlite` from each script `NAME.sql`. Returns whether there was a
/// script; without one, nothing is copied, and the catalog is opened in place.
///
/// # Errors
/// If a file cannot be read or written, or if a script fails.
pub(super) async fn make_databases(folder: &Path, to: &Path) -> Result<bool, BenchError> {
    let failed = |source| BenchError::Read { what: "files of", path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    let is_script = |path: &Path| path.extension().is_some_and(|extension| extension == "sql");
    if !files.iter().any(|path| is_script(path)) {
        return Ok(false);
    }
    for path in files {
        let Some(name) = path.file_name() else { continue };
        let copy = to.join(name);
        if is_script(&path) {
            run_script(&path, &copy.with_extension("sqlite")).await?;
        } else {
            std::fs::copy(&path, &copy).map_err(|source| BenchError::Write { what: "", path: copy, source })?;
        }
    }
    Ok(true)
}

/// Creates a SQLite database from a script.
async fn run_script(script: &Path, database: &Path) -> Result<(), BenchError> {
    let text = std::fs::read_to_string(script).map_err(|source| BenchError::Read {
        what: "script",
        path: script.to_owned(),
        source,
    })?;
    let options = SqliteConnectOptions::new().filename(database).create_if_missing(true);
    let run = async {
        let mut connection = options.connect().await?;
        sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut connection).await?;
        connection.close().await
    };
    run.await.map_err(|source: sqlx::Error| BenchError::Script { path: script.to_owned(), source })
}

//! dbt projects: table metadata of a warehouse from `manifest.json` and `catalog.json`. They contain no rows.

mod artifact;
mod checks;
mod describe;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use prospector_core::Problem;

use crate::encoding::decode;
use crate::source_kind::SourceKind;
use crate::table::Table;
use crate::{ConnectError, Connector, Source};
use artifact::{ArtifactError, Catalog, MAX_BYTES, Manifest};

/// Returns a connector for a dbt project.
///
/// # Errors
/// If the source does not have one or two files.
pub(crate) fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    Ok(Arc::new(Dbt::new(source.paths())?))
}

/// The artifacts of a dbt project.
pub(crate) struct Dbt {
    manifest: PathBuf,
    /// Next to the manifest if the source does not name it; it may be missing there.
    catalog: PathBuf,
    is_named: bool,
}

impl Dbt {
    /// Opens the manifest, and the catalog if there is a second path.
    fn new(paths: &[PathBuf]) -> Result<Self, ConnectError> {
        let wrong = |path: &Path, reason: &str| open_error(path, reason);
        let (manifest, catalog) = match paths {
            [manifest] => (manifest, None),
            [manifest, catalog] => (manifest, Some(catalog)),
            [] => return Err(wrong(Path::new(""), "no path is given")),
            [_, _, more, ..] => return Err(wrong(more, "a project has a manifest.json and a catalog.json")),
        };
        let is_named = catalog.is_some();
        let catalog = catalog.cloned().unwrap_or_else(|| manifest.with_file_name("catalog.json"));
        Ok(Dbt { manifest: manifest.clone(), catalog, is_named })
    }
}

fn open_error(path: &Path, reason: impl Into<String>) -> ConnectError {
    ConnectError::open(SourceKind::Dbt, path, reason)
}

fn unreadable(path: &Path, error: ArtifactError) -> ConnectError {
    open_error(path, error.to_string()).with_source(error)
}

/// Reads the text of a file.
async fn text(path: &Path) -> Result<String, ArtifactError> {
    let size = tokio::fs::metadata(path).await.map(|data| data.len());
    match size {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(ArtifactError::Missing),
        Err(error) => Err(error.into()),
        Ok(size) if size > MAX_BYTES => Err(ArtifactError::TooLarge(size)),
        Ok(_) => Ok(decode(tokio::fs::read(path).await?).0),
    }
}

#[async_trait]
impl Connector for Dbt {
    fn kind(&self) -> SourceKind {
        SourceKind::Dbt
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        let manifest = text(&self.manifest).await.map_err(|error| unreadable(&self.manifest, error))?;
        let is_there = self.is_named || tokio::fs::try_exists(&self.catalog).await.unwrap_or(false);
        let catalog = if is_there { Some(text(&self.catalog).await) } else { None };
        let places = (self.manifest.display().to_string(), self.catalog.display().to_string());
        let read = move || {
            let manifest = Manifest::read(&manifest)?;
            let mut problems = Vec::new();
            let warning = |error: ArtifactError| {
                Problem::warning(&places.1, error.to_string())
                    .advise("only the manifest is used; generate the catalog with `dbt docs generate`")
            };
            let catalog = match catalog.map(|text| text.and_then(|text| Catalog::read(&text))) {
                Some(Ok(catalog)) => catalog,
                Some(Err(error)) => {
                    problems.push(warning(error));
                    Catalog::default()
                }
                None => Catalog::default(),
            };
            let (tables, more) = describe::tables(manifest, catalog, &places.0);
            problems.extend(more);
            Ok((tables, problems))
        };
        let described =
            tokio::task::spawn_blocking(read).await.map_err(|error| open_error(&self.manifest, error.to_string()))?;
        described.map_err(|error| unreadable(&self.manifest, error))
    }

    fn has_data(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;

//! Where the text of a catalog comes from: a file, or sources given on the command line.

use std::path::{Path, PathBuf};

use prospector_core::Problem;
use tokio_util::sync::CancellationToken;

use super::{error::CatalogError, section::Folders};
use crate::locate::{self, Written};

/// The location in problems of a catalog made from sources.
const COMMAND_LINE: &str = "command line";

/// Where the text of a catalog comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogSource {
    /// A file. Its paths are relative to the folder of the file.
    File(PathBuf),
    /// The new text of a file, not yet written.
    Text {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
    },
    /// Sources from which a catalog is generated each time it is opened, see [`locate`](crate::sources::locate). Their paths are relative
    /// to the current folder. Only skills inside the sources are discovered.
    Sources(Vec<String>),
}

impl From<&Path> for CatalogSource {
    fn from(path: &Path) -> Self {
        CatalogSource::File(path.to_owned())
    }
}

impl From<&PathBuf> for CatalogSource {
    fn from(path: &PathBuf) -> Self {
        CatalogSource::File(path.clone())
    }
}

impl From<&CatalogSource> for CatalogSource {
    fn from(source: &CatalogSource) -> Self {
        source.clone()
    }
}

/// The text of a catalog, with its location.
pub(super) struct CatalogText {
    /// The file, or its replacement in messages.
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// The folder to which its paths are relative.
    pub(super) base: PathBuf,
    /// Problems found while it was generated.
    pub(super) problems: Vec<Problem>,
    /// For a generated catalog, the source of each line.
    pub(super) made_of: Option<Vec<String>>,
}

impl CatalogSource {
    /// Reads or generates the text.
    ///
    /// # Errors
    /// If the file cannot be read, or a source matches nothing.
    pub(super) fn text(&self) -> Result<CatalogText, CatalogError> {
        match self {
            CatalogSource::File(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|source| CatalogError::Read { path: path.to_owned(), source })?;
                Ok(CatalogText::of_file(path, &text))
            }
            CatalogSource::Text { path, text } => Ok(CatalogText::of_file(path, text)),
            CatalogSource::Sources(sources) => {
                let (findings, problems) = locate::locate(sources)?;
                let Written { text, sources } = locate::write(&findings);
                let (path, base) = (PathBuf::from(COMMAND_LINE), PathBuf::from("."));
                Ok(CatalogText { path, text, base, problems, made_of: Some(sources) })
            }
        }
    }
}

impl CatalogText {
    fn of_file(path: &Path, text: &str) -> CatalogText {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
        let base = path.parent().filter(|base| !base.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
        CatalogText { path: path.to_owned(), text, base, problems: Vec::new(), made_of: None }
    }

    /// Returns the folders. A catalog generated from sources has no default folders of skills.
    pub(super) fn folders<'a>(
        &'a self,
        state: &'a Path,
        home: Option<&'a Path>,
        cancel: &'a CancellationToken,
    ) -> Folders<'a> {
        let is_file = self.made_of.is_none();
        Folders { base: &self.base, state, home: home.filter(|_| is_file), usual_skills: is_file, cancel }
    }

    /// Replaces lines of a generated catalog in problems by their sources.
    pub(super) fn place(&self, problems: &mut [Problem]) {
        let Some(made_of) = &self.made_of else { return };
        for problem in problems {
            let rest = problem.place.strip_prefix(COMMAND_LINE).and_then(|rest| rest.strip_prefix(':'));
            let line = rest.and_then(|rest| rest.parse::<usize>().ok());
            if let Some(source) = line.and_then(|line| made_of.get(line.checked_sub(1)?)).filter(|s| !s.is_empty()) {
                problem.place = source.clone();
            }
        }
    }
}

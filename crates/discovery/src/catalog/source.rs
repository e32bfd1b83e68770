//! Where a catalog is written: in a file, or nowhere, made of sources that somebody named.

use std::path::{Path, PathBuf};

use prospector_core::Problem;
use tokio_util::sync::CancellationToken;

use super::{error::CatalogError, section::Folders};
use crate::locate::{self, Written};

/// What a catalog of sources is called in the place of a file.
const COMMAND_LINE: &str = "command line";

/// Where a catalog is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogSource {
    /// In a file. Its paths are relative to the folder of the file.
    File(PathBuf),
    /// Nowhere yet: this is what the file is to say.
    Text {
        /// The file.
        path: PathBuf,
        /// What is to be in it.
        text: String,
    },
    /// Nowhere: it is made of these sources each time it is opened, see [`locate`](crate::sources::locate). Their paths are
    /// relative to the current folder. Skills are only those that the sources hold.
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

/// The text of a catalog.
pub(super) struct CatalogText {
    /// The file, or what is said in its place.
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// What its paths are relative to.
    pub(super) base: PathBuf,
    /// What was noticed while it was made.
    pub(super) problems: Vec<Problem>,
    /// Of a catalog that is made of sources which of them led to each line.
    pub(super) made_of: Option<Vec<String>>,
}

impl CatalogSource {
    /// The text, read or made.
    ///
    /// # Errors
    /// [`CatalogError`] when the file cannot be read, or a source stands for nothing.
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

    /// Where its files are. Of a catalog that is made of sources, no skills count but those that they hold.
    pub(super) fn folders<'a>(
        &'a self,
        state: &'a Path,
        home: Option<&'a Path>,
        cancel: &'a CancellationToken,
    ) -> Folders<'a> {
        let is_file = self.made_of.is_none();
        Folders { base: &self.base, state, home: home.filter(|_| is_file), usual_skills: is_file, cancel }
    }

    /// Says of problems which source they are about, where there is no file to look into.
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

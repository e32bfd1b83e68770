//! The catalogs of a bench of plans, with their questions and the planner.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use prospector_core::Problem;
use prospector_discovery::{Catalog, CatalogOptions, Profile, prompt::PromptForm};
use prospector_llm::{ChatModel, models::ModelInfo};

use crate::{
    error::BenchError,
    questions::{self, Question},
    targets::TargetNames,
};

/// The setup of a bench: catalogs and planner.
pub struct Setup<'a> {
    /// The catalogs.
    pub sources: Vec<EstateSource>,
    /// The file of questions, for sources without their own.
    pub queries: Option<PathBuf>,
    /// Maximum number of questions per catalog, sampled evenly.
    pub limit: Option<usize>,
    /// The tool profile.
    pub profile: Profile,
    /// Overrides the form of the prompt.
    pub prompt: Option<PromptForm>,
    /// The planner.
    pub model: Arc<dyn ChatModel>,
    /// The metadata of the model.
    pub info: ModelInfo,
    /// The state folder of a catalog, or the parent of one folder per [`EstateSource::Folder`].
    pub state: Option<PathBuf>,
    /// The options to open a catalog with; its state folder is set from `state`.
    pub options: &'a OptionsFn<'a>,
    /// Receives the problems of a catalog.
    pub notify: &'a dyn Fn(&[Problem]),
}

/// Creates the options for one catalog.
pub type OptionsFn<'a> = dyn Fn() -> Result<CatalogOptions<'a>, Box<dyn std::error::Error + Send + Sync>> + 'a;

/// The location of a catalog.
pub enum EstateSource {
    /// A folder with `catalog.yaml` and `queries.jsonl`.
    Folder(PathBuf),
    /// A catalog file.
    Catalog(PathBuf),
}

/// An opened catalog with its questions.
pub(crate) struct Estate {
    pub(crate) name: String,
    pub(crate) catalog: Catalog,
    pub(crate) names: TargetNames,
    pub(crate) questions: Vec<Question>,
}

impl Setup<'_> {
    /// Opens a catalog with its questions.
    pub(crate) async fn open(&self, source: &EstateSource) -> Result<Estate, BenchError> {
        let questions = match (source, &self.queries) {
            (EstateSource::Folder(folder), _) => questions::read(&folder.join("queries.jsonl"), None, true)?,
            (_, Some(path)) => questions::read(path, None, true)?,
            (_, None) => return Err(BenchError::NoQuestions),
        };
        let questions = questions::sample_evenly(questions, self.limit);
        let (name, path, state) = match source {
            EstateSource::Folder(folder) => {
                (stem(folder), folder.join("catalog.yaml"), self.state.as_ref().map(|state| state.join(stem(folder))))
            }
            EstateSource::Catalog(path) => (stem(path), path.clone(), self.state.clone()),
        };
        let options = CatalogOptions { state, ..(self.options)().map_err(BenchError::Options)? };
        let (catalog, problems) = Catalog::open(&path, options).await?;
        (self.notify)(&problems);
        let names = TargetNames::new(&catalog.records());
        Ok(Estate { name, catalog, names, questions })
    }
}

/// Returns the name of a file or folder without extension.
fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| path.display().to_string(), |stem| stem.to_string_lossy().into_owned())
}

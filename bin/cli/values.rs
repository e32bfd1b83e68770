//! What flags take: names as types.

use std::{fmt, path::PathBuf};

use clap::ValueEnum;
use prospector_agent::ask::Platform;
use prospector_core::Kind;
use prospector_discovery::{Profile, PromptForm};
use prospector_llm::purpose::Mode;
use prospector_search::Ranker;

/// What makes vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EmbedderName {
    /// The table that ships with the program.
    Static,
    /// None: words must match.
    None,
    /// A transformer.
    Transformer(TransformerName),
}

/// Where a transformer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TransformerName {
    /// On a hub, by this name.
    Model(String),
    /// In a folder.
    Folder(PathBuf),
}

impl fmt::Display for TransformerName {
    /// As it is written on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransformerName::Model(model) => write!(f, "model:{model}"),
            TransformerName::Folder(folder) => write!(f, "{}", folder.display()),
        }
    }
}

impl EmbedderName {
    /// `static`, `none`, `model:NAME`, or a path: whatever holds a separator or begins with a dot.
    pub(crate) fn parse(name: &str) -> Result<EmbedderName, String> {
        match name {
            "static" => Ok(EmbedderName::Static),
            "none" => Ok(EmbedderName::None),
            _ if name.strip_prefix("model:").is_some_and(|model| !model.is_empty()) => {
                Ok(EmbedderName::Transformer(TransformerName::Model(name["model:".len()..].to_owned())))
            }
            _ if name.starts_with('.') || name.contains(['/', std::path::MAIN_SEPARATOR]) => {
                Ok(EmbedderName::Transformer(TransformerName::Folder(name.into())))
            }
            _ => Err("the embedders are static, none, model:NAME (such as model:all-MiniLM-L6-v2), and the path of a \
                      folder that holds a model (such as ./minilm)"
                .into()),
        }
    }
}

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// For programs
    Json,
    /// For models: about half the tokens
    Text,
}

/// The sets of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// Six tools that take ids of any kind
    Compact,
    /// A tool for each thing to do with each kind
    Full,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Profile {
        match name {
            ProfileName::Compact => Profile::Compact,
            ProfileName::Full => Profile::Full,
        }
    }
}

impl Default for ProfileName {
    fn default() -> Self {
        match Profile::DEFAULT {
            Profile::Compact => ProfileName::Compact,
            Profile::Full => ProfileName::Full,
        }
    }
}

/// The forms of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PromptName {
    /// Instructions, map and tools
    Minimal,
    /// All metadata, and tools
    FullWithTools,
    /// All metadata, no tools
    Full,
}

impl From<PromptName> for PromptForm {
    fn from(name: PromptName) -> PromptForm {
        match name {
            PromptName::Minimal => PromptForm::Minimal,
            PromptName::FullWithTools => PromptForm::FullWithTools,
            PromptName::Full => PromptForm::Full,
        }
    }
}

pub(super) fn mode(name: &str) -> Result<Mode, String> {
    let wanted = name.to_lowercase();
    Mode::ALL
        .into_iter()
        .find(|mode| mode.as_str() == wanted)
        .ok_or_else(|| format!("the modes are {}", Mode::ALL.map(Mode::as_str).join(", ")))
}

pub(super) fn platform(name: &str) -> Result<Platform, String> {
    let wanted = name.to_lowercase();
    Platform::ALL
        .into_iter()
        .find(|platform| platform.as_str() == wanted)
        .ok_or_else(|| format!("the platforms are {}", Platform::ALL.map(Platform::as_str).join(", ")))
}

/// One ranker, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rankers(pub(crate) Option<Ranker>);

pub(super) fn ranker(name: &str) -> Result<Rankers, String> {
    let wanted = name.to_lowercase();
    if wanted == "all" {
        return Ok(Rankers(None));
    }
    let found = Ranker::ALL.into_iter().find(|ranker| ranker.as_str() == wanted);
    found
        .map(|ranker| Rankers(Some(ranker)))
        .ok_or_else(|| format!("the rankers are {}, all", Ranker::ALL.map(Ranker::as_str).join(", ")))
}

pub(super) fn kind(name: &str) -> Result<Kind, String> {
    Kind::from_name(&name.to_lowercase())
        .ok_or_else(|| format!("the kinds are {}", Kind::ALL.map(Kind::as_str).join(", ")))
}

//! Types of flag values.

use std::{error::Error as _, fmt, net::AddrParseError, num::ParseIntError, path::PathBuf};

use clap::{
    CommandFactory, ValueEnum,
    error::{ContextKind, ContextValue, ErrorKind},
};
use prospector_agent::ask::Platform;
use prospector_core::Kind;
use prospector_discovery::{Profile, prompt::PromptForm};
use prospector_llm::purpose::Mode;
use prospector_search::ranking::Ranker;

use super::Cli;

/// The embedder that computes vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EmbedderName {
    /// The table that is compiled into the program.
    Static,
    /// No vectors: words must match.
    None,
    /// A transformer.
    Transformer(TransformerName),
}

/// Where a transformer comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TransformerName {
    /// A model of a hub, by name.
    Model(String),
    /// A local folder.
    Folder(PathBuf),
}

impl fmt::Display for TransformerName {
    /// Formats the value as it is written on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransformerName::Model(model) => write!(f, "model:{model}"),
            TransformerName::Folder(folder) => write!(f, "{}", folder.display()),
        }
    }
}

/// An invalid value of a flag. The message lists the valid ones.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ValueError {
    /// Unknown embedder.
    #[error(
        "the embedders are static, none, model:NAME (such as model:all-MiniLM-L6-v2), and the path of a folder with \
         a model (such as ./minilm)"
    )]
    Embedder,
    /// Not a setting.
    #[error("write NAME=VALUE")]
    Setting,
    /// The flag takes one of a few names.
    #[error("the {what} are {}", names.join(", "))]
    Name {
        /// The noun for the names, in the plural.
        what: &'static str,
        /// The valid names.
        names: Vec<&'static str>,
    },
}

/// Replaces the error of an invalid number or address by one in plain words.
pub(crate) fn reword(error: clap::Error) -> clap::Error {
    let advice = match error.source() {
        Some(source) if source.is::<ParseIntError>() => "write a whole number, such as 10",
        Some(source) if source.is::<AddrParseError>() => "write an IP address and a port, such as 127.0.0.1:7474",
        _ => return error,
    };
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let (argument, value) = (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue));
    let message = format!("invalid value '{value}' for '{argument}': {advice}");
    Cli::command().error(ErrorKind::ValueValidation, message)
}

impl EmbedderName {
    /// Parses `static`, `none`, `model:NAME`, or a path: a text with a separator or a leading dot.
    pub(crate) fn parse(name: &str) -> Result<EmbedderName, ValueError> {
        match name {
            "static" => Ok(EmbedderName::Static),
            "none" => Ok(EmbedderName::None),
            _ if name.strip_prefix("model:").is_some_and(|model| !model.is_empty()) => {
                Ok(EmbedderName::Transformer(TransformerName::Model(name["model:".len()..].to_owned())))
            }
            _ if name.starts_with('.') || name.contains(['/', std::path::MAIN_SEPARATOR]) => {
                Ok(EmbedderName::Transformer(TransformerName::Folder(name.into())))
            }
            _ => Err(ValueError::Embedder),
        }
    }
}

/// Output formats of a plan or a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// For programs
    Json,
    /// Human-readable
    Text,
}

/// Output formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Human-readable
    Table,
    /// For programs
    Json,
    /// For programs: one object per line
    Jsonl,
    /// For spreadsheets: rows only
    Csv,
    /// The same for untrusted rows: text that a spreadsheet would evaluate as a formula is escaped with an apostrophe
    CsvSafe,
    /// For documents: a table in Markdown
    Md,
    /// For models: about half the tokens of JSON
    Text,
}

/// The tool sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// Six tools that take ids of any kind
    Compact,
    /// One tool per task and kind
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

/// Finds the value of that name, ignoring case.
fn find<T: Copy>(what: &'static str, all: &[T], as_str: fn(T) -> &'static str, name: &str) -> Result<T, ValueError> {
    let wanted = name.to_lowercase();
    let found = all.iter().copied().find(|one| as_str(*one) == wanted);
    found.ok_or_else(|| ValueError::Name { what, names: all.iter().map(|one| as_str(*one)).collect() })
}

pub(super) fn mode(name: &str) -> Result<Mode, ValueError> {
    find("modes", &Mode::ALL, Mode::as_str, name)
}

pub(super) fn platform(name: &str) -> Result<Platform, ValueError> {
    find("platforms", &Platform::ALL, Platform::as_str, name)
}

/// A ranker, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rankers(pub(crate) Option<Ranker>);

pub(super) fn ranker(name: &str) -> Result<Rankers, ValueError> {
    let all: Vec<Rankers> =
        Ranker::ALL.into_iter().map(|ranker| Rankers(Some(ranker))).chain([Rankers(None)]).collect();
    find("rankers", &all, |rankers| rankers.0.map_or("all", Ranker::as_str), name)
}

pub(super) fn kind(name: &str) -> Result<Kind, ValueError> {
    find("kinds", &Kind::ALL, Kind::as_str, name)
}

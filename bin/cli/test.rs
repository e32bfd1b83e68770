//! The flags of `planner test`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{LimitArgs, ProfileName};

/// `planner test`
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// The file of the questions [default: tests.yaml beside the catalog]
    pub(crate) file: Option<PathBuf>,
    /// The model [default: offline, or a provider's whose key is set]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Ask another model too, and tell where the two differ
    #[arg(long, value_name = "NAME", conflicts_with = "add")]
    pub(crate) compare: Option<String>,
    /// Only the cases whose name holds this; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Vec<String>,
    /// Ask each question so often; it passes where it passes each time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// So many questions at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) jobs: u32,
    /// For people, as JSON, or as the XML of JUnit
    #[arg(long, value_enum, default_value_t = TestFormat::Text, value_name = "FORMAT")]
    pub(crate) format: TestFormat,
    /// Ask this question, and append it to the file as a case that expects what came of it
    #[arg(long, value_name = "QUESTION")]
    pub(crate) add: Option<String>,
    /// The set of tools: one for each thing to do, or six that take ids of any kind
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileName,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// What a report is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// A line a case.
    Text,
    /// All that is known.
    Json,
    /// XML.
    Junit,
}

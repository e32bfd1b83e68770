//! Flags of `planner test`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{LimitArgs, ProfileName};

/// `planner test`
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// The file of test cases [default: tests.yaml next to the catalog]
    pub(crate) file: Option<PathBuf>,
    /// The model [default: that of a provider whose key is set, else the built-in planner `offline`]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Run another model too and report the differences
    #[arg(long, value_name = "NAME", conflicts_with = "add")]
    pub(crate) compare: Option<String>,
    /// Only cases whose name contains this; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Vec<String>,
    /// Run each case N times; all runs must pass
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// Number of cases to run in parallel
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) jobs: u32,
    /// Output format: text, JSON, or JUnit XML
    #[arg(long, value_enum, default_value_t = TestFormat::Text, value_name = "FORMAT")]
    pub(crate) format: TestFormat,
    /// Ask this question and append it to the file as a case that expects its answer
    #[arg(long, value_name = "QUESTION")]
    pub(crate) add: Option<String>,
    /// The tool set: compact has six tools that take ids of any kind, full has one tool per task
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileName,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// The format of test results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// One line per case.
    Text,
    /// All details.
    Json,
    /// JUnit XML.
    Junit,
}

//! Flags of `planner report`.

use std::path::PathBuf;

use clap::Args;

use super::AnsweringArgs;

/// `planner report`
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The questions (YAML): `title`, and `questions` with one line per question
    pub(crate) questions: PathBuf,
    /// The HTML file to write; it is self-contained
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) answering: AnsweringArgs,
}

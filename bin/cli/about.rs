//! The flags of what tells about the program itself; none of it needs a catalog.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;

/// What tells about the program itself.
#[derive(Debug, Subcommand)]
pub(crate) enum AboutCommand {
    /// Print a guide for those who work with the program: people, and models
    Guide(GuideArgs),
    /// Print what a shell needs to complete commands and flags
    Completions(CompletionsArgs),
    /// Print the manual page of `planner`, or write those of all commands
    Man(ManArgs),
    /// Ask a running `planner serve` whether it is ready
    Health(HealthArgs),
}

/// `planner guide`
#[derive(Debug, Args)]
pub(crate) struct GuideArgs {
    /// What it is about
    #[arg(value_enum, default_value_t = Guide::Tools)]
    pub(crate) guide: Guide,
}

/// What a guide is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Guide {
    /// Finding things and answering questions with the tools, as a model does over MCP
    Tools,
    /// The same with commands
    CommandLine,
    /// Writing a catalog
    Catalog,
}

/// `planner completions`
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// `planner man`
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands here, instead of printing one
    pub(crate) folder: Option<PathBuf>,
}

/// `planner health`
#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// Where it listens
    #[arg(default_value = "127.0.0.1:7474")]
    pub(crate) address: SocketAddr,
}

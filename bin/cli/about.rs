//! Flags of commands that need no catalog.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Commands about the program itself.
#[derive(Debug, Subcommand)]
pub(crate) enum AboutCommand {
    /// Print a guide to the program, for people and models
    Guide(GuideArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page of `planner`, or write those of all commands
    Man(ManArgs),
    /// Check whether a running `planner serve` is ready
    Health(HealthArgs),
}

/// `planner guide`
#[derive(Debug, Args)]
pub(crate) struct GuideArgs {
    /// The topic
    #[arg(value_enum, default_value_t = Guide::Tools)]
    pub(crate) guide: Guide,
}

/// The topic of a guide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Guide {
    /// Finding entries and answering questions with the tools, as over MCP
    Tools,
    /// The same on the command line
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
    /// The address of the server
    #[arg(default_value = "127.0.0.1:7474")]
    pub(crate) address: SocketAddr,
}

//! The flags of `planner sources`.

use clap::{Args, Subcommand};

use super::ReportFormat;

/// `planner sources`
#[derive(Debug, Args)]
pub(crate) struct SourcesArgs {
    #[command(subcommand)]
    pub(crate) command: SourcesCommand,
}

/// What to do with them.
#[derive(Debug, Subcommand)]
pub(crate) enum SourcesCommand {
    /// List the MCP servers of the catalog: protocol version, tools, and when each was last seen
    List {
        /// Output format [default: table on a terminal, else json]
        #[arg(long, value_enum, value_name = "FORMAT")]
        format: Option<ReportFormat>,
    },
    /// Show tools whose definitions changed since they were approved, and approve the changes
    Review {
        /// Only this server
        server: Option<String>,
        /// Approve a change, by the id that the review shows; may be repeated
        #[arg(long, value_name = "ID")]
        approve: Vec<String>,
        /// Output format [default: table on a terminal, else json]
        #[arg(long, value_enum, value_name = "FORMAT")]
        format: Option<ReportFormat>,
    },
    /// Print the address to sign in to a server with OAuth, and wait up to 5 minutes
    Login {
        /// The server
        server: String,
    },
    /// Remove the tokens of a server
    Logout {
        /// The server
        server: String,
    },
}

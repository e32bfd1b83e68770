//! The flags of `planner queries`.

use clap::{Args, Subcommand};

use super::FormatName;

/// `planner queries`
#[derive(Debug, Args)]
pub(crate) struct QueriesArgs {
    #[command(subcommand)]
    pub(crate) command: QueriesCommand,
}

/// What to do with them.
#[derive(Debug, Subcommand)]
pub(crate) enum QueriesCommand {
    /// List the verified queries of the catalog, those that wait to be checked, and what was said against answers
    List {
        /// Only those that wait, and what was said
        #[arg(long)]
        waiting: bool,
    },
    /// Print one of them in full, verified or waiting, or what was said against an answer
    Show {
        /// Its name
        name: String,
    },
    /// Run a verified query
    Run {
        /// Its name
        name: String,
        /// The value of a parameter; may be repeated
        #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
        values: Vec<(String, String)>,
        /// As JSON, or as the text that a model is shown
        #[arg(long, value_enum, default_value_t = FormatName::Json, value_name = "FORMAT")]
        format: FormatName,
    },
    /// Compare the queries with the databases that they read: what is stale is told, and the exit status is 1
    Check {
        /// Only these
        names: Vec<String>,
    },
    /// Write a query that waits into the folder of the catalog, as checked by somebody
    Approve {
        /// Its name
        name: String,
        /// Who has checked it
        #[arg(long, value_name = "WHO")]
        by: String,
    },
    /// Forget a query that waits, or what was said against an answer
    Dismiss {
        /// Its name
        name: String,
    },
}

/// `name=value`
fn setting(text: &str) -> Result<(String, String), clap::Error> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err(clap::Error::raw(clap::error::ErrorKind::InvalidValue, "write NAME=VALUE")),
    }
}

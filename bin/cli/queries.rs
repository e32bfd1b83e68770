//! Flags of `planner queries`.

use clap::{Args, Subcommand};

use super::{ReportFormat, values::ValueError};

/// `planner queries`
#[derive(Debug, Args)]
pub(crate) struct QueriesArgs {
    #[command(subcommand)]
    pub(crate) command: QueriesCommand,
}

/// Commands for verified queries.
#[derive(Debug, Subcommand)]
pub(crate) enum QueriesCommand {
    /// List verified queries, pending queries and reported answers
    List {
        /// Only pending queries and reported answers
        #[arg(long)]
        waiting: bool,
    },
    /// Show a verified or pending query, or a reported answer, in full
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
        /// Output format for all rows; text is the form sent to models [default: table on a terminal, else json]
        #[arg(long, value_enum, value_name = "FORMAT")]
        format: Option<ReportFormat>,
    },
    /// Check queries against their databases; stale queries are reported, with exit status 1
    Check {
        /// Only these queries
        names: Vec<String>,
    },
    /// Approve a pending query: write it into the catalog's folder
    Approve {
        /// Its name
        name: String,
        /// The person who verified it
        #[arg(long, value_name = "WHO")]
        by: String,
    },
    /// Remove a pending query or a reported answer
    Dismiss {
        /// Its name
        name: String,
    },
}

/// Parses `name=value`.
fn setting(text: &str) -> Result<(String, String), ValueError> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err(ValueError::Setting),
    }
}

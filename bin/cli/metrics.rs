//! Flags of `planner metrics`.

use clap::{Args, Subcommand};

use super::ReportFormat;

/// `planner metrics`
#[derive(Debug, Args)]
pub(crate) struct MetricsArgs {
    /// The command
    #[command(subcommand)]
    pub(crate) command: MetricsCommand,
}

/// Commands for metrics.
#[derive(Debug, Subcommand)]
pub(crate) enum MetricsCommand {
    /// List metrics
    List,
    /// Show a metric's definition and dimensions
    Show {
        /// Its name, or a synonym
        name: String,
    },
    /// Query metrics
    Query {
        /// Their names, or synonyms
        #[arg(required_unless_present = "question")]
        metrics: Vec<String>,
        /// Instead of metrics and options: a question such as "revenue by country in 2025", for the built-in planner
        #[arg(long, value_name = "TEXT", conflicts_with_all = ["metrics", "by", "filter", "grain", "order", "limit"])]
        question: Option<String>,
        /// A dimension, entity.column, or month(entity.column); may be repeated
        #[arg(long, value_name = "DIMENSION")]
        by: Vec<String>,
        /// A condition such as "country = 'DE'", "time = 2025-Q4" or "revenue > 100"; may be repeated
        #[arg(long, value_name = "CONDITION")]
        filter: Vec<String>,
        /// A row for each day, week, month, quarter or year
        #[arg(long, value_name = "GRAIN")]
        grain: Option<String>,
        /// Sort order, such as "revenue desc"; may be repeated
        #[arg(long, value_name = "ORDER")]
        order: Vec<String>,
        /// Maximum number of rows
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// Print the SQL without running it
        #[arg(long)]
        dry_run: bool,
        /// Output format [default: table on a terminal, else json]
        #[arg(long, value_enum, value_name = "FORMAT")]
        format: Option<ReportFormat>,
    },
}

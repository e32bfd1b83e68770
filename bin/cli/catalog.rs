//! Flags of the commands that create and maintain a catalog.

use clap::Args;

use super::ReportFormat;

/// `planner init`
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Folders, files, patterns and URLs to search. The catalog is written into the folder, or to --catalog; into the
    /// current folder if several are named [default: .]
    #[arg(value_name = "PLACE")]
    pub(crate) places: Vec<String>,
    /// Ask before adding each source
    #[arg(long)]
    pub(crate) interactive: bool,
    /// Output format [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
}

/// `planner add`
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The source: a file, a folder, a pattern, or the URL of a database, an API or a document; NAME=SOURCE sets its name
    pub(crate) source: String,
    /// Output format [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
}

/// `planner doctor`
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Output format [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
}

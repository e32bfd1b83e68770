//! The flags of what begins a catalog and looks after it.

use clap::Args;

use super::ReportFormat;

/// `planner init`
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Where to look: folders, files, patterns and URLs. The catalog is written into the folder, or where --catalog says;
    /// here, where there are several places [default: .]
    #[arg(value_name = "PLACE")]
    pub(crate) places: Vec<String>,
    /// Ask of each source that was found whether the catalog is to hold it
    #[arg(long)]
    pub(crate) interactive: bool,
    /// How it is printed [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
}

/// `planner add`
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// What to add: a file, a folder, a pattern, or a URL of a database, an API or a document; NAME=SOURCE names it
    pub(crate) source: String,
    /// How it is printed [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
}

/// `planner doctor`
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// How it is printed [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
}

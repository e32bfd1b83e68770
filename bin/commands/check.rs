//! `planner check`

use prospector_agent::plan::verify_plan;

use super::{Opening, open, run::read};
use crate::{Exit, cli::CheckArgs, output, settings::Settings};

/// Checks a plan against the catalog.
pub(crate) async fn check(args: CheckArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let plan = read(&args.plan)?;
    let (catalog, _) = open(settings, Opening::Use).await?;
    let (_, _, verification) = verify_plan(plan, &catalog).await;
    output::json(&verification)?;
    Ok(if verification.ok { Exit::Good } else { Exit::NotVerified })
}

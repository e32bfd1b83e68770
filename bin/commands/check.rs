//! `planner check`

use prospector_agent::plan::verify_plan;

use serde_json::json;

use super::{Opening, open, run::read};
use crate::{Exit, cli::CheckArgs, report::Report, settings::Settings, table::Table};

/// Checks a plan against the catalog.
pub(crate) async fn check(args: CheckArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let plan = read(&args.plan)?;
    let (catalog, _) = open(settings, Opening::Use).await?;
    let (_, _, verification) = verify_plan(plan, &catalog).await;
    let mut table = Table::new(["place", "name", "reason", "nearest"]);
    for failure in &verification.failed {
        table.push([json!(failure.place), json!(failure.name), json!(failure.reason), json!(failure.nearest)]);
    }
    let outcome = if verification.ok { "holds" } else { "does not hold" };
    let note = format!("the plan {outcome}: {} names and steps were checked", verification.checked);
    let sense = Report::of_value(&serde_json::to_value(&verification.sense)?);
    let report = if table.rows.is_empty() { sense } else { Report::new(&verification, table)? };
    report.of(&verification)?.with_note(note).print(args.format)?;
    Ok(if verification.ok { Exit::Good } else { Exit::NotVerified })
}

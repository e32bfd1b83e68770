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
    for finding in &verification.sense.findings {
        let place = finding.step.map_or("plan".to_owned(), |step| format!("step {step}"));
        table.push([json!(place), json!(finding.code), json!(finding.message), json!(finding.nearest)]);
    }
    for doubt in &verification.sense.doubts {
        let place = doubt.step.map_or("plan".to_owned(), |step| format!("step {step}"));
        table.push([json!(place), json!("doubted"), json!(doubt.message), json!(doubt.nearest)]);
    }
    let outcome = if verification.ok { "holds" } else { "does not hold" };
    let checked = verification.checked + verification.sense.checked;
    let note = format!("the plan {outcome}: {checked} names, steps and meanings were checked");
    Report::new(&verification, table)?.with_note(note).print(args.format)?;
    Ok(if verification.ok { Exit::Good } else { Exit::NotVerified })
}

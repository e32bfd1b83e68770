//! `planner check`

use std::sync::Arc;

use prospector_agent::plan::verify_plan;
use serde_json::json;

use super::{Opening, open, run::read};
use crate::{Exit, cli::CheckArgs, report::Report, settings::Settings, table::Table};

/// Verifies a plan against the catalog.
pub(crate) async fn check(args: CheckArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let plan = read(&args.plan)?;
    let (catalog, _) = open(settings, Opening::Use).await?;
    let (_, _, verification) = verify_plan(plan, &Arc::new(catalog)).await;
    let mut table = Table::new(["verdict", "path", "code", "message", "suggestion"]);
    for (verdict, findings) in [("failed", &verification.failed), ("warning", &verification.warnings)] {
        for finding in findings {
            let suggestion = finding.suggestion.as_deref().unwrap_or_default();
            table.push([
                json!(verdict),
                json!(finding.path),
                json!(finding.code),
                json!(finding.message),
                json!(suggestion),
            ]);
        }
    }
    let outcome = match (verification.ok, verification.executable) {
        (true, true) => "verified",
        (true, false) => "verified but not executable",
        (false, _) => "not verified",
    };
    let note = format!("the plan is {outcome}: {} names and steps were checked", verification.checked);
    Report::new(&verification, table)?.with_note(note).print(args.format)?;
    Ok(if verification.ok { Exit::Good } else { Exit::NotVerified })
}

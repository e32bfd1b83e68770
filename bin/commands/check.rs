//! `planner check`

use std::io::Read;

use anyhow::Context as _;
use prospector_agent::plan::{Draft, Plan, complete_names, verify};

use super::{Opening, open};
use crate::{Exit, cli::CheckArgs, output, settings::Settings};

/// Checks a plan against the catalog.
pub(crate) async fn check(args: CheckArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let piped = args.plan.as_os_str() == "-";
    let place = if piped { "standard input".to_owned() } else { args.plan.display().to_string() };
    let mut text = String::new();
    if piped {
        std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
    } else {
        text = std::fs::read_to_string(&args.plan).with_context(|| format!("cannot read the plan {place}"))?;
    }
    let value: serde_json::Value = serde_json::from_str(&text).with_context(|| format!("{place} is not JSON"))?;
    anyhow::ensure!(value.get("plan").is_some(), "{place} is not a plan: it has no `plan` with `steps`");
    let plan: Plan = serde_json::from_value(value).with_context(|| format!("{place} is not a plan"))?;
    let question = plan.question;
    let mut draft = Draft {
        reasoning: plan.reasoning,
        discovered_context: plan.discovered_context,
        plan: plan.plan,
        clarifications: plan.clarifications,
    };
    let (catalog, _) = open(settings, Opening::Use).await?;
    complete_names(&mut draft, &catalog);
    let tables: Vec<String> = draft.plan.steps.iter().flat_map(|step| step.tables.clone()).collect();
    catalog.schema.read_values(&tables).await;
    let verification = verify(&question, &draft, &catalog, None);
    output::json(&verification)?;
    Ok(if verification.ok { Exit::Good } else { Exit::NotVerified })
}

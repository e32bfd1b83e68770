//! `planner run`

use std::{io::Read, path::Path, sync::Arc};

use anyhow::Context as _;
use prospector_agent::plan::Plan;
use prospector_core::Owner;
use prospector_executor::{
    Executor, Run, RunOptions, Store, read_plan,
    record::{StepRun, StepStatus},
};

use super::{Opening, interrupts, open};
use crate::{
    Exit,
    cli::{FormatName, RunArgs},
    output,
    report::usual_form,
    settings::Settings,
};

/// Runs a plan.
pub(crate) async fn run(args: RunArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let store = Store::new(&settings.state_folder()?, &Owner::local());
    let resume = args.resume.as_deref().map(|id| store.read(id)).transpose()?;
    let compare = args.compare.as_deref().map(|id| store.read(id)).transpose()?;
    let plan = match (&args.plan, &resume) {
        (Some(path), _) => read(path)?,
        (None, Some(earlier)) => earlier.plan(),
        (None, None) => anyhow::bail!("pass a plan, or an earlier run with --resume"),
    };
    if let Some(last) = args.until {
        let numbers: Vec<String> = plan.plan.steps.iter().map(|step| step.number.to_string()).collect();
        let is_there = numbers.contains(&last.to_string());
        anyhow::ensure!(is_there, "--until: the plan has no step {last}; its steps are {}", numbers.join(", "));
    }
    let (catalog, _) = open(settings, Opening::Use).await?;
    let talkative = !args.quiet && output::is_watched();
    let observe = move |step: &StepRun| {
        if talkative {
            report_step(step);
        }
    };
    let options = RunOptions { until: args.until, resume, compare, cancel: interrupts(), observe: Some(&observe) };
    let mut run = Executor::new(Arc::new(catalog)).run(plan, options).await;
    keep(&mut run, settings)?;
    print(&run, args.format.unwrap_or_else(usual_form))
}

/// Stores a run in the state folder. A failure to store it does not prevent printing it.
pub(super) fn keep(run: &mut Run, settings: &Settings) -> anyhow::Result<()> {
    if let Err(error) = Store::new(&settings.state_folder()?, &Owner::local()).keep(run) {
        output::say(&format!("warning: {error}"));
    }
    Ok(())
}

/// Prints a run.
pub(super) fn print(run: &Run, format: FormatName) -> anyhow::Result<Exit> {
    match format {
        FormatName::Json => {
            output::json(&run.truncate())?;
            // The printed run has no steps that were not run.
            run.describe_skipped().iter().for_each(|skipped| output::say(skipped));
        }
        FormatName::Text => output::text(&run.text())?,
    }
    Ok(if run.ok { Exit::Good } else { Exit::NotVerified })
}

/// Reads the plan from a file or standard input.
pub(super) fn read(path: &Path) -> anyhow::Result<Plan> {
    let piped = path.as_os_str() == "-";
    let place = if piped { "standard input".to_owned() } else { path.display().to_string() };
    let text = if piped {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
        text
    } else {
        std::fs::read_to_string(path).with_context(|| format!("cannot read the plan {place}"))?
    };
    read_plan(&text).with_context(|| format!("cannot use the plan in {place}"))
}

/// Writes one line per completed step.
fn report_step(step: &StepRun) {
    let found = match (step.status, step.row_count) {
        (StepStatus::Failed, _) => "failed".to_owned(),
        (StepStatus::Done, Some(rows)) => format!("{rows} rows"),
        (StepStatus::Done, None) => "done".to_owned(),
    };
    output::say(&format!("  step {}: {found}", step.step.number));
}

//! `planner test`: runs test cases of questions with expected answers.

use std::{path::PathBuf, sync::Arc};

use prospector_agent::Models;
use prospector_bench::questions::cases::{self, Case, Comparison, Report, Tester};
use prospector_discovery::Catalog;
use tokio_util::sync::CancellationToken;

use super::{Opening, ask::planner, interrupts, models, open};
use crate::{
    Exit,
    cli::{TestArgs, TestFormat},
    output,
    settings::Settings,
};

/// Default file of the test cases.
const FILE: &str = "tests.yaml";

/// `planner test`
pub(crate) async fn test(args: TestArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let first = models(settings, args.model.as_deref(), None)?;
    let second = args.compare.as_deref().map(|name| models(settings, Some(name), None)).transpose()?;
    let path = match &args.file {
        Some(path) => path.clone(),
        None if settings.has_sources() => PathBuf::from(FILE),
        None => settings.catalog_file()?.parent().map_or_else(|| PathBuf::from(FILE), |folder| folder.join(FILE)),
    };
    let cancel = interrupts();
    let asked = match &args.add {
        Some(_) => Vec::new(),
        None => read_cases(&path, &args)?,
    };
    let catalog = tokio::select! {
        opened = open(settings, Opening::Use) => Arc::new(opened?.0),
        () = cancel.cancelled() => anyhow::bail!("interrupted while opening the catalog; the index is unchanged"),
    };
    if let Some(question) = &args.add {
        anyhow::ensure!(!question.trim().is_empty(), "the question is empty");
        let case = tester(&catalog, first, &args, settings, &cancel)?.add(&path, question).await?;
        output::say(&format!("appended to {}; review it before you rely on it", path.display()));
        output::text(&case)?;
        return Ok(Exit::Good);
    }
    let report = tester(&catalog, first, &args, settings, &cancel)?.run(&asked).await;
    let Some(second) = second else {
        print(&report, args.format)?;
        return Ok(exit(&report));
    };
    let second = tester(&catalog, second, &args, settings, &cancel)?.run(&asked).await;
    let both = Comparison { first: report, second };
    match args.format {
        TestFormat::Text => output::text(&both.table())?,
        TestFormat::Json => output::json(&both)?,
        TestFormat::Junit => {
            anyhow::bail!("--compare supports text and JSON only (omit --format junit)");
        }
    }
    Ok(if both.first.is_good() && both.second.is_good() { Exit::Good } else { Exit::NotVerified })
}

/// Reads the selected cases. An invalid case is reported and no case is run, because a skipped case would silently never fail.
fn read_cases(path: &std::path::Path, args: &TestArgs) -> anyhow::Result<Vec<Case>> {
    anyhow::ensure!(
        path.exists(),
        "the file {} does not exist: name the file of cases, or create one with `planner test --add \"QUESTION\"`",
        path.display()
    );
    let (read, problems) = cases::read(path)?;
    output::problems(&problems, true);
    anyhow::ensure!(problems.is_empty(), "{} has invalid cases", path.display());
    let is_wanted =
        |case: &Case| args.only.is_empty() || args.only.iter().any(|part| case.name.contains(part.as_str()));
    let wanted: Vec<Case> = read.into_iter().filter(is_wanted).collect();
    anyhow::ensure!(!wanted.is_empty(), "no case is selected");
    Ok(wanted)
}

/// Sets up runs with these models over the catalog.
fn tester(
    catalog: &Arc<Catalog>,
    models: Models,
    args: &TestArgs,
    settings: &Settings,
    cancel: &CancellationToken,
) -> anyhow::Result<Tester> {
    let limits =
        (settings.limits(&args.limits, models.limits_of_answers())?, settings.limits(&args.limits, models.limits())?);
    let model = models.chat.name().to_owned();
    let planner = planner(catalog, models, args.profile.into());
    let (jobs, repeat) = (args.jobs as usize, args.repeat as usize);
    Ok(Tester { planner, model, limits, jobs, repeat, cancel: cancel.clone() })
}

fn print(report: &Report, format: TestFormat) -> anyhow::Result<()> {
    match format {
        TestFormat::Text => output::text(&report.table()),
        TestFormat::Json => output::json(report),
        TestFormat::Junit => output::text(&report.junit()),
    }
}

fn exit(report: &Report) -> Exit {
    if report.is_good() { Exit::Good } else { Exit::NotVerified }
}

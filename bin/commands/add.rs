//! `planner add`: adds a source to the catalog if it can be opened.

use std::path::Path;

use anyhow::Context as _;
use prospector_core::Problem;
use prospector_core::record::ResourceKind;
use prospector_discovery::{
    Catalog, CatalogOptions,
    sources::{CatalogSource, Finding, FindingKind, Secret, add_entry, find_included, locate, write_file},
};
use serde::Serialize;

use super::{init, options, with_advice};
use crate::{
    Exit,
    cli::{AddArgs, ReportFormat},
    output,
    report::Report,
    settings::{self, Settings},
};

/// Output of `planner add`.
#[derive(Serialize)]
struct Added {
    catalog: std::path::PathBuf,
    added: Vec<Finding>,
    problems: Vec<Problem>,
    /// Variables to set, because secrets are not written.
    variables: Vec<String>,
}

/// Adds the source.
pub(crate) async fn add(args: AddArgs, settings: &Settings) -> anyhow::Result<Exit> {
    anyhow::ensure!(!settings.has_sources(), "pass the source without --on");
    let path = settings.catalog_file()?.to_owned();
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let (found, left_out) = locate(std::slice::from_ref(&args.source))?;
    output::problems(&left_out, true);
    let before =
        std::fs::read_to_string(&path).with_context(|| format!("cannot read the catalog {}", path.display()))?;
    let mut found = skip_included(found, &path, settings)?;
    if found.is_empty() {
        let added = Added { catalog: path, added: found, problems: Vec::new(), variables: Vec::new() };
        return print(&added, "nothing was changed", args.format);
    }
    let mut secrets: Vec<Secret> = Vec::new();
    for finding in &mut found {
        secrets.extend(finding.take_secret()?);
    }
    refuse_names(&found, settings).await?;
    let (mut text, mut lines) = (before, Vec::new());
    for finding in &found {
        let (with, line) = add_entry(&text, finding.section(), &finding.entry(Some(&folder)))
            .with_context(|| format!("cannot add to {}; nothing was changed", path.display()))?;
        text = with;
        // Entries below the new one move down.
        lines.iter_mut().filter(|known| **known >= line).for_each(|known| *known += 1);
        lines.push(line);
    }
    let problems = check(&path, &text, &lines, &secrets, settings).await?;
    output::problems(&problems, true);
    anyhow::ensure!(!output::has_errors(&problems), "the source cannot be opened; nothing was changed");
    write_file(&path, &text).with_context(|| format!("cannot write {}; nothing was changed", path.display()))?;
    let variables: Vec<String> = secrets.into_iter().map(|secret| secret.variable).collect();
    for variable in &variables {
        output::say(&format!("note: set {variable} before you start planner; the catalog only names it"));
    }
    let note = format!("added to {}", path.display());
    print(&Added { catalog: path, added: found, problems, variables }, &note, args.format)
}

/// Prints the added entries.
fn print(added: &Added, note: &str, format: Option<ReportFormat>) -> anyhow::Result<Exit> {
    Report::new(added, init::list(&added.added))?.with_note(note).print(format)?;
    Ok(Exit::Good)
}

/// Reports the sources that the catalog already includes, and returns the others.
fn skip_included(found: Vec<Finding>, path: &Path, settings: &Settings) -> anyhow::Result<Vec<Finding>> {
    let included = find_included(path, &found, &options(settings)?).map_err(with_advice);
    let included = included.context("the catalog cannot be used")?;
    let mut others = Vec::new();
    for (finding, line) in found.into_iter().zip(included) {
        match line {
            Some(line) => output::say(&format!("note: {} is already in {}:{line}", finding.address, path.display())),
            None => others.push(finding),
        }
    }
    Ok(others)
}

/// Refuses a name that the catalog already uses.
async fn refuse_names(found: &[Finding], settings: &Settings) -> anyhow::Result<()> {
    let (catalog, _) = Catalog::open(&settings.catalog()?, options(settings)?)
        .await
        .map_err(with_advice)
        .context("the catalog cannot be used")?;
    for finding in found {
        let kind = match finding.kind {
            FindingKind::Databases(_) => ResourceKind::Database,
            FindingKind::Apis(_) => ResourceKind::Api,
            FindingKind::Documents | FindingKind::Skills => continue,
        };
        if let Some(name) = finding.name.as_deref().and_then(|name| catalog.resolve(kind, name)) {
            anyhow::bail!(
                "the catalog already has an entry `{name}`; nothing was changed: use `planner add NAME={}` to set another name",
                finding.source
            );
        }
    }
    Ok(())
}

/// Returns the problems of the new lines of a catalog.
async fn check(
    path: &Path,
    text: &str,
    lines: &[usize],
    secrets: &[Secret],
    settings: &Settings,
) -> anyhow::Result<Vec<Problem>> {
    let lookup = |name: &str| {
        let given = secrets.iter().find(|secret| secret.variable == name).map(|secret| secret.value().to_owned());
        given.or_else(|| settings::variable(name))
    };
    let options = CatalogOptions { environment: &lookup, ..options(settings)? };
    let source = CatalogSource::Text { path: path.to_owned(), text: text.to_owned() };
    let opened = Catalog::open(&source, options).await.map_err(with_advice).context("the catalog cannot be used")?;
    let places: Vec<String> = lines.iter().map(|line| format!("{}:{line}", path.display())).collect();
    Ok(opened.1.into_iter().filter(|problem| places.contains(&problem.place)).collect())
}

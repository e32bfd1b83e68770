//! `planner init`: searches for data and writes a catalog.

mod choose;

use std::{
    fs::OpenOptions,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use prospector_core::Problem;
use prospector_discovery::CatalogOptions;
use prospector_discovery::sources::{
    Address, CatalogSource, Finding, FindingKind, LocateError, ProposedJoin, ProposedJoins, begin, declare_joins,
    locate, propose_joins, schema, surroundings, write_file,
};
use serde::Serialize;
use serde_json::json;

use crate::{
    Exit,
    cli::InitArgs,
    output,
    progress::Progress,
    report::Report,
    settings::{self, Settings},
    table::Table,
};

/// Output of `planner init`.
#[derive(Serialize)]
struct NewCatalog {
    created: PathBuf,
    found: Vec<Finding>,
    skipped: Vec<Problem>,
    /// Joins that the values of files suggest.
    joins: Vec<ProposedJoin>,
    /// Variables to set, because secrets are not written.
    variables: Vec<String>,
}

/// Writes the catalog, unless it exists.
pub(crate) async fn init(args: &InitArgs, settings: &Settings) -> anyhow::Result<Exit> {
    anyhow::ensure!(!settings.has_sources(), "pass the folders to search without --on");
    let path = catalog_path(args, settings)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    anyhow::ensure!(
        folder.is_dir(),
        "the folder {} does not exist; nothing was written: create it first, or name an existing folder",
        folder.display()
    );
    let here = [folder.to_string_lossy().into_owned()];
    let places = if args.places.is_empty() { &here[..] } else { &args.places };
    let (found, skipped, variables) = look(places, folder, args.interactive)?;
    let text = begin(&found, &skipped, folder, schema::FILE);
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    if file.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
        anyhow::bail!(
            "{} already exists; nothing was changed: add to it with `planner add`, name another folder, or remove it first",
            path.display()
        );
    }
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {}; nothing was changed", path.display()))?;
    if let Err(error) = schema::write(folder) {
        output::say(&format!("warning: cannot write {}, which editors read: {error}", schema::FILE));
    }
    let has_files = |finding: &Finding| {
        matches!(finding.kind, FindingKind::Databases(_)) && matches!(finding.address, Address::Path(_))
    };
    let sources = found.iter().filter(|finding| has_files(finding)).count();
    let proposed = match sources > 0 {
        true => add_joins(&path, text, settings).await.unwrap_or_else(|error| {
            output::say(&format!("warning: the catalog has no joins: {error:#}"));
            ProposedJoins::default()
        }),
        false => ProposedJoins::default(),
    };
    let notes = describe_joins(&proposed, sources, &path);
    print(&NewCatalog { created: path, found, skipped, joins: proposed.joins, variables }, &notes, args)?;
    Ok(Exit::Good)
}

/// Adds the joins that the values of files suggest to the catalog.
async fn add_joins(path: &Path, text: String, settings: &Settings) -> anyhow::Result<ProposedJoins> {
    let progress = Progress::new();
    let report = |phase, done, total| progress.report(phase, done, total);
    let options = CatalogOptions {
        state: settings.state.clone(),
        environment: &settings::variable,
        progress: &report,
        ..CatalogOptions::default()
    };
    let source = CatalogSource::Text { path: path.to_owned(), text: text.clone() };
    let proposed = propose_joins(source, options).await?;
    if !proposed.joins.is_empty() {
        write_file(path, &declare_joins(&text, &proposed.joins)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(proposed)
}

/// Returns one line per join, and how to change them. `sources` is the number of databases of files.
fn describe_joins(proposed: &ProposedJoins, sources: usize, path: &Path) -> Vec<String> {
    let mut notes: Vec<String> =
        proposed.joins.iter().map(|ProposedJoin { database, join }| format!("join in {database}: {join}")).collect();
    let file = path.display();
    if !notes.is_empty() {
        notes.push(format!("to remove a join, delete its line under `joins` in {file}"));
    }
    let without = proposed.examined.iter().filter(|name| proposed.joins.iter().all(|join| join.database != **name));
    notes.extend(without.map(|name| {
        format!(
            "no joins were found between the tables of {name}: questions over several of them need `joins` in {file}"
        )
    }));
    if sources > 1 {
        notes.push(format!(
            "tables of different databases were not compared: questions over several of the {sources} databases need `entities` and `joins` in {file}"
        ));
    }
    notes.extend(proposed.partial.iter().map(|name| {
        format!("{name} is too large to compare all its tables: add joins that are missing to `joins` in {file}")
    }));
    notes
}

/// Returns where the catalog is written: `--catalog`, the single folder that is searched, or the current folder.
fn catalog_path(args: &InitArgs, settings: &Settings) -> anyhow::Result<PathBuf> {
    if let Some(path) = &settings.catalog_flag {
        return Ok(path.clone());
    }
    let folder = match args.places.as_slice() {
        [place] if Path::new(place).is_dir() || !Path::new(place).exists() && is_folder(place) => Path::new(place),
        _ => Path::new("."),
    };
    Ok(if folder == Path::new(".") { PathBuf::from("catalog.yaml") } else { folder.join("catalog.yaml") })
}

/// Whether a path that does not exist yet is meant as a folder.
fn is_folder(place: &str) -> bool {
    let is_other = place.contains("://") || place.contains(['*', '?', '=']) || Path::new(place).extension().is_some();
    !is_other
}

/// Searches the places, and the configuration in the catalog's folder for databases elsewhere.
fn look(
    places: &[String],
    folder: &Path,
    is_interactive: bool,
) -> anyhow::Result<(Vec<Finding>, Vec<Problem>, Vec<String>)> {
    let (mut found, mut skipped) = match locate(places) {
        Ok(looked) => looked,
        // An empty folder is not an error when creating a catalog.
        Err(LocateError::Empty { place, reasons }) => {
            (Vec::new(), reasons.into_iter().map(|reason| Problem::warning(&place, reason)).collect())
        }
        Err(error) => return Err(error.into()),
    };
    let (more, problems) = surroundings(folder, &settings::variable);
    found.extend(more);
    skipped.extend(problems);
    if is_interactive {
        let declined;
        (found, declined) = choose::choose(found, std::io::stdin().lock())?;
        skipped.extend(declined);
    }
    let mut variables = Vec::new();
    for finding in &mut found {
        if let Some(secret) = finding.take_secret()? {
            variables.push(secret.variable);
        }
        variables.extend(finding.variable().map(str::to_owned));
    }
    Ok((found, skipped, variables))
}

/// Lists findings as a table.
pub(super) fn list(found: &[Finding]) -> Table {
    let mut table = Table::new(["section", "name", "where", "files"]);
    for finding in found {
        let files = Some(finding.files).filter(|files| *files > 0);
        table.push([json!(finding.section()), json!(finding.name), json!(finding.address.to_string()), json!(files)]);
    }
    table
}

fn print(new_catalog: &NewCatalog, notes: &[String], args: &InitArgs) -> anyhow::Result<()> {
    let mut report = Report::new(new_catalog, list(&new_catalog.found))?
        .with_note(format!("wrote {}", new_catalog.created.display()));
    for problem in &new_catalog.skipped {
        let advice = problem.advice.as_ref().map(|advice| format!(" ({advice})")).unwrap_or_default();
        report = report.with_note(format!("{}: {}{advice}", problem.place, problem.reason));
    }
    for note in notes {
        report = report.with_note(note.as_str());
    }
    report.print(args.format)?;
    for variable in &new_catalog.variables {
        output::say(&format!("note: set {variable} before you start planner; the catalog only names it"));
    }
    // A catalog that is not found from here must be named in commands.
    let is_found = settings::DEFAULT_CATALOGS.iter().find(|path| Path::new(path).is_file());
    let flag = match is_found.is_some_and(|path| new_catalog.created == Path::new(path)) {
        true => String::new(),
        false => format!(" --catalog {}", quote(&new_catalog.created.display().to_string())),
    };
    let next = format!(
        "next: `planner doctor{flag}` checks that every source is reachable, `planner ask \"...\"{flag}` answers a question"
    );
    output::say(if new_catalog.found.is_empty() {
        "no data was found: name the folders to search, or add a source with `planner add SOURCE`"
    } else {
        next.as_str()
    });
    Ok(())
}

/// Quotes a word for a shell.
pub(super) fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/\\._-:".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

//! `planner doctor`: diagnoses the installation, the catalog and its sources.

use std::{path::Path, time::SystemTime};

use prospector_core::Problem;
use prospector_core::problem::Severity;
use prospector_discovery::{
    Catalog, CatalogOptions,
    sources::{CatalogSource, ServerState},
    state,
};
use serde::Serialize;
use serde_json::json;

use super::{options, plural, with_advice};
use crate::{Exit, cli::DoctorArgs, report::Report, settings::Settings, table::Table};

/// Release date of the program, 2026-01-01. An earlier system clock is wrong.
const MADE: u64 = 1_767_225_600;

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Warning,
    Error,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Error => "error",
        }
    }
}

/// A check and its finding.
#[derive(Debug, Serialize)]
struct Check {
    what: String,
    status: Status,
    finding: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

/// Output of `planner doctor`.
#[derive(Serialize)]
struct Diagnosis {
    ok: bool,
    checks: Vec<Check>,
}

impl Check {
    fn ok(what: impl Into<String>, finding: impl Into<String>) -> Check {
        Check { what: what.into(), status: Status::Ok, finding: finding.into(), advice: None }
    }

    fn bad(status: Status, what: impl Into<String>, finding: impl Into<String>, advice: impl Into<String>) -> Check {
        Check { what: what.into(), status, finding: finding.into(), advice: Some(advice.into()) }
    }

    fn of(problem: &Problem) -> Check {
        let status = match problem.severity {
            Severity::Warning => Status::Warning,
            Severity::Error => Status::Error,
        };
        Check { what: problem.place.clone(), status, finding: problem.reason.clone(), advice: problem.advice.clone() }
    }
}

/// Runs all checks and reports problems.
pub(crate) async fn doctor(args: DoctorArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let mut checks = vec![program(), clock(), models(settings)];
    match settings.catalog() {
        Ok(source) => checks.extend(look(&source, settings).await?),
        Err(error) => checks.push(Check::bad(
            Status::Error,
            "catalog",
            error.to_string(),
            "create one with `planner init`, or name your data with --on",
        )),
    }
    let ok = checks.iter().all(|check| check.status != Status::Error);
    let mut table = Table::new(["", "what", "finding", "what to do"]);
    for check in &checks {
        table.push([json!(check.status.as_str()), json!(check.what), json!(check.finding), json!(check.advice)]);
    }
    let count = |status: Status| checks.iter().filter(|check| check.status == status).count();
    let note = format!("{}, {}", plural(count(Status::Error), "error"), plural(count(Status::Warning), "warning"));
    Report::new(&Diagnosis { ok, checks }, table)?.with_note(note).print(args.format)?;
    Ok(if ok { Exit::Good } else { Exit::Usage })
}

fn program() -> Check {
    let features = [
        ("bigquery", cfg!(feature = "bigquery")),
        ("cassandra", cfg!(feature = "cassandra")),
        ("dynamodb", cfg!(feature = "dynamodb")),
        ("elasticsearch", cfg!(feature = "elasticsearch")),
        ("mongodb", cfg!(feature = "mongodb")),
        ("otlp", cfg!(feature = "otlp")),
    ];
    let with: Vec<&str> = features.iter().filter(|(_, is_in)| *is_in).map(|(name, _)| *name).collect();
    let with = if with.is_empty() { "none".to_owned() } else { with.join(", ") };
    let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    Check::ok(
        "program",
        format!("planner {} for {system} on {machine}; optional features: {with}", env!("CARGO_PKG_VERSION")),
    )
}

fn clock() -> Check {
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    if seconds < MADE {
        let advice = "set the clock: certificates and cache expiry depend on it";
        return Check::bad(Status::Error, "clock", "the system clock is before 2026", advice);
    }
    Check::ok("clock", "the system clock looks correct")
}

/// Checks which keys are set, by name only, and which model is used.
fn models(settings: &Settings) -> Check {
    let providers = &settings.providers;
    let keys = [
        ("ANTHROPIC_API_KEY", providers.anthropic_api_key.is_some()),
        ("OPENAI_API_KEY", providers.openai_api_key.is_some()),
        ("GEMINI_API_KEY", providers.gemini_api_key.is_some()),
    ];
    let set: Vec<&str> = keys.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| *name).collect();
    let name = settings.model(None);
    if let Err(error) = super::model(settings, &name) {
        return Check::bad(Status::Error, "model", format!("{error:#}"), "set PROSPECTOR_MODEL to another");
    }
    if name == prospector_offline::Offline::NAME {
        let finding = "no language model is configured; the built-in planner (`offline`) is used";
        let names = keys.map(|(name, _)| name).join(", ");
        return Check::bad(Status::Warning, "model", finding, format!("set one of {names}, or name one with --model"));
    }
    let set = if set.is_empty() { "no key is set".to_owned() } else { format!("{} set", set.join(", ")) };
    Check::ok("model", format!("{name} ({set})"))
}

/// Checks the catalog, its state folder and its sources.
async fn look(source: &CatalogSource, settings: &Settings) -> anyhow::Result<Vec<Check>> {
    let folder = settings.state_folder()?;
    let mut checks = vec![rights(&folder)];
    let (mut files, mut is_damaged) = (0, false);
    match state::check(&folder).await {
        Ok(report) if report.damage.is_empty() => files = report.files,
        Ok(report) => {
            is_damaged = true;
            checks.extend(report.damage.iter().map(Check::of));
        }
        Err(error) => checks.push(Check::bad(
            Status::Error,
            "index",
            error.to_string(),
            "check the owner and permissions of the files",
        )),
    }
    let options = CatalogOptions { relist: true, ..options(settings)? };
    let (catalog, problems) = match Catalog::open(source, options).await {
        Ok(opened) => opened,
        Err(error) => {
            let error = with_advice(error);
            checks.push(Check::bad(
                Status::Error,
                "catalog",
                format!("{error:#}"),
                "the other checks need the catalog",
            ));
            return Ok(checks);
        }
    };
    let name = match source {
        CatalogSource::File(path) | CatalogSource::Text { path, .. } => path.display().to_string(),
        CatalogSource::Sources(sources) => format!("created from {}", plural(sources.len(), "source")),
    };
    let entries = plural(catalog.index.len(), "entry");
    match files {
        _ if is_damaged => {}
        0 => checks.push(Check::ok("index", format!("built now, with {entries}"))),
        files => checks.push(Check::ok("index", format!("{} intact, with {entries}", plural(files, "file")))),
    }
    checks.push(Check::ok("catalog", name));
    let servers = catalog.servers();
    // A server that cannot be reached has a check of its own.
    let is_other = |problem: &&Problem| !servers.iter().any(|server| server.has_failure(problem));
    checks.extend(problems.iter().filter(is_other).map(Check::of));
    for source in catalog.check_sources().await {
        let what = format!("{} ({})", source.name, source.kind);
        checks.push(match (source.fault, source.other_rights.as_slice()) {
            (Some(fault), _) => {
                Check::bad(Status::Error, what, fault, "check that it is running and reachable, and its permissions")
            }
            (None, []) => Check::ok(what, format!("reached; {}", plural(source.tables, "table"))),
            (None, rights) => Check::bad(
                Status::Warning,
                what,
                format!("connected, but its role has more than read access: {}", rights.join(", ")),
                "use a role with SELECT only",
            ),
        });
    }
    checks.extend(servers.iter().map(check_server));
    Ok(checks)
}

fn check_server(server: &ServerState) -> Check {
    let what = format!("{} (MCP server)", server.name);
    match &server.failure {
        Some(reason) => Check::bad(Status::Error, what, reason, server.advice.clone().unwrap_or_default()),
        None if server.last_seen.is_none() => {
            let advice = "check the permissions of the state folder";
            Check::bad(Status::Error, what, "its lists cannot be stored", advice)
        }
        None => Check::ok(what, format!("reached; {}", plural(server.tools, "usable tool"))),
    }
}

/// Checks that the state folder is writable, and accessible only to its owner.
fn rights(folder: &Path) -> Check {
    let shown = folder.display();
    if !folder.exists() {
        return Check::ok("state", format!("{shown} is created now"));
    }
    let advice = "set another folder with --state FOLDER";
    match std::fs::metadata(folder) {
        Ok(meta) if !meta.is_dir() => Check::bad(Status::Error, "state", format!("{shown} is not a folder"), advice),
        Ok(meta) if meta.permissions().readonly() => {
            Check::bad(Status::Error, "state", format!("{shown} cannot be written"), advice)
        }
        Ok(meta) if is_open(&meta) => {
            let advice = "the next command that opens the catalog restricts it; check who could read it";
            Check::bad(Status::Warning, "state", format!("other users can read {shown}"), advice)
        }
        Ok(_) => Check::ok("state", format!("only its owner can read {shown}")),
        Err(error) => Check::bad(Status::Error, "state", format!("{shown}: {error}"), advice),
    }
}

#[cfg(unix)]
fn is_open(meta: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open(_: &std::fs::Metadata) -> bool {
    false
}

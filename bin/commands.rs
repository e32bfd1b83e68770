//! The commands, one function each.

mod about;
mod add;
mod ask;
mod bench;
mod chart;
mod chat;
mod check;
mod discover;
mod doctor;
mod embedder;
mod facts;
mod init;
mod line;
mod mcp;
mod metrics;
mod plan;
mod queries;
mod query_worker;
mod reconcile;
mod report;
mod rows;
mod run;
mod serve;
mod sources;
mod sql;
mod test;

pub(crate) use about::about;
pub(crate) use add::add;
pub(crate) use ask::ask;
pub(crate) use bench::bench;
pub(crate) use chat::chat;
pub(crate) use check::check;
pub(crate) use discover::{call, prompt, refresh, search, tools};
pub(crate) use doctor::doctor;
pub(crate) use facts::facts;
pub(crate) use init::init;
pub(crate) use mcp::mcp;
pub(crate) use metrics::metrics;
pub(crate) use plan::plan;
pub(crate) use queries::queries;
pub(crate) use query_worker::query_worker;
pub(crate) use reconcile::reconcile;
pub(crate) use report::report;
pub(crate) use run::run;
pub(crate) use serve::serve;
pub(crate) use sources::sources;
pub(crate) use sql::sql;
pub(crate) use test::test;

use std::{path::Path, sync::Arc};

use anyhow::Context as _;
use prospector_agent::Models;
use prospector_core::Problem;
use prospector_discovery::{Catalog, CatalogError, CatalogOptions};
use prospector_llm::{
    ChatModel,
    models::{ModelInfo, UNLISTED, model_info},
    providers::connect,
};
use prospector_offline::Offline;
use prospector_search::Index;
use tokio_util::sync::CancellationToken;

use crate::{output, progress::Progress, settings};

/// Exit status of a program that was interrupted, by shell convention.
const INTERRUPTED: i32 = 130;

/// How a catalog is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// To use it: problems are summarised.
    Use,
    /// To update the index: all problems are listed.
    Refresh,
    /// To update the index, re-reading unchanged sources too.
    Reread,
}

/// `1 error`, `2 errors`, `3 entries`.
fn plural(count: usize, one: &str) -> String {
    match one.strip_suffix('y') {
        _ if count == 1 => format!("{count} {one}"),
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {one}s"),
    }
}

/// Opens the catalog and reports its problems.
async fn open(settings: &settings::Settings, opening: Opening) -> anyhow::Result<(Catalog, Vec<Problem>)> {
    let source = settings.catalog()?;
    let progress = Progress::new();
    let report = |phase, done, total| progress.report(phase, done, total);
    let fresh = opening == Opening::Reread;
    let relist = opening != Opening::Use;
    let options = CatalogOptions { fresh, relist, progress: &report, ..options(settings)? };
    let opened = Catalog::open(&source, options).await;
    drop(progress);
    let (catalog, problems) = opened.map_err(with_advice).context("the catalog cannot be used")?;
    if let Some(reason) = &catalog.refreshed.rebuilt {
        output::say(&format!("indexed {} ({reason})", plural(catalog.refreshed.added, "entry")));
    }
    output::problems(&problems, opening != Opening::Use);
    // The entries of a catalog with errors exist, but are not loaded.
    if catalog.is_empty() && catalog.describe_errors().is_none() {
        let path = settings.catalog_file.as_deref().unwrap_or(Path::new(""));
        output::say(&format!(
            "warning: the catalog {} is empty: add databases, apis, documents or skills",
            path.display()
        ));
    }
    Ok((catalog, problems))
}

/// Opens only the index, if it is up to date with the catalog.
fn open_index(settings: &settings::Settings) -> anyhow::Result<Option<Index>> {
    Catalog::open_index(&settings.catalog()?, &options(settings)?)
        .map_err(with_advice)
        .context("the catalog cannot be used")
}

fn options(settings: &settings::Settings) -> anyhow::Result<CatalogOptions<'static>> {
    Ok(CatalogOptions { state: Some(settings.state_folder()?), ..options_without_state(settings)? })
}

/// Returns options for catalogs that have a state of their own.
fn options_without_state(settings: &settings::Settings) -> anyhow::Result<CatalogOptions<'static>> {
    Ok(CatalogOptions {
        environment: &settings::variable,
        home: settings.home.clone(),
        embedder: embedder::open(settings)?,
        workers: Some(settings.workers()?),
        ..CatalogOptions::default()
    })
}

/// Adds advice to the error.
fn with_advice(error: CatalogError) -> anyhow::Error {
    let advice = match &error {
        CatalogError::Read { .. } => "name another one with --catalog FILE, or create one with `planner init`",
        CatalogError::Syntax { .. } | CatalogError::Locate(_) | CatalogError::Cancelled => return error.into(),
        CatalogError::Nothing { .. } => "check that files exist and servers are reachable",
        CatalogError::State { .. } | CatalogError::Search(_) => "set another state folder with --state FOLDER",
    };
    anyhow::anyhow!("{error} ({advice})")
}

/// Returns the capabilities of a model: from the table, or safe assumptions for a compatible server.
fn capabilities(settings: &settings::Settings, name: &str) -> anyhow::Result<ModelInfo> {
    if let Some(info) = model_info(name) {
        return Ok(*info);
    }
    // Unknown names are an error with similar known ones, unless a compatible server may serve the model.
    connect(name, &settings.providers)?;
    Ok(UNLISTED)
}

/// Returns the models of these flags, or of the settings. Unknown names fail before the catalog is opened.
fn models(settings: &settings::Settings, chat: Option<&str>, summary: Option<&str>) -> anyhow::Result<Models> {
    let name = settings.model(chat);
    let info = capabilities(settings, &name)?;
    let summary = summary.map(|name| model(settings, name)).transpose()?;
    Ok(Models { chat: model(settings, &name)?, summary, info })
}

/// Connects to the model.
fn model(settings: &settings::Settings, name: &str) -> anyhow::Result<Arc<dyn ChatModel>> {
    if name == Offline::NAME {
        return Ok(Arc::new(Offline));
    }
    Ok(connect(name, &settings.providers)?)
}

/// Returns a token that is cancelled on Ctrl-C. A second Ctrl-C exits at once; the state stays consistent, as after any exit.
fn interrupts() -> CancellationToken {
    let cancel = CancellationToken::new();
    let interrupted = cancel.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            interrupted.cancel();
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(INTERRUPTED);
            }
        }
    });
    cancel
}

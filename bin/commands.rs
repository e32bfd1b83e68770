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

/// What a shell calls a program that an interrupt has ended.
const INTERRUPTED: i32 = 130;

/// What a catalog is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// To use it: what is wrong is told in short.
    Use,
    /// To bring it up to date: everything that is wrong is told.
    Refresh,
    /// The same, and what has not changed is read again too.
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

/// Opens the catalog and says what is wrong with it.
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
    if catalog.is_empty() {
        let path = settings.catalog_file.as_deref().unwrap_or(Path::new(""));
        output::say(&format!(
            "warning: the catalog {} is empty: add databases, apis, documents or skills",
            path.display()
        ));
    }
    Ok((catalog, problems))
}

/// The index alone, where it shows the catalog as it is now.
fn open_index(settings: &settings::Settings) -> anyhow::Result<Option<Index>> {
    Catalog::open_index(&settings.catalog()?, &options(settings)?)
        .map_err(with_advice)
        .context("the catalog cannot be used")
}

fn options(settings: &settings::Settings) -> anyhow::Result<CatalogOptions<'static>> {
    Ok(CatalogOptions { state: Some(settings.state_folder()?), ..options_without_state(settings)? })
}

/// The options for catalogs that are named beside the settings' own, and have a state of their own.
fn options_without_state(settings: &settings::Settings) -> anyhow::Result<CatalogOptions<'static>> {
    Ok(CatalogOptions {
        environment: &settings::variable,
        home: settings.home.clone(),
        embedder: embedder::open(settings)?,
        cluster: settings.engine()?,
        workers: Some(settings.workers()?),
        ..CatalogOptions::default()
    })
}

/// The error with what to do about it.
fn with_advice(error: CatalogError) -> anyhow::Error {
    let advice = match &error {
        CatalogError::Read { .. } => "name another with --catalog FILE, or write one with `planner init`",
        CatalogError::Syntax { .. } | CatalogError::Locate(_) | CatalogError::Cancelled => return error.into(),
        CatalogError::Nothing { .. } => "check that files exist and that servers can be reached",
        CatalogError::State { .. } | CatalogError::Search(_) => "name another folder for the state with --state FOLDER",
    };
    anyhow::anyhow!("{error} ({advice})")
}

/// What is known of a model: from the table, or what is safe to assume of a compatible server's.
fn capabilities(settings: &settings::Settings, name: &str) -> anyhow::Result<ModelInfo> {
    if let Some(info) = model_info(name) {
        return Ok(*info);
    }
    // The provider's word on it: an error that names the nearest known ones, unless a server may serve it.
    connect(name, &settings.providers)?;
    Ok(UNLISTED)
}

/// The models of these flags, or of the settings. A wrong name is an error before the catalog is opened.
fn models(settings: &settings::Settings, chat: Option<&str>, summary: Option<&str>) -> anyhow::Result<Models> {
    let name = settings.model(chat);
    let info = capabilities(settings, &name)?;
    let summary = summary.map(|name| model(settings, name)).transpose()?;
    Ok(Models { chat: model(settings, &name)?, summary, info })
}

/// The model of that name.
fn model(settings: &settings::Settings, name: &str) -> anyhow::Result<Arc<dyn ChatModel>> {
    if name == Offline::NAME {
        return Ok(Arc::new(Offline));
    }
    Ok(connect(name, &settings.providers)?)
}

/// Is cancelled when the user interrupts. Who interrupts again does not want to wait: that ends the program, and leaves
/// the state whole, as any end does.
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

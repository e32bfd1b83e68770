//! `planner bench tokens` and `planner bench plans`: the catalogs, the models and the runs that are measured.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use prospector_discovery::{Catalog, CatalogOptions, Profile};
use prospector_llm::{ChatModel, models::ModelInfo};
use prospector_offline::Offline;
use tempfile::TempDir;

use super::{advised, bench::all, capabilities, model, options};
use crate::{
    bench::{
        Names,
        conversation::{self, Conversation},
        counted::counted,
        economy::CachePrice,
        plans, queries,
        queries::Question,
        records,
        session::Session,
        tokens,
    },
    cli::{EstatesArgs, PlansArgs, TokensArgs},
    output,
    settings::Settings,
};

/// Whose prices for the cache count where the model has none.
const PRICES: &str = "claude-sonnet-4-5";

/// A catalog and its questions.
struct Estate {
    name: String,
    catalog: Catalog,
    names: Names,
    questions: Vec<Question>,
}

/// Who plans, and how.
struct Planner {
    chat: Arc<dyn ChatModel>,
    info: ModelInfo,
    profiles: Vec<Profile>,
}

/// `planner bench tokens`
pub(super) async fn tokens(args: &TokensArgs, settings: &Settings) -> anyhow::Result<tokens::Report> {
    let planner = planner(&args.over, settings)?;
    let prices = match &args.prices {
        Some(name) => name.clone(),
        None if planner.info.price.is_some() => planner.chat.name().to_owned(),
        None => PRICES.to_owned(),
    };
    let price = CachePrice::of(&capabilities(settings, &prices)?);
    let counter = args.count.as_deref().map(|name| model(settings, name)).transpose()?;
    let replayed = args.over.replay.as_deref().map(conversation::read).transpose()?;
    let name = match &replayed {
        Some(runs) => runs[0].model.clone(),
        None => planner.chat.name().to_owned(),
    };
    let mut report = tokens::Report { model: name, prices, estates: Vec::new() };
    let mut recorded = Vec::new();
    for opening in openings(&args.over) {
        let estate = opening.open(&args.over, replayed.as_deref(), settings).await?;
        for profile in profiles(&planner, replayed.as_deref()) {
            let session = session(&estate, &planner, profile, args.over.prompt.map(Into::into));
            let yardsticks = tokens::Yardsticks::of(&session);
            let runs: Vec<Conversation> = match &replayed {
                Some(runs) => runs.iter().filter(|run| run.profile == profile).cloned().collect(),
                None => discover(&session, &estate).await?,
            };
            let rows = runs.iter().map(|run| tokens::row(&session, &yardsticks, price, run)).collect();
            let mut measured = tokens::Estate::of(estate.name.clone(), profile, rows);
            if let Some(counter) = &counter {
                measured.counted = Some(counted(&session, counter.as_ref(), &runs).await?);
            }
            report.estates.push(measured);
            recorded.extend(runs);
        }
    }
    record(&args.over, &recorded)?;
    Ok(report)
}

/// `planner bench plans`
pub(super) async fn plans(args: &PlansArgs, settings: &Settings) -> anyhow::Result<plans::Report> {
    let planner = planner(&args.over, settings)?;
    let replayed = args.over.replay.as_deref().map(conversation::read).transpose()?;
    let name = replayed.as_ref().map_or(planner.chat.name(), |runs| runs[0].model.as_str()).to_owned();
    let mut report = plans::Report { model: name, planners: Vec::new() };
    let mut recorded = Vec::new();
    for opening in openings(&args.over) {
        let estate = opening.open(&args.over, replayed.as_deref(), settings).await?;
        for profile in profiles(&planner, replayed.as_deref()) {
            let session = session(&estate, &planner, profile, args.over.prompt.map(Into::into));
            let runs = match &replayed {
                Some(runs) => runs.iter().filter(|run| run.profile == profile).cloned().collect(),
                None => discover(&session, &estate).await?,
            };
            let rows = runs.iter().map(|run| plans::discovered(&session, run)).collect();
            report.planners.push(plans::Planner::of(estate.name.clone(), Some(profile), rows));
            recorded.extend(runs);
        }
        if replayed.is_none() {
            let session = session(&estate, &planner, Profile::Full, None);
            let mut rows = Vec::with_capacity(estate.questions.len());
            for question in &estate.questions {
                rows.push(plans::preloaded(&session, &session.preloaded(question).await?));
            }
            report.planners.push(plans::Planner::of(estate.name.clone(), None, rows));
        }
    }
    record(&args.over, &recorded)?;
    Ok(report)
}

/// Writes a text where a file is named.
pub(super) fn write(path: Option<&Path>, text: &str) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn record(args: &EstatesArgs, runs: &[Conversation]) -> anyhow::Result<()> {
    args.record.as_deref().map_or(Ok(()), |path| conversation::write(path, runs))
}

/// A bench costs nothing where nobody names a model.
fn planner(args: &EstatesArgs, settings: &Settings) -> anyhow::Result<Planner> {
    let name = args.model.as_deref().unwrap_or(Offline::NAME);
    let mut profiles: Vec<Profile> = args.profiles.iter().map(|profile| (*profile).into()).collect();
    if profiles.is_empty() {
        profiles.push(Profile::DEFAULT);
    }
    Ok(Planner { info: capabilities(settings, name)?, chat: model(settings, name)?, profiles })
}

/// The profiles that are asked for, or those that were recorded.
fn profiles(planner: &Planner, replayed: Option<&[Conversation]>) -> Vec<Profile> {
    let recorded = |runs: &[Conversation]| {
        Profile::ALL.into_iter().filter(|profile| runs.iter().any(|run| run.profile == *profile)).collect()
    };
    replayed.map_or(planner.profiles.clone(), recorded)
}

fn session<'a>(
    estate: &'a Estate,
    planner: &Planner,
    profile: Profile,
    form: Option<prospector_discovery::PromptForm>,
) -> Session<'a> {
    let (chat, info) = (planner.chat.clone(), planner.info);
    Session { catalog: &estate.catalog, names: &estate.names, chat, info, profile, form }
}

async fn discover(session: &Session<'_>, estate: &Estate) -> anyhow::Result<Vec<Conversation>> {
    let mut runs = Vec::with_capacity(estate.questions.len());
    for question in &estate.questions {
        runs.push(session.discover(question).await?);
    }
    Ok(runs)
}

/// Where a catalog is, before it is opened.
enum Opening<'a> {
    /// A folder with `catalog.yaml` and `queries.jsonl`.
    Folder(&'a PathBuf),
    /// A file of records.
    Records(&'a PathBuf),
    /// The catalog of the settings.
    Catalog,
}

fn openings(args: &EstatesArgs) -> Vec<Opening<'_>> {
    match &args.records {
        Some(path) => vec![Opening::Records(path)],
        None if args.estates.is_empty() => vec![Opening::Catalog],
        None => args.estates.iter().map(Opening::Folder).collect(),
    }
}

impl Opening<'_> {
    async fn open(
        &self,
        args: &EstatesArgs,
        replayed: Option<&[Conversation]>,
        settings: &Settings,
    ) -> anyhow::Result<Estate> {
        let questions = match (replayed, self, &args.queries) {
            (Some(runs), _, _) => runs.iter().map(|run| run.question.clone()).collect(),
            (None, Opening::Folder(folder), _) => queries::read(&folder.join("queries.jsonl"), None, true)?,
            (None, _, Some(path)) => queries::read(path, None, true)?,
            (None, _, None) => anyhow::bail!("there are no questions: name a file with --queries FILE"),
        };
        let questions = queries::spread(questions, args.limit);
        // Deleted when the catalog is open: what it needs is in memory by then.
        let made: TempDir;
        let (name, path, state) = match self {
            Opening::Folder(folder) => (
                stem(folder),
                folder.join("catalog.yaml"),
                settings.state.as_ref().map(|state| state.join(stem(folder))),
            ),
            Opening::Records(path) => {
                made = tempfile::tempdir().context("cannot make a folder for the records")?;
                let state = Some(made.path().join("state"));
                (stem(path), records::catalog(path, made.path())?, state)
            }
            Opening::Catalog => {
                let path = settings.catalog()?;
                (stem(path), path.to_owned(), settings.state.clone())
            }
        };
        let options = CatalogOptions { state, ..options(settings)? };
        let opened = Catalog::open(&path, options).await;
        let (catalog, problems) = opened.map_err(advised).context("the catalog cannot be used")?;
        output::problems(&problems, false);
        let names = Names::new(&all(&catalog));
        Ok(Estate { name, catalog, names, questions })
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| path.display().to_string(), |stem| stem.to_string_lossy().into_owned())
}

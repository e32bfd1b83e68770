//! `planner bench`

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use prospector_bench::{
    BenchError, Corpus, calibration,
    estate::{EstateSource, OptionsFn, Setup},
    questions, retrieval, sql,
    tokens::{self, tool_lists},
    wordings,
};
use prospector_core::Problem;
use prospector_discovery::{Profile, sources::write_file};
use prospector_offline::Offline;
use prospector_search::ranking::Ranker;
use serde::Serialize;

use super::{Opening, ask::planner, capabilities, embedder, model, models, open, options_without_state, with_advice};
use crate::{
    Exit,
    cli::{
        AnswersBenchArgs, BenchCommand, CalibrationArgs, FeaturesArgs, RetrievalArgs, SqlBenchArgs, TokensArgs,
        WordingsArgs,
    },
    output,
    settings::Settings,
};

/// Runs one benchmark.
pub(crate) async fn bench(command: BenchCommand, settings: &Settings) -> anyhow::Result<Exit> {
    match command {
        BenchCommand::Retrieval(args) => bench_retrieval(&args, settings).await,
        BenchCommand::Calibration(args) => bench_calibration(&args, settings).await,
        BenchCommand::Features(args) => bench_features(&args, settings).await,
        BenchCommand::Tokens(args) => bench_tokens(&args, settings).await,
        BenchCommand::Wordings(args) => bench_wordings(&args, settings).await,
        BenchCommand::Sql(args) => bench_sql(&args, settings).await,
        BenchCommand::Answers(args) => bench_answers(&args, settings).await,
    }
}

async fn bench_retrieval(args: &RetrievalArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let questions = questions::read(&args.queries, args.limit, true)?;
    let corpus = corpus(args.corpus.records.as_deref(), settings).await?;
    let rankers = args.ranker.0.map_or(Ranker::ALL.to_vec(), |ranker| vec![ranker]);
    let report = retrieval::measure(&corpus, &questions, args.corpus.kind, &rankers)?;
    print(&report, &report.table(), args.corpus.json)
}

async fn bench_calibration(args: &CalibrationArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let questions = questions::read(&args.queries, args.limit, true)?;
    let negatives = args.negatives.as_deref().map(|path| questions::read(path, args.limit, false)).transpose()?;
    let corpus = corpus(args.corpus.records.as_deref(), settings).await?;
    let (kind, hits) = (args.corpus.kind, args.hits.try_into()?);
    let learned = if args.learn { calibration::learn(&corpus, &questions, kind, hits)? } else { Vec::new() };
    let report = calibration::measure(&corpus, &questions, negatives.as_deref(), kind, hits)?;
    let report = report.after(learned);
    print(&report, &report.table(), args.corpus.json)
}

async fn bench_features(args: &FeaturesArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let questions = questions::read(&args.queries, args.limit, false)?;
    let corpus = corpus(args.records.as_deref(), settings).await?;
    let write = if args.evidence { retrieval::evidence::write } else { retrieval::features::write };
    write(&corpus, &questions, args.kind, &args.out)?;
    Ok(Exit::Good)
}

async fn bench_tokens(args: &TokensArgs, settings: &Settings) -> anyhow::Result<Exit> {
    if !args.tools.is_empty() {
        return bench_tool_lists(args, settings).await;
    }
    let options = || Ok(options_without_state(settings)?);
    let setup = setup(args, settings, &options)?;
    let report = tokens::measure(&setup).await.map_err(explain)?;
    print(&report, &report.table(), args.json)
}

async fn bench_tool_lists(args: &TokensArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let options = || Ok(options_without_state(settings)?);
    let sizes: Result<Vec<usize>, _> = args.sizes.iter().map(|size| usize::try_from(*size)).collect();
    let (folders, limit) = (args.tools.clone(), args.limit);
    let setup = tool_lists::Setup {
        folders,
        sizes: sizes?,
        limit,
        options: &options,
        notify: &|problems| output::problems(problems, false),
    };
    let report = tool_lists::measure(&setup).await.map_err(explain)?;
    print(&report, &report.table(), args.json)
}

async fn bench_wordings(args: &WordingsArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let options = || Ok(options_without_state(settings)?);
    let setup = wordings::Setup {
        data: args.data.clone(),
        only: args.only.clone(),
        options: &options,
        notify: &report_problems,
    };
    let report = wordings::measure(&setup).await.map_err(explain)?;
    print(&report, &report.table(), args.json)
}

async fn bench_sql(args: &SqlBenchArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let queries = sql::read(&args.queries)?;
    let (catalog, _) = open(settings, Opening::Use).await?;
    let (report, answers) = sql::measure(&catalog.engine(), &queries).await?;
    write(args.out.as_deref(), &answers)?;
    print(&report, &report.table(), false)
}

async fn bench_answers(args: &AnswersBenchArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let questions = sql::answers::read(&args.queries)?;
    let models = models(settings, Some(args.model.as_deref().unwrap_or(Offline::NAME)), None)?;
    let (catalog, _) = open(settings, Opening::Use).await?;
    let engine = catalog.engine();
    let planner = planner(&Arc::new(catalog), models, Profile::DEFAULT);
    let (report, answers) = sql::answers::measure(&planner, &engine, &questions).await?;
    write(args.out.as_deref(), &answers)?;
    print(&report, &report.table(), args.json)
}

/// Reads the records of the file, or of the catalog.
async fn corpus(records: Option<&Path>, settings: &Settings) -> anyhow::Result<Corpus> {
    if let Some(path) = records {
        return Ok(Corpus::from_file(path, embedder::open(settings)?)?);
    }
    let (catalog, _) = open(settings, Opening::Use).await?;
    Ok(Corpus::from_catalog(&catalog))
}

/// Sets up a benchmark from its flags. Without a model flag it uses the built-in planner, so that it costs nothing.
fn setup<'a>(args: &TokensArgs, settings: &Settings, options: &'a OptionsFn<'a>) -> anyhow::Result<Setup<'a>> {
    let name = args.model.as_deref().unwrap_or(Offline::NAME);
    let info = capabilities(settings, name)?;
    Ok(Setup {
        model: model(settings, name)?,
        info,
        sources: sources(args, settings)?,
        queries: args.queries.clone(),
        limit: args.limit,
        profile: args.profile.into(),
        prompt: args.prompt.map(Into::into),
        state: settings.state.clone(),
        options,
        notify: &report_problems,
    })
}

fn sources(args: &TokensArgs, settings: &Settings) -> anyhow::Result<Vec<EstateSource>> {
    if args.estates.is_empty() {
        return Ok(vec![EstateSource::Catalog(settings.catalog_file()?.to_owned())]);
    }
    Ok(args.estates.iter().cloned().map(EstateSource::Folder).collect())
}

fn report_problems(problems: &[Problem]) {
    output::problems(problems, false);
}

/// Adds advice to the error.
fn explain(error: BenchError) -> anyhow::Error {
    match error {
        BenchError::Catalog(error) => with_advice(error).context("the catalog cannot be used"),
        error => error.into(),
    }
}

fn print(report: &impl Serialize, table: &str, only_json: bool) -> anyhow::Result<Exit> {
    output::json(report)?;
    if !only_json {
        output::say(table.trim_end());
    }
    Ok(Exit::Good)
}

/// Writes a text if a file is given.
fn write(path: Option<&Path>, text: &str) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    write_file(path, text).with_context(|| format!("cannot write {}", path.display()))
}

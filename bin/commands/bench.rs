//! `planner bench`

use std::path::Path;

use anyhow::Context as _;
use prospector_core::Record;
use prospector_discovery::Catalog;
use prospector_search::{Index, Ranker};
use serde::Serialize;

use super::{Opening, economy, embedder, open};
use crate::{
    Exit,
    bench::{Corpus, calibration, chart, queries, records, retrieval, sql},
    cli::{BenchCommand, CorpusArgs},
    output,
    settings::Settings,
};

/// Measures one thing.
pub(crate) async fn bench(command: BenchCommand, settings: &Settings) -> anyhow::Result<Exit> {
    match command {
        BenchCommand::Retrieval(args) => {
            let questions = queries::read(&args.queries, args.limit, true)?;
            let corpus = corpus(&args.corpus, settings).await?;
            let rankers = args.ranker.0.map_or(Ranker::ALL.to_vec(), |ranker| vec![ranker]);
            let report = retrieval::measure(&corpus, &questions, args.corpus.kind, &rankers)?;
            print(&report, &report.table(), args.corpus.json)
        }
        BenchCommand::Calibration(args) => {
            let questions = queries::read(&args.queries, args.limit, true)?;
            let negatives =
                args.negatives.as_deref().map(|path: &Path| queries::read(path, args.limit, false)).transpose()?;
            let corpus = corpus(&args.corpus, settings).await?;
            let hits = args.hits.try_into()?;
            let report = calibration::measure(&corpus, &questions, negatives.as_deref(), args.corpus.kind, hits)?;
            print(&report, &report.table(), args.corpus.json)
        }
        BenchCommand::Tokens(args) => {
            let report = economy::tokens(&args, settings).await?;
            let table = report.table();
            economy::write(args.over.markdown.as_deref(), &table)?;
            economy::write(args.chart.as_deref(), &chart::svg(&report))?;
            print(&report, &table, args.over.json)
        }
        BenchCommand::Plans(args) => {
            let report = economy::plans(&args, settings).await?;
            let table = report.table();
            economy::write(args.over.markdown.as_deref(), &table)?;
            print(&report, &table, args.over.json)
        }
        BenchCommand::Sql(args) => {
            let queries = sql::read(&args.queries)?;
            let (catalog, _) = open(settings, Opening::Use).await?;
            let (report, answers) = sql::measure(&catalog.engine(), &queries).await?;
            if let Some(path) = &args.out {
                std::fs::write(path, answers).with_context(|| format!("cannot write {}", path.display()))?;
            }
            print(&report, &report.table(), false)
        }
    }
}

fn print(report: &impl Serialize, table: &str, only_json: bool) -> anyhow::Result<Exit> {
    output::json(report)?;
    if !only_json {
        output::say(table.trim_end());
    }
    Ok(Exit::Good)
}

/// The records of the file, or of the catalog.
async fn corpus(args: &CorpusArgs, settings: &Settings) -> anyhow::Result<Corpus> {
    if let Some(path) = &args.records {
        let records = records::read(path)?;
        let index = Index::in_memory(records.clone(), embedder::open(settings)?)?;
        return Ok(Corpus::new(index, &records));
    }
    let (catalog, _) = open(settings, Opening::Use).await?;
    Ok(Corpus::new(catalog.index.clone(), &all(&catalog)))
}

pub(super) fn all(catalog: &Catalog) -> Vec<Record> {
    let mut records = catalog.schema.records();
    records.extend(catalog.apis.records());
    records.extend(catalog.documents.records());
    records.extend(catalog.facts.records());
    records.extend(catalog.skills.records());
    records
}

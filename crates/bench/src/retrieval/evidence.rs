//! `planner bench features --evidence`: the relevance features of the best hits, with labels.
//! `benches/retrieval/relevance.py` fits the relevance weights to such files.
//!
//! The file contains one JSON object per line: `{"answerability": [names], "need": [names], "records": number}`, then
//! for each question `{"id", "dataset", "gold", "held", "answerability": [numbers], "hits": [{"right",
//! "need": [numbers]}]}`, where `gold` is the number of needed entries and `held` the number of those that exist. Of
//! several hits of one document, only the first counts.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use prospector_core::Kind;
use prospector_search::Query;
use prospector_search::ranking::{ANSWERABILITY, NEED};
use serde::Serialize;

use crate::{
    corpus::Corpus,
    error::BenchError,
    questions::Question,
    targets::{Target, target_of},
};

/// Number of hits per question, as in `planner bench calibration`.
const MAX_JUDGED: usize = 10;

#[derive(Serialize)]
struct Head {
    answerability: &'static [&'static str],
    need: &'static [&'static str],
    records: usize,
}

#[derive(Serialize)]
struct QuestionLine<'a> {
    id: &'a str,
    dataset: Option<&'a str>,
    gold: usize,
    held: usize,
    answerability: Vec<f32>,
    hits: Vec<JudgedHit>,
}

#[derive(Serialize)]
struct JudgedHit {
    right: bool,
    need: Vec<f32>,
}

/// Writes the relevance features of the hits of every question to `out`. Questions without hits are omitted.
///
/// # Errors
/// If a search fails or the file cannot be written.
pub fn write(corpus: &Corpus, questions: &[Question], kind: Kind, out: &Path) -> Result<(), BenchError> {
    let failed = |source| BenchError::Write { what: "", path: out.to_owned(), source };
    let mut file = BufWriter::new(File::create(out).map_err(failed)?);
    let head = Head { answerability: ANSWERABILITY, need: NEED, records: corpus.records };
    write_line(&mut file, &head).map_err(failed)?;
    for question in questions {
        let needed: Vec<Target> = question.gold.iter().filter_map(|name| corpus.names.resolve(name, &[kind])).collect();
        let found = corpus.index.evidence(Query::fitting(&question.query), kind, MAX_JUDGED)?;
        let Some(found) = found else { continue };
        let mut seen: Vec<Target> = Vec::new();
        let mut hits = Vec::new();
        for (hit, need) in found.hits {
            let target = target_of(&hit);
            if !seen.contains(&target) {
                hits.push(JudgedHit { right: needed.contains(&target), need });
                seen.push(target);
            }
        }
        let (id, dataset) = (question.id.as_str(), question.dataset.as_deref());
        let (gold, held) = (question.gold.len(), needed.len());
        let line = QuestionLine { id, dataset, gold, held, answerability: found.answerability, hits };
        write_line(&mut file, &line).map_err(failed)?;
    }
    file.flush().map_err(failed)
}

fn write_line(file: &mut impl Write, object: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *file, object)?;
    file.write_all(b"\n")
}

//! `planner bench features`: the ranker features of each candidate, with labels. `benches/retrieval/fit` fits the
//! ranker weights to such files.
//!
//! The first line is a JSON object, `{"features": [names], "questions": [{"id", "dataset", "group", "needed",
//! "candidates"}]}`, where `needed` is the number of needed entries and `candidates` the number of rows of the
//! question. The rows follow: as little-endian float32 the grade (0 if not needed), the number of the entry within the
//! question (the same for sections of one document), and the features.

use std::{fs::File, io::BufWriter, io::Write, path::Path};

use prospector_core::Kind;
use prospector_search::Query;
use prospector_search::ranking::NAMES;
use serde::Serialize;

use crate::{
    corpus::Corpus,
    error::BenchError,
    questions::Question,
    targets::{Target, target_of},
};

#[derive(Serialize)]
struct Head<'a> {
    kind: Kind,
    features: &'static [&'static str],
    questions: Vec<QuestionHead<'a>>,
}

#[derive(Serialize)]
struct QuestionHead<'a> {
    id: &'a str,
    dataset: Option<&'a str>,
    needed: usize,
    candidates: usize,
}

/// Writes the candidates of every question to `out`.
///
/// # Errors
/// If a search fails or the file cannot be written.
pub fn write(corpus: &Corpus, questions: &[Question], kind: Kind, out: &Path) -> Result<(), BenchError> {
    let failed = |source| BenchError::Write { what: "", path: out.to_owned(), source };
    let mut head = Head { kind, features: NAMES, questions: Vec::with_capacity(questions.len()) };
    let mut rows: Vec<u8> = Vec::new();
    for question in questions {
        let needed: Vec<(Option<Target>, f64)> = (question.gold.iter())
            .map(|name| (corpus.names.resolve(name, &[kind]), question.grades.get(name).copied().unwrap_or(1.0)))
            .collect();
        let candidates = corpus.index.candidates(Query::fitting(&question.query), kind)?;
        head.questions.push(QuestionHead {
            id: &question.id,
            dataset: question.dataset.as_deref(),
            needed: needed.len(),
            candidates: candidates.len(),
        });
        let mut things: Vec<Target> = Vec::new();
        for (hit, values) in candidates {
            let target = target_of(&hit);
            let grade = needed.iter().filter(|(thing, _)| thing.as_ref() == Some(&target)).map(|(_, grade)| *grade);
            let grade = grade.fold(0.0_f64, f64::max);
            let thing = things.iter().position(|known| *known == target).unwrap_or_else(|| {
                things.push(target);
                things.len() - 1
            });
            rows.extend((grade as f32).to_le_bytes());
            rows.extend((thing as f32).to_le_bytes());
            values.iter().for_each(|value| rows.extend(value.to_le_bytes()));
        }
    }
    let mut file = BufWriter::new(File::create(out).map_err(failed)?);
    serde_json::to_writer(&mut file, &head).map_err(|error| failed(error.into()))?;
    file.write_all(b"\n").map_err(failed)?;
    file.write_all(&rows).map_err(failed)?;
    file.flush().map_err(failed)
}

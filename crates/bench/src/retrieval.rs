//! `planner bench retrieval`: the ranks of needed entries, and the latency of searches.
//!
//! Out of scope: the queries formulated by a model, and the effect of the threshold (`planner bench calibration`).
//! Sections of documents count as their documents.

pub mod evidence;
pub mod features;

use std::time::{Duration, Instant};

use prospector_core::Kind;
use prospector_search::ranking::Ranker;
use prospector_search::{Query, SearchError};
use serde::Serialize;

use crate::{
    corpus::{Corpus, Missing},
    metrics::{Latency, Scores},
    questions::Question,
    table::Table,
    targets::{Target, target_of},
};

/// Number of hits considered.
const MAX_HITS: usize = 100;

/// Number of document sections considered.
const MAX_SECTIONS: usize = 300;

/// Number of hits requested by a timed search.
const TIMED_HITS: usize = 10;

/// The output of `planner bench retrieval`.
#[derive(Debug, Serialize)]
pub struct Report {
    questions: usize,
    records: usize,
    embedder: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<Kind>,
    gold_missing: Missing,
    rankers: Vec<RankerReport>,
}

/// The results of one ranker.
#[derive(Debug, Serialize)]
struct RankerReport {
    ranker: Ranker,
    #[serde(flatten)]
    scores: Scores,
    latency_ms: Latency,
    /// By dataset, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    datasets: Vec<Dataset>,
}

#[derive(Debug, Serialize)]
struct Dataset {
    dataset: String,
    questions: usize,
    #[serde(flatten)]
    scores: Scores,
}

/// Ranks every question with every ranker; `kind` restricts the search.
///
/// # Errors
/// If a search fails.
pub fn measure(
    corpus: &Corpus,
    questions: &[Question],
    kind: Option<Kind>,
    rankers: &[Ranker],
) -> Result<Report, SearchError> {
    let mut report = Report {
        questions: questions.len(),
        records: corpus.records,
        embedder: corpus.index.model().map_or_else(|| "none".into(), |model| model.0.clone()),
        kind,
        gold_missing: Missing::of(corpus, questions, kind),
        rankers: Vec::new(),
    };
    for ranker in rankers {
        let mut scores = Vec::with_capacity(questions.len());
        let mut durations = Vec::with_capacity(questions.len());
        for question in questions {
            let (found, duration) = ask(corpus, question, kind, *ranker)?;
            scores.push(found);
            durations.push(duration);
        }
        report.rankers.push(RankerReport {
            ranker: *ranker,
            scores: Scores::mean(&scores),
            latency_ms: Latency::of(durations),
            datasets: datasets(questions, &scores),
        });
    }
    Ok(report)
}

/// Returns the metrics of one ranker for a question, and the latency.
fn ask(
    corpus: &Corpus,
    question: &Question,
    kind: Option<Kind>,
    ranker: Ranker,
) -> Result<(Scores, Duration), SearchError> {
    let kinds = question.kinds(kind);
    let limit = if kinds.first().is_none_or(|kind| *kind == Kind::Document) { MAX_SECTIONS } else { MAX_HITS };
    let text = Query::fitting(&question.query).to_owned();
    let mut query = Query { text, kinds: kinds.clone(), limit, ranker, ..Query::default() };
    let mut ranking: Vec<Target> = Vec::new();
    for hit in corpus.index.rank(&query)? {
        let target = target_of(&hit);
        if !ranking.contains(&target) {
            ranking.push(target);
        }
    }
    let mut needed: Vec<(Option<Target>, f64)> = Vec::with_capacity(question.gold.len());
    for name in &question.gold {
        let thing = corpus.names.resolve(name, &kinds);
        let grade = question.grades.get(name).copied().unwrap_or(1.0);
        // Two names of one entry count once.
        match needed.iter_mut().find(|(known, _)| known.is_some() && *known == thing) {
            Some((_, known)) => *known = known.max(grade),
            None => needed.push((thing, grade)),
        }
    }
    let places: Vec<(Option<usize>, f64)> = (needed.iter())
        .map(|(thing, grade)| (ranking.iter().position(|found| Some(found) == thing.as_ref()), *grade))
        .collect();
    // The timed search, with a warm cache and the limit of a tool.
    query.limit = TIMED_HITS;
    let started = Instant::now();
    corpus.index.search(&query)?;
    Ok((Scores::of(&places), started.elapsed()))
}

fn datasets(questions: &[Question], scores: &[Scores]) -> Vec<Dataset> {
    let mut names: Vec<&str> = questions.iter().map(dataset).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() < 2 {
        return Vec::new();
    }
    let one = |name: &str| {
        let own: Vec<&Scores> = questions
            .iter()
            .zip(scores)
            .filter(|(question, _)| dataset(question) == name)
            .map(|(_, scores)| scores)
            .collect();
        let (questions, scores) = (own.len(), Scores::mean(own));
        Dataset { dataset: name.to_owned(), questions, scores }
    };
    names.into_iter().map(one).collect()
}

fn dataset(question: &Question) -> &str {
    question.dataset.as_deref().unwrap_or("(none)")
}

impl Report {
    /// Renders the report as a Markdown table.
    pub fn table(&self) -> String {
        let measures = Scores::default().entries().map(|(name, _)| name);
        let heads = ["dataset", "n", "ranker"].into_iter().chain(measures).chain(["p50 ms", "p99 ms"]);
        let mut table = Table::new(heads);
        let row = |dataset: &str, n: usize, ranker: Ranker, scores: &Scores, latency: Option<Latency>| -> Vec<String> {
            let mut row = vec![dataset.to_owned(), n.to_string(), ranker.to_string()];
            row.extend(scores.entries().map(|(_, value)| format!("{value:.3}")));
            row.extend(
                [latency.map(|l| l.p50), latency.map(|l| l.p99)]
                    .map(|ms| ms.map_or(String::new(), |ms| format!("{ms:.1}"))),
            );
            row
        };
        for ranked in &self.rankers {
            table.row(row("all", self.questions, ranked.ranker, &ranked.scores, Some(ranked.latency_ms)));
        }
        for at in 0..self.rankers.first().map_or(0, |ranked| ranked.datasets.len()) {
            for ranked in &self.rankers {
                let set = &ranked.datasets[at];
                table.row(row(&set.dataset, set.questions, ranked.ranker, &set.scores, None));
            }
        }
        let mut text = table.to_string();
        let Missing { questions, names, .. } = &self.gold_missing;
        if *names > 0 {
            text += &format!(
                "\n{questions} questions need {names} names that do not exist; they count as not found (gold_missing)\n"
            );
        }
        text
    }
}

//! `planner bench calibration`: compares relevance with the share of correct hits, and measures the effect of the
//! threshold.
//!
//! A hit is correct if the question needs it. A question is kept if the search answers it, and rejected if all hits are
//! below the threshold. Unlabelled hits may still be useful, so the true share of correct hits is at least the reported
//! one.

mod recalibrate;

use prospector_core::Kind;
use prospector_search::{Query, SearchError};
use serde::Serialize;

use crate::{
    averages::round,
    corpus::{Corpus, Missing},
    questions::Question,
    table::Table,
    targets::{Target, target_of},
};

pub use recalibrate::{Learned, learn};

/// The upper bounds of the relevance bins.
const BINS: [f64; 11] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// The output of `planner bench calibration`.
#[derive(Debug, Serialize)]
pub struct Report {
    records: usize,
    own: Questions,
    #[serde(skip_serializing_if = "Option::is_none")]
    negatives: Option<Questions>,
    gold_missing: Missing,
    hits: usize,
    /// The mean distance of relevance from the share of correct hits, over the bins.
    expected_calibration_error: f64,
    bins: Vec<Bin>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    learned: Vec<Learned>,
}

/// The outcome of a set of questions.
#[derive(Debug, Serialize)]
struct Questions {
    questions: usize,
    /// The share with an answer.
    kept: f64,
    /// The share for which all hits were below the threshold.
    rejected: f64,
}

/// The hits with a relevance within a range.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Bin {
    above: f64,
    to: f64,
    hits: usize,
    mean_relevance: f64,
    right: f64,
}

/// Searches for every question and for the negatives, i.e. questions without an answer in the catalog. At most `hits`
/// hits per question are judged; `kind` restricts the search.
///
/// # Errors
/// If a search fails.
pub fn measure(
    corpus: &Corpus,
    questions: &[Question],
    negatives: Option<&[Question]>,
    kind: Option<Kind>,
    hits: usize,
) -> Result<Report, SearchError> {
    let mut judged: Vec<(f64, bool)> = Vec::new();
    let mut kept = 0;
    for question in questions {
        let kinds = question.kinds(kind);
        let needed: Vec<Target> = question.gold.iter().filter_map(|name| corpus.names.resolve(name, &kinds)).collect();
        let (found, is_weak) = search(corpus, question, kinds, hits)?;
        if !is_weak {
            kept += usize::from(!found.is_empty());
            judged.extend(found.into_iter().map(|(target, relevance)| (relevance, needed.contains(&target))));
        }
    }
    let negatives = match negatives {
        Some(negatives) => {
            // Negatives are labelled with the kinds of another domain.
            let mut kinds: Vec<Kind> = questions.iter().flat_map(|question| question.kinds(kind)).collect();
            kinds.sort_unstable();
            kinds.dedup();
            let mut kept = 0;
            for question in negatives {
                let (found, is_weak) = search(corpus, question, kinds.clone(), hits)?;
                kept += usize::from(!is_weak && !found.is_empty());
            }
            Some(Questions::of(kept, negatives.len()))
        }
        None => None,
    };
    Ok(Report {
        records: corpus.records,
        own: Questions::of(kept, questions.len()),
        negatives,
        gold_missing: Missing::of(corpus, questions, kind),
        hits: judged.len(),
        expected_calibration_error: round(error_of(&judged)),
        bins: bins(&judged),
        learned: Vec::new(),
    })
}

/// Returns the found entries without duplicates, with the relevance of their best hit, and whether all are below the
/// threshold.
fn search(
    corpus: &Corpus,
    question: &Question,
    kinds: Vec<Kind>,
    limit: usize,
) -> Result<(Vec<(Target, f64)>, bool), SearchError> {
    let query = Query { text: Query::fitting(&question.query).to_owned(), kinds, limit, ..Query::default() };
    let mut found: Vec<(Target, f64)> = Vec::new();
    let answer = corpus.index.search(&query)?;
    for hit in answer.hits {
        let target = target_of(&hit);
        if !found.iter().any(|(known, _)| *known == target) {
            found.push((target, f64::from(hit.relevance.get())));
        }
    }
    Ok((found, answer.is_weak))
}

/// Returns the expected calibration error: the mean distance of relevance from the share of correct hits, over the
/// bins.
fn error_of(judged: &[(f64, bool)]) -> f64 {
    let bins = bins(judged);
    let error: f64 = bins.iter().map(|bin| (bin.mean_relevance - bin.right).abs() * bin.hits as f64).sum();
    error / judged.len().max(1) as f64
}

/// Sorts relevance and correctness into bins; empty bins are omitted.
fn bins(judged: &[(f64, bool)]) -> Vec<Bin> {
    let mut bins = Vec::new();
    let mut above = 0.0;
    for to in BINS {
        let inside = |relevance: f64| (relevance > above || above == 0.0) && relevance <= to;
        let own: Vec<&(f64, bool)> = judged.iter().filter(|(relevance, _)| inside(*relevance)).collect();
        if !own.is_empty() {
            let count = own.len() as f64;
            bins.push(Bin {
                above,
                to,
                hits: own.len(),
                mean_relevance: round(own.iter().map(|(relevance, _)| relevance).sum::<f64>() / count),
                right: round(own.iter().filter(|(_, right)| *right).count() as f64 / count),
            });
        }
        above = to;
    }
    bins
}

impl Questions {
    fn of(kept: usize, questions: usize) -> Questions {
        let kept = round(kept as f64 / questions.max(1) as f64);
        Questions { questions, kept, rejected: round(1.0 - kept) }
    }
}

impl Report {
    /// Adds the recalibrations that were learned before this measurement.
    #[must_use]
    pub fn after(self, learned: Vec<Learned>) -> Report {
        Report { learned, ..self }
    }

    /// Renders the report as a Markdown table.
    pub fn table(&self) -> String {
        let mut table = Table::new(["relevance", "hits", "mean", "right"]);
        for bin in &self.bins {
            table.row(vec![
                format!("{:.2}-{:.2}", bin.above, bin.to),
                bin.hits.to_string(),
                format!("{:.2}", bin.mean_relevance),
                format!("{:.2}", bin.right),
            ]);
        }
        let mut text = format!("{table}\nexpected calibration error {:.3}\n", self.expected_calibration_error);
        text += &format!("own questions kept {:.3} of {}\n", self.own.kept, self.own.questions);
        if let Some(negatives) = &self.negatives {
            text += &format!("negatives rejected {:.3} of {}\n", negatives.rejected, negatives.questions);
        }
        self.learned.iter().for_each(|learned| text += &learned.line());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_hits_into_relevance_bins() {
        let bin = |above, to, hits, mean_relevance, right| Bin { above, to, hits, mean_relevance, right };
        assert_eq!(
            bins(&[(0.0, false), (0.05, true), (0.62, true), (0.7, false), (1.0, true)]),
            [bin(0.0, 0.05, 2, 0.025, 0.5), bin(0.6, 0.7, 2, 0.66, 0.5), bin(0.9, 1.0, 1, 1.0, 1.0)]
        );
        assert_eq!(bins(&[]), []);
    }
}

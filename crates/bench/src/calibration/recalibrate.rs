//! Recalibrates relevance from the questions of a catalog: `planner bench calibration --learn`.

use std::collections::BTreeMap;

use prospector_core::Kind;
use prospector_search::{SearchError, ranking::Recalibration};
use serde::Serialize;

use super::{error_of, search};
use crate::{averages::round, corpus::Corpus, questions::Question, targets::Target};

/// Minimum number of questions for a recalibration.
const MIN_QUESTIONS: usize = 10;

/// The recalibration of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Learned {
    kind: Kind,
    /// Number of questions with an answer.
    questions: usize,
    /// Factor and offset of the log odds of relevance.
    #[serde(flatten)]
    correction: Recalibration,
    /// The calibration error of all questions without the correction.
    error_before: f64,
    /// The calibration error with two-fold cross-validation.
    error_after: f64,
    /// Whether it is applied to searches: if there are enough questions and the error decreases.
    kept: bool,
}

/// The relevance of the hits of a question, and whether it needs them.
type Judged = Vec<(f64, bool)>;

/// Fits a relevance correction per kind, and applies it to future searches for the kinds where it reduces the
/// cross-validated error. Replaces earlier corrections.
///
/// # Errors
/// If a search fails, or the correction cannot be stored.
pub fn learn(
    corpus: &Corpus,
    questions: &[Question],
    kind: Option<Kind>,
    hits: usize,
) -> Result<Vec<Learned>, SearchError> {
    for kind in Kind::ALL {
        corpus.index.recalibrate(kind, None)?;
    }
    let mut judged: BTreeMap<Kind, Vec<Judged>> = BTreeMap::new();
    for question in questions {
        let kinds = question.kinds(kind);
        let needed: Vec<Target> = question.gold.iter().filter_map(|name| corpus.names.resolve(name, &kinds)).collect();
        let (found, is_weak) = search(corpus, question, kinds, hits)?;
        let mut by_kind: BTreeMap<Kind, Judged> = BTreeMap::new();
        for (target, relevance) in found.into_iter().filter(|_| !is_weak) {
            by_kind.entry(target.0).or_default().push((relevance, needed.contains(&target)));
        }
        by_kind.into_iter().for_each(|(kind, own)| judged.entry(kind).or_default().push(own));
    }
    let mut all = Vec::new();
    for (kind, judged) in judged {
        let learned = Learned::of(kind, &judged);
        if learned.kept {
            corpus.index.recalibrate(kind, Some(learned.correction))?;
        }
        all.push(learned);
    }
    Ok(all)
}

impl Learned {
    fn of(kind: Kind, judged: &[Judged]) -> Learned {
        let half = |first: usize| judged.iter().skip(first).step_by(2).flatten().copied().collect::<Judged>();
        let halves = [half(0), half(1)];
        let corrected = |own: &Judged, other: &Judged| -> Judged {
            let correction = Recalibration::learn(other);
            own.iter().map(|(relevance, is_right)| (correction.correct(*relevance), *is_right)).collect()
        };
        let after = [corrected(&halves[0], &halves[1]), corrected(&halves[1], &halves[0])].concat();
        let (error_before, error_after) = (round(error_of(&halves.concat())), round(error_of(&after)));
        Learned {
            kind,
            questions: judged.len(),
            correction: Recalibration::learn(&judged.concat()),
            error_before,
            error_after,
            kept: judged.len() >= MIN_QUESTIONS && error_after < error_before,
        }
    }

    /// Renders it as one line.
    pub(super) fn line(&self) -> String {
        let Learned { kind, questions, error_before, error_after, .. } = self;
        let outcome = match self.kept {
            true => "applied to searches from now on",
            false if *questions < MIN_QUESTIONS => "not applied: too few questions",
            false => "not applied: no improvement",
        };
        format!(
            "recalibration of {kind} from {questions} questions: cross-validated error {error_after:.3}, before \
             {error_before:.3}; {outcome}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` questions with one hit each of this relevance, of which every `every`th is correct.
    fn questions(count: usize, relevance: f64, every: usize) -> Vec<Judged> {
        (0..count).map(|at| vec![(relevance, at % every == 0)]).collect()
    }

    #[test]
    fn keeps_a_correction_that_generalises() {
        let learned = Learned::of(Kind::Document, &questions(60, 0.8, 3));
        assert!(learned.kept && learned.error_before > 0.4 && learned.error_after < 0.1, "{learned:?}");
        assert!(learned.line().contains("from now on"), "{}", learned.line());
        let few = Learned::of(Kind::Document, &questions(9, 0.8, 3));
        assert!(!few.kept && few.line().contains("too few"), "{few:?}");
        // One in two is correct, as predicted: there is nothing to correct.
        let right = Learned::of(Kind::Document, &questions(60, 1.0 / 3.0, 3));
        assert!(!right.kept || right.error_after <= right.error_before, "{right:?}");
    }
}

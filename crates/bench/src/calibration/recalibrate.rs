//! Learning from a catalog's own questions what relevance is worth in it: `planner bench calibration --learn`.

use std::collections::BTreeMap;

use prospector_core::Kind;
use prospector_search::{SearchError, ranking::Recalibration};
use serde::Serialize;

use super::{error_of, search};
use crate::{averages::round, corpus::Corpus, questions::Question, targets::Target};

/// Fewer questions than this say too little of a catalog.
const MIN_QUESTIONS: usize = 10;

/// What was learned of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Learned {
    kind: Kind,
    /// The questions that got an answer.
    questions: usize,
    /// What the log odds of relevance are multiplied by, and what is added to them.
    #[serde(flatten)]
    correction: Recalibration,
    /// The calibration error of all questions without the correction.
    error_before: f64,
    /// With the correction that was learned from the other half of the questions, for each half.
    error_after: f64,
    /// Whether searches use it from now on: from ten questions on, where it lessens the error.
    kept: bool,
}

/// The relevance of the hits of a question, and whether it needs them.
type Judged = Vec<(f64, bool)>;

/// Learns how relevance is to be corrected, and has the index correct it in all searches to come, for the kinds where that lessens
/// the error on questions that it was not learned from. What was learned before is forgotten.
///
/// # Errors
/// When a search fails, or the index cannot keep what was learned.
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

    /// A line for people.
    pub(super) fn line(&self) -> String {
        let Learned { kind, questions, error_before, error_after, .. } = self;
        let outcome = match self.kept {
            true => "searches correct relevance so from now on",
            false if *questions < MIN_QUESTIONS => "too few questions, nothing is corrected",
            false => "nothing is corrected",
        };
        format!(
            "learned for each {kind} from {questions} questions: error on those not learned from {error_after:.3}, before \
             {error_before:.3}; {outcome}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many questions with a hit each of this relevance, of which one in so many is right.
    fn questions(count: usize, relevance: f64, every: usize) -> Vec<Judged> {
        (0..count).map(|at| vec![(relevance, at % every == 0)]).collect()
    }

    #[test]
    fn a_correction_is_kept_where_it_holds_on_other_questions() {
        let learned = Learned::of(Kind::Document, &questions(60, 0.8, 3));
        assert!(learned.kept && learned.error_before > 0.4 && learned.error_after < 0.1, "{learned:?}");
        assert!(learned.line().contains("from now on"), "{}", learned.line());
        let few = Learned::of(Kind::Document, &questions(9, 0.8, 3));
        assert!(!few.kept && few.line().contains("too few"), "{few:?}");
        // One in two, as it says: there is nothing to learn.
        let right = Learned::of(Kind::Document, &questions(60, 1.0 / 3.0, 3));
        assert!(!right.kept || right.error_after <= right.error_before, "{right:?}");
    }
}

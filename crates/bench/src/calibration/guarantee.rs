//! Finds the relevance level above which the hits of a question include everything it needs, for a requested share of
//! questions.
//!
//! Split conformal prediction (Papadopoulos and others, 2002; Angelopoulos and Bates, arXiv:2107.07511): with `n`
//! labelled questions, the level is the `floor((n + 1)(1 - g))`th smallest of their scores, where the score of a
//! question is the minimum relevance of the needed entries. For an exchangeable question, the hits above the level
//! include everything needed with a probability of at least `g`, regardless of calibration.

use serde::Serialize;

use crate::averages::round;

/// The results of a question.
pub(super) struct Judged {
    /// The hits with their relevance, and whether the question needs them.
    pub(super) hits: Vec<(f64, bool)>,
    /// Number of needed entries.
    pub(super) needs: usize,
}

impl Judged {
    /// Returns the minimum relevance of the needed entries; 0 if one was not found.
    fn score(&self) -> f64 {
        let found = self.hits.iter().filter(|(_, needed)| *needed);
        if found.clone().count() < self.needs {
            0.0
        } else {
            found.map(|(relevance, _)| *relevance).fold(1.0, f64::min)
        }
    }
}

/// A relevance level with its guarantee.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Guarantee {
    /// The requested share of questions, 0 to 1.
    pub share: f64,
    /// Number of questions used.
    pub questions: usize,
    /// For the requested share of questions, the hits with at least this relevance include everything needed; `None` if
    /// no level does.
    pub level: Option<f64>,
    /// If there is no level: the greatest share for which there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
    /// Mean number of hits above the level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits: Option<f64>,
    /// Validation: the share of every other question that satisfies a level fitted to the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<f64>,
}

impl Guarantee {
    /// Fits the level to these questions. Questions that need nothing are ignored.
    pub(super) fn learn(judged: &[Judged], share: f64) -> Guarantee {
        let judged: Vec<&Judged> = judged.iter().filter(|question| question.needs > 0).collect();
        let scores: Vec<f64> = judged.iter().map(|question| question.score()).collect();
        let level = find_level(&scores, share);
        let is_found = scores.iter().filter(|score| **score > 0.0).count();
        let hits = level.map(|level| {
            let shown = judged.iter().flat_map(|question| &question.hits).filter(|(relevance, _)| *relevance >= level);
            round(shown.count() as f64 / judged.len().max(1) as f64)
        });
        let half = |rest: usize| scores.iter().copied().skip(rest).step_by(2).collect::<Vec<f64>>();
        let held = find_level(&half(0), share).map(|level| {
            let others = half(1);
            round(others.iter().filter(|score| **score >= level).count() as f64 / others.len().max(1) as f64)
        });
        Guarantee {
            share,
            questions: judged.len(),
            // Rounded down, never above the fitted level.
            level: level.map(|level| (level * 10_000.0).floor() / 10_000.0),
            most: level.is_none().then(|| round(is_found as f64 / (judged.len() + 1) as f64)),
            hits,
            held,
        }
    }

    /// Renders it as one line.
    pub(super) fn line(&self) -> String {
        let Guarantee { share, questions, .. } = self;
        match (self.level, self.most) {
            (Some(level), _) => {
                let hits = self.hits.unwrap_or_default();
                let held = self.held.map_or(String::new(), |held| {
                    format!("; fitted to half of them, it held for {held:.3} of the rest")
                });
                format!(
                    "guarantee {share:.2}: hits with relevance of at least {level:.4} include everything needed ({hits:.1} hits; \
                     {questions} questions{held})\n"
                )
            }
            (None, most) => format!(
                "guarantee {share:.2}: not reachable at any relevance level; at most {:.3} with these {questions} questions and hits\n",
                most.unwrap_or_default()
            ),
        }
    }
}

/// Returns the level for a share of questions; `None` if there are too few questions, or too many with needed entries
/// that were not found.
fn find_level(scores: &[f64], share: f64) -> Option<f64> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    // Shares such as 0.9 have no exact binary representation.
    let rank = ((sorted.len() + 1) as f64 * (1.0 - share) + 1e-9).floor() as usize;
    sorted.get(rank.checked_sub(1)?).copied().filter(|level| *level > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(score: f64) -> Judged {
        Judged { hits: vec![(1.0, false), (score, true)], needs: 1 }
    }

    #[test]
    fn the_level_is_the_conformal_quantile() {
        let judged: Vec<Judged> = (1..=19).map(|at| question(f64::from(at) / 100.0)).collect();
        // (19 + 1) * .1 = 2: the second smallest.
        let guarantee = Guarantee::learn(&judged, 0.9);
        assert_eq!((guarantee.level, guarantee.most), (Some(0.02), None));
        assert_eq!(guarantee.hits, Some(1.9474));
        // At least nine questions are needed for a share of nine in ten.
        assert_eq!(Guarantee::learn(&judged[..9], 0.9).level, Some(0.01));
        assert_eq!(Guarantee::learn(&judged[..8], 0.9).level, None);
        assert!(Guarantee::learn(&[], 0.5).line().contains("not reachable"));
    }

    #[test]
    fn gives_no_guarantee_for_missed_entries() {
        let lost = || Judged { hits: vec![(0.9, true)], needs: 2 };
        let mut judged: Vec<Judged> = (0..17).map(|_| question(0.5)).collect();
        judged.extend([lost(), lost()]);
        assert_eq!(Guarantee::learn(&judged, 0.9).level, None);
        assert_eq!(Guarantee::learn(&judged, 0.9).most, Some(0.85));
        assert_eq!(Guarantee::learn(&judged, 0.8).level, Some(0.5));
    }

    /// On other questions from the same distribution, the guarantee holds with about the promised frequency: ten times
    /// a hundred.
    #[test]
    fn validates_the_level_on_other_questions() {
        let mut state = 7_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as f64 / (1_u64 << 31) as f64).powi(3)
        };
        let mut held = 0;
        for _ in 0..10 {
            let known: Vec<f64> = (0..200).map(|_| draw()).collect();
            let level = find_level(&known, 0.9).unwrap();
            held += (0..100).filter(|_| draw() >= level).count();
        }
        assert!((860..=940).contains(&held), "it held for {held} of 1000");
    }
}

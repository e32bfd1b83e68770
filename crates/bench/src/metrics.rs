//! Ranking metrics.
//!
//! Recall is the share of the needed entries among the first k; strict recall counts only complete results. MRR is the
//! mean reciprocal rank of the first needed entry. nDCG as in Järvelin and Kekäläinen, "Cumulated gain-based evaluation
//! of IR techniques" (2002), with the grade as gain.

use std::time::Duration;

use serde::Serialize;

use crate::averages::round;

/// The cut-offs of recall.
const DEPTHS: [usize; 4] = [1, 5, 10, 15];

/// The cut-off of nDCG.
const GAIN_DEPTH: usize = 10;

/// The metrics of one question, or their means.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Scores {
    pub(crate) recall: [f64; DEPTHS.len()],
    pub(crate) strict: [f64; DEPTHS.len()],
    pub(crate) mrr: f64,
    pub(crate) ndcg: f64,
}

impl Scores {
    /// Computes the metrics of one ranking, given the rank (from 0) and grade of each needed entry. Entries that were
    /// not found have no rank.
    pub(crate) fn of(needed: &[(Option<usize>, f64)]) -> Scores {
        let places = || needed.iter().filter_map(|(place, _)| *place);
        let count = needed.len().max(1) as f64;
        let recall = DEPTHS.map(|depth| places().filter(|place| *place < depth).count() as f64 / count);
        let discount = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        let gain: f64 = (needed.iter())
            .filter_map(|(place, grade)| Some((place.filter(|place| *place < GAIN_DEPTH)?, grade)))
            .map(|(place, grade)| grade * discount(place))
            .sum();
        let mut grades: Vec<f64> = needed.iter().map(|(_, grade)| *grade).collect();
        grades.sort_by(|a, b| b.total_cmp(a));
        let ideal: f64 = grades.iter().take(GAIN_DEPTH).enumerate().map(|(place, grade)| grade * discount(place)).sum();
        Scores {
            recall,
            strict: recall.map(|recall| f64::from(u8::from(recall >= 1.0))),
            mrr: places().min().map_or(0.0, |place| 1.0 / (place as f64 + 1.0)),
            ndcg: if ideal > 0.0 { gain / ideal } else { 0.0 },
        }
    }

    /// Returns the means.
    pub(crate) fn mean<'a>(all: impl IntoIterator<Item = &'a Scores>) -> Scores {
        let (mut sum, mut count) = (Scores::default(), 0.0);
        for scores in all {
            count += 1.0;
            for at in 0..DEPTHS.len() {
                sum.recall[at] += scores.recall[at];
                sum.strict[at] += scores.strict[at];
            }
            sum.mrr += scores.mrr;
            sum.ndcg += scores.ndcg;
        }
        let over = |sum: f64| if count > 0.0 { round(sum / count) } else { 0.0 };
        Scores { recall: sum.recall.map(over), strict: sum.strict.map(over), mrr: over(sum.mrr), ndcg: over(sum.ndcg) }
    }

    /// Returns names and values, in report order.
    pub(crate) fn entries(&self) -> [(&'static str, f64); 10] {
        let [r1, r5, r10, r15] = self.recall;
        let [s1, s5, s10, s15] = self.strict;
        [
            ("recall@1", r1),
            ("recall@5", r5),
            ("recall@10", r10),
            ("recall@15", r15),
            ("strict_recall@1", s1),
            ("strict_recall@5", s5),
            ("strict_recall@10", s10),
            ("strict_recall@15", s15),
            ("mrr", self.mrr),
            ("ndcg@10", self.ndcg),
        ]
    }
}

impl Serialize for Scores {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.entries())
    }
}

/// Latency per question, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Latency {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

impl Latency {
    /// Summarises these durations, one per question.
    pub(crate) fn of(mut durations: Vec<Duration>) -> Latency {
        durations.sort_unstable();
        let nearest_rank = |share: f64| {
            let rank = (share * durations.len() as f64).ceil() as usize;
            let duration = durations.get(rank.max(1) - 1).copied().unwrap_or_default();
            (duration.as_secs_f64() * 100_000.0).round() / 100.0
        };
        Latency { p50: nearest_rank(0.5), p99: nearest_rank(0.99) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(needed: &[(Option<usize>, f64)], expected: Scores) {
        let found = Scores::of(needed);
        for ((name, found), (_, expected)) in found.entries().into_iter().zip(expected.entries()) {
            assert!((found - expected).abs() < 1e-9, "{name} of {needed:?} is {found}, not {expected}");
        }
    }

    #[test]
    fn scores_a_first_rank_as_perfect() {
        let all = Scores { recall: [1.0; 4], strict: [1.0; 4], mrr: 1.0, ndcg: 1.0 };
        check(&[(Some(0), 1.0)], all);
        check(&[], Scores { strict: [0.0; 4], ..Scores::default() });
    }

    #[test]
    fn computes_recall_at_five() {
        // Ranks 2 and 5 of the list, and one entry that is not found: gains 1/log2(3) and 1/log2(6) of 1/log2(2) +
        // 1/log2(3) + 1/log2(4).
        let gain = 1.0 / 3.0_f64.log2() + 1.0 / 6.0_f64.log2();
        let ideal = 1.0 + 1.0 / 3.0_f64.log2() + 0.5;
        check(
            &[(Some(1), 1.0), (None, 1.0), (Some(4), 1.0)],
            Scores { recall: [0.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0], strict: [0.0; 4], mrr: 0.5, ndcg: gain / ideal },
        );
    }

    #[test]
    fn computes_recall_at_fifteen() {
        let fifteen = [0.0, 0.0, 0.0, 1.0];
        check(&[(Some(10), 1.0)], Scores { recall: fifteen, strict: fifteen, mrr: 1.0 / 11.0, ..Scores::default() });
    }

    #[test]
    fn weights_gain_by_grade() {
        // The better one ranks second: (1 + 3/log2(3)) of (3 + 1/log2(3)).
        let third = 1.0 / 3.0_f64.log2();
        check(
            &[(Some(1), 3.0), (Some(0), 1.0)],
            Scores {
                recall: [0.5, 1.0, 1.0, 1.0],
                strict: [0.0, 1.0, 1.0, 1.0],
                mrr: 1.0,
                ndcg: (1.0 + 3.0 * third) / (3.0 + third),
            },
        );
    }

    #[test]
    fn averages_over_questions() {
        let mean =
            Scores::mean(&[Scores::of(&[(Some(0), 1.0)]), Scores::of(&[(Some(2), 1.0)]), Scores::of(&[(None, 1.0)])]);
        assert_eq!(mean.recall, [0.3333, 0.6667, 0.6667, 0.6667]);
        assert_eq!(mean.mrr, 0.4444);
        assert_eq!(serde_json::to_value(mean).unwrap()["strict_recall@5"], 0.6667);
    }

    #[test]
    fn percentiles_are_observed_durations() {
        let durations = (1..=200).map(Duration::from_millis).collect();
        assert_eq!(Latency::of(durations), Latency { p50: 100.0, p99: 198.0 });
        assert_eq!(Latency::of(vec![Duration::from_micros(1234)]), Latency { p50: 1.23, p99: 1.23 });
    }
}

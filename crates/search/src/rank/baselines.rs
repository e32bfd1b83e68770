//! Baselines for evaluation: lexical, dense, and reciprocal rank fusion of both.

use prospector_core::Kind;

use super::{preselect::by_score, query_scores::QueryScores};
use crate::{index::Snapshot, ranking::Ranker};

/// The constant of reciprocal rank fusion, as published.
const RANK_OFFSET: f32 = 60.0;

/// Returns the scores of the records found by a baseline, best first.
pub(super) fn scores(
    snapshot: &Snapshot,
    kind: Kind,
    query: &QueryScores,
    within: Option<u32>,
    ranker: Ranker,
) -> Vec<(f32, usize)> {
    let kind_index = snapshot.kind_index(kind);
    let places = kind_index.members(within);
    let by = |score: &dyn Fn(usize) -> Option<f32>| {
        let mut scores: Vec<(f32, usize)> =
            places.iter().filter_map(|place| score(*place).map(|score| (score, *place))).collect();
        scores.sort_unstable_by(by_score);
        scores
    };
    let lexical = || by(&|place| Some(query.lexical(place)).filter(|score| *score > 0.0));
    let dense = || by(&|place| query.vector().map(|_| query.similarity(snapshot, kind, place)));
    match ranker {
        Ranker::Lexical => lexical(),
        Ranker::Dense => dense(),
        Ranker::Rrf | Ranker::Full => fuse(&[lexical(), dense()], kind_index.docs.len()),
    }
}

/// Reciprocal rank fusion of several lists of positions.
fn fuse(lists: &[Vec<(f32, usize)>], places: usize) -> Vec<(f32, usize)> {
    let mut sums = vec![0.0_f32; places];
    for list in lists {
        for (rank, (_, place)) in list.iter().enumerate() {
            sums[*place] += 1.0 / (RANK_OFFSET + 1.0 + rank as f32);
        }
    }
    let mut scores: Vec<(f32, usize)> =
        sums.into_iter().enumerate().filter(|(_, sum)| *sum > 0.0).map(|(place, sum)| (sum, place)).collect();
    scores.sort_unstable_by(by_score);
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_hits_of_both_lists_first() {
        let joined = fuse(&[vec![(9.0, 2), (8.0, 0)], vec![(0.3, 0), (0.2, 3), (0.1, 2)]], 5);
        let order: Vec<usize> = joined.iter().map(|(_, place)| *place).collect();
        assert_eq!(order, [0, 2, 3], "1/62 + 1/61 before 1/61 + 1/63 before 1/62; what no list has is left out");
        assert!((joined[0].0 - (1.0 / 62.0 + 1.0 / 61.0)).abs() < 1e-6);
    }
}

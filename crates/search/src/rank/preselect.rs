//! Selects the best records by a moderately expensive score, skipping parents whose upper bound is too low.

use rayon::prelude::*;

/// Minimum number of records scored at once, to occupy all cores.
const MIN_SCORED: usize = 8_192;

/// Compares by score, descending, then by position.
pub(super) fn by_score(a: &(f32, usize), b: &(f32, usize)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

/// The records of one parent, with an upper bound of their scores.
pub(super) struct Bounded<'m> {
    pub(super) bound: f32,
    pub(super) members: &'m [u32],
}

/// Returns the positions of the best `keep` members, unordered; the result is the same as if all were scored.
pub(super) fn preselect(mut parents: Vec<Bounded<'_>>, keep: usize, score: impl Fn(usize) -> f32 + Sync) -> Vec<usize> {
    parents.sort_unstable_by(|a, b| b.bound.total_cmp(&a.bound));
    let mut best: Vec<(f32, usize)> = Vec::new();
    let mut worst = f32::MIN;
    let mut at = 0;
    while at < parents.len() && parents[at].bound >= worst {
        let mut batch: Vec<u32> = Vec::with_capacity(MIN_SCORED);
        while at < parents.len() && batch.len() < MIN_SCORED && parents[at].bound >= worst {
            batch.extend(parents[at].members);
            at += 1;
        }
        let scored = batch.into_par_iter().with_min_len(1_024).map(|place| (score(place as usize), place as usize));
        best.par_extend(scored);
        if best.len() > keep {
            let (_, last, _) = best.select_nth_unstable_by(keep.saturating_sub(1), by_score);
            worst = last.0;
            best.truncate(keep);
        }
    }
    best.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_all_of_the_best() {
        let mut seed = 7_u64;
        let mut lot = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f32 / (1_u64 << 24) as f32
        };
        let members: Vec<Vec<u32>> = (0..600).map(|parent| (parent * 50..parent * 50 + 50).collect()).collect();
        let of_parent: Vec<f32> = members.iter().map(|_| 2.0 * lot()).collect();
        // Some are equal, so that position decides.
        let own: Vec<f32> = (0..30_000).map(|_| (lot() * 100.0).round() / 100.0).collect();
        let scored = std::sync::atomic::AtomicUsize::new(0);
        let score = |place: usize| {
            scored.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            own[place] + of_parent[place / 50]
        };
        let bounded = members.iter().zip(&of_parent);
        let bounded = bounded.map(|(members, score)| Bounded { bound: score + 1.0, members }).collect();
        let mut found = preselect(bounded, 500, score);
        found.sort_unstable();
        assert!(scored.load(std::sync::atomic::Ordering::Relaxed) < 25_000, "most parents cannot have any of the best");
        let mut all: Vec<(f32, usize)> = (0..30_000).map(|place| (own[place] + of_parent[place / 50], place)).collect();
        all.sort_by(by_score);
        let mut expected: Vec<usize> = all[..500].iter().map(|(_, place)| *place).collect();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn keeps_all_if_few() {
        let bounded = vec![Bounded { bound: 1.0, members: &[3, 1] }, Bounded { bound: 0.0, members: &[2] }];
        let mut found = preselect(bounded, 5, |place| place as f32);
        found.sort_unstable();
        assert_eq!(found, [1, 2, 3]);
    }
}

//! Selects pairs among candidates: a candidate that is clearly the best for both of its rows.

use std::collections::{HashMap, HashSet};

/// Two rows that pass the tests of a rule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    /// The key of the row in the left subset.
    pub(crate) left: String,
    /// The key of the row in the right subset.
    pub(crate) right: String,
    /// Similarity, 0 to 1.
    pub(crate) score: f64,
}

/// Rows that are already matched.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) left: HashSet<String>,
    pub(crate) right: HashSet<String>,
}

/// The best and second best score of a row, and the best candidate.
#[derive(Clone, Copy)]
struct Best {
    at: usize,
    score: f64,
    second: f64,
}

/// Returns the indices of the candidates that are pairs. A row whose two best candidates differ by less than `margin` is not matched; it
/// may become unambiguous once other pairs are taken.
pub(crate) fn one_to_one(candidates: &[Candidate], taken: &mut Taken, margin: f64) -> Vec<usize> {
    let mut accepted = Vec::new();
    loop {
        let open: Vec<usize> = (0..candidates.len())
            .filter(|at| !taken.left.contains(&candidates[*at].left) && !taken.right.contains(&candidates[*at].right))
            .collect();
        let left = best(&open, candidates, |candidate| &candidate.left);
        let right = best(&open, candidates, |candidate| &candidate.right);
        let clear = |best: &Best, at: usize| best.at == at && best.score - best.second >= margin;
        let before = accepted.len();
        for at in open {
            let candidate = &candidates[at];
            let is_clear = left.get(candidate.left.as_str()).is_some_and(|best| clear(best, at))
                && right.get(candidate.right.as_str()).is_some_and(|best| clear(best, at));
            if is_clear {
                taken.left.insert(candidate.left.clone());
                taken.right.insert(candidate.right.clone());
                accepted.push(at);
            }
        }
        if accepted.len() == before {
            return accepted;
        }
    }
}

fn best<'a>(
    open: &[usize],
    candidates: &'a [Candidate],
    row: impl Fn(&'a Candidate) -> &'a str,
) -> HashMap<&'a str, Best> {
    let mut found: HashMap<&str, Best> = HashMap::new();
    for at in open {
        let score = candidates[*at].score;
        let best = found.entry(row(&candidates[*at])).or_insert(Best { at: *at, score: -1.0, second: -1.0 });
        if score > best.score {
            *best = Best { at: *at, score, second: best.score };
        } else if score > best.second {
            best.second = score;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &[(&str, &str, f64)], expected: &[(&str, &str)]) {
        let candidate = |(left, right, score): &(&str, &str, f64)| Candidate {
            left: (*left).into(),
            right: (*right).into(),
            score: *score,
        };
        let candidates: Vec<Candidate> = given.iter().map(candidate).collect();
        let accepted = one_to_one(&candidates, &mut Taken::default(), 0.04);
        let pairs: Vec<(&str, &str)> =
            accepted.iter().map(|at| (candidates[*at].left.as_str(), candidates[*at].right.as_str())).collect();
        assert_eq!(pairs, expected);
    }

    #[test]
    fn what_is_clearly_the_best_of_both_is_a_pair() {
        check(&[("a", "1", 0.9), ("a", "2", 0.8), ("b", "2", 0.95)], &[("a", "1"), ("b", "2")]);
        // Both are ambiguous.
        check(&[("a", "1", 0.9), ("b", "1", 0.89)], &[]);
        check(&[("a", "1", 1.0), ("a", "2", 1.0)], &[]);
        // `a` is unambiguous once `2` is taken.
        check(&[("a", "1", 0.9), ("a", "2", 0.9), ("b", "2", 1.0)], &[("b", "2"), ("a", "1")]);
    }
}

//! Blocking: what two rows must share before they are compared, so that not every pair of rows is compared.
//!
//! | test | block | recall loss |
//! |---|---|---|
//! | exact | the value | none |
//! | tolerance of w | the number divided into steps of w; the right row is in its own step and both neighbours | none |
//! | window of d days | the same with steps of d + 1 days | none |
//! | contains, named in | the last word of the value, and each of the first sixteen words of the text | values later in the text |
//! | fuzzy | the first or last four characters; six or eight if four leave too many candidates | texts with edits at both ends |
//!
//! Of the blocks of a rule's tests, the one with the fewest candidates is used; a fuzzy block only if there is no other.

use super::recipe::{Rule, TestKind};

/// Number of words of a text in which a value is searched.
const MAX_WORDS: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Block {
    /// The values are equal.
    Equal {
        /// Index of the test.
        test: usize,
    },
    /// The numbers are at most a step apart.
    Near {
        /// Index of the test.
        test: usize,
        /// The step, more than 0.
        step: f64,
    },
    /// A text has the last word of the other side's value.
    Word {
        /// A text contains the last word of the other side's value.
        test: usize,
        /// Whether the text is on the left.
        is_left: bool,
    },
    /// The texts share a prefix or a suffix.
    Ends {
        /// Index of the test.
        test: usize,
        /// Length in characters.
        letters: usize,
    },
}

impl Block {
    /// Returns the blocks of a rule's tests in groups; a later group is used if the earlier ones leave too many candidates.
    pub(crate) fn of(rule: &Rule) -> Vec<Vec<Block>> {
        let sure: Vec<Block> = (rule.tests.iter().enumerate())
            .filter_map(|(test, one)| match one.test {
                TestKind::Exact => Some(Block::Equal { test }),
                TestKind::Tolerance | TestKind::Window => match one.limit()? {
                    0.0 => Some(Block::Equal { test }),
                    days if one.test == TestKind::Window => Some(Block::Near { test, step: days + 1.0 }),
                    step => Some(Block::Near { test, step }),
                },
                TestKind::Contains => Some(Block::Word { test, is_left: true }),
                TestKind::NamedIn => Some(Block::Word { test, is_left: false }),
                TestKind::Fuzzy => None,
            })
            .collect();
        if !sure.is_empty() {
            return vec![sure];
        }
        let ends = |letters| (0..rule.tests.len()).map(move |test| Block::Ends { test, letters }).collect();
        [4, 6, 8].map(ends).to_vec()
    }

    /// Returns the key expressions over the compared values, per side; a row is in the block of each key.
    pub(crate) fn keys(self) -> (Vec<String>, Vec<String>) {
        match self {
            Block::Equal { test } => (vec![format!("n{test}")], vec![format!("n{test}")]),
            Block::Near { test, step } => {
                // Slightly wider, so that rounding loses no pair at the edge.
                let step = step * (1.0 + 1e-6) + 1e-9;
                let at = format!("TRY_CAST(n{test} / CAST({step:e} AS DOUBLE) AS BIGINT)");
                (vec![at.clone()], vec![format!("{at} - 1"), at.clone(), format!("{at} + 1")])
            }
            Block::Word { test, is_left } => {
                let each = (1..=MAX_WORDS).map(|at| format!("nullif(split_part(n{test}, ' ', {at}), '')")).collect();
                let last = vec![format!("regexp_replace(n{test}, '^.* ', '')")];
                if is_left { (each, last) } else { (last, each) }
            }
            Block::Ends { test, letters } => {
                let start = format!("concat('<', substr(n{test}, 1, {letters}))");
                let last = letters - 1;
                let end = format!("concat('>', substr(n{test}, greatest(character_length(n{test}) - {last}, 1)))");
                (vec![start.clone(), end.clone()], vec![start, end])
            }
        }
    }

    /// Returns the index of the test.
    pub(crate) fn test(self) -> usize {
        match self {
            Block::Equal { test } | Block::Near { test, .. } | Block::Word { test, .. } | Block::Ends { test, .. } => {
                test
            }
        }
    }
}

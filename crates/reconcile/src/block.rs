//! Blocks: what two rows must have in common before they are compared, so that not every row is compared with every other.
//!
//! | test | block | what may be missed |
//! |---|---|---|
//! | exact | the value | nothing |
//! | tolerance of w | the number in steps of w; the right row stands in its step and in both beside it | nothing |
//! | window of d days | the same with steps of d + 1 days | nothing |
//! | contains, named in | the last word of the value, and each of the first sixteen words of the text | values that stand later |
//! | fuzzy | the first four characters, or the last four; six or eight where four leave too many | texts with edits at both ends |
//!
//! Of the blocks that the tests of a rule give, the one with the fewest candidates is taken; a fuzzy one only where there is
//! no other.

use super::recipe::{Rule, TestKind};

/// A value is looked for among so many words of a text.
const MAX_WORDS: usize = 16;

/// The block of one test of a rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Block {
    /// The values are equal.
    Equal {
        /// The test, by its place.
        test: usize,
    },
    /// The numbers are at most a step apart.
    Near {
        /// The test, by its place.
        test: usize,
        /// The step, more than 0.
        step: f64,
    },
    /// A text has the last word of the other side's value.
    Word {
        /// The test, by its place.
        test: usize,
        /// Whether the text is on the left.
        is_left: bool,
    },
    /// The texts begin alike, or end alike.
    Ends {
        /// The test, by its place.
        test: usize,
        /// How many characters.
        letters: usize,
    },
}

impl Block {
    /// The blocks that the tests of a rule give, in groups: one of a later group is for where those before leave too many
    /// candidates.
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

    /// The expressions of the block over the compared values, for each side: a row stands in all of them.
    pub(crate) fn keys(self) -> (Vec<String>, Vec<String>) {
        match self {
            Block::Equal { test } => (vec![format!("n{test}")], vec![format!("n{test}")]),
            Block::Near { test, step } => {
                // A little wider, so that rounding loses no pair at the edge.
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

    /// The test that it comes from.
    pub(crate) fn test(self) -> usize {
        match self {
            Block::Equal { test } | Block::Near { test, .. } | Block::Word { test, .. } | Block::Ends { test, .. } => {
                test
            }
        }
    }
}

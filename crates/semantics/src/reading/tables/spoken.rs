//! Words that say how rows are put together.

use prospector_connect::query::Aggregation;

use crate::reading::superlatives::SUPERLATIVES;
use crate::reading::words::{Comparison, Words};

/// Words that say how rows are put together.
const AGGREGATES: [(&[&str], Aggregation); 10] = [
    (&["average"], Aggregation::Avg),
    (&["mean"], Aggregation::Avg),
    (&["avg"], Aggregation::Avg),
    (&["maximum"], Aggregation::Max),
    (&["minimum"], Aggregation::Min),
    (&["total"], Aggregation::Sum),
    (&["sum"], Aggregation::Sum),
    (&["overall"], Aggregation::Sum),
    (&["combined"], Aggregation::Sum),
    (&["how", "much"], Aggregation::Sum),
];

/// Words that ask for the time of a row.
const FIRST: [&str; 2] = ["first", "earliest"];
const LAST: [&str; 3] = ["last", "latest", "newest"];

/// What a question says of how.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Spoken {
    pub(super) counts_from: Option<usize>,
    pub(super) is_distinct: bool,
    /// Where an order is said, and whether the largest comes first.
    pub(super) rank: Option<(usize, bool)>,
    /// What the columns that are ranked by are called, where the word for the order says it.
    pub(super) quality: Option<&'static [&'static str]>,
    pub(super) limit: Option<usize>,
    pub(super) aggregation: Option<Aggregation>,
    /// Whether it asks when the first or the last row was.
    pub(super) when: Option<Aggregation>,
}

impl Spoken {
    /// Takes the words that say how.
    pub(super) fn take(words: &mut Words, comparisons: &[Comparison]) -> Spoken {
        let counts: [&[&str]; 4] = [&["how", "many"], &["number", "of"], &["count", "of"], &["count"]];
        let counts_from = counts.iter().find_map(|phrase| words.take_phrase(phrase));
        let distinct = ["different", "distinct", "unique"];
        let is_distinct = distinct.iter().any(|word| words.take_phrase(&[word]).is_some());
        let superlative = SUPERLATIVES
            .iter()
            .find_map(|(phrase, is_largest, columns)| Some((words.take_phrase(phrase)?, *is_largest, *columns)));
        let rank = superlative.map(|(at, is_largest, _)| (at, is_largest)).or_else(|| words.take_rank());
        let limit = rank.and_then(|_| words.take_number());
        // `a total over 40` is the name of a column.
        let is_compared = |at: usize, length| comparisons.iter().any(|comparison| comparison.at == at + length);
        let aggregation = AGGREGATES.iter().find_map(|(phrase, meant)| {
            let at = words.find_lower(&phrase.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())?;
            if is_compared(at, phrase.len()) {
                return None;
            }
            words.take(at, phrase.len());
            Some(*meant)
        });
        let quality = superlative.map(|(.., columns)| columns);
        Spoken { counts_from, is_distinct, rank, quality, limit, aggregation, when: take_when(words) }
    }
}

/// `When was the last order?`
fn take_when(words: &mut Words) -> Option<Aggregation> {
    if words.list.first().is_none_or(|word| word.lower != "when") {
        return None;
    }
    let mut any = |all: &[&str]| all.iter().any(|word| words.take_phrase(&[word]).is_some());
    let end = if any(&FIRST) { Aggregation::Min } else { Some(Aggregation::Max).filter(|_| any(&LAST))? };
    words.take(0, 1);
    Some(end)
}

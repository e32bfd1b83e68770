//! Proposes example pairs by similarity, before anything is known about the columns.
//!
//! A row is a bag of its words, their trigrams, numbers (whole, and with cents) and dates, regardless of columns. Weights are tf-idf with
//! cosine similarity; tokens in more than a twentieth of the rows are ignored. A pair is proposed if a row has one best match that is
//! clearly ahead of the second.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::{subset::Subset, value};

/// Number of rows of the left subset that are used.
const LOOKED_AT: usize = 400;

/// Number of rows of the right subset that are used.
const MAX_ROWS: usize = 50_000;

/// Minimum relative distance between the best and the second best match.
const CLEAR: f64 = 0.15;

/// Values are truncated to this length.
const MAX_VALUE_CHARS: usize = 200;

/// Two similar rows, by index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pair {
    pub(crate) left: usize,
    pub(crate) right: usize,
    /// Between 0 and 1.
    pub(crate) similarity: f64,
}

/// Returns at most `limit` pairs, most similar first, without repeating a row.
pub(crate) fn propose(left: &Subset, right: &Subset, limit: usize) -> Vec<Pair> {
    let step = left.rows.len().div_ceil(LOOKED_AT).max(1);
    let looked_at: Vec<usize> = (0..left.rows.len()).step_by(step).collect();
    let right_bags: Vec<BTreeSet<String>> = right.rows.iter().take(MAX_ROWS).map(|row| bag(row)).collect();
    let mut rows_of: HashMap<&str, Vec<usize>> = HashMap::new();
    for (row, bag) in right_bags.iter().enumerate() {
        bag.iter().for_each(|part| rows_of.entry(part).or_default().push(row));
    }
    let count = right_bags.len().max(1) as f64;
    let frequent = (right_bags.len() / 20).max(20);
    let weight = |part: &str| match rows_of.get(part).map_or(0, Vec::len) {
        rows if rows > frequent => 0.0,
        rows => (1.0 + count / (rows as f64 + 1.0)).ln(),
    };
    let norm = |bag: &BTreeSet<String>| bag.iter().map(|part| weight(part).powi(2)).sum::<f64>().sqrt();
    let norms: Vec<f64> = right_bags.iter().map(norm).collect();
    let mut pairs = Vec::new();
    for row in looked_at {
        let own = bag(&left.rows[row]);
        let own_norm = norm(&own);
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for part in &own {
            let weight = weight(part);
            if weight > 0.0 {
                for other in rows_of.get(part.as_str()).into_iter().flatten() {
                    *scores.entry(*other).or_default() += weight * weight;
                }
            }
        }
        let mut ranked: Vec<(f64, usize)> = (scores.into_iter())
            .map(|(other, shared)| (shared / (own_norm * norms[other]).max(f64::MIN_POSITIVE), other))
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let second = ranked.get(1).map_or(0.0, |(score, _)| *score);
        if let Some((best, other)) = ranked.first().filter(|(best, _)| best - second >= CLEAR * best) {
            pairs.push(Pair { left: row, right: *other, similarity: best.min(1.0) });
        }
    }
    pairs.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.left.cmp(&b.left)));
    let mut seen = HashSet::new();
    pairs.retain(|pair| seen.insert(pair.right));
    spread(pairs, limit)
}

/// Samples evenly from the better three quarters: pairs that agree in everything teach no tolerance.
fn spread(pairs: Vec<Pair>, limit: usize) -> Vec<Pair> {
    let good = pairs.len() - pairs.len() / 4;
    if good <= limit {
        return pairs.into_iter().take(limit).collect();
    }
    (0..limit).map(|at| pairs[at * good / limit]).collect()
}

/// Returns the tokens of a row.
fn bag(row: &[Value]) -> BTreeSet<String> {
    let mut parts = BTreeSet::new();
    for cell in row {
        let Some(text) = value::text(cell) else { continue };
        let text: String = text.chars().take(MAX_VALUE_CHARS).collect();
        if let Some(day) = value::day(cell) {
            parts.insert(format!("d{day}"));
        } else if let Some(number) = value::number(cell) {
            parts.insert(format!("n{number:.2}"));
            parts.insert(format!("i{number:.0}"));
        } else {
            let plain = value::plain(&text);
            for word in plain.split(' ') {
                // A number in a text may refer to another row.
                if let Ok(number) = word.parse::<u64>() {
                    parts.insert(format!("n{:.2}", number as f64));
                }
                parts.insert(format!("w{word}"));
                let letters: Vec<char> = word.chars().collect();
                parts.extend(letters.windows(3).map(|three| format!("t{}", three.iter().collect::<String>())));
            }
        }
    }
    parts
}

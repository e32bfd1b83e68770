//! Example pairs by similarity, before anything is known of the columns.
//!
//! A row is the bag of what is in it: words, their trigrams, numbers (whole, and with their cents) and dates, whatever column
//! they are in. What is rare counts more (tf-idf, with cosine similarity; what is in more than a twentieth of the rows is
//! left out). A pair is proposed where a row has one best other, clearly before the second.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::{subset::Subset, value};

/// So many rows of the left subset are looked at.
const LOOKED_AT: usize = 400;

/// Rows beyond these of the right subset are not looked at.
const MAX_ROWS: usize = 50_000;

/// The second best must be behind by this share of the best.
const CLEAR: f64 = 0.15;

/// A value is cut to so many characters.
const MAX_VALUE_CHARS: usize = 200;

/// Two rows that are alike, by their places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pair {
    pub(crate) left: usize,
    pub(crate) right: usize,
    /// 0 to 1.
    pub(crate) similarity: f64,
}

/// At most so many pairs, from the most alike to the least, no row twice.
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

/// Evenly from the better three quarters: pairs that agree in everything teach no tolerance.
fn spread(pairs: Vec<Pair>, limit: usize) -> Vec<Pair> {
    let good = pairs.len() - pairs.len() / 4;
    if good <= limit {
        return pairs.into_iter().take(limit).collect();
    }
    (0..limit).map(|at| pairs[at * good / limit]).collect()
}

/// What is in a row.
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
                // A number in a text may be that of another row.
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

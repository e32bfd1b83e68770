//! Matching of the columns of a table to a question.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use prospector_connect::table::Table;
use prospector_text::{identifiers::words, stop_words::OF_QUERIES};

/// Minimum score of a matching column, relative to the best one.
const MIN_SHARE_OF_BEST: f64 = 0.4;

/// Returns the positions of the columns that match a question, best first.
pub(crate) fn matching_columns(table: &Table, question: &str) -> Vec<usize> {
    let scores = scores(table, question);
    let least = scores.iter().copied().fold(0.0, f64::max) * MIN_SHARE_OF_BEST;
    let fits = |at: &usize| scores[*at] > 0.0 && scores[*at] >= least;
    let mut matching: Vec<usize> = (0..scores.len()).filter(fits).collect();
    matching.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    matching
}

/// Scores each column: question words in its name count twice as much as in its description, weighted by inverse document
/// frequency over the columns.
fn scores(table: &Table, question: &str) -> Vec<f64> {
    let stems = |text: &str| -> Vec<String> {
        let words = words(text).into_iter().filter(|word| word.len() > 2 && !OF_QUERIES.contains(&word.as_str()));
        words.map(|word| word.trim_end_matches('s').to_owned()).collect()
    };
    let asked: BTreeSet<String> = stems(question).into_iter().collect();
    // Summed in word order, so that the result does not depend on the column text.
    let said: Vec<BTreeMap<&str, f64>> = (table.columns.iter())
        .map(|column| {
            let named = stems(&column.name).into_iter().map(|word| (word, 2.0));
            let described = stems(&column.description).into_iter().map(|word| (word, 1.0));
            let mut said = BTreeMap::new();
            for (word, weight) in named.chain(described) {
                if let Some(word) = asked.get(&word) {
                    said.entry(word.as_str()).or_insert(weight);
                }
            }
            said
        })
        .collect();
    let mut having: HashMap<&str, usize> = HashMap::new();
    for word in said.iter().flat_map(BTreeMap::keys) {
        *having.entry(word).or_default() += 1;
    }
    let rare = |word: &str| (1.0 + said.len() as f64 / having.get(word).copied().unwrap_or(1) as f64).ln();
    said.iter().map(|said| said.iter().map(|(word, weight)| weight * rare(word)).sum()).collect()
}

//! Numbers that count: rows that hold a value, values that a sentence lists.

use std::collections::BTreeMap;

use super::{Found, Written};
use crate::answer::DataQuestion;

/// Whether a number counts the rows that hold a value which the sentence names, or the values of a column that it lists.
pub(super) fn find_count(number: &Written, sentence: &str, sources: &[&DataQuestion]) -> Option<Found> {
    let wanted = number.value.filter(|value| *value >= 1.0 && value.fract() == 0.0 && !number.percent)?;
    let sentence = sentence.to_lowercase();
    let is_named = |text: &str| {
        let text = text.trim().to_lowercase();
        text.chars().count() >= 2
            && sentence.match_indices(&text).any(|(at, _)| {
                let is_end = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
                is_end(sentence[..at].chars().next_back()) && is_end(sentence[at + text.len()..].chars().next())
            })
    };
    for source in sources {
        for (at, column) in source.columns.iter().enumerate() {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for text in source.rows.iter().filter_map(|row| row.get(at)?.as_str()) {
                *counts.entry(text).or_default() += 1;
            }
            counts.retain(|text, _| is_named(text));
            if let Some((text, _)) = counts.iter().find(|(_, count)| **count as f64 == wanted && !source.has_more) {
                return Some(Found::Derived(format!("the number of rows of {} with {column} = {text}", source.id)));
            }
            if counts.len() > 1 && counts.len() as f64 == wanted {
                return Some(Found::Derived(format!("the number of values of {column} that the sentence lists")));
            }
        }
    }
    None
}

//! Recognises defining sentences.

use crate::{
    mark::Mark,
    words::{is_stop_word, words},
};

/// Maximum number of words of a subject.
const MAX_SUBJECT: usize = 6;

/// Copulas between a subject and its definition.
const IS: [&str; 2] = ["is", "are"];
const MEANS: [&str; 6] = ["means", "mean", "denotes", "equals", "refers", "stands"];
/// Words that continue a defining sentence.
const KINDS: [&str; 15] = [
    "a",
    "an",
    "the",
    "any",
    "anyone",
    "everyone",
    "everything",
    "one",
    "those",
    "all",
    "when",
    "defined",
    "calculated",
    "computed",
    "how",
];
const ARTICLES: [&str; 8] = ["a", "an", "the", "any", "each", "every", "our", "all"];
/// Words that make the start of a sentence a clause.
const RELATIVE: [&str; 6] = ["that", "which", "who", "whose", "where", "if"];
const CONDITIONS: [&str; 3] = ["if", "when", "once"];
/// Words that introduce a name: `is our web shop`.
const NAMING: [&str; 3] = ["our", "called", "named"];

pub(super) struct Subject {
    pub(super) term: String,
    pub(super) mark: Mark,
    /// The name that the sentence assigns to its subject.
    pub(super) complement: Option<String>,
    pub(super) is_formula: bool,
}

/// Returns the subject of `A VIP customer is a customer ..`, `Churn means ..` or `An invoice is overdue once ..`.
pub(super) fn subject(sentence: &str) -> Option<Subject> {
    let tokens: Vec<&str> = sentence.split_whitespace().collect();
    let lower: Vec<String> = tokens.iter().take(24).map(|token| plain(token)).collect();
    let from = lower.iter().take_while(|word| ARTICLES.contains(&word.as_str())).count();
    let is_link = |word: &String| IS.contains(&word.as_str()) || MEANS.contains(&word.as_str());
    let link = from + lower[from..].iter().position(is_link)?;
    let own = &tokens[from..link];
    let is_name = !own.is_empty()
        && own.len() <= MAX_SUBJECT
        && !is_stop_word(&lower[from])
        && !lower[from..link].iter().any(|word| RELATIVE.contains(&word.as_str()))
        && !own.iter().any(|token| token.ends_with([',', ';', ':']));
    let rest = &lower[link + 1..];
    if !is_name || rest.is_empty() || rest[0] == "not" {
        return None;
    }
    let noun = own.join(" ");
    let is_means = MEANS.contains(&lower[link].as_str());
    // `A customer is considered churned when ..`
    let is_condition =
        |at: &usize| CONDITIONS.contains(&rest[*at].as_str()) && rest.get(at + 1).is_some_and(|next| next != "a");
    let at = (1..rest.len().min(3)).find(is_condition);
    if let Some(adjective) = at.map(|at| &rest[at - 1]).filter(|word| !is_means && !is_stop_word(word)) {
        let term = format!("{adjective} {noun}");
        return Some(Subject { term, mark: Mark::Subject, complement: None, is_formula: false });
    }
    let is_one = from > 0 && lower[link] == "is" && matches!(lower[0].as_str(), "a" | "an" | "any");
    let says = if lower[link] == "are" {
        matches!(rest[0].as_str(), "those" | "all")
    } else {
        KINDS.contains(&rest[0].as_str())
    };
    let mark = if is_means || is_one || says { Mark::Subject } else { Mark::Mention };
    let complement = NAMING.contains(&rest[0].as_str()).then(|| complement(&tokens[link + 2..])).flatten();
    Some(Subject { term: noun, mark, complement, is_formula: lower[link] == "equals" })
}

/// Returns the words up to the end of the clause, if they are few.
fn complement(tokens: &[&str]) -> Option<String> {
    let end = tokens.iter().position(|token| token.ends_with([';', ',', '.', ':']))?;
    (end < 4).then(|| tokens[..=end].join(" ").trim_end_matches([';', ',', '.', ':']).to_owned())
}

fn plain(token: &str) -> String {
    token.trim_matches(['`', '"', '“', '”', '*', '(', ')']).to_lowercase()
}

/// Returns the noun of `A customer is ..`, the start of a sentence before a bold adjective.
pub(super) fn condition(before: &str) -> Option<String> {
    let all = words(before);
    let link = all.iter().position(|word| IS.contains(&word.as_str()))?;
    let from = all.iter().take_while(|word| ARTICLES.contains(&word.as_str())).count();
    (from < link && link - from <= 3 && all.len() - link <= 3 && !is_stop_word(&all[from]))
        .then(|| all[from..link].join(" "))
}

/// Returns the term of `Churn: ..` or `Churn - ..`.
pub(super) fn label(sentence: &str) -> Option<&str> {
    let marks = [": ", " - ", " – ", " — "];
    let at = marks.iter().filter_map(|mark| sentence.find(mark)).min()?;
    let term = sentence[..at].trim().trim_matches('`');
    let all = words(term);
    let starts = all.first().is_some_and(|word| !is_stop_word(word));
    let is_name = starts && all.len() <= 5 && !term.contains(['.', ',', ';', '!', '?']);
    let is_said = all.iter().any(|word| IS.contains(&word.as_str()) || MEANS.contains(&word.as_str()));
    (is_name && !is_said).then_some(term)
}

/// Returns the abbreviations of a text with their expansions: `average order value (AOV)`.
pub(crate) fn short_forms(text: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for (at, _) in text.match_indices('(') {
        let near = &text[at + 1..text.floor_char_boundary((at + 12).min(text.len()))];
        let Some((inside, _)) = near.split_once(')') else { continue };
        let is_short = (2..=8).contains(&inside.len())
            && inside.starts_with(|c: char| c.is_ascii_uppercase())
            && inside.chars().all(|c| c.is_ascii_alphanumeric());
        let letters: Vec<char> = inside.chars().filter(char::is_ascii_uppercase).collect();
        if !is_short || letters.len() < 2 {
            continue;
        }
        let start = text.floor_char_boundary(at.saturating_sub(80));
        let before: Vec<&str> = text[start..at].split_whitespace().collect();
        // The last words with matching initials; stop words in between may be skipped.
        let mut left = letters.len();
        for (from, word) in before.iter().enumerate().rev() {
            let initial = word.chars().next().map(|c| c.to_ascii_uppercase());
            if initial == Some(letters[left - 1]) {
                left -= 1;
            } else if !is_stop_word(&word.to_lowercase()) {
                break;
            }
            if left == 0 {
                out.push((inside.to_owned(), before[from..].join(" ")));
                break;
            }
        }
    }
    out
}

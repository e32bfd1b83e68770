//! Words and stems: how terms are compared.

use frostem::{Algorithm, Stemmer};

/// A constant pattern, compiled once.
macro_rules! regex {
    ($pattern:expr) => {{
        static REGEX: ::std::sync::LazyLock<::regex::Regex> =
            ::std::sync::LazyLock::new(|| ::regex::Regex::new($pattern).expect("the pattern is constant"));
        &*REGEX
    }};
}
pub(crate) use regex;

/// Numbers stay whole (`1,000.00` is `1000`), so that `500` in a question finds `500.00` in a rule.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    regex!(r"\d+(?:[.,]\d+)*\b|[\p{L}\p{N}]+(?:['’][\p{L}]{1,2}\b)?").find_iter(text).map(|token| token.as_str())
}

/// Words that say nothing about which term is meant.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by",
    "can", "could", "did", "do", "does", "during", "each", "ever", "every", "for", "from", "had", "has", "have",
    "having", "he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "me", "my", "no", "not",
    "of", "on", "only", "or", "our", "ours", "she", "should", "since", "so", "some", "such", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "till", "to", "too", "until", "upon", "us",
    "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with",
    "would", "yet", "you", "your",
];

/// Past forms that no suffix rule reaches.
const IRREGULAR: &[(&str, &str)] = &[
    ("began", "begin"),
    ("begun", "begin"),
    ("bought", "buy"),
    ("came", "come"),
    ("gave", "give"),
    ("given", "give"),
    ("held", "hold"),
    ("kept", "keep"),
    ("left", "leave"),
    ("lost", "lose"),
    ("made", "make"),
    ("paid", "pay"),
    ("sent", "send"),
    ("sold", "sell"),
    ("spent", "spend"),
    ("taken", "take"),
    ("took", "take"),
    ("won", "win"),
    ("written", "write"),
    ("people", "person"),
];

/// The words of `text` in order, lower case, identifiers split: `InvoiceLine` and `invoice_line` give `invoice`, `line`.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for token in tokens(text) {
        if token.starts_with(|c: char| c.is_ascii_digit()) && token.contains(['.', ',']) {
            out.push(number(token));
            continue;
        }
        let token = token.split(['\'', '’']).next().unwrap_or(token);
        out.extend(humps(token).into_iter().map(str::to_lowercase));
    }
    out
}

/// `1,000.00` as `1000`, `45.50` as `45.5`.
pub(crate) fn number(text: &str) -> String {
    let mut digits = text.replace(',', "");
    if digits.contains('.') {
        digits.truncate(digits.trim_end_matches('0').trim_end_matches('.').len());
    }
    digits
}

/// `InvoiceLine` in two; `SaaS` and `eBay` stay whole, since nobody asks for `saa`.
fn humps(token: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut before_lower) = (0, false);
    for (at, c) in token.char_indices() {
        if before_lower && c.is_uppercase() {
            parts.push(&token[start..at]);
            start = at;
        }
        before_lower = c.is_lowercase();
    }
    parts.push(&token[start..]);
    if parts.iter().any(|part| part.chars().count() < 3) { vec![token] } else { parts }
}

pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// The stem of a lower-case word.
pub(crate) fn stem(word: &str) -> String {
    let word = IRREGULAR.iter().find(|(past, _)| *past == word).map_or(word, |(_, base)| base);
    Stemmer::new(Algorithm::English).stem(word).into_owned()
}

/// The stems of the words that count, in order; of all words where none counts.
pub(crate) fn stems(text: &str) -> Vec<String> {
    let words = words(text);
    let counting: Vec<String> = words.iter().filter(|w| !is_stop_word(w)).map(|w| stem(w)).collect();
    if counting.is_empty() { words.iter().map(|w| stem(w)).collect() } else { counting }
}

/// Whether two lists hold the same stems: in any order, or written apart and together (`e-mail`, `email`).
pub(crate) fn same(a: &[String], b: &[String]) -> bool {
    if a.is_empty() || b.is_empty() {
        return false;
    }
    let (mut left, mut right) = (a.to_vec(), b.to_vec());
    left.sort();
    right.sort();
    left == right || a.concat() == b.concat()
}

/// Whether every stem of `part` is in `whole`.
pub(crate) fn within(part: &[String], whole: &[String]) -> bool {
    !part.is_empty() && part.iter().all(|stem| whole.contains(stem))
}

/// Whether `part` stands in `whole` as one run.
pub(crate) fn adjacent(part: &[String], whole: &[String]) -> bool {
    !part.is_empty() && whole.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_term_have_the_same_stems() {
        fn check(a: &str, b: &str) {
            assert!(same(&stems(a), &stems(b)), "{:?} {:?}", stems(a), stems(b));
        }
        check("VIP customers", "a vip-customer");
        check("net_revenue", "Net Revenue");
        check("InvoiceLine", "invoice lines");
        check("the customer's spending", "spent customer");
        check("e-mail", "email");
        check("1,000.00", "1000");
        check("SaaS", "saas");
    }

    #[test]
    fn different_terms_differ() {
        assert!(!same(&stems("net revenue"), &stems("gross revenue")));
        assert!(!same(&stems("revenue"), &stems("net revenue")));
        assert!(!same(&[], &[]));
    }
}

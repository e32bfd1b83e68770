//! Words and stems: how terms are compared.

use prospector_text::{identifiers::split_camel_case, stem::snowball_regular, stop_words::OF_TERMS};

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

/// The words of `text` in order, lower case, identifiers split: `InvoiceLine` and `invoice_line` give `invoice`, `line`.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for token in tokens(text) {
        if token.starts_with(|c: char| c.is_ascii_digit()) && token.contains(['.', ',']) {
            out.push(number(token));
            continue;
        }
        let token = token.split(['\'', '’']).next().unwrap_or(token);
        out.extend(split_camel_case(token).into_iter().map(str::to_lowercase));
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

pub(crate) fn is_stop_word(word: &str) -> bool {
    OF_TERMS.contains(&word)
}

/// The stem of a lower-case word.
pub(crate) fn stem(word: &str) -> String {
    snowball_regular(word)
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

//! Words and stems, by which terms are compared.

use std::collections::BTreeSet;

use prospector_text::{
    identifiers::split_camel_case, numbers::parse_word, stem::snowball_regular, stop_words::OF_TERMS,
};

/// Words that start a question, and make a heading a question or a clause rather than a name.
pub(crate) const INTERROGATIVES: [&str; 8] = ["how", "what", "when", "where", "whether", "which", "who", "why"];

/// Returns the words of `text` in order, lower case, with identifiers split: `InvoiceLine` and `invoice_line` yield
/// `invoice`, `line`. Numbers stay whole: `1,000.00` becomes `1000`.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for token in text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | ',' | '\'' | '’')) {
        let token = token.trim_matches(['.', ',', '\'', '’']);
        if token.starts_with(|c: char| c.is_ascii_digit())
            && token.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',')
        {
            out.push(number(token));
            continue;
        }
        for part in token.split(['.', ',']) {
            let part = part.split(['\'', '’']).next().unwrap_or(part);
            out.extend(split_camel_case(part).into_iter().filter(|word| !word.is_empty()).map(str::to_lowercase));
        }
    }
    out.retain(|word| !word.is_empty());
    out
}

/// Normalises a number: `1,000.00` becomes `1000`, `45.50` becomes `45.5`.
fn number(text: &str) -> String {
    let mut digits = text.replace(',', "");
    if digits.contains('.') {
        digits.truncate(digits.trim_end_matches('0').trim_end_matches('.').len());
    }
    digits
}

/// Returns the numbers in a text, in digits or as words.
pub(crate) fn numbers(text: &str) -> BTreeSet<String> {
    let value = |word: String| match parse_word(&word) {
        Some(value) => Some(value.to_string()),
        None => word.starts_with(|c: char| c.is_ascii_digit()).then_some(word),
    };
    words(text).into_iter().filter_map(value).collect()
}

pub(crate) fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) || parse_word(word).is_some()
}

pub(crate) fn is_stop_word(word: &str) -> bool {
    OF_TERMS.contains(&word)
}

/// Returns the stem of a lower-case word.
pub(crate) fn stem(word: &str) -> String {
    snowball_regular(word)
}

/// Returns the stems of the content words, in order; those of all words if every word is a stop word.
pub(crate) fn stems(text: &str) -> Vec<String> {
    let words = words(text);
    let counting: Vec<String> = words.iter().filter(|w| !is_stop_word(w)).map(|w| stem(w)).collect();
    if counting.is_empty() { words.iter().map(|w| stem(w)).collect() } else { counting }
}

/// Returns whether two lists have the same stems, in any order, or written as one or several words (`e-mail`, `email`).
pub(crate) fn same(a: &[String], b: &[String]) -> bool {
    let (mut left, mut right) = (a.to_vec(), b.to_vec());
    left.sort();
    right.sort();
    !a.is_empty() && (left == right || a.concat() == b.concat())
}

/// Returns whether every stem of `part` is in `whole`.
pub(crate) fn within(part: &[String], whole: &[String]) -> bool {
    !part.is_empty() && part.iter().all(|stem| whole.contains(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_term_share_stems() {
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
        check("invoices.total", "total invoice");
    }

    #[test]
    fn different_terms_differ() {
        assert!(!same(&stems("net revenue"), &stems("gross revenue")));
        assert!(!same(&stems("revenue"), &stems("net revenue")));
        assert!(!same(&[], &[]));
    }

    #[test]
    fn finds_numbers_in_digits_and_words() {
        let found: Vec<String> = numbers("At least 1,000.00 in three of 4 quarters.").into_iter().collect();
        assert_eq!(found, ["1000", "3", "4"]);
    }
}

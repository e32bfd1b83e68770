//! How names are matched, split into words and cut.

use std::cell::LazyCell;

/// The place of the item with that name: spelled exactly so, or else the only one that differs in nothing but case.
pub(crate) fn named<T>(items: &[T], wanted: &str, name: impl Fn(&T) -> &str) -> Option<usize> {
    if let Some(exact) = items.iter().position(|item| name(item) == wanted) {
        return Some(exact);
    }
    let lower = LazyCell::new(|| wanted.to_lowercase());
    let is_meant = |item: &T| may_differ_in_case(name(item), wanted) && name(item).to_lowercase() == *lower;
    let mut found = items.iter().enumerate().filter(|(_, item)| is_meant(item));
    let (place, _) = found.next()?;
    found.next().is_none().then_some(place)
}

/// Whether two names are of lengths that differ no more than case can make them: at most threefold, by the bytes that Unicode
/// needs for a letter and for its small form. A text as long as a book is no name, and is not looked through for one.
fn may_differ_in_case(one: &str, other: &str) -> bool {
    one.len() <= other.len().saturating_mul(3) && other.len() <= one.len().saturating_mul(3)
}

/// The words of an identifier or a phrase, lower case: `InvoiceLine`, `invoice_line` and `Invoice line` are the same.
pub(crate) fn words(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut words = vec![String::new()];
    for (at, &c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).map_or(' ', |n| chars[n]);
        let after = chars.get(at + 1).copied().unwrap_or(' ');
        let starts = !c.is_alphanumeric()
            || (before.is_lowercase() && c.is_uppercase())
            || (before.is_uppercase() && c.is_uppercase() && after.is_lowercase())
            || (before.is_numeric() != c.is_numeric());
        if starts && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// At most `most` characters of a text, on one line; what was cut ends in an ellipsis.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        None => line,
        Some(_) => line.chars().take(most.saturating_sub(1)).collect::<String>().trim_end().to_owned() + "…",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(words(text), expected, "{text}");
    }

    #[test]
    fn identifiers_fall_into_their_words() {
        check("InvoiceLine", &["invoice", "line"]);
        check("invoice_line", &["invoice", "line"]);
        check("HTTPServer", &["http", "server"]);
        check("Home Town", &["home", "town"]);
        check("People_ID", &["people", "id"]);
        check("sample15", &["sample", "15"]);
        check("q1total", &["q", "1", "total"]);
        check("__", &[]);
    }

    #[test]
    fn an_exact_name_wins_and_an_ambiguous_one_is_none() {
        let names = ["User", "USER", "orders", "Straße"];
        let at = |wanted: &str| named(&names, wanted, |name| name);
        assert_eq!(at("USER"), Some(1));
        assert_eq!(at("user"), None);
        assert_eq!(at("Orders"), Some(2));
        assert_eq!(at("STRASSE"), None);
        assert_eq!(at("straße"), Some(3));
        // The sign for Kelvin has three bytes, its small form one; the dotted capital has two, its small form three.
        assert_eq!(named(&["\u{212a}"], "k", |name| name), Some(0));
        assert_eq!(named(&["\u{130}d"], "i\u{307}D", |name| name), Some(0));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("a\n b", 3), "a b");
        assert_eq!(cut("日本語日本語", 4), "日本語…");
    }
}

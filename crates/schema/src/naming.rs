//! Name matching.

use std::cell::LazyCell;

use prospector_text::identifiers::{LABEL_WORDS, words};

/// Returns the position of the item with that name: the exact match, or else the only case-insensitive one.
pub(crate) fn position_of<T>(items: &[T], wanted: &str, name: impl Fn(&T) -> &str) -> Option<usize> {
    if let Some(exact) = items.iter().position(|item| name(item) == wanted) {
        return Some(exact);
    }
    let lower = LazyCell::new(|| wanted.to_lowercase());
    let is_meant = |item: &T| may_differ_in_case(name(item), wanted) && name(item).to_lowercase() == *lower;
    let mut found = items.iter().enumerate().filter(|(_, item)| is_meant(item));
    let (place, _) = found.next()?;
    found.next().is_none().then_some(place)
}

/// Whether the lengths of two names can be explained by case: a letter and its lower case differ at most threefold in
/// UTF-8 bytes. Rejects very long texts cheaply.
fn may_differ_in_case(one: &str, other: &str) -> bool {
    one.len() <= other.len().saturating_mul(3) && other.len() <= one.len().saturating_mul(3)
}

/// Whether a column matches one of the names: `table.column`, `*.column` of every table, or `table.*` of all columns,
/// ignoring the case of ASCII letters.
pub(crate) fn is_named(names: &[String], table: &str, column: &str) -> bool {
    names.iter().any(|name| {
        if let Some(wanted) = name.strip_prefix("*.") {
            return wanted.eq_ignore_ascii_case(column);
        }
        if let Some(wanted) = name.strip_suffix(".*") {
            return wanted.eq_ignore_ascii_case(table);
        }
        let rest =
            name.get(..table.len()).filter(|start| start.eq_ignore_ascii_case(table)).map(|_| &name[table.len()..]);
        rest.and_then(|rest| rest.strip_prefix('.')).is_some_and(|rest| rest.eq_ignore_ascii_case(column))
    })
}

/// Whether a column contains the name of a row: `name`, or `title` and `product_name` of products.
pub(crate) fn is_title(table: &str, column: &str) -> bool {
    let all = words(column);
    let Some((last, stem)) = all.split_last() else { return false };
    LABEL_WORDS.contains(&last.as_str())
        && (stem.is_empty() || words(table).iter().any(|word| word.trim_end_matches('s') == stem.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_names_win_and_ambiguous_ones_match_nothing() {
        let names = ["User", "USER", "orders", "Straße"];
        let at = |wanted: &str| position_of(&names, wanted, |name| name);
        assert_eq!(at("USER"), Some(1));
        assert_eq!(at("user"), None);
        assert_eq!(at("Orders"), Some(2));
        assert_eq!(at("STRASSE"), None);
        assert_eq!(at("straße"), Some(3));
        // The Kelvin sign has three bytes and its lower case one; the dotted capital I has two and its lower case three.
        assert_eq!(position_of(&["\u{212a}"], "k", |name| name), Some(0));
        assert_eq!(position_of(&["\u{130}d"], "i\u{307}D", |name| name), Some(0));
    }
}

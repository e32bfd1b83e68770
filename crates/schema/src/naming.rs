//! How names are matched.

use std::cell::LazyCell;

use prospector_text::identifiers::words;

/// The place of the item with that name: spelled exactly so, or else the only one that differs in nothing but case.
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

/// Whether two names are of lengths that differ no more than case can make them: at most threefold, by the bytes that Unicode
/// needs for a letter and for its small form. A text as long as a book is no name, and is not looked through for one.
fn may_differ_in_case(one: &str, other: &str) -> bool {
    one.len() <= other.len().saturating_mul(3) && other.len() <= one.len().saturating_mul(3)
}

/// Whether one of the names is that of the column: `table.column`, `*.column` of every table, or `table.*` of all columns,
/// whatever the case of ASCII letters.
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

/// Whether a column says what a row is called: `name`, or `title` and `product_name` of products.
pub(crate) fn is_title(table: &str, column: &str) -> bool {
    let all = words(column);
    let Some((last, stem)) = all.split_last() else { return false };
    let is_word = matches!(last.as_str(), "name" | "title" | "label");
    is_word && (stem.is_empty() || words(table).iter().any(|word| word.trim_end_matches('s') == stem.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_name_wins_and_an_ambiguous_one_is_none() {
        let names = ["User", "USER", "orders", "Straße"];
        let at = |wanted: &str| position_of(&names, wanted, |name| name);
        assert_eq!(at("USER"), Some(1));
        assert_eq!(at("user"), None);
        assert_eq!(at("Orders"), Some(2));
        assert_eq!(at("STRASSE"), None);
        assert_eq!(at("straße"), Some(3));
        // The sign for Kelvin has three bytes, its small form one; the dotted capital has two, its small form three.
        assert_eq!(position_of(&["\u{212a}"], "k", |name| name), Some(0));
        assert_eq!(position_of(&["\u{130}d"], "i\u{307}D", |name| name), Some(0));
    }
}

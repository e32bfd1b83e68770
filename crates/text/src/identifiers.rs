//! Splits identifiers into words.

/// The last words of the names of keys.
pub const KEY_WORDS: [&str; 13] =
    ["id", "key", "code", "no", "nr", "num", "number", "uuid", "guid", "sk", "pk", "fk", "ref"];

/// Words for the names of things, as the last words of the names of fields and columns.
pub const LABEL_WORDS: [&str; 3] = ["name", "title", "label"];

/// Words in the names and paths of operations that search.
pub const SEARCH_WORDS: [&str; 4] = ["search", "find", "lookup", "query"];

/// Names of identifiers of objects. The last three are so only by themselves: `sort_key` and `image_uri` are values.
pub const IDENTIFIERS: [&str; 6] = ["id", "uuid", "guid", "key", "slug", "uri"];

/// Returns whether a name, as its words, is that of an identifier of an object: `id`, `slug` or `albumId`.
pub fn is_identifier(words: &[String]) -> bool {
    match words {
        [] => false,
        [only] => IDENTIFIERS.contains(&only.as_str()),
        [.., last] => IDENTIFIERS[..3].contains(&last.as_str()),
    }
}

/// Splits an identifier without separators into lower-case words: between lower and upper case, before the last capital
/// of an acronym (`HTTPServer`) except in its plural (`URLs`), and between letters and digits.
pub fn split(word: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut current = String::new();
    let mut chars = word.chars().peekable();
    let mut before: Option<char> = None;
    while let Some(c) = chars.next() {
        if let Some(before) = before {
            let is_plural = chars.clone().eq(['s']);
            let after_is_lower = chars.peek().is_some_and(|after| after.is_lowercase()) && !is_plural;
            let boundary = (before.is_lowercase() && c.is_uppercase())
                || (before.is_uppercase() && c.is_uppercase() && after_is_lower)
                || (before.is_alphabetic() && c.is_numeric())
                || (before.is_numeric() && c.is_alphabetic());
            if boundary {
                parts.push(std::mem::take(&mut current));
            }
        }
        current.extend(c.to_lowercase());
        before = Some(c);
    }
    parts.push(current);
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns the lower-case words of an identifier or phrase: `InvoiceLine`, `invoice_line` and `Invoice line` are equal.
pub fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).flat_map(split).collect()
}

/// Splits a word of prose at camel case: `InvoiceLine` yields two words, but `SaaS` and `eBay` stay whole. Digits stay
/// with their letters.
pub fn split_camel_case(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut before_lower) = (0, false);
    for (at, c) in word.char_indices() {
        if before_lower && c.is_uppercase() {
            parts.push(&word[start..at]);
            start = at;
        }
        before_lower = c.is_lowercase();
    }
    parts.push(&word[start..]);
    if parts.iter().any(|part| part.chars().count() < 3) { vec![word] } else { parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(words(text), expected, "{text}");
    }

    #[test]
    fn splits_identifiers() {
        check("InvoiceLine", &["invoice", "line"]);
        check("invoice_line", &["invoice", "line"]);
        check("HTTPServer", &["http", "server"]);
        check("list_of_URLs", &["list", "of", "urls"]);
        check("Home Town", &["home", "town"]);
        check("People_ID", &["people", "id"]);
        check("sample15", &["sample", "15"]);
        check("q1total", &["q", "1", "total"]);
        check("__", &[]);
    }

    #[test]
    fn splits_camel_case_into_words() {
        assert_eq!(split_camel_case("InvoiceLine"), ["Invoice", "Line"]);
        assert_eq!(split_camel_case("eBay"), ["eBay"]);
        assert_eq!(split_camel_case("SaaS"), ["SaaS"]);
        assert_eq!(split_camel_case("order"), ["order"]);
    }
}

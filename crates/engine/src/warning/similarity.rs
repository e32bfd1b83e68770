//! Similarity of a requested text and an existing one, and quoting of values.

use prospector_core::mark::clean;
use prospector_core::name::rank;

/// The maximum length of a quoted value in characters.
const MAX_QUOTED: usize = 60;

/// The maximum number of examples.
const MAX_EXAMPLES: usize = 4;

/// Quotes a value, so that spaces at its ends are visible.
pub(super) fn quote(value: &str) -> String {
    format!("'{}'", clean(value, MAX_QUOTED))
}

/// Returns the first values as examples.
pub(super) fn examples(values: &[String]) -> String {
    let shown: Vec<String> = values.iter().take(MAX_EXAMPLES).map(|value| quote(value)).collect();
    let more = if values.len() > MAX_EXAMPLES { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// How two texts differ that are equal except for formatting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    Leading,
    Trailing,
    Blanks,
    Case,
    Zeros,
    Signs,
}

impl Difference {
    /// Returns the end of a sentence.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Difference::Leading => "with a leading space",
            Difference::Trailing => "with a trailing space",
            Difference::Blanks => "with different spacing",
            Difference::Case => "in a different case",
            Difference::Zeros => "with different leading zeros",
            Difference::Signs => "with different punctuation",
        }
    }

    /// Returns the SQL function that makes both texts equal, if there is one.
    pub(super) fn remedy(self) -> Option<&'static str> {
        match self {
            Difference::Leading | Difference::Trailing => Some("TRIM"),
            Difference::Case => Some("LOWER"),
            Difference::Blanks | Difference::Zeros | Difference::Signs => None,
        }
    }
}

/// Returns how `there` differs from `wanted`, if only in spaces, case, leading zeros or punctuation.
pub(super) fn difference(wanted: &str, there: &str) -> Option<Difference> {
    if wanted == there || wanted.trim().is_empty() {
        return None;
    }
    if wanted.trim() == there.trim() {
        let longer = if there.len() > wanted.len() { there } else { wanted };
        return Some(if longer.starts_with(char::is_whitespace) { Difference::Leading } else { Difference::Trailing });
    }
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let (a, b) = (words(wanted), words(there));
    if a == b {
        let is_case = wanted.trim().to_lowercase() == there.trim().to_lowercase();
        return Some(if is_case { Difference::Case } else { Difference::Blanks });
    }
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit()).then(|| text.trim_start_matches('0').to_owned());
    if let (Some(a), Some(b)) = (digits(&a), digits(&b))
        && a == b
    {
        return Some(Difference::Zeros);
    }
    let letters = |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).collect() };
    let (a, b) = (letters(&a), letters(&b));
    (!a.is_empty() && a == b).then_some(Difference::Signs)
}

/// Returns the value that differs from the wanted one only in formatting.
pub(super) fn find_similar<'a>(wanted: &str, values: &'a [String]) -> Option<(&'a str, Difference)> {
    values.iter().find_map(|value| Some((value.as_str(), difference(wanted, value)?)))
}

/// Returns the value that is most similar to the wanted one, if any is.
pub(super) fn find_near(wanted: &str, values: &[String]) -> Option<String> {
    let near = rank(wanted, values.iter().map(String::as_str), 1).into_iter().next()?;
    let (a, b) = (wanted.to_lowercase(), near.to_lowercase());
    let is_part = wanted.chars().count() >= 3 && (a.contains(&b) || b.contains(&a)) && !b.is_empty();
    (is_part || strsim::jaro_winkler(&a, &b) >= 0.8).then_some(near)
}

/// Parses a text as a number in a programming notation.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_plain = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E'));
    if is_plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wanted: &str, there: &str, expected: Option<Difference>) {
        assert_eq!(difference(wanted, there), expected, "{wanted:?} {there:?}");
    }

    #[test]
    fn recognises_differences_in_formatting() {
        check("Aberdeen", "Aberdeen ", Some(Difference::Trailing));
        check("Aberdeen", " Aberdeen", Some(Difference::Leading));
        check("New York", "New  york", Some(Difference::Blanks));
        check("VIP", "vip", Some(Difference::Case));
        check("VIP", " vip ", Some(Difference::Case));
        check("7", "007", Some(Difference::Zeros));
        check("AB-1", "ab1", Some(Difference::Signs));
        check("a", "a", None);
        check("a", "b", None);
        check("", " ", None);
    }
}

//! Normalises values for comparison, in the same way as the SQL.

use std::sync::LazyLock;

use chrono::NaiveDate;
use prospector_core::tool::ToolError;
use regex::Regex;
use serde_json::Value;

/// Quotes an SQL identifier.
pub(crate) fn quote_name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the value as text; `None` if it is null or blank.
pub(crate) fn text(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    (!text.is_empty()).then_some(text)
}

/// Returns the value as a number, parsing texts.
pub(crate) fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number: &f64| number.is_finite())
}

/// Returns the value as a day since 1970-01-01 if it starts with `YYYY-MM-DD`.
pub(crate) fn day(value: &Value) -> Option<i64> {
    let date = value.as_str()?.trim_start().get(..10)?;
    let date = NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?;
    Some(i64::from(date.to_epoch_days()))
}

/// Returns letters and digits in lower case, with single spaces between words.
pub(crate) fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Patterns and replacements, in order, that normalise a lower-case text for value search, shared with the SQL: letters and digits are
/// separate words, a decimal number is one word, and leading zeros are dropped.
pub(crate) const REFERENCE_STEPS: [(&str, &str); 6] = [
    (r"_", " "),
    (r"(\p{L})([0-9])", r"\1 \2"),
    (r"([0-9])(\p{L})", r"\1 \2"),
    (r"([0-9])[.,]([0-9])", r"\1_\2"),
    (r"[^\p{L}\p{N}_]+", " "),
    (r"(^| )0+([0-9])", r"\1\2"),
];

/// Normalises a text for value search.
pub(crate) fn reference(text: &str) -> String {
    static STEPS: LazyLock<Vec<(Regex, String)>> = LazyLock::new(|| {
        let compile = |(pattern, replacement): &(&str, &str)| {
            let groups = replacement.replace(r"\1", "${1}").replace(r"\2", "${2}");
            Some((Regex::new(pattern).ok()?, groups))
        };
        REFERENCE_STEPS.iter().filter_map(compile).collect()
    });
    let spell = |text: String, (pattern, groups): &(Regex, String)| pattern.replace_all(&text, groups).into_owned();
    STEPS.iter().fold(text.to_lowercase(), spell).trim().to_owned()
}

/// Whether a text contains a value as whole words.
pub(crate) fn names(text: &str, value: &str) -> bool {
    let value = reference(value);
    !value.is_empty() && format!(" {} ", reference(text)).contains(&format!(" {value} "))
}

/// Returns the similarity of two normalised texts, 0 to 1.
pub(crate) fn likeness(left: &str, right: &str) -> f64 {
    let longer = left.chars().count().max(right.chars().count());
    if longer == 0 { 0.0 } else { 1.0 - strsim::levenshtein(left, right) as f64 / longer as f64 }
}

/// Returns an error about a missing prerequisite.
pub(crate) fn first(message: &str, advice: &str) -> ToolError {
    ToolError::invalid(message, Some(advice.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_names_a_value_as_words_of_its_own() {
        for (text, value, expected) in [
            ("Invoice 3268", "3268", true),
            ("Payment for INV-0042, thanks", "inv 42", true),
            ("INV2024/001", "INV-2024-1", true),
            ("Invoice 32681", "3268", false),
            ("paid 12.50", "50", false),
            ("paid 12.50", "12.50", true),
            ("Müller & Söhne KG", "müller", true),
            ("anything", " - ", false),
            ("ref_77", "77", true),
        ] {
            assert_eq!(names(text, value), expected, "{text}: {value}, {}", reference(text));
        }
    }

    #[test]
    fn days_are_counted() {
        for (text, expected) in [
            ("1970-01-01", Some(0)),
            ("2000-03-01", Some(11_017)),
            ("1969-12-31T23:00:00", Some(-1)),
            ("2024-13-01", None),
            ("20240101", None),
            ("1.1.2024", None),
            ("2024-01-é1", None),
        ] {
            assert_eq!(day(&json!(text)), expected, "{text}");
        }
    }
}

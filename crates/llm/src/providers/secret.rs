//! API keys, and their redaction from all output.

use std::fmt;

use prospector_core::mark::truncate;

/// An API key. Neither `Debug` nor `Display` shows it. Surrounding blanks, which environment files leave there, are dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// Whether it can be sent in a header.
    pub(super) fn is_sendable(&self) -> bool {
        self.0.bytes().all(|byte| byte.is_ascii_graphic())
    }
}

impl From<String> for Secret {
    fn from(key: String) -> Self {
        Secret(key.trim().to_owned())
    }
}

impl From<&str> for Secret {
    fn from(key: &str) -> Self {
        Secret(key.trim().to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hidden")
    }
}

/// Limit on the length of a provider's message in an error.
const MAX_SHOWN_CHARS: usize = 300;
/// Shorter keys are placeholders such as `none`: redacting them would only garble the text.
const MIN_KEY_BYTES: usize = 6;
const HIDDEN: &str = "[hidden]";

/// Redacts `text` for display: on one line, without `key` and other texts that look like a key, shortened.
///
/// Providers quote a wrong key, whole or masked in the middle (`sk-ab***yz`).
pub(super) fn conceal(text: &str, key: Option<&Secret>) -> String {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(key) = key.filter(|key| key.0.len() >= MIN_KEY_BYTES) {
        text = text.replace(key.expose(), HIDDEN);
    }
    let mut clean = String::with_capacity(text.len());
    let mut word = String::new();
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() || "-_*".contains(letter) {
            word.push(letter);
        } else {
            push_word(&mut clean, &word);
            word.clear();
            clean.push(letter);
        }
    }
    push_word(&mut clean, &word);
    truncate(clean, MAX_SHOWN_CHARS)
}

fn push_word(clean: &mut String, word: &str) {
    let looks_like_a_key = (word.starts_with("sk-") && word.len() >= 8)
        || (word.starts_with("AIza") && word.len() >= 30)
        || word.contains("***");
    clean.push_str(if looks_like_a_key { HIDDEN } else { word });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(conceal(text, Some(&Secret::from("very-private-0123"))), expected);
    }

    #[test]
    fn keys_are_hidden_whole_and_masked() {
        check("bad key very-private-0123.", "bad key [hidden].");
        check("(very-private-0123very-private-0123)", "([hidden][hidden])");
        check("Incorrect API key provided: sk-abcde***wxyz. See", "Incorrect API key provided: [hidden]. See");
        check("key very-p**********0123 is wrong", "key [hidden] is wrong");
        check("other sk-ant-api03-AAAA key", "other [hidden] key");
        check("API key AIzaSyA0123456789abcdefghijklmnopqrstuv is bad", "API key [hidden] is bad");
        check("plain *emphasis*, task-force", "plain *emphasis*, task-force");
    }

    #[test]
    fn lines_are_joined_and_long_texts_are_cut() {
        check("one\n\n  two", "one two");
        let long = "ü".repeat(1000);
        assert_eq!(conceal(&long, None).chars().count(), MAX_SHOWN_CHARS + 1);
    }

    #[test]
    fn a_key_at_the_cut_does_not_leak_its_beginning() {
        let text = format!("{} very-private-0123", "x".repeat(MAX_SHOWN_CHARS - 8));
        assert!(!conceal(&text, Some(&Secret::from("very-private-0123"))).contains("very"));
    }

    #[test]
    fn a_placeholder_is_not_searched_for() {
        assert_eq!(conceal("no x in the box", Some(&Secret::from("x"))), "no x in the box");
    }

    #[test]
    fn a_secret_shows_itself_nowhere() {
        let secret = Secret::from(" very-private-0123\n");
        assert_eq!(secret.expose(), "very-private-0123");
        assert!(!format!("{secret} {secret:?} {:?}", Some(&secret)).contains("private"));
        assert!(!Secret::from("a\nb").is_sendable() && !Secret::from("ключ").is_sendable());
    }
}

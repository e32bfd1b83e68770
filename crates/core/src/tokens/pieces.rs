//! Splits a text into the pieces that `o200k_base` encodes separately: words with the preceding space, numbers of up to three digits,
//! runs of punctuation, white space.

use std::sync::LazyLock;

use regex::Regex;

/// The pattern of OpenAI's `tiktoken` (`tiktoken_ext/openai_public.py`), except for its `\s+(?!\S)`: see [`pieces`].
static PIECE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+",
    ))
    .expect("the pattern is constant")
});

/// Returns the pieces of a text, in order; concatenated they are the text. Of several spaces before a word, the last belongs to the word.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let piece = PIECE.find_at(text, at)?;
        let last = piece.as_str().char_indices().next_back();
        let end = match last {
            Some((length, last)) if is_blank(last) && length > 0 && piece.end() < text.len() => at + length,
            _ => piece.end(),
        };
        let piece = &text[at..end];
        at = end;
        Some(piece)
    })
}

fn is_blank(char: char) -> bool {
    char.is_whitespace() && !matches!(char, '\r' | '\n')
}

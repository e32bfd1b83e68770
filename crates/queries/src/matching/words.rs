//! The words of a question, and their meanings.

use prospector_text::stem::snowball_regular;

/// A word in lower case, and its context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// The character right before it, if that is not white space: `-` in `2024-03-03`.
    pub(crate) joined: Option<char>,
    /// Whether it is quoted.
    pub(crate) quoted: bool,
    /// Whether it starts with a capital letter.
    pub(crate) capital: bool,
    /// Whether it is all capitals: `US` is not `us`.
    pub(crate) acronym: bool,
}

/// Stop words of questions. Excluded are words that change the meaning: `not`, `or`, `without`, `than`, `since`, `before`, `from`,
/// `when`, and `may`, which is also a month.
const STOP_WORDS: &[&str] = &[
    "a", "all", "among", "an", "and", "any", "are", "as", "at", "be", "been", "can", "could", "did", "display", "do",
    "does", "during", "fetch", "find", "for", "get", "give", "had", "has", "have", "how", "i", "in", "is", "it", "its",
    "list", "look", "me", "need", "of", "off", "on", "our", "ours", "please", "s", "see", "show", "tell", "that",
    "the", "their", "them", "there", "these", "they", "this", "those", "to", "up", "us", "want", "was", "we", "were",
    "what", "which", "who", "whose", "with", "would", "you", "your", "like", "know", "let", "many", "much", "stand",
    "stood", "gave", "being", "so", "just",
];

/// Synonyms in questions about any data; the first is the canonical form.
const SYNONYMS: &[&[&str]] = &[
    &["most", "best", "top", "highest", "greatest", "largest", "biggest", "leading"],
    &["least", "worst", "lowest", "fewest", "smallest", "bottom"],
    &["per", "by", "each", "every"],
    &["average", "mean", "avg"],
    &["count", "number"],
    &["sell", "sold", "seller", "sellers", "selling", "sale", "sales", "bestselling", "bestseller", "bestsellers"],
];

/// Splits a text into words: letters and digits, whatever separates them.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let (mut word, mut before, mut quoted) = (String::new(), None, false);
    let mut end = |word: &mut String, before: &mut Option<char>, quoted: bool| {
        if !word.is_empty() {
            let capital = word.starts_with(char::is_uppercase);
            let acronym = word.chars().count() > 1 && word.chars().all(char::is_uppercase);
            let text = std::mem::take(word).to_lowercase();
            words.push(Word { text, joined: before.take(), quoted, capital, acronym });
        }
    };
    for c in text.chars() {
        if c.is_alphanumeric() {
            word.push(c);
            continue;
        }
        let is_inside = !word.is_empty();
        end(&mut word, &mut before, quoted);
        match c {
            '"' | '“' | '”' => quoted = !quoted,
            // Other characters change the value that follows: `-5`, `>3`.
            c if c.is_whitespace() || matches!(c, ',' | '?' | '!' | ';' | ':' | '(' | ')' | '\'' | '’') => {
                before = None
            }
            c if is_inside || !matches!(c, '.' | '-' | '–') => before = Some(c),
            c => before = (c == '-').then_some(c),
        }
    }
    end(&mut word, &mut before, quoted);
    words
}

/// Returns the canonical meaning of a word; `None` for stop words.
pub(crate) fn meaning(word: &Word) -> Option<String> {
    let text = word.text.as_str();
    if STOP_WORDS.contains(&text) && !word.acronym {
        return None;
    }
    let canonical = |text: &str| SYNONYMS.iter().find(|group| group.contains(&text)).map(|group| group[0].to_owned());
    Some(canonical(text).unwrap_or_else(|| {
        let stem = snowball_regular(text);
        canonical(&stem).unwrap_or(stem)
    }))
}

/// Returns the meaning of each word, considering the word before it: `how many` asks for a count, `how high` has no meaning of its own.
pub(crate) fn meanings(words: &[Word]) -> Vec<Option<String>> {
    let of = |at: usize| {
        let word = &words[at];
        let follows_how = at > 0 && words[at - 1].text == "how";
        match word.text.as_str() {
            "many" if follows_how => Some("count".to_owned()),
            "high" | "large" | "big" | "great" if follows_how => None,
            _ => meaning(word),
        }
    };
    (0..words.len()).map(of).collect()
}

/// Meanings that name an aggregation. They must be the same in a question and in the query that answers it.
pub(crate) const SHAPES: &[&str] = &["count", "most", "least", "average", "per"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonicalizes_synonyms_and_drops_stop_words() {
        let check = |text: &str, expected: &[&str]| {
            let said: Vec<String> = meanings(&words(text)).into_iter().flatten().collect();
            assert_eq!(said, expected);
        };
        check("Which artists sold best?", &["artist", "sell", "most"]);
        check("Show me the top-selling artists", &["most", "sell", "artist"]);
        check("What's the average total by country?", &["average", "total", "per", "countri"]);
        check("How many artists? How high is it?", &["count", "artist"]);
        check("show us the US in May", &["us", "may"]);
        check("not without the least", &["not", "without", "least"]);
    }

    #[test]
    fn records_the_joining_character() {
        let joined: Vec<Option<char>> = words("on 2024-03-05, 3.5 and -7").iter().map(|word| word.joined).collect();
        assert_eq!(joined, [None, None, Some('-'), Some('-'), None, Some('.'), None, Some('-')]);
    }
}

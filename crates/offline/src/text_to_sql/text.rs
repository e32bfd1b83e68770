//! The words of a question, and which of them are understood.

/// A word of a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    /// As it is written; of a phrase in quotes all of it.
    pub(super) text: String,
    /// Lower case, without the plural.
    pub(super) stem: String,
    /// Whether it has a meaning by now.
    pub(super) used: bool,
    pub(super) quoted: bool,
}

/// Words that say nothing by themselves.
const EMPTY: &[&str] = &[
    "a",
    "an",
    "the",
    "of",
    "in",
    "on",
    "at",
    "to",
    "for",
    "from",
    "with",
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "do",
    "doe",
    "does",
    "did",
    "done",
    "has",
    "have",
    "had",
    "we",
    "our",
    "us",
    "you",
    "your",
    "it",
    "its",
    "there",
    "their",
    "they",
    "them",
    "that",
    "thi",
    "this",
    "these",
    "those",
    "which",
    "who",
    "what",
    "whose",
    "where",
    "when",
    "how",
    "show",
    "me",
    "give",
    "list",
    "tell",
    "please",
    "can",
    "could",
    "would",
    "and",
    "or",
    "by",
    "per",
    "each",
    "every",
    "all",
    "any",
    "get",
    "find",
    "made",
    "make",
    "place",
    "placed",
    "came",
    "come",
    "so",
    "far",
    "as",
    "into",
    "during",
    "within",
    "over",
    "out",
    "up",
    "then",
    "also",
    "about",
    "now",
    "many",
    "much",
    "data",
    "store",
    "shop",
    "company",
    "currently",
    "usd",
    "dollar",
    "broken",
    "down",
    "split",
    "group",
    "grouped",
    "respectively",
    "i",
    "live",
    "belong",
    "exist",
    "receive",
    "received",
    "recorded",
    "compute",
    "calculate",
];

/// Words that add nothing beside a measure.
const VAGUE: &[&str] = &["value", "amount", "figure", "number", "row", "record", "entry", "altogether"];

/// The words of a text in order.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_alphanumeric() || matches!(c, '"' | '“' | '\'')) {
        rest = &rest[at..];
        let first = rest.chars().next().unwrap_or(' ');
        let close = match first {
            '“' => Some('”'),
            '"' | '\'' => Some(first),
            _ => None,
        };
        if let Some(close) = close {
            rest = &rest[first.len_utf8()..];
            if let Some(end) = rest.find(close).filter(|end| (1..=80).contains(end)) {
                words.push(word(&rest[..end], true));
                rest = &rest[end + close.len_utf8()..];
            }
            continue;
        }
        let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ',' | '@');
        let end = rest.find(|c: char| !inside(c)).unwrap_or(rest.len());
        let text = rest[..end].trim_end_matches(['.', ',', '-']);
        rest = &rest[end..];
        // A comma between words without a blank is rare; a number keeps its points.
        let is_number = text.starts_with(|c: char| c.is_ascii_digit());
        if is_number || !text.contains(['-', ',', '.', '_']) {
            words.push(word(text, false));
        } else {
            words
                .extend(text.split(['-', ',', '.', '_']).filter(|part| !part.is_empty()).map(|part| word(part, false)));
        }
    }
    words
}

fn word(text: &str, quoted: bool) -> Word {
    Word { text: text.to_owned(), stem: stem(text), used: false, quoted }
}

/// Lower case, and without the plural.
pub(super) fn stem(word: &str) -> String {
    let lower = word.to_lowercase();
    let cut = |n: usize| lower[..lower.len() - n].to_owned();
    if lower.len() > 4 && lower.ends_with("ies") {
        cut(3) + "y"
    } else if ["sses", "shes", "ches", "xes"].iter().any(|end| lower.ends_with(end)) {
        cut(2)
    } else if lower.len() > 3 && lower.ends_with('s') && !["ss", "us", "is"].iter().any(|end| lower.ends_with(end)) {
        cut(1)
    } else {
        lower
    }
}

/// The stems of a name: `InvoiceLine`, `invoice_lines` and "invoice line" are the same.
pub(super) fn stems(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let begins = !c.is_alphanumeric() || (before.is_lowercase() && c.is_uppercase());
        if begins && parts.last().is_some_and(|part| !part.is_empty()) {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| c.is_alphanumeric()) {
            part.push(c);
        }
        before = c;
    }
    parts.iter().filter(|part| !part.is_empty()).map(|part| stem(part)).collect()
}

/// Whether a word says nothing by itself.
pub(super) fn is_empty(word: &Word) -> bool {
    !word.quoted && EMPTY.contains(&word.stem.as_str())
}

/// Whether a word adds nothing beside what is measured.
pub(super) fn is_vague(word: &Word) -> bool {
    is_empty(word) || (!word.quoted && VAGUE.contains(&word.stem.as_str()))
}

/// Where a phrase stands among words that have no meaning yet.
pub(super) fn find(words: &[Word], phrase: &[String]) -> Option<usize> {
    if phrase.is_empty() {
        return None;
    }
    let matches = |window: &[Word]| window.iter().zip(phrase).all(|(word, stem)| !word.used && word.stem == *stem);
    words.windows(phrase.len()).position(matches)
}

/// Notes that a phrase has a meaning, and returns where it stands.
pub(super) fn take(words: &mut [Word], phrase: &[String]) -> Option<usize> {
    let at = find(words, phrase)?;
    words[at..at + phrase.len()].iter_mut().for_each(|word| word.used = true);
    Some(at)
}

/// The parts of a question between words that say nothing: what may be terms.
pub(super) fn chunks(question: &str) -> Vec<String> {
    let mut chunks: Vec<Vec<String>> = vec![Vec::new()];
    for word in words(question) {
        let separates = is_empty(&word) || word.text.starts_with(|c: char| c.is_ascii_digit());
        match chunks.last_mut() {
            Some(chunk) if !separates => chunk.push(word.text),
            Some(chunk) if !chunk.is_empty() => chunks.push(Vec::new()),
            _ => {}
        }
    }
    chunks.into_iter().filter(|chunk| !chunk.is_empty()).map(|chunk| chunk.join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, stems: &[&str]) {
        let found: Vec<String> = words(question).into_iter().map(|word| word.stem).collect();
        assert_eq!(found, stems, "{question}");
    }

    #[test]
    fn a_question_falls_into_words() {
        check("Countries, taxes & invoice_lines?", &["country", "tax", "invoice", "line"]);
        check(
            "in 2024-Q3, more than 1,000.5 \"Rock and Roll\"",
            &["in", "2024-q3", "more", "than", "1,000.5", "rock and roll"],
        );
        check("status of the bus analysis", &["status", "of", "the", "bus", "analysis"]);
        assert_eq!(chunks("What was the gross revenue by quarter in 2025?"), ["gross revenue", "quarter"]);
        assert_eq!(stems("InvoiceLine"), ["invoice", "line"]);
    }
}

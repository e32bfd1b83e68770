//! Truncation of texts, in characters.

/// Returns a text on one line, with runs of white space replaced by a space.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Truncates a text on one line to `max` characters, including an ellipsis.
pub fn line(text: &str, max: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(max) {
        None => line,
        Some(_) => line.chars().take(max.saturating_sub(1)).collect::<String>().trim_end().to_owned() + "…",
    }
}

/// Truncates a text to `max` characters between words, followed by ` ..`.
pub fn words(text: &str, max: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(max) else { return text.to_owned() };
    let end = text[..end].rfind(char::is_whitespace).unwrap_or(end);
    format!("{} ..", text[..end].trim_end())
}

/// Returns at most `max` characters around the byte `at`, cut at white space if possible. Ellipses mark omissions and
/// are not counted.
pub fn around(text: &str, at: usize, max: usize) -> String {
    let length = text.chars().count();
    if length <= max {
        return text.to_owned();
    }
    let before = text[..at].chars().count();
    let start = before.saturating_sub(max / 4).min(length - max);
    let offset = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    let (from, to) = (offset(start), offset(start + max));
    let mut part = &text[from..to];
    if from > 0 {
        part = part.find(char::is_whitespace).filter(|at| *at < 30).map_or(part, |at| &part[at..]);
    }
    if to < text.len() {
        part = part.rfind(char::is_whitespace).filter(|at| part.len() - at < 30).map_or(part, |at| &part[..at]);
    }
    format!("{}{}{}", if from > 0 { "…" } else { "" }, part.trim(), if to < text.len() { "…" } else { "" })
}

/// Returns the first sentences that fit into `max` characters; if none does, the first words and an ellipsis.
pub fn sentences(text: &str, max: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(max) else { return text.to_owned() };
    let head = &text[..end];
    let sentence = [". ", "! ", "? "].iter().filter_map(|stop| head.rfind(stop)).max();
    match sentence {
        // A very short first "sentence" is usually an abbreviation.
        Some(stop) if stop >= max / 4 => head[..=stop].to_owned(),
        _ => {
            let word = head.rfind(' ').filter(|at| *at > end / 2).unwrap_or(end);
            format!("{}…", head[..word].trim_end_matches([',', ';', ':', ' ']))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncates_between_characters() {
        assert_eq!(line("a\n b", 3), "a b");
        assert_eq!(line("日本語日本語", 4), "日本語…");
    }

    #[test]
    fn truncates_between_words() {
        assert_eq!(words("two words here", 11), "two words ..");
        assert_eq!(words("short", 5), "short");
        assert_eq!(words("withoutspace", 4), "with ..");
    }

    #[test]
    fn truncates_around_a_position() {
        let text = format!("{}needle {}", "hay ".repeat(30), "hay ".repeat(30));
        let part = around(&text, 120, 40);
        assert!(part.contains("needle") && part.starts_with('…') && part.ends_with('…'), "{part}");
        assert_eq!(around("short", 2, 5), "short");
    }

    #[test]
    fn truncates_at_sentences() {
        assert_eq!(sentences("One order. Two orders. Three orders.", 25), "One order. Two orders.");
        assert_eq!(sentences("One order with very many words in it.", 20), "One order with very…");
        assert_eq!(sentences("ééééééééééééé", 5), "ééééé…");
    }
}

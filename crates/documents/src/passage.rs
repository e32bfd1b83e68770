//! Selects short passages of a text: its first sentences, or those that match a question.

use std::{collections::HashSet, ops::Range};

use prospector_text::{cut, sentences, stem::strip_ending, stop_words::OF_QUESTIONS};

use crate::{
    Format,
    chunk::{is_delimiter, is_row},
    markdown,
};

/// Maximum length of a passage, in characters. A table row or list item stays whole up to twice this.
pub(crate) const MAX_CHARS: usize = 300;
/// Maximum length of a description, in characters.
const MAX_DESCRIPTION: usize = 200;

/// Returns the first sentences of a text as far as they fit, without markup, on one line. A text that consists only of
/// code is truncated.
pub(crate) fn first_sentences(text: &str, format: Format) -> String {
    let one_line =
        |text: &mut dyn Iterator<Item = char>| cut::one_line(&text.take(MAX_DESCRIPTION * 4).collect::<String>());
    let plain = if format.is_plain() {
        let lines = text.split_inclusive('\n').filter(|line| !format.is_markup(line));
        one_line(&mut lines.flat_map(str::chars))
    } else {
        markdown::plain(text, MAX_DESCRIPTION * 4)
    };
    let plain = if plain.is_empty() { one_line(&mut text.chars()) } else { plain };
    if !plain.chars().any(char::is_alphanumeric) {
        return String::new();
    }
    let end = sentences::ranges(&plain).into_iter().take_while(|s| chars(&plain[..s.end]) <= MAX_DESCRIPTION).last();
    match end {
        Some(sentence) => plain[..sentence.end].trim_end().to_owned(),
        None => cut::around(&plain, 0, MAX_DESCRIPTION),
    }
}

/// Returns the part of `text` that matches the question best: whole sentences, table rows (with the head of the table)
/// and list items, in text order. If no word matches, returns the start.
pub(crate) fn best(text: &str, question: &str) -> String {
    let units = units(text);
    let wanted: Vec<String> = {
        let mut seen = HashSet::new();
        words(question).map(|(_, word)| word).filter(|word| seen.insert(word.clone())).take(64).collect()
    };
    let masks: Vec<u64> = units
        .iter()
        .map(|unit| {
            let found: HashSet<String> = words(&text[unit.range.clone()]).map(|(_, word)| word).collect();
            wanted.iter().enumerate().filter(|(_, word)| found.contains(*word)).fold(0, |mask, (n, _)| mask | 1 << n)
        })
        .collect();
    // Words that occur in many units carry little weight.
    let weights: Vec<f64> = (0..wanted.len())
        .map(|n| {
            let count = masks.iter().filter(|mask| *mask & (1 << n) != 0).count();
            (1.0 + units.len() as f64 / (count as f64 + 0.5)).ln()
        })
        .collect();
    let Some(mut range) = window(text, &units, &masks, &weights) else { return String::new() };
    // Remaining room is filled with following, then preceding units.
    while range.end < units.len() && span(text, &units, range.start..range.end + 1) <= MAX_CHARS {
        range.end += 1;
    }
    while range.start > 0 && span(text, &units, range.start - 1..range.end) <= MAX_CHARS {
        range.start -= 1;
    }
    let (first, last) = (&units[range.start], &units[range.end - 1]);
    let mut passage = text[first.range.start..last.range.end].trim_end().to_owned();
    let longest = if first.whole { MAX_CHARS * 2 } else { MAX_CHARS };
    if chars(&passage) > longest {
        let at = words(&passage).find(|(_, word)| wanted.contains(word)).map_or(0, |(at, _)| at);
        passage = cut::around(&passage, at, longest);
    }
    match &first.head {
        Some(head) => format!("{}\n{passage}", text[head.clone()].trim_end()),
        None => passage.trim_start_matches('\n').to_owned(),
    }
}

/// Returns the smallest window of units with the highest total weight; the first of equals.
fn window(text: &str, units: &[Unit], masks: &[u64], weights: &[f64]) -> Option<Range<usize>> {
    let score = |mask: u64| weights.iter().enumerate().filter(|(n, _)| mask & (1 << n) != 0).map(|(_, w)| w).sum();
    let mut best: Option<(f64, usize, Range<usize>)> = None;
    for start in 0..units.len() {
        let mut mask = 0;
        for end in start + 1..=units.len() {
            if end > start + 1 && span(text, units, start..end) > MAX_CHARS {
                break;
            }
            let length = end - start;
            mask |= masks[end - 1];
            let score: f64 = score(mask);
            let better = best.as_ref().is_none_or(|(high, short, _)| {
                score > *high + 1e-9 || (score > *high - 1e-9 && score > 0.0 && length < *short)
            });
            if better {
                best = Some((score, length, start..end));
            }
        }
    }
    best.map(|(_, _, range)| range)
}

/// Returns the number of characters spanned by these units.
fn span(text: &str, units: &[Unit], range: Range<usize>) -> usize {
    chars(&text[units[range.start].range.start..units[range.end - 1].range.end])
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

/// Returns the stems of the content words, with their byte offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, String)> {
    let start = text.as_ptr() as usize;
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).filter_map(move |word| {
        let lower = word.to_lowercase();
        (!OF_QUESTIONS.contains(&lower.as_str())).then(|| (word.as_ptr() as usize - start, strip_ending(lower)))
    })
}

/// A unit shown whole: a sentence, table row, list item or line of code.
struct Unit {
    range: Range<usize>,
    /// A table row or a list item.
    whole: bool,
    /// The head of the table that contains the row.
    head: Option<Range<usize>>,
}

fn units(text: &str) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut paragraph: Option<(Range<usize>, bool)> = None;
    let mut head: Option<Range<usize>> = None;
    let mut previous = 0..0;
    let mut fenced = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let words = line.trim();
        let fence = words.starts_with("```") || words.starts_with("~~~");
        let item = is_item(words);
        if fence || fenced || words.is_empty() || item || is_row(line) {
            close(text, paragraph.take(), &mut units);
        }
        if !is_row(line) {
            head = None;
        }
        if fence {
            fenced = !fenced;
        } else if fenced {
            units.push(Unit { range: range.clone(), whole: false, head: None });
        } else if is_delimiter(line) {
            // The line before the delimiter, already parsed as a row, is the head.
            head = is_row(&text[previous.clone()]).then(|| previous.clone());
            if head.is_some() {
                units.pop();
            }
        } else if is_row(line) {
            units.push(Unit { range: range.clone(), whole: true, head: head.clone() });
        } else if !words.is_empty() {
            match &mut paragraph {
                Some((open, _)) => open.end = range.end,
                None => paragraph = Some((range.clone(), item)),
            }
        }
        previous = range;
    }
    close(text, paragraph, &mut units);
    units
}

/// Ends a paragraph, which is divided into sentences, or a list item, which is not.
fn close(text: &str, paragraph: Option<(Range<usize>, bool)>, units: &mut Vec<Unit>) {
    let Some((range, item)) = paragraph else { return };
    if item {
        units.push(Unit { range, whole: true, head: None });
        return;
    }
    let offset = range.start;
    units.extend(sentences::ranges(&text[range]).into_iter().map(|sentence| Unit {
        range: offset + sentence.start..offset + sentence.end,
        whole: false,
        head: None,
    }));
}

/// Returns whether a line without indentation starts a list item.
pub(crate) fn is_item(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < line.len() {
        return rest.starts_with(". ") || rest.starts_with(") ");
    }
    line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, question: &str, expected: &str) {
        assert_eq!(best(text, question), expected);
    }

    /// A sentence of about 150 characters.
    fn filler(subject: &str) -> String {
        format!("{subject} {} end.", "goes on and on ".repeat(9).trim_end())
    }

    #[test]
    fn shows_short_texts_whole() {
        check(
            "VIP customers spend much.\n\nOthers do not.",
            "who is VIP?",
            "VIP customers spend much.\n\nOthers do not.",
        );
        check("", "x", "");
    }

    #[test]
    fn selects_matching_sentences() {
        let text = format!("{} {} Refunded orders count twice. {}", filler("One"), filler("Two"), filler("Three"));
        let passage = best(&text, "how are refunds of an order counted");
        assert!(passage.starts_with("Refunded orders count twice."), "{passage}");
        assert!(passage.chars().count() <= MAX_CHARS);
    }

    #[test]
    fn shows_table_rows_with_head() {
        let rows: String = (0..40).map(|n| format!("| tier {n} | {n} percent |\n")).collect();
        let passage = best(&format!("Rates:\n\n| tier | rate |\n|---|---|\n{rows}| gold | 50 percent |\n"), "gold");
        assert!(passage.starts_with("| tier | rate |\n| tier "), "{passage}");
        assert!(passage.ends_with("| gold | 50 percent |"), "{passage}");
    }

    #[test]
    fn shows_whole_list_items() {
        let text =
            format!("{}\n\n- gold: half\n  price\n- tin: full\n\n{}\n\n{}", filler("A"), filler("B"), filler("C"));
        let passage = best(&text, "tin price");
        assert!(passage.starts_with("- gold: half\n  price\n- tin: full"), "{passage}");
    }

    #[test]
    fn truncates_endless_sentences_around_the_match() {
        let text = format!("{} needle {}", "hay ".repeat(300), "hay ".repeat(300));
        let passage = best(&text, "needle");
        assert!(passage.contains("needle") && passage.starts_with('…') && passage.ends_with('…'), "{passage}");
        assert!(passage.chars().count() <= MAX_CHARS + 2);
    }

    #[test]
    fn shows_the_start_without_matches() {
        let text = [filler("One"), filler("Two"), filler("Three")].join(" ");
        assert!(best(&text, "what is the 日本語").starts_with("One goes"));
    }

    #[test]
    fn descriptions_omit_markup_lines() {
        let text = ":Author: Ada\n\n.. note:: Old.\n\nPack *well*. Twice.";
        assert_eq!(first_sentences(text, Format::Rst), "Pack *well*. Twice.");
        assert_eq!(first_sentences(".. note:: Old.", Format::Rst), ".. note:: Old.");
    }

    #[test]
    fn uses_first_sentences_as_description() {
        let cases = [
            ("**Big** [spenders](x). They (e.g. Ada) get 1.5 % off.", "Big spenders. They (e.g. Ada) get 1.5 % off."),
            ("", ""),
            ("---\n\n***", ""),
            ("```sh\nrun x\n```", "```sh run x ```"),
            ("| a | b |\n|---|---|\n| 1 | 2 |", "a; b; 1; 2"),
        ];
        for (text, expected) in cases {
            assert_eq!(first_sentences(text, Format::Markdown), expected);
        }
        let long = first_sentences(&"word ".repeat(200), Format::Text);
        assert!(long.ends_with("word…") && long.chars().count() <= MAX_DESCRIPTION + 1, "{long}");
        let first = first_sentences(&format!("Short. {} {}", filler("A"), filler("B")), Format::Text);
        assert_eq!(first, format!("Short. {}", filler("A")));
    }
}

//! A text as the units that can define something: sentences, list items, table rows, each under its heading.
//!
//! The reading is line by line and forgiving: a passage is a cut-out, may begin in the middle of a list, and may come
//! from a format that only looks like Markdown.

use prospector_text::sentences::split;

use crate::{term::is_remark, words::regex};

/// At most this many lines of a list, table or formula continue a sentence that ends in a colon.
const MAX_CONTINUED: usize = 12;

/// A longer sentence is none: a listing, a page without its markup. It is neither read closely nor an answer.
pub(crate) const MAX_SENTENCE_BYTES: usize = 800;

/// What a unit was in its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Form {
    /// A sentence of a paragraph.
    Prose,
    /// A sentence of a list item.
    Item,
    /// A line of code.
    Code,
    /// A row of a table: header and cell of each column, empty cells left out.
    Row(Vec<(String, String)>),
}

/// One sentence, list item or table row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unit {
    /// As it stands in the text; only white space is collapsed.
    pub(crate) text: String,
    /// Without Markdown marks.
    pub(crate) plain: String,
    /// The nearest heading above that says something; a question just before.
    pub(crate) heading: String,
    /// The label at the front of the paragraph, where this is a later sentence of it: `Urgent: all is lost. Call us.`
    pub(crate) label: String,
    /// The sentence before, where this one begins with a pronoun for what that is about.
    pub(crate) before: String,
    /// Whether it is the first under its heading.
    pub(crate) first: bool,
    /// What it was.
    pub(crate) form: Form,
    /// The lines that belong to it where it ends in a colon, without marks.
    pub(crate) list: Vec<String>,
}

impl Unit {
    /// `text` as one unit under `heading`.
    pub(crate) fn alone(text: &str, heading: &str) -> Unit {
        Unit {
            text: text.to_owned(),
            plain: plain(text),
            heading: plain(heading),
            label: String::new(),
            before: String::new(),
            first: true,
            form: Form::Prose,
            list: Vec::new(),
        }
    }
}

#[derive(Debug)]
enum Block {
    Heading(usize, String),
    Paragraph(String),
    Item(usize, String),
    Row(String, Vec<(String, String)>),
    Code(String),
}

/// The units of `text`, in order. `heading` is what the text stands under.
pub(crate) fn units(text: &str, heading: &str) -> Vec<Unit> {
    let blocks = blocks(text);
    let mut units = Vec::new();
    let mut path = vec![(0, as_heading(plain(heading)))];
    let mut first = true;
    for (at, block) in blocks.iter().enumerate() {
        let heading =
            path.iter().rev().map(|(_, text)| text).find(|text| !is_generic(text)).cloned().unwrap_or_default();
        let heading = plain(&heading);
        let unit = |text: &str, form, first| Unit { form, first, heading: heading.clone(), ..Unit::alone(text, "") };
        match block {
            Block::Heading(level, text) => {
                while path.len() > 1 && path.last().is_some_and(|(above, _)| above >= level) {
                    path.pop();
                }
                path.push((*level, as_heading(plain(text))));
                first = true;
                continue;
            }
            Block::Row(text, cells) => units.push(unit(text, Form::Row(cells.clone()), false)),
            Block::Code(line) => units.push(unit(line, Form::Code, false)),
            Block::Paragraph(text) | Block::Item(_, text) => {
                let form = if matches!(block, Block::Item(..)) { Form::Item } else { Form::Prose };
                let (mut question, mut before, mut label) = (String::new(), String::new(), String::new());
                for sentence in split(text) {
                    let mut next = unit(&sentence, form.clone(), first);
                    if regex!(r"^(?:It|They|This|These)\b").is_match(&next.plain) {
                        next.before = before;
                    }
                    before = next.plain.clone();
                    match label_of(&next.plain) {
                        Some(own) => label = own.to_owned(),
                        None => next.label.clone_from(&label),
                    }
                    if !question.is_empty() {
                        next.heading = as_heading(std::mem::take(&mut question));
                        next.first = true;
                    }
                    if next.plain.ends_with('?') {
                        question = next.plain.clone();
                    }
                    units.push(next);
                    first = false;
                }
                // A question alone in its paragraph is a heading for what follows.
                if !question.is_empty() {
                    path.truncate(path.iter().take_while(|(level, _)| *level < 9).count().max(1));
                    path.push((9, as_heading(question)));
                    first = true;
                    continue;
                }
                if let Some(last) = units.last_mut().filter(|unit| unit.plain.ends_with(':')) {
                    last.list = continuation(block, &blocks[at + 1..]);
                }
            }
        }
        first = false;
    }
    units
}

/// A text as what stands above others: a longer one than a sentence is none, and would be repeated with each of them.
fn as_heading(text: String) -> String {
    if text.len() > MAX_SENTENCE_BYTES { String::new() } else { text }
}

/// `Urgent` of `Urgent: the shop is down.`
fn label_of(sentence: &str) -> Option<&str> {
    let label = regex!(r"^(\p{Lu}[^:.!?;,]{1,40}):\s+\S").captures(sentence)?.get(1)?.as_str();
    (label.split_whitespace().count() <= 4 && !is_remark(label)).then_some(label)
}

/// What follows a block that ends in a colon and belongs to it.
fn continuation(block: &Block, rest: &[Block]) -> Vec<String> {
    let below = match block {
        Block::Item(level, _) => Some(*level),
        _ => None,
    };
    let mut lines = Vec::new();
    let mut kind = None;
    for next in rest.iter().take(MAX_CONTINUED) {
        let (line, this) = match next {
            Block::Item(level, text) if below.is_none_or(|below| *level > below) => (plain(text), 'i'),
            Block::Row(text, _) => (text.clone(), 'r'),
            Block::Code(line) => (line.clone(), 'c'),
            Block::Paragraph(text) if kind.is_none() => {
                (split(text).first().map(|s| plain(s)).unwrap_or_default(), 'p')
            }
            _ => break,
        };
        if kind.is_some_and(|kind| kind != this || kind == 'p') {
            break;
        }
        kind = Some(this);
        lines.push(line);
    }
    lines
}

fn is_generic(heading: &str) -> bool {
    let heading = heading.trim_end_matches([':', '.']).to_lowercase();
    heading.is_empty()
        || [
            "calculation",
            "criteria",
            "definition",
            "definitions",
            "description",
            "details",
            "explanation",
            "faq",
            "formula",
            "glossary",
            "introduction",
            "meaning",
            "notes",
            "overview",
            "rule",
            "rules",
            "summary",
            "terms",
        ]
        .contains(&heading.as_str())
}

/// Lines that are open until a blank line or another block ends them.
#[derive(Default)]
struct Open {
    lines: Vec<String>,
    item: Option<usize>,
}

impl Open {
    fn close(&mut self, out: &mut Vec<Block>) {
        let text = self.lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        self.lines.clear();
        let item = self.item.take();
        if text.is_empty() {
            return;
        }
        out.push(match item {
            Some(level) => Block::Item(level, text),
            // A short bold line stands for a heading.
            None => match regex!(r"^(?:\*\*|__)([^*_]{2,80}?)[:.]?(?:\*\*|__):?$").captures(&text) {
                Some(bold) => Block::Heading(8, bold[1].to_owned()),
                None => Block::Paragraph(text),
            },
        });
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let heading = regex!(r"^\s{0,3}(#{1,6})\s+(.*?)\s*#*$");
    let item = regex!(r"^(\s*)(?:[-*+•‣◦]|\d{1,3}[.)])\s+(\S.*)$");
    let rule = regex!(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$");
    let text = regex!(r"(?s)\A\u{feff}?(?:---\r?\n.*?\n---|\+\+\+\r?\n.*?\n\+\+\+)[ \t]*(?:\r?\n|\z)|<!--.*?-->")
        .replace_all(text, "");
    let mut out = Vec::new();
    let mut open = Open::default();
    let mut header: Option<Vec<String>> = None;
    let mut fence: Option<&str> = None;
    for raw in text.lines() {
        let line = raw.trim_end().trim_start_matches(['>', '\u{feff}']);
        let trimmed = line.trim();
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
            open.close(&mut out);
            fence = if fence.is_some() { None } else { Some(mark) };
            continue;
        }
        if fence.is_some() {
            if !trimmed.is_empty() {
                out.push(Block::Code(trimmed.to_owned()));
            }
            continue;
        }
        if rule.is_match(line) && !trimmed.is_empty() {
            // Under a line with bars it makes a table, under a single short line a heading, else it divides.
            let above = open.lines.last().map(String::as_str).unwrap_or_default();
            if above.contains('|') {
                header = Some(cells(above).into_iter().map(as_heading).collect());
                open.lines.pop();
            } else if open.lines.len() == 1 && open.item.is_none() && above.chars().count() <= 80 {
                out.push(Block::Heading(2, open.lines.remove(0).trim().to_owned()));
            }
            open.close(&mut out);
            continue;
        }
        if trimmed.len() > 2 && trimmed.chars().all(|c| c == '=') && open.lines.len() == 1 {
            out.push(Block::Heading(1, open.lines.remove(0).trim().to_owned()));
            continue;
        }
        if let Some(header) = header.as_ref().filter(|_| trimmed.contains('|')) {
            let row = header.iter().cloned().zip(cells(trimmed)).filter(|(_, cell)| !cell.is_empty()).collect();
            out.push(Block::Row(trimmed.to_owned(), row));
            continue;
        }
        header = None;
        if trimmed.is_empty() {
            open.close(&mut out);
        } else if let Some(found) = heading.captures(line) {
            open.close(&mut out);
            out.push(Block::Heading(found[1].len(), found[2].to_owned()));
        } else if let Some(found) = item.captures(line) {
            open.close(&mut out);
            open.item = Some(found[1].len());
            open.lines.push(found[2].to_owned());
        } else if let Some(meaning) = trimmed.strip_prefix(": ").filter(|_| open.lines.len() == 1) {
            // A definition list: the term in a line of its own, then `: what it means`.
            let term = open.lines.remove(0);
            open.lines.push(format!("{}: {meaning}", term.trim()));
        } else {
            open.lines.push(line.to_owned());
        }
    }
    open.close(&mut out);
    out
}

fn cells(row: &str) -> Vec<String> {
    row.trim().trim_start_matches('|').trim_end_matches('|').split('|').map(|cell| plain(cell.trim())).collect()
}

/// `text` without Markdown marks.
pub(crate) fn plain(text: &str) -> String {
    let text = regex!(r"!?\[([^\]]*)\]\([^)]*\)").replace_all(text, "$1");
    let text = regex!(r"\*\*(.+?)\*\*|__(\S.*?)__|`([^`]+)`").replace_all(&text, "$1$2$3");
    let text = regex!(r"(^|[\s(])\*(\S(?:[^*]*\S)?)\*").replace_all(&text, "$1$2");
    regex!(r"(^|[\s(])_(\S(?:[^_]*\S)?)_($|[\s).,;:])").replace_all(&text, "$1$2$3").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let got: Vec<(String, String)> = units(text, "").into_iter().map(|u| (u.heading, u.plain)).collect();
        let got: Vec<(&str, &str)> = got.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn prose_is_cut_into_sentences_and_not_at_numbers_or_abbreviations() {
        check(
            "A big order is over 45.00 in total. It counts once, e.g. Monday. Approx. 3\nof them are late! See no. 7.",
            &[
                ("", "A big order is over 45.00 in total."),
                ("", "It counts once, e.g. Monday."),
                ("", "Approx. 3 of them are late!"),
                ("", "See no. 7."),
            ],
        );
    }

    #[test]
    fn items_rows_and_headings_keep_their_place() {
        check(
            "# Orders\n\nTiers\n-----\n\n| Tier | Spend |\n|---|--:|\n| **Gold** | 45 |\n\n## Definitions\n1. Late: after\n   ten days.\n2. Lost\n",
            &[("Tiers", "| Gold | 45 |"), ("Orders", "Late: after ten days."), ("Orders", "Lost")],
        );
    }

    #[test]
    fn a_colon_takes_what_follows_with_it() {
        let units = units("An order is big if:\n\n- it is over 100, or\n- it has 10 lines\n\nMore text.", "Orders");
        assert_eq!(units[0].list, ["it is over 100, or", "it has 10 lines"]);
        assert_eq!(units[0].heading, "Orders");
        assert!(units[0].first && !units[1].first);
        assert_eq!(units.len(), 4);
    }

    #[test]
    fn a_question_is_the_heading_of_its_answer() {
        check(
            "**What is churn?**\n\nLosing customers.\n\nWho is late? Nobody.",
            &[("What is churn?", "Losing customers."), ("What is churn?", "Who is late?"), ("Who is late?", "Nobody.")],
        );
    }

    #[test]
    fn a_label_holds_until_the_next_one() {
        let units = units(
            "Urgent: the shop is down. Call at once. Low: a wish. Answer in a day.\n\nThe end. Note: none. So.",
            "",
        );
        let labels: Vec<&str> = units.iter().map(|unit| unit.label.as_str()).collect();
        assert_eq!(labels, ["", "Urgent", "", "Low", "", "", ""]);
    }

    #[test]
    fn a_bold_label_stays_with_its_sentence() {
        check("**Churn.** A customer who left. Done.", &[("", "Churn. A customer who left."), ("", "Done.")]);
    }

    #[test]
    fn front_matter_and_comments_are_not_text() {
        check("---\ntitle: Rules\n---\nOne. <!-- no: text -->\n", &[("", "One.")]);
    }

    #[test]
    fn broken_markup_is_only_text() {
        check("| a | b\n**open\n``` ", &[("", "| a | b **open")]);
        check("", &[]);
    }
}

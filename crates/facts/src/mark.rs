//! Finds the terms that the structure of a text marks, with their definitions: bold words, labels, entries of
//! definition lists, headings, first cells of table rows, and subjects of defining sentences.

mod sentence;

use std::ops::Range;

use prospector_text::{periods, sentences};

use self::sentence::{condition, label, subject};
use crate::{
    read::{Block, BlockKind, read_blocks, render},
    words::{INTERROGATIVES, is_number, is_stop_word, same, stems, within, words},
};

pub(crate) use self::sentence::short_forms;

/// Maximum number of words of a term.
const MAX_WORDS: usize = 8;

/// A heading above a longer text is a topic, in characters.
const MAX_TEXT: usize = 4_000;

/// Maximum length of a sentence that is analysed, in bytes, and maximum number of terms in it.
const MAX_SENTENCE: usize = 2_000;
const MAX_BOLD: usize = 8;

/// How a text marks a term, from the strongest mark to the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// Bold at the start of a sentence, or an entry of a definition list.
    Label,
    /// The heading of a section that defines no other terms.
    Heading,
    /// Bold elsewhere.
    Bold,
    /// The subject of a defining sentence.
    Subject,
    /// The first cell of a row.
    Row,
    /// A code in a list of codes.
    Code,
    /// The name of a table or a column that has a description.
    Schema,
    /// The subject of any other sentence with `is` or `are`.
    Mention,
    /// The heading of a section that defines other terms, or of a long one.
    Topic,
}

/// A marked term.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Marked {
    pub(crate) term: String,
    /// Its other names.
    pub(crate) aliases: Vec<String>,
    pub(crate) mark: Mark,
    /// The sentence, row or entry with the mark.
    pub(crate) answer: String,
    /// The full definition: up to the next term, including the list that follows.
    pub(crate) text: String,
    /// The bytes of the source that contain it.
    pub(crate) range: Range<usize>,
    /// Words that may accompany the term in a question for it, such as the name of its column.
    pub(crate) context: String,
    /// Whether the definition is a formula.
    pub(crate) is_formula: bool,
}

/// Returns the terms marked in a text, in text order. `heading` is the heading above it, if any.
pub(crate) fn marks(text: &str, heading: &str) -> Vec<Marked> {
    let blocks = read_blocks(text);
    let mut out = Vec::new();
    let mut heading = heading.to_owned();
    let mut start = 0;
    for at in 0..=blocks.len() {
        let next = blocks.get(at);
        if next.is_some_and(|block| !matches!(block.kind, BlockKind::Heading(_))) {
            continue;
        }
        out.extend(of_section(&heading, &blocks[start..at]));
        start = at + 1;
        heading = next.map(|block| block.text.clone()).unwrap_or_default();
    }
    out
}

/// Returns the terms defined by the description of a table or column: its name, and the codes that it explains.
pub(crate) fn marks_of_name(name: &str, text: &str) -> Vec<Marked> {
    let mut out = vec![Marked::new(name, Mark::Schema, text, text, 0..text.len())];
    out.extend(codes(text, &format!("{name} {text}"), 0..text.len()));
    out
}

impl Marked {
    fn new(term: &str, mark: Mark, answer: &str, text: &str, range: Range<usize>) -> Self {
        let term = term.trim().trim_end_matches([':', '.', ',']).to_owned();
        Marked {
            term,
            aliases: Vec::new(),
            mark,
            answer: answer.trim().to_owned(),
            text: text.trim().to_owned(),
            range,
            context: String::new(),
            is_formula: false,
        }
    }

    fn is_term(&self) -> bool {
        let words = words(&self.term);
        words.iter().any(|word| word.chars().any(char::is_alphabetic))
            && words.len() <= MAX_WORDS
            && !self.text.is_empty()
            && !self.term.ends_with(['?', '!'])
            && (self.mark == Mark::Code || !is_remark(&words))
            && (self.mark == Mark::Topic || !words.iter().any(|word| INTERROGATIVES.contains(&word.as_str())))
    }

    fn has_key(&self, key: &[String]) -> bool {
        let own = stems(&self.term);
        same(&own, key) || within(&own, key) || within(key, &own)
    }
}

/// Returns whether the words are a period, a number with a unit, or only stop words.
fn is_remark(words: &[String]) -> bool {
    let is_counted = words.first().is_some_and(|word| is_number(word));
    let is_timed = words.iter().any(|word| is_number(word)) && !periods::find(&words.join(" ")).is_empty();
    is_counted || is_timed || words.iter().all(|word| is_stop_word(word))
}

fn of_section(heading: &str, blocks: &[Block]) -> Vec<Marked> {
    let mut found = Vec::new();
    for at in 0..blocks.len() {
        found.extend(of_block(blocks, at));
    }
    found.extend(of_heading(heading, blocks, &found));
    found.retain(Marked::is_term);
    found
}

fn of_heading(heading: &str, blocks: &[Block], found: &[Marked]) -> Option<Marked> {
    let (first, last) = (blocks.first()?, blocks.last()?);
    let whole = render(blocks);
    let key = stems(heading);
    let is_own = |one: &&Marked| one.has_key(&key);
    let own = found.iter().filter(|one| one.mark <= Mark::Subject).find(is_own);
    let defines_others = found.iter().any(|one| one.mark == Mark::Label);
    let (term, is_question) = match heading.strip_suffix('?') {
        Some(question) => (asked_term(question)?, true),
        None => (heading.to_owned(), false),
    };
    let is_clause = !is_question && words(heading).iter().any(|word| INTERROGATIVES.contains(&word.as_str()));
    let is_topic = is_clause || whole.chars().count() > MAX_TEXT || (own.is_none() && defines_others);
    let mark = if is_topic { Mark::Topic } else { Mark::Heading };
    let answer = own.map_or_else(|| first_sentence(&first.text, &whole), |own| own.answer.clone());
    Some(Marked::new(&term, mark, &answer, &whole, first.range.start..last.range.end))
}

/// Returns the term asked for by a heading: `chargeback` for `What is a chargeback?`.
fn asked_term(question: &str) -> Option<String> {
    let tokens: Vec<&str> = question.split_whitespace().collect();
    let is_stop = |token: &&&str| is_stop_word(&token.to_lowercase());
    let from = tokens.iter().take_while(is_stop).count();
    let rest = &tokens[from..];
    (tokens.first()?.eq_ignore_ascii_case("what") && !rest.is_empty() && !rest.iter().any(|token| is_stop(&token)))
        .then(|| rest.join(" "))
}

fn first_sentence(text: &str, whole: &str) -> String {
    let first = sentences::ranges(text).into_iter().next().map_or("", |range| text[range].trim());
    if first.ends_with(['.', '!', ';']) { first.to_owned() } else { whole.to_owned() }
}

fn of_block(blocks: &[Block], at: usize) -> Vec<Marked> {
    let block = &blocks[at];
    match block.kind {
        BlockKind::Row => of_row(block),
        BlockKind::Entry => {
            let meanings: Vec<&Block> =
                blocks[at + 1..].iter().take_while(|block| block.kind == BlockKind::Meaning).collect();
            let said: Vec<&str> = meanings.iter().map(|block| block.text.as_str()).collect();
            let text = format!("{}: {}", block.text, said.join("\n"));
            let end = meanings.last().map_or(block.range.end, |last| last.range.end);
            vec![Marked::new(&block.text, Mark::Label, &text, &text, block.range.start..end)]
        }
        BlockKind::Paragraph if block.is_all_bold() => {
            let under: Vec<&Block> = blocks[at + 1..].iter().take_while(|block| !block.is_all_bold()).collect();
            let (Some(first), Some(last)) = (under.first(), under.last()) else { return Vec::new() };
            let text = render(under.iter().copied());
            let range = block.range.start..last.range.end;
            vec![Marked::new(&block.text, Mark::Label, &first_sentence(&first.text, &text), &text, range)]
        }
        BlockKind::Paragraph | BlockKind::Item => of_sentences(blocks, at),
        BlockKind::Code => {
            let formula = block.text.lines().filter_map(|line| formula(line, block.range.clone()));
            formula.collect()
        }
        BlockKind::Heading(_) | BlockKind::Meaning => Vec::new(),
    }
}

fn formula(line: &str, range: Range<usize>) -> Option<Marked> {
    let (term, rest) = line.split_once(" = ")?;
    let is_name = !term.contains(['(', ')', ';', '"']) && words(term).len() <= 5 && !rest.trim().is_empty();
    is_name.then(|| Marked { is_formula: true, ..Marked::new(term, Mark::Subject, line, line, range) })
}

fn of_row(row: &Block) -> Vec<Marked> {
    let Some(term) = row.cells.first().filter(|_| row.cells.iter().filter(|cell| !cell.is_empty()).count() > 1) else {
        return Vec::new();
    };
    let text = row.render_row();
    let context = row.columns.first().cloned().unwrap_or_default();
    let mut out = vec![Marked { context, ..Marked::new(term, Mark::Row, &text, &text, row.range.clone()) }];
    for cell in &row.cells[1..] {
        out.extend(codes(cell, term, row.range.clone()));
    }
    out
}

/// Returns the codes of `P paid, O open` or `AMER = the Americas; APAC = Asia and Pacific`: two or more, each with its meaning.
fn codes(text: &str, of: &str, range: Range<usize>) -> Vec<Marked> {
    let mut out = Vec::new();
    for part in text.split([',', ';']) {
        let part = part.trim().split(". ").next().unwrap_or_default();
        // `values: P = paid`
        let part = part.split_once(": ").filter(|(label, _)| !is_code(label)).map_or(part, |(_, rest)| rest);
        let (code, meaning) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
        let code = code.trim_end_matches([':', '=']).trim_matches('`');
        let meaning = meaning.trim_start_matches([':', '=', '-', '–', ' ']).trim_end_matches('.');
        if is_code(code) && !meaning.is_empty() {
            let text = format!("{code}: {meaning}");
            out.push(Marked { context: of.to_owned(), ..Marked::new(code, Mark::Code, &text, &text, range.clone()) });
        }
    }
    if out.len() < 2 { Vec::new() } else { out }
}

fn is_code(text: &str) -> bool {
    (1..=8).contains(&text.len()) && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Returns the terms of a paragraph or list item. A definition extends to the sentence that marks the next term.
fn of_sentences(blocks: &[Block], at: usize) -> Vec<Marked> {
    let block = &blocks[at];
    let ranges = sentences::ranges(&block.text);
    let marked: Vec<Vec<Marked>> = ranges.iter().map(|range| of_sentence(block, range)).collect();
    let starts = |one: &Vec<Marked>| one.iter().any(|one| one.mark < Mark::Mention);
    let after = continuation(blocks, at);
    let mut out = Vec::new();
    for (from, terms) in marked.iter().enumerate().filter(|(_, terms)| !terms.is_empty()) {
        let next = match starts(terms) {
            true => marked[from + 1..].iter().position(starts).map(|next| from + 1 + next),
            false => Some(from + 1).filter(|next| *next < ranges.len()),
        };
        let own = &block.text[ranges[from].start..ranges[next.unwrap_or(ranges.len()) - 1].end];
        let (text, end) = match (next, after) {
            (None, [.., last]) => (format!("{}\n{}", own.trim(), render(after)), last.range.end),
            _ => (own.to_owned(), block.range.end),
        };
        for term in terms {
            let answer = if term.answer.ends_with(':') { text.clone() } else { term.answer.clone() };
            let range = block.range.start..end;
            out.push(Marked { text: text.trim().to_owned(), answer, range, ..term.clone() });
        }
    }
    out
}

/// Returns the blocks that continue a paragraph: its list, and lists with their introductions.
fn continuation(blocks: &[Block], at: usize) -> &[Block] {
    let mut end = at + 1;
    if blocks[at].kind == BlockKind::Item {
        return &[];
    }
    while let Some(block) = blocks.get(end) {
        let introduced = blocks[end - 1].text.ends_with(':') || blocks[end - 1].kind == block.kind;
        let is_part = match block.kind {
            BlockKind::Item => introduced || block.bold.first().is_none_or(|bold| bold.start > 0),
            BlockKind::Row | BlockKind::Code => introduced,
            _ => {
                block.text.ends_with(':') && block.bold.is_empty() && blocks.get(end + 1).is_some_and(Block::is_listed)
            }
        };
        if !is_part {
            break;
        }
        end += 1;
    }
    &blocks[at + 1..end]
}

fn of_sentence(block: &Block, range: &Range<usize>) -> Vec<Marked> {
    let sentence = block.text[range.clone()].trim_end();
    let new = |term: &str, mark: Mark| Marked::new(term, mark, sentence, sentence, block.range.clone());
    if sentence.len() > MAX_SENTENCE {
        return Vec::new();
    }
    let mut out = Vec::new();
    let from = block.bold.partition_point(|bold| bold.start < range.start);
    for bold in block.bold[from..].iter().take_while(|bold| bold.start < range.end).take(MAX_BOLD) {
        let before = &block.text[range.start..bold.start];
        let is_first = words(before).iter().all(|word| is_stop_word(word));
        let mut one = new(&block.text[bold.clone()], if is_first { Mark::Label } else { Mark::Bold });
        one.aliases.extend(short_in_brackets(&block.text[bold.end..]));
        // `A customer is **dormant** if ..`
        let noun = condition(before).filter(|noun| !within(&stems(noun), &stems(&one.term)));
        one.aliases.extend(noun.map(|noun| format!("{} {noun}", one.term)));
        out.push(one);
    }
    if out.iter().any(Marked::is_term) {
        return out;
    }
    if let Some(one) = formula(sentence, block.range.clone()) {
        return vec![one];
    }
    if let Some(term) = label(sentence) {
        let (term, alias) = without_brackets(term);
        return vec![Marked { aliases: alias.into_iter().collect(), ..new(&term, Mark::Subject) }];
    }
    if let Some(found) = subject(sentence) {
        let (term, alias) = without_brackets(&found.term);
        out = vec![Marked {
            aliases: alias.into_iter().collect(),
            is_formula: found.is_formula,
            ..new(&term, found.mark)
        }];
        out.extend(found.complement.map(|term| new(&term, Mark::Subject)));
    }
    out
}

/// Returns the abbreviation right after a term: `(AOV)`.
fn short_in_brackets(rest: &str) -> Option<String> {
    let (short, _) = rest.trim_start().strip_prefix('(')?.split_once(')')?;
    (short.split_whitespace().count() <= 4).then(|| short.to_owned())
}

fn without_brackets(term: &str) -> (String, Option<String>) {
    let Some((before, rest)) = term.split_once('(') else { return (term.to_owned(), None) };
    let (inside, after) = rest.split_once(')').unwrap_or((rest, ""));
    (format!("{} {}", before.trim(), after.trim()).trim().to_owned(), Some(inside.trim().to_owned()))
}

#[cfg(test)]
mod tests;

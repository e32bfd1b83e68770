//! Divides blocks that exceed the limit.

use prospector_text::sentences;
use text_splitter::TextSplitter;

use super::{MAX_BLOCK_CHARS, MAX_CHARS, blocks::Kind, chars};

/// Maximum input of the splitter, whose run time is quadratic.
const MAX_SPLIT_BYTES: usize = 32 * 1024;

/// Divides a block into pieces of up to [`MAX_CHARS`], except where no good split exists.
pub(super) fn divide(block: &str, kind: Kind) -> Vec<String> {
    match kind {
        Kind::Table => table(block),
        Kind::Code => code(block),
        Kind::Prose => {
            let pieces = sentences::ranges(block).into_iter().map(|range| &block[range]);
            pack(pieces, 0, |_| false)
        }
    }
}

/// Divides a table between rows and repeats the head before each piece except the first, which already contains it.
fn table(block: &str) -> Vec<String> {
    let (head, rows) = lines(block, 2);
    // A head this long would crowd out the rows.
    if chars(head) > MAX_CHARS / 2 {
        return pack(block.split_inclusive('\n'), 0, |_| false);
    }
    let pieces = pack(rows.split_inclusive('\n'), chars(head), |_| false);
    pieces.into_iter().map(|rows| format!("{head}{rows}")).collect()
}

/// Divides the lines of a code block and repeats its fences.
fn code(block: &str) -> Vec<String> {
    let (open, rest) = lines(block, 1);
    let start = open.find("```").into_iter().chain(open.find("~~~")).min();
    let Some(start) = start.filter(|_| chars(open) <= MAX_CHARS / 2) else {
        return pack(block.split_inclusive('\n'), 0, empty);
    };
    let mark = &open[start..start + 1];
    let length = open[start..].chars().take_while(|c| mark.starts_with(*c)).count();
    let fence = mark.repeat(length);
    // Only empty lines follow the closing fence.
    let last = rest.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let closing = rest[last..].trim_matches(|c: char| c.is_whitespace() || c == '>');
    let body = if closing.len() >= length && closing.trim_matches(|c| mark.starts_with(c)).is_empty() {
        &rest[..last]
    } else {
        rest
    };
    let before: String = open[..start].chars().filter(|c| c.is_whitespace() || *c == '>').collect();
    let pieces = pack(body.split_inclusive('\n'), chars(open), empty);
    pieces
        .into_iter()
        .map(|lines| {
            let end = if lines.ends_with('\n') { "" } else { "\n" };
            format!("{open}{lines}{end}{before}{fence}\n\n")
        })
        .collect()
}

fn empty(line: &str) -> bool {
    line.trim_matches(|c: char| c.is_whitespace() || c == '>').is_empty()
}

/// Splits off the first `count` lines of a text.
fn lines(text: &str, count: usize) -> (&str, &str) {
    let end = text.match_indices('\n').nth(count - 1).map_or(text.len(), |(at, _)| at + 1);
    text.split_at(end)
}

/// Packs units into pieces, reserving `around` characters for a head or fence. In its second half, a piece preferably
/// ends after a `seam` unit. Units beyond the limit are split between words.
fn pack<'a>(units: impl Iterator<Item = &'a str>, around: usize, seam: impl Fn(&str) -> bool) -> Vec<String> {
    let max = MAX_CHARS - around;
    let mut pieces = Vec::new();
    let mut open = String::new();
    let mut length = 0;
    // Position of the last seam in the open piece, in bytes and characters.
    let mut cut: Option<(usize, usize)> = None;
    for unit in units {
        let count = unit.chars().count();
        if length + count > max && !open.is_empty() {
            let (at, before) = cut.filter(|(_, before)| *before > max / 2).unwrap_or((open.len(), length));
            let rest = open.split_off(at);
            pieces.push(std::mem::replace(&mut open, rest));
            length -= before;
            cut = None;
        }
        if length + count > MAX_BLOCK_CHARS - around {
            pieces.extend(Some(std::mem::take(&mut open)).filter(|piece| !piece.is_empty()));
            length = 0;
            pieces.extend(words(unit, max));
            continue;
        }
        open.push_str(unit);
        length += count;
        if seam(unit) {
            cut = Some((open.len(), length));
        }
    }
    pieces.extend(Some(open).filter(|piece| !piece.is_empty()));
    pieces
}

/// Splits a unit into pieces of up to `max` characters, between words if it has any.
fn words(unit: &str, max: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = unit;
    while !rest.is_empty() {
        let mut end = rest.len().min(MAX_SPLIT_BYTES);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let splitter = TextSplitter::new(max);
        pieces.extend(splitter.chunks(&rest[..end]).map(|piece| format!("{piece} ")));
        rest = &rest[end..];
    }
    pieces
}

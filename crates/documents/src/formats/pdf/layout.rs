//! Pieces of text with their places to lines, and lines to Markdown.
//!
//! The order in which a page is drawn is kept: programs write a column, and then the next. Pieces on one line join; a
//! wide gap begins a new cell. Several lines of cells under each other are a table. The size that most of the text has
//! is that of the body; larger lines are headings, the largest of the first level, and bold lines that stand alone are
//! headings below them. What repeats at one place of most pages is a header or footer, and is left out.

use std::collections::{BTreeMap, HashMap};

use super::{
    super::tables::{literal, write},
    content::Piece,
};

/// A gap in a line above this share of the size is a space.
const SPACE: f64 = 0.16;
/// A gap above this share of the size divides cells.
const CELL: f64 = 1.3;
/// A line is a heading when it is larger than the body by this.
const LARGER: f64 = 1.12;
/// Longer lines are no headings.
const MAX_HEADING: usize = 160;
/// Headings of a page are repeated on fewer pages than this share.
const REPEATED: f64 = 0.6;
const MAX_COLUMNS: usize = 40;

#[derive(Debug, Clone)]
struct Cell {
    left: f64,
    right: f64,
    text: String,
}

/// What stands side by side.
#[derive(Debug, Clone)]
struct Line {
    base: f64,
    size: f64,
    bold: bool,
    cells: Vec<Cell>,
}

impl Line {
    fn text(&self) -> String {
        self.cells.iter().map(|cell| cell.text.trim()).collect::<Vec<_>>().join(" ")
    }
}

/// The pages as one text.
pub(super) fn markdown(pages: Vec<Vec<Piece>>) -> String {
    let mut pages: Vec<Vec<Line>> = pages.into_iter().map(lines).collect();
    drop_repeated(&mut pages);
    let style = Style::of(&pages);
    let mut out = String::new();
    for page in &pages {
        write_page(page, &style, &mut out);
    }
    out
}

fn lines(pieces: Vec<Piece>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for piece in pieces {
        let size = if piece.size > 0.5 { piece.size } else { 0.5 };
        let last = lines.last_mut().filter(|line| {
            let end = line.cells.last().map_or(f64::MIN, |cell| cell.right);
            (line.base - piece.base).abs() < size.max(line.size) * 0.45 && piece.left > end - size
        });
        let Some(line) = last else {
            if !piece.text.trim().is_empty() {
                let cell = Cell { left: piece.left, right: piece.right, text: piece.text };
                lines.push(Line { base: piece.base, size, bold: piece.bold, cells: vec![cell] });
            }
            continue;
        };
        let Some(cell) = line.cells.last_mut() else { continue };
        let gap = piece.left - cell.right;
        let blank = piece.text.trim().is_empty();
        if gap > size.min(line.size) * CELL && !blank {
            line.cells.push(Cell { left: piece.left, right: piece.right, text: piece.text });
        } else {
            if gap > size * SPACE && !cell.text.ends_with(' ') && !piece.text.starts_with(' ') {
                cell.text.push(' ');
            }
            // White space does not reach to the next cell.
            if !blank {
                cell.right = cell.right.max(piece.right);
            }
            cell.text.push_str(&piece.text);
        }
        if !blank {
            line.bold &= piece.bold;
            line.size = line.size.max(size);
        }
    }
    lines
}

/// Takes headers and footers off: the same words, but for numbers, at the same place of most pages.
fn drop_repeated(pages: &mut [Vec<Line>]) {
    if pages.len() < 3 {
        return;
    }
    let key = |line: &Line| {
        let words: String = line.text().chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
        (line.base.round() as i64, words)
    };
    let mut counts: HashMap<(i64, String), usize> = HashMap::new();
    for page in pages.iter() {
        let mut seen: Vec<_> = page.iter().map(key).collect();
        seen.sort();
        seen.dedup();
        seen.into_iter().for_each(|key| *counts.entry(key).or_default() += 1);
    }
    let many = (pages.len() as f64 * REPEATED).ceil() as usize;
    for page in pages {
        page.retain(|line| counts.get(&key(line)).is_none_or(|count| *count < many.max(3)));
    }
}

/// What is common in a file.
struct Style {
    /// The size of most of the text, in tenths of a point.
    body: i64,
    /// The sizes of headings, largest first.
    headings: Vec<i64>,
    /// From one line of a paragraph to the next, as a share of the size.
    leading: f64,
}

fn tenths(size: f64) -> i64 {
    (size * 10.0).round() as i64
}

impl Style {
    fn of(pages: &[Vec<Line>]) -> Style {
        let mut letters: BTreeMap<i64, usize> = BTreeMap::new();
        let mut gaps: BTreeMap<i64, usize> = BTreeMap::new();
        for page in pages {
            for line in page {
                *letters.entry(tenths(line.size)).or_default() += line.text().chars().count();
            }
            for two in page.windows(2) {
                let gap = (two[0].base - two[1].base) / two[0].size;
                if (0.8..2.5).contains(&gap) && tenths(two[0].size) == tenths(two[1].size) && two[0].cells.len() == 1 {
                    *gaps.entry((gap * 20.0).round() as i64).or_default() += 1;
                }
            }
        }
        let body = letters.iter().max_by_key(|(_, count)| **count).map_or(100, |(size, _)| *size);
        let larger = |size: &&i64| **size as f64 >= body as f64 * LARGER;
        let mut headings: Vec<i64> = letters.keys().filter(larger).copied().collect();
        headings.reverse();
        // The narrowest of the common gaps is the one inside a paragraph.
        let most = gaps.values().max().copied().unwrap_or(0);
        let common = gaps.iter().find(|(_, count)| **count * 3 >= most).map(|(gap, _)| *gap as f64 / 20.0);
        Style { body, headings, leading: common.unwrap_or(1.2) }
    }

    /// The level of a heading of that size; sizes that differ little share one.
    fn level(&self, line: &Line, alone: bool) -> Option<u8> {
        let words = line.text();
        let length = words.chars().count();
        if line.cells.len() > 1 || length > MAX_HEADING || !words.chars().any(char::is_alphabetic) {
            return None;
        }
        let size = tenths(line.size);
        let mut level = 0_u8;
        let mut above = i64::MAX;
        for heading in &self.headings {
            if above == i64::MAX || (above - heading) * 20 > above {
                level += 1;
                above = *heading;
            }
            if *heading <= size {
                return Some(level.min(6));
            }
        }
        let bold = line.bold && alone && size >= self.body && length <= 80 && !words.ends_with(['.', ',', ';', ':']);
        bold.then_some((level + 1).min(6))
    }
}

fn write_page(page: &[Line], style: &Style, out: &mut String) {
    let mut at = 0;
    while at < page.len() {
        let end = table_end(page, at);
        if end > at && write_table(&page[at..end], out) {
            at = end;
            continue;
        }
        let end = paragraph_end(page, at, style);
        let lines = &page[at..end];
        let words = join_lines(lines);
        // A bold paragraph of two lines is emphasis.
        match style.level(&lines[0], lines.len() == 1) {
            Some(level) => out.push_str(&format!("{} {words}\n\n", "#".repeat(usize::from(level)))),
            None => match item(&words) {
                Some(rest) => {
                    if out.ends_with("\n\n") && out.trim_end().rsplit('\n').next().is_some_and(|l| l.starts_with("- "))
                    {
                        out.pop();
                    }
                    out.push_str(&format!("- {}\n\n", literal(rest)));
                }
                None => out.push_str(&format!("{}\n\n", literal(&words))),
            },
        }
        at = end;
    }
}

/// The end of the lines from `at` on that may be rows of a table: two cells or more, or one among such lines.
fn table_end(page: &[Line], at: usize) -> usize {
    let mut end = at;
    while end < page.len() {
        let line = &page[end];
        let near = end == at || {
            let gap = page[end - 1].base - line.base;
            gap > 0.0 && gap < page[end - 1].size.max(line.size) * 5.0
        };
        let row = line.cells.len() > 1
            || (end > at && page.get(end + 1).is_some_and(|next| next.cells.len() > 1 && next.base < line.base));
        if !near || !row {
            break;
        }
        end += 1;
    }
    end
}

/// Writes lines as a table where their cells stand in columns; else nothing, and says so.
fn write_table(lines: &[Line], out: &mut String) -> bool {
    if lines.iter().filter(|line| line.cells.len() > 1).count() < 2 {
        return false;
    }
    // What overlaps from left to right is one column.
    let mut spans: Vec<(f64, f64)> =
        lines.iter().flat_map(|line| &line.cells).map(|cell| (cell.left, cell.right)).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut columns: Vec<(f64, f64)> = Vec::new();
    for (left, right) in spans {
        match columns.last_mut() {
            Some(column) if left < column.1 => column.1 = column.1.max(right),
            _ => columns.push((left, right)),
        }
    }
    if columns.len() < 2 || columns.len() > MAX_COLUMNS {
        return false;
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in lines {
        let mut row = vec![String::new(); columns.len()];
        for cell in &line.cells {
            let column = columns.iter().position(|column| cell.left < column.1).unwrap_or(0);
            if !row[column].is_empty() {
                row[column].push(' ');
            }
            row[column].push_str(cell.text.trim());
        }
        rows.push(row);
    }
    // One column with almost all of the text is a paragraph with something beside it.
    let filled = rows.iter().filter(|row| row.iter().filter(|cell| !cell.is_empty()).count() > 1).count();
    if filled * 2 < rows.len() {
        return false;
    }
    write(&rows, out);
    true
}

/// The end of the paragraph that begins at `at`.
fn paragraph_end(page: &[Line], at: usize, style: &Style) -> usize {
    let mut end = at + 1;
    while let (Some(line), Some(next)) = (page.get(end - 1), page.get(end)) {
        let gap = (line.base - next.base) / line.size;
        let same = tenths(line.size) == tenths(next.size)
            || (style.level(line, false).is_none() && style.level(next, false).is_none());
        let bold = line.bold != next.bold && end == at + 1 && style.level(line, true).is_some();
        let close = gap > 0.2 && gap < style.leading * 1.25;
        // A line that is drawn beside or above the last one is another column.
        if !same || bold || !close || next.cells.len() > 1 || item(&next.text()).is_some() {
            break;
        }
        end += 1;
    }
    end
}

/// The lines as one, a word that was divided at the end of a line whole again.
fn join_lines(lines: &[Line]) -> String {
    let mut out = String::new();
    for line in lines {
        let words = line.text().split_whitespace().collect::<Vec<_>>().join(" ");
        let next_small = words.chars().next().is_some_and(char::is_lowercase);
        let hyphen = out.ends_with('-') && next_small && out.chars().rev().nth(1).is_some_and(char::is_lowercase);
        if hyphen || out.ends_with('\u{ad}') {
            out.pop();
        } else if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&words);
    }
    out.replace('\u{ad}', "")
}

/// What follows the mark of a list item.
fn item(words: &str) -> Option<&str> {
    let marks = ['•', '▪', '‣', '●', '◦', '■', '\u{f0b7}', '\u{f0a7}', '–'];
    let rest = words.strip_prefix(marks).or_else(|| words.strip_prefix("- "))?.trim_start();
    (!rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(left: f64, base: f64, size: f64, text: &str) -> Piece {
        let bold = text.starts_with('*');
        let text = text.trim_start_matches('*').to_owned();
        Piece { left, right: left + text.chars().count() as f64 * size * 0.5, base, size, bold, text }
    }

    fn check(pages: &[&[(f64, f64, f64, &str)]], expected: &str) {
        let pages = pages.iter().map(|page| page.iter().map(|(x, y, size, text)| piece(*x, *y, *size, text)).collect());
        assert_eq!(markdown(pages.collect()), expected);
    }

    #[test]
    fn larger_lines_are_headings_and_gaps_end_paragraphs() {
        check(
            &[&[
                (50.0, 700.0, 20.0, "*Guide"),
                (50.0, 680.0, 10.0, "One para-"),
                (50.0, 668.0, 10.0, "graph of text and"),
                (50.0, 656.0, 10.0, "of well-"),
                (50.0, 644.0, 10.0, "Known words."),
                (50.0, 620.0, 10.0, "# Another."),
                (50.0, 600.0, 14.0, "Part"),
                (50.0, 586.0, 10.0, "*Alone"),
                (50.0, 570.0, 10.0, "• first"),
                (50.0, 558.0, 10.0, "• second"),
            ]],
            "# Guide\n\nOne paragraph of text and of well- Known words.\n\n\\# Another.\n\n## Part\n\n### Alone\n\n- first\n- second\n\n",
        );
    }

    #[test]
    fn cells_under_each_other_are_a_table_and_words_beside_each_other_are_not() {
        check(
            &[&[
                (50.0, 700.0, 10.0, "Before it a line of text that is long enough."),
                (50.0, 680.0, 10.0, "Site"),
                (150.0, 680.0, 10.0, "Time"),
                (50.0, 660.0, 10.0, "Leip"),
                (70.0, 660.0, 10.0, "zig"),
                (160.0, 660.0, 10.0, "9"),
                (50.0, 640.0, 10.0, "Recife"),
                (50.0, 620.0, 10.0, "Hobart"),
                (155.0, 620.0, 10.0, "12"),
                (50.0, 600.0, 10.0, "Two"),
                (68.0, 600.0, 10.0, "words"),
            ]],
            "Before it a line of text that is long enough.\n\n| Site | Time |\n| --- | --- |\n| Leipzig | 9 |\n| Recife | |\n| Hobart | 12 |\n\nTwo words\n\n",
        );
    }

    #[test]
    fn what_repeats_on_every_page_is_left_out() {
        let pages: Vec<[(f64, f64, f64, &str); 2]> = vec![
            [(50.0, 800.0, 10.0, "Handbook, page 1"), (50.0, 700.0, 10.0, "First.")],
            [(50.0, 800.0, 10.0, "Handbook, page 2"), (50.0, 700.0, 10.0, "Second.")],
            [(50.0, 800.0, 10.0, "Handbook, page 3"), (50.0, 690.0, 10.0, "Third.")],
        ];
        let pages: Vec<&[(f64, f64, f64, &str)]> = pages.iter().map(|page| page.as_slice()).collect();
        check(&pages, "First.\n\nSecond.\n\nThird.\n\n");
    }
}

//! Assembles positioned text into lines, and lines into the paragraphs of a page.
//!
//! A PDF records positions, not structure: the drawing order is kept, each page is a section, and headings, columns and
//! repeated headers are not inferred.

use std::collections::BTreeMap;

use prospector_text::cut::one_line;

use super::{super::tables::literal, content::Piece};

/// Gaps in a line above this fraction of the font size are spaces.
const SPACE: f64 = 0.16;
/// Gaps above this fraction of the font size separate cells; such a line is not joined to others.
const WIDE: f64 = 1.3;

/// Text on one baseline.
#[derive(Debug, Clone)]
struct Line {
    base: f64,
    size: f64,
    right: f64,
    is_wide: bool,
    text: String,
}

/// Joins the pages into one text, each below a heading with its number if there are several.
pub(super) fn markdown(pages: Vec<Vec<Piece>>) -> String {
    let pages: Vec<Vec<Line>> = pages.into_iter().map(lines).collect();
    let leading = common_leading(&pages);
    let mut out = String::new();
    for (n, page) in pages.iter().enumerate().filter(|(_, page)| !page.is_empty()) {
        if pages.len() > 1 {
            out.push_str(&format!("## Page {}\n\n", n + 1));
        }
        write_page(page, leading, &mut out);
    }
    out
}

fn lines(pieces: Vec<Piece>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for Piece { left, right, base, size, text } in pieces {
        let size = if size > 0.5 { size } else { 0.5 };
        let is_blank = text.trim().is_empty();
        let last = lines
            .last_mut()
            .filter(|line| (line.base - base).abs() < size.max(line.size) * 0.45 && left > line.right - size);
        let Some(line) = last else {
            if !is_blank {
                lines.push(Line { base, size, right, is_wide: false, text });
            }
            continue;
        };
        let gap = left - line.right;
        line.is_wide |= gap > size.min(line.size) * WIDE && !is_blank;
        if gap > size * SPACE && !line.text.ends_with(' ') && !text.starts_with(' ') {
            line.text.push(' ');
        }
        line.text.push_str(&text);
        // White space does not extend the line.
        if !is_blank {
            line.right = line.right.max(right);
            line.size = line.size.max(size);
        }
    }
    lines
}

fn tenths(size: f64) -> i64 {
    (size * 10.0).round() as i64
}

/// Returns the common distance of lines in a paragraph, as a fraction of the font size.
fn common_leading(pages: &[Vec<Line>]) -> f64 {
    let mut steps: BTreeMap<i64, usize> = BTreeMap::new();
    for two in pages.iter().flat_map(|page| page.windows(2)) {
        let step = (two[0].base - two[1].base) / two[0].size;
        if (0.8..2.5).contains(&step) && tenths(two[0].size) == tenths(two[1].size) && !two[0].is_wide {
            *steps.entry((step * 20.0).round() as i64).or_default() += 1;
        }
    }
    let most = steps.values().max().copied().unwrap_or(0);
    let common = steps.iter().find(|(_, count)| **count * 3 >= most).map(|(step, _)| *step as f64 / 20.0);
    common.unwrap_or(1.2)
}

fn write_page(page: &[Line], leading: f64, out: &mut String) {
    let mut at = 0;
    while at < page.len() {
        let end = paragraph_end(page, at, leading);
        out.push_str(&literal(&join_lines(&page[at..end])));
        // A row of cells keeps its line, adjacent to the next row.
        let is_row = page[at].is_wide && page.get(end).is_some_and(|next| next.is_wide);
        out.push_str(if is_row { "\n" } else { "\n\n" });
        at = end;
    }
}

/// Returns the end of the paragraph that starts at `at`.
fn paragraph_end(page: &[Line], at: usize, leading: f64) -> usize {
    let mut end = at + 1;
    while let (Some(line), Some(next)) = (page.get(end - 1), page.get(end)) {
        let step = (line.base - next.base) / line.size;
        // A line next to or above the previous one belongs to another column.
        let is_close = step > 0.2 && step < leading * 1.25;
        if tenths(line.size) != tenths(next.size) || !is_close || line.is_wide || next.is_wide {
            break;
        }
        end += 1;
    }
    end
}

/// Joins lines and rejoins words hyphenated at line ends.
fn join_lines(lines: &[Line]) -> String {
    let mut out = String::new();
    for line in lines {
        let words = one_line(&line.text);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(left: f64, base: f64, size: f64, text: &str) -> Piece {
        Piece { left, right: left + text.chars().count() as f64 * size * 0.5, base, size, text: text.to_owned() }
    }

    fn check(pages: &[&[(f64, f64, f64, &str)]], expected: &str) {
        let pages = pages.iter().map(|page| page.iter().map(|(x, y, size, text)| piece(*x, *y, *size, text)).collect());
        assert_eq!(markdown(pages.collect()), expected);
    }

    #[test]
    fn splits_paragraphs_at_gaps_and_rejoins_words() {
        check(
            &[&[
                (50.0, 700.0, 20.0, "Guide"),
                (50.0, 680.0, 10.0, "One para-"),
                (50.0, 668.0, 10.0, "graph of text and"),
                (50.0, 656.0, 10.0, "of well-"),
                (50.0, 644.0, 10.0, "Known words."),
                (50.0, 620.0, 10.0, "# Another."),
            ]],
            "Guide\n\nOne paragraph of text and of well- Known words.\n\n\\# Another.\n\n",
        );
    }

    #[test]
    fn keeps_rows_of_cells() {
        check(
            &[&[
                (50.0, 700.0, 10.0, "Before it a line of text that is long enough."),
                (50.0, 688.0, 10.0, "Site"),
                (150.0, 688.0, 10.0, "Time"),
                (50.0, 676.0, 10.0, "Leip"),
                (70.0, 676.0, 10.0, "zig"),
                (160.0, 676.0, 10.0, "9"),
                (50.0, 664.0, 10.0, "Two"),
                (68.0, 664.0, 10.0, "words"),
            ]],
            "Before it a line of text that is long enough.\n\nSite Time\nLeipzig 9\n\nTwo words\n\n",
        );
    }

    #[test]
    fn adds_page_headings() {
        check(
            &[&[(50.0, 700.0, 10.0, "First.")], &[], &[(50.0, 690.0, 10.0, "Third.")]],
            "## Page 1\n\nFirst.\n\n## Page 3\n\nThird.\n\n",
        );
    }
}

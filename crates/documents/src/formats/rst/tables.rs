//! Tables of reStructuredText: grid tables, simple tables and list tables.

use super::BULLETS;
use crate::formats::markup::{indent, list_item};

/// Maximum number of columns of a simple table, as each row has all of them.
const MAX_COLUMNS: usize = 100;

/// Parses the table at the start of the lines; returns its rows and the number of lines read.
pub(super) fn table(lines: &[&str]) -> Option<(Vec<Vec<String>>, usize)> {
    let first = lines.first()?;
    if first.starts_with("+-") && first.ends_with('+') { grid(lines) } else { simple(lines) }
}

/// Parses a grid table: cells between `|`, rows between `+---+` lines.
fn grid(lines: &[&str]) -> Option<(Vec<Vec<String>>, usize)> {
    let end = lines.iter().position(|line| !line.starts_with(['+', '|'])).unwrap_or(lines.len());
    let border: Vec<usize> = lines[0].match_indices('+').map(|(at, _)| at).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row: Vec<String> = Vec::new();
    for line in &lines[..end] {
        if line.starts_with("+-") || line.starts_with("+=") {
            rows.extend(Some(std::mem::take(&mut row)).filter(|row| !row.is_empty()));
            continue;
        }
        let mut columns: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        // Bars inside cells are distinguished by the column positions of the first line.
        if columns.len() != border.len() - 1 {
            let part = |two: &[usize]| line.get(two[0] + 1..two[1].min(line.len())).map(str::trim);
            columns = border.windows(2).filter_map(part).collect();
        }
        row.resize(row.len().max(columns.len()), String::new());
        for (cell, words) in row.iter_mut().zip(columns) {
            add(cell, words);
        }
    }
    rows.extend(Some(row).filter(|row| !row.is_empty()));
    (end > 2 && border.len() > 1 && !rows.is_empty()).then_some((rows, end))
}

/// Parses a simple table: columns below `===  ===`, closed by such a line.
fn simple(lines: &[&str]) -> Option<(Vec<Vec<String>>, usize)> {
    let is_border = |line: &str| line.starts_with("==") && line.contains(' ') && line.chars().all(|c| "= ".contains(c));
    let border = lines.first().filter(|line| is_border(line))?;
    let starts: Vec<usize> = border
        .char_indices()
        .filter(|(at, c)| *c == '=' && (*at == 0 || border.as_bytes()[at - 1] == b' '))
        .map(|(at, _)| at)
        .collect();
    if starts.len() > MAX_COLUMNS {
        return None;
    }
    let end = 1 + closing_border(&lines[1..], is_border)?;
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in &lines[1..end] {
        if line.is_empty() || is_border(line) || line.chars().all(|c| "- ".contains(c)) {
            continue;
        }
        let chars: Vec<char> = line.chars().collect();
        let cell = |(n, start): (usize, &usize)| {
            let stop = starts.get(n + 1).copied().unwrap_or(chars.len()).min(chars.len());
            chars.get(*start..stop.max(*start).min(chars.len())).map(|part| part.iter().collect::<String>())
        };
        let cells: Vec<String> =
            starts.iter().enumerate().map(cell).map(|cell| cell.unwrap_or_default().trim().to_owned()).collect();
        match rows.last_mut() {
            Some(row) if cells[0].is_empty() => row.iter_mut().zip(&cells).for_each(|(cell, words)| add(cell, words)),
            _ => rows.push(cells),
        }
    }
    (!rows.is_empty()).then_some((rows, end))
}

/// Returns the number of lines up to the closing border of a simple table, which is followed by an empty line.
fn closing_border(lines: &[&str], is_border: impl Fn(&str) -> bool) -> Option<usize> {
    /// Maximum number of empty lines between rows.
    const MAX_EMPTY: usize = 64;
    let mut empty = 0;
    for (at, line) in lines.iter().enumerate() {
        empty += usize::from(line.is_empty());
        if is_border(line) && lines.get(at + 1).is_none_or(|next| next.is_empty()) {
            return Some(at + 1);
        }
        if empty > MAX_EMPTY {
            break;
        }
    }
    None
}

/// Parses a list table: `* - cell` starts a row, `- cell` continues it.
pub(super) fn list(lines: &[&str]) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in lines {
        let words = line.trim();
        match (list_item(words, &BULLETS), rows.last_mut()) {
            (Some((_, rest)), _) if indent(line) == 0 => {
                rows.push(vec![list_item(rest, &BULLETS).map_or(rest, |(_, cell)| cell).to_owned()]);
            }
            (Some((_, cell)), Some(row)) if words.starts_with(BULLETS) => row.push(cell.to_owned()),
            (_, Some(row)) => row.iter_mut().last().into_iter().for_each(|cell| add(cell, words)),
            (_, None) => {}
        }
    }
    rows
}

fn add(cell: &mut String, words: &str) {
    if !cell.is_empty() && !words.is_empty() {
        cell.push(' ');
    }
    cell.push_str(words);
}

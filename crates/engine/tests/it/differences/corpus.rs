//! The statements of `corpus/differences`, one per line.
//!
//! `\n`, `\r`, `\t`, `\f`, `\v`, `\0` and `\u{...}` represent one character each; every other backslash is literal. A line
//! with `⟦a¦b¦c⟧` expands to one statement per part; several groups expand to all combinations, and `⟦1⟧` repeats the part of
//! the first group. `@DIR@` is a folder in which the server may write.

use std::collections::HashSet;

pub(crate) fn postgres() -> Vec<String> {
    statements(include_str!("../../corpus/differences/postgres.sql"))
}

pub(crate) fn mysql() -> Vec<String> {
    statements(include_str!("../../corpus/differences/mysql.sql"))
}

pub(crate) fn sqlite() -> Vec<String> {
    statements(include_str!("../../corpus/differences/sqlite.sql"))
}

/// Returns the distinct statements of a corpus.
pub(crate) fn statements(corpus: &str) -> Vec<String> {
    let lines = corpus.lines().filter(|line| !line.is_empty() && !line.starts_with("##"));
    let mut seen = HashSet::new();
    let all = lines.flat_map(expand).map(|line| unescape(&line));
    all.filter(|statement| seen.insert(statement.clone())).collect()
}

/// Returns a line for each choice of parts.
fn expand(line: &str) -> Vec<String> {
    choose(line, &mut Vec::new())
}

fn choose<'a>(line: &'a str, chosen: &mut Vec<&'a str>) -> Vec<String> {
    let Some((before, rest)) = line.split_once('⟦') else { return vec![line.to_owned()] };
    let (parts, after) = rest.split_once('⟧').unwrap_or_else(|| panic!("⟦ is not closed: {line}"));
    if let Some(part) = parts.parse::<usize>().ok().and_then(|place| chosen.get(place.checked_sub(1)?).copied()) {
        return choose(after, chosen).into_iter().map(|after| format!("{before}{part}{after}")).collect();
    }
    let mut lines = Vec::new();
    for part in parts.split('¦') {
        chosen.push(part);
        lines.extend(choose(after, chosen).into_iter().map(|after| format!("{before}{part}{after}")));
        chosen.pop();
    }
    lines
}

pub(crate) fn unescape(line: &str) -> String {
    let (mut text, mut rest) = (String::with_capacity(line.len()), line);
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let (letter, length) = escape(after).unwrap_or(('\\', 0));
        text.push(letter);
        rest = &after[length..];
    }
    text + rest
}

/// Parses the escape after a backslash into its character and its length.
fn escape(text: &str) -> Option<(char, usize)> {
    let letter = match text.chars().next()? {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '0' => '\0',
        'u' => {
            let digits = text.strip_prefix("u{")?.split_once('}')?.0;
            return Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, digits.len() + 3));
        }
        _ => return None,
    };
    Some((letter, 1))
}

#[test]
fn expands_lines_to_statements() {
    let made = statements("## a family\nSELECT ⟦1¦2⟧⟦ ¦\\n⟧\nSELECT 1 \nSELECT '\\'\\u{a0}\na⟦b¦c⟧⟦1⟧");
    assert_eq!(made, ["SELECT 1 ", "SELECT 1\n", "SELECT 2 ", "SELECT 2\n", "SELECT '\\'\u{a0}", "abb", "acc"]);
}

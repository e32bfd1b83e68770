//! Renders Markdown tables and escapes text.

use prospector_text::cut::one_line;

/// Writes rows as a table with the first row as head. Cells are put on one line; rows may differ in length.
pub(super) fn write(rows: &[Vec<String>], out: &mut String) {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    if width == 0 || rows.iter().flatten().all(|cell| cell.trim().is_empty()) {
        return;
    }
    for (n, row) in rows.iter().enumerate() {
        out.push('|');
        for at in 0..width {
            let cell = row.get(at).map(|cell| one_line(cell).replace('|', "\\|")).unwrap_or_default();
            if !cell.is_empty() {
                out.push(' ');
                out.push_str(&cell);
            }
            out.push_str(" |");
        }
        out.push('\n');
        if n == 0 {
            out.push('|');
            out.push_str(&" --- |".repeat(width));
            out.push('\n');
        }
    }
    out.push('\n');
}

/// Escapes a leading mark and every `<`, so that Markdown renders the text unchanged.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    let mark = text.starts_with(['#', '>', '|', '+', '*', '-', '=', '`', '~', '_'])
        && !text.starts_with(|c: char| c == '-' && text[1..].starts_with(|d: char| d.is_ascii_digit()));
    if mark {
        out.push('\\');
    }
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '<' && chars.peek().is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '!' | '/' | '?')) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_table_cells() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let mut out = String::new();
        write(&[row(&["a", "b|c"]), row(&["1\n2"]), row(&["", "x"])], &mut out);
        assert_eq!(out, "| a | b\\|c |\n| --- | --- |\n| 1 2 | |\n| | x |\n\n");
        let mut out = String::new();
        write(&[row(&["", " "])], &mut out);
        write(&[], &mut out);
        assert_eq!(out, "");
    }

    #[test]
    fn escapes_marks_in_text() {
        for (text, expected) in [("# 4", "\\# 4"), ("-5 %", "-5 %"), ("a <b> < c", "a \\<b> < c"), ("plain", "plain")] {
            assert_eq!(literal(text), expected);
        }
    }
}

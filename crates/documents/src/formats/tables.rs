//! Cells to a Markdown table, and text that must not be taken for marks.

/// Writes the rows as a table; the first row is its head. Cells are put on one line; rows may be of different lengths.
pub(super) fn write(rows: &[Vec<String>], out: &mut String) {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    if width == 0 || rows.iter().flatten().all(|cell| cell.trim().is_empty()) {
        return;
    }
    for (n, row) in rows.iter().enumerate() {
        out.push('|');
        for at in 0..width {
            let cell = row.get(at).map(|cell| one_line(cell)).unwrap_or_default();
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

fn one_line(cell: &str) -> String {
    cell.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// Text so that Markdown shows it as it is: nothing at its beginning, nor a `<`, is taken for a mark.
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
    fn cells_become_a_table_whatever_they_hold() {
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
    fn text_is_not_taken_for_marks() {
        for (text, expected) in [("# 4", "\\# 4"), ("-5 %", "-5 %"), ("a <b> < c", "a \\<b> < c"), ("plain", "plain")] {
            assert_eq!(literal(text), expected);
        }
    }
}

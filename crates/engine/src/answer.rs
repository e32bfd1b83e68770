//! Answers as they are shown: few rows, short cells, and how to get the rest.

use prospector_connect::Rows;
use serde::Serialize;
use serde_json::Value;

/// At most so many rows.
pub(crate) const MAX_ROWS: usize = 50;

/// At most so many characters of a value.
const MAX_CELL: usize = 500;

/// At most so many characters in all.
pub(crate) const MAX_CHARACTERS: usize = 10_000;

/// An answer, cut to what can be shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Shown {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
    /// How many rows are shown.
    pub row_count: usize,
    /// Whether there are more.
    pub has_more: bool,
    /// How to get what is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What can be shown in so many characters.
pub(crate) fn shown(rows: Rows, characters: usize) -> Shown {
    let mut left = characters.saturating_sub(rows.columns.iter().map(|name| name.chars().count() + 4).sum());
    let (mut kept, mut has_more, mut cut) = (Vec::new(), rows.has_more, 0);
    for mut row in rows.rows {
        for cell in &mut row {
            cut += usize::from(shorten(cell));
        }
        let size: usize = row.iter().map(|cell| cell.to_string().chars().count() + 2).sum();
        if kept.len() == MAX_ROWS || size > left {
            has_more = true;
            break;
        }
        left -= size;
        kept.push(row);
    }
    let mut next = Vec::new();
    if has_more && kept.is_empty() {
        next.push("a row is too long to be shown: select fewer columns".to_owned());
    } else if has_more {
        let next_rows =
            "there are more rows: add a WHERE, aggregate with GROUP BY, select fewer columns, or use ORDER BY with";
        next.push(format!("{next_rows} LIMIT {} OFFSET {}", kept.len(), kept.len()));
    }
    if cut > 0 {
        next.push(format!("{cut} long values are cut: use substr() to read on"));
    }
    let next = (!next.is_empty()).then(|| next.join("; "));
    Shown { columns: rows.columns, row_count: kept.len(), rows: kept, has_more, next }
}

/// Cuts a long value; whether it was.
fn shorten(cell: &mut Value) -> bool {
    let text = match &*cell {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => cell.to_string(),
        _ => return false,
    };
    match text.char_indices().nth(MAX_CELL) {
        Some((end, _)) => {
            *cell = Value::String(format!("{}…", &text[..end]));
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(rows: usize, cell: &str, expected: (usize, bool)) {
        let rows = Rows { columns: vec!["a".into()], rows: vec![vec![json!(cell)]; rows], has_more: false };
        let shown = shown(rows, MAX_CHARACTERS);
        assert_eq!((shown.row_count, shown.has_more), expected);
        assert_eq!(shown.next.is_some(), shown.has_more || cell.chars().count() > MAX_CELL);
        assert!(serde_json::to_string(&shown.rows).unwrap_or_default().chars().count() <= MAX_CHARACTERS + 2);
    }

    #[test]
    fn an_answer_has_room_for_so_much() {
        check(50, "x", (50, false));
        check(51, "x", (50, true));
        check(10, &"ü".repeat(600), (10, false));
        check(40, &"ü".repeat(600), (19, true));
    }
}

//! Draws Markdown tables in answers as `planner sql` draws its rows.

use serde_json::Value;

use crate::table::Table;

/// Draws the tables of a text, within the width of a terminal.
pub(crate) fn draw_tables(text: &str, width: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(line) = lines.get(at) {
        let is_rule = |line: &str| {
            let cells = read_cells(line);
            cells.is_some_and(|cells| {
                cells.iter().all(|cell| cell.contains('-') && cell.chars().all(|c| "-: ".contains(c)))
            })
        };
        match (read_cells(line), lines.get(at + 1)) {
            (Some(columns), Some(rule)) if is_rule(rule) => {
                let rows: Vec<Vec<String>> = lines[at + 2..].iter().map_while(|line| read_cells(line)).collect();
                at += 2 + rows.len();
                let rows = rows.into_iter().map(|row| row.into_iter().map(read_value).collect()).collect();
                out.push(Table { columns, rows }.for_people(width));
            }
            _ => {
                out.push((*line).to_owned());
                at += 1;
            }
        }
    }
    out.join("\n")
}

/// Returns the cells of a table row; `None` for other lines.
fn read_cells(line: &str) -> Option<Vec<String>> {
    let inside = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let (mut cells, mut cell, mut chars) = (Vec::new(), String::new(), inside.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'|') => cell.extend(chars.next()),
            '|' => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            c => cell.push(c),
        }
    }
    cells.push(cell.trim().to_owned());
    Some(cells)
}

/// Parses a number if its text is the usual notation of that number.
fn read_value(cell: String) -> Value {
    let number = serde_json::from_str::<serde_json::Number>(&cell).ok();
    number.filter(|number| number.to_string() == cell).map_or(Value::String(cell), Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_drawn_and_texts_stay() {
        let text =
            "The sales [Q1]:\n\n| name | n |\n| --- | --- |\n| a\\|b | 2.5 |\n| 007 | 10 |\n\n- a | b\n| no table |";
        let drawn = draw_tables(text, 80);
        assert!(drawn.starts_with("The sales [Q1]:\n\n┌"), "{drawn}");
        assert!(drawn.contains("│ a|b  ┆ 2.5 │") && drawn.contains("│ 007  ┆  10 │"), "{drawn}");
        assert!(drawn.ends_with("\n\n- a | b\n| no table |"), "{drawn}");
    }
}

//! `{{Q1}}` in an answer: the rows of a result, so that a model need not write them again.

use prospector_core::mark::clean;
use serde_json::Value;

use super::trace::TABLE;
use crate::answer::DataQuestion;

/// The longest text of a value in a table, in characters.
const MAX_CELL_CHARS: usize = 200;

/// The tables of an answer take so many characters together; what is beyond them stays as it was written.
const MAX_CHARS: usize = 60_000;

/// The text with the rows of results in the places that name them.
pub(super) fn insert_tables(text: &str, ran: &[DataQuestion]) -> String {
    let mut room = MAX_CHARS;
    let insert = |found: &regex::Captures<'_>| {
        let table = ran.iter().find(|ran| ran.id == found[1] && ran.error.is_none()).map(write);
        let table = table.filter(|table| table.len() <= room);
        room -= table.as_ref().map_or(0, String::len);
        table.unwrap_or_else(|| found[0].to_owned())
    };
    TABLE.replace_all(text, insert).into_owned()
}

/// The rows of a result as a table of Markdown.
fn write(result: &DataQuestion) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        let cells: Vec<String> = cells.map(|cell| clean(&cell, MAX_CELL_CHARS).replace('|', "\\|")).collect();
        format!("| {} |", cells.join(" | "))
    };
    let cell = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut lines = vec![line(&mut result.columns.iter().cloned())];
    lines.push(line(&mut result.columns.iter().map(|_| "---".to_owned())));
    lines.extend(result.rows.iter().map(|row| line(&mut row.iter().map(cell))));
    if result.has_more {
        lines.push(format!("\n(the first {} rows)", result.rows.len()));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(rows: usize) -> DataQuestion {
        DataQuestion {
            id: "Q1".into(),
            columns: vec!["city".into(), "n".into()],
            rows: vec![vec![json!("a|b\nc"), json!(1)]; rows],
            has_more: rows > 1,
            ..DataQuestion::default()
        }
    }

    #[test]
    fn the_rows_of_a_result_stand_where_it_is_named() {
        let text = insert_tables("By city [Q1]:\n\n{{Q1}}\n\n{{Q2}}", &[result(1)]);
        assert_eq!(text, "By city [Q1]:\n\n| city | n |\n| --- | --- |\n| a\\|b c | 1 |\n\n{{Q2}}");
        assert!(insert_tables("{{ Q1 }}", &[result(2)]).ends_with("(the first 2 rows)"));
    }

    #[test]
    fn many_tables_are_not_repeated_without_end() {
        let text = insert_tables(&"{{Q1}} ".repeat(10_000), &[result(50)]);
        assert!(text.len() <= MAX_CHARS + 70_000 && text.contains("{{Q1}}"));
    }
}

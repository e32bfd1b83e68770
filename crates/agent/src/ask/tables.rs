//! `{{Q1}}` in an answer: inserts the rows of a result, so that the model need not repeat them.

use prospector_core::mark::clean;
use serde_json::Value;

use super::trace::{TABLE, write_cell};
use crate::answer::DataQuestion;

/// Maximum length of a cell, in characters.
const MAX_CELL_CHARS: usize = 200;

/// Maximum size of all tables of an answer, in bytes; further references are kept as they are.
const MAX_CHARS: usize = 60_000;

/// Replaces references to results by their tables, with the named columns only where columns are named.
pub(super) fn insert_tables(text: &str, queries: &[&[DataQuestion]]) -> String {
    let mut room = MAX_CHARS;
    let insert = |found: &regex::Captures<'_>| {
        let result = queries.iter().copied().flatten().find(|query| query.id == found[1] && query.error.is_none());
        let columns = found.get(2).map(|columns| columns.as_str());
        let table = result.and_then(|result| Some(write(result, &choose_columns(result, columns)?)));
        let table = table.filter(|table| table.len() <= room);
        room -= table.as_ref().map_or(0, String::len);
        table.unwrap_or_else(|| found[0].to_owned())
    };
    TABLE.replace_all(text, insert).into_owned()
}

/// Returns the indexes of the named columns; without names, of all. `None` if a name is unknown.
fn choose_columns(result: &DataQuestion, names: Option<&str>) -> Option<Vec<usize>> {
    let Some(names) = names else { return Some((0..result.columns.len()).collect()) };
    let names = names.split(',').map(|name| name.trim().trim_matches(['`', '"', '\''])).filter(|name| !name.is_empty());
    names.map(|name| result.columns.iter().position(|column| column.eq_ignore_ascii_case(name))).collect()
}

/// Renders columns of a result as a Markdown table.
fn write(result: &DataQuestion, columns: &[usize]) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        let cells: Vec<String> = cells.map(|cell| clean(&cell, MAX_CELL_CHARS).replace('|', "\\|")).collect();
        format!("| {} |", cells.join(" | "))
    };
    let mut lines = vec![line(&mut columns.iter().map(|at| result.header(*at)))];
    lines.push(line(&mut columns.iter().map(|_| "---".to_owned())));
    let cells =
        |row: &Vec<Value>| line(&mut columns.iter().map(|at| row.get(*at).map_or_else(String::new, write_cell)));
    lines.extend(result.rows.iter().map(cells));
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
    fn replaces_reference_by_table() {
        let text = insert_tables("By city [Q1]:\n\n{{Q1}}\n\n{{Q2}}", &[&[result(1)]]);
        assert_eq!(text, "By city [Q1]:\n\n| city | n |\n| --- | --- |\n| a\\|b c | 1 |\n\n{{Q2}}");
        assert!(insert_tables("{{ Q1 }}", &[&[result(2)]]).ends_with("(the first 2 rows)"));
    }

    #[test]
    fn headers_have_the_declared_units() {
        let units = [("Revenue", "EUR"), ("cost_usd", "USD"), ("city", "")];
        let revenue = DataQuestion {
            id: "Q1".into(),
            columns: ["city", "revenue", "cost_usd", "n"].map(str::to_owned).into(),
            units: units.map(|(of, unit)| (of.to_owned(), unit.to_owned())).into(),
            ..DataQuestion::default()
        };
        let text = insert_tables("{{Q1}}", &[&[revenue]]);
        assert!(text.starts_with("| city | revenue (EUR) | cost_usd | n |\n"), "{text}");
    }

    #[test]
    fn selects_named_columns() {
        let earlier = DataQuestion { id: "t1.Q1".into(), ..result(1) };
        let insert = |text: &str| insert_tables(text, &[&[result(1)], std::slice::from_ref(&earlier)]);
        assert_eq!(insert("{{Q1: columns n}}"), "| n |\n| --- |\n| 1 |");
        assert_eq!(insert("{{t1.Q1: columns `N`, city}}"), "| n | city |\n| --- | --- |\n| 1 | a\\|b c |");
        assert_eq!(insert("{{Q1: columns other}}"), "{{Q1: columns other}}");
    }

    #[test]
    fn limits_size_of_tables() {
        let text = insert_tables(&"{{Q1}} ".repeat(10_000), &[&[result(50)]]);
        assert!(text.len() <= MAX_CHARS + 70_000 && text.contains("{{Q1}}"));
    }
}

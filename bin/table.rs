//! Tables: human-readable, CSV, Markdown and JSON Lines.

use comfy_table::{Cell, CellAlignment, ContentArrangement, presets};
use prospector_core::mark::truncate;
use prospector_text::numbers::write_number;
use serde_json::{Map, Value};
use unicode_width::UnicodeWidthStr;

use crate::visible::visible;

/// Limit on the text of a cell or list item, in characters; longer text is truncated.
const MAX_CELL_CHARS: usize = 400;

/// Minimum readable column width.
const MIN_COLUMN: usize = 9;

/// Width of a column's border and padding.
const FRAME: usize = 3;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    /// One value per column.
    pub(crate) rows: Vec<Vec<Value>>,
}

impl Table {
    /// Creates a table with these columns.
    pub(crate) fn new<const N: usize>(columns: [&str; N]) -> Table {
        Table { columns: columns.map(str::to_owned).into(), rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn push<const N: usize>(&mut self, row: [Value; N]) {
        self.rows.push(row.into());
    }

    /// Creates a table of a list of objects, with a column per key.
    pub(crate) fn of_objects(items: &[Value]) -> Option<Table> {
        let objects: Vec<&Map<String, Value>> = items.iter().map(Value::as_object).collect::<Option<_>>()?;
        let mut columns: Vec<String> = Vec::new();
        for key in objects.iter().flat_map(|object| object.keys()) {
            if !columns.contains(key) {
                columns.push(key.clone());
            }
        }
        let row = |object: &&Map<String, Value>| {
            columns.iter().map(|column| object.get(column).cloned().unwrap_or_default()).collect()
        };
        let rows = objects.iter().map(row).collect();
        Some(Table { columns, rows })
    }

    /// Formats a table for a terminal of that width. If the columns would be too narrow, each row becomes a list. No colours, and no
    /// control characters.
    pub(crate) fn for_people(&self, width: usize) -> String {
        if self.rows.is_empty() {
            return format!("{}\n(no rows)", visible(&self.columns.join(" | ")));
        }
        if self.columns.len() * (MIN_COLUMN + FRAME) >= width && self.natural_width() > width {
            return self.list();
        }
        let mut table = comfy_table::Table::new();
        table.load_preset(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        table.set_header(self.columns.iter().map(|column| visible(column).into_owned()));
        let decimals: Vec<usize> = (0..self.columns.len()).map(|column| self.count_decimals(column)).collect();
        for row in &self.rows {
            let cells = row.iter().enumerate().map(|(column, value)| {
                let align = if value.is_number() { CellAlignment::Right } else { CellAlignment::Left };
                let decimals = decimals.get(column).copied().unwrap_or_default();
                Cell::new(align_number(value, decimals).unwrap_or_else(|| cut(value))).set_alignment(align)
            });
            table.add_row(cells);
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    /// Returns the maximum number of decimals in a column, to align its numbers.
    fn count_decimals(&self, column: usize) -> usize {
        let numbers = self.rows.iter().filter_map(|row| row.get(column)).filter_map(fraction).map(write_number);
        numbers.map(|text| text.split_once('.').map_or(0, |(_, rest)| rest.len())).max().unwrap_or_default()
    }

    /// Returns the width without wrapping.
    fn natural_width(&self) -> usize {
        let widths = self.columns.iter().enumerate().map(|(at, column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|value| cut(value).width());
            cells.chain([column.width()]).max().unwrap_or_default() + FRAME
        });
        widths.sum::<usize>() + 1
    }

    /// Formats each row as a list, one line per column.
    fn list(&self) -> String {
        let widest = self.columns.iter().map(|column| column.width()).max().unwrap_or_default();
        let mut lines = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            lines.push(format!("-- {} --", at + 1));
            for (column, value) in self.columns.iter().zip(row).filter(|(_, value)| !value.is_null()) {
                let gap = " ".repeat(widest - column.width());
                lines.push(format!("{}{gap}  {}", visible(column), cut(value).replace('\n', " ")));
            }
        }
        lines.join("\n")
    }

    /// Formats the rows as lines of Markdown, with or without the header.
    pub(crate) fn write_markdown(&self, with_head: bool) -> String {
        let escape = |text: &str| visible(text).replace('\\', "\\\\").replace('|', "\\|").replace('\n', "<br>");
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let head = || {
            let names = line(self.columns.iter().map(|column| escape(column)).collect());
            [names, line(self.columns.iter().map(|_| "---".to_owned()).collect())]
        };
        let rows = self.rows.iter().map(|row| line(row.iter().map(|value| escape(&text(value))).collect()));
        let head = with_head.then(head).into_iter().flatten();
        head.chain(rows).map(|line| line + "\n").collect()
    }

    /// Formats the rows as lines of CSV (RFC 4180, with line feeds), with or without the header.
    pub(crate) fn write_csv(&self, with_head: bool) -> anyhow::Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        if with_head {
            writer.write_record(&self.columns)?;
        }
        for row in &self.rows {
            writer.write_record(row.iter().map(text))?;
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }

    /// Prefixes text that a spreadsheet would evaluate as a formula with an apostrophe. Numbers are unchanged, including negative ones.
    pub(crate) fn without_formulas(mut self) -> Table {
        for column in &mut self.columns {
            defuse(column);
        }
        for value in self.rows.iter_mut().flatten().filter(|value| !value.is_number()) {
            let mut written = text(value);
            if defuse(&mut written) {
                *value = Value::String(written);
            }
        }
        self
    }

    /// Formats the rows as JSON Lines with a final line end.
    pub(crate) fn write_lines(&self) -> String {
        let names = unique(&self.columns);
        let object = |row: &Vec<Value>| {
            let fields = names.iter().cloned().zip(row.iter().cloned());
            format!("{}\n", Value::Object(fields.collect()))
        };
        self.rows.iter().map(object).collect()
    }
}

/// Makes column names unique: a second `name` becomes `name_2`, because an object has each key once.
fn unique(names: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        let others = (2..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.clone()).chain(others).find(|name| !found.contains(name));
        found.extend(free);
    }
    found
}

/// Prefixes a spreadsheet formula with an apostrophe; returns whether it did.
fn defuse(text: &mut String) -> bool {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let is_number = is_digits(text.as_str()) && text.parse::<f64>().is_ok();
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number;
    if is_formula {
        text.insert(0, '\'');
    }
    is_formula
}

/// Formats a value as text: null is empty, lists of scalars are joined, and nested values are JSON.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(|item| !item.is_array() && !item.is_object()) => {
            items.iter().map(text).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// Returns a non-integral number; integers may have more digits than a float can represent.
fn fraction(value: &Value) -> Option<f64> {
    value.as_f64().filter(|_| value.is_f64())
}

/// Formats a fraction with that many decimals, to align the numbers of a column.
fn align_number(value: &Value, decimals: usize) -> Option<String> {
    let number = fraction(value)?;
    let written = write_number(number);
    let have = written.split_once('.').map_or(0, |(_, rest)| rest.len());
    Some(if decimals > have && !written.contains('e') { format!("{number:.decimals$}") } else { written })
}

/// Formats a value for a human-readable table.
fn cut(value: &Value) -> String {
    let whole = fraction(value).map_or_else(|| text(value), write_number);
    visible(&truncate(whole, MAX_CELL_CHARS)).replace('\t', " ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["name", "total", "note"]);
        table.push([json!("名前"), json!(12.5), json!("a|b\n\"c\"")]);
        table.push([json!("é\u{1b}[31m"), json!(3), Value::Null]);
        table
    }

    #[test]
    fn wide_characters_take_two_places_and_nothing_is_obeyed() {
        let shown = table().for_people(80);
        let widths: std::collections::BTreeSet<usize> = shown.lines().map(UnicodeWidthStr::width).collect();
        assert_eq!(widths.len(), 1, "{shown}");
        assert!(!shown.contains('\u{1b}') && shown.contains("\\u{1b}[31m"), "{shown}");
        assert!(shown.lines().any(|line| line.contains("12.5 ┆") || line.contains("12.5 │")), "{shown}");
    }

    #[test]
    fn fractions_of_a_column_have_as_many_decimals() {
        let shown = |values: &[Value]| {
            let table = Table { columns: vec!["n".into()], rows: values.iter().map(|one| vec![one.clone()]).collect() };
            let lines: Vec<String> = table.for_people(80).lines().map(str::to_owned).collect();
            lines[3..lines.len() - 1].iter().map(|line| line.trim_matches(['│', ' ']).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(shown(&[json!(1.0), json!(0.99), json!(1000.5)]), ["1.00", "0.99", "1000.50"]);
        assert_eq!(shown(&[json!(9007199254740993u64), json!(0.5)]), ["9007199254740993", "0.5"]);
        assert_eq!(shown(&[json!(1e-9), json!(0.5)]), ["1e-9", "0.5"]);
        assert_eq!(shown(&[json!(44473.00000000001), json!(2525.7076923076925)]), ["44473.00", "2525.71"]);
        assert_eq!(shown(&[json!(2.0 / 3.0), json!(5.0 / 3.0)]), ["0.6667", "1.6667"]);
    }

    #[test]
    fn a_table_keeps_to_its_width_and_many_columns_become_lists() {
        for width in [20, 40, 80, 200] {
            let shown = table().for_people(width);
            let widest = shown.lines().map(UnicodeWidthStr::width).max().unwrap_or_default();
            assert!(widest <= width.max(36), "{width}: {shown}");
        }
        let columns: Vec<String> = (0..30).map(|n| format!("column_{n}")).collect();
        let wide = Table { rows: vec![columns.iter().map(|c| json!(c)).collect()], columns };
        let shown = wide.for_people(80);
        assert!(shown.starts_with("-- 1 --\ncolumn_0   column_0\n"), "{shown}");
    }

    #[test]
    fn formulas_are_texts_only_where_that_is_wanted() {
        let table = || {
            let mut table = Table::new(["=name", "n"]);
            for (name, n) in [
                (json!("=HYPERLINK(\"http://x\")"), json!(-1)),
                (json!("+1+2"), json!(-2.5)),
                (json!("-2+3"), json!("-7")),
                (json!("@SUM(A1)"), json!("+1.5e3")),
                (json!("\t=1"), json!("-inf")),
                (json!(["=a", "b"]), Value::Null),
                (json!("a=b"), json!("1-2")),
            ] {
                table.push([name, n]);
            }
            table
        };
        let expected = "'=name,n\n\"'=HYPERLINK(\"\"http://x\"\")\",-1\n'+1+2,-2.5\n'-2+3,-7\n'@SUM(A1),+1.5e3\n\
                        '\t=1,'-inf\n\"'=a, b\",\na=b,1-2\n";
        assert_eq!(table().without_formulas().write_csv(true).ok().as_deref(), Some(expected));
        assert_eq!(
            table().write_csv(true).ok(),
            Some(expected.replace('\'', "")),
            "plain CSV has the values as they are"
        );
    }

    #[test]
    fn programs_get_rows_that_they_can_read() {
        assert_eq!(
            table().write_csv(true).ok().as_deref(),
            Some("name,total,note\n名前,12.5,\"a|b\n\"\"c\"\"\"\né\u{1b}[31m,3,\n")
        );
        assert_eq!(table().write_markdown(true).lines().nth(2), Some("| 名前 | 12.5 | a\\|b<br>\"c\" |"));
        assert_eq!(table().write_lines().lines().nth(1), Some("{\"name\":\"é\\u001b[31m\",\"total\":3,\"note\":null}"));
        assert_eq!(Table::new(["a"]).write_csv(true).ok().as_deref(), Some("a\n"));
    }
}

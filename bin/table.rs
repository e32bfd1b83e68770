//! Rows under columns: as a table for people, and as CSV, Markdown and lines of JSON for programs.

use comfy_table::{Cell, CellAlignment, ContentArrangement, presets};
use prospector_text::numbers::write_number;
use serde_json::{Map, Value};
use unicode_width::UnicodeWidthStr;

use crate::visible::visible;

/// A longer text in a cell of a table for people is cut, and so is one in the list of an entry.
const MAX_CELL_CHARS: usize = 400;

/// A column narrower than this cannot be read.
const MIN_COLUMN: usize = 9;

/// The bar and the blanks of a column.
const FRAME: usize = 3;

/// Rows under columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    /// A value a column.
    pub(crate) rows: Vec<Vec<Value>>,
}

impl Table {
    /// A table with these columns.
    pub(crate) fn new<const N: usize>(columns: [&str; N]) -> Table {
        Table { columns: columns.map(str::to_owned).into(), rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn push<const N: usize>(&mut self, row: [Value; N]) {
        self.rows.push(row.into());
    }

    /// The objects of a list, with every key that one of them has as a column.
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

    /// For people: within that many columns of a terminal. Where the columns would be too narrow, each row is a list of its
    /// own. No colours, and nothing that a terminal would obey.
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

    /// The most decimals of a column: its numbers stand below each other.
    fn count_decimals(&self, column: usize) -> usize {
        let numbers = self.rows.iter().filter_map(|row| row.get(column)).filter_map(fraction).map(write_number);
        numbers.map(|text| text.split_once('.').map_or(0, |(_, rest)| rest.len())).max().unwrap_or_default()
    }

    /// How wide it is where nothing is wrapped.
    fn natural_width(&self) -> usize {
        let widths = self.columns.iter().enumerate().map(|(at, column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|value| cut(value).width());
            cells.chain([column.width()]).max().unwrap_or_default() + FRAME
        });
        widths.sum::<usize>() + 1
    }

    /// One row after the other, a line a column.
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

    /// As Markdown.
    pub(crate) fn for_markdown(&self) -> String {
        self.write_markdown(true).trim_end_matches('\n').to_owned()
    }

    /// The rows as lines of Markdown, with or without the head before them.
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

    /// As CSV (RFC 4180, with line feeds), the columns first.
    pub(crate) fn for_csv(&self) -> anyhow::Result<String> {
        Ok(self.write_csv(true)?.trim_end_matches('\n').to_owned())
    }

    /// The rows as lines of CSV, with or without the columns before them.
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

    /// The same, where a text that a spreadsheet would take for a formula begins with an apostrophe. Numbers stay as they are,
    /// negative ones too.
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

    /// An object a row, a line each.
    pub(crate) fn for_lines(&self) -> String {
        self.write_lines().trim_end_matches('\n').to_owned()
    }

    /// The same, each line with its end.
    pub(crate) fn write_lines(&self) -> String {
        let names = unique(&self.columns);
        let object = |row: &Vec<Value>| {
            let fields = names.iter().cloned().zip(row.iter().cloned());
            format!("{}\n", Value::Object(fields.collect()))
        };
        self.rows.iter().map(object).collect()
    }
}

/// The names, the second one of the same name as `name_2`: an object has each name once.
fn unique(names: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        let others = (2..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.clone()).chain(others).find(|name| !found.contains(name));
        found.extend(free);
    }
    found
}

/// Puts an apostrophe before what a spreadsheet would take for a formula; whether it did.
fn defuse(text: &mut String) -> bool {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let is_number = is_digits(text.as_str()) && text.parse::<f64>().is_ok();
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number;
    if is_formula {
        text.insert(0, '\'');
    }
    is_formula
}

/// A value as a text: null is nothing, lists of single values are put one after the other, and what is nested is JSON.
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

/// A number that is not a whole one: a whole number may have more digits than a fraction can hold.
fn fraction(value: &Value) -> Option<f64> {
    value.as_f64().filter(|_| value.is_f64())
}

/// A fraction as people read it, with that many decimals: the numbers of a column stand below each other.
fn align_number(value: &Value, decimals: usize) -> Option<String> {
    let mut written = write_number(fraction(value)?);
    let have = written.split_once('.').map_or(0, |(_, rest)| rest.len());
    if decimals > have && !written.contains('e') {
        if have == 0 {
            written.push('.');
        }
        written.extend(std::iter::repeat_n('0', decimals - have));
    }
    Some(written)
}

/// A value in a table for people.
fn cut(value: &Value) -> String {
    let whole = fraction(value).map_or_else(|| text(value), write_number);
    let shown = match whole.char_indices().nth(MAX_CELL_CHARS) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    };
    visible(&shown).replace('\t', " ")
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
                        '\t=1,'-inf\n\"'=a, b\",\na=b,1-2";
        assert_eq!(table().without_formulas().for_csv().ok().as_deref(), Some(expected));
        assert_eq!(table().for_csv().ok(), Some(expected.replace('\'', "")), "plain CSV has the values as they are");
    }

    #[test]
    fn programs_get_rows_that_they_can_read() {
        assert_eq!(
            table().for_csv().ok().as_deref(),
            Some("name,total,note\n名前,12.5,\"a|b\n\"\"c\"\"\"\né\u{1b}[31m,3,")
        );
        assert_eq!(table().for_markdown().lines().nth(2), Some("| 名前 | 12.5 | a\\|b<br>\"c\" |"));
        assert_eq!(table().for_lines().lines().nth(1), Some("{\"name\":\"é\\u001b[31m\",\"total\":3,\"note\":null}"));
        assert_eq!(Table::new(["a"]).for_csv().ok().as_deref(), Some("a"));
    }
}

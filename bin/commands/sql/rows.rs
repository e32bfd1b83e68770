//! Prints rows block by block, in every format. A table on a terminal is limited to the first rows.

use prospector_engine::{
    Failure,
    query::{Outcome, Rows},
};
use serde_json::{Map, Value, json};

use crate::{
    cli::ReportFormat,
    output,
    report::{usual_format, width},
    table::Table,
};

/// Row limit of a table on a terminal without `--limit`.
const TABLE_ROWS: usize = 1_000;

/// Number of rows that are checked for warnings.
const SAMPLE_ROWS: usize = 200;

/// Prints the rows of statements, one after the other.
pub(super) struct RowPrinter {
    format: ReportFormat,
    /// Row limit per statement, if set by the user.
    asked: Option<usize>,
    /// Number of statements printed.
    statements: usize,
    /// Columns of the current statement.
    columns: Option<Vec<String>>,
    count: usize,
    has_more: bool,
    sample: Vec<Vec<Value>>,
    /// Buffered rows of a table, whose columns are as wide as the widest value.
    held: Vec<Vec<Value>>,
    /// Whether the reader has closed the output.
    is_closed: bool,
}

impl RowPrinter {
    pub(super) fn new(format: Option<ReportFormat>, limit: Option<usize>) -> Self {
        RowPrinter {
            format: format.unwrap_or_else(usual_format),
            asked: limit,
            statements: 0,
            columns: None,
            count: 0,
            has_more: false,
            sample: Vec::new(),
            held: Vec::new(),
            is_closed: false,
        }
    }

    pub(super) fn format(&self) -> ReportFormat {
        self.format
    }

    /// Sets the format of later results.
    pub(super) fn set_format(&mut self, format: ReportFormat) {
        self.format = format;
    }

    /// Returns the row limit of a statement.
    pub(super) fn limit(&self) -> Option<usize> {
        let is_shown = self.format == ReportFormat::Table && output::is_terminal();
        self.asked.or_else(|| is_shown.then_some(TABLE_ROWS))
    }

    /// Returns the first rows of the statement.
    pub(super) fn sample(&self) -> Rows {
        let columns = self.columns.clone().unwrap_or_default();
        Rows { columns, rows: self.sample.clone(), has_more: self.has_more || self.count > self.sample.len() }
    }

    /// Prints a block; returns false if the reader has closed the output.
    pub(super) fn print(&mut self, block: Rows) -> anyhow::Result<bool> {
        let Rows { columns, rows, has_more } = block;
        let is_first = self.columns.is_none();
        self.has_more = has_more;
        self.count += rows.len();
        let room = SAMPLE_ROWS.saturating_sub(self.sample.len());
        self.sample.extend(rows.iter().take(room).cloned());
        if is_first {
            self.columns = Some(columns.clone());
        }
        let table = Table { columns, rows };
        let gap = if is_first && self.statements > 0 { "\n" } else { "" };
        let text = match self.format {
            ReportFormat::Csv => gap.to_owned() + &table.write_csv(is_first)?,
            ReportFormat::CsvSafe => gap.to_owned() + &table.without_formulas().write_csv(is_first)?,
            ReportFormat::Md => gap.to_owned() + &table.write_markdown(is_first),
            ReportFormat::Jsonl => table.write_lines(),
            ReportFormat::Json => self.write_json(&table, is_first),
            ReportFormat::Table | ReportFormat::Text => {
                self.held.extend(table.rows);
                String::new()
            }
        };
        self.write(&text)
    }

    /// Renders rows, one per line, with the opening of the result before the first.
    fn write_json(&self, table: &Table, is_first: bool) -> String {
        let mut text = String::new();
        if is_first {
            let open = if self.statements == 0 { "[" } else { "," };
            let columns = Value::from(table.columns.clone());
            text.push_str(&format!("{open}\n  {{\n    \"columns\": {columns},\n    \"rows\": ["));
        }
        let before = self.count - table.rows.len();
        for (at, row) in table.rows.iter().enumerate() {
            let comma = if before + at > 0 { "," } else { "" };
            text.push_str(&format!("{comma}\n      {}", Value::from(row.clone())));
        }
        text
    }

    /// Ends the result of a statement.
    pub(super) fn finish(&mut self, outcome: &Outcome, warnings: &[String]) -> anyhow::Result<()> {
        match self.format {
            ReportFormat::Json => {
                let mut rest = Map::new();
                rest.insert("row_count".into(), self.count.into());
                rest.insert("has_more".into(), self.has_more.into());
                rest.insert("databases".into(), json!(outcome.databases));
                rest.insert("tables".into(), json!(outcome.tables));
                rest.insert("executed".into(), json!(outcome.way));
                if !warnings.is_empty() {
                    rest.insert("warnings".into(), json!(warnings));
                }
                self.close_json(&rest)?;
            }
            ReportFormat::Table => {
                let rows = std::mem::take(&mut self.held);
                let columns = self.columns.clone().unwrap_or_default();
                let plural = if self.count == 1 { "" } else { "s" };
                let more = if self.has_more { ", and there are more" } else { "" };
                let note = format!("{} row{plural}{more}", self.count);
                let table = Table { columns, rows };
                let shown = if table.rows.is_empty() { String::new() } else { table.for_people(width()) + "\n" };
                output::text(&(shown + &note))?;
            }
            ReportFormat::Jsonl | ReportFormat::Csv | ReportFormat::CsvSafe | ReportFormat::Md | ReportFormat::Text => {
            }
        }
        if self.has_more && !self.is_closed {
            output::say(&match self.asked {
                Some(limit) => format!("stopped after {limit} rows (--limit); there are more"),
                None => format!(
                    "only the first {} rows are shown; for more add --limit N, for all --format csv, json, jsonl or md",
                    self.count
                ),
            });
        }
        if self.format != ReportFormat::Json {
            warnings.iter().for_each(|warning| output::say(&format!("warning: {warning}")));
        }
        self.reset();
        Ok(())
    }

    /// Reports why a statement failed, and how many of its rows were printed.
    pub(super) fn fail(&mut self, failure: &Failure) -> anyhow::Result<()> {
        if self.format == ReportFormat::Json {
            let json = serde_json::to_value(failure)?;
            let fields = json.as_object().cloned().unwrap_or_default();
            if self.columns.is_some() {
                let mut rest = Map::new();
                rest.insert("row_count".into(), self.count.into());
                rest.insert("has_more".into(), true.into());
                rest.extend(fields);
                self.close_json(&rest)?;
            } else {
                let open = if self.statements == 0 { "[" } else { "," };
                let fields = serde_json::to_string_pretty(&Value::Object(fields))?;
                self.write(&format!("{open}\n  {}", fields.replace('\n', "\n  ")))?;
            }
        }
        output::say(&format!("error: {failure}"));
        if self.count > 0 {
            output::say(&format!("the output is incomplete: it ends after {} rows", self.count));
        }
        self.reset();
        Ok(())
    }

    fn close_json(&mut self, rest: &Map<String, Value>) -> anyhow::Result<()> {
        let end = if self.count == 0 { "]" } else { "\n    ]" };
        let rest: String =
            rest.iter().map(|(key, value)| format!(",\n    {}: {value}", Value::from(key.as_str()))).collect();
        self.write(&format!("{end}{rest}\n  }}")).map(|_| ())
    }

    /// Ends the output.
    pub(super) fn end(&mut self) -> anyhow::Result<()> {
        if self.format == ReportFormat::Json && self.statements > 0 {
            self.write("\n]\n")?;
        }
        self.statements = 0;
        Ok(())
    }

    /// Discards the result of an interrupted statement.
    pub(super) fn abandon(&mut self) {
        self.reset();
        self.statements = 0;
    }

    fn reset(&mut self) {
        self.statements += 1;
        (self.columns, self.count, self.has_more) = (None, 0, false);
        self.sample.clear();
        self.held.clear();
    }

    fn write(&mut self, text: &str) -> anyhow::Result<bool> {
        if !self.is_closed && !text.is_empty() {
            self.is_closed = !match self.format {
                ReportFormat::Csv | ReportFormat::CsvSafe => output::raw_part(text)?,
                ReportFormat::Json | ReportFormat::Jsonl => output::json_part(text)?,
                ReportFormat::Md | ReportFormat::Table | ReportFormat::Text => output::part(text)?,
            };
        }
        Ok(!self.is_closed)
    }
}

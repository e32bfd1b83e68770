//! The result of a command in the requested format: tables on a terminal, JSON for programs.

use serde::Serialize;
use serde_json::Value;

use crate::{
    cli::{FormatName, ReportFormat},
    output,
    table::Table,
};

/// Default width of a table without a terminal.
const WIDTH: usize = 120;

/// Limit on the columns of a table; JSON has all of them.
const MAX_COLUMNS: usize = 12;

/// The result of a command: one value, and the same as tables.
pub(crate) struct Report {
    json: Value,
    parts: Vec<Part>,
    /// Human-readable notes below the tables.
    notes: Vec<String>,
    /// Whether a line of JSON is a row of the first table instead of an item of the value.
    is_rows: bool,
}

/// A table with its title.
struct Part {
    title: Option<String>,
    table: Table,
}

impl Report {
    /// Creates a report of a value and its human-readable table.
    pub(crate) fn new(json: &impl Serialize, table: Table) -> anyhow::Result<Report> {
        let parts = vec![Part { title: None, table }];
        Ok(Report { json: serde_json::to_value(json)?, parts, notes: Vec::new(), is_rows: false })
    }

    /// Creates a report of any value: a list of objects is a table, an object a table of its fields with a table per list in it.
    pub(crate) fn of_value(json: &Value) -> Report {
        let parts = match json {
            Value::Array(items) => vec![Part { title: None, table: list(items) }],
            Value::Object(fields) => {
                let is_list = |value: &&Value| value.as_array().is_some_and(|items| items.iter().any(Value::is_object));
                let mut single = Table::new(["field", "value"]);
                let says_nothing = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
                for (key, value) in fields.iter().filter(|(_, value)| !is_list(value) && !says_nothing(value)) {
                    single.push([Value::from(key.as_str()), value.clone()]);
                }
                let lists = fields.iter().filter(|(_, value)| is_list(value));
                let lists = lists.map(|(key, value)| Part {
                    title: Some(key.clone()),
                    table: list(value.as_array().map(Vec::as_slice).unwrap_or_default()),
                });
                let single = Some(Part { title: None, table: single }).filter(|part| !part.table.rows.is_empty());
                single.into_iter().chain(lists).collect()
            }
            other => {
                let mut table = Table::new(["value"]);
                table.push([other.clone()]);
                vec![Part { title: None, table }]
            }
        };
        Report { json: json.clone(), parts, notes: Vec::new(), is_rows: false }
    }

    /// Makes a line of JSON a row of the table.
    pub(crate) fn in_rows(mut self) -> Report {
        self.is_rows = true;
        self
    }

    /// Adds a human-readable note below the tables.
    pub(crate) fn with_note(mut self, note: impl Into<String>) -> Report {
        self.notes.push(note.into());
        self
    }

    /// Prints the report.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn print(&self, format: Option<ReportFormat>) -> anyhow::Result<()> {
        match format.unwrap_or_else(usual_format) {
            ReportFormat::Json => output::json(&self.json),
            ReportFormat::Jsonl => self.print_lines(),
            ReportFormat::Csv => output::raw(self.first().write_csv(true)?.trim_end_matches('\n')),
            ReportFormat::CsvSafe => {
                output::raw(self.first().without_formulas().write_csv(true)?.trim_end_matches('\n'))
            }
            ReportFormat::Md => {
                let show = |table: &Table| table.write_markdown(true).trim_end_matches('\n').to_owned();
                output::text(&self.join(show, |title| format!("**{title}**\n")))
            }
            ReportFormat::Table | ReportFormat::Text => {
                let width = width();
                // With notes, an empty table is omitted.
                let is_shown = |table: &Table| !table.rows.is_empty() || self.notes.is_empty();
                let show = |table: &Table| if is_shown(table) { table.for_people(width) } else { String::new() };
                let tables = self.join(show, |title| format!("{title}:"));
                let notes = self.notes.iter().map(|note| format!("\n{note}")).collect::<String>();
                output::text(format!("{tables}{notes}").trim_start_matches('\n'))
            }
        }
    }

    fn first(&self) -> Table {
        self.parts.first().map(|part| part.table.clone()).unwrap_or_default()
    }

    fn print_lines(&self) -> anyhow::Result<()> {
        match &self.json {
            _ if self.is_rows => match self.first().write_lines().trim_end_matches('\n') {
                "" => Ok(()),
                lines => output::json_lines(lines),
            },
            Value::Array(items) if items.is_empty() => Ok(()),
            Value::Array(items) => {
                output::json_lines(&items.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"))
            }
            value => output::json_lines(&value.to_string()),
        }
    }

    fn join(&self, show: impl Fn(&Table) -> String, head: impl Fn(&str) -> String) -> String {
        let parts = self.parts.iter().filter(|part| !part.table.columns.is_empty());
        let shown = parts.map(|part| {
            let head = part.title.as_deref().map(|title| format!("{}\n", head(title))).unwrap_or_default();
            format!("{head}{}", show(&part.table))
        });
        shown.collect::<Vec<_>>().join("\n\n")
    }
}

/// Formats the items of a list as a table, limited to the first fields.
fn list(items: &[Value]) -> Table {
    let Some(mut table) = Table::of_objects(items) else {
        let rows = items.iter().map(|item| vec![item.clone()]).collect();
        return Table { columns: vec!["value".to_owned()], rows };
    };
    if table.columns.len() > MAX_COLUMNS {
        table.columns.truncate(MAX_COLUMNS);
        table.rows.iter_mut().for_each(|row| row.truncate(MAX_COLUMNS));
    }
    table
}

/// Returns the default format: tables on a terminal, else JSON.
pub(crate) fn usual_format() -> ReportFormat {
    if output::is_terminal() { ReportFormat::Table } else { ReportFormat::Json }
}

/// Returns the default format: text on a terminal, else JSON.
pub(crate) fn usual_form() -> FormatName {
    if output::is_terminal() { FormatName::Text } else { FormatName::Json }
}

/// Returns the maximum width of a table.
pub(crate) fn width() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    terminal.or_else(crate::settings::columns).filter(|width| *width >= 20).unwrap_or(WIDTH)
}

//! Markdown tables.

use std::fmt;

use comfy_table::{Cell, CellAlignment, presets::ASCII_MARKDOWN};

/// Column headings, and rows of the same number of cells.
pub(crate) struct Table(comfy_table::Table);

impl Table {
    /// Creates a table with these headings and no rows.
    pub(crate) fn new(heads: impl IntoIterator<Item = &'static str>) -> Table {
        let mut table = comfy_table::Table::new();
        table.load_preset(ASCII_MARKDOWN).set_header(heads);
        Table(table)
    }

    /// Adds a row; numbers are right-aligned.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        let cell = |text: String| match text.parse::<f64>() {
            Ok(_) => Cell::new(text).set_alignment(CellAlignment::Right),
            Err(_) => Cell::new(text),
        };
        self.0.add_row(cells.into_iter().map(cell));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.0)
    }
}

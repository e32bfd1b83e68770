//! Markdown tables with aligned columns.

use std::fmt;

/// Column headings, and rows of the same number of cells.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table with these headings and no rows.
    pub(crate) fn new(heads: impl IntoIterator<Item = &'static str>) -> Table {
        Table { rows: vec![heads.into_iter().map(str::to_owned).collect()] }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }
}

impl fmt::Display for Table {
    /// Numbers are right-aligned.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let is_number = |cell: &str| cell.is_empty() || cell.parse::<f64>().is_ok();
        let right: Vec<bool> = (0..columns)
            .map(|column| self.rows[1..].iter().all(|row| row.get(column).is_none_or(|cell| is_number(cell))))
            .collect();
        for (at, row) in self.rows.iter().enumerate() {
            for (column, width) in widths.iter().copied().enumerate() {
                let cell = row.get(column).map_or("", String::as_str);
                if right[column] { write!(f, "| {cell:>width$} ")? } else { write!(f, "| {cell:<width$} ")? }
            }
            writeln!(f, "|")?;
            if at == 0 {
                for (width, right) in widths.iter().copied().zip(&right) {
                    let dashes = "-".repeat(width + 1);
                    if *right { write!(f, "|{dashes}:")? } else { write!(f, "|-{dashes}")? }
                }
                writeln!(f, "|")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligns_columns_and_numbers() {
        let mut table = Table::new(["ranker", "mrr"]);
        table.row(vec!["full".into(), "0.9".into()]);
        table.row(vec!["lexical".into(), "0.875".into()]);
        assert_eq!(
            table.to_string(),
            "| ranker  |   mrr |\n|---------|------:|\n| full    |   0.9 |\n| lexical | 0.875 |\n"
        );
    }
}

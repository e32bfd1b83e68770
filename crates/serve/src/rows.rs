//! Rows that a client sends, to be written as a file or drawn: how many there may be.

use serde_json::Value;

use crate::error::Refusal;

/// Each column takes buffers of its own.
pub(crate) const MAX_COLUMNS: usize = 1_000;

/// Rows times columns: a row may be written without its last cells.
const MAX_CELLS: usize = 1_000_000;

/// How many cells a table of these rows has.
///
/// # Errors
/// More columns or cells than are taken, or a row with more cells than there are columns.
pub(crate) fn count_cells(columns: &[String], rows: &[Vec<Value>]) -> Result<usize, Refusal> {
    let width = columns.len();
    if width > MAX_COLUMNS {
        let reason = format!("there are {width} columns, and {MAX_COLUMNS} are the most");
        return Err(Refusal::invalid(reason).advise("send fewer columns"));
    }
    let cells = width.saturating_mul(rows.len());
    if cells > MAX_CELLS {
        let reason = format!("{} rows of {width} columns are {cells} cells, and {MAX_CELLS} are the most", rows.len());
        return Err(Refusal::invalid(reason).advise("send fewer rows or columns, or aggregate them first"));
    }
    if let Some((at, row)) = rows.iter().enumerate().find(|(_, row)| row.len() > width) {
        let reason = format!("row {} has {} cells, and there are {width} columns", at + 1, row.len());
        return Err(Refusal::invalid(reason).advise("send a value for each column, in their order"));
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_missing_cells_and_rejects_what_is_too_much() {
        let check = |columns: usize, rows: usize, cells: usize| {
            let columns = vec![String::new(); columns];
            count_cells(&columns, &vec![vec![json!(1); cells]; rows]).map_err(|refusal| refusal.message)
        };
        assert_eq!(check(3, 4, 0), Ok(12));
        assert_eq!(check(0, 4, 0), Ok(0));
        assert_eq!(check(MAX_COLUMNS, MAX_CELLS / MAX_COLUMNS, 0), Ok(MAX_CELLS));
        let message = |columns, rows, cells| check(columns, rows, cells).unwrap_err();
        assert!(message(MAX_COLUMNS + 1, 1, 1).starts_with("there are 1001 columns"));
        assert!(message(MAX_COLUMNS, MAX_CELLS / MAX_COLUMNS + 1, 0).contains("1001 rows of 1000 columns"));
        assert!(message(2, 3, 3).starts_with("row 1 has 3 cells, and there are 2 columns"));
    }
}

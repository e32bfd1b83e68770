//! Limits on the rows that a client sends to be written to a file or drawn.

use serde_json::Value;

use crate::error::Refusal;

/// Limit on columns: each needs its own buffers.
pub(crate) const MAX_COLUMNS: usize = 1_000;

/// Limit on rows times columns: a row may omit its last cells.
const MAX_CELLS: usize = 1_000_000;

/// Returns the number of cells of a table.
///
/// # Errors
/// - If there are too many columns or cells.
/// - If a row has more cells than there are columns.
pub(crate) fn count_cells(columns: &[String], rows: &[Vec<Value>]) -> Result<usize, Refusal> {
    let width = columns.len();
    if width > MAX_COLUMNS {
        let reason = format!("there are {width} columns; the limit is {MAX_COLUMNS}");
        return Err(Refusal::invalid(reason).advise("send fewer columns"));
    }
    let cells = width.saturating_mul(rows.len());
    if cells > MAX_CELLS {
        let reason = format!("{} rows of {width} columns are {cells} cells; the limit is {MAX_CELLS}", rows.len());
        return Err(Refusal::invalid(reason).advise("send fewer rows or columns, or aggregate them first"));
    }
    if let Some((at, row)) = rows.iter().enumerate().find(|(_, row)| row.len() > width) {
        let reason = format!("row {} has {} cells, but there are {width} columns", at + 1, row.len());
        return Err(Refusal::invalid(reason).advise("send one value per column, in column order"));
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
        assert!(message(2, 3, 3).starts_with("row 1 has 3 cells, but there are 2 columns"));
    }
}

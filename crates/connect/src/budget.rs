//! Size limits in bytes: of one value, of a query result, of the rows for a join.

use serde_json::Value;

use crate::ConnectError;

/// The maximum size of one value in bytes, measured on its transmitted text: 1 MiB. Results show a few hundred characters
/// of a value; to read more of a longer one, select a part of it with `left` or `substr`.
pub const MAX_CELL_BYTES: usize = 1 << 20;

/// The maximum size of a query result in bytes: 16 MiB. Each value counts as its text plus sixteen bytes. Models see ten
/// thousand characters of a result; a program that needs more splits its query.
pub const MAX_ANSWER_BYTES: usize = 16 << 20;

/// The maximum size of the rows that one call of [`crate::Connector::rows`] returns, in bytes and counted in the same
/// way: 256 MiB. That is enough for 200,000 rows of twenty columns with fifty letters each. The rows are held in memory
/// until they are joined.
pub const MAX_ROWS_BYTES: usize = 256 << 20;

/// The maximum size of one PostgreSQL row in bytes as transmitted: 32 MiB. Values of large types are measured on the
/// server; only many small values can exceed [`MAX_ANSWER_BYTES`].
pub(crate) const MAX_ROW_BYTES: usize = 32 << 20;

/// Approximate size in bytes of one block of a streamed result.
const BLOCK_BYTES: usize = 1 << 20;

/// Overhead of one value in bytes, in addition to its text.
pub(crate) const CELL: usize = 16;

/// The remaining part of a size limit while a result is read.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    limit: usize,
    left: usize,
}

/// Why reading stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excess {
    /// The position of the column whose value is too large; `None` if all values together are.
    pub(crate) column: Option<usize>,
    pub(crate) limit: usize,
}

impl Excess {
    /// The value of that column is too large.
    pub(crate) fn of_cell(column: usize) -> Self {
        Excess { column: Some(column), limit: MAX_CELL_BYTES }
    }

    /// All values of one row together are too large.
    pub(crate) fn of_row() -> Self {
        Excess { column: None, limit: MAX_ROW_BYTES }
    }

    /// Converts it to an error of the table, with the names of the columns that were read.
    pub(crate) fn error<S: AsRef<str>>(&self, place: impl Into<String>, table: &str, columns: &[S]) -> ConnectError {
        let named = |at: usize| columns.get(at).map_or_else(|| format!("{}", at + 1), |name| name.as_ref().to_owned());
        let (place, table, column) = (place.into(), table.to_owned(), self.column.map(named));
        ConnectError::TooLarge { place, table, column, limit: self.limit }
    }
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Budget { limit, left: limit }
    }

    /// A budget for a query result.
    pub(crate) fn of_answer() -> Self {
        Budget::new(MAX_ANSWER_BYTES)
    }

    /// A budget for filtered rows.
    pub(crate) fn of_rows() -> Self {
        Budget::new(MAX_ROWS_BYTES)
    }

    /// Resets the budget to the whole limit.
    pub(crate) fn renew(&mut self) {
        self.left = self.limit;
    }

    /// Whether the current block of a streamed result is large enough to be sent.
    pub(crate) fn is_block(&self) -> bool {
        self.bytes_taken() >= BLOCK_BYTES
    }

    /// Returns the number of bytes taken.
    pub(crate) fn bytes_taken(&self) -> usize {
        self.limit - self.left
    }

    /// Returns the excess of all values together.
    pub(crate) fn excess(&self) -> Excess {
        Excess { column: None, limit: self.limit }
    }

    /// Takes a value of that many bytes in the column at that position.
    ///
    /// # Errors
    /// If the value, or all values together, are too large.
    pub(crate) fn take(&mut self, column: usize, bytes: usize) -> Result<(), Excess> {
        if bytes > MAX_CELL_BYTES {
            return Err(Excess::of_cell(column));
        }
        let left = self.left.checked_sub(bytes + CELL);
        self.left = left.ok_or(self.excess())?;
        Ok(())
    }

    /// Takes the values of a row.
    ///
    /// # Errors
    /// The same as for [`Budget::take`].
    pub(crate) fn take_row<'a>(&mut self, row: impl IntoIterator<Item = &'a Value>) -> Result<(), Excess> {
        row.into_iter().enumerate().try_for_each(|(at, value)| self.take(at, size(value)))
    }
}

/// Returns the size of a value as text in bytes; for lists and objects the size of their parts with a few bytes for each.
pub(crate) fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(|value| size(value) + CELL).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + size(value) + 2 * CELL).sum(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn limits_single_values_and_their_sum() {
        let mut budget = Budget::of_answer();
        assert_eq!(budget.take(3, MAX_CELL_BYTES), Ok(()));
        assert_eq!(budget.take(3, MAX_CELL_BYTES + 1), Err(Excess { column: Some(3), limit: MAX_CELL_BYTES }));
        let mut taken = 1;
        while budget.take(0, MAX_CELL_BYTES) == Ok(()) {
            taken += 1;
        }
        assert_eq!(taken, MAX_ANSWER_BYTES / MAX_CELL_BYTES - 1);
        let excess = budget.take(0, MAX_CELL_BYTES).unwrap_err();
        assert_eq!(
            excess.error("s", "t", &["a"]).to_string(),
            "cannot read t of s: too large: the values have more than 16 MB in all"
        );
        assert_eq!(
            Excess::of_cell(0).error("s", "t", &["a"]).to_string(),
            "cannot read t of s: too large: a value of the column a has more than 1 MB"
        );
    }

    #[test]
    fn counts_many_small_values() {
        let mut budget = Budget::new(1_000);
        let row = [json!(null), json!(1), json!("four"), json!({"a": ["b"]})];
        let rows = (0..100).take_while(|_| budget.take_row(&row).is_ok()).count();
        assert_eq!(rows, 1_000 / (4 * CELL + 4 + 1 + 1 + 3 * CELL));
    }
}

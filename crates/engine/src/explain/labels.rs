//! Human-readable names for tables, columns and codes.

/// The natural names of a catalog, none by default. `()` has none, so every name is shown as in the source.
#[allow(unused_variables, reason = "the defaults know no names")]
pub trait Labels: Send + Sync {
    /// Returns the natural name of a table, `database.table`.
    fn table(&self, id: &str) -> Option<String> {
        None
    }

    /// Returns the natural name of a column, `database.table.column`.
    fn column(&self, id: &str) -> Option<String> {
        None
    }

    /// Returns the meaning of a value of a column, such as `paid` for the code `P`.
    fn value(&self, column_id: &str, value: &str) -> Option<String> {
        None
    }
}

impl Labels for () {}

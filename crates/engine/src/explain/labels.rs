//! Human-readable names for columns and codes.

/// The natural names of a catalog. `()` has none, so every name is shown as in the source.
pub trait Labels: Send + Sync {
    /// Returns the natural name of a column, `database.table.column`.
    fn column(&self, id: &str) -> Option<String>;

    /// Returns the meaning of a value of a column, such as `paid` for the code `P`.
    fn value(&self, column_id: &str, value: &str) -> Option<String>;
}

impl Labels for () {
    fn column(&self, _: &str) -> Option<String> {
        None
    }

    fn value(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}

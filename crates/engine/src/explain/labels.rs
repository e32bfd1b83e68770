//! The names that people have for tables, columns and codes.

/// The natural names of a catalog. `()` has none, so that every name is shown as the source spells it.
pub trait Labels: Send + Sync {
    /// Returns the natural name of a table, `database.table`.
    fn table(&self, id: &str) -> Option<String>;

    /// Returns the natural name of a column, `database.table.column`.
    fn column(&self, id: &str) -> Option<String>;

    /// Returns what a value of a column means, such as `paid` for the code `P`.
    fn value(&self, column_id: &str, value: &str) -> Option<String>;
}

impl Labels for () {
    fn table(&self, _: &str) -> Option<String> {
        None
    }

    fn column(&self, _: &str) -> Option<String> {
        None
    }

    fn value(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}

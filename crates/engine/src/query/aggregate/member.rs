//! Membership of a row in a segment: as a condition, and as a value of the row.

use super::request::Segment;
use crate::Dialect;
use crate::options::NamedSchema;

/// The membership of the rows of a table in a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Membership {
    pub(super) segment: Segment,
    /// Its index among the segments of the query.
    pub(super) at: usize,
    /// The columns of the table that contain the key.
    pub(super) columns: Vec<String>,
}

impl Membership {
    pub(super) fn name(&self) -> &str {
        &self.segment.name
    }

    /// Renders the segment in FROM.
    fn write_table(&self, dialect: Dialect) -> String {
        let schema = dialect.quote(NamedSchema::Segments.as_str());
        format!("{schema}.{} AS s", dialect.quote(&self.segment.name))
    }

    /// Returns the alias of the members that are joined to a table.
    fn write_alias(&self, base: usize) -> String {
        format!("in_{}_t{base}", self.at)
    }

    /// Renders the condition that a row is a member. It does not repeat rows.
    pub(super) fn write_condition(&self, dialect: Dialect, base: usize) -> String {
        let keys: Vec<String> = self.segment.key.iter().map(|name| format!("s.{}", dialect.quote(name))).collect();
        let columns = self.columns.iter().map(|name| format!("t{base}.{}", dialect.quote(name)));
        let table = self.write_table(dialect);
        match keys.as_slice() {
            [key] => format!("{} IN (SELECT {key} FROM {table})", columns.collect::<String>()),
            _ => {
                let pairs: Vec<String> = keys.iter().zip(columns).map(|(key, own)| format!("{key} = {own}")).collect();
                format!("EXISTS (SELECT 1 FROM {table} WHERE {})", pairs.join(" AND "))
            }
        }
    }

    /// Renders whether a row is a member, if the members are joined.
    pub(super) fn write_value(&self, dialect: Dialect, base: usize) -> String {
        let key = self.segment.key.first().map(|name| dialect.quote(name)).unwrap_or_default();
        format!("CASE WHEN {}.{key} IS NULL THEN 'false' ELSE 'true' END", self.write_alias(base))
    }

    /// Renders the join with the distinct members.
    pub(super) fn write_join(&self, dialect: Dialect, base: usize) -> String {
        let keys: Vec<String> = self.segment.key.iter().map(|name| dialect.quote(name)).collect();
        let list: Vec<String> = keys.iter().map(|key| format!("s.{key}")).collect();
        let alias = self.write_alias(base);
        let pairs = keys.iter().zip(&self.columns);
        let on: Vec<String> =
            pairs.map(|(key, own)| format!("{alias}.{key} = t{base}.{}", dialect.quote(own))).collect();
        let members = format!("SELECT DISTINCT {} FROM {}", list.join(", "), self.write_table(dialect));
        format!("\nLEFT JOIN ({members}) AS {alias} ON {}", on.join(" AND "))
    }
}

//! A loaded subset with its rows.

use std::collections::HashSet;

use prospector_core::tool::ToolError;
use prospector_engine::{Engine, FailureCode};
use serde_json::{Map, Value};

use super::value::{self, quote_name};

/// More rows than a subset can have.
const ALL: usize = 200_000;

pub(crate) struct Subset {
    pub(crate) alias: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Value>>,
}

impl Subset {
    /// Reads a loaded subset.
    ///
    /// # Errors
    /// If no subset has this alias.
    pub(crate) async fn read(engine: &Engine, alias: &str) -> Result<Subset, ToolError> {
        Subset::read_in_order(engine, alias, "").await
    }

    /// Reads its first rows, ordered by a column.
    ///
    /// # Errors
    /// As [`Subset::read`].
    pub(crate) async fn read_first(engine: &Engine, alias: &str, key: &str, rows: usize) -> Result<Subset, ToolError> {
        Subset::read_in_order(engine, alias, &format!(" ORDER BY {} LIMIT {rows}", quote_name(key))).await
    }

    async fn read_in_order(engine: &Engine, alias: &str, order: &str) -> Result<Subset, ToolError> {
        let plain = alias.trim().trim_start_matches("scoped.").to_lowercase();
        let is_plain = !plain.is_empty() && plain.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_plain {
            return Err(value::first(
                &format!("`{alias}` is not an alias"),
                "pass the alias of a subset loaded by load_scoped",
            ));
        }
        let read = engine.run(&format!("SELECT * FROM scoped.\"{plain}\"{order}"), None, ALL).await;
        let outcome = read.map_err(|failure| match failure.code == FailureCode::UnknownTable {
            true => value::first(&format!("nothing is loaded as `{plain}`"), "load it with load_scoped first"),
            false => failure.into(),
        })?;
        Ok(Subset { alias: plain, columns: outcome.rows.columns, rows: outcome.rows.rows })
    }

    /// Returns the index of a column, ignoring case.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        let exact = self.columns.iter().position(|column| column == name);
        exact.or_else(|| self.columns.iter().position(|column| column.eq_ignore_ascii_case(name)))
    }

    /// Returns the name of a column as the subset spells it.
    pub(crate) fn spell(&self, name: &str) -> Option<&str> {
        self.place(name).map(|at| self.columns[at].as_str())
    }

    /// Whether the values of a column are unique and not null.
    pub(crate) fn is_unique(&self, name: &str) -> bool {
        let Some(at) = self.place(name) else { return false };
        let mut seen = HashSet::new();
        self.rows.iter().all(|row| value::text(&row[at]).is_some_and(|text| seen.insert(text)))
    }

    /// Returns the columns that identify rows.
    pub(crate) fn unique_columns(&self) -> Vec<&str> {
        self.columns.iter().map(String::as_str).filter(|column| self.is_unique(column)).collect()
    }

    /// Returns the share of distinct values among the non-null values of a column, 0 to 1.
    pub(crate) fn variety(&self, at: usize) -> f64 {
        let values: Vec<String> = self.rows.iter().filter_map(|row| value::text(&row[at])).collect();
        let distinct: HashSet<&String> = values.iter().collect();
        if values.is_empty() { 0.0 } else { distinct.len() as f64 / values.len() as f64 }
    }

    /// Returns a row as an object.
    pub(crate) fn record(&self, row: usize) -> Map<String, Value> {
        self.columns.iter().cloned().zip(self.rows[row].iter().cloned()).collect()
    }
}

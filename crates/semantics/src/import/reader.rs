//! Shared parts of all imports: the document, table lookup, results, and unsupported features.

use prospector_core::Problem;
use serde_json::Value;

use crate::Tables;
use crate::model::{Declarations, Metric, MetricKind};

/// Why a feature is unsupported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unmapped(String);

impl From<String> for Unmapped {
    fn from(reason: String) -> Unmapped {
        Unmapped(reason)
    }
}

impl From<&str> for Unmapped {
    fn from(reason: &str) -> Unmapped {
        Unmapped(reason.to_owned())
    }
}

impl From<Unmapped> for String {
    fn from(reason: Unmapped) -> String {
        reason.0
    }
}

/// A document of another tool during its import.
pub(super) struct Reader<'a> {
    pub(super) place: &'a str,
    pub(super) database: Option<&'a str>,
    pub(super) sources: &'a [Tables<'a>],
    pub(super) document: &'a Value,
    pub(super) found: Declarations,
    pub(super) problems: Vec<Problem>,
}

impl Reader<'_> {
    /// Reports an unsupported feature.
    pub(super) fn note(&mut self, what: &str, reason: impl Into<String>) {
        let place = format!("{}: {what}", self.place);
        self.problems.push(Problem::warning(place, reason).advise("declare it in the catalog if you need it"));
    }

    /// Returns the database with a table, and the name of the table there. The name may be qualified by a schema and more.
    pub(super) fn find_table(&self, written: &str) -> Result<(String, String), Unmapped> {
        let parts: Vec<&str> = written.split('.').map(|part| part.trim_matches(['"', '`', '[', ']', ' '])).collect();
        let names: Vec<String> = (0..parts.len()).rev().map(|from| parts[from..].join(".")).rev().collect();
        let is_open =
            |source: &&Tables<'_>| self.database.is_none_or(|name| name.eq_ignore_ascii_case(source.database));
        let mut homes = Vec::new();
        for source in self.sources.iter().filter(is_open) {
            let named = |name: &String| source.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name));
            if let Some(table) = names.iter().find_map(named) {
                homes.push((source.database.to_owned(), table.name.clone()));
            }
        }
        match homes.len() {
            0 => Err(format!("there is no table `{written}` in the databases of the catalog").into()),
            1 => Ok(homes.remove(0)),
            _ => Err(format!("there is a table `{written}` in several databases: name one as `database`").into()),
        }
    }

    /// Returns a metric without any metadata.
    pub(super) fn metric(&self, name: &str, kind: MetricKind, what: &str) -> Metric {
        let text = String::new;
        Metric {
            name: name.to_owned(),
            kind,
            unit: text(),
            format: text(),
            owner: text(),
            description: text(),
            synonyms: Vec::new(),
            source: text(),
            place: format!("{}: {what}", self.place),
        }
    }
}

pub(super) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn text_of<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default().trim()
}

pub(super) fn is_column(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

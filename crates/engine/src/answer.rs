//! Answers as they are returned: a limited number of rows, short cells, and how to get the rest.

use prospector_connect::rows::Rows;
use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tool::finding::{QueryFailure, QueryFinding, QueryRows, RowsWarning};
use prospector_core::tool::{Part, ToolOutput};
use serde::Serialize;
use serde_json::Value;

use crate::Failure;
use crate::outcome::Way;

/// The maximum number of rows.
pub(crate) const MAX_ROWS: usize = 50;

/// The maximum number of rows of an answer with a single column.
pub(crate) const MAX_VALUES: usize = 200;

/// The maximum number of characters of a value.
const MAX_CELL: usize = 500;

/// The maximum number of characters of an answer.
pub(crate) const MAX_CHARACTERS: usize = 10_000;

/// An answer, truncated to the limits of the output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ShownRows {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
    /// The number of rows shown.
    pub row_count: usize,
    /// Whether there are more rows.
    pub has_more: bool,
    /// How to get the rows and values that are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl ShownRows {
    /// Returns the fields that may be truncated.
    pub(crate) fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("columns", Part::entries(&mut self.columns)), ("rows", Part::entries(&mut self.rows))]
    }
}

/// The answer to one query as it is returned, with its id in the history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryAnswer {
    pub(crate) id: String,
    /// Present only if the caller does not know the SQL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sql: Option<String>,
    /// The database of unqualified tables.
    #[serde(skip)]
    pub(crate) database: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) question: String,
    #[serde(flatten)]
    pub(crate) result: QueryResult,
}

/// Rows, or a failure.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum QueryResult {
    Rows {
        databases: Vec<String>,
        tables: Vec<String>,
        executed: Way,
        #[serde(flatten)]
        shown: ShownRows,
        /// Warnings: evidence from the data that the query does not compute what it appears to.
        #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "RowsWarning::serialize_messages")]
        warnings: Vec<RowsWarning>,
        /// The units of columns, by name.
        #[serde(skip)]
        units: Vec<(String, String)>,
    },
    Failed(Failure),
}

impl QueryAnswer {
    /// Returns the failure, if the query failed.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.result {
            QueryResult::Rows { .. } => None,
            QueryResult::Failed(failure) => Some(failure),
        }
    }
}

impl ToolOutput for QueryAnswer {
    fn reveals(&self) -> Vec<Resource> {
        match &self.result {
            QueryResult::Rows { databases, tables, .. } => self::tables(databases, tables),
            QueryResult::Failed(_) => Vec::new(),
        }
    }

    fn queries(&mut self) -> Vec<QueryFinding<'_>> {
        let rows = match &self.result {
            QueryResult::Rows { databases, shown, warnings, units, .. } => Ok(QueryRows {
                databases,
                columns: &shown.columns,
                rows: &shown.rows,
                has_more: shown.has_more || shown.rows.len() < shown.row_count,
                units,
                warnings,
            }),
            QueryResult::Failed(failure) => {
                Err(QueryFailure { code: failure.code.to_string(), message: failure.message.clone() })
            }
        };
        vec![QueryFinding {
            id: &mut self.id,
            question: &self.question,
            title: None,
            sql: self.sql.as_deref(),
            database: None,
            verified: None,
            rows,
        }]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        let mut parts = vec![("question", Part::Text(&mut self.question))];
        parts.extend(self.sql.as_mut().map(|sql| ("sql", Part::Text(sql))));
        match &mut self.result {
            QueryResult::Rows { shown, warnings, .. } => {
                parts.extend(shown.parts());
                parts.push(("warnings", Part::entries(warnings)));
            }
            QueryResult::Failed(failure) => {
                parts.push(("message", Part::Text(&mut failure.message)));
                parts.extend(failure.suggestion.as_mut().map(|text| ("suggestion", Part::Text(text))));
            }
        }
        parts
    }
}

/// Truncates rows to the limits and to this number of characters.
pub(crate) fn cut_to_show(rows: Rows, characters: usize) -> ShownRows {
    let mut left = characters.saturating_sub(rows.columns.iter().map(|name| name.chars().count() + 4).sum());
    let (mut kept, mut has_more, mut cut) = (Vec::new(), rows.has_more, 0);
    let most = if rows.columns.len() == 1 { MAX_VALUES } else { MAX_ROWS };
    for mut row in rows.rows {
        for cell in &mut row {
            cut += usize::from(shorten(cell));
        }
        let size: usize = row.iter().map(|cell| cell.to_string().chars().count() + 2).sum();
        if kept.len() == most || size > left {
            has_more = true;
            break;
        }
        left -= size;
        kept.push(row);
    }
    let mut next = Vec::new();
    if has_more && kept.is_empty() {
        next.push("a row is too long to show: select fewer columns".to_owned());
    } else if has_more {
        let next_rows =
            "more rows exist: add a WHERE, aggregate with GROUP BY, select fewer columns, or use ORDER BY with";
        next.push(format!("{next_rows} LIMIT {} OFFSET {}", kept.len(), kept.len()));
    }
    if cut > 0 {
        next.push(format!("{cut} long values are truncated: use substr() to read the rest"));
    }
    let next = (!next.is_empty()).then(|| next.join("; "));
    ShownRows { columns: rows.columns, row_count: kept.len(), rows: kept, has_more, next }
}

/// Truncates a long value and returns whether it did.
fn shorten(cell: &mut Value) -> bool {
    let text = match &*cell {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => cell.to_string(),
        _ => return false,
    };
    match text.char_indices().nth(MAX_CELL) {
        Some((end, _)) => {
            *cell = Value::String(format!("{}…", &text[..end]));
            true
        }
        None => false,
    }
}

/// Returns the tables of an answer and their databases as resources.
pub(crate) fn tables(databases: &[String], tables: &[String]) -> Vec<Resource> {
    let databases = databases.iter().map(|name| Resource::new(ResourceKind::Database, name));
    databases.chain(tables.iter().map(|name| Resource::new(ResourceKind::Table, name))).collect()
}

/// Returns a table and its database as resources.
pub(crate) fn table(database: &str, table: &str) -> Vec<Resource> {
    tables(&[database.to_owned()], &[format!("{database}.{table}")])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(rows: usize, columns: &[&str], cell: &str, expected: (usize, bool)) {
        let row = vec![json!(cell); columns.len()];
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        let rows = Rows { columns, rows: vec![row; rows], has_more: false };
        let shown = cut_to_show(rows, MAX_CHARACTERS);
        assert_eq!((shown.row_count, shown.has_more), expected);
        assert_eq!(shown.next.is_some(), shown.has_more || cell.chars().count() > MAX_CELL);
        assert!(serde_json::to_string(&shown.rows).unwrap_or_default().chars().count() <= MAX_CHARACTERS + 2);
    }

    #[test]
    fn truncates_an_answer_to_its_limits() {
        check(50, &["a", "b"], "x", (50, false));
        check(51, &["a", "b"], "x", (50, true));
        check(200, &["a"], "x", (200, false));
        check(201, &["a"], "x", (200, true));
        check(10, &["a"], &"ü".repeat(600), (10, false));
        check(40, &["a"], &"ü".repeat(600), (19, true));
    }
}

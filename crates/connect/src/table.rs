//! Tables and columns, described uniformly for all data sources.

mod column_type;
pub mod joins;

use serde::{Deserialize, Serialize};

pub use column_type::ColumnType;

use crate::sql::Dialect;

/// A table, view, collection or file with columns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Table {
    /// Its name in the source. With a schema it is `schema.table`; both parts may contain dots, so statements use `path`.
    pub name: String,
    /// Its location in a source with schemas, PostgreSQL or MySQL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<TablePath>,
    /// The comment stored in the source.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The number of rows; `None` if the source contains no data or the rows could not be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_count: Option<u64>,
    /// Whether `row_count` is the source's own estimate, because counting would have taken too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub row_count_estimated: bool,
    /// The columns in the source's order.
    pub columns: Vec<Column>,
    /// The foreign keys to tables of the same source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKey>,
    /// Whether it is computed from other tables: a view, including materialized views.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_view: bool,
    /// Columns of files with cells of other types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<ColumnIssue>,
}

/// Cells of a column that do not have the type of the others, or are their total.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnIssue {
    /// The name of the column.
    pub column: String,
    /// The consequence for the cells.
    pub effect: IssueEffect,
    /// The number of such cells.
    pub count: u64,
    /// The number of non-empty cells of the column.
    pub values: u64,
    /// The message: `2 of 200 values are not numbers and count as missing (NULL)`.
    pub reason: String,
    /// The unit of rows, `line` or `row`.
    pub unit: String,
    /// The first of the cells, at most five; none for columns with personal data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<IssueExample>,
}

/// The end of messages about cells that are NULL because of their type: `2 values count as missing (NULL)`.
pub const AS_MISSING: &str = "as missing (NULL)";

/// The consequence for cells that do not have the type of the others, or are their total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueEffect {
    /// The cells are NULL.
    Null,
    /// The column is text.
    Text,
    /// The cell is the sum of the others, and its row is skipped.
    SkippedTotal,
    /// The cell is the sum of the others, and its row is counted like them.
    CountedTotal,
}

/// A cell of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueExample {
    /// The line of the file, or the row of the sheet, from 1.
    pub line: u64,
    /// The cell as written, truncated to 60 characters.
    pub value: String,
}

impl ColumnIssue {
    /// Returns the suggested fix.
    pub fn advice(&self) -> &'static str {
        match self.effect {
            IssueEffect::Null => "correct the cells, or set `strict: true` on the source to read the column as text",
            IssueEffect::Text => "write all cells of the column in one way, such as 1234.5 or 2025-03-31",
            IssueEffect::SkippedTotal => "set `strict: true` on the source if the row is not a total",
            IssueEffect::CountedTotal => {
                "remove the row from the file, or set `strict: true` on the source if it is not a total"
            }
        }
    }

    /// Lists the first of its cells: `line 19 'n/a', line 122 'x' and 3 more`.
    pub fn list_examples(&self) -> String {
        let shown: Vec<String> =
            self.examples.iter().take(3).map(|cell| format!("{} {} '{}'", self.unit, cell.line, cell.value)).collect();
        match self.count.saturating_sub(shown.len() as u64) {
            more if more > 0 && !shown.is_empty() => format!("{} and {more} more", shown.join(", ")),
            _ => shown.join(", "),
        }
    }
}

/// Displays the reason and the first of the cells.
impl std::fmt::Display for ColumnIssue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.list_examples() {
            none if none.is_empty() => f.write_str(&self.reason),
            examples => write!(f, "{}: {examples}", self.reason),
        }
    }
}

/// The schema of a table, or its database on MySQL, and its name there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TablePath {
    /// The schema.
    pub schema: String,
    /// The name of the table, without its schema.
    pub name: String,
}

impl Table {
    /// Returns the type of a column for display: a record whose fields are columns, such as `totals` next to
    /// `totals.visits`, is shown without the fields.
    pub fn type_of(&self, column: &Column) -> String {
        let inner = |other: &Column| other.name.strip_prefix(&column.name).is_some_and(|rest| rest.starts_with('.'));
        match column.data_type.split_once("STRUCT<") {
            Some(("ARRAY<", _)) if self.columns.iter().any(inner) => "ARRAY<STRUCT>".to_owned(),
            Some(("", _)) if self.columns.iter().any(inner) => "STRUCT".to_owned(),
            _ => column.data_type.clone(),
        }
    }

    /// Finds a column by name, ignoring the case of ASCII letters.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }
}

/// A column of a [`Table`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The type as named by the source, such as `VARCHAR(40)`, or the Arrow type for files, such as `Int64`. It is meant
    /// for people; `column_type` is the type of the values.
    #[serde(rename = "type")]
    pub data_type: String,
    /// The type of the values.
    pub column_type: ColumnType,
    /// Whether its dates have times although the declared type does not say so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_times: bool,
    /// Whether the column may contain nulls.
    pub nullable: bool,
    /// Whether the column is part of the primary key.
    pub primary_key: bool,
    /// The comment stored in the source.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The unit of its values, such as `EUR`, `%` or `ms`; empty if it is not declared.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Whether it contains personal data (PII): its values are shown in results of queries only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_personal: bool,
}

impl Column {
    /// Whether its values are points in time, independent of the displayed time zone: the type includes a zone. `dialect`
    /// is that of the source.
    pub fn has_zone(&self, dialect: Dialect) -> bool {
        let declared = self.data_type.as_str();
        self.column_type == ColumnType::Timestamp
            && match dialect {
                Dialect::Postgres => declared.contains("with time zone") || declared.starts_with("timestamptz"),
                Dialect::Bigquery => declared == "TIMESTAMP",
                // Arrow types name the zone; MongoDB, Elasticsearch and Cassandra only have such timestamps.
                Dialect::Joined => {
                    declared.starts_with("Timestamp(") && declared.contains('"')
                        || ["date", "date_nanos", "timestamp"].contains(&declared)
                }
                // MySQL displays a TIMESTAMP in the time zone of the session.
                Dialect::Mysql | Dialect::Sqlite => false,
            }
    }

    /// Returns the codes that its description lists with their meanings: `P` and `paid` of `status (values: P = paid; V = void)`.
    pub fn codes(&self) -> Vec<(&str, &str)> {
        let Some((_, values)) = self.description.rsplit_once("(values: ") else { return Vec::new() };
        // `mp3, aac = downloads; cd = disc`, `O = open, in review; P = paid`, `1 = public, 0 = private`
        let parts = values.trim_end_matches([')', ' ']).split(';').flat_map(|part| {
            let is_list = part.matches(" = ").count() > 1;
            if is_list { part.split(',').collect::<Vec<_>>() } else { vec![part] }
        });
        let pairs = parts.filter_map(|part| part.trim().split_once(" = "));
        pairs.flat_map(|(codes, meaning)| codes.split(',').map(move |code| (code.trim(), meaning.trim()))).collect()
    }

    /// Whether its values are days without a time, which no time zone affects.
    pub fn holds_days(&self) -> bool {
        match self.column_type {
            ColumnType::Date => true,
            ColumnType::DateText => !self.has_times && !self.data_type.to_lowercase().contains("time"),
            _ => false,
        }
    }
}

/// A reference from columns of one table to columns of another.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ForeignKey {
    /// The referencing columns.
    pub columns: Vec<String>,
    /// The referenced table, in the same source.
    pub table: String,
    /// The referenced columns, one for each of `columns`.
    pub references: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_says_whether_it_carries_a_zone_and_whether_it_holds_days() {
        let column =
            |data_type: &str, column_type| Column { data_type: data_type.into(), column_type, ..Column::default() };
        let check = |dialect, data_type: &str, expected: bool| {
            assert_eq!(
                column(data_type, ColumnType::Timestamp).has_zone(dialect),
                expected,
                "{dialect:?}: {data_type}"
            );
        };
        check(Dialect::Postgres, "timestamp with time zone", true);
        check(Dialect::Postgres, "timestamp(3) with time zone", true);
        check(Dialect::Postgres, "timestamp without time zone", false);
        check(Dialect::Mysql, "timestamp", false);
        check(Dialect::Bigquery, "TIMESTAMP", true);
        check(Dialect::Bigquery, "DATETIME", false);
        check(Dialect::Joined, "Timestamp(µs, \"UTC\")", true);
        check(Dialect::Joined, "Timestamp(µs)", false);
        check(Dialect::Joined, "date", true);
        assert!(!column("date", ColumnType::Date).has_zone(Dialect::Joined));
        assert!(column("DATE", ColumnType::DateText).holds_days());
        assert!(!column("DATETIME", ColumnType::DateText).holds_days());
        assert!(column("TEXT", ColumnType::DateText).holds_days());
        assert!(!Column { has_times: true, ..column("TEXT", ColumnType::DateText) }.holds_days());
        assert!(!column("timestamp without time zone", ColumnType::Timestamp).holds_days());
    }

    #[test]
    fn a_record_whose_fields_are_columns_does_not_repeat_them() {
        let column = |(name, data_type): (&str, &str)| Column {
            name: name.into(),
            data_type: data_type.into(),
            ..Column::default()
        };
        let columns = [("a", "ARRAY<STRUCT<b INT64>>"), ("a.b", "INT64"), ("c", "STRUCT<d INT64>")].map(column);
        let table = Table { columns: columns.into(), ..Table::default() };
        let types: Vec<String> = table.columns.iter().map(|column| table.type_of(column)).collect();
        assert_eq!(types, ["ARRAY<STRUCT>", "INT64", "STRUCT<d INT64>"]);
    }
}

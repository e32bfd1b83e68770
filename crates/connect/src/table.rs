//! Tables and their columns, as every data source describes them.

mod column_type;

use serde::{Deserialize, Serialize};

pub use column_type::ColumnType;

/// A table, view, collection or file with columns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Table {
    /// Its name inside the source.
    pub name: String,
    /// The source's own comment on it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The number of rows; `None` if the source holds no data or the rows could not be counted.
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
}

impl Table {
    /// The type of a column as it is shown: of a record whose fields are columns of their own, such as `totals` beside
    /// `totals.visits`, without the fields.
    pub fn type_of(&self, column: &Column) -> String {
        let inner = |other: &Column| other.name.strip_prefix(&column.name).is_some_and(|rest| rest.starts_with('.'));
        match column.data_type.split_once("STRUCT<") {
            Some(("ARRAY<", _)) if self.columns.iter().any(inner) => "ARRAY<STRUCT>".to_owned(),
            Some(("", _)) if self.columns.iter().any(inner) => "STRUCT".to_owned(),
            _ => column.data_type.clone(),
        }
    }

    /// The column of that name, whatever its case (of ASCII letters).
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }
}

/// A column of a [`Table`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The source's own word for the type, such as `VARCHAR(40)`, or the Arrow type for files, such as `Int64`. It is
    /// meant for people; `column_type` says what the values are.
    #[serde(rename = "type")]
    pub data_type: String,
    /// What the values are.
    pub column_type: ColumnType,
    /// Whether the column may contain nulls.
    pub nullable: bool,
    /// Whether the column is part of the primary key.
    pub primary_key: bool,
    /// The source's own comment on it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// A reference from columns of one table to columns of another.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ForeignKey {
    /// The referring columns.
    pub columns: Vec<String>,
    /// The table that is referred to, in the same source.
    pub table: String,
    /// The columns that are referred to, one for each of `columns`.
    pub references: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

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

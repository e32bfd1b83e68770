//! A warning and its kinds.

use std::fmt;

use prospector_core::named_enum;
use serde::{Deserialize, Serialize};

/// Evidence that the answer to a query is not what it appears to be. It never blocks the query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct QueryWarning {
    /// The machine-readable kind.
    pub code: WarningCode,
    /// What was found, and where.
    pub message: String,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// The columns of the result that it is about; empty if it is about all rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The number of last rows that it is about; 0 if it may be about all rows.
    #[serde(skip)]
    pub last_rows: usize,
}

impl QueryWarning {
    pub(super) fn new(code: WarningCode, message: impl Into<String>) -> Self {
        QueryWarning { code, message: message.into(), suggestion: None, columns: Vec::new(), last_rows: 0 }
    }

    /// Adds a suggestion.
    pub(super) fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// Limits it to columns of the result.
    pub(super) fn about(mut self, columns: Vec<String>) -> Self {
        self.columns = columns;
        self
    }

    /// Adds the columns of the same warning about another part of the statement.
    pub(super) fn extend(&mut self, columns: Vec<String>) {
        if self.columns.is_empty() || columns.is_empty() {
            self.columns.clear();
            return;
        }
        for column in columns {
            if !self.columns.contains(&column) {
                self.columns.push(column);
            }
        }
    }
}

impl fmt::Display for QueryWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.suggestion {
            Some(suggestion) => write!(f, "; {suggestion}"),
            None => Ok(()),
        }
    }
}

named_enum! {
    /// What a [`QueryWarning`] is about. It is serialized as [`WarningCode::as_str`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum WarningCode {
        /// A join multiplies rows that are then summed, averaged, counted or listed.
        RepeatedRows = "repeated_rows",
        /// Two tables are combined without a condition.
        CrossJoin = "cross_join",
        /// A join finds no pair of rows.
        EmptyJoin = "empty_join",
        /// A join uses other columns than the declared key.
        UndeclaredJoin = "undeclared_join",
        /// Rows that a LEFT JOIN keeps are dropped again, or counted as if they had a match.
        UnmatchedRows = "unmatched_rows",
        /// A condition uses a value or pattern that no row has.
        UnknownValue = "unknown_value",
        /// A condition selects a period before or after all values of the column.
        OutsidePeriod = "outside_period",
        /// A period ends at the first moment of its last day.
        PartialDay = "partial_day",
        /// A comparison with NULL, which is never true.
        NullComparison = "null_comparison",
        /// `NOT IN` over a list or a query with nulls, which matches no row.
        NullInExclusion = "null_in_exclusion",
        /// `<>` or `NOT` drops rows without a value.
        NullExcluded = "null_excluded",
        /// A quotient of integers loses its remainder.
        IntegerDivision = "integer_division",
        /// Numbers or dates that are stored as texts are compared as texts.
        TextComparison = "text_comparison",
        /// Numbers or dates that are stored as texts are sorted as texts.
        TextOrder = "text_order",
        /// Texts that are not numbers are used in arithmetic.
        TextArithmetic = "text_arithmetic",
        /// A function gets texts that it cannot parse as dates.
        UnreadDate = "unread_date",
        /// Groups that differ only in spaces or case.
        SplitGroup = "split_group",
        /// Cells of a file do not have the type of their column and are NULL, or are the total of the others.
        InvalidCells = "invalid_cells",
        /// LIMIT cuts between rows that the ORDER BY does not distinguish.
        Ties = "ties",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serializes_every_code_as_its_name() {
        for code in WarningCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}

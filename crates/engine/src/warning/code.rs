//! A warning and its kinds.

use std::fmt;

use serde::Serialize;

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
}

impl QueryWarning {
    pub(super) fn new(code: WarningCode, message: impl Into<String>) -> Self {
        QueryWarning { code, message: message.into(), suggestion: None }
    }

    /// Adds a suggestion.
    pub(super) fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
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

/// What a [`QueryWarning`] is about. It is serialized as [`WarningCode::as_str`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WarningCode {
    /// A join multiplies rows that are then summed, averaged, counted or listed.
    RepeatedRows,
    /// Two tables are combined without a condition.
    CrossJoin,
    /// A join finds no pair of rows.
    EmptyJoin,
    /// A join uses other columns than the declared key.
    UndeclaredJoin,
    /// Rows that a LEFT JOIN keeps are dropped again, or counted as if they had a match.
    UnmatchedRows,
    /// A condition uses a value or pattern that no row has.
    UnknownValue,
    /// A condition selects a period before or after all values of the column.
    OutsidePeriod,
    /// A period ends at the first moment of its last day.
    PartialDay,
    /// A comparison with NULL, which is never true.
    NullComparison,
    /// `NOT IN` over a list or a query with nulls, which matches no row.
    NullInExclusion,
    /// `<>` or `NOT` drops rows without a value.
    NullExcluded,
    /// A quotient of integers loses its remainder.
    IntegerDivision,
    /// Numbers or dates that are stored as texts are compared as texts.
    TextComparison,
    /// Numbers or dates that are stored as texts are sorted as texts.
    TextOrder,
    /// Texts that are not numbers are used in arithmetic.
    TextArithmetic,
    /// A function gets texts that it cannot parse as dates.
    UnreadDate,
    /// Groups that differ only in spaces or case.
    SplitGroup,
    /// Cells of a file do not have the type of their column, and are NULL.
    InvalidCells,
    /// LIMIT cuts between rows that the ORDER BY does not distinguish.
    Ties,
}

impl WarningCode {
    /// All codes.
    pub const ALL: [WarningCode; 19] = [
        WarningCode::RepeatedRows,
        WarningCode::CrossJoin,
        WarningCode::EmptyJoin,
        WarningCode::UndeclaredJoin,
        WarningCode::UnmatchedRows,
        WarningCode::UnknownValue,
        WarningCode::OutsidePeriod,
        WarningCode::PartialDay,
        WarningCode::NullComparison,
        WarningCode::NullInExclusion,
        WarningCode::NullExcluded,
        WarningCode::IntegerDivision,
        WarningCode::TextComparison,
        WarningCode::TextOrder,
        WarningCode::TextArithmetic,
        WarningCode::UnreadDate,
        WarningCode::SplitGroup,
        WarningCode::InvalidCells,
        WarningCode::Ties,
    ];

    /// Returns the code as it is serialized.
    pub fn as_str(self) -> &'static str {
        match self {
            WarningCode::RepeatedRows => "repeated_rows",
            WarningCode::CrossJoin => "cross_join",
            WarningCode::EmptyJoin => "empty_join",
            WarningCode::UndeclaredJoin => "undeclared_join",
            WarningCode::UnmatchedRows => "unmatched_rows",
            WarningCode::UnknownValue => "unknown_value",
            WarningCode::OutsidePeriod => "outside_period",
            WarningCode::PartialDay => "partial_day",
            WarningCode::NullComparison => "null_comparison",
            WarningCode::NullInExclusion => "null_in_exclusion",
            WarningCode::NullExcluded => "null_excluded",
            WarningCode::IntegerDivision => "integer_division",
            WarningCode::TextComparison => "text_comparison",
            WarningCode::TextOrder => "text_order",
            WarningCode::TextArithmetic => "text_arithmetic",
            WarningCode::UnreadDate => "unread_date",
            WarningCode::SplitGroup => "split_group",
            WarningCode::InvalidCells => "invalid_cells",
            WarningCode::Ties => "ties",
        }
    }
}

impl fmt::Display for WarningCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
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

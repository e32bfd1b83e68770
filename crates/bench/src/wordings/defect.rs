//! Kinds of defects in plans.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The defect of a plan. It is serialized as [`Defect::as_str`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Defect {
    /// A table that does not exist.
    UnknownTable,
    /// A column that does not exist.
    UnknownColumn,
    /// A metric, operation, verified query or document that does not exist.
    UnknownName,
    /// Text where a number is required.
    BadType,
    /// A sum, average or count over rows multiplied by a join (fan-out).
    FanOut,
    /// A cross join of tables.
    CrossJoin,
    /// A join on keys that never match.
    EmptyJoin,
    /// A value that occurs in no row, or that a parameter does not accept.
    UnknownValue,
    /// A period without rows.
    OutsidePeriod,
    /// `= NULL`, or `NOT IN` with nulls.
    NullTrap,
    /// A limit that separates tied rows.
    TiesCut,
    /// A required argument or parameter is missing.
    MissingArgument,
    /// A reference to an output, or a column of one, that no earlier step provides.
    UnknownInput,
    /// A dimension by which a metric cannot be grouped.
    BadMetricDimension,
    /// The wrong measure.
    WrongMeasure,
    /// The wrong filter value.
    WrongFilter,
    /// A missing filter.
    MissingFilter,
    /// The wrong period, which contains rows.
    WrongPeriod,
    /// The wrong grouping.
    WrongGroup,
    /// The wrong order.
    WrongOrder,
    /// The wrong population is listed or counted.
    WrongPopulation,
}

impl Defect {
    /// All defects, structural ones first.
    pub const ALL: [Defect; 21] = [
        Defect::UnknownTable,
        Defect::UnknownColumn,
        Defect::UnknownName,
        Defect::BadType,
        Defect::FanOut,
        Defect::CrossJoin,
        Defect::EmptyJoin,
        Defect::UnknownValue,
        Defect::OutsidePeriod,
        Defect::NullTrap,
        Defect::TiesCut,
        Defect::MissingArgument,
        Defect::UnknownInput,
        Defect::BadMetricDimension,
        Defect::WrongMeasure,
        Defect::WrongFilter,
        Defect::MissingFilter,
        Defect::WrongPeriod,
        Defect::WrongGroup,
        Defect::WrongOrder,
        Defect::WrongPopulation,
    ];

    /// Returns the serialized name.
    pub fn as_str(self) -> &'static str {
        match self {
            Defect::UnknownTable => "unknown_table",
            Defect::UnknownColumn => "unknown_column",
            Defect::UnknownName => "unknown_name",
            Defect::BadType => "bad_type",
            Defect::FanOut => "fan_out",
            Defect::CrossJoin => "cross_join",
            Defect::EmptyJoin => "empty_join",
            Defect::UnknownValue => "unknown_value",
            Defect::OutsidePeriod => "outside_period",
            Defect::NullTrap => "null_trap",
            Defect::TiesCut => "ties_cut",
            Defect::MissingArgument => "missing_argument",
            Defect::UnknownInput => "unknown_input",
            Defect::BadMetricDimension => "bad_metric_dimension",
            Defect::WrongMeasure => "wrong_measure",
            Defect::WrongFilter => "wrong_filter",
            Defect::MissingFilter => "missing_filter",
            Defect::WrongPeriod => "wrong_period",
            Defect::WrongGroup => "wrong_group",
            Defect::WrongOrder => "wrong_order",
            Defect::WrongPopulation => "wrong_population",
        }
    }

    /// Returns whether it can be detected from names, types, keys or data, independently of the question.
    pub fn is_structural(self) -> bool {
        match self {
            Defect::UnknownTable
            | Defect::UnknownColumn
            | Defect::UnknownName
            | Defect::BadType
            | Defect::FanOut
            | Defect::CrossJoin
            | Defect::EmptyJoin
            | Defect::UnknownValue
            | Defect::OutsidePeriod
            | Defect::NullTrap
            | Defect::TiesCut
            | Defect::MissingArgument
            | Defect::UnknownInput
            | Defect::BadMetricDimension => true,
            Defect::WrongMeasure
            | Defect::WrongFilter
            | Defect::MissingFilter
            | Defect::WrongPeriod
            | Defect::WrongGroup
            | Defect::WrongOrder
            | Defect::WrongPopulation => false,
        }
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serializes_every_defect_as_its_name() {
        for defect in Defect::ALL {
            assert_eq!(serde_json::to_value(defect).unwrap(), defect.as_str());
            assert_eq!(Defect::ALL.iter().filter(|other| **other == defect).count(), 1, "{defect}");
        }
        assert!(Defect::ALL.is_sorted(), "in the order of the reports");
    }
}

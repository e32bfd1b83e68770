//! How a spoiled plan differs from the right one.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The error in a spoiled plan. It is serialized as [`Defect::as_str`].
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
    /// Texts where numbers are needed.
    BadType,
    /// A sum, average or count over rows that a join multiplies.
    FanOut,
    /// Tables that no condition connects.
    CrossJoin,
    /// A join on keys that never match.
    EmptyJoin,
    /// A value that no row has, or that a parameter does not take.
    UnknownValue,
    /// A period without any row.
    OutsidePeriod,
    /// `= NULL`, or `NOT IN` with nulls.
    NullTrap,
    /// A limit that cuts between equal rows.
    TiesCut,
    /// A required argument or parameter is missing.
    MissingArgument,
    /// An output, or a column of one, that no earlier step has.
    UnknownInput,
    /// A dimension by which a metric cannot be grouped.
    BadMetricDimension,
    /// Another measure than the question asks for.
    WrongMeasure,
    /// A condition on another value.
    WrongFilter,
    /// A condition is missing.
    MissingFilter,
    /// Another period, in which there are rows.
    WrongPeriod,
    /// Other groups.
    WrongGroup,
    /// The opposite order.
    WrongOrder,
    /// Other things are listed or counted.
    WrongPopulation,
}

impl Defect {
    /// All of them, structural ones first.
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

    /// The defect as it is serialized.
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

    /// Whether names, types, keys or data show it, whatever the question.
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

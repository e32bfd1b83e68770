//! Kinds of defects in plans.

use prospector_core::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// The defect of a plan. It is serialized as [`Defect::as_str`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum Defect {
        /// A table that does not exist.
        UnknownTable = "unknown_table",
        /// A column that does not exist.
        UnknownColumn = "unknown_column",
        /// A metric, operation, verified query or document that does not exist.
        UnknownName = "unknown_name",
        /// Text where a number is required.
        BadType = "bad_type",
        /// A sum, average or count over rows multiplied by a join (fan-out).
        FanOut = "fan_out",
        /// A cross join of tables.
        CrossJoin = "cross_join",
        /// A join on keys that never match.
        EmptyJoin = "empty_join",
        /// A value that occurs in no row, or that a parameter does not accept.
        UnknownValue = "unknown_value",
        /// A period without rows.
        OutsidePeriod = "outside_period",
        /// `= NULL`, or `NOT IN` with nulls.
        NullTrap = "null_trap",
        /// A limit that separates tied rows.
        TiesCut = "ties_cut",
        /// A required argument or parameter is missing.
        MissingArgument = "missing_argument",
        /// A reference to an output, or a column of one, that no earlier step provides.
        UnknownInput = "unknown_input",
        /// A dimension by which a metric cannot be grouped.
        BadMetricDimension = "bad_metric_dimension",
        /// The wrong measure.
        WrongMeasure = "wrong_measure",
        /// The wrong filter value.
        WrongFilter = "wrong_filter",
        /// A missing filter.
        MissingFilter = "missing_filter",
        /// The wrong period, which contains rows.
        WrongPeriod = "wrong_period",
        /// The wrong grouping.
        WrongGroup = "wrong_group",
        /// The wrong order.
        WrongOrder = "wrong_order",
        /// The wrong population is listed or counted.
        WrongPopulation = "wrong_population",
    }
}

impl Defect {
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

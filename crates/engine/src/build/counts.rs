//! Whether joining leaves every row that a measure takes in there, and just once.

use prospector_connect::filter::{FilterCondition, Test};
use prospector_connect::query::{Aggregation, Condition};

use super::joins::Tree;
use super::{Measure, Names, QueryRequest, Relations, invalid};
use crate::{Failure, FailureCode};

/// The tables of a query, joined.
pub(super) struct Joined<'a> {
    pub(super) relations: &'a Relations<'a>,
    pub(super) names: &'a Names<'a>,
    pub(super) tree: &'a Tree,
}

impl Joined<'_> {
    /// What is summed or counted of several tables is of the rows of the finest one: the others may be there several times.
    ///
    /// # Errors
    /// The first measure whose rows are all there several times.
    pub(super) fn check_repeats(&self, query: &QueryRequest) -> Result<(), Failure> {
        let is_counted = |measure: &&Measure| {
            !matches!(measure.aggregation, Aggregation::Min | Aggregation::Max | Aggregation::CountDistinct)
        };
        for measure in query.measures.iter().filter(is_counted) {
            let tables = self.tables(measure)?;
            let repeats = tables.iter().map(|table| Some((*table, self.tree.repeats(*table)?)));
            let Some(repeated) = repeats.collect::<Option<Vec<_>>>() else { continue };
            let Some((table, other)) = repeated.first() else { continue };
            let (table, other) = (self.name(*table), self.name(*other));
            let message = format!(
                "joined with {other}, a row of {table} is there several times: {} would be wrong",
                measure.name()
            );
            return Err(Failure::new(FailureCode::RepeatedRows, message).advise(format!(
                "leave {other} out, count with count_distinct, or write it as SQL that aggregates before the join"
            )));
        }
        Ok(())
    }

    /// Measures of several tables are over all rows of each. Those that the first table has no partner of are not there, which
    /// only matters where neither a group nor a condition is on what such a row has nothing of.
    ///
    /// # Errors
    /// The first measure that would miss rows.
    pub(super) fn check_missing(&self, query: &QueryRequest, conditions: &[&Condition]) -> Result<(), Failure> {
        let measured: Vec<Vec<usize>> =
            query.measures.iter().map(|measure| self.tables(measure)).collect::<Result<_, _>>()?;
        if measured.windows(2).all(|two| two[0] == two[1]) {
            return Ok(());
        }
        let mut told = Vec::new();
        for dimension in &query.dimensions {
            told.push(self.names.tables(&dimension.column)?);
        }
        for clause in conditions.iter().copied().filter_map(needs_value) {
            told.push(self.names.tables(&clause.column)?);
        }
        for (measure, tables) in query.measures.iter().zip(&measured) {
            if tables.iter().any(|table| self.tree.keeps(self.relations, *table)) {
                continue;
            }
            let misses = |table: usize| {
                let beyond = self.tree.beyond(table);
                told.iter().flatten().all(|told| beyond.contains(told))
            };
            let Some(table) = tables.iter().find(|table| misses(**table)) else { continue };
            let (table, root) = (self.name(*table), self.name(self.names.root));
            let message =
                format!("joined to {root}, rows of {table} may be missing: {} would be wrong", measure.name());
            return Err(invalid(message).advise(format!(
                "compute what is of {table} and what is of {root}, each in a step or a query of its own, and combine the two"
            )));
        }
        Ok(())
    }

    /// The tables that a measure is over; without a column it is over the first one.
    fn tables(&self, measure: &Measure) -> Result<Vec<usize>, Failure> {
        measure.column.as_ref().map_or_else(|| Ok(vec![self.names.root]), |name| self.names.tables(name))
    }

    fn name(&self, table: usize) -> &str {
        &self.relations.tables[table].name
    }
}

/// The comparison of a condition that no row meets which has no value there.
fn needs_value(condition: &Condition) -> Option<&FilterCondition> {
    let Condition::One(filter) = condition else { return None };
    let is_met_without = matches!(filter.test(), Ok(Test::Null | Test::In { or_null: true, .. }));
    (!is_met_without).then_some(filter)
}

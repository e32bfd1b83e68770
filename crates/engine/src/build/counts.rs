//! Checks that joins neither repeat (fan-out) nor drop rows of a measure.

use prospector_connect::filter::{FilterCondition, Test};
use prospector_connect::query::Aggregation;

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
    /// Checks for fan-out. A sum or count over several tables is taken at the granularity of the finest one, so only one of the
    /// tables has to be free of repetition.
    ///
    /// # Errors
    /// The first measure all of whose tables have repeated rows.
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
            let message =
                format!("joined with {other}, a row of {table} is repeated: {} would be wrong", measure.name());
            return Err(Failure::new(FailureCode::RepeatedRows, message).advise(format!(
                "omit {other}, count with count_distinct, or write SQL that aggregates before the join"
            )));
        }
        Ok(())
    }

    /// Checks that measures over several tables see all rows of each. Rows without a partner in the first table are lost by the
    /// join, which matters only if every group and every condition is on columns that such rows have.
    ///
    /// # Errors
    /// The first measure that would miss rows.
    pub(super) fn check_missing(&self, query: &QueryRequest, conditions: &[&FilterCondition]) -> Result<(), Failure> {
        let measured: Vec<Vec<usize>> =
            query.measures.iter().map(|measure| self.tables(measure)).collect::<Result<_, _>>()?;
        if measured.windows(2).all(|two| two[0] == two[1]) {
            return Ok(());
        }
        let mut used = Vec::new();
        for dimension in &query.dimensions {
            used.push(self.names.tables(&dimension.column)?);
        }
        for clause in conditions.iter().filter(|condition| needs_value(condition)) {
            used.push(self.names.tables(&clause.column)?);
        }
        for (measure, tables) in query.measures.iter().zip(&measured) {
            if tables.iter().any(|table| self.tree.keeps(self.relations, *table)) {
                continue;
            }
            let misses = |table: usize| {
                let beyond = self.tree.beyond(table);
                used.iter().flatten().all(|used| beyond.contains(used))
            };
            let Some(table) = tables.iter().find(|table| misses(**table)) else { continue };
            let (table, root) = (self.name(*table), self.name(self.names.root));
            let message =
                format!("joined to {root}, rows of {table} may be missing: {} would be wrong", measure.name());
            return Err(invalid(message).advise(format!(
                "compute the measures of {table} and of {root} in separate steps or queries, and combine the results"
            )));
        }
        Ok(())
    }

    /// Returns the tables of a measure; without a column, it is the first one.
    fn tables(&self, measure: &Measure) -> Result<Vec<usize>, Failure> {
        measure.column.as_ref().map_or_else(|| Ok(vec![self.names.root]), |name| self.names.tables(name))
    }

    fn name(&self, table: usize) -> &str {
        &self.relations.tables[table].name
    }
}

/// Returns whether a condition rejects null.
fn needs_value(condition: &FilterCondition) -> bool {
    !matches!(condition.test(), Ok(Test::Null | Test::In { or_null: true, .. }))
}

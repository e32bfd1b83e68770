//! What a step computes, as a query over its tables and over what earlier steps left.

use prospector_agent::plan::Step;
use prospector_agent::plan::sense::question::Question;
use prospector_connect::{
    filter::{FilterCondition, FilterOp},
    query::{Condition, DatePart, Measure, Order},
};
use prospector_core::record::ResourceKind;
use prospector_engine::{
    Failure, FailureCode,
    query::{CompiledQuery, Criterion, TableQuery, Within},
};
use serde_json::Value;

use super::StepRunner;
use crate::{
    input::{Input, Inputs},
    record::StepRun,
};

/// So many rows of a step are kept.
pub(super) const MAX_ROWS: usize = 50_000;

impl StepRunner<'_> {
    /// Runs the query of the step, where it has one.
    pub(super) async fn query(&self, step: &Step, inputs: &Inputs, done: &mut StepRun) {
        let given: Vec<&Input> =
            (step.inputs.iter()).filter_map(|name| inputs.find(name)).filter(|input| input.alias.is_some()).collect();
        let tables = self.list_tables(step);
        let outcome = match (tables.is_empty(), given.as_slice()) {
            _ if step.query.is_some() => self.run_verified(step, done).await,
            _ if !step.metrics.is_empty() => self.query_metrics(step, done).await,
            (true, []) => Ok(()),
            (true, given) => self.query_inputs(step, inputs, given, done).await,
            (false, given) => self.query_tables(step, inputs, tables, given, done).await,
        };
        if let Err(failure) = outcome {
            done.fail(failure.code.to_string(), failure.message, failure.suggestion);
        }
    }

    /// The tables of the step, and those of the columns that it computes with.
    fn list_tables(&self, step: &Step) -> Vec<String> {
        let mut tables = step.tables.clone();
        let measured = step.compute.iter().filter_map(|measure| measure.column.clone());
        let compared = step.conditions().filter_map(|filter| {
            let of_groups = Measure::read_aggregate(&filter.column).map(|measure| measure.column);
            of_groups.unwrap_or_else(|| {
                let part = DatePart::read(&filter.column).map(|(_, column)| column.to_owned());
                Some(part.unwrap_or_else(|| filter.column.clone()))
            })
        });
        let grouped = step.group_by.iter().map(|group| group.column.clone());
        let listed = step.columns.iter().filter(|_| step.tables.is_empty()).cloned();
        for name in measured.chain(compared).chain(grouped).chain(listed) {
            let table = self.catalog.resolve(ResourceKind::Column, &name).and_then(|id| {
                let (table, _) = id.rsplit_once('.')?;
                Some(table.to_owned())
            });
            tables.extend(table.filter(|table| !tables.contains(table)));
        }
        tables
    }

    async fn query_tables(
        &self,
        step: &Step,
        inputs: &Inputs,
        mut tables: Vec<String>,
        given: &[&Input],
        done: &mut StepRun,
    ) -> Result<(), Failure> {
        let mut query = self.as_query(step);
        self.cover_days(&mut query, &tables).await;
        // `in` or `not in` with the column of an earlier output.
        let mut within: Vec<(Input, Within)> = Vec::new();
        for condition in &mut query.filter {
            condition.change_singles(&mut |criterion| {
                let Criterion::Compare(filter) = &*criterion else { return };
                if let Some((input, found)) = read_within(filter, inputs) {
                    within.push((input, found.clone()));
                    *criterion = Criterion::Within(found);
                }
            });
        }
        let stated = within.len();
        for input in given {
            let alias = input.alias.clone().unwrap_or_default();
            if names_in(step).any(|name| inputs.find_column(name).is_some_and(|(found, _)| found.alias == input.alias))
                || mentions(step, &alias)
            {
                check_whole(input)?;
                tables.push(alias);
            } else if !within.iter().any(|(known, _)| known.alias == input.alias) {
                if Question::parse(&step.goal).excludes {
                    return Err(unclear_input(&alias));
                }
                match self.find_within(&tables, input) {
                    Some(found) => within.push(((*input).clone(), found)),
                    None => done.notes.push(format!("{alias} shares no key with the tables, and is not used")),
                }
            }
        }
        for (at, (input, found)) in within.into_iter().enumerate() {
            check_whole(&input)?;
            let is = if found.is_excluded { "is not" } else { "is" };
            done.notes.push(format!("{} {is} among {}.{}", found.column, found.alias, found.of));
            // What the plan does not say limits the rows beside what it says.
            if at >= stated {
                query.filter.push(Condition::One(Criterion::Within(found)));
            }
        }
        query.tables = tables;
        self.finish(&query, done).await
    }

    /// Which column of the tables an earlier output selects rows by, where the plan does not say it: a key that both have, or
    /// what the output has the top of.
    fn find_within(&self, tables: &[String], input: &Input) -> Option<Within> {
        let alias = input.alias.clone()?;
        let listed = if input.groups > 0 { input.groups } else { input.columns.len() };
        let mut own = input.columns.iter().take(listed);
        let selects = |table: &String, name: &String| {
            let (database, table) = table.split_once('.')?;
            let database = self.catalog.schema.databases().find(|known| known.name == database)?;
            let table = database.tables.iter().find(|known| known.name == table)?;
            let column = table.column(name)?;
            let refers = table.foreign_keys.iter().any(|key| key.columns.contains(&column.name));
            let is_key = column.primary_key || refers || has_key_name(&column.name);
            (is_key || input.is_selection).then(|| column.name.clone())
        };
        own.find_map(|name| {
            tables.iter().find_map(|table| {
                let column = selects(table, name)?;
                let (column, of) = (format!("{table}.{column}"), name.clone());
                Some(Within { column, alias: alias.clone(), of, is_excluded: false })
            })
        })
    }

    /// The step as a query, without its tables.
    pub(super) fn as_query(&self, step: &Step) -> TableQuery {
        let compare = |filter: &FilterCondition| Condition::One(Criterion::Compare(filter.clone()));
        TableQuery {
            columns: step.columns.clone(),
            compute: step.compute.clone(),
            filter: step.filter.iter().map(|condition| condition.map(&mut |filter| compare(filter))).collect(),
            group_by: step.group_by.clone(),
            order: step.order.clone(),
            limit: step.limit,
            joins: self.catalog.metrics.table_joins(),
            ..TableQuery::default()
        }
    }

    pub(super) async fn finish(&self, query: &TableQuery, done: &mut StepRun) -> Result<(), Failure> {
        let compiled = self.engine.compile(query).await?;
        let Some(limit) = query.limit.filter(|limit| *limit < MAX_ROWS && !query.order.is_empty()) else {
            return self.execute(&compiled, done).await;
        };
        // One row more tells whether the last has others beside it.
        let wider = self.engine.compile(&TableQuery { limit: Some(limit + 1), ..query.clone() }).await?;
        self.execute(&wider, done).await?;
        done.sql = Some(compiled.sql);
        cut_ties(&query.order, limit, done);
        Ok(())
    }

    pub(super) async fn execute(&self, query: &CompiledQuery, done: &mut StepRun) -> Result<(), Failure> {
        done.sql = Some(query.sql.clone());
        done.database.clone_from(&query.database);
        let outcome = self.engine.run(&query.sql, query.database.as_deref(), MAX_ROWS).await?;
        done.tables = outcome.tables;
        done.groups = query.groups;
        done.columns = match outcome.rows.columns.len() == query.columns.len() {
            true => query.columns.clone(),
            false => outcome.rows.columns,
        };
        done.row_count = Some(outcome.rows.rows.len());
        done.has_more = outcome.rows.has_more;
        if done.has_more {
            done.notes.push(format!("only {MAX_ROWS} rows are kept: there are more"));
        }
        done.rows = outcome.rows.rows;
        Ok(())
    }
}

/// An input that a step takes without saying how, where its goal says that something is not so.
fn unclear_input(alias: &str) -> Failure {
    let message = format!("the step takes {alias} and does not say whether its rows are wanted or left out");
    Failure::new(FailureCode::InvalidArguments, message)
        .advise(format!("write `database.table.column in {alias}.column`, or `not in`, among its conditions"))
}

/// The names that a step computes with.
fn names_in(step: &Step) -> impl Iterator<Item = &str> {
    let measured = step.compute.iter().filter_map(|measure| measure.column.as_deref());
    measured
        .chain(step.columns.iter().map(String::as_str))
        .chain(step.conditions().map(|filter| filter.column.as_str()))
        .chain(step.group_by.iter().map(|group| group.column.as_str()))
        .chain(step.order.iter().map(|order| order.by.as_str()))
}

/// Whether an expression of the step, or a condition on groups, names a column of that output.
fn mentions(step: &Step, alias: &str) -> bool {
    let prefix = format!("{alias}.");
    let expressions = step.compute.iter().filter_map(|measure| measure.expression.as_ref());
    let compared = step.conditions().map(|filter| &filter.column);
    let compared = compared.filter(|name| Measure::read_aggregate(name).is_some());
    expressions.chain(compared).any(|text| text.to_lowercase().contains(&prefix))
}

/// What a condition says that compares with the column of an earlier output, and that output.
fn read_within(filter: &FilterCondition, inputs: &Inputs) -> Option<(Input, Within)> {
    let (named, is_excluded) = match (filter.op, &filter.value) {
        (FilterOp::In | FilterOp::Eq, value) => (value.as_str().or(filter.reference()), false),
        (FilterOp::Neq, Value::Object(_)) => (filter.reference(), true),
        (FilterOp::Neq, Value::Array(names)) if names.len() == 1 => (names[0].as_str(), true),
        _ => (None, false),
    };
    let (input, of) = inputs.find_column(named?)?;
    let (column, alias) = (filter.column.clone(), input.alias.clone()?);
    Some((input.clone(), Within { column, alias, of, is_excluded }))
}

/// Whether a name ends in what keys are called by.
fn has_key_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    ["_id", "_code", "_cd", "_key", "_no", "_sku"].iter().any(|end| lower.ends_with(end))
        || lower == "id"
        || lower == "sku"
}

/// Leaves out what is beyond the limit, and says so where it has the same value as the last row that stays.
pub(super) fn cut_ties(order: &[Order], limit: usize, done: &mut StepRun) {
    let Some(beyond) = done.rows.get(limit).cloned() else { return };
    done.rows.truncate(limit);
    done.row_count = Some(limit);
    let (Some(by), Some(last)) = (order.first().map(|order| order.by.as_str()), done.rows.last()) else { return };
    let place = |name: &str| done.columns.iter().position(|own| own.eq_ignore_ascii_case(name));
    let at = place(by).or_else(|| place(by.rsplit('.').next().unwrap_or(by)));
    if let Some(at) = at.filter(|at| last.get(*at) == beyond.get(*at)) {
        let name = &done.columns[at];
        done.notes.push(format!("more rows have the same {name} as the last: the limit of {limit} leaves them out"));
    }
}

/// Whether no rows are missing of what another step uses.
pub(super) fn check_whole(input: &Input) -> Result<(), Failure> {
    if input.is_cut { Err(too_many(input.alias.as_deref().unwrap_or_default())) } else { Ok(()) }
}

pub(super) fn too_many(alias: &str) -> Failure {
    Failure {
        code: FailureCode::TooLarge,
        message: format!(
            "{alias} has more than {MAX_ROWS} rows, and only so many are kept: what is computed over it is wrong"
        ),
        suggestion: Some("give that step a condition, a group or a limit".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_their_ends() {
        assert!(has_key_name("customer_id") && has_key_name("ID") && !has_key_name("paid"));
    }
}

//! What a step computes, as a query over its tables and over what earlier steps left.

use prospector_agent::plan::Step;
use prospector_agent::plan::sense::question::Question;
use prospector_connect::{
    filter::{FilterCondition, FilterOp},
    query::{Condition, DatePart, Measure},
    rows::Rows,
};
use prospector_core::record::ResourceKind;
use prospector_engine::{
    Failure, FailureCode,
    query::{Combination, CombinedColumn, CompiledQuery, Criterion, TableQuery, Within},
};
use serde_json::{Value, json};

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
                if Question::parse(&step.goal).negates {
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

    /// A step without tables of its own: what earlier ones left, side by side, and what is computed over it.
    async fn query_inputs(
        &self,
        step: &Step,
        inputs: &Inputs,
        given: &[&Input],
        done: &mut StepRun,
    ) -> Result<(), Failure> {
        for input in given {
            check_whole(input)?;
        }
        let mut aliases: Vec<String> = Vec::new();
        for alias in given.iter().filter_map(|input| input.alias.clone()) {
            if !aliases.contains(&alias) {
                aliases.push(alias);
            }
        }
        let computes = !step.compute.is_empty()
            || !step.filter.is_empty()
            || !step.group_by.is_empty()
            || !step.order.is_empty()
            || step.limit.is_some();
        let combined = match self.engine.combine(&aliases) {
            Ok(combined) => combined,
            Err(failure) if failure.code == FailureCode::NoJoin && !computes => {
                let told = aliases.join(", ");
                done.notes.push(format!("{told} stand side by side, each a result: {}", failure.message));
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        if !computes {
            self.execute(&combined.query, done).await?;
            // Nothing is asked of a source.
            done.sql = None;
            let rows = std::mem::take(&mut done.rows);
            let noted = note_gaps(&combined, &rows, done);
            done.rows = rows;
            return noted;
        }
        let alias = format!("step_{}_inputs", step.number);
        let rows = self.engine.run(&combined.query.sql, None, MAX_ROWS).await?.rows;
        if rows.has_more {
            return Err(too_many(&alias));
        }
        note_gaps(&combined, &rows.rows, done)?;
        let keys = combined.query.columns.get(..combined.query.groups).unwrap_or_default();
        let rows = Rows { columns: combined.query.columns.clone(), ..rows };
        self.engine.keep(&alias, &rows, keys, &aliases.join(", "))?;
        let mut query = self.as_query(step);
        rename_columns(&mut query, step, inputs, &combined.columns);
        // Rows with what is computed for each stay whole.
        if query.group_by.is_empty() && query.columns.is_empty() {
            query.columns.clone_from(&combined.query.columns);
        }
        query.tables = vec![alias];
        self.finish(&query, done).await
    }

    /// The step as a query, without its tables.
    fn as_query(&self, step: &Step) -> TableQuery {
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

    async fn finish(&self, query: &TableQuery, done: &mut StepRun) -> Result<(), Failure> {
        let compiled = self.engine.compile(query).await?;
        self.execute(&compiled, done).await
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

/// Says how many rows of what stands side by side have no partner.
///
/// # Errors
/// Where none has: nothing can be computed of both.
fn note_gaps(combined: &Combination, rows: &[Vec<Value>], done: &mut StepRun) -> Result<(), Failure> {
    let mut aliases: Vec<&String> = combined.columns.iter().filter_map(|column| column.alias.as_ref()).collect();
    aliases.dedup();
    if aliases.len() < 2 || rows.is_empty() {
        return Ok(());
    }
    let places = |alias: &String| -> Vec<usize> {
        let own = combined.columns.iter().enumerate().filter(|(_, column)| column.alias.as_ref() == Some(alias));
        own.map(|(at, _)| at).collect()
    };
    let lacks = |row: &Vec<Value>, places: &[usize]| places.iter().all(|at| row.get(*at).is_none_or(Value::is_null));
    let all: Vec<(&String, Vec<usize>)> = aliases.into_iter().map(|alias| (alias, places(alias))).collect();
    if rows.iter().all(|row| all.iter().any(|(_, places)| lacks(row, places))) {
        let names: Vec<&str> = all.iter().map(|(alias, _)| alias.as_str()).collect();
        return Err(Failure::new(FailureCode::NoJoin, format!("no group of {} is in all of them", names.join(", ")))
            .advise("group them by the same values, or compare them in words"));
    }
    for (alias, places) in &all {
        let missing = rows.iter().filter(|row| lacks(row, places)).count();
        if missing > 0 {
            done.notes.push(format!("{missing} of {} rows have nothing of {alias}", rows.len()));
        }
    }
    Ok(())
}

/// Calls the columns of earlier outputs as they are called side by side.
fn rename_columns(query: &mut TableQuery, step: &Step, inputs: &Inputs, columns: &[CombinedColumn]) {
    let rename = |name: &mut String| {
        let Some((input, column)) = inputs.find_column(name) else { return };
        let own = columns
            .iter()
            .find(|own| own.of.eq_ignore_ascii_case(&column) && (own.alias.is_none() || own.alias == input.alias));
        if let Some(own) = own {
            name.clone_from(&own.name);
        }
    };
    let rename_all = |text: &mut String| {
        // The longest first, so that no name is taken for the beginning of another.
        let mut sorted: Vec<_> = columns.iter().collect();
        sorted.sort_by_key(|column| std::cmp::Reverse(column.of.len()));
        for column in sorted {
            let from = column.alias.clone().into_iter().chain(step.inputs.iter().cloned());
            for output in from.filter(|name| {
                column.alias.is_none() || inputs.find(name).is_some_and(|input| input.alias == column.alias)
            }) {
                *text = replace_name(text, &format!("{output}.{}", column.of), &column.name);
            }
        }
    };
    query.columns.iter_mut().for_each(rename);
    let rename_filter = |filter: &mut FilterCondition| {
        if Measure::read_aggregate(&filter.column).is_some() {
            rename_all(&mut filter.column);
        } else if let Some((part, inner)) = DatePart::read(&filter.column) {
            let mut column = inner.to_owned();
            rename(&mut column);
            filter.column = format!("{}({column})", part.as_str());
        } else {
            rename(&mut filter.column);
        }
        if let Some(mut other) = filter.reference().map(str::to_owned) {
            rename(&mut other);
            filter.value = json!({"column": other});
        }
    };
    for condition in &mut query.filter {
        condition.change_singles(&mut |criterion| match criterion {
            Criterion::Compare(filter) => rename_filter(filter),
            Criterion::Within(_) => {}
        });
    }
    query.group_by.iter_mut().for_each(|group| rename(&mut group.column));
    for order in &mut query.order {
        rename(&mut order.by);
        // `month` of `invoice_date_month`
        let (is_there, end) =
            (|name: &str| name.eq_ignore_ascii_case(&order.by), format!("_{}", order.by.to_lowercase()));
        let is_computed = step.compute.iter().filter_map(|measure| measure.name.as_deref()).any(is_there);
        let mut ending = columns.iter().filter(|own| own.name.to_lowercase().ends_with(&end));
        if !is_computed
            && !columns.iter().any(|own| is_there(&own.name))
            && let (Some(only), None) = (ending.next(), ending.next())
        {
            order.by.clone_from(&only.name);
        }
    }
    for measure in &mut query.compute {
        measure.column.iter_mut().for_each(rename);
        measure.expression.iter_mut().for_each(rename_all);
    }
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

/// The text with a name in the place of another, where that stands alone.
fn replace_name(text: &str, from: &str, to: &str) -> String {
    // Letters of ASCII alone, whose places are those of the text.
    let (lower, from) = (text.to_ascii_lowercase(), from.to_ascii_lowercase());
    let (mut made, mut at) = (String::new(), 0);
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    while let Some(found) = lower[at..].find(&from) {
        let (start, end) = (at + found, at + found + from.len());
        let is_whole = !text[..start].ends_with(is_part) && !text[end..].starts_with(is_part);
        made += &text[at..start];
        if is_whole {
            made += &format!("\"{}\"", to.replace('"', "\"\""));
        } else {
            made += &text[start..end];
        }
        at = end;
    }
    made + &text[at..]
}

/// Whether a name ends in what keys are called by.
fn has_key_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    ["_id", "_code", "_cd", "_key", "_no", "_sku"].iter().any(|end| lower.ends_with(end))
        || lower == "id"
        || lower == "sku"
}

/// Whether no rows are missing of what another step uses.
fn check_whole(input: &Input) -> Result<(), Failure> {
    if input.is_cut { Err(too_many(input.alias.as_deref().unwrap_or_default())) } else { Ok(()) }
}

fn too_many(alias: &str) -> Failure {
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
    fn only_whole_names_are_replaced() {
        let made = replace_name("step_1_results.total / step_1_results.total_2", "step_1_results.total", "a total");
        assert_eq!(made, "\"a total\" / step_1_results.total_2");
    }

    #[test]
    fn keys_are_known_by_their_ends() {
        assert!(has_key_name("customer_id") && has_key_name("ID") && !has_key_name("paid"));
    }
}

//! A step without tables of its own: what earlier steps left stands side by side, and the step computes over it.

use std::collections::HashSet;

use prospector_agent::plan::Step;
use prospector_connect::{
    filter::{FilterCondition, FilterOp},
    query::{Condition, DatePart, Measure},
    rows::Rows,
};
use prospector_engine::{
    Failure, FailureCode,
    query::{Combination, CombinedColumn, Criterion, KeptColumn, TableQuery},
};
use prospector_semantics::model::MetricKind;
use serde_json::{Value, json};

use super::{
    StepRunner,
    days::{cover, is_time},
    query::{MAX_ROWS, check_whole, too_many},
};
use crate::{
    input::{Input, Inputs},
    record::StepRun,
};

/// So many sums and counts of an expression are counted as 0 where they have no rows.
const MAX_TERMS: usize = 8;

impl StepRunner<'_> {
    /// What earlier steps left, side by side, and what is computed over it.
    pub(super) async fn query_inputs(
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
        let combined = match self.engine.combine(&aliases, &list_equal(step, inputs)) {
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
        self.query_combined(step, inputs, combined, &aliases, done).await
    }

    /// What the step computes over rows that stand side by side.
    async fn query_combined(
        &self,
        step: &Step,
        inputs: &Inputs,
        mut combined: Combination,
        aliases: &[String],
        done: &mut StepRun,
    ) -> Result<(), Failure> {
        let alias = format!("step_{}_inputs", step.number);
        let rows = self.engine.run(&combined.query.sql, None, MAX_ROWS).await?.rows;
        if rows.has_more {
            return Err(too_many(&alias));
        }
        let told = done.notes.len();
        note_gaps(&combined, &rows.rows, done)?;
        let has_gaps = done.notes.len() > told;
        let mut query = self.as_query(step);
        // What is computed of each row groups nothing: its groups are columns.
        let is_of_rows = !query.group_by.is_empty() && !query.compute.is_empty() && !query.aggregates();
        if is_of_rows {
            name_groups(&mut combined, step, inputs);
        }
        let keys = combined.query.columns.get(..combined.query.groups).unwrap_or_default();
        let rows = Rows { columns: combined.query.columns.clone(), ..rows };
        self.engine.keep(&alias, &rows, keys, &aliases.join(", "))?;
        rename_columns(&mut query, step, inputs, &combined.columns);
        cover_times(&mut query, &combined, &rows.rows);
        if let Some(pair) = drop_pairs(&mut query).first() {
            let count = rows.rows.len();
            for (alias, size) in combined.sizes.iter().filter(|(_, size)| *size > count) {
                let left_out = size - count;
                done.notes.push(format!(
                    "{left_out} of {size} rows of {alias} have no partner by `{pair}`: they are left out"
                ));
            }
        }
        if has_gaps && count_gaps(&mut query, &self.list_totals(step, inputs, &combined.columns)) {
            done.notes.push("in what is added up, a sum or a count without rows is 0".to_owned());
        }
        let mut groups = None;
        if is_of_rows {
            groups = Some(list_groups(&mut query, &combined, &rows.rows)?);
        } else if query.group_by.is_empty() && query.columns.is_empty() {
            // Rows with what is computed for each stay whole.
            query.columns.clone_from(&combined.query.columns);
        }
        query.tables = vec![alias];
        self.finish(&query, done).await?;
        done.groups = groups.unwrap_or(done.groups);
        Ok(())
    }

    /// The columns that are sums or counts of earlier steps.
    fn list_totals<'c>(&self, step: &Step, inputs: &Inputs, columns: &'c [CombinedColumn]) -> Vec<&'c str> {
        let is_named = |names: &[String], name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let is_metric = |name: &str| match self.catalog.metrics.metric(name).map(|metric| &metric.kind) {
            Some(MetricKind::Simple(measure)) => measure.aggregation.is_total() && measure.semi_additive.is_none(),
            Some(_) | None => false,
        };
        let is_total = |from: &KeptColumn| {
            let own = step.inputs.iter().filter_map(|name| inputs.find(name));
            let mut own = own.filter(|input| input.alias.as_ref() == Some(&from.alias));
            own.any(|input| {
                is_named(&input.totals, &from.column)
                    || is_named(&input.metrics, &from.column) && is_metric(&from.column)
            })
        };
        let totals = columns.iter().filter(|column| !column.is_key && column.from.first().is_some_and(is_total));
        totals.map(|column| column.name.as_str()).collect()
    }
}

/// Takes whole days in conditions as all of their times where these rows hold times.
fn cover_times(query: &mut TableQuery, combined: &Combination, rows: &[Vec<Value>]) {
    let place = |name: &str| combined.query.columns.iter().position(|own| own.eq_ignore_ascii_case(name));
    let holds_times =
        |name: &str| place(name).is_some_and(|at| rows.iter().any(|row| row.get(at).is_some_and(is_time)));
    cover(&mut query.filter, &holds_times);
}

/// Takes a sum or a count without rows as 0 in what is added up or taken away, as metrics do: nothing is known only where none of
/// them has rows. Says whether there is such a thing.
fn count_gaps(query: &mut TableQuery, totals: &[&str]) -> bool {
    let mut is_counted = false;
    for text in query.compute.iter_mut().filter_map(|measure| measure.expression.as_mut()) {
        let names = totals.iter().map(|name| quote(name));
        let named: Vec<String> = names.filter(|name| text.contains(name.as_str())).collect();
        if !(2..=MAX_TERMS).contains(&named.len()) || text.contains(['*', '/']) {
            continue;
        }
        let mark = |at: usize| format!("\u{0}{at}\u{0}");
        for (at, name) in named.iter().enumerate() {
            *text = text.replace(name, &mark(at));
        }
        for (at, name) in named.iter().enumerate() {
            // 0 where another is known.
            let others = named.iter().filter(|other| *other != name).map(|other| format!("0 * {other}"));
            let filled = format!("coalesce({name}, {})", others.collect::<Vec<_>>().join(", "));
            *text = text.replace(&mark(at), &filled);
        }
        is_counted = true;
    }
    is_counted
}

/// The columns of two outputs that a condition of the step equates.
fn list_equal(step: &Step, inputs: &Inputs) -> Vec<(KeptColumn, KeptColumn)> {
    let kept = |name: &str| {
        let (input, column) = inputs.find_column(name)?;
        Some(KeptColumn { alias: input.alias.clone()?, column })
    };
    let equal = |condition: &Condition| {
        // Of alternatives, none has to be met.
        let Condition::One(filter) = condition else { return None };
        let (one, other) = (kept(&filter.column)?, kept(other_column(filter)?)?);
        (filter.op == FilterOp::Eq && one.alias != other.alias).then_some((one, other))
    };
    step.filter.iter().filter_map(equal).collect()
}

/// The column that a condition compares with, also where it is written as a text; whether there is one is not looked at.
fn other_column(filter: &FilterCondition) -> Option<&str> {
    filter.reference().or_else(|| filter.value.as_str())
}

/// Gives columns that the step groups by the names that it has for them.
fn name_groups(combined: &mut Combination, step: &Step, inputs: &Inputs) {
    for group in &step.group_by {
        let (Some(name), Some((input, column))) = (&group.name, inputs.find_column(&group.column)) else { continue };
        let alias = input.alias.as_deref().unwrap_or_default();
        if let Some(at) = combined.columns.iter().position(|own| own.is_from(alias, &column)) {
            combined.columns[at].name.clone_from(name);
            combined.query.columns[at].clone_from(name);
        }
    }
}

/// Takes the groups of a query over these rows as columns of them; returns how many they are.
///
/// # Errors
/// Groups that hold several of the rows.
fn list_groups(query: &mut TableQuery, combined: &Combination, rows: &[Vec<Value>]) -> Result<usize, Failure> {
    let place = |name: &String| combined.query.columns.iter().position(|own| own.eq_ignore_ascii_case(name));
    let mut names: Vec<String> = Vec::new();
    for group in &query.group_by {
        if !names.iter().any(|known| known.eq_ignore_ascii_case(&group.column)) {
            names.push(group.column.clone());
        }
    }
    // What is no column is told where the query is written.
    if let Some(places) = names.iter().map(place).collect::<Option<Vec<usize>>>() {
        let missing: Vec<&CombinedColumn> = (combined.columns.iter().enumerate())
            .filter(|(at, column)| column.is_key && !places.contains(at))
            .map(|(_, column)| column)
            .collect();
        let has_keys = combined.query.groups > 0 && missing.is_empty();
        let mut known = HashSet::new();
        let key = |row: &Vec<Value>| json!(places.iter().map(|at| row.get(*at)).collect::<Vec<_>>()).to_string();
        let is_apart = has_keys || rows.iter().all(|row| known.insert(key(row)));
        if !is_apart || query.group_by.iter().any(|group| group.part.is_some()) {
            return Err(rows_in_groups(query, &missing));
        }
    }
    let groups = names.len();
    let listed = std::mem::take(&mut query.columns);
    names.extend(listed.into_iter().filter(|name| !query.group_by.iter().any(|group| group.column == *name)));
    (query.columns, query.group_by) = (names, Vec::new());
    Ok(groups)
}

fn rows_in_groups(query: &TableQuery, missing: &[&CombinedColumn]) -> Failure {
    let groups: Vec<String> = (query.group_by.iter())
        .map(|group| match group.part {
            Some(part) => format!("{}({})", part.as_str(), group.column),
            None => group.column.clone(),
        })
        .collect();
    let computed = query.compute.iter().find_map(|measure| measure.name.clone().or_else(|| measure.expression.clone()));
    let also: Vec<String> = (missing.iter().filter_map(|column| column.from.first()))
        .map(|from| format!("{}.{}", from.alias, from.column))
        .collect();
    let message = format!(
        "`{}` is computed of each row, and several rows have the same {}",
        computed.unwrap_or_default(),
        groups.join(", ")
    );
    let of_groups = "compute it of the rows of each group, as `sum(step_1_results.a) / sum(step_2_results.b)`";
    Failure::new(FailureCode::InvalidArguments, message).advise(match also.as_slice() {
        [] => of_groups.to_owned(),
        also => format!("group by {} too, or {of_groups}", also.join(", ")),
    })
}

/// Takes conditions out that compare a column with itself: the two of which the plan speaks stand side by side as one. Returns what
/// that is called.
fn drop_pairs(query: &mut TableQuery) -> Vec<String> {
    let mut pairs = Vec::new();
    query.filter.retain(|condition| match condition {
        Condition::One(Criterion::Compare(filter))
            if filter.op == FilterOp::Eq
                && filter.reference().is_some_and(|other| other.eq_ignore_ascii_case(&filter.column)) =>
        {
            pairs.push(filter.column.clone());
            false
        }
        _ => true,
    });
    pairs
}

/// Says how many rows of what stands side by side have no partner.
///
/// # Errors
/// Where none has: nothing can be computed of both.
fn note_gaps(combined: &Combination, rows: &[Vec<Value>], done: &mut StepRun) -> Result<(), Failure> {
    let owner = |column: &CombinedColumn| {
        let first = column.from.first().filter(|_| !column.is_key);
        first.map(|from| from.alias.clone())
    };
    let mut aliases: Vec<String> = combined.columns.iter().filter_map(owner).collect();
    aliases.dedup();
    if aliases.len() < 2 || rows.is_empty() {
        return Ok(());
    }
    let places = |alias: &String| -> Vec<usize> {
        let own = combined.columns.iter().enumerate().filter(|(_, column)| owner(column).as_ref() == Some(alias));
        own.map(|(at, _)| at).collect()
    };
    let lacks = |row: &Vec<Value>, places: &[usize]| places.iter().all(|at| row.get(*at).is_none_or(Value::is_null));
    let all: Vec<(&String, Vec<usize>)> = aliases.iter().map(|alias| (alias, places(alias))).collect();
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
        let alias = input.alias.as_deref().unwrap_or_default();
        if let Some(own) = columns.iter().find(|own| own.is_from(alias, &column)) {
            name.clone_from(&own.name);
        }
    };
    let rename_all = |text: &mut String| {
        // The longest first, so that no name is taken for the beginning of another.
        let mut sorted: Vec<(&CombinedColumn, &KeptColumn)> =
            columns.iter().flat_map(|column| column.from.iter().map(move |from| (column, from))).collect();
        sorted.sort_by_key(|(_, from)| std::cmp::Reverse(from.column.len()));
        for (column, from) in sorted {
            let is_of =
                |name: &&String| inputs.find(name).is_some_and(|input| input.alias.as_ref() == Some(&from.alias));
            for output in std::iter::once(&from.alias).chain(step.inputs.iter().filter(is_of)) {
                *text = replace_name(text, &format!("{output}.{}", from.column), &column.name);
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
        let is_column = |name: &&str| filter.reference().is_some() || inputs.find_column(name).is_some();
        if let Some(mut other) = other_column(filter).filter(is_column).map(str::to_owned) {
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

/// A name as expressions have it.
fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
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
            made += &quote(to);
        } else {
            made += &text[start..end];
        }
        at = end;
    }
    made + &text[at..]
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
    fn sums_without_rows_are_0_in_what_is_added_up() {
        let check = |text: &str, expected: &str| {
            let measure = Measure { expression: Some(text.to_owned()), ..Measure::default() };
            let mut query = TableQuery { compute: vec![measure], ..TableQuery::default() };
            let is_counted = count_gaps(&mut query, &["a", "b"]);
            assert_eq!(query.compute[0].expression.as_deref(), Some(expected));
            assert_eq!(is_counted, text != expected, "{text}");
        };
        check("\"a\" - \"b\"", "coalesce(\"a\", 0 * \"b\") - coalesce(\"b\", 0 * \"a\")");
        check("sum(\"a\" + \"b\")", "sum(coalesce(\"a\", 0 * \"b\") + coalesce(\"b\", 0 * \"a\"))");
        check("\"a\" / \"b\"", "\"a\" / \"b\"");
        check("\"a\" - \"mean\"", "\"a\" - \"mean\"");
    }
}

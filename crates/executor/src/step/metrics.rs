//! A step that names metrics: what they mean says how they are computed.

use std::collections::HashSet;

use prospector_agent::plan::Step;
use prospector_connect::query::{DatePart, Group};
use prospector_engine::query::aggregate::Grain;
use prospector_engine::{Failure, FailureCode};
use prospector_semantics::TIME;
use serde_json::{Value, json};

use super::{
    StepRunner,
    query::{MAX_ROWS, cut_ties},
};
use crate::record::StepRun;

impl StepRunner<'_> {
    /// Computes the metrics of a step; its conditions, groups and order are over their dimensions.
    pub(super) async fn query_metrics(&self, step: &Step, done: &mut StepRun) -> Result<(), Failure> {
        let mut query = step.metric_query().ok_or_else(|| {
            Failure::new(FailureCode::InvalidArguments, "alternatives over metrics are values of one dimension")
                .advise("make a step of each other alternative")
        })?;
        self.cover_filters(step, &mut query.filters).await;
        let (compiled, _) = self.catalog.metrics.compile(self.engine, &query)?;
        match query.limit.filter(|limit| *limit < MAX_ROWS && !query.order.is_empty()) {
            Some(limit) => {
                query.limit = Some(limit + 1);
                let (wider, _) = self.catalog.metrics.compile(self.engine, &query)?;
                self.execute(&wider, done).await?;
                done.sql = Some(compiled.sql);
                cut_ties(&query.order, limit, done);
            }
            None => self.execute(&compiled, done).await?,
        }
        // The time that metrics have is the last of the groups.
        let last = done.groups.saturating_sub(1);
        let is_period = |name: &str| Grain::find(name).is_some() && self.catalog.metrics.dimension(name).is_none();
        let (times, dimensions): (Vec<&Group>, Vec<&Group>) = step.group_by.iter().partition(|group| {
            group.column.eq_ignore_ascii_case(TIME) || (group.part.is_none() && is_period(&group.column))
        });
        let places = dimensions.into_iter().enumerate().chain(times.into_iter().take(1).map(|time| (last, time)));
        for (at, group) in places {
            if let Some(part) = group.part {
                number_parts(part, at, done)?;
            }
            let name = group.name.clone().or_else(|| bare_name(group).filter(|name| !is_taken(name, at, done)));
            if let (Some(name), Some(column)) = (name, done.columns.get_mut(at)) {
                *column = name;
            }
        }
        Ok(())
    }
}

/// What a column of a table is called where the step groups by it, as steps over tables have it.
fn bare_name(group: &Group) -> Option<String> {
    let (_, bare) = group.column.rsplit_once('.')?;
    group.part.is_none().then(|| bare.to_owned())
}

/// Whether another column has that name.
fn is_taken(name: &str, at: usize, done: &StepRun) -> bool {
    done.columns.iter().enumerate().any(|(place, column)| place != at && column.eq_ignore_ascii_case(name))
}

/// Writes the part of a date in the place of the period that has it, as steps over tables have it: 12 for `2025-12`.
///
/// # Errors
/// Periods of several years, which the part does not tell apart: what is computed of each does not add up.
fn number_parts(part: DatePart, at: usize, done: &mut StepRun) -> Result<(), Failure> {
    if !part.is_number() {
        return Ok(());
    }
    for row in &mut done.rows {
        if let Some(period) = row.get_mut(at)
            && let Some(number) = read_part(period)
        {
            *period = number;
        }
    }
    let mut known = HashSet::new();
    if done.rows.iter().all(|row| known.insert(json!(row.get(..done.groups)).to_string())) {
        return Ok(());
    }
    (done.row_count, done.rows) = (None, Vec::new());
    let message = format!("the metrics are of several years, and {} does not tell these apart", part.as_str());
    let advice = match part {
        DatePart::Quarter => "group by year_quarter(..), or limit the step to one year",
        DatePart::Month => "group by year_month(..), or limit the step to one year",
        _ => "group by date(..), or limit the step to one month",
    };
    Err(Failure::new(FailureCode::InvalidArguments, message).advise(advice))
}

/// The last number of a period: of `2025-12`, `2025-Q4`, `2025-12-31`.
fn read_part(period: &Value) -> Option<Value> {
    let last = period.as_str()?.rsplit(['-', 'Q']).next()?;
    last.parse::<u64>().ok().map(Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(periods: &[&str]) -> StepRun {
        let rows: Vec<Vec<Value>> = periods.iter().map(|period| vec![json!(period), json!(1)]).collect();
        StepRun { row_count: Some(rows.len()), rows, groups: 1, ..StepRun::default() }
    }

    #[test]
    fn a_part_of_a_date_is_a_number() {
        let mut done = run(&["2025-Q1", "2025-Q4"]);
        number_parts(DatePart::Quarter, 0, &mut done).unwrap();
        assert_eq!(json!(done.rows), json!([[1, 1], [4, 1]]));
        let mut done = run(&["2025-03"]);
        number_parts(DatePart::YearMonth, 0, &mut done).unwrap();
        assert_eq!(json!(done.rows), json!([["2025-03", 1]]));
        let mut done = run(&["2024-12", "2025-12"]);
        let refused = number_parts(DatePart::Month, 0, &mut done).unwrap_err().to_string();
        assert!(refused.contains("year_month(..)") && !done.has_rows(), "{refused}");
    }
}

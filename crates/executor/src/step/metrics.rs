//! A step that names metrics: what they mean says how they are computed.

use prospector_agent::plan::Step;
use prospector_connect::query::{DatePart, Group};
use prospector_engine::Failure;
use prospector_engine::query::aggregate::Grain;
use prospector_semantics::{MetricQuery, TIME};

use super::StepRunner;
use crate::record::StepRun;

impl StepRunner<'_> {
    /// Computes the metrics of a step; its conditions, groups and order are over their dimensions.
    pub(super) async fn query_metrics(&self, step: &Step, done: &mut StepRun) -> Result<(), Failure> {
        let query = MetricQuery {
            metrics: step.metrics.clone(),
            dimensions: step.group_by.iter().map(name_dimension).collect(),
            filters: step.filter.clone(),
            grain: None,
            order: step.order.clone(),
            limit: step.limit,
            ties: false,
        };
        let (compiled, _) = self.catalog.metrics.compile(self.engine, &query)?;
        self.execute(&compiled, done).await
    }
}

/// A group as a dimension: `month(time)` is the month of each metric.
fn name_dimension(group: &Group) -> String {
    let grain = group.part.and_then(|part| match part {
        DatePart::Year => Some(Grain::Year),
        DatePart::Quarter | DatePart::YearQuarter => Some(Grain::Quarter),
        DatePart::Month | DatePart::YearMonth => Some(Grain::Month),
        DatePart::Day | DatePart::Date => Some(Grain::Day),
        DatePart::Weekday | DatePart::Hour => None,
    });
    match grain {
        Some(grain) if group.column.eq_ignore_ascii_case(TIME) => grain.as_str().to_owned(),
        Some(grain) => format!("{grain}({})", group.column),
        None => group.column.clone(),
    }
}

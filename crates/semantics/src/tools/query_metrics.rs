//! `query_metrics`

use std::sync::Arc;

use prospector_connect::rows::Rows;
use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tool::finding::QueryFinding;
use prospector_core::tool::{Effect, Part, Tool, ToolError, ToolOutput};
use prospector_engine::Engine;
use prospector_engine::query::QueryAnswer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Metric;
use crate::{MetricQuery, SemanticModel, ValueIndex};

pub(super) struct QueryMetrics {
    pub(super) model: Arc<SemanticModel>,
    pub(super) engine: Arc<Engine>,
    pub(super) values: Arc<dyn ValueIndex>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    #[serde(flatten)]
    query: MetricQuery,
    /// In place of all of these: a question in words. It is computed only where every word of it is understood.
    #[serde(default)]
    question: Option<String>,
    /// Only the SQL; nothing is run.
    #[serde(default)]
    dry_run: bool,
}

/// What a metric of an answer means.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct CitedMetric {
    metric: String,
    definition: String,
    /// Where its definition stands.
    #[serde(skip_serializing_if = "String::is_empty")]
    source: String,
    /// Where it is declared.
    declared: String,
}

/// The answer, or the SQL of it.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum MetricAnswer {
    Run {
        #[serde(flatten)]
        answer: QueryAnswer,
        metrics: Vec<CitedMetric>,
        /// What a question in words was read as.
        #[serde(skip_serializing_if = "Option::is_none")]
        read_as: Option<MetricQuery>,
    },
    Planned {
        /// The database that it would run in; none where it is over several.
        #[serde(skip_serializing_if = "Option::is_none")]
        database: Option<String>,
        sql: String,
        columns: Vec<String>,
        metrics: Vec<CitedMetric>,
        #[serde(skip_serializing_if = "Option::is_none")]
        read_as: Option<MetricQuery>,
    },
}

impl Tool for QueryMetrics {
    const NAME: &'static str = "query_metrics";
    const DESCRIPTION: &'static str = "Computes declared metrics, by dimensions and periods. The first choice for any figure \
        that a metric is declared for: joins, filters and double counting are taken care of.";
    const MORE: &'static str = "ask for fewer dimensions or a limit, or call again with a larger max_tokens";
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = MetricAnswer;

    async fn call(&self, Args { query, question, dry_run }: Args) -> Result<MetricAnswer, ToolError> {
        let read_as = match &question {
            Some(question) => Some(self.read(question, &query).await?),
            None => None,
        };
        let query = read_as.clone().unwrap_or(query);
        let (compiled, metrics) = self.model.compile(&self.engine, &query)?;
        let cited = metrics.iter().map(|metric| self.cite(metric)).collect();
        if dry_run {
            let (database, sql, columns) = (compiled.database, compiled.sql, compiled.columns);
            return Ok(MetricAnswer::Planned { database, sql, columns, metrics: cited, read_as });
        }
        let shape = |rows: &mut Rows| {
            if rows.columns.len() == compiled.columns.len() {
                rows.columns.clone_from(&compiled.columns);
            }
            round(rows, &metrics);
        };
        let (question, database) = (question.unwrap_or_else(|| query.describe()), compiled.database.as_deref());
        let answer = self.engine.answer(&question, &compiled.sql, database, shape).await;
        match answer.failure() {
            Some(failure) => Err(failure.clone().into()),
            None => Ok(MetricAnswer::Run { answer, metrics: cited, read_as }),
        }
    }
}

impl QueryMetrics {
    /// What a question in words asks for.
    async fn read(&self, question: &str, beside: &MetricQuery) -> Result<MetricQuery, ToolError> {
        if *beside != MetricQuery::default() {
            let advice = "leave `question` out, or everything else".to_owned();
            return Err(ToolError::invalid("a question in words stands alone", Some(advice)));
        }
        let values = self.values.find(question).await;
        self.model.read_question(question, &values).map_err(|error| {
            ToolError::invalid(error.to_string(), Some("name `metrics`, `dimensions` and `filters` instead".to_owned()))
        })
    }

    fn cite(&self, metric: &Metric) -> CitedMetric {
        CitedMetric {
            metric: metric.name.clone(),
            definition: self.model.define(metric),
            source: metric.source.clone(),
            declared: metric.place.clone(),
        }
    }
}

/// Cuts the digits that a format does not show: sums of binary fractions have some that mean nothing.
fn round(rows: &mut Rows, metrics: &[&Metric]) {
    for (at, column) in rows.columns.iter().enumerate() {
        let format = metrics.iter().find(|metric| metric.name == *column).map_or("", |metric| metric.format.as_str());
        let Some(digits) = count_digits(format) else { continue };
        for row in &mut rows.rows {
            if let Some(Value::Number(number)) = row.get(at)
                && let Some(number) = number.as_f64().filter(|_| !number.is_i64() && !number.is_u64())
            {
                let scale = 10_f64.powi(digits);
                row[at] = ((number * scale).round() / scale).into();
            }
        }
    }
}

/// How many digits behind the point a format shows: two for `0.00`, three for `0.0%`.
fn count_digits(format: &str) -> Option<i32> {
    if !format.contains('0') {
        return None;
    }
    let behind = format.rsplit_once('.').map_or("", |(_, behind)| behind);
    let digits = behind.chars().take_while(|c| matches!(c, '0' | '#')).count();
    Some(i32::try_from(digits).unwrap_or(0) + if format.contains('%') { 2 } else { 0 })
}

impl MetricAnswer {
    fn metrics(&self) -> &[CitedMetric] {
        match self {
            MetricAnswer::Run { metrics, .. } | MetricAnswer::Planned { metrics, .. } => metrics,
        }
    }
}

impl ToolOutput for MetricAnswer {
    fn reveals(&self) -> Vec<Resource> {
        let metrics = self.metrics().iter().map(|cited| Resource::new(ResourceKind::Metric, &cited.metric));
        let tables = match self {
            MetricAnswer::Run { answer, .. } => answer.reveals(),
            MetricAnswer::Planned { .. } => Vec::new(),
        };
        metrics.chain(tables).collect()
    }

    fn queries(&mut self) -> Vec<QueryFinding<'_>> {
        match self {
            MetricAnswer::Run { answer, .. } => answer.queries(),
            MetricAnswer::Planned { .. } => Vec::new(),
        }
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        match self {
            MetricAnswer::Run { answer, .. } => answer.parts(),
            MetricAnswer::Planned { sql, .. } => vec![("sql", Part::Text(sql))],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: &str, expected: Option<i32>) {
        assert_eq!(count_digits(format), expected, "{format}");
    }

    #[test]
    fn a_format_says_how_many_digits_are_shown() {
        check("", None);
        check("0", Some(0));
        check("#,##0.00", Some(2));
        check("0.0%", Some(3));
        check("currency", None);
    }
}

//! `query_metrics`

use std::collections::BTreeSet;
use std::sync::Arc;

use prospector_connect::filter::FilterOp;
use prospector_connect::query::Aggregation;
use prospector_connect::rows::Rows;
use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tool::finding::QueryFinding;
use prospector_core::tool::{Effect, Part, Tool, ToolError, ToolOutput};
use prospector_engine::Engine;
use prospector_engine::query::QueryAnswer;
use prospector_engine::query::aggregate::{Aggregate, AggregateQuery, Formula, OutputColumn, OverTime};
use prospector_text::periods;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{Metric, Segment, short_place};
use crate::reading::{DefinedTerm, Glossary, ReadError, Reading};
use crate::{MetricQuery, SemanticModel, Tables};

pub(super) struct QueryMetrics {
    pub(super) model: Arc<SemanticModel>,
    pub(super) engine: Arc<Engine>,
    pub(super) glossary: Arc<dyn Glossary>,
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

/// What a metric or a segment of an answer means.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct CitedMetric {
    metric: String,
    definition: String,
    /// Where its definition stands.
    #[serde(skip_serializing_if = "String::is_empty")]
    source: String,
    /// Where it is declared; nowhere, where a question implies it.
    #[serde(skip_serializing_if = "String::is_empty")]
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
        /// The tables that it would read.
        tables: Vec<String>,
        metrics: Vec<CitedMetric>,
        #[serde(skip_serializing_if = "Option::is_none")]
        read_as: Option<MetricQuery>,
        /// Whether `read_as` is over declared metrics and dimensions alone.
        declared: bool,
    },
}

impl Tool for QueryMetrics {
    const NAME: &'static str = "query_metrics";
    const DESCRIPTION: &'static str = "Computes declared metrics, by dimensions, periods and segments. The first choice for any figure \
        that a metric is declared for: joins, filters and double counting are taken care of.";
    const MORE: &'static str = "ask for fewer dimensions or a limit, or call again with a larger max_tokens";
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = MetricAnswer;

    async fn call(&self, Args { query, question, dry_run }: Args) -> Result<MetricAnswer, ToolError> {
        let (model, query) = match &question {
            Some(question) => self.read(question, &query).await?,
            None => (self.model.clone(), query),
        };
        let read_as = question.is_some().then(|| query.clone());
        let (compiled, metrics) = model.compile(&self.engine, &query)?;
        let segments = model.list_segments(&query).into_iter().map(|segment| cite_segment(&model, segment));
        let cited = metrics.iter().map(|metric| cite(&model, metric)).chain(segments).collect();
        if dry_run {
            let (database, sql, columns) = (compiled.database, compiled.sql, compiled.columns);
            let inspected = self.engine.inspect(&sql, database.as_deref()).await;
            let tables = inspected.map(|found| found.tables).unwrap_or_default();
            let declared = self.model.plan(&query).is_ok();
            return Ok(MetricAnswer::Planned { database, sql, columns, tables, metrics: cited, read_as, declared });
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
    /// What a question in words asks for: declared metrics where it names some, or else what its tables hold.
    async fn read(&self, question: &str, beside: &MetricQuery) -> Result<(Arc<SemanticModel>, MetricQuery), ToolError> {
        if *beside != MetricQuery::default() {
            let advice = "leave `question` out, or everything else".to_owned();
            return Err(ToolError::invalid("a question in words stands alone", Some(advice)));
        }
        let vocabulary = self.glossary.find(question).await;
        let tables = self.engine.sources().iter().map(|source| Tables {
            database: &source.name,
            dialect: source.dialect(),
            tables: &source.tables,
        });
        let tables: Vec<Tables<'_>> = tables.collect();
        let declared = match self.model.read_question(question, &vocabulary.values, &tables) {
            Ok(reading) => {
                let (model, query) = self.choose(question, reading)?;
                self.check_periods(&model, &query).await?;
                return Ok((model, query));
            }
            Err(error) => error,
        };
        let read = self.model.read_tables(question, &vocabulary, &tables);
        let defined = self.glossary.define(question).await;
        let is_applied = |one: &DefinedTerm| read.as_ref().is_ok_and(|reading| reading.applies(&one.definition));
        let defined = defined.iter().find(|one| one.is_in(question) && !is_applied(one));
        if let Some(DefinedTerm { term, definition, source }) = defined {
            let message = format!(
                "`{term}` is defined as \"{definition}\" ({source}), and no metric or verified query computes it"
            );
            return Err(ToolError::invalid(message, None));
        }
        let reading = read.map_err(|error| explain(declared.nearer(error)))?;
        self.check_periods(&reading.model, &reading.query).await?;
        Ok((Arc::new(reading.model), reading.query))
    }

    /// The question as it was read, or over the only other metric that can be told by what it names.
    fn choose(&self, question: &str, reading: Reading) -> Result<(Arc<SemanticModel>, MetricQuery), ToolError> {
        let Reading { query, model, .. } = reading;
        let compiles = |query: &MetricQuery| model.compile(&self.engine, query).map(drop);
        let Err(failure) = compiles(&query) else { return Ok((Arc::new(model), query)) };
        let mut others = model.list_alternatives(question, &query);
        others.retain(|query| compiles(query).is_ok());
        match others.pop().filter(|_| others.is_empty()) {
            Some(only) => Ok((Arc::new(model), only)),
            None => Err(failure.into()),
        }
    }

    /// A figure of a period is not computed of rows that hold less than half of it: whoever asks in words does not see what they
    /// hold.
    async fn check_periods(&self, model: &SemanticModel, query: &MetricQuery) -> Result<(), ToolError> {
        let (plan, _) = model.plan(query)?;
        let bound = |op: FilterOp, open: &str| {
            let day =
                plan.period.iter().find(|condition| condition.op == op).and_then(|condition| condition.value.as_str());
            day.unwrap_or(open).to_owned()
        };
        if plan.period.is_empty() {
            return Ok(());
        }
        let (from, to) = (bound(FilterOp::Gte, "0000-01-01"), bound(FilterOp::Lt, "9999-01-01"));
        let times = plan.aggregates.iter().filter_map(|aggregate| {
            let time = aggregate.time.as_ref()?;
            Some(time.split_once('.').unwrap_or((aggregate.table.as_str(), time.as_str())))
        });
        for (entity, column) in times.collect::<BTreeSet<_>>() {
            let Some((first, last)) = self.find_span(&plan, entity, column).await else { continue };
            if periods::measure_overlap((&first, &last), (&from, &to)) < periods::MIN_OVERLAP {
                let message = format!(
                    "{entity}.{column} is from {first} to {last}, which is less than half of the period that is asked for"
                );
                return Err(ToolError::invalid(message, Some("name a period that the data hold".to_owned())));
            }
        }
        Ok(())
    }

    /// The first and the last day of an entity; none where they cannot be read.
    async fn find_span(&self, plan: &AggregateQuery, entity: &str, column: &str) -> Option<(String, String)> {
        let ends = [("first", Aggregation::Min), ("last", Aggregation::Max)];
        let aggregate = |(name, aggregation): (&str, Aggregation)| Aggregate {
            name: name.to_owned(),
            table: entity.to_owned(),
            aggregation,
            expression: Some(column.to_owned()),
            filters: Vec::new(),
            time: None,
            over_time: OverTime::Additive,
        };
        let column = |(at, (name, _)): (usize, &(&str, Aggregation))| OutputColumn {
            name: (*name).to_owned(),
            formula: Formula::Aggregate(at),
        };
        let query = AggregateQuery {
            tables: plan.tables.clone(),
            joins: plan.joins.clone(),
            columns: ends.iter().enumerate().map(column).collect(),
            aggregates: ends.into_iter().map(aggregate).collect(),
            ..AggregateQuery::default()
        };
        let compiled = self.engine.compile_aggregates(&query).ok()?;
        let outcome = self.engine.run(&compiled.sql, compiled.database.as_deref(), 1).await.ok()?;
        let day = |at: usize| Some(outcome.rows.rows.first()?.get(at)?.as_str()?.to_owned());
        Some((day(0)?, day(1)?))
    }
}

pub(super) fn explain(error: ReadError) -> ToolError {
    ToolError::invalid(error.to_string(), Some("name `metrics`, `dimensions` and `filters` instead".to_owned()))
}

fn cite(model: &SemanticModel, metric: &Metric) -> CitedMetric {
    CitedMetric {
        metric: metric.name.clone(),
        definition: model.define(metric),
        source: metric.source.clone(),
        declared: short_place(&metric.place).to_owned(),
    }
}

fn cite_segment(model: &SemanticModel, segment: &Segment) -> CitedMetric {
    CitedMetric {
        metric: segment.name.clone(),
        definition: model.define_segment(segment),
        source: segment.source.clone(),
        declared: short_place(&segment.place).to_owned(),
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
            MetricAnswer::Planned { tables, .. } => {
                tables.iter().map(|table| Resource::new(ResourceKind::Table, table)).collect()
            }
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

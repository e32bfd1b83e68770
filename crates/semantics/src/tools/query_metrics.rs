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

use super::question::{Decision, decide};
use crate::candidates::{Candidate, CandidateQuery, DefinedTerm, Glossary};
use crate::model::{DimensionColumn, Metric, Segment, short_place};
use crate::{MetricQuery, SemanticModel};

pub(super) struct QueryMetrics {
    pub(super) model: Arc<SemanticModel>,
    pub(super) engine: Arc<Engine>,
    pub(super) glossary: Arc<dyn Glossary>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    #[serde(flatten)]
    query: MetricQuery,
    /// In place of all of these: a question in words. Where it may mean several things, the answer is a list of choices.
    #[serde(default)]
    question: Option<String>,
    /// One of the choices that the question got before.
    #[serde(default)]
    choice: Option<String>,
    /// Only the SQL; nothing is run.
    #[serde(default)]
    dry_run: bool,
}

/// What a metric or a segment of an answer means.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
#[derive(Clone, Serialize)]
#[serde(untagged)]
pub(super) enum MetricAnswer {
    Run {
        #[serde(flatten)]
        answer: QueryAnswer,
        metrics: Vec<CitedMetric>,
        /// The units of its columns, by name.
        #[serde(skip)]
        units: Vec<(String, String)>,
        /// What a question in words was read as.
        #[serde(skip_serializing_if = "Option::is_none")]
        read_as: Option<MetricQuery>,
        /// The same in words.
        #[serde(skip_serializing_if = "String::is_empty")]
        computed: String,
        /// Questions that may follow.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        follow_ups: Vec<String>,
    },
    Choices {
        /// What the question may mean, the likeliest first.
        choices: Vec<String>,
        /// Why none of them was computed.
        reason: String,
        /// Whether each leaves out something that the question says: they are only what comes nearest.
        nearest: bool,
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
        /// The same in words.
        #[serde(skip_serializing_if = "String::is_empty")]
        computed: String,
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

    async fn call(&self, Args { query, question, choice, dry_run }: Args) -> Result<MetricAnswer, ToolError> {
        let Some(question) = question else {
            let asked = ReadQuestion { question: query.describe(), ..ReadQuestion::default() };
            return self.compute(asked, &self.model, query, dry_run).await;
        };
        if query != MetricQuery::default() {
            let advice = "leave `question` out, or everything else".to_owned();
            return Err(ToolError::invalid("a question in words stands alone", Some(advice)));
        }
        match decide(&self.model, &self.engine, &*self.glossary, &question, choice.as_deref()).await? {
            Decision::Choices { found, reason, nearest } => {
                let (mut choices, mut empty) = (Vec::new(), None);
                for candidate in found {
                    match self.check_rows(&candidate).await {
                        Ok(()) => choices.push(candidate.text),
                        Err(error) => empty = Some(error),
                    }
                }
                match empty.filter(|_| choices.is_empty()) {
                    Some(error) => Err(error),
                    None => Ok(MetricAnswer::Choices { choices, reason, nearest }),
                }
            }
            Decision::Accepted(candidate) => {
                let Candidate { text: computed, query, database, follow_ups, .. } = *candidate;
                self.check_defined(&question, &query).await?;
                let asked = ReadQuestion { question, computed, is_read: true, follow_ups };
                match query {
                    CandidateQuery::Metrics { query, model } => {
                        self.check_periods(&model, &query).await?;
                        self.compute(asked, &model, query, dry_run).await
                    }
                    CandidateQuery::Sql { sql, tables } => self.list(asked, sql, database, tables, dry_run).await,
                }
            }
        }
    }
}

/// What is asked, and what it was read as.
#[derive(Default)]
struct ReadQuestion {
    question: String,
    computed: String,
    /// Whether the query was read off a question in words.
    is_read: bool,
    follow_ups: Vec<String>,
}

impl QueryMetrics {
    async fn compute(
        &self,
        ReadQuestion { question, computed, is_read, follow_ups }: ReadQuestion,
        model: &SemanticModel,
        query: MetricQuery,
        dry_run: bool,
    ) -> Result<MetricAnswer, ToolError> {
        let read_as = is_read.then(|| query.clone());
        let (compiled, metrics) = model.compile(&self.engine, &query)?;
        let segments = model.list_segments(&query).into_iter().map(|segment| cite_segment(model, segment));
        let cited = metrics.iter().map(|metric| cite(model, metric)).chain(segments).collect();
        if dry_run {
            let (database, sql, columns) = (compiled.database, compiled.sql, compiled.columns);
            let inspected = self.engine.inspect(&sql, database.as_deref()).await;
            let tables = inspected.map(|found| found.tables).unwrap_or_default();
            let declared = self.model.plan(&query).is_ok();
            return Ok(MetricAnswer::Planned {
                database,
                sql,
                columns,
                tables,
                metrics: cited,
                read_as,
                computed,
                declared,
            });
        }
        let shape = |rows: &mut Rows| {
            if rows.columns.len() == compiled.columns.len() {
                rows.columns.clone_from(&compiled.columns);
            }
            round(rows, &metrics);
        };
        let answer = self.engine.answer(&question, &compiled.sql, compiled.database.as_deref(), shape).await;
        let has_unit = metrics.iter().filter(|metric| !metric.unit.is_empty());
        let units = has_unit.map(|metric| (metric.name.clone(), metric.unit.clone())).collect();
        match answer.failure() {
            Some(failure) => Err(failure.clone().into()),
            None => Ok(MetricAnswer::Run { answer, metrics: cited, units, read_as, computed, follow_ups }),
        }
    }

    /// Rows that no metric is computed of.
    async fn list(
        &self,
        ReadQuestion { question, computed, follow_ups, .. }: ReadQuestion,
        sql: String,
        database: String,
        tables: Vec<String>,
        dry_run: bool,
    ) -> Result<MetricAnswer, ToolError> {
        let metrics = Vec::new();
        if dry_run {
            let columns =
                self.engine.inspect(&sql, Some(&database)).await.map(|found| found.output).unwrap_or_default();
            let database = Some(database);
            let declared = false;
            return Ok(MetricAnswer::Planned {
                database,
                sql,
                columns,
                tables,
                metrics,
                read_as: None,
                computed,
                declared,
            });
        }
        let answer = self.engine.answer(&question, &sql, Some(&database), |_| {}).await;
        match answer.failure() {
            Some(failure) => Err(failure.clone().into()),
            None => {
                let units = Vec::new();
                Ok(MetricAnswer::Run { answer, metrics, units, read_as: None, computed, follow_ups })
            }
        }
    }

    /// Only what has rows is offered.
    async fn check_rows(&self, candidate: &Candidate) -> Result<(), ToolError> {
        match &candidate.query {
            CandidateQuery::Metrics { query, model } => self.check_periods(model, query).await,
            CandidateQuery::Sql { sql, .. } => {
                let outcome = self.engine.run(sql, Some(&candidate.database), 1).await?;
                match outcome.rows.rows.is_empty() {
                    true => Err(ToolError::invalid("no row fits", None)),
                    false => Ok(()),
                }
            }
        }
    }

    /// A question that uses a defined term is computed only by a metric or segment that the definition belongs to, or where a filter
    /// applies it.
    async fn check_defined(&self, question: &str, query: &CandidateQuery) -> Result<(), ToolError> {
        let defined = self.glossary.define(question).await;
        let is_open = |one: &&DefinedTerm| one.is_in(question) && !applies(query, one);
        match defined.iter().find(is_open) {
            Some(DefinedTerm { term, definition, source }) => {
                let message = format!(
                    "`{term}` is defined as \"{definition}\" ({source}), and no metric or verified query computes it"
                );
                Err(ToolError::invalid(message, None))
            }
            None => Ok(()),
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

/// Whether a query applies a definition: it computes declared metrics or segments or what is called as the term, groups by a column that
/// the text names as `table.column`, or filters by a value that stands in it as a word, such as the `P` of "an invoice with status P".
fn applies(query: &CandidateQuery, term: &DefinedTerm) -> bool {
    let CandidateQuery::Metrics { query, model } = query else { return false };
    let definition = term.definition.as_str();
    let is_computed = |name: &String| {
        let is_declared = model.metric(name).is_some_and(|metric| !metric.place.is_empty());
        is_declared || term.is_in(&name.replace('_', " "))
    };
    let table = |entity: &str| model.entities().iter().find(|known| known.name == entity).map(|known| &known.table);
    let is_named = |place: &DimensionColumn| {
        let column = place.expression.trim_matches(['"', '`', '[', ']']);
        table(&place.entity).is_some_and(|table| definition.contains(&format!("{table}.{column}")))
    };
    let filtered = query.filters.iter().map(|condition| &condition.column);
    let mut dimensions = query.dimensions.iter().chain(filtered).filter_map(|name| model.dimension(name));
    let mut values = query.filters.iter().filter_map(|condition| condition.value.as_str());
    query.metrics.iter().any(is_computed)
        || !query.segments.is_empty()
        || dimensions.any(|dimension| dimension.columns.iter().any(is_named))
        || values.any(|value| definition.split(|c: char| !c.is_alphanumeric()).any(|word| word == value))
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
            MetricAnswer::Choices { .. } => &[],
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
            MetricAnswer::Choices { .. } => Vec::new(),
        };
        metrics.chain(tables).collect()
    }

    fn queries(&mut self) -> Vec<QueryFinding<'_>> {
        match self {
            MetricAnswer::Run { answer, computed, units, .. } => {
                let mut findings = answer.queries();
                for finding in &mut findings {
                    finding.title = Some(computed.as_str()).filter(|title| !title.is_empty());
                    if let Ok(rows) = &mut finding.rows {
                        rows.units = units;
                    }
                }
                findings
            }
            MetricAnswer::Planned { .. } | MetricAnswer::Choices { .. } => Vec::new(),
        }
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        match self {
            MetricAnswer::Run { answer, .. } => answer.parts(),
            MetricAnswer::Planned { sql, .. } => vec![("sql", Part::Text(sql))],
            MetricAnswer::Choices { .. } => Vec::new(),
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

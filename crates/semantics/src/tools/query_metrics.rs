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
use serde_json::{Map, Value};

use super::question::{Decision, decide, run};
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
    /// Natural-language question, instead of all other arguments. Returns choices if it is ambiguous, or the verified query that answers it.
    #[serde(default)]
    question: Option<String>,
    /// One of the choices returned for the question.
    #[serde(default)]
    choice: Option<String>,
    /// Return only the SQL; nothing is run.
    #[serde(default)]
    dry_run: bool,
}

/// The definition of a metric or a segment of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct CitedMetric {
    metric: String,
    definition: String,
    /// The source of its definition.
    #[serde(skip_serializing_if = "String::is_empty")]
    source: String,
    /// Where it is declared; empty if it is implied by the question.
    #[serde(skip_serializing_if = "String::is_empty")]
    declared: String,
}

/// The result, or its SQL.
#[derive(Clone, Serialize)]
#[serde(untagged)]
pub(super) enum MetricAnswer {
    Run {
        #[serde(flatten)]
        answer: Box<QueryAnswer>,
        metrics: Vec<CitedMetric>,
        /// The units of its columns, by name.
        #[serde(skip)]
        units: Vec<(String, String)>,
        /// How the question was interpreted.
        #[serde(skip_serializing_if = "Option::is_none")]
        read_as: Option<MetricQuery>,
        /// A human-readable description of the interpretation.
        #[serde(skip_serializing_if = "String::is_empty")]
        computed: String,
        /// Possible follow-up questions.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        follow_ups: Vec<String>,
    },
    Choices {
        /// What the question may mean, the most likely first.
        choices: Vec<String>,
        /// Why none of them was computed.
        reason: String,
        /// Whether none covers the whole question, so that these are only the closest.
        nearest: bool,
        /// Whether the question asks for numbers, so that no text answers it.
        asks_for_figures: bool,
    },
    /// The verified query that answers the question; it is not run.
    Verified {
        verified_query: String,
        /// The question with the values.
        question: String,
        parameters: Map<String, Value>,
        tables: Vec<String>,
    },
    Planned {
        /// The database that it would run in; none if it reads several.
        #[serde(skip_serializing_if = "Option::is_none")]
        database: Option<String>,
        sql: String,
        columns: Vec<String>,
        /// The tables that it would read.
        tables: Vec<String>,
        metrics: Vec<CitedMetric>,
        #[serde(skip_serializing_if = "Option::is_none")]
        read_as: Option<MetricQuery>,
        /// A human-readable description of the interpretation.
        #[serde(skip_serializing_if = "String::is_empty")]
        computed: String,
        /// Whether `read_as` uses declared metrics and dimensions only.
        declared: bool,
    },
}

impl Tool for QueryMetrics {
    const NAME: &'static str = "query_metrics";
    const DESCRIPTION: &'static str = "Computes declared metrics, by dimensions, periods and segments. Use this first for any value \
        that a metric is declared for: it handles joins and filters and prevents double counting.";
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
            let advice = "pass either `question` or the other arguments".to_owned();
            return Err(ToolError::invalid("`question` cannot be combined with other arguments", Some(advice)));
        }
        match decide(&self.model, &self.engine, &*self.glossary, &question, choice.as_deref()).await? {
            Decision::Choices { found, reason, nearest, asks_for_figures } => {
                let (mut choices, mut empty) = (Vec::new(), None);
                for candidate in found {
                    match self.check_rows(&candidate).await {
                        Ok(()) => choices.push(candidate.text),
                        Err(error) => empty = Some(error),
                    }
                }
                match empty.filter(|_| choices.is_empty()) {
                    Some(error) => Err(error),
                    None => Ok(MetricAnswer::Choices { choices, reason, nearest, asks_for_figures }),
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
                    CandidateQuery::Verified { name: verified_query, parameters, tables } => {
                        let question = asked.computed;
                        Ok(MetricAnswer::Verified { verified_query, question, parameters, tables })
                    }
                }
            }
        }
    }
}

/// A query, and how it was derived from a question.
#[derive(Default)]
struct ReadQuestion {
    question: String,
    computed: String,
    /// Whether the query was derived from a question.
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
            None => {
                Ok(MetricAnswer::Run { answer: Box::new(answer), metrics: cited, units, read_as, computed, follow_ups })
            }
        }
    }

    /// Lists rows for which there is no metric.
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
                let answer = Box::new(answer);
                Ok(MetricAnswer::Run { answer, metrics, units, read_as: None, computed, follow_ups })
            }
        }
    }

    /// Checks that a candidate returns rows.
    async fn check_rows(&self, candidate: &Candidate) -> Result<(), ToolError> {
        match &candidate.query {
            CandidateQuery::Metrics { query, model } => self.check_periods(model, query).await,
            CandidateQuery::Sql { .. } | CandidateQuery::Verified { .. } => {
                let rows = run(candidate, 1, &self.engine, &*self.glossary).await;
                match rows.is_some_and(|rows| !rows.is_empty()) {
                    true => Ok(()),
                    false => Err(ToolError::invalid("no rows match", None)),
                }
            }
        }
    }

    /// Rejects a question with a defined term, unless the query is verified, it uses a metric or segment that the definition belongs to, or a filter
    /// applies the definition.
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

    /// Rejects a value for a period of which the rows cover less than half: users of natural-language questions do not see the covered
    /// range.
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
                let message =
                    format!("{entity}.{column} covers only {first} to {last}, less than half of the requested period");
                return Err(ToolError::invalid(message, Some("use a period that the data cover".to_owned())));
            }
        }
        Ok(())
    }

    /// Returns the first and the last day of an entity; `None` if they cannot be read.
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

/// Returns whether a query applies a definition: it is verified, it computes declared metrics or segments with the name of the term, groups by a column
/// that the definition names as `table.column`, or filters by a value that occurs in it as a word, such as `P` in "an invoice with status
/// P".
fn applies(query: &CandidateQuery, term: &DefinedTerm) -> bool {
    let (query, model) = match query {
        CandidateQuery::Metrics { query, model } => (query, model),
        CandidateQuery::Sql { .. } => return false,
        CandidateQuery::Verified { .. } => return true,
    };
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

/// Rounds values to the digits of their format, as sums of binary fractions have meaningless digits.
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

/// Returns the number of decimal places of a format: two for `0.00`, three for `0.0%`.
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
            MetricAnswer::Choices { .. } | MetricAnswer::Verified { .. } => &[],
        }
    }
}

impl ToolOutput for MetricAnswer {
    fn reveals(&self) -> Vec<Resource> {
        let metrics = self.metrics().iter().map(|cited| Resource::new(ResourceKind::Metric, &cited.metric));
        let of_tables =
            |tables: &[String]| tables.iter().map(|table| Resource::new(ResourceKind::Table, table)).collect();
        let others: Vec<Resource> = match self {
            MetricAnswer::Run { answer, .. } => answer.reveals(),
            MetricAnswer::Planned { tables, .. } => of_tables(tables),
            MetricAnswer::Verified { verified_query, tables, .. } => {
                let mut all: Vec<Resource> = of_tables(tables);
                all.push(Resource::new(ResourceKind::Query, verified_query));
                all
            }
            MetricAnswer::Choices { .. } => Vec::new(),
        };
        metrics.chain(others).collect()
    }

    fn queries(&mut self) -> Vec<QueryFinding<'_>> {
        match self {
            MetricAnswer::Run { answer, computed, units, .. } => {
                let mut findings = answer.queries();
                for finding in &mut findings {
                    finding.title = Some(computed.as_str()).filter(|title| !title.is_empty());
                    // Without metrics, the units are those of the columns.
                    if let (Ok(rows), false) = (&mut finding.rows, units.is_empty()) {
                        rows.units = units;
                    }
                }
                findings
            }
            MetricAnswer::Planned { .. } | MetricAnswer::Choices { .. } | MetricAnswer::Verified { .. } => Vec::new(),
        }
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        match self {
            MetricAnswer::Run { answer, .. } => answer.parts(),
            MetricAnswer::Planned { sql, .. } => vec![("sql", Part::Text(sql))],
            MetricAnswer::Choices { .. } | MetricAnswer::Verified { .. } => Vec::new(),
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
    fn derives_digits_from_the_format() {
        check("", None);
        check("0", Some(0));
        check("#,##0.00", Some(2));
        check("0.0%", Some(3));
        check("currency", None);
    }
}

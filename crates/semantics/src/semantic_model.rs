//! The validated semantic model: lookup and descriptions of its declarations.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use prospector_core::name::nearest;
use prospector_core::record::Record;
use prospector_core::{Kind, Problem};
use prospector_engine::query::aggregate::{FiscalYear, Span, TimeZone};
use prospector_text::periods;

use crate::check::{Tables, check, find_table, fold};
use crate::model::{Declarations, Dimension, Entity, Join, Measure, Metric, MetricKind};

/// Valid entities, joins, dimensions, metrics and segments.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SemanticModel {
    declared: Declarations,
    /// The columns of the tables of entities, by the names of the entities.
    columns: BTreeMap<String, Vec<String>>,
}

impl SemanticModel {
    /// Validates declarations against the tables. Invalid ones are skipped and reported with their location.
    pub fn check(declared: Declarations, sources: &[Tables<'_>]) -> (SemanticModel, Vec<Problem>) {
        let (declared, problems) = check(declared, sources);
        let columns_of = |entity: &Entity| {
            let (table, _) = find_table(sources, entity)?;
            Some((entity.name.clone(), table.columns.iter().map(|column| column.name.clone()).collect()))
        };
        let columns = declared.entities.iter().filter_map(columns_of).collect();
        (SemanticModel { declared, columns }, problems)
    }

    /// Returns the model extended by declarations that a question implies.
    pub(crate) fn with(&self, implied: Declarations) -> SemanticModel {
        let mut declared = self.declared.clone();
        declared.extend(implied);
        SemanticModel { declared, columns: self.columns.clone() }
    }

    #[cfg(test)]
    pub(crate) fn of(declared: Declarations) -> SemanticModel {
        SemanticModel { declared, columns: BTreeMap::new() }
    }

    pub(crate) fn declarations(&self) -> &Declarations {
        &self.declared
    }

    /// Returns the entities.
    pub fn entities(&self) -> &[Entity] {
        &self.declared.entities
    }

    /// Returns the entity with that name; case is ignored.
    pub(crate) fn entity(&self, name: &str) -> Option<&Entity> {
        self.entities().iter().find(|entity| entity.name.eq_ignore_ascii_case(name))
    }

    /// Returns the columns of an entity, which are dimensions as `entity.column`.
    pub(crate) fn columns_of(&self, entity: &Entity) -> &[String] {
        self.columns.get(&entity.name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the entity over the table of a fully qualified column, `database.table.column`, and the column.
    pub(crate) fn entity_of_column<'n>(&self, name: &'n str) -> Option<(&Entity, &'n str)> {
        self.entities().iter().find_map(|entity| {
            let table = format!("{}.{}.", entity.database, entity.table);
            let is_of = name.get(..table.len()).is_some_and(|start| start.eq_ignore_ascii_case(&table));
            let column = name.get(table.len()..).map(str::trim).filter(|column| is_of && !column.is_empty())?;
            Some((entity, column))
        })
    }

    /// Returns the joins that no schema declares.
    pub fn joins(&self) -> &[Join] {
        &self.declared.joins
    }

    /// Returns the dimensions.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.declared.dimensions
    }

    /// Returns when fiscal years start, if declared.
    pub(crate) fn fiscal_year(&self) -> Option<FiscalYear> {
        self.declared.fiscal_year
    }

    /// Returns the current day in the declared time zone, or in UTC.
    pub fn today(&self) -> NaiveDate {
        self.time_zone().map_or_else(periods::today, TimeZone::today)
    }

    /// Returns the time zone of periods, if declared.
    pub(crate) fn time_zone(&self) -> Option<TimeZone> {
        self.declared.time_zone
    }

    /// Returns the metrics, in the order of their declaration.
    pub fn metrics(&self) -> &[Metric] {
        &self.declared.metrics
    }

    /// Returns the metric with that name or synonym; case is ignored.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        let wanted = fold(name);
        let metrics = self.metrics();
        let called = |metric: &&Metric| metric.synonyms.iter().any(|synonym| fold(synonym) == wanted);
        metrics.iter().find(|metric| fold(&metric.name) == wanted).or_else(|| metrics.iter().find(called))
    }

    /// Returns the dimension with that name or synonym; case is ignored.
    pub fn dimension(&self, name: &str) -> Option<&Dimension> {
        let wanted = fold(name);
        let dimensions = self.dimensions();
        let called = |dimension: &&Dimension| dimension.synonyms.iter().any(|synonym| fold(synonym) == wanted);
        dimensions.iter().find(|dimension| fold(&dimension.name) == wanted).or_else(|| dimensions.iter().find(called))
    }

    /// Returns up to three metric names that are closest to `name`.
    pub fn nearest_metrics(&self, name: &str) -> Vec<String> {
        nearest(name, self.metrics().iter().map(|metric| metric.name.as_str()), 3)
    }

    /// Returns the records to index, one for each metric and each segment.
    pub fn records(&self) -> Vec<Record> {
        let segments = self.segments().iter().map(|segment| self.record_segment(segment));
        self.metrics().iter().map(|metric| self.record(metric)).chain(segments).collect()
    }

    fn record(&self, metric: &Metric) -> Record {
        let mut record = Record::new(Kind::Metric, &metric.name, &metric.name);
        record.aliases.clone_from(&metric.synonyms);
        record.description = match metric.description.is_empty() {
            true => self.formula(metric),
            false => metric.description.clone(),
        };
        record.members = metric.synonyms.join(", ");
        record.body = self.define(metric);
        if let MetricKind::Simple(measure) = &metric.kind {
            record.parent.clone_from(&measure.entity);
        }
        record
    }

    /// Describes the meaning and the computation of a metric.
    pub fn define(&self, metric: &Metric) -> String {
        let mut text = metric.description.trim().to_owned();
        if !text.is_empty() && !text.ends_with(['.', '!', '?']) {
            text.push('.');
        }
        let unit = if metric.unit.is_empty() { String::new() } else { format!(", in {}", metric.unit) };
        let sentence = format!("{}{unit}.", self.formula(metric));
        if text.is_empty() { sentence } else { format!("{text} {sentence}") }
    }

    /// Describes how a metric is computed.
    pub fn formula(&self, metric: &Metric) -> String {
        match &metric.kind {
            MetricKind::Simple(measure) => self.describe_measure(measure),
            MetricKind::Ratio { numerator, denominator } => format!("{numerator} / {denominator}"),
            MetricKind::Derived { expression } => expression.clone(),
            MetricKind::Cumulative { metric, span } => match span {
                Span::Whole => format!("{metric} from the beginning on"),
                Span::Trailing(count, grain) => format!("{metric} over the last {count} {grain}s"),
                Span::ToDate(grain) => format!("{metric} from the beginning of the {grain} on"),
            },
        }
    }

    fn describe_measure(&self, measure: &Measure) -> String {
        let value = measure.expression.as_deref().unwrap_or("*");
        let mut text = format!("{}({value}) of {}", measure.aggregation.as_str(), measure.entity);
        if !measure.filters.is_empty() {
            text += &format!(" where {}", measure.filters.join(" and "));
        }
        if let Some(at) = &measure.semi_additive {
            text += if at.is_first { ", at the first time of a period" } else { ", at the last time of a period" };
            if !at.per.is_empty() {
                text += &format!(" of each {}", at.per.join(", "));
            }
        }
        if let Some(time) = self.time(measure) {
            text += &format!(", by {time}");
        }
        text
    }

    /// Returns the time column of a measure.
    pub fn time(&self, measure: &Measure) -> Option<String> {
        let entity = self.entities().iter().find(|entity| entity.name.eq_ignore_ascii_case(&measure.entity));
        measure.time.clone().or_else(|| entity.and_then(|entity| entity.time.clone()))
    }

    /// Returns the simple measures that a metric is computed from; its own if it is simple.
    pub fn measures<'a>(&'a self, metric: &'a Metric) -> Vec<&'a Measure> {
        let of =
            |name: &str| self.metric(name).into_iter().flat_map(|metric| self.measures(metric)).collect::<Vec<_>>();
        match &metric.kind {
            MetricKind::Simple(measure) => vec![measure],
            MetricKind::Ratio { numerator, denominator } => [of(numerator), of(denominator)].concat(),
            MetricKind::Cumulative { metric, .. } => of(metric),
            MetricKind::Derived { expression } => {
                let names = prospector_engine::query::aggregate::read_formula(expression).unwrap_or_default();
                names.iter().flat_map(|name| of(name)).collect()
            }
        }
    }

    /// Returns the tables that a metric reads, as `database.table`.
    pub fn tables(&self, metric: &Metric) -> Vec<String> {
        let mut tables = Vec::new();
        for measure in self.measures(metric) {
            let entity = self.entities().iter().find(|entity| entity.name.eq_ignore_ascii_case(&measure.entity));
            let table = entity.map(|entity| format!("{}.{}", entity.database, entity.table));
            tables.extend(table.filter(|table| !tables.contains(table)));
        }
        tables
    }
}

//! What metrics come down to: the columns of tables that are aggregated, filtered and grouped, for those who check or show a plan.

use prospector_connect::filter::FilterCondition;
use prospector_connect::query::{Group, Measure as Computed, read_filters};
use prospector_connect::sql::Dialect;
use prospector_engine::query::aggregate::{read_expression, read_formula};
use serde_json::json;

use crate::SemanticModel;
use crate::model::{Entity, Measure, Metric, MetricKind};
use crate::query::TIME;

/// The columns behind metrics and their dimensions, as `database.table.column`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expansion {
    /// The tables of the metrics and of the dimensions that are named, as `database.table`.
    pub tables: Vec<String>,
    /// All columns that are read.
    pub columns: Vec<String>,
    /// What is aggregated, by the names of the metrics.
    pub compute: Vec<Computed>,
    /// The conditions of the metrics themselves, as far as they are comparisons of a column.
    pub filter: Vec<FilterCondition>,
    /// The columns that say when.
    pub times: Vec<String>,
}

impl SemanticModel {
    /// What these metrics come down to; unknown names are passed over.
    pub fn expand(&self, metrics: &[String]) -> Expansion {
        let mut found = Expansion::default();
        for metric in metrics.iter().filter_map(|name| self.metric(name)) {
            for part in self.list_parts(metric) {
                match &part.kind {
                    MetricKind::Simple(measure) => self.expand_measure(&part.name, measure, &mut found),
                    MetricKind::Ratio { numerator, denominator } => {
                        found.compute.push(combine(&metric.name, &format!("{numerator} / {denominator}")));
                    }
                    MetricKind::Derived { expression } => found.compute.push(combine(&metric.name, expression)),
                    MetricKind::Cumulative { .. } => {}
                }
            }
        }
        found
    }

    /// A metric and all that it is computed of.
    pub(crate) fn list_parts<'m>(&'m self, metric: &'m Metric) -> Vec<&'m Metric> {
        let (mut parts, mut open) = (Vec::new(), vec![metric]);
        while let Some(part) = open.pop() {
            parts.push(part);
            match &part.kind {
                MetricKind::Simple(_) => {}
                MetricKind::Ratio { numerator, denominator } => {
                    open.extend([numerator, denominator].into_iter().filter_map(|name| self.metric(name)));
                }
                MetricKind::Derived { expression } => {
                    let names = read_formula(expression).unwrap_or_default();
                    open.extend(names.iter().filter_map(|name| self.metric(name)));
                }
                MetricKind::Cumulative { metric, .. } => open.extend(self.metric(metric)),
            }
        }
        parts
    }

    /// The column behind a dimension, `entity.column`, or a period of one such as `month(entity.column)`; of several that of a table
    /// that is read anyway.
    pub fn expand_dimension(&self, group: &Group, among: &Expansion) -> Option<Group> {
        let (name, call) = match group.column.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((call, inner)) => (inner.trim(), Some(call)),
            None => (group.column.as_str(), None),
        };
        let column =
            if name.eq_ignore_ascii_case(TIME) { among.times.first().cloned()? } else { self.locate(name, among)? };
        let column = call.map_or_else(|| column.clone(), |call| format!("{call}({column})"));
        Some(Group { column, ..group.clone() })
    }

    fn locate(&self, name: &str, among: &Expansion) -> Option<String> {
        if let Some(dimension) = self.dimension(name) {
            let mut places = dimension.columns.iter().filter_map(|place| {
                let entity = self.entity(&place.entity)?;
                Some((id_of(entity), list_columns(self, entity, &place.expression).into_iter().next()?))
            });
            let first = places.clone().next();
            let near = places.find(|(table, _)| among.tables.contains(table));
            return near.or(first).map(|(_, column)| column);
        }
        if let Some((entity, column)) = self.entity_of_column(name) {
            return Some(format!("{}.{column}", id_of(entity)));
        }
        let (entity, column) = name.split_once('.')?;
        Some(format!("{}.{column}", id_of(self.entity(entity)?)))
    }

    fn expand_measure(&self, name: &str, measure: &Measure, found: &mut Expansion) {
        let Some(entity) = self.entity(&measure.entity) else { return };
        let mut columns =
            measure.expression.iter().flat_map(|text| list_columns(self, entity, text)).collect::<Vec<_>>();
        let computed = Computed {
            aggregation: Some(measure.aggregation),
            column: columns.first().cloned(),
            expression: None,
            name: Some(name.to_owned()),
        };
        if !found.compute.contains(&computed) {
            found.compute.push(computed);
        }
        let time = measure.time.as_ref().or(entity.time.as_ref());
        let times = time.map(|time| list_columns(self, entity, time)).unwrap_or_default();
        for text in &measure.filters {
            columns.extend(list_columns(self, entity, text));
            for condition in read_conditions(text) {
                let column = list_columns(self, entity, &condition.column).into_iter().next();
                let condition = FilterCondition { column: column.unwrap_or(condition.column), ..condition };
                if !found.filter.contains(&condition) {
                    found.filter.push(condition);
                }
            }
        }
        add(&mut found.times, times.clone());
        let tables = columns.iter().chain(&times).filter_map(|column| Some(column.rsplit_once('.')?.0.to_owned()));
        add(&mut found.tables, std::iter::once(id_of(entity)).chain(tables).collect());
        add(&mut found.columns, columns);
    }
}

/// Arithmetic over other measures.
fn combine(name: &str, expression: &str) -> Computed {
    let (name, expression) = (Some(name.to_owned()), Some(expression.to_owned()));
    Computed { aggregation: None, column: None, expression, name }
}

fn id_of(entity: &Entity) -> String {
    format!("{}.{}", entity.database, entity.table)
}

fn add(list: &mut Vec<String>, more: Vec<String>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}

/// The columns of an expression over the rows of an entity.
fn list_columns(model: &SemanticModel, home: &Entity, text: &str) -> Vec<String> {
    let names = read_expression(Dialect::Joined, text).unwrap_or_default();
    let column = |name: prospector_engine::query::aggregate::ExpressionName| {
        let entity = name.table.as_ref().map_or(Some(home), |entity| model.entity(entity))?;
        Some(format!("{}.{}", id_of(entity), name.column))
    };
    names.into_iter().filter_map(column).collect()
}

/// The comparisons in a condition; none where it is more than these.
fn read_conditions(text: &str) -> Vec<FilterCondition> {
    read_filters(json!([text])).unwrap_or_default()
}

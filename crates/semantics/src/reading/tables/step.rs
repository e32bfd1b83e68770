//! A question in words as what a step of a plan computes.

use prospector_connect::filter::FilterCondition;
use prospector_connect::query::{DatePart, Group, Measure, Order};
use prospector_engine::query::aggregate::Grain;
use serde_json::Value;

use super::reader::Intent;
use super::scope::{Place, Scope, Time};
use crate::model::{Entity, MetricKind};
use crate::query::{MetricQuery, TIME};
use crate::reading::Vocabulary;
use crate::reading::change::during;
use crate::reading::step::QueryStep;
use crate::{SemanticModel, Tables};

/// The step of a question over declared metrics; none where steps cannot say it.
pub(in crate::reading) fn write_metrics(
    query: &MetricQuery,
    model: &SemanticModel,
    sources: &[Tables<'_>],
) -> Option<QueryStep> {
    let part = match query.grain {
        Some(grain) => Some(part_of(grain)?),
        None => None,
    };
    let spell = |name: &String| {
        // A dimension that the question implies is a column of an entity.
        let implied = model.dimension(name).filter(|dimension| dimension.place.is_empty());
        let column = implied.and_then(|dimension| dimension.columns.first());
        let bare = |text: &str| text.trim_matches(['"', '`', '[', ']']).to_owned();
        column.map_or_else(|| name.clone(), |column| format!("{}.{}", column.entity, bare(&column.expression)))
    };
    let group = |name: &String| Group { column: spell(name), part: None, name: None };
    let mut group_by: Vec<Group> = query.dimensions.iter().map(group).collect();
    group_by.extend(part.map(|part| Group { column: TIME.to_owned(), part: Some(part), name: None }));
    let spell_order = |order: &Order| Order { by: spell(&order.by), ..order.clone() };
    Some(QueryStep {
        metrics: query.metrics.clone(),
        tables: list_tables(model, query, sources),
        compute: Vec::new(),
        filter: query.filters.clone(),
        group_by,
        order: query.order.iter().map(spell_order).collect(),
        limit: query.limit,
    })
}

/// The step of a question over tables; none where steps cannot say it. Its measures are called by the metrics that it implies.
pub(super) fn write_tables(scope: &Scope<'_>, intent: &Intent, query: &MetricQuery) -> Option<QueryStep> {
    let column = |place: Place| format!("{}.{}", scope.source.database, scope.describe(place));
    let measures = intent.measures.iter().zip(&query.metrics).map(|((aggregation, place), name)| Measure {
        aggregation: Some(*aggregation),
        column: place.map(column),
        expression: None,
        name: Some(name.clone()),
    });
    let mut step = QueryStep { compute: measures.collect(), ..QueryStep::default() };
    let mut used: Vec<usize> = vec![intent.subject];
    let condition = |place: Place, op, value: Value| FilterCondition { column: column(place), op, value };
    for (place, op, value) in &intent.filters {
        used.push(place.0);
        step.filter.push(condition(*place, *op, value.clone()));
    }
    for group in &intent.groups {
        used.push(group.place.0);
        let keys = group.keys.iter().map(|key| (group.place.0, *key));
        let columns = std::iter::once(group.place).chain(keys).map(column);
        step.group_by.extend(columns.map(|column| Group { column, part: None, name: None }));
    }
    let time = intent.time.as_ref().and_then(|time| match time {
        Time::Day(place) => Some((*place, false)),
        Time::Year(place) => Some((*place, true)),
        Time::Declared(name) => Some((scope.find_column(intent.subject, name)?, false)),
    });
    if let Some((place, is_year)) = time {
        // Steps over tables compare times as they are stored.
        if scope.is_converted(place) && (intent.period.is_some() || intent.grain.is_some()) {
            return None;
        }
        used.push(place.0);
        step.filter.extend(during(intent.period.clone()).into_iter().map(|bound| {
            let day = bound.value.as_str().filter(|_| is_year);
            let year = day.map(|day| scope.year_of(day, place));
            condition(place, bound.op, year.unwrap_or(bound.value))
        }));
        if let Some(grain) = intent.grain {
            let part = if is_year { None } else { Some(part_of(grain)?) };
            step.group_by.push(Group { column: column(place), part, name: None });
        }
    }
    if let (Some((descending, limit)), Some(name)) = (intent.rank, query.metrics.first()) {
        step.order.push(Order { by: name.clone(), descending });
        step.limit = Some(limit);
    }
    let tables = used.iter().flat_map(|table| scope.route(intent.subject, *table));
    for table in tables {
        let id = format!("{}.{}", scope.source.database, scope.table(table).name);
        if !step.tables.contains(&id) {
            step.tables.push(id);
        }
    }
    Some(step)
}

/// The part of a date that is a period. Steps know no weeks.
fn part_of(grain: Grain) -> Option<DatePart> {
    match grain {
        Grain::Day => Some(DatePart::Date),
        Grain::Week | Grain::FiscalQuarter | Grain::FiscalYear => None,
        Grain::Month => Some(DatePart::YearMonth),
        Grain::Quarter => Some(DatePart::YearQuarter),
        Grain::Year => Some(DatePart::Year),
    }
}

/// The tables of the metrics and dimensions of a question, and those between them.
fn list_tables(model: &SemanticModel, query: &MetricQuery, sources: &[Tables<'_>]) -> Vec<String> {
    let mut roots: Vec<&Entity> = Vec::new();
    // Backwards: the last metric's tables are the first.
    for metric in query.metrics.iter().rev().filter_map(|name| model.metric(name)) {
        let measures = model.list_parts(metric).into_iter().filter_map(|part| match &part.kind {
            MetricKind::Simple(measure) => model.entity(&measure.entity),
            MetricKind::Ratio { .. } | MetricKind::Derived { .. } | MetricKind::Cumulative { .. } => None,
        });
        for entity in measures {
            if !roots.iter().any(|known| known.name == entity.name) {
                roots.push(entity);
            }
        }
    }
    let mut tables: Vec<String> = Vec::new();
    let mut add = |database: &str, table: &str| {
        let id = format!("{database}.{table}");
        if !tables.contains(&id) {
            tables.push(id);
        }
    };
    let of_dimension = |name: &String| -> Vec<&Entity> {
        match (model.dimension(name), name.split_once('.')) {
            (Some(dimension), _) => dimension.columns.iter().filter_map(|place| model.entity(&place.entity)).collect(),
            (None, Some((entity, _))) => model.entity(entity).into_iter().collect(),
            (None, None) => Vec::new(),
        }
    };
    for root in &roots {
        add(&root.database, &root.table);
        let Some(source) = sources.iter().find(|source| source.database == root.database) else { continue };
        let scope = Scope::new(model, *source, &Vocabulary::default());
        let place =
            |entity: &Entity| source.tables.iter().position(|table| table.name.eq_ignore_ascii_case(&entity.table));
        let Some(from) = place(root) else { continue };
        for name in query.dimensions.iter().chain(query.filters.iter().map(|filter| &filter.column)) {
            // Where a dimension stands in several tables, the nearest is read.
            let homes =
                of_dimension(name).into_iter().filter(|entity| entity.database == root.database).filter_map(place);
            let nearest = homes.filter_map(|to| Some((scope.distance(from, to)?, to))).min();
            for table in nearest.map(|(_, to)| scope.route(from, to)).unwrap_or_default() {
                add(&root.database, &scope.table(table).name);
            }
        }
    }
    tables
}

//! Grouping of aggregates into parts: those over the same rows are computed in one query that counts each row once.

use prospector_connect::filter::FilterCondition;
use prospector_connect::query::Aggregation;

use super::member::Membership;
use super::request::{Aggregate, AggregateQuery, GroupedDimension, OverTime, Place};
use super::scope::{Placed, PlacedValue, Scope};
use super::segment::find_membership;
use crate::build::{Class, JoinTree, invalid, join_tables};
use crate::{Failure, FailureCode};

/// Aggregates over the same rows of one table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    /// The table whose rows are aggregated.
    pub(super) root: usize,
    pub(super) tree: JoinTree,
    /// The aggregates, by their index in the query, with the aggregated value of each row.
    pub(super) aggregates: Vec<(usize, Option<Placed>)>,
    /// The group keys, in the order of the query.
    pub(super) dimensions: Vec<Placed>,
    /// Conditions on the rows: those of the aggregates, and those of the query.
    pub(super) conditions: Vec<Placed>,
    pub(super) filters: Vec<(Placed, FilterCondition)>,
    /// The segments that its rows belong to, each with the table that has the key.
    pub(super) segments: Vec<(usize, Membership)>,
    pub(super) time: Option<Placed>,
    pub(super) over_time: OverTime,
    /// The expressions with their own first or last time each, for semi-additive aggregates.
    pub(super) per: Vec<Placed>,
}

impl Part {
    /// Returns whether the aggregates of the other part can be computed in the same query.
    fn is_over_same_rows(&self, other: &Part) -> bool {
        *self == Part { aggregates: self.aggregates.clone(), ..other.clone() }
    }

    /// Returns the tables that it reads.
    pub(super) fn tables(&self) -> Vec<usize> {
        std::iter::once(self.root).chain(self.tree.steps.iter().map(|step| step.to)).collect()
    }
}

/// Groups the aggregates of a query into as few parts as possible.
///
/// # Errors
/// - If a name is unknown.
/// - If a dimension is not connected.
/// - If rows would count more than once (fan-out).
pub(super) fn plan_parts(scope: &Scope<'_>, query: &AggregateQuery) -> Result<Vec<Part>, Failure> {
    let mut parts: Vec<Part> = Vec::new();
    for (at, aggregate) in query.aggregates.iter().enumerate() {
        let mut part = plan_part(scope, query, at, aggregate)?;
        match parts.iter_mut().find(|known| known.is_over_same_rows(&part)) {
            Some(known) => known.aggregates.append(&mut part.aggregates),
            None => parts.push(part),
        }
    }
    Ok(parts)
}

fn plan_part(scope: &Scope<'_>, query: &AggregateQuery, at: usize, aggregate: &Aggregate) -> Result<Part, Failure> {
    let root = scope.table(&aggregate.table)?;
    let place = |text: &String| scope.place(root, text);
    let value = aggregate.expression.as_ref().map(place).transpose()?;
    let conditions: Vec<Placed> = aggregate.filters.iter().map(place).collect::<Result<_, _>>()?;
    let per: Vec<Placed> = match &aggregate.over_time {
        OverTime::At { per, .. } => per.iter().map(place).collect::<Result<_, _>>()?,
        OverTime::Additive | OverTime::Cumulative(_) => Vec::new(),
    };
    check_value(scope, aggregate, value.as_ref())?;
    let time = plan_time(scope, query, aggregate, root)?;
    let mut needed = vec![root];
    for placed in value.iter().chain(&conditions).chain(&per).chain(&time) {
        needed.extend(scope.tables(placed)?);
    }
    // These aggregates are unaffected by repeated rows.
    let is_safe = matches!(aggregate.aggregation, Aggregation::Min | Aggregation::Max | Aggregation::CountDistinct);
    let mut via = Vec::new();
    let mut choose = |dimension: &GroupedDimension| -> Result<Placed, Failure> {
        let own: Vec<String> = dimension.via.iter().map(|name| scope.spell(root, name)).collect::<Result<_, _>>()?;
        let placed = choose_place(scope, query, aggregate, root, dimension, &own, is_safe)?;
        needed.extend(scope.tables(&placed)?);
        via.extend(own);
        Ok(placed)
    };
    let dimensions: Vec<Placed> = query.dimensions.iter().map(&mut choose).collect::<Result<_, _>>()?;
    let mut filters = Vec::new();
    for filter in &query.filters {
        filters.push((choose(&filter.dimension)?, filter.condition.clone()));
    }
    let mut segments = Vec::new();
    for segment in &query.segments {
        let (base, member) = find_membership(scope, query, root, segment, &[]).map_err(|failure| {
            failure.context(format_args!("{} cannot be restricted to {}", aggregate.name, segment.name))
        })?;
        needed.push(base);
        segments.push((base, member));
    }
    let tree = join_tables(&scope.relations, root, &needed, &via)?;
    if let (false, Some(other)) = (is_safe, tree.repeats(root)) {
        return Err(explain_repeats(scope, aggregate, root, other));
    }
    let over_time = aggregate.over_time.clone();
    let aggregates = vec![(at, value)];
    Ok(Part { root, tree, aggregates, dimensions, conditions, filters, segments, time, over_time, per })
}

/// Checks that a sum or average is over numbers, and that only a count has no value.
fn check_value(scope: &Scope<'_>, aggregate: &Aggregate, value: Option<&Placed>) -> Result<(), Failure> {
    let word = aggregate.aggregation.as_str();
    let Some(value) = value else {
        return match aggregate.aggregation {
            Aggregation::Count => Ok(()),
            _ => Err(invalid(format!("{} is a {word} without an expression", aggregate.name))
                .advise("give it an expression")),
        };
    };
    match (aggregate.aggregation, scope.class(value)) {
        (Aggregation::Sum | Aggregation::Avg, Some(Class::Text | Class::Date)) => {
            let message = format!("`{}` is not numeric and has no {word}", value.text());
            Err(Failure::new(FailureCode::TypeMismatch, message).advise("use count, min or max"))
        }
        _ => Ok(()),
    }
}

/// Resolves the time of an aggregate, if it is requested or required.
fn plan_time(
    scope: &Scope<'_>,
    query: &AggregateQuery,
    aggregate: &Aggregate,
    root: usize,
) -> Result<Option<Placed>, Failure> {
    let is_asked = query.grain.is_some() || !query.period.is_empty();
    if !is_asked && !matches!(aggregate.over_time, OverTime::At { .. }) {
        return Ok(None);
    }
    let Some(time) = &aggregate.time else {
        return Err(invalid(format!("{} has no time", aggregate.name))
            .advise("omit the period, or set its `time` column in the catalog"));
    };
    let placed = scope.place(root, time)?;
    match scope.class(&placed) {
        Some(Class::Date | Class::Text) => Ok(Some(placed)),
        Some(Class::Number | Class::Boolean) | None => {
            let message = format!("the time of {}, `{time}`, is not a date column", aggregate.name);
            Err(Failure::new(FailureCode::TypeMismatch, message).advise("set a date column in the catalog"))
        }
    }
}

/// Chooses the place of a dimension with the fewest joins that do not count a row more than once.
fn choose_place(
    scope: &Scope<'_>,
    query: &AggregateQuery,
    aggregate: &Aggregate,
    root: usize,
    dimension: &GroupedDimension,
    via: &[String],
    is_safe: bool,
) -> Result<Placed, Failure> {
    let mut best: Option<(bool, usize, Placed)> = None;
    let mut first = None;
    for place in &dimension.places {
        let found = find_place(scope, query, root, place, via).and_then(|placed| {
            let tree = join_tables(&scope.relations, root, &scope.tables(&placed)?, via)?;
            match tree.repeats(root) {
                Some(other) if !is_safe => Err(explain_repeats(scope, aggregate, root, other)),
                repeats => Ok((repeats.is_some(), tree.steps.len(), placed)),
            }
        });
        match found {
            Ok(found) => {
                let is_better = |known: &(bool, usize, Placed)| (found.0, found.1) < (known.0, known.1);
                if best.as_ref().is_none_or(is_better) {
                    best = Some(found);
                }
            }
            Err(failure) => {
                first.get_or_insert(failure);
            }
        }
    }
    best.map(|(_, _, placed)| placed).ok_or_else(|| {
        let failure = first.unwrap_or_else(|| invalid("it has no place in the tables"));
        failure.context(format_args!("{} cannot be grouped by {}", aggregate.name, dimension.name))
    })
}

/// Resolves a place of a dimension for the rows of a table.
fn find_place(
    scope: &Scope<'_>,
    query: &AggregateQuery,
    root: usize,
    place: &Place,
    via: &[String],
) -> Result<Placed, Failure> {
    match place {
        Place::Value { table, expression } => scope.place(scope.table(table)?, expression),
        Place::Member(segment) => {
            let (base, member) = find_membership(scope, query, root, segment, via)?;
            Ok(Placed { base, value: PlacedValue::Member(member) })
        }
    }
}

fn explain_repeats(scope: &Scope<'_>, aggregate: &Aggregate, root: usize, other: usize) -> Failure {
    let name = |table: usize| &scope.relations.tables[table].name;
    let message = format!(
        "joined with {}, a row of {} is repeated, and {} would count it each time",
        name(other),
        name(root),
        aggregate.name
    );
    Failure::new(FailureCode::RepeatedRows, message)
        .advise(format!("use a metric over {}, or another dimension", name(other)))
}

//! The measures that the parts of a question may ask for.

use prospector_connect::query::Aggregation;

use super::intent::{Intent, Measure, Rank};
use super::names::Element;
use super::operators::Operator;
use super::parts::{Kind, Part};
use super::question::{Question, stems};
use super::scope::{Place, Scope, Time};
use crate::model::MetricKind;

/// What a reading assumes costs this much: a sum where no aggregate is named, an average instead of it, rows where neither a list nor a
/// number is asked for.
const ASSUMED_SUM: f64 = 0.02;
const ASSUMED_AVERAGE: f64 = 0.12;
const ASSUMED_ROWS: f64 = 0.06;
const ASSUMED_COUNT: f64 = 0.01;
/// One figure where a list is asked for costs this much.
const UNLISTED: f64 = 0.1;
const ASSUMED_SUBJECT: f64 = 0.02;
/// The columns of numbers that a table of events has at most to be told by its sums.
const MAX_AMOUNTS: usize = 3;
/// What is declared goes before what is put together from columns.
const UNDECLARED: f64 = 0.02;

/// A measure, and the parts that say it.
#[derive(Debug, Clone)]
pub(super) struct Seed {
    pub(super) intent: Intent,
    pub(super) used: Vec<usize>,
    pub(super) penalty: f64,
}

/// The measures that the parts of a question may ask for.
pub(super) fn list_seeds(scope: &Scope<'_>, question: &Question, parts: &[Part]) -> Vec<Seed> {
    let mut seeds = seed_metrics(scope, question, parts);
    let is_operator = |at: usize, wanted: Operator| parts.get(at).is_some_and(|part| part.is(wanted));
    // `list the products with their price`: rows, where nothing says by what they are added up.
    let is_listing = parts.iter().any(|part| part.is(Operator::List))
        && !parts.iter().any(|part| {
            matches!(
                part.kind,
                Kind::Grain(_) | Kind::Series(_) | Kind::Operator(Operator::By | Operator::Sum | Operator::Average)
            )
        });
    for (at, part) in parts.iter().enumerate() {
        let Some(element) = part.element() else { continue };
        // `average price`, or `price ... on average`.
        let is_loose = |at: &usize| {
            let next = parts.get(at + 1).and_then(Part::element);
            is_operator(*at, Operator::Average) && !matches!(next, Some(Element::Columns(_) | Element::Metric(_)))
        };
        let loose = (at + 1..parts.len()).find(is_loose);
        let before = at.checked_sub(1).filter(|at| parts[*at].operator().is_some()).or(loose);
        let operator = before.and_then(|at| parts[at].operator());
        let used = |more: Option<usize>| more.into_iter().chain([at]).collect::<Vec<_>>();
        match element {
            Element::Table(table) => {
                let count = Measure::Aggregate(Aggregation::Count, None);
                let counted = (0..at).rev().find(|before| is_operator(*before, Operator::Count));
                let counted = counted.filter(|from| {
                    !parts[from + 1..at].iter().any(|part| matches!(part.element(), Some(Element::Table(_))))
                });
                let penalty = UNDECLARED + if counted.is_some() { 0.0 } else { ASSUMED_COUNT };
                seeds.push(Seed { intent: Intent::new(*table, count), used: used(counted), penalty });
                if let Some(share) = (0..at).rev().find(|before| is_operator(*before, Operator::Share)) {
                    seeds.push(Seed {
                        intent: Intent::new(*table, Measure::Share),
                        used: used(Some(share)),
                        penalty: UNDECLARED,
                    });
                }
                if counted.is_none() {
                    let rows = Intent::new(*table, Measure::Rows(Vec::new()));
                    let is_asked = parts[..at].iter().any(|part| part.is(Operator::List))
                        || at.checked_sub(1).is_some_and(|before| is_operator(before, Operator::Which));
                    let penalty = UNDECLARED + if is_asked { 0.0 } else { ASSUMED_ROWS };
                    seeds.push(Seed { intent: rows, used: used(None), penalty });
                }
                // `how much did they pay`, and `sales by region`: what is added up, or the rows.
                let summed = (0..at).rev().find(|before| is_operator(*before, Operator::Sum));
                let numbers = scope.list_numbers(*table);
                let is_amount = numbers.len() <= MAX_AMOUNTS
                    && counted.is_none()
                    && question.stems(part.span).len() >= stems(&scope.table(*table).name).len()
                    && scope.holds_events(*table);
                let amounts = numbers.into_iter().filter(|_| summed.is_some() || is_amount);
                seeds.extend(amounts.map(|place| Seed {
                    intent: Intent::new(*table, Measure::Aggregate(Aggregation::Sum, Some(place))),
                    used: used(summed),
                    penalty: UNDECLARED + ASSUMED_SUM,
                }));
                if let Some(when) = (0..at).find(|before| is_operator(*before, Operator::When)) {
                    let end = parts.iter().position(|part| part.is(Operator::Earliest));
                    let last = parts.iter().position(|part| part.is(Operator::Latest));
                    let aggregation = if end.is_some() { Aggregation::Min } else { Aggregation::Max };
                    if let (Some(end), Some(Time::Day(day))) = (end.or(last), scope.time(*table, &[])) {
                        let intent = Intent::new(*table, Measure::Aggregate(aggregation, Some(day)));
                        seeds.push(Seed { intent, used: vec![when, end, at], penalty: UNDECLARED });
                    }
                }
            }
            Element::Columns(places) => {
                // `which payment method is used most`: the rows that have it.
                let is_measured = |part: &Part| matches!(part.element(), Some(Element::Table(_) | Element::Metric(_)));
                if !parts.iter().any(is_measured) {
                    let texts = places.iter().filter(|place| !scope.is_number(**place) && !scope.is_date(**place));
                    let count = |place: &Place| Intent::new(place.0, Measure::Aggregate(Aggregation::Count, None));
                    let penalty = UNDECLARED + ASSUMED_COUNT + ASSUMED_SUBJECT;
                    seeds.extend(texts.map(|place| Seed { intent: count(place), used: Vec::new(), penalty }));
                }
                for place in places {
                    let is_named = parts.iter().any(|part| part.element() == Some(&Element::Table(place.0)));
                    let which = parts.iter().position(|part| part.is(Operator::Which)).map(|which| which + 1);
                    // `which product has the highest price`, `the highest priced product`.
                    let of_table = Some(&Element::Table(place.0));
                    let asks_row = which.and_then(|at| parts.get(at)?.element()) == of_table
                        || parts.get(at + 1).and_then(Part::element) == of_table;
                    let own = seed_column(scope, *place, at, operator, used(before), asks_row).into_iter();
                    seeds.extend(own.map(|seed| {
                        let is_assumed = is_listing && matches!(seed.intent.measure, Measure::Aggregate(..));
                        let penalty = if is_named { 0.0 } else { ASSUMED_SUBJECT };
                        let penalty = penalty + if is_assumed { UNLISTED } else { 0.0 };
                        Seed { penalty: seed.penalty + penalty, ..seed }
                    }));
                }
            }
            Element::Database | Element::Metric(_) | Element::Segment(_) | Element::Values(_) => {}
        }
    }
    // A segment's members are counted or listed where their table is not named.
    for (at, part) in parts.iter().enumerate() {
        let Some(Element::Segment(name)) = part.element() else { continue };
        let Some(table) = scope.model.segment(name).and_then(|segment| scope.table_of(&segment.entity)) else {
            continue;
        };
        let counted = at.checked_sub(1).filter(|before| is_operator(*before, Operator::Count));
        if let Some(count) = counted {
            let mut intent = Intent::new(table, Measure::Aggregate(Aggregation::Count, None));
            intent.segments.push(name.clone());
            seeds.push(Seed { intent, used: vec![count, at], penalty: 0.0 });
        }
    }
    seeds
}

/// Each metric that is named, and all of them where they are joined by `and`.
fn seed_metrics(scope: &Scope<'_>, question: &Question, parts: &[Part]) -> Vec<Seed> {
    let named = parts.iter().enumerate().filter_map(|(at, part)| match part.element() {
        Some(Element::Metric(name)) => Some((at, name)),
        _ => None,
    });
    let named: Vec<(usize, &String)> = named.collect();
    let seed = |names: &[(usize, &String)]| {
        let mut used: Vec<usize> = names.iter().map(|(at, _)| *at).collect();
        for (at, name) in names {
            let metric = scope.model.metric(name)?;
            let is_ratio = matches!(metric.kind, MetricKind::Ratio { .. });
            let is_count = matches!(&metric.kind, MetricKind::Simple(measure)
                if matches!(measure.aggregation, Aggregation::Count | Aggregation::CountDistinct));
            // `total revenue`, `how much revenue`, `number of orders`, `average refund rate`: the metric says it already.
            let says = |part: &Part| match part.operator() {
                Some(Operator::Sum) => !is_ratio && !is_count,
                Some(Operator::Count) => metric.unit.is_empty(),
                Some(Operator::Average) => is_ratio,
                Some(Operator::Share) => metric.format.contains('%'),
                _ => false,
            };
            used.extend((0..*at).filter(|before| says(&parts[*before])));
        }
        let mut all: Vec<String> = names.iter().map(|(_, name)| (*name).clone()).collect();
        all.dedup();
        let subject = scope.subject_of(all.first()?)?;
        Some(Seed { intent: Intent::new(subject, Measure::Metrics(all)), used, penalty: 0.0 })
    };
    let are_joined =
        named.windows(2).all(|pair| question.are_joined(parts[pair[0].0].span.end(), parts[pair[1].0].span.at));
    let together = if named.len() > 1 && are_joined { seed(&named) } else { None };
    named.iter().filter_map(|one| seed(std::slice::from_ref(one))).chain(together).collect()
}

/// What may be computed of a column; `asks_row` where the question is which row has it.
fn seed_column(
    scope: &Scope<'_>,
    place: Place,
    at: usize,
    operator: Option<Operator>,
    with: Vec<usize>,
    asks_row: bool,
) -> Vec<Seed> {
    let seed = |measure: Measure, used: Vec<usize>, penalty: f64| Seed {
        intent: Intent::new(place.0, measure),
        used,
        penalty: UNDECLARED + penalty,
    };
    let of = |aggregation| Measure::Aggregate(aggregation, Some(place));
    let (is_number, alone) = (scope.is_number(place), vec![at]);
    match operator {
        Some(Operator::Sum) if is_number => vec![seed(of(Aggregation::Sum), with, 0.0)],
        Some(Operator::Average) if is_number => vec![seed(of(Aggregation::Avg), with, 0.0)],
        Some(Operator::Count | Operator::Distinct) if !is_number => {
            vec![seed(of(Aggregation::CountDistinct), with, 0.0)]
        }
        Some(Operator::Count) => vec![seed(of(Aggregation::Sum), with, ASSUMED_SUM)],
        Some(rank @ (Operator::Most | Operator::Least)) if is_number => {
            let aggregation = if rank == Operator::Most { Aggregation::Max } else { Aggregation::Min };
            // The row that has it, the value itself, and sums that are ranked.
            let (of_row, of_value) = if asks_row { (0.0, ASSUMED_ROWS) } else { (ASSUMED_ROWS, 0.0) };
            let mut rows = seed(Measure::Rows(Vec::new()), alone.clone(), of_row);
            rows.intent.rank = Some(Rank { descending: rank == Operator::Most, limit: 1, ties: true, by: Some(place) });
            vec![seed(of(aggregation), with, of_value), rows, seed(of(Aggregation::Sum), alone, ASSUMED_SUM)]
        }
        _ if is_number => {
            vec![
                seed(of(Aggregation::Sum), alone.clone(), ASSUMED_SUM),
                seed(of(Aggregation::Avg), alone, ASSUMED_AVERAGE),
            ]
        }
        _ => Vec::new(),
    }
}

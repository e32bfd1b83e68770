//! Follow-up questions: another period, value or grain, an additional group, or fewer rows.

use prospector_connect::filter::FilterOp;
use serde_json::json;

use super::compose::Scored;
use super::intent::{Group, Intent, Measure, Rank};
use super::names::Element;
use super::operators::Operator;
use super::parts::{Kind, Part};
use super::question::{Question, as_limit};
use super::scope::Scope;

/// Returns an interpretation with the changes that a question names; `None` if no word names a change.
pub(super) fn apply(scope: &Scope<'_>, scored: Scored, question: &Question, parts: &[Part]) -> Option<Scored> {
    let Scored { mut intent, score, mut unused, apart } = scored;
    let mut covered = 0.0;
    let mut any = false;
    for (at, part) in parts.iter().enumerate() {
        let is_grouped = at.checked_sub(1).is_some_and(|before| parts[before].is(Operator::By));
        let is_used = match &part.kind {
            Kind::Operator(operator) => {
                matches!(
                    operator,
                    Operator::By
                        | Operator::Most
                        | Operator::Which
                        | Operator::List
                        | Operator::Compare
                        | Operator::Again
                )
            }
            Kind::Number(number) => limit(&mut intent, *number),
            Kind::Period(from, to) => {
                find_time(scope, &mut intent);
                intent.period = Some((from.clone(), to.clone()));
                has_time(&intent) || !intent.existences.is_empty()
            }
            Kind::Grain(grain) | Kind::Series(grain) => {
                find_time(scope, &mut intent);
                intent.grain = Some(*grain);
                has_time(&intent) && !matches!(intent.measure, Measure::Rows(_))
            }
            Kind::Named(element) if is_grouped => group(scope, &mut intent, element),
            Kind::Named(element) => name(scope, &mut intent, element),
        };
        if is_used {
            covered += question.weigh(part.span);
            any |= !matches!(part.kind, Kind::Operator(_));
        } else {
            unused.push(question.quote(part.span.at..part.span.end()).join(" "));
        }
    }
    let total: f64 = question.tokens.iter().map(|token| token.weight).sum();
    let share = if total > 0.0 { covered / total } else { 1.0 };
    any.then_some(Scored { intent, score: score * share, unused, apart })
}

fn find_time(scope: &Scope<'_>, intent: &mut Intent) {
    if !has_time(intent) && intent.existences.is_empty() {
        intent.time = scope.time(intent.subject, &[]);
    }
}

/// Returns whether the computation has a time: that of its metrics, or one of its table.
fn has_time(intent: &Intent) -> bool {
    intent.time.is_some() || !intent.metrics().is_empty()
}

/// Changes the number of groups that are shown.
fn limit(intent: &mut Intent, number: f64) -> bool {
    let Some(limit) = as_limit(number) else { return false };
    match &mut intent.rank {
        Some(rank) => (rank.limit, rank.ties) = (limit, false),
        None if intent.groups.is_empty() => return false,
        None => intent.rank = Some(Rank { descending: true, limit, ties: false, by: None }),
    }
    true
}

/// Groups by one more column, or by the rows of a table.
fn group(scope: &Scope<'_>, intent: &mut Intent, element: &Element) -> bool {
    match element {
        Element::Columns(places) => {
            let place = scope.nearest(intent.subject, places);
            intent.groups.extend(place.map(Group::of));
            place.is_some()
        }
        Element::Table(table) if scope.distance(intent.subject, *table).is_some() => {
            intent.groups.extend(Group::of_rows(scope, *table));
            true
        }
        other => name(scope, intent, other),
    }
}

/// Computes another metric, or filters by another value or one more segment.
fn name(scope: &Scope<'_>, intent: &mut Intent, element: &Element) -> bool {
    match element {
        Element::Metric(name) => {
            let is_metric = matches!(intent.measure, Measure::Metrics(_));
            if is_metric {
                intent.measure = Measure::Metrics(vec![name.clone()]);
            }
            is_metric
        }
        Element::Values(held) => {
            let Some((place, value)) = scope.nearest_value(intent.subject, held) else { return false };
            intent.filters.retain(|(known, ..)| known != place);
            intent.filters.push((*place, FilterOp::Eq, json!(value)));
            true
        }
        Element::Lacking(place) if scope.distance(intent.subject, place.0).is_some() => {
            intent.filters.push(scope.lack(*place));
            true
        }
        Element::Segment(name) => {
            intent.segments.push(name.clone());
            true
        }
        Element::Database => true,
        Element::Columns(_) | Element::Table(_) | Element::Lacking(_) => false,
    }
}

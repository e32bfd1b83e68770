//! Roles of named elements: tables, columns, values and segments.

use prospector_connect::filter::FilterOp;
use prospector_connect::query::Aggregation;
use serde_json::{Value, json};

use super::intent::{Group, Measure};
use super::names::Element;
use super::operators::Operator;
use super::parts::Kind;
use super::roles::{Assembly, STEP};
use super::scope::{Place, Presence};

/// The penalty for grouping by a foreign key instead of the name of the referenced row.
const CODE: f64 = 0.02;

/// The penalty for showing a yes/no column instead of the rows with yes.
const SHOWN_FLAG: f64 = 0.1;

/// The penalty for a number as a condition: above zero.
const ASSUMED_POSITIVE: f64 = 0.02;

impl Assembly<'_> {
    /// Gives the element that a part names its role.
    pub(super) fn name(&mut self, at: usize, is_group: bool) -> bool {
        let parts = self.parts;
        let Some(element) = parts[at].element() else { return false };
        let subject = self.intent.subject;
        match element {
            Element::Database => !is_group,
            Element::Table(table) if is_group => self.group_by_table(*table),
            Element::Table(table) if *table == subject => true,
            Element::Table(table) => match self.scope.distance(subject, *table) {
                // A table that every row refers to adds nothing; one that only some rows refer to is a condition.
                Some(distance) => {
                    self.penalty += STEP * distance as f64;
                    if let Presence::Optional(key) = self.scope.optional_key(subject, *table) {
                        self.intent.filters.push((key, FilterOp::Neq, Value::Null));
                    }
                    true
                }
                None => self.exist(*table, false),
            },
            Element::Columns(places) => self.name_columns(places, is_group),
            Element::Values(held) if !is_group => {
                let is_done = self.restrict(at, held) || self.filter(held, FilterOp::Eq);
                is_done || self.relate(at, held, false) || self.exist_with(held)
            }
            Element::Lacking(place) if !is_group => match self.scope.distance(subject, place.0) {
                Some(distance) => {
                    self.penalty += STEP * distance as f64;
                    self.intent.filters.push(self.scope.lack(*place));
                    true
                }
                None => false,
            },
            Element::Segment(name) => {
                let entity = self.scope.model.segment(name).and_then(|segment| self.scope.table_of(&segment.entity));
                let is_reached = entity.is_some_and(|table| self.scope.distance(subject, table).is_some());
                if is_reached && !self.intent.segments.contains(name) {
                    self.intent.segments.push(name.clone());
                }
                is_reached
            }
            Element::Values(_) | Element::Lacking(_) | Element::Metric(_) => false,
        }
    }

    /// Gives columns their role: a group, the time, a shown column, or a condition.
    fn name_columns(&mut self, places: &[Place], is_group: bool) -> bool {
        let subject = self.intent.subject;
        let reached = |place: &&Place| self.scope.distance(subject, place.0).is_some();
        let dates: Vec<Place> = places.iter().copied().filter(|place| self.scope.is_date(*place)).collect();
        if !is_group && !dates.is_empty() {
            // The time of a metric is declared.
            let is_free = self.intent.metrics().is_empty();
            let reached = dates.into_iter().filter(|place| self.scope.distance(subject, place.0).is_some());
            let reached: Vec<Place> = reached.filter(|_| is_free).collect();
            self.times.extend(&reached);
            if let (Measure::Rows(shown), [day]) = (&mut self.intent.measure, reached.as_slice()) {
                shown.push(*day);
            }
            return !reached.is_empty();
        }
        let Some(place) = self.scope.nearest(subject, &places.iter().filter(reached).copied().collect::<Vec<_>>())
        else {
            return false;
        };
        self.penalty += STEP * self.scope.distance(subject, place.0).unwrap_or_default() as f64;
        let is_count = self.intent.measure == Measure::Aggregate(Aggregation::Count, None);
        if is_group && is_count && place.0 == subject && self.scope.is_key(place) {
            return false;
        }
        if is_group {
            // The name of the referenced row is more useful than the key, unless a dimension is declared for metrics.
            let is_declared = !self.intent.metrics().is_empty() && self.scope.dimension_of(place).is_some();
            if self.scope.refers(place) && !is_declared {
                if let Some(table) = self.scope.target(place).filter(|_| place.0 == subject) {
                    Group::of_rows(self.scope, table).into_iter().for_each(|group| self.add_group(group));
                    return true;
                }
                self.penalty += CODE;
            }
            self.add_group(Group::of(place));
            return true;
        }
        match &mut self.intent.measure {
            Measure::Rows(columns) => {
                // `which tariffs are renewable`
                self.penalty += if self.scope.yes_of(place).is_some() { SHOWN_FLAG } else { 0.0 };
                columns.push(place);
                true
            }
            // `the share of the pets that have a microchip`
            Measure::Share(_) if place.0 == subject && self.scope.column(place).nullable => {
                self.intent.filters.push((place, FilterOp::Neq, Value::Null));
                true
            }
            Measure::Metrics(_) | Measure::Aggregate(..) | Measure::AverageCount(_) | Measure::Share(_) => false,
        }
    }

    /// Requires a number that is named after its table: `orders with a discount`.
    pub(super) fn take_positive(&mut self, at: usize) -> bool {
        let subject = self.intent.subject;
        let is_count = self.intent.measure == Measure::Aggregate(Aggregation::Count, None);
        let (Some(before), Some(Element::Columns(places))) = (at.checked_sub(1), self.parts[at].element()) else {
            return false;
        };
        let is_after = self.parts[before].element() == Some(&Element::Table(subject))
            && self.are_near(before, at)
            && self.parts[before].span.end() < self.parts[at].span.at;
        let is_compared = self.parts.get(at + 1).is_some_and(|next| {
            matches!(next.kind, Kind::Number(_)) || next.operator().is_some_and(Operator::compares)
        });
        let place = places.iter().find(|place| place.0 == subject && self.scope.is_number(**place));
        let Some(place) = place.filter(|_| is_count && is_after && !is_compared) else { return false };
        self.penalty += ASSUMED_POSITIVE;
        self.intent.filters.push((*place, FilterOp::Gt, json!(0)));
        true
    }

    fn group_by_table(&mut self, table: usize) -> bool {
        // `average freight per order`
        let is_average = matches!(self.intent.measure, Measure::Aggregate(Aggregation::Avg, _));
        if table == self.intent.subject && is_average {
            return true;
        }
        let named = self.scope.name_rows(table);
        // A count of rows by these rows is one, and texts that are not names distinguish no rows.
        let is_count = self.intent.measure == Measure::Aggregate(Aggregation::Count, None);
        let is_key = named.shown.iter().any(|column| self.scope.is_key((table, *column)));
        let is_told_apart = named.is_distinctive || !named.keys.is_empty() || is_key;
        if table == self.intent.subject && is_count || !is_told_apart {
            return false;
        }
        let Some(distance) = self.scope.distance(self.intent.subject, table) else { return false };
        self.penalty += STEP * distance as f64;
        Group::of_rows(self.scope, table).into_iter().for_each(|group| self.add_group(group));
        true
    }

    fn add_group(&mut self, group: Group) {
        if !self.intent.groups.iter().any(|known| known.place == group.place) {
            self.intent.groups.push(group);
        }
    }

    /// Returns whether a table is the subject, or is named in addition to it.
    pub(super) fn is_named(&self, table: usize) -> bool {
        table == self.intent.subject || self.parts.iter().any(|part| part.element() == Some(&Element::Table(table)))
    }
}

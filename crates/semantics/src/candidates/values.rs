//! Values as conditions: on a column, or on related rows in a junction table.

use prospector_connect::filter::FilterOp;
use serde_json::json;

use super::intent::Existence;
use super::names::Element;
use super::roles::{Assembly, STEP};
use super::scope::{Place, Scope};

impl Scope<'_> {
    /// Returns the value of the nearest column, as [`Scope::nearest`] does.
    pub(super) fn nearest_value<'v>(&self, subject: usize, held: &'v [(Place, String)]) -> Option<&'v (Place, String)> {
        let places: Vec<Place> = held.iter().map(|(place, _)| *place).collect();
        let place = self.nearest(subject, &places)?;
        held.iter().find(|(own, _)| *own == place)
    }
}

impl Assembly<'_> {
    pub(super) fn filter(&mut self, held: &[(Place, String)], op: FilterOp) -> bool {
        let Some(place) = self.column_of(held) else { return false };
        let mut spelled = held.iter().filter(|(at, _)| *at == place).map(|(_, value)| value);
        let (Some(value), None) = (spelled.next(), spelled.next()) else { return false };
        let value = self.scope.read_value(place, value);
        self.penalty += STEP * self.scope.distance(self.intent.subject, place.0).unwrap_or_default() as f64;
        // Another value of the same column is an alternative.
        let same = self.intent.filters.iter_mut().find(|(known, known_op, _)| {
            *known == place && op == FilterOp::Eq && matches!(known_op, FilterOp::Eq | FilterOp::In)
        });
        match same {
            Some((_, op, known)) => {
                let mut list = known.as_array().cloned().unwrap_or_else(|| vec![known.clone()]);
                if !list.contains(&value) {
                    list.push(value);
                }
                if list.len() > 1 {
                    (*op, *known) = (FilterOp::In, json!(list));
                }
            }
            None => self.intent.filters.push((place, op, value)),
        }
        true
    }

    /// Adds a condition on a value that a junction table leads to: films of a category.
    pub(super) fn exist_with(&mut self, held: &[(Place, String)]) -> bool {
        let subject = self.intent.subject;
        let reached = |(place, value): &(Place, String)| {
            let table = self.scope.bridge(subject, place.0)?;
            let filter = Some((*place, self.scope.read_value(*place, value)));
            Some(Existence { table, is_negated: false, filter, count: Vec::new() })
        };
        let mut found = held.iter().filter_map(reached);
        let existence = found.next().filter(|_| found.next().is_none() && self.allows_existence());
        let Some(existence) = existence else { return false };
        // `of the genre Horror`: the table was named before.
        let is_bare = |one: &Existence| one.table == existence.table && one.filter.is_none() && !one.is_negated;
        self.intent.existences.retain(|one| !is_bare(one));
        self.intent.existences.push(existence);
        true
    }

    /// Returns the column that a value refers to: the nearest; among equally near ones, one of a table that is named, and one that names
    /// rows.
    fn column_of(&self, held: &[(Place, String)]) -> Option<Place> {
        let far = |(place, _): &(Place, String)| Some((self.scope.distance(self.intent.subject, place.0)?, *place));
        let mut near: Vec<(usize, Place)> = held.iter().filter_map(far).collect();
        near.sort_unstable();
        near.dedup();
        let first = near.first()?.0;
        let mut places: Vec<Place> =
            near.into_iter().filter(|(far, _)| *far == first).map(|(_, place)| place).collect();
        let is_named = |place: &Place| self.is_named(place.0);
        let names_rows = |place: &Place| self.scope.name_rows(place.0).shown == [place.1];
        for is_meant in [&is_named as &dyn Fn(&Place) -> bool, &names_rows] {
            if places.iter().any(is_meant) {
                places.retain(is_meant);
            }
        }
        (places.len() == 1).then(|| places[0])
    }

    pub(super) fn is_between_values(&self, at: usize) -> bool {
        let is_value = |at: Option<usize>| {
            at.and_then(|at| self.parts.get(at)).is_some_and(|part| matches!(part.element(), Some(Element::Values(_))))
        };
        is_value(at.checked_sub(1)) && is_value(Some(at + 1))
    }
}

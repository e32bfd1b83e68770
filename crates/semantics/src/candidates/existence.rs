//! Conditions on the existence of related rows or of values: `with an invoice`, `never ordered`, `without an email`.

use prospector_connect::filter::FilterOp;
use prospector_connect::query::Aggregation;
use prospector_engine::query::aggregate::Grain;
use serde_json::Value;

use super::intent::{Existence, Measure};
use super::names::Element;
use super::operators::Operator;
use super::parts::Part;
use super::question::stems;
use super::roles::Assembly;
use super::scope::{Place, Presence};

impl Assembly<'_> {
    pub(super) fn allows_existence(&self) -> bool {
        let is_count = self.intent.measure == Measure::Aggregate(Aggregation::Count, None);
        is_count && self.intent.more.is_empty() || matches!(self.intent.measure, Measure::Rows(_) | Measure::Share(_))
    }

    /// Handles date columns that are named without a period: `shipped orders` have a shipping date. A whole name of
    /// a column is not a condition: the date itself may be requested. Returns `false` if a column cannot be reached.
    pub(super) fn take_days(&mut self) -> bool {
        let is_rows = matches!(self.intent.measure, Measure::Rows(_));
        for place in std::mem::take(&mut self.times) {
            if self.scope.distance(self.intent.subject, place.0).is_none() {
                return false;
            }
            let name = stems(&self.scope.column(place).name);
            // `open tickets` are not those that were opened: only a participle says that the event has happened.
            let is_bare = |part: &Part| {
                let tokens = &self.question.tokens[part.span.at..part.span.end()];
                tokens.iter().any(|token| name.contains(&token.lower))
            };
            let is_left = |part: &Part| {
                matches!(part.element(), Some(Element::Columns(places)) if places.contains(&place))
                    && (self.question.stems(part.span) == name || is_bare(part))
            };
            let left: Vec<usize> = (0..self.parts.len()).filter(|at| is_left(&self.parts[*at])).collect();
            if left.is_empty() && self.scope.column(place).nullable {
                self.intent.filters.push((place, FilterOp::Neq, Value::Null));
            }
            // A list shows the date.
            let is_shown = |at: &usize| is_rows && self.question.stems(self.parts[*at].span) == name;
            let unused: Vec<usize> = left.into_iter().filter(|at| !is_shown(at)).collect();
            unused.into_iter().for_each(|at| self.used[at] = false);
        }
        true
    }

    /// Groups by a unit of time if a trend is requested: the years of several, the months of one or without a period, the days of one month.
    pub(super) fn take_trend(&mut self) {
        let is_asked = self.parts.iter().any(|part| part.is(Operator::Trend));
        if !is_asked || self.intent.grain.is_some() || matches!(self.intent.measure, Measure::Rows(_)) {
            return;
        }
        let months = self.intent.period.as_ref().and_then(super::lower::count_months);
        self.intent.grain = Some(match months {
            Some(1) => Grain::Day,
            Some(months) if months > 12 && months % 12 == 0 => Grain::Year,
            _ => Grain::Month,
        });
    }

    /// Requires that rows of another table refer to those of the subject, or that none do.
    pub(super) fn exist(&mut self, table: usize, is_negated: bool) -> bool {
        let referrer = self.scope.referrer(table, self.intent.subject).filter(|_| self.allows_existence());
        // Rows are listed with those that refer to them directly: `visits with the name of their place` are visits.
        let is_rows = matches!(self.intent.measure, Measure::Rows(_));
        let is_direct = |table: &usize| self.scope.distance(*table, self.intent.subject) == Some(1);
        let referrer = referrer.filter(|table| !is_rows || is_direct(table));
        let fresh = referrer.filter(|table| !self.intent.existences.iter().any(|one| one.table == *table));
        self.intent.existences.extend(fresh.map(|table| Existence {
            table,
            is_negated,
            filter: None,
            count: Vec::new(),
        }));
        referrer.is_some()
    }

    /// Returns the part that a negation applies to: in `never assigned to a department`, the verb names columns of the rows that refer to
    /// departments.
    fn skip_verb(&mut self, at: usize) -> usize {
        let parts = self.parts;
        let (Some(Element::Columns(places)), Some(Element::Table(table))) =
            (parts[at].element(), parts.get(at + 1).and_then(Part::element))
        else {
            return at;
        };
        let referrer = self.scope.referrer(*table, self.intent.subject);
        if self.used[at] || !self.allows_existence() || !places.iter().any(|place| Some(place.0) == referrer) {
            return at;
        }
        self.used[at] = true;
        at + 1
    }

    fn is_adjacent(&self, at: usize) -> bool {
        self.parts.get(at + 1).is_some_and(|next| self.parts[at].span.end() == next.span.at)
    }

    /// Requires that the related rows that were named before have a value, or refer to a row that has it: `bookings from Japan`.
    pub(super) fn restrict(&mut self, at: usize, held: &[(Place, String)]) -> bool {
        let before = at.checked_sub(1).filter(|before| self.are_near(*before, at));
        let Some(Element::Table(table)) = before.and_then(|before| self.parts[before].element()) else { return false };
        let is_open = |one: &&mut Existence| one.table == *table && one.filter.is_none() && one.count.is_empty();
        let Some(existence) = self.intent.existences.iter_mut().find(is_open) else { return false };
        let Some((place, value)) = self.scope.nearest_value(*table, held) else { return false };
        existence.filter = Some((*place, self.scope.read_value(*place, value)));
        true
    }

    /// Requires that related rows have a value, or that none do: `a smart meter`, `no business customers`.
    pub(super) fn relate(&mut self, at: usize, held: &[(Place, String)], is_negated: bool) -> bool {
        let subject = self.intent.subject;
        // `never cancelled a booking`, but not `smart, with a meter`.
        let is_near = if is_negated { self.are_near(at, at + 1) } else { self.is_adjacent(at) };
        let next = self.parts.get(at + 1).filter(|_| is_near && self.allows_existence());
        let Some(Element::Table(other)) = next.and_then(Part::element) else { return false };
        let Some(table) = self.scope.referrer(*other, subject) else { return false };
        let Some((place, value)) = self.scope.nearest_value(table, held) else { return false };
        let filter = Some((*place, self.scope.read_value(*place, value)));
        self.intent.existences.push(Existence { table, is_negated, filter, count: Vec::new() });
        self.used[at + 1] = true;
        true
    }

    fn is_of_subject(&self, at: usize) -> bool {
        self.parts.get(at).and_then(Part::element) == Some(&Element::Table(self.intent.subject))
    }

    /// Returns whether a table or column is named before a part.
    fn is_of_other(&self, at: usize) -> bool {
        let mut before = self.parts[..at].iter();
        before.any(|part| matches!(part.element(), Some(Element::Table(_) | Element::Columns(_))))
    }

    /// Handles `without an email`, `never ordered`, `not in Brazil`.
    pub(super) fn exclude(&mut self, at: usize) -> bool {
        let Some(next) = (at + 1..self.parts.len()).find(|next| self.parts[*next].element().is_some()) else {
            return false;
        };
        let subject = self.intent.subject;
        let next = self.skip_verb(next);
        if self.used[next] {
            return false;
        }
        let is_done = match self.parts[next].element() {
            Some(Element::Table(table)) if self.allows_existence() => match self.scope.optional_key(subject, *table) {
                Presence::Optional(key) => {
                    self.intent.filters.push((key, FilterOp::Eq, Value::Null));
                    true
                }
                _ => self.exist(*table, true),
            },
            Some(Element::Columns(places)) => match self.scope.nearest(subject, places) {
                Some(place) if self.is_named(place.0) && self.scope.column(place).nullable && !self.is_number(next) => {
                    self.intent.filters.push((place, FilterOp::Eq, Value::Null));
                    true
                }
                _ => false,
            },
            // `customers without returned orders` have no such order: they are not the customers of the other orders.
            Some(Element::Values(held)) => {
                let held = held.clone();
                let is_absence = self.is_of_subject(next + 1) && self.are_near(next, next + 1) && self.is_of_other(at);
                self.relate(next, &held, true) || !is_absence && self.filter(&held, FilterOp::Neq)
            }
            _ => false,
        };
        self.used[next] |= is_done;
        is_done
    }
}

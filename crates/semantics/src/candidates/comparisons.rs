//! Comparisons of columns with numbers.

use prospector_connect::filter::FilterOp;
use prospector_connect::query::Aggregation;
use prospector_text::identifiers;

use super::intent::{Existence, Group, Measure, to_number};
use super::lower::find_unit;
use super::names::Element;
use super::operators::Operator;
use super::parts::{Kind, Part};
use super::roles::Assembly;
use super::scope::Place;

impl Assembly<'_> {
    /// Applies `more than 5` to the number before or after it.
    pub(super) fn compare(&mut self, at: usize, operator: Operator) -> bool {
        let op = match operator {
            Operator::More => FilterOp::Gt,
            Operator::AtLeast => FilterOp::Gte,
            Operator::Less => FilterOp::Lt,
            _ => FilterOp::Lte,
        };
        let number = |at: Option<usize>| match self.parts.get(at?)?.kind {
            Kind::Number(number) => Some((at?, number)),
            _ => None,
        };
        // `more than 5`, `5 or more`
        let (found, after) = match (number(Some(at + 1)), number(at.checked_sub(1))) {
            (Some(found), _) => (found, at + 2),
            (None, Some(found)) if matches!(operator, Operator::AtLeast | Operator::AtMost) => (found, at + 1),
            _ => return false,
        };
        let bounds = [(op, found.1)];
        // `a price of 20 or more`: the column precedes the number.
        let filters = self.intent.filters.len();
        let is_compared = self.compare_column(at.min(found.0), after, &bounds) || self.compare_count(after, &bounds);
        if let Some((place, ..)) = self.intent.filters.get(filters) {
            self.take_unit(*place, self.parts[found.0].span.end());
        }
        self.used[found.0] |= is_compared;
        is_compared
    }

    /// Uses the word after a number that is the unit in the name of its column: `kg` of `weight_kg`.
    fn take_unit(&mut self, place: Place, at: usize) {
        let unit = self.question.tokens.get(at).map(|token| token.lower.as_str());
        let words = identifiers::words(&self.scope.column(place).name);
        if words.len() > 1 && words.last().map(String::as_str) == unit {
            self.units.push(at);
        }
    }

    /// Compares the number of rows of the table that follows: `with more than 5 orders`.
    fn compare_count(&mut self, after: usize, bounds: &[(FilterOp, f64)]) -> bool {
        let Some(Element::Table(table)) = self.parts.get(after).and_then(Part::element) else { return false };
        let subject = self.intent.subject;
        if *table == subject {
            let is_count = self.intent.measure == Measure::Aggregate(Aggregation::Count, None);
            if is_count && self.intent.having.is_empty() {
                self.intent.having = bounds.to_vec();
                self.used[after] = true;
            }
            return is_count;
        }
        let referrer = self.scope.referrer(*table, subject).filter(|_| self.allows_existence());
        let Some(table) = referrer else { return false };
        let count = bounds.to_vec();
        self.intent.existences.push(Existence { table, is_negated: false, filter: None, count });
        self.used[after] = true;
        true
    }

    /// Returns whether a comparison applies to the measure and not to rows: `countries with total sales above 1000`.
    fn is_measured(&self, element: &Element) -> bool {
        match (element, &self.intent.measure) {
            (Element::Metric(name), Measure::Metrics(all)) => all.first() == Some(name),
            (Element::Columns(places), Measure::Aggregate(aggregation, Some(place))) => {
                let operator = match aggregation {
                    Aggregation::Sum => Operator::Sum,
                    Aggregation::Avg => Operator::Average,
                    _ => return false,
                };
                places.contains(place)
                    && self.parts.iter().zip(&self.used).any(|(part, used)| *used && part.is(operator))
            }
            _ => false,
        }
    }

    pub(super) fn compare_range(&mut self, at: usize) -> bool {
        let number = |at: usize| match self.parts.get(at).map(|part| &part.kind) {
            Some(Kind::Number(number)) => Some(*number),
            _ => None,
        };
        let (Some(from), Some(to)) = (number(at + 1), number(at + 2)) else { return false };
        if !self.compare_column(at, at + 3, &[(FilterOp::Gte, from), (FilterOp::Lte, to)]) {
            return false;
        }
        (self.used[at + 1], self.used[at + 2]) = (true, true);
        true
    }

    /// Filters by the numeric column right before or right after a comparison.
    fn compare_column(&mut self, at: usize, after: usize, bounds: &[(FilterOp, f64)]) -> bool {
        let near = [at.checked_sub(1), Some(after)].into_iter().flatten();
        for place in near {
            let Some(element) = self.parts.get(place).and_then(Part::element) else { continue };
            if self.is_measured(element) {
                self.intent.having.extend(bounds);
                self.used[place] = true;
                return true;
            }
            let Element::Columns(places) = element else { continue };
            // `5 minutes`: a partial match of a column name may be the unit of the number.
            if place == after && self.parts[place].score < 1.0 {
                continue;
            }
            let numbers: Vec<Place> = places.iter().copied().filter(|place| self.scope.is_number(*place)).collect();
            let Some(column) = self.scope.nearest(self.intent.subject, &numbers) else { continue };
            // The column is now a filter and no longer a column to show.
            if let Measure::Rows(columns) = &mut self.intent.measure {
                columns.retain(|shown| *shown != column);
            }
            self.used[place] = true;
            self.intent.filters.extend(bounds.iter().map(|(op, number)| (column, *op, to_number(*number))));
            return true;
        }
        false
    }

    /// Takes the period of the rows, or a further one that is compared with it: a year with the next one, a quarter with that of another
    /// year.
    pub(super) fn take_period(&mut self, period: (String, String)) -> bool {
        let intent = &mut self.intent;
        let Some(first) = &mut intent.period else {
            intent.period = Some(period);
            return true;
        };
        let grain = intent.grain.or_else(|| find_unit(&period).map(|(grain, _)| grain));
        let are_units = [&*first, &period].into_iter().all(|period| find_unit(period).is_some());
        if grain.is_none() {
            return false;
        } else if intent.others.is_empty() && first.1 == period.0 {
            first.1 = period.1;
        } else if intent.others.is_empty() && first.0 == period.1 {
            first.0 = period.0;
        } else if are_units && !matches!(intent.measure, Measure::Rows(_)) {
            intent.others.push(period);
        } else {
            return false;
        }
        intent.grain = grain;
        true
    }

    /// Groups by the columns of compared values, which are shown together.
    pub(super) fn group_compared(&mut self) {
        let intent = &mut self.intent;
        let is_rows = matches!(intent.measure, Measure::Rows(_));
        let is_share = matches!(intent.measure, Measure::Share(_));
        let is_average = matches!(intent.measure, Measure::Aggregate(Aggregation::Avg, _));
        let is_apart = is_average && !self.parts.iter().any(|part| part.is(Operator::Or));
        if (is_apart || self.parts.iter().any(|part| part.is(Operator::Compare))) && !is_rows && !is_share {
            let several = intent.filters.iter().filter(|(_, op, _)| *op == FilterOp::In).map(|(place, ..)| *place);
            let fresh: Vec<Place> =
                several.filter(|place| !intent.groups.iter().any(|group| group.place == *place)).collect();
            intent.groups.extend(fresh.into_iter().map(Group::of));
        }
    }
}

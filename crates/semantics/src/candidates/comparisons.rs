//! Numbers that a column is compared with.

use prospector_connect::filter::FilterOp;

use super::intent::Measure;
use super::names::Element;
use super::operators::Operator;
use super::parts::{Kind, Part};
use super::roles::{Assembly, to_number};
use super::scope::Place;

impl Assembly<'_> {
    /// `more than 5`: of the number before or after.
    pub(super) fn compare(&mut self, at: usize, operator: Operator) -> bool {
        let op = match operator {
            Operator::More => FilterOp::Gt,
            Operator::AtLeast => FilterOp::Gte,
            Operator::Less => FilterOp::Lt,
            _ => FilterOp::Lte,
        };
        let Some(Kind::Number(number)) = self.parts.get(at + 1).map(|part| part.kind.clone()) else { return false };
        if !self.compare_column(at, at + 2, &[(op, number)]) {
            return false;
        }
        self.used[at + 1] = true;
        true
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

    /// Filters by the column of numbers that stands right before a comparison, or right after it.
    fn compare_column(&mut self, at: usize, after: usize, bounds: &[(FilterOp, f64)]) -> bool {
        let near = [at.checked_sub(1), Some(after)].into_iter().flatten();
        for place in near {
            let Some(Element::Columns(places)) = self.parts.get(place).and_then(Part::element) else { continue };
            // `5 minutes`: what only resembles a column may be the unit of the number.
            if place == after && self.parts[place].score < 1.0 {
                continue;
            }
            let numbers: Vec<Place> = places.iter().copied().filter(|place| self.scope.is_number(*place)).collect();
            let Some(column) = self.scope.nearest(self.intent.subject, &numbers) else { continue };
            // The column is a condition now, and no column to show.
            if let Measure::Rows(columns) = &mut self.intent.measure {
                columns.retain(|shown| *shown != column);
            }
            self.used[place] = true;
            self.intent.filters.extend(bounds.iter().map(|(op, number)| (column, *op, to_number(*number))));
            return true;
        }
        false
    }
}

//! Roles of numbers: numbers of rows, keys, and values of columns.

use prospector_connect::filter::FilterOp;

use super::intent::{Rank, to_number};
use super::names::Element;
use super::operators::Operator;
use super::parts::{Kind, Part};
use super::question::as_limit;
use super::roles::Assembly;
use super::scope::Place;

impl Assembly<'_> {
    /// Returns the number of rows next to a word such as `top`.
    pub(super) fn limit_near(&mut self, at: usize) -> Option<usize> {
        let near = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        for place in near {
            if let Some(Kind::Number(number)) = self.parts.get(place).map(|part| &part.kind)
                && !self.used[place]
                && let Some(limit) = as_limit(*number)
            {
                self.used[place] = true;
                return Some(limit);
            }
        }
        None
    }

    /// Gives a number its role: a key, the value of a column, or the number of rows of a ranking.
    pub(super) fn take_number(&mut self, at: usize, number: f64) -> bool {
        // `5 or more`: the number belongs to the comparison.
        let next = self.parts.get(at + 1).and_then(Part::operator);
        if matches!(next, Some(Operator::AtLeast | Operator::AtMost)) {
            return false;
        }
        if self.is_bound(at) {
            return false;
        }
        if self.is_ranked(at) {
            // `the lightest five cars`: the number of rows.
            let (Some(limit), Some(rank)) = (as_limit(number), &mut self.intent.rank) else { return false };
            (rank.limit, rank.ties) = (limit, false);
            return true;
        }
        // `4 cylinders`: the value of the column that follows.
        let is_after_column = at.checked_sub(1).is_some_and(|before| {
            self.are_near(before, at) && matches!(self.parts[before].element(), Some(Element::Columns(_)))
        });
        if !is_after_column && self.take_value(at, number) {
            return true;
        }
        // `which three`, `top five`: the number of a later ranking; or `customer 17`: its key.
        if let Some(before) = at.checked_sub(1).filter(|before| self.are_near(*before, at)) {
            match self.parts[before].element() {
                // `cars with 4 doors` names no key.
                Some(Element::Table(table)) if self.parts[before].span.end() == self.parts[at].span.at => {
                    let keys: Vec<usize> = (0..self.scope.table(*table).columns.len())
                        .filter(|column| self.scope.column((*table, *column)).primary_key)
                        .collect();
                    if let [key] = keys.as_slice()
                        && self.scope.distance(self.intent.subject, *table).is_some()
                    {
                        self.intent.filters.push(((*table, *key), FilterOp::Eq, to_number(number)));
                        return true;
                    }
                }
                Some(Element::Columns(places)) => {
                    let places: Vec<Place> = places
                        .iter()
                        .copied()
                        .filter(|place| self.scope.column(*place).column_type.is_numeric())
                        .collect();
                    if let Some(place) = self.scope.nearest(self.intent.subject, &places) {
                        self.intent.filters.push((place, FilterOp::Eq, to_number(number)));
                        self.used[before] = true;
                        return true;
                    }
                }
                _ => {}
            }
        }
        let later = self.parts[at + 1..].iter().any(Part::is_superlative);
        // `the 10 most borrowed titles`: the superlative takes it, unless it already has its measure.
        let is_before = self.parts.get(at + 1).is_some_and(Part::is_superlative) && !self.used[at + 1];
        match (as_limit(number).filter(|_| !is_before), &mut self.intent.rank) {
            (Some(limit), Some(rank)) if rank.ties => {
                (rank.limit, rank.ties) = (limit, false);
                true
            }
            (Some(limit), None) if later => {
                let next = (at + 1..self.parts.len()).find(|next| self.parts[*next].is_superlative());
                let descending = next.is_some_and(|next| self.parts[next].is(Operator::Most));
                next.into_iter().for_each(|next| self.used[next] = true);
                self.intent.rank = Some(Rank { descending, limit, ties: false, by: None });
                if self.parts[at + 1].element().is_some() && !self.used[at + 1] && self.are_near(at, at + 1) {
                    self.used[at + 1] = self.group(at + 1);
                }
                true
            }
            _ => false,
        }
    }

    /// Returns whether a number follows the column of a superlative: `highest price 5`.
    fn is_ranked(&self, at: usize) -> bool {
        let Some(column) = at.checked_sub(1).filter(|column| self.are_near(*column, at)) else { return false };
        let superlative = column.checked_sub(1).map(|before| &self.parts[before]);
        matches!(self.parts[column].element(), Some(Element::Columns(_)))
            && superlative.is_some_and(Part::is_superlative)
    }

    /// Returns whether a number is the bound of a comparison, which is neither a value nor a number of rows: `under 20`, `older than 20`.
    fn is_bound(&self, at: usize) -> bool {
        let is_number = |part: &Part| matches!(part.kind, Kind::Number(_));
        let before = (0..at).rev().find(|before| !is_number(&self.parts[*before]));
        let is_comparison = before.and_then(|before| self.parts[before].operator()).is_some_and(Operator::compares);
        let end = at.checked_sub(1).map_or(0, |before| self.parts[before].span.end());
        let between = &self.question.tokens[end..self.parts[at].span.at];
        is_comparison || between.iter().any(|token| token.lower == "than")
    }

    /// Filters by the numeric column whose whole name directly follows a number.
    fn take_value(&mut self, at: usize, number: f64) -> bool {
        let parts = self.parts;
        let next = at + 1;
        let Some(Element::Columns(places)) = parts.get(next).and_then(Part::element) else { return false };
        if self.used[next] || parts[next].score < 1.0 || parts[at].span.end() != parts[next].span.at {
            return false;
        }
        let numbers: Vec<Place> = places.iter().copied().filter(|place| self.scope.is_number(*place)).collect();
        let Some(place) = self.scope.nearest(self.intent.subject, &numbers) else { return false };
        self.intent.filters.push((place, FilterOp::Eq, to_number(number)));
        self.used[next] = true;
        true
    }
}

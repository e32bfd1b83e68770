//! The measures that rows are ranked by.

use prospector_connect::query::Aggregation;

use super::intent::{Group, Intent, Measure};
use super::names::Element;
use super::operators::{Operator, is_quantifier};
use super::parts::{Kind, Part};
use super::scope::Place;
use super::seeds::{MAX_AMOUNTS, Seed, Seeder};

/// The penalty for a ranking by a measure that the question does not name: large enough that the user has to confirm.
const ASSUMED_MEASURE: f64 = 0.14;

impl Seeder<'_> {
    /// Ranks rows by all that may be meant if a question names no measure: `our best customers`, `the most popular tariff`.
    pub(super) fn seed_rankings(&self, at: usize, table: usize, seeds: &mut Vec<Seed>) {
        let is_measure = |(other, part): (usize, &Part)| match part.element() {
            Some(Element::Table(_)) => other != at,
            Some(Element::Metric(_) | Element::Columns(_)) => true,
            _ => part.is(Operator::Count),
        };
        let is_ranked = self.parts.iter().any(Part::is_superlative);
        if !is_ranked || self.parts.iter().enumerate().any(is_measure) {
            return;
        }
        let metrics = self.scope.model.metrics().iter().filter_map(|metric| {
            let subject = self.scope.subject_of(&metric.name)?;
            Some((subject, Measure::Metrics(vec![metric.name.clone()])))
        });
        // `the biggest stadium`, by its numbers.
        if let Some(size) = self.parts.iter().find(|part| self.is_of_size(part)) {
            let numbers = self.scope.list_numbers(table);
            for by in numbers.iter().filter(|_| numbers.len() <= MAX_AMOUNTS) {
                let intent = Intent::rank_rows(table, size.is(Operator::Most), *by);
                seeds.push(Seed { intent, used: vec![at], penalty: ASSUMED_MEASURE });
            }
        }
        let children = self.scope.children(table).into_iter();
        let counts = children.map(|child| (child, Measure::Aggregate(Aggregation::Count, None)));
        for (subject, measure) in metrics.chain(counts) {
            if subject != table && self.scope.distance(subject, table).is_some() {
                let mut intent = Intent::new(subject, measure);
                intent.groups = Group::of_rows(self.scope, table);
                seeds.push(Seed { intent, used: vec![at], penalty: ASSUMED_MEASURE });
            }
        }
    }

    /// Returns the rows of a table ranked by a numeric column that is named later, and its part: `the five biggest stadiums and their
    /// capacity`.
    pub(super) fn find_ranked(&self, at: usize, table: usize) -> Option<(usize, Intent)> {
        let rank = (at.saturating_sub(2)..at).rev().find(|before| self.parts[*before].is_superlative())?;
        let of_number = |at: usize| match self.parts[at].element() {
            Some(Element::Columns(places)) => {
                let numbers: Vec<Place> = places.iter().copied().filter(|place| self.scope.is_number(*place)).collect();
                Some((at, self.scope.nearest(table, &numbers)?))
            }
            _ => None,
        };
        let mut named = (at + 1..self.parts.len()).filter_map(of_number);
        let (column, by) = named.next().filter(|_| named.next().is_none())?;
        Some((column, Intent::rank_rows(table, self.is_operator(rank, Operator::Most), by)))
    }

    /// Returns the superlative before a table, whether it is the maximum, and whether it is one of size: `the largest bills`, not `the most
    /// bills`.
    pub(super) fn find_superlative(&self, at: usize) -> Option<(usize, bool, bool)> {
        let before = (0..at).rev().find(|before| !matches!(self.parts[*before].kind, Kind::Number(_)))?;
        let part = &self.parts[before];
        part.is_superlative().then(|| (before, part.is(Operator::Most), self.is_of_size(part)))
    }

    /// Returns whether a part is a superlative that is not one of number.
    fn is_of_size(&self, part: &Part) -> bool {
        let mut tokens = self.question.tokens[part.span.at..part.span.end()].iter();
        part.is_superlative() && tokens.any(|token| !is_quantifier(&token.lower))
    }
}

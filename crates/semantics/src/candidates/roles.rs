//! Assigns roles to the parts of a question once its measure is chosen.

use prospector_connect::filter::FilterOp;
use prospector_connect::query::Aggregation;
use prospector_text::{identifiers, periods, stem};

use super::intent::{Condition, Group, Intent, Measure, Rank};
use super::names::Element;
use super::operators::Operator;
use super::parts::{Kind, Part};
use super::question::{Question, Token, stems};
use super::scope::{Place, Scope, Time};
use super::seeds::Seed;

/// The number of groups shown in a ranking without a number.
const DEFAULT_LIMIT: usize = 10;

/// The penalty for a row count where the rows themselves are requested.
const COUNTED: f64 = 0.08;

/// The penalty for groups with counts where rows can be listed.
const COUNTED_GROUPS: f64 = 0.08;

/// The penalty for choosing the first of several date columns: large enough that the user has to confirm.
const ASSUMED_TIME: f64 = 0.13;

/// The penalty for a grouping by a column of another table that is named like a unit of time.
const OTHER_TIME: f64 = 0.2;

/// The penalty for alternatives that are values of different columns.
const APART: f64 = 0.15;

/// The penalty for a share with several conditions, one of which may restrict all its rows: large enough that the user has to confirm.
const SEVERAL: f64 = 0.13;

/// The penalty for each join between the subject and a part.
pub(super) const STEP: f64 = 0.01;

/// An interpretation while its parts are assigned roles.
pub(super) struct Assembly<'a> {
    pub(super) scope: &'a Scope<'a>,
    pub(super) question: &'a Question,
    pub(super) parts: &'a [Part],
    pub(super) intent: Intent,
    pub(super) used: Vec<bool>,
    pub(super) penalty: f64,
    /// The date columns that are named.
    pub(super) times: Vec<Place>,
    /// The words that are units of numbers, by position.
    pub(super) units: Vec<usize>,
    /// The number of filters that precede the measure.
    before: usize,
}

impl<'a> Assembly<'a> {
    /// Assigns each part the role that keys and types permit. Returns `None` if a measure lacks a required part.
    pub(super) fn build(
        scope: &'a Scope<'a>,
        question: &'a Question,
        parts: &'a [Part],
        seed: Seed,
    ) -> Option<Assembly<'a>> {
        let Seed { intent, used: said, penalty } = seed;
        let mut used = vec![false; parts.len()];
        said.iter().for_each(|at| used[*at] = true);
        let mut assembly =
            Assembly { scope, question, parts, intent, used, penalty, times: Vec::new(), units: Vec::new(), before: 0 };
        let mut end = said.iter().max().copied();
        // `the share of dogs that have a chip`: dogs are all the rows.
        let is_value = |part: &Part| matches!(part.element(), Some(Element::Values(_) | Element::Lacking(_)));
        while let Some(at) = end.filter(|at| parts[*at].is(Operator::Share) || is_value(&parts[*at]))
            && assembly.are_near(at, at + 1)
            && is_value(&parts[at + 1])
        {
            end = Some(at + 1);
        }
        for at in 0..parts.len() {
            if !assembly.used[at] {
                assembly.place(at);
            }
            if Some(at) == end {
                assembly.before = assembly.intent.filters.len();
            }
        }
        assembly.finish().then_some(assembly)
    }

    fn place(&mut self, at: usize) {
        match self.parts[at].kind.clone() {
            Kind::Operator(operator) => self.used[at] = self.apply(at, operator),
            Kind::Period(from, to) => self.used[at] = self.take_period((from, to)),
            // `the month with the most orders`; `month` alone has no role.
            Kind::Grain(_) => {
                let next = self.parts.get(at + 1);
                let is_ranked = next.is_some_and(Part::is_superlative);
                self.used[at] = is_ranked && self.are_near(at, at + 1) && self.group(at);
            }
            Kind::Series(_) => self.used[at] = self.group(at),
            Kind::Number(number) => self.used[at] = self.take_number(at, number),
            Kind::Named(_) => {
                let is_used = !self.is_counted_apart(at)
                    && (self.says_column(at) || self.name(at, false) || self.take_positive(at));
                self.used[at] = is_used;
            }
        }
    }

    /// Returns whether a part is a table joined by `and` to the counted one: `albums and tracks` are not albums with tracks.
    fn is_counted_apart(&self, at: usize) -> bool {
        let is_count = matches!(self.intent.measure, Measure::Aggregate(Aggregation::Count, None));
        let is_subject = |before: usize| self.parts[before].element() == Some(&Element::Table(self.intent.subject));
        is_count
            && matches!(self.parts[at].element(), Some(Element::Table(_)))
            && (at.checked_sub(1).is_some_and(|before| is_subject(before) && self.are_joined(before, at))
                || at + 1 < self.parts.len() && is_subject(at + 1) && self.are_joined(at, at + 1))
    }

    /// Returns whether a part is the column of the value that follows or directly precedes it: `rated R`, `country Germany`, `the North
    /// region`.
    fn says_column(&self, at: usize) -> bool {
        let Some(Element::Columns(places)) = self.parts[at].element() else { return false };
        let is_held = |other: usize| {
            matches!(self.parts.get(other).and_then(Part::element), Some(Element::Values(held))
                if held.iter().any(|(place, _)| places.contains(place)))
        };
        let follows = |before: usize| self.parts[before].span.end() == self.parts[at].span.at && is_held(before);
        self.are_near(at, at + 1) && is_held(at + 1) || at.checked_sub(1).is_some_and(follows)
    }

    /// Returns whether there are only stop words between two parts.
    pub(super) fn are_near(&self, first: usize, second: usize) -> bool {
        let parts = self.parts;
        second < parts.len() && self.question.are_near(parts[first].span.end(), parts[second].span.at)
    }

    fn are_joined(&self, first: usize, second: usize) -> bool {
        self.question.are_joined(self.parts[first].span.end(), self.parts[second].span.at)
    }

    fn apply(&mut self, at: usize, operator: Operator) -> bool {
        let is_rows = matches!(self.intent.measure, Measure::Rows(_));
        match operator {
            // `paid by credit card` names a value, not a group.
            Operator::By => {
                if self.is_passive(at) {
                    return false;
                }
                self.group_from(at)
                    || matches!(self.parts.get(at + 1).and_then(Part::element), Some(Element::Values(_)))
            }
            Operator::Which => self.ask_which(at),
            Operator::Most | Operator::Least => self.rank(at, operator == Operator::Most),
            Operator::Latest | Operator::Earliest if is_rows => {
                let Some(day) = self.take_day(at + 1) else { return false };
                let limit = self.limit_near(at).unwrap_or(1);
                let descending = operator == Operator::Latest;
                self.intent.rank = Some(Rank { descending, limit, ties: false, by: Some(day) });
                true
            }
            Operator::Trend | Operator::Compare => true,
            // `the share of the movies in the list`
            Operator::List => {
                is_rows || at == 0 || self.parts.iter().any(|part| part.operator().is_some_and(Operator::computes))
            }
            Operator::Or => self.is_between_values(at),
            Operator::Without => self.exclude(at),
            Operator::More | Operator::AtLeast | Operator::Less | Operator::AtMost => self.compare(at, operator),
            Operator::Between => self.compare_range(at),
            // `the most customers, and how many in each`
            Operator::Count => {
                let is_again = self.parts.get(at + 1).is_none_or(|part| part.is(Operator::By));
                let is_count = matches!(self.intent.measure, Measure::Aggregate(Aggregation::Count, _));
                matches!(self.intent.measure, Measure::Share(_)) || is_count && is_again
            }
            Operator::Distinct => {
                matches!(self.intent.measure, Measure::Aggregate(Aggregation::Count | Aggregation::CountDistinct, _))
            }
            // `the total number of orders`
            Operator::Sum => {
                let is_summed = matches!(self.intent.measure, Measure::Aggregate(Aggregation::Sum, _));
                let is_counted = |at: usize| self.parts[at].is(Operator::Count) && self.used[at];
                let next = self.parts.get(at + 1);
                // `how many orders in total`
                next.is_some_and(|_| is_counted(at + 1))
                    || next.is_none_or(|part| part.element().is_none()) && (0..at).any(is_counted)
                    || is_summed && self.intent.rank.is_some()
            }
            Operator::Average
            | Operator::When
            | Operator::Share
            | Operator::Latest
            | Operator::Earliest
            | Operator::Again => false,
        }
    }

    /// Handles `which country`, `in which month`, `what customers`: the groups, or the rows.
    fn ask_which(&mut self, at: usize) -> bool {
        let is_rows = matches!(self.intent.measure, Measure::Rows(_));
        let is_subject = |part: &Part| part.element() == Some(&Element::Table(self.intent.subject));
        if self.parts.get(at + 1).is_some_and(is_subject) {
            let is_count = self.intent.measure == Measure::Aggregate(Aggregation::Count, None);
            self.penalty += if is_count { COUNTED } else { 0.0 };
            return true;
        }
        let is_next = self.are_near(at, at + 1) && !self.used[at + 1];
        // `which customer has the largest bill`: the customer of the bill.
        if is_next
            && is_rows
            && self.intent.rank.is_some()
            && let Some(Element::Table(table)) = self.parts[at + 1].element()
            && self.scope.distance(self.intent.subject, *table).is_some()
        {
            let shown = self.scope.name_rows(*table).shown.into_iter().map(|column| (*table, column));
            if let Measure::Rows(columns) = &mut self.intent.measure {
                columns.extend(shown);
            }
            self.used[at + 1] = true;
        }
        if is_next && !is_rows && !self.is_number(at + 1) && !self.is_day(at + 1) {
            self.used[at + 1] = self.group(at + 1);
        }
        // `which tariffs` asks for tariffs.
        !is_next || self.used[at + 1] || !matches!(self.parts[at + 1].element(), Some(Element::Table(_)))
    }

    /// Returns whether a part names numeric columns.
    pub(super) fn is_number(&self, at: usize) -> bool {
        self.are_columns(at, |place| self.scope.is_number(place))
    }

    /// Returns whether a part names date columns.
    fn is_day(&self, at: usize) -> bool {
        self.are_columns(at, |place| self.scope.is_date(place))
    }

    /// Uses the date that a part names, `the earliest hiring date`, or returns that of the subject.
    fn take_day(&mut self, at: usize) -> Option<Place> {
        let named = match self.parts.get(at).and_then(Part::element) {
            Some(Element::Columns(places)) if self.is_day(at) => self.scope.nearest(self.intent.subject, places),
            _ => None,
        };
        if named.is_some() {
            self.used[at] = true;
            return named;
        }
        match self.scope.time(self.intent.subject, &[]) {
            Some(Time::Day(day)) => Some(day),
            _ => None,
        }
    }

    fn are_columns(&self, at: usize, are: impl Fn(Place) -> bool) -> bool {
        matches!(self.parts[at].element(), Some(Element::Columns(places)) if places.iter().all(|place| are(*place)))
    }

    /// Returns whether `by` names who did something: `rooms booked by guests`, where the verb matches a table.
    fn is_passive(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).map(|before| &self.parts[before]) else { return false };
        let Some(Element::Table(table)) = before.element() else { return false };
        let own = identifiers::words(&self.scope.table(*table).name);
        let tokens = &self.question.tokens[before.span.at..before.span.end()];
        let is_noun = |token: &Token| own.iter().any(|word| stem::singular(word) == stem::singular(&token.lower));
        let has_stems = |token: &Token| own.iter().any(|word| stems(word) == token.stems);
        let is_next = matches!(self.parts.get(at + 1).and_then(Part::element), Some(Element::Table(_)));
        is_next
            && before.span.end() == self.parts[at].span.at
            && tokens.iter().any(|token| has_stems(token) && !is_noun(token))
    }

    /// Returns whether a part names the measure or its table.
    fn names_measure(&self, at: usize) -> bool {
        let aggregates = self.intent.aggregates();
        let is_measured = |place: &Place| aggregates.iter().any(|(_, _, measured)| *measured == Some(*place));
        match self.parts.get(at).and_then(Part::element) {
            Some(Element::Table(table)) => *table == self.intent.subject && !aggregates.is_empty(),
            Some(Element::Columns(places)) => places.iter().any(is_measured),
            _ => false,
        }
    }

    /// Groups by the following parts, joined by `and`.
    fn group_from(&mut self, at: usize) -> bool {
        let mut next = at + 1;
        // `top five customers by order amount`: the order, not a group.
        if self.intent.rank.is_some() && !self.intent.groups.is_empty() {
            while next < self.parts.len() && (self.used[next] || self.names_measure(next)) {
                self.used[next] = true;
                next += 1;
            }
            if next > at + 1 {
                return true;
            }
        }
        // `in each` refers to the group that was named before.
        let mut any = next == self.parts.len() && !self.intent.groups.is_empty();
        while next < self.parts.len() && (next == at + 1 || self.are_joined(next - 1, next)) && !self.used[next] {
            if !self.group(next) {
                break;
            }
            (self.used[next], any) = (true, true);
            next += 1;
        }
        any
    }

    /// Groups by one part.
    pub(super) fn group(&mut self, at: usize) -> bool {
        match &self.parts[at].kind {
            Kind::Grain(grain) | Kind::Series(grain) => {
                let is_new = self.intent.grain.is_none_or(|known| known == *grain);
                self.intent.grain = Some(*grain);
                is_new
            }
            Kind::Named(_) => {
                let is_named = self.name(at, true);
                // `by year` is a period rather than the `model_year` of another table.
                let span = self.parts[at].span;
                let is_time = span.length == 1 && periods::is_time_word(&self.question.tokens[span.at].lower);
                let is_other = self.intent.groups.last().is_some_and(|group| group.place.0 != self.intent.subject);
                if is_named && is_time && is_other {
                    self.penalty += OTHER_TIME;
                }
                is_named
            }
            Kind::Operator(_) | Kind::Period(..) | Kind::Number(_) => false,
        }
    }

    /// Handles `most`, `top 5`, `the highest`.
    fn rank(&mut self, at: usize, descending: bool) -> bool {
        let limit = self.limit_near(at);
        if let Some(rank) = &mut self.intent.rank {
            // The rows with the highest value of a column.
            rank.limit = limit.unwrap_or(rank.limit);
            rank.ties = limit.is_none();
            return rank.descending == descending;
        }
        // `the 10 most borrowed titles`: the measure may precede the ranked part.
        let mut next = at + 1;
        while self.parts.get(next).is_some_and(|part| self.used[next] || matches!(part.kind, Kind::Number(_))) {
            next += 1;
        }
        // `top 5 customers`: the ranked part follows if it is not the measure.
        if self.parts.get(next).is_some_and(|part| part.element().is_some())
            && !self.used[next]
            && !self.is_number(next)
            && self.intent.groups.is_empty()
            && self.intent.grain.is_none()
        {
            self.used[next] = self.group(next);
        }
        // `titles with the most loans`
        if self.intent.groups.is_empty() && self.intent.grain.is_none() {
            let is_other = |before: &usize| match self.parts[*before].element() {
                Some(Element::Table(table)) => {
                    *table != self.intent.subject && self.scope.distance(self.intent.subject, *table).is_some()
                }
                _ => false,
            };
            let before = (0..at).rev().find(is_other);
            before.into_iter().for_each(|before| self.used[before] = self.group(before));
        }
        let is_one = limit.is_none();
        self.intent.rank = Some(Rank { descending, limit: limit.unwrap_or(1), ties: is_one, by: None });
        true
    }

    /// Returns whether alternatives are values of different columns: those of `Rio or Oslo`, `Rio compared with Oslo` are of one.
    fn mixes_alternatives(&self) -> bool {
        let joins = |at: usize| self.parts[at].is(Operator::Or) || self.parts[at].is(Operator::Compare);
        (0..self.parts.len()).any(|at| joins(at) && self.is_between_values(at))
            && !self.intent.filters.iter().any(|(_, op, _)| *op == FilterOp::In)
    }

    /// Removes a ranking that has nothing to rank.
    fn drop_rank(&mut self) {
        self.intent.rank = None;
        for (used, part) in self.used.iter_mut().zip(self.parts) {
            *used &= !(part.is_superlative() || matches!(part.kind, Kind::Number(_)));
        }
    }

    /// Separates the conditions of a share from those on all its rows: `the share of business customers that are in the north`; in `the
    /// share of business customers`, the value is the condition. Returns `false` without a condition, or if it cannot be computed.
    fn split_share(&mut self) -> bool {
        let intent = &mut self.intent;
        let Measure::Share(met) = &mut intent.measure else { return true };
        *met = intent.filters.split_off(self.before.min(intent.filters.len()));
        if met.is_empty() && intent.existences.is_empty() {
            std::mem::swap(met, &mut intent.filters);
        }
        let conditions = met.len() + intent.existences.len();
        self.penalty += if conditions > 1 { SEVERAL } else { 0.0 };
        let is_own = |(place, ..): &Condition| place.0 == intent.subject;
        conditions > 0 && (intent.grain.is_none() || met.iter().all(is_own))
    }

    /// Completes the interpretation. Returns whether all required parts are present: a time for its period, something to rank.
    fn finish(&mut self) -> bool {
        self.take_trend();
        let has_period = self.intent.period.is_some() || self.intent.grain.is_some();
        if !has_period && !self.take_days() {
            return false;
        }
        if self.mixes_alternatives() {
            self.penalty += APART;
        }
        let known = self.scope.known_time(self.intent.subject, &self.times);
        // The contracts that were signed, or those of customers who signed up.
        let is_of_other = matches!(known, Some(Time::Day(place)) if !self.is_named(place.0))
            && self.scope.known_time(self.intent.subject, &[]).is_some_and(|own| Some(own) != known);
        let intent = &mut self.intent;
        let is_rows = matches!(intent.measure, Measure::Rows(_));
        if has_period {
            let is_known = known.is_some();
            let own = known.or_else(|| self.scope.first_day(intent.subject));
            // A row with related rows takes their time, if only they are in the period.
            let is_of_related = !matches!(intent.measure, Measure::Metrics(_))
                && intent.existences.iter().any(|one| self.scope.time(one.table, &[]).is_some())
                && (own.is_none() || period_table(self.parts, intent.subject) != Some(intent.subject));
            if !is_of_related && intent.metrics().is_empty() {
                match own {
                    Some(time) => {
                        self.penalty += if is_known && !is_of_other { 0.0 } else { ASSUMED_TIME };
                        intent.time = Some(time);
                    }
                    None => {
                        (intent.period, intent.grain) = (None, None);
                        for (used, part) in self.used.iter_mut().zip(self.parts) {
                            let is_time = matches!(part.kind, Kind::Period(..) | Kind::Grain(_) | Kind::Series(_));
                            *used &= !is_time && !part.is(Operator::Trend);
                        }
                    }
                }
            }
        }
        if (is_rows || !intent.existences.is_empty()) && intent.grain.is_some() {
            return false;
        }
        if !self.split_share() {
            return false;
        }
        let intent = &mut self.intent;
        if (is_rows || !intent.existences.is_empty()) && !intent.segments.is_empty() {
            return false;
        }
        self.group_compared();
        let intent = &mut self.intent;
        let has_groups = !intent.groups.is_empty() || intent.grain.is_some();
        // `which category has the most films` counts films, not categories.
        let is_subject = |part: &Part| part.element() == Some(&Element::Table(intent.subject));
        let asks_subject = self.parts.windows(2).any(|pair| pair[0].is(Operator::Which) && is_subject(&pair[1]));
        if asks_subject && !is_rows && intent.rank.is_some() && !intent.groups.is_empty() {
            return false;
        }
        if intent.rank.as_ref().is_some_and(|rank| rank.by.is_none()) && !has_groups {
            self.drop_rank();
        }
        let intent = &mut self.intent;
        if let Some(rank) = &mut intent.rank {
            // `which artist sold most in which country` has no single maximum.
            let first = intent.groups.first().map(|group| group.place.0);
            if rank.ties && intent.groups.iter().any(|group| Some(group.place.0) != first) {
                (rank.limit, rank.ties) = (DEFAULT_LIMIT, false);
            }
        }
        if is_rows && has_groups || !intent.having.is_empty() && !has_groups {
            return false;
        }
        // The rows of another table with that number of subject rows are listed; counting them is another interpretation.
        let is_row = |group: &Group| group.place.0 != intent.subject || self.scope.refers(group.place);
        if !intent.having.is_empty() && intent.metrics().is_empty() && intent.groups.iter().any(is_row) {
            self.penalty += COUNTED_GROUPS;
        }
        true
    }
}

/// Returns the table that the words before the period name last: that of the visits in `animals without visits in 2026` and in `visits in
/// 2026 without payment`.
fn period_table(parts: &[Part], subject: usize) -> Option<usize> {
    let at = parts.iter().position(|part| matches!(part.kind, Kind::Period(..)))?;
    parts[..at].iter().rev().find_map(|part| match part.element()? {
        Element::Table(table) => Some(*table),
        Element::Columns(places) if places.iter().any(|place| place.0 == subject) => Some(subject),
        Element::Columns(places) => places.first().map(|place| place.0),
        _ => None,
    })
}

//! The measures that the parts of a question may ask for.

use prospector_connect::query::Aggregation;

use super::intent::{Intent, Measure};
use super::names::Element;
use super::operators::Operator;
use super::parts::{Kind, Part};
use super::question::{Question, stems};
use super::scope::{Place, Scope, Time};
use crate::model::MetricKind;

/// Penalties for assumptions: a sum if no aggregate is named, an average instead of it, rows if neither a list nor a number is
/// requested.
const ASSUMED_SUM: f64 = 0.02;
const ASSUMED_AVERAGE: f64 = 0.12;
const ASSUMED_ROWS: f64 = 0.06;
const ASSUMED_COUNT: f64 = 0.01;
/// The penalty for a single value if a list is requested.
const UNLISTED: f64 = 0.1;
const ASSUMED_SUBJECT: f64 = 0.02;
/// The maximum number of numeric columns of an event table that its sums are offered for.
pub(super) const MAX_AMOUNTS: usize = 3;
/// The maximum number of joined aggregates, and of runs of them that are tried.
const MAX_JOINED: usize = 4;
const MAX_RUNS: usize = 64;
/// The penalty for the rows of a view compared with those of a table.
const VIEW: f64 = 0.05;
/// The penalty for measures that are not declared.
const UNDECLARED: f64 = 0.02;

/// A measure, and the parts that express it.
#[derive(Debug, Clone)]
pub(super) struct Seed {
    pub(super) intent: Intent,
    pub(super) used: Vec<usize>,
    pub(super) penalty: f64,
}

/// Finds measures in a question.
pub(super) struct Seeder<'a> {
    pub(super) scope: &'a Scope<'a>,
    pub(super) question: &'a Question,
    pub(super) parts: &'a [Part],
}

/// Returns the measures that the parts of a question may ask for.
pub(super) fn list_seeds(scope: &Scope<'_>, question: &Question, parts: &[Part]) -> Vec<Seed> {
    let seeder = Seeder { scope, question, parts };
    let mut seeds = seed_metrics(scope, question, parts);
    for (at, part) in parts.iter().enumerate() {
        match part.element() {
            Some(Element::Table(table)) => seeder.seed_table(at, *table, &mut seeds),
            Some(Element::Columns(places)) => seeder.seed_columns(at, places, &mut seeds),
            Some(Element::Segment(name)) => seeds.extend(seeder.seed_segment(at, name)),
            Some(Element::Values(held)) => seeder.seed_values(at, held, &mut seeds),
            Some(Element::Database | Element::Metric(_) | Element::Lacking(_)) | None => {}
        }
    }
    seeds.extend(seeder.join(&seeds));
    for seed in &mut seeds {
        let is_view = scope.table(seed.intent.subject).is_view && scope.entity(seed.intent.subject).is_none();
        seed.penalty += if is_view { VIEW } else { 0.0 };
    }
    seeds
}

impl Seeder<'_> {
    pub(super) fn is_operator(&self, at: usize, wanted: Operator) -> bool {
        self.parts.get(at).is_some_and(|part| part.is(wanted))
    }

    /// Returns the last such operator before a part.
    fn before(&self, at: usize, wanted: Operator) -> Option<usize> {
        (0..at).rev().find(|before| self.is_operator(*before, wanted))
    }

    /// Adds the number of rows of a table, their share, the rows, sums of them, and the date of the first or last.
    fn seed_table(&self, at: usize, table: usize, seeds: &mut Vec<Seed>) {
        let mut add = |measure: Measure, more: Option<usize>, penalty: f64| {
            let used = more.into_iter().chain([at]).collect();
            seeds.push(Seed { intent: Intent::new(table, measure), used, penalty: UNDECLARED + penalty });
        };
        let is_other = |between: usize| {
            matches!(self.parts[between].element(), Some(Element::Table(_))) && !self.describes(between, at, table)
                || self.is_asked_value(between)
        };
        let counted = self.before(at, Operator::Count).filter(|from| !(*from + 1..at).any(is_other));
        let superlative = self.find_superlative(at);
        let is_size = superlative.is_some_and(|(_, _, is_size)| is_size);
        // The customer with the largest bill is not the one with the most.
        let penalty = if is_size { UNLISTED } else { 0.0 } + if counted.is_some() { 0.0 } else { ASSUMED_COUNT };
        add(Measure::Aggregate(Aggregation::Count, None), counted, penalty);
        let share = self.before(at, Operator::Share).filter(|from| !(*from + 1..at).any(is_other));
        if let Some(share) = share {
            add(Measure::Share(Vec::new()), Some(share), 0.0);
        }
        let is_which = at.checked_sub(1).is_some_and(|before| self.is_operator(before, Operator::Which));
        if counted.is_none() {
            let is_asked = is_which || self.before(at, Operator::List).is_some();
            add(Measure::Rows(Vec::new()), None, if is_asked { 0.0 } else { ASSUMED_ROWS });
        }
        let summed = self.before(at, Operator::Sum);
        for amount in self.list_amounts(at, table, summed, counted.is_some()) {
            // `which complaints` asks for the rows, `the most complaints` for their number.
            let penalty = if is_which || superlative.is_some() { UNLISTED } else { ASSUMED_SUM };
            add(Measure::Aggregate(Aggregation::Sum, Some(amount)), summed, penalty);
        }
        // `average fine`
        if let Some(averaged) = at.checked_sub(1).filter(|before| self.is_operator(*before, Operator::Average)) {
            for amount in self.list_amounts(at, table, Some(averaged), false) {
                add(Measure::Aggregate(Aggregation::Avg, Some(amount)), Some(averaged), ASSUMED_SUM);
            }
        }
        // `the largest bill`
        if let Some((superlative, descending, true)) = superlative {
            for by in self.list_amounts(at, table, None, counted.is_some()) {
                let intent = Intent::rank_rows(table, descending, by);
                seeds.push(Seed { intent, used: vec![superlative, at], penalty: UNDECLARED + ASSUMED_SUM });
            }
        }
        if let Some((key, used)) = counted.and_then(|counted| self.find_average_count(counted, at, table)) {
            let intent = Intent::new(table, Measure::AverageCount(key));
            seeds.push(Seed { intent, used, penalty: UNDECLARED });
        }
        if let Some((column, intent)) = self.find_ranked(at, table) {
            seeds.push(Seed { intent, used: vec![column, at], penalty: UNDECLARED });
        }
        self.seed_rankings(at, table, seeds);
        let position = |wanted: Operator| self.parts.iter().position(|part| part.is(wanted));
        let (first, last) = (position(Operator::Earliest), position(Operator::Latest));
        if let Some(when) = (0..at).find(|before| self.is_operator(*before, Operator::When))
            && let (Some(end), Some(Time::Day(day))) = (first.or(last), self.scope.time(table, &[]))
        {
            let aggregation = if first.is_some() { Aggregation::Min } else { Aggregation::Max };
            let intent = Intent::new(table, Measure::Aggregate(aggregation, Some(day)));
            seeds.push(Seed { intent, used: vec![when, end, at], penalty: UNDECLARED });
        }
    }

    /// Returns whether a part is a table that describes the rows of the next one, which refer to it: `staff` of `staff assignments`.
    fn describes(&self, between: usize, at: usize, table: usize) -> bool {
        let Some(Element::Table(other)) = self.parts[between].element() else { return false };
        between + 1 == at
            && self.parts[between].span.end() == self.parts[at].span.at
            && self.scope.distance(table, *other).is_some()
    }

    /// Counts or lists the rows that one of their values names, or returns a share of them: `how many professors are there`, `which parrots
    /// are insured`. The name of a
    /// row is not counted.
    fn seed_values(&self, at: usize, held: &[(Place, String)], seeds: &mut Vec<Seed>) {
        let is_measured = |part: &Part| matches!(part.element(), Some(Element::Table(_) | Element::Metric(_)));
        let asked = self.find_asking(at).filter(|_| self.is_asked_value(at) || !self.parts.iter().any(is_measured));
        let Some(before) = asked else { return };
        let measure = match self.parts[before].operator() {
            Some(Operator::Count) => Measure::Aggregate(Aggregation::Count, None),
            Some(Operator::Share) => Measure::Share(Vec::new()),
            _ => Measure::Rows(Vec::new()),
        };
        let is_name = |place: &Place| self.scope.name_rows(place.0).shown == [place.1];
        let places = held.iter().map(|(place, _)| place).filter(|place| !is_name(place));
        let mut tables: Vec<usize> = places.map(|place| place.0).collect();
        tables.sort_unstable();
        tables.dedup();
        let penalty = UNDECLARED + ASSUMED_COUNT + ASSUMED_SUBJECT;
        let seed = |table: usize| Seed { intent: Intent::new(table, measure.clone()), used: vec![before], penalty };
        seeds.extend(tables.into_iter().map(seed));
    }

    /// Returns whether a question asks for the rows with a value, which no other part directly follows: the dogs in `how many dogs have a chip`.
    fn is_asked_value(&self, at: usize) -> bool {
        matches!(self.parts[at].element(), Some(Element::Values(_)))
            && self.find_asking(at).is_some()
            && self.parts.get(at + 1).is_none_or(|next| next.span.at > self.parts[at].span.end())
    }

    /// Returns the operator that asks for the rows of a part, with only their values in between: `how many uninsured dogs`.
    fn find_asking(&self, at: usize) -> Option<usize> {
        let is_value = |part: &Part| matches!(part.element(), Some(Element::Values(_) | Element::Lacking(_)));
        let before = (0..at).rev().find(|before| !is_value(&self.parts[*before]))?;
        let are_near =
            (before..at).all(|from| self.question.are_near(self.parts[from].span.end(), self.parts[from + 1].span.at));
        let operator = self.parts[before].operator();
        let asks = matches!(operator, Some(Operator::Count | Operator::Share | Operator::Which | Operator::List));
        (asks && are_near).then_some(before)
    }

    /// Returns the key for an average row count, and the parts that express it: `average number of orders per customer`, `how many orders
    /// does a customer have on average`.
    fn find_average_count(&self, counted: usize, at: usize, table: usize) -> Option<(Place, Vec<usize>)> {
        let average = (0..self.parts.len()).find(|at| self.is_operator(*at, Operator::Average))?;
        let is_near = average + 1 == counted || average > at;
        let parent = (at + 1..self.parts.len()).find_map(|next| match self.parts[next].element() {
            Some(Element::Table(parent)) if *parent != table => Some((next, *parent)),
            _ => None,
        });
        let (next, parent) = parent.filter(|_| is_near)?;
        let [(own, _)] = self.scope.key(table, parent, None)?.columns.as_slice() else { return None };
        let columns = &self.scope.table(table).columns;
        let key = columns.iter().position(|column| column.name.eq_ignore_ascii_case(own))?;
        let by = next.checked_sub(1).filter(|by| self.is_operator(*by, Operator::By));
        Some(((table, key), [average, counted, at, next].into_iter().chain(by).collect()))
    }

    /// Returns the columns whose sums a table may refer to: `how much did they pay`, `sales by region`.
    fn list_amounts(&self, at: usize, table: usize, summed: Option<usize>, is_counted: bool) -> Vec<Place> {
        let numbers = self.scope.list_numbers(table);
        // `total of invoices`, if they have a column with that name.
        let said = summed.map(|at| self.question.stems(self.parts[at].span)).unwrap_or_default();
        if numbers.iter().any(|place| stems(&self.scope.column(*place).name) == said) {
            return Vec::new();
        }
        let is_whole = self.question.stems(self.parts[at].span).len() >= stems(&self.scope.table(table).name).len();
        let is_event = numbers.len() <= MAX_AMOUNTS && !is_counted && is_whole && self.scope.holds_events(table);
        if summed.is_some() || is_event { numbers } else { Vec::new() }
    }

    /// Returns aggregates of one table that are joined by `and`: `number of orders and average price`.
    fn join(&self, seeds: &[Seed]) -> Vec<Seed> {
        let count = Measure::Aggregate(Aggregation::Count, None);
        // Assumed measures are not joined, nor are rows that are not explicitly counted: `number of albums and tracks`.
        let is_said =
            |seed: &&Seed| seed.penalty <= UNDECLARED + ASSUMED_SUM + ASSUMED_SUBJECT && !seed.used.is_empty();
        let is_operated = |seed: &Seed| seed.used.iter().any(|at| self.parts[*at].operator().is_some());
        let mut runs: Vec<(Seed, Vec<&Seed>)> = Vec::new();
        for seed in seeds.iter().filter(is_said) {
            let Measure::Aggregate(aggregation, place) = seed.intent.measure else { continue };
            let begin = seed.used.iter().min().copied().unwrap_or_default();
            let follows = |(run, all): &&(Seed, Vec<&Seed>)| {
                let end = run.used.iter().max().copied().unwrap_or_default();
                let are_counts = all.iter().all(|known| known.intent.measure == count);
                let is_bare = seed.intent.measure == count && !is_operated(seed);
                let is_other = run.intent.subject != seed.intent.subject;
                let is_allowed =
                    if is_bare { are_counts && is_other } else { !is_other || seed.intent.measure == count };
                let is_new = all.iter().all(|known| known.intent != seed.intent);
                is_allowed && is_new && all.len() < MAX_JOINED && end < begin && self.are_joined(end, begin)
            };
            let longer: Vec<(Seed, Vec<&Seed>)> = runs.iter().filter(follows).cloned().collect();
            for (mut run, mut all) in longer {
                run.intent.more.push((seed.intent.subject, aggregation, place));
                run.used.extend(&seed.used);
                run.penalty = run.penalty.max(seed.penalty);
                all.push(seed);
                runs.push((run, all));
            }
            // With several operators before one column, the later ones are already included.
            let is_first = seed.intent.more.is_empty() && (seed.intent.measure != count || is_operated(seed));
            if is_first && runs.len() < MAX_RUNS {
                runs.push((seed.clone(), vec![seed]));
            }
        }
        runs.into_iter().filter(|(_, all)| all.len() > 1).map(|(run, _)| run).collect()
    }

    fn are_joined(&self, first: usize, second: usize) -> bool {
        self.question.are_joined(self.parts[first].span.end(), self.parts[second].span.at)
    }

    /// Returns the aggregations before a column that all apply to it: `minimum and maximum price`, `min/max price`.
    fn list_before(&self, at: usize) -> Vec<usize> {
        let aggregates = |at: usize| self.parts[at].operator().is_some_and(|operator| of_operator(operator).is_some());
        let mut all: Vec<usize> = Vec::new();
        for before in (0..at).rev().take_while(|before| aggregates(*before)) {
            let is_next = all.last().is_none_or(|next| {
                let ends = [before, *next].map(|at| self.parts[at].operator());
                let are_ends = ends.contains(&Some(Operator::Most)) && ends.contains(&Some(Operator::Least));
                let is_near = self.question.are_near(self.parts[before].span.end(), self.parts[*next].span.at);
                // The highest average is one measure; in a list, `and` precedes the last one.
                self.are_joined(before, *next) || is_near && (are_ends || all.len() > 1)
            });
            if !is_next {
                break;
            }
            all.push(before);
        }
        all.reverse();
        all
    }

    fn seed_columns(&self, at: usize, places: &[Place], seeds: &mut Vec<Seed>) {
        let (scope, parts) = (self.scope, self.parts);
        // `hired` is a date, not a measure.
        let said = self.question.stems(parts[at].span);
        let is_measured = |place: &&Place| !scope.is_date(**place) || stems(&scope.column(**place).name) == said;
        let places: Vec<Place> = places.iter().filter(is_measured).copied().collect();
        let places = places.as_slice();
        // `which payment method is used most`: the rows that have it.
        let is_measured = |part: &Part| matches!(part.element(), Some(Element::Table(_) | Element::Metric(_)));
        if !parts.iter().any(is_measured) {
            let is_text = |place: &&Place| {
                !scope.is_number(**place) && !scope.is_date(**place) && scope.yes_of(**place).is_none()
            };
            let texts = places.iter().filter(is_text);
            let count = |place: &Place| Intent::new(place.0, Measure::Aggregate(Aggregation::Count, None));
            let penalty = UNDECLARED + ASSUMED_COUNT + ASSUMED_SUBJECT;
            seeds.extend(texts.map(|place| Seed { intent: count(place), used: Vec::new(), penalty }));
        }
        // `average price`, or `price ... on average`.
        let is_loose = |at: &usize| {
            let next = parts.get(at + 1).and_then(Part::element);
            self.is_operator(*at, Operator::Average) && !matches!(next, Some(Element::Columns(_) | Element::Metric(_)))
        };
        let loose = (at + 1..parts.len()).find(is_loose);
        let before = at.checked_sub(1).filter(|at| parts[*at].operator().is_some()).or(loose);
        // `average number of credits` is the average of a column of numbers.
        let are_numbers = places.iter().all(|place| scope.is_number(*place));
        let counted = before.filter(|at| are_numbers && self.is_operator(*at, Operator::Count));
        // `how many different customers`
        let distinct = before.filter(|at| self.is_operator(*at, Operator::Distinct));
        let of_distinct = distinct.and_then(|at| at.checked_sub(1)).filter(|at| self.is_operator(*at, Operator::Count));
        let averaged = counted.and_then(|at| at.checked_sub(1)).filter(|at| self.is_operator(*at, Operator::Average));
        let operator = averaged.or(before).and_then(|at| parts[at].operator());
        let used: Vec<usize> = averaged.or(of_distinct).into_iter().chain(before).chain([at]).collect();
        let which = parts.iter().position(|part| part.is(Operator::Which)).map(|which| which + 1);
        let several = self.list_before(at);
        for place in places {
            let of_table = Some(&Element::Table(place.0));
            let is_table_named = parts.iter().any(|part| part.element() == of_table);
            if several.len() > 1 && scope.is_number(*place) {
                let of = several.iter().filter_map(|at| of_operator(parts[*at].operator()?));
                let mut all = of.map(|aggregation| (place.0, aggregation, Some(*place)));
                if let Some((_, first, _)) = all.next() {
                    let mut intent = Intent::new(place.0, Measure::Aggregate(first, Some(*place)));
                    intent.more = all.collect();
                    let used = several.iter().copied().chain([at]).collect();
                    seeds.push(Seed { intent, used, penalty: UNDECLARED });
                }
            }
            // `which product has the highest price`, `the highest priced product`, `the heaviest dog`; not `the highest price that was paid`.
            let next = parts[at + 1..].iter().find(|part| !matches!(part.kind, Kind::Number(_)));
            let is_named = |part: &&Part| {
                part.span.at == parts[at].span.end() || matches!(part.element(), Some(Element::Table(_)))
            };
            let asked = [which.and_then(|at| parts.get(at)), next.filter(is_named)];
            let asks_row = asked.into_iter().flatten().any(|part| match part.element() {
                Some(Element::Table(table)) => *table == place.0,
                Some(Element::Values(held)) => held.iter().any(|(own, _)| own.0 == place.0),
                _ => false,
            });
            // `how many incidents cost more than 100` counts incidents.
            let own = stems(&scope.table(place.0).name);
            let names_rows = asks_row || own.iter().all(|stem| said.contains(&stem.as_str()));
            if operator == Some(Operator::Count) && names_rows {
                let intent = Intent::new(place.0, Measure::Aggregate(Aggregation::Count, None));
                seeds.push(Seed { intent, used: before.into_iter().collect(), penalty: UNDECLARED });
                continue;
            }
            for seed in seed_column(scope, *place, at, operator, used.clone(), asks_row) {
                let is_assumed = self.is_listing() && matches!(seed.intent.measure, Measure::Aggregate(..));
                let penalty = if is_table_named { 0.0 } else { ASSUMED_SUBJECT };
                let penalty = seed.penalty + penalty + if is_assumed { UNLISTED } else { 0.0 };
                seeds.push(Seed { penalty, ..seed });
            }
        }
    }

    /// Returns whether rows are requested: `list the products with their price`, without an aggregate.
    fn is_listing(&self) -> bool {
        let adds_up = |part: &Part| {
            matches!(
                part.kind,
                Kind::Grain(_) | Kind::Series(_) | Kind::Operator(Operator::By | Operator::Sum | Operator::Average)
            )
        };
        self.parts.iter().any(|part| part.is(Operator::List)) && !self.parts.iter().any(adds_up)
    }

    /// Counts the members of a segment if nothing else is measured.
    fn seed_segment(&self, at: usize, name: &str) -> Option<Seed> {
        let table = self.scope.model.segment(name).and_then(|segment| self.scope.table_of(&segment.entity))?;
        let count = at.checked_sub(1).filter(|before| self.is_operator(*before, Operator::Count));
        let is_measured = |part: &Part| {
            matches!(part.element(), Some(Element::Table(_) | Element::Metric(_)))
                || part.operator().is_some_and(|operator| operator.computes() && operator != Operator::By)
        };
        if count.is_none() && self.parts.iter().any(is_measured) {
            return None;
        }
        let mut intent = Intent::new(table, Measure::Aggregate(Aggregation::Count, None));
        intent.segments.push(name.to_owned());
        let penalty = if count.is_some() { 0.0 } else { ASSUMED_COUNT };
        Some(Seed { intent, used: count.into_iter().chain([at]).collect(), penalty })
    }
}

/// Returns the aggregation of a numeric column that an operator asks for.
fn of_operator(operator: Operator) -> Option<Aggregation> {
    match operator {
        Operator::Sum => Some(Aggregation::Sum),
        Operator::Average => Some(Aggregation::Avg),
        Operator::Most => Some(Aggregation::Max),
        Operator::Least => Some(Aggregation::Min),
        _ => None,
    }
}

/// Returns each metric that is named, and all of them if they are joined by `and`.
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
            // `total revenue`, `how much revenue`, `number of orders`, `average refund rate`: the operator is part of the metric.
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

/// Returns the measures of a column; `asks_row` if the question asks which row has it.
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
        Some(Operator::Count | Operator::Distinct) if !is_number && scope.yes_of(place).is_none() => {
            vec![seed(of(Aggregation::CountDistinct), with, 0.0)]
        }
        Some(Operator::Count) if is_number => vec![seed(of(Aggregation::Sum), with, ASSUMED_SUM)],
        Some(rank @ (Operator::Most | Operator::Least)) if is_number => {
            let aggregation = if rank == Operator::Most { Aggregation::Max } else { Aggregation::Min };
            // The row that has it, the value itself, and ranked sums.
            let (of_row, of_value) = if asks_row { (0.0, ASSUMED_ROWS) } else { (ASSUMED_ROWS, 0.0) };
            let intent = Intent::rank_rows(place.0, rank == Operator::Most, place);
            let rows = Seed { intent, used: alone.clone(), penalty: UNDECLARED + of_row };
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

//! Checks that the numbers and dates of a sentence are in the rows that it names.

mod asides;
mod rest;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::{
    calculation::find_calculations,
    layout::{Choice, Gap, Item, Kind, Layout},
    lookup::{Support, find_sum, find_value},
    mentions::{Mention, Rows},
    numbers::Written,
    reference::Filled,
    source::{Key, Source},
};
use rest::Rest;

/// The value to find in the rows.
#[derive(Debug)]
pub(super) enum Value {
    Number(Written),
    /// A period or a key, by the rows that it names.
    Named {
        rows: Rows,
        keys: BTreeSet<Key>,
    },
    /// The value of a reference.
    Filled(Filled),
}

/// A number or a date of a sentence.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) span: Range<usize>,
    /// As written.
    pub(super) text: String,
    pub(super) value: Value,
    /// The indexes of the results that it may be based on.
    pub(super) sources: BTreeSet<usize>,
    /// Whether the cited entries or the question contain it.
    pub(super) is_said: bool,
    /// Whether the SQL of its results or a definition contains it.
    pub(super) is_scope: bool,
}

impl Figure {
    /// Returns whether it names rows, and states no value.
    fn is_name(&self) -> bool {
        matches!(self.value, Value::Named { .. })
    }

    /// Returns whether it is a key, and not a period.
    fn is_key(&self) -> bool {
        matches!(&self.value, Value::Named { keys, .. } if !keys.contains(&Key::Time))
    }

    /// Returns whether it is itself a value of a dimension.
    fn is_of(&self, dimension: &Dimension) -> bool {
        matches!(&self.value, Value::Named { keys, .. } if !keys.is_disjoint(&dimension.keys))
    }
}

/// The verdict on a figure.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// It is a value of a row.
    Traced,
    /// It is derived from values in this way.
    Derived(String),
    /// It makes no claim about data.
    Said,
    Wrong(String),
}

/// A row of a table, with the values and columns that the header names.
#[derive(Debug)]
pub(super) struct TableRow {
    pub(super) cells: Vec<Range<usize>>,
    /// The indexes of the mentions in the header of each cell.
    pub(super) heads: Vec<Vec<usize>>,
    /// The columns that the header of each cell names, by source.
    pub(super) columns: Vec<BTreeSet<(usize, usize)>>,
}

/// A sentence whose figures are judged.
pub(super) struct Judge<'a> {
    pub(super) sources: &'a [Source<'a>],
    pub(super) sentence: &'a str,
    pub(super) mentions: Vec<Mention>,
    pub(super) figures: Vec<Figure>,
    /// The spans of citations.
    pub(super) borders: Vec<Range<usize>>,
    pub(super) table: Option<TableRow>,
}

/// Mentions of values of one dimension, such as countries or quarters. A row has one of them.
pub(super) struct Dimension {
    keys: BTreeSet<Key>,
    pub(super) mentions: Vec<usize>,
}

impl TableRow {
    /// Returns the columns that the header of the cell at a span names.
    pub(super) fn find_columns(&self, span: &Range<usize>) -> Option<&BTreeSet<(usize, usize)>> {
        let cell = self.cells.iter().position(|cell| cell.start <= span.start && span.end <= cell.end)?;
        self.columns.get(cell).filter(|columns| !columns.is_empty())
    }
}

/// The mentions that a figure may refer to, in each dimension.
pub(super) type Chosen = Vec<Vec<usize>>;

impl Judge<'_> {
    /// Judges each figure.
    pub(super) fn judge(&self) -> Vec<Verdict> {
        let dimensions = self.list_dimensions();
        let mut verdicts: Vec<Option<Verdict>> = self.figures.iter().map(|_| None).collect();
        let any: Chosen = dimensions.iter().map(|dimension| dimension.mentions.clone()).collect();
        self.judge_calculations(&dimensions, &any, &mut verdicts);
        let choices = self.choose(&dimensions, &verdicts);
        let mut stated: Vec<Support> = Vec::new();
        let mut served: BTreeSet<usize> = BTreeSet::new();
        for (at, figure) in self.figures.iter().enumerate() {
            if matches!(verdicts[at], None | Some(Verdict::Traced)) {
                let chosen: Chosen = choices[at].iter().map(|choice| choice.values.clone()).collect();
                let chosen = if verdicts[at].is_some() { &any } else { &chosen };
                let Some(support) = self.find_support(figure, &dimensions, chosen) else { continue };
                if !figure.is_key() {
                    served.extend(self.list_served(figure, &dimensions, chosen));
                }
                verdicts[at] = Some(support.how.clone().map_or(Verdict::Traced, Verdict::Derived));
                stated.push(support);
            }
        }
        for at in 0..self.figures.len() {
            if verdicts[at].is_none() {
                let rest = Rest {
                    judge: self,
                    dimensions: &dimensions,
                    choices: &choices[at],
                    served: &served,
                    stated: &stated,
                };
                verdicts[at] = Some(rest.judge(at));
            }
        }
        verdicts.into_iter().map(|verdict| verdict.unwrap_or(Verdict::Said)).collect()
    }

    /// Groups the mentions by dimension. Mentions that match all rows of every result are dropped.
    fn list_dimensions(&self) -> Vec<Dimension> {
        let cited: BTreeSet<usize> = self.figures.iter().flat_map(|figure| figure.sources.iter().copied()).collect();
        let mut dimensions: Vec<Dimension> = Vec::new();
        for (at, mention) in self.mentions.iter().enumerate() {
            let with_key: Vec<usize> =
                cited.iter().copied().filter(|source| self.sources[*source].has_key(&mention.keys)).collect();
            let is_all = |source: &usize| {
                let rows = self.sources[*source].rows.len();
                rows > 1 && mention.rows.iter().filter(|(of, _)| of == source).count() == rows
            };
            if !with_key.is_empty() && with_key.iter().all(is_all) {
                continue;
            }
            let mut dimension = Dimension { keys: mention.keys.clone(), mentions: vec![at] };
            for known in dimensions.extract_if(.., |known| !known.keys.is_disjoint(&mention.keys)) {
                dimension.keys.extend(known.keys);
                dimension.mentions.splice(0..0, known.mentions);
            }
            dimensions.push(dimension);
        }
        for dimension in &mut dimensions {
            self.drop_wider(dimension);
            dimension.mentions.sort_unstable();
        }
        dimensions
    }

    /// Drops periods that contain another mentioned period: `in 2025, 100 in the first quarter`.
    fn drop_wider(&self, dimension: &mut Dimension) {
        let rows = |at: usize| &self.mentions[at].rows;
        let all = dimension.mentions.clone();
        dimension.mentions.retain(|wide| {
            !all.iter().any(|part| {
                !rows(*part).is_empty() && rows(*part).len() < rows(*wide).len() && rows(*part).is_subset(rows(*wide))
            })
        });
    }

    /// Returns the mentions that each figure may refer to, in each dimension.
    fn choose(&self, dimensions: &[Dimension], verdicts: &[Option<Verdict>]) -> Vec<Vec<Choice>> {
        let names: Vec<Range<usize>> = self.mentions.iter().map(|mention| mention.span.clone()).collect();
        let mut choices: Vec<Vec<Choice>> =
            self.figures.iter().map(|_| vec![Choice::default(); dimensions.len()]).collect();
        for (of, dimension) in dimensions.iter().enumerate() {
            if let Some(table) = &self.table {
                for (at, figure) in self.figures.iter().enumerate() {
                    choices[at][of] = self.choose_in_row(table, figure, dimension);
                }
                continue;
            }
            let items = dimension
                .mentions
                .iter()
                .map(|at| Item { span: self.mentions[*at].span.clone(), kind: Kind::Value(*at) });
            let values: Vec<Item> = items.collect();
            let item = |at: usize| Item { span: self.figures[at].span.clone(), kind: Kind::Number(at) };
            let is_number = |at: &usize| verdicts[*at].is_none() && !self.figures[*at].is_name();
            let numbers: Vec<usize> = (0..self.figures.len()).filter(is_number).collect();
            let layout = |numbers: &[usize]| {
                let items = values.iter().cloned().chain(numbers.iter().map(|at| item(*at))).collect();
                Layout::new(self.sentence, items, &self.borders, &names)
            };
            let all = layout(&numbers);
            for (at, choice) in all.choose() {
                choices[at][of] = choice;
            }
            let is_other = |at: &usize| self.figures[*at].is_name() && !self.figures[*at].is_of(dimension);
            for at in (0..self.figures.len()).filter(is_other) {
                if let Some((_, choice)) = layout(&[at]).choose().pop() {
                    choices[at][of] = choice;
                }
            }
            for group in all.list_groups() {
                self.choose_in_group(&group.numbers, &group.values, of, dimensions, &mut choices);
            }
        }
        if self.table.is_none() {
            asides::release(self, dimensions, &mut choices);
        }
        choices
    }

    /// Assigns numbers to as many values in order, unless all numbers belong to the last value or to the first.
    fn choose_in_group(
        &self,
        numbers: &[usize],
        values: &[usize],
        of: usize,
        dimensions: &[Dimension],
        choices: &mut [Vec<Choice>],
    ) {
        let last = values.last().copied().unwrap_or_default();
        let ways = [values.to_vec(), vec![last; values.len()], vec![values[0]; values.len()]];
        let holds = |way: &Vec<usize>| {
            numbers.iter().zip(way).all(|(number, value)| {
                let mut chosen: Chosen = choices[*number].iter().map(|choice| choice.values.clone()).collect();
                chosen[of] = vec![*value];
                self.find_support(&self.figures[*number], dimensions, &chosen).is_some()
            })
        };
        let way = ways.iter().find(|way| holds(way)).unwrap_or(&ways[0]);
        for (number, value) in numbers.iter().zip(way) {
            choices[*number][of] = Choice { values: vec![*value], is_owner: false, gap: Gap::None };
        }
    }

    /// Returns the mentions for a cell of a table: those of its header, or those of the row.
    fn choose_in_row(&self, table: &TableRow, figure: &Figure, dimension: &Dimension) -> Choice {
        // The period of a row needs a number of its own.
        if figure.is_of(dimension) {
            return Choice::default();
        }
        let cell = table.cells.iter().position(|cell| cell.start <= figure.span.start && figure.span.end <= cell.end);
        let of_head =
            |at: &&usize| cell.is_some_and(|cell| table.heads.get(cell).is_some_and(|head| head.contains(at)));
        let of_row = |at: &&usize| !table.heads.iter().any(|head| head.contains(at));
        let mut values: Vec<usize> = dimension.mentions.iter().filter(of_head).copied().collect();
        if values.is_empty() {
            values = dimension.mentions.iter().filter(of_row).copied().collect();
        }
        Choice { values, is_owner: false, gap: Gap::Comma }
    }

    /// Returns the rows of a result that match the chosen mentions; `None` if the result lacks one of the dimensions.
    pub(super) fn allow(&self, source: usize, dimensions: &[Dimension], chosen: &Chosen) -> Option<BTreeSet<usize>> {
        let mut rows = self.sources[source].all_rows();
        let (mut is_asked, mut is_known) = (false, false);
        for (dimension, values) in dimensions.iter().zip(chosen).filter(|(_, values)| !values.is_empty()) {
            is_asked = true;
            if self.sources[source].has_key(&dimension.keys) {
                is_known = true;
                rows.retain(|row| values.iter().any(|value| self.mentions[*value].rows.contains(&(source, *row))));
            }
        }
        (is_known || !is_asked).then_some(rows)
    }

    fn find_support(&self, figure: &Figure, dimensions: &[Dimension], chosen: &Chosen) -> Option<Support> {
        let allowed: BTreeMap<usize, BTreeSet<usize>> = (figure.sources.iter())
            .filter_map(|source| Some((*source, self.allow(*source, dimensions, chosen)?)))
            .collect();
        let is_asked = chosen.iter().any(|values| !values.is_empty());
        match &figure.value {
            Value::Named { rows, .. } => {
                let is_there =
                    rows.iter().any(|(source, row)| allowed.get(source).is_some_and(|rows| rows.contains(row)));
                is_there.then(Support::default)
            }
            Value::Filled(filled) => {
                let is_allowed =
                    |(source, row): &(usize, usize)| allowed.get(source).is_some_and(|rows| rows.contains(row));
                let fits = match (is_asked, filled.is_whole, filled.is_calculated) {
                    (false, ..) => true,
                    (true, true, _) => false,
                    (true, false, true) => filled.rows.iter().any(is_allowed),
                    (true, false, false) => filled.rows.iter().all(is_allowed),
                };
                fits.then(|| Support::with(&format!("{} is filled in", figure.text)))
            }
            Value::Number(written) => {
                let columns = self.table.as_ref().and_then(|table| table.find_columns(&figure.span));
                let by_value =
                    allowed.iter().find_map(|(source, rows)| find_value(written, self.sources, *source, rows, columns));
                let by_rank = || {
                    let is_place = |(source, rows): (&usize, &BTreeSet<usize>)| {
                        rows.len() == 1
                            && rows
                                .iter()
                                .all(|row| written.is_equal((row + 1) as f64) && self.sources[*source].rows.len() > 1)
                    };
                    (is_asked && written.is_rank && allowed.iter().any(is_place)).then(Support::default)
                };
                let by_absence = || {
                    let lacks = |(source, rows): (&usize, &BTreeSet<usize>)| {
                        rows.is_empty() && !self.sources[*source].query.has_more
                    };
                    (is_asked && written.is_equal(0.0) && allowed.iter().any(lacks)).then(Support::default)
                };
                let by_sum = || if is_asked { find_sum(written, self.sources, &allowed) } else { None };
                let by_range = || {
                    let mut asked = dimensions.iter().zip(chosen).filter(|(_, values)| !values.is_empty());
                    let (dimension, values) = asked.next().filter(|_| asked.next().is_none())?;
                    let is_range = values.len() > 1 && dimension.keys.contains(&Key::Time);
                    let fill =
                        |(source, rows): (&usize, &BTreeSet<usize>)| (*source, self.sources[*source].fill_range(rows));
                    let ranges = allowed.iter().map(fill).collect();
                    if is_range { find_sum(written, self.sources, &ranges) } else { None }
                };
                by_value.or_else(by_sum).or_else(by_range).or_else(by_rank).or_else(by_absence)
            }
        }
    }

    /// Returns the mentions whose rows contain a figure.
    fn list_served(&self, figure: &Figure, dimensions: &[Dimension], chosen: &Chosen) -> Vec<usize> {
        let mut served = Vec::new();
        for (of, values) in chosen.iter().enumerate() {
            for value in values {
                let mut narrow = chosen.clone();
                narrow[of] = vec![*value];
                if values.len() == 1 || self.find_support(figure, dimensions, &narrow).is_some() {
                    served.push(*value);
                }
            }
            // A sum over several values belongs to each of them.
            if values.len() > 1 && !values.iter().any(|value| served.contains(value)) {
                served.extend(values);
            }
        }
        served
    }

    /// Judges the calculations in the sentence and their results.
    fn judge_calculations(&self, dimensions: &[Dimension], any: &Chosen, verdicts: &mut [Option<Verdict>]) {
        let places: Vec<usize> =
            (0..self.figures.len()).filter(|at| matches!(self.figures[*at].value, Value::Number(_))).collect();
        let numbers: Vec<Written> = (places.iter())
            .filter_map(|at| match &self.figures[*at].value {
                Value::Number(written) => Some(written.clone()),
                Value::Named { .. } | Value::Filled(_) => None,
            })
            .collect();
        for calculation in find_calculations(self.sentence, &numbers) {
            let gives = |number: &Written| {
                let value = calculation.value;
                number.is_size(value) && !number.is_percent || number.is_percent && number.is_size(value * 100.0)
            };
            let mut is_based = false;
            for operand in calculation.operands.iter().map(|operand| places[*operand]) {
                let figure = &self.figures[operand];
                let total = || self.find_total(figure);
                if self.find_support(figure, dimensions, any).is_some() || total().is_some() {
                    is_based = true;
                    verdicts[operand] = Some(Verdict::Traced);
                } else if figure.is_said || figure.is_scope || self.is_factor(figure) {
                    verdicts[operand] = Some(Verdict::Said);
                } else {
                    verdicts[operand] = Some(Verdict::Wrong(format!("{} is in no result", figure.text)));
                }
            }
            let how = Verdict::Derived("calculated in the sentence".into());
            if let Some(result) = calculation.result {
                let figure = &self.figures[places[result]];
                verdicts[places[result]] = Some(match gives(&numbers[result]) {
                    true => how,
                    false => Verdict::Wrong(format!("{} is not the result of the calculation", figure.text)),
                });
            } else if is_based {
                for at in (0..numbers.len()).filter(|at| gives(&numbers[*at])) {
                    if verdicts[places[at]].is_none() {
                        verdicts[places[at]] = Some(Verdict::Derived("calculated in the sentence".into()));
                    }
                }
            }
        }
    }

    /// Returns whether a whole number is only a factor, as in `x / 12` or `x * 100`.
    fn is_factor(&self, figure: &Figure) -> bool {
        let before = self.sentence[..figure.span.start].trim_end();
        let is_whole = matches!(&figure.value, Value::Number(written) if written.is_whole() && !written.is_money);
        is_whole && before.ends_with(['*', '/', '×', '÷', '·'])
    }

    /// Finds the figure as the sum of a whole column.
    pub(super) fn find_total(&self, figure: &Figure) -> Option<Support> {
        let Value::Number(written) = &figure.value else { return None };
        let all = figure.sources.iter().filter(|source| !self.sources[**source].query.has_more);
        find_sum(written, self.sources, &all.map(|source| (*source, self.sources[*source].all_rows())).collect())
    }
}

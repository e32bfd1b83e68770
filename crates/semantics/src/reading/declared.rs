//! Questions for declared metrics, by declared dimensions and by values of the columns of entities.

use std::collections::BTreeSet;

use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_connect::query::Order;
use serde_json::json;

use super::change::{Change, add_value, during};
use super::rows::name_rows;
use super::words::{GROUPING, Words, lower_words, stems};
use super::{NamedValue, ReadError};
use crate::check::fold;
use crate::model::{Dimension, DimensionColumn, MetricKind};
use crate::query::MetricQuery;
use crate::{SemanticModel, Tables};

/// How many are shown of what is ranked, where the question does not say.
const MAX_RANKED: usize = 10;

/// Words that ask for one figure beside the other.
const SIDE_BY_SIDE: &[&str] = &["compare", "compared", "compares", "versus", "vs"];

/// The question over declared metrics that a question in words is, where all of it is understood.
/// Beside it are the dimensions that it implies: what the rows of an entity are called by.
pub(super) fn read(
    model: &SemanticModel,
    question: &str,
    values: &[NamedValue],
    sources: &[Tables<'_>],
) -> Result<(MetricQuery, Vec<Dimension>), ReadError> {
    let mut reader = Reader { words: Words::new(question), names_one: false };
    let mut query = MetricQuery { filters: during(reader.words.take_period(model.today())?), ..MetricQuery::default() };
    // Before the metrics: of `VIP customer spending`, the customers are the segment.
    query.segments = reader.take_names(model.segments().iter().map(|segment| (&segment.name, &segment.synonyms)));
    query.metrics = reader.take_names(model.metrics().iter().map(|metric| (&metric.name, &metric.synonyms)));
    if query.metrics.is_empty() {
        return Err(ReadError::NoMetric);
    }
    let is_ratio =
        |name: &String| model.metric(name).is_some_and(|metric| matches!(metric.kind, MetricKind::Ratio { .. }));
    reader.take_totals(query.metrics.iter().all(is_ratio));
    reader.check_quotients()?;
    let has_unit = |name: &String| model.metric(name).is_some_and(|metric| !metric.unit.is_empty());
    reader.check_unit(query.metrics.iter().any(has_unit), query.metrics.iter().all(has_unit))?;
    query.filters.extend(reader.take_values(model, values)?);
    reader.names_one = false;
    query.dimensions = reader.take_names(name_dimensions(model));
    if reader.compares() {
        // What is compared stands side by side.
        let several = query.filters.iter().filter(|filter| filter.op == FilterOp::In).map(|filter| &filter.column);
        let new: Vec<String> = several.filter(|column| !query.dimensions.contains(column)).cloned().collect();
        query.dimensions.extend(new);
    }
    if let Some((at, grain)) = reader.words.take_grain() {
        query.grain = Some(grain);
        reader.names_one |= !reader.words.list[at].lower.ends_with('s');
    }
    let implied = reader.take_entities(model, sources);
    query.dimensions.extend(implied.iter().map(|dimension| dimension.name.clone()));
    if let Some((_, descending)) = reader.words.take_rank() {
        let is_single = query.dimensions.len() + usize::from(query.grain.is_some()) == 1 && reader.names_one;
        if query.dimensions.is_empty() && query.grain.is_none() {
            return Err(ReadError::NothingToRank);
        }
        query.order = vec![Order { by: query.metrics[0].clone(), descending }];
        let number = reader.words.take_number();
        query.ties = number.is_none() && is_single;
        query.limit = Some(number.unwrap_or(if is_single { 1 } else { MAX_RANKED }));
    }
    reader.words.check_rest()?;
    Ok((query, implied))
}

/// What a question that goes on from one over declared metrics changes.
pub(super) fn read_change(model: &SemanticModel, words: Words, values: &[NamedValue]) -> Result<Change, ReadError> {
    let mut reader = Reader { words, names_one: false };
    let period = reader.words.take_period(model.today())?;
    let filters = reader.take_values(model, values)?;
    let dimensions = reader.take_names(name_dimensions(model));
    let grain = reader.words.take_grain().map(|(_, grain)| grain);
    reader.words.check_rest()?;
    Ok(Change { period, filters, dimensions, grain })
}

fn name_dimensions(model: &SemanticModel) -> impl Iterator<Item = (&String, &Vec<String>)> {
    model.dimensions().iter().map(|dimension| (&dimension.name, &dimension.synonyms))
}

struct Reader {
    words: Words,
    /// Whether what figures are told by is named in the singular.
    names_one: bool,
}

impl Reader {
    /// The names of which the name itself or a synonym stands in the question, in the order of the question. Of two that
    /// overlap the longer one counts.
    fn take_names<'a>(&mut self, named: impl Iterator<Item = (&'a String, &'a Vec<String>)>) -> Vec<String> {
        let mut phrases: Vec<(Vec<String>, &String)> = Vec::new();
        for (name, synonyms) in named {
            let called = std::iter::once(name).chain(synonyms).map(|phrase| (stems(phrase), name));
            phrases.extend(called.filter(|(stems, _)| !stems.is_empty()));
        }
        phrases.sort_by_key(|(stems, _)| std::cmp::Reverse(stems.len()));
        let mut found: Vec<(usize, &String)> = Vec::new();
        for (stems, name) in phrases {
            while let Some(at) = self.words.find(&stems) {
                let last = &self.words.list[at + stems.len() - 1];
                self.names_one = last.lower == fold(name) || !last.lower.ends_with('s');
                self.words.take(at, stems.len());
                if !found.iter().any(|(_, known)| *known == name) {
                    found.push((at, name));
                }
            }
        }
        found.sort_by_key(|(at, _)| *at);
        found.into_iter().map(|(_, name)| name.clone()).collect()
    }

    /// The rows of entities that figures are told by: `by customer`, `top 10 customers`, `which customer`. Each is called by what
    /// names it, and kept apart from others of that name by its key.
    fn take_entities(&mut self, model: &SemanticModel, sources: &[Tables<'_>]) -> Vec<Dimension> {
        let mut implied: Vec<Dimension> = Vec::new();
        for entity in model.entities() {
            let source = sources.iter().find(|source| source.database == entity.database);
            let own = |source: &Tables<'_>| source.tables.iter().position(|table| table.name == entity.table);
            let Some((source, at)) = source.and_then(|source| Some((source, own(source)?))) else { continue };
            let called = [stems(&entity.name), stems(&entity.table)];
            let mut said = called.iter().filter_map(|name| Some((self.words.find(name)?, name.len())));
            let Some((place, length)) = said.find(|(place, _)| self.words.is_told_by(*place)) else { continue };
            self.names_one = !self.words.list[place + length - 1].lower.ends_with('s');
            self.words.take(place, length);
            let table = &source.tables[at];
            let quote = |column: &usize| source.dialect.quote(&table.columns[*column].name);
            let (shown, keys) = name_rows(table).split();
            for (nth, column) in shown.iter().enumerate() {
                let keys = if nth == 0 { keys.iter().map(quote).collect() } else { Vec::new() };
                let columns = vec![DimensionColumn { entity: entity.name.clone(), expression: quote(column) }];
                let name = format!("{}_{}", entity.name, table.columns[*column].name);
                implied.push(Dimension { name, columns, keys, ..Dimension::default() });
            }
        }
        implied
    }

    /// `total` right before a name: `total revenue`. The `total of paid invoices` is not their number. A rate is an average
    /// already.
    fn take_totals(&mut self, are_ratios: bool) {
        for at in 1..self.words.list.len() {
            let is_named = self.words.list[at].is_taken;
            let before = &mut self.words.list[at - 1];
            let is_silent = ["total", "overall"].contains(&before.lower.as_str())
                || are_ratios && ["average", "mean"].contains(&before.lower.as_str());
            before.is_taken |= is_named && is_silent;
        }
    }

    /// Whether the values that the question names are to be told apart.
    fn compares(&self) -> bool {
        self.words.list.iter().any(|word| SIDE_BY_SIDE.contains(&word.lower.as_str()))
    }

    /// `how many` asks for what has no unit, `how much` for what has one: `how many refunds` is not their amount.
    fn check_unit(&self, any_has: bool, all_have: bool) -> Result<(), ReadError> {
        self.refuse(|first, second| match (first.lower.as_str(), second.lower.as_str()) {
            ("how", "many") => any_has,
            ("how", "much") => !all_have,
            _ => false,
        })
    }

    /// `revenue per order` divides one metric by another.
    fn check_quotients(&self) -> Result<(), ReadError> {
        self.refuse(|first, second| GROUPING[1..].contains(&first.lower.as_str()) && second.is_taken)
    }

    /// Two words that mean something else together.
    fn refuse(&self, is_wrong: impl Fn(&super::words::Word, &super::words::Word) -> bool) -> Result<(), ReadError> {
        match self.words.list.windows(2).position(|pair| is_wrong(&pair[0], &pair[1])) {
            Some(at) => {
                let pair = &self.words.list[at..at + 2];
                Err(ReadError::NotUnderstood(pair.iter().map(|word| word.text.clone()).collect()))
            }
            None => Ok(()),
        }
    }

    /// The values that the question names, as conditions.
    fn take_values(&mut self, model: &SemanticModel, values: &[NamedValue]) -> Result<Vec<FilterCondition>, ReadError> {
        let mut by_value: Vec<(Vec<String>, &str)> = Vec::new();
        for value in values.iter().map(|value| value.value.as_str()) {
            let words = lower_words(value);
            if !words.is_empty() && !by_value.iter().any(|(_, known)| *known == value) {
                by_value.push((words, value));
            }
        }
        by_value.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        let mut conditions: Vec<FilterCondition> = Vec::new();
        for (words, value) in by_value {
            let Some(at) = self.words.find_lower(&words) else { continue };
            let holders = values.iter().filter(|held| held.value == value);
            let columns: BTreeSet<String> =
                holders.filter_map(|held| name_column(model, &held.table, &held.column)).collect();
            // What a dimension is called by goes before any other column that has the same text.
            let declared: Vec<&String> = columns.iter().filter(|name| model.dimension(name).is_some()).collect();
            let column = match (declared.as_slice(), columns.len()) {
                ([one], _) => (*one).clone(),
                ([], 1) => columns.into_iter().next().unwrap_or_default(),
                ([], 0) => continue,
                _ => {
                    let columns = columns.into_iter().collect();
                    return Err(ReadError::Ambiguous { value: value.to_owned(), columns });
                }
            };
            self.words.take(at, words.len());
            add_value(&mut conditions, FilterCondition { column, op: FilterOp::Eq, value: json!(value) });
        }
        Ok(conditions)
    }
}

/// The dimension of a column, or the column of an entity.
fn name_column(model: &SemanticModel, table: &str, column: &str) -> Option<String> {
    let entities = model.entities().iter().filter(|entity| format!("{}.{}", entity.database, entity.table) == table);
    let entities: Vec<&str> = entities.map(|entity| entity.name.as_str()).collect();
    let holds = |dimension: &&Dimension| {
        (dimension.columns.iter())
            .any(|place| place.expression == column && entities.iter().any(|name| fold(name) == fold(&place.entity)))
    };
    let dimension = model.dimensions().iter().find(holds).map(|dimension| dimension.name.clone());
    dimension.or_else(|| entities.first().map(|entity| format!("{entity}.{column}")))
}

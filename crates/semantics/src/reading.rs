//! Questions in words as questions over metrics. Every word has to be understood: as part of the name or a synonym of a metric
//! or a dimension, as a value, a period, a grain or an order, or as one that says nothing. What has any other word is not read,
//! so that nothing is computed that was not asked.

use std::collections::BTreeSet;

use async_trait::async_trait;
use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_connect::query::Order;
use prospector_engine::query::aggregate::Grain;
use prospector_text::{identifiers, numbers, periods, stem};
use serde_json::json;

use crate::model::MetricKind;
use crate::query::{MetricQuery, TIME};
use crate::{SemanticModel, check::fold};

/// A longer question is not read.
const MAX_QUESTION_CHARS: usize = 400;

/// How many are shown of what is ranked, where the question does not say.
const MAX_RANKED: usize = 10;

/// Words that change nothing of what a figure is. None of them denies, compares or counts.
const SILENT: &[&str] = &[
    "a",
    "all",
    "altogether",
    "an",
    "and",
    "any",
    "are",
    "be",
    "been",
    "bring",
    "brings",
    "broken",
    "brought",
    "by",
    "can",
    "compare",
    "compared",
    "could",
    "did",
    "do",
    "does",
    "down",
    "during",
    "each",
    "earn",
    "earned",
    "every",
    "figure",
    "find",
    "for",
    "from",
    "generate",
    "generated",
    "get",
    "give",
    "grouped",
    "had",
    "has",
    "have",
    "how",
    "i",
    "in",
    "is",
    "it",
    "its",
    "list",
    "made",
    "make",
    "many",
    "me",
    "much",
    "of",
    "on",
    "our",
    "over",
    "per",
    "please",
    "show",
    "split",
    "tell",
    "that",
    "the",
    "their",
    "there",
    "time",
    "to",
    "us",
    "versus",
    "vs",
    "was",
    "we",
    "were",
    "what",
    "what's",
    "which",
    "with",
    "you",
];

/// Words that ask for one figure beside the other.
const COMPARING: &[&str] = &["compare", "compared", "compares", "versus", "vs"];

/// Words that put the largest or the smallest first.
const DESCENDING: &[&str] = &["best", "biggest", "greatest", "highest", "largest", "most", "top"];
const ASCENDING: &[&str] = &["bottom", "fewest", "least", "lowest", "smallest", "worst"];

/// A value that a question names, and the column that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedValue {
    /// `database.table`
    pub table: String,
    /// The column.
    pub column: String,
    /// The value as the column spells it.
    pub value: String,
}

/// What knows the values of the columns.
#[async_trait]
pub trait ValueIndex: Send + Sync {
    /// The values that a question names.
    async fn find(&self, question: &str) -> Vec<NamedValue>;
}

/// Why a question is not read as one over metrics.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// No name or synonym of a metric stands in it.
    #[error("the question names no metric")]
    NoMetric,
    /// Words that are neither understood nor without meaning.
    #[error("what is meant by {}?", .0.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "))]
    NotUnderstood(Vec<String>),
    /// A value that several things have.
    #[error("`{value}` may be any of {}", .columns.join(", "))]
    Ambiguous {
        /// The value.
        value: String,
        /// What has it.
        columns: Vec<String>,
    },
    /// Several periods, and no range.
    #[error("several periods are named, and how they belong together is not plain")]
    SeveralPeriods,
    /// Something is to be ranked, and nothing is named to rank by it.
    #[error("nothing is named that could be put in order")]
    NothingToRank,
    /// Longer than what is read.
    #[error("the question is longer than {MAX_QUESTION_CHARS} characters")]
    TooLong,
}

impl SemanticModel {
    /// The question over metrics that a question in words is, where all of it is understood. `values` are what the catalog
    /// knows of the values in it.
    ///
    /// # Errors
    /// What is not understood.
    pub fn read_question(&self, question: &str, values: &[NamedValue]) -> Result<MetricQuery, ReadError> {
        if question.chars().count() > MAX_QUESTION_CHARS {
            return Err(ReadError::TooLong);
        }
        let mut reader = Reader::new(question);
        let mut query = MetricQuery { filters: reader.take_period(question)?, ..MetricQuery::default() };
        query.metrics = reader.take_names(self.metrics().iter().map(|metric| (&metric.name, &metric.synonyms)));
        if query.metrics.is_empty() {
            return Err(ReadError::NoMetric);
        }
        let is_ratio =
            |name: &String| self.metric(name).is_some_and(|metric| matches!(metric.kind, MetricKind::Ratio { .. }));
        reader.take_totals(query.metrics.iter().all(is_ratio));
        reader.check_quotients()?;
        let has_unit = |name: &String| self.metric(name).is_some_and(|metric| !metric.unit.is_empty());
        reader.check_unit(query.metrics.iter().any(has_unit), query.metrics.iter().all(has_unit))?;
        query.filters.extend(reader.take_values(self, values)?);
        reader.names_one = false;
        let names = self.dimensions().iter().map(|dimension| (&dimension.name, &dimension.synonyms));
        query.dimensions = reader.take_names(names);
        if reader.compares() {
            // What is compared stands side by side.
            let several = query.filters.iter().filter(|filter| filter.op == FilterOp::In).map(|filter| &filter.column);
            let new: Vec<String> = several.filter(|column| !query.dimensions.contains(column)).cloned().collect();
            query.dimensions.extend(new);
        }
        query.grain = reader.take_grain();
        if let Some(descending) = reader.take_rank() {
            let is_single = query.dimensions.len() + usize::from(query.grain.is_some()) == 1 && reader.names_one;
            if query.dimensions.is_empty() && query.grain.is_none() {
                return Err(ReadError::NothingToRank);
            }
            query.order = vec![Order { by: query.metrics[0].clone(), descending }];
            query.limit = Some(reader.take_number().unwrap_or(if is_single { 1 } else { MAX_RANKED }));
        }
        match reader.list_rest() {
            rest if rest.is_empty() => Ok(query),
            rest => Err(ReadError::NotUnderstood(rest)),
        }
    }

    /// The dimension of a column, or the column of an entity.
    fn name_column(&self, table: &str, column: &str) -> Option<String> {
        let is_of = |entity: &&crate::model::Entity| format!("{}.{}", entity.database, entity.table) == table;
        let entities: Vec<&str> = self.entities().iter().filter(is_of).map(|entity| entity.name.as_str()).collect();
        let holds = |dimension: &&crate::model::Dimension| {
            (dimension.columns.iter()).any(|place| {
                place.expression == column && entities.iter().any(|name| fold(name) == fold(&place.entity))
            })
        };
        let dimension = self.dimensions().iter().find(holds).map(|dimension| dimension.name.clone());
        dimension.or_else(|| entities.first().map(|entity| format!("{entity}.{column}")))
    }
}

/// A word of a question.
struct Word {
    /// As it was written.
    text: String,
    lower: String,
    stem: String,
    is_taken: bool,
}

struct Reader {
    words: Vec<Word>,
    /// Whether what figures are told by is named in the singular.
    names_one: bool,
}

impl Reader {
    fn new(question: &str) -> Reader {
        let word = |text: &str| {
            let lower = text.to_lowercase().replace('’', "'");
            Word { text: text.to_owned(), stem: stem::snowball(&lower), lower, is_taken: false }
        };
        Reader { words: periods::words(question).into_iter().map(word).collect(), names_one: false }
    }

    /// The period, as conditions on the time of each metric.
    fn take_period(&mut self, question: &str) -> Result<Vec<FilterCondition>, ReadError> {
        let found = periods::find(question);
        let (from, to) = match found.as_slice() {
            [] => return Ok(Vec::new()),
            [one] => (one.from.clone(), one.to.clone()),
            [first, second] if self.is_range(first.place, second.place) => (first.from.clone(), second.to.clone()),
            _ => return Err(ReadError::SeveralPeriods),
        };
        for (at, count) in found.iter().map(|period| period.place) {
            self.take(at, count);
            // `since`, `after` and `before` are in the period already.
            let before = at.checked_sub(1).map(|at| &mut self.words[at]);
            if let Some(word) = before.filter(|word| {
                ["since", "after", "before", "until", "through", "between"].contains(&word.lower.as_str())
            }) {
                word.is_taken = true;
            }
        }
        let condition = |op, day: String| FilterCondition { column: TIME.to_owned(), op, value: json!(day) };
        let begin = (!from.starts_with("0000")).then(|| condition(FilterOp::Gte, from));
        let end = (!to.starts_with("9999")).then(|| condition(FilterOp::Lt, to));
        Ok(begin.into_iter().chain(end).collect())
    }

    /// `from A to B`, `between A and B`.
    fn is_range(&self, first: (usize, usize), second: (usize, usize)) -> bool {
        let word = |at: Option<usize>| at.and_then(|at| self.words.get(at)).map_or("", |word| word.lower.as_str());
        let (before, middle) = (word(first.0.checked_sub(1)), word(Some(first.0 + first.1)));
        let is_near = first.0 + first.1 + 1 == second.0;
        is_near && matches!((before, middle), ("from", "to" | "until" | "through") | ("between", "and"))
    }

    /// The names of which the name itself or a synonym stands in the question, in the order of the question. Of two that
    /// overlap the longer one counts.
    fn take_names<'a>(&mut self, named: impl Iterator<Item = (&'a String, &'a Vec<String>)>) -> Vec<String> {
        let mut phrases: Vec<(Vec<String>, &String)> = Vec::new();
        for (name, synonyms) in named {
            for phrase in std::iter::once(name).chain(synonyms) {
                let stems: Vec<String> = identifiers::words(phrase).iter().map(|word| stem::snowball(word)).collect();
                if !stems.is_empty() {
                    phrases.push((stems, name));
                }
            }
        }
        phrases.sort_by_key(|(stems, _)| std::cmp::Reverse(stems.len()));
        let mut found: Vec<(usize, &String)> = Vec::new();
        for (stems, name) in phrases {
            while let Some(at) = self.find(&stems, |word| &word.stem) {
                let last = &self.words[at + stems.len() - 1];
                self.names_one = last.lower == fold(name).replace('_', " ") || !last.lower.ends_with('s');
                self.take(at, stems.len());
                if !found.iter().any(|(_, known)| *known == name) {
                    found.push((at, name));
                }
            }
        }
        found.sort_by_key(|(at, _)| *at);
        found.into_iter().map(|(_, name)| name.clone()).collect()
    }

    /// `total` right before a name: `total revenue`. The `total of paid invoices` is not their number. A rate is an average already.
    fn take_totals(&mut self, are_ratios: bool) {
        for at in 1..self.words.len() {
            let is_named = self.words[at].is_taken;
            let before = &mut self.words[at - 1];
            let is_silent = ["total", "overall"].contains(&before.lower.as_str())
                || are_ratios && ["average", "mean"].contains(&before.lower.as_str());
            before.is_taken |= is_named && is_silent;
        }
    }

    /// `how many` asks for what has no unit, `how much` for what has one: `how many refunds` is not their amount.
    fn check_unit(&self, any_has: bool, all_have: bool) -> Result<(), ReadError> {
        let wrong = |pair: &&[Word]| match (pair[0].lower.as_str(), pair[1].lower.as_str()) {
            ("how", "many") => any_has,
            ("how", "much") => !all_have,
            _ => false,
        };
        match self.words.windows(2).find(wrong) {
            Some(pair) => Err(ReadError::NotUnderstood(pair.iter().map(|word| word.text.clone()).collect())),
            None => Ok(()),
        }
    }

    /// `revenue per order` divides one metric by another.
    fn check_quotients(&self) -> Result<(), ReadError> {
        let divides = |word: &Word| ["per", "each", "every"].contains(&word.lower.as_str());
        match self.words.windows(2).find(|pair| divides(&pair[0]) && pair[1].is_taken) {
            Some(pair) => Err(ReadError::NotUnderstood(pair.iter().map(|word| word.text.clone()).collect())),
            None => Ok(()),
        }
    }

    /// Whether the values that the question names are to be told apart.
    fn compares(&self) -> bool {
        self.words.iter().any(|word| COMPARING.contains(&word.lower.as_str()))
    }

    /// The values that the question names, as conditions.
    fn take_values(&mut self, model: &SemanticModel, values: &[NamedValue]) -> Result<Vec<FilterCondition>, ReadError> {
        let mut by_value: Vec<(Vec<String>, &str)> = Vec::new();
        for value in values.iter().map(|value| value.value.as_str()) {
            let words: Vec<String> = periods::words(value).into_iter().map(str::to_lowercase).collect();
            if !words.is_empty() && !by_value.iter().any(|(_, known)| *known == value) {
                by_value.push((words, value));
            }
        }
        by_value.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        let mut conditions: Vec<FilterCondition> = Vec::new();
        for (words, value) in by_value {
            let Some(at) = self.find(&words, |word| &word.lower) else { continue };
            let holders = values.iter().filter(|held| held.value == value);
            let columns: BTreeSet<String> =
                holders.filter_map(|held| model.name_column(&held.table, &held.column)).collect();
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
            self.take(at, words.len());
            match conditions.iter_mut().find(|known| known.column == column) {
                Some(known) => {
                    let mut list = known.value.as_array().cloned().unwrap_or_else(|| vec![known.value.clone()]);
                    list.push(json!(value));
                    (known.op, known.value) = (FilterOp::In, json!(list));
                }
                None => conditions.push(FilterCondition { column, op: FilterOp::Eq, value: json!(value) }),
            }
        }
        Ok(conditions)
    }

    /// `monthly`, `by month`, `per quarter`, `which year`.
    fn take_grain(&mut self) -> Option<Grain> {
        const ADVERBS: [(&str, Grain); 6] = [
            ("daily", Grain::Day),
            ("weekly", Grain::Week),
            ("monthly", Grain::Month),
            ("quarterly", Grain::Quarter),
            ("yearly", Grain::Year),
            ("annual", Grain::Year),
        ];
        let at = self.words.iter().enumerate().position(|(at, word)| {
            let before = at.checked_sub(1).map_or("", |at| self.words[at].lower.as_str());
            let is_told_by = ["by", "per", "each", "every", "which", "what", "and"].contains(&before);
            !word.is_taken
                && (ADVERBS.iter().any(|(adverb, _)| *adverb == word.lower)
                    || Grain::find(&word.lower).is_some() && is_told_by)
        })?;
        let word = &mut self.words[at];
        word.is_taken = true;
        self.names_one |= !word.lower.ends_with('s');
        let adverb = ADVERBS.iter().find(|(adverb, _)| *adverb == word.lower).map(|(_, grain)| *grain);
        adverb.or_else(|| Grain::find(&word.lower))
    }

    /// Whether the largest comes first, or the smallest.
    fn take_rank(&mut self) -> Option<bool> {
        let is_rank = |word: &&mut Word| {
            !word.is_taken && (DESCENDING.contains(&word.lower.as_str()) || ASCENDING.contains(&word.lower.as_str()))
        };
        let word = self.words.iter_mut().find(is_rank)?;
        word.is_taken = true;
        Some(DESCENDING.contains(&word.lower.as_str()))
    }

    fn take_number(&mut self) -> Option<usize> {
        let read = |word: &Word| match word.lower.parse::<usize>() {
            Ok(number) => Some(number).filter(|number| (1..=1_000).contains(number)),
            Err(_) => numbers::parse_word(&word.lower).map(|number| number as usize),
        };
        let (word, number) = self
            .words
            .iter_mut()
            .filter(|word| !word.is_taken)
            .find_map(|word| read(word).map(|number| (word, number)))?;
        word.is_taken = true;
        Some(number)
    }

    /// What nobody understood.
    fn list_rest(&self) -> Vec<String> {
        let says = |word: &&Word| !word.is_taken && !SILENT.contains(&word.lower.as_str());
        self.words.iter().filter(says).map(|word| word.text.clone()).collect()
    }

    fn find(&self, phrase: &[String], part: impl Fn(&Word) -> &String) -> Option<usize> {
        (self.words.windows(phrase.len()))
            .position(|window| window.iter().zip(phrase).all(|(word, wanted)| !word.is_taken && part(word) == wanted))
    }

    fn take(&mut self, at: usize, count: usize) {
        self.words.iter_mut().skip(at).take(count).for_each(|word| word.is_taken = true);
    }
}

#[cfg(test)]
mod tests;

//! Questions in words as questions over metrics. Every word has to be understood: as part of the name or a synonym of a metric
//! or a dimension, as a table or a column, as a value, a period, a grain or an order, or as one that says nothing. What has any
//! other word is not read, so that nothing is computed that was not asked.

mod change;
mod declared;
mod rows;
mod superlatives;
mod tables;
mod words;

use async_trait::async_trait;

use crate::model::{Declarations, DimensionColumn};
use crate::query::MetricQuery;
use crate::{SemanticModel, Tables};
use tables::Implication;
use words::{Words, stems};

/// A longer question is not read.
const MAX_QUESTION_CHARS: usize = 400;

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

/// What the words of a question may stand for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Vocabulary {
    /// Tables that it may be about as `database.table`, the likeliest first.
    pub tables: Vec<String>,
    /// The values that it names.
    pub values: Vec<NamedValue>,
}

/// A term that something other than a metric defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinedTerm {
    /// The term.
    pub term: String,
    /// Its definition.
    pub definition: String,
    /// What says so.
    pub source: String,
}

/// What knows the tables and values of a catalog, and the terms that its documents define.
#[async_trait]
pub trait Glossary: Send + Sync {
    /// What the words of a question may stand for.
    async fn find(&self, question: &str) -> Vocabulary;

    /// The terms of a question that are defined.
    async fn define(&self, question: &str) -> Vec<DefinedTerm>;

    /// The tables of all databases, whether they have rows or not.
    fn tables(&self) -> Vec<Tables<'_>>;
}

/// A question in words as it is understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The question over metrics.
    pub query: MetricQuery,
    /// What is declared, and what the question implies.
    pub model: SemanticModel,
}

impl Reading {
    /// Whether the query applies a definition: it groups by a column that the text names as `table.column`, or filters by a value
    /// that stands in the text as a word, such as the `P` of "an invoice with status P".
    pub(crate) fn applies(&self, definition: &str) -> bool {
        let table =
            |entity: &str| self.model.entities().iter().find(|known| known.name == entity).map(|known| &known.table);
        let is_named = |place: &DimensionColumn| {
            let column = place.expression.trim_matches(['"', '`', '[', ']']);
            table(&place.entity).is_some_and(|table| definition.contains(&format!("{table}.{column}")))
        };
        let mut dimensions = self.query.dimensions.iter().filter_map(|name| self.model.dimension(name));
        let mut values = self.query.filters.iter().filter_map(|condition| condition.value.as_str());
        dimensions.any(|dimension| dimension.columns.iter().any(is_named))
            || values.any(|value| definition.split(|c: char| !c.is_alphanumeric()).any(|word| word == value))
    }
}

/// Why a question is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// No name or synonym of a metric stands in it.
    #[error("the question names no metric")]
    NoMetric,
    /// Nothing stands in it that could be counted or put together.
    #[error("the question names nothing that can be counted or added up")]
    NoMeasure,
    /// Several things stand in it that could be.
    #[error("the question names several things that could be counted or added up")]
    SeveralMeasures,
    /// A number of many rows, and no word for what is done with them.
    #[error("say whether the total, the average, the highest or the lowest is wanted")]
    NoAggregate,
    /// Words that are neither understood nor without meaning.
    #[error("what is meant by {}?", .0.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "))]
    NotUnderstood(Vec<String>),
    /// A figure over counts of rows.
    #[error("an average, a maximum or a minimum of counts is not computed: ask for the counts themselves")]
    OfCounts,
    /// What several columns are called by or hold.
    #[error("`{value}` may be any of {}", .columns.join(", "))]
    Ambiguous {
        /// The words.
        value: String,
        /// The columns.
        columns: Vec<String>,
    },
    /// No key leads from the rows that are asked for to what is said.
    #[error("`{said}` is not known of {table}")]
    Unrelated {
        /// The words.
        said: String,
        /// The table.
        table: String,
    },
    /// Rows that would count more than once.
    #[error("each row of {table} may have several of {other}, and would count once for each")]
    Repeated {
        /// The table whose rows are asked for.
        table: String,
        /// The other one.
        other: String,
    },
    /// A period of rows that have no day.
    #[error("the rows of {0} have no day")]
    NoTime(String),
    /// A period of rows that have several days.
    #[error("a row of {table} has several days, {}: say which is meant", .columns.join(", "))]
    SeveralTimes {
        /// The table.
        table: String,
        /// The columns.
        columns: Vec<String>,
    },
    /// Several periods, and no range.
    #[error("several periods are named, and how they belong together is not plain")]
    SeveralPeriods,
    /// Something is to be ranked, and nothing is named to rank by it.
    #[error("nothing is named that could be put in order")]
    NothingToRank,
    /// It goes on from another question by more than one change, or by none that is known.
    #[error("it goes on from the question before in a way that I do not follow: ask it in full")]
    Unclear,
    /// It goes on from a question for one value with another of the same column.
    #[error("the question before asks for {0} already: ask it in full")]
    AskedAlready(String),
    /// Longer than what is read.
    #[error("the question is longer than {MAX_QUESTION_CHARS} characters")]
    TooLong,
}

impl ReadError {
    /// The error of the two that understands more of the question.
    pub(crate) fn nearer(self, other: ReadError) -> ReadError {
        let (own, others) = (self.count_words(), other.count_words());
        if own < others || (own == others && own != usize::MAX) { self } else { other }
    }

    /// How many words are not understood, as far as that is the reason.
    fn count_words(&self) -> usize {
        match self {
            ReadError::NotUnderstood(words) => words.len(),
            ReadError::NoMetric | ReadError::NoMeasure => usize::MAX,
            _ => 0,
        }
    }
}

impl SemanticModel {
    /// The question over declared metrics that a question in words is, where all of it is understood. `X? And in 2024?` is one that
    /// goes on from `X?` by one change.
    ///
    /// # Errors
    /// What is not understood.
    pub fn read_question(
        &self,
        question: &str,
        values: &[NamedValue],
        sources: &[Tables<'_>],
    ) -> Result<Reading, ReadError> {
        let (first, rest) = split(question)?;
        let (mut query, implied) = declared::read(self, first, values, sources)?;
        for question in rest {
            let (words, is_only) = change::begin(question);
            declared::read_change(self, words, values)?.apply(&mut query, is_only)?;
        }
        let declared = Declarations { dimensions: implied, ..Declarations::default() };
        Ok(Reading { query, model: self.with(declared) })
    }

    /// The same question over the other metrics that its word for the only metric may stand for: `revenue` is part of the name
    /// `catalog_revenue`.
    pub(crate) fn list_alternatives(&self, question: &str, read: &MetricQuery) -> Vec<MetricQuery> {
        let ([only], words) = (read.metrics.as_slice(), Words::new(question)) else { return Vec::new() };
        let called = |name: &str, synonyms: &[String]| -> Vec<Vec<String>> {
            std::iter::once(name).chain(synonyms.iter().map(String::as_str)).map(stems).collect()
        };
        let phrases = self.metric(only).map(|metric| called(&metric.name, &metric.synonyms)).unwrap_or_default();
        let Some(said) = phrases.iter().filter(|phrase| words.find(phrase).is_some()).max_by_key(|phrase| phrase.len())
        else {
            return Vec::new();
        };
        let others = self.metrics().iter().filter(|metric| metric.name != *only).filter(|metric| {
            called(&metric.name, &metric.synonyms).iter().any(|phrase| said.iter().all(|stem| phrase.contains(stem)))
        });
        let instead = |name: &String| {
            let mut query = MetricQuery { metrics: vec![name.clone()], ..read.clone() };
            query.order.iter_mut().filter(|order| order.by == *only).for_each(|order| order.by.clone_from(name));
            query
        };
        others.map(|metric| instead(&metric.name)).collect()
    }

    /// A question in words over tables that no metric is declared for, where all of it is understood.
    ///
    /// # Errors
    /// What is not understood, or not plain.
    pub fn read_tables(
        &self,
        question: &str,
        vocabulary: &Vocabulary,
        sources: &[Tables<'_>],
    ) -> Result<Reading, ReadError> {
        let (first, rest) = split(question)?;
        let Implication { declared, query } = tables::read(self, first, &rest, vocabulary, sources)?;
        Ok(Reading { query, model: self.with(declared) })
    }
}

impl DefinedTerm {
    /// Whether a question uses the term. One of a single word may be the name of a table or a value as well.
    pub(crate) fn is_in(&self, question: &str) -> bool {
        let term = stems(&self.term);
        term.len() > 1 && Words::new(question).find(&term).is_some()
    }
}

/// A question, and those that go on from it.
fn split(question: &str) -> Result<(&str, Vec<&str>), ReadError> {
    if question.chars().count() > MAX_QUESTION_CHARS {
        return Err(ReadError::TooLong);
    }
    let mut all = question.split('?').map(str::trim).filter(|part| !part.is_empty());
    Ok((all.next().unwrap_or_default(), all.collect()))
}

#[cfg(test)]
mod tests;

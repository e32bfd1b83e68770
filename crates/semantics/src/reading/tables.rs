//! Questions over tables that no metric is declared for: `how many customers`, `average rating by year`, `customers in Brazil`. A
//! table, its columns and its values are named by the question itself, keys lead from one table to another, and what comes of it
//! is a question over metrics like any other: aggregated before it is joined, so that no row counts twice.

mod imply;
mod lexicon;
mod measure;
mod reader;
mod scope;
mod spoken;

use prospector_connect::filter::FilterOp;

use super::change::{Change, begin};
use super::words::Words;
use super::{ReadError, Vocabulary};
use crate::model::Declarations;
use crate::query::MetricQuery;
use crate::{SemanticModel, Tables};
use imply::Implied;
use reader::Reader;
use scope::{Scope, Time};

/// What a question implies, and the question over it.
pub(super) struct Implication {
    pub(super) declared: Declarations,
    pub(super) query: MetricQuery,
}

/// Reads a question, and those that go on from it, over the first database that it is understood of.
pub(super) fn read(
    model: &SemanticModel,
    question: &str,
    rest: &[&str],
    vocabulary: &Vocabulary,
    sources: &[Tables<'_>],
) -> Result<Implication, ReadError> {
    let mut databases: Vec<&str> = Vec::new();
    for database in vocabulary.tables.iter().filter_map(|id| id.split_once('.').map(|(database, _)| database)) {
        if !databases.contains(&database) {
            databases.push(database);
        }
    }
    let mut first: Option<ReadError> = None;
    for source in databases.iter().filter_map(|name| sources.iter().find(|source| source.database == *name)) {
        let scope = Scope::new(model, *source, vocabulary);
        match read_over(&scope, question, rest) {
            Ok(found) => return Ok(found),
            // The database that understands most says what is not understood.
            Err(error) if first.as_ref().is_none_or(|first| error.count_words() < first.count_words()) => {
                first = Some(error)
            }
            Err(_) => {}
        }
    }
    Err(first.unwrap_or(ReadError::NoMeasure))
}

fn read_over(scope: &Scope<'_>, question: &str, rest: &[&str]) -> Result<Implication, ReadError> {
    let mut intent = Reader::new(scope, Words::new(question)).read()?;
    let mut implied = Implied::new(scope);
    let mut changes = Vec::new();
    for question in rest {
        let (words, is_only) = begin(question);
        let (period, groups, values, grain) = Reader::new(scope, words).read_change(intent.subject)?;
        if period.is_some() || grain.is_some() {
            intent.time = intent.time.map_or_else(|| scope.time(intent.subject, &[]), Ok).map(Some)?;
        }
        changes.push((period, groups, values, grain, is_only));
    }
    let mut query = implied.write(&intent);
    for (period, groups, values, grain, is_only) in changes {
        // A column of years is no time that periods could be compared by.
        if matches!(intent.time, Some(Time::Year(_))) && (period.is_some() || grain.is_some()) {
            return Err(ReadError::Unclear);
        }
        let mut filters = Vec::new();
        let values: Vec<_> = values.into_iter().map(|(place, value)| (place, FilterOp::Eq, value)).collect();
        implied.add_filters(&mut filters, &values);
        let change = Change { period, filters, dimensions: implied.dimensions(&groups), grain };
        change.apply(&mut query, is_only)?;
    }
    Ok(Implication { declared: implied.declared, query })
}

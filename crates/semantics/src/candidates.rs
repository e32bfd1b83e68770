//! Questions in words as candidates: typed queries over what a catalog declares and holds, each with the share of the question that
//! its parts cover. No grammar decides: names, values, periods and operators are found by what they are called and by embedding, keys
//! and types say which roles they can have together, and what the words cover best comes first.
//!
//! The score of a candidate is the weight of the words that its parts cover, each as well as the part is named, over the weight of all
//! words, less what it assumes. A word weighs by how rare it is in general language; what only holds a sentence together weighs
//! nothing.

mod change;
mod comparisons;
mod compose;
mod describe;
mod existence;
mod follow_up;
mod intent;
mod lower;
mod names;
mod operators;
mod parts;
mod question;
mod roles;
mod rows;
mod rows_sql;
mod scope;
mod seeds;
mod values;

use async_trait::async_trait;
use chrono::NaiveDate;

use prospector_text::periods;

use crate::query::MetricQuery;
use crate::{SemanticModel, Tables};
use compose::{Scored, compose};
use intent::Measure;
use lower::Implied;
use names::Names;
use question::Question;
use scope::Scope;

/// A longer question is not read.
pub(crate) const MAX_QUESTION_CHARS: usize = 400;
/// Candidates of one database that are kept.
const MAX_KEPT: usize = 8;
/// Databases that a question names that are looked through.
const MAX_NAMED: usize = 3;
/// Questions that may follow are listed for candidates that are better than this.
const MIN_FOLLOWED: f64 = 0.7;
const MAX_FOLLOW_UPS: usize = 3;

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
    /// Databases that it names.
    pub databases: Vec<String>,
    /// Tables that it may be about as `database.table`, the likeliest first.
    pub tables: Vec<String>,
    /// The values that it names.
    pub values: Vec<NamedValue>,
    /// Columns of texts that say yes or no, with their yes.
    pub flags: Vec<NamedValue>,
}

/// A term that something other than a metric defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinedTerm {
    /// The term.
    pub term: String,
    /// Its definition.
    pub definition: String,
    /// Where the definition stands.
    pub source: String,
}

/// What knows the tables and values of a catalog, the terms that its documents define, and words in general.
#[async_trait]
pub trait Glossary: Send + Sync {
    /// What the words of a question may stand for; the databases that it names are each looked through for themselves too.
    async fn find(&self, question: &str, named: &[&str]) -> Vocabulary;

    /// The terms of a question that are defined.
    async fn define(&self, question: &str) -> Vec<DefinedTerm>;

    /// What a database is about, in words; empty where nothing tells.
    fn describe(&self, database: &str) -> String {
        let _ = database;
        String::new()
    }

    /// How much a lower-case word says, 0 to 1: the rarer it is in general language, the more.
    fn weigh(&self, word: &str) -> f64 {
        let _ = word;
        1.0
    }

    /// Unit vectors whose dot product says how near the meanings of texts are; none where texts are not embedded.
    fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let _ = texts;
        Vec::new()
    }
}

/// A query that a question may ask for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    /// The share of the question that it covers, less what it assumes; at most 1.
    pub(crate) score: f64,
    /// The words of the question that have no part in it.
    pub(crate) unused: Vec<String>,
    /// What it computes, in words.
    pub(crate) text: String,
    /// The database whose rows it computes first.
    pub(crate) database: String,
    /// Questions that may follow: changes that are understood.
    pub(crate) follow_ups: Vec<String>,
    pub(crate) query: CandidateQuery,
}

/// How a candidate is computed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CandidateQuery {
    /// Over metrics, some of which the question implies.
    Metrics {
        query: MetricQuery,
        /// What is declared, and what the question implies.
        model: Box<SemanticModel>,
    },
    /// Rows themselves.
    Sql { sql: String, tables: Vec<String> },
}

/// Whether a question asks for figures: how many, which share, the highest, by month, more than, in 2025.
pub(crate) fn asks_for_figures(question: &str) -> bool {
    let lower: Vec<String> = periods::words(question).into_iter().map(str::to_lowercase).collect();
    let words: Vec<&str> = lower.iter().map(String::as_str).collect();
    let computes = |at: usize| operators::find(&words[at..]).is_some_and(|(operator, _)| operator.computes());
    let has_number = words.iter().any(|word| word.contains(|c: char| c.is_ascii_digit()));
    // Which days a period has does not matter.
    has_number || (0..words.len()).any(computes) || !periods::find_on(question, NaiveDate::default()).is_empty()
}

/// What the words of a question may stand for; a database that it names is looked through for itself.
pub(crate) async fn look_up(question: &str, sources: &[Tables<'_>], glossary: &dyn Glossary) -> Vocabulary {
    let read = Question::read(question, NaiveDate::default(), glossary);
    let is_named = |source: &&Tables<'_>| read.names(source.database, &glossary.describe(source.database));
    let named: Vec<&str> = sources.iter().filter(is_named).map(|source| source.database).take(MAX_NAMED).collect();
    let databases = named.iter().map(|name| (*name).to_owned()).collect();
    Vocabulary { databases, ..glossary.find(question, &named).await }
}

/// The candidates for a question, the best first. `X? And in 2024?` is one that goes on from `X?` by a change.
pub(crate) fn list_candidates(
    model: &SemanticModel,
    question: &str,
    vocabulary: &Vocabulary,
    sources: &[Tables<'_>],
    glossary: &dyn Glossary,
) -> Vec<Candidate> {
    let mut parts = question.split('?').map(str::trim).filter(|part| !part.is_empty());
    let Some(first) = parts.next() else { return Vec::new() };
    let changes: Vec<Question> = parts.map(|part| Question::read(part, model.today(), glossary)).collect();
    let read = Question::read(first, model.today(), glossary);
    let mut databases: Vec<&str> = Vec::new();
    let of_tables = vocabulary.tables.iter().filter_map(|id| id.split_once('.').map(|(database, _)| database));
    let of_metrics = model
        .metrics()
        .iter()
        .flat_map(|metric| model.measures(metric))
        .filter_map(|measure| model.entity(&measure.entity).map(|entity| entity.database.as_str()));
    let named = vocabulary.databases.iter().map(String::as_str);
    for database in of_tables.chain(of_metrics).chain(named) {
        if !databases.contains(&database) {
            databases.push(database);
        }
    }
    let mut all: Vec<Candidate> = Vec::new();
    for source in databases.iter().filter_map(|name| sources.iter().find(|source| source.database == *name)) {
        let scope = Scope::new(model, *source, vocabulary, &read);
        let names = Names::of(&scope, glossary);
        let mentions = names.find(&read, glossary);
        let mut found: Vec<Scored> = compose(&scope, &read, &mentions);
        found.truncate(MAX_KEPT);
        for change in &changes {
            let parts = compose::read_parts(change, &names.find(change, glossary));
            found = found.into_iter().filter_map(|scored| change::apply(&scope, scored, change, &parts)).collect();
        }
        for (nth, scored) in found.into_iter().enumerate() {
            let follow_ups = match (nth, scored.score > MIN_FOLLOWED) {
                (0, true) => list_follow_ups(&scope, &names, &scored, model.today(), glossary),
                _ => Vec::new(),
            };
            all.extend(lower(&scope, scored).map(|candidate| Candidate { follow_ups, ..candidate }));
        }
    }
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    all
}

/// Changes of a reading that would be understood.
fn list_follow_ups(
    scope: &Scope<'_>,
    names: &Names,
    scored: &Scored,
    today: NaiveDate,
    glossary: &dyn Glossary,
) -> Vec<String> {
    let is_understood = |text: &String| {
        let change = Question::read(text, today, glossary);
        let parts = compose::read_parts(&change, &names.find(&change, glossary));
        let changed = change::apply(scope, scored.clone(), &change, &parts);
        changed.filter(|changed| changed.score >= scored.score).and_then(|changed| lower(scope, changed)).is_some()
    };
    follow_up::propose(scope, &scored.intent).into_iter().filter(is_understood).take(MAX_FOLLOW_UPS).collect()
}

/// The query of a reading.
fn lower(scope: &Scope<'_>, scored: Scored) -> Option<Candidate> {
    let Scored { intent, score, unused } = scored;
    let text = describe::describe(scope, &intent);
    let is_rows = matches!(intent.measure, Measure::Rows(_)) || !intent.existences.is_empty();
    let query = if is_rows {
        let (sql, tables) = rows_sql::write(scope, &intent)?;
        CandidateQuery::Sql { sql, tables }
    } else {
        let mut implied = Implied::new(scope);
        let query = implied.write(&intent);
        CandidateQuery::Metrics { query, model: Box::new(scope.model.with(implied.declared)) }
    };
    let database = scope.source.database.to_owned();
    Some(Candidate { score, unused, text, database, follow_ups: Vec::new(), query })
}

impl DefinedTerm {
    /// Whether a question uses the term. One of a single word may be the name of a table or a value as well.
    pub(crate) fn is_in(&self, question: &str) -> bool {
        let (term, asked) = (question::stems(&self.term), question::stems(question));
        term.len() > 1 && asked.windows(term.len()).any(|window| window == term)
    }
}

#[cfg(test)]
mod tests;

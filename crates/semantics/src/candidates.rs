//! Interprets natural-language questions as candidate queries over declared metrics and catalog tables, each scored by the share of the
//! question that it covers. There is no grammar: names, values, periods and operators are matched by wording and by embedding, keys and
//! types decide which roles they can have together, and candidates are ranked by coverage.
//!
//! The score of a candidate is the summed weight of the words that its parts cover, each scaled by how well the part matches, divided by
//! the weight of all words, minus penalties for assumptions. A word is weighted by its rarity in general language; stop words weigh
//! nothing.

mod change;
mod comparisons;
mod compose;
mod describe;
mod elements;
mod existence;
mod follow_up;
mod intent;
mod lower;
mod matching;
mod names;
mod naming;
mod numbers;
mod operators;
mod parts;
mod question;
mod rankings;
mod roles;
mod rows;
mod rows_sql;
mod scope;
mod seeds;
mod values;
mod verified;

use async_trait::async_trait;
use chrono::NaiveDate;
use serde_json::{Map, Value};

use prospector_engine::Engine;
use prospector_text::periods;

use crate::query::MetricQuery;
use crate::{SemanticModel, Tables};
use compose::{Scored, compose};
use intent::Measure;
use lower::Implied;
use names::Names;
use question::Question;
use scope::Scope;

/// Longer questions are not parsed.
pub(crate) const MAX_QUESTION_CHARS: usize = 400;
/// The minimum score to compute a candidate without confirmation.
pub(crate) const ACCEPT: f64 = 0.88;
/// The maximum number of candidates that are kept per database.
const MAX_KEPT: usize = 8;
/// The maximum number of databases named by a question that are searched.
const MAX_NAMED: usize = 3;
/// Follow-up questions are listed for candidates with a higher score.
const MIN_FOLLOWED: f64 = 0.7;
const MAX_FOLLOW_UPS: usize = 3;

/// A value that a question names, and the column that contains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedValue {
    /// `database.table`
    pub table: String,
    /// The column.
    pub column: String,
    /// The value as it is spelled in the column.
    pub value: String,
}

/// What the words of a question may refer to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Vocabulary {
    /// The databases that it names.
    pub databases: Vec<String>,
    /// Tables that it may refer to, as `database.table`, the most likely first.
    pub tables: Vec<String>,
    /// The values that it names.
    pub values: Vec<NamedValue>,
    /// Text columns with yes/no values, with their value for yes.
    pub flags: Vec<NamedValue>,
    /// Verified queries that may answer it.
    pub queries: Vec<VerifiedQuery>,
}

/// A query that a person has approved for a question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VerifiedQuery {
    /// Its name.
    pub name: String,
    /// The wordings of its question, with `{name}` for the value of a parameter; the first is its title.
    pub wordings: Vec<String>,
    /// Its description.
    pub description: String,
    /// Its parameters.
    pub parameters: Vec<QueryParameter>,
    /// The tables that it reads, as `database.table`.
    pub tables: Vec<String>,
}

/// A parameter of a verified query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryParameter {
    /// Its name.
    pub name: String,
    /// The values of a question that it may have.
    pub values: ParameterValues,
    /// Whether it has a default value.
    pub is_optional: bool,
}

/// The values of a question that a parameter may have.
#[derive(Debug, Clone, PartialEq)]
pub enum ParameterValues {
    /// These, each with its other names.
    Texts(Vec<(String, Vec<String>)>),
    /// Those of a column, `database.table.column`.
    Column(String),
    /// Any text in quotation marks.
    Quoted,
    /// These numbers; any number if empty.
    Numbers(Vec<f64>),
    /// Days.
    Days,
    /// Nothing that a question says.
    None,
}

/// A term with a definition other than a metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinedTerm {
    /// The term.
    pub term: String,
    /// Its definition.
    pub definition: String,
    /// The source of the definition.
    pub source: String,
}

/// Looks up tables, values and defined terms of a catalog, and word statistics.
#[async_trait]
pub trait Glossary: Send + Sync {
    /// Returns what the words of a question may refer to. Each database in `named` is also searched separately.
    async fn find(&self, question: &str, named: &[&str]) -> Vocabulary;

    /// Returns the terms of a question that have a definition.
    async fn define(&self, question: &str) -> Vec<DefinedTerm>;

    /// Returns the SQL of a verified query with these values, and the database that it runs in if it is one; `None` if it does not accept
    /// them.
    async fn bind(
        &self,
        query: &str,
        values: &Map<String, Value>,
        engine: &Engine,
    ) -> Option<(String, Option<String>)> {
        let _ = (query, values, engine);
        None
    }

    /// Returns a description of a database; empty if unknown.
    fn describe(&self, database: &str) -> String {
        let _ = database;
        String::new()
    }

    /// Returns the weight of a lower-case word, 0 to 1: the rarer it is in general language, the higher.
    fn weigh(&self, word: &str) -> f64 {
        let _ = word;
        1.0
    }

    /// Returns unit vectors whose dot product is the semantic similarity of the texts; empty if texts are not embedded.
    fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let _ = texts;
        Vec::new()
    }
}

/// A query that a question may ask for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    /// The share of the question that it covers, minus penalties for assumptions; at most 1.
    pub(crate) score: f64,
    /// The words of the question that it does not use.
    pub(crate) unused: Vec<String>,
    /// Two tables that the question names and that no key connects.
    pub(crate) apart: Option<(String, String)>,
    /// A human-readable description of what it computes.
    pub(crate) text: String,
    /// The database that it reads first; empty for a verified query.
    pub(crate) database: String,
    /// Follow-up questions that would be understood.
    pub(crate) follow_ups: Vec<String>,
    pub(crate) query: CandidateQuery,
}

/// How a candidate is computed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CandidateQuery {
    /// A query over metrics, some of which are implied by the question.
    Metrics {
        query: MetricQuery,
        /// The declared model, extended by the implied declarations.
        model: Box<SemanticModel>,
    },
    /// SQL that lists rows.
    Sql { sql: String, tables: Vec<String> },
    /// A verified query, with the values of the question.
    Verified { name: String, parameters: Map<String, Value>, tables: Vec<String> },
}

impl Candidate {
    /// Returns whether a person has approved its query.
    pub(crate) fn is_verified(&self) -> bool {
        matches!(self.query, CandidateQuery::Verified { .. })
    }
}

impl ParameterValues {
    fn is_text(&self) -> bool {
        matches!(self, ParameterValues::Texts(_) | ParameterValues::Column(_) | ParameterValues::Quoted)
    }
}

impl VerifiedQuery {
    /// Returns its question with these values.
    fn ask(&self, values: &Map<String, Value>) -> String {
        let title = self.wordings.first().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        values.iter().fold(title, |title, (name, value)| title.replace(&format!("{{{name}}}"), &text(value)))
    }
}

/// Returns whether a question asks for numbers: how many, which share, the highest, by month, more than, in 2025.
pub(crate) fn asks_for_figures(question: &str) -> bool {
    let lower: Vec<String> = periods::words(question).into_iter().map(str::to_lowercase).collect();
    let words: Vec<&str> = lower.iter().map(String::as_str).collect();
    let computes = |at: usize| operators::find(&words[at..]).is_some_and(|(operator, _)| operator.computes());
    let has_number = words.iter().any(|word| word.contains(|c: char| c.is_ascii_digit()));
    // The dates of a period do not matter here.
    has_number || (0..words.len()).any(computes) || !periods::find_on(question, NaiveDate::default()).is_empty()
}

/// Returns whether a word says what to do with rows.
pub(crate) fn is_operator(word: &str) -> bool {
    operators::find(&[word.to_lowercase().as_str()]).is_some()
}

/// A question, and the changes that follow it: `X? And in 2024?` is the question `X?` with a change.
pub(crate) struct Conversation {
    question: Question,
    /// The text of the question.
    text: String,
    changes: Vec<Question>,
}

impl Conversation {
    /// Returns `None` for a text without a question.
    pub(crate) fn read(text: &str, today: NaiveDate, glossary: &dyn Glossary) -> Option<Conversation> {
        let mut parts = text.split('?').map(str::trim).filter(|part| !part.is_empty());
        let text = parts.next()?.trim_end_matches('.').to_owned();
        let question = Question::read(&text, today, glossary);
        let year = question.year();
        let changes = parts.map(|part| Question::read(&with_year(part, year.as_deref()), today, glossary)).collect();
        Some(Conversation { question, text, changes })
    }

    /// Returns what the words of the question `text` may refer to; databases that it names are also searched separately.
    pub(crate) async fn look_up(&self, text: &str, sources: &[Tables<'_>], glossary: &dyn Glossary) -> Vocabulary {
        let is_named = |source: &&Tables<'_>| {
            let about = glossary.describe(source.database);
            std::iter::once(&self.question).chain(&self.changes).any(|part| part.names(source.database, &about))
        };
        let named: Vec<&str> = sources.iter().filter(is_named).map(|source| source.database).take(MAX_NAMED).collect();
        let databases = named.iter().map(|name| (*name).to_owned()).collect();
        Vocabulary { databases, ..glossary.find(text, &named).await }
    }
}

/// Returns the candidates for a question, the best first.
pub(crate) fn list_candidates(
    model: &SemanticModel,
    Conversation { question: read, text, changes }: &Conversation,
    vocabulary: &Vocabulary,
    sources: &[Tables<'_>],
    glossary: &dyn Glossary,
) -> Vec<Candidate> {
    let mut databases: Vec<&str> = Vec::new();
    let named = vocabulary.tables.iter().chain(vocabulary.values.iter().map(|named| &named.table));
    let of_tables = named.filter_map(|id| id.split_once('.').map(|(database, _)| database));
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
    if changes.is_empty() {
        all.extend(verified::list(read, vocabulary, model.today(), glossary));
    }
    for source in databases.iter().filter_map(|name| sources.iter().find(|source| source.database == *name)) {
        let scope = Scope::new(model, *source, vocabulary, read);
        let names = Names::of(&scope, glossary);
        let mentions = names.find(read, glossary);
        let mut found: Vec<Scored> = compose(&scope, read, &mentions);
        found.truncate(MAX_KEPT);
        // The text of a choice means that choice.
        let is_own = |scored: &Scored| {
            let own = describe::describe(&scope, &scored.intent);
            text.eq_ignore_ascii_case(&own) || text.eq_ignore_ascii_case(&format!("{own} in {}", source.database))
        };
        let own = found.iter().position(is_own);
        if let Some(own) = own {
            found = vec![Scored { score: 1.0, unused: Vec::new(), ..found.swap_remove(own) }];
            all.clear();
        }
        for change in changes {
            let parts = compose::read_parts(change, &names.find(change, glossary));
            found = found.into_iter().filter_map(|scored| change::apply(&scope, scored, change, &parts)).collect();
        }
        let found = found.into_iter().flat_map(|scored| compose::vary(&scope, scored));
        for (nth, scored) in found.enumerate() {
            let follow_ups = match (nth, scored.score > MIN_FOLLOWED) {
                (0, true) => list_follow_ups(&scope, &names, &scored, model.today(), glossary),
                _ => Vec::new(),
            };
            all.extend(lower(&scope, scored).map(|candidate| Candidate { follow_ups, ..candidate }));
        }
        if own.is_some() {
            break;
        }
    }
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    all
}

/// Returns a change whose months are those of a year: `and in April` after a question about 2025.
fn with_year(change: &str, year: Option<&str>) -> String {
    let Some(year) = year.filter(|_| !change.contains(|c: char| c.is_ascii_digit())) else { return change.to_owned() };
    let is_month = |word: &str| periods::find_month(&word.to_lowercase()).is_some();
    let words = change.split_whitespace().enumerate().map(|(at, word)| match at > 0 && is_month(word) {
        true => format!("{word} {year}"),
        false => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the changes of an interpretation that would be understood.
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

/// Returns the query of an interpretation.
fn lower(scope: &Scope<'_>, scored: Scored) -> Option<Candidate> {
    let Scored { intent, score, unused, apart } = scored;
    let name = |table: usize| scope.table(table).name.clone();
    let apart = apart.map(|other| (name(intent.subject), name(other)));
    let text = describe::describe(scope, &intent);
    let is_sql = match &intent.measure {
        Measure::Rows(_) => true,
        Measure::Share(met) => met.iter().any(|(place, ..)| place.0 != intent.subject),
        Measure::Metrics(_) | Measure::Aggregate(..) | Measure::AverageCount(_) => false,
    };
    let query = if is_sql || !intent.existences.is_empty() {
        let (sql, tables) = rows_sql::write(scope, &intent)?;
        CandidateQuery::Sql { sql, tables }
    } else {
        let mut implied = Implied::new(scope);
        let query = implied.write(&intent);
        CandidateQuery::Metrics { query, model: Box::new(scope.model.with(implied.declared)) }
    };
    let database = scope.source.database.to_owned();
    Some(Candidate { score, unused, apart, text, database, follow_ups: Vec::new(), query })
}

impl DefinedTerm {
    /// Returns whether a question uses the term. A term of a single word may also be the name of a table or a value.
    pub(crate) fn is_in(&self, question: &str) -> bool {
        let (term, asked) = (question::stems(&self.term), question::stems(question));
        term.len() > 1 && asked.windows(term.len()).any(|window| window == term)
    }
}

#[cfg(test)]
mod tests;

//! The tools that run queries in a session of an engine: SQL, metrics and verified queries.

use std::sync::Arc;

use async_trait::async_trait;
use prospector_core::{
    Kind,
    record::{Hit, Relevance, ValueMatch},
    tool::Toolset,
};
use prospector_engine::{Engine, query::Literal};
use prospector_facts::{FactDiscovery, Resolution};
use prospector_queries::{Parameter, VerifiedQueries, VerifiedQuery, model::ParameterType};
use prospector_schema::SchemaDiscovery;
use prospector_search::{
    Index, Query, StaticTable,
    embed::{Embedder, Role},
};
use prospector_semantics::{
    SemanticModel,
    candidates::{self, DefinedTerm, Glossary, NamedValue, ParameterValues, QueryParameter, Vocabulary},
};
use prospector_text::{identifiers, stem};
use serde_json::{Map, Value};

use crate::Catalog;

/// Maximum number of candidate tables for a question.
const MAX_TABLES: usize = 20;

/// Maximum number of tables whose values are searched, including less relevant ones.
const MAX_HOLDERS: usize = 60;

/// Maximum number of verified queries that are compared with a question.
const MAX_QUERIES: usize = 20;

/// Maximum number of values of a column that are also matched by inflection.
const MAX_VALUES: usize = 20;

/// The query tools besides SQL.
#[derive(Clone)]
pub(crate) struct QueryTools {
    metrics: Arc<SemanticModel>,
    glossary: Arc<dyn Glossary>,
    verified: Arc<VerifiedQueries>,
    /// Additional tools of the caller.
    pub(crate) more: Option<SessionTools>,
}

/// Creates tools for a session of an engine.
pub(crate) type SessionTools = Arc<dyn Fn(&Arc<Engine>) -> Toolset + Send + Sync>;

/// The query tools, by whether the catalog supports them.
pub(crate) struct SplitTools {
    pub(crate) present: Toolset,
    /// The metrics tool of a catalog without metrics: it can compute questions over tables, but is not shown to models.
    pub(crate) unlisted: Toolset,
    pub(crate) absent: Toolset,
}

impl QueryTools {
    pub(crate) fn of(catalog: &Catalog) -> Self {
        QueryTools {
            metrics: catalog.metrics.clone(),
            glossary: Arc::new(CatalogGlossary {
                index: catalog.index.clone(),
                facts: catalog.facts.clone(),
                schema: catalog.schema.clone(),
                verified: catalog.verified.clone(),
            }),
            verified: catalog.verified.clone(),
            more: None,
        }
    }

    /// Returns the tools that parse a question into a computation or find the verified query for it. Empty without sources.
    pub(crate) fn reading(&self, engine: &Arc<Engine>) -> Toolset {
        if engine.is_empty() {
            return Toolset::new();
        }
        self.metrics.query_tools(engine, &self.glossary)
    }

    /// Returns the tools in a session of an engine. Empty without sources.
    pub(crate) fn split(&self, engine: &Arc<Engine>) -> SplitTools {
        let all = [
            (true, prospector_engine::tools(engine)),
            (!self.metrics.metrics().is_empty(), self.metrics.query_tools(engine, &self.glossary)),
            (!self.verified.queries().is_empty(), self.verified.running(engine)),
            (self.more.is_some(), self.more.as_ref().map_or_else(Toolset::new, |tools| tools(engine))),
        ];
        let (present, absent) = partition(all.map(|(is_there, tools)| (is_there && !engine.is_empty(), tools)));
        let mut split = SplitTools { present, absent, unlisted: Toolset::new() };
        if self.metrics.metrics().is_empty() && !engine.is_empty() {
            split.unlisted = self.metrics.query_tools(engine, &self.glossary);
            split.absent = split.absent.without(&split.unlisted);
        }
        split
    }
}

/// Returns the tools that the catalog supports, and the others.
pub(crate) fn partition(families: impl IntoIterator<Item = (bool, Toolset)>) -> (Toolset, Toolset) {
    let (mut present, mut absent) = (Toolset::new(), Toolset::new());
    for (is_there, tools) in families {
        let set = if is_there { &mut present } else { &mut absent };
        *set = std::mem::take(set).merge(tools);
    }
    (present, absent)
}

/// Returns the tools that the tools of the compact profile do not cover.
pub(crate) fn keep_compact(present: Toolset, engine: &Arc<Engine>) -> Toolset {
    present.without(&prospector_engine::tools(engine)).merge(engine.sql_tools())
}

impl Catalog {
    /// Returns the tools that run queries, metrics and verified queries in a session of its engine.
    pub fn query_tools(&self, session: &Arc<Engine>) -> Toolset {
        QueryTools::of(self).split(session).present.with_redactor(self.redactor())
    }

    /// Returns the verified queries that are most relevant to a question, except stale ones, with their relevance.
    pub async fn find_queries(&self, question: &str, limit: usize) -> Vec<(&VerifiedQuery, Relevance)> {
        find_queries(question, limit, &self.index, &self.verified).await
    }

    /// Returns the subset of [`Catalog::query_tools`] that the tools of the compact profile do not cover.
    pub fn compact_query_tools(&self, session: &Arc<Engine>) -> Toolset {
        keep_compact(self.query_tools(session), session)
    }
}

async fn find_queries<'a>(
    question: &str,
    limit: usize,
    index: &Index,
    verified: &'a VerifiedQueries,
) -> Vec<(&'a VerifiedQuery, Relevance)> {
    if verified.queries().is_empty() {
        return Vec::new();
    }
    let hits = look_up(question, Kind::Query, None, limit, index).await;
    let named = hits.iter().filter_map(|hit| Some((verified.resolve(&hit.name)?, hit.relevance)));
    named.filter(|(query, _)| query.stale().is_none()).collect()
}

/// Returns the entries of a kind that are most relevant to a question, with those of one parent only if it is given.
async fn look_up(question: &str, kind: Kind, parent: Option<&str>, limit: usize, index: &Index) -> Vec<Hit> {
    let (text, parent) = (Query::fitting(question).to_owned(), parent.map(str::to_owned));
    let query = Query { text, kinds: vec![kind], parent, limit, ..Query::default() };
    let found = match index.find(query.clone()).await {
        // The words or values of a question may be in tables that a search does not show.
        Ok(found) if found.hits.is_empty() && kind == Kind::Table => index.find(Query { fill: true, ..query }).await,
        found => found,
    };
    found.map(|found| found.hits).unwrap_or_else(|error| {
        tracing::warn!(%error, %kind, "cannot look up the entries for a question");
        Vec::new()
    })
}

/// The tables, values and verified queries in the index of the catalog, and the terms it defines.
struct CatalogGlossary {
    index: Index,
    facts: Arc<FactDiscovery>,
    schema: Arc<SchemaDiscovery>,
    verified: Arc<VerifiedQueries>,
}

impl CatalogGlossary {
    /// Adds the candidate tables of a question and the values it contains, in all databases or in one.
    async fn add_found(&self, question: &str, database: Option<&str>, vocabulary: &mut Vocabulary) {
        let found = look_up(question, Kind::Table, database, MAX_HOLDERS, &self.index).await;
        for (nth, Hit { id, parent, values, .. }) in found.into_iter().enumerate() {
            for ValueMatch { table, column, value } in values {
                let named = NamedValue { table: format!("{parent}.{table}"), column, value };
                if !vocabulary.values.contains(&named) {
                    vocabulary.values.push(named);
                }
            }
            if nth < MAX_TABLES && !vocabulary.tables.contains(&id) {
                vocabulary.tables.push(id);
            }
        }
    }

    /// Adds values that occur in the question in an inflected form, from columns with few values: `completed` for `COMPLETE`.
    async fn add_inflected(&self, question: &str, vocabulary: &mut Vocabulary) {
        let stems = |text: &str| identifiers::words(text).iter().map(|word| stem::snowball_regular(word)).collect();
        let asked: Vec<String> = stems(question);
        let split = |id: &String| id.split_once('.').map(|(parent, table)| (parent.to_owned(), table.to_owned()));
        let tables: Vec<(String, String)> = vocabulary.tables.iter().filter_map(split).collect();
        let known = self.index.find_examples(tables.clone(), MAX_VALUES + 1).await;
        for ((parent, table), columns) in tables.iter().zip(known) {
            for column in columns.into_iter().filter(|column| column.values.len() <= MAX_VALUES) {
                let table = format!("{parent}.{table}");
                if let Some(yes) = find_yes(&column.values) {
                    vocabulary.flags.push(NamedValue { table, column: column.column, value: yes.to_owned() });
                    continue;
                }
                let is_named = |value: &String| {
                    let own: Vec<String> = stems(value);
                    !own.is_empty() && asked.windows(own.len()).any(|window| window == own)
                };
                for value in column.values.into_iter().filter(is_named) {
                    let named = NamedValue { table: table.clone(), column: column.column.clone(), value };
                    if !vocabulary.values.contains(&named) {
                        vocabulary.values.push(named);
                    }
                }
            }
        }
    }
}

/// Returns a verified query as far as it is compared with questions.
fn describe_query(query: &VerifiedQuery) -> candidates::VerifiedQuery {
    let parameter = |one: &Parameter| QueryParameter {
        name: one.name.clone(),
        values: list_values(one),
        is_optional: one.default.is_some(),
    };
    candidates::VerifiedQuery {
        name: query.name.clone(),
        wordings: query.phrasings().map(str::to_owned).collect(),
        description: query.description.clone(),
        parameters: query.parameters.iter().map(parameter).collect(),
        tables: query.tables().to_vec(),
    }
}

/// Returns the values of a question that a parameter may have.
fn list_values(parameter: &Parameter) -> ParameterValues {
    let allowed = parameter.allowed.iter();
    match parameter.kind {
        ParameterType::Text if !parameter.allowed.is_empty() => {
            let text = |value: &Literal| if let Literal::Text(text) = value { Some(text.clone()) } else { None };
            ParameterValues::Texts(allowed.filter_map(|one| Some((text(&one.value)?, one.words.clone()))).collect())
        }
        ParameterType::Text => parameter.column.clone().map_or(ParameterValues::Quoted, ParameterValues::Column),
        ParameterType::Integer | ParameterType::Number => {
            let number = |value: &Literal| match value {
                Literal::Integer(whole) => Some(*whole as f64),
                Literal::Number(number) => Some(*number),
                Literal::Text(_) | Literal::Boolean(_) => None,
            };
            ParameterValues::Numbers(allowed.filter_map(|one| number(&one.value)).collect())
        }
        ParameterType::Date => ParameterValues::Days,
        ParameterType::Boolean => ParameterValues::None,
    }
}

/// Returns the value for yes of a column with only yes and no.
fn find_yes(values: &[String]) -> Option<&str> {
    const PAIRS: [[&str; 2]; 4] = [["y", "n"], ["yes", "no"], ["t", "f"], ["true", "false"]];
    let is_in = |pair: &[&str; 2]| values.iter().all(|value| pair.contains(&value.to_lowercase().as_str()));
    let [yes, _] = PAIRS.iter().find(|pair| is_in(pair))?;
    values.iter().find(|value| value.eq_ignore_ascii_case(yes)).map(String::as_str)
}

#[async_trait]
impl Glossary for CatalogGlossary {
    async fn find(&self, question: &str, named: &[&str]) -> Vocabulary {
        let mut vocabulary = Vocabulary::default();
        for database in std::iter::once(None).chain(named.iter().map(Some)) {
            self.add_found(question, database.copied(), &mut vocabulary).await;
        }
        self.add_inflected(question, &mut vocabulary).await;
        let queries = find_queries(question, MAX_QUERIES, &self.index, &self.verified).await;
        vocabulary.queries = queries.into_iter().map(|(query, _)| describe_query(query)).collect();
        vocabulary
    }

    async fn bind(
        &self,
        query: &str,
        values: &Map<String, Value>,
        engine: &Engine,
    ) -> Option<(String, Option<String>)> {
        let query = self.verified.resolve(query)?;
        let (sql, _) = self.verified.bind(query, values, engine).await.ok()?;
        Some((sql, query.database.clone()))
    }

    fn describe(&self, database: &str) -> String {
        self.schema
            .databases()
            .find(|known| known.name == database)
            .map_or_else(String::new, |known| known.description.clone())
    }

    async fn define(&self, question: &str) -> Vec<DefinedTerm> {
        let Resolution { term, answer, sources, related, needs_clarification, .. } = self.facts.resolve(question).await;
        // Descriptions of tables and columns are no definitions, and metrics are computed as declared.
        let is_other = |kind: &str| ![Kind::Table.as_str(), Kind::Metric.as_str(), "column"].contains(&kind);
        let source = sources.first().filter(|source| is_other(&source.source_type) && !needs_clarification);
        let defined = term.zip(answer).zip(source).map(|((term, definition), source)| DefinedTerm {
            term,
            definition,
            source: source.name.clone(),
        });
        let others = related.into_iter().map(|other| DefinedTerm {
            term: other.term,
            definition: other.definition,
            source: other.source,
        });
        defined.into_iter().chain(others).collect()
    }

    fn weigh(&self, word: &str) -> f64 {
        StaticTable::weigh(word)
    }

    fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let embedded = StaticTable::shipped().and_then(|table| table.embed(Role::Query, texts));
        embedded.unwrap_or_else(|error| {
            tracing::warn!(%error, "words are compared by spelling only");
            Vec::new()
        })
    }
}

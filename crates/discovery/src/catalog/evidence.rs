//! What documents and schemas say, and the web where it may be asked, as evidence for facts.

use std::{
    collections::HashSet,
    sync::{Arc, OnceLock},
};

use async_trait::async_trait;
use prospector_core::work::compute;
use prospector_documents::DocumentDiscovery;
use prospector_facts::evidence::{Evidence, EvidenceError, MarkedTerm, Passage};
use prospector_schema::SchemaDiscovery;
use prospector_search::embed::{Embedder, Role};
use prospector_search::{Index, StaticTable};
use prospector_text::{identifiers, stem::strip_plural};

use super::web_search::WebSearch;

/// The documents and the schema descriptions of a catalog.
pub(super) struct CatalogEvidence {
    schema: Arc<SchemaDiscovery>,
    documents: Arc<DocumentDiscovery>,
    index: Index,
    /// Where the catalog names a server for it.
    web: Option<WebSearch>,
    /// The names of the schema, once a term was compared with them.
    names: OnceLock<SchemaNames>,
}

/// Names as they are compared: their words in the singular, in one.
#[derive(Default)]
struct SchemaNames {
    tables: HashSet<String>,
    columns: HashSet<String>,
}

impl SchemaNames {
    fn new(schema: &SchemaDiscovery) -> Self {
        let mut names = SchemaNames::default();
        for table in schema.databases().flat_map(|database| &database.tables) {
            names.tables.insert(compare_by(&table.name));
            names.columns.extend(table.columns.iter().map(|column| compare_by(&column.name)));
        }
        names
    }
}

fn compare_by(name: &str) -> String {
    identifiers::words(name).into_iter().map(strip_plural).collect()
}

impl CatalogEvidence {
    pub(super) fn new(
        schema: &Arc<SchemaDiscovery>,
        documents: &Arc<DocumentDiscovery>,
        index: &Index,
        web: Option<WebSearch>,
    ) -> Self {
        let names = OnceLock::new();
        CatalogEvidence { schema: schema.clone(), documents: documents.clone(), index: index.clone(), web, names }
    }

    /// What is said of a table or a column, by its id.
    fn description(&self, id: &str) -> Option<String> {
        for database in self.schema.databases() {
            let Some(rest) = id.strip_prefix(&database.name).and_then(|rest| rest.strip_prefix('.')) else { continue };
            for table in &database.tables {
                let said = match rest.strip_prefix(&table.name) {
                    Some("") => Some(&table.description),
                    Some(column) => {
                        let of = |column: &str| table.columns.iter().find(|known| known.name == column);
                        column.strip_prefix('.').and_then(of).map(|column| &column.description)
                    }
                    None => None,
                };
                if let Some(said) = said.filter(|said| !said.is_empty()) {
                    return Some(said.clone());
                }
            }
        }
        None
    }
}

#[async_trait]
impl Evidence for CatalogEvidence {
    async fn passages(&self, question: &str, limit: usize) -> Vec<Passage> {
        let (schema, documents, index) = (self.schema.clone(), self.documents.clone(), self.index.clone());
        let question = question.to_owned();
        compute(move || {
            let found = documents.passages(&index, &question, limit).unwrap_or_else(|error| {
                tracing::warn!(%error, "documents could not be searched for a fact");
                Vec::new()
            });
            merge(&schema, found, schema.passages(&index, &question, limit), limit)
        })
        .await
    }

    async fn elsewhere(&self, question: &str, limit: usize) -> Result<Vec<Passage>, EvidenceError> {
        match &self.web {
            Some(web) => web.passages(question, limit).await.map_err(EvidenceError::new),
            None => Ok(Vec::new()),
        }
    }

    fn terms(&self) -> Vec<MarkedTerm> {
        let marked = |term: prospector_documents::model::MarkedTerm| MarkedTerm {
            term: term.term,
            source: format!("{}#{}", term.document, term.section),
            text: term.text,
        };
        self.documents.terms().into_iter().map(marked).collect()
    }

    fn is_of_schema(&self, term: &str) -> bool {
        let names = self.names.get_or_init(|| SchemaNames::new(&self.schema));
        let (wanted, is_word) = (compare_by(term), !term.trim().contains(char::is_whitespace));
        names.tables.contains(&wanted) || (is_word && names.columns.contains(&wanted))
    }

    fn text(&self, source: &str) -> Option<String> {
        let (name, section) = source.split_once('#').map_or((source, None), |(name, section)| (name, Some(section)));
        if let Some(document) = self.documents.documents().iter().find(|document| document.name == name) {
            return match section {
                Some(section) => {
                    let section = document.sections.iter().find(|known| known.full_name() == section)?;
                    Some(section.text.clone())
                }
                None => Some(document.content.clone()),
            };
        }
        self.description(source)
    }

    fn vectors(&self, words: &[&str]) -> Vec<Vec<f32>> {
        let table = StaticTable::shipped();
        table.and_then(|table| table.embed(Role::Query, words)).unwrap_or_else(|error| {
            tracing::warn!(%error, "words of like meaning are not looked for");
            Vec::new()
        })
    }
}

/// Passages of documents and descriptions together, best first. Descriptions of tables are many and short: they must not
/// crowd out what explains.
fn merge(
    schema: &SchemaDiscovery,
    documents: Vec<prospector_documents::Passage>,
    descriptions: Vec<(String, String, f32)>,
    limit: usize,
) -> Vec<Passage> {
    let mut passages: Vec<Passage> = documents
        .into_iter()
        .map(|passage| Passage {
            source_type: "document".into(),
            name: format!("{}#{}", passage.document, passage.section),
            text: passage.text,
            relevance: passage.relevance.get(),
        })
        .collect();
    let most = descriptions.len().min(limit / 3);
    passages.truncate(limit - most);
    let room = limit - passages.len();
    for (name, text, relevance) in descriptions.into_iter().take(room) {
        let is_table = schema.resolve_table(&name).is_some();
        let source_type = if is_table { "table" } else { "column" }.to_owned();
        passages.push(Passage { source_type, name, text, relevance });
    }
    passages.sort_by(|a, b| b.relevance.total_cmp(&a.relevance));
    passages
}

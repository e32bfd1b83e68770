//! What documents and schemas say, and the web where it may be asked, as evidence for facts.

use std::sync::Arc;

use async_trait::async_trait;
use prospector_core::work::compute;
use prospector_documents::DocumentDiscovery;
use prospector_facts::evidence::{Evidence, EvidenceError, Passage};
use prospector_schema::SchemaDiscovery;
use prospector_search::embed::{Embedder, Role};
use prospector_search::{Index, StaticTable};

use super::web_search::WebSearch;

/// The documents and the schema descriptions of a catalog.
pub(super) struct CatalogEvidence {
    schema: Arc<SchemaDiscovery>,
    documents: Arc<DocumentDiscovery>,
    index: Index,
    /// Where the catalog names a server for it.
    web: Option<WebSearch>,
}

impl CatalogEvidence {
    pub(super) fn new(
        schema: &Arc<SchemaDiscovery>,
        documents: &Arc<DocumentDiscovery>,
        index: &Index,
        web: Option<WebSearch>,
    ) -> Self {
        CatalogEvidence { schema: schema.clone(), documents: documents.clone(), index: index.clone(), web }
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

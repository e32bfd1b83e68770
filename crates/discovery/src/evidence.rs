//! What documents and schemas say, as evidence for facts.

use std::sync::Arc;

use async_trait::async_trait;
use prospector_documents::DocumentDiscovery;
use prospector_facts::{Evidence, Passage};
use prospector_schema::SchemaDiscovery;
use prospector_search::Index;

/// The documents and the schema descriptions of a catalog.
pub(crate) struct CatalogEvidence {
    schema: Arc<SchemaDiscovery>,
    documents: Arc<DocumentDiscovery>,
    index: Index,
}

impl CatalogEvidence {
    pub(crate) fn new(schema: &Arc<SchemaDiscovery>, documents: &Arc<DocumentDiscovery>, index: &Index) -> Self {
        CatalogEvidence { schema: schema.clone(), documents: documents.clone(), index: index.clone() }
    }
}

#[async_trait]
impl Evidence for CatalogEvidence {
    async fn passages(&self, question: &str, limit: usize) -> Vec<Passage> {
        let documents = self.documents.passages(&self.index, question, limit).unwrap_or_else(|error| {
            tracing::warn!(%error, "documents could not be searched for a fact");
            Vec::new()
        });
        let mut passages: Vec<Passage> = documents
            .into_iter()
            .map(|passage| Passage {
                source_type: "document".into(),
                name: format!("{}#{}", passage.document, passage.section),
                text: passage.text,
                relevance: passage.relevance.get(),
            })
            .collect();
        for (name, text, relevance) in self.schema.passages(&self.index, question, limit) {
            let is_table = self.schema.resolve_table(&name).is_some();
            let source_type = if is_table { "table" } else { "column" }.to_owned();
            passages.push(Passage { source_type, name, text, relevance });
        }
        passages.sort_by(|a, b| b.relevance.total_cmp(&a.relevance));
        passages.truncate(limit);
        passages
    }
}

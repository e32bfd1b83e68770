//! Lookup and search of the documents of a catalog.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use prospector_core::record::{Hit, Relevance};
use prospector_core::{Kind, Problem};
use prospector_search::{Index, Query, SearchError};
use serde::Serialize;

use crate::{
    Document, DocumentError,
    model::{ResourceReader, Section},
    passage, render,
    sections::without_chunk,
};

/// The documents of a catalog.
#[derive(Debug, Clone, Default)]
pub struct DocumentDiscovery {
    documents: Vec<Document>,
    /// What reads resources.
    reader: Option<Arc<dyn ResourceReader>>,
}

/// A part of a document that answers a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Passage {
    /// The name of the document.
    pub document: String,
    /// The full name of the section.
    pub section: String,
    /// The sentences, table rows or list items that match the question best.
    #[serde(rename = "excerpt")]
    pub text: String,
    /// Estimated relevance.
    pub relevance: Relevance,
}

/// The result of a search in documents.
pub(crate) struct FoundPassages {
    pub(crate) passages: Vec<Passage>,
    /// Whether all hits are below the relevance threshold.
    pub(crate) is_weak: bool,
    /// The names of the closest sections if all hits are below the threshold.
    pub(crate) nearest: Vec<String>,
}

impl DocumentDiscovery {
    /// Creates a catalog from loaded documents. If names repeat, the first document is kept.
    pub fn new(documents: Vec<Document>) -> (DocumentDiscovery, Vec<Problem>) {
        let place = |document: &Document| document.source.place(&document.name);
        let mut problems = Vec::new();
        let mut kept: Vec<Document> = Vec::with_capacity(documents.len());
        let mut names: HashMap<String, usize> = HashMap::new();
        for document in documents {
            if let Some(first) = names.get(&document.name) {
                problems.push(
                    Problem::error(
                        place(&document),
                        format!("the name `{}` is taken by {}", document.name, place(&kept[*first])),
                    )
                    .advise("rename the file, or give one of the two sources another `name`"),
                );
                continue;
            }
            names.insert(document.name.clone(), kept.len());
            kept.push(document);
        }
        (DocumentDiscovery { documents: kept, reader: None }, problems)
    }

    /// With resources of MCP servers, and what reads them. A name that is taken is left out.
    pub fn with_resources(mut self, resources: Vec<Document>, reader: Arc<dyn ResourceReader>) -> Self {
        let names: HashSet<String> = self.documents.iter().map(|document| document.name.clone()).collect();
        self.documents.extend(resources.into_iter().filter(|one| !names.contains(&one.name)));
        self.reader = Some(reader);
        self
    }

    /// Returns whether a name is that of a resource of an MCP server, or of one that a template of it makes.
    pub fn is_resource(&self, name: &str) -> bool {
        self.reader_of(name).is_some()
    }

    /// What reads the resource of a name; nothing where the name is not that of a resource.
    pub(crate) fn reader_of(&self, name: &str) -> Option<&Arc<dyn ResourceReader>> {
        self.reader.as_ref().filter(|reader| reader.knows(name))
    }

    /// Returns all documents, in the order of their sources.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Returns the document with this name, ignoring case and the file name extension; otherwise the only document with
    /// this title or with this last part of its name.
    pub fn resolve(&self, name: &str) -> Option<&Document> {
        let name = name.trim();
        let document = self.documents.iter().find(|document| document.name == name).or_else(|| {
            let lower = name.to_lowercase();
            let stem = lower.rsplit_once('.').filter(|(_, e)| crate::Format::from_extension(e).is_some());
            let stem = stem.map_or(lower.as_str(), |(stem, _)| stem);
            self.only(|document| document.name.to_lowercase() == lower)
                .or_else(|| self.only(|document| document.name.to_lowercase() == stem))
                .or_else(|| self.only(|document| document.title.to_lowercase() == lower))
                .or_else(|| self.only(|document| document.name.to_lowercase().rsplit('/').next() == Some(stem)))
        });
        // Ids of sections occur in results of a search over all kinds.
        document.or_else(|| self.documents.iter().find(|document| section_of(document, name).is_some()))
    }

    fn only(&self, test: impl Fn(&Document) -> bool) -> Option<&Document> {
        let mut found = self.documents.iter().filter(|document| test(document));
        found.next().filter(|_| found.next().is_none())
    }

    /// Resolves a record id to its document and section: `document#section`, `document#section/2`, or the name of a
    /// document.
    pub fn resolve_id(&self, id: &str) -> Option<(&Document, Option<&Section>)> {
        let document = self.resolve(id)?;
        let section = section_of(document, id).and_then(|section| {
            let exact = |name: &str| document.sections.iter().find(|s| s.full_name() == name);
            exact(section).or_else(|| exact(without_chunk(section))).or_else(|| document.section(section).ok())
        });
        Some((document, section))
    }

    /// Returns the records to index.
    pub fn records(&self) -> Vec<prospector_core::record::Record> {
        render::records(&self.documents)
    }

    /// Returns the best passages for a question, one per section, best first, including those below the relevance
    /// threshold.
    ///
    /// # Errors
    /// [`DocumentError::Search`] if the index fails.
    pub fn passages(&self, index: &Index, question: &str, limit: usize) -> Result<Vec<Passage>, DocumentError> {
        let hits = index.rank(&parts(question, limit)).map_err(|source| search_error(question, source))?;
        Ok(self.of_sections(hits, limit, |body| render::text_of(body).to_owned()))
    }

    /// Returns the passages above the relevance threshold, or without any, the closest ones and the names of their
    /// sections. If `fill` is set, weak passages fill the list up to `limit`.
    pub(crate) fn search(
        &self,
        index: &Index,
        question: &str,
        limit: usize,
        fill: bool,
    ) -> Result<FoundPassages, DocumentError> {
        let query = Query { fill, ..parts(question, limit) };
        let found = index.search(&query).map_err(|source| search_error(question, source))?;
        let excerpt = |body: &str| passage::best(render::text_of(body), question);
        let passages = self.of_sections(found.hits, limit, excerpt);
        let mut nearest: Vec<String> = Vec::new();
        for id in &found.nearest {
            let name = match self.resolve_id(id) {
                Some((document, Some(section))) => format!("{}#{}", document.name, section.full_name()),
                Some((document, None)) => document.name.clone(),
                None => continue,
            };
            if !nearest.contains(&name) {
                nearest.push(name);
            }
        }
        Ok(FoundPassages { passages, is_weak: found.is_weak, nearest })
    }

    /// Returns one passage per section of the hits.
    fn of_sections(&self, hits: Vec<Hit>, limit: usize, text: impl Fn(&str) -> String) -> Vec<Passage> {
        let mut passages: Vec<Passage> = Vec::new();
        for hit in hits {
            // The index may contain records of deleted documents.
            let Some((document, section)) = self.resolve_id(&hit.id) else { continue };
            let section = section.map_or_else(|| hit.name.clone(), Section::full_name);
            if passages.iter().any(|p| p.document == document.name && p.section == section) {
                continue;
            }
            if passages.len() == limit {
                break;
            }
            let text = text(&hit.body);
            passages.push(Passage { document: document.name.clone(), section, text, relevance: hit.relevance });
        }
        passages
    }
}

/// Returns a query for `limit` sections. It requests more hits, because several parts of one section make one passage.
fn parts(question: &str, limit: usize) -> Query {
    let limit = limit.saturating_mul(3);
    Query { text: question.to_owned(), kinds: vec![Kind::Document], limit, ..Query::default() }
}

fn search_error(question: &str, source: SearchError) -> DocumentError {
    DocumentError::Search { query: question.to_owned(), source }
}

/// Returns the part of an id after `document#`.
fn section_of<'a>(document: &Document, id: &'a str) -> Option<&'a str> {
    id.strip_prefix(&document.name)?.strip_prefix('#')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DocumentSource;

    fn documents() -> DocumentDiscovery {
        let sources = [
            DocumentSource::inline("guides/refunds", "# Refund policy\n\n## Return window\n\nThirty days."),
            DocumentSource::inline("guides/orders", "# Orders\n\n## A/2\n\nx"),
            DocumentSource::inline("old/orders", "# Orders\n\nOld."),
        ];
        let (discovery, problems) = DocumentDiscovery::load(&sources);
        assert!(problems.is_empty(), "{problems:?}");
        discovery
    }

    fn check(name: &str, expected: Option<&str>) {
        let discovery = documents();
        assert_eq!(discovery.resolve(name).map(|document| document.name.as_str()), expected, "{name}");
    }

    #[test]
    fn resolves_documents_by_name_and_unique_title() {
        for name in ["guides/refunds", "Guides/Refunds", "guides/refunds.md", "refunds", "refund policy"] {
            check(name, Some("guides/refunds"));
        }
        check("guides/refunds#Return window/2", Some("guides/refunds"));
        check("orders", None);
        check("refund", None);
    }

    #[test]
    fn resolves_section_ids() {
        let discovery = documents();
        let find = |id: &str| discovery.resolve_id(id).and_then(|(_, section)| section).map(Section::full_name);
        assert_eq!(find("guides/refunds#Return window").as_deref(), Some("Return window"));
        assert_eq!(find("guides/refunds#Return window/3").as_deref(), Some("Return window"));
        assert_eq!(find("guides/orders#A/2").as_deref(), Some("A/2"));
        assert_eq!(find("guides/orders"), None);
    }

    #[test]
    fn reports_duplicate_document_names() {
        let sources = [DocumentSource::inline("a", "First"), DocumentSource::inline("a", "Second")];
        let (discovery, problems) = DocumentDiscovery::load(&sources);
        assert_eq!(discovery.documents().len(), 1);
        assert_eq!(discovery.documents()[0].content, "First");
        assert!(problems[0].reason.contains("taken by inline document `a`"), "{problems:?}");
    }
}

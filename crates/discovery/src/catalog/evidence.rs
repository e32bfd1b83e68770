//! Documents, schemas and, if configured, web search as evidence for facts.

use std::{
    collections::HashSet,
    sync::{Arc, OnceLock},
};

use async_trait::async_trait;
use prospector_core::Kind;
use prospector_documents::DocumentDiscovery;
use prospector_facts::evidence::{Evidence, EvidenceError, Passage};
use prospector_schema::SchemaDiscovery;
use prospector_search::StaticTable;
use prospector_text::{identifiers, stem::strip_plural};

use super::web_search::WebSearch;

/// Rank of the most frequent words of general language, which are not terms by themselves.
const ORDINARY: u32 = 8_000;

/// The documents and schema descriptions of a catalog.
pub(super) struct CatalogEvidence {
    schema: Arc<SchemaDiscovery>,
    documents: Arc<DocumentDiscovery>,
    /// The search engine of the catalog, if any.
    web: Option<WebSearch>,
    /// The names of the schema, computed on first use.
    names: OnceLock<SchemaNames>,
}

/// Normalized names: singular words, concatenated.
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
        web: Option<WebSearch>,
    ) -> Self {
        let names = OnceLock::new();
        CatalogEvidence { schema: schema.clone(), documents: documents.clone(), web, names }
    }

    /// Returns the description of a table or column by id.
    fn description(&self, id: &str) -> Option<String> {
        let of_column = || {
            let mut ends = id.rmatch_indices('.');
            ends.find_map(|(at, _)| self.schema.find_table(&id[..at])?.1.column(&id[at + 1..]))
        };
        let description = match self.schema.find_table(id) {
            Some((_, table)) => &table.description,
            None => &of_column()?.description,
        };
        (!description.is_empty()).then(|| description.clone())
    }
}

#[async_trait]
impl Evidence for CatalogEvidence {
    fn passages(&self) -> Vec<Passage> {
        let mut passages = Vec::new();
        for document in self.documents.documents() {
            for section in document.sections.iter().filter(|section| !section.text.is_empty()) {
                let is_title = section.level == 0 || section.heading() == document.title;
                passages.push(Passage {
                    source_type: Kind::Document.as_str().to_owned(),
                    name: format!("{}#{}", document.name, section.full_name()),
                    heading: if is_title { String::new() } else { section.heading().to_owned() },
                    text: section.text.clone(),
                });
            }
        }
        let described = |source_type: &str, id: String, name: &str, text: &str| Passage {
            source_type: source_type.to_owned(),
            name: id,
            heading: identifiers::words(name).join(" "),
            text: text.to_owned(),
        };
        for database in self.schema.databases() {
            for table in &database.tables {
                let id = format!("{}.{}", database.name, table.name);
                let columns = table.columns.iter().filter(|column| !column.description.is_empty()).map(|column| {
                    described("column", format!("{id}.{}", column.name), &column.name, &column.description)
                });
                passages.extend(columns);
                if !table.description.is_empty() {
                    passages.push(described(Kind::Table.as_str(), id.clone(), &table.name, &table.description));
                }
            }
        }
        passages
    }

    async fn elsewhere(&self, question: &str, limit: usize) -> Result<Vec<Passage>, EvidenceError> {
        match &self.web {
            Some(web) => web.passages(question, limit).await.map_err(EvidenceError::new),
            None => Ok(Vec::new()),
        }
    }

    fn is_of_schema(&self, term: &str) -> bool {
        let names = self.names.get_or_init(|| SchemaNames::new(&self.schema));
        let (wanted, is_word) = (compare_by(term), !term.trim().contains(char::is_whitespace));
        names.tables.contains(&wanted) || (is_word && names.columns.contains(&wanted))
    }

    fn databases(&self) -> Vec<String> {
        self.schema.databases().map(|database| database.name.clone()).collect()
    }

    fn is_ordinary(&self, word: &str) -> bool {
        StaticTable::rank(word).is_some_and(|rank| rank < ORDINARY)
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
}

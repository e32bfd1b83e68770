//! Tools for documents.

use std::sync::Arc;

use prospector_core::record::{Resource, ResourceKind, drop_tail};
use prospector_core::tool::{Effect, ListArgs, Page, Part, Tool, ToolError, ToolErrorCode, ToolOutput, Toolset};
use prospector_core::work::compute;
use prospector_search::{Index, SearchError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Document, DocumentDiscovery, DocumentError, Format, Passage, model::ResourceReader};

const DEFAULT_HITS: usize = 5;
const MAX_HITS: usize = 50;
/// Maximum number of section names suggested for an unknown one.
const MAX_NAMES: usize = 12;

impl DocumentDiscovery {
    /// Returns the tools `list_documents`, `get_document`, `get_document_section` and `search_documents`.
    pub fn tools(self: &Arc<Self>, index: &Index) -> Toolset {
        Toolset::new()
            .with(ListDocuments(self.clone()))
            .with(GetDocument(self.clone()))
            .with(GetDocumentSection(self.clone()))
            .with(SearchDocuments(self.clone(), index.clone()))
    }

    fn find(&self, name: &str) -> Result<&Document, ToolError> {
        self.resolve(name)
            .ok_or_else(|| ToolError::not_found("document", name, self.documents().iter().map(|d| d.name.as_str())))
    }
}

/// `list_documents`
struct ListDocuments(Arc<DocumentDiscovery>);

#[derive(Clone, Serialize)]
struct Listed {
    name: String,
    r#type: &'static str,
    format: Format,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_updated: Option<String>,
    sections: usize,
}

impl Tool for ListDocuments {
    const NAME: &'static str = "list_documents";
    const DESCRIPTION: &'static str =
        "Lists documents: policies, rules, guides. To answer a question, use search_documents.";
    const MORE: &'static str = "call again with offset = the number of items seen so far, or use search_documents";
    const EFFECT: Effect = Effect::Reads;
    type Args = ListArgs;
    type Output = Page<Listed>;

    async fn call(&self, args: ListArgs) -> Result<Page<Listed>, ToolError> {
        let listed = self.0.documents().iter().map(|document| Listed {
            name: document.name.clone(),
            r#type: document.source.as_str(),
            format: document.format,
            description: document.description.clone(),
            tags: document.tags.clone(),
            last_updated: document.last_updated.clone(),
            sections: document.sections.len(),
        });
        Ok(Page::of_list(listed.collect(), args))
    }
}

/// `get_document`
struct GetDocument(Arc<DocumentDiscovery>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetArgs {
    /// Document name.
    name: String,
}

#[derive(Clone, Serialize)]
struct Whole {
    name: String,
    content: String,
    format: Format,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_updated: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
}

impl Tool for GetDocument {
    const NAME: &'static str = "get_document";
    const DESCRIPTION: &'static str =
        "Returns the full text of a document. For long documents, use get_document_section.";
    const MORE: &'static str =
        "call get_document_section (an unknown section name returns the valid ones) or search_documents";
    const EFFECT: Effect = Effect::Reads;
    type Args = GetArgs;
    type Output = Whole;

    async fn call(&self, args: GetArgs) -> Result<Whole, ToolError> {
        if let Some(reader) = self.0.reader_of(&args.name) {
            return read_resource(reader.as_ref(), args.name).await;
        }
        let document = self.0.find(&args.name)?;
        Ok(Whole {
            name: document.name.clone(),
            content: document.content.trim_end().to_owned(),
            format: document.format,
            last_updated: document.last_updated.clone(),
            metadata: document.metadata.iter().map(|(key, text)| (key.clone(), text.as_str().into())).collect(),
        })
    }
}

/// The text of a resource, as its server has it now.
async fn read_resource(reader: &dyn ResourceReader, name: String) -> Result<Whole, ToolError> {
    let content = reader.read(&name).await.map_err(|unread| {
        let (code, suggestion) = (ToolErrorCode::NotCalled, Some(unread.advice));
        ToolError::Respond { code, message: unread.reason, suggestion }
    })?;
    Ok(Whole { name, content, format: Format::Text, last_updated: None, metadata: Map::new() })
}

/// `get_document_section`
struct GetDocumentSection(Arc<DocumentDiscovery>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SectionArgs {
    /// Document name.
    name: String,
    /// Its heading, or the path of headings: `Customers > VIP customers`.
    section: String,
}

#[derive(Clone, Serialize)]
struct OneSection {
    name: String,
    section: String,
    content: String,
}

impl Tool for GetDocumentSection {
    const NAME: &'static str = "get_document_section";
    const DESCRIPTION: &'static str = "Returns one section of a document, including its subsections.";
    const MORE: &'static str = "call it for a subsection, or with a larger max_tokens";
    const EFFECT: Effect = Effect::Reads;
    type Args = SectionArgs;
    type Output = OneSection;

    async fn call(&self, args: SectionArgs) -> Result<OneSection, ToolError> {
        let document = self.0.find(&args.name)?;
        let section = document.section(&args.section).map_err(|error| wrong_section(document, &error))?;
        Ok(OneSection {
            name: document.name.clone(),
            section: section.full_name(),
            content: document.section_content(section).to_owned(),
        })
    }
}

/// Suggests section names: the candidates, all names if they are few, or the closest ones.
fn wrong_section(document: &Document, error: &DocumentError) -> ToolError {
    let quoted = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let suggestion = match error {
        DocumentError::ChooseSection { candidates, .. } => {
            format!("pass the full path: {}", quoted(&candidates[..candidates.len().min(MAX_NAMES)]))
        }
        DocumentError::FindSection { section, .. } => {
            let names: Vec<String> = document.sections.iter().map(crate::model::Section::full_name).collect();
            if names.len() <= MAX_NAMES {
                format!("its sections are {}", quoted(&names))
            } else {
                let near = prospector_core::name::nearest(section, names.iter().map(String::as_str), MAX_NAMES / 2);
                let near = if near.is_empty() { String::new() } else { format!("did you mean {}? ", quoted(&near)) };
                format!("{near}it has {} sections", names.len())
            }
        }
        DocumentError::Search { .. } => String::new(),
    };
    ToolError::Respond { code: ToolErrorCode::NotFound, message: error.to_string(), suggestion: Some(suggestion) }
}

/// `search_documents`
struct SearchDocuments(Arc<DocumentDiscovery>, Index);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchArgs {
    /// A question or keywords.
    query: String,
    /// Maximum number of results (default 5).
    limit: Option<usize>,
}

impl Tool for SearchDocuments {
    const NAME: &'static str = "search_documents";
    const DESCRIPTION: &'static str =
        "Searches documents for sections that answer a question: definitions, rules, policies.";
    const MORE: &'static str = "call get_document_section for the full text of a section";
    const EFFECT: Effect = Effect::Reads;
    type Args = SearchArgs;
    type Output = Page<Passage>;

    async fn call(&self, args: SearchArgs) -> Result<Page<Passage>, ToolError> {
        if args.query.trim().is_empty() {
            return Err(ToolError::invalid(
                "the query is empty",
                Some("pass a question, or use list_documents".into()),
            ));
        }
        let limit = args.limit.unwrap_or(DEFAULT_HITS).clamp(1, MAX_HITS);
        let fill = args.limit.is_some();
        let (discovery, index) = (self.0.clone(), self.1.clone());
        let found = compute(move || discovery.search(&index, &args.query, limit, fill)).await;
        let mut found = found.map_err(|error| match error {
            DocumentError::Search { source: source @ SearchError::TooLong { .. }, .. } => source.into(),
            error => ToolError::fatal(error),
        })?;
        if !fill {
            drop_tail(&mut found.passages, |passage| passage.relevance);
        }
        Ok(Page::of_search(found.passages, found.is_weak, found.nearest))
    }
}

fn document(name: &str) -> Resource {
    Resource::new(ResourceKind::Document, name)
}

impl ToolOutput for Listed {
    fn reveals(&self) -> Vec<Resource> {
        vec![document(&self.name)]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("description", Part::Text(&mut self.description)), ("tags", Part::entries(&mut self.tags))]
    }
}

impl ToolOutput for Whole {
    fn reveals(&self) -> Vec<Resource> {
        vec![document(&self.name)]
    }

    fn content(&self) -> Option<&str> {
        Some(&self.content)
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("content", Part::Text(&mut self.content)), ("metadata", Part::entries(&mut self.metadata))]
    }
}

impl ToolOutput for OneSection {
    fn reveals(&self) -> Vec<Resource> {
        vec![document(&self.name)]
    }

    fn content(&self) -> Option<&str> {
        Some(&self.content)
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("content", Part::Text(&mut self.content))]
    }
}

impl ToolOutput for Passage {
    fn reveals(&self) -> Vec<Resource> {
        vec![document(&self.document)]
    }

    /// Lists each document once, even if several of its sections were found.
    fn reveal_all(items: &[Self]) -> Vec<Resource> {
        let mut names: Vec<&str> = Vec::new();
        for found in items {
            if !names.contains(&found.document.as_str()) {
                names.push(&found.document);
            }
        }
        names.into_iter().map(document).collect()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("excerpt", Part::Text(&mut self.text))]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::DocumentSource;

    const RULES: &str = "# Rules\n\n## Customers\n\n### VIP customers\n\nA VIP customer spends 10,000 a year. They get \
                         free shipping.\n\n### Setup\n\nx\n\n## Orders\n\n### Setup\n\ny";

    /// Checks the result of a call and the names it reveals.
    async fn check(tool: &str, args: Value, expected: Value, reveals: &[&str]) {
        let mut rules = DocumentSource::inline("guides/rules", RULES);
        rules.description = Some("What we promise".into());
        rules.tags = vec!["policy".into()];
        let sources = [rules, DocumentSource::inline("menu", "Soup and bread.")];
        let discovery = Arc::new(DocumentDiscovery::load(&sources).0);
        let index = Index::in_memory(discovery.records(), None).unwrap();
        let (value, revealed) = match discovery.tools(&index).call(tool, args).await {
            Ok(answer) => (answer.json().clone(), answer.reveals()),
            Err(error) => (error.to_json(), Vec::new()),
        };
        assert_eq!(value, expected);
        let ids: Vec<&str> = revealed.iter().map(|resource| resource.id.as_str()).collect();
        assert_eq!(ids, reveals);
        assert!(revealed.iter().all(|resource| resource.kind == ResourceKind::Document));
    }

    #[tokio::test]
    async fn lists_documents() {
        let rules = json!({"name": "guides/rules", "type": "inline", "format": "markdown",
                           "description": "What we promise", "tags": ["policy"], "sections": 6});
        let menu = json!({"name": "menu", "type": "inline", "format": "markdown", "description": "Soup and bread.",
                          "sections": 1});
        check("list_documents", json!({}), json!([rules, menu]), &["guides/rules", "menu"]).await;
        check("list_documents", json!({"limit": 1, "offset": 1}), json!({"items": [menu], "total": 2}), &["menu"])
            .await;
    }

    #[tokio::test]
    async fn returns_a_whole_document() {
        let menu = json!({"name": "menu", "content": "Soup and bread.", "format": "markdown"});
        check("get_document", json!({"name": "MENU"}), menu, &["menu"]).await;
        check(
            "get_document",
            json!({"name": "ruls"}),
            json!({"error": "not_found", "message": "there is no document `ruls`",
                   "suggestion": "did you mean `guides/rules`?"}),
            &[],
        )
        .await;
    }

    #[tokio::test]
    async fn returns_a_section() {
        check(
            "get_document_section",
            json!({"name": "rules", "section": "orders"}),
            json!({"name": "guides/rules", "section": "Orders", "content": "## Orders\n\n### Setup\n\ny"}),
            &["guides/rules"],
        )
        .await;
    }

    #[tokio::test]
    async fn suggests_sections_for_unknown_names() {
        check(
            "get_document_section",
            json!({"name": "rules", "section": "Setup"}),
            json!({"error": "not_found", "message": "document `guides/rules` has several sections `Setup`",
                   "suggestion": "pass the full path: `Customers > Setup`, `Orders > Setup`"}),
            &[],
        )
        .await;
        check(
            "get_document_section",
            json!({"name": "menu", "section": "Wine"}),
            json!({"error": "not_found", "message": "document `menu` has no section `Wine`",
                   "suggestion": "its sections are `menu`"}),
            &[],
        )
        .await;
    }

    #[tokio::test]
    async fn lists_dates_and_finds_authors() {
        let text = "---\nauthor: Ada Quill\nlastmod: 2025-03-04\n---\n# Parcels\n\nPack them well.";
        let sources = [DocumentSource::inline("parcels", text), DocumentSource::inline("menu", "Soup and bread.")];
        let discovery = Arc::new(DocumentDiscovery::load(&sources).0);
        let index = Index::in_memory(discovery.records(), None).unwrap();
        let tools = discovery.tools(&index);
        let listed = tools.call("list_documents", json!({})).await.unwrap().into_json();
        assert_eq!((&listed[0]["last_updated"], &listed[1]["last_updated"]), (&json!("2025-03-04"), &Value::Null));
        let found =
            tools.call("search_documents", json!({"query": "what did Ada Quill write"})).await.unwrap().into_json();
        assert_eq!(found[0]["document"], "parcels", "{found}");
    }

    #[tokio::test]
    async fn an_empty_query_is_refused() {
        check(
            "search_documents",
            json!({"query": " "}),
            json!({"error": "invalid_arguments", "message": "the query is empty",
                   "suggestion": "pass a question, or use list_documents"}),
            &[],
        )
        .await;
    }

    #[tokio::test]
    async fn search_returns_section_and_excerpt() {
        let discovery = Arc::new(DocumentDiscovery::load(&[DocumentSource::inline("rules", RULES)]).0);
        let index = Index::in_memory(discovery.records(), None).unwrap();
        let answer = discovery.tools(&index).call("search_documents", json!({"query": "VIP customers"})).await.unwrap();
        let items = answer.json().as_array().or_else(|| answer.json()["items"].as_array()).unwrap();
        let first = &items[0];
        assert_eq!(first["document"], "rules");
        assert_eq!(first["section"], "Customers > VIP customers");
        assert_eq!(first["excerpt"], "A VIP customer spends 10,000 a year. They get free shipping.");
        assert!(first["relevance"].as_f64().is_some_and(|r| r > 0.5));
        assert_eq!(answer.reveals(), [Resource::new(ResourceKind::Document, "rules")]);
    }
}

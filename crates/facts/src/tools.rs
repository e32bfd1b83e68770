//! Tools for facts.

use std::sync::Arc;

use prospector_core::name::nearest;
use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tool::finding::Definition;
use prospector_core::tool::{Cut, Effect, ListArgs, Page, Part, Text, Tool, ToolError, ToolOutput, Toolset, compact};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    discovery::FactDiscovery,
    error::FactError,
    extract::{Extracted, ExtractedFact, MAX_FACTS},
    model::{Fact, Origin, Resolution, Source, USER, Unresolved, is_zero, two_digits},
};

const DEFAULT_LIMIT: usize = 50;
/// Maximum length of a text; longer ones are rejected.
const MAX_TEXT_CHARS: usize = 100_000;

impl FactDiscovery {
    /// Returns the tools that resolve, store, extract and list facts.
    pub fn tools(self: &Arc<Self>) -> Toolset {
        Toolset::new()
            .with(ResolveFact(Arc::clone(self)))
            .with(AddFact(Arc::clone(self)))
            .with(ExtractFacts(Arc::clone(self)))
            .with(ListKnownFacts(Arc::clone(self)))
            .with(GetUnresolvedFacts(Arc::clone(self)))
    }
}

fn unavailable(error: &FactError) -> ToolError {
    ToolError::unavailable(error.to_string(), error.advice().map(str::to_owned))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResolveArgs {
    /// A term or a whole question.
    #[serde(alias = "term", alias = "text")]
    question: String,
}

struct ResolveFact(Arc<FactDiscovery>);

impl Tool for ResolveFact {
    const NAME: &'static str = "resolve_fact";
    const DESCRIPTION: &'static str = "Returns the definitions of the business terms in a question. Call it for every term that is not a plain column; ask the user if needs_clarification.";
    const EFFECT: Effect = Effect::Reads;
    type Args = ResolveArgs;
    type Output = Resolution;

    async fn call(&self, args: ResolveArgs) -> Result<Resolution, ToolError> {
        if !args.question.chars().any(char::is_alphanumeric) {
            return Err(ToolError::invalid("the question is empty", Some("pass a term or a question".into())));
        }
        Ok(self.0.resolve(&args.question).await)
    }
}

/// Returns a source and its parents.
fn places(kind: &str, name: &str) -> Vec<Resource> {
    let table = |name: &str| {
        let database = name.split('.').next().unwrap_or(name);
        vec![Resource::new(ResourceKind::Table, name), Resource::new(ResourceKind::Database, database)]
    };
    match (kind, name.rsplit_once('.')) {
        ("document", _) => vec![Resource::new(ResourceKind::Document, name)],
        ("table", _) => table(name),
        ("column", Some((parent, _))) => {
            let mut out = table(parent);
            out.push(Resource::new(ResourceKind::Column, name));
            out
        }
        _ => Vec::new(),
    }
}

fn term(term: &str) -> Resource {
    Resource::new(ResourceKind::Fact, term)
}

impl ToolOutput for Resolution {
    fn reveals(&self) -> Vec<Resource> {
        let related = self.related.iter().map(|related| &related.term);
        let mut out: Vec<Resource> = self.term.iter().chain(related).map(|name| term(name)).collect();
        for source in self.sources.iter().chain(&self.otherwise) {
            out.extend(places(&source.source_type, source.name.split('#').next().unwrap_or(&source.name)));
        }
        out
    }

    fn definition(&self) -> Option<Definition> {
        Some(Definition {
            term: self.term.clone().unwrap_or_default(),
            text: self.answer.clone().unwrap_or_default(),
            source: self.sources.first().map(|source| source.name.clone()).unwrap_or_default(),
            confidence: (self.confidence * 100.0).round() / 100.0,
            needs_clarification: self.needs_clarification,
        })
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        let mut parts = vec![
            ("question", Part::Text(&mut self.question)),
            ("sources", Part::entries(&mut self.sources)),
            ("otherwise", Part::entries(&mut self.otherwise)),
            ("related", Part::entries(&mut self.related)),
        ];
        parts.extend(self.answer.as_mut().map(|text| ("answer", Part::Text(text))));
        parts.extend(self.definition.as_mut().map(|text| ("definition", Part::Text(text))));
        parts.extend(self.clarification.as_mut().map(|text| ("clarification", Part::Text(text))));
        parts.extend(self.note.as_mut().map(|text| ("note", Part::Text(text))));
        parts
    }

    fn render(&self, cut: &Cut) -> Text {
        Text::from(self.render_text(cut))
    }
}

/// The fields of a resolution as text for a model.
#[derive(Serialize)]
struct ResolutionText<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    term: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<&'a str>,
    /// An answer that does not define a term.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<&'a str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    source: String,
    #[serde(serialize_with = "two_digits", skip_serializing_if = "is_zero")]
    confidence: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    otherwise: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    needs_clarification: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    clarification: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<TermText<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

/// Another term of the question.
#[derive(Serialize)]
struct TermText<'a> {
    term: &'a str,
    definition: &'a str,
    source: &'a str,
}

impl Resolution {
    /// Renders the text for a model: each definition once, with the names of its sources; `none` if there is no
    /// definition.
    pub fn render_text(&self, cut: &Cut) -> String {
        let name = |source: &Source| {
            let stale = if source.stale { " (has changed)" } else { "" };
            format!("{}{stale}", source.name)
        };
        let answer = self.definition.as_deref().or(self.answer.as_deref());
        let none = self.related.is_empty().then_some("none");
        let (definition, lookup) = match (answer, &self.term) {
            (Some(_), None) => (None, answer),
            (Some(_), Some(_)) => (answer, None),
            (None, _) => (none, None),
        };
        let text = ResolutionText {
            term: self.term.as_deref(),
            definition,
            answer: lookup,
            source: self.sources.iter().map(name).collect::<Vec<_>>().join(", "),
            confidence: if answer.is_some() { self.confidence } else { 0.0 },
            otherwise: self.otherwise.iter().map(|source| format!("{}: {}", name(source), source.excerpt)).collect(),
            needs_clarification: self.needs_clarification,
            clarification: self.clarification.as_deref(),
            related: (self.related.iter())
                .map(|one| TermText { term: &one.term, definition: &one.definition, source: &one.source })
                .collect(),
            note: self.note.as_deref(),
        };
        compact::render(&cut.json(&text))
    }
}

impl ToolOutput for Fact {
    fn reveals(&self) -> Vec<Resource> {
        vec![term(&self.term)]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("definition", Part::Text(&mut self.definition)), ("reasoning", Part::Text(&mut self.reasoning))]
    }
}

impl ToolOutput for AddedFact {
    fn reveals(&self) -> Vec<Resource> {
        self.fact.reveals()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        let mut parts = self.fact.parts();
        parts.extend(self.replaced.as_mut().map(|text| ("replaced", Part::Text(text))));
        parts.push(("answers", Part::entries(&mut self.answers)));
        parts
    }
}

impl ToolOutput for ExtractedFact {
    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("definition", Part::Text(&mut self.definition)), ("evidence", Part::Text(&mut self.evidence))]
    }
}

impl ToolOutput for Unresolved {
    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("question", Part::Text(&mut self.question))]
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddArgs {
    /// The defined term.
    term: String,
    /// Its definition, in one sentence.
    definition: String,
    /// The author or source.
    source: Option<String>,
    /// Confidence, 0 to 1.
    confidence: Option<f64>,
    /// Why it holds.
    reasoning: Option<String>,
    /// Where it applies; default: everywhere.
    scope: Option<String>,
}

#[derive(Clone, Serialize)]
struct AddedFact {
    #[serde(flatten)]
    fact: Fact,
    /// The definition that it replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<String>,
    /// The open questions that it answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answers: Vec<String>,
}

struct AddFact(Arc<FactDiscovery>);

impl Tool for AddFact {
    const NAME: &'static str = "add_fact";
    const DESCRIPTION: &'static str =
        "Stores a definition supplied by the user; it takes precedence over documents. Never store guesses.";
    const EFFECT: Effect = Effect::Writes { repeatable: true };
    type Args = AddArgs;
    type Output = AddedFact;

    async fn call(&self, args: AddArgs) -> Result<AddedFact, ToolError> {
        let fact = Fact {
            source: args.source.unwrap_or_else(|| USER.into()),
            confidence: args.confidence.unwrap_or(0.95),
            reasoning: args.reasoning.unwrap_or_default(),
            scope: args.scope.unwrap_or_default(),
            ..Fact::new(args.term, args.definition, Origin::User)
        };
        let added = self.0.add(fact).await.map_err(|error| match error {
            FactError::Invalid { reason, .. } => ToolError::invalid(reason, None),
            other => unavailable(&other),
        })?;
        let replaced = added.replaced.map(|old| old.definition).filter(|old| *old != added.fact.definition);
        Ok(AddedFact { fact: added.fact, replaced, answers: added.answers })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExtractArgs {
    /// The text, at most 100,000 characters.
    text: Option<String>,
    /// Instead of `text`: a section, `document#section`, whose facts are stored.
    source: Option<String>,
}

struct ExtractFacts(Arc<FactDiscovery>);

impl Tool for ExtractFacts {
    const NAME: &'static str = "extract_facts_from_text";
    const DESCRIPTION: &'static str =
        "Extracts the definitions, formulas and abbreviations in a text, each with a quotation.";
    const MORE: &'static str = "pass a shorter text, or a larger max_tokens";
    const EFFECT: Effect = Effect::Writes { repeatable: true };
    type Args = ExtractArgs;
    type Output = Page<ExtractedFact>;

    async fn call(&self, args: ExtractArgs) -> Result<Page<ExtractedFact>, ToolError> {
        let text = match (args.text, args.source) {
            (Some(text), None) => text,
            (None, Some(source)) => return self.of_source(&source).await,
            _ => {
                return Err(ToolError::invalid(
                    "`text` and `source` are mutually exclusive",
                    Some("pass exactly one of them".into()),
                ));
            }
        };
        if text.chars().count() > MAX_TEXT_CHARS {
            return Err(ToolError::invalid(
                format!("the text is longer than {MAX_TEXT_CHARS} characters"),
                Some("pass it in parts".into()),
            ));
        }
        Ok(page(self.0.extract(&text).await))
    }
}

impl ExtractFacts {
    async fn of_source(&self, source: &str) -> Result<Page<ExtractedFact>, ToolError> {
        match self.0.extract_source(source.trim()).await {
            Ok(Some(extracted)) => Ok(page(extracted)),
            Ok(None) => Err(ToolError::invalid(
                format!("unknown source `{source}`"),
                Some("use a source name from resolve_fact: document#section".into()),
            )),
            Err(error) => Err(unavailable(&error)),
        }
    }
}

fn page(Extracted { facts, note }: Extracted) -> Page<ExtractedFact> {
    let full = facts.len() == MAX_FACTS;
    let cut = full.then(|| format!("only the first {MAX_FACTS}; pass the rest of the text separately"));
    if facts.is_empty() {
        return Page::nothing(note.unwrap_or_else(|| "the text contains no definitions".into()), Vec::new());
    }
    let mut page = Page::whole(facts);
    page.note = [cut, note].into_iter().flatten().reduce(|cut, note| format!("{cut}; {note}"));
    page
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct KnownArgs {
    /// Maximum number of results (default 50).
    limit: Option<usize>,
    /// Number of results to skip.
    offset: Option<usize>,
    /// Only facts whose term or definition contains this text.
    contains: Option<String>,
}

struct ListKnownFacts(Arc<FactDiscovery>);

impl Tool for ListKnownFacts {
    const NAME: &'static str = "list_known_facts";
    const DESCRIPTION: &'static str = "Lists user-supplied and catalog facts, by term.";
    const MORE: &'static str = "call again with offset, or with contains";
    const EFFECT: Effect = Effect::Reads;
    type Args = KnownArgs;
    type Output = Page<Fact>;

    async fn call(&self, args: KnownArgs) -> Result<Page<Fact>, ToolError> {
        let facts = self.0.facts().await.map_err(|error| unavailable(&error))?;
        let wanted = args.contains.unwrap_or_default().trim().to_lowercase();
        let hits: Vec<Fact> = facts
            .iter()
            .filter(|f| f.term.to_lowercase().contains(&wanted) || f.definition.to_lowercase().contains(&wanted))
            .cloned()
            .collect();
        if hits.is_empty() && !wanted.is_empty() {
            let mut terms: Vec<&str> = facts.iter().map(|f| f.term.as_str()).collect();
            terms.dedup();
            return Ok(Page::nothing(format!("no known fact contains `{wanted}`"), nearest(&wanted, terms, 3)));
        }
        Ok(Page::cut(hits, args.offset.unwrap_or(0), args.limit.unwrap_or(DEFAULT_LIMIT)))
    }
}

struct GetUnresolvedFacts(Arc<FactDiscovery>);

impl Tool for GetUnresolvedFacts {
    const NAME: &'static str = "get_unresolved_facts";
    const DESCRIPTION: &'static str = "Lists questions that resolve_fact could not answer, most recent first.";
    const MORE: &'static str = "call again with offset";
    const EFFECT: Effect = Effect::Reads;
    type Args = ListArgs;
    type Output = Page<Unresolved>;

    async fn call(&self, args: ListArgs) -> Result<Page<Unresolved>, ToolError> {
        let open = self.0.open_questions().await.map_err(|error| unavailable(&error))?;
        Ok(Page::of_list(open, args))
    }
}

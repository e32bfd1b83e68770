//! `list`: what there is of a kind, or in a thing.

use std::sync::Arc;

use prospector_core::{
    Answer, BoxFuture, Callable, Page, Resource, ResourceKind, ToolError, ToolErrorCode, ToolSpec, cap,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::things::{Thing, Things};

pub(super) const NAME: &str = "list";

/// The words that `of` takes besides names, and the tool that each stands for. Those of the first five stand for all.
const KINDS: [(&str, &str); 6] = [
    ("databases", "list_databases"),
    ("apis", "list_apis"),
    ("documents", "list_documents"),
    ("skills", "list_skills"),
    ("facts", "list_known_facts"),
    ("open_questions", "get_unresolved_facts"),
];

/// What is listed under a name, and what it can be filtered by, where the full set has that tool.
const OF: [(&str, &str); 4] = [
    ("list_tables", "tables of a database, joins of a table"),
    ("list_api_operations", "operations of an api"),
    ("get_document_section", "sections of a document"),
    ("list_skill_links", "links of a skill"),
];
const FILTERS: [(&str, &str); 3] = [
    ("list_api_operations", "a tag of operations"),
    ("list_known_facts", "a text in facts"),
    ("get_table_relationships", "a table to join to"),
];

/// How many of each kind are listed where everything is.
const OF_EACH: usize = 20;

/// The tool.
pub(super) struct List {
    things: Arc<Things>,
    spec: ToolSpec,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// A word of [`KINDS`], or a name as [`OF`] says.
    of: Option<String>,
    /// What [`FILTERS`] says.
    filter: Option<String>,
    limit: Option<usize>,
    offset: Option<usize>,
}

impl List {
    pub(super) fn new(things: &Arc<Things>) -> Self {
        let description = "Lists what there is.";
        let mut spec = ToolSpec::new::<Args>(NAME, description);
        let there = |of: &[(&'static str, &'static str)]| -> String {
            let there: Vec<&str> = of.iter().filter(|(tool, _)| things.has(tool)).map(|(_, text)| *text).collect();
            there.join(", ")
        };
        let kinds = there(&KINDS.map(|(word, tool)| (tool, word)));
        let of = format!("{kinds}; or a name: {}", there(&OF));
        spec.input_schema["properties"]["of"]["description"] = of.into();
        spec.input_schema["properties"]["filter"]["description"] = there(&FILTERS).into();
        List { things: things.clone(), spec }
    }

    async fn answer(&self, args: Args, max_tokens: usize) -> Result<Answer, ToolError> {
        let Some(of) = args.of.as_deref().map(str::trim).filter(|of| !of.is_empty()) else {
            return self.everything(max_tokens).await;
        };
        let filter = args.filter.as_deref().filter(|filter| !filter.is_empty());
        let paged = |mut fields: Value| {
            fields["limit"] = json!(args.limit);
            fields["offset"] = json!(args.offset);
            fields
        };
        if let Some((word, tool)) = KINDS.iter().find(|(word, _)| of.eq_ignore_ascii_case(word)) {
            if !self.things.has(tool) {
                return Err(ToolError::Respond {
                    code: ToolErrorCode::Unavailable,
                    message: format!("the catalog has no {word}"),
                    suggestion: None,
                });
            }
            let fields = if *word == "facts" { json!({"contains": filter}) } else { unfiltered(word, filter)? };
            return self.things.call(tool, paged(fields), max_tokens).await;
        }
        match self.things.named(of).into_iter().next() {
            Some(Thing::Database(name)) => {
                let mut fields = unfiltered(of, filter)?;
                fields["database"] = json!(name);
                self.things.call("list_tables", paged(fields), max_tokens).await
            }
            Some(Thing::Table { database, table }) => {
                let fields = json!({"database": database, "table": table, "to": filter});
                self.things.call("get_table_relationships", fields, max_tokens).await
            }
            Some(Thing::Path { database, table, to }) => {
                let fields = json!({"database": database, "table": table, "to": to});
                self.things.call("get_table_relationships", fields, max_tokens).await
            }
            Some(Thing::Api(name)) => {
                let fields = paged(json!({"api": name, "tag": filter}));
                self.things.call("list_api_operations", fields, max_tokens).await
            }
            Some(Thing::Document(name)) => {
                unfiltered(of, filter)?;
                self.sections(&name, &args, max_tokens)
            }
            Some(Thing::Skill(name)) => {
                unfiltered(of, filter)?;
                self.things.call("list_skill_links", json!({"name": name}), max_tokens).await
            }
            Some(
                Thing::Columns { .. }
                | Thing::Operation { .. }
                | Thing::Section { .. }
                | Thing::File { .. }
                | Thing::Fact(_),
            ) => Err(ToolError::invalid(format!("there is nothing to list in `{of}`"), Some("call describe".into()))),
            None => Err(self.things.unknown(of)),
        }
    }

    /// The first of every kind.
    async fn everything(&self, max_tokens: usize) -> Result<Answer, ToolError> {
        let kinds: Vec<&(&str, &str)> = KINDS[..5].iter().filter(|(_, tool)| self.things.has(tool)).collect();
        // The names of the fields take some, too.
        let room = max_tokens.saturating_sub(20) / kinds.len().max(1);
        let (mut all, mut reveals) = (Map::new(), Vec::new());
        for (word, tool) in kinds {
            let answer = self.things.call(tool, json!({"limit": OF_EACH}), room.saturating_sub(10)).await?;
            if answer.value.as_array().is_none_or(|items| !items.is_empty()) {
                all.insert((*word).to_owned(), answer.value);
                reveals.extend(answer.reveals);
            }
        }
        Ok(Answer::new(cap(all.into(), max_tokens.max(50), "list one kind"), reveals))
    }

    /// The sections of a document, which no tool of the full set lists.
    fn sections(&self, name: &str, args: &Args, max_tokens: usize) -> Result<Answer, ToolError> {
        let document = self.things.documents.resolve(name).ok_or_else(|| self.things.unknown(name))?;
        let sections = document.sections.iter().map(|section| section.full_name()).collect();
        let page = Page::cut(sections, args.offset.unwrap_or(0), args.limit.unwrap_or(100));
        let value = serde_json::to_value(page).map_err(ToolError::fatal)?;
        let value = cap(json!({"document": name, "sections": value}), max_tokens, "call again with offset");
        Ok(Answer::new(value, vec![Resource::new(ResourceKind::Document, name)]))
    }
}

/// No fields, where there is nothing to filter by.
fn unfiltered(of: &str, filter: Option<&str>) -> Result<Value, ToolError> {
    match filter {
        None => Ok(json!({})),
        Some(_) => {
            let message = format!("`{of}` cannot be filtered");
            Err(ToolError::invalid(message, Some("leave filter out, or call search".into())))
        }
    }
}

impl Callable for List {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, args: Value, max_tokens: usize) -> BoxFuture<'_, Result<Answer, ToolError>> {
        Box::pin(async move { self.answer(self.spec.arguments(args)?, max_tokens).await })
    }
}

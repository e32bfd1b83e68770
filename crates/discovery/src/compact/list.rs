//! `list`: the entries of a kind, or the parts of an entry.

use std::sync::Arc;

use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tokens::estimate;
use prospector_core::tool::{Answer, Budget, Cut, Page, Part, ToolError, ToolOutput, ToolSpec};
use prospector_facts::Fact;
use prospector_queries::VerifiedQueries;
use prospector_semantics::SemanticModel;
use prospector_text::stem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::CompactTool;
use crate::target::{Target, TargetResolver, shorten};

const LIST_TABLES: &str = "list_tables";
const LIST_OPERATIONS: &str = "list_api_operations";

/// The kinds that `of` accepts besides names, each with its tool. `list` without arguments includes all but the last.
const KINDS: [(&str, &str); 8] = [
    ("databases", "list_databases"),
    ("apis", "list_apis"),
    ("documents", "list_documents"),
    ("skills", "list_skills"),
    ("metrics", SemanticModel::LIST_TOOL),
    ("facts", "list_known_facts"),
    ("queries", VerifiedQueries::LIST_TOOL),
    ("open_questions", "get_unresolved_facts"),
];

/// What can be listed under a name, and what can be filtered, if the full set has the tool.
const OF: [(&str, &str); 4] = [
    (LIST_TABLES, "tables of a database, joins of a table"),
    (LIST_OPERATIONS, "operations of an api"),
    ("get_document_section", "sections of a document"),
    ("list_skill_links", "links of a skill"),
];
const FILTERS: [(&str, &str); 4] = [
    (LIST_OPERATIONS, "a tag of operations"),
    (SemanticModel::LIST_TOOL, "a text in metrics"),
    ("list_known_facts", "a text in facts"),
    ("get_table_relationships", "a table to join to"),
];

/// Maximum number of entries of each kind if all kinds are listed.
const MAX_OF_EACH: usize = 20;

/// The tool.
pub(super) struct List(pub(super) Arc<TargetResolver>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// A kind of [`KINDS`], or a name as described by [`OF`].
    of: Option<String>,
    /// Accepted instead of a name in `of`.
    #[serde(alias = "db", alias = "api")]
    #[schemars(skip)]
    database: Option<String>,
    /// Replaced by the texts in [`FILTERS`].
    filter: Option<String>,
    limit: Option<usize>,
    offset: Option<usize>,
}

impl Args {
    /// Returns the kind or name whose entries are listed: `database` is a name, of which tables or operations are listed.
    fn target(&self) -> Result<Option<&str>, ToolError> {
        let (of, database) = (non_blank(self.of.as_deref()), non_blank(self.database.as_deref()));
        match (of, database) {
            (of, None) => Ok(of),
            (None, name) => Ok(name),
            (Some(of), name) if ["tables", "operations"].into_iter().any(|kind| is_same_kind(kind, of)) => Ok(name),
            (Some(of), Some(name)) => {
                let message = format!("`{}` cannot be listed for `{}`", shorten(of), shorten(name));
                Err(ToolError::invalid(message, Some("pass one of them as `of`".to_owned())))
            }
        }
    }
}

/// Returns a text that is not blank.
fn non_blank(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// Whether two words are the same kind, in singular or plural.
fn is_same_kind(kind: &str, word: &str) -> bool {
    let singular = |word: &str| stem::strip_plural(word.to_lowercase());
    singular(kind) == singular(word)
}

impl CompactTool for List {
    const NAME: &'static str = "list";
    type Args = Args;

    fn describe(&self) -> ToolSpec {
        let there = |of: &[(&'static str, &'static str)]| -> String {
            let there: Vec<&str> = of.iter().filter(|(tool, _)| self.0.has(tool)).map(|(_, text)| *text).collect();
            there.join(", ")
        };
        let kinds = there(&KINDS.map(|(word, tool)| (tool, word)));
        let description = format!("Lists all {kinds} of the catalog, or the parts of one entry.").replace('_', " ");
        let mut spec = ToolSpec::new::<Args>(Self::NAME, &description);
        let of = format!("{kinds}; or a name: {}", there(&OF));
        spec.input_schema["properties"]["of"]["description"] = of.into();
        spec.input_schema["properties"]["filter"]["description"] = there(&FILTERS).into();
        spec
    }

    async fn answer(&self, args: Args, max_tokens: usize) -> Result<Answer, ToolError> {
        let Some(of) = args.target()? else {
            return self.everything(max_tokens).await;
        };
        let filter = args.filter.as_deref().filter(|filter| !filter.is_empty());
        let paged = |mut fields: Value| {
            fields["limit"] = json!(args.limit);
            fields["offset"] = json!(args.offset);
            fields
        };
        if of.eq_ignore_ascii_case("segments") && self.0.has(SemanticModel::LIST_TOOL) {
            let fields = json!({"contains": filter.unwrap_or("segment")});
            return self.0.call(SemanticModel::LIST_TOOL, paged(fields), max_tokens).await;
        }
        let is_meant = |word: &str| is_same_kind(word, of);
        if is_meant("tables") {
            let names = self.0.catalog.schema.databases().map(|database| database.name.clone()).collect();
            let database = only_one(names, "tables", "database")?;
            let fields = json!({"database": database});
            return self.0.call(LIST_TABLES, paged(fields), max_tokens).await;
        }
        if is_meant("operations") {
            let names = self.0.catalog.apis.apis().iter().map(|api| api.name.clone()).collect();
            let api = only_one(names, "operations", "API")?;
            let fields = json!({"api": api, "tag": filter});
            return self.0.call(LIST_OPERATIONS, paged(fields), max_tokens).await;
        }
        if let Some((word, tool)) = KINDS.iter().find(|(word, _)| is_meant(word)) {
            if !self.0.has(tool) {
                return Err(ToolError::unavailable(format!("the catalog has no {word}"), None));
            }
            let can_filter = matches!(*word, "facts" | "metrics");
            let fields = if can_filter { json!({"contains": filter}) } else { without_filter(word, filter)? };
            return self.0.call(tool, paged(fields), max_tokens).await;
        }
        match self.0.find(of).into_iter().next() {
            Some(Target::Database(name)) => {
                let mut fields = without_filter(of, filter)?;
                fields["database"] = json!(name);
                self.0.call(LIST_TABLES, paged(fields), max_tokens).await
            }
            Some(Target::Table { database, table }) => {
                let fields = json!({"database": database, "table": table, "to": filter});
                self.0.call("get_table_relationships", fields, max_tokens).await
            }
            Some(Target::Path { database, table, to }) => {
                let fields = json!({"database": database, "table": table, "to": to});
                self.0.call("get_table_relationships", fields, max_tokens).await
            }
            Some(Target::Api(name)) => {
                let fields = paged(json!({"api": name, "tag": filter}));
                self.0.call(LIST_OPERATIONS, fields, max_tokens).await
            }
            Some(Target::Document(name)) => {
                without_filter(of, filter)?;
                self.sections(&name, &args, max_tokens)
            }
            Some(Target::Skill(name)) => {
                without_filter(of, filter)?;
                self.0.call("list_skill_links", json!({"name": name}), max_tokens).await
            }
            Some(
                Target::Columns { .. }
                | Target::Operation { .. }
                | Target::Section { .. }
                | Target::File { .. }
                | Target::Fact(_)
                | Target::Metric(_)
                | Target::Query(_),
            ) => Err(ToolError::invalid(format!("`{of}` has no parts to list"), Some("call describe".into()))),
            None => Err(self.0.unknown(of)),
        }
    }
}

impl List {
    /// Lists the first entries of every kind.
    async fn everything(&self, max_tokens: usize) -> Result<Answer, ToolError> {
        let kinds: Vec<&(&str, &str)> = KINDS[..7].iter().filter(|(_, tool)| self.0.has(tool)).collect();
        let asked = kinds.len();
        let mut all = Vec::new();
        for (word, tool) in kinds {
            let answer = self.0.call(tool, json!({"limit": MAX_OF_EACH}), max_tokens).await?;
            if answer.whole::<Page<Fact>>().is_none_or(|facts| !facts.items.is_empty()) {
                all.push((*word, answer.unfit()));
            }
        }
        Ok(Answer::of(Everything { asked, all }, "list one kind").fit(max_tokens.max(50)))
    }

    /// Lists the sections of a document, for which the full set has no tool.
    fn sections(&self, name: &str, args: &Args, max_tokens: usize) -> Result<Answer, ToolError> {
        let document = self.0.catalog.documents.resolve(name).ok_or_else(|| self.0.unknown(name))?;
        let sections = document.sections.iter().map(|section| section.full_name()).collect();
        let sections = Page::cut(sections, args.offset.unwrap_or(0), args.limit.unwrap_or(100));
        Ok(Answer::of(Sections { document: name.to_owned(), sections }, "call again with offset").fit(max_tokens))
    }
}

/// Returns the only database or API; otherwise an error that asks for one.
fn only_one(mut names: Vec<String>, parts: &str, whole: &str) -> Result<String, ToolError> {
    match names.len() {
        0 => Err(ToolError::unavailable(format!("the catalog has no {parts}"), None)),
        1 => Ok(names.remove(0)),
        _ => {
            let all: Vec<String> = names.iter().take(MAX_OF_EACH).map(|name| format!("`{name}`")).collect();
            let advice = format!("call list with `of`: {}", all.join(", "));
            Err(ToolError::invalid(format!("{parts} can only be listed per {whole}"), Some(advice)))
        }
    }
}

/// The first entries of each kind that is not empty, by kind.
#[derive(Clone)]
struct Everything {
    /// Number of kinds requested, each with an equal share of the room.
    asked: usize,
    all: Vec<(&'static str, Answer)>,
}

impl Everything {
    /// Returns the room of each kind, without the names of the fields.
    fn room(&self, max_tokens: usize) -> usize {
        (max_tokens.saturating_sub(20) / self.asked.max(1)).saturating_sub(10).max(50)
    }
}

impl Serialize for Everything {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.all.iter().map(|(word, answer)| (word, answer)))
    }
}

impl ToolOutput for Everything {
    fn reveals(&self) -> Vec<Resource> {
        self.all.iter().flat_map(|(_, answer)| answer.reveals()).collect()
    }

    fn fits(&self, max_tokens: usize) -> bool {
        self.all.iter().all(|(_, answer)| answer.size() <= self.room(max_tokens))
    }

    /// Truncates each kind to its room; if that is not sufficient, omits the last ones.
    fn fit(&mut self, budget: Budget<'_>) -> Cut {
        let room = self.room(budget.tokens);
        self.all.iter_mut().for_each(|(_, answer)| *answer = answer.fit(room));
        let mut cut = Cut::default();
        while !self.all.is_empty() && estimate(&cut.json(self).to_string()) > budget.tokens {
            self.all.pop();
            cut = Cut::with_next(budget.more);
        }
        cut
    }
}

/// The sections of a document.
#[derive(Clone, Serialize)]
struct Sections {
    document: String,
    /// A list or, if truncated, an object with `items`.
    sections: Page<String>,
}

impl ToolOutput for Sections {
    fn reveals(&self) -> Vec<Resource> {
        vec![Resource::new(ResourceKind::Document, &self.document)]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("sections", Part::entries(&mut self.sections.items))]
    }
}

/// Returns no fields, or an error if there is a filter.
fn without_filter(of: &str, filter: Option<&str>) -> Result<Value, ToolError> {
    match filter {
        None => Ok(json!({})),
        Some(_) => {
            let message = format!("`{of}` cannot be filtered");
            Err(ToolError::invalid(message, Some("omit filter, or call search".into())))
        }
    }
}

//! Resolution of ids: which tool of the full set describes an entry, and with which arguments.

use prospector_core::mark::clean_name;
use prospector_core::name::nearest;
use prospector_core::record::ResourceKind;
use prospector_core::tool::{Answer, Effect, Page, ToolError, ToolErrorCode, Toolset};
use prospector_facts::Fact;
use prospector_queries::VerifiedQueries;
use prospector_semantics::SemanticModel;
use serde_json::{Value, json};

use crate::Catalog;

/// A catalog, and the tools of the full set.
pub(crate) struct TargetResolver {
    pub(crate) catalog: Catalog,
    full: Toolset,
}

/// The kinds of entries that ids name, in the order of their targets. Columns are described with their table.
const KINDS: [ResourceKind; 9] = [
    ResourceKind::Database,
    ResourceKind::Table,
    ResourceKind::Api,
    ResourceKind::Operation,
    ResourceKind::Document,
    ResourceKind::Skill,
    ResourceKind::Metric,
    ResourceKind::Query,
    ResourceKind::Fact,
];

/// The level of detail of a table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Detail<'a> {
    /// Includes all statistics and sample values.
    pub(crate) values: Option<bool>,
    /// Selects the columns of a wide table.
    pub(crate) query: Option<&'a str>,
}

/// The meaning of an id, with names as in the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Database(String),
    Table {
        database: String,
        table: String,
    },
    /// Columns of a table, by pattern.
    Columns {
        database: String,
        table: String,
        columns: String,
    },
    /// The join path between two tables of a database.
    Path {
        database: String,
        table: String,
        to: String,
    },
    Api(String),
    /// An operation or, if given, a part of it in full.
    Operation {
        api: String,
        operation: String,
        part: Option<String>,
    },
    Document(String),
    Section {
        document: String,
        section: String,
    },
    Skill(String),
    /// A file that a skill links to.
    File {
        skill: String,
        target: String,
    },
    Fact(String),
    Metric(String),
    Query(String),
}

/// Maximum length of an id in bytes, since each of its parts is looked up.
pub(crate) const MAX_ID_BYTES: usize = 2_000;

/// Shortens a name for an error message.
pub(crate) fn shorten(name: &str) -> String {
    let short: String = name.chars().take(200).collect();
    if short.len() < name.len() { short + "…" } else { short }
}

impl Target {
    /// Returns the name of its kind.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Target::Database(_) => "database",
            Target::Table { .. } | Target::Columns { .. } => "table",
            Target::Path { .. } => "path",
            Target::Api(_) => "api",
            Target::Operation { .. } => "operation",
            Target::Document(_) | Target::Section { .. } => "document",
            Target::Skill(_) | Target::File { .. } => "skill",
            Target::Fact(_) => "fact",
            Target::Metric(_) => "metric",
            Target::Query(_) => "query",
        }
    }
}

impl TargetResolver {
    pub(crate) fn new(catalog: &Catalog, full: Toolset) -> Self {
        TargetResolver { catalog: catalog.clone(), full }
    }

    /// Returns the tools of the full set.
    pub(crate) fn full(&self) -> &Toolset {
        &self.full
    }

    /// Calls a tool of the full set; fields that are `null` are not passed.
    pub(crate) async fn call(&self, tool: &str, mut args: Value, max_tokens: usize) -> Result<Answer, ToolError> {
        if let Some(fields) = args.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
            fields.insert("max_tokens".into(), json!(max_tokens.max(50)));
        }
        self.full.call(tool, args).await
    }

    /// Returns whether the full set has a tool.
    pub(crate) fn has(&self, tool: &str) -> bool {
        self.full.has(tool)
    }

    /// Returns the side effects of a tool of the full set.
    pub(crate) fn effect(&self, tool: &str) -> Effect {
        self.full.effect(tool).unwrap_or(Effect::Reads)
    }

    /// Returns the details of an entry from the tool for its kind.
    pub(crate) async fn show(
        &self,
        target: &Target,
        detail: Detail<'_>,
        max_tokens: usize,
    ) -> Result<Answer, ToolError> {
        let Detail { values, query } = detail;
        let (tool, args) = match target {
            Target::Database(name) => ("list_tables", json!({"database": name})),
            Target::Table { database, table } => {
                ("get_table_schema", json!({"database": database, "table": table, "values": values, "query": query}))
            }
            Target::Columns { database, table, columns } => (
                "get_table_schema",
                json!({"database": database, "table": table, "values": values, "columns": columns}),
            ),
            Target::Path { database, table, to } => {
                ("get_table_relationships", json!({"database": database, "table": table, "to": to}))
            }
            Target::Api(name) => ("list_api_operations", json!({"api": name})),
            Target::Operation { api, operation, part } => {
                return Ok(self.catalog.apis.describe(api, operation, part.as_deref())?.fit(max_tokens.max(50)));
            }
            Target::Document(name) => ("get_document", json!({"name": name})),
            Target::Section { document, section } => {
                ("get_document_section", json!({"name": document, "section": section}))
            }
            Target::Skill(name) => ("get_skill", json!({"name": name})),
            Target::File { skill, target } => ("resolve_skill_link", json!({"name": skill, "target": target})),
            Target::Metric(name) => (SemanticModel::SHOW_TOOL, json!({"name": name})),
            Target::Query(name) => (VerifiedQueries::GET_TOOL, json!({"name": name})),
            Target::Fact(term) => return self.show_fact(term, max_tokens).await,
        };
        self.call(tool, args, max_tokens).await
    }

    /// Returns the facts of a term; the tool may return others whose terms contain it.
    async fn show_fact(&self, term: &str, max_tokens: usize) -> Result<Answer, ToolError> {
        let answer = self.call("list_known_facts", json!({"contains": term}), max_tokens).await?;
        let all = answer.whole::<Page<Fact>>().map(|page| page.items.as_slice()).unwrap_or_default();
        let own: Vec<Fact> = all.iter().filter(|fact| fact.term.eq_ignore_ascii_case(term)).cloned().collect();
        if own.is_empty() {
            return Ok(answer);
        }
        Ok(Answer::of(Page::whole(own), "call again with a larger max_tokens").fit(max_tokens.max(50)))
    }

    /// Returns the entry of a kind with a name resolved by [`Catalog::resolve`].
    ///
    /// # Errors
    /// `invalid_arguments` for a column, which is described with its table; `not_found` for an unknown name.
    pub(crate) fn of_kind(&self, kind: ResourceKind, name: String) -> Result<Target, ToolError> {
        let found = match kind {
            ResourceKind::Database => Some(Target::Database(name.clone())),
            ResourceKind::Table => self.table(&name).map(|(database, table)| Target::Table { database, table }),
            ResourceKind::Api => Some(Target::Api(name.clone())),
            ResourceKind::Operation => {
                self.operation(&name).map(|(api, operation)| Target::Operation { api, operation, part: None })
            }
            ResourceKind::Document => Some(Target::Document(name.clone())),
            ResourceKind::Skill => Some(Target::Skill(name.clone())),
            ResourceKind::Fact => Some(Target::Fact(name.clone())),
            ResourceKind::Metric => Some(Target::Metric(name.clone())),
            ResourceKind::Query => Some(Target::Query(name.clone())),
            ResourceKind::Column => {
                let advice = "request its table".to_owned();
                return Err(ToolError::invalid("columns are described with their table", Some(advice)));
            }
        };
        found.ok_or_else(|| self.unknown(&name))
    }

    /// Resolves an id: usually to one entry, to several with the same name, or to none. A partially correct name resolves to a target whose
    /// tool reports the error.
    pub(crate) fn find(&self, id: &str) -> Vec<Target> {
        let id = id.trim();
        if id.len() > MAX_ID_BYTES {
            return Vec::new();
        }
        // The text after a `#` is a part, unless the name itself contains it.
        let is_part = |kind: ResourceKind, name: &str| {
            matches!(kind, ResourceKind::Document | ResourceKind::Skill) && id.contains('#') && name != id
        };
        let resolve = |kind: ResourceKind| {
            let name = self.catalog.resolve(kind, id).filter(|name| !is_part(kind, name))?;
            Some((name.clone(), self.of_kind(kind, name).ok()?))
        };
        let mut found: Vec<(String, Target)> = KINDS.into_iter().filter_map(resolve).collect();
        // Exact names take precedence over similar ones.
        let exact = |name: &str| name.eq_ignore_ascii_case(id);
        if found.iter().any(|(name, _)| exact(name)) {
            found.retain(|(name, _)| exact(name));
        }
        if found.is_empty() {
            found.extend(self.part(id).map(|thing| (String::new(), thing)));
        }
        found.into_iter().map(|(_, thing)| thing).collect()
    }

    /// Resolves a part of an entry, or a name whose first half is correct: the tool of its kind reports what is wrong with the rest.
    fn part(&self, id: &str) -> Option<Target> {
        let Catalog { schema, apis, documents, skills, .. } = &self.catalog;
        if let Some((from, to)) = id.split_once('>')
            && let Some((database, table)) = self.table(from.trim())
        {
            let to = self.table(to.trim()).map_or_else(|| to.trim().to_owned(), |(_, table)| table);
            return Some(Target::Path { database, table, to });
        }
        for (at, _) in id.match_indices('#') {
            let (name, part) = (id[..at].trim(), id[at + 1..].trim().to_owned());
            if let Some(document) = documents.resolve(name) {
                return Some(Target::Section { document: document.name.clone(), section: part });
            }
            if let Some(skill) = skills.resolve(name) {
                return Some(Target::File { skill: skill.name.clone(), target: part });
            }
            if let Some((database, table)) = self.table(name) {
                return Some(Target::Columns { database, table, columns: part });
            }
            if let Some((api, operation)) = apis.resolve_operation(name).and_then(|id| self.operation(&id)) {
                return Some(Target::Operation { api, operation, part: Some(part) });
            }
        }
        for (at, _) in id.match_indices(['.', ' ']) {
            let (name, rest) = (&id[..at], id[at + 1..].trim().to_owned());
            if let Some(database) = schema.database(name) {
                return Some(Target::Table { database: database.name.clone(), table: rest });
            }
            if let Ok(api) = apis.api(name) {
                return Some(Target::Operation { api: api.name.clone(), operation: rest, part: None });
            }
        }
        None
    }

    /// Returns the database and the table of an id.
    pub(crate) fn table(&self, id: &str) -> Option<(String, String)> {
        let (database, table) = self.catalog.schema.find_table(id)?;
        Some((database.name.clone(), table.name.clone()))
    }

    /// Returns the API and the name of an operation by id.
    fn operation(&self, id: &str) -> Option<(String, String)> {
        let (api, operation) = self.catalog.apis.find_operation(id)?;
        Some((api.name.clone(), operation.name.clone()))
    }

    /// Returns the error for an unknown id.
    pub(crate) fn unknown(&self, id: &str) -> ToolError {
        let names: Vec<String> = KINDS.into_iter().flat_map(|kind| self.catalog.list_names(kind)).collect();
        let near = nearest(id, names.iter().map(String::as_str), 3);
        let near = near.iter().map(|name| format!("`{}`", clean_name(name))).collect::<Vec<_>>().join(", ");
        ToolError::Respond {
            code: ToolErrorCode::NotFound,
            message: format!("unknown catalog entry `{}`", shorten(&clean_name(id))),
            suggestion: Some(match near.is_empty() {
                true => "search finds entries".to_owned(),
                false => format!("did you mean {near}? search finds more"),
            }),
        }
    }
}

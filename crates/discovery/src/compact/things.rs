//! What an id means: which tool of the full set shows the thing, and how it is called.

use std::sync::Arc;

use prospector_api::ApiDiscovery;
use prospector_core::{Answer, ToolError, ToolErrorCode, Toolset, mark::clean_name, nearest, normalized};
use prospector_documents::DocumentDiscovery;
use prospector_facts::FactDiscovery;
use prospector_schema::SchemaDiscovery;
use prospector_skills::SkillDiscovery;
use serde_json::{Value, json};

use crate::Catalog;

/// The things of a catalog, and the tools of the full set.
pub(super) struct Things {
    pub(super) schema: Arc<SchemaDiscovery>,
    pub(super) apis: Arc<ApiDiscovery>,
    pub(super) documents: Arc<DocumentDiscovery>,
    pub(super) skills: Arc<SkillDiscovery>,
    pub(super) facts: Arc<FactDiscovery>,
    full: Toolset,
}

/// One thing that an id can mean, as the catalog spells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Thing {
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
    /// The way from one table to another of its database.
    Path {
        database: String,
        table: String,
        to: String,
    },
    Api(String),
    /// With a part of it, that part in full.
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
}

/// A longer text is the name of nothing: each of its parts would be looked up.
pub(super) const MAX_ID_BYTES: usize = 2_000;

/// A name as an error repeats it.
pub(super) fn shortened(name: &str) -> String {
    let short: String = name.chars().take(200).collect();
    if short.len() < name.len() { short + "…" } else { short }
}

impl Thing {
    /// The word for its kind.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Thing::Database(_) => "database",
            Thing::Table { .. } | Thing::Columns { .. } => "table",
            Thing::Path { .. } => "path",
            Thing::Api(_) => "api",
            Thing::Operation { .. } => "operation",
            Thing::Document(_) | Thing::Section { .. } => "document",
            Thing::Skill(_) | Thing::File { .. } => "skill",
            Thing::Fact(_) => "fact",
        }
    }
}

impl Things {
    pub(super) fn new(catalog: &Catalog, full: Toolset) -> Self {
        Things {
            schema: catalog.schema.clone(),
            apis: catalog.apis.clone(),
            documents: catalog.documents.clone(),
            skills: catalog.skills.clone(),
            facts: catalog.facts.clone(),
            full,
        }
    }

    /// Calls a tool of the full set; fields that are `null` are not passed.
    pub(super) async fn call(&self, tool: &str, mut args: Value, max_tokens: usize) -> Result<Answer, ToolError> {
        if let Some(fields) = args.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
            fields.insert("max_tokens".into(), json!(max_tokens.max(50)));
        }
        self.full.call(tool, args).await
    }

    /// Whether the full set has a tool.
    pub(super) fn has(&self, tool: &str) -> bool {
        self.full.has(tool)
    }

    /// What an id means: mostly one thing; several where they share a name; none where nothing is named so, or nearly so
    /// that only the tool of its family can say what is wrong.
    pub(super) fn named(&self, id: &str) -> Vec<Thing> {
        let id = id.trim();
        if id.len() > MAX_ID_BYTES {
            return Vec::new();
        }
        let mut found: Vec<(String, Thing)> = Vec::new();
        if let Some(database) = self.schema.database(id) {
            found.push((database.name.clone(), Thing::Database(database.name.clone())));
        }
        if let Some((database, table)) = self.table(id) {
            found.push((format!("{database}.{table}"), Thing::Table { database, table }));
        }
        if let Ok(api) = self.apis.api(id) {
            found.push((api.name.clone(), Thing::Api(api.name.clone())));
        }
        if let Some(operation) = self.apis.resolve_operation(id)
            && let Some((api, name)) = self.operation(&operation)
        {
            found.push((operation, Thing::Operation { api, operation: name, part: None }));
        }
        // What follows a `#` is a part, unless the name itself holds one.
        let is_whole = |name: &str| !id.contains('#') || name == id;
        if let Some(document) = self.documents.resolve(id).filter(|document| is_whole(&document.name)) {
            found.push((document.name.clone(), Thing::Document(document.name.clone())));
        }
        if let Some(skill) = self.skills.resolve(id).filter(|skill| is_whole(&skill.name)) {
            found.push((skill.name.clone(), Thing::Skill(skill.name.clone())));
        }
        if let Some(term) = self.term(id) {
            found.push((term.clone(), Thing::Fact(term)));
        }
        // A name that is spelled so is meant before one that is only like it.
        let exact = |name: &str| name.eq_ignore_ascii_case(id);
        if found.iter().any(|(name, _)| exact(name)) {
            found.retain(|(name, _)| exact(name));
        }
        if found.is_empty() {
            found.extend(self.part(id).map(|thing| (String::new(), thing)));
        }
        found.into_iter().map(|(_, thing)| thing).collect()
    }

    /// A part of a thing, or a name whose first half is right: its family says what is wrong with the rest.
    fn part(&self, id: &str) -> Option<Thing> {
        if let Some((from, to)) = id.split_once('>')
            && let Some((database, table)) = self.table(from.trim())
        {
            let to = self.table(to.trim()).map_or_else(|| to.trim().to_owned(), |(_, table)| table);
            return Some(Thing::Path { database, table, to });
        }
        for (at, _) in id.match_indices('#') {
            let (name, part) = (id[..at].trim(), id[at + 1..].trim().to_owned());
            if let Some(document) = self.documents.resolve(name) {
                return Some(Thing::Section { document: document.name.clone(), section: part });
            }
            if let Some(skill) = self.skills.resolve(name) {
                return Some(Thing::File { skill: skill.name.clone(), target: part });
            }
            if let Some((database, table)) = self.table(name) {
                return Some(Thing::Columns { database, table, columns: part });
            }
            if let Some((api, operation)) = self.apis.resolve_operation(name).and_then(|id| self.operation(&id)) {
                return Some(Thing::Operation { api, operation, part: Some(part) });
            }
        }
        for (at, _) in id.match_indices(['.', ' ']) {
            let (name, rest) = (&id[..at], id[at + 1..].trim().to_owned());
            if let Some(database) = self.schema.database(name) {
                return Some(Thing::Table { database: database.name.clone(), table: rest });
            }
            if let Ok(api) = self.apis.api(name) {
                return Some(Thing::Operation { api: api.name.clone(), operation: rest, part: None });
            }
        }
        None
    }

    /// The database and the table that an id names.
    pub(super) fn table(&self, id: &str) -> Option<(String, String)> {
        let id = self.schema.resolve_table(id)?;
        self.schema.databases().find_map(|database| {
            let rest = id.strip_prefix(database.name.as_str())?.strip_prefix('.')?;
            let table = database.tables.iter().find(|table| table.name == rest)?;
            Some((database.name.clone(), table.name.clone()))
        })
    }

    /// The API and the name of an operation, from its id.
    fn operation(&self, id: &str) -> Option<(String, String)> {
        self.apis.apis().iter().find_map(|api| {
            let rest = id.strip_prefix(api.name.as_str())?.strip_prefix('.')?;
            let operation = api.operations.iter().find(|operation| operation.name == rest)?;
            Some((api.name.clone(), operation.name.clone()))
        })
    }

    fn term(&self, id: &str) -> Option<String> {
        let wanted = normalized(id);
        self.facts.records().into_iter().map(|fact| fact.name).find(|term| normalized(term) == wanted)
    }

    /// The answer to an id that means nothing.
    pub(super) fn unknown(&self, id: &str) -> ToolError {
        let mut names: Vec<String> = Vec::new();
        for database in self.schema.databases() {
            names.push(database.name.clone());
            names.extend(database.tables.iter().map(|table| format!("{}.{}", database.name, table.name)));
        }
        names.extend(self.apis.apis().iter().map(|api| api.name.clone()));
        names.extend(self.apis.operation_ids());
        names.extend(self.documents.documents().iter().map(|document| document.name.clone()));
        names.extend(self.skills.skills().iter().map(|skill| skill.name.clone()));
        names.extend(self.facts.records().into_iter().map(|fact| fact.name));
        let near = nearest(id, names.iter().map(String::as_str), 3);
        let near = near.iter().map(|name| format!("`{}`", clean_name(name))).collect::<Vec<_>>().join(", ");
        ToolError::Respond {
            code: ToolErrorCode::NotFound,
            message: format!("there is nothing named `{}`", shortened(&clean_name(id))),
            suggestion: Some(format!("did you mean {near}? search finds more")),
        }
    }
}

//! Parses the catalog file: YAML text to typed entries; each invalid entry is a [`Problem`] with its line.

use std::path::Path;

use indexmap::IndexMap;
use prospector_core::Problem;
use prospector_semantics::model::{Dimension, Entity, FiscalYear, Join, Segment, TimeZone};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    apis::{self, ApiEntry},
    databases::{self, DatabaseEntry},
    documents::{self, DocumentEntry},
    entry::{EntryReader, Fields, check_folder},
    environment::Environment,
    error::CatalogError,
    file_schema::{self, CatalogEntries, FactEntry, FolderEntry},
    fiscal_year, instructions,
    mcp::{self, McpEntry},
    metrics::{self, MetricEntry},
    node::{Node, Placed},
    preload::{self, PreloadEntry},
    segments, time_zone,
    web::FetchEntry,
    web_search::WebSearchEntry,
};

/// A parsed catalog file, with values from the environment filled in.
#[derive(Debug, Default)]
pub(super) struct CatalogFile {
    pub(super) databases: Vec<DatabaseEntry>,
    pub(super) apis: Vec<ApiEntry>,
    pub(super) mcp: Vec<McpEntry>,
    pub(super) documents: Vec<DocumentEntry>,
    pub(super) facts: Vec<FactEntry>,
    pub(super) skills: Vec<FolderEntry>,
    pub(super) entities: Vec<Entity>,
    pub(super) joins: Vec<Join>,
    pub(super) dimensions: Vec<Dimension>,
    pub(super) metrics: Vec<MetricEntry>,
    pub(super) segments: Vec<Segment>,
    pub(super) fiscal_year: Option<FiscalYear>,
    pub(super) time_zone: Option<TimeZone>,
    pub(super) verified_queries: Vec<FolderEntry>,
    pub(super) context_preload: PreloadEntry,
    /// The catalog maintainer's instructions for every model.
    pub(super) instructions: String,
    /// Whether clients of a server may run queries.
    pub(super) queries: bool,
    pub(super) fetch: FetchEntry,
    pub(super) web_search: Option<WebSearchEntry>,
}

/// Parses the text of a catalog file.
///
/// # Errors
/// [`CatalogError::Syntax`] if it is not YAML or not a mapping; any other error is a problem of one entry.
pub(super) fn parse(
    path: &Path,
    text: &str,
    lookup: Environment<'_>,
) -> Result<(CatalogFile, Vec<Problem>), CatalogError> {
    let file = path.display().to_string();
    let mut problems = Vec::new();
    let has_content = text.lines().any(|line| !matches!(line.trim(), "" | "---") && !line.trim().starts_with('#'));
    if !has_content {
        return Ok((CatalogFile::default(), problems));
    }
    let root: Placed = serde_saphyr::from_str(text).map_err(|error| CatalogError::Syntax {
        path: path.to_owned(),
        line: error.location().map_or(1, |location| location.line()),
        reason: format!("not valid YAML: {}", in_plain_words(&error.without_snippet().to_string())),
    })?;
    let Node::Map(mut map) = root.node else {
        let reason = format!("the catalog must be a mapping, not {}", root.node.describe());
        return Err(CatalogError::Syntax { path: path.to_owned(), line: root.line, reason });
    };
    let reader = &mut EntryReader { file: &file, lookup, problems: &mut problems };
    let schema = file_schema::schema_of::<CatalogEntries>();
    let keys = file_schema::properties(&schema);
    reader.report_unknown("the catalog", &map, keys);
    let queries =
        map.shift_remove("queries").and_then(|entry| reader.value("the catalog", "queries", &entry, &keys["queries"]));
    let map = &mut map;
    if let Some(Node::List(entries)) = map.get_mut("databases").map(|section| &mut section.node) {
        for (at, entry) in entries.iter_mut().enumerate() {
            let what = format!("databases[{at}]");
            reader.ignore_misspelt::<file_schema::DatabaseEntry>(&what, entry, &databases::HARMLESS);
        }
    }
    let catalog = CatalogFile {
        databases: read_all(reader, map, "databases", databases::check),
        apis: read_all(reader, map, "apis", apis::check),
        mcp: read_all(reader, map, "mcp", mcp::check),
        documents: read_all(reader, map, "documents", documents::check),
        facts: read_all(reader, map, "facts", |_, fact| Some(fact)),
        skills: read_all(reader, map, "skills", check_folder),
        entities: read_all(reader, map, "entities", metrics::check_entity),
        joins: read_all(reader, map, "joins", metrics::check_join),
        dimensions: read_all(reader, map, "dimensions", metrics::check_dimension),
        metrics: read_all(reader, map, "metrics", metrics::check_metric),
        segments: read_all(reader, map, "segments", segments::check_segment),
        fiscal_year: map.shift_remove("fiscal_year_starts").and_then(|entry| fiscal_year::read(reader, entry)),
        time_zone: map.shift_remove("time_zone").and_then(|entry| time_zone::read(reader, entry)),
        verified_queries: read_all(reader, map, "verified_queries", check_folder),
        context_preload: map
            .shift_remove("context_preload")
            .map(|entry| preload::read(reader, entry))
            .unwrap_or_default(),
        instructions: map
            .shift_remove("instructions")
            .map(|entry| instructions::read(reader, entry))
            .unwrap_or_default(),
        queries: queries == Some(Value::Bool(true)),
        fetch: map.shift_remove("fetch").and_then(|entry| FetchEntry::read(reader, entry)).unwrap_or_default(),
        web_search: map
            .shift_remove("web_search")
            .and_then(|entry| reader.read("web_search".into(), entry, WebSearchEntry::check)),
    };
    Ok((catalog, problems))
}

/// Removes a list and returns its valid entries; empty if the key is missing or null.
fn read_all<W: DeserializeOwned + JsonSchema + 'static, T>(
    reader: &mut EntryReader<'_>,
    map: &mut IndexMap<String, Placed>,
    key: &str,
    check: fn(&mut Fields<'_>, W) -> Option<T>,
) -> Vec<T> {
    let Some(Placed { line, node }) = map.shift_remove(key) else { return Vec::new() };
    match node {
        Node::List(items) => {
            let read = |(at, entry)| reader.read(format!("{key}[{at}]"), entry, check);
            items.into_iter().enumerate().filter_map(read).collect()
        }
        Node::Null => Vec::new(),
        other => {
            let reason = format!("`{key}` must be a list, not {}", other.describe());
            reader.fail(line, reason, format!("start each entry with `- ` under `{key}:`"));
            Vec::new()
        }
    }
}

/// Removes the location, which is reported separately, and hints for programmers from a message of the YAML parser.
fn in_plain_words(reason: &str) -> String {
    let ends = [" at line ", ", set ", "; use "].into_iter().filter_map(|end| reason.find(end));
    let plain = &reason[..ends.min().unwrap_or(reason.len())];
    match plain.starts_with("mapping values are not allowed") {
        true => format!("{plain}; put a text that contains `: ` in quotes"),
        false => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests;

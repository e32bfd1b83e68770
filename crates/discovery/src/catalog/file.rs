//! Parses the catalog file: YAML text to typed entries; each invalid entry is a [`Problem`] with its line.

use std::path::Path;

use indexmap::IndexMap;
use prospector_core::Problem;
use prospector_semantics::model::{Dimension, Entity, FiscalYear, Join, Segment, TimeZone};

use super::{
    apis::{ApiEntry, Apis},
    databases::{DatabaseEntry, Databases},
    documents::{DocumentEntry, Documents},
    entry::{EntryReader, FolderEntry},
    environment::Environment,
    error::CatalogError,
    facts::{FactEntry, Facts},
    file_schema::CatalogEntries,
    fiscal_year, instructions,
    mcp::{Mcp, McpEntry},
    metrics::{self, MetricEntry, Metrics},
    node::{Fields, Node, Placed},
    preload::{self, PreloadEntry},
    section::Section,
    segments,
    skills::Skills,
    time_zone,
    verified::Verified,
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
    let line = root.line;
    let Some(mut top) = Fields::of::<CatalogEntries>(&file, "the catalog", root, &mut problems) else {
        let reason = problems.pop().map(|problem| problem.reason).unwrap_or_default();
        return Err(CatalogError::Syntax { path: path.to_owned(), line, reason });
    };
    let queries = top.flag("queries").unwrap_or_default();
    let map = &mut top.into_map();
    let reader = &mut EntryReader { file: &file, lookup, problems: &mut problems };
    let catalog = CatalogFile {
        databases: read_all(reader, map, "databases", Databases::read),
        apis: read_all(reader, map, "apis", Apis::read),
        mcp: read_all(reader, map, "mcp", Mcp::read),
        documents: read_all(reader, map, "documents", Documents::read),
        facts: read_all(reader, map, "facts", Facts::read),
        skills: read_all(reader, map, "skills", Skills::read),
        entities: read_all(reader, map, "entities", metrics::read_entity),
        joins: read_all(reader, map, "joins", metrics::read_join),
        dimensions: read_all(reader, map, "dimensions", metrics::read_dimension),
        metrics: read_all(reader, map, "metrics", Metrics::read),
        segments: read_all(reader, map, "segments", segments::read_segment),
        fiscal_year: map.shift_remove("fiscal_year_starts").and_then(|entry| fiscal_year::read(reader, entry)),
        time_zone: map.shift_remove("time_zone").and_then(|entry| time_zone::read(reader, entry)),
        verified_queries: read_all(reader, map, "verified_queries", Verified::read),
        context_preload: map
            .shift_remove("context_preload")
            .map(|entry| preload::read(reader, entry))
            .unwrap_or_default(),
        instructions: map
            .shift_remove("instructions")
            .map(|entry| instructions::read(reader, entry))
            .unwrap_or_default(),
        queries,
        fetch: map.shift_remove("fetch").and_then(|entry| FetchEntry::read(reader, entry)).unwrap_or_default(),
        web_search: map.shift_remove("web_search").and_then(|entry| WebSearchEntry::read(reader, entry)),
    };
    Ok((catalog, problems))
}

/// Removes a list and returns its valid entries; empty if the key is missing or null.
fn read_all<T>(
    reader: &mut EntryReader<'_>,
    map: &mut IndexMap<String, Placed>,
    key: &str,
    read: fn(&mut EntryReader<'_>, usize, Placed) -> Option<T>,
) -> Vec<T> {
    let Some(Placed { line, node }) = map.shift_remove(key) else { return Vec::new() };
    match node {
        Node::List(items) => items.into_iter().enumerate().filter_map(|(at, entry)| read(reader, at, entry)).collect(),
        Node::Null => Vec::new(),
        other => {
            let reason = format!("`{key}` must be a list, not {}", other.describe());
            reader.fail(line, reason, format!("start each entry with `- ` under `{key}:`"));
            Vec::new()
        }
    }
}

/// Removes the location, which is reported separately, and hints for programmers from a message of the YAML parser.
fn in_plain_words(reason: &str) -> &str {
    let ends = [" at line ", ", set ", "; use "].into_iter().filter_map(|end| reason.find(end));
    &reason[..ends.min().unwrap_or(reason.len())]
}

#[cfg(test)]
mod tests;

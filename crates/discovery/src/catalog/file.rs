//! Parses the catalog file: YAML text to typed entries; each invalid entry is a [`Problem`] with its line.

use std::{collections::HashMap, path::Path};

use prospector_core::Problem;
use prospector_semantics::model::{Dimension, Entity, FiscalYear, Join, Segment, TimeZone};

use super::{
    apis::{ApiEntry, Apis},
    databases::{DatabaseEntry, Databases},
    documents::{DocumentEntry, Documents},
    entry::EntryReader,
    environment::Environment,
    error::CatalogError,
    facts::{FactEntry, Facts},
    file_schema::CatalogEntries,
    fiscal_year, instructions,
    mcp::{Mcp, McpEntry},
    metrics::{self, MetricEntry, Metrics},
    node::{Fields, Placed},
    preload::{self, PreloadEntry},
    section::Section,
    segments::{self, SEGMENTS},
    skills::{SkillEntry, Skills},
    time_zone,
    verified::{Verified, VerifiedEntry},
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
    pub(super) skills: Vec<SkillEntry>,
    pub(super) entities: Vec<Entity>,
    pub(super) joins: Vec<Join>,
    pub(super) dimensions: Vec<Dimension>,
    pub(super) metrics: Vec<MetricEntry>,
    pub(super) segments: Vec<Segment>,
    pub(super) fiscal_year: Option<FiscalYear>,
    pub(super) time_zone: Option<TimeZone>,
    pub(super) verified_queries: Vec<VerifiedEntry>,
    pub(super) context_preload: PreloadEntry,
    /// The catalog maintainer's instructions for every model.
    pub(super) instructions: String,
    /// Whether clients of a server may run queries.
    pub(super) queries: bool,
    pub(super) fetch: FetchEntry,
    pub(super) web_search: Option<WebSearchEntry>,
}

/// The keys of lists of entries.
const LISTS: [&str; 12] = [
    Databases::KEY,
    Apis::KEY,
    Mcp::KEY,
    Documents::KEY,
    Facts::KEY,
    Skills::KEY,
    metrics::ENTITIES,
    metrics::JOINS,
    metrics::DIMENSIONS,
    Metrics::KEY,
    SEGMENTS,
    Verified::KEY,
];

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
    let mut lists: HashMap<&str, Vec<Placed>> = LISTS.into_iter().map(|key| (key, top.list(key))).collect();
    let mut take = |key: &str| lists.remove(key).unwrap_or_default();
    let (fetch, web_search) = (top.take("fetch"), top.take("web_search"));
    let (context_preload, instructions) = (top.take("context_preload"), top.take("instructions"));
    let (fiscal_year, time_zone) = (top.take("fiscal_year_starts"), top.take("time_zone"));
    let queries = top.flag("queries").unwrap_or_default();
    let reader = &mut EntryReader { file: &file, lookup, problems: &mut problems };
    let catalog = CatalogFile {
        databases: read_all(reader, take(Databases::KEY), Databases::read),
        apis: read_all(reader, take(Apis::KEY), Apis::read),
        mcp: read_all(reader, take(Mcp::KEY), Mcp::read),
        documents: read_all(reader, take(Documents::KEY), Documents::read),
        facts: read_all(reader, take(Facts::KEY), Facts::read),
        skills: read_all(reader, take(Skills::KEY), Skills::read),
        entities: read_all(reader, take(metrics::ENTITIES), metrics::read_entity),
        joins: read_all(reader, take(metrics::JOINS), metrics::read_join),
        dimensions: read_all(reader, take(metrics::DIMENSIONS), metrics::read_dimension),
        metrics: read_all(reader, take(Metrics::KEY), Metrics::read),
        segments: read_all(reader, take(SEGMENTS), segments::read_segment),
        fiscal_year: fiscal_year.and_then(|entry| fiscal_year::read(reader, entry)),
        time_zone: time_zone.and_then(|entry| time_zone::read(reader, entry)),
        verified_queries: read_all(reader, take(Verified::KEY), Verified::read),
        context_preload: context_preload.map(|entry| preload::read(reader, entry)).unwrap_or_default(),
        instructions: instructions.map(|entry| instructions::read(reader, entry)).unwrap_or_default(),
        queries,
        fetch: fetch.and_then(|entry| FetchEntry::read(reader, entry)).unwrap_or_default(),
        web_search: web_search.and_then(|entry| WebSearchEntry::read(reader, entry)),
    };
    Ok((catalog, problems))
}

/// Returns the valid entries of a list.
fn read_all<T>(
    reader: &mut EntryReader<'_>,
    list: Vec<Placed>,
    read: fn(&mut EntryReader<'_>, usize, Placed) -> Option<T>,
) -> Vec<T> {
    list.into_iter().enumerate().filter_map(|(at, entry)| read(reader, at, entry)).collect()
}

/// Removes the location, which is reported separately, and hints for programmers from a message of the YAML parser.
fn in_plain_words(reason: &str) -> &str {
    let ends = [" at line ", ", set ", "; use "].into_iter().filter_map(|end| reason.find(end));
    &reason[..ends.min().unwrap_or(reason.len())]
}

#[cfg(test)]
mod tests;
